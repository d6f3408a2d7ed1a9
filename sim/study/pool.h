/* SPDX-License-Identifier: MIT
 * Many machines, one reading of the trace, several threads.
 *
 * The calling thread reads batches into a window of a few; a worker takes the machine that is
 * furthest behind through all that the window has for it, then looks for another.  A machine sees
 * the same items in the same order as if it were alone, so that results depend neither on the number
 * of threads nor on who goes with whom.
 */
#ifndef RF_POOL_H
#define RF_POOL_H

#include "sim/machine.h"
#include "sim/progress.h"

struct rf_pool_job {
	struct rf_machine *machine; /* belongs to the caller; NULL once it has ended */
	double seconds;             /* of processor time it took */
};

/* A machine has met the trace's end, or can't go on (error; it is not the callee's).  Called in a
 * worker's thread, at most once for each job; the callee frees and clears job->machine. */
typedef void (*rf_pool_ended)(void *self, guint nth, struct rf_pool_job *job,
                              const struct rf_totals *totals, const GError *error);

/* Replay the source, which is spooled or seekable and at its beginning, on all of them.  FALSE when
 * the source fails or after a signal; then those machines that had not ended stay as they are, and
 * get no call. */
gboolean rf_pool_replay(struct rf_source *source, struct rf_pool_job *jobs, guint n,
                        unsigned threads, rf_pool_ended ended, void *self,
                        struct rf_progress *progress, GError **error);

/* Processor time of the calling thread. */
double rf_thread_seconds(void);

#endif
