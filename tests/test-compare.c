/* SPDX-License-Identifier: MIT
 * Comparisons: the statistics against enumeration and by hand, pairing, conditions.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "sim/compare/compare.h"
#include "sim/config.h"

Suite *suite_compare(void);

/* ---- the signed-rank test ---- */

START_TEST(rank_by_hand)
{
	static const uint64_t a[] = { 100, 100, 100, 100, 100, 100 };
	static const uint64_t all_up[] = { 101, 102, 103, 104, 105, 106 };
	static const uint64_t smallest_down[] = { 99, 102, 103, 104, 105, 106 };
	static const uint64_t one_equal[] = { 100, 102, 103, 104, 105, 106 };

	/* Six of six: 2 / 2^6.  One more arrangement is as extreme when the smallest went down: 4 / 2^6.
	 * An equal pair does not count: 2 / 2^5. */
	ck_assert(fabs(rf_signed_rank(a, all_up, 6) - 2.0 / 64) < 1e-12);
	ck_assert(fabs(rf_signed_rank(all_up, a, 6) - 2.0 / 64) < 1e-12);
	ck_assert(fabs(rf_signed_rank(a, smallest_down, 6) - 4.0 / 64) < 1e-12);
	ck_assert(fabs(rf_signed_rank(a, one_equal, 6) - 2.0 / 32) < 1e-12);
	ck_assert(rf_signed_rank(a, a, 6) == 1);
	ck_assert(rf_signed_rank(a, all_up, 0) == 1);
	ck_assert(rf_signed_rank(a, all_up, 1) == 1);
}
END_TEST

/* Every arrangement of signs, one by one. */
static double enumerate(const uint64_t *a, const uint64_t *b, guint n)
{
	double rank[12], ratio[12], up = 0;
	guint m = 0, low = 0, high = 0, all;
	gboolean sign[12];

	for (guint i = 0; i < n; i++) {
		if (a[i] == b[i])
			continue;
		ratio[m] = (double)MAX(a[i], b[i]) / (double)MIN(a[i], b[i]);
		sign[m++] = b[i] > a[i];
	}
	if (m == 0)
		return 1;
	for (guint i = 0; i < m; i++) {
		double below = 0, same = 0;

		for (guint k = 0; k < m; k++) {
			below += ratio[k] < ratio[i] - 1e-12;
			same += fabs(ratio[k] - ratio[i]) <= 1e-12;
		}
		rank[i] = below + (same + 1) / 2;
		up += sign[i] ? rank[i] : 0;
	}
	all = 1u << m;
	for (guint s = 0; s < all; s++) {
		double sum = 0;

		for (guint i = 0; i < m; i++)
			sum += s >> i & 1 ? rank[i] : 0;
		low += sum <= up + 1e-9;
		high += sum >= up - 1e-9;
	}
	return MIN(1, 2.0 * MIN(low, high) / all);
}

START_TEST(rank_enumerated)
{
	guint64 seed = g_get_monotonic_time();
	struct rf_rng rng = { seed };

	for (unsigned round = 0; round < 200; round++) {
		uint64_t a[10], b[10];
		guint n = 1 + rf_rng_below(&rng, 10);

		/* Small numbers: many ties. */
		for (guint i = 0; i < n; i++) {
			a[i] = 1 + rf_rng_below(&rng, 6);
			b[i] = 1 + rf_rng_below(&rng, 6);
		}
		ck_assert_msg(fabs(rf_signed_rank(a, b, n) - enumerate(a, b, n)) < 1e-9,
		              "seed %" G_GUINT64_FORMAT ", round %u: %g, expected %g", seed, round,
		              rf_signed_rank(a, b, n), enumerate(a, b, n));
	}
}
END_TEST

