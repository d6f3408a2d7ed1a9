/* SPDX-License-Identifier: MIT
 * Curves: faults at every size of memory, as `refault curve' has counted them.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "sim/plot/plot.h"

#define MOST 26   /* letters that tell them apart in text */
#define STEPS 400 /* of a curve, at most: as many as a picture shows */

/* What tells curves apart: those of these columns that differ. */
static char *lines_of(const struct rf_table *t)
{
	static const char *const columns[] = { "trace", "page_bytes", "algorithm", "group",
		                               "rate_ppm" };
	g_autoptr(GString) by = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
		if (rf_table_column(t, columns[i]) >= 0 && !rf_table_constant(t, columns[i]))
			g_string_append_printf(by, "%s%s", by->len ? "," : "", columns[i]);
	}
	return by->len ? g_string_free(g_steal_pointer(&by), FALSE) : g_strdup("algorithm");
}

/* A row holds until the next one's size.  Of those that fall together the last is shown. */
static void append_curve(GString *data, const struct rf_chart *c, const GArray *points)
{
	double width = (c->x.max - (c->x.log ? 0 : c->x.min)) / STEPS, shown = -INFINITY;

	for (guint i = 0; i < points->len; i++) {
		const struct rf_point *p = &g_array_index(points, struct rf_point, i);
		const struct rf_point *next = i + 1 < points->len ? p + 1 : NULL;

		if (next && next->x - shown < width && !c->x.log)
			continue;
		if (next && c->x.log &&
		    log(next->x / MAX(shown, 1)) < log(c->x.max / c->x.least) / STEPS)
			continue;
		shown = p->x;
		rf_data_number(data, rf_axis_scaled(&c->x, p->x));
		g_string_append_c(data, ' ');
		rf_data_number(data, rf_axis_scaled(&c->y, p->mean));
		g_string_append_c(data, '\n');
	}
	/* Nothing changes from the last row on. */
	rf_data_number(data, rf_axis_scaled(&c->x, c->x.max));
	g_string_append_c(data, ' ');
	rf_data_number(
		data, rf_axis_scaled(&c->y,
	                             g_array_index(points, struct rf_point, points->len - 1).mean));
	g_string_append_c(data, '\n');
}

gboolean rf_plot_curve(struct rf_script *s, const struct rf_table *t,
                       const struct rf_plot_options *o, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *by = lines_of(t);
	struct rf_plot_options curve = *o;
	struct rf_chart c;

	curve.metric = o->metric ? o->metric : (char *)"miss_ratio";
	/* From one frame to all, and from most accesses to few: what matters is not at the far end. */
	curve.log = o->log ? o->log : (char *)"x,y";
	if (!rf_plot_chart(&c, t, &curve, "size_bytes", by, FALSE, error))
		return FALSE;
	if (c.series->len > MOST || c.x.quantity == RF_QUANTITY_WORD) {
		if (c.series->len > MOST)
			rf_set_usage(error,
			             "%u curves; at most %d can be told apart: choose with --where",
			             c.series->len, MOST);
		else
			rf_set_usage(error, "--x %s: expected a column of numbers", c.x.name);
		rf_chart_clear(&c);
		return FALSE;
	}
	g_string_append(s->data,
	                "# A block a curve: size, value from there to the next row's size.\n");
	for (guint i = 0; i < c.series->len; i++) {
		const struct rf_series *series = c.series->pdata[i];

		g_ptr_array_add(names, series->name);
		g_string_append(s->data, i > 0 ? "\n\n# " : "# ");
		rf_data_comment(s->data, series->name);
		append_curve(s->data, &c, series->points);
	}
	rf_script_number(s, "n", names->len);
	rf_script_strings(s, "names", names);
	rf_script_axis(s, "x", &c.x);
	rf_script_axis(s, "y", &c.y);
	rf_chart_clear(&c);
	return TRUE;
}
