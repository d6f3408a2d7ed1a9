/* SPDX-License-Identifier: MIT
 * A machine that a trace is replayed on.  Two kinds: the modelled one (machine.c and the files
 * beside it) and the ideal one of --frames (frames.c).  Both feed on the items of a source.
 */
#ifndef RF_MACHINE_H
#define RF_MACHINE_H

#include "sim/config.h"
#include "sim/future.h"
#include "sim/result.h"
#include "sim/skim.h"
#include "traces/trace.h"

struct rf_machine;
struct rf_progress;
struct rf_source;

/* Build a machine for a configuration whose percentages are resolved.  totals: the trace's. */
struct rf_machine *rf_machine_new(const struct rf_config *cfg, const struct rf_totals *totals,
                                  GError **error);
void rf_machine_free(struct rf_machine *m);
/* Does its policy know the future (RF_POLICY_FUTURE)?  Then it must be given one, made for its page
 * size, before the first item; the future is told of every item before the machine is. */
gboolean rf_machine_needs_future(const struct rf_machine *m);
void rf_machine_set_future(struct rf_machine *m, struct rf_future *future);
unsigned rf_machine_page_shift(const struct rf_machine *m);
/* One item of the trace.  FALSE when the machine can't go on: bad input (strict), no memory for one
 * fault.  An OOM kill is no error: later events of a killed task are ignored. */
gboolean rf_machine_item(struct rf_machine *m, const struct rf_item *item, GError **error);
/* Take a runs item by its skim alone, if that gives the same.  FALSE: nothing was done, and the item
 * itself is to be given. */
gboolean rf_machine_skim(struct rf_machine *m, const struct rf_item *item,
                         const struct rf_skim *skim);
/* Does it take a whole source by itself (--replay closed) instead of items? */
gboolean rf_machine_is_closed(const struct rf_machine *m);
gboolean rf_machine_replay_closed(struct rf_machine *m, struct rf_source *source,
                                  struct rf_progress *progress, GError **error);
/* The trace has ended: settle and fill the result. */
gboolean rf_machine_finish(struct rf_machine *m, struct rf_result *out, GError **error);
/* Snapshot for timelines and marks, at any time. */
void rf_machine_sample(struct rf_machine *m, struct rf_sample *out);

#endif
