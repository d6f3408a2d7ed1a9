/* SPDX-License-Identifier: MIT
 * The process that computes the points of one trace, and what it tells the one that started it.
 */
#ifndef RF_SWEEP_CHILD_H
#define RF_SWEEP_CHILD_H

#include "sim/progress.h"
#include "sim/study/store.h"
#include "sim/study/sweep.h"

/* Behind it stand len bytes of a message: all in one write. */
#define RF_NEWS_MAX 1000
struct rf_news {
	uint32_t index; /* among the child's points */
	uint32_t state; /* enum rf_outcome_state */
	int32_t code;
	uint32_t len;
	uint64_t accesses; /* of the trace, when they were replayed */
};

struct rf_child {
	const struct rf_sweep_options *o;
	const GPtrArray *points; /* of one trace; none twice */
	int fd;                  /* where the news go */
	struct rf_progress *progress;
	guint before, all; /* points of the sweep */
};

/* All of it; an exit code: 0 when there was news of every point. */
int rf_sweep_child(const struct rf_child *c);

#endif
