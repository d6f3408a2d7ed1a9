/* SPDX-License-Identifier: MIT
 * Formulas of experiments, against C's arithmetic, and definitions in their parts.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "sim/reproduce/experiment.h"
#include "sim/reproduce/formula.h"

static gboolean names(void *data, const char *name, double *v, GError **error)
{
	(void)data;
	if (strcmp(name, "ten") == 0 || strcmp(name, "run.metric@mark") == 0) {
		*v = 10;
		return TRUE;
	}
	rf_set_usage(error, "no %s", name);
	return FALSE;
}

START_TEST(values)
{
	static const struct { const char *text; double v; } cases[] = {
		{ "1 + 2 * 3", 7 }, { "(1 + 2) * 3", 9 }, { "7 / 2", 3.5 }, { "10 - 4 - 3", 3 }, { "2.5e3", 2500 },
		{ "-ten", -10 }, { "3 - -2", 5 }, { "4K", 4096 }, { "1.5G", 1610612736 }, { "20us", 20000 },
		{ "2ms", 2e6 }, { "1s", 1e9 }, { "3ns", 3 }, { "min(3, ten)", 3 }, { "max(3, ten)", 10 },
		{ "abs(2 - 5)", 3 }, { "round(2.5)", 3 }, { "floor(2.9)", 2 }, { "pow(2, 10)", 1024 },
		{ "if(ten > 3, 1, 2)", 1 }, { "if(ten < 3, 1, 2)", 2 }, { "1 < 2 && 2 < 1", 0 },
		{ "1 < 2 || 2 < 1", 1 }, { "!(1 == 2)", 1 }, { "1 != 2", 1 }, { "3 >= 3", 1 }, { "3 <= 2", 0 },
		{ "run.metric@mark / 4", 2.5 },
	};
	static const char *const wrong[] = { "", "1 +", "(1", "1 2", "two", "sin(1)", "min(1)", "1 ^ 2", "$x",
		                             "1..2", "max(1, 2" };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		GError *error = NULL;
		double v;

		ck_assert_msg(rf_formula_value(cases[i].text, names, NULL, &v, &error), "%s: %s", cases[i].text,
		              error ? error->message : "");
		ck_assert_msg(v == cases[i].v, "%s is %g", cases[i].text, v);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		GError *error = NULL;
		double v;

		ck_assert_msg(!rf_formula_value(wrong[i], names, NULL, &v, &error), "%s", wrong[i]);
		ck_assert(rf_error_exit_code(error) == RF_EXIT_USAGE);
		g_error_free(error);
	}
}
END_TEST

START_TEST(expansion)
{
	static const char *const cases[][2] = { { "a$ten", "a10" }, { "$(ten * 2)%", "20%" }, { "$$1", "$1" },
		                                { "hdd:$(1M)", "hdd:1048576" }, { "x$(1 / 4)", "x0.25" },
		                                { "plain", "plain" } };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = rf_formula_expand(cases[i][0], names, NULL, NULL);

		ck_assert_str_eq(text, cases[i][1]);
	}
	ck_assert_ptr_null(rf_formula_expand("$", names, NULL, NULL));
	ck_assert_ptr_null(rf_formula_expand("$(1", names, NULL, NULL));
	ck_assert_ptr_null(rf_formula_expand("$none", names, NULL, NULL));
}
END_TEST

#define DEFINITION \
	"[experiment]\nname = T\ntitle = t\nsource = s\n" \
	"[given]\nn = 4 | pages\n" \
	"[chosen]\nm = n * 2 cal | twice\n" \
	"[short]\nn = 2\n" \
	"[options]\nmachine = x86-64-nvme\n" \
	"[run r_$(k)_$j]\nfor k = 1 2\nfor j = 0 3\nparam n = k + j\n" \
	"[run plain]\nram = $(n * 1M + 63M)\n" \
	"[outputs counts]\nfaults = plain.pgfault ~ 4 exactly\n  \nhalf = plain.pgfault / 2 ~ 1.9 within 5%\n" \
	"off = plain.pgfault ~ 1,000 within 5%\nmiss = it is\n" \
	"[checks]\nmore pages, more faults = r_1_3.pgfault > r_1_0.pgfault\n" \
	"[scenario]\n!refault-scenario 1\nparam n = 1\ntask 1\nmmap 1 10000 $(n * 4K) rw- anon\n" \
	"W 1 10000 $(n * 4K)\n"

static struct rf_experiment *parse(const char *text)
{
	GError *error = NULL;
	struct rf_experiment *e = rf_exp_parse("t.exp", text, strlen(text), &error);

	ck_assert_msg(e != NULL, "%s", error ? error->message : "");
	return e;
}

static const struct rf_exp_row *row(const struct rf_experiment *e, guint table, guint n)
{
	return ((const struct rf_exp_table *)e->tables->pdata[table])->rows->pdata[n];
}

/* A run for each value of each loop, the first loop outermost. */
START_TEST(loops)
{
	static const char *const want[] = { "r_1_0", "r_1_3", "r_2_0", "r_2_3", "plain" };
	struct rf_experiment *e = parse(DEFINITION);
	GError *error = NULL;

	ck_assert_msg(rf_exp_prepare(e, NULL, FALSE, &error), "%s", error ? error->message : "");
	ck_assert_uint_eq(e->runs->len, G_N_ELEMENTS(want));
	for (guint i = 0; i < e->runs->len; i++)
		ck_assert_str_eq(((struct rf_exp_run *)e->runs->pdata[i])->name, want[i]);
	rf_exp_free(e);
}
END_TEST

