/* SPDX-License-Identifier: MIT */
#include "sim/study/pool.h"

#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "sim/study/batch.h"

/* Batches that a machine may be ahead of the slowest. */
#define WINDOW 8

struct runner {
	struct rf_pool_job *job;
	struct rf_future *view; /* or NULL */
	unsigned size;          /* of its future */
	guint64 next;           /* batch that it wants */
	gboolean busy, ended;
};

struct pool {
	struct runner *runner;
	guint n, left; /* left: not ended */
	struct rf_batch *window[WINDOW];
	guint64 produced; /* batches so far */
	uint64_t runs;    /* in them */
	struct rf_totals whole; /* of the trace */
	struct rf_progress *progress;
	gboolean complete, stop;
	struct rf_totals totals; /* when complete */
	rf_pool_ended ended;
	void *self;
	GMutex lock; /* of all that changes above */
	GCond changed;
};

double rf_thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- workers ---- */

/* Not busy, and furthest behind among those that have something to do; NULL when there is none. */
static struct runner *pick(struct pool *p)
{
	struct runner *best = NULL;

	for (guint i = 0; i < p->n; i++) {
		struct runner *r = &p->runner[i];

		if (r->busy || r->ended || (r->next == p->produced && !p->complete))
			continue;
		if (!best || r->next < best->next)
			best = r;
	}
	return best;
}

static gboolean feed_batch(struct runner *r, const struct rf_batch *b, GError **error)
{
	for (guint i = 0; i < rf_batch_items(b); i++) {
		const struct rf_skim *skim = rf_batch_skim(b, i);

		if (skim && rf_machine_skim(r->job->machine, rf_batch_item(b, i), skim))
			continue;
		if (r->view)
			rf_future_show(r->view, rf_batch_next(b, i, r->size));
		if (!rf_machine_item(r->job->machine, rf_batch_item(b, i), error))
			return FALSE;
	}
	return TRUE;
}

/* Take a machine through the window.  Called and left with the lock held, which is given up while
 * the machine works. */
static void advance(struct pool *p, struct runner *r)
{
	GError *error = NULL;
	gboolean over = FALSE;
	double began = rf_thread_seconds();

	r->busy = TRUE;
	while (!p->stop && !over && r->next < p->produced) {
		const struct rf_batch *b = p->window[r->next % WINDOW];

		g_mutex_unlock(&p->lock);
		over = rf_interrupted() || !feed_batch(r, b, &error);
		g_mutex_lock(&p->lock);
		r->next++;
		g_cond_broadcast(&p->changed);
	}
	if (rf_interrupted())
		p->stop = TRUE;
	r->job->seconds += rf_thread_seconds() - began;
	if (!p->stop && (error || (p->complete && r->next == p->produced))) {
		g_mutex_unlock(&p->lock);
		p->ended(p->self, (guint)(r - p->runner), r->job, &p->totals, error);
		g_mutex_lock(&p->lock);
		r->ended = TRUE;
		p->left--;
	}
	g_clear_error(&error);
	r->busy = FALSE;
	g_cond_broadcast(&p->changed);
}

