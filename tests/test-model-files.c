/* SPDX-License-Identifier: MIT
 * Files of the modelled machine: mappings, the page cache, read-ahead, dirty pages and who writes
 * them. Every number is worked out by hand.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "tests/model-run.h"

Suite *suite_model_files(void);

/* Single pages: no read-ahead, no fault-around. */
#define SINGLE "--read_ahead_kb 0 --fault_around_bytes 4K"
#define FILE16 "file 1 f 64K\ntask 1\n"
#define SHARED FILE16 "mmap 1 10000000 64K rw- file:1 shared\n"

/* ---- mappings ---- */

START_TEST(private_mapping)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          FILE16 "mmap 1 10000000 64K rw- file:1\nR 1 10000000 16K\nmark read\nW 1 "
	                 "10000000\nmark copied\n"
	                 "W 1 10008000\nmark written\nR 1 10008000\nmunmap 1 10000000 64K\n",
	          0);
	eq(MARK_COUNTER(&r, "read", pgmajfault), 4);
	eq(MARK_COUNTER(&r, "read", rf_fault_file), 4);
	eq(MARK_PAGES(&r, "read", rf_rss_file), 4);
	eq(MARK_COUNTER(&r, "copied", pgfault), 5);
	eq(MARK_COUNTER(&r, "copied", rf_cow), 1);
	eq(MARK_PAGES(&r, "copied", rf_rss_file), 3);
	eq(MARK_PAGES(&r, "copied", rf_rss_anon), 1);
	eq(MARK_PAGES(&r, "copied", rf_cache), 4);
	eq(MARK_PAGES(&r, "copied", rf_mapped_file), 3);
	/* A store to what nobody read yet: the page is read, and copied in the same fault. */
	eq(MARK_COUNTER(&r, "written", pgfault), 6);
	eq(MARK_COUNTER(&r, "written", pgmajfault), 5);
	eq(MARK_COUNTER(&r, "written", rf_cow), 2);
	eq(MARK_PAGES(&r, "written", rf_cache), 5);
	eq(MARK_PAGES(&r, "written", rf_resident), 7);
	eq(COUNTER(&r, nr_dirtied), 0);
	eq(COUNTER(&r, pgfault), 6);
	eq(PAGES(&r, rf_resident), 5);
	model_run_clear(&r);
}
END_TEST

START_TEST(fetches_are_faults_of_their_own)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          FILE16 "mmap 1 10000000 64K r-x file:1\nX 1 10000000 8K\nR 1 10002000\n", 0);
	eq(COUNTER(&r, rf_fault_exec), 2);
	eq(COUNTER(&r, rf_fault_file), 1);
	eq(COUNTER(&r, pgfault), 3);
	model_run_clear(&r);
}
END_TEST

START_TEST(files_are_shared_by_their_id)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          FILE16 "task 2\nmmap 1 10000000 64K r-- file:1\nmmap 2 30000000 32K r-x file:1 "
	                 "off=32K\nR 1 10008000 8K\n"
	                 "R 2 30000000 8K\n",
	          0);
	eq(COUNTER(&r, pgfault), 4);
	eq(COUNTER(&r, pgmajfault), 2);
	eq(PAGES(&r, rf_cache), 2);
	eq(PAGES(&r, rf_mapped_file), 2);
	eq(PAGES(&r, rf_rss_file), 4);
	model_run_clear(&r);
}
END_TEST

/* Aligned 64 KiB, cut to the mapping; one fault.  x86-64 maps neighbours as used, arm64 as not. */
START_TEST(fault_around)
{
	struct model_run r;

	model_run(&r, "--read_ahead_kb 0",
	          "file 1 f 256K\ntask 1\nread 1 file:1 0 256K\nmmap 1 10000000 256K r-- file:1\nR "
	          "1 10013000\n"
	          "mark one\nR 1 10010000 64K\nmark hits\nmmap 1 20003000 40K r-- file:1 "
	          "off=12K\nR 1 20004000\n",
	          0);
	eq(MARK_COUNTER(&r, "one", pgfault), 1);
	eq(MARK_COUNTER(&r, "one", pgmajfault), 0);
	eq(MARK_PAGES(&r, "one", rf_rss_file), 16);
	eq(MARK_COUNTER(&r, "hits", pgfault), 1);
	eq(PAGES(&r, rf_rss_file), 16 + 10);
	model_run_clear(&r);
	model_run(&r, "--read_ahead_kb 0 --page-size 64K --arch arm64",
	          "file 1 f 256K\ntask 1\nread 1 file:1 0 256K\n"
	          "mmap 1 10000000 256K r-- file:1\nR 1 10010000\n",
	          0);
	eq(PAGES(&r, rf_rss_file), 1);
	model_run_clear(&r);
	for (unsigned since = 0; since < 2; since++) { /* 3.15 brought it */
		model_run(&r, since ? "--kernel 3.15 --read_ahead_kb 0" : "--kernel 3.14 --read_ahead_kb 0",
		          "file 1 f 256K\ntask 1\nread 1 file:1 0 256K\nmmap 1 10000000 256K r-- file:1\nR 1 10013000\n",
		          0);
		eq(PAGES(&r, rf_rss_file), since ? 16 : 1);
		model_run_clear(&r);
	}
}
END_TEST

