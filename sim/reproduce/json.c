/* SPDX-License-Identifier: MIT
 * Experiments for machines.
 */
#include "base/version.h"
#include "sim/report/members.h"
#include "sim/reproduce/experiment.h"

#define SCHEMA 1

static void strings(JsonBuilder *b, const char *name, const GPtrArray *list)
{
	rf_json_array(b, name);
	for (guint i = 0; i < list->len; i++)
		json_builder_add_string_value(b, list->pdata[i]);
	json_builder_end_array(b);
}

static void add_inputs(JsonBuilder *b, const struct rf_experiment *e)
{
	rf_json_array(b, "inputs");
	for (guint i = 0; i < e->inputs->len; i++) {
		const struct rf_exp_input *in = e->inputs->pdata[i];

		json_builder_begin_object(b);
		rf_json_text(b, "name", in->name);
		rf_json_text(b, "origin", in->origin == RF_EXP_GIVEN ? "source" : "chosen");
		rf_json_flag(b, "calibrated", in->cal);
		rf_json_text(b, "text", in->text);
		rf_json_real(b, "value", in->value);
		rf_json_text(b, "note", in->note);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static double mean(const struct rf_exp_run *r, const struct rf_metric *m)
{
	double sum = 0;

	for (unsigned i = 0; i < r->nresults; i++)
		sum += (double)rf_result_value(&r->results[i], m);
	return sum / r->nresults;
}

static void add_runs(JsonBuilder *b, const struct rf_experiment *e)
{
	rf_json_array(b, "runs");
	for (guint i = 0; i < e->runs->len; i++) {
		const struct rf_exp_run *r = e->runs->pdata[i];
		g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", r->results->totals.digest);

		json_builder_begin_object(b);
		rf_json_text(b, "name", r->name);
		rf_json_text(b, "scenario", r->scenario);
		rf_json_text(b, "digest", digest);
		strings(b, "settings", r->settings);
		strings(b, "parameters", r->params);
		rf_json_object(b, "metrics");
		for (unsigned m = 0; m < rf_nmetrics; m++)
			rf_json_real(b, rf_metrics[m].name, mean(r, &rf_metrics[m]));
		json_builder_end_object(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_row(JsonBuilder *b, const struct rf_exp_row *row, enum rf_exp_kind kind, unsigned seeds)
{
	static const char *const rules[] = { "shown", "within", "exact", "calibrated" };
	static const char *const verdicts[] = { "none", "ok", "miss" };

	json_builder_begin_object(b);
	rf_json_text(b, "label", row->label);
	rf_json_text(b, "formula", row->formula);
	if (kind == RF_EXP_OUTPUTS) {
		rf_json_real(b, "value", row->value);
		if (seeds > 1) {
			rf_json_real(b, "lowest", row->low);
			rf_json_real(b, "highest", row->high);
		}
		if (row->posted) {
			rf_json_real(b, "posted", row->want);
			rf_json_real(b, "error_percent", row->error);
			rf_json_text(b, "rule", rules[row->rule]);
			if (row->rule == RF_EXP_WITHIN)
				rf_json_real(b, "within_percent", row->within);
		}
	} else if (seeds > 1) {
		rf_json_real(b, "seeds_true", row->held);
	}
	rf_json_text(b, "verdict", verdicts[row->verdict]);
	if (row->miss)
		rf_json_text(b, "why", row->miss);
	json_builder_end_object(b);
}

static void add_tables(JsonBuilder *b, const struct rf_experiment *e)
{
	static const char *const kinds[] = { "outputs", "checks", "ablations" };

	rf_json_array(b, "tables");
	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];

		json_builder_begin_object(b);
		rf_json_text(b, "kind", kinds[t->kind]);
		rf_json_text(b, "title", t->title);
		rf_json_array(b, "rows");
		for (guint j = 0; j < t->rows->len; j++)
			add_row(b, t->rows->pdata[j], t->kind, e->seeds);
		json_builder_end_array(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_experiment(JsonBuilder *b, const struct rf_experiment *e)
{
	unsigned unexplained, all;

	rf_exp_misses(e, &unexplained, &all);
	json_builder_begin_object(b);
	rf_json_real(b, "schema", SCHEMA);
	rf_json_text(b, "version", rf_version);
	rf_json_text(b, "name", e->name);
	rf_json_text(b, "title", e->title);
	rf_json_text(b, "source", e->source);
	rf_json_flag(b, "short", e->is_short);
	rf_json_real(b, "seeds", e->seeds);
	add_inputs(b, e);
	add_tables(b, e);
	strings(b, "anomalies", e->anomalies);
	strings(b, "notes", e->notes);
	rf_json_real(b, "misses", all);
	rf_json_real(b, "misses_unexplained", unexplained);
	add_runs(b, e);
	json_builder_end_object(b);
}

char *rf_exp_json(GPtrArray *experiments)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	GString *out = g_string_new(NULL);

	json_builder_begin_array(b);
	for (guint i = 0; i < experiments->len; i++)
		add_experiment(b, experiments->pdata[i]);
	json_builder_end_array(b);
	rf_json_append(out, b);
	g_string_append_c(out, '\n');
	return g_string_free(out, FALSE);
}
