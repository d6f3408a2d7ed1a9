/* SPDX-License-Identifier: MIT
 * The ideal machine, worked out by hand: what is a page, what frees it, what is counted as what; and
 * policies and traces that do not keep to the rules.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "sim/frames.h"
#include "sim/policy.h"

Suite *suite_policies_frames(void);

struct run {
	struct rf_result result;
	GError *error;
	const uint64_t *c, *g;
};

/* Replay a text on an ideal machine. */
static void run(struct run *r, const char *policy, unsigned frames, unsigned page_shift,
                gboolean strict, const char *text)
{
	struct rf_config cfg = {
		.reclaim = (char *)policy, .page_shift = page_shift, .frames_n = frames, .seed = 1,
		.swappiness = 60, .kernel_release = RF_KERNEL(6, 18, 0), .strict = strict,
	};
	struct rf_frames *m;
	struct rf_source *s;
	struct rf_item item;
	gboolean ok = TRUE;

	memset(r, 0, sizeof(*r));
	rf_result_init(&r->result);
	r->c = r->result.counter;
	r->g = r->result.gauge;
	m = rf_frames_new(&cfg, NULL, &r->error);
	ck_assert_msg(m != NULL, "%s", r->error ? r->error->message : "");
	s = rf_source_from_text("hand", text, -1);
	for (;;) {
		if (!rf_source_next(s, &item, &r->error))
			ck_abort_msg("%s", r->error->message);
		if (item.kind == RF_ITEM_END)
			break;
		ok = rf_frames_item(m, &item, &r->error);
		if (!ok)
			break;
		rf_frames_check(m);
	}
	if (ok)
		ck_assert(rf_frames_finish(m, &r->result, &r->error));
	rf_frames_free(m);
	rf_source_close(s);
}

static void done(struct run *r)
{
	g_clear_error(&r->error);
	rf_result_clear(&r->result);
}

static uint64_t faults(const char *policy, unsigned frames, unsigned page_shift, const char *text)
{
	struct run r;
	uint64_t n;

	run(&r, policy, frames, page_shift, FALSE, text);
	ck_assert_msg(!r.error, "%s", r.error ? r.error->message : "");
	n = r.c[RF_C_pgfault];
	done(&r);
	return n;
}

#define HEAD "!refault-trace 1\ntask 1\n"

START_TEST(kinds)
{
	struct run r;
	const struct rf_task_result *t;

	run(&r, "lru", 2, 12, FALSE, HEAD
	    "file 3 lib.so 64K\n"
	    "mmap 1 10000 64K r-x file:3\n"
	    "mmap 1 30000 64K rw- anon\n"
	    "mmap 1 50000 64K rw- shmem:9 shared\n"
	    "X 1 10000\n"  /* exec, first touch */
	    "W 1 30000\n"  /* anon, first touch */
	    "R 1 11000\n"  /* file, first touch; 10000 goes */
	    "X 1 10000\n"  /* exec, refault; 30000 goes */
	    "W 1 30000\n"  /* anon, refault; 11000 goes */
	    "R 1 11000\n"  /* file, refault */
	    "W 1 50ff8 16\n"); /* crosses into the next page: two pages of shmem */
	ck_assert_msg(!r.error, "%s", r.error ? r.error->message : "");
	ck_assert_uint_eq(r.c[RF_C_pgfault], 8);
	ck_assert_uint_eq(r.c[RF_C_pgmajfault], 8);
	ck_assert_uint_eq(r.c[RF_C_rf_fault_exec], 2);
	ck_assert_uint_eq(r.c[RF_C_rf_fault_file], 2);
	ck_assert_uint_eq(r.c[RF_C_rf_fault_anon], 4);
	ck_assert_uint_eq(r.c[RF_C_rf_first_touch], 5);
	ck_assert_uint_eq(r.c[RF_C_workingset_refault_file], 2);
	ck_assert_uint_eq(r.c[RF_C_workingset_refault_anon], 1);
	ck_assert_uint_eq(r.c[RF_C_rf_exec_refault], 1);
	ck_assert_uint_eq(r.c[RF_C_rf_pages_out], 6);
	ck_assert_uint_eq(r.c[RF_C_pgsteal_direct], 6);
	ck_assert_uint_eq(r.c[RF_C_pgsteal_file], 4);
	ck_assert_uint_eq(r.c[RF_C_pgsteal_anon], 2);
	ck_assert_uint_eq(r.g[RF_G_rf_accesses], 7); /* the one that crosses is one */
	ck_assert_uint_eq(r.g[RF_G_rf_rss], 8192);
	ck_assert_uint_eq(r.g[RF_G_rf_rss_shmem], 8192);
	ck_assert_uint_eq(r.g[RF_G_rf_rss_anon], 0);
	ck_assert_uint_eq(r.g[RF_G_rf_footprint], 5 * 4096);
	ck_assert_uint_eq(r.g[RF_G_rf_implicit], 0);
	ck_assert_uint_eq(r.result.tasks->len, 1);
	t = &g_array_index(r.result.tasks, struct rf_task_result, 0);
	ck_assert_uint_eq(t->pgfault, 8);
	ck_assert_uint_eq(t->accesses, 7);
	ck_assert_uint_eq(t->rss, 8192);
	ck_assert_uint_eq(t->rss_max, 8192);
	done(&r);
}
END_TEST

