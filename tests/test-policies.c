/* SPDX-License-Identifier: MIT
 * Reclaim policies in the ideal machine against naive ones, fault by fault, on random traces; and what
 * must hold between policies and between memory sizes.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "policies/policy.h"
#include "sim/frames.h"
#include "tests/naive.h"
#include "traces/trace.h"

Suite *suite_policies(void);

#define BASE 0x10000000u
#define FILE_PAGES 12

static const char *const compared[] = {
	"fifo", "lru", "clock", "sieve", "2q", "s3fifo", "arc", "lirs", "belady",
};
static const char *const all[] = {
	"fifo", "lru", "clock", "sieve", "2q", "s3fifo", "arc", "lirs", "belady", "random", "twolist",
};

static uint64_t first_seed(void)
{
	const char *s = g_getenv("RF_TEST_SEED");

	return s ? g_ascii_strtoull(s, NULL, 0) : 19660101;
}

/* ---- random traces ---- */

struct workload {
	uint64_t seed;
	unsigned pages, page_shift;
	gboolean drops;  /* pages are freed now and then */
	gboolean single; /* something between any two accesses, so that each is an item of its own */
	GString *text;
	GArray *steps;   /* struct step */
	struct rf_source *source; /* of the text, spooled */
};

static void add_step(struct workload *w, int what, unsigned page)
{
	struct step s = { what, page };

	g_array_append_val(w->steps, s);
}

static unsigned draw_page(struct workload *w, struct rf_rng *r, unsigned step)
{
	unsigned n = w->pages, a = rf_rng_below(r, n), b = rf_rng_below(r, n);

	switch (step / 200 % 3) {
	case 0: /* a hot end */
		return MIN(MIN(a, b), rf_rng_below(r, n));
	case 1: /* a loop, with some noise */
		return rf_rng_below(r, 4) ? step % (n / 2 + 1) : a;
	default: /* a window that moves */
		return (step / 40 + a % (n / 4 + 1)) % n;
	}
}

static void add_access(struct workload *w, struct rf_rng *r, unsigned step)
{
	unsigned page = draw_page(w, r, step), times = rf_rng_below(r, 4) ? 1 : 1 + rf_rng_below(r, 3);
	char type = "RRRWWX"[rf_rng_below(r, 6)];

	while (times--) {
		g_string_append_printf(w->text, "%c 1 %x 8\n", type, BASE + (page << 12) + times * 8);
		add_step(w, STEP_USE, page >> (w->page_shift - 12));
	}
	if (w->single)
		g_string_append(w->text, "at 0\n");
}

static void add_file_use(struct workload *w, struct rf_rng *r)
{
	unsigned first = rf_rng_below(r, FILE_PAGES), n = 1 + rf_rng_below(r, 3);
	unsigned k = w->page_shift - 12;

	g_string_append_printf(w->text, "%s 1 file:7 %u %u\n", rf_rng_below(r, 2) ? "read" : "write",
	                       (first << 12) + 100, n << 12);
	/* 100 bytes further: one page more. */
	for (unsigned page = first >> k; page <= (first + n) >> k; page++)
		add_step(w, STEP_USE, 100000 + page);
}

static void add_drop(struct workload *w, struct rf_rng *r, unsigned step)
{
	unsigned page = draw_page(w, r, step);

	if (rf_rng_below(r, 2))
		g_string_append_printf(w->text, "madvise 1 %x 4K dontneed\n", BASE + (page << 12));
	else
		g_string_append_printf(w->text, "munmap 1 %x 4K\nmmap 1 %x 4K rwx anon\n",
		                       BASE + (page << 12), BASE + (page << 12));
	add_step(w, STEP_DROP, page);
}

/* Checks that hold cost nothing here: each of Check's own is a message to the parent process. */
static void ck_ok(gboolean ok, GError *error)
{
	if (!ok)
		ck_abort_msg("%s", error ? error->message : "failed without a message");
}

static void workload_spool(struct workload *w)
{
	GError *error = NULL;

	w->source = rf_source_from_text("random", w->text->str, (gssize)w->text->len);
	ck_assert_ptr_nonnull(w->source);
	w->source = rf_source_spool(w->source, &error);
	ck_ok(w->source != NULL, error);
}

