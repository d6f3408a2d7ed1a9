/* SPDX-License-Identifier: MIT
 * Closed replay: every task of the trace is a stream of its own on N processors.  It computes, waits
 * for devices, locks and a processor, and others go on.
 *
 * What the machine keeps for the task at hand (who it is, what it has pinned, the lock it faults
 * under, the stall it is in) is put aside with it whenever others may run.  Inside reclaim nobody
 * does: a policy is never entered twice.
 */
#include "sim/model/model.h"

#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "sim/progress.h"
#include "traces/streams.h"

/* A task of the trace, from its start to the end of its stream. */
struct stream_task {
	struct rf_stask s;
	uint32_t stream;
	gboolean exited;
	struct task *task;
	struct rf_stream_item it;
	gboolean has;      /* it holds an item, of which pos runs are done */
	uint32_t pos;
	uint64_t at; /* the last bound of time that it met */
	uint64_t think, think_step;
};

/* The number of a task is free for another one, the heir, when it has exited. */
struct number {
	gboolean free;
	struct rf_stask *heir;
};

struct closed {
	struct rf_model *m;
	struct rf_source *source;
	struct rf_streams *streams;
	struct rf_progress *progress;
	GPtrArray *tasks;     /* of struct stream_task, as they started */
	GArray *numbers;      /* struct number, by stream */
	GHashTable *unnamed;  /* address space → struct name: entries that wait for it */
	uint64_t nunnamed;
	GError *error;
};

struct name {
	uint32_t id;
	uint64_t vpn;
};

/* ---- waiting ---- */

static void put_aside(struct rf_model *m, struct waiting *w)
{
	w->current = m->current;
	w->locked = m->locked;
	w->npinned = m->npinned;
	memcpy(w->pinned, m->pinned, sizeof w->pinned);
	w->stall_began = m->stall_began;
	w->prev = NULL;
	w->next = m->waiting;
	if (w->next)
		w->next->prev = w;
	m->waiting = w;
	m->locked = NULL;
	m->npinned = 0;
	m->stall_began = 0;
}

static void take_up(struct rf_model *m, struct waiting *w)
{
	*(w->prev ? &w->prev->next : &m->waiting) = w->next;
	if (w->next)
		w->next->prev = w->prev;
	m->current = w->current;
	m->locked = w->locked;
	m->npinned = w->npinned;
	memcpy(m->pinned, w->pinned, sizeof w->pinned);
	m->stall_began = w->stall_began;
}

void closed_wait(struct rf_model *m, uint64_t when, uint64_t *account)
{
	const enum rf_wait why = account == &m->time_io ? RF_WAIT_DEVICE :
	                         account == &m->time_throttle ? RF_WAIT_THROTTLE : RF_WAIT_TIMER;
	struct space *locked = m->locked;
	const gboolean unlock = locked && why == RF_WAIT_DEVICE;
	struct waiting w;

	if (when > m->host.now)
		*account += when - m->host.now;
	if (m->in_reclaim) {
		rf_sched_sleep_alone(m->sched, when, why);
		return;
	}
	if (unlock)
		fault_unlock(m);
	else if (locked)
		locked->asleep++;
	put_aside(m, &w);
	m->sleeps += rf_sched_sleep(m->sched, when, why);
	take_up(m, &w);
	if (unlock)
		fault_lock(m, locked);
	else if (locked)
		locked->asleep--;
}

/* ---- locks ---- */

void lock_take(struct rf_model *m, struct rf_lock *l, enum rf_lock_mode mode)
{
	struct waiting w;

	if (m->closed && rf_lock_is_busy(l, m->host.now, mode)) {
		put_aside(m, &w);
		rf_lock_take(l, m->sched, &m->host.now, mode);
		m->sleeps++;
		take_up(m, &w);
	} else if (m->closed) {
		rf_lock_take(l, m->sched, &m->host.now, mode);
	}
	if (m->closed && l->costs->line && mode != RF_LOCK_SHARED_PART)
		spend(m, rf_line_write(&l->line, m->sched) * l->costs->line, &m->time_access);
	if (mode == RF_LOCK_EXCLUSIVE)
		spend(m, l->costs->hold, &m->time_access);
}

void lock_drop(struct rf_model *m, struct rf_lock *l, enum rf_lock_mode mode)
{
	if (m->closed)
		rf_lock_drop(l, m->sched, m->host.now, mode);
}

