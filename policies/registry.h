/* SPDX-License-Identifier: MIT
 * The built-in members of the seams: one explicit array a seam, read it and you know them all.
 * To add a policy: a file in the seam's folder, a line here, a line in registry.c.
 */
#ifndef RF_REGISTRY_H
#define RF_REGISTRY_H

#include "policies/policy.h"

/* page, not resident, is wanted: lv may have to make room for it before add() tells of it. */
typedef void rf_miss_hook(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);

struct rf_reclaim_builtin {
	const struct rf_reclaim_ops *ops;
	rf_miss_hook *miss; /* for algorithms whose victim depends on the page that is wanted, or NULL */
};

/* In the order in which they are listed; ops is NULL in the last. */
extern const struct rf_reclaim_builtin rf_reclaim_builtins[];

extern const struct rf_reclaim_ops rf_reclaim_fifo, rf_reclaim_lru, rf_reclaim_clock,
	rf_reclaim_random, rf_reclaim_2q, rf_reclaim_arc, rf_reclaim_lirs, rf_reclaim_s3fifo,
	rf_reclaim_sieve, rf_reclaim_belady, rf_reclaim_twolist, rf_reclaim_mglru;

rf_miss_hook rf_arc_miss;

#endif
