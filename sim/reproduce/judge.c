/* SPDX-License-Identifier: MIT
 * Rows of an experiment worked out and held against what was posted.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "sim/reproduce/definition.h"
#include "sim/reproduce/formula.h"

/* A figure that has to be the same is a count, or one that was printed with some decimals. */
#define EXACT 1e-9

/* What names in formulas stand for: the runs of one seed, or the mean of all. */
struct values {
	const struct rf_experiment *e;
	unsigned from, to; /* seeds */
};

static const struct rf_sample *find_mark(const struct rf_result *r, const char *mark)
{
	for (guint i = 0; i < r->marks->len; i++) {
		const struct rf_sample *s = &g_array_index(r->marks, struct rf_sample, i);

		if (g_strcmp0(s->mark, mark) == 0)
			return s;
	}
	return NULL;
}

static gboolean no_metric(const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;

	for (unsigned i = 0; i < rf_nmetrics; i++)
		g_ptr_array_add(names, (char *)rf_metrics[i].name);
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	rf_set_usage(error, "no metric '%s'%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
	             near ? "?" : "");
	return FALSE;
}

static gboolean one_value(const struct rf_exp_run *run, unsigned nth, const struct rf_metric *m, const char *mark,
                          double *v, GError **error)
{
	const struct rf_result *r = &run->results[nth];
	const struct rf_sample *sample;

	if (!mark) {
		*v = (double)rf_result_value(r, m);
		return TRUE;
	}
	sample = find_mark(r, mark);
	if (!sample) {
		rf_set_usage(error, "run %s has no mark '%s'", run->name, mark);
		return FALSE;
	}
	*v = (double)(m->kind == RF_METRIC_COUNTER ? sample->counter[m->index] : sample->gauge[m->index]);
	return TRUE;
}

/* RUN.METRIC or RUN.METRIC@MARK */
static gboolean metric_value(const struct values *of, const char *name, double *v, GError **error)
{
	g_auto(GStrv) half = g_strsplit(name, ".", 2);
	g_auto(GStrv) at = g_strsplit(half[1], "@", 2);
	const struct rf_exp_run *run = rf_exp_find_run(of->e, half[0]);
	const struct rf_metric *m = rf_metric_find(at[0] ? at[0] : "");

	*v = 0;
	if (!run) {
		rf_set_usage(error, "no run '%s'; expected one of the sections [run NAME]", half[0]);
		return FALSE;
	}
	if (!m)
		return no_metric(at[0], error);
	if (!run->done)
		return TRUE;
	for (unsigned i = of->from; i < of->to; i++) {
		double one;

		if (!one_value(run, i, m, at[1], &one, error))
			return FALSE;
		*v += one / (of->to - of->from);
	}
	return TRUE;
}

static gboolean name_value(void *data, const char *name, double *v, GError **error)
{
	const struct values *of = data;
	const struct rf_experiment *e = of->e;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;

	if (strchr(name, '.'))
		return metric_value(of, name, v, error);
	for (guint i = 0; i < e->inputs->len; i++) {
		const struct rf_exp_input *in = e->inputs->pdata[i];

		if (strcmp(in->name, name) == 0) {
			*v = in->value;
			return TRUE;
		}
		g_ptr_array_add(names, in->name);
	}
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	rf_set_usage(error, "no input '%s'; %s%s%s", name, near ? "did you mean " : "expected one, or RUN.METRIC",
	             near ? near : "", near ? "?" : "");
	return FALSE;
}

static enum rf_exp_verdict verdict(const struct rf_exp_row *row, enum rf_exp_kind kind)
{
	double away = fabs(row->value - row->want);

	if (kind != RF_EXP_OUTPUTS)
		return row->value != 0 && !isnan(row->value) ? RF_EXP_OK : RF_EXP_MISS;
	switch (row->rule) {
	case RF_EXP_WITHIN:
		return away <= fabs(row->want) * row->within / 100 ? RF_EXP_OK : RF_EXP_MISS;
	case RF_EXP_EXACT:
		return away <= EXACT * MAX(fabs(row->want), 1) ? RF_EXP_OK : RF_EXP_MISS;
	case RF_EXP_SHOWN:
	case RF_EXP_CAL:
		break;
	}
	return RF_EXP_NONE;
}

static gboolean judge_row(struct rf_experiment *e, struct rf_exp_row *row, enum rf_exp_kind kind,
                          GError **error)
{
	struct values all = { e, 0, e->seeds };

	if (!rf_formula_value(row->formula, name_value, &all, &row->value, error)) {
		g_prefix_error(error, "%s: ", row->where);
		return FALSE;
	}
	row->low = INFINITY;
	row->high = -INFINITY;
	row->held = 0;
	for (unsigned i = 0; i < e->seeds; i++) {
		struct values one = { e, i, i + 1 };
		double v;

		if (!rf_formula_value(row->formula, name_value, &one, &v, error))
			return FALSE;
		row->low = fmin(row->low, v);
		row->high = fmax(row->high, v);
		row->held += v != 0 && !isnan(v);
	}
	row->error = row->posted && row->want != 0 ? (row->value - row->want) / fabs(row->want) * 100 : 0;
	row->verdict = verdict(row, kind);
	return TRUE;
}

static gboolean judge_series(struct rf_experiment *e, struct rf_exp_series *s, GError **error)
{
	struct values all = { e, 0, e->seeds };

	for (guint i = 0; i < s->points->len; i++) {
		struct rf_exp_point *p = &g_array_index(s->points, struct rf_exp_point, i);

		if (!rf_formula_value(p->x, name_value, &all, &p->at[0], error) ||
		    !rf_formula_value(p->y, name_value, &all, &p->at[1], error)) {
			g_prefix_error(error, "%s: ", s->where);
			return FALSE;
		}
	}
	return TRUE;
}

gboolean rf_exp_judge(struct rf_experiment *e, GError **error)
{
	for (guint i = 0; i < e->tables->len; i++) {
		struct rf_exp_table *t = e->tables->pdata[i];

		for (guint j = 0; j < t->rows->len; j++)
			if (!judge_row(e, t->rows->pdata[j], t->kind, error))
				return FALSE;
	}
	for (guint i = 0; i < e->series->len; i++)
		if (!judge_series(e, e->series->pdata[i], error))
			return FALSE;
	return TRUE;
}

void rf_exp_misses(const struct rf_experiment *e, unsigned *unexplained, unsigned *all)
{
	*unexplained = *all = 0;
	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];

		for (guint j = 0; j < t->rows->len; j++) {
			const struct rf_exp_row *row = t->rows->pdata[j];

			*all += row->verdict == RF_EXP_MISS;
			*unexplained += row->verdict == RF_EXP_MISS && !row->miss;
		}
	}
}
