/* SPDX-License-Identifier: MIT
 * What people reported of real kernels, each as a small trace and the relation that must come out:
 * who is protected from whom.  Names are those of the table of public reports in the manual.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "tests/model-run.h"

Suite *suite_relations(void);

#define TEXT 0x30000000u
#define DATA 0x20000000u
#define HEAP 0x10000000u
/* Statistics as fresh as before they were rate-limited, single pages: the lists alone. */
#define PLAIN "--stats-flush-period 0 --read_ahead_kb 0 --fault_around_bytes 4K "

/* read(2) of n pages from page first of a file, 50 at a time. */
static void read_pages(GString *t, unsigned tid, unsigned file, unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n; i += 50)
		line(t, "read %u file:%u %u %u", tid, file, (first + i) * PAGE,
		     MIN(50, n - i) * PAGE);
}

static uint64_t majors(const char *options, const GString *t)
{
	struct model_run r;
	uint64_t n;

	model_run(&r, options, t->str, MODEL_RUN_UNCHECKED);
	eq(r.result.oom->len, 0);
	n = COUNTER(&r, pgmajfault);
	model_run_clear(&r);
	return n;
}

/* ---- K01: executable pages in use, and a stream of which a tenth is read twice ---- */

#define MID 20

/* MID pages, each fetched every period-th read of 110 pages at a stride of 100. */
static GString *stream_and_text(unsigned period, unsigned reads)
{
	GString *t = g_string_new("task 1\n");

	line(t, "file 1 stream %u\nfile 2 text %u", (reads + 2) * 100 * PAGE, MID * PAGE);
	line(t, "mmap 1 %x %u r-x file:2", TEXT, MID * PAGE);
	for (unsigned i = 0; i < reads; i++) {
		line(t, "read 1 file:1 %u %u", i * 100 * PAGE, 110 * PAGE);
		for (unsigned k = 0; k < MID; k++)
			if ((i + k * period / MID) % period == 0)
				line(t, "X 1 %x", TEXT + k * PAGE);
	}
	return t;
}

/* 4096 pages, half of them inactive: 100 new ones a read scan that half in I = 20 reads, 10
 * activations a read turn the active half over in A = 200.  Without protection a page must be used
 * within I, with it within I + A; beyond, protection does nothing. */
START_TEST(k01_exec_protection)
{
	static const struct {
		unsigned period;
		gboolean without, with;
	} law[] = {
		{ 12, FALSE, FALSE },
		{ 40, TRUE, FALSE },
		{ 150, TRUE, FALSE },
		{ 300, TRUE, TRUE },
	};
	g_autoptr(GString) t = stream_and_text(law[_i].period, 1400);
	struct model_run with, without;

	model_run(&without, PLAIN "--limit 16M --swap none --kernel 2.6.31 --protect none", t->str,
	          MODEL_RUN_UNCHECKED);
	model_run(&with, PLAIN "--limit 16M --swap none --kernel 2.6.31 --protect exec", t->str,
	          MODEL_RUN_UNCHECKED);
	/* The premises. */
	ck_assert_uint_ge(PAGES(&with, rf_active_file), 1800);
	ck_assert_uint_ge(PAGES(&with, rf_inactive_file), 1800);
	ck_assert_uint_le(COUNTER(&with, pgactivate), 10 * 1400);
	if (law[_i].without)
		ck_assert_uint_ge(COUNTER(&without, rf_exec_refault), MID);
	else
		eq(COUNTER(&without, rf_exec_refault), 0);
	if (law[_i].with)
		eq(COUNTER(&with, rf_exec_refault), COUNTER(&without, rf_exec_refault));
	else
		eq(COUNTER(&with, rf_exec_refault), 0);
	/* It costs little: the active list is scanned once where the inactive one is ten times. */
	ck_assert_uint_ge(COUNTER(&with, pgscan_file), 5 * COUNTER(&with, pgdeactivate));
	model_run_clear(&with);
	model_run_clear(&without);
}
END_TEST

/* ---- K07: executable anonymous memory, a JIT's, ages as any ---- */

