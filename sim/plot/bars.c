/* SPDX-License-Identifier: MIT
 * Bars: a metric, a group of bars for each trace or size, with whiskers over seeds or traces.
 */
#include "base/error.h"
#include "sim/plot/plot.h"

#define MOST_BARS 60

/* Traces, when there are several; else the memory. */
static const char *groups_of(const struct rf_table *t)
{
	if (rf_table_column(t, "trace") >= 0 && !rf_table_constant(t, "trace"))
		return "trace";
	return rf_chart_memory(t);
}

gboolean rf_plot_bars(struct rf_script *s, const struct rf_table *t,
                      const struct rf_plot_options *o, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	struct rf_chart c;

	if (!rf_plot_chart(&c, t, o, groups_of(t), "reclaim", TRUE, error))
		return FALSE;
	if (c.series->len * c.x.words->len > MOST_BARS) {
		rf_set_usage(error, "%u bars; at most %d fit: choose with --where",
		             c.series->len * c.x.words->len, MOST_BARS);
		rf_chart_clear(&c);
		return FALSE;
	}
	/* A bar's length is its value: from 0 up, unless it is asked otherwise. */
	if (!o->log)
		rf_axis_choose(&c.y, 0);
	g_string_append(s->data,
	                "# A block a colour: group, mean, low and high of its spread, runs.\n");
	for (guint i = 0; i < c.series->len; i++) {
		const struct rf_series *series = c.series->pdata[i];

		g_ptr_array_add(names, series->name);
		g_string_append(s->data, i > 0 ? "\n\n# " : "# ");
		rf_data_comment(s->data, series->name);
		for (guint k = 0; k < series->points->len; k++)
			rf_data_point(s->data, &c,
			              &g_array_index(series->points, struct rf_point, k));
	}
	rf_script_number(s, "n", names->len);
	rf_script_number(s, "groups", c.x.words->len);
	rf_script_strings(s, "names", names);
	rf_script_axis(s, "x", &c.x);
	rf_script_axis(s, "y", &c.y);
	rf_script_note(s, &c, o);
	rf_chart_clear(&c);
	return TRUE;
}
