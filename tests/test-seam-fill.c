/* SPDX-License-Identifier: MIT
 * The fill seam: reference pages and what was proposed instead of them, by hand and against the tables
 * of that discussion.
 */
#include <check.h>

#include "base/rng.h"
#include "tests/model-run.h"

Suite *suite_seam_fill(void);

/* An allocator's 16 pages of patterned memory, beside 4 of plain anonymous memory. */
#define HEAP \
	"task 1\nrefpage 7 16\nmmap 1 10000000 64K rw- refpage:7\nmmap 1 20000000 16K rw- anon\n"

/* ---- what a reference page is ---- */

START_TEST(a_load_maps_the_shared_page)
{
	struct model_run r;

	model_run(&r, "--fill refpage", HEAP "R 1 10000000 64K\nmark read\nR 1 10000000 64K\nmark again\n", 0);
	eq(MARK_COUNTER(&r, "read", pgfault), 16);
	eq(MARK_COUNTER(&r, "read", rf_reference_page), 16);
	eq(MARK_COUNTER(&r, "read", rf_zero_page), 0);
	eq(MARK_COUNTER(&r, "read", rf_charge_pages), 0); /* nobody is charged, */
	eq(MARK_PAGES(&r, "read", rf_rss), 0);            /* nothing is resident, */
	eq(MARK_PAGES(&r, "read", rf_resident), 0);       /* nothing is on a list */
	eq(PAGES(&r, rf_inactive_anon) + PAGES(&r, rf_active_anon), 0);
	eq(MARK_COUNTER(&r, "again", pgfault), 16);
	eq(PAGES(&r, rf_reference_pages), 1);
	model_run_clear(&r);
}
END_TEST

START_TEST(a_store_gets_a_page_that_is_filled)
{
	struct model_run r;

	model_run(&r, "--fill refpage",
	          HEAP "W 1 10000000 4K\nmark absent\nR 1 10001000\nW 1 10001000\nmark present\n"
	          "W 1 20000000 4K\nR 1 20001000\nmark plain\n", 0);
	eq(MARK_COUNTER(&r, "absent", pgfault), 1);
	eq(MARK_PAGES(&r, "absent", rf_rss_anon), 1);
	eq(MARK_COUNTER(&r, "absent", rf_filled), 1);
	eq(MARK_COUNTER(&r, "present", pgfault), 3); /* one more than when the store comes first */
	eq(MARK_COUNTER(&r, "present", rf_filled), 2);
	eq(MARK_PAGES(&r, "present", rf_rss_anon), 2);
	eq(MARK_PAGES(&r, "plain", rf_rss_anon), 3);
	eq(COUNTER(&r, rf_filled), 2); /* plain memory is zeroed as ever */
	eq(COUNTER(&r, rf_zero_page), 1);
	eq(COUNTER(&r, rf_cow), 0); /* filled from the pattern, not copied from a task's page */
	model_run_clear(&r);
}
END_TEST

/* After the copy it is an anonymous page like any other: reclaimed, swapped, shared by a fork. */
START_TEST(what_was_written_is_ordinary)
{
	struct model_run r;

	model_run(&r, "--fill refpage --limit 40pages --swap zram:4M",
	          "task 1\nrefpage 1 1\nmmap 1 10000000 256K rw- refpage:1\nR 1 10000000 256K\nmark read\n"
	          "W 1 10000000 256K\n", 0);
	eq(MARK_COUNTER(&r, "read", pgscan_anon), 0);
	ck_assert_uint_gt(COUNTER(&r, pswpout), 0);
	eq(COUNTER(&r, rf_reference_page), 64);
	ck_assert_uint_le(PAGES(&r, rf_rss), 40);
	model_run_clear(&r);

	model_run(&r, "--fill refpage",
	          HEAP "W 1 10000000 4K\nR 1 10001000\ntask 2 parent=1\nR 2 10001000\nmark read\n"
	          "W 2 10000000\nW 2 10001000\nmunmap 1 10000000 64K\n", 0);
	eq(MARK_COUNTER(&r, "read", pgfault), 2); /* the child has the parent's entries, the shared page too */
	eq(COUNTER(&r, pgfault), 4);
	eq(COUNTER(&r, rf_cow), 1);
	eq(COUNTER(&r, rf_filled), 2);
	eq(task_of(&r, 1)->rss, 0);
	eq(task_of(&r, 2)->rss, 2 * PAGE);
	model_run_clear(&r);
}
END_TEST

