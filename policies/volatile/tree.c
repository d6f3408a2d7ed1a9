/* SPDX-License-Identifier: MIT */
#include "policies/volatile/tree.h"

static struct rf_ranges *ranges(struct rf_volatile *vol)
{
	return vol->priv;
}

void rf_tree_init(struct rf_volatile *vol)
{
	rf_ranges_init(ranges(vol));
}

void rf_tree_exit(struct rf_volatile *vol)
{
	rf_ranges_clear(ranges(vol));
}

gboolean rf_tree_mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	rf_ranges_mark(ranges(vol), root, start, end);
	return TRUE;
}

gboolean rf_tree_unmark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end, gboolean *lost)
{
	*lost = rf_ranges_unmark(ranges(vol), root, start, end);
	return TRUE;
}

void rf_tree_forget(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	rf_ranges_unmark(ranges(vol), root, start, end);
}

void rf_tree_fork(struct rf_volatile *vol, uint64_t from, uint64_t to)
{
	rf_ranges_copy(ranges(vol), from, to);
}

gboolean rf_tree_covers(struct rf_volatile *vol, uint64_t root, uint64_t addr)
{
	return rf_ranges_find(ranges(vol), root, addr) != RF_NO_PAGE;
}

static const struct rf_tree_options *options(const struct rf_volatile *vol)
{
	return vol->opt;
}

void rf_tree_met(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *start, uint64_t *end)
{
	uint32_t i = rf_ranges_find(ranges(vol), root, addr);
	const struct rf_range *g = &ranges(vol)->range[i];

	rf_ranges_purge(ranges(vol), i);
	if (options(vol)->purge == RF_PURGE_PARTIAL)
		return;
	rf_ranges_unlist(ranges(vol), i);
	*start = g->start;
	*end = g->end;
}

uint64_t rf_tree_shrink(struct rf_volatile *vol, uint64_t wanted, gboolean count_ranges)
{
	struct rf_ranges *r = ranges(vol);
	const gboolean partial = options(vol)->purge == RF_PURGE_PARTIAL;
	uint64_t pages = 0, done = 0;
	uint32_t i, newer;

	for (i = r->list.tail; i != RF_NO_PAGE && done < wanted; i = newer) {
		const struct rf_range *g = &r->range[i];
		uint64_t most = partial ? wanted - done : UINT64_MAX, n;

		newer = r->link[i].prev;
		if (!vol->host->in_reach(vol, g->root))
			continue;
		n = vol->host->discard(vol, g->root, g->start, g->end, most);
		newer = r->link[i].prev; /* a forked relative's range may have gone with it */
		if (n)
			rf_ranges_purge(r, i);
		if (n < most)
			rf_ranges_unlist(r, i); /* nothing is left to take, until it is marked again */
		pages += n;
		done += count_ranges ? 1 : n;
	}
	return pages;
}

enum rf_vtouch rf_tree_touch(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *pages)
{
	struct rf_ranges *r = ranges(vol);
	uint32_t i = rf_ranges_find(r, root, addr);
	struct rf_range g;

	if (i == RF_NO_PAGE || !r->range[i].purged)
		return RF_VTOUCH_DATA;
	switch (options(vol)->on_purged_touch) {
	case RF_ON_TOUCH_ZERO:
		return RF_VTOUCH_ZEROS;
	case RF_ON_TOUCH_KILL:
		return RF_VTOUCH_KILLED;
	}
	g = r->range[i];
	*pages = (g.end - g.start) >> vol->host->page_shift;
	rf_ranges_unmark(r, root, g.start, g.end);
	return RF_VTOUCH_SIGBUS;
}

uint64_t rf_tree_ranges(struct rf_volatile *vol)
{
	return ranges(vol)->n;
}

uint64_t rf_tree_bytes(struct rf_volatile *vol)
{
	return ranges(vol)->n * (uint64_t)options(vol)->bytes;
}

uint64_t rf_tree_purged(struct rf_volatile *vol)
{
	return ranges(vol)->purged;
}
