/* SPDX-License-Identifier: MIT
 * Events in the order of time: processors that become free, tasks that wake, tasks that run on, and
 * the clock's own.  The loop runs on whatever stack is at hand: when a task waits in the middle of a
 * step, its stack is put aside and the loop goes on on another; one that holds nothing but the loop
 * can be left and taken up again at any time.
 */
#include "sim/closed/sched.h"

#include "sim/closed/fiber.h"

#define SOFT 1000 /* ns that a run of hits may be ahead of others */

/* ORDER at the same time. */
enum kind { CPU_FREE, WAKE, RUN };

enum state {
	NEW,
	READY,   /* for a processor */
	RUNNING, /* on one; its time is in the heap, or it is the current one */
	SPINNING,/* on one, until woken */
	AWAY,    /* off it: sleeps, or blocks */
	ENDED,
};

struct entry {
	uint64_t time;
	uint32_t id; /* of the task or the processor */
	enum kind kind;
	struct rf_stask *task;
};

struct cpu {
	struct rf_stask *task, *last; /* last: who had it before */
	uint64_t busy, idle, idle_since;
	gboolean leaving; /* its task has left, at a time to come */
};

struct rf_sched {
	struct rf_sched_setup setup;
	struct cpu *cpu;
	struct entry *heap;
	size_t n, size;
	struct rf_stask *ready, **ready_end;
	unsigned nready, nidle, nspinning, live;
	struct rf_stask *current;
	uint64_t end, switches, steps, floor;
	gboolean failed;
	GPtrArray *aside; /* tasks that wait in the middle of a step */
	struct rf_fiber *root, *at; /* at: the stack that runs */
	GPtrArray *parked, *all;    /* stacks that hold nothing but the loop; all but the root */
};

struct rf_sched *rf_sched_new(const struct rf_sched_setup *setup)
{
	struct rf_sched *s = g_new0(struct rf_sched, 1);

	s->setup = *setup;
	s->cpu = g_new0(struct cpu, setup->ncpus);
	s->nidle = setup->ncpus;
	s->ready_end = &s->ready;
	s->aside = g_ptr_array_new();
	s->parked = g_ptr_array_new();
	s->all = g_ptr_array_new();
	s->root = s->at = rf_fiber_root();
	return s;
}

void rf_sched_free(struct rf_sched *s)
{
	if (!s)
		return;
	for (guint i = 0; i < s->all->len; i++)
		rf_fiber_free(s->all->pdata[i]);
	rf_fiber_free(s->root);
	g_ptr_array_unref(s->aside);
	g_ptr_array_unref(s->parked);
	g_ptr_array_unref(s->all);
	g_free(s->heap);
	g_free(s->cpu);
	g_free(s);
}

/* ---- the heap ---- */

static gboolean earlier(const struct entry *a, const struct entry *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->kind != b->kind ? a->kind < b->kind : a->id < b->id;
}

