/* SPDX-License-Identifier: MIT
 * The source's view of a builder; importers see the one in import.h.
 */
#ifndef RF_BUILDER_H
#define RF_BUILDER_H

#include "traces/import/import.h"

struct rf_builder *rf_builder_new(gboolean strict);
void rf_builder_free(struct rf_builder *b);

/* Take the next item out.  FALSE: there is none, read on.  With last, the run that was held back
 * because it might still grow comes out too.  Pointers live until the next call of any function of
 * the builder that takes or adds. */
gboolean rf_builder_take(struct rf_builder *b, gboolean last, struct rf_item *item);

/* An error that rf_builder_access could not return; NULL when there is none.  Stays the builder's. */
const GError *rf_builder_error(const struct rf_builder *b);

/* Runs and events handed out so far. */
uint64_t rf_builder_records(const struct rf_builder *b);
/* Skipped records by reason, in order of first mention: FALSE beyond the last. */
gboolean rf_builder_skipped_nth(const struct rf_builder *b, guint i, const char **reason,
                                uint64_t *n);

#endif
