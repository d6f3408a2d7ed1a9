/* SPDX-License-Identifier: MIT */
#include "sim/compare/runs.h"

#include <string.h>

#include "base/args.h"
#include "base/error.h"
#include "sim/machine.h"
#include "sim/preflight.h"
#include "sim/replay.h"
#include "sim/report/report.h"

/* ---- configurations ---- */

gboolean rf_config_words(struct rf_config *cfg, const char *option, const char *words, GError **error)
{
	struct {
		GPtrArray *set;
	} block = { NULL };
	static const struct rf_arg args[] = {
		{ "set", 0, RF_ARG_LIST, 0, "KEY=VALUE", "" },
		RF_ARG_END,
	};
	const struct rf_args a = { args, &block, rf_config_options, cfg, FALSE };
	g_autofree char *line = g_strdup_printf("x %s", words);
	g_autoptr(GPtrArray) operands = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) argv = NULL;
	gboolean help = FALSE, ok;
	GError *e = NULL;
	int argc;

	ok = g_shell_parse_argv(line, &argc, &argv, &e) && rf_args_parse(&a, argc, argv, operands, &help, &e);
	for (guint i = 0; ok && block.set && i < block.set->len; i++)
		ok = rf_config_set_any(cfg, block.set->pdata[i], &e);
	rf_args_clear(args, &block);
	if (!ok) {
		rf_set_usage(error, "%s: %s", option, e->message);
		g_error_free(e);
		return FALSE;
	}
	if (help || operands->len) {
		rf_set_usage(error, "%s: expected options of `refault run', got \"%s\"", option,
		             help ? "--help" : (const char *)operands->pdata[0]);
		return FALSE;
	}
	return TRUE;
}

gboolean rf_config_saved(struct rf_config *cfg, const struct rf_saved *s, GError **error)
{
	struct rf_profile base;
	gboolean ok = TRUE;

	for (guint i = 0; ok && i < s->config->len; i++) {
		const struct rf_saved_pair *p = &g_array_index(s->config, struct rf_saved_pair, i);

		ok = rf_config_set(cfg, p->name, p->value ? p->value : "", error);
	}
	if (!ok || !rf_profile_load(&base, cfg->machine, error))
		goto out;
	for (guint i = 0; ok && i < s->profile->len; i++) {
		const struct rf_saved_pair *p = &g_array_index(s->profile, struct rf_saved_pair, i);
		const struct rf_option *o = rf_options_find(rf_profile_options, p->name);
		g_autofree char *now = o ? rf_options_value(o, &base) : NULL;
		g_autofree char *set = g_strdup_printf("%s=%s", p->name, p->value ? p->value : "");

		if (g_strcmp0(now, p->value ? p->value : "") != 0)
			ok = rf_config_set_any(cfg, set, error);
	}
	rf_profile_clear(&base);
	if (ok)
		return TRUE;
out:
	{
		g_autofree char *where = rf_saved_where(s);

		g_prefix_error(error, "%s: ", where);
	}
	return FALSE;
}

/* ---- runs ---- */

static const char *const *params_of(const struct rf_run *run)
{
	return (const char *const *)run->params;
}

static gboolean same_params(const struct rf_run *a, const struct rf_run *b)
{
	return a->params && b->params ? g_strv_equal(params_of(a), params_of(b)) : a->params == b->params;
}

static gboolean same_source(const struct rf_run *a, const struct rf_run *b)
{
	return strcmp(a->trace, b->trace) == 0 && g_strcmp0(a->format, b->format) == 0 &&
	       g_strcmp0(a->maps, b->maps) == 0 && same_params(a, b) && a->cfg->strict == b->cfg->strict;
}

static struct rf_source *open_source(struct rf_run *const *run, guint n, GError **error)
{
	const struct rf_source_options options = {
		.format = run[0]->format, .maps = run[0]->maps, .params = params_of(run[0]),
		.strict = run[0]->cfg->strict,
	};
	struct rf_source *s = rf_source_open(run[0]->trace, &options, error);
	gboolean ahead = FALSE;

