/* SPDX-License-Identifier: MIT
 * Running a program under a recorder.
 */
#ifndef RF_LAUNCH_H
#define RF_LAUNCH_H

#include <glib.h>
#include <sys/types.h>

struct rf_launch_options {
	char *const *command;     /* NULL-terminated; the first is a program that exists */
	guint64 window_pages, window_instructions; /* pages 0: all accesses */
	guint64 page_size;        /* of the recorded machine, 0: the usual one */
	const char *sysroot;      /* where a program of another architecture finds its libraries, or NULL */
};

struct rf_recorder {
	const char *name;
	const char *programs; /* which it is for, "x86-64 programs" */
	const char *format;   /* importer of what it writes */
	/* NULL: it can be used.  Else what is missing, and how to get it; caller frees. */
	char *(*missing)(void);
	/* Append the command line, to write to path. */
	void (*command)(const struct rf_launch_options *o, const char *path, GPtrArray *argv);
	gboolean errors; /* the stream holds what the command writes to standard error, too */
};

extern const struct rf_recorder rf_recorders[]; /* name NULL ends it; the preferred ones first */

/* The one of that name, or (NULL) the first that can be used for a program; FALSE: none. */
const struct rf_recorder *rf_recorder_find(const char *name, const char *program, GError **error);

struct rf_launch;
/* Start the command; what is recorded can be read from the path that rf_launch_path gives, once, up
 * to the end, which comes when no process of the command is left.  From now on SIGINT and SIGTERM do
 * not stop this process, but the command. */
struct rf_launch *rf_launch_start(const struct rf_recorder *r, const struct rf_launch_options *o,
                                  GError **error);
const char *rf_launch_path(const struct rf_launch *l);
gboolean rf_launch_stopped(const struct rf_launch *l); /* by such a signal */
void rf_launch_stop(struct rf_launch *l);              /* end the command */
/* Wait for the command; frees.  Its status as wait(2) gives it, -1: it could not be started. */
int rf_launch_end(struct rf_launch *l);

#endif