/* Ratios of numbers that no double can tell apart. */
START_TEST(rank_large)
{
	const uint64_t a[] = { UINT64_MAX - 2, 1, 0 }, b[] = { UINT64_MAX - 1, UINT64_MAX, 7 };

	ck_assert(fabs(rf_signed_rank(a, b, 3) - 2.0 / 8) < 1e-12);
}
END_TEST

/* ---- sides ---- */

struct given {
	const char *digest, *limit, *reclaim;
	uint64_t seed, faults, swapped;
};

static void clear_pair(gpointer data)
{
	struct rf_saved_pair *pair = data;

	g_free(pair->name);
	g_free(pair->value);
}

static GPtrArray *results(const struct given *g, guint n)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)rf_saved_free);

	for (guint i = 0; i < n; i++) {
		struct rf_saved *s = g_new0(struct rf_saved, 1);
		const struct rf_saved_pair pairs[] = {
			{ g_strdup("limit"), g_strdup(g[i].limit) },
			{ g_strdup("reclaim"), g_strdup(g[i].reclaim) },
		};

		s->file = g_strdup("x.json");
		s->nth = i + 1;
		s->version = g_strdup("0");
		s->trace = g_strdup_printf("dir/%s.rft", g[i].digest);
		s->digest = g_strdup(g[i].digest);
		s->header = g_array_new(FALSE, FALSE, sizeof(struct rf_saved_pair));
		s->profile = g_array_new(FALSE, FALSE, sizeof(struct rf_saved_pair));
		s->config = g_array_new(FALSE, FALSE, sizeof(struct rf_saved_pair));
		g_array_set_clear_func(s->config, clear_pair);
		g_array_append_vals(s->config, pairs, 2);
		rf_result_init(&s->result);
		s->seed = g[i].seed;
		s->result.counter[RF_C_pgmajfault] = g[i].faults;
		s->result.counter[RF_C_pswpin] = g[i].swapped;
		for (unsigned k = 0; k < rf_nmetrics; k++)
			s->present[k] = TRUE;
		g_ptr_array_add(all, s);
	}
	return all;
}

static const struct given before[] = {
	{ "one", "10%", "lru", 1, 100, 0 },
	{ "one", "20%", "lru", 1, 50, 0 },
	{ "two", "10%", "lru", 1, 1000, 0 },
	{ "two", "20%", "lru", 1, 0, 0 },
};
static const struct given after[] = {
	{ "two", "10%", "arc", 1, 1100, 0 },
	{ "one", "20%", "arc", 1, 50, 3 },
	{ "two", "20%", "arc", 1, 7, 0 },
	{ "one", "10%", "arc", 1, 80, 0 },
};

static struct rf_compare *two_sides(const struct given *a, guint na, const struct given *b, guint nb)
{
	struct rf_compare *c = rf_compare_new();

	rf_compare_add(c, "A", "a.json", results(a, na));
	rf_compare_add(c, "B", "b.json", results(b, nb));
	return c;
}

