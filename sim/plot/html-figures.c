/* SPDX-License-Identifier: MIT
 * The plots of a report: for each trace, each metric over memory, or as bars where there is one
 * size.
 */
#include <string.h>

#include "base/error.h"
#include "sim/config.h"
#include "sim/plot/figure.h"
#include "sim/plot/html.h"
#include "sim/result.h"

#define MOST_TRACES 40

static const char usual[] = "pgfault,pgmajfault,workingset_refault_anon+workingset_refault_file,"
			    "rf_time,rf_rss_mean";

/* What tells lines apart: the options in which runs differ, but for memory and seed. */
static char *lines_of(const struct rf_table *t)
{
	static const char *const others[] = { "limit", "ram", "frames", "seed", "timeline" };
	g_autoptr(GString) by = g_string_new(rf_chart_differs(t, "version") ? "version" : "");

	for (const struct rf_option *o = rf_config_options; o->name; o++) {
		gboolean other = FALSE;

		for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
			other = other || strcmp(o->name, others[i]) == 0;
		if (!other && rf_chart_differs(t, o->name))
			g_string_append_printf(by, "%s%s", by->len ? "," : "", o->name);
	}
	if (by->len == 0)
		g_string_append(by, "reclaim");
	return g_string_free(g_steal_pointer(&by), FALSE);
}

/* Does a metric have something to show?  The usual ones do not always. */
static gboolean is_worth(const struct rf_table *t, const char *metric)
{
	struct rf_values v;
	gboolean worth = rf_values_init(&v, t, "--metric", metric, TRUE, NULL);

	for (guint i = 0; worth && i < t->rows->len; i++) {
		if (rf_values_get(&v, t, i) > 0)
			break;
		worth = i + 1 < t->rows->len;
	}
	rf_values_clear(&v);
	return worth;
}

static void caption(GString *out, const char *metric)
{
	const struct rf_metric *m = rf_metric_find(metric);

	g_string_append(out, "<figcaption><span class=\"name\">");
	rf_html_escape(out, metric);
	g_string_append(out, "</span>");
	if (m)
		g_string_append_printf(out, ": %s", m->help);
	else if (strcmp(metric, "workingset_refault_anon+workingset_refault_file") == 0)
		g_string_append(out, ": pages that came back after eviction");
	g_string_append(out, "</figcaption>\n");
}

static gboolean append_figure(GString *out, const struct rf_table *t,
                              const struct rf_plot_options *plot, const char *gnuplot, unsigned nth,
                              GError **error)
{
	const struct rf_plot_kind *kind =
		rf_plot_kind_find(rf_chart_differs(t, rf_chart_memory(t)) ? "lines" : "bars", NULL);
	g_autoptr(GError) cause = NULL;
	GString *svg = rf_figure_svg(kind, t, plot, gnuplot, nth, &cause);

	if (!svg && cause->domain != RF_USAGE_ERROR) {
		g_propagate_error(error, g_steal_pointer(&cause));
		return FALSE;
	}
	g_string_append(out, "<figure>\n");
	caption(out, plot->metric);
	if (svg) {
		g_string_append_len(out, svg->str, (gssize)svg->len);
		g_string_free(svg, TRUE);
	} else {
		/* What can't be shown at once, too many lines perhaps, is still in the tables. */
		g_string_append(out, "<p class=\"soft\">Not drawn: ");
		rf_html_escape(out, cause->message);
		g_string_append(out, ".</p>\n");
	}
	g_string_append(out, "</figure>\n");
	return TRUE;
}

static gboolean append_trace(GString *out, const struct rf_table *t,
                             const struct rf_html_options *o, gboolean alone, unsigned *nth,
                             GError **error)
{
	g_auto(GStrv) metrics = g_strsplit(o->metrics ? o->metrics : usual, ",", -1);
	g_autofree char *by = o->by ? g_strdup(o->by) : lines_of(t);
	g_autofree char *heading = rf_chart_title(t);
	gboolean ok = TRUE;

	/* Of one trace alone, the title of the document says it. */
	if (alone) {
		g_string_append(out, "<div class=\"figures\">\n");
	} else {
		g_string_append(out, "<h3>");
		rf_html_escape(out, heading);
		g_string_append(out, "</h3>\n<div class=\"figures\">\n");
	}
	for (char **m = metrics; *m && ok; m++) {
		/* The heading says it already. */
		const struct rf_plot_options plot = {
			.metric = *m, .by = by, .title = (char *)"", .picture = RF_PICTURE_SVG
		};

		if (o->metrics || is_worth(t, *m))
			ok = append_figure(out, t, &plot, o->gnuplot, ++*nth, error);
	}
	g_string_append(out, "</div>\n");
	return ok;
}

/* The traces in order of appearance. */
static GPtrArray *traces_of(const struct rf_table *t)
{
	GPtrArray *traces = g_ptr_array_new();
	int column = rf_table_column(t, "trace");

	for (guint i = 0; i < t->rows->len; i++) {
		const char *trace = rf_table_get(t, i, column);

		if (!g_ptr_array_find_with_equal_func(traces, trace, g_str_equal, NULL))
			g_ptr_array_add(traces, (char *)trace);
	}
	return traces;
}

static gboolean check_metrics(const struct rf_table *t, const char *metrics, GError **error)
{
	g_auto(GStrv) names = g_strsplit(metrics ? metrics : "", ",", -1);

	for (char **m = names; *m; m++) {
		struct rf_values v;
		gboolean ok = rf_values_init(&v, t, "--metric", *m, TRUE, error);

		rf_values_clear(&v);
		if (!ok)
			return FALSE;
	}
	return TRUE;
}

gboolean rf_html_figures(GString *out, const struct rf_table *t, const struct rf_html_options *o,
                         GError **error)
{
	g_autoptr(GPtrArray) traces = traces_of(t);
	unsigned nth = 0;

	if (!check_metrics(t, o->metrics, error))
		return FALSE;
	g_string_append(out, "<section id=\"plots\">\n<h2>Plots</h2>\n");
	for (guint i = 0; i < MIN(traces->len, MOST_TRACES); i++) {
		g_autoptr(rf_table) rows = rf_table_copy(t);
		g_autofree char *condition = g_strdup_printf("trace=%s", (char *)traces->pdata[i]);

		if (traces->len > 1 && !rf_table_where(rows, condition, error))
			return FALSE;
		if (!append_trace(out, rows, o, traces->len == 1 && !o->title, &nth, error))
			return FALSE;
	}
	if (traces->len > MOST_TRACES)
		g_string_append_printf(
			out, "<p class=\"soft\">And %u traces more, in the tables below.</p>\n",
			traces->len - MOST_TRACES);
	g_string_append(out, "</section>\n");
	return TRUE;
}
