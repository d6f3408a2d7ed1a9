/* SPDX-License-Identifier: MIT
 * The protect seam, by hand: what is spared stays, and what that costs others.
 */
#include <check.h>
#include <string.h>

#include "tests/model-run.h"

Suite *suite_seam_protect(void);

/* 32 pages of code, and a file of 4 MiB that is read once, under a limit of 512 KiB. */
#define CODE "task 1\nfile 1 code 128K\nfile 2 stream 4M\nmmap 1 10000000 128K r-x file:1\nX 1 10000000 128K\n"
#define STREAM "read 1 file:2 0 4M\n"

/* Policies of both kinds: lists of the kernel's, and single proposals. */
static const char *const policies[] = { "twolist", "mglru", "mglru --kernel 6.12", "lru", "clock", "2q", "s3fifo" };

/* The code is not used while the file streams by: nothing but a rule for all of it can save it. */
START_TEST(skipexec_keeps_code)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		g_autofree char *options = g_strconcat("--limit 512K --reclaim ", policies[i], " --protect ", NULL);
		g_autofree char *plain = g_strconcat(options, "none", NULL);
		g_autofree char *spared = g_strconcat(options, "skipexec,rule=none", NULL);
		struct model_run r;

		model_run(&r, plain, CODE STREAM STREAM "mark stream\nX 1 10000000 128K\n", MODEL_RUN_UNCHECKED);
		eq(MARK_PAGES(&r, "stream", rf_mapped_file), 0);
		ck_assert_uint_gt(COUNTER(&r, rf_exec_refault), 0);
		model_run_clear(&r);
		model_run(&r, spared, CODE STREAM STREAM "mark stream\nX 1 10000000 128K\n", MODEL_RUN_UNCHECKED);
		eq(MARK_PAGES(&r, "stream", rf_mapped_file), 32);
		eq(COUNTER(&r, rf_exec_refault), 0);
		eq(COUNTER(&r, pgmajfault), MARK_COUNTER(&r, "stream", pgmajfault));
		ck_assert_uint_gt(COUNTER(&r, pgsteal_file), 1024 - 128); /* the file went */
		eq(r.result.oom->len, 0);
		model_run_clear(&r);
	}
}
END_TEST

/* Only what is mapped executable: the same file as data goes. */
START_TEST(skipexec_is_for_code)
{
	struct model_run r;

	model_run(&r, "--limit 512K --protect skipexec",
	          "task 1\nfile 1 code 128K\nfile 2 stream 4M\nmmap 1 10000000 128K r-- file:1\n"
	          "R 1 10000000 128K\n" STREAM STREAM, 0);
	eq(PAGES(&r, rf_mapped_file), 0);
	model_run_clear(&r);
}
END_TEST

/* More code than memory: nothing can be freed, so the program goes. */
START_TEST(skipexec_ends_in_oom)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		g_autofree char *options = g_strconcat("--limit 512K --protect skipexec --reclaim ", policies[i], NULL);
		struct model_run r;

		model_run(&r, options,
		          "task 1\nfile 1 code 1M\nmmap 1 10000000 1M r-x file:1\nX 1 10000000 1M\n", MODEL_RUN_UNCHECKED);
		eq(COUNTER(&r, oom_kill), 1);
		eq(oom_nth(&r, 0)->tid, 1);
		model_run_clear(&r);
	}
}
END_TEST

/* 64 pages of code beside anonymous memory that grows to 80 pages, 16 at a time; the code is used
 * again after each step.  Limit 128 pages, no swap: 64 pages of code and 64 others at most. */
static void grow(struct model_run *r, const char *policy, const char *protect)
{
	g_autofree char *options = g_strdup_printf("--limit 128pages --swap none --reclaim %s --protect %s", policy, protect);
	g_autoptr(GString) trace = g_string_new("task 1\nfile 1 code 256K\nmmap 1 10000000 256K r-x file:1\n"
	                                        "mmap 1 20000000 320K rw- anon\nX 1 10000000 256K\nmark start\n");

	for (unsigned i = 0; i < 5; i++) {
		line(trace, "W 1 %x 64K", 0x20000000 + i * 0x10000);
		line(trace, "X 1 10000000 256K");
	}
	model_run(r, options, trace->str, MODEL_RUN_UNCHECKED);
}

