/* SPDX-License-Identifier: MIT
 * Memory cgroups of the modelled machine: limits, memory.high, protection, in a hierarchy.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "tests/model-run.h"

Suite *suite_model_memcg(void);

#define FRESH "--stats-flush-period 0"

/* Each of n pages at addr, once, rounds times. */
static void loop(GString *t, char type, unsigned tid, uint64_t addr, unsigned n, unsigned rounds)
{
	while (rounds--)
		line(t, "%c %u %" G_GINT64_MODIFIER "x %u", type, tid, addr, n * PAGE);
}

/* ---- memory.max ---- */

/* Charged ahead by 64 pages, until the limit is near: then page by page. */
START_TEST(charges_in_batches)
{
	struct model_run r;

	model_run(&r, "--limit 200pages --swap zram",
	          "task 1\nmmap 1 10000000 1M rw- anon\nmark mapped\nW 1 10000000 240K\nmark 60\n"
	          "W 1 1003c000 4K\nmark 61\nW 1 1003d000 524K\nmark 192\nW 1 100c0000 4K\nmark "
	          "193\n",
	          0);
	/* Four pages of the first 64 are kernel memory. */
	eq(MARK_PAGES(&r, "mapped", rf_usage), 64);
	eq(MARK_PAGES(&r, "60", rf_usage), 64);
	eq(MARK_PAGES(&r, "61", rf_usage), 128);
	eq(MARK_PAGES(&r, "192", rf_usage), 196); /* 192 and 4: the last four one by one */
	eq(MARK_COUNTER(&r, "193", rf_limit_reclaim), 0);
	eq(MARK_PAGES(&r, "193", rf_usage), 197);
	eq(GAUGE(&r, rf_usage_max), 197 * PAGE);
	model_run_clear(&r);
	/* 32 before 6.1. */
	model_run(&r, "--limit 200pages --swap zram --kernel 5.15",
	          "task 1\nmmap 1 10000000 1M rw- anon\n", 0);
	eq(PAGES(&r, rf_usage), 32);
	model_run_clear(&r);
}
END_TEST

START_TEST(the_limit_holds)
{
	g_autoptr(GString) t = g_string_new("task 1\nmmap 1 10000000 1M rw- anon\n");
	struct model_run r;

	loop(t, 'W', 1, 0x10000000, 256, 3);
	model_run(&r, "--limit 100pages --swap zram " FRESH, t->str, 0);
	eq(GAUGE(&r, rf_usage_max), 100 * PAGE);
	ck_assert_uint_gt(CG_COUNTER(&r, "/workload", rf_limit_reclaim), 0);
	eq(CG_COUNTER(&r, "/workload", rf_charge_pages) -
	           CG_COUNTER(&r, "/workload", rf_uncharge_pages),
	   PAGES(&r, rf_resident));
	/* Limit reclaim is the cgroup's: /proc/vmstat does not have it under these names. */
	eq(COUNTER(&r, pgscan_direct), 0);
	eq(COUNTER(&r, pgsteal_direct), 0);
	eq(CG_COUNTER(&r, "/workload", pgsteal_direct), COUNTER(&r, pgsteal_anon));
	eq(CG_COUNTER(&r, "/workload", pgscan_direct), COUNTER(&r, pgscan_anon));
	eq(COUNTER(&r, pgsteal_anon), COUNTER(&r, rf_pages_out));
	eq(COUNTER(&r, rf_pages_in),
	   COUNTER(&r, rf_first_touch) + COUNTER(&r, workingset_refault_anon));
	eq(COUNTER(&r, rf_first_touch), 256);
	eq(COUNTER(&r, pgmajfault), COUNTER(&r, workingset_refault_anon));
	eq(COUNTER(&r, pswpin), COUNTER(&r, pgmajfault));
	model_run_clear(&r);
}
END_TEST

