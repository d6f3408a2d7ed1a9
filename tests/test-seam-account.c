/* SPDX-License-Identifier: MIT
 * The account seam: the arithmetic of 2008, to the byte, and what it leaves to reclaim.
 */
#include <check.h>

#include "policies/seams.h"
#include "tests/model-run.h"

Suite *suite_seam_account(void);

#define MIB (UINT64_C(1) << 20)

static uint64_t account(const char *options)
{
	struct model_run r;
	uint64_t bytes;

	model_run(&r, options, "task 1\n", 0);
	bytes = GAUGE(&r, rf_account);
	model_run_clear(&r);
	return bytes;
}

/* "480 MB" for an array and "96 MB" for a pointer on 48 GB of 64 bits, "8 MB" on 8 GB of 32 bits. */
START_TEST(figures_of_the_mail)
{
	eq(account("--ram 48G --account node-array --kernel 2.6.30"), 480 * MIB);
	eq(account("--ram 48G --account section-array --kernel 2.6.30"), 480 * MIB);
	eq(account("--ram 48G --account pointer"), 96 * MIB);
	eq(account("--ram 48G --account pointer,disabled"), 96 * MIB);
	eq(account("--ram 48G --account section-array,disabled"), 0);
	eq(account("--ram 8G --account pointer,bits=32"), 8 * MIB);
	eq(account("--ram 48G --account section-array,bytes=32"), 384 * MIB);
	eq(account("--ram 48G --account section-array,bytes=16"), 192 * MIB);
	/* A description shrank: "saves 20 %" in 2.6.39; one word and flags are left in 3.3. */
	eq(account("--ram 48G --account section-array --kernel 2.6.38"), 480 * MIB);
	eq(account("--ram 48G --account section-array --kernel 2.6.39"), 384 * MIB);
	eq(account("--ram 48G --account node-array --kernel 3.2"), 384 * MIB);
	eq(account("--ram 48G --account section-array --kernel 3.3"), 192 * MIB);
	eq(account("--ram 8G --account section-array,bits=32 --kernel 3.3"), 16 * MIB);
	eq(account("--ram 48G --account hash"), 480 * MIB + 16384 + 384 * 20);
	eq(account("--ram 48G --account radix"), 0);
	eq(account("--ram 48G --account embedded"), 0);
	eq(account("--ram 48G --account off"), 0);
	eq(account("--ram 48G --account section-array --page-size 16K --kernel 2.6.30"), 120 * MIB);
	eq(account("--ram 48G --account section-array --page-size 64K --kernel 2.6.30"), 30 * MIB);
	eq(account("--ram 4G --account node-array,holes=1G --kernel 2.6.30"), 50 * MIB);
	eq(account("--ram 4G --account section-array --kernel 2.6.30"), 40 * MIB);
}
END_TEST

/* The pointer's objects come with charged pages; it takes more than the array from 80 % on. */
START_TEST(pointer_against_array)
{
	static const struct { unsigned pages; int sign; } rows[] = {
		{ 13106, -1 }, /* of 16384 pages: one below 80 %, with the page tables of the task left aside */
		{ 13108, 1 },
	};
	uint64_t array = account("--ram 64M --limit 60M --account section-array --kernel 2.6.30");

	eq(array, 16384 * 40);
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *trace = g_strdup_printf("task 1\nmmap 1 10000000 64M rw- anon\nW 1 10000000 %u\n",
		                                         rows[i].pages * PAGE);
		struct model_run r;

		model_run(&r, "--ram 64M --account pointer --min_free_kbytes 128", trace, MODEL_RUN_UNCHECKED);
		eq(GAUGE(&r, rf_account), 16384 * 8 + rows[i].pages * UINT64_C(40));
		ck_assert_int_eq(GAUGE(&r, rf_account) > array ? 1 : -1, rows[i].sign);
		model_run_clear(&r);
	}
}
END_TEST

START_TEST(objects_come_and_go)
{
	struct model_run r;
	const char *trace = "task 1\nmmap 1 10000000 1M rw- anon\nW 1 10000000 1M\nmark all\nmunmap 1 10000000 1M\n";

	model_run(&r, "--account pointer", trace, 0);
	eq(GAUGE(&r, rf_account), 262144 * 8);
	eq(GAUGE(&r, rf_account_boot), 262144 * 8);
	eq(GAUGE(&r, rf_account_max), 262144 * 8 + 256 * 40);
	eq(mark_of(&r, "all")->gauge[RF_G_rf_account], 262144 * 8 + 256 * 40);
	/* Pages, tables, and three pages of objects. */
	eq(PAGES(&r, rf_free) - MARK_PAGES(&r, "all", rf_free), 256 + 1 + 2 + 3);
	model_run_clear(&r);
	model_run(&r, "--account radix", trace, 0);
	eq(mark_of(&r, "all")->gauge[RF_G_rf_account], 256 * 40 + 4 * 576);
	eq(GAUGE(&r, rf_account), 0);
	model_run_clear(&r);
}
END_TEST

