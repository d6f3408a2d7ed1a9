/* SPDX-License-Identifier: MIT
 * A fifo of pages in one array.  A list costs a jump through memory for each page that the hand of
 * a clock passes, and for both neighbours of a page that moves; here those to come are known ahead,
 * and neighbours do not matter.  A page's place is kept in its link; pages taken out of the middle
 * leave holes, which are closed now and then.
 */
#ifndef RF_QUEUE_H
#define RF_QUEUE_H

#include <string.h>

#include "policies/policy.h"

#define RF_QUEUE_AHEAD 64 /* slots whose pages are asked for before they are needed */

struct rf_queue {
	rf_page *slot;      /* from the oldest to the youngest, RF_NO_PAGE: a hole */
	uint32_t old, young;/* counters: slots old … young - 1, modulo the size */
	uint32_t mask;      /* size - 1, a power of two */
	uint32_t n;         /* pages */
	uint32_t ahead;     /* pages of slots before are asked for */
};

static inline void rf_queue_init(struct rf_queue *q)
{
	q->old = q->young = q->n = q->ahead = 0;
	q->mask = 63;
	q->slot = g_new(rf_page, q->mask + 1);
	memset(q->slot, 0xff, (q->mask + 1) * sizeof(*q->slot)); /* RF_NO_PAGE */
}

static inline void rf_queue_clear(struct rf_queue *q)
{
	g_free(q->slot);
}

static inline gboolean rf_queued(const struct rf_link *link, rf_page page)
{
	return link[page].prev != RF_NO_PAGE;
}

/* No slot is free: close the holes if they are many, else double the array.  Rare, and kept out of
 * line: a push would save registers for it. */
static G_GNUC_UNUSED __attribute__((noinline))
void rf_queue_make_room(struct rf_queue *q, struct rf_link *link)
{
	rf_page *slot = q->slot;
	uint32_t mask = q->mask, n = 0;

	if (q->n > mask / 2) {
		mask = 2 * mask + 1;
		slot = g_new(rf_page, (size_t)mask + 1);
		memset(slot, 0xff, ((size_t)mask + 1) * sizeof(*slot));
	}
	for (uint32_t i = q->old; i != q->young; i++) {
		rf_page page = q->slot[i & q->mask];
		uint32_t place = (q->old + n) & mask;

		if (page == RF_NO_PAGE)
			continue;
		slot[place] = page;
		link[page].prev = place;
		n++;
	}
	if (slot != q->slot) {
		g_free(q->slot);
		q->slot = slot;
		q->mask = mask;
	}
	q->young = q->old + n;
	q->ahead = q->old;
}

static inline void rf_queue_push(struct rf_queue *q, struct rf_link *link, rf_page page)
{
	uint32_t place;

	if (q->young - q->old > q->mask)
		rf_queue_make_room(q, link);
	place = q->young++ & q->mask;
	q->slot[place] = page;
	link[page].prev = place;
	q->n++;
}

/* At the other end: the next to go. */
static inline void rf_queue_push_oldest(struct rf_queue *q, struct rf_link *link, rf_page page)
{
	uint32_t place;

	if (q->young - q->old > q->mask)
		rf_queue_make_room(q, link);
	place = --q->old & q->mask;
	q->slot[place] = page;
	link[page].prev = place;
	q->n++;
}

/* Ask for the pages of up to n slots more of the oldest, as far as reach. */
static inline void rf_queue_look_ahead(struct rf_queue *q, const struct rf_policy *pol, uint32_t n,
                                       uint32_t reach)
{
	const uint16_t *fact = pol->host->fact;
	const struct rf_link *link = pol->link;
	const size_t size = pol->ops->page_size;
	const uint8_t *priv = size ? pol->page_priv : (const uint8_t *)link;
	const rf_page *slot = q->slot;
	uint32_t ahead = q->ahead, mask = q->mask, end = q->old + MIN(q->young - q->old, reach);

	if (ahead - q->old > q->young - q->old)
		ahead = q->old;
	if (ahead - q->old >= end - q->old)
		return;
	for (end = ahead + MIN(n, end - ahead); ahead != end; ahead++) {
		rf_page page = slot[ahead & mask];

		if (page == RF_NO_PAGE)
			continue;
		__builtin_prefetch(&fact[page], 1);
		__builtin_prefetch(&link[page], 1);
		__builtin_prefetch(&priv[page * size], 1);
	}
	q->ahead = ahead;
}

/* Take up to n pages from the oldest on into out; the state of as many more is asked for.  Returns
 * how many.  Their links are left as they are: rf_queued() does not know. */
static inline unsigned rf_queue_take(struct rf_queue *q, const struct rf_policy *pol, unsigned n,
                                     rf_page *out)
{
	const rf_page *slot = q->slot;
	uint32_t old = q->old, mask = q->mask;
	unsigned i = 0;

	n = MIN(n, q->n);
	while (i < n) {
		out[i] = slot[old++ & mask];
		i += out[i] != RF_NO_PAGE;
	}
	q->old = old;
	q->n -= n;
	rf_queue_look_ahead(q, pol, 2 * n, RF_QUEUE_AHEAD);
	return i;
}

static inline void rf_queue_remove(struct rf_queue *q, struct rf_link *link, rf_page page)
{
	q->slot[link[page].prev] = RF_NO_PAGE;
	link[page].prev = RF_NO_PAGE;
	q->n--;
}

/* RF_NO_PAGE when there is none. */
static inline rf_page rf_queue_oldest(struct rf_queue *q, const struct rf_policy *pol)
{
	rf_page page = RF_NO_PAGE;

	while (q->old != q->young && (page = q->slot[q->old & q->mask]) == RF_NO_PAGE)
		q->old++;
	rf_queue_look_ahead(q, pol, 2, RF_QUEUE_AHEAD);
	return page;
}

/* The oldest becomes the youngest. */
static inline void rf_queue_turn(struct rf_queue *q, struct rf_link *link, rf_page oldest)
{
	rf_queue_remove(q, link, oldest);
	q->old++;
	rf_queue_push(q, link, oldest);
}

/* Checked builds. */
static inline void rf_queue_check(const struct rf_policy *pol, const struct rf_queue *q)
{
	uint32_t n = 0;

	for (uint32_t i = q->old; i != q->young; i++) {
		rf_page page = q->slot[i & q->mask];

		if (page == RF_NO_PAGE)
			continue;
		n++;
		if (pol->link[page].prev != (i & q->mask))
			g_error("%s: page %u thinks that it is elsewhere than in slot %u", pol->ops->name, page,
			        i & q->mask);
		if (!(pol->host->fact[page] & RF_PAGE_RESIDENT))
			g_error("%s: page %u is not in memory", pol->ops->name, page);
	}
	if (n != q->n)
		g_error("%s: the queue says %u pages and has %u", pol->ops->name, q->n, n);
}

#endif
