/* SPDX-License-Identifier: MIT */
#include "sim/preflight.h"
#include "sim/study/sweep-child.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "sim/replay.h"
#include "sim/study/estimate.h"
#include "sim/study/pool.h"

/* A point that is being computed. */
struct task {
	guint index; /* among the child's points */
	const struct rf_point *point;
	struct rf_config cfg;
};

/* Points that are computed from one reading. */
struct group {
	const struct rf_child *child;
	struct rf_source *source;
	struct task *task;
	struct rf_pool_job *job;
	guint n;
	uint64_t bytes; /* as estimated */
};

/* ---- news ---- */

static void tell(const struct rf_child *c, guint index, enum rf_outcome_state state, int code,
                 uint64_t accesses, const char *message)
{
	size_t len = message ? MIN(strlen(message), (size_t)RF_NEWS_MAX) : 0;
	struct rf_news n = { index, state, code, (uint32_t)len, accesses };
	char buffer[sizeof(n) + RF_NEWS_MAX];

	memcpy(buffer, &n, sizeof(n));
	if (len)
		memcpy(buffer + sizeof(n), message, len);
	/* Who reads them is gone: then there is nobody to tell. */
	if (write(c->fd, buffer, sizeof(n) + len) < 0)
		_exit(RF_EXIT_ENVIRONMENT);
}

static uint64_t peak_kib(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)r.ru_maxrss;
}

static void fail(const struct rf_child *c, guint index, double seconds, const GError *error)
{
	struct rf_point_status s = {
		.failed = TRUE,
		.seconds = seconds,
		.peak_kib = peak_kib(),
		.code = (int)rf_error_exit_code(error),
		.message = error->message,
	};

	/* What can't be noted is told nevertheless. */
	rf_store_put_status(c->o->dir, c->points->pdata[index], &s, NULL);
	tell(c, index, RF_OUTCOME_FAILED, s.code, 0, s.message);
}

/* ---- one reading ---- */

static gboolean save(const struct group *g, const struct task *t, struct rf_pool_job *job,
                     const struct rf_totals *totals, GError **error)
{
	struct rf_result result;
	struct rf_report r = {
		.path = t->point->trace,
		.format = rf_source_format(g->source),
		.header = rf_source_header(g->source),
		.as_format = t->point->format,
		.maps = t->point->maps,
		.cfg = &t->cfg,
		.result = &result,
	};
	gboolean ok;

	rf_result_init(&result);
	ok = rf_machine_finish(job->machine, &result, error);
	result.totals = *totals;
	/* As in a run of its own: the modelled machine does not know. */
	if (!t->cfg.frames_n)
		result.gauge[RF_G_rf_footprint] = totals->footprint[t->cfg.page_size]
		                                  << t->cfg.page_shift;
	ok = ok && rf_store_write(g->child->o->dir, t->point, &r, error);
	rf_result_clear(&result);
	return ok;
}

/* In a worker's thread. */
static void ended(void *self, guint nth, struct rf_pool_job *job, const struct rf_totals *totals,
                  const GError *failure)
{
	struct group *g = self;
	struct task *t = &g->task[nth];
	GError *error = failure ? g_error_copy(failure) : NULL;

	if (!error && save(g, t, job, totals, &error)) {
		const struct rf_point_status s = { .seconds = job->seconds, .peak_kib = peak_kib() };

		/* The result is there: that its time can't be noted is no failure. */
		rf_store_put_status(g->child->o->dir, t->point, &s, NULL);
		tell(g->child, t->index, RF_OUTCOME_NOW, 0,
		     totals->accesses[RF_READ] + totals->accesses[RF_WRITE] +
		             totals->accesses[RF_EXEC], NULL);
	} else {
		if (failure)
			rf_sweep_prefix(t->point, &error);
		fail(g->child, t->index, job->seconds, error);
		g_error_free(error);
	}
	rf_machine_free(job->machine);
	job->machine = NULL;
}

/* In closed replay each task goes at a speed of its own: no two machines read alike. */
static gboolean reads_alone(const struct task *t)
{
	return t->cfg.replay == RF_REPLAY_CLOSED;
}

/* The point's configuration on this trace, and the memory that it will take. */
static gboolean configure(const struct group *g, struct task *t, uint64_t *bytes, GError **error)
{
	const struct rf_totals *totals = rf_source_totals_ahead(g->source);

	if (!rf_point_config(t->point, &t->cfg, error))
		return FALSE;
	if (rf_config_resolve(&t->cfg, totals, error) &&
	    rf_config_suits(&t->cfg, rf_source_header(g->source), error)) {
		*bytes = rf_estimate_bytes(&t->cfg, totals);
		return TRUE;
	}
	rf_config_clear(&t->cfg);
	return FALSE;
}

/* Machines for as many of the points from the first on as the memory allows, at least one; those
 * whose configuration does not fit the trace fail now.  How many points were seen to. */
