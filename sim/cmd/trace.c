/* SPDX-License-Identifier: MIT
 * refault trace: its verbs behind one table, and what they share.
 */
#include "sim/cmd/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/wrap.h"
#include "sim/progress.h"
#include "traces/import/import.h"
#include "traces/rebase.h"

#define NAME "trace"

static const struct rf_trace_verb *const verbs[] = {
	&rf_trace_info,     &rf_trace_cat,   &rf_trace_convert,
	&rf_trace_validate, &rf_trace_synth, &rf_trace_cut,
	&rf_trace_reduce,
};

/* ---- reading ---- */

struct rf_source *rf_trace_open(const char *path, const struct rf_trace_in *in, GError **error)
{
	const struct rf_source_options options = {
		.format = in->format,
		.maps = in->maps,
		.params = rf_args_strv(in->params),
		.strict = in->strict,
		.no_kernel_accesses = in->no_kernel_accesses,
	};

	struct rf_source *s = rf_source_open(path, &options, error);

	return s && in->rebase ? rf_source_rebase(s) : s;
}

const char *rf_trace_operand(const GPtrArray *operands, const char *verb, const char *what,
                             GError **error)
{
	if (operands->len == 1)
		return operands->pdata[0];
	if (operands->len == 0)
		rf_set_usage(error, "trace %s: expected %s; see `refault trace %s --help'", verb,
		             what, verb);
	else
		rf_set_usage(error, "trace %s: expected one %s, got \"%s\" too", verb, what,
		             (char *)operands->pdata[1]);
	return NULL;
}

static uint64_t accesses(const struct rf_totals *t)
{
	return t->accesses[RF_READ] + t->accesses[RF_WRITE] + t->accesses[RF_EXEC];
}

gboolean rf_trace_each(struct rf_source *s, const struct rf_trace_in *in, rf_trace_fn fn,
                       void *data, GError **error)
{
	struct rf_progress *progress = in && in->quiet ? NULL : rf_progress_new(rf_source_path(s));
	gboolean good, stop = FALSE;

	do {
		struct rf_item item;

		good = !rf_interrupted();
		if (!good)
			rf_set_interrupted(error);
		good = good && rf_source_next(s, &item, error);
		if (good && item.kind == RF_ITEM_END)
			break;
		good = good && fn(data, &item, &stop, error);
		if (good)
			rf_progress_update(progress, rf_source_progress(s),
			                   accesses(rf_source_totals(s)));
	} while (good && !stop);
	rf_progress_end(progress);
	return good;
}

void rf_trace_tell_skipped(const struct rf_source *s, const struct rf_trace_in *in)
{
	const char *reason;
	uint64_t n;

	for (guint i = 0; !in->quiet && rf_source_skipped(s, i, &reason, &n); i++) {
		g_autofree char *count = rf_format_count(n);

		fprintf(stderr, "refault: %s: skipped %s: %s\n", rf_source_path(s), count, reason);
	}
}

/* ---- writing ---- */

struct rf_sink *rf_trace_sink(const char *path, const char *to, const char *level,
                              const struct rf_header *header, GError **error)
{
	uint64_t number = 0;

	if (level && (!rf_parse_u64(level, &number, NULL) || number < 1 || number > 22)) {
		rf_set_usage(error, "--level %s; expected 1 to 22", level);
		return NULL;
	}
	if (!to) {
		if (g_str_has_suffix(path, ".rft")) {
			to = "rft";
		} else if (g_str_has_suffix(path, ".txt")) {
			to = "text";
		} else {
			rf_set_usage(
				error,
				"-o %s: expected a name that ends in .rft or .txt, or --to rft or "
				"--to text",
				path);
			return NULL;
		}
	}
	if (!strcmp(to, "rft"))
		return rf_sink_rft(path, header, (int)number, error);
	if (!strcmp(to, "text")) {
		if (!level)
			return rf_sink_text(path, header, error);
		rf_set_usage(error, "--level: the text form is not compressed");
		return NULL;
	}
	rf_set_usage(error, "--to %s; expected rft or text", to);
	return NULL;
}

static gboolean put(void *sink, const struct rf_item *item, gboolean *stop, GError **error)
{
	(void)stop;
	return rf_sink_put(sink, item, error);
}

gboolean rf_trace_copy(struct rf_source *s, struct rf_sink *sink, const struct rf_trace_in *in,
                       GError **error)
{
	rf_sink_copies(sink, s);
	if (rf_trace_each(s, in, put, sink, error))
		return rf_sink_commit(sink, error);
	rf_sink_abort(sink);
	return FALSE;
}

