/* SPDX-License-Identifier: MIT
 * refault run: traces through one configuration, each in turn.
 */
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/file.h"
#include "base/units.h"
#include "sim/cmd/command.h"
#include "sim/cmd/run-job.h"
#include "sim/config.h"
#include "sim/machine.h"
#include "sim/preflight.h"
#include "sim/progress.h"
#include "sim/replay.h"
#include "sim/report/report.h"

#define NAME "run"

struct options {
	GPtrArray *set, *params;
	char *output_format, *output, *timeline_file, *format, *maps, *job, *section;
	gboolean quiet;
};

struct block {
	struct options o;
	struct rf_config cfg;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "set", 0, RF_ARG_LIST, OFF(set), "KEY=VALUE",
	  "set an option below, or a figure of the machine profile (see `refault help machines')" },
	{ "job", 0, RF_ARG_STRING, OFF(job), "FILE",
	  "take traces and configuration from a section of a job file; the command line goes before it" },
	{ "section", 0, RF_ARG_STRING, OFF(section), "NAME", "that section of the job file" },
	{ "output-format", 0, RF_ARG_STRING, OFF(output_format), "LIST",
	  "some of normal, json, csv, vmstat, separated by commas (default normal)" },
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE",
	  "write the report there (default -, standard output)" },
	{ "timeline-file", 0, RF_ARG_STRING, OFF(timeline_file), "FILE",
	  "write the samples of --timeline there, as CSV" },
	{ "format", 0, RF_ARG_STRING, OFF(format), "NAME",
	  "format of the traces, instead of finding out from their content" },
	{ "maps", 0, RF_ARG_STRING, OFF(maps), "FILE",
	  "mappings of a trace that has none of its own" },
	{ "param", 0, RF_ARG_LIST, OFF(params), "NAME=VALUE", "set a parameter of a scenario" },
	{ "quiet", 'q', RF_ARG_FLAG, OFF(quiet), NULL, "no progress bar and no hints" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(
		out,
		"Usage: refault run TRACE... [OPTION]...\n"
		"Replay each trace on a modelled machine and report what reclaim did.  TRACE is\n"
		"a file of any format that `refault trace info' knows; - is standard input.\n\n");
	rf_args_help(args, out);
	g_string_append(out, "\nThe machine, its memory and its policies:\n");
	rf_args_table_help(rf_config_options, out);
}

static void man(GString *out)
{
	g_string_append(out, ".PP\nOptions of the command:\n");
	rf_args_man(args, out);
	g_string_append(out, ".PP\nOptions of the configuration; every one is also a key of\n"
	                     ".BR \\-\\-set :\n");
	rf_args_table_man(rf_config_options, "--", out);
}

/* ---- before the first trace is opened ---- */

static gboolean check_options(const struct options *o, const struct rf_config *cfg,
                              unsigned formats, GError **error)
{
	if (cfg->timeline && !o->timeline_file && !(formats & 1 << RF_OUT_JSON)) {
		rf_set_usage(error, "--timeline: the samples have no place to go; expected "
		                    "--timeline-file FILE "
		                    "or --output-format=json");
		return FALSE;
	}
	if (!cfg->timeline && o->timeline_file) {
		rf_set_usage(error, "--timeline-file %s: expected --timeline INTERVAL too",
		             o->timeline_file);
		return FALSE;
	}
	if (o->timeline_file && g_strcmp0(o->timeline_file, o->output ? o->output : "-") == 0) {
		rf_set_usage(error, "--timeline-file %s: the report goes there already",
		             o->timeline_file);
		return FALSE;
	}
	return TRUE;
}

/* ---- one trace ---- */

static struct rf_source *open_trace(const char *path, const struct options *o,
                                    const struct rf_config *cfg, GError **error)
{
	const struct rf_source_options options = {
		.format = o->format,
		.maps = o->maps,
		.params = rf_args_strv(o->params),
		.strict = cfg->strict,
	};
	struct rf_source *s = rf_source_open(path, &options, error);

	/* Only then: a stream is replayed as it comes. */
	if (s && !rf_source_totals_ahead(s) && (rf_config_needs_totals(cfg) || rf_config_knows_future(cfg)))
		s = rf_source_spool(s, error);
	return s;
}

static gboolean replay(struct rf_source *source, const char *path, const struct options *o,
                       struct rf_config *cfg, struct rf_result *result, GError **error)
{
	struct rf_progress *progress = NULL;
	struct rf_machine *m;
	gboolean ok;

