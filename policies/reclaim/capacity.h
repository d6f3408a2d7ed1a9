/* SPDX-License-Identifier: MIT
 * How many pages a lruvec can hold, for algorithms whose lists are shares of the cache size.
 * Nobody tells a policy the limit of a memory cgroup: but reclaim runs when memory is full, so
 * what is resident then is the capacity, give or take a batch.
 */
#ifndef RF_CAPACITY_H
#define RF_CAPACITY_H

#include "policies/policy.h"

/* Reclaim works in batches: this much below the last known size says nothing new. */
#define RF_CAPACITY_SLACK 64

static inline void rf_capacity_init(uint32_t *capacity, const struct rf_policy *pol)
{
	*capacity = pol->host->total_frames;
}

/* After pages were added: resident is what is in memory now. */
static inline void rf_capacity_grown(uint32_t *capacity, uint32_t resident)
{
	if (resident > *capacity)
		*capacity = resident;
}

/* Before a victim is proposed. */
static inline void rf_capacity_full(uint32_t *capacity, uint32_t resident)
{
	if (*capacity > RF_CAPACITY_SLACK && resident < *capacity - RF_CAPACITY_SLACK)
		*capacity = MAX(resident, 1);
}

/* percent of capacity, at least 1. */
static inline uint32_t rf_capacity_share(uint32_t capacity, int64_t percent)
{
	uint64_t n = (uint64_t)capacity * (uint64_t)percent / 100;

	return (uint32_t)CLAMP(n, 1, (uint64_t)UINT32_MAX);
}

#endif
