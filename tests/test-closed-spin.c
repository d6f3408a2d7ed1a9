/* SPDX-License-Identifier: MIT
 * Spinlocks of closed replay, by hand: the locks of lists of pages and of swap slots.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "sim/clock.h"
#include "sim/closed/sched.h"
#include "sim/closed/spin.h"
#include "tests/model-run.h"

Suite *suite_closed_spin(void);

#define US UINT64_C(1000)

/* ---- the calendar ---- */

/* Against an array of nanoseconds that are taken: each section is where the first gap is. */
START_TEST(first_gaps)
{
	enum { NS = 4096, SECTIONS = 300 };
	struct rf_rng rng = { model_run_seed() };
	uint64_t now = 0, until = 0, soft = 0, held = 0, waited = 0;
	const struct rf_sched_setup setup = { .ncpus = 1, .core_threads = 1, .clock = rf_clock_new(), .now = &now,
		                              .until = &until, .soft = &soft };
	const struct rf_lock_costs costs = { 0 };
	struct rf_lock_stats stats = { 0 };
	struct rf_sched *s = rf_sched_new(&setup);
	g_autofree uint8_t *taken = g_malloc0(4 * NS);
	struct rf_spin lock;

	rf_spin_init(&lock, &costs, &stats);
	for (unsigned i = 0; i < SECTIONS; i++) {
		const uint64_t asked = rf_rng_below(&rng, NS), hold = 1 + rf_rng_below(&rng, 20);
		uint64_t from = asked, free_ns = 0, got = asked;

		for (uint64_t at = asked; free_ns < hold; at++) {
			free_ns = taken[at] ? 0 : free_ns + 1;
			from = at + 1 - free_ns;
		}
		memset(taken + from, 1, hold);
		rf_spin_pass(&lock, s, &got, hold);
		ck_assert_msg(got == from + hold, "seed %" G_GUINT64_FORMAT ", section %u", model_run_seed(), i);
		held += hold;
		waited += from - asked;
	}
	eq(stats.taken, SECTIONS);
	eq(stats.held, held);
	eq(stats.waited, waited);
	rf_spin_clear(&lock);
	rf_sched_free(s);
	rf_clock_free(setup.clock);
}
END_TEST

/* Eight come at once: each waits for those ahead of it, and each hand-over takes longer by what the
 * others who wait cost. */
START_TEST(a_queue)
{
	enum { N = 8, HOLD = 1000, HANDOFF = 200, WAITER = 50 };
	uint64_t now = 0, until = 0, soft = 0, expected = 0, waited = 0;
	const struct rf_sched_setup setup = { .ncpus = 1, .core_threads = 1, .clock = rf_clock_new(), .now = &now,
		                              .until = &until, .soft = &soft };
	const struct rf_lock_costs costs = { .spin_handoff = HANDOFF, .waiter = WAITER };
	struct rf_lock_stats stats = { 0 };
	struct rf_sched *s = rf_sched_new(&setup);
	struct rf_spin lock;

	rf_spin_init(&lock, &costs, &stats);
	for (unsigned i = 0; i < N; i++) {
		uint64_t got = 5000;

		if (i)
			expected += HANDOFF + (i - 1) * WAITER;
		rf_spin_pass(&lock, s, &got, HOLD);
		waited += i * HOLD + expected;
		eq(got, 5000 + (i + 1) * HOLD + expected);
	}
	eq(stats.contended, N - 1);
	eq(stats.waited, waited);
	eq(stats.waited_max, (N - 1) * HOLD + expected);
	rf_spin_clear(&lock);
	rf_sched_free(s);
	rf_clock_free(setup.clock);
}
END_TEST

/* ---- lists of pages ---- */

#define NO_COSTS " --set access=0 --set syscall=0 --set fault_anon=0 --set context_switch=0 --set counter_line=0"

