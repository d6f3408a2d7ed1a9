/* SPDX-License-Identifier: MIT
 * Job files, lists and ranges, and the points that they span.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/study/axes.h"
#include "sim/study/job.h"

Suite *suite_study_job(void);

static GPtrArray *parse(const char *text)
{
	GError *e = NULL;
	GPtrArray *sections = rf_job_parse("x.job", text, strlen(text), &e);

	if (!sections)
		ck_abort_msg("%s", e->message);
	return sections;
}

/* The text is refused with exactly this message. */
static void refused(const char *text, const char *message)
{
	GError *e = NULL;
	GPtrArray *sections = rf_job_parse("x.job", text, strlen(text), &e), *points = NULL;

	if (sections) {
		points = rf_points_new(sections, &e);
		g_ptr_array_unref(sections);
	}
	ck_assert_msg(!points, "accepted: %s", text);
	ck_assert(e->domain == RF_USAGE_ERROR);
	ck_assert_str_eq(e->message, message);
	g_error_free(e);
}

static const char *value(const GPtrArray *sections, guint i, const char *key)
{
	const struct rf_section *s = sections->pdata[i];
	const struct rf_setting *x = rf_settings_find(s->settings, key);

	return x ? x->value : NULL;
}

START_TEST(inheritance)
{
	GPtrArray *s = parse("; a comment\n"
	                     "[global]\n"
	                     "trace = a.rft\n"
	                     "swappiness=10\n"
	                     "[one]\n"
	                     "limit = 10%\n"
	                     "[two]\r\n"
	                     "swappiness = 20\r\n"
	                     "[global]\n"
	                     "swappiness = 30\n"
	                     "min-free-kbytes = 64\n"
	                     "  # another\n"
	                     "[ three ]\n"
	                     "trace = b.rft");

	ck_assert_uint_eq(s->len, 3);
	ck_assert_str_eq(((struct rf_section *)s->pdata[0])->name, "one");
	ck_assert_str_eq(((struct rf_section *)s->pdata[2])->name, "three");
	ck_assert_str_eq(((struct rf_section *)s->pdata[2])->where, "x.job:13");
	ck_assert_str_eq(value(s, 0, "swappiness"), "10");
	ck_assert_str_eq(value(s, 0, "limit"), "10%");
	ck_assert_str_eq(value(s, 1, "swappiness"), "20");
	ck_assert_ptr_null(value(s, 1, "limit"));
	ck_assert_ptr_null(value(s, 1, "min_free_kbytes"));
	ck_assert_str_eq(value(s, 2, "swappiness"), "30");
	ck_assert_str_eq(value(s, 2, "min_free_kbytes"), "64");
	ck_assert_str_eq(value(s, 2, "trace"), "b.rft");
	ck_assert_str_eq(value(s, 0, "trace"), "a.rft");
	g_ptr_array_unref(s);
}
END_TEST

START_TEST(broken_files)
{
	refused("", "x.job: expected a section [NAME]");
	refused("[global]\nlimit=1M\n", "x.job: expected a section [NAME] beside [global]");
	refused("limit = 1M\n[a]\n", "x.job:1: expected [global] or [NAME] before the first key");
	refused("[a\n", "x.job:1: [a: expected [NAME]");
	refused("[]\n", "x.job:1: []: expected the name of a section");
	refused("[a]\n[b]\n\n[a]\n", "x.job:4: a second section [a]; the first is in line 1");
	refused("[a]\nlimit = 1M\nswappiness = 3\nlimit = 2M\n",
	        "x.job:4: limit is given twice; the first is in line 2");
	refused("[a]\nread_ahead_kb = 1\nread-ahead-kb = 2\n",
	        "x.job:3: read_ahead_kb is given twice; the first is in line 2");
	refused("[a]\nlimti = 1M\n", "x.job:2: no key \"limti\"; did you mean \"limit\"?");
	refused("[a]\nnmve_latency = 1us\n",
	        "x.job:2: no key \"nmve_latency\"; did you mean \"nvme_latency\"?");
	refused("[a]\nqwertyuiop = 1\n",
	        "x.job:2: no key \"qwertyuiop\"; see `refault help sweep'");
	refused("[a]\nlimit\n", "x.job:2: \"limit\": expected KEY = VALUE");
	refused("[a]\n= 3\n", "x.job:2: \"= 3\": expected KEY = VALUE");
	refused("[a]\nlimit = \377\n", "x.job: expected a job file, found bytes that are no text");
	refused("[a]\nlimit = 1M\n", "x.job:1: [a]: expected a trace");
	refused("[a]\ntrace = -\n",
	        "x.job:2: trace -: standard input can be read only once; expected files");
	refused("[a]\ntrace = t t\n", "x.job:2: trace t: is in the list twice");
	refused("[a]\ntrace = none-of-*-these\n",
	        "x.job:2: trace none-of-*-these: no file has such a name");
}
END_TEST

