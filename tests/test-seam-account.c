/* SPDX-License-Identifier: MIT
 * The account seam: the arithmetic of 2008, to the byte, and what it leaves to reclaim.
 */
#include <check.h>

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
	eq(account("--ram 48G --account node-array"), 480 * MIB);
	eq(account("--ram 48G --account section-array"), 480 * MIB);
	eq(account("--ram 48G --account pointer"), 96 * MIB);
	eq(account("--ram 48G --account pointer,disabled"), 96 * MIB);
	eq(account("--ram 48G --account section-array,disabled"), 0);
	eq(account("--ram 8G --account pointer,bits=32"), 8 * MIB);
	eq(account("--ram 48G --account section-array,bytes=32"), 384 * MIB);
	eq(account("--ram 48G --account section-array,bytes=16"), 192 * MIB);
	eq(account("--ram 48G --account hash"), 480 * MIB + 16384 + 384 * 20);
	eq(account("--ram 48G --account radix"), 0);
	eq(account("--ram 48G --account embedded"), 0);
	eq(account("--ram 48G --account off"), 0);
	eq(account("--ram 48G --account section-array --page-size 16K"), 120 * MIB);
	eq(account("--ram 48G --account section-array --page-size 64K"), 30 * MIB);
	eq(account("--ram 4G --account node-array,holes=1G"), 50 * MIB);
	eq(account("--ram 4G --account section-array"), 40 * MIB);
}
END_TEST

/* The pointer's objects come with charged pages; it takes more than the array from 80 % on. */
START_TEST(pointer_against_array)
{
	static const struct { unsigned pages; int sign; } rows[] = {
		{ 13106, -1 }, /* of 16384 pages: one below 80 %, with the page tables of the task left aside */
		{ 13108, 1 },
	};
	uint64_t array = account("--ram 64M --limit 60M --account section-array");

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

	model_run(&r, "--ram 48G --account section-array", trace, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_account_waste), 320 * MIB);
	eq(GAUGE(&r, rf_free) - mark_of(&r, "pool")->gauge[RF_G_rf_free], 128 * MIB - 32768 * (56 + 40));
	model_run_clear(&r);
	model_run(&r, "--ram 48G --account pointer", trace, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_account_waste), 64 * MIB);
	model_run_clear(&r);
	model_run(&r, "--ram 48G --account node-array,holes=1G", trace, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_account_waste), 330 * MIB);
	eq(GAUGE(&r, rf_free) - mark_of(&r, "pool")->gauge[RF_G_rf_free], 128 * MIB - 32768 * 56);
	model_run_clear(&r);
}
END_TEST

/* The array is memory that reclaim has not: 96 bytes a page with the smaller descriptor, not 64. */
START_TEST(reclaim_has_less)
{
	struct model_run array, none;

	model_run(&array, "--ram 64M --account section-array", "task 1\n", MODEL_RUN_UNCHECKED);
	model_run(&none, "--ram 64M --account embedded", "task 1\n", MODEL_RUN_UNCHECKED);
	eq(PAGES(&none, rf_free) - PAGES(&array, rf_free), 16384 * (96 - 64) / PAGE);
	model_run_clear(&array);
	model_run_clear(&none);
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
	return s;
}
