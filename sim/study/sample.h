/* SPDX-License-Identifier: MIT
 * How long the points of a trace will take, from its beginning: the only estimate that knows both
 * the trace and the policies.
 */
#ifndef RF_SAMPLE_H
#define RF_SAMPLE_H

#include "sim/study/axes.h"

struct rf_sample_estimate {
	guint todo;        /* points without a valid result */
	uint64_t largest;  /* memory of the largest machine, bytes */
	uint64_t at_once;  /* of as many as fit, at least one */
	double seconds;    /* of one thread, for all to do; below 0: not known */
};

/* points: of one trace, none twice.  dir: of the sweep, or NULL.  memory: for machines. */
gboolean rf_sample_trace(const char *dir, const GPtrArray *points, uint64_t memory,
                         struct rf_sample_estimate *out, GError **error);

#endif
