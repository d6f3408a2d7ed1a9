/* SPDX-License-Identifier: MIT
 * The registry of importers.
 */
#include "traces/import.h"

#include "traces/lackey.h"
#include "traces/oracle.h"
#include "traces/synth.h"
#include "traces/text.h"

const struct rf_importer *const rf_importers[] = {
	&rf_text_importer,
	&rf_lackey_importer,
	&rf_oracle_importer,
	&rf_synth_importer,
	NULL
};