/* ---- help ---- */

static void usage(const struct rf_trace_verb *v, GString *out)
{
	g_string_append_printf(out, "Usage: refault trace %s %s\n", v->name, v->operands);
	if (v->text)
		g_string_append(out, v->text);
	g_string_append_c(out, '\n');
	rf_args_help(v->args, out);
	if (v->help)
		v->help(out);
}

static void help(GString *out)
{
	g_string_append(out, "Usage: refault trace VERB [ARGUMENT]...\n"
	                     "Look at traces, and make them.\n\n");
	for (unsigned i = 0; i < G_N_ELEMENTS(verbs); i++)
		g_string_append_printf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
	g_string_append(
		out,
		"\n`refault trace VERB --help' explains one.  Formats that can be read (they are\n"
		"told apart by content, and may be compressed with zstd or gzip):\n\n"
		"  rft        refault's own container, see refault-trace(5)\n");
	for (unsigned i = 0; rf_importers[i]; i++) {
		size_t start = out->len;

		g_string_append_printf(out, "  %-10s ", rf_importers[i]->name);
		rf_wrap(out, rf_importers[i]->summary, (unsigned)(out->len - start), 13);
	}
}

static void man(GString *out)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(verbs); i++) {
		g_string_append(out, ".PP\n.B refault trace ");
		rf_man_escape(out, verbs[i]->name);
		g_string_append_c(out, ' ');
		rf_man_escape(out, verbs[i]->operands);
		g_string_append(out, "\n.br\n");
		rf_man_escape(out, verbs[i]->text ? verbs[i]->text : verbs[i]->summary);
		g_string_append_c(out, '\n');
		rf_args_man(verbs[i]->args, out);
		if (verbs[i]->man)
			verbs[i]->man(out);
	}
	g_string_append(out, ".PP\nFormats that can be read beside the container:\n");
	for (unsigned i = 0; rf_importers[i]; i++) {
		g_string_append(out, ".TP\n.B ");
		rf_man_escape(out, rf_importers[i]->name);
		g_string_append_c(out, '\n');
		rf_man_escape(out, rf_importers[i]->summary);
		if (rf_importers[i]->cannot) {
			g_string_append(out, ".\nCannot know: ");
			rf_man_escape(out, rf_importers[i]->cannot);
		}
		g_string_append(out, ".\n");
	}
}

/* ---- the command ---- */

static const struct rf_trace_verb *find_verb(const char *name, GError **error)
{
	const char *names[G_N_ELEMENTS(verbs) + 1] = { NULL };
	const char *near;

	for (unsigned i = 0; i < G_N_ELEMENTS(verbs); i++) {
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
		names[i] = verbs[i]->name;
	}
	near = rf_nearest(name, names);
	if (near)
		rf_set_usage(error, "no verb \"%s\" of `refault trace'; did you mean \"%s\"?", name,
		             near);
	else
		rf_set_usage(error, "no verb \"%s\" of `refault trace'; see `refault help trace'",
		             name);
	return NULL;
}

static int run_verb(const struct rf_trace_verb *v, int argc, char **argv)
{
	g_autoptr(GPtrArray) operands = g_ptr_array_new_with_free_func(g_free);
	void *block = g_malloc0(v->block_size);
	const struct rf_args a = { v->args, block, NULL, NULL, FALSE };
	int code = RF_EXIT_OK;
	gboolean help = FALSE;
	GError *error = NULL;

	if (!rf_args_parse(&a, argc, argv, operands, &help, &error)) {
		code = rf_fail(error);
	} else if (help) {
		g_autoptr(GString) text = g_string_new(NULL);

		usage(v, text);
		code = rf_print(text->str);
	} else if (!v->run(operands, block, &code, &error)) {
		code = rf_fail(error);
	}
	rf_args_clear(v->args, block);
	g_free(block);
	return code;
}

static int run(int argc, char **argv)
{
	const struct rf_trace_verb *v;
	GError *error = NULL;

	if (argc < 2) {
		rf_set_usage(&error,
		             "expected a verb of `refault trace'; see `refault help trace'");
		return rf_fail(error);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return rf_print_help(rf_command_find(NAME));
	v = find_verb(argv[1], &error);
	return v ? run_verb(v, argc - 1, argv + 1) : rf_fail(error);
}

const struct rf_command rf_command_trace = {
	.name = NAME,
	.summary = "look at traces, convert, check, cut and make them",
	.main = run,
	.help = help,
	.man = man,
};
