/* SPDX-License-Identifier: MIT
 * Closed replay, by hand: processors, devices and locks as resources with queues.
 */
#include <check.h>
#include <string.h>

#include "sim/closed/sched.h"
#include "tests/model-run.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

/* Whatever ran: processors were busy or idle all the time, and busy with tasks alone. */
static void check_conservation(const struct model_run *run)
{
	uint64_t ran = 0;

	for (guint i = 0; i < run->result.cpus->len; i++) {
		const struct rf_cpu_result *c = &g_array_index(run->result.cpus, struct rf_cpu_result, i);

		eq(c->busy + c->idle, GAUGE(run, rf_time));
	}
	for (guint i = 0; i < run->result.tasks->len; i++)
		ran += g_array_index(run->result.tasks, struct rf_task_result, i).cpu;
	eq(run->result.cpus->len, run->cfg.cpus);
	eq(GAUGE(run, rf_cpu_busy), ran);
	eq(GAUGE(run, rf_cpu_busy) + GAUGE(run, rf_cpu_idle), run->cfg.cpus * GAUGE(run, rf_time));
}

static void closed_run(struct model_run *run, const char *options, const char *trace)
{
	g_autofree char *all = g_strconcat("--replay closed ", options, NULL);

	model_run(run, all, trace, 0);
	check_conservation(run);
}

/* ---- processors ---- */

START_TEST(processors_are_shared)
{
	static const struct { const char *cpus; uint64_t time, switches; } rows[] = {
		{ "1", 2 * 2 * MS + 1500, 1 },
		{ "2", 2 * MS, 0 },
		{ "3", 2 * MS, 0 },
	};
	struct model_run run;
	g_autofree char *options = g_strdup_printf("--cpus %s", rows[_i].cpus);

	closed_run(&run, options, "task 1\ntask 2\nthink 1 1000000\nthink 2 1000000\nthink 1 1000000\nthink 2 1000000\n");
	eq(GAUGE(&run, rf_time), rows[_i].time);
	eq(GAUGE(&run, rf_switches), rows[_i].switches);
	eq(GAUGE(&run, rf_cpu_busy), 4 * MS + 1500 * rows[_i].switches);
	eq(GAUGE(&run, rf_time_queue), _i == 0 ? 2 * MS : 0);
	model_run_clear(&run);
}
END_TEST

/* Turns of 3 ms: 3 3 | 3 3 | 3 3 | 1 1, and seven changes. */
START_TEST(turns_end)
{
	struct model_run run;

	closed_run(&run, "--set quantum=3ms --set context_switch=1us", "task 1\ntask 2\nthink 1 10000000\nthink 2 10000000\n");
	eq(GAUGE(&run, rf_switches), 7);
	eq(GAUGE(&run, rf_time), 20 * MS + 7 * US);
	model_run_clear(&run);
}
END_TEST

/* A child runs from its start on, beside its parent; an exited task's number can be used again. */
START_TEST(tasks_start_and_exit)
{
	struct model_run run;

	closed_run(&run, "--cpus 2 --set syscall=0 --set context_switch=0",
	           "task 1\nthink 1 1000000\ntask 2 parent=1\nthink 2 3000000\nthink 1 1000000\nexit 2\n"
	           "task 2 parent=1\nthink 2 500000\nexit 2\nmark done\nexit 1\n");
	/* 1 ms, then the first child's 3 ms, then the second's 0.5 ms. */
	eq(GAUGE(&run, rf_time), 4 * MS + 500 * US);
	eq(run.result.tasks->len, 3);
	eq(mark_of(&run, "done")->now, 4 * MS);
	model_run_clear(&run);
}
END_TEST

START_TEST(at_is_for_all)
{
	struct model_run run;

	closed_run(&run, "--cpus 2 --set context_switch=0",
	           "task 1\ntask 2\nthink 2 1000\nat 5000000\nthink 1 1000000\nthink 2 2000000\n");
	eq(GAUGE(&run, rf_time), 7 * MS);
	eq(GAUGE(&run, rf_cpu_busy), 3 * MS + US);
	model_run_clear(&run);
}
END_TEST

