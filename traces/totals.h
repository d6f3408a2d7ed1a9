/* SPDX-License-Identifier: MIT
 * Sums over the items of a trace, computed item by item.
 */
#ifndef RF_TOTALS_H
#define RF_TOTALS_H

#include "traces/trace.h"

/* A set of granules that counts itself at 4, 16 and 64 KiB: 16 neighbours an entry. */
struct rf_footprint {
	unsigned granule_shift;
	uint64_t *key;   /* granule number >> 4, << 16 | one bit a granule; 0: free */
	uint32_t *space; /* parallel */
	uint32_t n, cap;
	uint64_t pages[3];
};

void rf_footprint_init(struct rf_footprint *f, unsigned granule_shift);
void rf_footprint_clear(struct rf_footprint *f);
/* Add granules [vpn, vpn + n).  vpn < 2^52. */
void rf_footprint_add(struct rf_footprint *f, uint32_t space, uint64_t vpn, uint64_t n);

struct rf_tally {
	struct rf_totals totals;
	struct rf_footprint mem, file;
};

void rf_tally_init(struct rf_tally *t, unsigned granule_shift);
void rf_tally_clear(struct rf_tally *t);
void rf_tally_add(struct rf_tally *t, const struct rf_item *item);

#endif
