/* SPDX-License-Identifier: MIT
 * Experiments as a page: what came of each at a glance, then every figure.  doc/reproduce.md is this.
 */
#include <string.h>

#include "base/wrap.h"
#include "sim/reproduce/figures.h"

/* In a table a bar would end a cell, and stars are emphasis. */
static char *cell(const char *text)
{
	GString *out = g_string_new(NULL);

	for (const char *p = text; *p; p++) {
		if (strchr("|*", *p))
			g_string_append_c(out, '\\');
		g_string_append_c(out, *p);
	}
	return g_string_free(out, FALSE);
}

static void paragraph(GString *out, const char *lead, const char *text)
{
	g_autofree char *whole = g_strconcat(lead, text, NULL);

	rf_wrap(out, whole, 0, g_str_has_prefix(lead, "- ") ? 2 : 0);
}

/* ---- at a glance ---- */

struct tally {
	unsigned met, cal, missed, yes, no;
};

static struct tally tally_of(const struct rf_experiment *e)
{
	struct tally n = { 0 };

	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];

		for (guint j = 0; j < t->rows->len; j++) {
			const struct rf_exp_row *row = t->rows->pdata[j];

			if (t->kind != RF_EXP_OUTPUTS)
				*(row->verdict == RF_EXP_OK ? &n.yes : &n.no) += 1;
			else if (row->rule == RF_EXP_CAL)
				n.cal++;
			else if (row->verdict != RF_EXP_NONE)
				*(row->verdict == RF_EXP_OK ? &n.met : &n.missed) += 1;
		}
	}
	return n;
}

static void glance(GString *out, const GPtrArray *list)
{
	g_string_append(out, "| experiment | figures met | missed | cal | statements true | not |\n"
	                     "|---|--:|--:|--:|--:|--:|\n");
	for (guint i = 0; i < list->len; i++) {
		const struct rf_experiment *e = list->pdata[i];
		const struct tally n = tally_of(e);
		g_autofree char *title = cell(e->title);

		g_string_append_printf(out, "| %s: %s | %u | %u | %u | %u | %u |\n", e->name, title, n.met, n.missed,
		                       n.cal, n.yes, n.no);
	}
}

/* ---- figures ---- */

static void output_row(GString *out, const struct rf_exp_row *row, unsigned seeds)
{
	g_autofree char *label = cell(row->label), *model = rf_exp_value_text(row);
	g_autofree char *error = rf_exp_error_text(row), *rule = rf_exp_rule_text(row);
	const char *verdict = row->verdict == RF_EXP_OK ? "ok" : row->verdict == RF_EXP_MISS ? "**miss**" : "";

	g_autofree char *spread = seeds > 1 ? rf_exp_spread_text(row) : g_strdup("");

	g_string_append_printf(out, "| %s | %s%s%s%s | %s | %s | %s | %s |\n", label, model, *spread ? " (" : "", spread,
	                       *spread ? ")" : "", row->posted ? row->posted : "", error, rule, verdict);
}

static gboolean has_miss(const struct rf_exp_row *row)
{
	return row->verdict == RF_EXP_MISS && row->miss;
}

static void outputs(GString *out, const struct rf_exp_table *t, unsigned seeds)
{
	g_autofree char *title = cell(t->title);
	gboolean any = FALSE;

	g_string_append_printf(out, "\n| %s | model | posted | error | within | |\n|---|--:|--:|--:|--:|---|\n", title);
	for (guint i = 0; i < t->rows->len; i++)
		output_row(out, t->rows->pdata[i], seeds);
	for (guint i = 0; i < t->rows->len; i++) {
		const struct rf_exp_row *row = t->rows->pdata[i];
		g_autofree char *lead = g_strdup_printf("- %s misses: ", row->label);

		if (!has_miss(row))
			continue;
		if (!any)
			g_string_append_c(out, '\n');
		any = TRUE;
		paragraph(out, lead, row->miss);
	}
}

static void checks(GString *out, const struct rf_exp_table *t, unsigned seeds)
{
	g_string_append_printf(out, "\n%s:\n\n", t->kind == RF_EXP_ABLATIONS ? "Ablations" : "Statements");
	for (guint i = 0; i < t->rows->len; i++) {
		const struct rf_exp_row *row = t->rows->pdata[i];
		g_autofree char *held = seeds > 1 ? g_strdup_printf(" (with %u seeds of %u)", row->held, seeds)
		                                  : g_strdup("");
		g_autofree char *text = g_strconcat(row->label, held, has_miss(row) ? " - " : "",
		                                    has_miss(row) ? row->miss : "", NULL);

		paragraph(out, row->verdict == RF_EXP_OK ? "- yes: " : "- **no**: ", text);
	}
}

static void list(GString *out, const GPtrArray *texts, const char *head)
{
	if (texts->len)
		g_string_append_printf(out, "\n%s:\n\n", head);
	for (guint i = 0; i < texts->len; i++)
		paragraph(out, "- ", texts->pdata[i]);
}

static void experiment(GString *out, const struct rf_experiment *e)
{
	g_string_append_printf(out, "\n## %s: %s\n\n", e->name, e->title);
	paragraph(out, "Source: ", e->source);
	if (e->about) {
		g_string_append_c(out, '\n');
		paragraph(out, "", e->about);
	}
	if (e->seeds > 1)
		g_string_append_printf(out, "\nFigures are of the means of %u seeds; in brackets from the lowest "
		                       "to the highest.\n", e->seeds);
	if (e->is_short)
		g_string_append(out, "\nShort: smaller inputs, so misses are no verdict.\n");
	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];

		if (t->kind == RF_EXP_OUTPUTS)
			outputs(out, t, e->seeds);
		else
			checks(out, t, e->seeds);
	}
	list(out, e->anomalies, "Anomalies of the source");
	list(out, e->notes, "Notes");
}

char *rf_exp_markdown(const GPtrArray *experiments)
{
	GString *out = g_string_new(NULL);

	glance(out, experiments);
	for (guint i = 0; i < experiments->len; i++)
		experiment(out, experiments->pdata[i]);
	return g_string_free(out, FALSE);
}
