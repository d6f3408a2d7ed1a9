/* SPDX-License-Identifier: MIT
 * belady: the page whose next use lies furthest ahead leaves; no policy has fewer faults.  Belady,
 * "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal, 1966.
 * A binary heap of the resident pages by next use; each page knows its place in it.
 */
#include "policies/registry.h"

struct entry {
	uint64_t next_use;
	rf_page page;
};

struct belady_lruvec {
	struct entry *heap; /* the furthest next use first */
	uint32_t n, capacity;
};

struct belady_page {
	uint32_t place; /* in the heap, counted from 1; 0: not in it */
};

static struct belady_lruvec *belady(struct rf_lruvec *lv)
{
	return lv->priv;
}

static struct belady_page *places(struct rf_policy *pol)
{
	return (struct belady_page *)pol->page_priv;
}

static void place(struct belady_page *places, struct entry *heap, uint32_t i, struct entry e)
{
	heap[i] = e;
	places[e.page].place = i + 1;
}

static void sift_up(struct belady_page *places, struct entry *heap, uint32_t i, struct entry e)
{
	while (i) {
		uint32_t up = (i - 1) / 2;

		if (heap[up].next_use >= e.next_use)
			break;
		place(places, heap, i, heap[up]);
		i = up;
	}
	place(places, heap, i, e);
}

static void sift_down(struct belady_page *places, struct entry *heap, uint32_t n, uint32_t i,
                      struct entry e)
{
	for (;;) {
		uint64_t down = 2 * (uint64_t)i + 1;

		if (down >= n)
			break;
		if (down + 1 < n && heap[down + 1].next_use > heap[down].next_use)
			down++;
		if (heap[down].next_use <= e.next_use)
			break;
		place(places, heap, i, heap[down]);
		i = (uint32_t)down;
	}
	place(places, heap, i, e);
}

static void rekey(struct rf_policy *pol, struct belady_lruvec *b, uint32_t i, struct entry e)
{
	if (e.next_use >= b->heap[i].next_use)
		sift_up(places(pol), b->heap, i, e);
	else
		sift_down(places(pol), b->heap, b->n, i, e);
}

static void belady_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	g_free(belady(lv)->heap);
}

static void belady_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                       uint64_t shadow)
{
	struct belady_lruvec *b = belady(lv);
	struct entry e = { pol->host->next_use(pol, page), page };

	(void)how, (void)shadow;
	if (b->n == b->capacity) {
		b->capacity = MAX(64, b->capacity * 2);
		b->heap = g_renew(struct entry, b->heap, b->capacity);
	}
	sift_up(places(pol), b->heap, b->n++, e);
}

static void belady_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                          uint32_t count)
{
	uint32_t at = places(pol)[page].place;
	struct entry e = { pol->host->next_use(pol, page), page };

	(void)type, (void)count;
	if (at)
		rekey(pol, belady(lv), at - 1, e);
}

static void belady_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	belady_access(pol, lv, page, 0, 1);
}

static uint64_t belady_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                              enum rf_why why)
{
	struct belady_lruvec *b = belady(lv);
	uint32_t at = places(pol)[page].place;
	struct entry last;

	(void)why;
	if (!at--)
		return 1;
	places(pol)[page].place = 0;
	last = b->heap[--b->n];
	if (last.page != page)
		rekey(pol, b, at, last);
	return 1;
}

static rf_page belady_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)sc;
	return belady(lv)->n ? belady(lv)->heap[0].page : RF_NO_PAGE;
}

/* It can't leave now: behind all others, until it is used. */
static void belady_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                        enum rf_verdict verdict)
{
	uint32_t at = places(pol)[page].place;

	(void)verdict;
	if (at)
		rekey(pol, belady(lv), at - 1, (struct entry){ 0, page });
}

static void belady_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct belady_lruvec *b = belady(lv);

	for (uint32_t i = 0; i < b->n; i++) {
		if (i && b->heap[(i - 1) / 2].next_use < b->heap[i].next_use)
			g_error("belady: entry %u of the heap is above its parent", i);
		if (places(pol)[b->heap[i].page].place != i + 1)
			g_error("belady: page %u thinks that it is elsewhere than at %u", b->heap[i].page, i);
		if (!(pol->host->fact[b->heap[i].page] & RF_PAGE_RESIDENT))
			g_error("belady: page %u is not in memory", b->heap[i].page);
	}
}

const struct rf_reclaim_ops rf_reclaim_belady = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "belady",
	.summary = "the furthest next use leaves: optimal, knows the future",
	.flags = RF_POLICY_ACCESS | RF_POLICY_FUTURE | RF_POLICY_STACK,
	.lruvec_size = sizeof(struct belady_lruvec),
	.page_size = sizeof(struct belady_page),
	.lruvec_exit = belady_lruvec_exit,
	.add = belady_add,
	.access = belady_access,
	.touch = belady_touch,
	.remove = belady_remove,
	.propose = belady_propose,
	.kept = belady_kept,
	.check = belady_check,
};
