/* SPDX-License-Identifier: MIT
 * The machine around the cgroups: the event queue, devices, frames and watermarks, kswapd and
 * direct reclaim, page sizes, swap devices, time.
 */
#include <check.h>
#include <string.h>

#include "sim/clock.h"
#include "sim/device.h"
#include "tests/model-run.h"

Suite *suite_model_machine(void);

#define FRESH "--stats-flush-period 0"

/* ---- event queue ---- */

struct log {
	uint64_t now;
	GString *text;
	struct rf_clock *clock;
};

static void note(void *machine, uint64_t arg)
{
	struct log *l = machine;

	g_string_append_printf(l->text, "%c%u ", (int)arg, (unsigned)l->now);
	if (arg == 'r') /* a new one while it runs, due at once */
		rf_clock_at(l->clock, l->now, note, l, 's');
	if (arg == 't')
		l->now += 100; /* it takes time of its own */
}

START_TEST(event_queue)
{
	struct log l = { 0, g_string_new(NULL), rf_clock_new() };

	eq(rf_clock_next(l.clock), UINT64_MAX);
	rf_clock_at(l.clock, 30, note, &l, 'a');
	rf_clock_at(l.clock, 10, note, &l, 'b');
	rf_clock_at(l.clock, 30, note, &l, 'c');
	rf_clock_at(l.clock, 20, note, &l, 'r');
	rf_clock_at(l.clock, 31, note, &l, 'd');
	eq(rf_clock_next(l.clock), 10);
	l.now = 9;
	rf_clock_run(l.clock, &l.now);
	ck_assert_str_eq(l.text->str, "");
	l.now = 30;
	rf_clock_run(l.clock, &l.now);
	ck_assert_str_eq(l.text->str, "b10 r20 s20 a30 c30 ");
	eq(l.now, 30);
	eq(rf_clock_next(l.clock), 31);
	g_string_truncate(l.text, 0);
	rf_clock_at(l.clock, 40, note, &l, 't');
	rf_clock_at(l.clock, 90, note, &l, 'e');
	rf_clock_at(l.clock, 141, note, &l, 'f');
	l.now = 50;
	rf_clock_run(l.clock, &l.now);
	ck_assert_str_eq(l.text->str, "d31 t40 e90 ");
	eq(l.now, 140);
	g_string_free(l.text, TRUE);
	rf_clock_free(l.clock);
}
END_TEST

/* Many at random times come out sorted, and those of one time in the order in which they were
 * added. */
START_TEST(event_order)
{
	struct log l = { 0, g_string_new(NULL), rf_clock_new() };
	unsigned last = 0;
	char *p;

	for (unsigned i = 0; i < 2000; i++)
		rf_clock_at(l.clock, i * 7919 % 50, note, &l, 'A' + i / 50 % 26);
	l.now = 50;
	rf_clock_run(l.clock, &l.now);
	p = l.text->str;
	for (unsigned i = 0; i < 2000; i++) {
		unsigned letter = (unsigned)(*p++ - 'A'), when = (unsigned)strtoul(p, &p, 10);

		p++;
		eq(when, i / 40);
		if (i % 40)
			ck_assert(letter == last || letter == (last + 1) % 26);
		last = letter;
	}
	g_string_free(l.text, TRUE);
	rf_clock_free(l.clock);
}
END_TEST

/* ---- devices ---- */

START_TEST(device_with_channels)
{
	struct rf_device d;

	rf_device_init(&d, 80000, 3000, 2);
	eq(d.ns_per_kib, 341);
	eq(rf_device_submit(&d, 0, 4096, FALSE), 80000);
	eq(rf_device_submit(&d, 0, 4096, TRUE), 80000);
	eq(rf_device_submit(&d, 0, 4096, FALSE), 160000); /* behind the first */
	eq(rf_device_submit(&d, 100000, 4096, FALSE), 180000);
	/* 1 MiB keeps the wire for 349 us. */
	eq(rf_device_submit(&d, 200000, 1 << 20, FALSE), 200000 + 1024 * 341);
	eq(rf_device_submit(&d, 200000, 4096, FALSE), 200000 + 1028 * 341);
	eq(d.requests, 6);
	eq(d.read_kib, 4 + 4 + 4 + 1024 + 4);
	eq(d.write_kib, 4);
}
END_TEST