static guint make_machines(struct group *g, const GArray *todo, guint from)
{
	guint i;

	for (i = from; i < todo->len; i++) {
		struct task *t = &g->task[g->n];
		struct rf_machine *m = NULL;
		GError *error = NULL;
		uint64_t bytes = 0;

		t->index = g_array_index(todo, guint, i);
		t->point = g->child->points->pdata[t->index];
		if (configure(g, t, &bytes, &error)) {
			if (g->n && (g->bytes + bytes > g->child->o->memory || reads_alone(t) ||
			             reads_alone(&g->task[0]))) {
				rf_config_clear(&t->cfg);
				break;
			}
			m = rf_machine_new(&t->cfg, rf_source_totals_ahead(g->source), &error);
			if (!m)
				rf_config_clear(&t->cfg);
		}
		if (!m) {
			rf_sweep_prefix(t->point, &error);
			fail(g->child, t->index, 0, error);
			g_error_free(error);
			continue;
		}
		rf_store_drop_status(g->child->o->dir, t->point);
		g->job[g->n++] = (struct rf_pool_job){ .machine = m };
		g->bytes += bytes;
	}
	return i - from;
}

static void drop_machines(struct group *g, const GError *error)
{
	for (guint i = 0; i < g->n; i++) {
		if (g->job[i].machine) {
			if (error)
				fail(g->child, g->task[i].index, g->job[i].seconds, error);
			rf_machine_free(g->job[i].machine);
		}
		rf_config_clear(&g->task[i].cfg);
	}
}

static gboolean replay_alone(struct group *g, GError **error)
{
	double began = rf_thread_seconds();

	if (!rf_replay(g->source, &g->job[0].machine, 1, g->child->progress, error))
		return FALSE;
	g->job[0].seconds = rf_thread_seconds() - began;
	ended(g, 0, &g->job[0], rf_source_totals(g->source), NULL);
	return TRUE;
}

/* FALSE after a signal. */
static gboolean replay(struct group *g)
{
	GError *error = NULL;
	gboolean ok = rf_source_rewind(g->source, &error) &&
	              (reads_alone(&g->task[0]) ? replay_alone(g, &error) :
	               rf_pool_replay(g->source, g->job, g->n, g->child->o->threads, ended, g,
	                              g->child->progress, &error));

	if (error && !rf_interrupted())
		rf_sweep_prefix(g->task[0].point, &error);
	drop_machines(g, rf_interrupted() ? NULL : error);
	g_clear_error(&error);
	return ok || !rf_interrupted();
}

/* ---- the points ---- */

static void announce(const struct rf_child *c, const struct group *g, guint left, guint before)
{
	const struct rf_point *p = c->points->pdata[0];
	g_autofree char *name = g_path_get_basename(p->trace), *each = NULL, *label = NULL;
	GString *s = g_string_new(NULL);

	label = g_strdup_printf("%s, %u of %u points done", name, c->before + before, c->all);
	rf_progress_label(c->progress, label);
	if (!c->o->quiet) {
		each = rf_format_size(g->bytes);
		g_string_append_printf(s, "%-20s %6u points, about %s of memory", name, g->n, each);
		if (g->n < left)
			g_string_append_printf(s, "; %u more after them", left - g->n);
		if (before)
			g_string_append_printf(s, "; %u are done", before);
		rf_progress_wipe(c->progress);
		printf("%s\n", s->str);
		fflush(stdout);
	}
	g_string_free(s, TRUE);
}

static int run_all(const struct rf_child *c, struct rf_source *source, const GArray *todo,
                   guint before)
{
	struct group g = { .child = c, .source = source };
	gboolean go_on = TRUE;

	g.task = g_new(struct task, MAX(todo->len, 1));
	g.job = g_new(struct rf_pool_job, MAX(todo->len, 1));
	for (guint from = 0; go_on && from < todo->len;) {
		guint taken, done = c->before + before + from;

		g.n = 0;
		g.bytes = 0;
		taken = make_machines(&g, todo, from);
		if (g.n) {
			rf_progress_part(c->progress, (double)done / c->all,
			                 (double)(done + taken) / c->all, g.n);
			announce(c, &g, todo->len - from, before + from);
			go_on = replay(&g);
		}
		from += taken;
	}
	g_free(g.task);
	g_free(g.job);
	return go_on ? RF_EXIT_OK : RF_EXIT_INTERRUPTED;
}

static int all_fail(const struct rf_child *c, GError *error)
{
	if (rf_interrupted()) {
		g_error_free(error);
		return RF_EXIT_INTERRUPTED;
	}
	rf_sweep_prefix(c->points->pdata[0], &error);
	for (guint i = 0; i < c->points->len; i++)
		fail(c, i, 0, error);
	g_error_free(error);
	return RF_EXIT_OK;
}

int rf_sweep_child(const struct rf_child *c)
{
	g_autoptr(GArray) todo = g_array_new(FALSE, FALSE, sizeof(guint));
	GError *error = NULL;
	struct rf_source *source = rf_sweep_open(c->points->pdata[0], &error);
	uint64_t digest;
	guint before = 0;
	int code;

	if (!source)
		return all_fail(c, error);
	digest = rf_source_totals_ahead(source)->digest;
	for (guint i = 0; i < c->points->len; i++) {
		struct rf_saved *saved = rf_store_read(c->o->dir, c->points->pdata[i], &digest, NULL);

		if (!saved) {
			g_array_append_val(todo, i);
			continue;
		}
		rf_saved_free(saved);
		before++;
		tell(c, i, RF_OUTCOME_BEFORE, 0, 0, NULL);
	}
	rf_progress_skip(c->progress, (double)before / c->all, 0);
	code = run_all(c, source, todo, before);
	rf_source_close(source);
	rf_progress_end(c->progress);
	fflush(stdout);
	return code;
}
