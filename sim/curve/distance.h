/* SPDX-License-Identifier: MIT
 * How far off is the kernel's idea of a refault?
 *
 * mm/workingset.c stamps a page that it evicts with a count of evictions and activations.  When the page
 * comes back, what was counted since is its refault distance; with the inactive list that it passed
 * before, the number of pages that it would have taken to keep it.  If the refault distance is no
 * larger than the other lists, the page is activated.  Exact is the LRU stack distance (stack.h).  Both
 * are taken on the ideal machine of --frames under twolist.
 */
#ifndef RF_CURVE_DISTANCE_H
#define RF_CURVE_DISTANCE_H

#include "sim/config.h"
#include "traces/trace.h"

#define RF_DISTANCE_BUCKETS 256
#define RF_DISTANCE_RATIO 512 /* the middle of ratio[]: estimate and exact are the same */

/* Anonymous pages, and those of files. */
struct rf_distances {
	/* Refaults by bucket of the exact distance, then of the estimate. */
	uint64_t n[RF_DISTANCE_BUCKETS][RF_DISTANCE_BUCKETS];
	/* By binary logarithm of estimate over exact, in sixteenths, from RF_DISTANCE_RATIO. */
	uint64_t ratio[2 * RF_DISTANCE_RATIO];
	/* [would have fit: exact <= frames][the kernel activated it] */
	uint64_t verdict[2][2];
	uint64_t refaults;
};

struct rf_distance;

/* cfg: resolved, with frames_n, and twolist. */
struct rf_distance *rf_distance_new(const struct rf_config *cfg, GError **error);
void rf_distance_free(struct rf_distance *d);
gboolean rf_distance_item(struct rf_distance *d, const struct rf_item *item, GError **error);
const struct rf_distances *rf_distance_of(const struct rf_distance *d, gboolean file);
uint64_t rf_distance_frames(const struct rf_distance *d);

/* Four buckets an octave: the one of n pages, and the least number of pages in one. */
unsigned rf_distance_bucket(uint64_t n);
uint64_t rf_distance_least(unsigned bucket);

/* What is printed. */
struct rf_distance_report {
	const char *path, *command;
	const struct rf_totals *totals;
	unsigned page_shift;
	gboolean forced; /* the trace lacks accesses */
	const struct rf_distance *distance;
};
void rf_distance_normal(GString *out, const struct rf_distance_report *r);
void rf_distance_csv(GString *out, const struct rf_distance_report *r, gboolean heading);
/* An object. */
void rf_distance_json(GString *out, const struct rf_distance_report *r);

#endif
