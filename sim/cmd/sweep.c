/* SPDX-License-Identifier: MIT
 * refault sweep: traces through many configurations.  Here is what the command line and job files
 * come to; sweep-do.c does it.
 */
#include "sim/cmd/sweep.h"

#include <string.h>

#include "base/units.h"
#include "sim/cmd/command.h"
#include "sim/preflight.h"
#include "sim/report/command.h"
#include "sim/study/estimate.h"
#include "sim/study/store.h"

#define NAME "sweep"
#define COMMAND_LINE "command line"

#define OFF(member) offsetof(struct rf_sweep_args, member)

static const struct rf_arg args[] = {
	{ "output", 'o', RF_ARG_STRING, OFF(output), "DIRECTORY",
	  "where results, status and plan are kept; a sweep that was begun there is continued" },
	{ "job", 0, RF_ARG_LIST, OFF(job), "FILE", "take sections of points from a job file" },
	{ "section", 0, RF_ARG_LIST, OFF(section), "NAME", "only this section of the job files" },
	{ "combine", 0, RF_ARG_STRING, OFF(combine), "product|zip",
	  "several lists: every value with every other, or the first ones, the second ones and so on" },
	{ "set", 0, RF_ARG_LIST, OFF(set), "KEY=LIST",
	  "set an option below, or a figure of the machine profile (see `refault help machines')" },
	{ "format", 0, RF_ARG_STRING, OFF(format), "NAME",
	  "format of the traces, instead of finding out from their content" },
	{ "maps", 0, RF_ARG_STRING, OFF(maps), "FILE",
	  "mappings of a trace that has none of its own" },
	{ "param", 0, RF_ARG_LIST, OFF(params), "NAME=VALUE", "set a parameter of scenarios" },
	{ "jobs", 'j', RF_ARG_STRING, OFF(jobs), "N",
	  "replay in as many threads (default: as many as there are processors)" },
	{ "memory", 0, RF_ARG_STRING, OFF(memory), "SIZE",
	  "memory that all machines of one time may come to (default: two thirds of what is free)" },
	{ "dry-run", 0, RF_ARG_FLAG, OFF(dry_run), NULL,
	  "say what there is to do, how much memory it needs and about how long it takes" },
	{ "list", 0, RF_ARG_FLAG, OFF(list), NULL,
	  "print a command line for each point, for xargs, make or GNU parallel" },
	{ "point", 0, RF_ARG_STRING, OFF(point), "N", "compute only this point" },
	{ "part", 0, RF_ARG_STRING, OFF(part), "K/N", "compute only the Kth of N equal parts" },
	{ "rerun-failed", 0, RF_ARG_FLAG, OFF(rerun_failed), NULL, "compute only what has failed" },
	{ "merge", 0, RF_ARG_FLAG, OFF(merge), NULL,
	  "compute nothing: write results.csv and status.csv of what is there" },
	{ "submit", 0, RF_ARG_STRING, OFF(submit), "slurm",
	  "have a cluster compute it: submit an array job, follow it, merge" },
	{ "tasks", 0, RF_ARG_STRING, OFF(tasks), "N",
	  "of the array job (default: one a trace, at least 16 where there are as many points)" },
	{ "sbatch", 0, RF_ARG_LIST, OFF(sbatch), "OPTION",
	  "for sbatch, such as --sbatch=--partition=short" },
	{ "parse-only", 0, RF_ARG_FLAG, OFF(parse_only), NULL,
	  "check everything that can be wrong before a trace is opened; nothing else" },
	{ "showcmd", 0, RF_ARG_FLAG, OFF(showcmd), NULL,
	  "print each section as a command line" },
	{ "quiet", 'q', RF_ARG_FLAG, OFF(quiet), NULL, "no progress bar, and only failures in words" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(
		out,
		"Usage: refault sweep [TRACE]... [OPTION=LIST]... -o DIRECTORY\n"
		"Replay traces through many configurations.  All points that share a trace are\n"
		"replayed from one reading of it.  An option of the configuration takes a list,\n"
		"10%,20%,50%, or a range, 10%..90%/9 (nine values) or 1M..64M*2 (doubling).\n\n");
	rf_args_help(args, out);
	g_string_append(out, "\nThe machine, its memory and its policies, a list or a range each:\n");
	rf_args_table_help(rf_config_options, out);
}

static void man(GString *out)
{
	g_string_append(out, ".PP\n");
	rf_args_man(args, out);
	g_string_append(out,
	                ".PP\nOptions of the configuration are those of\n.BR \"refault run\" ;\n"
	                "here each takes a list or a range.\nSee\n.BR \"SWEEPS\" \" and \" "
	                "\"JOB FILES\"\nbelow.\n");
}

/* ---- sections: what job files and the command line say ---- */

/* An option of the configuration on the command line. */
static gboolean take(void *block, const struct rf_option *opt, const char *value, GError **error)
{
	struct rf_sweep_args *a = block;
	g_autofree char *where = g_strdup_printf("--%s", opt->name);

	if (rf_settings_find(a->given, opt->name)) {
		rf_set_usage(error, "%s is given twice; a list is written %s A,B", where, where);
		return FALSE;
	}
	rf_settings_put(a->given, opt->name, value, where);
	return TRUE;
}

static gboolean take_set(struct rf_sweep_args *a, const char *assignment, GError **error)
{
	const char *eq = strchr(assignment, '=');
	g_autofree char *name = NULL;
	const char *key;

	if (!eq || eq == assignment) {
		rf_set_usage(error, "--set %s: expected KEY=LIST", assignment);
		return FALSE;
	}
	name = g_strndup(assignment, (gsize)(eq - assignment));
	key = rf_study_key("--set", name, error);
	if (!key)
		return FALSE;
	if (rf_settings_find(a->given, key)) {
		rf_set_usage(error, "--set %s: %s is given twice; a list is written A,B", assignment,
		             key);
		return FALSE;
	}
	rf_settings_put(a->given, key, eq + 1, "--set");
	return TRUE;
}

/* All else that a key can say as well. */
static void take_others(struct rf_sweep_args *a, const GPtrArray *traces)
{
	rf_settings_put_words(a->given, "trace", traces, COMMAND_LINE);
	if (a->combine)
		rf_settings_put(a->given, "combine", a->combine, "--combine");
	if (a->format)
		rf_settings_put(a->given, "format", a->format, "--format");
	if (a->maps)
		rf_settings_put(a->given, "maps", a->maps, "--maps");
	rf_settings_put_words(a->given, "param", a->params, "--param");
}

static gboolean load_jobs(const struct rf_sweep_args *a, GPtrArray *sections, GError **error)
{
	for (guint i = 0; i < a->job->len; i++) {
		GPtrArray *more = rf_job_load(a->job->pdata[i], error);

		if (!more)
			return FALSE;
		g_ptr_array_extend_and_steal(sections, more);
	}
	return TRUE;
}

/* Sections of the job files, or one of the command line's; its options are set in each. */
static GPtrArray *make_sections(const struct rf_sweep_args *a, GError **error)
{
	GPtrArray *sections = g_ptr_array_new_with_free_func((GDestroyNotify)rf_section_free);

	if (a->job) {
		if (!load_jobs(a, sections, error) ||
		    (a->section && !rf_job_choose(sections, a->section, error))) {
			g_ptr_array_unref(sections);
			return NULL;
		}
	} else if (a->section) {
		rf_set_usage(error, "--section %s: expected --job FILE too",
		             (char *)a->section->pdata[0]);
		g_ptr_array_unref(sections);
		return NULL;
	} else {
		g_ptr_array_add(sections, rf_section_new(NAME, COMMAND_LINE, NULL));
	}
	for (guint i = 0; i < sections->len; i++) {
		struct rf_section *s = sections->pdata[i];

		for (guint k = 0; k < a->given->len; k++) {
			const struct rf_setting *x = &g_array_index(a->given, struct rf_setting, k);

			rf_settings_put(s->settings, x->key, x->value, x->where);
		}
	}
	return sections;
}

/* ---- points ---- */

static gboolean preflight(const struct rf_point *p, GError **error)
{
	struct rf_config c;
	g_autofree char *title = NULL;
	gboolean ok;

	if (!rf_point_config(p, &c, error))
		return FALSE;
	ok = rf_preflight(&c, error);
	rf_config_clear(&c);
	if (ok)
		return TRUE;
	title = rf_point_title(p);
	g_prefix_error(error, "[%s] %s: ", p->section, title);
	return FALSE;
}

static gboolean preflight_all(const GPtrArray *points, GError **error)
{
	for (guint i = 0; i < points->len; i++) {
		if (!preflight(points->pdata[i], error))
			return FALSE;
	}
	return TRUE;
}

/* What is asked for, or what the directory's plan says when nothing is. */
static GPtrArray *make_points(const struct rf_sweep_args *a, GError **error)
{
	g_autoptr(GPtrArray) sections = NULL;
	GPtrArray *points;

	if (!a->job && a->given->len == 0 && !a->section) {
		if (!a->output) {
			rf_set_usage(error, "expected a trace, a job file, or the directory of a sweep; "
			                    "see `refault help sweep'");
			return NULL;
		}
		points = rf_plan_load(a->output, error);
	} else {
		sections = make_sections(a, error);
		if (!sections)
			return NULL;
		if (a->showcmd) {
			rf_sweep_show(sections);
			return g_ptr_array_new();
		}
		points = rf_points_new(sections, error);
	}
	if (points && preflight_all(points, error))
		return points;
	g_clear_pointer(&points, g_ptr_array_unref);
	return NULL;
}

/* ---- the command ---- */

static gboolean parse_count(const char *option, const char *text, guint most, guint *n,
                            GError **error)
{
	uint64_t v;

	if (rf_parse_u64(text, &v, NULL) && v >= 1 && v <= most) {
		*n = (guint)v;
		return TRUE;
	}
	rf_set_usage(error, "%s %s: expected a number from 1 to %u", option, text, most);
	return FALSE;
}

/* At most one thing is to be done. */
static gboolean one_of(const struct rf_sweep_args *a, GError **error)
{
	const struct {
		const char *name;
		gboolean given;
	} modes[] = {
		{ "--dry-run", a->dry_run },    { "--list", a->list },
		{ "--point", a->point != NULL }, { "--part", a->part != NULL },
		{ "--rerun-failed", a->rerun_failed }, { "--merge", a->merge },
		{ "--submit", a->submit != NULL }, { "--parse-only", a->parse_only },
		{ "--showcmd", a->showcmd },
	};
	const char *first = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
		if (!modes[i].given)
			continue;
		if (first) {
			rf_set_usage(error, "%s and %s: expected one of the two", first, modes[i].name);
			return FALSE;
		}
		first = modes[i].name;
	}
	return TRUE;
}

