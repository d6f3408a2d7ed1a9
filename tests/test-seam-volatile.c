/* SPDX-License-Identifier: MIT
 * The volatile seam: ranges and how they merge and part, what is purged in which order, who is told.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "policies/volatile/ranges.h"
#include "tests/model-run.h"

Suite *suite_seam_volatile(void);

/* ---- ranges ---- */

/* "10-20 30-40*": the ranges of root 1, a star where one is purged. */
static char *ranges_text(const struct rf_ranges *r)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (uint64_t at = 0; at < 200; at++) {
		uint32_t i = rf_ranges_find(r, 1, at);

		if (i != RF_NO_PAGE && r->range[i].start == at)
			g_string_append_printf(s, "%s%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "%s", s->len ? " " : "",
			                       r->range[i].start, r->range[i].end, r->range[i].purged ? "*" : "");
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}

/* The list, oldest first, by where each begins. */
static char *list_text(const struct rf_ranges *r)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (uint32_t i = r->list.tail; i != RF_NO_PAGE; i = r->link[i].prev)
		g_string_append_printf(s, "%s%" G_GUINT64_FORMAT, s->len ? " " : "", r->range[i].start);
	return g_string_free(g_steal_pointer(&s), FALSE);
}

static void is(const struct rf_ranges *r, const char *ranges, const char *list)
{
	g_autofree char *a = ranges_text(r), *b = list_text(r);

	ck_assert_str_eq(a, ranges);
	ck_assert_str_eq(b, list);
	rf_ranges_check(r);
}

static void purge(struct rf_ranges *r, uint64_t at)
{
	rf_ranges_purge(r, rf_ranges_find(r, 1, at));
}

START_TEST(marking)
{
	struct rf_ranges r = { .requeue = TRUE };

	rf_ranges_init(&r);
	rf_ranges_mark(&r, 1, 10, 20);
	rf_ranges_mark(&r, 1, 40, 50);
	is(&r, "10-20 40-50", "10 40");
	rf_ranges_mark(&r, 1, 20, 30); /* a neighbour stays one of its own */
	is(&r, "10-20 20-30 40-50", "10 40 20");
	rf_ranges_mark(&r, 1, 12, 18); /* covered: nothing changes, its age neither */
	rf_ranges_mark(&r, 1, 10, 20);
	is(&r, "10-20 20-30 40-50", "10 40 20");
	purge(&r, 40);
	rf_ranges_mark(&r, 1, 25, 45); /* overlaps two: one range, and what was purged stays known */
	is(&r, "10-20 20-50*", "10 20");
	rf_ranges_mark(&r, 1, 5, 12);
	is(&r, "5-20 20-50*", "20 5");
	rf_ranges_mark(&r, 1, 0, 100);
	is(&r, "0-100*", "0");
	rf_ranges_mark(&r, 2, 10, 20); /* another root is another matter */
	is(&r, "0-100*", "0 10");
	eq(r.n, 2);
	eq(r.most, 3);
	rf_ranges_clear(&r);
}
END_TEST

START_TEST(unmarking)
{
	struct rf_ranges r = { .requeue = TRUE };

	rf_ranges_init(&r);
	ck_assert(!rf_ranges_unmark(&r, 1, 0, 100));
	for (unsigned i = 0; i < 4; i++)
		rf_ranges_mark(&r, 1, i * 20, i * 20 + 10);
	is(&r, "0-10 20-30 40-50 60-70", "0 20 40 60");
	ck_assert(!rf_ranges_unmark(&r, 1, 10, 20)); /* between two */
	ck_assert(!rf_ranges_unmark(&r, 1, 18, 32)); /* one whole */
	is(&r, "0-10 40-50 60-70", "0 40 60");
	purge(&r, 0);
	ck_assert(rf_ranges_unmark(&r, 1, 8, 12)); /* trimmed at its end: counts as new */
	is(&r, "0-8* 40-50 60-70", "40 60 0");
	ck_assert(!rf_ranges_unmark(&r, 1, 35, 42)); /* at its start */
	is(&r, "0-8* 42-50 60-70", "60 0 42");
	ck_assert(rf_ranges_unmark(&r, 1, 2, 4)); /* cut in two, both purged */
	is(&r, "0-2* 4-8* 42-50 60-70", "60 42 0 4");
	ck_assert(!rf_ranges_unmark(&r, 1, 45, 46)); /* neither was */
	is(&r, "0-2* 4-8* 42-45 46-50 60-70", "60 0 4 42 46");
	ck_assert(rf_ranges_unmark(&r, 1, 1, 65)); /* a bit of one, some whole, a bit of another */
	is(&r, "0-1* 65-70", "0 65");
	rf_ranges_clear(&r);
}
END_TEST

/* As ashmem has it: ranges keep their age when they are trimmed; purged ones are off the list. */
START_TEST(unpinning)
{
	struct rf_ranges r = { .purged_leave = TRUE };

	rf_ranges_init(&r);
	rf_ranges_mark(&r, 1, 0, 10);
	rf_ranges_mark(&r, 1, 20, 30);
	rf_ranges_mark(&r, 1, 40, 60);
	ck_assert(!rf_ranges_unmark(&r, 1, 5, 10));
	is(&r, "0-5 20-30 40-60", "0 20 40");
	ck_assert(!rf_ranges_unmark(&r, 1, 45, 50)); /* the new part is the youngest */
	is(&r, "0-5 20-30 40-45 50-60", "0 20 40 50");
	purge(&r, 50);
	is(&r, "0-5 20-30 40-45 50-60*", "0 20 40");
	rf_ranges_mark(&r, 1, 42, 55);
	is(&r, "0-5 20-30 40-60*", "0 20");
	ck_assert(rf_ranges_unmark(&r, 1, 44, 46));
	is(&r, "0-5 20-30 40-44* 46-60*", "0 20");
	eq(r.purged, 1);
	rf_ranges_clear(&r);
}
END_TEST

START_TEST(ranges_of_a_fork)
{
	struct rf_ranges r = { .requeue = TRUE };

	rf_ranges_init(&r);
	rf_ranges_mark(&r, 2, 0, 10);
	rf_ranges_mark(&r, 2, 20, 30);
	rf_ranges_purge(&r, rf_ranges_find(&r, 2, 25));
	rf_ranges_copy(&r, 2, 1);
	ck_assert(rf_ranges_unmark(&r, 2, 0, 100));
	is(&r, "0-10 20-30*", "0 20");
	rf_ranges_copy(&r, 7, 8); /* nobody's */
	eq(r.n, 2);
	rf_ranges_clear(&r);
}
END_TEST

