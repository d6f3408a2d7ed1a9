/* SPDX-License-Identifier: MIT
 * Lines: a metric over memory, one line a policy.
 */
#include <math.h>

#include "base/error.h"
#include "sim/plot/plot.h"

#define MOST 26 /* letters that tell them apart in text */

/* What the whiskers are, when there are any. */
static void append_note(struct rf_script *s, const struct rf_chart *c, const struct rf_plot_options *o)
{
	g_autofree char *note = NULL;

	if (c->most > 1)
		note = g_strdup_printf(", mean of %u (%s)", c->most,
		                       g_strcmp0(o->spread, "sd") == 0 ? "standard deviation"
		                                                       : "least to most");
	rf_script_string(s, "note", note ? note : "");
}

static void append_point(GString *data, const struct rf_chart *c, const struct rf_point *p)
{
	const double values[] = { p->mean, p->n > 1 ? p->low : NAN, p->n > 1 ? p->high : NAN };

	rf_data_number(data, c->x.quantity == RF_QUANTITY_WORD ? p->x : rf_axis_scaled(&c->x, p->x));
	for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
		g_string_append_c(data, ' ');
		rf_data_number(data, rf_axis_scaled(&c->y, values[i]));
	}
	g_string_append_printf(data, " %u\n", p->n);
}

gboolean rf_plot_lines(struct rf_script *s, const struct rf_table *t, const struct rf_plot_options *o,
                       GError **error)
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
	g_string_append_printf(s->data, "# A block a line: %s, %s, low and high of its spread, runs.\n", x, y);
	for (guint i = 0; i < c.series->len; i++) {
		const struct rf_series *series = c.series->pdata[i];

		g_ptr_array_add(names, series->name);
		g_string_append(s->data, i > 0 ? "\n\n# " : "# ");
		rf_data_comment(s->data, series->name);
		for (guint k = 0; k < series->points->len; k++)
			append_point(s->data, &c, &g_array_index(series->points, struct rf_point, k));
	}
	rf_script_number(s, "n", names->len);
	rf_script_strings(s, "names", names);
	rf_script_axis(s, "x", &c.x);
	rf_script_axis(s, "y", &c.y);
	append_note(s, &c, o);
	rf_chart_clear(&c);
	return TRUE;
}