/* The values of a list, joined with blanks, or the error. */
static char *expand(const char *key, const char *text)
{
	const struct rf_setting s = { rf_study_key("x", key, NULL), (char *)text, (char *)"x:1" };
	GError *e = NULL;
	GPtrArray *v = rf_axis_values(&s, &e);
	char *joined;

	if (!v) {
		joined = g_strdup(e->message);
		g_error_free(e);
		return joined;
	}
	g_ptr_array_add(v, NULL);
	joined = g_strjoinv(" ", (char **)v->pdata);
	g_ptr_array_unref(v);
	return joined;
}

static const struct {
	const char *key, *text, *values;
} lists[] = {
	{ "limit", "10%..90%/9", "10% 20% 30% 40% 50% 60% 70% 80% 90%" },
	{ "limit", "1M,2M,4M", "1M 2M 4M" },
	{ "limit", "1M..64M*4", "1M 4M 16M 64M" },
	{ "limit", "1M..65M*4", "1M 4M 16M 64M" },
	{ "limit", "90%..10%/3", "90% 50% 10%" },
	{ "limit", "0%..1%/4", "0% 0.3333% 0.6666% 1%" },
	{ "limit", "12.5%..25%/3", "12.5% 18.75% 25%" },
	{ "limit", "100pages..300pages/3", "100pages 200pages 300pages" },
	{ "limit", "0..4K/3", "0 2K 4K" },
	{ "limit", "5%, 10%..20%/2 ,50%", "5% 10% 20% 50%" },
	{ "limit", "", "" },
	{ "swappiness", "0..200/3", "0 100 200" },
	{ "seed", "1..5", "1 2 3 4 5" },
	{ "seed", "7..7", "7" },
	{ "seed", "1..100*10", "1 10 100" },
	{ "memory.high", "1M..2M/3", "1M 1536K 2M" },
	{ "stats-flush-period", "1ms..3ms/3", "1ms 2ms 3ms" },
	{ "nvme_latency", "10us..40us*2", "10us 20us 40us" },
	{ "page-size", "4K,16K,64K", "4K 16K 64K" },
	{ "strict", "no,yes", "no yes" },
	{ "strict", "0,true", "no yes" },
	{ "reclaim", "lru,2q,in=25,out=50,arc", "lru 2q,in=25,out=50 arc" },
	{ "reclaim", "2q,in=10,2q,in=20", "2q,in=10 2q,in=20" },
	{ "machine", "../a.ini,./b.ini", "../a.ini ./b.ini" },
	{ "kernel", "2.6.30,6.18", "2.6.30 6.18" },
	{ "frames", "10..30/3", "10 20 30" },
	{ "swap", "none,zram:1G", "none zram:1G" },
	{ "memory.low", "65536K,64M", "x:1: memory.low: 64M is in the list twice" },
	{ "limit", "1M,,2M", "x:1: limit: an empty value in the list \"1M,,2M\"" },
	{ "seed", "1..3/200", "x:1: seed: 1 is in the list twice" },
	{ "seed", "1..3/1", "x:1: seed: range 1..3/1: expected from 2 to 100000 values after the /" },
	{ "seed", "1..3/0x", "x:1: seed: range 1..3/0x: expected from 2 to 100000 values after the /" },
	{ "seed", "3..1", "x:1: seed: range 3..1: expected an end above the beginning, by less than "
	                  "100000" },
	{ "seed", "0..9223372036854775807", "x:1: seed: range 0..9223372036854775807: expected an end "
	                                    "above the beginning, by less than 100000" },
	{ "seed", "1..8*1", "x:1: seed: range 1..8*1: expected a factor of 2 or more after the *" },
	{ "seed", "0..8*2", "x:1: seed: range 0..8*2: expected a beginning above 0 and not above the "
	                    "end" },
	{ "limit", "10%..90%", "x:1: limit: range 10%..90%: expected a number of values too, as in "
	                       "10%..90%/9, or a factor, as in 1M..64M*2" },
	{ "limit", "10%..1M/3", "x:1: limit: range 10%..1M/3: expected both ends in the same unit" },
	{ "limit", "1x..2x/3", "x:1: limit: range 1x..2x/3: expected two numbers, as in 10%..90%/9 or "
	                       "1M..64M*2" },
	{ "limit", "1..2..3/3", "x:1: limit: range 1..2..3/3: expected two numbers, as in 10%..90%/9 "
	                        "or 1M..64M*2" },
	{ "swappiness", "1..999/2", "x:1: swappiness=\"999\": expected a whole number from 0 to 200" },
	{ "arch", "x86-64,amr64", "x:1: arch=\"amr64\": did you mean \"arm64\"? expected one of "
	                          "x86-64, arm64" },
	{ "nvme_mbps", "0", "x:1: nvme_mbps=\"0\": expected a whole number from 1 to 10000000 of MB/s" },
};