static struct workload *workload_new(uint64_t seed, unsigned nsteps, unsigned page_shift,
                                     gboolean drops, gboolean single)
{
	struct workload *w = g_new0(struct workload, 1);
	struct rf_rng r = { seed };

	w->seed = seed;
	w->pages = 8 + rf_rng_below(&r, 60);
	w->page_shift = page_shift;
	w->drops = drops;
	w->single = single;
	w->text = g_string_new("!refault-trace 1\ntask 1\nfile 7 data 1M\n");
	w->steps = g_array_new(FALSE, FALSE, sizeof(struct step));
	g_string_append_printf(w->text, "mmap 1 %x %u rwx anon\n", BASE, w->pages << 12);
	for (unsigned step = 0; step < nsteps; step++) {
		unsigned dice = rf_rng_below(&r, 100);

		if (drops && dice < 4)
			add_drop(w, &r, step);
		else if (dice < 8)
			add_file_use(w, &r);
		else
			add_access(w, &r, step);
	}
	workload_spool(w);
	return w;
}

static void workload_free(struct workload *w)
{
	rf_source_close(w->source);
	g_string_free(w->text, TRUE);
	g_array_free(w->steps, TRUE);
	g_free(w);
}

/* ---- running them ---- */

/* Feed the whole trace to an ideal machine; with a naive policy, compare after each item. */
static void run(struct workload *w, const char *policy, unsigned frames, struct naive *naive,
                uint64_t counter[RF_NCOUNTERS], struct rf_result *result)
{
	struct rf_config cfg = {
		.reclaim = (char *)policy, .page_shift = w->page_shift, .frames_n = frames, .seed = 1,
		.swappiness = 60, .kernel_release = RF_KERNEL(6, 18, 0),
	};
	GError *error = NULL;
	struct rf_frames *m = rf_frames_new(&cfg, NULL, &error);
	struct rf_future *future = NULL;
	struct rf_sample sample;
	struct rf_item item;
	guint at = 0, misses = 0;

	ck_ok(m != NULL, error);
	ck_ok(rf_source_rewind(w->source, &error), error);
	if (rf_frames_needs_future(m)) {
		future = rf_future_new(w->source, w->page_shift, &error);
		ck_ok(future != NULL, error);
		rf_frames_set_future(m, future);
	}
	for (;;) {
		guint end = at;

		ck_ok(rf_source_next(w->source, &item, &error), error);
		if (item.kind == RF_ITEM_END)
			break;
		if (future)
			ck_ok(rf_future_item(future, &item, &error), error);
		ck_ok(rf_frames_item(m, &item, &error), error);
		rf_frames_check(m);
		rf_frames_sample(m, &sample);
		ck_ok(sample.gauge[RF_G_rf_resident] <= (uint64_t)frames << w->page_shift, NULL);
		if (!naive)
			continue;
		if (item.kind == RF_ITEM_RUNS) {
			for (uint32_t i = 0; i < item.runs.n; i++)
				end += item.runs.count[i];
		} else if (item.kind == RF_ITEM_EVENT && (item.event.kind == RF_EV_READ ||
		                                          item.event.kind == RF_EV_WRITE)) {
			end += (guint)(((item.event.off + item.event.len - 1) >> w->page_shift) -
			               (item.event.off >> w->page_shift) + 1);
		} else if (item.kind == RF_ITEM_EVENT && (item.event.kind == RF_EV_MUNMAP ||
		                                          item.event.kind == RF_EV_MADVISE)) {
			end++;
		}
		for (; at < end; at++) {
			const struct step *s = &g_array_index(w->steps, struct step, at);

			if (s->what == STEP_DROP)
				naive->ops->drop(naive, s->page);
			else
				misses += naive->ops->use(naive, s->page, at);
		}
		if (sample.counter[RF_C_pgfault] != misses)
			ck_abort_msg("%s, %u frames, seed %" G_GUINT64_FORMAT ": %u faults at step %u, naive %u",
			             policy, frames, w->seed, (unsigned)sample.counter[RF_C_pgfault], at, misses);
	}
	if (naive)
		ck_assert_uint_eq(at, w->steps->len);
	memcpy(counter, sample.counter, sizeof(sample.counter));
	if (result)
		ck_ok(rf_frames_finish(m, result, &error), error);
	rf_frames_free(m);
	rf_future_free(future);
}

static uint64_t faults(struct workload *w, const char *policy, unsigned frames)
{
	uint64_t counter[RF_NCOUNTERS];

	run(w, policy, frames, NULL, counter, NULL);
	return counter[RF_C_pgfault];
}

