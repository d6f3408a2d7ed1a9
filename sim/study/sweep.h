/* SPDX-License-Identifier: MIT
 * The points of a sweep, computed.  The points of one trace are replayed together by a process of
 * their own: one that dies (a plug-in that crashes, no memory left on the host) takes no other
 * trace's with it, and those that it had not finished are tried again, half of them at a time, until
 * the one that can't be computed stands alone.
 */
#ifndef RF_SWEEP_H
#define RF_SWEEP_H

#include "sim/study/axes.h"

enum rf_outcome_state {
	RF_OUTCOME_OPEN,   /* not computed: interrupted */
	RF_OUTCOME_BEFORE, /* its result was there, and is right */
	RF_OUTCOME_NOW,
	RF_OUTCOME_FAILED,
};

struct rf_outcome {
	enum rf_outcome_state state;
	int code;      /* exit code of a failed one */
	char *message; /* of a failed one; owned */
};

struct rf_sweep_options {
	const char *dir; /* made by rf_store_make */
	unsigned threads;
	uint64_t memory; /* bytes that all machines of one time may come to */
	gboolean quiet;  /* no progress bar, no lines about what is done */
};

/* Points that are the same runs share a result; they are in the array once.  Caller frees the array,
 * which does not own them. */
GPtrArray *rf_sweep_distinct(const GPtrArray *points);

/* Compute those of the points that have no valid result in the directory.  outcome: one a point,
 * zeroed by the caller.  FALSE after a signal, or when no process can be started; what was computed
 * is kept. */
gboolean rf_sweep_run(const struct rf_sweep_options *o, const GPtrArray *points,
                      struct rf_outcome *outcome, GError **error);

/* The traces that points need, in order of first mention: an array of arrays of points, which it owns
 * but not the points. */
GPtrArray *rf_sweep_traces(const GPtrArray *points);
/* Open the trace of a point: spooled or seekable, with totals known.  strict: of its configuration. */
struct rf_source *rf_sweep_open(const struct rf_point *p, GError **error);
/* The error's message, with the name of the trace before it where it lacks it. */
void rf_sweep_prefix(const struct rf_point *p, GError **error);

#endif
