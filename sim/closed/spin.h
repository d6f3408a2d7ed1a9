/* SPDX-License-Identifier: MIT
 * Spinlocks: how long one is held is known when it is taken, and nobody sleeps with it.  So nobody has to
 * be put aside for one, not even in the middle of reclaim: it is a calendar of the sections that others
 * have entered in it, and whoever wants it spins until the first gap that is long enough.
 */
#ifndef RF_SPIN_H
#define RF_SPIN_H

#include "sim/closed/lock.h"

struct rf_spin_section {
	uint64_t from, to;
};

/* Zeroed, then given its kind. */
struct rf_spin {
	const struct rf_lock_costs *costs;
	struct rf_lock_stats *stats;
	struct rf_spin_section *section; /* in order, from number first on: before that nobody asks any more */
	size_t first, n, size;
	struct rf_line line;
};

static inline void rf_spin_init(struct rf_spin *l, const struct rf_lock_costs *costs, struct rf_lock_stats *stats)
{
	*l = (struct rf_spin){ .costs = costs, .stats = stats };
}

void rf_spin_clear(struct rf_spin *l);
/* Whoever's turn it is takes the lock as early as it can from *now on, has it for hold ns, and lets go of
 * it at what is *now then.  s NULL (ordered replay): nobody else is there. */
void rf_spin_pass(struct rf_spin *l, struct rf_sched *s, uint64_t *now, uint64_t hold);

#endif
