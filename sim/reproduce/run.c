/* SPDX-License-Identifier: MIT
 * Runs of experiments: every one is a scenario through a machine, for each seed, several at once.
 */
#include <string.h>

#include "base/error.h"
#include "sim/machine.h"
#include "sim/preflight.h"
#include "sim/replay.h"
#include "sim/reproduce/definition.h"
#include "sim/reproduce/formula.h"
#include "traces/import-source.h"

struct job {
	struct rf_experiment *e;
	struct rf_exp_run *run;
	unsigned nth; /* seed */
	struct rf_config cfg;
	GError *error;
};

static gboolean configure(struct job *j, GError **error)
{
	GPtrArray *settings = j->run->settings;

	for (guint i = 0; i < settings->len; i++)
		if (!rf_config_set_any(&j->cfg, settings->pdata[i], error))
			return FALSE;
	return rf_preflight(&j->cfg, error);
}

/* The scenario of a run.  Line numbers in messages are those of the definition. */
static struct rf_source *open_with(const struct job *j, const char *const *params, GError **error)
{
	const struct rf_exp_section *s = rf_exp_section(j->e, "scenario", j->run->scenario);
	const struct rf_source_options options = { .format = "scenario", .strict = TRUE, .params = params };
	struct rf_input *in = rf_input_from_memory(j->e->file, s->text, strlen(s->text));

	rf_input_begin_at(in, s->line);
	return rf_source_import(in, &options, error);
}

/* The seeds that follow the scenario's own. */
static char *nth_seed(const struct rf_header *header, unsigned nth)
{
	const char *own = rf_header_get(header, "seed");

	return g_strdup_printf("seed=%" G_GUINT64_FORMAT, (own ? g_ascii_strtoull(own, NULL, 10) : 1) + nth);
}

/* Inputs that the scenario has as parameters, then the run's own. */
static GPtrArray *parameters(const struct job *j, GError **error)
{
	struct rf_source *plain = open_with(j, NULL, error);
	GPtrArray *params;

	if (!plain)
		return NULL;
	params = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < j->e->inputs->len; i++) {
		const struct rf_exp_input *in = j->e->inputs->pdata[i];
		g_autofree char *key = g_strconcat("param.", in->name, NULL);
		g_autofree char *value = rf_formula_number(in->value);

		if (rf_header_get(rf_source_header(plain), key))
			g_ptr_array_add(params, g_strconcat(in->name, "=", value, NULL));
	}
	for (guint i = 0; i < j->run->params->len; i++)
		g_ptr_array_add(params, g_strdup(j->run->params->pdata[i]));
	if (j->nth)
		g_ptr_array_add(params, nth_seed(rf_source_header(plain), j->nth));
	g_ptr_array_add(params, NULL);
	rf_source_close(plain);
	return params;
}

static struct rf_source *open_source(const struct job *j, GError **error)
{
	g_autoptr(GPtrArray) params = parameters(j, error);
	struct rf_source *s = params ? open_with(j, (const char *const *)params->pdata, error) : NULL;

	if (s && (rf_config_needs_totals(&j->cfg) || rf_config_knows_future(&j->cfg)))
		s = rf_source_spool(s, error);
	return s;
}

static gboolean replay(struct job *j, struct rf_source *s, GError **error)
{
	struct rf_machine *m;
	gboolean ok;

	if (!rf_config_resolve(&j->cfg, rf_source_totals_ahead(s), error))
		return FALSE;
	m = rf_machine_new(&j->cfg, rf_source_totals_ahead(s), error);
	if (!m)
		return FALSE;
	ok = rf_replay(s, &m, 1, NULL, error) && rf_machine_finish(m, &j->run->results[j->nth], error);
	j->run->results[j->nth].totals = *rf_source_totals(s);
	rf_machine_free(m);
	return ok;
}

static void run_job(gpointer data, gpointer user)
{
	struct job *j = data;
	struct rf_source *s = open_source(j, &j->error);

	(void)user;
	if (s) {
		replay(j, s, &j->error);
		rf_source_close(s);
	}
	if (j->error)
		g_prefix_error(&j->error, "%s: run %s: ", j->e->name, j->run->name);
}

gboolean rf_exp_run_all(struct rf_experiment *e, unsigned njobs, GError **error)
{
	guint n = e->runs->len * e->seeds;
	struct job *jobs = g_new0(struct job, n);
	GThreadPool *pool = NULL;
	gboolean ok = TRUE;

	for (guint i = 0; i < n; i++) {
		jobs[i].e = e;
		jobs[i].run = e->runs->pdata[i / e->seeds];
		jobs[i].nth = i % e->seeds;
		rf_config_init(&jobs[i].cfg);
		if (ok && !configure(&jobs[i], error)) {
			g_prefix_error(error, "%s: run %s: ", jobs[i].run->where, jobs[i].run->name);
			ok = FALSE;
		}
	}
	if (ok)
		pool = g_thread_pool_new(run_job, NULL, (int)njobs, TRUE, error);
	ok = ok && pool;
	for (guint i = 0; ok && i < n; i++)
		g_thread_pool_push(pool, &jobs[i], NULL);
	if (pool)
		g_thread_pool_free(pool, FALSE, TRUE);
	for (guint i = 0; i < n; i++) {
		if (jobs[i].error && ok) {
			g_propagate_error(error, g_steal_pointer(&jobs[i].error));
			ok = FALSE;
		}
		jobs[i].run->done = ok;
		g_clear_error(&jobs[i].error);
		rf_config_clear(&jobs[i].cfg);
	}
	g_free(jobs);
	return ok && rf_exp_judge(e, error);
}
