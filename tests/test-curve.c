/* SPDX-License-Identifier: MIT
 * Curves against one simulation a size: the stacks against naive queues, the whole against the ideal
 * machine.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "policies/policy.h"
#include "sim/curve/curve.h"
#include "sim/curve/distance.h"
#include "sim/curve/opt.h"
#include "sim/curve/report.h"
#include "sim/curve/stack.h"
#include "sim/frames.h"
#include "tests/naive.h"

Suite *suite_curve(void);

/* ---- the stacks alone ---- */

enum { PAGES = 24, STEPS = 1500 };

/* Random uses, near ones likelier than far ones, and frees. */
static void random_steps(struct rf_rng *rng, struct step *steps, guint n)
{
	guint recent[4] = { 0 };

	for (guint i = 0; i < n; i++) {
		steps[i].what = rf_rng_below(rng, 12) ? STEP_USE : STEP_DROP;
		steps[i].page = rf_rng_below(rng, 3) ? rf_rng_below(rng, PAGES)
		                                     : recent[rf_rng_below(rng, 4)];
		recent[i % 4] = steps[i].page;
	}
}

/* When the page of a step is used next, unless it is dropped before. */
static uint64_t next_use(const struct step *steps, guint n, guint at)
{
	for (guint i = at + 1; i < n; i++) {
		if (steps[i].page == steps[at].page)
			return steps[i].what == STEP_USE ? i : RF_NEVER;
	}
	return RF_NEVER;
}

/* What one simulation for each number of frames misses, page by page. */
static void naive_misses(const char *name, const struct step *steps, guint n, gboolean *miss)
{
	for (guint frames = 1; frames <= PAGES + 1; frames++) {
		struct naive *naive = naive_new(name, frames, steps, n);

		for (guint i = 0; i < n; i++) {
			if (steps[i].what == STEP_DROP)
				naive->ops->drop(naive, steps[i].page);
			else
				miss[i * (PAGES + 2) + frames] =
					naive->ops->use(naive, steps[i].page, i);
		}
		naive_free(naive);
	}
}

START_TEST(lru_stack)
{
	guint64 seed = g_get_monotonic_time();
	struct rf_rng rng = { seed };
	g_autofree gboolean *miss = g_new0(gboolean, STEPS * (PAGES + 2));
	struct step steps[STEPS];
	uint32_t slot[PAGES];
	struct rf_stack s;

	random_steps(&rng, steps, STEPS);
	naive_misses("lru", steps, STEPS, miss);
	memset(slot, 0xff, sizeof(slot));
	rf_stack_init(&s);
	for (guint i = 0; i < STEPS; i++) {
		uint32_t d;

		/* New numbers at any time change nothing. */
		if (i % 97 == 0) {
			const struct rf_stack_pages pages = { slot, NULL, PAGES };

			rf_stack_renumber(&s, &pages, 0);
		}
		if (steps[i].what == STEP_DROP) {
			rf_stack_free_page(&s, &slot[steps[i].page]);
			continue;
		}
		d = rf_stack_use(&s, &slot[steps[i].page]);
		for (guint frames = 1; frames <= PAGES + 1; frames++)
			ck_assert_msg(miss[i * (PAGES + 2) + frames] == (d == 0 || d > frames),
			              "seed %" G_GUINT64_FORMAT ", step %u, %u frames, distance %u", seed, i,
			              frames, d);
	}
	rf_stack_clear(&s);
}
END_TEST

START_TEST(opt_stack)
{
	guint64 seed = g_get_monotonic_time();
	struct rf_rng rng = { seed };
	g_autofree gboolean *miss = g_new0(gboolean, STEPS * (PAGES + 2));
	guint naive[PAGES + 2] = { 0 }, ours[PAGES + 2] = { 0 };
	struct step steps[STEPS];
	uint32_t place[PAGES] = { 0 };
	struct rf_opt o;

	random_steps(&rng, steps, STEPS);
	naive_misses("belady", steps, STEPS, miss);
	rf_opt_init(&o);
	/* Which of two pages that are never used again leaves makes no difference to the sums. */
	for (guint i = 0; i < STEPS; i++) {
		uint32_t d;

		if (steps[i].what == STEP_DROP) {
			rf_opt_free_page(&o, place, steps[i].page);
			continue;
		}
		d = rf_opt_use(&o, place, steps[i].page, next_use(steps, STEPS, i));
		for (guint frames = 1; frames <= PAGES + 1; frames++) {
			naive[frames] += miss[i * (PAGES + 2) + frames];
			ours[frames] += d == 0 || d > frames;
			ck_assert_msg(naive[frames] == ours[frames],
			              "seed %" G_GUINT64_FORMAT ", step %u, %u frames: %u, expected %u", seed,
			              i, frames, ours[frames], naive[frames]);
		}
	}
	rf_opt_clear(&o);
}
END_TEST

