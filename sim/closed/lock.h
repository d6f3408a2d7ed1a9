/* SPDX-License-Identifier: MIT
 * Locks as resources with queues, and shared cache lines.
 *
 * A lock has a holder in simulated time: its section is carried out when it begins, and tells the lock
 * with rf_lock_drop() when it ends, which may be later than the time of whoever asks next.  That one
 * waits, in the order of arrival, and gets the lock when it is free and handed over: at once by a
 * processor that spins, or after a sleeper was woken, which takes much longer and leaves the lock
 * idle meanwhile: the convoy that makes throughput independent of the number of tasks.  Where waiters
 * spin there is none: a sleeper is woken to try, and whoever is awake may have taken the lock before.
 *
 * Without a scheduler (ordered replay) there is nobody else: everything is free.
 */
#ifndef RF_LOCK_H
#define RF_LOCK_H

#include <glib.h>
#include <stdint.h>

struct rf_sched;
struct rf_stask;

/* A cache line that processors write: a counter.  What it costs grows with the number of processors
 * that wrote it since this one did.  Nobody else runs within a step: there the others are taken to go
 * on as they did before it. */
struct rf_line {
	uint64_t n;
	struct rf_line_writer {
		uint64_t last, step; /* the number of its last write, and when that was */
		unsigned others;     /* had written before that */
	} *cpu;
};

void rf_line_clear(struct rf_line *l);
/* The current task's processor writes it: how many others have since it did so last.  0 without a
 * scheduler, and the first time. */
unsigned rf_line_write(struct rf_line *l, const struct rf_sched *s);

/* ORDER kinds: their options in profile.c, names in lock.c. */
enum rf_lock_kind {
	RF_LOCK_MMAP,   /* of an address space (mmap_sem) */
	RF_LOCK_VRANGE, /* of the purgeable ranges of an address space, where they have one */
	RF_LOCK_LRU,    /* of lists of pages, as the next a spinlock (spin.h) */
	RF_LOCK_SWAP,   /* of swap slots */
	RF_NLOCKS
};
extern const char *const rf_lock_names[RF_NLOCKS]; /* "mmap_lock" */

/* What a kind costs, as the machine profile has it. */
struct rf_lock_costs {
	uint64_t hold;          /* ns of an exclusive section beyond its work; of a spinlock, for each page */
	uint64_t spin_handoff;  /* ns from one holder to the next, who spins */
	uint64_t sleep_handoff; /* the same, to one who sleeps */
	uint64_t line;          /* ns to take it, for each other processor that did since */
	uint64_t waiter;        /* of a spinlock: ns more from one to the next, for each other that waits */
	gboolean spins;         /* do waiters spin while the holder runs?  A spinlock's always do. */
};

/* Of all locks of a kind. */
struct rf_lock_stats {
	uint64_t taken, contended;
	uint64_t waited, waited_max; /* ns, hand-over included */
	uint64_t held;               /* ns: exclusive sections */
};

enum rf_lock_mode {
	RF_LOCK_SHARED,
	RF_LOCK_EXCLUSIVE,
	RF_LOCK_SHARED_PART, /* of something else than what exclusive holders change: waits for those
	                        alone that sleep with it */
};

struct rf_lock_waiter;

/* Zeroed, then given its kind. */
struct rf_lock {
	const struct rf_lock_costs *costs;
	struct rf_lock_stats *stats;
	unsigned readers;           /* that have it, or were promised it */
	struct rf_stask *writer;    /* the same */
	gboolean entered;           /* the writer has it */
	uint64_t since;             /* the writer's section began */
	uint64_t free, free_shared; /* when the last exclusive, the last shared section ends */
	struct rf_lock_waiter *first;
	struct rf_line line; /* whatever mode: its count is written */
};

static inline void rf_lock_init(struct rf_lock *l, const struct rf_lock_costs *costs,
                                struct rf_lock_stats *stats)
{
	*l = (struct rf_lock){ .costs = costs, .stats = stats };
}

static inline void rf_lock_clear(struct rf_lock *l)
{
	rf_line_clear(&l->line);
}

/* The current task takes a lock: returns when it has it, at whatever time that is. */
void rf_lock_take(struct rf_lock *l, struct rf_sched *s, uint64_t *now, enum rf_lock_mode mode);
/* It lets go of it. */
void rf_lock_drop(struct rf_lock *l, struct rf_sched *s, uint64_t now, enum rf_lock_mode mode);
/* Would rf_lock_take() have to wait at this time? */
gboolean rf_lock_is_busy(const struct rf_lock *l, uint64_t now, enum rf_lock_mode mode);

#endif
