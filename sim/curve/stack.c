/* SPDX-License-Identifier: MIT */
#include "sim/curve/stack.h"

#include <string.h>

#define WORD 6        /* 64 slots a word */
#define BLOCK 9       /* 8 words: the smallest block that is summed up */
#define FANOUT 5      /* 32 blocks a larger block */
#define LEAST_SLOTS (UINT32_C(1) << 16)
#define MOST_SLOTS (UINT32_C(1) << 31)
G_STATIC_ASSERT(RF_STACK_MOST_PAGES <= MOST_SLOTS / 2);

/* Slots below cap are whole blocks of the second level, so that no loop runs over an edge. */
#define ROUND (UINT32_C(1) << (BLOCK + FANOUT))

static unsigned shift_of(unsigned level)
{
	return BLOCK + FANOUT * level;
}

static void make_room(struct rf_stack *s, uint64_t cap)
{
	cap = MIN((cap + ROUND - 1) & -(uint64_t)ROUND, MOST_SLOTS);
	s->cap = (uint32_t)cap;
	g_free(s->bit);
	s->bit = g_new0(uint64_t, cap >> WORD);
	for (unsigned k = 0; k < RF_STACK_LEVELS; k++) {
		g_free(s->sum[k]);
		s->sum[k] = g_new0(uint32_t, (cap >> shift_of(k)) + 1);
	}
}

void rf_stack_init(struct rf_stack *s)
{
	memset(s, 0, sizeof(*s));
	make_room(s, LEAST_SLOTS);
}

void rf_stack_clear(struct rf_stack *s)
{
	g_free(s->bit);
	for (unsigned k = 0; k < RF_STACK_LEVELS; k++)
		g_free(s->sum[k]);
	g_free(s->hole);
	memset(s, 0, sizeof(*s));
}

/* ---- bits and sums ---- */

static inline void take(struct rf_stack *s, uint32_t slot)
{
	s->bit[slot >> WORD] |= UINT64_C(1) << (slot & 63);
	for (unsigned k = 0; k < RF_STACK_LEVELS; k++)
		s->sum[k][slot >> shift_of(k)]++;
}

/* Leave one slot and take the top. */
static inline void move_to_top(struct rf_stack *s, uint32_t slot)
{
	uint32_t top = s->top;

	s->bit[slot >> WORD] &= ~(UINT64_C(1) << (slot & 63));
	s->bit[top >> WORD] |= UINT64_C(1) << (top & 63);
	for (unsigned k = 0; k < RF_STACK_LEVELS; k++) {
		uint32_t from = slot >> shift_of(k), to = top >> shift_of(k);

		if (from == to)
			return;
		s->sum[k][from]--;
		s->sum[k][to]++;
	}
}