/* Enough pages for sums of sums of blocks, enough uses for new numbers: the distance is one more than
 * the pages used since. */
START_TEST(large_stack)
{
	enum { MANY = 30000, USES = 260000 };
	struct rf_rng rng = { 7 };
	g_autofree uint32_t *slot = g_new(uint32_t, MANY), *last = g_new0(uint32_t, MANY);
	struct rf_stack s;

	memset(slot, 0xff, MANY * sizeof(*slot));
	rf_stack_init(&s);
	for (uint32_t i = 1; i <= USES; i++) {
		/* A few pages often, so that some distances are short. */
		uint32_t page = rf_rng_below(&rng, rf_rng_below(&rng, 2) ? MANY : 600), d, expected = 1;

		if (rf_stack_full(&s)) {
			const struct rf_stack_pages pages = { slot, NULL, MANY };

			rf_stack_renumber(&s, &pages, 0);
		}
		d = rf_stack_use(&s, &slot[page]);
		if (i % 101 == 0) {
			for (uint32_t p = 0; p < MANY; p++)
				expected += last[p] > last[page];
			ck_assert_uint_eq(d, last[page] ? expected : 0);
		}
		last[page] = i;
	}
	rf_stack_clear(&s);
}
END_TEST

START_TEST(histogram)
{
	struct rf_hist h[RF_CURVE_NCLASSES] = { 0 };
	struct rf_curve_walk w;

	rf_hist_add(&h[0], 0);
	rf_hist_add(&h[0], 3);
	rf_hist_add(&h[1], 3);
	rf_hist_add(&h[2], 5000);
	/* Beyond 2^32 uses. */
	rf_hist_add(&h[2], 9);
	h[2].n[9] = UINT32_MAX;
	rf_hist_add(&h[2], 9);
	rf_hist_add(&h[2], 9);
	ck_assert_uint_eq(rf_hist_at(&h[2], 9), (UINT64_C(1) << 32) + 1);
	ck_assert_uint_eq(rf_hist_at(&h[2], 10), 0);
	ck_assert_uint_eq(rf_hist_at(&h[2], UINT32_MAX), 0);

	rf_curve_walk_begin(&w, h);
	ck_assert_uint_eq(rf_curve_faults(&w), (UINT64_C(1) << 32) + 5);
	ck_assert(rf_curve_walk_next(&w));
	ck_assert_uint_eq(w.frames, 3);
	ck_assert_uint_eq(w.faults[0], 1);
	ck_assert_uint_eq(w.faults[1], 0);
	rf_curve_walk_to(&w, 8);
	ck_assert_uint_eq(rf_curve_faults(&w), (UINT64_C(1) << 32) + 3);
	ck_assert(rf_curve_walk_next(&w));
	ck_assert_uint_eq(w.frames, 9);
	ck_assert_uint_eq(rf_curve_faults(&w), 2);
	ck_assert(rf_curve_walk_next(&w));
	ck_assert_uint_eq(w.frames, 5000);
	ck_assert_uint_eq(rf_curve_faults(&w), 1);
	ck_assert(!rf_curve_walk_next(&w));
	rf_curve_walk_to(&w, 100000);
	ck_assert_uint_eq(rf_curve_faults(&w), 1);
	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++)
		rf_hist_clear(&h[k]);
}
END_TEST

/* ---- the whole, against the ideal machine ---- */

static struct rf_source *open_data(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(RF_SRCDIR, dir, name, NULL);
	GError *error = NULL;
	struct rf_source *s = rf_source_open(path, NULL, &error);

	if (s && !rf_source_totals_ahead(s))
		s = rf_source_spool(s, &error);
	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	return s;
}

