/* SPDX-License-Identifier: MIT
 * Saved results: what the JSON report writes comes back, whole; what is damaged is refused.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "base/version.h"
#include "sim/report/report.h"
#include "sim/saved.h"

Suite *suite_saved(void);

/* A result in which every figure is another one. */
static void fill(struct rf_result *r, uint64_t base)
{
	struct rf_task_result task = { 7, g_strdup("a \"task\"\n"), 1, 2, 3, 4, 5, 6, 7,
		                       8, 9, 10, 11, 12, 13, TRUE, FALSE };
	struct rf_cpu_result cpu = { 31, 32 };
	struct rf_lock_result lock = { "some_lock", 41, 42, 43, 44, 45 };
	struct rf_cgroup_result group = { .path = g_strdup("/jobs/x"), .usage = 11, .usage_max = 12,
		                          .anon = 13, .file = 14, .file_mapped = 15, .swap = 16,
		                          .kernel = 17, .lru = { 18, 19, 20, 21 } };
	struct rf_oom oom = { 99, 7, g_strdup("/"), NULL };

	rf_result_init(r);
	for (unsigned i = 0; i < RF_NCOUNTERS; i++) {
		r->counter[i] = base + i * 3;
		group.counter[i] = base + 1000 + i;
	}
	for (unsigned i = 0; i < RF_NGAUGES; i++)
		r->gauge[i] = base + 5000 + i * 7;
	r->counter[0] = G_MAXINT64;
	g_array_append_val(r->tasks, task);
	g_array_append_val(r->cgroups, group);
	g_array_append_val(r->oom, oom);
	g_array_append_val(r->cpus, cpu);
	g_array_append_val(r->locks, lock);
	for (unsigned k = 0; k < 3; k++) {
		struct rf_sample s = { .now = 100 * k, .mark = g_strdup_printf("mark %u", k) };

		for (unsigned i = 0; i < RF_NCOUNTERS; i++)
			s.counter[i] = base + k * 10000 + i;
		for (unsigned i = 0; i < RF_NGAUGES; i++)
			s.gauge[i] = base + k * 20000 + i;
		g_array_append_val(r->marks, s);
		s.mark = NULL;
		s.now++;
		g_array_append_val(r->timeline, s);
	}
	r->totals = (struct rf_totals){ { 1, 2, 3 }, 4, 5, 6, 7, { 8, 9, 10 }, 0x0123456789abcdef };
}

/* The document of runs whose results begin at base, base + 1…; the caller frees. */
static char *write_runs(uint64_t base, unsigned n, gboolean frames)
{
	GString *out = g_string_new(NULL);
	struct rf_header header = { 0 };

	rf_header_set(&header, "command", "a=b \xff c");
	for (unsigned i = 0; i < n; i++) {
		struct rf_config cfg;
		struct rf_result result;
		struct rf_report report = { .path = "some.rft", .format = "rft", .header = &header };
		GError *error = NULL;

		rf_config_init(&cfg);
		ck_assert(rf_config_set(&cfg, "swappiness", "17", NULL));
		ck_assert(rf_config_set(&cfg, frames ? "frames" : "limit", "64", NULL) || !frames);
		if (!frames)
			ck_assert(rf_config_set(&cfg, "limit", "64M", NULL));
		ck_assert_msg(rf_config_resolve(&cfg, NULL, &error), "%s", error ? error->message : "");
		fill(&result, base + i);
		report.cfg = &cfg;
		report.result = &result;
		rf_report_append(out, RF_OUT_JSON, &report, i == 0, i + 1 == n);
		rf_result_clear(&result);
		rf_config_clear(&cfg);
	}
	rf_header_clear(&header);
	return g_string_free(out, FALSE);
}

static GPtrArray *read_back(const char *text)
{
	GError *error = NULL;
	GPtrArray *all = rf_saved_parse("x.json", text, strlen(text), &error);

	ck_assert_msg(all != NULL, "%s", error ? error->message : "");
	return all;
}

static void same_metrics(const struct rf_saved *s, const struct rf_result *r)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		uint64_t v;

		ck_assert_msg(rf_saved_value(s, &rf_metrics[i], &v), "%s", rf_metrics[i].name);
		ck_assert_msg(v == rf_result_value(r, &rf_metrics[i]), "%s", rf_metrics[i].name);
	}
}

static void same_samples(const GArray *a, const GArray *b)
{
	ck_assert_uint_eq(a->len, b->len);
	for (guint i = 0; i < a->len; i++) {
		const struct rf_sample *x = &g_array_index(a, struct rf_sample, i);
		const struct rf_sample *y = &g_array_index(b, struct rf_sample, i);

		ck_assert_uint_eq(x->now, y->now);
		ck_assert_int_eq(g_strcmp0(x->mark, y->mark), 0);
		ck_assert_mem_eq(x->counter, y->counter, sizeof(x->counter));
		ck_assert_mem_eq(x->gauge, y->gauge, sizeof(x->gauge));
	}
}