START_TEST(device_with_one_head)
{
	struct rf_device d;

	rf_device_init(&d, 8000000, 150, 0);
	eq(d.depth, 1);
	eq(rf_device_submit(&d, 0, 4096, FALSE), 8000000);
	eq(rf_device_submit(&d, 1000, 4096, FALSE), 16000000);
	eq(rf_device_submit(&d, 20000000, 4096, FALSE), 28000000);
	eq(d.busy, 3 * 8000000);
}
END_TEST

/* ---- page sizes ---- */

static const struct {
	const char *size;
	unsigned shift, share;
} sizes[] = {
	{ "4K", 12, 64 },
	{ "16K", 14, 256 },
	{ "64K", 16, 1024 }, /* 1.5625 %, 0.3906 %, 0.0977 % */
};

START_TEST(page_descriptors)
{
	g_autofree char *options =
		g_strdup_printf("--ram 4G --arch arm64 --page-size %s", sizes[_i].size);
	struct model_run r;

	model_run(&r, options, "task 1\n", 0);
	eq(GAUGE(&r, rf_struct_page) * sizes[_i].share, UINT64_C(4) << 30);
	eq(GAUGE(&r, rf_free), (UINT64_C(4) << 30) - GAUGE(&r, rf_struct_page));
	eq(GAUGE(&r, rf_metadata), GAUGE(&r, rf_struct_page));
	model_run_clear(&r);
}
END_TEST

/* One trace, three page sizes: 1 MiB in order, or every fifth page of 5 MiB. */
START_TEST(larger_pages)
{
	const char *const options[] = { "--arch arm64", "--arch arm64 --page-size 16K",
		                        "--arch arm64 --page-size 64K" };
	g_autoptr(GString) t = g_string_new("file 1 f 1M\ntask 1\nmmap 1 10000000 1M rw- "
	                                    "anon\nmmap 1 20000000 1M r-- file:1\n");
	uint64_t faults = UINT64_MAX, rss = 0, sparse_faults = UINT64_MAX, sparse_rss = 0;

	touch_each(t, 'W', 1, 0x10000000, 256);
	line(t, "mark order");
	touch_each(t, 'R', 1, 0x20000000, 256);
	line(t, "mark file\nmmap 1 30000000 5M rw- anon");
	for (unsigned i = 0; i < 256; i++)
		line(t, "W 1 %x", 0x30000000 + i * 5 * PAGE);
	for (unsigned i = 0; i < 3; i++) {
		struct model_run r;

		model_run(&r, options[i], t->str, 0);
		eq(MARK_COUNTER(&r, "order", pgfault), 256u >> (2 * i));
		eq(MARK_PAGES(&r, "order", rf_rss) << r.cfg.page_shift, 1 << 20);
		ck_assert_uint_ge(mark_of(&r, "file")->gauge[RF_G_rf_rss], rss);
		ck_assert_uint_le(MARK_COUNTER(&r, "file", pgfault), faults);
		ck_assert_uint_ge(GAUGE(&r, rf_rss), sparse_rss);
		ck_assert_uint_le(COUNTER(&r, pgfault), sparse_faults);
		rss = mark_of(&r, "file")->gauge[RF_G_rf_rss];
		faults = MARK_COUNTER(&r, "file", pgfault);
		sparse_rss = GAUGE(&r, rf_rss);
		sparse_faults = COUNTER(&r, pgfault);
		model_run_clear(&r);
	}
	eq(rss, 2 << 20);
	eq(sparse_rss, 7 << 20); /* all of the sparse 5 MiB */
}
END_TEST