/* Two processors a core, at half its speed each while both are busy; whole cores are taken first. */
START_TEST(cores_are_shared)
{
	static const struct { const char *cpus; unsigned tasks, alone; } rows[] = {
		{ "4", 1, 1 }, { "4", 2, 2 }, { "4", 3, 1 }, { "4", 4, 0 }, { "2", 2, 0 }, { "1", 1, 1 }, { "3", 3, 1 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strdup_printf("--cpus %s --set context_switch=0 --set core_threads=2 "
			"--set core_share=50", rows[i].cpus);
		g_autoptr(GString) trace = g_string_new("");
		struct model_run run;
		unsigned alone = 0;

		for (unsigned t = 1; t <= rows[i].tasks; t++)
			line(trace, "task %u", t);
		line(trace, "at 1000000"); /* all at once */
		for (unsigned t = 1; t <= rows[i].tasks; t++)
			line(trace, "think %u 1000000", t);
		closed_run(&run, options, trace->str);
		for (unsigned t = 1; t <= rows[i].tasks; t++) {
			alone += task_of(&run, t)->cpu == MS;
			ck_assert(task_of(&run, t)->cpu == MS || task_of(&run, t)->cpu == 2 * MS);
		}
		eq(alone, rows[i].alone);
		model_run_clear(&run);
	}
}
END_TEST

/* ---- devices ---- */

/* One page each at the same time from a disk that serves one request after the other: the k-th waits
 * k services. */
START_TEST(a_disk_is_a_queue)
{
	enum { TASKS = 5 };
	g_autoptr(GString) trace = g_string_new("file 1 data 1M\n");
	struct model_run run;
	const uint64_t service = 8 * MS + 4 * (1024 * 1000 / 100);

	for (unsigned i = 1; i <= TASKS; i++)
		line(trace, "task %u", i);
	for (unsigned i = 1; i <= TASKS; i++)
		line(trace, "read %u file:1 %u 4K", i, i * 65536);
	closed_run(&run, "--cpus 8 --read_ahead_kb 0 --set disk=hdd --set hdd_latency=8ms --set hdd_mbps=100", trace->str);
	for (unsigned i = 1; i <= TASKS; i++)
		ck_assert_uint_le(i * service - task_of(&run, i)->device, i * 4 * (1024 * 1000 / 100));
	ck_assert_uint_ge(GAUGE(&run, rf_time), TASKS * 8 * MS);
	ck_assert_uint_lt(GAUGE(&run, rf_time), TASKS * service + US * 100);
	model_run_clear(&run);
}
END_TEST

/* One waits for a disk and another computes meanwhile, on one processor. */
START_TEST(others_go_on)
{
	struct model_run run;

	closed_run(&run, "--read_ahead_kb 0 --set disk=hdd --set hdd_latency=8ms",
	           "file 1 data 1M\ntask 1\ntask 2\nread 1 file:1 0 4K\nthink 2 6000000\n");
	ck_assert_uint_lt(GAUGE(&run, rf_time), 9 * MS);
	ck_assert_uint_ge(GAUGE(&run, rf_time), 8 * MS);
	ck_assert_uint_ge(task_of(&run, 1)->device, 8 * MS);
	eq(task_of(&run, 2)->queue < 10 * US, TRUE);
	model_run_clear(&run);
}
END_TEST

/* Two tasks want the same page: one read, and both wait for it. */
START_TEST(one_read_serves_two)
{
	struct model_run run;

	closed_run(&run, "--cpus 2 --read_ahead_kb 0 --set disk=hdd --set hdd_latency=8ms",
	           "file 1 data 1M\ntask 1\ntask 2\nread 1 file:1 0 4K\nread 2 file:1 0 4K\n");
	eq(COUNTER(&run, pgpgin), 4);
	ck_assert_uint_ge(task_of(&run, 1)->device, 8 * MS);
	ck_assert_uint_ge(task_of(&run, 2)->device, 8 * MS);
	ck_assert_uint_lt(GAUGE(&run, rf_time), 9 * MS);
	model_run_clear(&run);
}
END_TEST

/* ---- locks ---- */

/* threads that do nothing but change mappings, each its own; calls of them in all. */
static char *mappers(unsigned threads, unsigned rounds)
{
	GString *trace = g_string_new("task 1\n");

	for (unsigned i = 2; i <= threads; i++)
		line(trace, "task %u parent=1 thread", i);
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 1; i <= threads; i++) {
			line(trace, "mmap %u %x 4K rw- anon", i, 0x100000 * i);
			line(trace, "munmap %u %x 4K", i, 0x100000 * i);
		}
	return g_string_free(trace, FALSE);
}