/* A limit below the usage reclaims at once, and kills when that is not enough. */
START_TEST(a_limit_written_later)
{
	struct model_run r;

	model_run(&r, "--swap zram " FRESH,
	          "cgroup /a\ntask 1 cgroup=/a\nmmap 1 10000000 800K rw- anon\nW 1 10000000 800K\n"
	          "cgroup /a memory.max=400K\nmark lower\nW 1 10000000\ncgroup /a "
	          "memory.max=max\nW 1 10000000 800K\n",
	          0);
	ck_assert_uint_le(MARK_PAGES(&r, "lower", rf_resident), 96);
	ck_assert_uint_ge(MARK_PAGES(&r, "lower", rf_resident), 32);
	eq(MARK_COUNTER(&r, "lower", oom_kill), 0);
	eq(PAGES(&r, rf_rss), 200);
	model_run_clear(&r);
	model_run(&r, "--swap none",
	          "cgroup /a\ntask 1 cgroup=/a\ntask 2 cgroup=/a\nmmap 1 10000000 800K rw- anon\n"
	          "mmap 2 10000000 100K rw- anon\nW 1 10000000 800K\nW 2 10000000 100K\ncgroup /a "
	          "memory.max=400K\n",
	          0);
	eq(r.result.oom->len, 1);
	eq(oom_nth(&r, 0)->tid, 1);
	ck_assert_ptr_nonnull(strstr(oom_nth(&r, 0)->reason, "memory.max was set below"));
	eq(task_of(&r, 2)->rss, 25 * PAGE);
	model_run_clear(&r);
	model_run(&r, "", "cgroup /a memory.max=1X\n", MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	model_run_clear(&r);
}
END_TEST

/* A parent's limit is shared by its children: reclaim takes from both, and from nobody else. */
START_TEST(limits_in_a_hierarchy)
{
	g_autoptr(GString) t = g_string_new(
		"cgroup /p memory.max=800K\ncgroup /p/a\ncgroup /p/b memory.max=400K\ncgroup /q\n"
		"task 1 cgroup=/p/a\ntask 2 cgroup=/p/b\ntask 3 cgroup=/q\n");
	struct model_run r;

	for (unsigned i = 1; i <= 3; i++)
		line(t, "mmap %u 10000000 600K rw- anon", i);
	for (unsigned i = 1; i <= 3; i++)
		loop(t, 'W', i, 0x10000000, 150, 1);
	line(t, "mark once");
	for (unsigned i = 0; i < 4; i++) {
		loop(t, 'W', 1, 0x10000000, 150, 1);
		loop(t, 'W', 2, 0x10000000, 150, 1);
	}
	model_run(&r, "--swap zram " FRESH, t->str, 0);
	ck_assert_uint_le(cgroup_of(&r, "/p")->usage_max, 800 << 10);
	ck_assert_uint_le(cgroup_of(&r, "/p/b")->usage_max, 400 << 10);
	eq(cgroup_of(&r, "/p")->anon, cgroup_of(&r, "/p/a")->anon + cgroup_of(&r, "/p/b")->anon);
	eq(CG_COUNTER(&r, "/p", pgfault),
	   CG_COUNTER(&r, "/p/a", pgfault) + CG_COUNTER(&r, "/p/b", pgfault));
	ck_assert_uint_gt(CG_COUNTER(&r, "/p/a", pgsteal_anon), 0);
	ck_assert_uint_gt(CG_COUNTER(&r, "/p/b", pgsteal_anon), 0);
	eq(CG_COUNTER(&r, "/q", pgscan_anon), 0);
	eq(cgroup_of(&r, "/q")->anon, 150 * PAGE);
	model_run_clear(&r);
}
END_TEST

/* What was swapped out is charged to whoever swapped it out, whoever brings it back. */
START_TEST(swap_in_is_the_owners)
{
	struct model_run r;

	model_run(&r, "--swap zram",
	          "cgroup /a\ncgroup /b\ntask 1 cgroup=/a\nmmap 1 10000000 64K rw- anon\nW 1 "
	          "10000000 64K\n"
	          "madvise 1 10000000 64K pageout\ntask 2 parent=1 cgroup=/b\nR 2 10000000 64K\n",
	          0);
	eq(cgroup_of(&r, "/a")->anon, 16 * PAGE);
	eq(cgroup_of(&r, "/b")->anon, 0);
	eq(CG_COUNTER(&r, "/a", pswpin), 16);
	eq(CG_COUNTER(&r, "/b", pgmajfault),
	   3); /* windows of 8 around the first page, then after it: 0, 5, 13 */
	eq(task_of(&r, 2)->rss, 16 * PAGE);
	model_run_clear(&r);
}
END_TEST

/* ---- memory.high ---- */

/* Nothing as long as it would be 10 ms or less (kernel-reclaim 6.2). */
START_TEST(high_throttles)
{
	struct model_run r;

	model_run(&r, "--memory.high 100M --swap none",
	          "task 1\nmmap 1 10000000 128M rw- anon\nW 1 10000000 100M\nmark full\n"
	          "W 1 16400000 1M\nmark 101\nW 1 16500000 4M\n",
	          MODEL_RUN_UNCHECKED);
	eq(mark_of(&r, "full")->gauge[RF_G_rf_time_throttle], 0);
	eq(mark_of(&r, "101")->gauge[RF_G_rf_time_throttle], 0);
	/* 26,880 pages, 53 + 2 tables and one of slab, in batches of 64: 26,944, which is 1,344 too
	 * many; (1344 * 2^20 / 25600)^2 * 250 / 2^34 = 44. */
	eq(PAGES(&r, rf_usage), 26944);
	eq(GAUGE(&r, rf_stall_max), 44 * 4000000);
	eq(r.result.oom->len, 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(high_two_seconds_at_most)
{
	struct model_run r;

	/* 100 pages allowed; charges of 64: at 128, 192 and 256. */
	model_run(&r, "--memory.high 400K --swap none",
	          "task 1\nmmap 1 10000000 1M rw- anon\nW 1 10000000 1000K\n", 0);
	eq(GAUGE(&r, rf_time_throttle), 3 * UINT64_C(2000000000));
	eq(GAUGE(&r, rf_stall_max), 2000000000);
	model_run_clear(&r);
}
END_TEST

/* ---- memory.min and low ---- */

/* A set that was used once, beside somebody who streams through more memory than there is. */
static void protect(struct model_run *r, const char *settings, const char *options)
{
	g_autoptr(GString) t = g_string_new("cgroup /a ");

	line(t, "%s\ncgroup /b\ntask 1 cgroup=/a\ntask 2 cgroup=/b", settings);
	line(t, "mmap 1 10000000 1M rw- anon\nmmap 2 10000000 16M rw- anon");
	loop(t, 'W', 1, 0x10000000, 256, 1);
	loop(t, 'W', 2, 0x10000000, 4096, 3);
	model_run(r, options, t->str, MODEL_RUN_UNCHECKED);
}

#define TIGHT "--ram 8M --min_free_kbytes 128 --swap zram:64M " FRESH

START_TEST(protection)
{
	struct model_run r;

	protect(&r, "", TIGHT);
	eq(cgroup_of(&r, "/a")->anon, 0); /* all swapped out */
	model_run_clear(&r);
	protect(&r, "memory.min=2M", TIGHT);
	eq(cgroup_of(&r, "/a")->anon, 1 << 20);
	eq(CG_COUNTER(&r, "/a", pgscan_anon), 0);
	eq(r.result.oom->len, 0);
	model_run_clear(&r);
	protect(&r, "memory.low=2M", TIGHT);
	eq(cgroup_of(&r, "/a")->anon, 1 << 20);
	model_run_clear(&r);
	/* In part: what is beyond half a MiB goes, and at most the 32 pages that any scan is
	 * allowed. */
	protect(&r, "memory.min=512K", TIGHT);
	ck_assert_uint_ge(cgroup_of(&r, "/a")->usage, (512 << 10) - 32 * PAGE);
	ck_assert_uint_le(cgroup_of(&r, "/a")->usage, 768 << 10);
	model_run_clear(&r);
}
END_TEST

/* memory.low gives way when nobody else has anything; memory.min does not. */
START_TEST(low_gives_way)
{
	struct model_run r;
	const char *const trace =
		"cgroup /p memory.max=800K\ncgroup /p/a %s\ncgroup /p/b\ntask 1 cgroup=/p/a\ntask "
	        "2 cgroup=/p/b\n"
		"mmap 1 10000000 700K rw- anon\nW 1 10000000 700K\nmmap 2 10000000 400K rw- anon\n"
		"mlock 2 10000000 80K\n";
	g_autofree char *low = g_strdup_printf(trace, "memory.low=1M");
	g_autofree char *min = g_strdup_printf(trace, "memory.min=1M");

	model_run(&r, "--swap zram " FRESH, low, 0);
	eq(r.result.oom->len, 0);
	ck_assert_uint_lt(cgroup_of(&r, "/p/a")->anon, 700 << 10);
	eq(task_of(&r, 2)->rss, 20 * PAGE);
	model_run_clear(&r);
	model_run(&r, "--swap zram " FRESH, min, 0);
	eq(r.result.oom->len, 1);
	eq(oom_nth(&r, 0)->tid, 1); /* the largest, protected or not */
	model_run_clear(&r);
}
END_TEST

/* Children share what the parent has: two that each claim its all do not have twice as much. */
START_TEST(protection_is_shared)
{
	g_autoptr(GString) t =
		g_string_new("cgroup /p memory.min=1M\ncgroup /p/a memory.min=1M\ncgroup /p/b "
	                     "memory.min=1M\ncgroup /s\n"
	                     "task 1 cgroup=/p/a\ntask 2 cgroup=/p/b\ntask 3 cgroup=/s\n");
	struct model_run r;

	for (unsigned i = 1; i <= 2; i++) {
		line(t, "mmap %u 10000000 1M rw- anon", i);
		loop(t, 'W', i, 0x10000000, 256, 1);
	}
	line(t, "mmap 3 10000000 16M rw- anon");
	loop(t, 'W', 3, 0x10000000, 4096, 3);
	model_run(&r, TIGHT, t->str, MODEL_RUN_UNCHECKED);
	ck_assert_uint_ge(cgroup_of(&r, "/p")->usage, (1 << 20) - 32 * PAGE);
	ck_assert_uint_le(cgroup_of(&r, "/p")->usage, 3 << 19);
	ck_assert_uint_ge(cgroup_of(&r, "/p/a")->usage, 256 << 10);
	ck_assert_uint_ge(cgroup_of(&r, "/p/b")->usage, 256 << 10);
	model_run_clear(&r);
}
END_TEST

/* Nobody is protected against a limit of its own. */
START_TEST(no_protection_from_oneself)
{
	struct model_run r;

	model_run(&r, "--swap zram " FRESH,
	          "cgroup /a memory.max=400K memory.min=400K memory.low=400K\ntask 1 cgroup=/a\n"
	          "mmap 1 10000000 800K rw- anon\nW 1 10000000 800K\n",
	          0);
	eq(r.result.oom->len, 0);
	ck_assert_uint_le(cgroup_of(&r, "/a")->usage_max, 400 << 10);
	model_run_clear(&r);
}
END_TEST

/* ---- kernel releases ---- */

/* Anonymous pages that refault get their test since 5.9; before, they start active. */
START_TEST(releases)
{
	g_autoptr(GString) t = g_string_new("task 1\nmmap 1 10000000 2M rw- anon\n");
	struct model_run r;

	loop(t, 'W', 1, 0x10000000, 60, 1);
	line(t, "madvise 1 10000000 4K willneed\nmark first"); /* drains the batch */
	model_run(&r, "--kernel 5.4", t->str, 0);
	eq(MARK_PAGES(&r, "first", rf_active_anon), 60);
	model_run_clear(&r);
	model_run(&r, "--kernel 5.10", t->str, 0);
	eq(MARK_PAGES(&r, "first", rf_active_anon), 0);
	eq(MARK_PAGES(&r, "first", rf_inactive_anon), 60);
	model_run_clear(&r);
	model_run(&r, "--kernel 5.10 --reclaim twolist,anon_inactive=no", t->str, 0);
	eq(MARK_PAGES(&r, "first", rf_active_anon), 60);
	model_run_clear(&r);
}
END_TEST

Suite *suite_model_memcg(void)
{
	Suite *s = suite_create("model-memcg");
	TCase *t = tcase_create("max");

	tcase_add_test(t, charges_in_batches);
	tcase_add_test(t, the_limit_holds);
	tcase_add_test(t, a_limit_written_later);
	tcase_add_test(t, limits_in_a_hierarchy);
	tcase_add_test(t, swap_in_is_the_owners);
	suite_add_tcase(s, t);
	t = tcase_create("high");
	tcase_add_test(t, high_throttles);
	tcase_add_test(t, high_two_seconds_at_most);
	suite_add_tcase(s, t);
	t = tcase_create("protection");
	tcase_add_test(t, protection);
	tcase_add_test(t, low_gives_way);
	tcase_add_test(t, protection_is_shared);
	tcase_add_test(t, no_protection_from_oneself);
	suite_add_tcase(s, t);
	t = tcase_create("releases");
	tcase_add_test(t, releases);
	suite_add_tcase(s, t);
	return s;
}
