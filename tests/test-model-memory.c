/* SPDX-License-Identifier: MIT
 * Anonymous and shared memory of the modelled machine, and the system calls on mappings.  Every
 * number is worked out by hand.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "tests/model-run.h"

Suite *suite_model_memory(void);

#define ANON16 "task 1\nmmap 1 10000000 64K rw- anon\n"

/* ---- the first touch ---- */

START_TEST(loads_map_the_zero_page)
{
	struct model_run r;

	model_run(&r, "",
	          ANON16
	          "R 1 10000000 40K\nmark read\nR 1 10000000 40K\nmark again\nW 1 10000000 8K\n"
	          "mark written\nmadvise 1 10000000 64K dontneed\n",
	          0);
	eq(MARK_COUNTER(&r, "read", pgfault), 10);
	eq(MARK_COUNTER(&r, "read", rf_zero_page), 10);
	eq(MARK_COUNTER(&r, "read", rf_charge_pages), 0);
	eq(MARK_PAGES(&r, "read", rf_rss), 0);
	eq(MARK_PAGES(&r, "read", rf_resident), 0);
	eq(MARK_PAGES(&r, "read", rf_page_tables), 3);
	eq(MARK_COUNTER(&r, "again", pgfault), 10);
	eq(MARK_COUNTER(&r, "written", pgfault), 12);
	eq(MARK_COUNTER(&r, "written", rf_cow), 0); /* zeroed, not copied */
	eq(MARK_PAGES(&r, "written", rf_rss_anon), 2);
	eq(COUNTER(&r, pgmajfault), 0);
	eq(GAUGE(&r, rf_rss), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(loads_without_a_zero_page)
{
	struct model_run r;

	model_run(&r, "--fill zero-always", ANON16 "R 1 10000000 40K\nW 1 10000000 40K\n", 0);
	eq(COUNTER(&r, pgfault), 10);
	eq(COUNTER(&r, rf_zero_page), 0);
	eq(PAGES(&r, rf_rss_anon), 10);
	model_run_clear(&r);
}
END_TEST

START_TEST(reference_pages_are_nobodys)
{
	struct model_run r;

	model_run(&r, "--fill refpage",
	          "task 1\nrefpage 7 16\nmmap 1 10000000 64K rw- refpage:7\nR 1 10000000 64K\nmark "
	          "read\n"
	          "W 1 10000000 4K\nmark written\ntask 2 parent=1\nR 2 10001000 4K\nmunmap 1 "
	          "10000000 64K\n",
	          0);
	eq(MARK_COUNTER(&r, "read", pgfault), 16);
	eq(MARK_PAGES(&r, "read", rf_rss), 0);
	eq(MARK_COUNTER(&r, "written", pgfault), 17);
	eq(MARK_PAGES(&r, "written", rf_rss), 1);
	eq(COUNTER(&r, pgfault), 17); /* the child has the parent's entries */
	eq(task_of(&r, 1)->rss, 0);
	eq(task_of(&r, 2)->rss, PAGE);
	model_run_clear(&r);
}
END_TEST

START_TEST(an_access_touches_every_page_it_overlaps)
{
	struct model_run r;

	model_run(&r, "", ANON16 "W 1 10000fff 1\nW 1 10001fff 2\nW 1 10003800 8K\n", 0);
	eq(GAUGE(&r, rf_accesses), 3);
	eq(COUNTER(&r, pgfault), 1 + 2 + 3);
	model_run_clear(&r);
}
END_TEST

START_TEST(unmapped_accesses)
{
	struct model_run r;

	model_run(&r, "", "task 1\nW 1 5000 4K\nR 1 6000\nX 1 6000\n", 0);
	eq(GAUGE(&r, rf_implicit), 2);
	eq(PAGES(&r, rf_rss), 1);
	eq(GAUGE(&r, rf_vma), 226 + 184); /* two that merge */
	model_run_clear(&r);
	model_run(&r, "--strict", "task 1\nW 1 5000 4K\n", MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	ck_assert_ptr_nonnull(strstr(r.error->message, "store at 0x5000, which no mapping covers"));
	model_run_clear(&r);
}
END_TEST

/* ---- shmem ---- */

START_TEST(shmem_is_shared)
{
	struct model_run r;

	model_run(&r, "",
	          "task 1\ntask 2\nmmap 1 10000000 64K rw- shmem:1 shared\nmmap 2 20000000 64K rw- "
	          "shmem:1 shared off=4K\n"
	          "W 1 10000000 64K\nmark one\nR 2 20000000 16K\nmark two\ntask 3 parent=1\nmark "
	          "fork\nW 3 10000000 8K\n"
	          "mark three\nexit 1\nexit 2\nexit 3\n",
	          0);
	eq(MARK_PAGES(&r, "one", rf_rss_shmem), 16);
	eq(MARK_PAGES(&r, "two", rf_rss_shmem), 20);
	eq(MARK_PAGES(&r, "two", rf_resident), 16);
	eq(MARK_COUNTER(&r, "two", pgfault), 20);
	eq(MARK_PAGES(&r, "fork", rf_rss_shmem), 20); /* faulted in by whoever needs it */
	eq(MARK_PAGES(&r, "three", rf_rss_shmem), 22);
	eq(MARK_COUNTER(&r, "three", rf_cow), 0);
	eq(GAUGE(&r, rf_rss), 0);
	eq(PAGES(&r, rf_cache), 16); /* the object outlives its users */
	model_run_clear(&r);
}
END_TEST

START_TEST(shmem_goes_to_swap)
{
	struct model_run r;

	model_run(&r, "--swap zram",
	          "task 1\nmmap 1 10000000 64K rw- shmem:1 shared\nW 1 10000000 64K\n"
	          "madvise 1 10000000 64K pageout\nmark out\nR 1 10002000 8K\nmark in\n",
	          0);
	eq(MARK_COUNTER(&r, "out", pswpout), 16);
	eq(MARK_PAGES(&r, "out", rf_rss), 0);
	eq(MARK_PAGES(&r, "out", rf_cache), 0);
	eq(MARK_PAGES(&r, "out", rf_swap), 16);
	eq(MARK_COUNTER(&r, "in", pgmajfault), 2);
	eq(MARK_COUNTER(&r, "in", pswpin), 2);
	eq(MARK_COUNTER(&r, "in", workingset_refault_anon), 2);
	eq(MARK_PAGES(&r, "in", rf_swap), 14);
	eq(MARK_PAGES(&r, "in", rf_rss_shmem), 2);
	model_run_clear(&r);
}
END_TEST

/* ---- mlock ---- */

START_TEST(mlock_brings_in_and_keeps)
{
	struct model_run r;

	/* 40 of the 100 pages are locked; 160 more come and go. */
	model_run(&r, "--limit 100pages --swap zram",
	          "task 1\nmmap 1 10000000 160K rw- anon\nmlock 1 10000000 160K\nmark locked\n"
	          "mmap 1 20000000 640K rw- anon\nW 1 20000000 640K\nW 1 20000000 640K\nmark "
	          "pressed\n"
	          "W 1 10000000 160K\nmark hit\nmunlock 1 10000000 160K\nmark unlocked\nW 1 "
	          "20000000 640K\n",
	          0);
	eq(MARK_COUNTER(&r, "locked", pgfault), 40);
	eq(MARK_PAGES(&r, "locked", rf_mlocked), 40);
	eq(MARK_PAGES(&r, "locked", rf_inactive_anon), 0);
	eq(MARK_PAGES(&r, "pressed", rf_mlocked), 40);
	ck_assert_uint_gt(MARK_COUNTER(&r, "pressed", pswpout), 160);
	eq(MARK_COUNTER(&r, "hit", pgfault), MARK_COUNTER(&r, "pressed", pgfault));
	eq(MARK_PAGES(&r, "unlocked", rf_mlocked), 0);
	ck_assert_uint_lt(COUNTER(&r, pgmajfault), 3 * 160);
	eq(r.result.oom->len, 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(locked_mappings_are_populated)
{
	struct model_run r;

	model_run(
		&r, "",
		"file 1 f 64K\ntask 1\nmmap 1 10000000 64K rw- anon locked\nmmap 1 20000000 64K "
	        "r-- file:1 locked\nmark locked\n"
		"task 2 parent=1\nW 2 10000000 8K\nmunmap 1 10000000 64K\nmunmap 1 20000000 64K\n",
		0);
	eq(MARK_PAGES(&r, "locked", rf_mlocked), 32);
	eq(MARK_PAGES(&r, "locked", rf_rss_file), 16);
	eq(MARK_PAGES(&r, "locked", rf_rss_anon), 16);
	/* Locks are not inherited: the child's two copies are not locked. */
	ck_assert_uint_le(PAGES(&r, rf_mlocked), 14);
	eq(PAGES(&r, rf_cache), 16);
	model_run_clear(&r);
}
END_TEST

/* ---- madvise ---- */

START_TEST(dontneed_frees_now)
{
	struct model_run r;

	model_run(&r, "--swap zram",
	          ANON16
	          "W 1 10000000 64K\nmadvise 1 10000000 16K pageout\nmark out\n"
	          "madvise 1 10000000 32K dontneed\nmark freed\nR 1 10000000\nW 1 10001000\n",
	          0);
	eq(MARK_PAGES(&r, "out", rf_swap), 4);
	eq(MARK_PAGES(&r, "freed", rf_swap), 0);
	eq(MARK_PAGES(&r, "freed", rf_rss), 8);
	eq(COUNTER(&r, pgmajfault), 0);
	eq(COUNTER(&r, workingset_refault_anon), 0);
	eq(COUNTER(&r, pgfault), 18);
	eq(COUNTER(&r, rf_zero_page), 1);
	eq(PAGES(&r, rf_rss), 9);
	model_run_clear(&r);
}
END_TEST

START_TEST(dontneed_leaves_files_cached)
{
	struct model_run r;

	model_run(&r, "--read_ahead_kb 0",
	          "file 1 f 64K\ntask 1\nmmap 1 10000000 64K r-- file:1\nread 1 file:1 0 64K\n"
	          "R 1 10000000 64K\nmark mapped\nmadvise 1 10000000 64K dontneed\nmark "
	          "unmapped\nR 1 10000000\n",
	          0);
	eq(MARK_COUNTER(&r, "mapped", pgfault), 1); /* around the first, all sixteen */
	eq(MARK_PAGES(&r, "mapped", rf_rss_file), 16);
	eq(MARK_PAGES(&r, "unmapped", rf_rss_file), 0);
	eq(MARK_PAGES(&r, "unmapped", rf_mapped_file), 0);
	eq(PAGES(&r, rf_cache), 16);
	eq(COUNTER(&r, pgmajfault), 0);
	eq(COUNTER(&r, pgfault), 2);
	model_run_clear(&r);
}
END_TEST

/* 62 of 64 pages have left the batch of 31; the two in it are passed over. */
START_TEST(free_is_lazy)
{
	struct model_run r;

	model_run(&r, "--limit 100pages --swap none",
	          "task 1\nmmap 1 10000000 256K rw- anon\nW 1 10000000 256K\n"
	          "madvise 1 10000000 256K free\nmark free\nW 1 10000000 16K\nmark redirtied\n"
	          "mmap 1 20000000 320K rw- anon\nW 1 20000000 320K\nmark pressed\nR 1 10000000 "
	          "16K\nmark kept\nR 1 1003c000 8K\n",
	          0);
	eq(MARK_COUNTER(&r, "free", pglazyfree), 62);
	eq(MARK_PAGES(&r, "free", rf_lazyfree), 62);
	eq(MARK_PAGES(&r, "free", rf_rss), 64);
	eq(MARK_COUNTER(&r, "redirtied", pgfault), 64); /* no fault */
	/* 64 + 80 pages want to be in 100, which kernel memory has 5 of; only lazyfree ones can go.
	 */
	eq(r.result.oom->len, 0);
	ck_assert_uint_ge(MARK_COUNTER(&r, "pressed", pglazyfreed), 64 + 80 - 95);
	ck_assert_uint_le(MARK_COUNTER(&r, "pressed", pglazyfreed), 58);
	eq(MARK_COUNTER(&r, "pressed", pswpout), 0);
	eq(MARK_COUNTER(&r, "pressed", pgsteal_file), MARK_COUNTER(&r, "pressed", pglazyfreed));
	eq(MARK_COUNTER(&r, "kept", pgfault), MARK_COUNTER(&r, "pressed", pgfault));
	eq(COUNTER(&r, workingset_refault_anon), 0);
	eq(COUNTER(&r, pgmajfault), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(free_of_swap_frees_slots)
{
	struct model_run r;

	model_run(&r, "--swap zram",
	          ANON16
	          "W 1 10000000 64K\nmadvise 1 10000000 64K pageout\nmadvise 1 10000000 32K free\n",
	          0);
	eq(PAGES(&r, rf_swap), 8);
	eq(COUNTER(&r, pglazyfree), 0);
	model_run_clear(&r);
}
END_TEST

/* A file that was read twice is active, and as large as the distance of whoever comes back: active
 * at once.  Cold moves down; pageout remembers that a page was active. */
START_TEST(cold_and_pageout)
{
	struct model_run r;

	model_run(&r, "--swap zram --stats-flush-period 0 --read_ahead_kb 0",
	          "file 1 f 128K\n" ANON16
	          "read 1 file:1 0 128K\nread 1 file:1 0 128K\nW 1 10000000 64K\nmadvise 1 "
	          "10000000 64K pageout\nmark out\n"
	          "R 1 10000000 64K\nmark in\nmadvise 1 10000000 32K cold\nmadvise 1 10008000 32K "
	          "pageout\nmark again\n"
	          "R 1 10008000 32K\n",
	          0);
	eq(MARK_PAGES(&r, "out", rf_active_file), 32);
	eq(MARK_COUNTER(&r, "out", pswpout), 16);
	eq(MARK_PAGES(&r, "out", rf_rss), 0);
	eq(MARK_COUNTER(&r, "in", pgmajfault), 16);
	eq(MARK_COUNTER(&r, "in", workingset_refault_anon), 16);
	eq(MARK_COUNTER(&r, "in", workingset_activate_anon), 16);
	eq(MARK_COUNTER(&r, "in", workingset_restore_anon), 0);
	eq(MARK_COUNTER(&r, "again", pgdeactivate), 8);
	eq(MARK_PAGES(&r, "again", rf_inactive_anon), 8);
	eq(MARK_COUNTER(&r, "again", pswpout), 24);
	eq(MARK_PAGES(&r, "again", rf_swap), 8);
	eq(COUNTER(&r, workingset_activate_anon), 24);
	eq(COUNTER(&r, workingset_restore_anon), 8);
	model_run_clear(&r);
}
END_TEST

START_TEST(willneed)
{
	struct model_run r;

	model_run(&r, "--swap zram",
	          "file 1 f 64K\n" ANON16
	          "mmap 1 20000000 64K r-- file:1\nmadvise 1 20000000 32K willneed\n"
	          "mark file\nthink 1 1000000\nR 1 20000000\nmark read\nW 1 10000000 64K\nmadvise "
	          "1 10000000 64K pageout\n"
	          "mark out\nmadvise 1 10000000 64K willneed\nmark in\nR 1 10000000 64K\n",
	          0);
	eq(MARK_PAGES(&r, "file", rf_cache), 8);
	eq(MARK_COUNTER(&r, "file", pgfault), 0);
	eq(MARK_COUNTER(&r, "read", pgfault), 1);
	eq(MARK_COUNTER(&r, "read", pgmajfault), 0);
	eq(MARK_PAGES(&r, "read", rf_rss_file), 8);
	eq(MARK_PAGES(&r, "out", rf_resident), 8);
	eq(MARK_COUNTER(&r, "in", pswpin), 16);
	eq(MARK_COUNTER(&r, "in", swap_ra), 16);
	eq(MARK_PAGES(&r, "in", rf_swapcache), 16);
	eq(MARK_PAGES(&r, "in", rf_rss_anon), 0);
	eq(COUNTER(&r, pgmajfault), 0);
	eq(COUNTER(&r, swap_ra_hit), 16);
	eq(PAGES(&r, rf_rss_anon), 16);
	model_run_clear(&r);
}
END_TEST

START_TEST(huge_page_advice_changes_nothing)
{
	struct model_run r;

	model_run(&r, "",
	          ANON16 "madvise 1 10000000 64K hugepage\nW 1 10000000\nmadvise 1 10000000 32K "
	                 "nohugepage\nW 1 10008000\n",
	          0);
	eq(COUNTER(&r, pgfault), 2);
	eq(GAUGE(&r, rf_vma), 2 * 226 + 2 * 184);
	model_run_clear(&r);
}
END_TEST

/* ---- mprotect, mremap, munmap, vrange ---- */

START_TEST(mprotect)
{
	struct model_run r;

	/* What is the task's alone becomes writable with the mapping; what a fork shares does not.
	 */
	model_run(&r, "--strict",
	          ANON16 "W 1 10000000 8K\nmprotect 1 10000000 64K r--\nR 1 10000000 8K\nmprotect "
	                 "1 10000000 64K rw-\n"
	                 "W 1 10000000 4K\nmark alone\ntask 2 parent=1\nmprotect 1 10000000 64K "
	                 "r--\nmprotect 1 10000000 64K rw-\nW 1 10000000 8K\n",
	          0);
	eq(MARK_COUNTER(&r, "alone", pgfault), 2);
	eq(COUNTER(&r, pgfault), 4);
	eq(COUNTER(&r, rf_cow), 2);
	model_run_clear(&r);
	model_run(&r, "--strict",
	          ANON16
	          "W 1 10000000 8K\nmprotect 1 10000000 4K r--\nW 1 10001000 4K\nW 1 10000000 4K\n",
	          MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	ck_assert_ptr_nonnull(
		strstr(r.error->message, "store at 0x10000000, whose mapping does not allow it"));
	model_run_clear(&r);
	model_run(&r, "--strict", ANON16 "mprotect 1 10000000 68K r--\n", MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	model_run_clear(&r);
}
END_TEST

START_TEST(mremap_moves_pages)
{
	struct model_run r;

	model_run(&r, "--swap zram --strict",
	          ANON16
	          "W 1 10000000 64K\nR 1 10000000\nmadvise 1 10008000 32K pageout\n"
	          "mremap 1 10000000 64K 40000000 96K\nmark moved\nR 1 40000000 32K\nmark hits\nW "
	          "1 40008000 32K\nmark in\n"
	          "W 1 40010000 32K\nmark grown\nmremap 1 40000000 96K 40000000 16K\nmark shrunk\n"
	          "mremap 1 40000000 16K 40000000 32K\nW 1 40000000 32K\n",
	          0);
	eq(MARK_PAGES(&r, "moved", rf_rss), 8);
	eq(MARK_PAGES(&r, "moved", rf_swap), 8);
	eq(MARK_PAGES(&r, "moved", rf_page_tables),
	   3); /* the old place's are gone, the top two levels are shared */
	eq(MARK_COUNTER(&r, "hits", pgfault), 16);
	eq(MARK_COUNTER(&r, "in", pgmajfault), 8);
	eq(MARK_COUNTER(&r, "grown", pgfault), 32);
	eq(MARK_PAGES(&r, "grown", rf_rss), 24);
	eq(MARK_PAGES(&r, "shrunk", rf_rss), 4);
	eq(COUNTER(&r, pgfault), 36);
	eq(GAUGE(&r, rf_vma), 226 + 184);
	model_run_clear(&r);
	model_run(&r, "--strict",
	          ANON16 "W 1 10000000\nmremap 1 10000000 64K 20000000 64K\nR 1 10000000\n",
	          MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	model_run_clear(&r);
}
END_TEST

START_TEST(munmap_splits)
{
	struct model_run r;

	model_run(
		&r, "",
		ANON16
		"W 1 10000000 64K\nmunmap 1 10004000 16K\nmark hole\nmmap 1 10004000 16K rw- anon\n"
		"W 1 10000000 64K\n",
		0);
	eq(MARK_PAGES(&r, "hole", rf_rss), 12);
	eq(mark_of(&r, "hole")->gauge[RF_G_rf_vma], 2 * 226 + 184);
	eq(COUNTER(&r, pgfault), 20);
	eq(PAGES(&r, rf_rss), 16);
	model_run_clear(&r);
}
END_TEST

START_TEST(a_mapping_replaces_what_is_there)
{
	struct model_run r;

	model_run(&r, "",
	          ANON16
	          "W 1 10000000 64K\nmmap 1 10000000 32K rw- anon\nmark mapped\nR 1 10000000 4K\n",
	          0);
	eq(MARK_PAGES(&r, "mapped", rf_rss), 8);
	eq(COUNTER(&r, pgfault), 17);
	model_run_clear(&r);
	model_run(&r, "--strict", ANON16 "mmap 1 10008000 4K rw- anon\n", MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	model_run_clear(&r);
}
END_TEST

START_TEST(volatile_ranges)
{
	struct model_run r;

	model_run(&r, "--volatile dontneed",
	          ANON16 "W 1 10000000 64K\nvrange 1 10000000 32K volatile\nmark marked\n"
	                 "vrange 1 10000000 32K nonvolatile\nW 1 10000000 64K\n",
	          0);
	eq(MARK_PAGES(&r, "marked", rf_rss), 8);
	eq(COUNTER(&r, pgfault), 24);
	model_run_clear(&r);
}
END_TEST

Suite *suite_model_memory(void)
{
	Suite *s = suite_create("model-memory");
	TCase *t = tcase_create("touch");

	tcase_add_test(t, loads_map_the_zero_page);
	tcase_add_test(t, loads_without_a_zero_page);
	tcase_add_test(t, reference_pages_are_nobodys);
	tcase_add_test(t, an_access_touches_every_page_it_overlaps);
	tcase_add_test(t, unmapped_accesses);
	suite_add_tcase(s, t);
	t = tcase_create("shmem");
	tcase_add_test(t, shmem_is_shared);
	tcase_add_test(t, shmem_goes_to_swap);
	suite_add_tcase(s, t);
	t = tcase_create("mlock");
	tcase_add_test(t, mlock_brings_in_and_keeps);
	tcase_add_test(t, locked_mappings_are_populated);
	suite_add_tcase(s, t);
	t = tcase_create("madvise");
	tcase_add_test(t, dontneed_frees_now);
	tcase_add_test(t, dontneed_leaves_files_cached);
	tcase_add_test(t, free_is_lazy);
	tcase_add_test(t, free_of_swap_frees_slots);
	tcase_add_test(t, cold_and_pageout);
	tcase_add_test(t, willneed);
	tcase_add_test(t, huge_page_advice_changes_nothing);
	suite_add_tcase(s, t);
	t = tcase_create("mappings");
	tcase_add_test(t, mprotect);
	tcase_add_test(t, mremap_moves_pages);
	tcase_add_test(t, munmap_splits);
	tcase_add_test(t, a_mapping_replaces_what_is_there);
	tcase_add_test(t, volatile_ranges);
	suite_add_tcase(s, t);
	return s;
}