START_TEST(lists_and_ranges)
{
	char *got = expand(lists[_i].key, lists[_i].text);

	ck_assert_str_eq(got, lists[_i].values);
	g_free(got);
}
END_TEST

START_TEST(powers_end_at_the_top)
{
	char *got = expand("memory.high", "4611686018427387904..18446744073709551615*2");

	ck_assert_str_eq(got, "4194304T 8388608T");
	g_free(got);
	got = expand("seed", "0..9223372036854775807/3");
	ck_assert_str_eq(got, "0 4611686018427387903 9223372036854775807");
	g_free(got);
}
END_TEST

static char *titles(const char *text)
{
	GPtrArray *sections = parse(text), *points;
	GString *s = g_string_new(NULL);
	GError *e = NULL;

	points = rf_points_new(sections, &e);
	if (!points)
		ck_abort_msg("%s", e->message);
	for (guint i = 0; i < points->len; i++) {
		char *title = rf_point_title(points->pdata[i]);

		g_string_append_printf(s, "%s\n", title);
		g_free(title);
	}
	g_ptr_array_unref(points);
	g_ptr_array_unref(sections);
	return g_string_free(s, FALSE);
}

static void spans(const char *text, const char *expected)
{
	char *got = titles(text);

	ck_assert_str_eq(got, expected);
	g_free(got);
}

