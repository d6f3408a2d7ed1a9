/* SPDX-License-Identifier: MIT
 * A source made of an input, an importer and a builder.
 */
#ifndef RF_IMPORT_SOURCE_H
#define RF_IMPORT_SOURCE_H

#include "traces/input.h"
#include "traces/source.h"

/* Takes the input over, also on error. */
struct rf_source *rf_source_import(struct rf_input *in, const struct rf_source_options *options,
                                   GError **error);

#endif
