/* SPDX-License-Identifier: MIT
 * The loop from a trace to machines: N configurations are replayed from one decode.
 */
#ifndef RF_REPLAY_H
#define RF_REPLAY_H

#include "sim/machine.h"
#include "traces/trace.h"

struct rf_progress;

/* Feed the source's items to every machine, to the trace's end; those of closed replay read it once
 * each, after the others, so that several machines with one of them need a source that is spooled
 * or seekable.  The error says which machine could
 * not go on when there are several.  progress: may be NULL.  Stops with rf_set_interrupted's error
 * after a signal.  A source for machines that need the future must be spooled or seekable, and at
 * its beginning. */
gboolean rf_replay(struct rf_source *source, struct rf_machine *const *machines, unsigned n,
                   struct rf_progress *progress, GError **error);

#endif