START_TEST(pairs)
{
	struct rf_compare *c = two_sides(before, 4, after, 4);
	const struct rf_metric *m = rf_metric_find("pgmajfault"), *swap = rf_metric_find("pswpin");
	static const char *const labels[] = { "one.rft limit=10%", "one.rft limit=20%", "two.rft limit=10%",
		                              "two.rft limit=20%" };
	struct rf_figure a, b;
	struct rf_change change;
	struct rf_overall o;
	GError *error = NULL;

	ck_assert_msg(rf_compare_pair(c, &error), "%s", error ? error->message : "");
	ck_assert_uint_eq(c->rows->len, 4);
	ck_assert_uint_eq(c->seeds, 1);
	ck_assert_uint_eq(c->differ->len, 1);
	ck_assert_str_eq(c->differ->pdata[0], "reclaim");
	for (guint i = 0; i < 4; i++)
		ck_assert_str_eq(((struct rf_row *)c->rows->pdata[i])->label, labels[i]);
	/* 100 to 80 faults: 20 % fewer, which is better. */
	a = rf_compare_figure(c->rows->pdata[0], 0, m);
	b = rf_compare_figure(c->rows->pdata[0], 1, m);
	change = rf_compare_change(&a, &b, m);
	ck_assert(change.kind == RF_CHANGE_PERCENT && !change.sure);
	ck_assert(fabs(change.percent + 20) < 1e-9 && fabs(change.gain - 20) < 1e-9);
	/* 0 to 7, and 0 to 0. */
	a = rf_compare_figure(c->rows->pdata[3], 0, m);
	b = rf_compare_figure(c->rows->pdata[3], 1, m);
	ck_assert(rf_compare_change(&a, &b, m).kind == RF_CHANGE_NEW);
	a = rf_compare_figure(c->rows->pdata[3], 0, swap);
	b = rf_compare_figure(c->rows->pdata[3], 1, swap);
	ck_assert(rf_compare_change(&a, &b, swap).kind == RF_CHANGE_NONE);
	/* 0.8, 1 and 1.1; the fourth has no ratio. */
	o = rf_compare_overall(c, 1, m);
	ck_assert_uint_eq(o.n, 3);
	ck_assert_uint_eq(o.left_out, 1);
	ck_assert(fabs(o.percent - (cbrt(0.8 * 1.1) - 1) * 100) < 1e-9);
	rf_compare_free(c);
}
END_TEST

START_TEST(unpaired)
{
	static const struct given twice[] = { { "one", "10%", "lru", 1, 1, 1 }, { "one", "10%", "lru", 1, 1, 1 } };
	struct rf_compare *c = two_sides(before, 4, after, 3);
	GError *error = NULL;

	ck_assert(!rf_compare_pair(c, &error));
	ck_assert(error->domain == RF_DATA_ERROR);
	ck_assert_msg(strstr(error->message, "b.json: no run of one.rft limit=10%") != NULL, "%s",
	              error->message);
	g_clear_error(&error);
	rf_compare_free(c);

	c = two_sides(before, 3, after, 4);
	ck_assert(!rf_compare_pair(c, &error));
	ck_assert_msg(strstr(error->message, "a.json: no run of two.rft limit=20%") != NULL, "%s",
	              error->message);
	g_clear_error(&error);
	rf_compare_free(c);

	c = two_sides(before, 1, twice, 2);
	ck_assert(!rf_compare_pair(c, &error));
	ck_assert_msg(strstr(error->message, "was run with seed 1 before") != NULL, "%s", error->message);
	g_clear_error(&error);
	rf_compare_free(c);
}
END_TEST

START_TEST(seeds)
{
	static const struct given a[] = { { "one", "1", "random", 1, 100, 5 }, { "one", "1", "random", 2, 102, 5 },
		                          { "one", "1", "random", 3, 104, 5 } };
	static const struct given b[] = { { "one", "1", "sieve", 3, 90, 9 }, { "one", "1", "sieve", 1, 91, 9 },
		                          { "one", "1", "sieve", 2, 92, 9 } };
	struct rf_compare *c = two_sides(a, 3, b, 3);
	const struct rf_metric *m = rf_metric_find("pgmajfault"), *swap = rf_metric_find("pswpin");
	struct rf_figure x, y;

	ck_assert(rf_compare_pair(c, NULL));
	ck_assert_uint_eq(c->rows->len, 1);
	ck_assert_uint_eq(c->seeds, 3);
	x = rf_compare_figure(c->rows->pdata[0], 0, m);
	y = rf_compare_figure(c->rows->pdata[0], 1, m);
	ck_assert_uint_eq(x.min, 100);
	ck_assert_uint_eq(x.max, 104);
	ck_assert(x.mean == 102 && y.mean == 91);
	/* t of 2 degrees of freedom, 4.303, times 2 / sqrt(3). */
	ck_assert(fabs(x.half - 4.303 * 2 / sqrt(3)) < 1e-6);
	ck_assert(rf_compare_change(&x, &y, m).sure);
	/* Equal runs have no spread: no mark, however far apart. */
	x = rf_compare_figure(c->rows->pdata[0], 0, swap);
	y = rf_compare_figure(c->rows->pdata[0], 1, swap);
	ck_assert(x.half == 0 && !rf_compare_change(&x, &y, swap).sure);
	rf_compare_free(c);
}
END_TEST