/* Against bytes that are marked one by one: which are volatile, which are in a range that was purged. */
START_TEST(ranges_against_bytes)
{
	struct rf_rng rng = { model_run_seed() };
	struct rf_ranges r = { .requeue = TRUE };
	uint8_t of[100] = { 0 }; /* number of the range, 0: none */
	gboolean purged[256] = { FALSE };
	unsigned next = 1;

	rf_ranges_init(&r);
	for (unsigned step = 0; step < 4000; step++) {
		unsigned start = rf_rng_below(&rng, 99), end = start + 1 + rf_rng_below(&rng, MIN(20, 100 - start)), i;
		gboolean lost = FALSE, one = TRUE;
		uint8_t old[100];

		while (next < 255 && memchr(of, (int)next, 100))
			next++;
		if (next == 255) /* numbers anew */
			for (next = 1; memchr(of, (int)next, 100); next++)
				;
		memcpy(old, of, sizeof of);
		switch (rf_rng_below(&rng, 3)) {
		case 0:
			rf_ranges_mark(&r, 1, start, end);
			for (i = start; i < end; i++)
				one = one && of[i] && of[i] == of[start];
			if (one)
				break;
			purged[next] = FALSE;
			for (i = start; i < end; i++)
				purged[next] |= old[i] && purged[old[i]];
			for (i = 0; i < 100; i++) {
				gboolean absorbed = i >= start && i < end;

				for (unsigned j = start; j < end && !absorbed; j++)
					absorbed = old[j] && old[i] == old[j];
				if (absorbed)
					of[i] = (uint8_t)next;
			}
			break;
		case 1:
			for (i = start; i < end; i++) {
				lost |= of[i] && purged[of[i]];
				of[i] = 0;
			}
			if (start && end < 100 && of[start - 1] && of[start - 1] == of[end]) { /* cut in two */
				purged[next] = purged[of[end]];
				for (i = end; i < 100 && of[i] && of[i] == of[start - 1]; i++)
					of[i] = (uint8_t)next;
			}
			ck_assert(rf_ranges_unmark(&r, 1, start, end) == lost);
			break;
		case 2:
			if (of[start]) {
				purge(&r, start);
				purged[of[start]] = TRUE;
			}
			break;
		}
		rf_ranges_check(&r);
		for (i = 0; i < 100; i++) {
			uint32_t at = rf_ranges_find(&r, 1, i);

			ck_assert_msg((at != RF_NO_PAGE) == (of[i] != 0), "seed %" G_GUINT64_FORMAT ", step %u, byte %u",
			              model_run_seed(), step, i);
			if (of[i])
				ck_assert(!r.range[at].purged == !purged[of[i]]);
		}
	}
	rf_ranges_clear(&r);
}
END_TEST

/* ---- calls ---- */

/* Three ranges of 16 pages, written; the first and the last are volatile, the last was marked first. */
#define CACHE \
	"cgroup /c memory.max=512K\ntask 1 cgroup=/c\nmmap 1 10000000 192K rw- anon\nW 1 10000000 192K\n" \
	"vrange 1 10020000 64K volatile\nvrange 1 10000000 64K volatile\n"
/* Another task wants all of the cgroup's memory, and ends. */
#define PRESSURE "task 2 cgroup=/c\nmmap 2 20000000 512K rw- anon\nW 2 20000000 512K\nexit 2\n"

START_TEST(without_pressure_nothing_happens)
{
	static const char *const members[] = { "--volatile mm-tree", "--volatile vma", "--volatile ashmem",
		                               "--volatile madv-free --swap zram" };

	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++) {
		struct model_run r;

		model_run(&r, members[i], CACHE "R 1 10000000 192K\nvrange 1 10000000 192K nonvolatile\nR 1 10000000 192K\n", 0);
		eq(COUNTER(&r, pgfault), 48); /* the data is there, and no fault */
		eq(COUNTER(&r, rf_vrange_volatile), 2);
		eq(COUNTER(&r, rf_vrange_lost), 0);
		eq(COUNTER(&r, rf_purged_pages), 0);
		eq(GAUGE(&r, rf_vranges), 0);
		model_run_clear(&r);
	}
	/* With nothing better, all of it is gone at once. */
	struct model_run r;

	model_run(&r, "--volatile dontneed", CACHE "mark volatile\nR 1 10000000 192K\n", 0);
	eq(MARK_PAGES(&r, "volatile", rf_rss), 16);
	eq(COUNTER(&r, pgfault), 48 + 32);
	eq(COUNTER(&r, rf_zero_page), 32);
	model_run_clear(&r);
}
END_TEST

/* Under pressure the range that was marked first goes, whole, and then the next; the other is swapped if
 * need be, and its data never lost. */
START_TEST(oldest_first)
{
	static const char *const members[] = { "--volatile mm-tree --swap zram", "--volatile ashmem --swap zram" };

	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++) {
		struct model_run r;

		/* 48 pages and some tables leave room for 70; a batch of reclaim wants 32. */
		model_run(&r, members[i],
		          CACHE "mmap 1 20000000 512K rw- anon\nW 1 20000000 280K\nmark before\nW 1 20046000 32K\nmark after\n"
		          "vrange 1 10000000 64K nonvolatile\nmark first\nvrange 1 10020000 64K nonvolatile\n"
		          "R 1 10010000 64K\n", 0);
		eq(MARK_COUNTER(&r, "before", rf_purged_pages), 0);
		eq(COUNTER(&r, rf_purged_pages), 32);
		eq(COUNTER(&r, rf_vrange_lost), 2);
		eq(COUNTER(&r, pswpout), 0);
		eq(COUNTER(&r, rf_zero_page), 0);
		model_run_clear(&r);
	}
}
END_TEST

/* There is one list for all: whose range was marked first loses it first, but a cgroup at its limit
 * takes no others than its own.  ashmem takes two ranges for two pages. */
