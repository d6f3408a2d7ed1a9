/* SPDX-License-Identifier: MIT
 * The registry of kinds, and what charts have in common.
 */
#include "sim/plot/plot.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

const struct rf_plot_kind rf_plot_kinds[] = {
	{ "lines", "a metric over memory, or over another column: one line a policy", RF_ROWS_RUNS,
	  rf_plot_lines },
	{ "bars", "a metric as bars with whiskers: a group of them a trace or size", RF_ROWS_RUNS,
	  rf_plot_bars },
	{ "heatmap", "a metric over two columns: a cell each", RF_ROWS_RUNS, rf_plot_heatmap },
	{ "timeline", "resident memory, and faults below it, over time", RF_ROWS_SAMPLES,
	  rf_plot_timeline },
	{ "curve", "faults at every size of memory, of `refault curve'", RF_ROWS_RUNS,
	  rf_plot_curve },
	{ "distance", "the error of the kernel's refault distances (curve --distance)", RF_ROWS_RUNS,
	  rf_plot_distance },
	{ .name = NULL }
};

const struct rf_plot_kind *rf_plot_kind_find(const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;

	for (const struct rf_plot_kind *k = rf_plot_kinds; k->name; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
		g_ptr_array_add(names, (char *)k->name);
	}
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near) {
		rf_set_usage(error, "no plot \"%s\"; did you mean \"%s\"?", name, near);
	} else {
		g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);

		rf_set_usage(error, "no plot \"%s\"; expected one of %s", name, all);
	}
	return NULL;
}

/* --log x,y: each axis that is named is logarithmic, the others are not; without it, as they need.
 */
static gboolean parse_log(const char *text, int *x, int *y, GError **error)
{
	g_auto(GStrv) words = NULL;

	*x = 0;
	*y = -1;
	if (!text)
		return TRUE;
	*y = 0;
	if (strcmp(text, "none") == 0)
		return TRUE;
	words = g_strsplit(text, ",", -1);
	for (char **w = words; *w; w++) {
		if (strcmp(*w, "x") == 0) {
			*x = 1;
		} else if (strcmp(*w, "y") == 0) {
			*y = 1;
		} else {
			rf_set_usage(error, "--log %s: expected x, y, x,y or none", text);
			return FALSE;
		}
	}
	return TRUE;
}

gboolean rf_plot_chart(struct rf_chart *c, const struct rf_table *t,
                       const struct rf_plot_options *o, const char *x, const char *by,
                       gboolean words, GError **error)
{
	struct rf_chart_options chart = {
		.metric = o->metric ? o->metric : "pgmajfault",
		.x = o->x ? o->x : x,
		.by = o->by ? o->by : by,
		.over = o->over                           ? o->over
		        : rf_table_column(t, "seed") >= 0 ? "seed"
		                                          : NULL,
		.words = words,
	};

	return (!o->spread || rf_spread_parse(o->spread, &chart.spread, error)) &&
	       parse_log(o->log, &chart.log_x, &chart.log_y, error) &&
	       rf_chart_init(c, t, &chart, error);
}

void rf_script_note(struct rf_script *s, const struct rf_chart *c, const struct rf_plot_options *o)
{
	g_autofree char *note = NULL;

	if (c->most > 1)
		note = g_strdup_printf(", mean of %u (%s)", c->most,
		                       g_strcmp0(o->spread, "sd") == 0 ? "standard deviation"
		                                                       : "least to most");
	rf_script_string(s, "note", note ? note : "");
}

void rf_data_point(GString *data, const struct rf_chart *c, const struct rf_point *p)
{
	const double values[] = { p->mean, p->n > 1 ? p->low : NAN, p->n > 1 ? p->high : NAN };

	rf_data_number(data,
	               c->x.quantity == RF_QUANTITY_WORD ? p->x : rf_axis_scaled(&c->x, p->x));
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		g_string_append_c(data, ' ');
		rf_data_number(data, rf_axis_scaled(&c->y, values[i]));
	}
	g_string_append_printf(data, " %u\n", p->n);
}

gboolean rf_plot_build(struct rf_script *s, const struct rf_plot_kind *kind,
                       const struct rf_table *t, const struct rf_plot_options *o, GError **error)
{
	g_autofree char *title = o->title ? g_strdup(o->title) : rf_chart_title(t);

	*s = (struct rf_script){ g_string_new(NULL), g_string_new(NULL), o->picture };
	rf_script_string(s, "title", title);
	if (kind->build(s, t, o, error))
		return TRUE;
	rf_script_clear(s);
	return FALSE;
}