START_TEST(judgement)
{
	const char *const params[] = { "n=8", NULL };
	struct rf_experiment *e = parse(DEFINITION);
	unsigned unexplained, all;
	GError *error = NULL;

	ck_assert_msg(rf_exp_prepare(e, NULL, FALSE, &error), "%s", error ? error->message : "");
	ck_assert(((struct rf_exp_input *)e->inputs->pdata[1])->value == 8);
	ck_assert(((struct rf_exp_input *)e->inputs->pdata[1])->cal);
	ck_assert_msg(rf_exp_run_all(e, 3, &error), "%s", error ? error->message : "");
	ck_assert(row(e, 0, 0)->value == 4 && row(e, 0, 0)->verdict == RF_EXP_OK);
	ck_assert(row(e, 0, 1)->verdict == RF_EXP_MISS); /* 2 for 1.9: 5.26 % */
	ck_assert(fabs(row(e, 0, 1)->error - 5.263) < 0.001);
	ck_assert(row(e, 0, 2)->want == 1000 && row(e, 0, 2)->verdict == RF_EXP_MISS);
	ck_assert(row(e, 1, 0)->verdict == RF_EXP_OK);
	rf_exp_misses(e, &unexplained, &all);
	ck_assert(unexplained == 1 && all == 2);
	rf_exp_free(e);

	e = parse(DEFINITION);
	ck_assert(rf_exp_prepare(e, params, TRUE, NULL)); /* the command line comes after [short] */
	ck_assert(((struct rf_exp_input *)e->inputs->pdata[1])->value == 16);
	rf_exp_free(e);
}
END_TEST

/* What ships can be read, has different names, and no wrong name in a formula. */
/* Of three seeds each formula has the mean, and the bounds of all. */
START_TEST(seeds)
{
	static const char text[] = "[experiment]\nname = T\ntitle = t\nsource = s\nseeds = 3\n"
	                           "[options]\nmachine = x86-64-nvme\n[run r]\nram = 64M\n"
	                           "[outputs o]\nfaults = r.pgfault\n[checks]\nmany = r.pgfault > 50\n"
	                           "[scenario]\n!refault-scenario 1 seed=7\ntask 1\n"
	                           "mmap 1 10000000 400K rw- anon\n"
	                           "repeat 60 {\n\tW 1 $(0x10000000 + rand(100) * 4K)\n}\n";
	g_autoptr(GError) error = NULL;
	struct rf_experiment *e = rf_exp_parse("t.exp", text, strlen(text), &error);
	const struct rf_exp_run *run;
	const struct rf_exp_row *row, *check;
	uint64_t n[3];

	ck_assert_msg(e && rf_exp_prepare(e, NULL, FALSE, &error) && rf_exp_run_all(e, 2, &error), "%s",
	              error ? error->message : "");
	run = e->runs->pdata[0];
	row = ((struct rf_exp_table *)e->tables->pdata[0])->rows->pdata[0];
	check = ((struct rf_exp_table *)e->tables->pdata[1])->rows->pdata[0];
	ck_assert_uint_eq(run->nresults, 3);
	for (unsigned i = 0; i < 3; i++)
		n[i] = run->results[i].counter[RF_C_pgfault];
	ck_assert(n[0] != n[1] || n[1] != n[2]);
	ck_assert_double_eq_tol(row->value, (double)(n[0] + n[1] + n[2]) / 3, 1e-9);
	ck_assert_double_eq(row->low, (double)MIN(MIN(n[0], n[1]), n[2]));
	ck_assert_double_eq(row->high, (double)MAX(MAX(n[0], n[1]), n[2]));
	ck_assert_uint_eq(check->held, (n[0] > 50) + (n[1] > 50) + (n[2] > 50));
	rf_exp_free(e);
	ck_assert_ptr_null(rf_exp_parse("t.exp", "[experiment]\nseeds = 0\n", 23, &error));
	ck_assert_str_eq(error->message, "t.exp:2: seeds = 0: expected a number from 1 to 100");
}
END_TEST

START_TEST(shipped)
{
	const char *const *name = rf_exp_names();

	ck_assert_ptr_nonnull(*name);
	for (; *name; name++) {
		GError *error = NULL;
		struct rf_experiment *e = rf_exp_load(*name, &error);

		ck_assert_msg(e != NULL, "%s", error ? error->message : "");
		ck_assert(g_ascii_strcasecmp(e->name, *name) == 0);
		ck_assert_msg(rf_exp_prepare(e, NULL, FALSE, &error), "%s", error ? error->message : "");
		rf_exp_free(e);
		e = rf_exp_load(*name, NULL);
		ck_assert_msg(rf_exp_prepare(e, NULL, TRUE, &error), "%s", error ? error->message : "");
		rf_exp_free(e);
	}
}
END_TEST

Suite *suite_reproduce(void);

Suite *suite_reproduce(void)
{
	Suite *s = suite_create("reproduce");
	TCase *t = tcase_create("reproduce");

	tcase_add_test(t, values);
	tcase_add_test(t, expansion);
	tcase_add_test(t, loops);
	tcase_add_test(t, judgement);
	tcase_add_test(t, seeds);
	tcase_add_test(t, shipped);
	suite_add_tcase(s, t);
	return s;
}
