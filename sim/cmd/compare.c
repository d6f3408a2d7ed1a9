/* SPDX-License-Identifier: MIT
 * refault compare: results against one another, option sets over traces, and golden files.
 */
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/file.h"
#include "base/units.h"
#include "sim/cmd/command.h"
#include "sim/compare/compare.h"
#include "sim/compare/runs.h"
#include "sim/preflight.h"
#include "sim/report/report.h"

#define NAME "compare"

struct options {
	char *a, *seeds, *metrics, *baseline, *output_format, *output, *format, *maps;
	GPtrArray *b, *fail_if, *set, *params;
	gboolean mail, bless, quiet;
};

struct block {
	struct options o;
	struct rf_config common;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "a", 0, RF_ARG_STRING, OFF(a), "OPTIONS",
	  "the baseline's options, in quotes: \"--reclaim lru --swappiness 10\"; operands are traces then" },
	{ "b", 0, RF_ARG_LIST, OFF(b), "OPTIONS",
	  "what to compare with it; several make more comparisons" },
	{ "seeds", 0, RF_ARG_STRING, OFF(seeds), "N",
	  "run each with seeds 1 to N; only figures of policies with chance in them spread" },
	{ "metrics", 0, RF_ARG_STRING, OFF(metrics), "LIST",
	  "names separated by commas, or all (see `refault help metrics')" },
	{ "mail", 0, RF_ARG_FLAG, OFF(mail), NULL,
	  "for a patch mail: ASCII, at most 72 columns, no blank at the end of a line" },
	{ "fail-if", 0, RF_ARG_LIST, OFF(fail_if), "CONDITION",
	  "exit 1 if a row fulfils it: 'pgmajfault>+2%', 'rf_time<-1%', 'pswpout>+100', 'oom_kill>0'; "
	  "'geomean(pgmajfault)>+2%' of all rows" },
	{ "baseline", 0, RF_ARG_STRING, OFF(baseline), "FILE",
	  "a golden file, results as JSON; without traces or results to compare with it, its runs are "
	  "done again; without --fail-if any difference fails" },
	{ "bless", 0, RF_ARG_FLAG, OFF(bless), NULL, "write what the runs gave as the baseline's FILE" },
	{ "set", 0, RF_ARG_LIST, OFF(set), "KEY=VALUE",
	  "set an option below, or a figure of the machine profile, on every side" },
	{ "output-format", 0, RF_ARG_STRING, OFF(output_format), "LIST",
	  "some of normal, json, csv, separated by commas (default normal)" },
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE",
	  "write the report there (default -, standard output)" },
	{ "format", 0, RF_ARG_STRING, OFF(format), "NAME",
	  "format of the traces, instead of finding out from their content" },
	{ "maps", 0, RF_ARG_STRING, OFF(maps), "FILE",
	  "mappings of a trace that has none of its own" },
	{ "param", 0, RF_ARG_LIST, OFF(params), "NAME=VALUE", "set a parameter of a scenario, on every side" },
	{ "quiet", 'q', RF_ARG_FLAG, OFF(quiet), NULL, "no progress bar" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(
		out,
		"Usage: refault compare RESULT.json RESULT.json...\n"
		"       refault compare --a OPTIONS --b OPTIONS TRACE... [OPTION]...\n"
		"       refault compare --baseline FILE [RESULT.json...|TRACE... [OPTION]...]\n"
		"Results of `refault run --output-format=json' side by side, or option sets over\n"
		"traces.  Positive is better; the first is the baseline.\n\n");
	rf_args_help(args, out);
	g_string_append(out, "\nOptions of the configuration go to every side, as with `refault run';\n"
	                     "see `refault help run'.\n");
}