	for (guint i = 0; i < n; i++)
		ahead |= rf_config_needs_totals(run[i]->cfg) || rf_config_knows_future(run[i]->cfg);
	if (s && ahead && !rf_source_totals_ahead(s))
		s = rf_source_spool(s, error);
	return s;
}

/* Through the report and back: what a comparison sees of a run is what a file would say. */
static struct rf_saved *result_of(struct rf_source *source, struct rf_run *run, struct rf_machine *m,
                                  GError **error)
{
	struct rf_result result;
	struct rf_saved *saved = NULL;
	g_autoptr(GString) json = g_string_new(NULL);

	rf_result_init(&result);
	if (rf_machine_finish(m, &result, error)) {
		const struct rf_report r = {
			.path = run->trace, .format = rf_source_format(source), .as_format = run->format,
			.maps = run->maps, .params = params_of(run), .header = rf_source_header(source), .cfg = run->cfg,
			.result = &result,
		};
		g_autoptr(GPtrArray) all = NULL;

		result.totals = *rf_source_totals(source);
		if (!run->cfg->frames_n)
			result.gauge[RF_G_rf_footprint] = result.totals.footprint[run->cfg->page_size]
			                                  << run->cfg->page_shift;
		rf_report_json(json, &r);
		all = rf_saved_parse(run->trace, json->str, json->len, error);
		if (all) {
			saved = g_ptr_array_steal_index(all, 0);
			run->json = g_strdup(json->str);
		}
	}
	rf_result_clear(&result);
	return saved;
}

static gboolean replay(struct rf_source *source, struct rf_run *const *run, guint n, gboolean quiet,
                       GError **error)
{
	g_autofree struct rf_machine **m = g_new0(struct rf_machine *, n);
	g_autofree char *name = g_path_get_basename(run[0]->trace);
	const struct rf_totals *totals = rf_source_totals_ahead(source);
	struct rf_progress *progress = NULL;
	gboolean ok = TRUE;

	for (guint i = 0; ok && i < n; i++) {
		ok = rf_config_resolve(run[i]->cfg, totals, error) &&
		     rf_config_suits(run[i]->cfg, rf_source_header(source), error);
		m[i] = ok ? rf_machine_new(run[i]->cfg, totals, error) : NULL;
		ok = m[i] != NULL;
	}
	if (ok) {
		progress = quiet ? NULL : rf_progress_new(name);
		ok = rf_replay(source, m, n, progress, error);
		rf_progress_end(progress);
	}
	for (guint i = 0; i < n; i++) {
		if (ok)
			run[i]->result = result_of(source, run[i], m[i], error);
		ok = ok && run[i]->result;
		if (m[i])
			rf_machine_free(m[i]);
	}
	return ok;
}

gboolean rf_runs_do(struct rf_run *runs, guint n, gboolean quiet, GError **error)
{
	g_autofree gboolean *done = g_new0(gboolean, n + 1);

	for (guint i = 0; i < n; i++) {
		g_autoptr(GPtrArray) together = g_ptr_array_new();
		struct rf_source *source;
		gboolean ok;

		if (done[i])
			continue;
		for (guint k = i; k < n; k++) {
			if (!done[k] && same_source(&runs[i], &runs[k])) {
				g_ptr_array_add(together, &runs[k]);
				done[k] = TRUE;
			}
		}
		source = open_source((struct rf_run **)together->pdata, together->len, error);
		if (!source)
			return FALSE;
		ok = replay(source, (struct rf_run **)together->pdata, together->len, quiet, error);
		rf_source_close(source);
		if (!ok) {
			if (error && (*error)->domain != RF_USAGE_ERROR &&
			    !g_str_has_prefix((*error)->message, runs[i].trace))
				g_prefix_error(error, "%s: ", runs[i].trace);
			return FALSE;
		}
	}
	return TRUE;
}

char *rf_runs_document(const struct rf_run *runs, guint n)
{
	GString *out = g_string_new(n > 1 ? "[\n" : "");

	for (guint i = 0; i < n; i++)
		g_string_append_printf(out, "%s%s", i ? ",\n" : "", runs[i].json);
	g_string_append(out, n > 1 ? "\n]\n" : "\n");
	return g_string_free(out, FALSE);
}