/* Resident pages after 1, 2, 3, 4 accesses: 1, 2, 2, 2; the first nanosecond ends with none. */
START_TEST(mean_rss)
{
	struct run r;

	run(&r, "lru", 2, 12, FALSE, HEAD "R 1 1000\nR 1 2000\nR 1 3000\nR 1 4000\n");
	ck_assert_uint_eq(r.g[RF_G_rf_time], 4);
	ck_assert_uint_eq(r.g[RF_G_rf_rss_mean], (0 + 1 + 2 + 2) * 4096 / 4);
	ck_assert_uint_eq(r.g[RF_G_rf_rss_max], 8192);
	ck_assert_uint_eq(r.g[RF_G_rf_implicit], 4);
	done(&r);
}
END_TEST

START_TEST(frees)
{
#define USE "R 1 10000\nR 1 11000\nR 1 12000\nR 1 13000\n"
	/* Enough frames: what faults anew was freed. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "munmap 1 11000 8K\n" USE), 6);
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "madvise 1 11000 4K dontneed\n" USE), 5);
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "madvise 1 11000 4K free\nmadvise 1 11000 4K cold\n" USE), 4);
	/* A mapping in the place of another. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "mmap 1 12000 64K rw- anon\n" USE), 6);
	/* A whole address space, of many pages: exec, and exit of the last thread only. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD USE "exec 1\n" USE), 8);
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "task 2 parent=1 thread\n" USE "exit 2\n" USE), 4);
	/* A fork has pages of its own; they go with it. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD USE "task 2 parent=1\nR 2 10000\nexit 2\n" USE), 5);
	/* Growing in place frees nothing, shrinking frees the end, moving frees all. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "mremap 1 10000 16K 10000 32K\n" USE), 4);
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "mremap 1 10000 16K 10000 12K\n" USE), 5);
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "mremap 1 10000 16K 50000 16K\nR 1 50000\nR 1 51000\n"
	                         "mremap 1 50000 16K 10000 16K\n" USE), 10);
	/* Huge ranges are no more work than the pages in them. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "munmap 1 0 140737488289792\n" USE), 8);
}
END_TEST

/* Evicted and then freed: the next use is a first touch, no refault. */
START_TEST(freed_ghosts)
{
	static const char *const policies[] = { "lru", "2q", "arc", "s3fifo", "lirs", "twolist" };

	for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
		struct run r;

		run(&r, policies[i], 2, 12, FALSE, HEAD
		    "mmap 1 10000 16K rw- anon\n" USE "munmap 1 10000 16K\n" USE);
		ck_assert_msg(!r.error, "%s", r.error ? r.error->message : "");
		ck_assert_uint_eq(r.c[RF_C_pgfault], 8);
		ck_assert_uint_eq(r.c[RF_C_rf_first_touch], 8);
		ck_assert_uint_eq(r.c[RF_C_workingset_refault_anon], 0);
		ck_assert_uint_eq(r.g[RF_G_rf_footprint], 4 * 4096);
		done(&r);
	}
}
END_TEST

START_TEST(page_sizes)
{
	/* 10000 … 13fff is one page of 16K, and a part of one of 64K. */
	ck_assert_uint_eq(faults("lru", 99, 14, HEAD USE "R 1 14000\n"), 2);
	ck_assert_uint_eq(faults("lru", 99, 16, HEAD USE "R 1 14000\nR 1 20000\n"), 2);
	/* Unmapping a part leaves the page, unmapping the last part frees it. */
	ck_assert_uint_eq(faults("lru", 99, 14, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "munmap 1 10000 8K\nR 1 12000\n"), 1);
	ck_assert_uint_eq(faults("lru", 99, 14, HEAD "mmap 1 10000 16K rw- anon\n" USE
	                         "munmap 1 10000 8K\nmunmap 1 12000 8K\nR 1 12000\n"), 2);
	ck_assert_uint_eq(faults("lru", 99, 14, HEAD "mmap 1 10000 64K rw- anon\n" USE
	                         "R 1 14000\nR 1 18000\nmunmap 1 12000 28K\n"
	                         USE "R 1 14000\nR 1 18000\n"), 4);
	ck_assert_uint_eq(faults("lru", 99, 14, HEAD "mmap 1 10000 64K rw- anon\n" USE
	                         "madvise 1 11000 12K dontneed\n" USE), 1);
	ck_assert_uint_eq(faults("lru", 99, 14, HEAD "mmap 1 10000 64K rw- anon\n" USE
	                         "madvise 1 10000 16K dontneed\n" USE), 2);
}
END_TEST

