/* SPDX-License-Identifier: MIT
 * Copies of a trace's items, for machines that are fed at times of their own: a source's items live
 * only until its next one.  Items of many runs are cut into pieces, and a skim is taken of each.
 */
#ifndef RF_BATCH_H
#define RF_BATCH_H

#include "sim/future.h"
#include "sim/skim.h"
#include "traces/trace.h"

struct rf_batch;

struct rf_batch *rf_batch_new(void);
void rf_batch_free(struct rf_batch *b);
/* Replace its content with the source's next items, up to about RF_BATCH_RUNS runs, and what each
 * future says of them.  *end: the trace's end was met. */
#define RF_BATCH_RUNS 65536
gboolean rf_batch_fill(struct rf_batch *b, struct rf_source *source, struct rf_futures *futures,
                       gboolean *end, GError **error);
/* Items stay as they are until the next fill; any number of threads may read them. */
guint rf_batch_runs(const struct rf_batch *b);
guint rf_batch_items(const struct rf_batch *b);
const struct rf_item *rf_batch_item(const struct rf_batch *b, guint i);
/* The skim of a runs item, or NULL where it would be no shorter than the item. */
const struct rf_skim *rf_batch_skim(const struct rf_batch *b, guint i);
/* Next uses of an item, by rf_futures_index; NULL where there is no such future. */
const uint64_t *rf_batch_next(const struct rf_batch *b, guint i, unsigned size);

#endif