static void man(GString *out)
{
	rf_args_man(args, out);
	g_string_append(
		out,
		".PP\nOptions of the configuration, as with\n.BR \"refault run\" ,\ngo to every side.\n"
		".PP\nRuns are paired by trace (its digest), seed, and those options that vary within a\n"
		"side; options that vary between the sides only are what is compared.  A run without its\n"
		"counterpart is an error.\n"
		".PP\nPercentages are gains: positive is better, whichever way a metric's better direction\n"
		"is; those of metrics without one stand in square brackets and are plain changes.\n"
		".B =\nmeans that both are 0,\n.B new\nthat the baseline was 0.\n"
		"The geometric mean is that of the ratios of rows that have something on both sides.\n"
		"Its p value is that of the exact Wilcoxon signed-rank test, two-sided, with ranks by the\n"
		"ratio; equal pairs don't count.  With fewer than 6 rows it can't come below 0.05.\n"
		"Asterisks mark a row whose means over seeds lie further apart than both of their 95 %\n"
		"half-widths (Student's t) together; equal runs have no spread and get no mark.\n"
		".PP\nThe last block has the counters that mmtests prints, in its order: sums over all\n"
		"rows; reclaim of a cgroup at its limit is direct reclaim here.  Slabs and huge pages are\n"
		"not modelled.\n");
}

/* ---- what was asked for ---- */

struct plan {
	guint seeds;
	unsigned formats;
	GPtrArray *metrics; /* const struct rf_metric * */
	GPtrArray *gates;   /* struct rf_gate * */
	GPtrArray *command; /* words */
	GArray *runs;       /* struct rf_run; their configurations are owned */
};

static const char default_metrics[] =
	"pgfault,pgmajfault,workingset_refault_anon,workingset_refault_file,rf_exec_refault,pswpin,pswpout,"
	"allocstall,oom_kill,rf_stall_p99,rf_time,rf_rss_max";

static gboolean parse_metrics(struct plan *p, const char *list, GError **error)
{
	g_auto(GStrv) names = g_strsplit(list ? list : default_metrics, ",", -1);

	if (list && strcmp(list, "all") == 0) {
		for (unsigned i = 0; i < rf_nmetrics; i++)
			g_ptr_array_add(p->metrics, (void *)&rf_metrics[i]);
		return TRUE;
	}
	for (char **n = names; *n; n++) {
		const struct rf_metric *m = rf_metric_find(*n);
		g_autofree const char **all = NULL;
		const char *near;

		if (m) {
			g_ptr_array_add(p->metrics, (void *)m);
			continue;
		}
		all = g_new0(const char *, rf_nmetrics + 1);
		for (unsigned i = 0; i < rf_nmetrics; i++)
			all[i] = rf_metrics[i].name;
		near = rf_nearest(*n, all);
		rf_set_usage(error, near ? "--metrics: no metric \"%s\"; did you mean \"%s\"?" :
		                    "--metrics: no metric \"%s\"; `refault help metrics' lists them", *n, near);
		return FALSE;
	}
	return TRUE;
}

static gboolean make_plan(struct plan *p, const struct options *o, GError **error)
{
	uint64_t seeds = 1;

	if (o->seeds && (!rf_parse_u64(o->seeds, &seeds, NULL) || seeds < 1 || seeds > 1000)) {
		rf_set_usage(error, "--seeds %s: expected a number from 1 to 1000", o->seeds);
		return FALSE;
	}
	p->seeds = (guint)seeds;
	p->formats = 1 << RF_OUT_NORMAL;
	if (o->output_format && !rf_output_parse(o->output_format, &p->formats, error))
		return FALSE;
	if (p->formats & 1 << RF_OUT_VMSTAT) {
		rf_set_usage(error, "--output-format vmstat: comparisons have no such form; expected some of "
		                    "normal, json, csv");
		return FALSE;
	}
	for (guint i = 0; o->fail_if && i < o->fail_if->len; i++) {
		struct rf_gate *g = rf_gate_new(o->fail_if->pdata[i], error);

		if (!g)
			return FALSE;
		g_ptr_array_add(p->gates, g);
	}
	if (o->bless && !o->baseline) {
		rf_set_usage(error, "--bless: expected --baseline FILE too");
		return FALSE;
	}
	return parse_metrics(p, o->metrics, error);
}

