/* SPDX-License-Identifier: MIT
 * Heat map: a metric over two columns, a cell each.
 */
#include <string.h>

#include "base/error.h"
#include "sim/plot/plot.h"

#define MOST_X 40
#define MOST_Y 20

gboolean rf_plot_heatmap(struct rf_script *s, const struct rf_table *t,
                         const struct rf_plot_options *o, GError **error)
{
	struct rf_plot_options rows = *o;
	struct rf_chart c;
	struct rf_axis y;

	/* The vertical axis is what series are elsewhere. */
	rows.by = o->y ? o->y : o->by;
	if (!rf_plot_chart(&c, t, &rows, rf_chart_memory(t), "reclaim", TRUE, error))
		return FALSE;
	if (c.x.words->len > MOST_X || c.series->len > MOST_Y) {
		rf_set_usage(error,
		             "a map of %u by %u cells; at most %d by %d fit: choose with --where",
		             c.x.words->len, c.series->len, MOST_X, MOST_Y);
		rf_chart_clear(&c);
		return FALSE;
	}
	rf_axis_init(&y, rows.by ? rows.by : "reclaim", RF_QUANTITY_WORD);
	g_string_append(s->data, "# x, y, mean, its text, runs.\n");
	for (guint i = 0; i < c.series->len; i++) {
		const struct rf_series *series = c.series->pdata[i];
		double row = rf_axis_word(&y, series->name);

		for (guint k = 0; k < series->points->len; k++) {
			const struct rf_point *p =
				&g_array_index(series->points, struct rf_point, k);
			g_autofree char *text = rf_axis_short(&c.y, p->mean);

			g_string_append_printf(s->data, "%.0f %.0f ", p->x, row);
			rf_data_number(s->data, rf_axis_scaled(&c.y, p->mean));
			g_string_append_printf(s->data, " %s %u\n", text, p->n);
		}
	}
	rf_script_axis(s, "x", &c.x);
	rf_script_axis(s, "y", &y);
	rf_script_axis(s, "z", &c.y);
	if (c.most > 1) {
		g_autofree char *note = g_strdup_printf(", mean of %u", c.most);

		rf_script_string(s, "note", note);
	}
	rf_axis_clear(&y);
	rf_chart_clear(&c);
	return TRUE;
}