/* A lock that is handed over to sleepers makes a convoy: a call takes the section and the hand-over,
 * however many threads there are. */
START_TEST(a_convoy)
{
	enum { ROUNDS = 50 };
	const unsigned threads[] = { 2, 3, 8, 16 };
	const unsigned n = threads[_i], calls = 2 * n * ROUNDS;
	g_autofree char *trace = mappers(n, ROUNDS);
	struct model_run run;

	closed_run(&run, "--cpus 16 --set context_switch=0 --set syscall=1us --set mmap_lock_hold=3us "
	           "--set mmap_lock_sleep_handoff=90us "
	           "--set mmap_lock_spins=no", trace);
	/* All but the very first wait. */
	ck_assert_uint_le(GAUGE(&run, rf_time), calls * 93 * US + 10 * US);
	ck_assert_uint_ge(GAUGE(&run, rf_time), (calls - n) * 93 * US);
	eq(lock_of(&run, "mmap_lock")->taken, calls);
	eq(lock_of(&run, "mmap_lock")->held, calls * 3 * US);
	ck_assert_uint_ge(lock_of(&run, "mmap_lock")->contended, calls - 2 * n);
	model_run_clear(&run);
}
END_TEST

/* The same, spinning: the processors are busy, and the hand-over is short. */
START_TEST(spinning)
{
	enum { ROUNDS = 50, N = 4 };
	g_autofree char *trace = mappers(N, ROUNDS);
	struct model_run run;

	closed_run(&run, "--cpus 4 --set syscall=0 --set mmap_lock_hold=3us --set mmap_lock_spin_handoff=200ns", trace);
	ck_assert_uint_le(GAUGE(&run, rf_time), 2 * N * ROUNDS * 3200);
	ck_assert_uint_ge(GAUGE(&run, rf_time), (2 * N * ROUNDS - N) * 3200);
	eq(GAUGE(&run, rf_switches), 0);
	ck_assert_uint_ge(task_of(&run, 3)->spin, 2 * (ROUNDS - 1) * 3 * 3200);
	model_run_clear(&run);
}
END_TEST

/* Twice as many threads as processors that hold the lock for a hundredth of their time: one who finds
 * it taken and has to sleep must not make the others sleep after it, for ever. */
START_TEST(no_convoy_where_waiters_spin)
{
	enum { CPUS = 8, N = 2 * CPUS, ROUNDS = 100 };
	const uint64_t work = N * ROUNDS * 101 * US / CPUS;
	g_autoptr(GString) trace = g_string_new("task 1\n");
	struct model_run run;

	for (unsigned i = 2; i <= N; i++)
		line(trace, "task %u parent=1 thread", i);
	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned i = 1; i <= N; i++) {
			line(trace, "mmap %u %x 4K rw- anon", i, 0x100000 * i);
			line(trace, "think %u 100000", i);
		}
	for (unsigned spins = 0; spins < 2; spins++) {
		g_autofree char *options = g_strdup_printf("--cpus %u --set syscall=0 --set mmap_lock_hold=1us "
			"--set mmap_lock_sleep_handoff=90us --set mmap_lock_spins=%s", CPUS, spins ? "yes" : "no");

		closed_run(&run, options, trace->str);
		if (spins)
			ck_assert_uint_le(GAUGE(&run, rf_time), work * 11 / 10);
		else
			ck_assert_uint_ge(GAUGE(&run, rf_time), (N * ROUNDS - N) * 91 * US);
		model_run_clear(&run);
	}
}
END_TEST

