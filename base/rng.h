/* SPDX-License-Identifier: MIT
 * The project's own seeded generator (splitmix64): the same numbers on any host.
 * Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
 */
#ifndef RF_RNG_H
#define RF_RNG_H

#include <stdint.h>

struct rf_rng { uint64_t s; };

static inline uint64_t rf_rng_next(struct rf_rng *r)
{
	uint64_t z = (r->s += 0x9E3779B97F4A7C15u);
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

/* Uniform enough in [0, n): the high half of a product, no division.  n < 2^32. */
static inline uint32_t rf_rng_below(struct rf_rng *r, uint32_t n)
{
	return (uint32_t)(((rf_rng_next(r) >> 32) * n) >> 32);
}

#endif