/* Tasks that store to so many pages at once, each in a cgroup of its own or all in one. */
static void stores(struct model_run *r, const char *options, unsigned tasks, unsigned pages, gboolean own)
{
	g_autofree char *all = g_strdup_printf("--replay closed --cpus %u" NO_COSTS " %s", tasks, options);
	g_autoptr(GString) trace = g_string_new("");

	for (unsigned t = 1; t <= tasks; t++)
		line(trace, "task %u cgroup=/c%u", t, own ? t : 0);
	for (unsigned t = 1; t <= tasks; t++)
		line(trace, "mmap %u 10000000 %u rw- anon", t, pages * PAGE);
	line(trace, "at 1000000");
	for (unsigned t = 1; t <= tasks; t++)
		line(trace, "W %u 10000000 %u", t, pages * PAGE);
	model_run(r, all, trace->str, 0);
}

/* 15 pages make a batch, of 10 us each: the second processor gets the lock 150.2 us after the first. */
START_TEST(two_processors)
{
	const struct rf_lock_result *l;
	struct model_run r;

	stores(&r, "--kernel 5.10 --set lru_lock_hold=10us", 2, 15, TRUE);
	l = lock_of(&r, "lru_lock");
	eq(l->taken, 2);
	eq(l->contended, 1);
	eq(l->held, 300 * US);
	eq(l->waited, 150 * US + 200);
	eq(GAUGE(&r, rf_time), 1000 * US + 300 * US + 200);
	eq(GAUGE(&r, rf_time_lock), l->waited);
	eq(task_of(&r, 1)->cpu, 150 * US);
	eq(task_of(&r, 2)->cpu, 300 * US + 200);
	eq(task_of(&r, 2)->spin, 150 * US + 200); /* on its processor */
	model_run_clear(&r);
}
END_TEST