/* The words that give the report again: all but where it went. */
static void keep_command(GPtrArray *words, int argc, char **argv)
{
	g_ptr_array_add(words, g_strdup("refault"));
	g_ptr_array_add(words, g_strdup(NAME));
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) {
			i++;
			continue;
		}
		if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0 ||
		    g_str_has_prefix(argv[i], "--output="))
			continue;
		g_ptr_array_add(words, g_strdup(argv[i]));
	}
}

/* ---- runs ---- */

/* The parameters of a saved run of a scenario, then those of the command line; the last one counts. */
static char **params_of(const struct options *o, const struct rf_saved *old)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new();

	for (guint i = 0; old && g_strcmp0(old->format, "scenario") == 0 && i < old->header->len; i++) {
		const struct rf_saved_pair *h = &g_array_index(old->header, struct rf_saved_pair, i);

		if (g_str_has_prefix(h->name, "param."))
			g_ptr_array_add(list, g_strdup_printf("%s=%s", h->name + strlen("param."), h->value));
	}
	for (guint i = 0; o->params && i < o->params->len; i++)
		g_ptr_array_add(list, g_strdup(o->params->pdata[i]));
	if (list->len == 0)
		return NULL;
	g_ptr_array_add(list, NULL);
	return (char **)g_ptr_array_steal(list, NULL);
}

/* old: what is done again, or NULL. */
static struct rf_config *add_run(struct plan *p, const struct options *o, const char *trace,
                                 const struct rf_saved *old)
{
	struct rf_run run = { .trace = trace, .format = o->format, .maps = old ? old->maps : o->maps };

	run.params = params_of(o, old);
	run.cfg = g_new0(struct rf_config, 1);
	rf_config_init(run.cfg);
	g_array_append_val(p->runs, run);
	return run.cfg;
}

/* The options of the command line that are not at their defaults, and --set. */
static gboolean apply_common(struct rf_config *cfg, const struct rf_config *common, const struct options *o,
                             GError **error)
{
	struct rf_config plain;
	gboolean ok = TRUE;

	rf_config_init(&plain);
	for (const struct rf_option *t = rf_config_options; ok && t->name; t++) {
		g_autofree char *value = rf_options_value(t, common), *def = rf_options_value(t, &plain);

		if (strcmp(value, def) != 0)
			ok = rf_config_set(cfg, t->name, value, error);
	}
	rf_config_clear(&plain);
	for (guint i = 0; ok && o->set && i < o->set->len; i++)
		ok = rf_config_set_any(cfg, o->set->pdata[i], error);
	return ok;
}

/* Each trace with each seed, under the common options and some more. */
static gboolean plan_side(struct plan *p, const struct options *o, const struct rf_config *common,
                          const char *option, const char *words, const GPtrArray *traces, GError **error)
{
	for (guint i = 0; i < traces->len; i++) {
		for (guint s = 0; s < p->seeds; s++) {
			struct rf_config *cfg = add_run(p, o, traces->pdata[i], NULL);

			if (!apply_common(cfg, common, o, error) ||
			    (words && !rf_config_words(cfg, option, words, error)))
				return FALSE;
			if (p->seeds > 1)
				cfg->seed = s + 1;
			if (!rf_preflight(cfg, error))
				return FALSE;
		}
	}
	return TRUE;
}

/* What the baseline's runs were, with today's program, and perhaps other options. */
static gboolean plan_again(struct plan *p, const struct options *o, const struct rf_config *common,
                           const GPtrArray *old, GError **error)
{
	for (guint i = 0; i < old->len; i++) {
		const struct rf_saved *s = old->pdata[i];
		struct rf_config *cfg = add_run(p, o, s->trace, s);

		if (!rf_config_saved(cfg, s, error) || !apply_common(cfg, common, o, error) ||
		    (o->b && !rf_config_words(cfg, "--b", o->b->pdata[0], error)) || !rf_preflight(cfg, error))
			return FALSE;
	}
	return TRUE;
}