START_TEST(nobody_else_no_wait)
{
	g_autofree char *trace = mappers(1, 100);
	struct model_run run;

	closed_run(&run, "--cpus 4 --set syscall=1us --set mmap_lock_hold=3us --set mmap_lock_sleep_handoff=90us "
	           "--set mmap_lock_spins=no", trace);
	eq(GAUGE(&run, rf_time), 200 * 4 * US);
	eq(GAUGE(&run, rf_lock_contended), 0);
	model_run_clear(&run);
}
END_TEST

/* ---- what processors share ---- */

/* Each task stores to pages of its own, which are there already. */
static void stores(struct model_run *run, const char *mem_mbps, unsigned tasks, unsigned pages)
{
	g_autoptr(GString) trace = g_string_new("");
	g_autofree char *options = g_strdup_printf("--cpus 8 --set mem_mbps=%s", mem_mbps);

	for (unsigned i = 1; i <= tasks; i++)
		line(trace, "task %u", i);
	for (unsigned i = 1; i <= tasks; i++) {
		line(trace, "mmap %u 100000 %u rw- anon", i, pages * PAGE);
		line(trace, "W %u 100000 %u", i, pages * PAGE);
		line(trace, "W %u 100000 %u", i, pages * PAGE);
		line(trace, "W %u 100000 8", i);
	}
	closed_run(run, options, trace->str);
}

/* Zeroing, storing twice to all of each page, and once to a line.  4096 MB/s: 1 us a page. */
START_TEST(memory_takes_so_many_stores)
{
	enum { PAGES = 500 };
	const uint64_t each = 3 * PAGES * US + 15;
	struct model_run run;
	uint64_t alone;

	stores(&run, "0", 1, PAGES);
	alone = GAUGE(&run, rf_time);
	model_run_clear(&run);
	stores(&run, "4096", 1, PAGES);
	eq(GAUGE(&run, rf_time), alone + each);
	model_run_clear(&run);
	stores(&run, "4096", 8, PAGES);
	ck_assert_uint_ge(GAUGE(&run, rf_time), 8 * each);
	ck_assert_uint_le(GAUGE(&run, rf_time), 8 * each + alone);
	model_run_clear(&run);
}
END_TEST

/* Three threads compute on while a fourth, and a process of its own, unmap pages. */
START_TEST(translations_are_shot_down)
{
	struct model_run run;
	uint64_t own;

	closed_run(&run, "--cpus 5 --set syscall=0 --set context_switch=0 --set tlb_shootdown=7us",
	           "task 1\ntask 2 parent=1 thread\ntask 3 parent=1 thread\ntask 4 parent=1 thread\ntask 9\n"
	           "think 2 90000000\nthink 3 90000000\nthink 4 90000000\n"
	           "mmap 1 100000 64K rw- anon\nW 1 100000 64K\nmadvise 1 100000 64K dontneed\n"
	           "madvise 1 100000 64K dontneed\n" /* nothing is mapped there any more */
	           "mmap 9 100000 64K rw- anon\nW 9 100000 64K\nmadvise 9 100000 64K dontneed\n");
	own = task_of(&run, 9)->cpu;
	eq(task_of(&run, 1)->cpu, own + 3 * 7 * US);
	model_run_clear(&run);
}
END_TEST

/* Faults of threads of one address space write its lock's line; since 6.4 they do not. */
START_TEST(a_lock_is_a_line)
{
	enum { N = 4, PAGES = 200 };
	uint64_t time[2][2];

	for (unsigned i = 0; i < 4; i++) {
		g_autoptr(GString) trace = g_string_new("task 1\n");
		g_autofree char *options = g_strdup_printf("--cpus 4 --kernel %s --set mmap_lock_line=%s",
		                                           i & 1 ? "6.4" : "6.3", i & 2 ? "300ns" : "0");
		struct model_run run;

		for (unsigned t = 2; t <= N; t++)
			line(trace, "task %u parent=1 thread", t);
		for (unsigned t = 1; t <= N; t++)
			line(trace, "mmap %u %x %u rw- anon", t, t << 24, PAGES * PAGE);
		for (unsigned t = 1; t <= N; t++)
			line(trace, "W %u %x %u", t, t << 24, PAGES * PAGE);
		closed_run(&run, options, trace->str);
		time[i & 1][i >> 1] = GAUGE(&run, rf_time);
		model_run_clear(&run);
	}
	/* Each of a thread's faults, and its call, but for the first. */
	ck_assert_uint_le(time[0][1], time[0][0] + (PAGES + 1) * (N - 1) * 300);
	ck_assert_uint_ge(time[0][1], time[0][0] + (PAGES - N) * (N - 1) * 300);
	ck_assert_uint_le(time[1][1], time[1][0] + N * (N - 1) * 300); /* calls alone */
}
END_TEST

