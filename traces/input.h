/* SPDX-License-Identifier: MIT
 * What source.c needs of an input beyond the importers' view (import.h).
 */
#ifndef RF_INPUT_H
#define RF_INPUT_H

#include "traces/import/import.h"
#include "traces/raw.h"

/* Takes raw over, also on error. */
struct rf_input *rf_input_new(struct rf_raw *raw, GError **error);

#endif