START_TEST(files)
{
	struct run r;

	run(&r, "lru", 3, 12, FALSE, HEAD
	    "file 7 data 1M\nfile 8 other 1M\n"
	    "read 1 file:7 0 8K\n"      /* 2 misses */
	    "read 1 file:7 4095 2\n"    /* hits both */
	    "write 1 file:8 0 1\n"      /* another file, 1 miss */
	    "W 1 10000\n"               /* takes the place of 7:0 */
	    "read 1 file:7 4K 1\n"      /* hit */
	    "read 1 file:7 0 1\n");     /* refault; 8:0 goes */
	ck_assert_msg(!r.error, "%s", r.error ? r.error->message : "");
	ck_assert_uint_eq(r.c[RF_C_pgfault], 5);
	ck_assert_uint_eq(r.c[RF_C_rf_fault_anon], 1);
	ck_assert_uint_eq(r.c[RF_C_rf_fault_file], 0);
	ck_assert_uint_eq(r.c[RF_C_workingset_refault_file], 1);
	ck_assert_uint_eq(r.g[RF_G_rf_rss], 4096);
	ck_assert_uint_eq(r.g[RF_G_rf_resident], 3 * 4096);
	ck_assert_uint_eq(r.g[RF_G_rf_cache], 2 * 4096);
	ck_assert_uint_eq(r.g[RF_G_rf_mapped_file], 0);
	ck_assert_uint_eq(r.g[RF_G_rf_footprint], 4 * 4096);
	done(&r);

	/* Truncation frees what lies behind the new end. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "file 7 data 16K\nread 1 file:7 0 16K\n"
	                         "file 7 data 5K\nread 1 file:7 0 16K\n"), 6);
	/* Ids of pages that come after those of a file. */
	ck_assert_uint_eq(faults("lru", 99, 12, HEAD "file 7 data 16K\nR 1 10000\nread 1 file:7 0 16K\n"
	                         "R 1 10000\nR 1 20000\nR 1 30000\nR 1 20000\nread 1 file:7 0 16K\n"), 7);
}
END_TEST

START_TEST(several_spaces)
{
	struct run r;
	const struct rf_task_result *t;

	run(&r, "fifo", 3, 12, FALSE, HEAD
	    "R 1 10000\nR 1 11000\ntask 2 parent=1\nR 2 10000\nR 2 11000\nR 2 12000\nexit 1\n");
	ck_assert_uint_eq(r.result.tasks->len, 2);
	t = &g_array_index(r.result.tasks, struct rf_task_result, 0);
	ck_assert_uint_eq(t->tid, 1);
	ck_assert(t->exited);
	ck_assert_uint_eq(t->rss, 0);
	ck_assert_uint_eq(t->rss_max, 2 * 4096);
	ck_assert_uint_eq(t->pgfault, 2);
	t++;
	ck_assert_uint_eq(t->tid, 2);
	ck_assert(!t->exited);
	ck_assert_uint_eq(t->rss, 3 * 4096);
	ck_assert_uint_eq(t->rss_max, 3 * 4096);
	ck_assert_uint_eq(t->pgfault, 3);
	ck_assert_uint_eq(t->accesses, 3);
	done(&r);
}
END_TEST

START_TEST(milestones)
{
	struct run r;
	const struct rf_sample *s;

	run(&r, "lru", 9, 12, FALSE, HEAD "R 1 1000\nmark half\nR 1 2000\nR 1 2000\nmark end\n");
	ck_assert_uint_eq(r.result.marks->len, 2);
	s = &g_array_index(r.result.marks, struct rf_sample, 0);
	ck_assert_str_eq(s->mark, "half");
	ck_assert_uint_eq(s->now, 1);
	ck_assert_uint_eq(s->counter[RF_C_pgfault], 1);
	ck_assert_uint_eq(s->gauge[RF_G_rf_rss], 4096);
	s++;
	ck_assert_str_eq(s->mark, "end");
	ck_assert_uint_eq(s->now, 3);
	ck_assert_uint_eq(s->counter[RF_C_pgfault], 2);
	done(&r);
}
END_TEST

