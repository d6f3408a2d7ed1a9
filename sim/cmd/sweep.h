/* SPDX-License-Identifier: MIT
 * What the files of refault sweep share.
 */
#ifndef RF_CMD_SWEEP_H
#define RF_CMD_SWEEP_H

#include "sim/study/job.h"
#include "sim/study/sweep.h"

struct rf_sweep_args {
	GPtrArray *job, *section, *set, *params, *sbatch;
	char *combine, *format, *maps, *output, *jobs, *memory, *point, *part, *submit, *tasks;
	gboolean list, merge, dry_run, rerun_failed, parse_only, showcmd, quiet;
	GArray *given; /* struct rf_setting: options of the configuration on the command line */
	/* what the texts come to */
	guint threads, ntasks; /* ntasks 0: not given */
	uint64_t bytes;        /* memory for machines */
};

/* Print each section as a command line. */
void rf_sweep_show(const GPtrArray *sections);
gboolean rf_sweep_list(const struct rf_sweep_args *a, const GPtrArray *points, GError **error);
gboolean rf_sweep_dry_run(const struct rf_sweep_args *a, const GPtrArray *points, GError **error);
/* Compute those of the points that are chosen, and merge unless it is only a part of them. */
gboolean rf_sweep_do(const struct rf_sweep_args *a, const GPtrArray *points,
                     const GPtrArray *chosen, int *code, GError **error);
/* Write the CSV files and say what there is.  distinct and outcome as in rf_collate. */
gboolean rf_sweep_merge(const struct rf_sweep_args *a, const GPtrArray *points,
                        const GPtrArray *distinct, const struct rf_outcome *outcome, int *code,
                        GError **error);
gboolean rf_sweep_submit(const struct rf_sweep_args *a, const GPtrArray *points, int *code,
                         GError **error);
/* The program, as a word for a shell: its name where the path finds it, else where it is.  Caller
 * frees. */
char *rf_sweep_program(void);

#endif
