/* SPDX-License-Identifier: MIT
 * What source.c needs of an input beyond the importers' view (import.h).
 */
#ifndef RF_INPUT_H
#define RF_INPUT_H

#include "traces/import/import.h"
#include "traces/raw.h"

/* Takes raw over, also on error. */
struct rf_input *rf_input_new(struct rf_raw *raw, GError **error);

/* Lines come after so many of something that this input stands in. */
void rf_input_begin_at(struct rf_input *in, uint64_t lines);

#endif
