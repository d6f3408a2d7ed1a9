/* SPDX-License-Identifier: MIT
 * refault trace: what its verbs share.
 */
#ifndef RF_CMD_TRACE_H
#define RF_CMD_TRACE_H

#include <stddef.h>

#include "base/args.h"
#include "sim/cmd/command.h"
#include "traces/trace.h"

struct rf_trace_verb {
	const char *name, *operands, *summary;
	const char *text; /* what it does, for the help: whole lines; or NULL */
	const struct rf_arg *args;
	/* Operands and, in block, what args says.  FALSE with *code left: the code of the error. */
	gboolean (*run)(const GPtrArray *operands, void *block, int *code, GError **error);
	size_t block_size;
	void (*help)(GString *out); /* optional: more for the help */
	void (*man)(GString *out);  /* optional: more for the manual page */
};

extern const struct rf_trace_verb rf_trace_info, rf_trace_cat, rf_trace_convert, rf_trace_validate,
	rf_trace_synth, rf_trace_cut, rf_trace_reduce;

/* How to read a trace: first member of the blocks of verbs that do. */
struct rf_trace_in {
	char *format, *maps;
	GPtrArray *params;
	gboolean strict, no_kernel_accesses, rebase, quiet;
};

#define RF_TRACE_IN_ARGS                                                                           \
	{ "format",      0,                                                                        \
	  RF_ARG_STRING, offsetof(struct rf_trace_in, format),                                     \
	  "NAME",        "format of the input, instead of finding out from its content" },         \
		{ "maps",        0,                                                                \
		  RF_ARG_STRING, offsetof(struct rf_trace_in, maps),                               \
		  "FILE",        "mappings of a trace that has none of its own" },                 \
		{ "param",       0,                                                                \
		  RF_ARG_LIST,   offsetof(struct rf_trace_in, params),                             \
		  "NAME=VALUE",  "set a parameter of a scenario" },                                \
		{ "strict",                                                                        \
		  0,                                                                               \
		  RF_ARG_FLAG,                                                                     \
		  offsetof(struct rf_trace_in, strict),                                            \
		  NULL,                                                                            \
		  "refuse what is otherwise put right: undeclared tasks, accesses to nothing" },   \
		{ "no-kernel-accesses",                                                            \
		  0,                                                                               \
		  RF_ARG_FLAG,                                                                     \
		  offsetof(struct rf_trace_in, no_kernel_accesses),                                \
		  NULL,                                                                            \
		  "when importing, leave out what the kernel touched in user memory for system "   \
		  "calls" },                                                                       \
		{ "rebase",                                                                        \
		  0,                                                                               \
		  RF_ARG_FLAG,                                                                     \
		  offsetof(struct rf_trace_in, rebase),                                            \
		  NULL,                                                                            \
		  "give mappings addresses by file and offset, by name and by order, so that "     \
		  "recordings of one program at random addresses agree" },                         \
	{                                                                                          \
		"quiet", 'q', RF_ARG_FLAG, offsetof(struct rf_trace_in, quiet), NULL,              \
			"no progress bar, and nothing about lines that were skipped"               \
	}

struct rf_source *rf_trace_open(const char *path, const struct rf_trace_in *in, GError **error);
/* The only operand, or a usage error. */
const char *rf_trace_operand(const GPtrArray *operands, const char *verb, const char *what,
                             GError **error);

/* Hand every item of a source but the last (END) to fn, with a progress bar and the answer to
 * signals.  fn may set *stop to end early. */
typedef gboolean (*rf_trace_fn)(void *data, const struct rf_item *item, gboolean *stop,
                                GError **error);
gboolean rf_trace_each(struct rf_source *s, const struct rf_trace_in *in, rf_trace_fn fn,
                       void *data, GError **error);

/* A sink of the kind that to ("rft", "text", or NULL) or the suffix of path says. */
struct rf_sink *rf_trace_sink(const char *path, const char *to, const char *level,
                              const struct rf_header *header, GError **error);
/* Everything of the source into the sink; commits it, or leaves nothing. */
gboolean rf_trace_copy(struct rf_source *s, struct rf_sink *sink, const struct rf_trace_in *in,
                       GError **error);
/* Tell of skipped records on standard error. */
void rf_trace_tell_skipped(const struct rf_source *s, const struct rf_trace_in *in);

#endif