START_TEST(a_floor_kills_instead_of_thrashing)
{
	/* The 64 pages of code, 256 KiB, are just below. */
	static const char *const floors[] = { "min-filelist,kbytes=260", "le9,clean_min=260K",
	                                      "le9,clean_min=260K,clean_low=512K" };

	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		struct model_run plain;

		grow(&plain, policies[i], "exec");
		/* That release's has too few generations to age in so little memory, and gives up anyhow. */
		eq(COUNTER(&plain, oom_kill), strstr(policies[i], "6.12") != NULL);
		ck_assert_uint_gt(COUNTER(&plain, pgmajfault), MARK_COUNTER(&plain, "start", pgmajfault));
		ck_assert_uint_gt(COUNTER(&plain, rf_exec_refault), 0);
		for (unsigned j = 0; j < G_N_ELEMENTS(floors); j++) {
			struct model_run r;

			grow(&r, policies[i], floors[j]);
			eq(COUNTER(&r, oom_kill), 1);
			eq(COUNTER(&r, rf_exec_refault), 0); /* not one page of code left before */
			eq(COUNTER(&r, pgsteal_file), 0);
			eq(COUNTER(&r, pgmajfault), MARK_COUNTER(&r, "start", pgmajfault));
			model_run_clear(&r);
		}
		model_run_clear(&plain);
	}
}
END_TEST

/* A floor above what reclaim would leave anyway changes nothing, nor does one of none. */
START_TEST(floors_of_nothing_change_nothing)
{
	static const char *const none[] = { "min-filelist,kbytes=0", "le9,clean_low=0", "min-ttl,min_ttl_ms=0",
		                            "le9,clean_low=1G" };

	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		struct model_run plain;

		grow(&plain, policies[i], "exec");
		for (unsigned j = 0; j < G_N_ELEMENTS(none); j++) { /* the last is soft, and there is no swap */
			struct model_run r;

			grow(&r, policies[i], none[j]);
			ck_assert_mem_eq(r.result.counter, plain.result.counter, sizeof r.result.counter);
			eq(GAUGE(&r, rf_time), GAUGE(&plain, rf_time));
			model_run_clear(&r);
		}
		model_run_clear(&plain);
	}
}
END_TEST

/* 64 pages of a file, then 512 anonymous ones, under a limit of 256 pages, with swap. */
static void share(struct model_run *r, const char *policy, const char *protect)
{
	g_autofree char *options = g_strdup_printf("--limit 256pages --swap zram:4M --reclaim %s --protect %s", policy, protect);

	model_run(r, options,
	          "task 1\nfile 1 data 256K\nmmap 1 10000000 256K r-- file:1\nmmap 1 20000000 2M rw- anon\n"
	          "R 1 10000000 256K\nW 1 20000000 2M\n", MODEL_RUN_UNCHECKED);
	eq(COUNTER(r, oom_kill), 0);
}

START_TEST(floors_make_anonymous_pages_go)
{
	static const char *const hard[] = { "min-filelist,kbytes=260", "le9,clean_min=260K" };

	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		struct model_run plain, r;

		for (unsigned j = 0; j < G_N_ELEMENTS(hard); j++) {
			share(&r, policies[i], hard[j]);
			eq(COUNTER(&r, pgsteal_file), 0);
			ck_assert_uint_ge(COUNTER(&r, pgsteal_anon), 512 + 64 - 256);
			model_run_clear(&r);
		}
		/* The soft one gives way when the anonymous pages looked at were all in use. */
		share(&plain, policies[i], "exec");
		share(&r, policies[i], "le9,clean_low=260K");
		ck_assert_uint_lt(COUNTER(&r, pgsteal_file), COUNTER(&plain, pgsteal_file));
		model_run_clear(&plain);
		model_run_clear(&r);
	}
}
END_TEST