/* Results of the planned runs [first, first + n); they belong to the caller. */
static GPtrArray *take_results(struct plan *p, guint first, guint n)
{
	GPtrArray *results = g_ptr_array_new_with_free_func((GDestroyNotify)rf_saved_free);

	for (guint i = first; i < first + n; i++) {
		struct rf_run *run = &g_array_index(p->runs, struct rf_run, i);

		g_ptr_array_add(results, g_steal_pointer(&run->result));
	}
	return results;
}

/* ---- labels ---- */

static gboolean fit(const struct rf_compare *c)
{
	for (guint i = 0; i < c->sides->len; i++) {
		const char *label = ((struct rf_side *)c->sides->pdata[i])->label;

		if (!*label || g_utf8_strlen(label, -1) > RF_SIDE_LABEL)
			return FALSE;
		for (guint k = 0; k < i; k++) {
			if (strcmp(label, ((struct rf_side *)c->sides->pdata[k])->label) == 0)
				return FALSE;
		}
	}
	return TRUE;
}

/* The one option's value in which they differ; or what they are called; or letters. */
static void label_sides(struct rf_compare *c)
{
	for (guint attempt = c->differ->len == 1 ? 0 : 1; attempt < 2; attempt++) {
		for (guint i = 0; i < c->sides->len; i++) {
			struct rf_side *s = c->sides->pdata[i];
			const char *value = attempt == 0 ? rf_saved_config(s->results->pdata[0], c->differ->pdata[0])
			                                 : NULL;
			g_autofree char *base = g_path_get_basename(s->what);

			if (attempt == 1 && g_str_has_suffix(base, ".json"))
				base[strlen(base) - strlen(".json")] = '\0';
			g_free(s->label);
			s->label = g_strdup(attempt == 0 ? (value ? value : "") : base);
		}
		if (fit(c))
			return;
	}
	for (guint i = 0; i < c->sides->len; i++) {
		struct rf_side *s = c->sides->pdata[i];

		g_free(s->label);
		s->label = g_strdup_printf("%c", 'A' + (int)(i % 26));
	}
}

/* ---- sides ---- */

static gboolean load_side(struct rf_compare *c, const char *path, GError **error)
{
	GPtrArray *results = rf_saved_load(path, error);

	if (!results)
		return FALSE;
	rf_compare_add(c, path, path, results);
	return TRUE;
}

static gboolean results_sides(struct rf_compare *c, const GPtrArray *files, GError **error)
{
	if (files->len < 2) {
		rf_set_usage(error, "expected two results or more, or --a OPTIONS --b OPTIONS TRACE...; see "
		                    "`refault help " NAME "'");
		return FALSE;
	}
	for (guint i = 0; i < files->len; i++) {
		if (!load_side(c, files->pdata[i], error))
			return FALSE;
	}
	return TRUE;
}

static gboolean option_sides(struct rf_compare *c, struct plan *p, const struct options *o,
                             const struct rf_config *common, const GPtrArray *traces, GError **error)
{
	guint per_side = traces->len * p->seeds;

	if (!o->a || !o->b || !traces->len) {
		rf_set_usage(error, "expected --a OPTIONS, --b OPTIONS and traces; see `refault help " NAME "'");
		return FALSE;
	}
	if (!plan_side(p, o, common, "--a", o->a, traces, error))
		return FALSE;
	for (guint i = 0; i < o->b->len; i++) {
		if (!plan_side(p, o, common, "--b", o->b->pdata[i], traces, error))
			return FALSE;
	}
	if (!rf_runs_do((struct rf_run *)(void *)p->runs->data, p->runs->len, o->quiet, error))
		return FALSE;
	for (guint i = 0; i <= o->b->len; i++) {
		const char *words = i ? o->b->pdata[i - 1] : o->a;

		rf_compare_add(c, words, words, take_results(p, i * per_side, per_side));
	}
	return TRUE;
}