START_TEST(k07_anonymous_text_is_not_protected)
{
	static const char *const machines[] = {
		"--kernel 2.6.31", "--kernel 3.3",  "--kernel 5.4",
		"--kernel 5.10",   "--kernel 6.18", "--reclaim mglru",
	};
	g_autofree char *options =
		g_strdup_printf(PLAIN "--limit 300pages --swap zram %s", machines[_i]);
	struct model_run r[2];

	for (unsigned i = 0; i < 2; i++) {
		g_autoptr(GString) t = g_string_new("file 1 f 2M\ntask 1\n");

		line(t, "mmap 1 %x 2M %s anon\nW 1 %x 2M\nmmap 1 %x 2M r-- file:1", HEAP,
		     i ? "rwx" : "rw-", HEAP, DATA);
		for (unsigned k = 0; k < 20; k++) {
			touch_zipf(t, i ? 'X' : 'R', 1, HEAP, 512, 300, 900000, 20, 5 + k);
			line(t, "R 1 %x 256K", DATA + k % 8 * 64 * PAGE);
		}
		model_run(&r[i], options, t->str, MODEL_RUN_UNCHECKED);
	}
	ck_assert_uint_gt(COUNTER(&r[0], workingset_refault_anon), 0);
	for (unsigned c = 0; c < RF_NCOUNTERS; c++)
		if (c != RF_C_rf_fault_exec && c != RF_C_rf_fault_anon)
			eq(r[0].result.counter[c], r[1].result.counter[c]);
	model_run_clear(&r[0]);
	model_run_clear(&r[1]);
}
END_TEST

/* ---- K08: the classic lists protect executable mappings, the multi-gen LRU does not look ---- */

static GString *text_or_data(gboolean text)
{
	GString *t = g_string_new("task 1\nfile 1 s 32M\nfile 2 x 2M\n");
	struct rf_rng rng = { 3 };

	line(t, "mmap 1 %x 32M r-- file:1\nmmap 1 %x 2M %s file:2", DATA, TEXT,
	     text ? "r-x" : "r--");
	for (unsigned i = 0; i < 100 * 128; i++) {
		if (i / 128 % 2)
			line(t, "R 1 %x", DATA + i / 2 % 8192 * PAGE);
		else
			line(t, "%c 1 %x", text ? 'X' : 'R', TEXT + rf_rng_below(&rng, 512) * PAGE);
	}
	return t;
}

START_TEST(k08_mglru_ignores_exec)
{
	g_autoptr(GString) text = text_or_data(TRUE), data = text_or_data(FALSE);
	const char *const classic = PLAIN "--limit 768pages --swap none";
	struct model_run r;

	ck_assert_uint_lt(majors(classic, text), majors(classic, data));
	model_run(&r, PLAIN "--limit 768pages --swap none --reclaim mglru", text->str,
	          MODEL_RUN_UNCHECKED);
	ck_assert_uint_gt(COUNTER(&r, rf_exec_refault), 0);
	eq(COUNTER(&r, pgmajfault),
	   majors(PLAIN "--limit 768pages --swap none --reclaim mglru", data));
	model_run_clear(&r);
}
END_TEST

/* ---- K09: text larger than the limit thrashes for ever, and nobody is killed ---- */

START_TEST(k09_thrashing_without_a_kill)
{
	static const char *const policies[] = { "twolist", "mglru" };
	g_autofree char *options =
		g_strdup_printf(PLAIN "--limit 200pages --swap none --reclaim %s", policies[_i]);
	g_autoptr(GString) t = g_string_new("file 1 x 1200K\ntask 1\n");
	struct model_run r;

	line(t, "mmap 1 %x 1200K r-x file:1", TEXT);
	for (unsigned i = 0; i < 20; i++)
		touch_each(t, 'X', 1, TEXT, 300);
	model_run(&r, options, t->str, MODEL_RUN_UNCHECKED);
	eq(r.result.oom->len, 0);
	ck_assert_uint_ge(COUNTER(&r, rf_exec_refault), GAUGE(&r, rf_accesses) / 2);
	/* Its time goes into waiting, not into running. */
	ck_assert_uint_ge(GAUGE(&r, rf_time_io), 9 * (GAUGE(&r, rf_time) / 10));
	model_run_clear(&r);
}
END_TEST

/* ---- K14: a file set that is read again and again survives a scan ---- */

START_TEST(k14_page_cache_in_use_survives)
{
	static const char *const policies[] = { "twolist", "mglru" };
	g_autofree char *options =
		g_strdup_printf(PLAIN "--limit 2048pages --swap none --reclaim %s", policies[_i]);
	g_autoptr(GString) t = g_string_new("file 1 hot 4000K\nfile 2 cold 400M\ntask 1\n");
	struct model_run r;

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 6; i++)
			read_pages(t, 1, 1, 0, 1000);
		line(t, "mark %u", round);
		read_pages(t, 1, 2, round * 4000, 4000);
	}
	model_run(&r, options, t->str, MODEL_RUN_UNCHECKED);
	/* 80,000 pages went by.  The set of 1000 was lost once, at first; later less than 5 % each
	 * time. */
	ck_assert_uint_le(MARK_COUNTER(&r, "4", workingset_refault_file), 1100);
	ck_assert_uint_le(COUNTER(&r, workingset_refault_file) -
	                          MARK_COUNTER(&r, "4", workingset_refault_file),
	                  15 * 50);
	model_run_clear(&r);
}
END_TEST