START_TEST(anon_floor_makes_file_pages_go)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		g_autofree char *options = g_strconcat("--limit 256pages --swap zram:4M "
		                                       "--protect le9,clean_low=0,anon_min=512K --reclaim ", policies[i], NULL);
		struct model_run r;

		model_run(&r, options,
		          "task 1\nfile 2 stream 4M\nmmap 1 20000000 512K rw- anon\nW 1 20000000 512K\n" STREAM STREAM,
		          MODEL_RUN_UNCHECKED);
		/* The floor holds pages below it: at 128 of 128 one may go, then no more. */
		ck_assert_uint_le(COUNTER(&r, pgsteal_anon), 32);
		ck_assert_uint_gt(COUNTER(&r, pgsteal_file), 1024);
		model_run_clear(&r);
	}
}
END_TEST

/* ---- min_ttl_ms ---- */

/* Those of the others that were built in first, too: what leaves first in, first out, used or not. */
static const char *const all_policies[] = { "twolist", "mglru", "mglru --kernel 6.12", "lru", "clock", "2q", "s3fifo",
	                                    "fifo", "random", "arc", "lirs", "sieve" };

/* 32 pages of code are used every 300 ms, and 16 of a stream pass by every 100, under 128: those of the last
 * 600 ms and the code fit.  Then the code is left alone. */
static void slow_stream(struct model_run *r, const char *policy, const char *protect)
{
	g_autofree char *options = g_strdup_printf("--limit 512K --read_ahead_kb 0 --reclaim %s --protect %s", policy, protect);
	g_autoptr(GString) trace = g_string_new(CODE);

	for (unsigned i = 0; i < 60; i++) {
		if (i < 30 && i % 3 == 0)
			line(trace, "X 1 10000000 128K");
		line(trace, "read 1 file:2 %uK 64K", i * 64);
		line(trace, "think 1 100000000");
		if (i == 29)
			line(trace, "mark busy");
	}
	model_run(r, options, trace->str, MODEL_RUN_UNCHECKED);
}

START_TEST(what_was_used_lately_stays)
{
	struct model_run r;

	slow_stream(&r, "fifo", "exec");
	ck_assert_uint_gt(COUNTER(&r, rf_exec_refault), 0);
	model_run_clear(&r);
	for (unsigned i = 0; i < G_N_ELEMENTS(all_policies); i++) {
		slow_stream(&r, all_policies[i], "min-ttl,min_ttl_ms=500");
		eq(COUNTER(&r, oom_kill), 0);
		eq(COUNTER(&r, rf_exec_refault), 0);
		eq(MARK_PAGES(&r, "busy", rf_mapped_file), 32);
		ck_assert_uint_gt(COUNTER(&r, pgsteal_file), 60 * 16 - 128);
		model_run_clear(&r);
	}
	/* Nothing but its age keeps it: first in, first out, it goes 500 ms after its last use. */
	slow_stream(&r, "fifo", "min-ttl,min_ttl_ms=500");
	eq(PAGES(&r, rf_mapped_file), 0);
	model_run_clear(&r);
}
END_TEST

/* What was used within the time is more than memory: then the task goes, and no page before it. */
START_TEST(else_a_task_is_killed)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(all_policies); i++) {
		struct model_run r;

		slow_stream(&r, all_policies[i], "min-ttl,min_ttl_ms=60000");
		eq(COUNTER(&r, oom_kill), 1);
		eq(COUNTER(&r, pgsteal_file), 0);
		model_run_clear(&r);
	}
}
END_TEST