/* The trace once through machines of these sizes and the curve: every counter that the curve has. */
static void compare(struct rf_source *s, guint64 seed, enum rf_curve_algorithm algorithm, unsigned page_shift,
                    const uint64_t *sizes, unsigned n)
{
	const struct rf_curve_options o = { algorithm, RF_CURVE_BY_NONE, page_shift, RF_CURVE_WHOLE, 1 };
	struct rf_frames *m[64];
	GError *error = NULL;
	struct rf_future *future = NULL;
	struct rf_curve *c = rf_curve_new(&o);
	struct rf_curve_walk w;
	struct rf_item item;

	ck_assert_uint_le(n, 64);
	if (algorithm == RF_CURVE_OPT) {
		future = rf_future_new(s, page_shift, &error);
		ck_assert_msg(future != NULL, "%s", error ? error->message : "");
		rf_curve_set_future(c, future);
	}
	for (unsigned i = 0; i < n; i++) {
		struct rf_config cfg = {
			.reclaim = (char *)(algorithm == RF_CURVE_OPT ? "belady" : "lru"),
			.page_shift = page_shift, .frames_n = sizes[i], .kernel_release = RF_KERNEL(6, 18, 0),
		};

		m[i] = rf_frames_new(&cfg, NULL, &error);
		ck_assert_msg(m[i] != NULL, "%s", error ? error->message : "");
		rf_frames_set_future(m[i], future);
	}
	for (;;) {
		ck_assert_msg(rf_source_next(s, &item, &error), "%s", error ? error->message : "");
		if (item.kind == RF_ITEM_END)
			break;
		ck_assert(!future || rf_future_item(future, &item, NULL));
		ck_assert(rf_curve_item(c, &item, NULL));
		for (unsigned i = 0; i < n; i++)
			ck_assert(rf_frames_item(m[i], &item, NULL));
	}
	rf_curve_walk_begin(&w, rf_curve_group(c, 0)->hist);
	for (unsigned i = 0; i < n; i++) {
		struct rf_sample sample;

		rf_frames_sample(m[i], &sample);
		rf_curve_walk_to(&w, sizes[i]);
		ck_assert_msg(rf_curve_faults(&w) == sample.counter[RF_C_pgfault],
		              "seed %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " frames: %"
		              G_GUINT64_FORMAT " faults, expected %" G_GUINT64_FORMAT, seed, sizes[i], rf_curve_faults(&w),
		              sample.counter[RF_C_pgfault]);
		/* Which of two pages that are never used again leaves is up to the policy: of the optimum
		 * only the sum is one figure. */
		if (algorithm == RF_CURVE_LRU) {
			ck_assert_uint_eq(w.faults[RF_CURVE_ANON], sample.counter[RF_C_rf_fault_anon]);
			ck_assert_uint_eq(w.faults[RF_CURVE_FILE], sample.counter[RF_C_rf_fault_file]);
			ck_assert_uint_eq(w.faults[RF_CURVE_EXEC], sample.counter[RF_C_rf_fault_exec]);
		}
		ck_assert_uint_eq(rf_curve_group(c, 0)->accesses, sample.gauge[RF_G_rf_accesses]);
		rf_frames_free(m[i]);
	}
	rf_curve_free(c);
	g_clear_pointer(&future, rf_future_free);
	ck_assert(rf_source_rewind(s, NULL));
}

static const unsigned shifts[] = { 12, 14, 16 };

/* Two programs, one of them started anew now and then, that do whatever frees pages. */
static struct rf_source *random_trace(guint64 seed)
{
	g_autoptr(GString) t = g_string_new("!refault-trace 1 page-size=4K\nfile 1 data 1M\n"
	                                    "task 1\nmmap 1 100000 1M rwx anon\n"
	                                    "mmap 1 800000 512K r-x file:1\n");
	struct rf_rng rng = { seed };
	GError *error = NULL;
	struct rf_source *s;
	unsigned other = 2;

