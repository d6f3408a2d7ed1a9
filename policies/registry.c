/* SPDX-License-Identifier: MIT */
#include "policies/registry.h"

const struct rf_reclaim_builtin rf_reclaim_builtins[] = {
	{ .ops = &rf_reclaim_fifo },
	{ .ops = &rf_reclaim_lru },
	{ .ops = &rf_reclaim_clock },
	{ .ops = &rf_reclaim_random },
	{ .ops = &rf_reclaim_2q },
	{ .ops = &rf_reclaim_arc, .miss = rf_arc_miss },
	{ .ops = &rf_reclaim_lirs },
	{ .ops = &rf_reclaim_s3fifo },
	{ .ops = &rf_reclaim_sieve },
	{ .ops = &rf_reclaim_belady },
	{ .ops = &rf_reclaim_twolist },
	{ .ops = &rf_reclaim_mglru },
	{ .ops = NULL },
};
