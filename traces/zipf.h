/* SPDX-License-Identifier: MIT
 * Zipf's law in integers: rank i (from 1) has weight i^-alpha.  The same numbers on any host and
 * with any compiler: no floating point, no library function.
 */
#ifndef RF_ZIPF_H
#define RF_ZIPF_H

#include <glib.h>
#include <stdint.h>

#include "base/rng.h"

#define RF_ZIPF_ONE ((uint64_t)1 << 56) /* weight of rank 1 */
#define RF_ALPHA_ONE 1000000u
#define RF_ALPHA_MAX (10 * RF_ALPHA_ONE)

/* Weight of a rank; alpha in millionths.  Right to about 2^-30 of itself, down to 1. */
uint64_t rf_zipf_weight(uint64_t rank, uint32_t alpha);

/* One of n values with given probabilities, in constant time (Walker 1977, filled as in Vose 1991,
 * "A linear algorithm for generating random numbers with a given distribution"). */
struct rf_alias {
	uint32_t n;
	struct rf_alias_cell {
		uint32_t below, value, other;
	} * cell;
};

/* value[i] is drawn in proportion to the weight of rank i + 1.  FALSE: no memory. */
gboolean rf_alias_zipf(struct rf_alias *a, uint32_t n, uint32_t alpha, const uint32_t *value);
void rf_alias_clear(struct rf_alias *a);

static inline uint32_t rf_alias_draw(const struct rf_alias *a, struct rf_rng *rng)
{
	uint64_t r = rf_rng_next(rng);
	const struct rf_alias_cell *c = &a->cell[((r >> 32) * a->n) >> 32];

	return (uint32_t)r < c->below ? c->value : c->other;
}

#endif