/* ---- counters ---- */

/* threads that each map, touch and unmap pages of their own, in one child cgroup. */
static char *fault_loop(unsigned threads, unsigned pages, unsigned rounds)
{
	GString *trace = g_string_new("");

	for (unsigned i = 1; i <= threads; i++)
		line(trace, "task %u cgroup=/child", i);
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 1; i <= threads; i++) {
			line(trace, "mmap %u 100000 %u rw- anon", i, pages * PAGE);
			line(trace, "W %u 100000 %u", i, pages * PAGE);
			line(trace, "munmap %u 100000 %u", i, pages * PAGE);
		}
	return g_string_free(trace, FALSE);
}

/* ns a fault, with the counter of the 8-CPU benchmark of the charge batches: each of 8 processors
 * writes it, and finds that the 7 others have since. */
static uint64_t fault_ns(const char *options, unsigned cpus, gboolean child)
{
	enum { PAGES = 256, ROUNDS = 4 };
	g_autofree char *trace = fault_loop(cpus, PAGES, ROUNDS);
	g_autofree char *all = g_strdup_printf("--cpus %u --kernel 2.6.32 --set syscall=0 --set fault_anon=13090ns "
	                                       "--set counter_line=%s --set access=0 %s", cpus, child ? "930ns" : "0", options);
	struct model_run run;
	uint64_t ns;

	closed_run(&run, all, trace);
	eq(COUNTER(&run, pgfault), (uint64_t)cpus * PAGES * ROUNDS);
	ns = GAUGE(&run, rf_time) / (PAGES * ROUNDS);
	model_run_clear(&run);
	return ns;
}

START_TEST(counters_are_fought_for)
{
	uint64_t root = fault_ns("", 8, FALSE), child = fault_ns("", 8, TRUE);
	uint64_t unbatched = fault_ns("--uncharge-batch 256", 8, TRUE);
	uint64_t stock = fault_ns("--uncharge-batch 256 --charge-batch 32", 8, TRUE);

	ck_assert(root < stock && stock < unbatched && unbatched < child);
	/* Posted: 13.09, 14.03, 17.69 and 26.02 us. */
	ck_assert_uint_le(ABS((int64_t)child - 26020), 26020 / 20);
	ck_assert_uint_le(ABS((int64_t)unbatched - 17690), 17690 / 5);
	ck_assert_uint_le(ABS((int64_t)stock - 14030), 14030 / 10);
	/* Two writes a fault, 930 ns for each other processor. */
	for (unsigned n = 1; n <= 8; n *= 2) {
		uint64_t expected = root + 2 * (n - 1) * 930, got = fault_ns("", n, TRUE);

		ck_assert_uint_le(ABS((int64_t)got - (int64_t)expected), expected / 50);
	}
}
END_TEST

/* ---- against ordered replay ---- */

static char *single_task_trace(uint64_t seed)
{
	GString *t = g_string_new("file 1 data 4M\nfile 2 log 1M\ntask 1\n");

	line(t, "mmap 1 1000000 2M rw- anon");
	line(t, "mmap 1 2000000 4M r-x file:1");
	line(t, "mmap 1 3000000 1M rw- file:2 shared");
	touch_each(t, 'W', 1, 0x1000000, 512);
	touch_zipf(t, 'R', 1, 0x1000000, 512, 4000, 120, 30, seed);
	touch_zipf(t, 'X', 1, 0x2000000, 1024, 4000, 110, 0, seed + 1);
	line(t, "think 1 3000000");
	touch_zipf(t, 'W', 1, 0x3000000, 256, 500, 100, 50, seed + 2);
	for (unsigned i = 0; i < 64; i++)
		line(t, "write 1 file:2 %u 5000", i * 12288);
	line(t, "read 1 file:1 0 2M");
	line(t, "madvise 1 1000000 1M dontneed");
	touch_zipf(t, 'R', 1, 0x1000000, 512, 4000, 80, 30, seed + 3);
	line(t, "fsync 1 file:2");
	line(t, "at 900000000");
	line(t, "munmap 1 2000000 4M");
	touch_zipf(t, 'R', 1, 0x1000000, 512, 2000, 80, 30, seed + 4);
	line(t, "exit 1");
	return g_string_free(t, FALSE);
}

