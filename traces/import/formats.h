/* SPDX-License-Identifier: MIT
 * The importers of formats of lines, a file each.
 */
#ifndef RF_FORMATS_H
#define RF_FORMATS_H

#include "traces/import/import.h"

extern const struct rf_importer rf_arc_importer, rf_blkparse_importer, rf_fio_importer, rf_msr_importer,
	rf_spc_importer, rf_systor_importer;

#endif