	if (!rf_config_resolve(cfg, rf_source_totals_ahead(source), error) ||
	    !rf_config_suits(cfg, rf_source_header(source), error))
		return FALSE;
	m = rf_machine_new(cfg, rf_source_totals_ahead(source), error);
	if (!m)
		return FALSE;
	if (!o->quiet) {
		g_autofree char *name = g_path_get_basename(path);

		progress = rf_progress_new(name);
	}
	ok = rf_replay(source, &m, 1, progress, error);
	rf_progress_end(progress);
	ok = ok && rf_machine_finish(m, result, error);
	result->totals = *rf_source_totals(source);
	/* The modelled machine does not mark the pages that were ever touched; reading the trace does. */
	if (!cfg->frames_n)
		result->gauge[RF_G_rf_footprint] = result->totals.footprint[cfg->page_size] << cfg->page_shift;
	rf_machine_free(m);
	return ok;
}

/* People overlook a limit that costs a refault every few accesses. */
static void hint(const struct rf_report *r)
{
	uint64_t refaults = r->result->counter[RF_C_workingset_refault_anon] +
	                    r->result->counter[RF_C_workingset_refault_file];
	uint64_t accesses = r->result->gauge[RF_G_rf_accesses];

	if (r->cfg->frames_n || refaults < 1000 || refaults <= accesses / 10)
		return;

	g_autofree char *n = rf_format_count(refaults), *of = rf_format_count(accesses);

	fprintf(stderr, "refault: %s: %s refaults in %s accesses: the workload thrashes\n", r->path,
	        n, of);
}

struct documents {
	unsigned formats;
	GString *text[RF_NOUTPUTS];
	GString *timeline;
	struct rf_outfile *out;
};

static void emit(struct documents *d, const struct rf_report *r, gboolean first, gboolean last)
{
	for (unsigned f = 0; f < RF_NOUTPUTS; f++) {
		if (d->formats & 1u << f)
			rf_report_append(d->text[f], f, r, first, last);
	}
	if (r->cfg->timeline)
		rf_report_timeline(d->timeline, r, first);
	/* Alone on standard output, a report for people is shown as soon as it is known. */
	if (d->formats == 1u << RF_OUT_NORMAL && d->out->f == stdout) {
		fwrite(d->text[RF_OUT_NORMAL]->str, 1, d->text[RF_OUT_NORMAL]->len, stdout);
		fflush(stdout);
		g_string_truncate(d->text[RF_OUT_NORMAL], 0);
	}
}

static gboolean run_one(const char *path, const struct options *o, struct rf_config *cfg,
                        struct documents *d, gboolean first, gboolean last, GError **error)
{
	struct rf_source *source = open_trace(path, o, cfg, error);
	struct rf_result result;
	gboolean ok;

	if (!source)
		return FALSE;
	rf_result_init(&result);
	ok = replay(source, path, o, cfg, &result, error);
	if (ok) {
		const struct rf_report r = {
			.path = path,
			.format = rf_source_format(source),
			.header = rf_source_header(source),
			.as_format = o->format,
			.maps = o->maps,
			.params = rf_args_strv(o->params),
			.cfg = cfg,
			.result = &result,
		};

		emit(d, &r, first, last);
		if (d->formats & 1 << RF_OUT_NORMAL && !o->quiet)
			hint(&r);
	} else if (error && (*error)->domain != RF_USAGE_ERROR &&
	           !g_str_has_prefix((*error)->message, path)) {
		/* A machine knows the record, not the file. */
		g_prefix_error(error, "%s: ", path);
	}
	rf_result_clear(&result);
	rf_source_close(source);
	return ok;
}

/* ---- the command ---- */

static gboolean run_all(const GPtrArray *traces, const struct options *o, struct rf_config *cfg,
                        struct documents *d, GError **error)
{
	for (guint i = 0; i < traces->len; i++) {
		if (!run_one(traces->pdata[i], o, cfg, d, i == 0, i + 1 == traces->len, error))
			return FALSE;
	}
	return TRUE;
}

/* Both files are opened first, so that one that can't be written costs no work. */
static gboolean run_to_files(const GPtrArray *traces, const struct options *o,
                             struct rf_config *cfg, unsigned formats, GError **error)
{
	struct rf_outfile out = { 0 }, timeline = { 0 };
	struct documents d = { .formats = formats, .timeline = g_string_new(NULL), .out = &out };
	gboolean ok;

