/* SPDX-License-Identifier: MIT
 * The command line of one command: its own arguments, and option tables whose every entry is a long
 * option as well.  Parsing, help and manual page come from the same description.
 */
#ifndef RF_ARGS_H
#define RF_ARGS_H

#include <glib.h>
#include "base/option.h"

enum rf_arg_kind {
	RF_ARG_FLAG,   /* gboolean */
	RF_ARG_STRING, /* char *: the last one given */
	RF_ARG_LIST,   /* GPtrArray * of char *, in order; made when NULL */
};

struct rf_arg {
	const char *name;
	char letter; /* or 0 */
	enum rf_arg_kind kind;
	size_t offset; /* in the block */
	const char *metavar;
	const char *help;
};

#define RF_ARG_END { .name = NULL }

struct rf_args {
	const char *command;           /* for messages */
	const struct rf_arg *arg;      /* values go into block */
	void *block;
	const struct rf_option *table; /* or NULL; values go into table_block */
	void *table_block;
};

/* Fill the blocks from argv[1…]; what is no option is appended to operands ("--" ends options, "-"
 * is an operand).  In option names "-" and "_" are the same.  RF_USAGE_ERROR, with the nearest name
 * for an unknown option.  --help and -h set *help and end parsing. */
gboolean rf_args_parse(const struct rf_args *a, int argc, char **argv, GPtrArray *operands,
                       gboolean *help, GError **error);
/* Free the strings of the block. */
void rf_args_clear(const struct rf_arg *arg, void *block);

/* Append the arguments, at most 79 columns; the table is appended by rf_options_help. */
void rf_args_help(const struct rf_arg *arg, GString *out);
/* Append them as roff, and an option table as roff (long options when dashes is set). */
void rf_args_man(const struct rf_arg *arg, GString *out);
void rf_options_man(const struct rf_option *table, gboolean dashes, GString *out);
/* Append text to a roff page: backslashes, hyphens, leading dots and quotes made safe. */
void rf_man_escape(GString *out, const char *text);

#endif