/* Less than a page is not freed, and what shares a page with it stays. */
START_TEST(parts_of_large_pages)
{
	struct model_run r;

	model_run(&r, "--arch arm64 --page-size 64K",
	          "task 1\nmmap 1 10000000 16K rw- anon\nmmap 1 10004000 496K rw- anon\n"
	          "W 1 10000000 512K\nmark full\nmadvise 1 10011000 56K dontneed\nmark "
	          "part\nmadvise 1 10018000 96K dontneed\nmark page\n"
	          "munmap 1 10000000 16K\nmark edge\nR 1 10004000\nmunmap 1 10004000 48K\nmark "
	          "gone\nmremap 1 10070000 64K 20000000 64K\n"
	          "R 1 20000000\n",
	          0);
	eq(MARK_COUNTER(&r, "full", pgfault), 8);
	eq(MARK_PAGES(&r, "part", rf_rss), 8);
	eq(MARK_PAGES(&r, "page", rf_rss), 7);
	eq(MARK_PAGES(&r, "edge", rf_rss), 7);
	eq(MARK_PAGES(&r, "gone", rf_rss), 6);
	eq(COUNTER(&r, pgfault), 8);
	eq(GAUGE(&r, rf_implicit), 0);
	model_run_clear(&r);
}
END_TEST

/* ---- frames, watermarks, kswapd ---- */

/* 64 MiB: 16,384 frames, 256 of descriptors; min 1024 KiB = 256, low and high 64 apart: 320, 384.
 */
START_TEST(watermarks)
{
	struct model_run r;
	/* Kernel memory: 2 + 31 tables, one page of slab. */
	const unsigned kernel = 2 + 31 + 1, last = 16384 - 256 - 320 - kernel;
	g_autofree char *below = g_strdup_printf(
		"task 1\nmmap 1 10000000 64M rw- anon\nW 1 10000000 %u\nthink 1 1000000\n",
		last * PAGE);
	g_autofree char *above =
		g_strdup_printf("%sW 1 %x\nthink 1 100000000\n", below, 0x10000000 + last * PAGE);

	model_run(&r, "--ram 64M --swap zram " FRESH, below, MODEL_RUN_UNCHECKED);
	eq(COUNTER(&r, pageoutrun), 0);
	eq(PAGES(&r, rf_free), 320);
	model_run_clear(&r);
	model_run(&r, "--ram 64M --swap zram " FRESH, above, MODEL_RUN_UNCHECKED);
	ck_assert_uint_gt(COUNTER(&r, pageoutrun), 0);
	ck_assert_uint_gt(PAGES(&r, rf_free), 384);
	eq(COUNTER(&r, allocstall), 0);
	eq(COUNTER(&r, pgsteal_kswapd), COUNTER(&r, pgsteal_anon));
	ck_assert_uint_gt(GAUGE(&r, rf_time_kswapd), 0);
	eq(GAUGE(&r, rf_time_reclaim), 0);
	model_run_clear(&r);
}
END_TEST

/* With a kswapd that never comes in time, the task reclaims by itself. */
START_TEST(direct_reclaim)
{
	struct model_run r;

	model_run(&r, "--ram 8M --swap zram:64M --set kswapd_wake=1000s " FRESH,
	          "task 1\nmmap 1 10000000 16M rw- anon\nW 1 10000000 16M\n", MODEL_RUN_UNCHECKED);
	eq(COUNTER(&r, pageoutrun), 0);
	ck_assert_uint_gt(COUNTER(&r, allocstall), 10);
	eq(COUNTER(&r, pgsteal_direct), COUNTER(&r, pgsteal_anon));
	eq(CG_COUNTER(&r, "/", pgsteal_direct), COUNTER(&r, pgsteal_anon));
	ck_assert_uint_gt(GAUGE(&r, rf_time_reclaim), 0);
	ck_assert_uint_gt(GAUGE(&r, rf_stalls), 0);
	eq(r.result.oom->len, 0);
	model_run_clear(&r);
}
END_TEST

