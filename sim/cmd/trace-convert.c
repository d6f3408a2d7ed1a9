/* SPDX-License-Identifier: MIT
 * refault trace convert, cat, synth: a source into a sink.
 */
#include "sim/cmd/trace.h"
#include "traces/synth.h"

/* ---- convert ---- */

struct convert {
	struct rf_trace_in in;
	char *output, *to, *level;
};

#define OUT_ARGS(type)                                                                             \
	{ "output",      'o',                                                                      \
	  RF_ARG_STRING, offsetof(struct type, output),                                            \
	  "FILE",        "write there; - is standard output" },                                    \
		{ "to",                                                                            \
		  0,                                                                               \
		  RF_ARG_STRING,                                                                   \
		  offsetof(struct type, to),                                                       \
		  "FORM",                                                                          \
		  "rft or text, where the name of the output does not end in .rft or .txt" },      \
	{                                                                                          \
		"level", 0, RF_ARG_STRING, offsetof(struct type, level), "N",                      \
			"of compression, 1 to 22"                                                  \
	}

static const struct rf_arg convert_args[] = { OUT_ARGS(convert), RF_TRACE_IN_ARGS, RF_ARG_END };

static gboolean into(struct rf_source *s, const struct convert *c, GError **error)
{
	struct rf_sink *sink =
		rf_trace_sink(c->output, c->to, c->level, rf_source_header(s), error);

	if (!sink || !rf_trace_copy(s, sink, &c->in, error))
		return FALSE;
	rf_trace_tell_skipped(s, &c->in);
	return TRUE;
}

static gboolean convert(const GPtrArray *operands, void *block, int *code, GError **error)
{
	const struct convert *c = block;
	const char *path = rf_trace_operand(operands, "convert", "TRACE", error);
	struct rf_source *s;
	gboolean good;

	(void)code;
	if (!path)
		return FALSE;
	if (!c->output) {
		rf_set_usage(error, "trace convert: expected -o FILE");
		return FALSE;
	}
	s = rf_trace_open(path, &c->in, error);
	good = s && into(s, c, error);
	rf_source_close(s);
	return good;
}

const struct rf_trace_verb rf_trace_convert = {
	.name = "convert",
	.operands = "TRACE -o FILE [OPTION]...",
	.summary = "any format into the container or the text form",
	.text = "Read a trace of any format and write it as FILE.  The file is whole or absent.\n"
		"What the kernel itself touched for read(2), write(2) and their kin counts as\n"
		"accesses like any other; --no-kernel-accesses gives those of the program alone.\n",
	.args = convert_args,
	.run = convert,
	.block_size = sizeof(struct convert),
};

/* ---- cat ---- */

static const struct rf_arg cat_args[] = { RF_TRACE_IN_ARGS, RF_ARG_END };

static gboolean cat(const GPtrArray *operands, void *block, int *code, GError **error)
{
	const struct rf_trace_in *in = block;
	const char *path = rf_trace_operand(operands, "cat", "TRACE", error);
	struct rf_source *s;
	struct rf_sink *sink;
	gboolean good;

	(void)code;
	s = path ? rf_trace_open(path, in, error) : NULL;
	if (!s)
		return FALSE;
	sink = rf_sink_text("-", rf_source_header(s), error);
	good = sink && rf_trace_copy(s, sink, in, error);
	rf_source_close(s);
	return good;
}

const struct rf_trace_verb rf_trace_cat = {
	.name = "cat",
	.operands = "TRACE [OPTION]...",
	.summary = "print a trace in the text form",
	.text = "Print a trace of any format in the text form of refault-trace(5).\n",
	.args = cat_args,
	.run = cat,
	.block_size = sizeof(struct rf_trace_in),
};

/* ---- synth ---- */

static const struct rf_arg synth_args[] = {
	OUT_ARGS(convert),
	{ "quiet", 'q', RF_ARG_FLAG, offsetof(struct rf_trace_in, quiet), NULL, "no progress bar" },
	RF_ARG_END
};

static gboolean synth(const GPtrArray *operands, void *block, int *code, GError **error)
{
	const struct convert *c = block;
	const char *spec = rf_trace_operand(operands, "synth", "KIND[,OPTION=VALUE]...", error);
	struct rf_source *s;
	gboolean good;

	(void)code;
	if (!spec)
		return FALSE;
	if (!c->output) {
		rf_set_usage(error, "trace synth: expected -o FILE");
		return FALSE;
	}
	s = rf_synth_open(spec, error);
	good = s && into(s, c, error);
	rf_source_close(s);
	return good;
}

static void synth_help(GString *out)
{
	for (unsigned i = 0; rf_synth_kinds[i]; i++) {
		g_string_append_printf(out, "\n%s: %s\n", rf_synth_kinds[i]->name,
		                       rf_synth_kinds[i]->summary);
		rf_options_help(rf_synth_kinds[i]->options, out);
	}
}

static void synth_man(GString *out)
{
	for (unsigned i = 0; rf_synth_kinds[i]; i++) {
		g_string_append(out, ".TP\n.B ");
		rf_man_escape(out, rf_synth_kinds[i]->name);
		g_string_append_c(out, '\n');
		rf_man_escape(out, rf_synth_kinds[i]->summary);
		g_string_append(out, ".\n.RS\n");
		rf_args_table_man(rf_synth_kinds[i]->options, "", out);
		g_string_append(out, ".RE\n");
	}
}

const struct rf_trace_verb rf_trace_synth = {
	.name = "synth",
	.operands = "KIND[,OPTION=VALUE]... -o FILE",
	.summary = "make a synthetic workload",
	.text = "Write a synthetic workload.  The same words give the same bytes on any host.  A\n"
		"file with the one line `!refault-synth 1 KIND,OPTION=VALUE,...' is a trace too.\n",
	.args = synth_args,
	.run = synth,
	.block_size = sizeof(struct convert),
	.help = synth_help,
	.man = synth_man,
};
