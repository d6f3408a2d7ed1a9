/* SPDX-License-Identifier: MIT
 * Conditions under which a comparison fails.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/compare/compare.h"

struct rf_gate {
	char *text;
	const struct rf_metric *metric;
	gboolean geomean, below; /* below: fails when it is less */
	enum { VALUE, DIFFERENCE, PERCENT } of;
	double limit;
};

static const struct rf_metric *find_metric(const char *text, const char *name, GError **error)
{
	const struct rf_metric *m = rf_metric_find(name);
	g_autofree const char **names = NULL;
	const char *near;

	if (m)
		return m;
	names = g_new0(const char *, rf_nmetrics + 1);
	for (unsigned i = 0; i < rf_nmetrics; i++)
		names[i] = rf_metrics[i].name;
	near = rf_nearest(name, names);
	if (near)
		rf_set_usage(error, "--fail-if %s: no metric \"%s\"; did you mean \"%s\"?", text, name, near);
	else
		rf_set_usage(error, "--fail-if %s: no metric \"%s\"; `refault help metrics' lists them", text,
		             name);
	return NULL;
}

static gboolean parse(struct rf_gate *g, GError **error)
{
	const char *op = strpbrk(g->text, "<>");
	g_autofree char *left = op ? g_strndup(g->text, (gsize)(op - g->text)) : NULL;
	char *name = left, *end;
	size_t len;

	if (!op)
		goto wrong;
	g_strstrip(name);
	len = strlen(name);
	if (g_str_has_prefix(name, "geomean(") && len > 9 && name[len - 1] == ')') {
		g->geomean = TRUE;
		name[len - 1] = '\0';
		name += strlen("geomean(");
	}
	g->metric = find_metric(g->text, name, error);
	if (!g->metric)
		return FALSE;
	g->below = *op++ == '<';
	while (*op == ' ')
		op++;
	g->of = *op == '+' || *op == '-' ? DIFFERENCE : VALUE;
	/* Digits only: no "inf", no hexadecimal. */
	if (!g_ascii_isdigit(op[g->of == DIFFERENCE]))
		goto wrong;
	g->limit = g_ascii_strtod(op, &end);
	if (strspn(op + (g->of == DIFFERENCE), "0123456789.") !=
	    (size_t)(end - op) - (g->of == DIFFERENCE))
		goto wrong;
	if (*end == '%' && g->of == DIFFERENCE) {
		g->of = PERCENT;
		end++;
	}
	if (*end != '\0' || (g->geomean && g->of != PERCENT))
		goto wrong;
	return TRUE;
wrong:
	rf_set_usage(error, "--fail-if %s: expected METRIC>+N%%, METRIC<-N%%, METRIC>+N, METRIC>N or "
	             "geomean(METRIC)>+N%%", g->text);
	return FALSE;
}

struct rf_gate *rf_gate_new(const char *text, GError **error)
{
	struct rf_gate *g = g_new0(struct rf_gate, 1);

	g->text = g_strdup(text);
	if (parse(g, error))
		return g;
	rf_gate_free(g);
	return NULL;
}

void rf_gate_free(struct rf_gate *g)
{
	g_free(g->text);
	g_free(g);
}

static gboolean fails(const struct rf_gate *g, double value)
{
	return g->below ? value < g->limit : value > g->limit;
}

static guint check_row(const struct rf_gate *g, const struct rf_compare *c, const struct rf_row *row,
                       guint side, GString *out)
{
	const struct rf_side *s = c->sides->pdata[side];
	struct rf_figure a = rf_compare_figure(row, 0, g->metric);
	struct rf_figure b = rf_compare_figure(row, side, g->metric);
	double value = b.mean;

	if (g->of == DIFFERENCE)
		value = b.mean - a.mean;
	else if (g->of == PERCENT)
		/* Anything is infinitely more than nothing. */
		value = a.sum ? (b.mean - a.mean) * 100 / a.mean : b.sum ? INFINITY : 0;
	if (!fails(g, value))
		return 0;
	g_string_append_printf(out, "FAIL %s: %s, %s: %.6g, was %.6g", g->text, row->label, s->label, b.mean,
	                       a.mean);
	if (g->of == PERCENT && a.sum)
		g_string_append_printf(out, " (%+.2f%%)", value);
	g_string_append_c(out, '\n');
	return 1;
}

guint rf_gate_check(const struct rf_gate *g, const struct rf_compare *c, GString *out)
{
	guint n = 0;

	for (guint side = 1; side < c->sides->len; side++) {
		if (g->geomean) {
			struct rf_overall o = rf_compare_overall(c, side, g->metric);

			if (o.n && fails(g, o.percent)) {
				g_string_append_printf(out, "FAIL %s: %s: %+.2f%%\n", g->text,
				                       ((struct rf_side *)c->sides->pdata[side])->label,
				                       o.percent);
				n++;
			}
			continue;
		}
		for (guint i = 0; i < c->rows->len; i++)
			n += check_row(g, c, c->rows->pdata[i], side, out);
	}
	return n;
}