/* While swap is written, reclaim that naps looks at fewer pages, and the task waits. */
START_TEST(naps)
{
	static const char trace[] = "task 1\nmmap 1 10000000 16M rw- anon\nW 1 10000000 16M\nW 1 10000000 16M\n";
	struct model_run off, on;

	model_run(&off, "--ram 8M --swap hdd:64M " FRESH, trace, MODEL_RUN_UNCHECKED);
	model_run(&on, "--ram 8M --swap hdd:64M --set congestion_wait=yes " FRESH, trace, MODEL_RUN_UNCHECKED);
	ck_assert_uint_lt(COUNTER(&on, pgscan_anon), COUNTER(&off, pgscan_anon));
	ck_assert_uint_gt(COUNTER(&on, allocstall), 0);
	ck_assert_uint_gt(GAUGE(&on, rf_time_throttle), GAUGE(&off, rf_time_throttle));
	eq(on.result.oom->len, 0);
	model_run_clear(&off);
	model_run_clear(&on);
}
END_TEST

START_TEST(memory_that_is_taken_away)
{
	struct model_run r;

	model_run(&r, "--ram 64M --swap none",
	          "task 1\nhugetlb 16M\nmark huge\nmemory offline 8M\nmark off\nmemory online 4M\n",
	          0);
	eq(MARK_PAGES(&r, "huge", rf_free), 16384 - 256 - 4096);
	eq(MARK_PAGES(&r, "off", rf_free), 16384 - 256 - 4096 - 2048);
	eq(PAGES(&r, rf_free), 16384 - 256 - 4096 - 1024);
	model_run_clear(&r);
}
END_TEST

/* ---- swap devices ---- */

#define SWAPPED                                                                                    \
	"task 1\nmmap 1 10000000 64K rw- anon\nW 1 10000000 64K\nmadvise 1 10000000 64K "          \
	"pageout\nmark out\n"

/* Synchronous: out at once, in by single pages that never see the swap cache; out again is written
 * again. */
START_TEST(swap_on_zram)
{
	struct model_run r;

	model_run(&r, "--swap zram --machine x86-64-nvme",
	          SWAPPED "R 1 10000000 64K\nmark in\nmadvise 1 10000000 64K pageout\n", 0);
	eq(MARK_PAGES(&r, "out", rf_resident), 0);
	eq(MARK_COUNTER(&r, "out", pswpout), 16);
	eq(MARK_COUNTER(&r, "in", pgmajfault), 16);
	eq(MARK_COUNTER(&r, "in", pswpin), 16);
	eq(MARK_PAGES(&r, "in", rf_swap), 0);
	eq(COUNTER(&r, pswpout), 32);
	eq(COUNTER(&r, swap_ra), 0);
	/* A read takes 2.2 us, a write twice that; 1.5 us overhead and 0.7 of a fault. */
	eq(GAUGE(&r, rf_time_io), 16 * 2200);
	eq(GAUGE(&r, rf_time_fault), 16 * 700 + 16 * (700 + 1500));
	eq(GAUGE(&r, rf_stall_p50), 1500 + 2200);
	eq(COUNTER(&r, pgpgin), 16 * 4);
	eq(COUNTER(&r, pgpgout), 32 * 4);
	model_run_clear(&r);
}
END_TEST

/* Asynchronous: pages stay until they are written, and longer; what comes back to be read keeps its
 * slot, and need not be written again.  Read-ahead by address: 0 to 4, 5 to 12, 13 to 15. */