void mmap_lock_take(struct rf_model *m, struct space *s, enum rf_lock_mode mode)
{
	lock_take(m, &s->mmap_lock, mode);
	if (mode == RF_LOCK_EXCLUSIVE) {
		s->changes++;
		s->changing = TRUE;
	} else {
		wait_for_faults(m, s);
	}
}

void mmap_lock_drop(struct rf_model *m, struct space *s, enum rf_lock_mode mode)
{
	if (mode == RF_LOCK_EXCLUSIVE)
		s->changing = FALSE;
	lock_drop(m, &s->mmap_lock, mode);
}

/* Since 6.4 a fault locks its mapping alone. */
static enum rf_lock_mode fault_mode(const struct rf_model *m)
{
	return m->cfg.kernel_release >= RF_KERNEL(6, 4, 0) ? RF_LOCK_SHARED_PART : RF_LOCK_SHARED;
}

void fault_lock(struct rf_model *m, struct space *s)
{
	if (!m->closed)
		return;
	lock_take(m, &s->mmap_lock, fault_mode(m));
	m->locked = s;
}

void fault_unlock(struct rf_model *m)
{
	if (!m->locked)
		return;
	lock_drop(m, &m->locked->mmap_lock, fault_mode(m));
	m->locked = NULL;
}

#define LOOK_AGAIN 10000 /* ns */

void wait_for_faults(struct rf_model *m, struct space *s)
{
	uint64_t unaccounted = 0;

	while (s->asleep && m->closed && !rf_sched_failed(m->sched))
		wait_until(m, m->host.now + LOOK_AGAIN, &unaccounted);
}

/* ---- what the streams tell ahead of time ---- */

void closed_space(struct rf_model *m, struct space *s)
{
	struct closed *c = m->closed;
	GArray *names;

	if (!c)
		return;
	names = g_hash_table_lookup(c->unnamed, GUINT_TO_POINTER(s->id));
	if (!names)
		return;
	for (guint i = 0; i < names->len; i++) {
		const struct name *n = &g_array_index(names, struct name, i);

		m->map[n->id] = entry_get(m, s, n->vpn);
	}
	c->nunnamed -= names->len;
	g_hash_table_remove(c->unnamed, GUINT_TO_POINTER(s->id));
}

void closed_name(struct rf_model *m, uint32_t id, uint32_t space, uint64_t vpn)
{
	struct closed *c = m->closed;
	GArray *names = g_hash_table_lookup(c->unnamed, GUINT_TO_POINTER(space));
	const struct name n = { id, vpn };

	if (!names) {
		names = g_array_new(FALSE, FALSE, sizeof(struct name));
		g_hash_table_insert(c->unnamed, GUINT_TO_POINTER(space), names);
	}
	g_array_append_val(names, n);
	m->map[id] = UINT32_MAX;
	c->nunnamed++;
}

static gboolean ahead(void *arg, const struct rf_item *item, GError **error)
{
	struct closed *c = arg;

	if (item->kind == RF_ITEM_PAGES)
		return pages_item(c->m, item, error);
	return event_item(c->m, &item->event, error);
}

/* A broken trace may have a task access what is another's. */
static gboolean check_names(const struct closed *c, const struct rf_item *item, GError **error)
{
	for (uint32_t i = 0; c->nunnamed && i < item->runs.n; i++) {
		if (c->m->map[item->runs.page[i]] != UINT32_MAX)
			continue;
		rf_set_data(error, "record %" G_GUINT64_FORMAT ": task %u accesses a page of an address space that "
		            "is not there yet", item->record + i, item->runs.tid);
		return FALSE;
	}
	return TRUE;
}

/* ---- items ---- */

static gboolean next_item(struct closed *c, struct stream_task *t)
{
	if (!rf_streams_next(c->streams, t->stream, &t->it, &c->error))
		return FALSE;
	t->has = TRUE;
	t->pos = 0;
	if (t->it.item.kind == RF_ITEM_RUNS && !check_names(c, &t->it.item, &c->error))
		return FALSE;
	if (c->progress)
		rf_progress_update(c->progress, rf_source_progress(c->source), c->m->accesses);
	if (t->it.not_before > t->at) {
		uint64_t idle = 0;

		t->at = t->it.not_before;
		event_counts(c->m, RF_EV_AT);
		wait_until(c->m, MIN(t->it.not_before, UINT64_MAX / 4), &idle);
	}
	return TRUE;
}

