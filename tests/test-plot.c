/* SPDX-License-Identifier: MIT
 * The plot room without gnuplot: tables, numbers and their units, axes, points.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "sim/plot/plot.h"

static struct rf_table *table_of(const char *csv)
{
	struct rf_table *t = rf_table_new();
	GError *error = NULL;

	ck_assert_msg(rf_table_read_csv(t, "t.csv", csv, strlen(csv), &error), "%s", error ? error->message : "");
	return t;
}

START_TEST(numbers)
{
	static const struct {
		const char *text;
		enum rf_quantity quantity;
		double value; /* -1: none of the quantity */
	} cases[] = {
		{ "12", RF_QUANTITY_COUNT, 12 },   { "0.5", RF_QUANTITY_COUNT, 0.5 },
		{ "", RF_QUANTITY_COUNT, -1 },     { "12x", RF_QUANTITY_COUNT, -1 },
		{ "64M", RF_QUANTITY_SIZE, 0x1p26 }, { "50%", RF_QUANTITY_PERCENT, 50 },
		{ "50", RF_QUANTITY_PERCENT, -1 }, { "10ms", RF_QUANTITY_TIME, 1e7 },
		{ "lru", RF_QUANTITY_COUNT, -1 },
	};
	double value;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		gboolean is = rf_number(cases[i].text, cases[i].quantity, &value);

		ck_assert_msg(is == (cases[i].value >= 0), "\"%s\"", cases[i].text);
		ck_assert_msg(!is || value == cases[i].value, "\"%s\": %g", cases[i].text, value);
	}
}
END_TEST

