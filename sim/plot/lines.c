/* SPDX-License-Identifier: MIT
 * Lines: a metric over memory, one line a policy.
 */
#include "base/error.h"
#include "sim/plot/plot.h"

#define MOST 26 /* letters that tell them apart in text */

gboolean rf_plot_lines(struct rf_script *s, const struct rf_table *t,
                       const struct rf_plot_options *o, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *x = NULL, *y = NULL;
	struct rf_chart c;

	if (!rf_plot_chart(&c, t, o, rf_chart_memory(t), "reclaim", FALSE, error))
		return FALSE;
	if (c.series->len > MOST) {
		rf_set_usage(error, "%u lines; at most %d can be told apart: choose with --where",
		             c.series->len, MOST);
		rf_chart_clear(&c);
		return FALSE;
	}
	x = rf_axis_label(&c.x);
	y = rf_axis_label(&c.y);
	g_string_append_printf(
		s->data, "# A block a line: %s, %s, low and high of its spread, runs.\n", x, y);
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
	rf_script_strings(s, "names", names);
	rf_script_axis(s, "x", &c.x);
	rf_script_axis(s, "y", &c.y);
	rf_script_note(s, &c, o);
	rf_chart_clear(&c);
	return TRUE;
}
