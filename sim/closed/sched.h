/* SPDX-License-Identifier: MIT
 * Tasks on N processors: who runs, who waits, and what time it is for each.
 *
 * Every running task has a time of its own.  The one whose time is smallest goes on, until its time
 * has come to that of the next task or event; so that what tasks do to each other happens in the
 * order of time.  A step in which a task does not ask for the time again (one fault, one system call)
 * is not divided: its effects are there when it began.  Events of the clock come before tasks at the
 * same time, and tasks in the order of their ids.
 *
 * A task waits in the middle of a step with rf_sched_sleep() or rf_sched_block(): others run
 * meanwhile, on the same thread, in a result that only depends on the input.
 */
#ifndef RF_SCHED_H
#define RF_SCHED_H

#include <glib.h>
#include <stdint.h>

#include "sim/clock.h"

/* ORDER what a task waits for; names in sched.c. */
enum rf_wait { RF_WAIT_CPU, RF_WAIT_DEVICE, RF_WAIT_LOCK, RF_WAIT_THROTTLE, RF_WAIT_TIMER, RF_NWAITS };

enum rf_step { RF_STEP_ON, RF_STEP_END, RF_STEP_FAILED };

struct rf_sched;

/* Kept by the caller, zeroed but for id, until rf_sched_run() is over. */
struct rf_stask {
	uint32_t id;
	uint64_t ran;               /* ns on a processor; spinning included */
	uint64_t spun;              /* of it in front of locks */
	uint64_t waited[RF_NWAITS]; /* ns off it, by what for */

	/* sched.c's own */
	unsigned state, cpu;
	uint64_t time;     /* its own, or when it wakes */
	uint64_t since;    /* ran since, waits since */
	uint64_t slice_end;
	enum rf_wait why;
	struct rf_stask *const *holder; /* spins while this one runs */
	struct rf_fiber *fiber; /* put aside in the middle of a step */
	struct rf_stask *next;  /* ready ones */
};

struct rf_sched_setup {
	unsigned ncpus, core_threads; /* processors; those that share a core */
	uint64_t quantum, switch_ns; /* a turn while others wait; what a change of tasks costs */
	struct rf_clock *clock;
	uint64_t *now; /* time of the task or event at hand */
	/* Up to when nobody else has anything to do: where a step should end; soft: a microsecond later
	 * is as good.  Kept up to date while a step runs, but for events that it adds to the clock. */
	uint64_t *until, *soft;
	/* Go on with t: at least something, and no further than *until.  switched: another task had this
	 * processor before. */
	enum rf_step (*step)(void *arg, struct rf_stask *t, gboolean switched);
	/* t, which waits, will never run again but to clean up: let its step come to an end. */
	void (*cancel)(void *arg, struct rf_stask *t);
	void *arg;
};

struct rf_sched *rf_sched_new(const struct rf_sched_setup *setup);
void rf_sched_free(struct rf_sched *s);

/* A task is there, and ready at time when. */
void rf_sched_start(struct rf_sched *s, struct rf_stask *t, uint64_t when);
/* Until all tasks have ended.  FALSE: a step failed, and the others were cancelled. */
gboolean rf_sched_run(struct rf_sched *s);

/* ---- inside a step ---- */

struct rf_stask *rf_sched_current(const struct rf_sched *s); /* NULL: an event's turn */
/* Nobody will do anything before this time. */
uint64_t rf_sched_floor(const struct rf_sched *s);
/* The current task, if there is one, spins for so long; its time is the caller's to move. */
void rf_sched_spun(struct rf_sched *s, uint64_t ns);
uint64_t rf_sched_steps(const struct rf_sched *s); /* so far, the one under way among them */
unsigned rf_sched_cpu(const struct rf_sched *s);             /* of the current task */
gboolean rf_sched_shares_core(const struct rf_sched *s);     /* is another one of its core busy? */
struct rf_stask *rf_sched_running(const struct rf_sched *s, unsigned cpu); /* on it; NULL: idle */
/* Where a stretch of computing must end. */
uint64_t rf_sched_slice_end(const struct rf_sched *s);

/* The current task is off its processor until time when.  FALSE: nobody else ran meanwhile. */
gboolean rf_sched_sleep(struct rf_sched *s, uint64_t when, enum rf_wait why);
/* The same, but nobody else runs meanwhile: only events. */
void rf_sched_sleep_alone(struct rf_sched *s, uint64_t when, enum rf_wait why);
/* Until somebody wakes it.  On its processor as long as *holder runs and its turn lasts; holder NULL:
 * off it at once. */
void rf_sched_block(struct rf_sched *s, struct rf_stask *const *holder, enum rf_wait why);
/* t goes on at time when, which is known now. */
void rf_sched_wake(struct rf_sched *s, struct rf_stask *t, uint64_t when);
/* On its processor until time when. */
void rf_sched_spin(struct rf_sched *s, uint64_t when);
/* A step failed, and what remains are steps that must end. */
gboolean rf_sched_failed(const struct rf_sched *s);
/* Does t sleep or block, off its processor? */
gboolean rf_sched_is_away(const struct rf_stask *t);

/* ---- after rf_sched_run() ---- */

uint64_t rf_sched_end(const struct rf_sched *s); /* when the last task ended */
unsigned rf_sched_ncpus(const struct rf_sched *s);
/* ns that a processor was busy and idle: their sum is rf_sched_end(). */
uint64_t rf_sched_busy(const struct rf_sched *s, unsigned cpu);
uint64_t rf_sched_idle(const struct rf_sched *s, unsigned cpu);
uint64_t rf_sched_switches(const struct rf_sched *s);

#endif