START_TEST(oldest_first_of_all_tasks)
{
	static const struct { const char *member; unsigned pages, lost; } rows[] = {
		{ "--volatile mm-tree --swap zram", 32, 0 }, { "--volatile ashmem --swap zram", 64, 1 },
	};
	/* 96 pages, tables, and room for some twenty. */
	const char *trace = "cgroup /c memory.max=512K\ncgroup /d\ntask 1 cgroup=/c\ntask 2 cgroup=/c\ntask 3 cgroup=/d\n"
		"mmap 1 10000000 128K rw- anon\nW 1 10000000 128K\nmmap 2 10000000 128K rw- anon\nW 2 10000000 128K\n"
		"mmap 3 10000000 128K rw- anon\nW 3 10000000 128K\nvrange 3 10000000 128K volatile\n"
		"vrange 2 10000000 128K volatile\nvrange 1 10000000 128K volatile\n"
		"mmap 1 20000000 240K rw- anon\nW 1 20000000 228K\nmark pressure\n"
		"vrange 1 10000000 128K nonvolatile\nmark one\nvrange 3 10000000 128K nonvolatile\nmark three\n"
		"vrange 2 10000000 128K nonvolatile\n";

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct model_run r;

		model_run(&r, rows[i].member, trace, 0);
		eq(MARK_COUNTER(&r, "pressure", rf_purged_pages), rows[i].pages);
		eq(MARK_COUNTER(&r, "one", rf_vrange_lost), rows[i].lost);
		eq(MARK_COUNTER(&r, "three", rf_vrange_lost), rows[i].lost);
		eq(COUNTER(&r, rf_vrange_lost), rows[i].lost + 1);
		model_run_clear(&r);
	}
}
END_TEST

/* A range whose lock somebody has is left alone, and the next is taken: task 1 changes a mapping from
 * 1.00 to 1.05 s, and memory runs short at 1.01 s. */
START_TEST(locked_ranges_are_skipped)
{
	for (unsigned busy = 0; busy < 2; busy++) {
		g_autofree char *trace = g_strdup_printf(
			"cgroup /c memory.max=512K\ntask 1 cgroup=/c\ntask 2 cgroup=/c\ntask 3 cgroup=/c\n"
			"mmap 1 10000000 128K rw- anon\nmmap 2 10000000 128K rw- anon\nmmap 3 10000000 240K rw- anon\n"
			"W 1 10000000 128K\nW 2 10000000 128K\nvrange 1 10000000 128K volatile\nat 900000000\n"
			"vrange 2 10000000 128K volatile\nat 1000000000\n%sthink 3 10000000\nW 3 10000000 240K\nat 2000000000\n"
			"vrange 1 10000000 128K nonvolatile\nR 1 10000000 128K\nvrange 2 10000000 128K nonvolatile\n"
			"R 2 10000000 128K\n", busy ? "mmap 1 50000000 4K rw- anon\n" : "");
		struct model_run r;

		model_run(&r, "--replay closed --cpus 3 --volatile mm-tree --swap zram --set mmap_lock_hold=50ms", trace, 0);
		eq(COUNTER(&r, rf_purged_pages), 32);
		eq(COUNTER(&r, rf_vrange_lost), 1);
		eq(task_of(&r, 1)->pgfault, busy ? 32 : 64); /* who lost its data faults again */
		eq(task_of(&r, 2)->pgfault, busy ? 64 : 32);
		model_run_clear(&r);
	}
}
END_TEST

/* Memory of the machine runs short, and kswapd purges; at a cgroup's limit it is the task itself. */
START_TEST(who_purges)
{
	struct model_run r;

	model_run(&r, "--volatile mm-tree --swap zram", CACHE PRESSURE, 0);
	eq(COUNTER(&r, rf_purged_pages), 32);
	eq(COUNTER(&r, rf_purged_kswapd), 0);
	model_run_clear(&r);
	model_run(&r, "--ram 8M --min_free_kbytes 512 --volatile mm-tree --swap zram",
	          "task 1\nmmap 1 10000000 8M rw- anon\nW 1 10000000 256K\nvrange 1 10000000 256K volatile\n"
	          "W 1 10100000 7M\nthink 1 1000000\n", MODEL_RUN_UNCHECKED);
	eq(COUNTER(&r, rf_purged_pages), 64);
	eq(COUNTER(&r, allocstall), 0);
	eq(COUNTER(&r, rf_purged_kswapd), 64);
	model_run_clear(&r);
}
END_TEST

/* W5: 26 chunks of 16 KiB, the even ones volatile, in a cgroup of 1 MiB; then a child writes 3 MiB.
 * Each volatile chunk is lost whole or not at all, oldest first; the odd ones are intact. */
START_TEST(all_or_nothing)
{
	enum { CHUNKS = 26, PAGES_EACH = 4 };
	g_autoptr(GString) trace = g_string_new("cgroup /c memory.max=1M\ntask 1 cgroup=/c\nmmap 1 10000000 416K rw- anon\n"
	                                        "W 1 10000000 416K\n");
	struct model_run r;
	gboolean intact = FALSE;
	unsigned lost = 0;

	for (unsigned i = 0; i < CHUNKS; i += 2)
		line(trace, "vrange 1 %x 16K volatile", 0x10000000 + i * 0x4000);
	/* 600 KiB of the child's fit beside the chunks; what comes after them does not. */
	line(trace, "task 2 cgroup=/c\nmmap 2 20000000 3M rw- anon\nW 2 20000000 700K\nmark some");
	for (unsigned i = 0; i < CHUNKS; i += 2)
		line(trace, "vrange 1 %x 16K nonvolatile\nmark e%u", 0x10000000 + i * 0x4000, i);
	for (unsigned i = 0; i < CHUNKS; i++)
		line(trace, "mark b%u\nR 1 %x 16K\nmark a%u", i, 0x10000000 + i * 0x4000, i);
	model_run(&r, "--volatile mm-tree --swap zram:8M", trace->str, 0);
	for (unsigned i = 0; i < CHUNKS; i += 2) {
		g_autofree char *e = g_strdup_printf("e%u", i), *b = g_strdup_printf("b%u", i), *a = g_strdup_printf("a%u", i);
		uint64_t zeros = MARK_COUNTER(&r, a, rf_zero_page) - MARK_COUNTER(&r, b, rf_zero_page);
		gboolean told = MARK_COUNTER(&r, e, rf_vrange_lost) > lost;

		lost += told;
		eq(zeros, told ? PAGES_EACH : 0); /* purged is said of exactly those that lost their data: all of it */
		ck_assert_msg(!(told && intact), "chunk %u was purged, an older one was not", i);
		intact |= !told;
	}
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_lt(lost, CHUNKS / 2);
	for (unsigned i = 1; i < CHUNKS; i += 2) {
		g_autofree char *b = g_strdup_printf("b%u", i), *a = g_strdup_printf("a%u", i);

		eq(MARK_COUNTER(&r, a, rf_zero_page) - MARK_COUNTER(&r, b, rf_zero_page), 0);
	}
	eq(COUNTER(&r, rf_purged_pages), lost * PAGES_EACH);
	eq(GAUGE(&r, rf_vranges_purged), lost);
	model_run_clear(&r);

	/* All of the 3 MiB: every volatile chunk is lost, the odd ones are in swap. */
	g_string_assign(trace, "cgroup /c memory.max=1M\ntask 1 cgroup=/c\nmmap 1 10000000 416K rw- anon\n"
	                       "W 1 10000000 416K\n");
	for (unsigned i = 0; i < CHUNKS; i += 2)
		line(trace, "vrange 1 %x 16K volatile", 0x10000000 + i * 0x4000);
	line(trace, "task 2 cgroup=/c\nmmap 2 20000000 3M rw- anon\nW 2 20000000 3M\nexit 2\nvrange 1 10000000 416K nonvolatile\n"
	            "R 1 10000000 416K");
	model_run(&r, "--volatile mm-tree --swap zram:8M", trace->str, 0);
	eq(COUNTER(&r, rf_purged_pages), 13 * PAGES_EACH);
	eq(COUNTER(&r, rf_zero_page), 13 * PAGES_EACH);
	eq(COUNTER(&r, rf_vrange_lost), 1);
	model_run_clear(&r);
}
END_TEST

