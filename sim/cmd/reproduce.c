/* SPDX-License-Identifier: MIT
 * refault reproduce: tables that were posted on kernel lists, beside what the model gives.
 */
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/file.h"
#include "base/units.h"
#include "base/wrap.h"
#include "sim/cmd/command.h"
#include "sim/reproduce/experiment.h"

#define NAME "reproduce"

struct options {
	GPtrArray *params;
	char *output_format, *output, *plot, *jobs;
	gboolean shorter, show, quick, quiet;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "param", 0, RF_ARG_LIST, OFF(params), "NAME=VALUE", "change an input of the experiments named" },
	{ "short", 0, RF_ARG_FLAG, OFF(shorter), NULL,
	  "smaller inputs, where the definition has some: to see that it runs" },
	{ "quick", 0, RF_ARG_FLAG, OFF(quick), NULL, "of all, only those that take a second or two" },
	{ "show", 0, RF_ARG_FLAG, OFF(show), NULL,
	  "print the definition instead: save it as mine.exp, change it, and run ./mine.exp" },
	{ "output-format", 0, RF_ARG_STRING, OFF(output_format), "FORMAT", "normal (default), json or markdown" },
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE",
	  "write the report there (default -, standard output)" },
	{ "plot", 0, RF_ARG_STRING, OFF(plot), "DIRECTORY",
	  "write the data, a gnuplot script and the picture of each there" },
	{ "jobs", 'j', RF_ARG_STRING, OFF(jobs), "N", "run so many at once (default: the processors)" },
	{ "quiet", 'q', RF_ARG_FLAG, OFF(quiet), NULL, "do not say on a terminal what is under way" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(
		out,
		"Usage: refault reproduce [NAME|FILE|all|list]... [OPTION]...\n"
		"Run experiments: tables that were posted on kernel lists, beside what the model\n"
		"gives, with the error of each figure.  list (the default) lists them.  FILE is\n"
		"a definition of your own, with a dot or a slash in its name.  The exit status\n"
		"is 1 when a figure misses its tolerance and the definition does not say why.\n\n");
	rf_args_help(args, out);
}

static void man(GString *out)
{
	g_string_append(out, ".PP\nOptions:\n");
	rf_args_man(args, out);
}

/* ---- which ---- */

static gboolean add(GPtrArray *list, const char *name, GError **error)
{
	struct rf_experiment *e = rf_exp_load(name, error);

	if (e)
		g_ptr_array_add(list, e);
	return e != NULL;
}

static gboolean add_all(GPtrArray *list, gboolean quick, GError **error)
{
	for (const char *const *name = rf_exp_names(); *name; name++) {
		struct rf_experiment *e = rf_exp_load(*name, error);

		if (!e)
			return FALSE;
		if (quick && !e->quick)
			rf_exp_free(e);
		else
			g_ptr_array_add(list, e);
	}
	return TRUE;
}

static gboolean choose(GPtrArray *list, const GPtrArray *names, gboolean quick, GError **error)
{
	for (guint i = 0; i < names->len; i++) {
		gboolean all = strcmp(names->pdata[i], "all") == 0;

		if (all ? !add_all(list, quick, error) : !add(list, names->pdata[i], error))
			return FALSE;
	}
	return TRUE;
}

static gboolean print_list(int *code, GError **error)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)rf_exp_free);
	g_autoptr(GString) out = g_string_new(NULL);

	if (!add_all(list, FALSE, error))
		return FALSE;
	for (guint i = 0; i < list->len; i++) {
		const struct rf_experiment *e = list->pdata[i];

		g_string_append_printf(out, "%-6s%-6s", e->name, e->quick ? "quick" : "");
		rf_wrap(out, e->title, 12, 12);
	}
	*code = rf_print(out->str);
	return TRUE;
}

static gboolean print_definitions(const GPtrArray *names, int *code, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);

	for (guint i = 0; i < names->len; i++) {
		gsize len;
		const char *text = rf_exp_text(names->pdata[i], &len);

		if (!text) {
			rf_set_usage(error, "--show %s: expected the name of a shipped experiment",
			             (char *)names->pdata[i]);
			return FALSE;
		}
		g_string_append_len(out, text, (gssize)len);
	}
	*code = rf_print(out->str);
	return TRUE;
}

/* ---- run ---- */

enum format { NORMAL, JSON, MARKDOWN };

static gboolean find_format(const char *name, enum format *format, GError **error)
{
	static const char *const names[] = { "normal", "json", "markdown" };

	*format = NORMAL;
	for (unsigned i = 0; name && i < G_N_ELEMENTS(names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*format = (enum format)i;
			return TRUE;
		}
	}
	if (name)
		rf_set_usage(error, "--output-format %s: expected normal, json or markdown", name);
	return !name;
}

static gboolean run_each(GPtrArray *list, const struct options *o, enum format format, unsigned jobs, FILE *f,
                         unsigned *misses, GError **error)
{
	g_autofree char *whole = NULL;

	/* All that can be wrong in any of them, before the first run. */
	for (guint i = 0; i < list->len; i++)
		if (!rf_exp_prepare(list->pdata[i], rf_args_strv(o->params), o->shorter, error))
			return FALSE;
	for (guint i = 0; i < list->len; i++) {
		struct rf_experiment *e = list->pdata[i];
		g_autoptr(GString) text = g_string_new(NULL);
		unsigned unexplained, all;

		if (!rf_exp_run_all(e, jobs, error) || (o->plot && !rf_exp_plot(e, o->plot, error)))
			return FALSE;
		rf_exp_misses(e, &unexplained, &all);
		*misses += e->is_short ? 0 : unexplained;
		if (format != NORMAL)
			continue;
		if (i)
			g_string_append_c(text, '\n');
		rf_exp_text_report(text, e);
		fputs(text->str, f);
		fflush(f);
	}
	if (format != NORMAL) {
		whole = format == JSON ? rf_exp_json(list) : rf_exp_markdown(list);
		fputs(whole, f);
	}
	return TRUE;
}

static gboolean reproduce(const GPtrArray *names, const struct options *o, int *code, GError **error)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)rf_exp_free);
	struct rf_outfile out = { 0 };
	uint64_t jobs = g_get_num_processors();
	unsigned misses = 0;
	enum format format;

	if (!find_format(o->output_format, &format, error))
		return FALSE;
	if (o->jobs && (!rf_parse_u64(o->jobs, &jobs, NULL) || jobs == 0 || jobs > 1024)) {
		rf_set_usage(error, "--jobs %s: expected a number from 1 to 1024", o->jobs);
		return FALSE;
	}
	if (!choose(list, names, o->quick, error))
		return FALSE;
	if (rf_outfile_open(&out, o->output, error) &&
	    run_each(list, o, format, (unsigned)jobs, out.f, &misses, error) && rf_outfile_commit(&out, error)) {
		*code = misses ? RF_EXIT_NEGATIVE : RF_EXIT_OK;
		return TRUE;
	}
	rf_outfile_abort(&out);
	return FALSE;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	const struct options *o = call->block;
	const GPtrArray *names = call->operands;

	if (names->len == 0 || (names->len == 1 && strcmp(names->pdata[0], "list") == 0))
		return print_list(code, error);
	if (o->show)
		return print_definitions(names, code, error);
	return reproduce(names, o, code, error);
}

const struct rf_command rf_command_reproduce = {
	.name = NAME,
	.summary = "tables that were posted on kernel lists, beside the model's",
	.size = sizeof(struct options),
	.args = args,
	.run = run,
	.help = help,
	.man = man,
};