static void push(struct rf_sched *s, uint64_t time, enum kind kind, uint32_t id, struct rf_stask *t)
{
	const struct entry e = { time, id, kind, t };
	size_t i = s->n++;

	if (s->n > s->size) {
		s->size = MAX(64, s->size * 2);
		s->heap = g_renew(struct entry, s->heap, s->size);
	}
	for (; i && earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = e;
}

static struct entry pop(struct rf_sched *s)
{
	const struct entry top = s->heap[0], last = s->heap[--s->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s->n) {
		if (child + 1 < s->n && earlier(&s->heap[child + 1], &s->heap[child]))
			child++;
		if (!earlier(&s->heap[child], &last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = last;
	return top;
}

/* When the next task or processor has something to do. */
static uint64_t next_of_others(const struct rf_sched *s)
{
	return s->n ? s->heap[0].time : UINT64_MAX;
}

/* ---- processors ---- */

static void place(struct rf_sched *s, unsigned c, struct rf_stask *t, uint64_t now)
{
	struct cpu *cpu = &s->cpu[c];

	t->waited[RF_WAIT_CPU] += now - t->since;
	t->state = RUNNING;
	t->cpu = c;
	t->since = t->time = now;
	cpu->task = t;
	if (cpu->last && cpu->last != t) {
		s->switches++;
		t->time += s->setup.switch_ns;
	}
	t->slice_end = t->time + s->setup.quantum;
	push(s, t->time, RUN, t->id, t);
}

/* The time from when it got its processor, or from the last account, to its own. */
static void account_run(struct rf_sched *s, struct rf_stask *t)
{
	t->ran += t->time - t->since;
	s->cpu[t->cpu].busy += t->time - t->since;
	t->since = t->time;
}

static void append_ready(struct rf_sched *s, struct rf_stask *t)
{
	t->next = NULL;
	*s->ready_end = t;
	s->ready_end = &t->next;
	s->nready++;
}

static struct rf_stask *take_ready(struct rf_sched *s)
{
	struct rf_stask *t = s->ready;

	s->ready = t->next;
	if (!s->ready)
		s->ready_end = &s->ready;
	s->nready--;
	return t;
}

/* Processor c is free at time now: for the one who waits longest, or idle. */
static void give_away(struct rf_sched *s, unsigned c, uint64_t now)
{
	struct cpu *cpu = &s->cpu[c];

	cpu->task = NULL;
	if (s->nready) {
		place(s, c, take_ready(s), now);
		return;
	}
	cpu->idle_since = now;
	s->nidle++;
}

static gboolean spins_on(const struct rf_sched *s, unsigned c)
{
	return s->cpu[c].task && !s->cpu[c].leaving && s->cpu[c].task->state == SPINNING;
}

/* It goes to sleep instead, and its processor is free. */
static void stop_spinning(struct rf_sched *s, unsigned c, uint64_t now)
{
	struct rf_stask *t = s->cpu[c].task;

	now = MAX(now, t->time);
	t->spun += now - t->time;
	t->time = now;
	account_run(s, t);
	t->state = AWAY;
	s->nspinning--;
	s->cpu[c].last = t;
	give_away(s, c, now);
}

/* The task on it leaves at its own time, which others have not reached yet.  Nobody spins for one who
 * sleeps. */
static void leave(struct rf_sched *s, struct rf_stask *t)
{
	struct cpu *cpu = &s->cpu[t->cpu];

	account_run(s, t);
	cpu->last = t;
	cpu->leaving = TRUE;
	push(s, t->time, CPU_FREE, t->cpu, NULL);
	for (unsigned c = 0; s->nspinning && c < s->setup.ncpus; c++)
		if (spins_on(s, c) && *s->cpu[c].task->holder == t)
			stop_spinning(s, c, t->time);
}

/* Somebody who only spins lets another have the processor: it may be the one waited for. */
static void take_from_spinner(struct rf_sched *s, uint64_t now)
{
	for (unsigned c = 0; s->nspinning && c < s->setup.ncpus; c++) {
		if (spins_on(s, c)) {
			stop_spinning(s, c, now);
			return;
		}
	}
}

static gboolean is_idle(const struct rf_sched *s, unsigned c)
{
	return !s->cpu[c].task && !s->cpu[c].leaving;
}

/* Processors of one core are as far from each other as can be: c, c + cores, … */
static gboolean shares_core(const struct rf_sched *s, unsigned c)
{
	const unsigned cores = (s->setup.ncpus + s->setup.core_threads - 1) / s->setup.core_threads;

	for (unsigned other = c % cores; other < s->setup.ncpus; other += cores)
		if (other != c && !is_idle(s, other))
			return TRUE;
	return FALSE;
}

/* One that is idle, of a core that is if there is any; or ncpus. */
static unsigned idle_cpu(const struct rf_sched *s)
{
	unsigned found = s->setup.ncpus;

	for (unsigned c = s->setup.ncpus; s->nidle && c-- > 0; )
		if (is_idle(s, c) && (found == s->setup.ncpus || shares_core(s, found) || !shares_core(s, c)))
			found = c;
	return found;
}

static void make_ready(struct rf_sched *s, struct rf_stask *t, uint64_t now)
{
	const unsigned c = idle_cpu(s);

	t->state = READY;
	t->since = now;
	append_ready(s, t);
	if (c == s->setup.ncpus) {
		take_from_spinner(s, now);
		return;
	}
	s->cpu[c].idle += now - s->cpu[c].idle_since;
	s->nidle--;
	place(s, c, take_ready(s), now);
}

/* ---- stacks ---- */

static void loop(struct rf_sched *s);

static void fiber_main(void *arg)
{
	struct rf_sched *s = arg;

	for (;;) { /* when all is done the root goes on, for good */
		loop(s);
		rf_fiber_switch(s->at, s->root);
	}
}

static void switch_to(struct rf_sched *s, struct rf_fiber *to)
{
	struct rf_fiber *from = s->at;

	s->at = to;
	rf_fiber_switch(from, to);
	s->at = from;
}

/* A stack to go on with; NULL: there is no memory for one. */
static struct rf_fiber *spare_stack(struct rf_sched *s)
{
	struct rf_fiber *f;

	if (s->parked->len)
		return g_ptr_array_remove_index(s->parked, s->parked->len - 1);
	f = rf_fiber_new(fiber_main, s);
	if (f)
		g_ptr_array_add(s->all, f);
	return f;
}

/* The current task's step stands still until the loop comes back to it. */
static void put_aside(struct rf_sched *s)
{
	struct rf_stask *t = s->current;
	struct rf_fiber *f = spare_stack(s);

	if (!f)
		g_error("no memory for the stack of a task that waits");
	t->fiber = s->at;
	g_ptr_array_add(s->aside, t);
	s->current = NULL;
	switch_to(s, f);
}

/* From the loop to a step that was put aside. */
static void take_up(struct rf_sched *s, struct rf_stask *t)
{
	struct rf_fiber *f = t->fiber;

	t->fiber = NULL;
	g_ptr_array_remove_fast(s->aside, t);
	g_ptr_array_add(s->parked, s->at);
	switch_to(s, f);
}

/* ---- waiting ---- */

static void set_limits(struct rf_sched *s)
{
	uint64_t others = next_of_others(s), clock = rf_clock_next(s->setup.clock);

	*s->setup.until = MIN(others, clock);
	*s->setup.soft = MIN(others > UINT64_MAX - SOFT ? others : others + SOFT, clock);
	if (s->nready && s->current)
		*s->setup.soft = MIN(*s->setup.soft, s->current->slice_end);
}

/* Back from put_aside(): the loop chose this task, or all are being cancelled. */
static void back(struct rf_sched *s, struct rf_stask *t)
{
	s->current = t;
	*s->setup.now = s->floor = t->time;
	set_limits(s);
}

void rf_sched_sleep_alone(struct rf_sched *s, uint64_t when, enum rf_wait why)
{
	struct rf_stask *t = s->current;
	uint64_t began = *s->setup.now;

	if (when > began) {
		t->time = began;
		account_run(s, t);
		t->waited[why] += when - began;
		s->cpu[t->cpu].idle += when - began;
		t->since = t->time = *s->setup.now = when;
	}
	if (rf_clock_next(s->setup.clock) <= *s->setup.now)
		rf_clock_run(s->setup.clock, s->setup.now);
	set_limits(s);
}

gboolean rf_sched_sleep(struct rf_sched *s, uint64_t when, enum rf_wait why)
{
	struct rf_stask *t = s->current;

	/* With nobody to run meanwhile time just passes. */
	if (s->failed || (!s->nready && next_of_others(s) > when)) {
		rf_sched_sleep_alone(s, when, why);
		return FALSE;
	}
	t->time = *s->setup.now;
	when = MAX(when, t->time);
	leave(s, t);
	t->state = AWAY;
	t->why = why;
	push(s, when, WAKE, t->id, t);
	put_aside(s);
	back(s, t);
	return TRUE;
}

void rf_sched_block(struct rf_sched *s, struct rf_stask *const *holder, enum rf_wait why)
{
	struct rf_stask *t = s->current;

	if (s->failed)
		return;
	t->time = *s->setup.now;
	t->why = why;
	if (holder && *holder && !rf_sched_is_away(*holder) && (!s->nready || t->time < t->slice_end)) {
		t->holder = holder;
		t->state = SPINNING;
		s->nspinning++;
	} else {
		leave(s, t);
		t->state = AWAY;
	}
	put_aside(s);
	back(s, t);
}

void rf_sched_spin(struct rf_sched *s, uint64_t when)
{
	struct rf_stask *t = s->current;
	uint64_t began = *s->setup.now;

	if (when <= began)
		return;
	t->spun += when - began;
	t->time = *s->setup.now = when;
	if (s->failed || MIN(next_of_others(s), rf_clock_next(s->setup.clock)) > when)
		return;
	push(s, when, RUN, t->id, t);
	put_aside(s);
	back(s, t);
}

void rf_sched_spun(struct rf_sched *s, uint64_t ns)
{
	if (s->current)
		s->current->spun += ns;
}

void rf_sched_wake(struct rf_sched *s, struct rf_stask *t, uint64_t when)
{
	if (s->failed)
		return;
	if (t->state == SPINNING) {
		when = MAX(when, t->time);
		t->spun += when - t->time;
		t->time = when;
		t->state = RUNNING;
		s->nspinning--;
		push(s, when, RUN, t->id, t);
	} else {
		g_assert(t->state == AWAY);
		push(s, MAX(when, t->since), WAKE, t->id, t);
	}
	set_limits(s);
}

gboolean rf_sched_is_away(const struct rf_stask *t)
{
	return t->state == AWAY || t->state == READY;
}

/* ---- the loop ---- */

void rf_sched_start(struct rf_sched *s, struct rf_stask *t, uint64_t when)
{
	t->state = AWAY;
	t->why = RF_WAIT_TIMER;
	t->since = when;
	s->live++;
	push(s, when, WAKE, t->id, t);
	set_limits(s);
}

static void ended(struct rf_sched *s, struct rf_stask *t)
{
	t->state = ENDED;
	s->live--;
	s->end = MAX(s->end, t->time);
	leave(s, t);
}

static void run_task(struct rf_sched *s, struct rf_stask *t)
{
	gboolean switched = FALSE;

	if (t->time >= t->slice_end) {
		if (s->nready) {
			account_run(s, t);
			s->cpu[t->cpu].last = t;
			t->state = READY;
			append_ready(s, t);
			give_away(s, t->cpu, t->time);
			return;
		}
		t->slice_end = t->time + s->setup.quantum;
	}
	s->current = t;
	s->steps++;
	*s->setup.now = s->floor = t->time;
	if (t->fiber) {
		take_up(s, t); /* comes back when somebody needs this stack, for whatever */
		return;
	}
	set_limits(s);
	if (s->cpu[t->cpu].last != t) {
		switched = s->cpu[t->cpu].last != NULL;
		s->cpu[t->cpu].last = t;
	}
	enum rf_step step = s->setup.step(s->setup.arg, t, switched);

	/* Perhaps on another stack than before, and at another time. */
	s->current = NULL;
	t->time = *s->setup.now;
	if (step == RF_STEP_FAILED || s->failed)
		s->failed = TRUE;
	else if (step == RF_STEP_END)
		ended(s, t);
	else
		push(s, t->time, RUN, t->id, t);
}

static void take_entry(struct rf_sched *s)
{
	const struct entry e = pop(s);

	switch (e.kind) {
	case CPU_FREE:
		s->cpu[e.id].leaving = FALSE;
		give_away(s, e.id, e.time);
		break;
	case WAKE:
		e.task->waited[e.task->why] += e.time - e.task->since;
		make_ready(s, e.task, e.time);
		break;
	case RUN:
		run_task(s, e.task);
		break;
	}
}

/* A step failed: those that are in the middle of one must come to its end, for what they hold. */
static void cancel_next(struct rf_sched *s)
{
	struct rf_stask *t = s->aside->pdata[0];

	s->setup.cancel(s->setup.arg, t);
	t->time = *s->setup.now;
	s->current = t;
	take_up(s, t);
}

static void loop(struct rf_sched *s)
{
	for (;;) {
		if (s->failed) {
			if (!s->aside->len)
				return;
			cancel_next(s);
		} else if (!s->live) {
			return;
		} else if (rf_clock_next(s->setup.clock) <= next_of_others(s)) {
			g_assert(s->n); /* else all tasks wait for each other */
			*s->setup.now = s->floor = rf_clock_next(s->setup.clock);
			rf_clock_run(s->setup.clock, s->setup.now);
		} else {
			take_entry(s);
		}
	}
}

gboolean rf_sched_run(struct rf_sched *s)
{
	loop(s);
	if (s->at != s->root) /* cannot be: whoever is elsewhere switches to the root */
		g_assert_not_reached();
	while (s->n && !s->failed) /* processors that their last task leaves */
		take_entry(s);
	for (unsigned c = 0; c < s->setup.ncpus; c++)
		s->cpu[c].idle += s->end - MIN(s->cpu[c].idle_since, s->end);
	*s->setup.now = s->end;
	return !s->failed;
}

/* ---- what others ask ---- */

uint64_t rf_sched_floor(const struct rf_sched *s) { return s->floor; }
uint64_t rf_sched_steps(const struct rf_sched *s) { return s->steps; }
gboolean rf_sched_failed(const struct rf_sched *s) { return s->failed; }
struct rf_stask *rf_sched_current(const struct rf_sched *s) { return s->current; }
unsigned rf_sched_cpu(const struct rf_sched *s) { return s->current ? s->current->cpu : 0; }
gboolean rf_sched_shares_core(const struct rf_sched *s)
{
	return s->current && shares_core(s, s->current->cpu);
}

struct rf_stask *rf_sched_running(const struct rf_sched *s, unsigned cpu)
{
	return s->cpu[cpu].leaving ? NULL : s->cpu[cpu].task;
}
uint64_t rf_sched_slice_end(const struct rf_sched *s) { return s->current->slice_end; }
uint64_t rf_sched_end(const struct rf_sched *s) { return s->end; }
unsigned rf_sched_ncpus(const struct rf_sched *s) { return s->setup.ncpus; }
uint64_t rf_sched_busy(const struct rf_sched *s, unsigned cpu) { return s->cpu[cpu].busy; }
uint64_t rf_sched_idle(const struct rf_sched *s, unsigned cpu) { return s->cpu[cpu].idle; }
uint64_t rf_sched_switches(const struct rf_sched *s) { return s->switches; }
