/* SPDX-License-Identifier: MIT
 * The command line of one command: its own arguments, and an option table whose every entry is a
 * long option as well.  Parsing, help and manual page come from the same description.
 */
#ifndef RF_ARGS_H
#define RF_ARGS_H

#include "base/option.h"
#include <glib.h>

enum rf_arg_kind {
	RF_ARG_FLAG,   /* gboolean */
	RF_ARG_STRING, /* char *: the last one given */
	RF_ARG_LIST,   /* GPtrArray * of char *, in order; NULL when none was given */
};

struct rf_arg {
	const char *name;
	char letter; /* or 0 */
	enum rf_arg_kind kind;
	size_t offset; /* in the block */
	const char *metavar;
	const char *help; /* no full stop */
};

#define RF_ARG_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

struct rf_args {
	const struct rf_arg *arg; /* values go into block, which the caller has zeroed */
	void *block;
	const struct rf_option *table; /* or NULL; values go into table_block */
	void *table_block;
	gboolean command; /* operands are a command with options of its own: ours end at the first */
};

/* Fill the blocks from argv[1…]; what is no option is appended to operands ("--" ends options,
 * "-" is an operand).  In option names "-" and "_" are the same.  RF_USAGE_ERROR, with the nearest
 * name for an unknown option.  --help and -h set *help and end parsing. */
gboolean rf_args_parse(const struct rf_args *a, int argc, char **argv, GPtrArray *operands,
                       gboolean *help, GError **error);
/* A list as a NULL-terminated array, which stays the list's; NULL for NULL. */
const char *const *rf_args_strv(GPtrArray *list);
/* The same, but options of the table go to take(block, …), whatever their values: lists of them. */
typedef gboolean rf_args_take(void *block, const struct rf_option *opt, const char *value,
                              GError **error);
gboolean rf_args_parse_lists(const struct rf_args *a, int argc, char **argv, rf_args_take *take,
                             GPtrArray *operands, gboolean *help, GError **error);
/* Free what the block owns. */
void rf_args_clear(const struct rf_arg *arg, void *block);

/* The entry whose name is this one but for "-" and "_", or NULL. */
const struct rf_option *rf_args_option(const struct rf_option *table, const char *name);

/* Append arguments, and a table as long options, at most 79 columns. */
void rf_args_help(const struct rf_arg *arg, GString *out);
void rf_args_table_help(const struct rf_option *table, GString *out);
/* The same as roff; prefix stands before the names of a table ("--" or ""). */
void rf_args_man(const struct rf_arg *arg, GString *out);
void rf_args_table_man(const struct rf_option *table, const char *prefix, GString *out);
/* Append text to a roff page: backslashes, hyphens, quotes and leading dots made safe. */
void rf_man_escape(GString *out, const char *text);

#endif
