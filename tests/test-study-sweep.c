/* SPDX-License-Identifier: MIT
 * Many machines from one reading; what a sweep keeps on disk; what it expects to need.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "sim/replay.h"
#include "sim/study/collate.h"
#include "sim/study/estimate.h"
#include "sim/study/pool.h"
#include "sim/study/store.h"

Suite *suite_study_sweep(void);

#define SAMPLE(name) RF_SRCDIR "/traces/samples/" name

static void ck_ok(gboolean ok, GError *error)
{
	if (!ok)
		ck_abort_msg("%s", error->message);
}

static struct rf_source *open_source(const char *path)
{
	GError *e = NULL;
	struct rf_source *s = rf_source_open(path, NULL, &e);

	ck_ok(s != NULL, e);
	s = rf_source_spool(s, &e);
	ck_ok(s != NULL, e);
	return s;
}

static void configure(struct rf_config *c, struct rf_source *s, const char *settings)
{
	g_auto(GStrv) words = g_strsplit(settings, " ", -1);
	GError *e = NULL;

	rf_config_init(c);
	for (char **w = words; *w; w++)
		ck_ok(rf_config_set_any(c, *w, &e), e);
	ck_ok(rf_config_resolve(c, rf_source_totals_ahead(s), &e), e);
}

/* ---- the pool ---- */

static const char *const configurations[] = {
	"reclaim=twolist limit=30% swap=zram",
	"reclaim=twolist limit=70% swap=nvme",
	"reclaim=mglru limit=50% swap=zram",
	"reclaim=mglru limit=40% swap=zram page-size=16K",
	"reclaim=lru limit=50% swap=zram",
	"reclaim=twolist limit=50% swap=zram tlb=64",
	"reclaim=twolist limit=50% swap=zram page-size=64K arch=arm64",
	"reclaim=twolist limit=60% swap=zram stats-poll=1000",
	"reclaim=fifo frames=20%",
	"reclaim=clock frames=40%",
	"reclaim=twolist frames=40%",
	"reclaim=mglru frames=25% page-size=16K",
	"reclaim=belady frames=30%",
	"reclaim=belady frames=30% page-size=64K",
	"reclaim=s3fifo frames=30%",
};
enum { NCONFIGURATIONS = G_N_ELEMENTS(configurations) };

struct answers {
	struct rf_result result[NCONFIGURATIONS];
	unsigned calls[NCONFIGURATIONS];
	char *error[NCONFIGURATIONS];
};

static void keep(void *self, guint nth, struct rf_pool_job *job, const struct rf_totals *totals,
                 const GError *error)
{
	struct answers *a = self;

	a->calls[nth]++;
	rf_result_init(&a->result[nth]);
	if (error)
		a->error[nth] = g_strdup(error->message);
	else
		rf_machine_finish(job->machine, &a->result[nth], NULL);
	a->result[nth].totals = *totals;
	rf_machine_free(job->machine);
	job->machine = NULL;
}

static void pool_is_as_alone(const char *path, unsigned threads)
{
	struct rf_source *s = open_source(path);
	struct rf_config cfg[NCONFIGURATIONS];
	struct rf_pool_job job[NCONFIGURATIONS];
	struct answers a = { 0 };
	GError *e = NULL;

	for (guint i = 0; i < NCONFIGURATIONS; i++) {
		configure(&cfg[i], s, configurations[i]);
		job[i] = (struct rf_pool_job){
			.machine = rf_machine_new(&cfg[i], rf_source_totals_ahead(s), &e)
		};
		ck_ok(job[i].machine != NULL, e);
	}
	ck_ok(rf_pool_replay(s, job, NCONFIGURATIONS, threads, keep, &a, NULL, &e), e);
	for (guint i = 0; i < NCONFIGURATIONS; i++) {
		struct rf_machine *m = rf_machine_new(&cfg[i], rf_source_totals_ahead(s), &e);
		struct rf_result alone;

		ck_assert_uint_eq(a.calls[i], 1);
		ck_assert_ptr_null(job[i].machine);
		ck_ok(rf_source_rewind(s, &e) && rf_replay(s, &m, 1, NULL, &e), e);
		rf_result_init(&alone);
		ck_ok(rf_machine_finish(m, &alone, &e), e);
		for (unsigned k = 0; k < rf_nmetrics; k++) {
			uint64_t got = rf_result_value(&a.result[i], &rf_metrics[k]);
			uint64_t want = rf_result_value(&alone, &rf_metrics[k]);

			ck_assert_msg(got == want, "%s, %s: %s is %lu, alone %lu", path,
			              configurations[i], rf_metrics[k].name, (unsigned long)got,
			              (unsigned long)want);
		}
		ck_assert_uint_eq(a.result[i].totals.digest, rf_source_totals(s)->digest);
		ck_assert_uint_eq(a.result[i].marks->len, alone.marks->len);
		ck_assert_uint_eq(a.result[i].tasks->len, alone.tasks->len);
		rf_result_clear(&alone);
		rf_result_clear(&a.result[i]);
		rf_machine_free(m);
		rf_config_clear(&cfg[i]);
	}
	rf_source_close(s);
}