START_TEST(swap_on_nvme)
{
	struct model_run r;
	g_autoptr(GString) t = g_string_new(SWAPPED "think 1 1000000000\nmark written\n");

	line(t, "mmap 1 20000000 4M rw- anon\nW 1 20000000 4M\nthink 1 1000000000\nmark gone\nR 1 "
	        "10000000 64K\nmark in");
	line(t, "think 1 1000000000\nW 1 20000000 4M\nthink 1 1000000000\nmark again\nR 1 10000000 "
	        "4K\nW 1 10000000 4K");
	model_run(&r, "--swap nvme --limit 900pages " FRESH, t->str, MODEL_RUN_UNCHECKED);
	eq(MARK_COUNTER(&r, "out", pswpout), 16);
	eq(MARK_PAGES(&r, "out", rf_resident), 16);
	eq(MARK_PAGES(&r, "out", rf_rss), 0);
	eq(MARK_PAGES(&r, "written", rf_swapcache), 16);
	eq(task_of(&r, 1)->swap > 0, TRUE);
	eq(MARK_COUNTER(&r, "in", pgmajfault) - MARK_COUNTER(&r, "gone", pgmajfault), 3);
	eq(MARK_COUNTER(&r, "in", pswpin) - MARK_COUNTER(&r, "gone", pswpin), 16);
	eq(MARK_COUNTER(&r, "in", swap_ra) - MARK_COUNTER(&r, "gone", swap_ra), 13);
	eq(MARK_COUNTER(&r, "in", swap_ra_hit) - MARK_COUNTER(&r, "gone", swap_ra_hit), 13);
	ck_assert_uint_gt(MARK_COUNTER(&r, "gone", pgrotated), 0);
	model_run_clear(&r);
}
END_TEST

/* Clean pages of the swap cache leave without a write. */
START_TEST(clean_swap_cache)
{
	struct model_run r;
	g_autoptr(GString) t =
		g_string_new("task 1\nmmap 1 10000000 1M rw- anon\nW 1 10000000 1M\n");

	for (unsigned i = 0; i < 6; i++)
		line(t, "R 1 10000000 1M\nthink 1 100000000");
	model_run(&r, "--swap nvme --limit 128pages " FRESH, t->str, 0);
	/* Every page was stored to once, so each is written once or (after a stay without a slot)
	 * again. */
	ck_assert_uint_gt(COUNTER(&r, pgsteal_anon), 3 * COUNTER(&r, pswpout));
	model_run_clear(&r);
	model_run(&r, "--swap zram --limit 128pages " FRESH, t->str, 0);
	eq(COUNTER(&r, pgsteal_anon), COUNTER(&r, pswpout));
	model_run_clear(&r);
}
END_TEST

/* Rotational: aligned blocks of slots, whatever is in them. */
START_TEST(swap_on_hdd)
{
	struct model_run r;

	model_run(&r, "--swap hdd --limit 64pages " FRESH,
	          "task 1\nmmap 1 10000000 800K rw- anon\nW 1 10000000 800K\nthink 1 5000000000\n"
	          "mark out\nR 1 10000000 320K\n",
	          0);
	eq(r.result.oom->len, 0);
	ck_assert_uint_gt(COUNTER(&r, swap_ra), 0);
	ck_assert_uint_gt(COUNTER(&r, swap_ra_hit), 0);
	ck_assert_uint_lt(COUNTER(&r, pgmajfault), 80);
	ck_assert_uint_ge(GAUGE(&r, rf_time_io), 8000000);
	model_run_clear(&r);
}
END_TEST

START_TEST(swap_that_is_full)
{
	struct model_run r;

	model_run(&r, "--swap zram:64K --limit 64pages " FRESH,
	          "task 1\nmmap 1 10000000 400K rw- anon\nW 1 10000000 300K\nmark fits\nW 1 "
	          "10000000 400K\n",
	          0);
	eq(MARK_COUNTER(&r, "fits", oom_kill), 0); /* 75 of 60 and 16 */
	eq(MARK_PAGES(&r, "fits", rf_swap), 16);
	eq(r.result.oom->len, 1);
	eq(GAUGE(&r, rf_swap), 0);
	model_run_clear(&r);
}
END_TEST

