/* SPDX-License-Identifier: MIT
 * An experiment for people: inputs by origin, then outputs beside what was posted.
 */
#include <string.h>

#include "base/wrap.h"
#include "sim/cells.h"
#include "sim/reproduce/figures.h"

#define LABEL 30 /* blanks before it included */
#define INDENT 4

/* ---- lines ---- */

static void range_right(GString *out, const char *text, int width)
{
	glong pad = width - g_utf8_strlen(text, -1);

	g_string_append_printf(out, "%*s%s", (int)MAX(pad, 1), "", text);
}

/* A label that is too long has a line of its own. */
static void label(GString *out, const char *text, int width)
{
	glong len = g_utf8_strlen(text, -1) + 2;

	g_string_append_printf(out, "  %s", text);
	if (len >= width)
		g_string_append_printf(out, "\n%*s", width, "");
	else
		g_string_append_printf(out, "%*s", (int)(width - len), "");
}

static void paragraph(GString *out, const char *name, const char *text)
{
	g_string_append_printf(out, "%-12s", name);
	rf_wrap(out, text, 12, 12);
}

static void bullet(GString *out, const char *lead, const char *text)
{
	g_string_append_printf(out, "%*s%s", INDENT, "", lead);
	rf_wrap(out, text, INDENT + (unsigned)strlen(lead), INDENT + (unsigned)strlen(lead));
}

static void inputs(GString *out, const struct rf_experiment *e, enum rf_exp_origin origin, const char *head)
{
	gboolean any = FALSE;

	for (guint i = 0; i < e->inputs->len; i++) {
		const struct rf_exp_input *in = e->inputs->pdata[i];

		if (in->origin != origin)
			continue;
		if (!any)
			g_string_append_printf(out, "\n%s\n", head);
		any = TRUE;
		label(out, in->name, 20);
		range_right(out, in->text, 14);
		if (*in->note) {
			g_string_append_printf(out, "  %-4s", in->cal ? "cal" : "");
			rf_wrap(out, in->note, 40, 40);
		} else {
			g_string_append(out, in->cal ? "  cal\n" : "\n");
		}
	}
}

static void why(GString *out, const struct rf_exp_row *row)
{
	if (row->miss && row->verdict == RF_EXP_MISS)
		bullet(out, "why: ", row->miss);
	else if (row->miss && row->verdict == RF_EXP_OK)
		bullet(out, "", "(was expected to miss)");
}

static void output_row(GString *out, const struct rf_exp_row *row, unsigned seeds)
{
	g_autofree char *model = rf_exp_value_text(row), *error = rf_exp_error_text(row);
	g_autofree char *rule = rf_exp_rule_text(row);
	gboolean posted = row->posted != NULL;

	label(out, row->label, LABEL);
	range_right(out, model, 13);
	if (posted) {
		range_right(out, row->posted, 13);
		range_right(out, error, 10);
		range_right(out, rule, 7);
		range_right(out, row->verdict == RF_EXP_OK ? "ok" : row->verdict == RF_EXP_MISS ? "MISS" : "", 6);
	}
	while (out->str[out->len - 1] == ' ')
		g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
	if (seeds > 1) {
		g_autofree char *spread = rf_exp_spread_text(row);

		range_right(out, spread, LABEL + 13);
		g_string_append_c(out, '\n');
	}
	why(out, row);
}

static void check_row(GString *out, const struct rf_exp_row *row, unsigned seeds)
{
	const char *answer = row->verdict == RF_EXP_OK ? "yes" : "NO";
	g_autofree char *text = seeds > 1 ? g_strdup_printf("%s (with %u seeds of %u)", row->label, row->held, seeds)
	                                  : g_strdup(row->label);

	g_string_append_printf(out, "  %-4s", answer);
	rf_wrap(out, text, 6, 6);
	why(out, row);
}

static void table(GString *out, const struct rf_exp_table *t, unsigned seeds)
{
	static const char *const heads[] = { "Outputs", "Checks", "Ablations" };
	g_autofree char *head = *t->title ? g_strdup_printf("%s: %s", heads[t->kind], t->title)
	                                  : g_strdup(heads[t->kind]);

	if (t->kind == RF_EXP_OUTPUTS) {
		g_string_append_printf(out, "\n%-*s", LABEL, head);
		if (g_utf8_strlen(head, -1) > LABEL)
			g_string_append_printf(out, "\n%*s", LABEL, "");
		g_string_append(out, "        model       posted     error within\n");
	} else {
		g_string_append_printf(out, "\n%s\n", head);
	}
	for (guint i = 0; i < t->rows->len; i++) {
		if (t->kind == RF_EXP_OUTPUTS)
			output_row(out, t->rows->pdata[i], seeds);
		else
			check_row(out, t->rows->pdata[i], seeds);
	}
}

static void list(GString *out, const GPtrArray *texts, const char *head)
{
	if (texts->len)
		g_string_append_printf(out, "\n%s\n", head);
	for (guint i = 0; i < texts->len; i++) {
		g_string_append(out, "  - ");
		rf_wrap(out, texts->pdata[i], 4, 4);
	}
}

void rf_exp_text_report(GString *out, const struct rf_experiment *e)
{
	unsigned unexplained, all;

	g_string_append_printf(out, "%-12s", e->name);
	rf_wrap(out, e->title, 12, 12);
	paragraph(out, "source", e->source);
	if (e->about)
		paragraph(out, "about", e->about);
	if (e->is_short)
		paragraph(out, "scale", "short: smaller inputs, so misses are no verdict");
	if (e->seeds > 1) {
		g_autofree char *text = g_strdup_printf("%u: figures are of the means, from the lowest to the highest "
		                                        "seed below", e->seeds);

		paragraph(out, "seeds", text);
	}
	inputs(out, e, RF_EXP_GIVEN, "Inputs taken from the source");
	inputs(out, e, RF_EXP_CHOSEN, "Inputs chosen here (cal: so that an output below is as posted)");
	for (guint i = 0; i < e->tables->len; i++)
		table(out, e->tables->pdata[i], e->seeds);
	list(out, e->anomalies, "Anomalies of the source");
	list(out, e->notes, "Notes");
	rf_exp_misses(e, &unexplained, &all);
	if (all)
		g_string_append_printf(out, "\n%u missed, %u of them unexplained\n", all, unexplained);
}