	g_string_append_printf(t, "task %u parent=1\n", other);
	for (unsigned i = 0; i < 4000; i++) {
		unsigned tid = rf_rng_below(&rng, 3) ? 1 : other;
		unsigned page = rf_rng_below(&rng, rf_rng_below(&rng, 2) ? 384 : 20);
		unsigned addr = page < 256 ? 0x100000 + page * 4096 : 0x800000 + (page - 256) * 4096;

		switch (rf_rng_below(&rng, 40)) {
		case 0:
			g_string_append_printf(t, "madvise %u %x 24K dontneed\n", tid, addr & 0xfffe0000);
			break;
		case 1:
			g_string_append_printf(t, "munmap %u %x 40K\n", tid, 0x100000 + page % 246 * 4096);
			break;
		case 2:
			g_string_append_printf(t, "mmap %u %x 256K rw- anon\n", tid, 0x100000);
			break;
		case 3: case 4: case 5:
			g_string_append_printf(t, "read %u file:1 %u 20K\n", tid, page * 2000);
			break;
		case 6:
			g_string_append_printf(t, "write %u file:1 %u 1K\n", tid, page * 1000);
			break;
		case 7:
			if (i % 5 == 0)
				g_string_append_printf(t, "exit %u\ntask %u parent=1\n", other, other + 1);
			other += i % 5 == 0;
			break;
		case 8:
			g_string_append_printf(t, "file 1 data %uK\n", 200 + page);
			break;
		default:
			g_string_append_printf(t, "%c %u %x 8\n", "RWX"[rf_rng_below(&rng, 3)], tid, addr);
		}
	}
	s = rf_source_spool(rf_source_from_text("random", t->str, (gssize)t->len), &error);
	ck_assert_msg(s != NULL, "seed %" G_GUINT64_FORMAT ": %s", seed, error ? error->message : "");
	return s;
}

/* Sixteen sizes from one frame to more than all, both algorithms, three page sizes. */
START_TEST(sample_sizes)
{
	guint64 seed = g_get_monotonic_time();
	struct rf_source *s = _i / 3 == 0 ? open_data("traces/samples", "zipf.rft") : random_trace(seed);
	unsigned k = _i % 3;
	uint64_t footprint = rf_source_totals_ahead(s)->footprint[k], sizes[16];

	for (unsigned i = 0; i < 16; i++)
		sizes[i] = footprint < 16 ? i + 1 : i < 4 ? i + 1 : footprint * (i - 3) / 11;
	sizes[15] = footprint + 16;
	compare(s, seed, RF_CURVE_LRU, shifts[k], sizes, 16);
	compare(s, seed, RF_CURVE_OPT, shifts[k], sizes, 16);
	rf_source_close(s);
}
END_TEST

/* RF_TEST_ALL=1 takes every shipped trace. */
START_TEST(real_programs)
{
	static const char *const all[] = { "cc1-10m.rft", "bzip2-10m.rft", "mutool-20m.rft", "perl.rft",
		                           "qsim.rft", "sqlite3.rft" };
	guint n = g_getenv("RF_TEST_ALL") ? G_N_ELEMENTS(all) : 1;

	for (guint t = 0; t < n; t++) {
		struct rf_source *s = open_data("traces/samples", all[t]);
		uint64_t footprint = rf_source_totals_ahead(s)->footprint[0], sizes[16];

		for (unsigned i = 0; i < 16; i++)
			sizes[i] = MAX(1, footprint * (i * i + 1) / 226);
		compare(s, 0, RF_CURVE_LRU, 12, sizes, n > 1 ? 16 : 4);
		if (n > 1)
			compare(s, 0, RF_CURVE_OPT, 12, sizes, 16);
		rf_source_close(s);
	}
}
END_TEST

/* ---- groups ---- */

static struct rf_curve *curve_of(struct rf_source *s, struct rf_curve_options o)
{
	struct rf_curve *c = rf_curve_new(&o);
	GError *error = NULL;
	struct rf_item item;

	for (;;) {
		ck_assert_msg(rf_source_next(s, &item, &error), "%s", error ? error->message : "");
		if (item.kind == RF_ITEM_END)
			return c;
		ck_assert_msg(rf_curve_item(c, &item, &error), "%s", error ? error->message : "");
	}
}

static const char two_cgroups[] =
	"!refault-trace 1 page-size=4K\n"
	"cgroup /a\ncgroup /b\n"
	"task 1 cgroup=/a\ntask 2 cgroup=/b\ntask 3 parent=2\n"
	"mmap 1 10000 64K rw- anon\nmmap 2 10000 64K rw- anon\nmmap 3 10000 64K rw- anon\n"
	/* /a alone: 2 pages in turn.  /b: 3 pages, of two tasks. */
	"W 1 10000\nW 2 10000\nW 1 11000\nW 3 10000\nW 1 10000\nW 2 11000\n"
	"W 2 10000\nW 1 11000\nW 3 10000\nW 1 11000\n";