START_TEST(strict)
{
	struct run r;

	run(&r, "lru", 9, 12, TRUE, HEAD "mmap 1 10000 8K rw- anon\nR 1 10000\nR 1 11000\n");
	ck_assert_msg(!r.error, "%s", r.error ? r.error->message : "");
	done(&r);
	run(&r, "lru", 9, 12, TRUE, HEAD "mmap 1 10000 8K rw- anon\nR 1 10000\nR 1 12000\n");
	ck_assert_int_eq(rf_error_exit_code(r.error), RF_EXIT_DATA);
	ck_assert_ptr_nonnull(strstr(r.error->message, "0x12000"));
	done(&r);
	run(&r, "lru", 9, 12, TRUE, HEAD "mmap 1 10000 8K rw- anon\nR 1 10000\nmunmap 1 10000 4K\n"
	    "R 1 10000\n");
	ck_assert_int_eq(rf_error_exit_code(r.error), RF_EXIT_DATA);
	done(&r);
}
END_TEST

/* ---- policies that do not keep to the rules ---- */

static rf_page next_proposal;
static unsigned proposals;

static void bad_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                    uint64_t shadow)
{
	(void)pol, (void)lv, (void)page, (void)how, (void)shadow;
}

static uint64_t bad_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                           enum rf_why why)
{
	(void)pol, (void)lv, (void)page, (void)why;
	return 1;
}

static rf_page bad_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)lv, (void)sc;
	proposals++;
	return next_proposal;
}

static void bad_shrink(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)lv;
	proposals++;
	if (next_proposal != RF_NO_PAGE)
		ck_assert_int_eq(pol->host->evict(pol, next_proposal, sc, FALSE), RF_REFUSED);
}

static struct rf_reclaim_ops bad = {
	.abi = RF_POLICY_ABI, .size = sizeof(struct rf_reclaim_ops), .name = "bad", .summary = "bad",
	.add = bad_add, .remove = bad_remove, .propose = bad_propose,
};
static struct rf_reclaim_ops bad_shrinker = {
	.abi = RF_POLICY_ABI, .size = sizeof(struct rf_reclaim_ops), .name = "bad_shrinker",
	.summary = "bad", .add = bad_add, .remove = bad_remove, .shrink = bad_shrink,
};

/* Such a policy gets what a fifo would do, and it is counted; nothing else suffers. */
START_TEST(fallback)
{
	static const char *const names[] = { "bad", "bad_shrinker" };
	static const rf_page proposed[] = { RF_NO_PAGE, 4, 1000000, UINT32_MAX - 1 };
	GError *error = NULL;

	ck_assert(rf_reclaim_register(&bad, "a test", &error));
	ck_assert(rf_reclaim_register(&bad_shrinker, "a test", &error));
	for (unsigned n = 0; n < G_N_ELEMENTS(names); n++) {
		for (unsigned i = 0; i < G_N_ELEMENTS(proposed); i++) {
			struct run r;

			/* Page 4 is never in memory when room is made: it comes last. */
			next_proposal = proposed[i];
			proposals = 0;
			run(&r, names[n], 2, 12, FALSE, HEAD
			    "R 1 10000\nR 1 11000\nR 1 12000\nR 1 10000\nR 1 13000\nR 1 14000\n");
			ck_assert_msg(!r.error, "%s", r.error ? r.error->message : "");
			ck_assert_uint_eq(r.c[RF_C_pgfault], 6);
			ck_assert_uint_eq(r.c[RF_C_rf_policy_fallback], 4);
			ck_assert_uint_ge(proposals, 4);
			ck_assert_uint_eq(r.c[RF_C_rf_policy_refused],
			                  proposed[i] == RF_NO_PAGE ? 0 : proposals);
			ck_assert_uint_eq(r.c[RF_C_pgsteal_direct], 0);
			done(&r);
		}
	}
}
END_TEST

/* ---- items that no sound source gives ---- */