/* ---- conditions ---- */

START_TEST(gates)
{
	static const struct {
		const char *text;
		guint rows;
		const char *first;
	} cases[] = {
		{ "pgmajfault>+2%", 2, "FAIL pgmajfault>+2%: two.rft limit=10%, B: 1100, was 1000 (+10.00%)\n" },
		{ "pgmajfault>+10%", 1, "FAIL pgmajfault>+10%: two.rft limit=20%, B: 7, was 0\n" },
		{ "pgmajfault<-19%", 1, "FAIL pgmajfault<-19%: one.rft limit=10%, B: 80, was 100 (-20.00%)\n" },
		{ "pgmajfault > +6", 2, "FAIL pgmajfault > +6: two.rft limit=10%, B: 1100, was 1000\n" },
		{ "pgmajfault>100", 1, "FAIL pgmajfault>100: two.rft limit=10%, B: 1100, was 1000\n" },
		{ "pgmajfault<50", 1, "FAIL pgmajfault<50: two.rft limit=20%, B: 7, was 0\n" },
		{ "pswpin>0", 1, "FAIL pswpin>0: one.rft limit=20%, B: 3, was 0\n" },
		{ "oom_kill>0", 0, "" },
		{ "geomean(pgmajfault)>+2%", 0, "" },
		{ "geomean(pgmajfault)<-4%", 1, "FAIL geomean(pgmajfault)<-4%: B: -4.17%\n" },
	};
	struct rf_compare *c = two_sides(before, 4, after, 4);

	ck_assert(rf_compare_pair(c, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		GError *error = NULL;
		struct rf_gate *g = rf_gate_new(cases[i].text, &error);

		ck_assert_msg(g != NULL, "%s", error ? error->message : "");
		ck_assert_msg(rf_gate_check(g, c, out) == cases[i].rows, "%s: %s", cases[i].text, out->str);
		ck_assert_msg(g_str_has_prefix(out->str, cases[i].first), "%s: %s", cases[i].text, out->str);
		rf_gate_free(g);
	}
	rf_compare_free(c);
}
END_TEST

START_TEST(no_gates)
{
	static const char *const wrong[] = {
		"", "pgmajfault", ">+2%", "pgmajfault>", "pgmajfault>+", "pgmajfault>%", "pgmajfault>+2%%",
		"pgmajfault>2%", "pgmajfault>+0x10", "pgmajfault>inf", "pgmajfault>+nan%", "pgmajfault>+1e3",
		"pgmajfautl>+2%", "geomean(pgmajfault)>5", "geomean()>+2%", "pgmajfault>=+2%", "pgmajfault>+2 %",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		GError *error = NULL;

		ck_assert_msg(rf_gate_new(wrong[i], &error) == NULL, "\"%s\" taken", wrong[i]);
		ck_assert(error->domain == RF_USAGE_ERROR);
		g_error_free(error);
	}
}
END_TEST

Suite *suite_compare(void)
{
	Suite *s = suite_create("compare");
	TCase *t = tcase_create("compare");

	tcase_add_test(t, rank_by_hand);
	tcase_add_test(t, rank_enumerated);
	tcase_add_test(t, rank_large);
	tcase_add_test(t, pairs);
	tcase_add_test(t, unpaired);
	tcase_add_test(t, seeds);
	tcase_add_test(t, gates);
	tcase_add_test(t, no_gates);
	suite_add_tcase(s, t);
	return s;
}