/* What is never charged pays for the array all the same: 320 MiB for a pool of 32 GiB, 64 MiB for the
 * pointer; memory that is added brings its own. */
START_TEST(never_charged_and_new_memory)
{
	struct model_run r;
	const char *trace = "task 1\nhugetlb 32G\nmark pool\nmemory online 128M\n";

	model_run(&r, "--ram 48G --account section-array --kernel 2.6.30", trace, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_account_waste), 320 * MIB);
	eq(GAUGE(&r, rf_free) - mark_of(&r, "pool")->gauge[RF_G_rf_free], 128 * MIB - 32768 * (56 + 40));
	model_run_clear(&r);
	model_run(&r, "--ram 48G --account pointer", trace, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_account_waste), 64 * MIB);
	model_run_clear(&r);
	model_run(&r, "--ram 48G --account node-array,holes=1G --kernel 2.6.30", trace, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_account_waste), 330 * MIB);
	eq(GAUGE(&r, rf_free) - mark_of(&r, "pool")->gauge[RF_G_rf_free], 128 * MIB - 32768 * 56);
	model_run_clear(&r);
}
END_TEST

/* The array is memory that reclaim has not: 96 bytes a page with the smaller descriptor, not 64. */
START_TEST(reclaim_has_less)
{
	struct model_run array, none;

	model_run(&array, "--ram 64M --account section-array,bytes=40", "task 1\n", MODEL_RUN_UNCHECKED);
	model_run(&none, "--ram 64M --account embedded", "task 1\n", MODEL_RUN_UNCHECKED);
	eq(PAGES(&none, rf_free) - PAGES(&array, rf_free), 16384 * (96 - 64) / PAGE);
	model_run_clear(&array);
	model_run_clear(&none);
}
END_TEST

/* ---- time ---- */

/* Lines that objects side by side lie in, counted one by one. */
START_TEST(lines_of_objects)
{
	for (uint32_t size = 1; size <= 300; size++) {
		uint64_t lines = 0;

		for (uint64_t i = 0; i < RF_CACHE_LINE; i++)
			lines += (i * size + size - 1) / RF_CACHE_LINE - i * size / RF_CACHE_LINE + 1;
		eq(rf_lines_64(size), lines);
	}
	eq(rf_lines_64(0), 0);
	eq(rf_lines_64(56), 64 + 48); /* three of four straddle */
	eq(rf_lines_64(64), 64);
}
END_TEST

/* 256 pages charged and uncharged: what one look-up is, in 64ths of a line's time and for the others in
 * orders of magnitude that tell them apart. */
#define COSTS " --set cache_line=64ns --set cache_line_shared=1000ns --set atomic=10us --set slab_pair=200us"
#define MAP_AND_UNMAP "task 1\nmmap 1 10000000 1M rw- anon\nW 1 10000000 1M\nmunmap 1 10000000 1M\n"

