/* SPDX-License-Identifier: MIT */
#include "sim/curve/opt.h"

#include <string.h>

#define FANOUT 4 /* 16 to a block */
#define FIRST_SIZE 4096

void rf_opt_init(struct rf_opt *o)
{
	memset(o, 0, sizeof(*o));
}

void rf_opt_clear(struct rf_opt *o)
{
	for (unsigned k = 0; k < RF_OPT_LEVELS; k++)
		g_free(o->next[k]);
	g_free(o->page);
	g_free(o->hole);
	memset(o, 0, sizeof(*o));
}

static void grow(struct rf_opt *o)
{
	uint32_t old = o->size;

	o->size = MAX(FIRST_SIZE, old * 2);
	o->page = g_renew(uint32_t, o->page, o->size);
	for (unsigned k = 0; k < RF_OPT_LEVELS; k++) {
		size_t had = old ? (old >> (FANOUT * k)) + 1 : 0, has = (o->size >> (FANOUT * k)) + 1;

		o->next[k] = g_renew(uint64_t, o->next[k], has);
		memset(o->next[k] + had, 0, (has - had) * sizeof(uint64_t));
	}
}

/* ---- maxima ---- */

/* Put a next use at a place (from 0), and set right what it changes above. */
static void put(struct rf_opt *o, uint32_t at, uint64_t next)
{
	uint64_t was = o->next[0][at], max;

	o->next[0][at] = next;
	for (unsigned k = 1; k < RF_OPT_LEVELS; k++) {
		uint32_t block = at >> (FANOUT * k), first = block << FANOUT;
		uint64_t *above = &o->next[k][block];

		if (next >= *above) {
			max = next;
		} else if (was < *above) {
			return;
		} else {
			/* The largest one became smaller. */
			uint32_t end = MIN(first + (1 << FANOUT), (o->size >> (FANOUT * (k - 1))) + 1);

			max = 0;
			for (uint32_t i = first; i < end; i++)
				max = MAX(max, o->next[k - 1][i]);
		}
		was = *above;
		next = *above = max;
		if (was == max)
			return;
	}
}

/* The first place in [at, end) whose next use lies beyond `next'; end when there is none. */
static uint32_t find_later(const struct rf_opt *o, uint32_t at, uint32_t end, uint64_t next)
{
	unsigned k = 0;

	while (at < end) {
		uint32_t i = at >> (FANOUT * k);

		if (o->next[k][i] > next) {
			if (k == 0)
				return at;
			k--;
			continue;
		}
		/* On to the next block, a larger one where that begins. */
		if ((i + 1) >= UINT32_MAX >> (FANOUT * k))
			return end;
		at = (i + 1) << (FANOUT * k);
		while (k + 1 < RF_OPT_LEVELS && at && (at & ((UINT32_C(1) << (FANOUT * (k + 1))) - 1)) == 0 &&
		       at < end)
			k++;
	}
	return end;
}

/* ---- holes ---- */

static void hole_push(struct rf_opt *o, uint32_t at)
{
	uint32_t i;

	if (o->nholes == o->holes_size) {
		o->holes_size = MAX(64, o->holes_size * 2);
		o->hole = g_renew(uint32_t, o->hole, o->holes_size);
	}
	for (i = o->nholes++; i && o->hole[(i - 1) / 2] > at; i = (i - 1) / 2)
		o->hole[i] = o->hole[(i - 1) / 2];
	o->hole[i] = at;
}

static void hole_pop(struct rf_opt *o)
{
	uint32_t last = o->hole[--o->nholes], i = 0, down;

	while ((down = 2 * i + 1) < o->nholes) {
		if (down + 1 < o->nholes && o->hole[down + 1] < o->hole[down])
			down++;
		if (o->hole[down] >= last)
			break;
		o->hole[i] = o->hole[down];
		i = down;
	}
	o->hole[i] = last;
}

/* ---- the stack ---- */

static void settle(struct rf_opt *o, uint32_t *place, uint32_t at, uint32_t page, uint64_t next)
{
	o->page[at] = page;
	place[page] = at + 1;
	put(o, at, next);
}

uint32_t rf_opt_use(struct rf_opt *o, uint32_t *place, uint32_t page, uint64_t next)
{
	uint32_t distance = place[page], end = distance ? distance - 1 : o->n;
	uint32_t at = 0, moved;
	uint64_t moved_next;

	if (o->nholes && o->hole[0] < end) {
		/* The hole moves to where the page was. */
		end = o->hole[0];
		hole_pop(o);
		if (distance) {
			put(o, distance - 1, 0);
			hole_push(o, distance - 1);
		}
	} else if (!distance) {
		if (o->n == o->size)
			grow(o);
		o->n++;
	}
	if (end > 0) {
		moved = o->page[0];
		moved_next = o->next[0][0];
		while ((at = find_later(o, at + 1, end, moved_next)) < end) {
			uint32_t p = o->page[at];
			uint64_t n = o->next[0][at];

			settle(o, place, at, moved, moved_next);
			moved = p;
			moved_next = n;
		}
		settle(o, place, end, moved, moved_next);
	}
	settle(o, place, 0, page, next);
	return distance;
}

void rf_opt_free_page(struct rf_opt *o, uint32_t *place, uint32_t page)
{
	if (!place[page])
		return;
	put(o, place[page] - 1, 0);
	hole_push(o, place[page] - 1);
	place[page] = 0;
}
