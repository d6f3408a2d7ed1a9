/* SPDX-License-Identifier: MIT
 * Purgeable ranges, as the members that do not keep them in mappings have them: disjoint and sorted in
 * each root, and on one list of all in the order of insertion.
 *
 * Marking: when one range covers the new one already, nothing changes; else every range that overlaps
 * is absorbed, and if one of them was purged, the whole is.  Neighbours that only touch stay two.
 * Unmarking: what is covered goes, what overlaps is trimmed, or cut in two that were both purged or not.
 */
#ifndef RF_RANGES_H
#define RF_RANGES_H

#include "policies/policy.h"

struct rf_range {
	uint64_t root, start, end;
	gboolean purged, listed;
};

struct rf_ranges {
	gboolean requeue;      /* a range that was resized counts as new */
	gboolean purged_leave; /* purged ranges are not on the list */
	uint32_t n, most;      /* ranges now, and at most */
	uint64_t purged;       /* how often one was purged */

	struct rf_range *range; /* by index, and the list's links */
	struct rf_link *link;
	struct rf_list list;    /* head: newest */
	uint32_t size, free;    /* first of a chain through link[].next */
	GHashTable *roots;      /* GArray of indices, sorted, by root */
};

void rf_ranges_init(struct rf_ranges *r);
void rf_ranges_clear(struct rf_ranges *r);
void rf_ranges_mark(struct rf_ranges *r, uint64_t root, uint64_t start, uint64_t end);
/* Was anything of it purged? */
gboolean rf_ranges_unmark(struct rf_ranges *r, uint64_t root, uint64_t start, uint64_t end);
void rf_ranges_copy(struct rf_ranges *r, uint64_t from, uint64_t to);
/* The range at an address, or RF_NO_PAGE. */
uint32_t rf_ranges_find(const struct rf_ranges *r, uint64_t root, uint64_t addr);
/* The range i loses data. */
void rf_ranges_purge(struct rf_ranges *r, uint32_t i);
/* Off the list: nothing is left to take. */
void rf_ranges_unlist(struct rf_ranges *r, uint32_t i);
/* Abort with a message when anything is not as it should be: for tests. */
void rf_ranges_check(const struct rf_ranges *r);

#endif
