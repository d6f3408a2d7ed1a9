/* SPDX-License-Identifier: MIT
 * The traces of a sweep one after the other, a process each.
 */
#include "sim/study/sweep.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "sim/progress.h"
#include "sim/study/sweep-child.h"

/* How long a child may take to notice a signal that it got as well, before it is sent one. */
#define PATIENCE_MS 500

struct conductor {
	const struct rf_sweep_options *o;
	const GPtrArray *points; /* all */
	struct rf_outcome *outcome;
	GHashTable *number;      /* point to its place in them, from 1 */
	struct rf_progress *progress;
	guint resolved; /* points so far */
	GError *error;  /* ends the sweep */
};

GPtrArray *rf_sweep_distinct(const GPtrArray *points)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GPtrArray *distinct = g_ptr_array_new();

	for (guint i = 0; i < points->len; i++) {
		struct rf_point *p = points->pdata[i];

		if (g_hash_table_add(seen, p->id))
			g_ptr_array_add(distinct, p);
	}
	return distinct;
}

static const char *strictness(const struct rf_point *p)
{
	const struct rf_setting *s = rf_settings_find(p->settings, "strict");

	return s ? s->value : "no";
}

static gboolean same_source(const struct rf_point *a, const struct rf_point *b)
{
	return strcmp(a->trace, b->trace) == 0 && g_strcmp0(a->format, b->format) == 0 &&
	       g_strcmp0(a->maps, b->maps) == 0 && g_strcmp0(a->params, b->params) == 0 &&
	       strcmp(strictness(a), strictness(b)) == 0;
}

GPtrArray *rf_sweep_traces(const GPtrArray *points)
{
	GPtrArray *traces = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);

	for (guint i = 0; i < points->len; i++) {
		GPtrArray *t = NULL;

		/* Mostly the last one. */
		for (guint k = traces->len; k > 0 && !t; k--) {
			GPtrArray *other = traces->pdata[k - 1];

			if (same_source(other->pdata[0], points->pdata[i]))
				t = other;
		}
		if (!t) {
			t = g_ptr_array_new();
			g_ptr_array_add(traces, t);
		}
		g_ptr_array_add(t, points->pdata[i]);
	}
	return traces;
}

struct rf_source *rf_sweep_open(const struct rf_point *p, GError **error)
{
	g_auto(GStrv) params = rf_point_params(p);
	const struct rf_source_options options = {
		.format = p->format,
		.maps = p->maps,
		.params = (const char *const *)params,
		.strict = strcmp(strictness(p), "yes") == 0,
	};
	struct rf_source *s = rf_source_open(p->trace, &options, error);

	if (s)
		s = rf_source_spool(s, error);
	return s;
}

void rf_sweep_prefix(const struct rf_point *p, GError **error)
{
	if (error && *error && (*error)->domain != RF_USAGE_ERROR &&
	    !g_str_has_prefix((*error)->message, p->trace))
		g_prefix_error(error, "%s: ", p->trace);
}

/* ---- what a child tells ---- */

static void note(struct conductor *c, const struct rf_point *p, const struct rf_news *n,
                 const char *message)
{
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(c->number, p)) - 1;
	struct rf_outcome *out = &c->outcome[place];

	if (out->state != RF_OUTCOME_OPEN)
		return;
	out->state = (enum rf_outcome_state)n->state;
	out->code = n->code;
	out->message = n->state == RF_OUTCOME_FAILED ? g_strdup(message) : NULL;
	c->resolved++;
	rf_progress_skip(c->progress,
	                 n->state == RF_OUTCOME_NOW ? 0 : 1.0 / (double)c->points->len,
	                 (double)n->accesses);
}

/* FALSE at the end of what it has to say. */
static gboolean read_news(struct conductor *c, int fd, const GPtrArray *points)
{
	char buffer[RF_NEWS_MAX + 1];
	struct rf_news n;
	ssize_t got;

	/* Written at once, and shorter than what a pipe cuts: read in two whole parts. */
	got = read(fd, &n, sizeof(n));
	if (got < 0 && errno == EINTR)
		return TRUE;
	if (got != (ssize_t)sizeof(n) || n.len > RF_NEWS_MAX || n.index >= points->len)
		return FALSE;
	if (n.len && read(fd, buffer, n.len) != (ssize_t)n.len)
		return FALSE;
	buffer[n.len] = '\0';
	note(c, points->pdata[n.index], &n, buffer);
	return TRUE;
}