/* Without swap, anonymous pages are not even looked at. */
START_TEST(no_swap_at_all)
{
	struct model_run r;

	model_run(&r, "--swap none --limit 128pages --read_ahead_kb 0 " FRESH,
	          "file 1 f 4M\ntask 1\nmmap 1 10000000 256K rw- anon\nW 1 10000000 256K\n"
	          "read 1 file:1 0 4M\nW 1 10000000 256K\n",
	          0);
	eq(COUNTER(&r, pgscan_anon), 0);
	eq(COUNTER(&r, pgmajfault), 0);
	ck_assert_uint_gt(COUNTER(&r, pgsteal_file), 900);
	eq(PAGES(&r, rf_rss), 64);
	model_run_clear(&r);
}
END_TEST

/* ---- time ---- */

START_TEST(time_adds_up)
{
	struct model_run r;

	model_run(&r, "--swap nvme --limit 300pages --memory.high 1120K",
	          "file 1 f 2M\ntask 1\nmmap 1 10000000 2M rw- anon\n"
	          "mmap 1 20000000 2M rw- file:1 shared\nW 1 10000000 2M\nW 1 20000000 1M\nread 1 "
	          "file:1 0 2M\nthink 1 5000\nR 1 10000000 2M\n"
	          "fsync 1 file:1\n",
	          0);
	eq(GAUGE(&r, rf_time), GAUGE(&r, rf_time_access) + GAUGE(&r, rf_time_fault) +
	                               GAUGE(&r, rf_time_io) + GAUGE(&r, rf_time_reclaim) +
	                               GAUGE(&r, rf_time_throttle));
	model_run_clear(&r);
}
END_TEST

START_TEST(rss_over_time)
{
	struct model_run r;

	/* A second without, one with four pages, two with two. */
	model_run(&r, "--machine x86-64-nvme --set fault_anon=0 --set syscall=0 --set access=0",
	          "task 1\nmmap 1 10000000 16K rw- anon\n"
	          "at 1000000000\nW 1 10000000 16K\nat 2000000000\nmadvise 1 10000000 8K "
	          "dontneed\nat 4000000000\n",
	          0);
	eq(GAUGE(&r, rf_rss_max), 4 * PAGE);
	eq(GAUGE(&r, rf_rss_mean), 2 * PAGE);
	eq(GAUGE(&r, rf_rss_anon_mean), 2 * PAGE);
	eq(task_of(&r, 1)->rss_mean, 2 * PAGE);
	eq(GAUGE(&r, rf_rss), 2 * PAGE);
	model_run_clear(&r);
}
END_TEST

Suite *suite_model_machine(void)
{
	Suite *s = suite_create("model-machine");
	TCase *t = tcase_create("events");

	tcase_add_test(t, event_queue);
	tcase_add_test(t, event_order);
	tcase_add_test(t, device_with_channels);
	tcase_add_test(t, device_with_one_head);
	suite_add_tcase(s, t);
	t = tcase_create("page sizes");
	tcase_add_loop_test(t, page_descriptors, 0, G_N_ELEMENTS(sizes));
	tcase_add_test(t, larger_pages);
	tcase_add_test(t, parts_of_large_pages);
	suite_add_tcase(s, t);
	t = tcase_create("frames");
	tcase_add_test(t, watermarks);
	tcase_add_test(t, direct_reclaim);
	tcase_add_test(t, naps);
	tcase_add_test(t, memory_that_is_taken_away);
	suite_add_tcase(s, t);
	t = tcase_create("swap");
	tcase_add_test(t, swap_on_zram);
	tcase_add_test(t, swap_on_nvme);
	tcase_add_test(t, clean_swap_cache);
	tcase_add_test(t, swap_on_hdd);
	tcase_add_test(t, swap_that_is_full);
	tcase_add_test(t, no_swap_at_all);
	suite_add_tcase(s, t);
	t = tcase_create("time");
	tcase_add_test(t, time_adds_up);
	tcase_add_test(t, rss_over_time);
	suite_add_tcase(s, t);
	return s;
}
