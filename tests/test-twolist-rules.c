/* SPDX-License-Identifier: MIT
 * twolist's rules, switch by switch: a workload on which one of them shows, what it does there, and that
 * --kernel sets it as the release did.
 */
#include <check.h>

#include "tests/rules.h"

Suite *suite_twolist_rules(void);

static void clear_both(struct model_run *a, struct model_run *b)
{
	model_run_clear(a);
	model_run_clear(b);
}

/* 128 pages that are used again whenever 16 of 1024 others were used once, under 256. */
static char *hot_and_cold(const char *hot, const char *cold)
{
	GString *t = g_string_new("task 1\n");

	line(t, "mmap 1 10000000 512K rw- %s", hot);
	line(t, "mmap 1 20000000 4M rw- %s", cold);
	line(t, "W 1 10000000 512K");
	for (unsigned i = 0; i < 64; i++) {
		line(t, "W 1 %x 64K", 0x20000000 + (i << 16));
		line(t, "W 1 10000000 512K");
	}
	return g_string_free(t, FALSE);
}

/* A file of so many KiB is read twice, and never again; then another one goes round. */
static char *hot_and_loop(unsigned hot, unsigned loop, unsigned rounds)
{
	GString *t = g_string_new("task 1\n");

	line(t, "file 1 hot %uK", hot);
	line(t, "file 2 loop %uK", loop);
	for (unsigned i = 0; i < 2; i++)
		line(t, "read 1 file:1 0 %uK", hot);
	for (unsigned i = 0; i < rounds; i++)
		line(t, "read 1 file:2 0 %uK", loop);
	return g_string_free(t, FALSE);
}

/* A young page is activated, or makes one more trip first. */
START_TEST(anon_second_chance)
{
	g_autofree char *trace = hot_and_cold("anon", "anon");
	const struct rule rule = { "twolist", "anon_second_chance", "no", "yes", "5.8", "5.9",
	                                  "--limit 1M --swap zram:8M", trace };
	struct model_run off, on;

	rule_by_release(&rule, &off, &on);
	ck_assert_uint_lt(COUNTER(&on, pgactivate), COUNTER(&off, pgactivate));
	clear_both(&off, &on);
}
END_TEST

/* So did a page of shmem from 2.6.34 to 3.4, in a kernel that activated anonymous ones at once. */
START_TEST(shmem_twice)
{
	g_autofree char *trace = hot_and_cold("shmem:1", "shmem:2");
	const struct rule came = { "twolist", "ref_twice=yes,shmem_twice", "no", "yes", "2.6.33", "2.6.34",
	                                  "--limit 1M --swap zram:8M", trace };
	const struct rule went = { "twolist", "shmem_twice", "yes", "no", "3.4", "3.5",
	                                  "--limit 1M --swap zram:8M", trace };
	struct model_run off, on;

	rule_by_release(&came, &off, &on);
	ck_assert_uint_lt(COUNTER(&on, pgactivate), COUNTER(&off, pgactivate));
	clear_both(&off, &on);
	rule_by_release(&went, &on, &off);
	ck_assert_uint_lt(COUNTER(&on, pgactivate), COUNTER(&off, pgactivate));
	clear_both(&off, &on);
}
END_TEST

/* 128 pages were used twice and never again; 160 go round in what they leave.  Without shadows each of the
 * five rounds after the first brings back all; with them those of the second are found to fit. */
START_TEST(workingset)
{
	g_autofree char *trace = hot_and_loop(512, 640, 6);
	const struct rule rule = { "twolist", "workingset", "no", "yes", "3.14", "3.15", "--limit 1M", trace };
	struct model_run off, on;

	rule_by_release(&rule, &off, &on);
	eq(COUNTER(&off, workingset_refault_file), 5 * 160);
	eq(COUNTER(&off, workingset_activate_file), 0);
	ck_assert_uint_gt(COUNTER(&on, workingset_activate_file), 0);
	ck_assert_uint_le(COUNTER(&on, workingset_refault_file), 160);
	clear_both(&off, &on);
}
END_TEST

/* 64 active pages of 256 were looked at by 2.6.30 alone; 900 MiB of 1536, by all before 4.7, which wants a
 * third inactive where there is a GiB. */
START_TEST(active_file)
{
	g_autofree char *small = hot_and_loop(256, 8192, 1), *large = hot_and_loop(900 << 10, 1 << 20, 1);
	const struct rule of_2_6_31 = { "twolist", "active_file", "any", "half", "2.6.30", "2.6.31", "--limit 1M", small };
	const struct rule of_4_7 = { "twolist", "active_file", "half", "ratio", "4.6", "4.7",
	                             "--limit 1536M --page-size 64K --ram 3G", large };
	struct model_run any, half, ratio;

	rule_by_release(&of_2_6_31, &any, &half);
	ck_assert_uint_gt(COUNTER(&any, pgdeactivate), 0);
	eq(COUNTER(&half, pgdeactivate), 0);
	clear_both(&any, &half);
	rule_by_release(&of_4_7, &half, &ratio);
	ck_assert_uint_gt(COUNTER(&half, pgdeactivate), 0);
	eq(COUNTER(&ratio, pgdeactivate), 0);
	/* Half of what is there is active in the end, to a batch. */
	ck_assert_uint_le(PAGES(&half, rf_active_file), PAGES(&half, rf_inactive_file) + 32);
	eq(PAGES(&ratio, rf_active_file), 900 * 16);
	clear_both(&half, &ratio);
}
END_TEST