/* JSON begins like that; no trace does. */
static gboolean is_document(const char *path)
{
	FILE *f = fopen(path, "rb");
	int byte;

	if (!f)
		return g_str_has_suffix(path, ".json");
	do
		byte = getc(f);
	while (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r');
	fclose(f);
	return byte == '{' || byte == '[';
}

static gboolean bless(const struct plan *p, const char *path, GError **error)
{
	g_autofree char *text = rf_runs_document((const struct rf_run *)(void *)p->runs->data, p->runs->len);
	struct rf_outfile out = { 0 };

	if (rf_outfile_open(&out, path, error)) {
		rf_outfile_write(&out, text, strlen(text));
		if (rf_outfile_commit(&out, error))
			return TRUE;
	}
	rf_outfile_abort(&out);
	return FALSE;
}

/* *done: blessed, and nothing is left to compare. */
static gboolean baseline_sides(struct rf_compare *c, struct plan *p, const struct options *o,
                               const struct rf_config *common, const GPtrArray *operands, gboolean *done,
                               GError **error)
{
	gboolean documents = operands->len && is_document(operands->pdata[0]);
	gboolean create = o->bless && operands->len && !documents;
	const GPtrArray *old;

	if (o->a || (o->b && o->b->len > 1)) {
		rf_set_usage(error, "--baseline: the baseline is a file; expected at most one --b OPTIONS");
		return FALSE;
	}
	if (documents && (o->bless || o->b)) {
		rf_set_usage(error, "%s: holds results; expected traces with --%s", (char *)operands->pdata[0],
		             o->bless ? "bless" : "b");
		return FALSE;
	}
	if (!create && !load_side(c, o->baseline, error))
		return FALSE;
	if (documents) {
		GPtrArray *all = NULL;

		for (guint i = 0; i < operands->len; i++) {
			GPtrArray *more = rf_saved_load(operands->pdata[i], error);

			if (!more) {
				g_clear_pointer(&all, g_ptr_array_unref);
				return FALSE;
			}
			if (all)
				g_ptr_array_extend_and_steal(all, more);
			else
				all = more;
		}
		rf_compare_add(c, "now", operands->len == 1 ? operands->pdata[0] : "results", all);
		return TRUE;
	}
	old = create ? NULL : ((struct rf_side *)c->sides->pdata[0])->results;
	if (!(operands->len ? plan_side(p, o, common, "--b", o->b ? o->b->pdata[0] : NULL, operands, error)
	                    : plan_again(p, o, common, old, error)) ||
	    !rf_runs_do((struct rf_run *)(void *)p->runs->data, p->runs->len, o->quiet, error))
		return FALSE;
	if (o->bless) {
		*done = TRUE;
		return bless(p, o->baseline, error);
	}
	rf_compare_add(c, "now", "now", take_results(p, 0, p->runs->len));
	return TRUE;
}

/* ---- answers ---- */

/* A golden file is met to the last digit. */
static guint differences(const struct rf_compare *c, GString *out)
{
	guint n = 0;

	for (guint r = 0; r < c->rows->len; r++) {
		const struct rf_row *row = c->rows->pdata[r];

		for (unsigned i = 0; i < rf_nmetrics; i++) {
			struct rf_figure a = rf_compare_figure(row, 0, &rf_metrics[i]);
			struct rf_figure b = rf_compare_figure(row, 1, &rf_metrics[i]);
			uint64_t v;

			/* An older baseline has fewer metrics. */
			if (a.sum == b.sum || !rf_saved_value(row->of[0]->pdata[0], &rf_metrics[i], &v))
				continue;
			g_string_append_printf(out, "DIFFERS %s: %s: %.6g, was %.6g\n", rf_metrics[i].name,
			                       row->label, b.mean, a.mean);
			n++;
		}
	}
	return n;
}

static gboolean judge(const struct rf_compare *c, const struct plan *p, const struct options *o,
                      GString *out, GError **error)
{
	guint failed = 0;

	for (guint i = 0; i < p->gates->len; i++)
		failed += rf_gate_check(p->gates->pdata[i], c, out);
	if (failed) {
		g_set_error(error, RF_NEGATIVE_ERROR, 0, "%u %s --fail-if", failed,
		            failed == 1 ? "row fails" : "rows fail");
		return FALSE;
	}
	if (o->baseline && p->gates->len == 0)
		failed = differences(c, out);
	if (failed) {
		g_set_error(error, RF_NEGATIVE_ERROR, 0,
		            "%u %s from %s; if that is right: --bless", failed,
		            failed == 1 ? "figure differs" : "figures differ", o->baseline);
		return FALSE;
	}
	return TRUE;
}

/* Judgement of a comparison: FALSE with RF_NEGATIVE_ERROR, when the report is out. */
static gboolean report(const struct rf_compare *c, const struct plan *p, const struct options *o,
                       GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL), verdict = g_string_new(NULL);
	struct rf_outfile out = { 0 };
	GError *negative = NULL;

	judge(c, p, o, verdict, &negative);
	if (p->formats & 1 << RF_OUT_NORMAL) {
		/* The verdict is no part of a mail, which ends with the command. */
		if (!o->mail && verdict->len)
			g_string_append_printf(text, "%s\n", verdict->str);
		rf_compare_text(text, c, p->metrics, p->command, o->mail);
	}
	if (p->formats & 1 << RF_OUT_JSON)
		rf_compare_json(text, c, p->metrics);
	if (p->formats & 1 << RF_OUT_CSV)
		rf_compare_csv(text, c, p->metrics);
	if (!rf_outfile_open(&out, o->output, error)) {
		g_clear_error(&negative);
		return FALSE;
	}
	rf_outfile_write(&out, text->str, text->len);
	if (!rf_outfile_commit(&out, error)) {
		rf_outfile_abort(&out);
		g_clear_error(&negative);
		return FALSE;
	}
	if (negative)
		g_propagate_error(error, negative);
	return !negative;
}

