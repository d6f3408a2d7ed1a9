/* SPDX-License-Identifier: MIT
 * One reclaim call: the priority loop around a policy (kernel-reclaim 4.5, 4.6).
 */
#ifndef RF_RECLAIM_H
#define RF_RECLAIM_H

#include "policies/policy.h"

#define RF_DEF_PRIORITY 12
#define RF_SWAP_CLUSTER_MAX 32

/* Reclaim at least sc->goal pages from sc->target's subtree if it can be done; the caller has set
 * target, goal, swappiness, may_swap, global, kswapd, proactive, the rest is zero.  Returns (and
 * leaves in sc->reclaimed) the pages freed: 0 means that nothing could be. */
uint64_t rf_reclaim(struct rf_policy *pol, struct rf_scan *sc);

/* One pass over one lruvec at sc->prio, whatever kind of policy it is. */
void rf_shrink_lruvec(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);

#endif