static gboolean parse_numbers(struct rf_sweep_args *a, GError **error)
{
	a->threads = g_get_num_processors();
	if (a->jobs && !parse_count("--jobs", a->jobs, 4096, &a->threads, error))
		return FALSE;
	if (a->tasks && !parse_count("--tasks", a->tasks, RF_MOST_POINTS, &a->ntasks, error))
		return FALSE;
	if ((a->tasks || a->sbatch) && !a->submit) {
		rf_set_usage(error, "%s: expected --submit slurm too", a->tasks ? "--tasks" : "--sbatch");
		return FALSE;
	}
	if (a->submit && strcmp(a->submit, "slurm") != 0) {
		rf_set_usage(error, "--submit %s: expected slurm", a->submit);
		return FALSE;
	}
	a->bytes = rf_estimate_free();
	if (a->memory && !rf_parse_size(a->memory, &a->bytes, error)) {
		g_prefix_error(error, "--memory: ");
		return FALSE;
	}
	return TRUE;
}

static gboolean select_points(const struct rf_sweep_args *a, const GPtrArray *points,
                              GPtrArray *chosen, GError **error)
{
	guint from = 0, to = points->len;

	if (a->point) {
		if (!parse_count("--point", a->point, points->len, &to, error))
			return FALSE;
		from = to - 1;
	}
	if (a->part) {
		g_auto(GStrv) kn = g_strsplit(a->part, "/", 2);
		guint k, n;

		if (!kn[0] || !kn[1]) {
			rf_set_usage(error, "--part %s: expected K/N, such as 1/4", a->part);
			return FALSE;
		}
		if (!parse_count("--part", kn[1], RF_MOST_POINTS, &n, error) ||
		    !parse_count("--part", kn[0], n, &k, error))
			return FALSE;
		from = (guint)((uint64_t)points->len * (k - 1) / n);
		to = (guint)((uint64_t)points->len * k / n);
	}
	for (guint i = from; i < to; i++) {
		struct rf_point_status s;
		gboolean failed = rf_store_get_status(a->output, points->pdata[i], &s) && s.failed;

		g_free(s.message);
		if (failed || !a->rerun_failed)
			g_ptr_array_add(chosen, points->pdata[i]);
	}
	return TRUE;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	struct rf_sweep_args *o = call->block;
	g_autoptr(GPtrArray) points = NULL, chosen = g_ptr_array_new();

	for (guint i = 0; o->set && i < o->set->len; i++) {
		if (!take_set(o, o->set->pdata[i], error))
			return FALSE;
	}
	take_others(o, call->operands);
	if (!one_of(o, error) || !parse_numbers(o, error))
		return FALSE;
	points = make_points(o, error);
	if (!points)
		return FALSE;
	if (o->parse_only || o->showcmd)
		return TRUE;
	if (o->dry_run)
		return rf_sweep_dry_run(o, points, error);
	if (!o->output) {
		rf_set_usage(error, "expected -o DIRECTORY");
		return FALSE;
	}
	if (!rf_store_make(o->output, error) || !rf_plan_save(o->output, points, error))
		return FALSE;
	if (o->list)
		return rf_sweep_list(o, points, error);
	if (o->merge)
		return rf_sweep_merge(o, points, NULL, NULL, code, error);
	if (o->submit)
		return rf_sweep_submit(o, points, code, error);
	return select_points(o, points, chosen, error) &&
	       rf_sweep_do(o, points, chosen, code, error);
}

static void init(void *block)
{
	((struct rf_sweep_args *)block)->given = rf_settings_new();
}

static void clear(void *block)
{
	g_array_unref(((struct rf_sweep_args *)block)->given);
}

const struct rf_command rf_command_sweep = {
	.name = NAME,
	.summary = "replay traces through many configurations at once",
	.size = sizeof(struct rf_sweep_args),
	.args = args,
	.table = rf_config_options,
	.take = take,
	.init = init,
	.clear = clear,
	.run = run,
	.help = help,
	.man = man,
};