/* A rule by release and one that is asked for are the same, and "none" is --protect none. */
START_TEST(the_rule_is_an_option_of_each)
{
	static const char *const pairs[][2] = {
		{ "none", "exec,rule=none" }, { "none", "le9,clean_low=0,rule=none" },
		{ "exec,rule=5.9", "min-filelist,kbytes=0" }, { "exec,rule=2.6.31", "le9,clean_low=0,rule=2.6.31" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(pairs); i++) {
		struct model_run a, b;

		grow(&a, "twolist", pairs[i][0]);
		grow(&b, "twolist", pairs[i][1]);
		ck_assert_mem_eq(a.result.counter, b.result.counter, sizeof a.result.counter);
		model_run_clear(&a);
		model_run_clear(&b);
	}
}
END_TEST

/* A file page that two tasks used once each: activated at its first look since 3.3, at its second
 * before, and it is not used again. */
START_TEST(two_mappings_are_two_uses_since_3_3)
{
	static const struct { const char *options; unsigned stay; } rows[] = {
		{ "--kernel 2.6.33", 32 }, /* one use was enough */
		{ "--kernel 2.6.34", 0 }, { "--kernel 3.2", 0 }, { "--kernel 3.3", 32 }, { "--kernel 6.18", 32 },
		{ "--kernel 3.2 --reclaim twolist,shared_once=yes", 32 },
		{ "--kernel 6.18 --reclaim twolist,shared_once=no", 0 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strconcat("--limit 512K --protect none ", rows[i].options, NULL);
		struct model_run r;

		model_run(&r, options,
		          "task 1\ntask 2\nfile 1 data 128K\nfile 2 stream 4M\nmmap 1 10000000 128K r-- file:1\n"
		          "mmap 2 10000000 128K r-- file:1\nR 1 10000000 128K\nR 2 10000000 128K\n" STREAM, MODEL_RUN_UNCHECKED);
		eq(PAGES(&r, rf_mapped_file), rows[i].stay);
		model_run_clear(&r);
	}
}
END_TEST

/* ---- I and A, the times that decide what the rule saves ---- */

/* A file of 16 MiB streams by under 2 MiB: what a list of so many pages takes at the stream's pace.  Its
 * pages are used once, so that the active list is not looked at. */
START_TEST(scan_time_of_a_stream)
{
	struct model_run r;
	double pace;

	model_run(&r, "--limit 2M", "task 1\nfile 2 stream 16M\nread 1 file:2 0 16M\n", MODEL_RUN_UNCHECKED);
	pace = (double)GAUGE(&r, rf_time) / 4096;
	ck_assert_uint_eq(PAGES(&r, rf_active_file), 0);
	ck_assert_double_eq_tol((double)GAUGE(&r, rf_inactive_file_scan) / (pace * (double)PAGES(&r, rf_inactive_file)), 1, 0.1);
	eq(GAUGE(&r, rf_active_file_scan), 0);
	model_run_clear(&r);
	model_run(&r, "--limit 2M", "task 1\nfile 2 stream 1M\nread 1 file:2 0 1M\n", MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_inactive_file_scan), 0); /* it fits */
	model_run_clear(&r);
}
END_TEST

Suite *suite_seam_protect(void)
{
	Suite *s = suite_create("seam_protect");
	TCase *t = tcase_create("pages");

	tcase_add_test(t, skipexec_keeps_code);
	tcase_add_test(t, skipexec_is_for_code);
	tcase_add_test(t, skipexec_ends_in_oom);
	tcase_add_test(t, two_mappings_are_two_uses_since_3_3);
	suite_add_tcase(s, t);
	t = tcase_create("floors");
	tcase_add_test(t, a_floor_kills_instead_of_thrashing);
	tcase_add_test(t, floors_of_nothing_change_nothing);
	tcase_add_test(t, floors_make_anonymous_pages_go);
	tcase_add_test(t, anon_floor_makes_file_pages_go);
	tcase_add_test(t, the_rule_is_an_option_of_each);
	tcase_add_test(t, what_was_used_lately_stays);
	tcase_add_test(t, else_a_task_is_killed);
	suite_add_tcase(s, t);
	t = tcase_create("times");
	tcase_add_test(t, scan_time_of_a_stream);
	suite_add_tcase(s, t);
	return s;
}