/* ---- who touches what was purged ---- */

#define PURGED CACHE PRESSURE "mark purged\n"

/* The flag of a mapping says the same as the range of a tree. */
START_TEST(touching_what_was_purged)
{
	const char *member = _i ? "vma" : "mm-tree";
	g_autofree char *plain = g_strdup_printf(
		"--volatile %s --swap zram --set sigbus=10us --set regen_page=1us --set zero_page=0", member);
	g_autofree char *zero = g_strdup_printf("--volatile %s,on_purged_touch=zero --swap zram", member);
	g_autofree char *kill = g_strdup_printf("--volatile %s,on_purged_touch=kill --swap zram", member);
	struct model_run r;

	/* A signal; the handler takes the whole range back, and goes on. */
	model_run(&r, plain, PURGED "R 1 10001000\nmark touched\nW 1 10000000 64K\nW 1 10020000 4K\n", 0);
	eq(MARK_COUNTER(&r, "purged", rf_purged_pages), 32);
	eq(MARK_COUNTER(&r, "purged", rf_sigbus), 0);
	eq(mark_of(&r, "purged")->gauge[RF_G_rf_vranges], 2);
	eq(MARK_COUNTER(&r, "touched", rf_sigbus), 1);
	eq(mark_of(&r, "touched")->gauge[RF_G_rf_vranges], 1);
	eq(mark_of(&r, "touched")->gauge[RF_G_rf_time_fault] - mark_of(&r, "purged")->gauge[RF_G_rf_time_fault],
	   10000 + 16 * 1000 + 700);
	eq(COUNTER(&r, rf_sigbus), 2);
	eq(GAUGE(&r, rf_vranges), 0);
	model_run_clear(&r);

	model_run(&r, zero, PURGED "R 1 10001000\nR 1 10010000\n", 0);
	eq(COUNTER(&r, rf_sigbus), 0);
	eq(COUNTER(&r, rf_purged_zero), 1);
	eq(GAUGE(&r, rf_vranges), 2); /* still volatile, still known to be lost */
	model_run_clear(&r);

	model_run(&r, kill, PURGED "R 1 10001000\nW 1 10002000\n", 0);
	eq(COUNTER(&r, rf_sigbus), 1);
	ck_assert(!g_array_index(r.result.tasks, struct rf_task_result, 0).exited);
	eq(GAUGE(&r, rf_rss), 0);
	eq(GAUGE(&r, rf_vranges), 0); /* gone with the task */
	model_run_clear(&r);
}
END_TEST

START_TEST(touching_what_ashmem_purged)
{
	struct model_run r;

	model_run(&r, "--volatile ashmem --swap zram", PURGED "R 1 10001000\n", 0);
	eq(COUNTER(&r, rf_purged_zero), 1);
	model_run_clear(&r);
}
END_TEST

/* The entry of each page that was discarded says so: what was never there is no loss, nor what somebody
 * threw away or moved since; a child inherits such entries. */