START_TEST(cgroups)
{
	struct rf_source *s = rf_source_from_text("x.txt", two_cgroups, -1);
	struct rf_curve *c = curve_of(s, (struct rf_curve_options){ RF_CURVE_LRU, RF_CURVE_BY_CGROUP, 12,
	                                                            RF_CURVE_WHOLE, 1 });
	const struct rf_curve_group *a, *b;

	ck_assert_uint_eq(rf_curve_ngroups(c), 2);
	a = rf_curve_group(c, 0);
	b = rf_curve_group(c, 1);
	ck_assert_str_eq(a->name, "/a");
	ck_assert_str_eq(b->name, "/b");
	ck_assert_uint_eq(a->pages, 2);
	ck_assert_uint_eq(b->pages, 3);
	ck_assert_uint_eq(a->accesses, 5);
	ck_assert_uint_eq(b->accesses, 5);
	/* 0 1 0 1 1: two cold, two at distance 2, one at 1. */
	ck_assert_uint_eq(a->hist[RF_CURVE_ANON].cold, 2);
	ck_assert_uint_eq(rf_hist_at(&a->hist[RF_CURVE_ANON], 1), 1);
	ck_assert_uint_eq(rf_hist_at(&a->hist[RF_CURVE_ANON], 2), 2);
	/* 2:0 3:0 2:1 2:0 3:0: three cold, two at distance 3. */
	ck_assert_uint_eq(b->hist[RF_CURVE_ANON].cold, 3);
	ck_assert_uint_eq(rf_hist_at(&b->hist[RF_CURVE_ANON], 3), 2);
	rf_curve_free(c);
	rf_source_close(s);
}
END_TEST

static const char three_kinds[] =
	"!refault-trace 1 page-size=4K\n"
	"file 1 lib 64K\nfile 2 data 64K\n"
	"task 1\n"
	"mmap 1 100000 64K r-x file:1\nmmap 1 200000 64K r-- file:2\nmmap 1 300000 64K rw- anon\n"
	"X 1 100000\nR 1 200000\nW 1 300000\nX 1 101000\nR 1 100000\nR 1 200000\nW 1 300000\n"
	"read 1 file:2 0 4K\n";

START_TEST(kinds)
{
	struct rf_source *s = rf_source_from_text("x.txt", three_kinds, -1);
	struct rf_curve *c = curve_of(s, (struct rf_curve_options){ RF_CURVE_LRU, RF_CURVE_BY_KIND, 12,
	                                                            RF_CURVE_WHOLE, 1 });
	const struct rf_curve_group *g[3];

	ck_assert_uint_eq(rf_curve_ngroups(c), 3);
	for (guint i = 0; i < 3; i++)
		g[i] = rf_curve_group(c, i);
	ck_assert_str_eq(g[0]->name, "exec");
	ck_assert_str_eq(g[1]->name, "file");
	ck_assert_str_eq(g[2]->name, "anon");
	ck_assert_uint_eq(g[0]->pages, 2);
	/* Fetches cold, the read at distance 2 among the executable pages. */
	ck_assert_uint_eq(g[0]->hist[RF_CURVE_EXEC].cold, 2);
	ck_assert_uint_eq(rf_hist_at(&g[0]->hist[RF_CURVE_FILE], 2), 1);
	ck_assert_uint_eq(rf_hist_at(&g[1]->hist[RF_CURVE_FILE], 1), 1);
	ck_assert_uint_eq(g[1]->hist[RF_CURVE_READ].cold, 1);
	ck_assert_uint_eq(g[1]->accesses, 2);
	ck_assert_uint_eq(rf_hist_at(&g[2]->hist[RF_CURVE_ANON], 1), 1);
	rf_curve_free(c);
	rf_source_close(s);
}
END_TEST

/* ---- samples ---- */

