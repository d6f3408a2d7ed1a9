/* SPDX-License-Identifier: MIT
 * The registry of importers.
 */
#include "traces/import/import.h"

#include "traces/import/formats.h"
#include "traces/import/lackey.h"
#include "traces/import/oracle.h"
#include "traces/import/recording.h"
#include "traces/scenario.h"
#include "traces/synth.h"
#include "traces/text.h"

const struct rf_importer *const rf_importers[] = {
	&rf_text_importer,
	&rf_lackey_importer,
	/* recordings of processes */
	&rf_perf_importer,
	&rf_perf_trace_importer,
	&rf_perf_mem_importer,
	&rf_ftrace_importer,
	&rf_strace_importer,
	&rf_damon_importer,
	/* addresses */
	&rf_drview_importer,
	&rf_pin_importer,
	&rf_oneline_importer,
	&rf_pagetrace_importer,
	&rf_ucsd_importer,
	&rf_kaplan_importer,
	&rf_teaching_importer,
	&rf_pages_importer,
	/* caches and blocks */
	&rf_oracle_importer,
	&rf_csv_importer,
	&rf_arc_importer,
	&rf_spc_importer,
	&rf_msr_importer,
	&rf_systor_importer,
	&rf_blkparse_importer,
	&rf_fio_importer,
	&rf_recording_importer,
	/* programs */
	&rf_masim_importer,
	&rf_synth_importer,
	&rf_scenario_importer,
	NULL
};