START_TEST(round_trip)
{
	g_autofree char *text = write_runs(1000, 1, FALSE), *where = NULL;
	g_autoptr(GPtrArray) all = read_back(text);
	struct rf_saved *s = all->pdata[0];
	const struct rf_task_result *t;
	const struct rf_cgroup_result *g;
	struct rf_result r;
	guint n = 0;

	fill(&r, 1000);
	ck_assert_uint_eq(all->len, 1);
	ck_assert_uint_eq(s->nth, 0);
	ck_assert_str_eq(s->version, rf_version);
	ck_assert_uint_eq(s->schema, RF_REPORT_SCHEMA);
	ck_assert_str_eq(s->trace, "some.rft");
	ck_assert_str_eq(s->digest, "0123456789abcdef");
	ck_assert_mem_eq(s->result.totals.accesses, r.totals.accesses, sizeof(r.totals.accesses));
	ck_assert_mem_eq(s->result.totals.footprint, r.totals.footprint, sizeof(r.totals.footprint));
	ck_assert_uint_eq(s->result.totals.digest, r.totals.digest);
	ck_assert_uint_eq(s->result.totals.lost, 6);
	ck_assert_uint_eq(s->page_bytes, 4096);
	ck_assert_uint_eq(s->limit_bytes, 64 << 20);
	ck_assert_uint_eq(s->seed, 1);
	same_metrics(s, &r);
	/* Every option, in the table's order, as a user would write it. */
	for (const struct rf_option *o = rf_config_options; o->name; o++, n++)
		ck_assert_str_eq(g_array_index(s->config, struct rf_saved_pair, n).name, o->name);
	ck_assert_uint_eq(s->config->len, n);
	ck_assert_str_eq(rf_saved_config(s, "swappiness"), "17");
	ck_assert_ptr_null(rf_saved_config(s, "frames"));
	ck_assert_ptr_null(rf_saved_config(s, "no such"));
	ck_assert_uint_gt(s->profile->len, 10);
	ck_assert_str_eq(g_array_index(s->header, struct rf_saved_pair, 0).name, "command");

	ck_assert_uint_eq(s->result.tasks->len, 1);
	t = &g_array_index(s->result.tasks, struct rf_task_result, 0);
	ck_assert_uint_eq(t->tid, 7);
	ck_assert_str_eq(t->name, "a \"task\"\n");
	ck_assert(t->rss == 1 && t->rss_mean == 2 && t->rss_max == 3 && t->swap == 4 && t->pgfault == 5);
	ck_assert(t->pgmajfault == 6 && t->accesses == 7 && t->oom_killed && !t->exited);
	ck_assert(t->cpu == 8 && t->spin == 9 && t->queue == 10 && t->device == 11 && t->lock == 12 &&
	          t->throttle == 13);
	ck_assert_uint_eq(g_array_index(s->result.cpus, struct rf_cpu_result, 0).idle, 32);
	ck_assert_str_eq(g_array_index(s->result.locks, struct rf_lock_result, 0).name, "some_lock");
	ck_assert_uint_eq(g_array_index(s->result.locks, struct rf_lock_result, 0).held, 45);
	ck_assert_uint_eq(s->result.cgroups->len, 1);
	g = &g_array_index(s->result.cgroups, struct rf_cgroup_result, 0);
	ck_assert_str_eq(g->path, "/jobs/x");
	ck_assert_mem_eq(g->counter, g_array_index(r.cgroups, struct rf_cgroup_result, 0).counter,
	                 sizeof(g->counter));
	ck_assert(g->usage == 11 && g->kernel == 17 && g->lru[0] == 18 && g->lru[3] == 21);
	ck_assert_uint_eq(s->result.oom->len, 1);
	ck_assert_uint_eq(g_array_index(s->result.oom, struct rf_oom, 0).now, 99);
	same_samples(s->result.marks, r.marks);
	same_samples(s->result.timeline, r.timeline);
	where = rf_saved_where(s);
	ck_assert_str_eq(where, "x.json");
	rf_result_clear(&r);
}
END_TEST

START_TEST(several)
{
	g_autofree char *text = write_runs(5, 3, TRUE), *where = NULL;
	g_autoptr(GPtrArray) all = read_back(text);

	ck_assert_uint_eq(all->len, 3);
	for (guint i = 0; i < 3; i++) {
		struct rf_saved *s = all->pdata[i];
		struct rf_result r;

		fill(&r, 5 + i);
		same_metrics(s, &r);
		ck_assert_uint_eq(s->nth, i + 1);
		ck_assert_uint_eq(s->frames_n, 64);
		ck_assert_uint_eq(s->profile->len, 0);
		rf_result_clear(&r);
	}
	where = rf_saved_where(all->pdata[1]);
	ck_assert_str_eq(where, "x.json: result 2");
}
END_TEST