/* An axis over two values: its unit, whether it is logarithmic, and a value in its unit. */
START_TEST(axes)
{
	static const struct {
		enum rf_quantity quantity;
		double low, high;
		int ask;
		gboolean log;
		const char *unit, *cell; /* cell: the high value as rf_axis_short writes it */
	} cases[] = {
		{ RF_QUANTITY_SIZE, 0x1p20, 0x1p22, -1, FALSE, "MiB", "4" },
		{ RF_QUANTITY_SIZE, 512, 1000, -1, FALSE, "B", "1000" },
		{ RF_QUANTITY_COUNT, 5, 99, -1, FALSE, "", "99" },
		{ RF_QUANTITY_COUNT, 5, 101, -1, TRUE, "", "101" },
		{ RF_QUANTITY_COUNT, 5, 101, 0, FALSE, "", "101" },
		{ RF_QUANTITY_COUNT, 0, 0, 1, FALSE, "", "0" },
		{ RF_QUANTITY_COUNT, 100000, 250000, -1, FALSE, "thousands", "250" },
		{ RF_QUANTITY_TIME, 1e6, 1.5e6, -1, FALSE, "ms", "1.50" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *cell = NULL;
		struct rf_axis a;

		rf_axis_init(&a, "x", cases[i].quantity);
		rf_axis_add(&a, cases[i].low);
		rf_axis_add(&a, cases[i].high);
		rf_axis_choose(&a, cases[i].ask);
		ck_assert_msg(a.log == cases[i].log, "case %zu", i);
		ck_assert_str_eq(a.unit_name, cases[i].unit);
		cell = rf_axis_short(&a, cases[i].high);
		ck_assert_str_eq(cell, cases[i].cell);
		rf_axis_clear(&a);
	}
}
END_TEST

/* Means, ranges and deviations of rows that differ in the seed, by hand. */
START_TEST(points)
{
	struct rf_table *t = table_of("reclaim,limit_bytes,seed,n\n"
	                              "lru,2048,1,10\nlru,1024,1,1\nlru,1024,2,3\nlru,1024,3,8\n"
	                              "arc,1024,1,5\n");
	struct rf_chart_options o = { "n", "limit_bytes", "reclaim", "seed", RF_SPREAD_SD, FALSE, 0, 0 };
	const struct rf_series *s;
	const struct rf_point *p;
	struct rf_chart c;

	ck_assert(rf_chart_init(&c, t, &o, NULL));
	ck_assert_uint_eq(c.series->len, 2);
	ck_assert_uint_eq(c.most, 3);
	s = c.series->pdata[0];
	ck_assert_str_eq(s->name, "lru");
	ck_assert_uint_eq(s->points->len, 2);
	p = &g_array_index(s->points, struct rf_point, 0);
	ck_assert_double_eq(p->x, 1024);
	ck_assert_double_eq(p->mean, 4);
	/* Squares of -3, -1 and 4: 26, over two. */
	ck_assert_double_eq_tol(p->high - p->mean, 3.605551275, 1e-9);
	ck_assert_double_eq(p[1].x, 2048);
	ck_assert_uint_eq(p[1].n, 1);
	rf_chart_clear(&c);

	o.over = NULL;
	ck_assert(!rf_chart_init(&c, t, &o, NULL));
	rf_table_free(t);
}
END_TEST

START_TEST(conditions)
{
	struct rf_table *t = table_of("trace,n\n/a/b.rft,1\n/a/c.rft,2\n/d/b.rft,3\n");
	GError *error = NULL;

	ck_assert_ptr_null(rf_table_constant(t, "trace"));
	ck_assert(rf_table_where(t, "trace=b.rft", NULL));
	ck_assert_uint_eq(t->rows->len, 2);
	ck_assert_str_eq(rf_table_get(t, 1, rf_table_column(t, "n")), "3");
	ck_assert(rf_table_where(t, "n=3", NULL));
	ck_assert_str_eq(rf_table_constant(t, "trace"), "/d/b.rft");
	ck_assert(!rf_table_where(t, "n=4", &error));
	ck_assert(error->domain == RF_USAGE_ERROR);
	g_error_free(error);
	rf_table_free(t);
}
END_TEST

/* Both types of a bucket together, each bucket up to where the next one begins. */
START_TEST(distances)
{
	struct rf_table *t = table_of("trace,frames,type,exact_pages,estimate_pages,refaults\n"
	                              "a,100,anon,64,64,3\na,100,file,64,64,4\na,100,file,4,80,1\n");
	const struct rf_plot_options o = { .picture = RF_PICTURE_PNG };
	struct rf_script s;

	ck_assert(rf_plot_build(&s, rf_plot_kind_find("distance", NULL), t, &o, NULL));
	ck_assert_ptr_nonnull(strstr(s.data->str, "\n4 5 80 96 1 ."));
	ck_assert_ptr_nonnull(strstr(s.data->str, "\n64 80 64 80 7 @\n"));
	ck_assert_ptr_nonnull(strstr(s.params->str, "memory = 100\n"));
	rf_script_clear(&s);
	rf_table_free(t);
}
END_TEST

/* Names come from traces: nothing in them ends a string, or is run. */
START_TEST(quoting)
{
	struct rf_table *t = table_of("trace,time_ns\na,1\n");
	struct rf_script s = { g_string_new(NULL), g_string_new(NULL), RF_PICTURE_TEXT };

	rf_script_string(&s, "plain", "a b/c.rft");
	rf_script_string(&s, "hostile", "`x`'\"$\\\n");
	ck_assert_str_eq(s.params->str, "plain = 'a b/c.rft'\n"
	                                "hostile = \"\\140x\\140\\047\\042\\044\\134?\"\n");
	rf_script_clear(&s);
	rf_table_free(t);
}
END_TEST

Suite *suite_plot(void)
{
	Suite *s = suite_create("plot");
	TCase *c = tcase_create("plot");

	tcase_add_test(c, numbers);
	tcase_add_test(c, axes);
	tcase_add_test(c, points);
	tcase_add_test(c, conditions);
	tcase_add_test(c, distances);
	tcase_add_test(c, quoting);
	suite_add_tcase(s, c);
	return s;
}