/* Faults that no memory avoids: uses of a page for the first time, or for the first time since it was
 * freed. */
static guint cold_faults(struct workload *w)
{
	GHashTable *here = g_hash_table_new(NULL, NULL);
	guint n = 0;

	for (guint i = 0; i < w->steps->len; i++) {
		const struct step *s = &g_array_index(w->steps, struct step, i);

		if (s->what == STEP_DROP)
			g_hash_table_remove(here, GUINT_TO_POINTER(s->page));
		else
			n += g_hash_table_add(here, GUINT_TO_POINTER(s->page));
	}
	g_hash_table_destroy(here);
	return n;
}

static const unsigned sizes[] = { 1, 2, 3, 5, 9, 17, 31, 50 };

static void compare(unsigned rounds, unsigned steps, unsigned page_shift, gboolean drops,
                    gboolean single)
{
	for (unsigned round = 0; round < rounds; round++) {
		struct workload *w =
			workload_new(first_seed() + round, steps, page_shift, drops, single);

		for (unsigned p = 0; p < G_N_ELEMENTS(compared); p++) {
			for (unsigned s = 0; s < G_N_ELEMENTS(sizes); s++) {
				struct naive *n = naive_new(compared[p], sizes[s], (struct step *)w->steps->data,
				                            w->steps->len);
				uint64_t counter[RF_NCOUNTERS];

				run(w, compared[p], sizes[s], n, counter, NULL);
				naive_free(n);
			}
		}
		workload_free(w);
	}
}

START_TEST(fault_by_fault)
{
	compare(4, 700, 12, FALSE, TRUE);
}
END_TEST

START_TEST(fault_by_fault_with_frees)
{
	compare(6, 700, 12, TRUE, TRUE);
}
END_TEST

/* In long batches, with several accesses a run. */
START_TEST(in_batches)
{
	compare(6, 3000, 12, FALSE, FALSE);
	compare(2, 3000, 12, TRUE, FALSE);
}
END_TEST

START_TEST(large_pages)
{
	compare(3, 1500, 14, FALSE, FALSE);
	compare(2, 1500, 16, FALSE, FALSE);
}
END_TEST

START_TEST(belady_is_best)
{
	for (unsigned round = 0; round < 6; round++) {
		struct workload *w = workload_new(first_seed() + 100 + round, 2000, 12, round & 1, FALSE);

		for (unsigned s = 0; s < G_N_ELEMENTS(sizes); s++) {
			uint64_t best = faults(w, "belady", sizes[s]);

			for (unsigned p = 0; p < G_N_ELEMENTS(all); p++) {
				uint64_t n = faults(w, all[p], sizes[s]);

				ck_assert_msg(best <= n, "seed %" G_GUINT64_FORMAT ", %u frames: belady has %"
				              G_GUINT64_FORMAT " faults, %s %" G_GUINT64_FORMAT, w->seed, sizes[s],
				              best, all[p], n);
			}
		}
		workload_free(w);
	}
}
END_TEST

START_TEST(enough_memory)
{
	for (unsigned round = 0; round < 6; round++) {
		struct workload *w = workload_new(first_seed() + 200 + round, 2000, 12, round & 1, FALSE);
		guint cold = cold_faults(w);
		GHashTable *pages = g_hash_table_new(NULL, NULL);

		for (guint i = 0; i < w->steps->len; i++)
			if (g_array_index(w->steps, struct step, i).what == STEP_USE)
				g_hash_table_add(pages,
				                 GUINT_TO_POINTER(g_array_index(w->steps, struct step, i).page));
		for (unsigned p = 0; p < G_N_ELEMENTS(all); p++) {
			uint64_t n = faults(w, all[p], g_hash_table_size(pages));

			ck_assert_msg(n == cold, "seed %" G_GUINT64_FORMAT ": %s has %" G_GUINT64_FORMAT
			              " faults, %u are cold", w->seed, all[p], n, cold);
		}
		g_hash_table_destroy(pages);
		workload_free(w);
	}
}
END_TEST

START_TEST(lru_is_monotone)
{
	for (unsigned round = 0; round < 4; round++) {
		struct workload *w = workload_new(first_seed() + 300 + round, 2000, 12, round & 1, FALSE);
		uint64_t before = UINT64_MAX;

		for (unsigned frames = 1; frames < 90; frames += 1 + frames / 8) {
			uint64_t n = faults(w, "lru", frames);

			ck_assert_msg(n <= before, "seed %" G_GUINT64_FORMAT ": more faults with %u frames",
			              w->seed, frames);
			before = n;
		}
		workload_free(w);
	}
}
END_TEST