START_TEST(lost_is_a_matter_of_pages)
{
	static const char *const members[] = { "--volatile mm-tree --swap zram", "--volatile vma --swap zram" };
	static const struct { const char *after; unsigned signals, lost; } rows[] = {
		{ "R 1 10008000\nR 1 1000f000\nW 1 10009000\n", 0, 0 }, /* the second half was never written */
		{ "R 1 10008000\nR 1 10007000\n", 1, 1 },
		{ "madvise 1 10000000 16K dontneed\nR 1 10000000 16K\n", 0, 0 },
		{ "madvise 1 10000000 16K dontneed\nR 1 10000000 20K\n", 1, 1 },
		{ "vrange 1 10000000 64K nonvolatile\nvrange 1 10000000 64K volatile\nR 1 10000000 64K\n", 0, 1 },
		{ "mremap 1 10000000 64K 30000000 64K\nR 1 30000000 64K\n", 0, 0 },
		{ "task 3 parent=1\nR 3 10001000\nR 3 10008000\n", 1, 1 },
		{ "task 3 parent=1\nR 3 10001000\nR 1 10001000\n", 2, 2 }, /* each has a range of its own */
		{ "task 3 parent=1\nvrange 3 10000000 64K nonvolatile\nR 3 10000000 64K\n", 0, 1 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(members) * G_N_ELEMENTS(rows); i++) {
		const unsigned row = i / G_N_ELEMENTS(members);
		g_autofree char *trace = g_strconcat("cgroup /c memory.max=512K\ntask 1 cgroup=/c\n"
			"mmap 1 10000000 64K rw- anon\nW 1 10000000 32K\nvrange 1 10000000 64K volatile\n" PRESSURE
			"mark purged\n", rows[row].after, NULL);
		struct model_run r;

		model_run(&r, members[i % G_N_ELEMENTS(members)], trace, 0);
		eq(MARK_COUNTER(&r, "purged", rf_purged_pages), 8);
		ck_assert_msg(COUNTER(&r, rf_sigbus) == rows[row].signals && COUNTER(&r, rf_vrange_lost) == rows[row].lost,
		              "%s, row %u: %" G_GUINT64_FORMAT " signals, %" G_GUINT64_FORMAT " lost", members[i % 2], row,
		              COUNTER(&r, rf_sigbus), COUNTER(&r, rf_vrange_lost));
		model_run_clear(&r);
	}
}
END_TEST

START_TEST(a_new_mapping_is_not_volatile)
{
	struct model_run r;

	model_run(&r, "--volatile mm-tree --swap zram",
	          PURGED "munmap 1 10000000 64K\nmark unmapped\nmmap 1 10000000 64K rw- anon\nW 1 10000000 64K\n"
	          "mmap 1 10020000 64K rw- anon\nW 1 10020000 64K\n", 0);
	eq(mark_of(&r, "unmapped")->gauge[RF_G_rf_vranges], 1);
	eq(COUNTER(&r, rf_sigbus), 0);
	eq(GAUGE(&r, rf_vranges), 0);
	model_run_clear(&r);
}
END_TEST

/* ---- sharing, locks, kinds of memory ---- */

START_TEST(pages_shared_since_a_fork)
{
	struct model_run r;

	/* The child has the ranges, too: both lose the data. */
	model_run(&r, "--volatile mm-tree --swap zram",
	          CACHE "task 3 parent=1\nmark fork\n" PRESSURE "vrange 1 10000000 192K nonvolatile\n"
	          "vrange 3 10000000 192K nonvolatile\n", 0);
	eq(mark_of(&r, "fork")->gauge[RF_G_rf_vranges], 4);
	eq(COUNTER(&r, rf_purged_pages), 32); /* each once, whoever has it */
	eq(COUNTER(&r, rf_vrange_lost), 2);
	model_run_clear(&r);
	/* Flags of mappings come with the mappings. */
	model_run(&r, "--volatile vma --swap zram",
	          CACHE "task 3 parent=1\nmark fork\n" PRESSURE "vrange 1 10000000 192K nonvolatile\n"
	          "vrange 3 10000000 192K nonvolatile\n", 0);
	eq(mark_of(&r, "fork")->gauge[RF_G_rf_vranges], 4);
	eq(COUNTER(&r, rf_purged_pages), 32);
	eq(COUNTER(&r, rf_vrange_lost), 2);
	model_run_clear(&r);

	/* The child wants its copy back: nothing is lost. */
	model_run(&r, "--volatile mm-tree --swap zram",
	          CACHE "task 3 parent=1\nvrange 3 10000000 192K nonvolatile\n" PRESSURE
	          "vrange 1 10000000 192K nonvolatile\nR 3 10000000 192K\n", 0);
	eq(COUNTER(&r, rf_purged_pages), 0);
	eq(COUNTER(&r, rf_vrange_lost), 0);
	eq(COUNTER(&r, rf_zero_page), 0);
	model_run_clear(&r);
}
END_TEST

/* Shared memory is volatile for everybody who maps it, until the last one lets go. */
START_TEST(shared_memory)
{
	struct model_run r;

#define SHARED \
	"cgroup /c memory.max=512K\ntask 1 cgroup=/c\ntask 3 cgroup=/c\nmmap 1 10000000 128K rw- shmem:5 shared\n" \
	"mmap 3 30000000 64K rw- shmem:5 shared off=64K\nW 1 10000000 128K\nR 3 30000000 64K\nvrange 1 10010000 64K volatile\n"
	model_run(&r, "--volatile mm-tree --swap zram",
	          SHARED PRESSURE "mark purged\n"
	          "vrange 3 30000000 32K nonvolatile\nR 3 30000000 32K\nR 3 30008000\nR 1 10000000 128K\n", 0);
	eq(MARK_COUNTER(&r, "purged", rf_purged_pages), 16);
	eq(COUNTER(&r, rf_vrange_lost), 1 + 1);
	eq(COUNTER(&r, rf_sigbus), 1); /* the other half, of either mapper */
	model_run_clear(&r);

	model_run(&r, "--volatile mm-tree --swap zram",
	          SHARED "munmap 1 10000000 128K\nmark one\nmunmap 3 30000000 64K\n", 0);
	eq(mark_of(&r, "one")->gauge[RF_G_rf_vranges], 1);
	eq(GAUGE(&r, rf_vranges), 0);
	model_run_clear(&r);

	/* Flags of mappings are each address space's own: the other one needs it. */
	model_run(&r, "--volatile vma --swap zram",
	          SHARED PRESSURE, 0);
	eq(COUNTER(&r, rf_purged_pages), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(calls_end_where_memory_is_of_another_kind)
{
	struct model_run r;

	model_run(&r, "--volatile mm-tree",
	          "file 1 f 1M\ntask 1\nmmap 1 10000000 16K rw- anon\nmmap 1 10004000 16K rw- anon locked\n"
	          "mmap 1 10008000 16K rw- anon\nmmap 1 1000c000 16K rw- shmem:2 shared\nmmap 1 10010000 16K rw- file:1 shared\n"
	          "vrange 1 10000000 48K volatile\nmark locked\nvrange 1 10008000 32K volatile\nmark mixed\n"
	          "vrange 1 10010000 16K volatile\nmark file\nvrange 1 20000000 16K volatile\n"
	          "vrange 1 10002000 1M nonvolatile\n", 0);
	eq(mark_of(&r, "locked")->gauge[RF_G_rf_vranges], 1); /* as far as the locked part */
	eq(MARK_COUNTER(&r, "locked", rf_vrange_short), 1);
	eq(mark_of(&r, "mixed")->gauge[RF_G_rf_vranges], 2); /* as far as the shared memory */
	eq(MARK_COUNTER(&r, "mixed", rf_vrange_short), 2);
	eq(mark_of(&r, "file")->gauge[RF_G_rf_vranges], 2);
	eq(COUNTER(&r, rf_vrange_short), 5);
	eq(GAUGE(&r, rf_vranges), 2);
	model_run_clear(&r);
}
END_TEST

START_TEST(locked_pages_stay)
{
	struct model_run r;

	model_run(&r, "--volatile mm-tree --swap zram",
	          CACHE "mlock 1 10000000 4K\n" PRESSURE, 0);
	eq(COUNTER(&r, rf_purged_pages), 31);
	model_run_clear(&r);
}
END_TEST

START_TEST(only_whole_pages)
{
	struct model_run r;

	model_run(&r, "--volatile mm-tree --page-size 16K",
	          "task 1\nmmap 1 10000000 64K rw- anon\nvrange 1 10001000 8K volatile\nmark none\n"
	          "vrange 1 10001000 40K volatile\n", 0);
	eq(mark_of(&r, "none")->gauge[RF_G_rf_vranges], 0);
	eq(GAUGE(&r, rf_vranges), 1);
	model_run_clear(&r);

	/* An address within a page: its neighbours in that page keep their data. */
	for (unsigned i = 0; i < 2; i++) {
		model_run(&r, i ? "--volatile mm-tree" : "--volatile dontneed",
		          "task 1\nmmap 1 10000000 16K rw- anon\nW 1 10000000 16K\nvrange 1 10000800 8K volatile\n"
		          "mark marked\nvrange 1 10001000 4K nonvolatile\nvrange 1 10002800 2K volatile\n", 0);
		eq(MARK_PAGES(&r, "marked", rf_rss), i ? 4 : 3);
		eq(mark_of(&r, "marked")->gauge[RF_G_rf_vranges], i);
		eq(GAUGE(&r, rf_vranges), 0); /* the one page that it was, and half of another */
		model_run_clear(&r);
	}
}
END_TEST

/* ---- members ---- */

/* Reclaim that comes across a volatile page discards it and does not write it, and the rest of its
 * range goes too; or the page alone. */
START_TEST(pages_that_reclaim_meets)
{
	struct model_run full, partial;
	/* In order of their coming: one page of the range, 60 others, the rest of the range; 32 are wanted. */
	const char *trace = "cgroup /c memory.max=400K\ntask 1 cgroup=/c\nmmap 1 10000000 64K rw- anon\nW 1 10000000 4K\n"
		"mmap 1 20000000 256K rw- anon\nW 1 20000000 240K\nW 1 10001000 60K\n"
		"vrange 1 10000000 64K volatile\nmmap 1 30000000 96K rw- anon\nW 1 30000000 96K\n";

	model_run(&full, "--volatile vma --swap zram --reclaim fifo", trace, 0);
	model_run(&partial, "--volatile vma,purge=partial --swap zram --reclaim fifo", trace, 0);
	eq(COUNTER(&full, rf_purged_pages), 16);
	eq(GAUGE(&full, rf_vranges_purged), 1);
	eq(COUNTER(&partial, rf_purged_pages), 1);
	eq(COUNTER(&partial, pswpout), 31);
	eq(COUNTER(&full, pswpout), 31);
	eq(GAUGE(&partial, rf_vranges_purged), 1);
	model_run_clear(&full);
	model_run_clear(&partial);
}
END_TEST

START_TEST(a_part_of_a_range)
{
	struct model_run r;
	const char *trace = "cgroup /c memory.max=512K\ntask 1 cgroup=/c\nmmap 1 10000000 400K rw- anon\nW 1 10000000 400K\n"
		"vrange 1 10000000 400K volatile\ntask 2 cgroup=/c\nmmap 2 20000000 200K rw- anon\nW 2 20000000 120K\n"
		"vrange 1 10000000 400K nonvolatile\n";

	model_run(&r, "--volatile mm-tree --swap zram", trace, 0);
	eq(COUNTER(&r, rf_purged_pages), 100);
	model_run_clear(&r);
	model_run(&r, "--volatile mm-tree,purge=partial --swap zram", trace, 0);
	eq(COUNTER(&r, rf_purged_pages) % 32, 0); /* a batch of reclaim at a time */
	ck_assert_uint_lt(COUNTER(&r, rf_purged_pages), 100);
	eq(COUNTER(&r, rf_vrange_lost), 1);
	model_run_clear(&r);
}
END_TEST

/* ashmem's shrinker counts a range as a page: asked for 32, it punches out all that there are. */
START_TEST(a_budget_of_ranges)
{
	g_autoptr(GString) trace = g_string_new("cgroup /c memory.max=1M\ntask 1 cgroup=/c\nmmap 1 10000000 640K rw- anon\n"
	                                        "W 1 10000000 640K\n");
	struct model_run pages, ranges;

	for (unsigned i = 0; i < 20; i++)
		line(trace, "vrange 1 %x 32K volatile", 0x10000000 + i * 0x8000);
	line(trace, "task 2 cgroup=/c\nmmap 2 20000000 1M rw- anon\nW 2 20000000 400K");
	model_run(&pages, "--volatile mm-tree --swap zram", trace->str, 0);
	model_run(&ranges, "--volatile ashmem --swap zram", trace->str, 0);
	eq(COUNTER(&pages, rf_purged_pages) % 8, 0);
	ck_assert_uint_lt(COUNTER(&pages, rf_purged_pages), 80);
	eq(COUNTER(&ranges, rf_purged_pages), 160);
	model_run_clear(&pages);
	model_run_clear(&ranges);
}
END_TEST

/* Memory is pinned until somebody says otherwise, and then again; nothing is kept of it meanwhile. */
START_TEST(pinned_unless_unpinned)
{
	static const char *const members[] = { "--volatile ashmem --swap zram", "--volatile mm-tree --swap zram",
		                               "--volatile vma --swap zram" };

	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++) {
		struct model_run r;

		model_run(&r, members[i],
		          "cgroup /c memory.max=512K\ntask 1 cgroup=/c\nmmap 1 10000000 192K rw- anon\nW 1 10000000 192K\n"
		          "mark pinned\nvrange 1 10000000 64K volatile\nvrange 1 10000000 64K nonvolatile\n"
		          PRESSURE "R 1 10000000 192K\n", 0);
		eq(mark_of(&r, "pinned")->gauge[RF_G_rf_vrange_bytes], 0);
		eq(GAUGE(&r, rf_vrange_bytes), 0);
		eq(COUNTER(&r, rf_purged_pages), 0);
		eq(COUNTER(&r, rf_zero_page), 0);
		eq(COUNTER(&r, rf_vrange_lost), 0);
		model_run_clear(&r);
	}
}
END_TEST

/* MADV_FREE forgets that pages were used and stored to: reclaim frees them all at first sight, where it
 * keeps others that were used; a store after it is seen even where processors keep translations.  The
 * pages that were marked first are in no list yet, and stay as they are. */
START_TEST(lazyfree_forgets)
{
	const char *trace = CACHE "mmap 1 20000000 512K rw- anon\nW 1 20000000 280K\nmark before\nW 1 20046000 32K\n";
	struct model_run r;

	model_run(&r, "--volatile madv-free --swap zram", trace, 0);
	eq(MARK_COUNTER(&r, "before", pgscan_file) + MARK_COUNTER(&r, "before", pgscan_anon), 0);
	eq(COUNTER(&r, pglazyfree), 16);
	eq(COUNTER(&r, pglazyfreed), 16);
	eq(COUNTER(&r, pgscan_file), 16);
	ck_assert_uint_gt(COUNTER(&r, pgscan_anon), COUNTER(&r, pswpout));
	model_run_clear(&r);

	model_run(&r, "--tlb 64 --volatile madv-free --swap zram", CACHE "W 1 10000000 64K\n" PRESSURE, 0);
	eq(COUNTER(&r, pglazyfree), 16);
	eq(COUNTER(&r, pglazyfreed), 0);
	model_run_clear(&r);
}
END_TEST

START_TEST(lazyfree_pages)
{
	struct model_run r;
	const char *trace = CACHE "W 1 10000000 4K\n" PRESSURE "R 1 10000000 192K\n";

	model_run(&r, "--volatile madv-free --swap zram", trace, 0);
	ck_assert_uint_gt(COUNTER(&r, pglazyfreed), 0);
	ck_assert_uint_le(COUNTER(&r, pglazyfreed), 31); /* the page that was stored to again is rescued */
	eq(COUNTER(&r, rf_zero_page), COUNTER(&r, pglazyfreed)); /* the others read as zeros; no signal */
	eq(COUNTER(&r, rf_sigbus), 0);
	model_run_clear(&r);

	/* Without swap, before 4.12: gone at once. */
	model_run(&r, "--volatile madv-free --kernel 4.5", CACHE, 0);
	eq(PAGES(&r, rf_rss), 16);
	model_run_clear(&r);
	model_run(&r, "--volatile madv-free --kernel 4.12", CACHE, 0);
	eq(PAGES(&r, rf_rss), 48);
	model_run_clear(&r);
	model_run(&r, "--volatile madv-free,swapless=free --kernel 4.5", CACHE, 0);
	eq(PAGES(&r, rf_rss), 48);
	model_run_clear(&r);
}
END_TEST

/* W4: every other page of a mapping.  The tree has a range for each, of 80 bytes; flags of mappings need
 * two mappings each, of which there can be 65,530. */
START_TEST(how_many_ranges)
{
	enum { RANGES = 32770 };
	g_autoptr(GString) trace = g_string_new("task 1\nmmap 1 10000000 512M rw- anon\n");
	struct model_run r;

	for (unsigned i = 0; i < RANGES; i++)
		line(trace, "vrange 1 %x 4K volatile%s", 0x10000000 + i * 0x2000, i == 32764 ? "\nmark full" : "");
	model_run(&r, "--volatile vma", trace->str, MODEL_RUN_UNCHECKED);
	eq(mark_of(&r, "full")->gauge[RF_G_rf_vranges], 32765);
	eq(MARK_COUNTER(&r, "full", rf_vrange_nomem), 0);
	eq(GAUGE(&r, rf_vranges), 32765);
	eq(COUNTER(&r, rf_vrange_nomem), RANGES - 32765);
	eq(GAUGE(&r, rf_vma), UINT64_C(65530) * 226);
	eq(GAUGE(&r, rf_vrange_bytes), 0);
	model_run_clear(&r);

	model_run(&r, "--volatile mm-tree", trace->str, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_vranges), RANGES);
	eq(GAUGE(&r, rf_vrange_bytes), RANGES * UINT64_C(80));
	eq(GAUGE(&r, rf_vma), 226);
	eq(COUNTER(&r, rf_vrange_nomem), 0);
	model_run_clear(&r);
	/* It is memory that nobody else has. */
	struct model_run without;

	model_run(&r, "--volatile ashmem", trace->str, MODEL_RUN_UNCHECKED);
	model_run(&without, "--volatile vma,max_map_count=1", trace->str, MODEL_RUN_UNCHECKED);
	eq(GAUGE(&r, rf_vrange_bytes), RANGES * UINT64_C(64));
	eq(PAGES(&without, rf_free) - PAGES(&r, rf_free), (RANGES * UINT64_C(64) + PAGE - 1) / PAGE);
	eq(COUNTER(&without, rf_vrange_nomem), RANGES);
	model_run_clear(&r);
	model_run_clear(&without);

	/* A mapping that begins with memory that is not volatile needs one more: the 32,765th range fails. */
	model_run(&r, "--volatile vma,max_map_count=8",
	          "task 1\nmmap 1 10000000 1M rw- anon\nvrange 1 10001000 4K volatile\nvrange 1 10003000 4K volatile\n"
	          "vrange 1 10005000 4K volatile\nvrange 1 10007000 4K volatile\n", 0);
	eq(GAUGE(&r, rf_vranges), 3);
	eq(GAUGE(&r, rf_vma), 7 * 226);
	model_run_clear(&r);
}
END_TEST

/* Neighbours in flags of mappings are one mapping; back again, too. */
START_TEST(mappings_merge)
{
	struct model_run r;

	model_run(&r, "--volatile vma",
	          "task 1\nmmap 1 10000000 64K rw- anon\nvrange 1 10004000 4K volatile\nmark one\n"
	          "vrange 1 10005000 4K volatile\nmark two\nvrange 1 10004000 8K nonvolatile\n", 0);
	eq(mark_of(&r, "one")->gauge[RF_G_rf_vma], 3 * 226);
	eq(mark_of(&r, "two")->gauge[RF_G_rf_vma], 3 * 226);
	eq(mark_of(&r, "two")->gauge[RF_G_rf_vranges], 1);
	eq(GAUGE(&r, rf_vma), 226);
	model_run_clear(&r);
}
END_TEST

#define NO_COSTS " --set access=0 --set syscall=1us --set mapping_op=500ns --set range_op=200ns --set zap_page=100ns" \
	" --set lazyfree_page=50ns --set fault_anon=0"

/* What a call costs by itself: a program that uses dontneed or madv-free makes none to get a range back. */
START_TEST(calls_cost)
{
	static const struct { const char *member; unsigned mark, unmark; } rows[] = {
		{ "--volatile dontneed", 1000 + 4 * 100, 0 },
		{ "--volatile madv-free --swap zram", 1000 + 4 * 50, 0 },
		{ "--volatile vma", 1500, 1500 },
		{ "--volatile mm-tree", 1200, 1200 },
		{ "--volatile ashmem", 1200, 1200 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strconcat(rows[i].member, NO_COSTS, NULL);
		struct model_run r;

		model_run(&r, options,
		          "task 1\nmmap 1 10000000 64K rw- anon\nW 1 10000000 64K\nmark a\nvrange 1 10004000 16K volatile\n"
		          "mark b\n"
		          "vrange 1 10004000 16K nonvolatile\nmark c\n", 0);
		eq(mark_of(&r, "b")->now - mark_of(&r, "a")->now, rows[i].mark);
		eq(mark_of(&r, "c")->now - mark_of(&r, "b")->now, rows[i].unmark);
		model_run_clear(&r);
	}
}
END_TEST

/* MADV_FREE walks the range, and each processor that runs the address space is told: the longer, the
 * dearer; a range that a tree keeps costs the same whatever its length. */
START_TEST(calls_cost_by_length)
{
	for (unsigned pages = 1; pages <= 256; pages *= 4) {
		g_autofree char *trace = g_strdup_printf("task 1\ntask 2 parent=1 thread\ntask 3 parent=1 thread\n"
			"mmap 1 10000000 1M rw- anon\nthink 2 900000000\nthink 3 900000000\nW 1 10000000 1M\n"
			"vrange 1 10000000 %u volatile\n", pages * PAGE);
		static const struct { const char *member; unsigned page, call; } rows[] = {
			{ "--volatile madv-free --swap zram", 50, 1000 + 2 * 7000 },
			{ "--volatile dontneed", 100, 1000 + 2 * 7000 },
			{ "--volatile mm-tree", 0, 1200 },
		};

		for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
			g_autofree char *options = g_strconcat("--replay closed --cpus 3 --set tlb_shootdown=7us "
				"--set context_switch=0 ", rows[i].member, NO_COSTS, NULL);
			struct model_run r;

			model_run(&r, options, trace, 0);
			eq(task_of(&r, 1)->cpu, 1000 + rows[i].call + pages * rows[i].page);
			model_run_clear(&r);
		}
	}
}
END_TEST

/* Four tasks mark and unmark ranges, 10 us each: with a tree, threads wait for each other at its own
 * lock and never at mmap_lock, which others could have; with flags of mappings at mmap_lock; processes
 * have nothing in common, but for ashmem's one lock. */
START_TEST(locks_of_members)
{
	enum { TASKS = 4, ROUNDS = 20, CALLS = 2 * TASKS * ROUNDS };
	static const struct { const char *member; gboolean threads; const char *lock; } rows[] = {
		{ "mm-tree", TRUE, "vrange_lock" }, { "mm-tree", FALSE, NULL },
		{ "vma", TRUE, "mmap_lock" },       { "vma", FALSE, NULL },
		{ "ashmem", TRUE, "vrange_lock" },  { "ashmem", FALSE, "vrange_lock" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *options = g_strdup_printf("--replay closed --cpus 4 --volatile %s --set syscall=0 "
			"--set range_op=10us --set mapping_op=10us", rows[i].member);
		g_autoptr(GString) trace = g_string_new("task 1\n");
		uint64_t contended = 0;
		struct model_run r;

		for (unsigned t = 1; t <= TASKS; t++) /* all mappings before anybody else is there */
			line(trace, "mmap 1 %x 64K rw- anon", t << 24);
		for (unsigned t = 2; t <= TASKS; t++)
			line(trace, "task %u parent=1%s", t, rows[i].threads ? " thread" : "");
		line(trace, "at 1000000");
		for (unsigned k = 0; k < ROUNDS; k++)
			for (unsigned t = 1; t <= TASKS; t++)
				line(trace, "vrange %u %x 64K volatile\nvrange %u %x 64K nonvolatile", t, t << 24, t, t << 24);
		model_run(&r, options, trace->str, 0);
		contended = GAUGE(&r, rf_lock_contended);
		if (rows[i].lock) {
			eq(lock_of(&r, rows[i].lock)->contended, contended); /* nobody waits at another */
			ck_assert_uint_ge(contended, CALLS - 2 * TASKS);
			ck_assert_uint_ge(GAUGE(&r, rf_time), 1000000 + CALLS * 10000);
		} else {
			eq(contended, 0);
			eq(GAUGE(&r, rf_time), 1000000 + CALLS / TASKS * 10000);
		}
		model_run_clear(&r);
	}
}
END_TEST

Suite *suite_seam_volatile(void)
{
	Suite *s = suite_create("seam_volatile");
	TCase *t = tcase_create("ranges");

	tcase_add_test(t, marking);
	tcase_add_test(t, unmarking);
	tcase_add_test(t, unpinning);
	tcase_add_test(t, ranges_of_a_fork);
	tcase_add_test(t, ranges_against_bytes);
	suite_add_tcase(s, t);
	t = tcase_create("calls");
	tcase_add_test(t, without_pressure_nothing_happens);
	tcase_add_test(t, oldest_first);
	tcase_add_test(t, oldest_first_of_all_tasks);
	tcase_add_test(t, locked_ranges_are_skipped);
	tcase_add_test(t, who_purges);
	tcase_add_test(t, all_or_nothing);
	tcase_add_loop_test(t, touching_what_was_purged, 0, 2);
	tcase_add_test(t, touching_what_ashmem_purged);
	tcase_add_test(t, lost_is_a_matter_of_pages);
	tcase_add_test(t, a_new_mapping_is_not_volatile);
	suite_add_tcase(s, t);
	t = tcase_create("memory");
	tcase_add_test(t, pages_shared_since_a_fork);
	tcase_add_test(t, shared_memory);
	tcase_add_test(t, calls_end_where_memory_is_of_another_kind);
	tcase_add_test(t, locked_pages_stay);
	tcase_add_test(t, only_whole_pages);
	suite_add_tcase(s, t);
	t = tcase_create("members");
	tcase_add_test(t, pages_that_reclaim_meets);
	tcase_add_test(t, a_part_of_a_range);
	tcase_add_test(t, a_budget_of_ranges);
	tcase_add_test(t, pinned_unless_unpinned);
	tcase_add_test(t, lazyfree_forgets);
	tcase_add_test(t, lazyfree_pages);
	tcase_add_test(t, how_many_ranges);
	tcase_add_test(t, mappings_merge);
	tcase_add_test(t, calls_cost);
	tcase_add_test(t, calls_cost_by_length);
	tcase_add_test(t, locks_of_members);
	suite_add_tcase(s, t);
	return s;
}