/* Charged to whoever stores, and on its lists; the loads before were nobody's. */
START_TEST(a_store_is_charged)
{
	struct model_run r;

	model_run(&r, "--fill refpage",
	          "cgroup /c\ntask 1 cgroup=/c\nrefpage 7 16\nmmap 1 10000000 256K rw- refpage:7\nR 1 10000000 256K\n"
	          "mark read\nW 1 10000000 248K\n", 0);
	eq(MARK_COUNTER(&r, "read", rf_charge_pages), 0);
	eq(CG_COUNTER(&r, "/c", rf_charge_pages), 62); /* two batches, on their way to the lists */
	eq(MARK_PAGES(&r, "read", rf_active_anon) + MARK_PAGES(&r, "read", rf_inactive_anon), 0);
	eq(PAGES(&r, rf_active_anon) + PAGES(&r, rf_inactive_anon), 62);
	eq(PAGES(&r, rf_rss_anon), 62);
	model_run_clear(&r);
}
END_TEST

/* Memory is short: the entries of the shared page stay, and so does it, unmovable and in no swap. */
START_TEST(the_shared_page_stays)
{
	struct model_run r;

	model_run(&r, "--fill refpage --limit 60pages --swap zram:4M",
	          "task 1\nrefpage 1 16\nmmap 1 10000000 128K rw- refpage:1\nR 1 10000000 128K\n"
	          "mmap 1 20000000 1M rw- anon\nW 1 20000000 1M\nmark pressure\nR 1 10000000 128K\n", 0);
	ck_assert_uint_gt(MARK_COUNTER(&r, "pressure", pswpout), 150);
	eq(COUNTER(&r, pgfault), MARK_COUNTER(&r, "pressure", pgfault));
	eq(COUNTER(&r, rf_reference_page), 32);
	eq(PAGES(&r, rf_reference_pages), 1);
	model_run_clear(&r);
}
END_TEST

/* What a program gave up, and reclaim took, is the pattern again, not zeros. */
START_TEST(lazyfree_gives_the_pattern_back)
{
	struct model_run r;

	model_run(&r, "--fill refpage --swap zram",
	          "cgroup /c memory.max=512K\ntask 1 cgroup=/c\nrefpage 1 16\nmmap 1 10000000 248K rw- refpage:1\n"
	          "W 1 10000000 248K\nmadvise 1 10000000 64K free\ntask 2 cgroup=/c\nmmap 2 20000000 512K rw- anon\n"
	          "W 2 20000000 512K\nexit 2\nR 1 10000000 64K\n", 0);
	eq(COUNTER(&r, pglazyfreed), 16);
	eq(COUNTER(&r, rf_reference_page), 16);
	eq(COUNTER(&r, rf_zero_page), 0);
	eq(COUNTER(&r, pswpin), 0);
	model_run_clear(&r);
}
END_TEST

/* mlock() gets pages as get_user_pages() does: the shared one of a mapping that cannot be stored to,
 * which is not the task's to lock; filled ones otherwise. */
START_TEST(locking_a_reference_page)
{
	struct model_run r;

	model_run(&r, "--fill refpage",
	          "task 1\nrefpage 1 16\nmmap 1 10000000 64K r-- refpage:1\nmlock 1 10000000 64K\nmark shared\n"
	          "mmap 1 20000000 64K rw- refpage:1\nmlock 1 20000000 64K\n", 0);
	eq(MARK_COUNTER(&r, "shared", rf_reference_page), 16);
	eq(MARK_PAGES(&r, "shared", rf_rss), 0);
	eq(MARK_PAGES(&r, "shared", rf_mlocked), 0);
	eq(COUNTER(&r, rf_reference_page), 16);
	eq(COUNTER(&r, rf_filled), 16);
	eq(PAGES(&r, rf_mlocked), 16);
	model_run_clear(&r);
}
END_TEST

START_TEST(dontneed_gives_the_pattern_back)
{
	struct model_run r;

	model_run(&r, "--fill refpage",
	          HEAP "W 1 10000000 64K\nmark written\nmadvise 1 10000000 64K dontneed\nR 1 10000000 64K\n", 0);
	eq(MARK_PAGES(&r, "written", rf_rss), 16);
	eq(COUNTER(&r, rf_reference_page), 16);
	eq(COUNTER(&r, pgfault), 32);
	eq(PAGES(&r, rf_rss), 0);
	model_run_clear(&r);
}
END_TEST