/* The document with one text replaced by another, which must be in it. */
static char *with(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	ck_assert_msg(at != NULL, "no \"%s\"", from);
	return g_strdup_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void refused(const char *text, gsize len, const char *message)
{
	GError *error = NULL;
	GPtrArray *all = rf_saved_parse("x.json", text, len, &error);

	ck_assert_msg(all == NULL, "taken, expected \"%s\"", message);
	ck_assert(error->domain == RF_DATA_ERROR);
	ck_assert_msg(strstr(error->message, message) != NULL, "\"%s\" lacks \"%s\"", error->message,
	              message);
	g_error_free(error);
}

START_TEST(damaged)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{ "\"program\" : \"refault\"", "\"program\" : \"other\"",
		  "x.json: program: expected \"refault\"" },
		{ "\"program\"", "\"porgram\"", "x.json: program: expected a result of `refault run" },
		{ "\"schema\" : 1", "\"schema\" : 7", "x.json: schema: expected 1, found 7" },
		{ "\"schema\" : 1", "\"schema\" : \"1\"", "x.json: schema: expected a whole number" },
		{ "\"digest\" : \"0", "\"digest\" : \"X", "trace.digest: expected 16 hexadecimal digits" },
		{ "\"digest\" : \"0", "\"digest\" : \"", "trace.digest: expected 16 hexadecimal digits" },
		{ "\"pgmajfault\" : 1003", "\"pgmajfault\" : -3",
		  "x.json: metrics.pgmajfault: expected a whole number from 0" },
		{ "\"pgmajfault\" : 1003", "\"pgmajfault\" : 1e3", "metrics.pgmajfault: expected" },
		{ "\"pgmajfault\" : 1003", "\"pgmajfault\" : 18446744073709551617",
		  "metrics.pgmajfault: expected" },
		{ "\"pgmajfault\" : 1003", "\"pgmajfault\" : null", "metrics.pgmajfault: expected" },
		{ "\"metrics\" : {", "\"metrics\" : 5, \"x\" : {", "x.json: metrics: expected an object" },
		{ "\"tid\" : 7", "\"tid\" : 4294967296", "tasks.0.tid: expected a number below 2^32" },
		{ "\"rss_mean\" : 2", "\"rss\" : 2", "x.json: tasks.0.rss_mean: expected" },
		{ "\"tasks\" : [", "\"tasks\" : [ 5, ", "x.json: tasks.0: expected an object" },
		{ "\"exited\" : false", "\"exited\" : 0", "tasks.0.exited: expected true or false" },
		{ "\"marks\" : [", "\"marks\" : {}, \"y\" : [", "x.json: marks: expected an array" },
		{ "\"page_bytes\" : 4096", "\"page_bytes\" : 0", "resolved.page_bytes: expected" },
		{ "\"swappiness\" : \"17\"", "\"swappiness\" : 17",
		  "config.swappiness: expected a string or null" },
		{ "\"time_ns\" : [", "\"time_ns\" : [ 4,",
		  "timeline.pgfault: expected an array of 4 numbers" },
		{ "\"time_ns\" : [", "\"time_ns\" : [ [],", "timeline.time_ns: expected an array of 4" },
	};
	g_autofree char *good = write_runs(1000, 1, FALSE), *two = write_runs(1000, 2, FALSE);
	g_autofree char *late = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *bad = with(good, cases[i].from, cases[i].to);

		refused(bad, strlen(bad), cases[i].message);
	}
	/* In the second of two. */
	late = with(two, "\"pgmajfault\" : 1004", "\"pgmajfault\" : true");
	refused(late, strlen(late), "x.json: result 2: metrics.pgmajfault: expected");
}
END_TEST

START_TEST(no_document)
{
	g_autoptr(GString) deep = g_string_new(NULL);
	g_autofree char *good = write_runs(1, 1, FALSE);
	gsize len = strlen(good);

	refused("", 0, "x.json: empty; expected");
	refused("  \n", 3, "x.json");
	refused("[]", 2, "x.json: an empty array");
	refused("5", 1, "x.json: expected an object");
	refused("[ {}, 5 ]", 9, "x.json: result 1: program: expected");
	refused("{\n\n \"a\" 5}", 10, "x.json: line 3, column");
	refused("a\0b", 3, "x.json: offset 1: NUL byte");
	for (unsigned i = 0; i < 200000; i++)
		g_string_append_c(deep, '[');
	refused(deep->str, deep->len, "x.json: offset 64: nested more than 64 deep");
	/* However it is cut short, it is no result. */
	for (gsize n = 0; n + 2 < len; n += 97)
		refused(good, n, "x.json: ");
}
END_TEST

START_TEST(files)
{
	GError *error = NULL;

	ck_assert_ptr_null(rf_saved_load("no-such-file.json", &error));
	ck_assert(error->domain == RF_ENV_ERROR);
	ck_assert_str_eq(error->message, "no-such-file.json: No such file or directory");
	g_clear_error(&error);
	ck_assert_ptr_null(rf_saved_load("/", &error));
	ck_assert(error->domain == RF_ENV_ERROR);
	g_clear_error(&error);
}
END_TEST

Suite *suite_saved(void)
{
	Suite *s = suite_create("saved");
	TCase *t = tcase_create("saved");

	tcase_add_test(t, round_trip);
	tcase_add_test(t, several);
	tcase_add_test(t, damaged);
	tcase_add_test(t, no_document);
	tcase_add_test(t, files);
	suite_add_tcase(s, t);
	return s;
}