static gboolean is_closed_only(const struct rf_metric *m)
{
	return strstr(m->help, "closed replay:") != NULL;
}

/* A task alone has nobody to wait for: every figure is that of ordered replay. */
START_TEST(alone_as_ordered)
{
	static const char *const options[] = {
		"", "--limit 1M --swap zram", "--limit 1M --swap nvme", "--limit 2M --swap hdd --page-cluster 3",
		"--ram 64M --limit 1500K --swap ssd --reclaim mglru", "--limit 1M --swap zram --reclaim lru",
		"--limit 2M --memory.high 1M --swap zram", "--cgroup v1 --limit 1200K --swap nvme --kernel 5.10",
		"--limit 1M --page-size 16K --swap nvme", "--limit 1M --swap zram --tlb 64 --stats-poll 100",
		"--limit 1M --kernel 2.6.32 --swap hdd",
		"--limit 1M --swap zram --set lru_lock_hold=100ns --set swap_lock_hold=300ns --set lru_lock_line=50ns",
		"--ram 8M --min_free_kbytes 256 --kernel 5.10 --swap nvme --set lru_lock_hold=100ns --set swap_lock_hold=300ns",
	};
	g_autofree char *trace = single_task_trace(model_run_seed());
	struct model_run a, b;

	model_run(&a, options[_i], trace, MODEL_RUN_UNCHECKED);
	closed_run(&b, options[_i], trace);
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		uint64_t x = rf_result_value(&a.result, &rf_metrics[i]), y = rf_result_value(&b.result, &rf_metrics[i]);

		if (!is_closed_only(&rf_metrics[i]) && x != y)
			ck_abort_msg("'%s': %s is %" G_GUINT64_FORMAT " in order, %" G_GUINT64_FORMAT " closed", options[_i],
			             rf_metrics[i].name, x, y);
	}
	model_run_clear(&a);
	model_run_clear(&b);
}
END_TEST

Suite *suite_closed(void)
{
	Suite *s = suite_create("closed");
	TCase *cpus = tcase_create("processors"), *devices = tcase_create("devices"), *locks = tcase_create("locks");
	TCase *shared = tcase_create("shared"), *ordered = tcase_create("against ordered replay");

	tcase_add_loop_test(cpus, processors_are_shared, 0, 3);
	tcase_add_test(cpus, turns_end);
	tcase_add_test(cpus, tasks_start_and_exit);
	tcase_add_test(cpus, at_is_for_all);
	tcase_add_test(cpus, cores_are_shared);
	suite_add_tcase(s, cpus);
	tcase_add_test(devices, a_disk_is_a_queue);
	tcase_add_test(devices, others_go_on);
	tcase_add_test(devices, one_read_serves_two);
	suite_add_tcase(s, devices);
	tcase_add_loop_test(locks, a_convoy, 0, 4);
	tcase_add_test(locks, spinning);
	tcase_add_test(locks, no_convoy_where_waiters_spin);
	tcase_add_test(locks, nobody_else_no_wait);
	tcase_add_test(shared, memory_takes_so_many_stores);
	tcase_add_test(shared, translations_are_shot_down);
	tcase_add_test(shared, a_lock_is_a_line);
	suite_add_tcase(s, locks);
	suite_add_tcase(s, shared);
	tcase_add_test(locks, counters_are_fought_for);
	tcase_add_loop_test(ordered, alone_as_ordered, 0, 13);
	suite_add_tcase(s, ordered);
	return s;
}
