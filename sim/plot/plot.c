/* SPDX-License-Identifier: MIT
 * The registry of kinds, and what charts have in common.
 */
#include "sim/plot/plot.h"

#include <string.h>

#include "base/error.h"

const struct rf_plot_kind rf_plot_kinds[] = {
	{ "lines", "a metric over memory, or over another column: one line a policy", RF_ROWS_RUNS,
	  rf_plot_lines },
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

/* --log x,y: each axis that is named is logarithmic, the others are not; without it, as they need. */
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

gboolean rf_plot_chart(struct rf_chart *c, const struct rf_table *t, const struct rf_plot_options *o,
                       const char *x, const char *by, gboolean words, GError **error)
{
	struct rf_chart_options chart = {
		.metric = o->metric ? o->metric : "pgmajfault",
		.x = o->x ? o->x : x,
		.by = o->by ? o->by : by,
		.over = o->over ? o->over : rf_table_column(t, "seed") >= 0 ? "seed" : NULL,
		.words = words,
	};

	return (!o->spread || rf_spread_parse(o->spread, &chart.spread, error)) &&
	       parse_log(o->log, &chart.log_x, &chart.log_y, error) &&
	       rf_chart_init(c, t, &chart, error);
}

gboolean rf_plot_build(struct rf_script *s, const struct rf_plot_kind *kind, const struct rf_table *t,
                       const struct rf_plot_options *o, GError **error)
{
	g_autofree char *title = o->title ? g_strdup(o->title) : rf_chart_title(t);

	*s = (struct rf_script){ g_string_new(NULL), g_string_new(NULL), o->picture };
	rf_script_string(s, "title", title);
	if (kind->build(s, t, o, error))
		return TRUE;
	rf_script_clear(s);
	return FALSE;
}
