/* SPDX-License-Identifier: MIT
 * Commands: one table (command.c), one file each (NAME.c).
 */
#ifndef RF_COMMAND_H
#define RF_COMMAND_H

#include "base/args.h"
#include "base/error.h"
#include "base/interrupt.h"
#include <glib.h>

/* What a command is called with. */
struct rf_call {
	void *block;         /* its options, parsed */
	GPtrArray *operands; /* char *, in order; the command may add some */
	int argc;            /* the words as given; argv[0] is the command's name */
	char **argv;
};

struct rf_command {
	const char *name;
	const char *summary; /* one line, no full stop */
	/* Its options: a block, zeroed; args have their values at its beginning, those of the table
	 * (or NULL) are at table_offset, or go to take(block, …), as lists.  init and clear (or
	 * NULL) are for what the block holds beside args. */
	size_t size;
	const struct rf_arg *args;
	const struct rf_option *table;
	size_t table_offset;
	rf_args_take *take;
	gboolean runs_command; /* operands are a command with options of its own */
	void (*init)(void *block);
	void (*clear)(void *block);
	/* FALSE with an error, whose exit code counts, unless *code is RF_EXIT_INTERRUPTED.  Else
	 * *code counts, RF_EXIT_OK until it is set. */
	gboolean (*run)(const struct rf_call *call, int *code, GError **error);
	/* Instead of all that: for a command with verbs. */
	int (*main)(int argc, char **argv);
	/* Append what `refault NAME --help' and `refault help NAME' print. */
	void (*help)(GString *out);
	/* Append the command's part of the manual page, roff (args.h helps). */
	void (*man)(GString *out);
};

extern const struct rf_command *const rf_commands[]; /* NULL ends it */
const struct rf_command *rf_command_find(const char *name);

/* The whole program. */
int rf_main(int argc, char **argv);

/* Print "refault: MESSAGE" on standard error, free the error, give its exit code.  After a signal
 * the code is RF_EXIT_INTERRUPTED whatever the error. */
int rf_fail(GError *error);

/* Write text to standard output and make sure that it arrives; an exit code. */
int rf_print(const char *text);
/* Print a command's help; an exit code. */
int rf_print_help(const struct rf_command *command);

#endif