/* ---- the command ---- */

static void clear_run(void *p)
{
	struct rf_run *run = p;

	rf_config_clear(run->cfg);
	g_free(run->cfg);
	g_strfreev(run->params);
	g_free(run->json);
	rf_saved_free(run->result);
}

static gboolean compare(const struct options *o, const struct rf_config *common, struct plan *p,
                        const GPtrArray *operands, GError **error)
{
	struct rf_compare *c = rf_compare_new();
	gboolean done = FALSE, ok;

	if (o->baseline)
		ok = baseline_sides(c, p, o, common, operands, &done, error);
	else if (o->a || o->b)
		ok = option_sides(c, p, o, common, operands, error);
	else
		ok = results_sides(c, operands, error);
	if (ok && !done) {
		ok = rf_compare_pair(c, error);
		if (ok) {
			label_sides(c);
			ok = report(c, p, o, error);
		}
	}
	rf_compare_free(c);
	return ok;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	struct block *b = call->block;
	struct plan p = { 0 };
	gboolean ok;

	(void)code;
	p.metrics = g_ptr_array_new();
	p.gates = g_ptr_array_new_with_free_func((GDestroyNotify)rf_gate_free);
	p.command = g_ptr_array_new_with_free_func(g_free);
	p.runs = g_array_new(FALSE, TRUE, sizeof(struct rf_run));
	g_array_set_clear_func(p.runs, clear_run);
	keep_command(p.command, call->argc, call->argv);
	ok = make_plan(&p, &b->o, error) && compare(&b->o, &b->common, &p, call->operands, error);
	g_ptr_array_unref(p.metrics);
	g_ptr_array_unref(p.gates);
	g_ptr_array_unref(p.command);
	g_array_unref(p.runs);
	return ok;
}

static void init(void *block)
{
	rf_config_init(&((struct block *)block)->common);
}

static void clear(void *block)
{
	rf_config_clear(&((struct block *)block)->common);
}

const struct rf_command rf_command_compare = {
	.name = NAME,
	.summary = "compare results, option sets over traces, golden files",
	.size = sizeof(struct block),
	.args = args,
	.table = rf_config_options,
	.table_offset = offsetof(struct block, common),
	.init = init,
	.clear = clear,
	.run = run,
	.help = help,
	.man = man,
};