/* ---- K17: a second working set takes the first one's place ---- */

/* 1400 pages do not fit beside 1400 active ones in 2000.  Since 3.15 the refaults say so. */
START_TEST(k17_workingset_transition)
{
	static const char *const releases[] = { "3.15", "4.19", "5.4", "6.18", "3.10" };
	const gboolean detects = _i != 4;
	g_autofree char *options =
		g_strdup_printf(PLAIN "--limit 2000pages --swap none --kernel %s", releases[_i]);
	g_autoptr(GString) t = g_string_new("file 1 a 5600K\nfile 2 b 5600K\ntask 1\n");
	struct model_run r;

	for (unsigned file = 1; file <= 2; file++) {
		for (unsigned i = 0; i < 8; i++) {
			line(t, "mark %u.%u", file, i);
			read_pages(t, 1, file, 0, 1400);
		}
	}
	model_run(&r, options, t->str, MODEL_RUN_UNCHECKED);
	eq(MARK_COUNTER(&r, "2.0", workingset_refault_file), 0); /* the first fits */
	eq(MARK_COUNTER(&r, "2.2", workingset_refault_file),
	   1400); /* the second missed in its second pass */
	if (detects) {
		ck_assert_uint_lt(MARK_COUNTER(&r, "2.3", workingset_refault_file), 2000);
		eq(COUNTER(&r, workingset_refault_file),
		   MARK_COUNTER(&r, "2.3", workingset_refault_file));
	} else {
		eq(COUNTER(&r, workingset_refault_file), 7 * 1400); /* and so for ever */
	}
	model_run_clear(&r);
}
END_TEST

/* ---- K20: what is used once goes first ---- */

START_TEST(k20_use_once_first)
{
	static const char *const releases[] = { "2.6.31", "3.10", "5.4", "6.18" };
	g_autofree char *options =
		g_strdup_printf(PLAIN "--limit 2000pages --swap none --kernel %s", releases[_i]);
	g_autoptr(GString) t = g_string_new("file 1 hot 3200K\nfile 2 stream 80M\ntask 1\n");
	struct model_run r;

	for (unsigned i = 0; i < 3; i++)
		read_pages(t, 1, 1, 0, 800); /* less than half */
	for (unsigned i = 0; i < 20; i++)
		read_pages(t, 1, 2, i * 1000, 1000);
	line(t, "mark streamed");
	read_pages(t, 1, 1, 0, 800);
	model_run(&r, options, t->str, MODEL_RUN_UNCHECKED);
	ck_assert_uint_gt(MARK_COUNTER(&r, "streamed", pgsteal_file), 18000);
	eq(COUNTER(&r, workingset_refault_file), 0);
	eq(COUNTER(&r, pgdeactivate), 0);
	model_run_clear(&r);
}
END_TEST

/* ---- K21: a mapped page is active with its second reference, not with its first ---- */

START_TEST(k21_second_reference)
{
	g_autoptr(GString) t = g_string_new("file 1 hot 1600K\nfile 2 stream 40M\ntask 1\n");
	struct model_run r;

	line(t, "mmap 1 %x 40M r-- file:2", DATA);
	read_pages(t, 1, 1, 0, 400); /* active by its second read */
	read_pages(t, 1, 1, 0, 400);
	touch_each(t, 'R', 1, DATA, 5000); /* each once */
	line(t, "mark streamed");
	read_pages(t, 1, 1, 0, 400);
	model_run(&r, PLAIN "--limit 1200pages --swap none --kernel 2.6.34", t->str,
	          MODEL_RUN_UNCHECKED);
	ck_assert_uint_le(MARK_COUNTER(&r, "streamed", pgactivate), 400);
	eq(MARK_COUNTER(&r, "streamed", pgdeactivate), 0);
	eq(COUNTER(&r, workingset_refault_file), 0);
	model_run_clear(&r);
	/* Before 2.6.34 a stream that was mapped went through the active list and took its place.
	 */
	model_run(&r, PLAIN "--limit 1200pages --swap none --kernel 2.6.33", t->str,
	          MODEL_RUN_UNCHECKED);
	ck_assert_uint_ge(MARK_COUNTER(&r, "streamed", pgactivate), 4000);
	eq(COUNTER(&r, workingset_refault_file), 400);
	model_run_clear(&r);
	/* The same by the rule's own switch. */
	model_run(&r, PLAIN "--limit 1200pages --swap none --reclaim twolist,ref_twice=no", t->str,
	          MODEL_RUN_UNCHECKED);
	ck_assert_uint_ge(MARK_COUNTER(&r, "streamed", pgactivate), 4000);
	model_run_clear(&r);
}
END_TEST