static struct number *number_of(struct closed *c, uint32_t stream)
{
	if (stream >= c->numbers->len)
		g_array_set_size(c->numbers, stream + 1);
	return &g_array_index(c->numbers, struct number, stream);
}

static void wait_for_number(struct closed *c, struct stream_task *t, uint32_t previous)
{
	struct rf_model *m = c->m;
	struct waiting w;

	if (previous == RF_NO_STREAM || number_of(c, previous)->free)
		return;
	number_of(c, previous)->heir = &t->s;
	put_aside(m, &w);
	rf_sched_block(m->sched, NULL, RF_WAIT_TIMER);
	take_up(m, &w);
}

static void give_number_up(struct closed *c, uint32_t stream)
{
	struct number *n = number_of(c, stream);

	n->free = TRUE;
	if (n->heir)
		rf_sched_wake(c->m->sched, n->heir, c->m->host.now);
	n->heir = NULL;
}

static void start_child(struct closed *c, uint32_t child, uint32_t tid)
{
	struct stream_task *t = g_new0(struct stream_task, 1);

	t->s.id = tid;
	t->stream = child;
	t->task = task_find(c->m, tid);
	g_ptr_array_add(c->tasks, t);
	rf_sched_start(c->m->sched, &t->s, c->m->host.now);
}

static gboolean run_event(struct closed *c, struct stream_task *t)
{
	struct rf_model *m = c->m;
	const struct rf_event *ev = &t->it.item.event;
	const uint32_t tid = ev->tid, child = t->it.child;

	if (ev->kind == RF_EV_THINK) {
		event_counts(m, RF_EV_THINK);
		t->think = MIN(ev->len, UINT64_MAX / 4);
		t->think_step = t->think >> 10;
		return TRUE;
	}
	if (ev->kind == RF_EV_TASK)
		wait_for_number(c, t, t->it.previous);
	if (rf_sched_failed(m->sched))
		return FALSE;
	if (!take_event(m, &t->it.item, &c->error))
		return FALSE;
	if (ev->kind == RF_EV_TASK) {
		start_child(c, child, tid);
	} else if (ev->kind == RF_EV_EXIT) {
		give_number_up(c, t->stream);
	}
	return TRUE;
}

/* A stretch of computing: to the end of its turn, but a long one is not cut into ever so many. */
static void compute(struct rf_model *m, struct stream_task *t)
{
	uint64_t now = m->host.now, end = rf_sched_slice_end(m->sched);
	uint64_t ns = MIN(t->think, MAX(end - MIN(end, now), MAX(t->think_step, 1)));

	t->think -= ns;
	spend(m, ns, &m->time_access);
}

/* Part of an item at least.  FALSE: it can't be. */
static gboolean go_on(struct closed *c, struct stream_task *t)
{
	struct rf_model *m = c->m;

	if (t->think) {
		compute(m, t);
		return TRUE;
	}
	if (!t->has && !next_item(c, t))
		return FALSE;
	if (t->it.item.kind == RF_ITEM_RUNS) {
		if (!runs_item(m, &t->it.item, &t->pos, &c->error))
			return FALSE;
		t->has = t->pos < t->it.item.runs.n;
	} else if (t->it.item.kind == RF_ITEM_EVENT) {
		if (!run_event(c, t))
			return FALSE;
		t->has = FALSE;
	}
	return TRUE;
}

static enum rf_step step(void *arg, struct rf_stask *s, gboolean switched)
{
	struct closed *c = arg;
	struct rf_model *m = c->m;
	struct stream_task *t = (struct stream_task *)s;

	if (switched && m->cfg.tlb_entries)
		tlb_flush(m);
	do {
		if (rf_interrupted()) {
			rf_set_interrupted(&c->error);
			return RF_STEP_FAILED;
		}
		if (!go_on(c, t))
			return RF_STEP_FAILED;
		if (t->has && t->it.item.kind == RF_ITEM_END)
			return RF_STEP_END;
#ifdef RF_CHECKED
		if (!m->waiting && (m->checked < 256 || m->checked % 64 == 0))
			rf_model_check(m);
		m->checked++;
#endif
	} while (m->host.now < m->until && m->host.now < rf_clock_next(m->clock) &&
	         m->host.now < rf_sched_slice_end(m->sched));
	return RF_STEP_ON;
}

/* Whoever is in the middle of something gives up as if it had been killed. */
static void cancel(void *arg, struct rf_stask *s)
{
	struct stream_task *t = (struct stream_task *)s;

	(void)arg;
	t->task->alive = FALSE;
}

