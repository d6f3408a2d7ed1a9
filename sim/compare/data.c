/* SPDX-License-Identifier: MIT
 * Comparisons for programs: a line, or an object, a metric, row and side.
 */
#include "base/version.h"
#include "sim/compare/compare.h"
#include "sim/report/members.h"
#include "sim/report/report.h"

#define SCHEMA 1

/* One figure of one side, and its change from the baseline. */
struct cell {
	const struct rf_metric *metric;
	const struct rf_row *row;
	const struct rf_side *side;
	struct rf_figure f;
	struct rf_change change;
};

static void each(const struct rf_compare *c, const GPtrArray *metrics,
                 void (*visit)(void *self, const struct cell *cell), void *self)
{
	for (guint i = 0; i < metrics->len; i++) {
		const struct rf_metric *m = metrics->pdata[i];

		for (guint r = 0; r < c->rows->len; r++) {
			const struct rf_row *row = c->rows->pdata[r];
			struct rf_figure base = rf_compare_figure(row, 0, m);

			for (guint k = 0; k < c->sides->len; k++) {
				struct cell cell = { m, row, c->sides->pdata[k],
					             rf_compare_figure(row, k, m), { .kind = 0 } };

				cell.change = rf_compare_change(&base, &cell.f, m);
				visit(self, &cell);
			}
		}
	}
}

static const char *const kinds[] = { "=", "new", "percent" };

/* Thousandths, so that no host rounds differently. */
static char *fixed(double n)
{
	return g_strdup_printf("%.3f", n > -0.0005 && n < 0.0005 ? 0.0 : n);
}

static void csv_row(void *self, const struct cell *x)
{
	GString *out = self;
	g_autofree char *mean = fixed(x->f.mean), *half = fixed(x->f.half);
	g_autofree char *change = fixed(x->change.percent), *gain = fixed(x->change.gain);
	gboolean percent = x->change.kind == RF_CHANGE_PERCENT;

	g_string_append_printf(out, "%s,%d,%s,%s,%c,", rf_version, SCHEMA, x->metric->name, x->metric->unit,
	                       x->metric->better);
	rf_csv_field(out, x->row->label);
	g_string_append_c(out, ',');
	rf_csv_field(out, x->side->label);
	g_string_append_printf(out, ",%u,%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%s,%s,%s,%s\n", x->f.n,
	                       mean, x->f.min, x->f.max, half, kinds[x->change.kind],
	                       percent ? change : "", percent && x->metric->better != '0' ? gain : "");
}

void rf_compare_csv(GString *out, const struct rf_compare *c, const GPtrArray *metrics)
{
	g_string_append(out, "version,schema,metric,unit,better,row,side,seeds,mean,min,max,half_95,change,"
	                     "change_percent,gain_percent\n");
	each(c, metrics, csv_row, out);
}

/* ---- JSON ---- */

/* As text of three decimals, a number again: what CSV says. */
static void real(JsonBuilder *b, const char *name, double n)
{
	g_autofree char *digits = fixed(n);

	json_builder_set_member_name(b, name);
	json_builder_add_double_value(b, g_ascii_strtod(digits, NULL));
}

static void json_cell(void *self, const struct cell *x)
{
	JsonBuilder *b = self;
	const char better[] = { x->metric->better, '\0' };

	json_builder_begin_object(b);
	rf_json_text(b, "metric", x->metric->name);
	rf_json_text(b, "unit", x->metric->unit);
	rf_json_text(b, "better", better);
	rf_json_text(b, "row", x->row->label);
	rf_json_text(b, "side", x->side->label);
	rf_json_number(b, "seeds", x->f.n);
	real(b, "mean", x->f.mean);
	rf_json_number(b, "min", x->f.min);
	rf_json_number(b, "max", x->f.max);
	real(b, "half_95", x->f.half);
	rf_json_text(b, "change", kinds[x->change.kind]);
	if (x->change.kind == RF_CHANGE_PERCENT) {
		real(b, "change_percent", x->change.percent);
		if (x->metric->better != '0')
			real(b, "gain_percent", x->change.gain);
	}
	json_builder_end_object(b);
}

static void json_overall(JsonBuilder *b, const struct rf_compare *c, const struct rf_metric *m, guint side)
{
	struct rf_overall o = rf_compare_overall(c, side, m);

	json_builder_begin_object(b);
	rf_json_text(b, "metric", m->name);
	rf_json_text(b, "side", ((const struct rf_side *)c->sides->pdata[side])->label);
	rf_json_number(b, "rows", o.n);
	rf_json_number(b, "left_out", o.left_out);
	real(b, "geomean_percent", o.percent);
	rf_json_text(b, "test", "exact Wilcoxon signed-rank, two-sided");
	json_builder_set_member_name(b, "p");
	json_builder_add_double_value(b, o.p);
	json_builder_end_object(b);
}

void rf_compare_json(GString *out, const struct rf_compare *c, const GPtrArray *metrics)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_object(b);
	rf_json_text(b, "program", "refault compare");
	rf_json_text(b, "version", rf_version);
	rf_json_number(b, "schema", SCHEMA);
	rf_json_array(b, "sides");
	for (guint k = 0; k < c->sides->len; k++) {
		const struct rf_side *s = c->sides->pdata[k];

		json_builder_begin_object(b);
		rf_json_text(b, "label", s->label);
		rf_json_text(b, "what", s->what);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	rf_json_array(b, "figures");
	each(c, metrics, json_cell, b);
	json_builder_end_array(b);
	rf_json_array(b, "overall");
	for (guint i = 0; i < metrics->len; i++) {
		for (guint k = 1; k < c->sides->len; k++)
			json_overall(b, c, metrics->pdata[i], k);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);	rf_json_append(out, b);
	g_string_append_c(out, '\n');
}