/* ---- K22: fault-around makes neighbours look used on x86-64, not on arm64 ---- */

START_TEST(k22_fault_around_young_or_old)
{
	g_autoptr(GString) t = g_string_new("file 1 f 6400K\nfile 2 s 40M\ntask 1\n");
	struct model_run r;

	line(t, "mmap 1 %x 6400K r-- file:1", HEAP);
	read_pages(t, 1, 1, 0, 1600);
	for (unsigned i = 0; i < 100; i++) /* one in sixteen is used; its fault maps the rest */
		line(t, "R 1 %x", HEAP + (i * 16 + 5) * PAGE);
	read_pages(t, 1, 2, 0, 1500);
	line(t, "mark pressed");
	for (unsigned i = 0; i < 100; i++)
		line(t, "R 1 %x", HEAP + (i * 16 + 5) * PAGE);
	model_run(&r,
	          "--stats-flush-period 0 --read_ahead_kb 0 --limit 2000pages --swap none --arch "
	          "arm64",
	          t->str, MODEL_RUN_UNCHECKED);
	eq(MARK_COUNTER(&r, "pressed", pgfault), 100);
	eq(COUNTER(&r, pgmajfault), 0); /* the unused ones went */
	model_run_clear(&r);
	model_run(&r,
	          "--stats-flush-period 0 --read_ahead_kb 0 --limit 2000pages --swap none --arch "
	          "x86-64",
	          t->str, MODEL_RUN_UNCHECKED);
	ck_assert_uint_ge(COUNTER(&r, pgmajfault), 10);
	ck_assert_uint_ge(MARK_COUNTER(&r, "pressed", pgactivate), 1000); /* all looked alike */
	model_run_clear(&r);
}
END_TEST

/* ---- K23: MADV_RANDOM loses the second chance since 6.3 ---- */

START_TEST(k23_random_has_no_second_chance)
{
	g_autoptr(GString) normal = g_string_new("file 1 f 16M\ntask 1\n"), random = NULL;
	uint64_t before;

	line(normal, "mmap 1 %x 16M r-- file:1 shared", DATA);
	random = g_string_new(normal->str);
	line(random, "madvise 1 %x 16M random", DATA);
	touch_zipf(normal, 'R', 1, DATA, 4000, 30000, 900000, 0, 5);
	touch_zipf(random, 'R', 1, DATA, 4000, 30000, 900000, 0, 5);
	before = majors(PLAIN "--limit 1500pages --swap none --kernel 6.1", normal);
	eq(majors(PLAIN "--limit 1500pages --swap none --kernel 6.1", random), before);
	eq(majors(PLAIN "--limit 1500pages --swap none --kernel 6.6", normal), before);
	ck_assert_uint_gt(majors(PLAIN "--limit 1500pages --swap none --kernel 6.6", random),
	                  before + before / 20);
}
END_TEST

Suite *suite_relations(void)
{
	Suite *s = suite_create("relations");
	TCase *t = tcase_create("protection");

	tcase_add_loop_test(t, k01_exec_protection, 0, 4);
	tcase_add_loop_test(t, k07_anonymous_text_is_not_protected, 0, 6);
	tcase_add_test(t, k08_mglru_ignores_exec);
	tcase_add_loop_test(t, k09_thrashing_without_a_kill, 0, 2);
	tcase_add_loop_test(t, k14_page_cache_in_use_survives, 0, 2);
	tcase_add_loop_test(t, k17_workingset_transition, 0, 5);
	tcase_add_loop_test(t, k20_use_once_first, 0, 4);
	tcase_add_test(t, k21_second_reference);
	tcase_add_test(t, k22_fault_around_young_or_old);
	tcase_add_test(t, k23_random_has_no_second_chance);
	suite_add_tcase(s, t);
	return s;
}