START_TEST(beyond_what_a_file_can_be)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          "file 1 f 9223372036854775807\ntask 1\nmmap 1 10000000 64K r-- file:1 "
	          "off=1125899906842624\n"
	          "madvise 1 10000000 64K willneed\nR 1 10000000\n",
	          MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	ck_assert_ptr_nonnull(strstr(r.error->message, "beyond what a file can be"));
	model_run_clear(&r);
	model_run(&r, SINGLE, FILE16 "read 1 file:1 1125899906842624 4K\n", MODEL_RUN_MAY_FAIL);
	ck_assert(r.error && r.error->domain == RF_DATA_ERROR);
	model_run_clear(&r);
}
END_TEST

/* ---- read-ahead ---- */

/* init(1) 4, then on each marker 8, 16, 32, 32: read page by page. */
static const struct {
	unsigned read, cached;
} sequential[] = {
	{ 1, 4 },   { 2, 12 },  { 4, 12 },  { 5, 28 },   { 12, 28 },
	{ 13, 60 }, { 28, 60 }, { 29, 92 }, { 61, 124 },
};

START_TEST(sequential_read)
{
	g_autoptr(GString) t = g_string_new("file 1 f 4M\ntask 1\n");
	struct model_run r;
	unsigned i, done = 0;

	for (i = 0; i < G_N_ELEMENTS(sequential); i++) {
		for (; done < sequential[i].read; done++)
			line(t, "read 1 file:1 %u 4K", done * PAGE);
		line(t, "mark %u", i);
	}
	model_run(&r, "--kernel 6.12", t->str, 0);
	for (i = 0; i < G_N_ELEMENTS(sequential); i++) {
		char mark[2] = { (char)('0' + i), 0 };

		eq(MARK_PAGES(&r, mark, rf_cache), sequential[i].cached);
	}
	eq(COUNTER(&r, pgpgin), 124 * 4);
	eq(COUNTER(&r, pgfault), 0);
	eq(GAUGE(&r, rf_rss), 0);
	model_run_clear(&r);
}
END_TEST

/* A miss in the middle reads what was asked for; around a mapped one, 16 before and 16 after. */
START_TEST(random_reads_and_read_around)
{
	struct model_run r;

	model_run(&r, "--kernel 6.12",
	          "file 1 f 4M\ntask 1\nread 1 file:1 1M 8K\nmark read\nmmap 1 10000000 4M r-- "
	          "file:1\n"
	          "R 1 10200000\nmark around\nmadvise 1 10000000 4M random\nR 1 10300000\nmark "
	          "alone\n",
	          0);
	eq(MARK_PAGES(&r, "read", rf_cache), 2);
	eq(MARK_PAGES(&r, "around", rf_cache), 2 + 32);
	eq(MARK_COUNTER(&r, "around", pgmajfault), 1);
	/* Pages 496 to 527 came; around 512 are those up to 519, which has no marker: 520 has it.
	 */
	eq(MARK_PAGES(&r, "around", rf_rss_file), 15);
	eq(MARK_PAGES(&r, "alone", rf_cache), 2 + 32 + 1);
	model_run_clear(&r);
}
END_TEST

/* Windows that are in time come in folios; reclaim takes them whole. */
START_TEST(large_folios)
{
	g_autoptr(GString) t = g_string_new("file 1 f 8M\ntask 1\nmmap 1 10000000 8M r-- file:1\n");
	struct model_run r;
	unsigned i;

	for (i = 0; i < 512; i++)
		line(t, "read 1 file:1 %u 16K", i * 4 * PAGE);
	line(t, "mark read");
	for (i = 0; i < 200; i++)
		line(t, "R 1 %x", 0x10000000 + (i * 37 % 2048) * PAGE);
	line(t, "mlock 1 10020000 256K\nmadvise 1 10000000 8M cold\nmadvise 1 10000000 1M "
	        "pageout\nmunlock 1 10020000 256K");
	line(t, "write 1 file:1 8100K 20K\nfsync 1 file:1\nmunmap 1 10000000 8M");
	model_run(&r, "--limit 2M --kernel 6.18", t->str, 0);
	/* All but the first steps: a few pages at most were reclaimed alone. */
	ck_assert_uint_gt(MARK_COUNTER(&r, "read", pgsteal_file), 1400);
	eq(COUNTER(&r, rf_policy_refused), 0);
	eq(GAUGE(&r, rf_mlocked), 0);
	model_run_clear(&r);
}
END_TEST

