/* SPDX-License-Identifier: MIT
 * Option tables.  A component describes its options once; command line, job files, help, the JSON
 * echo and the man page all come from the table.  Part of the policy interface: installed.
 */
#ifndef RF_OPTION_H
#define RF_OPTION_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

enum rf_option_type {
	RF_OPT_BOOL,   /* gboolean: yes/no, true/false, on/off, 1/0 */
	RF_OPT_INT,    /* int64_t, range min..max */
	RF_OPT_SIZE,   /* uint64_t bytes: 64M, 4K; plain number is bytes */
	RF_OPT_TIME,   /* uint64_t ns: 10ms, 2s; plain number is ns */
	RF_OPT_ENUM,   /* int: index into the comma-separated choices */
	RF_OPT_STRING, /* char *, owned by the block, NULL when empty */
};

struct rf_option {
	const char *name; /* the kernel's knob name where there is one */
	enum rf_option_type type;
	size_t offset;    /* of the value in the option block */
	const char *unit; /* "pages", "ns", … or NULL */
	const char *def;  /* default, written as a user would */
	int64_t min, max; /* INT only; both 0: no limit.  SIZE, TIME: min is the least allowed */
	const char *choices; /* ENUM: "one,two".  STRING: what stands for the value in help, or NULL */
	const char *help;    /* one line, no full stop */
	const char *since;   /* kernel release that brought it, or NULL */
};

#define RF_OPTION_END { .name = NULL }

/* Fill a block with the table's defaults.  Aborts on a default that doesn't parse: a bug. */
void rf_options_init(const struct rf_option *table, void *block);

/* Set one option from text.  An unknown name is refused with the nearest one; a bad value with what
 * was expected.  where prefixes the message ("--reclaim 2q"). */
gboolean rf_options_set(const struct rf_option *table, void *block, const char *where,
                        const char *name, const char *value, GError **error);

/* Parse "name=value,name,…" (a bare name of a BOOL means yes). */
gboolean rf_options_parse(const struct rf_option *table, void *block, const char *where,
                          const char *list, GError **error);

/* Free what the block owns (strings). */
void rf_options_clear(const struct rf_option *table, void *block);

/* The value of one option as a user would write it, canonical: the inverse of rf_options_set.
 * Caller frees. */
char *rf_options_value(const struct rf_option *opt, const void *block);

/* Size of the smallest block that holds every option of the table (for tests), and lookup. */
const struct rf_option *rf_options_find(const struct rf_option *table, const char *name);

/* Append a help text, two lines an option, at most 79 columns. */
void rf_options_help(const struct rf_option *table, GString *out);

#endif