/* What stands before the first task, and its start: at once, by nobody. */
static gboolean beginning(struct closed *c)
{
	struct rf_model *m = c->m;
	struct rf_stream_item it;
	uint64_t idle = 0;

	for (;;) {
		if (!rf_streams_next(c->streams, 0, &it, &c->error))
			return FALSE;
		if (it.item.kind == RF_ITEM_END)
			return TRUE;
		wait_until(m, MIN(it.not_before, UINT64_MAX / 4), &idle);
		if (!take_event(m, &it.item, &c->error))
			return FALSE;
		if (it.item.event.kind == RF_EV_TASK)
			start_child(c, it.child, it.item.event.tid);
		if (rf_clock_next(m->clock) <= m->host.now)
			rf_clock_run(m->clock, &m->host.now);
	}
}

/* ---- the whole ---- */

gboolean rf_model_closed(struct rf_model *m, struct rf_source *source, struct rf_progress *progress, GError **error)
{
	struct closed *c = g_new0(struct closed, 1);
	const struct rf_sched_setup setup = {
		.ncpus = (unsigned)m->cfg.cpus, .core_threads = (unsigned)m->profile.core_threads,
		.quantum = MAX(m->profile.quantum, 1), .switch_ns = m->profile.context_switch, .clock = m->clock,
		.now = &m->host.now, .until = &m->until, .soft = &m->soft,
		.step = step, .cancel = cancel, .arg = c,
	};
	gboolean ok;

	c->m = m;
	c->source = source;
	c->progress = progress;
	c->streams = rf_streams_new(source, RF_STREAMS_MEMORY, ahead, c);
	c->tasks = g_ptr_array_new_with_free_func(g_free);
	c->numbers = g_array_new(FALSE, TRUE, sizeof(struct number));
	c->unnamed = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	m->closed = c;
	m->cfg.strict = FALSE; /* what was in order in the trace may not be here: a thread can be faster */
	m->sched = rf_sched_new(&setup);
	ok = beginning(c) && rf_sched_run(m->sched);
	for (guint i = 0; i < c->tasks->len; i++) {
		struct stream_task *t = c->tasks->pdata[i];

		t->task->ran = t->s.ran;
		t->task->spun = t->s.spun;
		memcpy(t->task->waited, t->s.waited, sizeof t->s.waited);
	}
	if (!ok)
		g_propagate_error(error, c->error);
	rf_streams_free(c->streams);
	g_ptr_array_unref(c->tasks); /* the scheduler is done with them */
	g_array_unref(c->numbers);
	g_hash_table_unref(c->unnamed);
	g_free(c);
	m->closed = NULL;
	m->until = m->soft = UINT64_MAX;
	return ok;
}

unsigned closed_others(const struct rf_model *m, const struct space *s)
{
	unsigned n = 0;

	for (unsigned c = 0; c < rf_sched_ncpus(m->sched); c++) {
		const struct stream_task *t = (const struct stream_task *)rf_sched_running(m->sched, c);

		n += t && &t->s != rf_sched_current(m->sched) && t->task->space == s->id;
	}
	return n;
}

void closed_gauges(struct rf_model *m, struct rf_result *out)
{
	uint64_t *g = out->gauge;

	for (unsigned i = 0; m->sched && i < rf_sched_ncpus(m->sched); i++) {
		const struct rf_cpu_result cpu = { rf_sched_busy(m->sched, i), rf_sched_idle(m->sched, i) };

		g_array_append_val(out->cpus, cpu);
		g[RF_G_rf_cpu_busy] += cpu.busy;
		g[RF_G_rf_cpu_idle] += cpu.idle;
	}
	g[RF_G_rf_switches] = m->sched ? rf_sched_switches(m->sched) : 0;
	for (guint i = 0; i < m->task_order->len; i++)
		g[RF_G_rf_time_queue] += ((struct task *)m->task_order->pdata[i])->waited[RF_WAIT_CPU];
	for (unsigned i = 0; i < RF_NLOCKS; i++) {
		const struct rf_lock_stats *s = &m->lock_stats[i];
		const struct rf_lock_result lock = { rf_lock_names[i], s->taken, s->contended, s->waited,
			                             s->waited_max, s->held };

		g[RF_G_rf_time_lock] += s->waited;
		g[RF_G_rf_lock_contended] += s->contended;
		if (s->taken)
			g_array_append_val(out->locks, lock);
	}
}