START_TEST(look_ups)
{
	static const struct { const char *options; unsigned lines, ns; } rows[] = {
		{ "embedded", 0, 0 },
		{ "embedded --kernel 2.6.30", 0, 0 },
		{ "off", 0, 0 },
		{ "off --kernel 3.18", 48, 0 },
		{ "section-array --kernel 2.6.32", 48 + 96, 11000 },
		{ "section-array --kernel 3.0", 48 + 64, 11000 },
		{ "section-array,bytes=40 --kernel 3.17", 48 + 96, 1000 },
		{ "section-array,padded=yes --kernel 2.6.32", 96, 11000 },
		{ "section-array,lock=no --kernel 2.6.32", 48 + 96, 1000 },
		{ "section-array,disabled --kernel 2.6.32", 48, 0 },
		{ "node-array,bits=32 --kernel 2.6.32", 80, 11000 }, /* 20 bytes each, descriptors of 32 */
		{ "pointer --kernel 2.6.30", 96, 110000 },
		{ "pointer,lock=no --kernel 2.6.30", 96, 100000 },
		{ "pointer,disabled --kernel 2.6.30", 0, 0 },
		{ "pointer,bits=32 --kernel 2.6.30", 32 + 80, 110000 }, /* 36 bytes apart */
		{ "hash --kernel 2.6.30", 48 + 96, 12000 },
		/* 64 * 64 * 64 pages are three levels, the lowest of which has the page's slot. */
		{ "radix --ram 1G --kernel 2.6.30", 48 + 96 + 64, 112000 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		static const char *const replays[] = { "ordered", "closed" };

		for (unsigned k = 0; k < G_N_ELEMENTS(replays); k++) {
			g_autofree char *options = g_strdup_printf("--replay %s --account %s", replays[k], rows[i].options);
			g_autofree char *free_of_charge = g_strconcat(options, " --set cache_line=0 --set cache_line_shared=0 "
			                                              "--set atomic=0 --set slab_pair=0", NULL);
			g_autofree char *costly = g_strconcat(options, COSTS, NULL);
			struct model_run r, plain;

			model_run(&r, costly, MAP_AND_UNMAP, 0);
			model_run(&plain, free_of_charge, MAP_AND_UNMAP, 0);
			eq(GAUGE(&r, rf_account_lines), 512 * rows[i].lines / 64);
			eq(GAUGE(&r, rf_time_account), UINT64_C(512) * (rows[i].lines + rows[i].ns));
			eq(GAUGE(&r, rf_time) - GAUGE(&plain, rf_time), GAUGE(&r, rf_time_account));
			eq(GAUGE(&plain, rf_time_account), 0);
			model_run_clear(&r);
			model_run_clear(&plain);
		}
	}
}
END_TEST

/* What kswapd uncharges is no time of the task's. */
START_TEST(reclaim_pays_for_itself)
{
	struct model_run r;

	model_run(&r, "--ram 8M --min_free_kbytes 256 --account section-array --kernel 2.6.32" COSTS,
	          "task 1\nfile 1 stream 32M\nread 1 file:1 0 32M\n", MODEL_RUN_UNCHECKED);
	ck_assert_uint_gt(COUNTER(&r, pgsteal_kswapd), 1000);
	eq(GAUGE(&r, rf_time_access) + GAUGE(&r, rf_time_fault) + GAUGE(&r, rf_time_io) + GAUGE(&r, rf_time_reclaim) +
	   GAUGE(&r, rf_time_throttle), GAUGE(&r, rf_time));
	model_run_clear(&r);
}
END_TEST

/* Two tasks on two processors write one counter in turn; one alone has it to itself; without a memory
 * controller there is none. */
START_TEST(contended_counters)
{
	static const struct { const char *options; unsigned tasks; } rows[] = {
		{ "--cpus 2 --account section-array", 2 }, { "--cpus 2 --account section-array", 1 },
		{ "--cpus 1 --account section-array", 2 }, { "--cpus 2 --account off", 2 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strconcat("--replay closed --kernel 2.6.32 ", rows[i].options, NULL);
		g_autoptr(GString) trace = g_string_new("cgroup /child\n");
		struct model_run r;

		for (unsigned t = 1; t <= rows[i].tasks; t++)
			line(trace, "task %u cgroup=/child", t);
		for (unsigned t = 1; t <= rows[i].tasks; t++) {
			line(trace, "mmap %u 10000000 64K rw- anon", t);
			line(trace, "W %u 10000000 64K", t);
		}
		model_run(&r, options, trace->str, 0);
		/* Pages, page tables of three levels, and a page of mappings for all. */
		eq(GAUGE(&r, rf_counter_writes), strstr(options, "off") ? 0 : rows[i].tasks * (16 + 3) + 1);
		if (i == 0)
			ck_assert_uint_gt(GAUGE(&r, rf_counter_contended), 16);
		else
			eq(GAUGE(&r, rf_counter_contended), 0);
		model_run_clear(&r);
	}
}
END_TEST

Suite *suite_seam_account(void)
{
	Suite *s = suite_create("seam_account");
	TCase *t = tcase_create("memory");

	tcase_add_test(t, figures_of_the_mail);
	tcase_add_test(t, pointer_against_array);
	tcase_add_test(t, objects_come_and_go);
	tcase_add_test(t, never_charged_and_new_memory);
	tcase_add_test(t, reclaim_has_less);
	suite_add_tcase(s, t);
	t = tcase_create("time");
	tcase_add_test(t, lines_of_objects);
	tcase_add_test(t, look_ups);
	tcase_add_test(t, reclaim_pays_for_itself);
	tcase_add_test(t, contended_counters);
	suite_add_tcase(s, t);
	return s;
}
