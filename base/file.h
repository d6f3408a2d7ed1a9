/* SPDX-License-Identifier: MIT
 * Output files that are whole or absent: written to a temporary name beside the target, then renamed.
 * Small text files, read whole.
 */
#ifndef RF_FILE_H
#define RF_FILE_H

#include <glib.h>
#include <stdio.h>

struct rf_outfile {
	FILE *f;
	char *path; /* final name; NULL for standard output */
	char *tmp;
	int error; /* of the first write that failed, or 0 */
};

/* Open path for writing; "-" or NULL is standard output (nothing to rename). */
gboolean rf_outfile_open(struct rf_outfile *o, const char *path, GError **error);
/* Whoever writes to f itself can't say why a write failed; this does, in the commit. */
void rf_outfile_write(struct rf_outfile *o, const char *text, size_t len);
/* Flush, check every error (disk full), fsync-free rename.  Frees the struct's members. */
gboolean rf_outfile_commit(struct rf_outfile *o, GError **error);
/* Remove the temporary file.  Safe after a failed open or commit, and on a zeroed struct. */
void rf_outfile_abort(struct rf_outfile *o);

/* A file of at most so many MiB, the caller's, with a NUL behind it; what ("job file") is for messages.
 * NULL: RF_USAGE_ERROR for a device, a directory or a larger file, RF_ENV_ERROR for one that can't be
 * read. */
char *rf_load_text(const char *what, const char *path, unsigned mib, gsize *len, GError **error);

#endif
