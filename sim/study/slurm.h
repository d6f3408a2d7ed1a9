/* SPDX-License-Identifier: MIT
 * A sweep on a Slurm cluster: the parts of its plan are the tasks of an array job.  The directory is
 * to be one that all nodes see.
 */
#ifndef RF_SLURM_H
#define RF_SLURM_H

#include <glib.h>
#include <stdint.h>

struct rf_slurm_options {
	const char *dir;
	const char *program; /* a word for a shell */
	guint threads, tasks;
	uint64_t memory;         /* of each task, bytes; 0: what the cluster gives */
	const GPtrArray *sbatch; /* char *: more options, or NULL */
	gboolean quiet;
};

/* Write DIR/slurm.sh, submit it and follow it until no task is left.  FALSE when it can't be
 * submitted or followed, or after a signal: then the job goes on, and the message names it.  Whether
 * its points have results is for the merge to say. */
gboolean rf_slurm_run(const struct rf_slurm_options *o, const GPtrArray *points, GError **error);

#endif