/* ---- dirty pages ---- */

START_TEST(stores_dirty_shared_pages)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          SHARED "R 1 10000000 16K\nW 1 10000000 8K\nmark dirty\nW 1 10000000 8K\nfsync 1 "
	                 "file:1\nmark clean\n"
	                 "W 1 10000000 4K\nmark again\nmunmap 1 10000000 64K\nmark unmapped\nfsync "
	                 "1 file:1\n",
	          0);
	eq(MARK_COUNTER(&r, "dirty", pgfault),
	   6); /* four reads, two told by their write protection */
	eq(MARK_COUNTER(&r, "dirty", nr_dirtied), 2);
	eq(MARK_PAGES(&r, "dirty", rf_dirty), 2);
	eq(MARK_COUNTER(&r, "clean", pgfault), 6);
	eq(MARK_COUNTER(&r, "clean", nr_written), 2);
	eq(MARK_PAGES(&r, "clean", rf_dirty), 0);
	eq(MARK_COUNTER(&r, "again", pgfault), 7); /* protected again when it was written back */
	eq(MARK_COUNTER(&r, "again", nr_dirtied), 3);
	eq(MARK_PAGES(&r, "unmapped", rf_dirty), 1);
	eq(COUNTER(&r, nr_written), 3);
	eq(COUNTER(&r, pgpgout), 3 * 4);
	eq(COUNTER(&r, rf_cow), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(writes_into_the_cache)
{
	struct model_run r;

	/* Whole pages need no reading; parts of pages that the file has do; parts beyond its end do
	 * not. */
	model_run(&r, SINGLE,
	          FILE16
	          "write 1 file:1 0 16K\nmark whole\nwrite 1 file:1 20K 100\nmark part\n"
	          "write 1 file:1 64K 100\nmark new\nread 1 file:1 64K 100\nfsync 1 file:1\n",
	          0);
	eq(MARK_PAGES(&r, "whole", rf_dirty), 4);
	eq(MARK_COUNTER(&r, "whole", nr_dirtied), 4);
	eq(MARK_PAGES(&r, "part", rf_cache), 5);
	eq(MARK_PAGES(&r, "new", rf_cache), 6);
	eq(COUNTER(&r, pgpgin), 4);
	eq(COUNTER(&r, pgpgout), 6 * 4);
	eq(COUNTER(&r, pgfault), 0);
	model_run_clear(&r);
}
END_TEST

/* The flusher wakes every 5 s and writes what is older than 30 s. */
START_TEST(flusher)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          FILE16
	          "write 1 file:1 0 16K\nat 34000000000\nmark young\nat 36000000000\nmark old\n",
	          0);
	eq(MARK_COUNTER(&r, "young", nr_written), 0);
	eq(MARK_PAGES(&r, "young", rf_dirty), 4);
	eq(MARK_COUNTER(&r, "old", nr_written), 4);
	eq(MARK_PAGES(&r, "old", rf_dirty), 0);
	model_run_clear(&r);
	model_run(&r, SINGLE " --dirty_expire_centisecs 100 --dirty_writeback_centisecs 50",
	          FILE16
	          "write 1 file:1 0 16K\nat 1400000000\nmark young\nat 1600000000\nmark old\n",
	          0);
	eq(MARK_COUNTER(&r, "young", nr_written), 0);
	eq(MARK_COUNTER(&r, "old", nr_written), 4);
	model_run_clear(&r);
	model_run(&r, SINGLE " --dirty_writeback_centisecs 0",
	          FILE16 "write 1 file:1 0 16K\nat 100000000000\n", 0);
	eq(COUNTER(&r, nr_written), 0);
	model_run_clear(&r);
}
END_TEST