/* What came back and was activated lets the active list shrink, though it is not too long. */
START_TEST(refault_deactivate)
{
	g_autofree char *trace = hot_and_loop(384, 680, 6);
	const struct rule rule = { "twolist", "refault_deactivate", "no", "yes", "4.6", "4.7", "--limit 1M", trace };
	struct model_run off, on;

	rule_by_release(&rule, &off, &on);
	ck_assert_uint_gt(COUNTER(&on, pgdeactivate), COUNTER(&off, pgdeactivate));
	clear_both(&off, &on);
}
END_TEST

/* 64 anonymous pages are left alone beside the pages of a stream. */
START_TEST(cache_trim)
{
	static const struct rule rule = {
		"twolist", "cache_trim", "no", "yes", "5.4", "5.5", "--limit 1M --swap zram:8M",
		"task 1\nfile 2 stream 8M\nmmap 1 10000000 256K rw- anon\nW 1 10000000 256K\nread 1 file:2 0 8M\n" };
	struct model_run off, on;

	rule_by_release(&rule, &off, &on);
	ck_assert_uint_gt(COUNTER(&off, pgscan_anon), 0);
	eq(COUNTER(&on, pgscan_anon), 0);
	clear_both(&off, &on);
}
END_TEST

/* 128 anonymous pages are always in use beside a file that does not fit.  Scans that find them so count
 * against them before 5.8 and since 6.3; in between only what is written to swap does. */
START_TEST(cost)
{
	g_autoptr(GString) t = g_string_new("task 1\nfile 2 loop 1M\nmmap 1 10000000 512K rw- anon\nW 1 10000000 512K\n");
	struct rule first = { "twolist", "cache_trim=no,cost", "rotated", "pageout", "5.7", "5.8",
	                      "--limit 1M --swap zram:8M", NULL };
	struct rule second = { "twolist", "cache_trim=no,cost", "pageout", "io_rotated", "6.2", "6.3",
	                       "--limit 1M --swap zram:8M", NULL };
	struct model_run rotated, pageout, io_rotated;

	for (unsigned i = 0; i < 8 * 16; i++) {
		line(t, "read 1 file:2 %uK 64K", i % 16 * 64);
		line(t, "W 1 10000000 512K");
	}
	first.trace = second.trace = t->str;
	rule_by_release(&first, &rotated, &pageout);
	ck_assert_uint_lt(COUNTER(&rotated, pgscan_anon), COUNTER(&pageout, pgscan_anon));
	clear_both(&rotated, &pageout);
	rule_by_release(&second, &pageout, &io_rotated);
	ck_assert_uint_lt(COUNTER(&io_rotated, pgscan_anon), COUNTER(&pageout, pgscan_anon));
	clear_both(&pageout, &io_rotated);
}
END_TEST

/* When enough was freed, the larger of both types is scanned on, by as much as the smaller one was. */
START_TEST(proportional)
{
	g_autoptr(GString) t = g_string_new("task 1\nfile 1 data 8M\nmmap 1 10000000 8M r-- file:1\n"
	                                    "mmap 1 20000000 16M rw- anon\n");
	struct rule rule = { "twolist", "proportional", "no", "yes", "3.10", "3.11", "--limit 16M --swap zram:64M", NULL };
	struct model_run off, on;

	for (unsigned i = 1; i <= 16; i++)
		line(t, "R 1 10000000 8M\nW 1 20000000 %uM", i);
	rule.trace = t->str;
	rule_by_release(&rule, &off, &on);
	ck_assert_uint_gt(COUNTER(&on, pgscan_anon) + COUNTER(&on, pgscan_file),
	                  COUNTER(&off, pgscan_anon) + COUNTER(&off, pgscan_file));
	clear_both(&off, &on);
}
END_TEST

START_TEST(batch)
{
	static const struct batch_rule rows[] = {
		{ "--kernel 4.14 --reclaim twolist", 28 }, { "--kernel 4.15 --reclaim twolist", 30 },
		{ "--kernel 6.9 --reclaim twolist", 30 }, { "--kernel 6.10 --reclaim twolist", 31 },
		{ "--kernel 6.18 --reclaim twolist,batch=1", 40 }, { "--kernel 6.18 --reclaim twolist,batch=7", 35 },
		{ "--kernel 4.14 --reclaim twolist,batch=31", 31 },
	};

	rule_of_batches(rows, G_N_ELEMENTS(rows));
}
END_TEST

Suite *suite_twolist_rules(void)
{
	Suite *s = suite_create("twolist_rules");
	TCase *t = tcase_create("rules");

	tcase_add_test(t, anon_second_chance);
	tcase_add_test(t, shmem_twice);
	tcase_add_test(t, workingset);
	tcase_add_test(t, active_file);
	tcase_add_test(t, refault_deactivate);
	tcase_add_test(t, cache_trim);
	tcase_add_test(t, cost);
	tcase_add_test(t, proportional);
	tcase_add_test(t, batch);
	suite_add_tcase(s, t);
	return s;
}