static gpointer work(gpointer data)
{
	struct pool *p = data;

	g_mutex_lock(&p->lock);
	while (!p->stop && p->left) {
		struct runner *r = pick(p);

		if (r)
			advance(p, r);
		else
			g_cond_wait(&p->changed, &p->lock);
	}
	g_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the reader ---- */

static uint64_t accesses(const struct rf_totals *t)
{
	return t->accesses[RF_READ] + t->accesses[RF_WRITE] + t->accesses[RF_EXEC];
}

/* Where the machines are, not the reader. */
static void show_progress(struct pool *p, guint64 passed)
{
	double share = (double)p->runs / (double)MAX(p->whole.runs, 1);

	if (p->produced)
		share *= (double)passed / (double)(p->produced * p->n);
	rf_progress_update(p->progress, share, (uint64_t)(share * (double)accesses(&p->whole)));
}

/* Wait until the oldest batch of a full window is done with.  FALSE: nobody wants more. */
static gboolean wait_for_room(struct pool *p)
{
	for (;;) {
		guint64 behind = p->produced, passed = 0;
		gboolean wanted = FALSE;

		for (guint i = 0; i < p->n; i++) {
			passed += p->runner[i].next;
			if (p->runner[i].ended)
				continue;
			behind = MIN(behind, p->runner[i].next);
			wanted = TRUE;
		}
		show_progress(p, passed);
		if (rf_interrupted())
			p->stop = TRUE;
		if (!wanted || p->stop)
			return FALSE;
		if (p->produced - behind < WINDOW)
			return TRUE;
		/* A signal wakes nobody. */
		g_cond_wait_until(&p->changed, &p->lock, g_get_monotonic_time() + G_USEC_PER_SEC / 5);
	}
}

static gboolean read_trace(struct pool *p, struct rf_source *source, struct rf_futures *futures,
                           GError **error)
{
	gboolean end = FALSE, ok = TRUE;

	g_mutex_lock(&p->lock);
	while (ok && !end && wait_for_room(p)) {
		struct rf_batch *b = p->window[p->produced % WINDOW];

		g_mutex_unlock(&p->lock);
		ok = rf_batch_fill(b, source, futures, &end, error);
		g_mutex_lock(&p->lock);
		if (ok) {
			p->produced++;
			p->runs += rf_batch_runs(b);
		} else {
			p->stop = TRUE;
		}
		if (end) {
			p->complete = TRUE;
			p->totals = *rf_source_totals(source);
		}
		g_cond_broadcast(&p->changed);
	}
	g_mutex_unlock(&p->lock);
	return ok;
}

static gboolean make_futures(struct pool *p, struct rf_source *source, struct rf_futures *futures,
                             GError **error)
{
	for (guint i = 0; i < p->n; i++) {
		struct runner *r = &p->runner[i];
		unsigned shift = rf_machine_page_shift(r->job->machine);

		if (!rf_machine_needs_future(r->job->machine))
			continue;
		if (!rf_futures_add(futures, source, shift, error))
			return FALSE;
		r->size = rf_futures_index(shift);
		r->view = rf_future_view();
		rf_machine_set_future(r->job->machine, r->view);
	}
	return TRUE;
}

gboolean rf_pool_replay(struct rf_source *source, struct rf_pool_job *jobs, guint n,
                        unsigned threads, rf_pool_ended ended, void *self,
                        struct rf_progress *progress, GError **error)
{
	struct pool p = {
		.n = n,
		.left = n,
		.ended = ended,
		.self = self,
		.whole = *rf_source_totals_ahead(source),
		.progress = progress,
	};
	struct rf_futures futures = { 0 };
	g_autoptr(GPtrArray) workers = g_ptr_array_new();
	gboolean ok;

	p.runner = g_new0(struct runner, n);
	for (guint i = 0; i < n; i++)
		p.runner[i].job = &jobs[i];
	for (unsigned i = 0; i < WINDOW; i++)
		p.window[i] = rf_batch_new();
	g_mutex_init(&p.lock);
	g_cond_init(&p.changed);
	ok = make_futures(&p, source, &futures, error);
	if (ok) {
		for (unsigned i = 0; i < MIN(threads, n); i++)
			g_ptr_array_add(workers, g_thread_new("machines", work, &p));
		ok = read_trace(&p, source, &futures, error);
		for (guint i = 0; i < workers->len; i++)
			g_thread_join(workers->pdata[i]);
		if (ok && p.stop) {
			rf_set_interrupted(error);
			ok = FALSE;
		}
	}
	for (guint i = 0; i < n; i++) {
		if (p.runner[i].view && jobs[i].machine)
			rf_machine_set_future(jobs[i].machine, NULL);
		rf_future_free(p.runner[i].view);
	}
	rf_futures_clear(&futures);
	for (unsigned i = 0; i < WINDOW; i++)
		rf_batch_free(p.window[i]);
	g_free(p.runner);
	g_mutex_clear(&p.lock);
	g_cond_clear(&p.changed);
	return ok;
}