/* Bits set in each byte of a word; at most 31 words' counts can be added up. */
static inline uint64_t byte_counts(uint64_t w)
{
	w -= w >> 1 & UINT64_C(0x5555555555555555);
	w = (w & UINT64_C(0x3333333333333333)) + (w >> 2 & UINT64_C(0x3333333333333333));
	return (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

static inline uint32_t add_bytes(uint64_t counts)
{
	/* Pairs first: the sum of eight counts of up to 64 needs more than a byte. */
	counts = (counts & UINT64_C(0x00ff00ff00ff00ff)) +
	         (counts >> 8 & UINT64_C(0x00ff00ff00ff00ff));
	return (uint32_t)(counts * UINT64_C(0x0001000100010001) >> 48);
}

/* Slots taken above this one. */
static inline uint32_t taken_above(const struct rf_stack *s, uint32_t slot)
{
	uint32_t last = s->top - 1, word = slot >> WORD, end = last >> WORD, n;
	uint64_t counts = byte_counts(s->bit[word] >> (slot & 63) >> 1);

	for (end = MIN(end, word | 7), word++; word <= end; word++)
		counts += byte_counts(s->bit[word]);
	n = add_bytes(counts);
	for (unsigned k = 0; k < RF_STACK_LEVELS; k++) {
		uint32_t at = slot >> shift_of(k), top = last >> shift_of(k);

		if (at == top)
			return n;
		for (top = MIN(top, at | ((1 << FANOUT) - 1)), at++; at <= top; at++)
			n += s->sum[k][at];
	}
	return n;
}

/* ---- holes ---- */

static void hole_up(uint32_t *heap, uint32_t i, uint32_t slot)
{
	for (; i && heap[(i - 1) / 2] < slot; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = slot;
}

/* Put a slot in the place of the highest. */
static void hole_down(uint32_t *heap, uint32_t n, uint32_t slot)
{
	uint32_t i = 0, down;

	while ((down = 2 * i + 1) < n) {
		if (down + 1 < n && heap[down + 1] > heap[down])
			down++;
		if (heap[down] <= slot)
			break;
		heap[i] = heap[down];
		i = down;
	}
	heap[i] = slot;
}

static void hole_push(struct rf_stack *s, uint32_t slot)
{
	if (s->nholes == s->holes_size) {
		s->holes_size = MAX(64, s->holes_size * 2);
		s->hole = g_renew(uint32_t, s->hole, s->holes_size);
	}
	hole_up(s->hole, s->nholes, slot);
	s->nholes++;
}

static uint32_t hole_pop(struct rf_stack *s)
{
	uint32_t highest = s->hole[0];

	if (--s->nholes)
		hole_down(s->hole, s->nholes, s->hole[s->nholes]);
	return highest;
}

/* ---- the stack ---- */

uint32_t rf_stack_use(struct rf_stack *s, uint32_t *slot)
{
	uint32_t at = *slot, distance = 0;

	if (G_UNLIKELY(at == RF_NO_SLOT)) {
		if (s->nholes) {
			move_to_top(s, hole_pop(s));
		} else {
			take(s, s->top);
			s->taken++;
		}
	} else if (at == s->top - 1) {
		return 1;
	} else {
		distance = taken_above(s, at) + 1;
		if (G_UNLIKELY(s->nholes && s->hole[0] > at)) {
			/* The hole moves to where the page was. */
			move_to_top(s, s->hole[0]);
			hole_down(s->hole, s->nholes, at);
		} else {
			move_to_top(s, at);
		}
	}
	*slot = s->top++;
	return distance;
}

void rf_stack_free_page(struct rf_stack *s, uint32_t *slot)
{
	if (*slot == RF_NO_SLOT)
		return;
	hole_push(s, *slot);
	*slot = RF_NO_SLOT;
}

/* ---- new numbers ---- */

static inline uint32_t rank(const uint64_t *bit, const uint32_t *before, uint32_t slot)
{
	uint64_t below = bit[slot >> WORD] & ((UINT64_C(1) << (slot & 63)) - 1);

	return before[slot >> WORD] + add_bytes(byte_counts(below));
}

void rf_stack_renumber(struct rf_stack *s, const struct rf_stack_pages *pages, uint16_t nth)
{
	uint32_t words = s->cap >> WORD, n = 0;
	g_autofree uint32_t *before = g_new(uint32_t, words);
	uint64_t *bit = s->bit;

	g_assert(s->taken <= RF_STACK_MOST_PAGES);
	for (uint32_t w = 0; w < words; w++) {
		before[w] = n;
		n += add_bytes(byte_counts(bit[w]));
	}
	g_assert(n == s->taken);
	for (uint32_t p = 0; p < pages->n; p++) {
		if (pages->slot[p] != RF_NO_SLOT && (!pages->stack || pages->stack[p] == nth))
			pages->slot[p] = rank(bit, before, pages->slot[p]);
	}
	/* The order of holes is kept, and the heap with it. */
	for (uint32_t i = 0; i < s->nholes; i++)
		s->hole[i] = rank(bit, before, s->hole[i]);
	s->bit = NULL;
	g_free(bit);
	make_room(s, MAX((uint64_t)LEAST_SLOTS, (uint64_t)n * 4));
	for (uint32_t i = 0; i < n; i++)
		take(s, i);
	s->top = n;
}
