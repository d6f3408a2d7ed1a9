/* SPDX-License-Identifier: MIT
 * Output files that are whole or absent: written to a temporary name beside the target, then renamed.
 */
#ifndef RF_FILE_H
#define RF_FILE_H

#include <glib.h>
#include <stdio.h>

struct rf_outfile {
	FILE *f;
	char *path; /* final name; NULL for standard output */
	char *tmp;
};

/* Open path for writing; "-" or NULL is standard output (nothing to rename). */
gboolean rf_outfile_open(struct rf_outfile *o, const char *path, GError **error);
/* Flush, check every error (disk full), fsync-free rename.  Frees the struct's members. */
gboolean rf_outfile_commit(struct rf_outfile *o, GError **error);
/* Remove the temporary file.  Safe after a failed open or commit, and on a zeroed struct. */
void rf_outfile_abort(struct rf_outfile *o);

#endif