/* Belady's anomaly, his own example: fifo has nine faults with three frames and ten with four. */
START_TEST(fifo_anomaly)
{
	static const unsigned string[] = { 1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5 };
	struct workload w = { .page_shift = 12, .steps = g_array_new(FALSE, FALSE, sizeof(struct step)) };

	w.text = g_string_new("!refault-trace 1\n");
	for (unsigned i = 0; i < G_N_ELEMENTS(string); i++)
		g_string_append_printf(w.text, "R 1 %x\n", string[i] << 12);
	workload_spool(&w);
	ck_assert_uint_eq(faults(&w, "fifo", 3), 9);
	ck_assert_uint_eq(faults(&w, "fifo", 4), 10);
	ck_assert_uint_eq(faults(&w, "lru", 3), 10);
	ck_assert_uint_eq(faults(&w, "lru", 4), 8);
	ck_assert_uint_eq(faults(&w, "belady", 3), 7);
	ck_assert_uint_eq(faults(&w, "belady", 4), 6);
	rf_source_close(w.source);
	g_string_free(w.text, TRUE);
	g_array_free(w.steps, TRUE);
}
END_TEST

START_TEST(conservation)
{
	for (unsigned p = 0; p < G_N_ELEMENTS(all); p++) {
		struct workload *w = workload_new(first_seed() + 400 + p, 3000, 12, TRUE, FALSE);
		uint64_t c[RF_NCOUNTERS], uses = 0;
		struct rf_result r;
		const struct rf_task_result *t;

		rf_result_init(&r);
		run(w, all[p], 20, NULL, c, &r);
		ck_assert_uint_eq(c[RF_C_pgfault], c[RF_C_pgmajfault]);
		ck_assert_uint_eq(c[RF_C_rf_pages_in], c[RF_C_pgfault]);
		ck_assert_uint_eq(c[RF_C_rf_first_touch] + c[RF_C_workingset_refault_anon] +
		                  c[RF_C_workingset_refault_file], c[RF_C_pgfault]);
		ck_assert_uint_eq(c[RF_C_rf_first_touch], cold_faults(w));
		ck_assert_uint_eq((c[RF_C_rf_pages_in] - c[RF_C_rf_pages_out]) << 12,
		                  r.gauge[RF_G_rf_resident]);
		ck_assert_uint_eq(r.gauge[RF_G_rf_rss] + r.gauge[RF_G_rf_cache], r.gauge[RF_G_rf_resident]);
		ck_assert_uint_eq(r.gauge[RF_G_rf_rss_anon], r.gauge[RF_G_rf_rss]);
		ck_assert_uint_le(r.gauge[RF_G_rf_rss_mean], r.gauge[RF_G_rf_rss_max]);
		ck_assert_uint_eq(c[RF_C_rf_policy_refused], 0);
		for (guint i = 0; i < w->steps->len; i++)
			uses += g_array_index(w->steps, struct step, i).what == STEP_USE &&
			        g_array_index(w->steps, struct step, i).page < 100000;
		ck_assert_uint_eq(r.gauge[RF_G_rf_accesses], uses);
		ck_assert_uint_eq(r.tasks->len, 1);
		t = &g_array_index(r.tasks, struct rf_task_result, 0);
		ck_assert_uint_eq(t->accesses, uses);
		ck_assert_uint_eq(t->pgfault, c[RF_C_rf_fault_anon] + c[RF_C_rf_fault_exec]);
		ck_assert_uint_eq(t->rss, r.gauge[RF_G_rf_rss]);
		rf_result_clear(&r);
		workload_free(w);
	}
}
END_TEST

Suite *suite_policies(void)
{
	Suite *s = suite_create("policies");
	TCase *t = tcase_create("naive");

	tcase_add_test(t, fault_by_fault);
	tcase_add_test(t, fault_by_fault_with_frees);
	tcase_add_test(t, in_batches);
	tcase_add_test(t, large_pages);
	suite_add_tcase(s, t);
	t = tcase_create("laws");
	tcase_add_test(t, belady_is_best);
	tcase_add_test(t, enough_memory);
	tcase_add_test(t, lru_is_monotone);
	tcase_add_test(t, fifo_anomaly);
	tcase_add_test(t, conservation);
	suite_add_tcase(s, t);
	return s;
}
