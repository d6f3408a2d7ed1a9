/* SPDX-License-Identifier: MIT
 * The importers of formats of lines, a file each.
 */
#ifndef RF_FORMATS_H
#define RF_FORMATS_H

#include "traces/import/import.h"

extern const struct rf_importer rf_arc_importer, rf_blkparse_importer, rf_csv_importer,
	rf_damon_importer, rf_drview_importer, rf_fio_importer, rf_ftrace_importer, rf_kaplan_importer,
	rf_masim_importer, rf_msr_importer, rf_oneline_importer, rf_pages_importer, rf_pagetrace_importer,
	rf_perf_importer, rf_perf_mem_importer, rf_perf_trace_importer, rf_pin_importer,
	rf_spc_importer, rf_strace_importer, rf_systor_importer, rf_teaching_importer,
	rf_ucsd_importer;

#endif
