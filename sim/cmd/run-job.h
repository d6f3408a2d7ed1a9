/* SPDX-License-Identifier: MIT
 * refault run --job: one section of a job file as a run.
 */
#ifndef RF_RUN_JOB_H
#define RF_RUN_JOB_H

#include "sim/config.h"
#include "sim/study/job.h"

struct rf_run_job {
	struct rf_config cfg;
	GPtrArray *traces;   /* char * */
	char *format, *maps; /* or NULL */
	GPtrArray *params;   /* char *, or NULL */
};

/* section: NULL where the file has only one.  given: what the command line says, which goes before the
 * file (struct rf_setting).  It must be one configuration, for whatever traces.  job need not be
 * initialised; after an error there is nothing to clear. */
gboolean rf_run_job_load(struct rf_run_job *job, const char *path, const char *section,
                         const GArray *given, GError **error);
void rf_run_job_clear(struct rf_run_job *job);

#endif