START_TEST(pool_alone)
{
	pool_is_as_alone(SAMPLE("zipf.rft"), 1);
	pool_is_as_alone(SAMPLE("zipf.rft"), 3);
}
END_TEST

START_TEST(pool_alone_on_a_program)
{
	pool_is_as_alone(SAMPLE("cc1-10m.rft"), 2);
}
END_TEST

/* Events on every line: tasks, forks, files, marks; strings must outlive the source's next item. */
START_TEST(pool_alone_on_events)
{
	g_autofree char *dir = g_dir_make_tmp("refault-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "t.txt", NULL);
	g_autoptr(GString) t = g_string_new("!refault-trace 1 page-size=4K\ntask 1\n"
	                                    "file 1 a 1M\nmmap 1 10000000 4M rw- anon\n"
	                                    "mmap 1 20000000 1M r-x file:1\n");

	for (unsigned i = 0; i < 6000; i++) {
		g_string_append_printf(t, "W 1 %x 5000\nX 1 %x\nR 1 %x\n",
		                       0x10000000 + i * 7919 % 1000 * 4096,
		                       0x20000000 + i * 31 % 256 * 4096,
		                       0x10000000 + i % 3 * 4096);
		if (i % 5 == 0)
			g_string_append_printf(t, "mark m%u\nread 1 file:1 %u 9000\n", i,
			                       i * 4099 % 900000);
		if (i % 1000 == 999)
			g_string_append_printf(t, "task %u parent=1\nW %u %x 64K\nexit %u\n", i, i,
			                       0x10000000, i);
	}
	ck_assert(g_file_set_contents(path, t->str, (gssize)t->len, NULL));
	pool_is_as_alone(path, 2);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* A machine that can't go on leaves the others alone. */
START_TEST(pool_failure)
{
	g_autofree char *dir = g_dir_make_tmp("refault-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "t.txt", NULL);
	struct rf_source *s;
	struct rf_config cfg[2];
	struct rf_pool_job job[2];
	struct answers a = { 0 };
	GError *e = NULL;

	ck_assert(g_file_set_contents(path, "!refault-trace 1 page-size=4K\ntask 1\n"
	                                    "mmap 1 10000 64K rw- anon\nW 1 10000 64K\n"
	                                    "R 1 90000\nW 1 10000 64K\n", -1, NULL));
	s = open_source(path);
	configure(&cfg[0], s, "strict=yes limit=1M");
	configure(&cfg[1], s, "strict=no limit=1M");
	for (guint i = 0; i < 2; i++)
		job[i] = (struct rf_pool_job){ .machine = rf_machine_new(&cfg[i], NULL, &e) };
	ck_ok(rf_pool_replay(s, job, 2, 2, keep, &a, NULL, &e), e);
	ck_assert_uint_eq(a.calls[0], 1);
	ck_assert_uint_eq(a.calls[1], 1);
	ck_assert_ptr_nonnull(a.error[0]);
	ck_assert_ptr_nonnull(strstr(a.error[0], "90000"));
	ck_assert_ptr_null(a.error[1]);
	ck_assert_uint_eq(a.result[1].gauge[RF_G_rf_implicit], 1);
	g_free(a.error[0]);
	for (guint i = 0; i < 2; i++) {
		rf_result_clear(&a.result[i]);
		rf_config_clear(&cfg[i]);
	}
	rf_source_close(s);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* ---- the estimate ---- */

static size_t heap(void)
{
	struct mallinfo2 i = mallinfo2();

	return i.uordblks + i.hblkhd;
}

/* Of no configuration too small, and not absurdly large where it matters. */
START_TEST(estimate)
{
	static const char *const paths[] = { SAMPLE("zipf.rft"), SAMPLE("cc1-10m.rft"),
		                             SAMPLE("qsim.rft") };

	for (size_t k = 0; k < G_N_ELEMENTS(paths); k++) {
		struct rf_source *s = open_source(paths[k]);
		struct rf_future *f = rf_future_new(s, 12, NULL);

		/* What the source itself keeps for looks into the future is there from here on. */
		ck_assert_ptr_nonnull(f);
		rf_future_free(f);
		for (guint i = 0; i < NCONFIGURATIONS; i++) {
			struct rf_config cfg;
			struct rf_machine *m;
			GError *e = NULL;
			size_t before, took;
			uint64_t expected;

			/* qsim is long: once is enough. */
			if (k == 2 && i != 2)
				continue;
			configure(&cfg, s, configurations[i]);
			expected = rf_estimate_bytes(&cfg, rf_source_totals_ahead(s));
			before = heap();
			if (!before) {
				rf_config_clear(&cfg);
				rf_source_close(s);
				return; /* this allocator does not count */
			}
			m = rf_machine_new(&cfg, rf_source_totals_ahead(s), &e);
			ck_ok(m != NULL, e);
			ck_ok(rf_source_rewind(s, &e) && rf_replay(s, &m, 1, NULL, &e), e);
			took = heap() - before;
			ck_assert_msg(took <= expected, "%s, %s: took %zu, expected %lu", paths[k],
			              configurations[i], took, (unsigned long)expected);
			ck_assert_msg(expected <= 6 * took + (4 << 20),
			              "%s, %s: took %zu, expected %lu", paths[k], configurations[i],
			              took, (unsigned long)expected);
			rf_machine_free(m);
			rf_config_clear(&cfg);
		}
		rf_source_close(s);
	}
	ck_assert_uint_gt(rf_estimate_free(), 1 << 20);
}
END_TEST

/* ---- the directory ---- */

static GPtrArray *points_of(const char *text)
{
	GPtrArray *sections = rf_job_parse("x.job", text, strlen(text), NULL), *points;

	ck_assert_ptr_nonnull(sections);
	points = rf_points_new(sections, NULL);
	ck_assert_ptr_nonnull(points);
	g_ptr_array_unref(sections);
	return points;
}

static void remove_tree(const char *dir)
{
	g_autofree char *command = g_strdup_printf("rm -rf '%s'", dir);

	ck_assert_int_eq(system(command), 0);
}

START_TEST(plan)
{
	g_autofree char *dir = g_dir_make_tmp("refault-test-XXXXXX", NULL);
	GPtrArray *points = points_of("[one]\ntrace = \"a b.rft\" c.rft\nreclaim = lru,2q,in=30\n"
	                              "machine = ../m.ini\nlimit = 10%..30%/3\nnvme_mbps = 7\n"
	                              "combine = product\n"
	                              "[two words]\ntrace = d\nmaps = e\nformat = lackey\nlimit =\n");
	GPtrArray *again;
	GError *e = NULL;

	ck_assert_uint_eq(points->len, 13);
	ck_ok(rf_store_make(dir, &e) && rf_plan_save(dir, points, &e), e);
	again = rf_plan_load(dir, &e);
	ck_ok(again != NULL, e);
	ck_assert_uint_eq(again->len, points->len);
	for (guint i = 0; i < points->len; i++) {
		struct rf_point *p = points->pdata[i], *q = again->pdata[i];

		ck_assert_str_eq(p->id, q->id);
		ck_assert_str_eq(p->section, q->section);
		ck_assert_str_eq(p->trace, q->trace);
		ck_assert(g_strcmp0(p->maps, q->maps) == 0 && g_strcmp0(p->format, q->format) == 0);
	}
	g_ptr_array_unref(again);
	g_ptr_array_unref(points);
	remove_tree(dir);
}
END_TEST

static void write_point(const char *dir, const struct rf_point *p, uint64_t digest)
{
	struct rf_config cfg;
	struct rf_result result;
	struct rf_report r = { .path = p->trace, .format = "rft", .cfg = &cfg, .result = &result };
	GError *e = NULL;

	ck_ok(rf_point_config(p, &cfg, &e) && rf_config_resolve(&cfg, NULL, &e), e);
	rf_result_init(&result);
	result.totals.digest = digest;
	result.counter[RF_C_pgfault] = 1234;
	ck_ok(rf_store_write(dir, p, &r, &e), e);
	rf_result_clear(&result);
	rf_config_clear(&cfg);
}

/* Why the file can't be used, or "" when it can. */
static const char *why(const char *dir, const struct rf_point *p, uint64_t digest)
{
	const char *reason = NULL;
	struct rf_saved *s = rf_store_read(dir, p, &digest, &reason);

	if (!s)
		return reason;
	ck_assert_uint_eq(s->result.counter[RF_C_pgfault], 1234);
	rf_saved_free(s);
	return "";
}

START_TEST(results)
{
	g_autofree char *dir = g_dir_make_tmp("refault-test-XXXXXX", NULL);
	g_autofree char *profile = g_build_filename(dir, "m.ini", NULL);
	g_autofree char *job = g_strdup_printf("[a]\ntrace = t\nlimit = 1M,2M\nmachine = %s\n", profile);
	g_autofree char *path = NULL, *other = NULL, *text = NULL;
	GPtrArray *points;
	struct rf_point *p;
	gsize len;

	ck_assert(g_file_set_contents(profile, "[machine]\nram = 1G\n", -1, NULL));
	points = points_of(job);
	p = points->pdata[0];
	path = g_strdup_printf("%s/points/%s.json", dir, p->id);
	other = g_strdup_printf("%s/points/%s.json", dir, ((struct rf_point *)points->pdata[1])->id);
	ck_assert(rf_store_make(dir, NULL));
	ck_assert_str_eq(why(dir, p, 7), "missing");
	write_point(dir, p, 7);
	ck_assert_str_eq(why(dir, p, 7), "");
	ck_assert_str_eq(why(dir, p, 8), "stale");

	/* Every byte counts, and so does every missing one. */
	ck_assert(g_file_get_contents(path, &text, &len, NULL));
	for (gsize i = 0; i < len; i += i + 40 < len ? 37 : 1) {
		text[i] ^= 1;
		ck_assert(g_file_set_contents(path, text, (gssize)len, NULL));
		ck_assert_msg(*why(dir, p, 7), "byte %zu of %zu", i, len);
		text[i] ^= 1;
		ck_assert(g_file_set_contents(path, text, (gssize)i, NULL));
		ck_assert_str_eq(why(dir, p, 7), "damaged");
	}
	ck_assert(g_file_set_contents(path, text, (gssize)len, NULL));
	ck_assert_str_eq(why(dir, p, 7), "");

	/* Another point's file under its name; the profile has other figures. */
	ck_assert(g_file_set_contents(other, text, (gssize)len, NULL));
	ck_assert_str_eq(why(dir, points->pdata[1], 7), "stale");
	ck_assert(g_file_set_contents(profile, "[machine]\nram = 2G\n", -1, NULL));
	ck_assert_str_eq(why(dir, p, 7), "stale");
	g_ptr_array_unref(points);
	remove_tree(dir);
}
END_TEST

START_TEST(status)
{
	g_autofree char *dir = g_dir_make_tmp("refault-test-XXXXXX", NULL);
	GPtrArray *points = points_of("[a]\ntrace = t\n");
	const struct rf_point *p = points->pdata[0];
	struct rf_point_status s = { TRUE, 1.5, 4096, 3, (char *)"t: record 7: no good" }, t;

	ck_assert(rf_store_make(dir, NULL));
	ck_assert(!rf_store_get_status(dir, p, &t));
	ck_assert(rf_store_put_status(dir, p, &s, NULL));
	ck_assert(rf_store_get_status(dir, p, &t));
	ck_assert(t.failed && t.seconds == 1.5 && t.peak_kib == 4096 && t.code == 3);
	ck_assert_str_eq(t.message, s.message);
	g_free(t.message);
	rf_store_drop_status(dir, p);
	ck_assert(!rf_store_get_status(dir, p, &t));
	g_ptr_array_unref(points);
	remove_tree(dir);
}
END_TEST

Suite *suite_study_sweep(void)
{
	Suite *s = suite_create("study_sweep");
	TCase *t = tcase_create("pool");

	tcase_add_test(t, pool_alone);
	tcase_add_test(t, pool_alone_on_a_program);
	tcase_add_test(t, pool_alone_on_events);
	tcase_add_test(t, pool_failure);
	suite_add_tcase(s, t);
	t = tcase_create("store");
	tcase_add_test(t, estimate);
	tcase_add_test(t, plan);
	tcase_add_test(t, results);
	tcase_add_test(t, status);
	suite_add_tcase(s, t);
	return s;
}
