/* SPDX-License-Identifier: MIT
 * Commands: one table (command.c), one file each (cmd-NAME.c).
 */
#ifndef RF_COMMAND_H
#define RF_COMMAND_H

#include <glib.h>
#include "base/error.h"

struct rf_command {
	const char *name;
	const char *summary; /* one line, no full stop */
	/* argv[0] is the command's name.  Returns an exit code (enum rf_exit). */
	int (*run)(int argc, char **argv);
	/* Append what `refault NAME --help` and `refault help NAME` print. */
	void (*help)(GString *out);
	/* Append roff for the manual page: the command's options.  Optional. */
	void (*man)(GString *out);
};

extern const struct rf_command rf_commands[]; /* name NULL ends it */

const char *rf_version(void);

/* The whole program. */
int rf_main(int argc, char **argv);

/* Print "refault: MESSAGE" on standard error, free the error, give its exit code. */
int rf_fail(GError *error);
/* The same for a misuse of the command line, with a hint at `refault help COMMAND`. */
int rf_fail_usage(const char *command, GError *error);

/* Write text to standard output and check that it arrived; an exit code. */
int rf_print(const char *text);

/* SIGINT and SIGTERM set a flag; a second one kills.  Loops over a trace ask now and then, and stop
 * with this error, so that what they were writing is removed. */
void rf_interrupt_catch(void);
gboolean rf_interrupted(void);
void rf_set_interrupted(GError **error);

int rf_cmd_run(int argc, char **argv);
int rf_cmd_policies(int argc, char **argv);
int rf_cmd_help(int argc, char **argv);
void rf_cmd_run_help(GString *out);
void rf_cmd_run_man(GString *out);
void rf_cmd_policies_help(GString *out);
void rf_cmd_help_help(GString *out);

#endif