/* Such a mapping has a file: it does not merge with its anonymous neighbours. */
START_TEST(it_costs_mappings)
{
	struct model_run r;

	model_run(&r, "--fill refpage",
	          "task 1\nrefpage 1 16\nmmap 1 10000000 4K rw- anon\nmmap 1 10001000 4K rw- anon\nmark anon\n"
	          "mmap 1 10002000 4K rw- refpage:1\nmmap 1 10003000 4K rw- anon\n", 0);
	eq(mark_of(&r, "anon")->gauge[RF_G_rf_vma], 226);
	eq(GAUGE(&r, rf_vma), 3 * 226);
	model_run_clear(&r);
}
END_TEST

/* ---- the other members ---- */

START_TEST(members_differ_in_whose_page_it_is)
{
	static const struct {
		const char *options;
		unsigned faults, shared, filled, written, rss;
	} rows[] = {
		/* 8 pages are read, 4 of them and 4 others written */
		{ "--fill zero", 16, 8, 0, 0, 8 },
		{ "--fill zero-always", 12, 0, 0, 0, 12 },
		{ "--fill memset", 16, 0, 0, 16, 16 },
		{ "--fill refpage", 16, 8, 8, 0, 8 },
		{ "--fill refpage,zero_page=no", 12, 0, 12, 0, 12 },
		{ "--fill fill-on-fault", 12, 0, 12, 0, 12 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct model_run r;

		model_run(&r, rows[i].options, HEAP "R 1 10000000 32K\nW 1 10004000 32K\n", 0);
		eq(COUNTER(&r, pgfault), rows[i].faults);
		eq(COUNTER(&r, rf_zero_page) + COUNTER(&r, rf_reference_page), rows[i].shared);
		eq(COUNTER(&r, rf_filled), rows[i].filled);
		eq(COUNTER(&r, rf_memset), rows[i].written);
		eq(PAGES(&r, rf_rss_anon), rows[i].rss);
		model_run_clear(&r);
	}
}
END_TEST

START_TEST(memset_of_all_anonymous_memory)
{
	struct model_run r;

	model_run(&r, "--fill memset,anon=yes",
	          HEAP "mmap 1 30000000 16K r-- anon\nmmap 1 40000000 16K rw- shmem:1 shared\n", 0);
	eq(COUNTER(&r, rf_memset), 20);
	eq(PAGES(&r, rf_rss), 20);
	model_run_clear(&r);
}
END_TEST

/* R4: fill on fault and a shared page are equal where the store comes first; in a sparse scan, fill on
 * fault has every page that was read, the shared page none. */
START_TEST(fill_on_fault_against_a_shared_page)
{
	struct model_run shared, filled;
	const char *write_first = HEAP "W 1 10000000 64K\nR 1 10000000 64K\n";
	const char *scan = HEAP "R 1 10000000\nR 1 10004000\nR 1 10008000\nR 1 1000c000\n";

	model_run(&shared, "--fill refpage", write_first, 0);
	model_run(&filled, "--fill fill-on-fault", write_first, 0);
	eq(PAGES(&shared, rf_rss), 16);
	eq(PAGES(&filled, rf_rss), 16);
	eq(COUNTER(&shared, pgfault), COUNTER(&filled, pgfault));
	eq(GAUGE(&shared, rf_time), GAUGE(&filled, rf_time));
	model_run_clear(&shared);
	model_run_clear(&filled);
	model_run(&shared, "--fill refpage", scan, 0);
	model_run(&filled, "--fill fill-on-fault", scan, 0);
	eq(PAGES(&shared, rf_rss), 0);
	eq(PAGES(&filled, rf_rss), 4);
	model_run_clear(&shared);
	model_run_clear(&filled);
}
END_TEST

/* R3: of pages that are touched with probability p in 4 KiB pieces, a page of k pieces is resident with
 * 1-(1-p)^k: 0.10, 0.34, 0.81 for 10 % and 4, 16, 64 KiB.  A memset makes all of it resident. */
START_TEST(larger_pages_eat_the_gain)
{
	static const struct { const char *options; unsigned shift; double share; } rows[] = {
		{ "--fill refpage --page-size 4K", 12, 0.10 },
		{ "--fill refpage --page-size 16K", 14, 1 - 0.9 * 0.9 * 0.9 * 0.9 },
		{ "--fill refpage --page-size 64K", 16, 0.814698 },
	};
	enum { PIECES = 16384 };
	struct rf_rng rng = { model_run_seed() };
	g_autofree uint8_t *touched = g_malloc0(PIECES);
	g_autoptr(GString) trace = g_string_new("task 1\nrefpage 1 1\nmmap 1 10000000 64M rw- refpage:1\n");

	for (unsigned i = 0; i < PIECES; i++) {
		touched[i] = rf_rng_below(&rng, 10) == 0;
		if (touched[i])
			line(trace, "W 1 %x", 0x10000000 + i * PAGE);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		unsigned k = 1u << (rows[i].shift - 12), pages = 0;
		struct model_run r;
		double share;

		for (unsigned at = 0; at < PIECES; at += k) {
			unsigned any = 0;

			for (unsigned j = 0; j < k; j++)
				any |= touched[at + j];
			pages += any;
		}
		model_run(&r, rows[i].options, trace->str, MODEL_RUN_UNCHECKED);
		eq(PAGES(&r, rf_rss), pages); /* exactly the pages that have a piece that was touched */
		share = (double)pages * k / PIECES;
		/* Four standard deviations of a share of PIECES/k pages. */
		ck_assert_double_eq_tol(share, rows[i].share, 4 * 0.5 / 32 * (k == 16 ? 1 : 0.5));
		model_run_clear(&r);
	}
}
END_TEST

/* ---- what it costs ---- */

#define COSTS " --set fault_anon=3us --set zero_page=600ns --set fill_page=500ns --set copy_page=700ns" \
	" --set memset_page=600ns --set syscall=0 --set access=0"

START_TEST(one_pass_or_two)
{
	static const struct { const char *options, *trace; unsigned ns; } rows[] = {
		{ "--fill zero" COSTS, HEAP "W 1 20000000\n", 3000 },
		{ "--fill zero" COSTS, HEAP "R 1 20000000\n", 2400 }, /* the zero page: nothing to zero */
		{ "--fill zero" COSTS " --page-size 16K", HEAP "W 1 20000000\n", 2400 + 4 * 600 },
		{ "--fill zero" COSTS " --page-size 64K", HEAP "W 1 20000000\n", 2400 + 16 * 600 },
		{ "--fill refpage" COSTS, HEAP "W 1 10000000\n", 2400 + 700 },
		{ "--fill refpage" COSTS, HEAP "R 1 10000000\n", 2400 },
		{ "--fill refpage,how=byte" COSTS, HEAP "W 1 10000000\n", 2400 + 500 },
		{ "--fill refpage,how=tag" COSTS, HEAP "W 1 10000000\n", 2400 + 600 },
		{ "--fill refpage,double_init" COSTS, HEAP "W 1 10000000\n", 3000 + 700 },
		{ "--fill refpage,double_init" COSTS, HEAP "W 1 20000000\n", 3000 },
		{ "--fill fill-on-fault" COSTS, HEAP "R 1 10000000\n", 2400 + 700 },
		{ "--fill refpage" COSTS, "task 1\nrefpage 1 1\nmmap 1 10000000 4K rw- refpage:1\nW 1 10000000\n",
		  2400 + 500 }, /* a pattern of one byte */
		{ "--fill refpage" COSTS " --page-size 16K", HEAP "W 1 10000000\n", 2400 + 4 * 700 },
		{ "--fill memset" COSTS, HEAP, 16 * (3000 + 600) },
		{ "--fill memset" COSTS " --page-size 16K", HEAP, 4 * (2400 + 4 * 600 + 4 * 600) },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct model_run r;

		model_run(&r, rows[i].options, rows[i].trace, 0);
		eq(GAUGE(&r, rf_time), rows[i].ns);
		model_run_clear(&r);
	}
}
END_TEST

/* The microbenchmark of the fourth posting: map 1000 pages, initialise, store to some, unmap.  Every
 * other mapping's frames come back last in, first out. */
static uint64_t microbenchmark(const char *options, unsigned touch, unsigned rounds)
{
	g_autoptr(GString) trace = g_string_new("task 1\nrefpage 1 1\n");
	struct model_run r;
	uint64_t ns;

	for (unsigned i = 0; i < rounds; i++) {
		line(trace, "mmap 1 10000000 4096000 rw- refpage:1");
		line(trace, "W 1 10000000 %u", touch * PAGE);
		line(trace, "munmap 1 10000000 4096000");
	}
	model_run(&r, options, trace->str, MODEL_RUN_UNCHECKED);
	ns = GAUGE(&r, rf_time);
	model_run_clear(&r);
	return ns;
}

#define BOARD " --set access=0 --set syscall=11500ns --set fault_anon=2910ns --set zero_page=600ns" \
	" --set fill_page=600ns --set memset_page=600ns"

START_TEST(the_gain_is_one_pass)
{
	uint64_t memset = microbenchmark("--fill memset" BOARD, 1000, 10);
	uint64_t shared = microbenchmark("--fill refpage" BOARD, 1000, 10);
	uint64_t twice = microbenchmark("--fill refpage,double_init" BOARD, 1000, 10);

	eq(memset, 10 * (23000 + 1000 * 3510));
	eq(shared, 10 * (23000 + 1000 * 2910));
	eq(twice, memset); /* zeroed, then filled: nothing is gained */
	/* At one page of a thousand nearly everything is. */
	eq(microbenchmark("--fill refpage" BOARD, 1, 10), 10 * (23000 + 2910));
}
END_TEST

/* The knee: with a cache of 500 pages, the first 500 of a thousand get frames that it still holds. */
START_TEST(frames_that_the_cache_holds)
{
	const char *options = "--fill refpage" BOARD " --set llc=2000K --set llc_miss=900ns";
	uint64_t all_cold = 23000 + 1000 * UINT64_C(3810);

	eq(microbenchmark(options, 1000, 1), all_cold);
	eq(microbenchmark(options, 1000, 5), all_cold + 4 * (23000 + 500 * UINT64_C(2910) + 500 * UINT64_C(3810)));
	/* 500 pages stay cached; three hundred more than that do not. */
	eq(microbenchmark(options, 500, 5), 5 * (23000 + 500 * UINT64_C(2910)) + 500 * 900);
	eq(microbenchmark(options, 800, 5),
	   5 * (23000 + 800 * UINT64_C(2910)) + 800 * 900 + 4 * UINT64_C(300) * 900);
}
END_TEST

/* Reference pages take memory that nobody is charged for. */
START_TEST(reference_pages_are_memory)
{
	struct model_run with, without;
	const char *trace = "task 1\nrefpage 1 16\nrefpage 2 16\nrefpage 2 16\nrefpage 3 64\n";

	model_run(&with, "--fill refpage", trace, 0);
	model_run(&without, "--fill fill-on-fault", trace, 0);
	eq(PAGES(&with, rf_reference_pages), 3);
	eq(PAGES(&without, rf_reference_pages), 0);
	eq(PAGES(&without, rf_free) - PAGES(&with, rf_free), 3);
	eq(GAUGE(&with, rf_usage), 0);
	model_run_clear(&with);
	model_run_clear(&without);
}
END_TEST

Suite *suite_seam_fill(void)
{
	Suite *s = suite_create("seam_fill");
	TCase *t = tcase_create("reference pages");

	tcase_add_test(t, a_load_maps_the_shared_page);
	tcase_add_test(t, a_store_gets_a_page_that_is_filled);
	tcase_add_test(t, what_was_written_is_ordinary);
	tcase_add_test(t, a_store_is_charged);
	tcase_add_test(t, the_shared_page_stays);
	tcase_add_test(t, dontneed_gives_the_pattern_back);
	tcase_add_test(t, lazyfree_gives_the_pattern_back);
	tcase_add_test(t, locking_a_reference_page);
	tcase_add_test(t, it_costs_mappings);
	tcase_add_test(t, reference_pages_are_memory);
	suite_add_tcase(s, t);
	t = tcase_create("members");
	tcase_add_test(t, members_differ_in_whose_page_it_is);
	tcase_add_test(t, memset_of_all_anonymous_memory);
	tcase_add_test(t, fill_on_fault_against_a_shared_page);
	tcase_add_test(t, larger_pages_eat_the_gain);
	suite_add_tcase(s, t);
	t = tcase_create("costs");
	tcase_add_test(t, one_pass_or_two);
	tcase_add_test(t, the_gain_is_one_pass);
	tcase_add_test(t, frames_that_the_cache_holds);
	suite_add_tcase(s, t);
	return s;
}
