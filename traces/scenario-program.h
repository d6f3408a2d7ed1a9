/* SPDX-License-Identifier: MIT
 * A scenario between its parser and its execution: expressions and a tree of statements.
 */
#ifndef RF_SCENARIO_PROGRAM_H
#define RF_SCENARIO_PROGRAM_H

#include "base/rng.h"
#include "traces/import/import.h"

/* ---- expressions: 64-bit numbers, never negative; every overflow is an error ---- */

#define RF_EXPR_STACK 32

struct rf_scn_expr; /* operations in reverse Polish order */

/* Names that an expression may use: find gives a variable's number, or -1. */
struct rf_scn_names {
	int (*find)(const struct rf_scn_names *names, const char *name);
	/* All of them, for a suggestion; NULL-terminated, the caller frees the array. */
	const char **(*list)(const struct rf_scn_names *names);
};

/* Parse text up to its end or up to the first of the characters in `until` outside parentheses; *end
 * says where that was.  The message of an error has no position. */
struct rf_scn_expr *rf_scn_expr_parse(const char *text, const char *until, const char **end,
                                      const struct rf_scn_names *names, GError **error);
void rf_scn_expr_free(struct rf_scn_expr *x);
gboolean rf_scn_expr_value(const struct rf_scn_expr *x, const uint64_t *var, struct rf_rng *rng,
                           uint64_t *value, GError **error);

/* ---- statements ---- */

enum rf_scn_kind {
	RF_SCN_ACCESS,   /* R, W, X */
	RF_SCN_EVENT,    /* any other line of the text form */
	RF_SCN_LET,      /* var = x[0] */
	RF_SCN_LOOP,     /* var (or -1) from x[0] up to x[1], exclusive, by x[2] or 1 */
	RF_SCN_BRANCH,   /* of the arms, the first whose x is not 0 or NULL */
	RF_SCN_CHOICE,   /* one of the arms by chance, x is its weight */
	RF_SCN_PARALLEL, /* all arms at once; x, x2, var of an arm: one strand for each value */
	RF_SCN_CALL,     /* sets arguments, then body */
};

/* A piece of a line: text as it stands, then a number. */
struct rf_scn_piece {
	char *text;
	struct rf_scn_expr *x; /* or NULL */
	gboolean hex;          /* an address */
};

struct rf_scn_arm {
	struct rf_scn_expr *x, *x2;
	int var;
	struct rf_scn_stmt *body;
};

struct rf_scn_stmt {
	enum rf_scn_kind kind;
	uint32_t line;
	struct rf_scn_stmt *next;
	int var;
	enum rf_access type;
	struct rf_scn_expr *x[3]; /* of an access: task, address, length or NULL */
	GArray *pieces;           /* of an event: struct rf_scn_piece */
	GArray *arms;             /* struct rf_scn_arm; a loop's and a call's body is the only one */
	GArray *arg_var;          /* of a call: int */
	GPtrArray *arg;           /* of a call: struct rf_scn_expr */
};

struct rf_scn_program {
	char *name; /* of the file */
	uint64_t seed;
	struct rf_scn_stmt *body;
	uint64_t *var; /* as they are at the beginning: parameters have their values */
	unsigned nvars;
	GPtrArray *procs; /* what `define` made; calls borrow their bodies */
};

/* Reads the whole input.  params: NULL, or NULL-terminated "NAME=VALUE" that override. */
struct rf_scn_program *rf_scn_parse(struct rf_input *in, struct rf_header *header,
                                    const char *const *params, GError **error);
void rf_scn_program_free(struct rf_scn_program *p);

#endif
