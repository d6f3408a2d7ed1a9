/* SPDX-License-Identifier: MIT */
#include "sim/closed/lock.h"

#include "sim/closed/sched.h"

/* ORDER enum rf_lock_kind. */
const char *const rf_lock_names[RF_NLOCKS] = { "mmap_lock", "vrange_lock", "lru_lock", "swap_lock" };

/* On the stack of the task that waits. */
struct rf_lock_waiter {
	struct rf_stask *task;
	enum rf_lock_mode mode;
	gboolean has_it; /* or was promised it */
	gboolean woken;  /* slept, and comes to look whether it is free */
	struct rf_lock_waiter *next;
};

static gboolean exclusive(enum rf_lock_mode mode)
{
	return mode == RF_LOCK_EXCLUSIVE;
}

/* When a lock that nobody has, or has been promised, is free for mode. */
static uint64_t free_at(const struct rf_lock *l, enum rf_lock_mode mode)
{
	switch (mode) {
	case RF_LOCK_EXCLUSIVE:
		return MAX(l->free, l->free_shared);
	case RF_LOCK_SHARED:
		return l->free;
	case RF_LOCK_SHARED_PART:
		return 0;
	}
	return 0;
}

/* Must it be waited for until somebody says so?  Where waiters spin, whoever is awake may overtake
 * those that sleep. */
static gboolean must_queue(const struct rf_lock *l, enum rf_lock_mode mode)
{
	if (mode == RF_LOCK_SHARED_PART)
		return l->entered && rf_sched_is_away(l->writer);
	if (exclusive(mode) && l->costs->spins)
		return l->writer || l->readers;
	return l->writer || l->first || (exclusive(mode) && l->readers);
}

gboolean rf_lock_is_busy(const struct rf_lock *l, uint64_t now, enum rf_lock_mode mode)
{
	return must_queue(l, mode) || free_at(l, mode) > now;
}

static void own(struct rf_lock *l, enum rf_lock_mode mode, struct rf_stask *t)
{
	if (exclusive(mode))
		l->writer = t;
	else
		l->readers++;
}

static void leave_queue(struct rf_lock *l, struct rf_lock_waiter *w)
{
	struct rf_lock_waiter **at = &l->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

static void promise(struct rf_lock *l, struct rf_sched *s, struct rf_lock_waiter *w)
{
	uint64_t when = free_at(l, w->mode);

	when += rf_sched_is_away(w->task) ? l->costs->sleep_handoff : l->costs->spin_handoff;
	leave_queue(l, w);
	own(l, w->mode, w->task);
	w->has_it = TRUE;
	rf_sched_wake(s, w->task, when);
}

/* Who wants it for itself and slept, at the head of the queue of a lock whose waiters spin: one that
 * spins is quicker, and until the sleeper is awake anybody may be. */
static void hand_over_awake(struct rf_lock *l, struct rf_sched *s)
{
	struct rf_lock_waiter *head = l->first;

	for (struct rf_lock_waiter *w = head; w; w = w->next) {
		if (exclusive(w->mode) && !w->woken && !rf_sched_is_away(w->task)) {
			promise(l, s, w);
			return;
		}
	}
	if (head->woken)
		return;
	head->woken = TRUE;
	rf_sched_wake(s, head->task, free_at(l, head->mode) + l->costs->sleep_handoff);
}

/* The lock is free, or will be: it is promised to the first in the queue, and to those behind it that
 * share. */
static void hand_over(struct rf_lock *l, struct rf_sched *s)
{
	while (l->first) {
		struct rf_lock_waiter *w = l->first;

		if (l->writer || (exclusive(w->mode) && l->readers))
			return;
		if (exclusive(w->mode) && l->costs->spins) {
			hand_over_awake(l, s);
			return;
		}
		promise(l, s, w);
	}
}

static void wait_until_free(struct rf_lock *l, struct rf_sched *s, uint64_t now, enum rf_lock_mode mode)
{
	uint64_t when = free_at(l, mode);

	if (when <= now)
		return;
	if (l->costs->spins)
		rf_sched_spin(s, when + l->costs->spin_handoff);
	else
		rf_sched_sleep(s, when + l->costs->sleep_handoff, RF_WAIT_LOCK);
}

static void wait_in_queue(struct rf_lock *l, struct rf_sched *s, const uint64_t *now, enum rf_lock_mode mode)
{
	struct rf_lock_waiter w = { .task = rf_sched_current(s), .mode = mode };
	struct rf_lock_waiter **end = &l->first;

	while (*end)
		end = &(*end)->next;
	*end = &w;
	for (;;) {
		rf_sched_block(s, l->costs->spins ? &l->writer : NULL, RF_WAIT_LOCK);
		if (w.has_it || rf_sched_failed(s))
			return;
		w.woken = FALSE;
		if (must_queue(l, mode))
			continue;
		leave_queue(l, &w);
		own(l, mode, w.task);
		wait_until_free(l, s, *now, mode);
		return;
	}
}

/* The lock is the current task's, now or at a time that is known or will be. */
static void wait_for(struct rf_lock *l, struct rf_sched *s, const uint64_t *now, enum rf_lock_mode mode)
{
	if (must_queue(l, mode)) {
		wait_in_queue(l, s, now, mode);
		return;
	}
	own(l, mode, rf_sched_current(s));
	wait_until_free(l, s, *now, mode);
}

void rf_lock_take(struct rf_lock *l, struct rf_sched *s, uint64_t *now, enum rf_lock_mode mode)
{
	uint64_t asked = *now;

	l->stats->taken++;
	if (s)
		wait_for(l, s, now, mode);
	if (*now > asked) {
		l->stats->contended++;
		l->stats->waited += *now - asked;
		l->stats->waited_max = MAX(l->stats->waited_max, *now - asked);
	}
	if (exclusive(mode)) {
		l->since = *now;
		l->entered = TRUE;
	}
}

void rf_lock_drop(struct rf_lock *l, struct rf_sched *s, uint64_t now, enum rf_lock_mode mode)
{
	if (exclusive(mode)) {
		l->stats->held += now - l->since;
		l->entered = FALSE;
		l->writer = NULL;
		l->free = MAX(l->free, now);
	} else if (s) {
		l->readers--;
		if (mode == RF_LOCK_SHARED)
			l->free_shared = MAX(l->free_shared, now);
	}
	if (s && !rf_sched_failed(s))
		hand_over(l, s);
}

void rf_line_clear(struct rf_line *l)
{
	g_clear_pointer(&l->cpu, g_free);
	l->n = 0;
}

unsigned rf_line_write(struct rf_line *l, const struct rf_sched *s)
{
	struct rf_line_writer *me;
	unsigned ncpus;

	if (!s)
		return 0;
	ncpus = rf_sched_ncpus(s);
	if (!l->cpu)
		l->cpu = g_new0(struct rf_line_writer, ncpus);
	me = &l->cpu[rf_sched_cpu(s)];
	if (me->step != rf_sched_steps(s)) {
		me->step = rf_sched_steps(s);
		me->others = 0;
		for (unsigned c = 0; me->last && c < ncpus; c++)
			me->others += l->cpu[c].last > me->last;
	}
	me->last = ++l->n;
	return me->others;
}
