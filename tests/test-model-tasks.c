/* SPDX-License-Identifier: MIT
 * Tasks of the modelled machine: fork and copy-on-write, threads, exec, exit, the OOM killer, and
 * the kernel memory that a task costs.  Every number is worked out by hand.
 */
#include <check.h>
#include <string.h>

#include "tests/model-run.h"

Suite *suite_model_tasks(void);

#define FOUR "task 1\nmmap 1 10000000 16K rw- anon\nW 1 10000000 16K\n"
/* Of one mapping and its pages in one 2 MiB span: three tables and a page of small objects. */
#define KERNEL_PAGES 4

START_TEST(fork_copies_on_write)
{
	struct model_run r;

	model_run(&r, "",
	          FOUR "mark start\ntask 2 parent=1\nmark fork\n"
	               "R 2 10000000 16K\nmark read\n"
	               "W 2 10000000\nmark child\n"  /* copied: the parent has it too */
	               "W 1 10000000\nmark reuse\n"  /* the parent's alone now */
	               "W 1 10001000\nmark parent\n" /* copied: the child still has it */
	               "W 2 10001000\nmark end\n",
	          0); /* the child's alone */
	eq(MARK_COUNTER(&r, "start", pgfault), 4);
	eq(MARK_PAGES(&r, "start", rf_rss), 4);
	eq(MARK_COUNTER(&r, "fork", pgfault), 4);
	eq(MARK_PAGES(&r, "fork", rf_rss), 8);
	eq(MARK_PAGES(&r, "fork", rf_resident), 4);
	eq(MARK_COUNTER(&r, "read", pgfault), 4);
	eq(MARK_COUNTER(&r, "child", pgfault), 5);
	eq(MARK_COUNTER(&r, "child", rf_cow), 1);
	eq(MARK_PAGES(&r, "child", rf_resident), 5);
	eq(MARK_PAGES(&r, "child", rf_rss), 8);
	eq(MARK_COUNTER(&r, "reuse", pgfault), 6);
	eq(MARK_COUNTER(&r, "reuse", rf_cow), 1);
	eq(MARK_COUNTER(&r, "parent", pgfault), 7);
	eq(MARK_COUNTER(&r, "parent", rf_cow), 2);
	eq(MARK_PAGES(&r, "parent", rf_resident), 6);
	eq(COUNTER(&r, pgfault), 8);
	eq(COUNTER(&r, rf_cow), 2);
	eq(COUNTER(&r, pgmajfault), 0);
	eq(PAGES(&r, rf_resident), 6);
	eq(task_of(&r, 1)->pgfault, 6);
	eq(task_of(&r, 2)->pgfault, 2);
	eq(task_of(&r, 1)->rss, 4 * PAGE);
	eq(task_of(&r, 2)->rss, 4 * PAGE);
	eq(CG_COUNTER(&r, "/", rf_charge_pages), 6);
	eq(CG_COUNTER(&r, "/", rf_uncharge_pages), 0);
	model_run_clear(&r);
}
END_TEST

/* Shared pages stay with the cgroup that paid first; a copy is paid by whoever makes it. */
START_TEST(fork_into_another_cgroup)
{
	struct model_run r;

	model_run(&r, "",
	          "cgroup /a\ncgroup /b\ntask 1 cgroup=/a\nmmap 1 10000000 16K rw- anon\nW 1 "
	          "10000000 16K\n"
	          "task 2 parent=1 cgroup=/b\nR 2 10000000 16K\nW 2 10002000\n",
	          0);
	eq(cgroup_of(&r, "/a")->anon, 4 * PAGE);
	eq(cgroup_of(&r, "/b")->anon, PAGE);
	eq(cgroup_of(&r, "/a")->kernel, KERNEL_PAGES * PAGE);
	eq(cgroup_of(&r, "/b")->kernel, KERNEL_PAGES * PAGE);
	eq(CG_COUNTER(&r, "/b", pgfault), 1);
	model_run_clear(&r);
}
END_TEST