/* By release: batches of 14, 15 and 31 pages; since 5.11 each cgroup has a lock of its own. */
START_TEST(releases)
{
	static const struct { const char *kernel; gboolean own; unsigned batch, contended; } rows[] = {
		{ "4.14", TRUE, 14, 3 }, { "4.15", TRUE, 15, 3 }, { "5.10", TRUE, 15, 3 }, { "5.11", TRUE, 15, 0 },
		{ "5.11", FALSE, 15, 3 }, { "6.9", TRUE, 15, 0 }, { "6.10", TRUE, 31, 0 }, { "6.18", FALSE, 31, 3 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strdup_printf("--kernel %s --set lru_lock_hold=1us --set lru_lock_spin_handoff=0",
		                                           rows[i].kernel);
		struct model_run r;

		stores(&r, options, 4, rows[i].batch, rows[i].own);
		eq(lock_of(&r, "lru_lock")->taken, 4);
		eq(lock_of(&r, "lru_lock")->held, 4 * rows[i].batch * US);
		eq(lock_of(&r, "lru_lock")->contended, rows[i].contended);
		/* Who comes k-th waits for those before: 0, 1, 2 and 3 sections. */
		eq(lock_of(&r, "lru_lock")->waited, rows[i].contended ? 6 * rows[i].batch * US : 0);
		eq(GAUGE(&r, rf_time), 1000 * US + (rows[i].contended ? 4 : 1) * rows[i].batch * US);
		model_run_clear(&r);
	}
}
END_TEST

/* A lock that all want all the time is what they share: time does not fall with processors. */
START_TEST(saturated)
{
	enum { PAGES = 15 * 40 };
	uint64_t one = 0;

	for (unsigned n = 1; n <= 8; n *= 2) {
		struct model_run r;

		stores(&r, "--kernel 5.10 --set lru_lock_hold=1us --set lru_lock_spin_handoff=0 --set fault_anon=100ns "
		       "--set zero_page=0", n, PAGES, TRUE);
		one = n == 1 ? GAUGE(&r, rf_time) - 1000 * US : one;
		eq(lock_of(&r, "lru_lock")->held, n * PAGES * US);
		eq(one, PAGES * (US + 100));
		/* Faults of one go on beside the section of another, once they are out of step. */
		ck_assert_uint_ge(GAUGE(&r, rf_time), 1000 * US + n * PAGES * US);
		ck_assert_uint_le(GAUGE(&r, rf_time), 1000 * US + n * PAGES * US + PAGES * 100);
		model_run_clear(&r);
	}
}
END_TEST

/* Each processor that takes the lock has its line from the one before. */
START_TEST(its_line)
{
	struct model_run r;

	stores(&r, "--kernel 5.10 --set fault_anon=100ns --set zero_page=0 --set lru_lock_line=1us", 4, 15 * 4, TRUE);
	eq(lock_of(&r, "lru_lock")->taken, 16);
	eq(lock_of(&r, "lru_lock")->waited, 0);
	/* Of four batches the first finds the line nowhere, the others with the three others. */
	eq(GAUGE(&r, rf_time), 1000 * US + 15 * 4 * 100 + 3 * 3 * US);
	model_run_clear(&r);
}
END_TEST

/* Pages that go pass the lock as those that come; at a limit reclaim takes clusters off a list, and puts
 * back what it does not free.  Alone nobody waits, kswapd apart. */
START_TEST(who_takes_it)
{
	struct model_run r;

	model_run(&r, "--replay closed --kernel 5.10 --set lru_lock_hold=1ns",
	          "task 1\nmmap 1 10000000 600K rw- anon\nW 1 10000000 600K\nmunmap 1 10000000 600K\n", 0);
	eq(lock_of(&r, "lru_lock")->taken, 10 + 10);
	eq(lock_of(&r, "lru_lock")->held, 300);
	model_run_clear(&r);

	/* 256 clean pages of a file, read once: the batches of 15 that come, and those of 32 that go. */
	model_run(&r, "--replay closed --kernel 5.10 --read_ahead_kb 0 --set lru_lock_hold=1ns",
	          "cgroup /c memory.max=512K\ntask 1 cgroup=/c\nfile 1 f 1M\nread 1 file:1 0 1M\n", 0);
	eq(COUNTER(&r, pgscan_file), COUNTER(&r, pgsteal_file));
	ck_assert_uint_ge(lock_of(&r, "lru_lock")->taken, 256 / 15 + COUNTER(&r, pgsteal_file) / 32);
	eq(lock_of(&r, "lru_lock")->held, 256 / 15 * 15 + COUNTER(&r, pgsteal_file));
	model_run_clear(&r);
}
END_TEST

/* ---- slots ---- */

/* Tasks that are at their limits swap: every slot that is taken passes the lock, since 4.11 64 at a time. */
START_TEST(swap_slots)
{
	static const struct { const char *kernel; unsigned batch; } rows[] = { { "4.10", 1 }, { "4.11", 64 } };
	enum { TASKS = 4, PAGES = 512 };

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strdup_printf("--replay closed --cpus 4 --swap zram --kernel %s"
			" --stats-flush-period 0 --set swap_lock_hold=1us --set swap_lock_spin_handoff=0", rows[i].kernel);
		g_autoptr(GString) trace = g_string_new("");
		const struct rf_lock_result *l;
		struct model_run r;

		for (unsigned t = 1; t <= TASKS; t++)
			line(trace, "cgroup /c%u memory.max=1M\ntask %u cgroup=/c%u", t, t, t);
		for (unsigned t = 1; t <= TASKS; t++)
			line(trace, "mmap %u 10000000 2M rw- anon\nW %u 10000000 2M", t, t);
		model_run(&r, options, trace->str, MODEL_RUN_UNCHECKED);
		l = lock_of(&r, "swap_lock");
		ck_assert_uint_ge(COUNTER(&r, pswpout), TASKS * PAGES / 2);
		if (rows[i].batch == 1)
			eq(l->taken, COUNTER(&r, pswpout));
		else /* what each has not filled yet is left out */
			ck_assert_uint_le(COUNTER(&r, pswpout) / 64 - l->taken, TASKS);
		eq(l->held, l->taken * rows[i].batch * US);
		ck_assert_uint_gt(l->contended, 0);
		ck_assert_uint_ge(GAUGE(&r, rf_time), l->held);
		model_run_clear(&r);
	}
}
END_TEST

Suite *suite_closed_spin(void)
{
	Suite *s = suite_create("closed_spin");
	TCase *t = tcase_create("calendar");

	tcase_add_test(t, first_gaps);
	tcase_add_test(t, a_queue);
	suite_add_tcase(s, t);
	t = tcase_create("lists");
	tcase_add_test(t, two_processors);
	tcase_add_test(t, releases);
	tcase_add_test(t, saturated);
	tcase_add_test(t, its_line);
	tcase_add_test(t, who_takes_it);
	suite_add_tcase(s, t);
	t = tcase_create("slots");
	tcase_add_test(t, swap_slots);
	suite_add_tcase(s, t);
	return s;
}