static void feed_bad(const struct rf_item *item, const char *says)
{
	struct rf_config cfg = { .reclaim = (char *)"lru", .page_shift = 12, .frames_n = 5 };
	struct rf_item task = { .kind = RF_ITEM_EVENT, .event = { .kind = RF_EV_TASK, .tid = 1 } };
	GError *error = NULL;
	struct rf_frames *m = rf_frames_new(&cfg, NULL, &error);

	ck_assert_ptr_nonnull(m);
	ck_assert(rf_frames_item(m, &task, &error));
	ck_assert(!rf_frames_item(m, item, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_DATA);
	ck_assert_msg(strstr(error->message, says) != NULL, "\"%s\" does not say \"%s\"", error->message,
	              says);
	g_clear_error(&error);
	rf_frames_check(m);
	rf_frames_free(m);
}

START_TEST(bad_items)
{
	static const uint32_t page[1], count[1] = { 1 };
	static const uint8_t type[1];
	const struct rf_page_name far = { .space = 4000000000u, .vpn = 1 };
	const struct rf_item nobody = { .kind = RF_ITEM_RUNS, .runs = { 0, 2, page, type, count } };
	const struct rf_item names = { .kind = RF_ITEM_PAGES, .pages = { 0, 1, &far } };
	const struct rf_item gap = { .kind = RF_ITEM_PAGES, .pages = { 1, 1, &far } };
	const struct rf_item twice = { .kind = RF_ITEM_EVENT,
	                               .event = { .kind = RF_EV_TASK, .tid = 1, .space = 1 } };
	const struct rf_item space = { .kind = RF_ITEM_EVENT,
	                               .event = { .kind = RF_EV_TASK, .tid = 2, .space = 5 } };
	const struct rf_item exec = { .kind = RF_ITEM_EVENT,
	                              .event = { .kind = RF_EV_EXEC, .tid = 1, .space = 0 } };
	const struct rf_item orphan = { .kind = RF_ITEM_EVENT,
	                                .event = { .kind = RF_EV_TASK, .tid = 2, .parent = 7,
	                                           .has_parent = 1, .space = 1 } };
	const struct rf_item stranger = { .kind = RF_ITEM_EVENT,
	                                  .event = { .kind = RF_EV_EXIT, .tid = 2 } };

	feed_bad(&nobody, "task 2");
	feed_bad(&names, "4000000000");
	feed_bad(&gap, "from 1");
	feed_bad(&twice, "task 1");
	feed_bad(&space, "5");
	feed_bad(&exec, "0");
	feed_bad(&orphan, "parent 7");
	feed_bad(&stranger, "task 2");
}
END_TEST

START_TEST(no_frames)
{
	struct rf_config cfg = { .reclaim = (char *)"lru", .page_shift = 12 };
	GError *error = NULL;

	ck_assert(!rf_frames_new(&cfg, NULL, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_USAGE);
	g_clear_error(&error);
	cfg.frames_n = UINT64_MAX;
	cfg.reclaim = (char *)"nonesuch";
	ck_assert(!rf_frames_new(&cfg, NULL, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_USAGE);
	g_clear_error(&error);
	ck_assert_uint_eq(faults("arc", UINT32_MAX, 12, HEAD USE), 4);
}
END_TEST

/* Page 10000 is used again so often at once, then 20 others once each, under 10 frames: it waits in the
 * small fifo, of one page, and is still there in the end if its hits earned it a place in the main one. */
START_TEST(s3fifo_threshold)
{
	for (unsigned threshold = 1; threshold <= 3; threshold++) {
		g_autofree char *policy = g_strdup_printf("s3fifo,threshold=%u", threshold);

		for (unsigned hits = 0; hits <= 3; hits++) {
			GString *text = g_string_new(HEAD "R 1 10000\n");

			/* Apart from each other: what follows at once would be one access. */
			for (unsigned i = 0; i < hits; i++)
				g_string_append(text, "R 1 11000\nR 1 10000\n");
			for (unsigned i = 0; i < 20; i++)
				g_string_append_printf(text, "R 1 %x\n", 0x20000 + i * 4096);
			g_string_append(text, "R 1 10000\n");
			ck_assert_uint_eq(faults(policy, 10, 12, text->str), (hits ? 2 : 1) + 20 + (hits < threshold));
			g_string_free(text, TRUE);
		}
	}
}
END_TEST

Suite *suite_policies_frames(void)
{
	Suite *s = suite_create("policies_frames");
	TCase *t = tcase_create("frames");

	tcase_add_test(t, kinds);
	tcase_add_test(t, mean_rss);
	tcase_add_test(t, frees);
	tcase_add_test(t, freed_ghosts);
	tcase_add_test(t, s3fifo_threshold);
	tcase_add_test(t, page_sizes);
	tcase_add_test(t, files);
	tcase_add_test(t, several_spaces);
	tcase_add_test(t, milestones);
	tcase_add_test(t, strict);
	tcase_add_test(t, fallback);
	tcase_add_test(t, bad_items);
	tcase_add_test(t, no_frames);
	suite_add_tcase(s, t);
	return s;
}