START_TEST(products_and_zips)
{
	spans("[a]\ntrace = d/t1 d/t2\nreclaim = lru,arc\nframes = 1,2\ncombine = product\n",
	      "t1 reclaim=lru frames=1\nt1 reclaim=lru frames=2\n"
	      "t1 reclaim=arc frames=1\nt1 reclaim=arc frames=2\n"
	      "t2 reclaim=lru frames=1\nt2 reclaim=lru frames=2\n"
	      "t2 reclaim=arc frames=1\nt2 reclaim=arc frames=2\n");
	spans("[a]\ntrace = t\nswap = zram\nreclaim = lru,arc\nlimit = 1M,2M\ncombine = zip\n",
	      "t swap=zram reclaim=lru limit=1M\nt swap=zram reclaim=arc limit=2M\n");
	spans("[a]\ntrace = 'a name'\n", "a name\n");
	spans("[a]\ntrace = t\nlimit = 1M,2M\n", "t limit=1M\nt limit=2M\n");
	spans("[global]\ntrace = t\n[a]\nlimit = 1M\n[b]\nseed = 1..2\n",
	      "t limit=1M\nt seed=1\nt seed=2\n");
	refused("[a]\ntrace = t\nreclaim = lru,arc\nlimit = 1M,2M\n",
	        "x.job:4: reclaim and limit both have several values: expected combine to say product "
	        "(each with each) or zip (side by side)");
	refused("[a]\ntrace = t\nreclaim = lru,arc\nlimit = 1M,2M,3M\ncombine = zip\n",
	        "x.job:4: limit has 3 values, reclaim has 2: expected as many to zip them");
	refused("[a]\ntrace = t\ncombine = sum\n",
	        "x.job:3: combine=\"sum\": expected product or zip");
	refused("[a]\ntrace = t\nseed = 1..2000\nlimit = 1..2000\ncombine = product\n",
	        "x.job:1: [a]: more than 1000000 points");
}
END_TEST

static void id_of(const char *text, char *id)
{
	GPtrArray *sections = parse(text), *points = rf_points_new(sections, NULL);

	ck_assert_uint_eq(points->len, 1);
	strcpy(id, ((struct rf_point *)points->pdata[0])->id);
	g_ptr_array_unref(points);
	g_ptr_array_unref(sections);
}

START_TEST(ids)
{
	static const char *const same = "[a]\ntrace = t\nmemory.high = 64M\nseed = 2\n";
	static const char *const other[] = {
		"[a]\ntrace = t\nmemory.high = 64M\nseed = 3\n",
		"[a]\ntrace = u\nmemory.high = 64M\nseed = 2\n",
		"[a]\ntrace = t\nmemory.low = 64M\nseed = 2\n",
		"[a]\ntrace = t\nmaps = u\nmemory.high = 64M\nseed = 2\n",
		"[a]\ntrace = t\nformat = rft\nmemory.high = 64M\nseed = 2\n",
		"[a]\ntrace = t\nmemory.high = 64M\nseed = 2\nnvme_mbps = 100\n",
	};
	char a[17], b[17];

	id_of(same, a);
	ck_assert_uint_eq(strspn(a, "0123456789abcdef"), 16);
	id_of("[b]\nseed = 2\nmemory.high = 65536K\ntrace = t\ncombine = zip\n", b);
	ck_assert_str_eq(a, b);
	for (size_t i = 0; i < G_N_ELEMENTS(other); i++) {
		id_of(other[i], b);
		ck_assert_str_ne(a, b);
	}
}
END_TEST

START_TEST(configurations)
{
	GPtrArray *s = parse("[a]\ntrace = t\nlimit = 12.5%\nreclaim = 2q,in=30\nnvme_mbps = 100\n");
	GPtrArray *points = rf_points_new(s, NULL);
	struct rf_config c;
	const struct rf_totals totals = { .footprint = { 1000, 300, 90 } };
	GError *e = NULL;

	ck_assert(rf_point_config(points->pdata[0], &c, &e));
	ck_assert(rf_config_resolve(&c, &totals, &e));
	ck_assert_uint_eq(c.limit_bytes, 125 * 4096);
	ck_assert_str_eq(c.reclaim, "2q,in=30");
	ck_assert_int_eq(c.profile.nvme_mbps, 100);
	rf_config_clear(&c);
	g_ptr_array_unref(points);
	g_ptr_array_unref(s);
}
END_TEST

Suite *suite_study_job(void)
{
	Suite *s = suite_create("study_job");
	TCase *t = tcase_create("job");

	tcase_add_test(t, inheritance);
	tcase_add_test(t, broken_files);
	tcase_add_loop_test(t, lists_and_ranges, 0, G_N_ELEMENTS(lists));
	tcase_add_test(t, powers_end_at_the_top);
	tcase_add_test(t, products_and_zips);
	tcase_add_test(t, ids);
	tcase_add_test(t, configurations);
	suite_add_tcase(s, t);
	return s;
}