START_TEST(sampled)
{
	struct rf_source *s = open_data("traces/samples", "zipf.rft");
	struct rf_curve *whole = curve_of(s, (struct rf_curve_options){ .page_shift = 12,
	                                                                .rate = RF_CURVE_WHOLE });
	const uint32_t frames = 300;
	g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(frames));
	struct rf_curve_walk w;
	unsigned far_off = 0, n = 0;
	uint64_t sum = 0;

	g_array_append_val(sizes, frames);
	/* Thirty samples of a fifth.  The errors are not as a normal distribution has them: a hot page that
	 * is not in a sample is nothing that the sample can know. */
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct rf_curve *c;
		struct rf_curve_report r = { .rate = 200000, .page_shift = 12 };
		g_autoptr(GArray) points = NULL;

		ck_assert(rf_source_rewind(s, NULL));
		c = curve_of(s, (struct rf_curve_options){ .page_shift = 12, .rate = 200000, .seed = seed });
		r.frames = sizes;
		points = rf_curve_points(&r, rf_curve_group(c, 0), 0);
		sum += g_array_index(points, struct rf_curve_point, 0).faults;
		g_array_unref(points);
		r.frames = NULL;
		points = rf_curve_points(&r, rf_curve_group(c, 0), 20);
		rf_curve_walk_begin(&w, rf_curve_group(whole, 0)->hist);
		for (guint i = 0; i < points->len; i++) {
			const struct rf_curve_point *p = &g_array_index(points, struct rf_curve_point, i);
			uint64_t off;

			rf_curve_walk_to(&w, p->frames);
			off = MAX(p->faults, rf_curve_faults(&w)) - MIN(p->faults, rf_curve_faults(&w));
			far_off += off > 3 * p->error;
			n++;
		}
		rf_curve_free(c);
	}
	ck_assert_msg(far_off * 4 < n, "%u of %u points are more than three standard errors off", far_off,
	              n);
	/* On average they are right. */
	rf_curve_walk_begin(&w, rf_curve_group(whole, 0)->hist);
	rf_curve_walk_to(&w, frames);
	sum /= 30;
	ck_assert_msg(sum > rf_curve_faults(&w) * 9 / 10 && sum < rf_curve_faults(&w) * 11 / 10,
	              "%" G_GUINT64_FORMAT " on average, expected about %" G_GUINT64_FORMAT, sum,
	              rf_curve_faults(&w));
	rf_curve_free(whole);
	rf_source_close(s);
}
END_TEST

/* ---- the kernel's estimate ---- */

START_TEST(buckets)
{
	for (unsigned b = 0; b < 200; b++) {
		ck_assert_uint_eq(rf_distance_bucket(rf_distance_least(b)), b);
		if (b)
			ck_assert_uint_eq(rf_distance_bucket(rf_distance_least(b) - 1), b - 1);
	}
	ck_assert_uint_lt(rf_distance_bucket(UINT64_MAX), RF_DISTANCE_BUCKETS);
}
END_TEST

/* A loop over twelve pages of a file with eight frames, by hand: each use but the first twelve is a refault
 * at distance 12. */
START_TEST(distance_loop)
{
	g_autoptr(GString) t = g_string_new("!refault-trace 1 page-size=4K\nfile 1 f 48K\ntask 1\n"
	                                    "mmap 1 100000 48K r-- file:1\n");
	struct rf_config cfg = {
		.reclaim = (char *)"twolist", .page_shift = 12, .frames_n = 8, .swappiness = 60,
		.kernel_release = RF_KERNEL(6, 18, 0),
	};
	const struct rf_distances *file;
	struct rf_distance *d;
	struct rf_source *s;
	struct rf_item item;
	uint64_t n = 0;

	for (unsigned i = 0; i < 120; i++)
		g_string_append_printf(t, "R 1 %x\n", 0x100000 + i % 12 * 4096);
	s = rf_source_from_text("loop", t->str, (gssize)t->len);
	d = rf_distance_new(&cfg, NULL);
	ck_assert_ptr_nonnull(d);
	do {
		ck_assert(rf_source_next(s, &item, NULL));
		ck_assert(item.kind == RF_ITEM_END || rf_distance_item(d, &item, NULL));
	} while (item.kind != RF_ITEM_END);
	file = rf_distance_of(d, TRUE);
	ck_assert_uint_gt(file->refaults, 50);
	ck_assert_uint_eq(rf_distance_of(d, FALSE)->refaults, 0);
	for (unsigned y = 0; y < RF_DISTANCE_BUCKETS; y++)
		n += file->n[rf_distance_bucket(12)][y];
	ck_assert_uint_eq(n, file->refaults);
	/* Eight frames would never have had it. */
	ck_assert_uint_eq(file->verdict[1][0] + file->verdict[1][1], 0);
	rf_distance_free(d);
	rf_source_close(s);
}
END_TEST

Suite *suite_curve(void)
{
	Suite *s = suite_create("curve");
	TCase *t = tcase_create("curve");

	tcase_add_test(t, lru_stack);
	tcase_add_test(t, opt_stack);
	tcase_add_test(t, large_stack);
	tcase_add_test(t, histogram);
	tcase_add_loop_test(t, sample_sizes, 0, 6);
	tcase_add_test(t, real_programs);
	tcase_add_test(t, cgroups);
	tcase_add_test(t, kinds);
	tcase_add_test(t, sampled);
	tcase_add_test(t, buckets);
	tcase_add_test(t, distance_loop);
	suite_add_tcase(s, t);
	return s;
}