	for (unsigned f = 0; f < RF_NOUTPUTS; f++)
		d.text[f] = g_string_new(NULL);
	ok = rf_outfile_open(&out, o->output, error) &&
	     (!o->timeline_file || rf_outfile_open(&timeline, o->timeline_file, error)) &&
	     run_all(traces, o, cfg, &d, error);
	for (unsigned f = 0; f < RF_NOUTPUTS; f++) {
		if (ok)
			rf_outfile_write(&out, d.text[f]->str, d.text[f]->len);
		g_string_free(d.text[f], TRUE);
	}
	if (ok && o->timeline_file)
		rf_outfile_write(&timeline, d.timeline->str, d.timeline->len);
	g_string_free(d.timeline, TRUE);
	ok = ok && rf_outfile_commit(&out, error) &&
	     (!o->timeline_file || rf_outfile_commit(&timeline, error));
	if (!ok) {
		rf_outfile_abort(&out);
		rf_outfile_abort(&timeline);
	}
	return ok;
}

/* ---- from a job file ---- */

/* The command line again, as settings. */
struct given {
	struct options o;
	GArray *settings;
};

static gboolean give(void *block, const struct rf_option *opt, const char *value, GError **error)
{
	g_autofree char *where = g_strdup_printf("--%s", opt->name);

	(void)error;
	rf_settings_put(((struct given *)block)->settings, opt->name, value, where);
	return TRUE;
}

static gboolean give_others(struct given *g, const GPtrArray *traces, GError **error)
{
	for (guint i = 0; g->o.set && i < g->o.set->len; i++) {
		g_auto(GStrv) pair = g_strsplit(g->o.set->pdata[i], "=", 2);
		const char *key = rf_study_key("--set", pair[0], error);

		if (!key)
			return FALSE;
		rf_settings_put(g->settings, key, pair[1], "--set");
	}
	rf_settings_put_words(g->settings, "trace", traces, "the command line");
	if (g->o.format)
		rf_settings_put(g->settings, "format", g->o.format, "--format");
	if (g->o.maps)
		rf_settings_put(g->settings, "maps", g->o.maps, "--maps");
	rf_settings_put_words(g->settings, "param", g->o.params, "--param");
	return TRUE;
}

static gboolean load_job(const struct rf_call *call, GError **error)
{
	struct block *b = call->block;
	struct given g = { .settings = rf_settings_new() };
	const struct rf_args a = { args, &g, rf_config_options, NULL, FALSE };
	g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(g_free);
	struct rf_run_job job;
	gboolean help, ok;

	ok = rf_args_parse_lists(&a, call->argc, call->argv, give, traces, &help, error) &&
	     give_others(&g, traces, error) &&
	     rf_run_job_load(&job, b->o.job, b->o.section, g.settings, error);
	if (ok) {
		struct rf_config command_line = b->cfg;

		b->cfg = job.cfg;
		job.cfg = command_line;
		g_ptr_array_set_size(call->operands, 0);
		for (guint i = 0; i < job.traces->len; i++)
			g_ptr_array_add(call->operands, g_strdup(job.traces->pdata[i]));
		g_free(b->o.format);
		g_free(b->o.maps);
		b->o.format = g_steal_pointer(&job.format);
		b->o.maps = g_steal_pointer(&job.maps);
		g_clear_pointer(&b->o.params, g_ptr_array_unref);
		b->o.params = g_steal_pointer(&job.params);
		rf_run_job_clear(&job);
	}
	rf_args_clear(args, &g.o);
	g_array_unref(g.settings);
	return ok;
}

/* ---- the command ---- */

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	struct block *b = call->block;
	const struct options *o = &b->o;
	struct rf_config *cfg = &b->cfg;
	unsigned formats = 1 << RF_OUT_NORMAL;

	(void)code;
	for (guint i = 0; o->set && i < o->set->len; i++) {
		if (!rf_config_set_any(cfg, o->set->pdata[i], error))
			return FALSE;
	}
	if (!o->job && o->section) {
		rf_set_usage(error, "--section %s: expected --job FILE too", o->section);
		return FALSE;
	}
	if (o->job && !load_job(call, error))
		return FALSE;
	if (o->output_format && !rf_output_parse(o->output_format, &formats, error))
		return FALSE;
	if (!check_options(o, cfg, formats, error) || !rf_preflight(cfg, error))
		return FALSE;
	if (call->operands->len == 0) {
		rf_set_usage(error, "expected a trace; see `refault help run'");
		return FALSE;
	}
	return run_to_files(call->operands, o, cfg, formats, error);
}

static void init(void *block)
{
	rf_config_init(&((struct block *)block)->cfg);
}

static void clear(void *block)
{
	rf_config_clear(&((struct block *)block)->cfg);
}

const struct rf_command rf_command_run = {
	.name = NAME,
	.summary = "replay traces and report faults, refaults, memory and time",
	.size = sizeof(struct block),
	.args = args,
	.table = rf_config_options,
	.table_offset = offsetof(struct block, cfg),
	.init = init,
	.clear = clear,
	.run = run,
	.help = help,
	.man = man,
};
