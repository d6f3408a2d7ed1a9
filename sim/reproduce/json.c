/* SPDX-License-Identifier: MIT
 * Experiments for machines.
 */
#include <json-glib/json-glib.h>
#include <math.h>

#include "base/version.h"
#include "sim/reproduce/experiment.h"

#define SCHEMA 1

static void text(JsonBuilder *b, const char *name, const char *value)
{
	json_builder_set_member_name(b, name);
	if (value)
		json_builder_add_string_value(b, value);
	else
		json_builder_add_null_value(b);
}

static void real(JsonBuilder *b, const char *name, double v)
{
	json_builder_set_member_name(b, name);
	if (!isfinite(v))
		json_builder_add_null_value(b);
	else if (v == floor(v) && fabs(v) < 9e15)
		json_builder_add_int_value(b, (gint64)v);
	else
		json_builder_add_double_value(b, v);
}

static void flag(JsonBuilder *b, const char *name, gboolean v)
{
	json_builder_set_member_name(b, name);
	json_builder_add_boolean_value(b, v);
}

static void open_array(JsonBuilder *b, const char *name)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_array(b);
}

static void strings(JsonBuilder *b, const char *name, const GPtrArray *list)
{
	open_array(b, name);
	for (guint i = 0; i < list->len; i++)
		json_builder_add_string_value(b, list->pdata[i]);
	json_builder_end_array(b);
}

static void add_inputs(JsonBuilder *b, const struct rf_experiment *e)
{
	open_array(b, "inputs");
	for (guint i = 0; i < e->inputs->len; i++) {
		const struct rf_exp_input *in = e->inputs->pdata[i];

		json_builder_begin_object(b);
		text(b, "name", in->name);
		text(b, "origin", in->origin == RF_EXP_GIVEN ? "source" : "chosen");
		flag(b, "calibrated", in->cal);
		text(b, "text", in->text);
		real(b, "value", in->value);
		text(b, "note", in->note);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_runs(JsonBuilder *b, const struct rf_experiment *e)
{
	open_array(b, "runs");
	for (guint i = 0; i < e->runs->len; i++) {
		const struct rf_exp_run *r = e->runs->pdata[i];
		g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", r->result.totals.digest);

		json_builder_begin_object(b);
		text(b, "name", r->name);
		text(b, "scenario", r->scenario);
		text(b, "digest", digest);
		strings(b, "settings", r->settings);
		strings(b, "parameters", r->params);
		json_builder_set_member_name(b, "metrics");
		json_builder_begin_object(b);
		for (unsigned m = 0; m < rf_nmetrics; m++)
			real(b, rf_metrics[m].name, (double)rf_result_value(&r->result, &rf_metrics[m]));
		json_builder_end_object(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_row(JsonBuilder *b, const struct rf_exp_row *row, enum rf_exp_kind kind)
{
	static const char *const rules[] = { "shown", "within", "exact", "calibrated" };
	static const char *const verdicts[] = { "none", "ok", "miss" };

	json_builder_begin_object(b);
	text(b, "label", row->label);
	text(b, "formula", row->formula);
	if (kind == RF_EXP_OUTPUTS) {
		real(b, "value", row->value);
		if (row->posted) {
			real(b, "posted", row->want);
			real(b, "error_percent", row->error);
			text(b, "rule", rules[row->rule]);
			if (row->rule == RF_EXP_WITHIN)
				real(b, "within_percent", row->within);
		}
	}
	text(b, "verdict", verdicts[row->verdict]);
	if (row->miss)
		text(b, "why", row->miss);
	json_builder_end_object(b);
}

static void add_tables(JsonBuilder *b, const struct rf_experiment *e)
{
	static const char *const kinds[] = { "outputs", "checks", "ablations" };

	open_array(b, "tables");
	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];

		json_builder_begin_object(b);
		text(b, "kind", kinds[t->kind]);
		text(b, "title", t->title);
		open_array(b, "rows");
		for (guint j = 0; j < t->rows->len; j++)
			add_row(b, t->rows->pdata[j], t->kind);
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
	real(b, "schema", SCHEMA);
	text(b, "version", rf_version);
	text(b, "name", e->name);
	text(b, "title", e->title);
	text(b, "source", e->source);
	flag(b, "short", e->is_short);
	add_inputs(b, e);
	add_tables(b, e);
	strings(b, "anomalies", e->anomalies);
	strings(b, "notes", e->notes);
	real(b, "misses", all);
	real(b, "misses_unexplained", unexplained);
	add_runs(b, e);
	json_builder_end_object(b);
}

char *rf_exp_json(GPtrArray *experiments)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(JsonGenerator) gen = json_generator_new();
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *data = NULL;

	json_builder_begin_array(b);
	for (guint i = 0; i < experiments->len; i++)
		add_experiment(b, experiments->pdata[i]);
	json_builder_end_array(b);
	root = json_builder_get_root(b);
	json_generator_set_root(gen, root);
	json_generator_set_pretty(gen, TRUE);
	data = json_generator_to_data(gen, NULL);
	return g_strconcat(data, "\n", NULL);
}