/* Background at 10 % of what can be dirty, without waiting; at 20 % the writer waits. */
START_TEST(dirty_limits)
{
	struct model_run r;

	/* 4096 frames, 64 of them descriptors: about 403 pages and 806. */
	model_run(&r, SINGLE " --ram 16M",
	          "file 1 f 16M\ntask 1\nwrite 1 file:1 0 1560K\nthink 1 1000000\nmark below\n"
	          "write 1 file:1 1560K 100K\nthink 1 1000000\nmark background\n",
	          0);
	eq(MARK_COUNTER(&r, "below", nr_written), 0);
	ck_assert_uint_gt(MARK_COUNTER(&r, "background", nr_written), 400);
	eq(GAUGE(&r, rf_time_throttle), 0);
	model_run_clear(&r);
	/* A disk of 1 MB a second: a page takes 4.096 ms, and so long does each beyond the limit.
	 */
	model_run(&r,
	          SINGLE
	          " --ram 16M --set nvme_mbps=1 --set nvme_latency=1us --min_free_kbytes 128",
	          "file 1 f 16M\ntask 1\nwrite 1 file:1 0 8M\n", 0);
	ck_assert_uint_gt(GAUGE(&r, rf_time_throttle), UINT64_C(1150) * 4096000);
	ck_assert_uint_lt(GAUGE(&r, rf_time_throttle), UINT64_C(1300) * 4096000);
	ck_assert_uint_gt(GAUGE(&r, rf_stall_max), 4000000);
	eq(r.result.oom->len, 0);
	model_run_clear(&r);
}
END_TEST

/* Four pages to a device of 32 channels, 80 us and 3 GB/s: the latency hides the wire. */
START_TEST(fsync_waits)
{
	struct model_run r;

	model_run(&r, SINGLE " --machine x86-64-nvme",
	          FILE16 "write 1 file:1 0 16K\nfsync 1 file:1\n", 0);
	eq(GAUGE(&r, rf_time_io), 80000);
	eq(GAUGE(&r, rf_stalls), 1);
	eq(GAUGE(&r, rf_stall_max), 80000);
	/* Copying and two system calls. */
	eq(GAUGE(&r, rf_time), 80000 + 4 * 400 + 2 * 200);
	model_run_clear(&r);
	/* One head: seeks one after the other. */
	model_run(&r, SINGLE " --machine x86-64-hdd",
	          FILE16 "write 1 file:1 0 16K\nfsync 1 file:1\n", 0);
	eq(GAUGE(&r, rf_time_io), 4 * 8000000);
	model_run_clear(&r);
}
END_TEST

/* One page-cache tree node for 64 pages, and nodes above them; shadows keep them. */
START_TEST(tree_nodes)
{
	struct model_run r;

	model_run(&r, SINGLE,
	          "file 1 small 256K\nfile 2 large 1M\ntask 1\nread 1 file:1 0 256K\nmark "
	          "one\nread 1 file:2 0 1M\nmark more\n",
	          0);
	eq(mark_of(&r, "one")->gauge[RF_G_rf_shadow_nodes], 592);
	eq(mark_of(&r, "more")->gauge[RF_G_rf_shadow_nodes], 592 * (1 + 4 + 1));
	model_run_clear(&r);
}
END_TEST

/* A store to a private file page that is not cached: the copy made before the wait is given back, and
 * made again (charges as cgroup v1 counts them: the file's page, and the copy twice). */
START_TEST(a_copy_that_waits_is_charged_twice)
{
	struct model_run r;

	model_run(&r, "--read_ahead_kb 0",
	          "file 1 f 64K\ntask 1\nmmap 1 10000000 64K rw- file:1\nW 1 10000000\nmark absent\n"
	          "R 1 10001000\nmark read\nW 1 10001000\n",
	          0);
	eq(MARK_COUNTER(&r, "absent", rf_cow), 1);
	eq(MARK_COUNTER(&r, "absent", pgmajfault), 1);
	eq(MARK_PAGES(&r, "absent", rf_resident), 2);
	eq(CG_COUNTER(&r, "/", rf_charge_pages), 5);
	eq(CG_COUNTER(&r, "/", rf_uncharge_pages), 1);
	eq(COUNTER(&r, rf_cow), 2);
	model_run_clear(&r);
}
END_TEST

Suite *suite_model_files(void)
{
	Suite *s = suite_create("model-files");
	TCase *t = tcase_create("mappings");

	tcase_add_test(t, private_mapping);
	tcase_add_test(t, a_copy_that_waits_is_charged_twice);
	tcase_add_test(t, fetches_are_faults_of_their_own);
	tcase_add_test(t, files_are_shared_by_their_id);
	tcase_add_test(t, fault_around);
	tcase_add_test(t, beyond_what_a_file_can_be);
	suite_add_tcase(s, t);
	t = tcase_create("read-ahead");
	tcase_add_test(t, sequential_read);
	tcase_add_test(t, random_reads_and_read_around);
	tcase_add_test(t, large_folios);
	suite_add_tcase(s, t);
	t = tcase_create("dirty");
	tcase_add_test(t, stores_dirty_shared_pages);
	tcase_add_test(t, writes_into_the_cache);
	tcase_add_test(t, flusher);
	tcase_add_test(t, dirty_limits);
	tcase_add_test(t, fsync_waits);
	tcase_add_test(t, tree_nodes);
	suite_add_tcase(s, t);
	return s;
}