static void listen_to(struct conductor *c, int fd, pid_t pid, const GPtrArray *points)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int waited = 0;
	gboolean told = FALSE;

	for (;;) {
		int ready = poll(&p, 1, 100);

		if (ready > 0 && !read_news(c, fd, points))
			return;
		if (!rf_interrupted() || told)
			continue;
		waited += 100;
		if (waited < PATIENCE_MS)
			continue;
		kill(pid, SIGTERM);
		told = TRUE;
	}
}

/* ---- children ---- */

static pid_t start(struct conductor *c, const GPtrArray *points, int *fd, GError **error)
{
	int ends[2];
	pid_t parent = getpid(), pid;

	if (pipe(ends) != 0) {
		rf_set_env(error, "cannot make a pipe: %s", g_strerror(errno));
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		rf_set_env(error, "cannot start a process: %s", g_strerror(errno));
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	if (pid == 0) {
		const struct rf_child child = {
			.o = c->o,
			.points = points,
			.fd = ends[1],
			.progress = c->progress,
			.before = c->resolved,
			.all = c->points->len,
		};

		/* Nobody is to work on when the sweep itself was killed. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		_exit(getppid() == parent ? rf_sweep_child(&child) : RF_EXIT_ENVIRONMENT);
	}
	close(ends[1]);
	*fd = ends[0];
	return pid;
}

static GPtrArray *open_points(const struct conductor *c, const GPtrArray *points)
{
	GPtrArray *open = g_ptr_array_new();

	for (guint i = 0; i < points->len; i++) {
		guint place = GPOINTER_TO_UINT(g_hash_table_lookup(c->number, points->pdata[i])) - 1;

		if (c->outcome[place].state == RF_OUTCOME_OPEN)
			g_ptr_array_add(open, points->pdata[i]);
	}
	return open;
}

static void died(struct conductor *c, const struct rf_point *p, int status)
{
	const struct rf_news n = { .state = RF_OUTCOME_FAILED, .code = RF_EXIT_ENVIRONMENT };
	g_autofree char *message = NULL;
	struct rf_point_status s = { .failed = TRUE, .code = n.code };

	if (WIFSIGNALED(status))
		message = g_strdup_printf("its process died of signal %d (%s)%s", WTERMSIG(status),
		                          strsignal(WTERMSIG(status)),
		                          WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGABRT
		                                  ? ": out of memory?" : "");
	else
		message = g_strdup_printf("its process ended with status %d", WEXITSTATUS(status));
	s.message = message;
	rf_store_put_status(c->o->dir, p, &s, NULL);
	note(c, p, &n, message);
}

/* FALSE: the sweep ends. */
static gboolean run_points(struct conductor *c, const GPtrArray *points)
{
	g_autoptr(GPtrArray) open = NULL;
	pid_t pid;
	int fd, status = 0;

	if (rf_interrupted()) {
		rf_set_interrupted(&c->error);
		return FALSE;
	}
	pid = start(c, points, &fd, &c->error);
	if (pid < 0)
		return FALSE;
	listen_to(c, fd, pid, points);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	open = open_points(c, points);
	if (rf_interrupted() || (WIFEXITED(status) && WEXITSTATUS(status) == RF_EXIT_INTERRUPTED)) {
		rf_set_interrupted(&c->error);
		return FALSE;
	}
	if (open->len == 0)
		return TRUE;
	if (open->len == 1 && points->len == 1) {
		died(c, open->pdata[0], status);
		return TRUE;
	}
	/* One alone may have room enough; of two halves one may not have the culprit. */
	for (guint from = 0, half = (open->len + 1) / 2; from < open->len; from += half) {
		g_autoptr(GPtrArray) part = g_ptr_array_new();

		for (guint i = from; i < MIN(from + half, open->len); i++)
			g_ptr_array_add(part, open->pdata[i]);
		if (!run_points(c, part))
			return FALSE;
	}
	return TRUE;
}

gboolean rf_sweep_run(const struct rf_sweep_options *o, const GPtrArray *points,
                      struct rf_outcome *outcome, GError **error)
{
	g_autoptr(GPtrArray) traces = rf_sweep_traces(points);
	struct conductor c = { .o = o, .points = points, .outcome = outcome };

	c.number = g_hash_table_new(g_direct_hash, g_direct_equal);
	for (guint i = 0; i < points->len; i++)
		g_hash_table_insert(c.number, points->pdata[i], GUINT_TO_POINTER(i + 1));
	if (!o->quiet)
		c.progress = rf_progress_new("");
	for (guint i = 0; i < traces->len && run_points(&c, traces->pdata[i]); i++)
		continue;
	rf_progress_end(c.progress);
	g_hash_table_unref(c.number);
	if (!c.error)
		return TRUE;
	g_propagate_error(error, c.error);
	return FALSE;
}