START_TEST(a_child_without_a_cgroup_has_its_parents)
{
	struct model_run r;

	model_run(&r, "",
	          "cgroup /a\ntask 1 cgroup=/a\nmmap 1 10000000 16K rw- anon\ntask 2 parent=1\nW 2 "
	          "10000000\n",
	          0);
	eq(cgroup_of(&r, "/a")->anon, PAGE);
	model_run_clear(&r);
}
END_TEST

/* A slot that two tasks share: read once, through the swap cache even where the device is
 * synchronous. */
START_TEST(swap_shared_by_fork)
{
	struct model_run r;

	model_run(
		&r, "--swap zram --page-cluster 0",
		FOUR
		"madvise 1 10000000 16K pageout\nmark out\n"
		"task 2 parent=1\nmark fork\nR 2 10000000\nmark child\nR 1 10000000\nmark parent\n"
		"W 2 10000000\nmark copied\nW 1 10000000\nmark reused\nexit 1\nmark gone\nexit 2\n",
		0);
	eq(MARK_COUNTER(&r, "out", pswpout), 4);
	eq(MARK_PAGES(&r, "out", rf_swap), 4);
	eq(MARK_PAGES(&r, "out", rf_rss), 0);
	eq(MARK_PAGES(&r, "fork", rf_swap), 4);
	eq(MARK_COUNTER(&r, "child", pgmajfault), 1);
	eq(MARK_COUNTER(&r, "child", pswpin), 1);
	eq(MARK_PAGES(&r, "child", rf_swapcache), 1);
	eq(MARK_COUNTER(&r, "parent", pgmajfault), 1);
	eq(MARK_COUNTER(&r, "parent", pswpin), 1);
	eq(MARK_COUNTER(&r, "parent", pgfault), 6);
	eq(MARK_PAGES(&r, "parent", rf_rss), 2);
	eq(MARK_PAGES(&r, "parent", rf_resident), 1);
	eq(MARK_COUNTER(&r, "copied", rf_cow), 1);
	eq(MARK_PAGES(&r, "copied", rf_swap), 4);
	eq(MARK_COUNTER(&r, "reused", rf_cow), 1); /* the parent's alone: it stays, its slot goes */
	eq(MARK_PAGES(&r, "reused", rf_swap), 3);
	eq(MARK_PAGES(&r, "gone", rf_swap), 3); /* the child has them */
	eq(GAUGE(&r, rf_swap), 0);
	eq(GAUGE(&r, rf_resident), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(threads_share)
{
	struct model_run r;

	model_run(&r, "",
	          FOUR "task 2 parent=1 thread\nR 2 10000000 16K\nW 2 10000000 16K\nmark shared\n"
	               "exit 1\nmark one\nexit 2\n",
	          0);
	eq(MARK_COUNTER(&r, "shared", pgfault), 4);
	eq(MARK_PAGES(&r, "shared", rf_rss), 4);
	eq(MARK_PAGES(&r, "one", rf_rss), 4);
	eq(GAUGE(&r, rf_rss), 0);
	eq(GAUGE(&r, rf_page_tables), 0);
	eq(GAUGE(&r, rf_vma), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(exec_starts_empty)
{
	struct model_run r;

	model_run(&r, "", FOUR "exec 1\nmark exec\nmmap 1 20000000 4K rw- anon\nW 1 20000000\n", 0);
	eq(MARK_PAGES(&r, "exec", rf_resident), 0);
	eq(MARK_PAGES(&r, "exec", rf_page_tables), 0);
	eq(GAUGE(&r, rf_rss), PAGE);
	eq(task_of(&r, 1)->rss, PAGE);
	eq(task_of(&r, 1)->pgfault, 5);
	model_run_clear(&r);
}
END_TEST

START_TEST(exit_gives_everything_back)
{
	struct model_run r;

	model_run(&r, "--limit 1M --swap zram",
	          FOUR "madvise 1 10000000 8K pageout\nmark live\nexit 1\n"
	               "think 2 1\nmark end\n",
	          0);
	eq(MARK_PAGES(&r, "live", rf_swap), 2);
	eq(MARK_PAGES(&r, "live", rf_kernel), KERNEL_PAGES);
	eq(GAUGE(&r, rf_swap), 0);
	eq(GAUGE(&r, rf_resident), 0);
	eq(GAUGE(&r, rf_page_tables), 0);
	eq(CG_COUNTER(&r, "/workload", rf_charge_pages), 4);
	eq(CG_COUNTER(&r, "/workload", rf_uncharge_pages), 4);
	ck_assert(task_of(&r, 1)->exited);
	model_run_clear(&r);
}
END_TEST

/* ---- the OOM killer ---- */

START_TEST(oom_kill_is_an_event)
{
	struct model_run r;

	model_run(&r, "--limit 64pages --swap none",
	          "task 1\nmmap 1 10000000 400K rw- anon\nW 1 10000000 400K\n"
	          "R 1 10000000\nmmap 1 20000000 4K rw- anon\nW 1 20000000\nexit 1\n",
	          0);
	eq(r.result.oom->len, 1);
	eq(oom_nth(&r, 0)->tid, 1);
	ck_assert_str_eq(oom_nth(&r, 0)->cgroup, "/workload");
	ck_assert_ptr_nonnull(strstr(oom_nth(&r, 0)->reason, "memory.max"));
	eq(COUNTER(&r, oom_kill), 1);
	/* Kernel memory has four of the 64 pages.  The fault that killed is counted; nothing after
	 * it. */
	eq(CG_COUNTER(&r, "/workload", rf_charge_pages), 64 - KERNEL_PAGES);
	eq(COUNTER(&r, pgfault), 64 - KERNEL_PAGES + 1);
	eq(GAUGE(&r, rf_resident), 0);
	eq(GAUGE(&r, rf_usage_max), 64 * PAGE);
	ck_assert(task_of(&r, 1)->oom_killed);
	ck_assert(!task_of(&r, 1)->exited);
	model_run_clear(&r);
}
END_TEST

/* The largest goes, whoever asked; the others live on. */
START_TEST(oom_kills_the_largest)
{
	struct model_run r;

	model_run(&r, "--limit 100pages --swap none",
	          "task 1\ntask 2\n"
	          "mmap 1 10000000 400K rw- anon\nmmap 2 10000000 400K rw- anon\n"
	          "W 2 10000000 200K\nW 1 10000000 160K\nmark before\nW 1 10028000 60K\nW 2 "
	          "10000000\n",
	          0);
	eq(MARK_COUNTER(&r, "before", oom_kill), 0);
	eq(r.result.oom->len, 1);
	eq(oom_nth(&r, 0)->tid, 2);
	eq(task_of(&r, 1)->rss, 55 * PAGE);
	ck_assert(!task_of(&r, 1)->oom_killed);
	ck_assert(task_of(&r, 2)->oom_killed);
	model_run_clear(&r);
}
END_TEST

START_TEST(oom_kills_all_threads)
{
	struct model_run r;

	model_run(&r, "--limit 64pages --swap none",
	          "task 1\ntask 2 parent=1 thread\nmmap 1 10000000 400K rw- anon\n"
	          "W 2 10000000 400K\nW 1 10000000\n",
	          0);
	eq(r.result.oom->len, 1);
	ck_assert(task_of(&r, 1)->oom_killed);
	ck_assert(task_of(&r, 2)->oom_killed);
	eq(GAUGE(&r, rf_rss), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(oom_of_the_machine)
{
	struct model_run r;

	model_run(&r, "--ram 2M --swap none --min_free_kbytes 128",
	          "task 1\nmmap 1 10000000 3M rw- anon\n"
	          "W 1 10000000 3M\n",
	          0);
	eq(r.result.oom->len, 1);
	ck_assert_str_eq(oom_nth(&r, 0)->cgroup, "/");
	ck_assert_ptr_nonnull(strstr(oom_nth(&r, 0)->reason, "no free frames"));
	/* 512 frames, 8 of them page descriptors, 32 below the min watermark, 5 kernel memory (two
	 * leaves). */
	eq(COUNTER(&r, rf_pages_in), 512 - 8 - 32 - KERNEL_PAGES);
	model_run_clear(&r);
}
END_TEST

/* What a killed task does later, its exec and its children too, never was. */
START_TEST(nothing_after_the_kill)
{
	struct model_run r;

	model_run(&r, "--limit 64pages --swap none",
	          "task 1\nmmap 1 10000000 400K rw- anon\nW 1 10000000 400K\n"
	          "mark killed\ntask 2 parent=1\nW 2 10000000\nexec 2\nmmap 2 10000000 4K rw- "
	          "anon\nW 2 10000000\n"
	          "task 3 parent=2 thread\nW 3 10000000\nread 3 file:1 0 4K\nexec 1\nmmap 1 "
	          "30000000 4K rw- anon\n"
	          "W 1 30000000\nexit 1\ntask 1\nmmap 1 30000000 4K rw- anon\nW 1 30000000\n",
	          0);
	eq(r.result.oom->len, 1);
	eq(COUNTER(&r, pgfault),
	   MARK_COUNTER(&r, "killed", pgfault) + 1); /* the new task 1 lives */
	eq(GAUGE(&r, rf_rss), PAGE);
	ck_assert(task_of(&r, 2)->oom_killed);
	model_run_clear(&r);
}
END_TEST

/* A fork that has no room for the child's tables. */
START_TEST(oom_in_a_fork)
{
	struct model_run r;
	g_autoptr(GString) t = g_string_new("task 1\nmmap 1 10000000 64M rw- anon\n");

	/* One page in each of 30 spans: as many tables as pages. */
	for (unsigned i = 0; i < 30; i++)
		line(t, "W 1 %x", 0x10000000 + i * 0x200000);
	line(t, "mark before\ntask 2 parent=1\nW 2 10000000\nW 1 10000000");
	model_run(&r, "--limit 70pages --swap none", t->str, 0);
	eq(MARK_COUNTER(&r, "before", oom_kill), 0);
	ck_assert_uint_ge(COUNTER(&r, oom_kill), 1);
	ck_assert(task_of(&r, 1)->oom_killed); /* the larger of the two */
	ck_assert(task_of(&r, 2)->oom_killed); /* never ran */
	eq(GAUGE(&r, rf_resident), 0);
	eq(GAUGE(&r, rf_page_tables), 0);
	model_run_clear(&r);
}
END_TEST

/* ---- page tables and descriptors ---- */

static const struct {
	const char *options;
	uint64_t addr[4];
	unsigned tables[4]; /* in all after a store to each */
} geometry[] = {
	/* The first touch needs a table of each level but the top one; then a leaf spans 2 MiB, the
	 * next 1 GiB, the next 512 GiB. */
	{ "--arch x86-64", { 0x10000000, 0x10200000, 0x50000000, 0x10000000000 }, { 3, 4, 6, 9 } },
	{ "--arch x86-64", { 0x10000000, 0x10001000, 0x101ff000, 0x10200000 }, { 3, 3, 3, 4 } },
	{ "--arch arm64", { 0x10000000, 0x10200000, 0x50000000, 0x10000000000 }, { 3, 4, 6, 9 } },
	/* 32 MiB, 64 GiB. */
	{ "--arch arm64 --page-size 16K",
	  { 0x10000000, 0x11ffc000, 0x12000000, 0x2000000000 },
	  { 2, 2, 3, 5 } },
	/* 512 MiB, 4 TiB. */
	{ "--arch arm64 --page-size 64K",
	  { 0x20000000, 0x3fff0000, 0x40000000, 0x50000000000 },
	  { 2, 2, 3, 5 } },
};

START_TEST(page_tables)
{
	g_autoptr(GString) t = g_string_new("task 1\n");
	struct model_run r;
	unsigned i;

	for (i = 0; i < 4; i++) {
		line(t, "mmap 1 %" G_GINT64_MODIFIER "x 64K rw- anon", geometry[_i].addr[i]);
		line(t, "W 1 %" G_GINT64_MODIFIER "x\nmark %u", geometry[_i].addr[i], i);
	}
	for (i = 0; i < 4; i++)
		line(t, "munmap 1 %" G_GINT64_MODIFIER "x 64K", geometry[_i].addr[i]);
	model_run(&r, geometry[_i].options, t->str, 0);
	for (i = 0; i < 4; i++) {
		char mark[2] = { (char)('0' + i), 0 };

		eq(MARK_PAGES(&r, mark, rf_page_tables), geometry[_i].tables[i]);
	}
	eq(GAUGE(&r, rf_page_tables), 0); /* free_pgtables() */
	eq(PAGES(&r, rf_kernel), 1);      /* small objects are charged ahead by the page */
	model_run_clear(&r);
}
END_TEST

/* A table goes only when no mapping has any of its span; reclaim leaves it. */
START_TEST(page_tables_stay_while_mapped)
{
	struct model_run r;

	model_run(&r, "--swap zram",
	          "task 1\nmmap 1 10000000 4M rw- anon\nW 1 10000000\nW 1 10200000\nmark two\n"
	          "madvise 1 10000000 4M pageout\nmark reclaimed\nmadvise 1 10000000 4M "
	          "dontneed\nmark freed\n"
	          "munmap 1 10000000 2093056\nmark nearly\nmunmap 1 101ff000 4K\nmark leaf\n"
	          "munmap 1 10200000 2M\n",
	          0);
	eq(MARK_PAGES(&r, "two", rf_page_tables), 4);
	eq(MARK_PAGES(&r, "reclaimed", rf_page_tables), 4);
	eq(MARK_PAGES(&r, "freed", rf_page_tables), 4);
	eq(MARK_PAGES(&r, "nearly", rf_page_tables), 4);
	eq(MARK_PAGES(&r, "leaf", rf_page_tables), 3);
	eq(GAUGE(&r, rf_page_tables), 0);
	model_run_clear(&r);
}
END_TEST

/* Descriptors come out of slabs: 226 bytes a mapping, 184 more for its first anonymous page. */
START_TEST(mapping_descriptors)
{
	g_autoptr(GString) t = g_string_new("task 1\n");
	struct model_run r;

	for (unsigned i = 0; i < 18; i++)
		line(t, "mmap 1 %x 4K rw- anon", 0x10000000 + i * 0x2000);
	line(t, "mark 18\nmmap 1 20000000 4K rw- anon\nmark 19");
	line(t, "munmap 1 20000000 4K\nW 1 10000000\nmark written\nmunmap 1 10000000 4K");
	model_run(&r, "--limit 1M", t->str, 0);
	eq(mark_of(&r, "18")->gauge[RF_G_rf_vma], 18 * 226);
	eq(MARK_PAGES(&r, "18", rf_kernel), 1); /* 4068 of 4096 bytes */
	eq(MARK_PAGES(&r, "19", rf_kernel), 2);
	eq(mark_of(&r, "written")->gauge[RF_G_rf_vma], 18 * 226 + 184);
	eq(GAUGE(&r, rf_vma), 17 * 226);
	model_run_clear(&r);
}
END_TEST

Suite *suite_model_tasks(void)
{
	Suite *s = suite_create("model-tasks");
	TCase *t = tcase_create("fork");

	tcase_add_test(t, fork_copies_on_write);
	tcase_add_test(t, fork_into_another_cgroup);
	tcase_add_test(t, a_child_without_a_cgroup_has_its_parents);
	tcase_add_test(t, swap_shared_by_fork);
	tcase_add_test(t, threads_share);
	tcase_add_test(t, exec_starts_empty);
	tcase_add_test(t, exit_gives_everything_back);
	suite_add_tcase(s, t);
	t = tcase_create("oom");
	tcase_add_test(t, oom_kill_is_an_event);
	tcase_add_test(t, oom_kills_the_largest);
	tcase_add_test(t, oom_kills_all_threads);
	tcase_add_test(t, oom_of_the_machine);
	tcase_add_test(t, nothing_after_the_kill);
	tcase_add_test(t, oom_in_a_fork);
	suite_add_tcase(s, t);
	t = tcase_create("kernel memory");
	tcase_add_loop_test(t, page_tables, 0, G_N_ELEMENTS(geometry));
	tcase_add_test(t, page_tables_stay_while_mapped);
	tcase_add_test(t, mapping_descriptors);
	suite_add_tcase(s, t);
	return s;
}
