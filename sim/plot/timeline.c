/* SPDX-License-Identifier: MIT
 * Timeline: resident memory above, and below it how many faults a time came.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "sim/plot/plot.h"

#define RATES "pgfault,pgmajfault,workingset_refault_anon+workingset_refault_file"
#define MOST_RATES 8
#define MOST_ROWS 1000 /* a picture has no more columns */
#define MOST_MARKS 40

static const struct {
	const char *column, *name;
} layers[] = {
	{ "rf_rss_anon", "anon" },
	{ "rf_rss_file", "file" },
	{ "rf_rss_shmem", "shmem" },
};
#define NLAYERS G_N_ELEMENTS(layers)

struct timeline {
	struct rf_values time, layer[NLAYERS], rate[MOST_RATES];
	guint nrates;
	GArray *rows, *marks;   /* guint: samples that are drawn; those at marks */
	struct rf_axis x, y, z; /* time; memory; events in an interval */
	double interval;        /* ns between samples */
};

/* All samples, or one in so many. */
static void choose_rows(struct timeline *l, const struct rf_table *t)
{
	int mark = rf_table_column(t, "mark");
	guint samples = 0, step;

	for (guint i = 0; i < t->rows->len; i++) {
		if (*rf_table_get(t, i, mark))
			g_array_append_val(l->marks, i);
		else
			samples++;
	}
	step = 1 + (samples - 1) / MOST_ROWS;
	samples = 0;
	for (guint i = 0; i < t->rows->len; i++) {
		if (!*rf_table_get(t, i, mark) && ++samples % step == 0)
			g_array_append_val(l->rows, i);
	}
}

static guint row_at(const struct timeline *l, guint nth)
{
	return g_array_index(l->rows, guint, nth);
}

static gboolean prepare(struct timeline *l, const struct rf_table *t, const char *rates,
                        GError **error)
{
	g_auto(GStrv) names = g_strsplit(rates, ",", -1);

	if (!rf_values_init(&l->time, t, "timeline", "time_ns", TRUE, error))
		return FALSE;
	for (size_t i = 0; i < NLAYERS; i++) {
		if (!rf_values_init(&l->layer[i], t, "timeline", layers[i].column, TRUE, error))
			return FALSE;
	}
	for (; names[l->nrates]; l->nrates++) {
		if (l->nrates == MOST_RATES) {
			rf_set_usage(error, "--metric %s: at most %d can be told apart", rates,
			             MOST_RATES);
			return FALSE;
		}
		if (!rf_values_init(&l->rate[l->nrates], t, "--metric", names[l->nrates], TRUE,
		                    error))
			return FALSE;
	}
	if (!rf_table_constant(t, "trace")) {
		rf_set_usage(error, "several runs in one timeline: choose with --where trace=NAME");
		return FALSE;
	}
	return TRUE;
}

/* What a counter grew by up to the nth sample, an interval. */
static double growth(const struct timeline *l, const struct rf_table *t, guint nth, guint rate)
{
	guint row = row_at(l, nth), last = row_at(l, nth - 1);
	double dt = rf_values_get(&l->time, t, row) - rf_values_get(&l->time, t, last);
	double n = rf_values_get(&l->rate[rate], t, row) - rf_values_get(&l->rate[rate], t, last);

	return n * l->interval / dt;
}

static gboolean measure(struct timeline *l, const struct rf_table *t, GError **error)
{
	double before = 0;

	for (guint i = 0; i < l->rows->len; i++) {
		guint row = row_at(l, i);
		double now = rf_values_get(&l->time, t, row), sum = 0;

		if (i > 0 && now <= before) {
			rf_set_data(
				error,
				"%s: time goes from %.0f ns to %.0f ns; expected one run, in order",
				(char *)t->origin->pdata[row], before, now);
			return FALSE;
		}
		/* All samples but the last are as far apart. */
		if (i == 1)
			l->interval = now - before;
		before = now;
		rf_axis_add(&l->x, now);
		for (size_t k = 0; k < NLAYERS; k++)
			sum += rf_values_get(&l->layer[k], t, row);
		rf_axis_add(&l->y, sum);
		for (guint k = 0; k < l->nrates && i > 0; k++)
			rf_axis_add(&l->z, growth(l, t, i, k));
	}
	if (l->rows->len >= 2)
		return TRUE;
	rf_set_data(error, "%s: one sample is no timeline: expected a smaller --timeline INTERVAL",
	            (char *)t->origin->pdata[0]);
	return FALSE;
}

static void append_rows(GString *data, const struct timeline *l, const struct rf_table *t)
{
	for (guint i = 0; i < l->rows->len; i++) {
		guint row = row_at(l, i);

		rf_data_number(data, rf_axis_scaled(&l->x, rf_values_get(&l->time, t, row)));
		for (size_t k = 0; k < NLAYERS; k++) {
			g_string_append_c(data, ' ');
			rf_data_number(data,
			               rf_axis_scaled(&l->y, rf_values_get(&l->layer[k], t, row)));
		}
		for (guint k = 0; k < l->nrates; k++) {
			g_string_append_c(data, ' ');
			rf_data_number(data,
			               i > 0 ? rf_axis_scaled(&l->z, growth(l, t, i, k)) : NAN);
		}
		g_string_append_c(data, '\n');
	}
}

/* Of many marks one in so many. */
static void append_marks(struct rf_script *s, const struct timeline *l, const struct rf_table *t)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	guint step = 1 + l->marks->len / (MOST_MARKS + 1);
	int mark = rf_table_column(t, "mark");

	g_string_append_printf(s->params, "array marktime[%u] = [", MAX(1, (l->marks->len + step - 1) / step));
	for (guint i = 0; i < l->marks->len; i += step) {
		guint row = g_array_index(l->marks, guint, i);

		g_string_append(s->params, i > 0 ? ", " : "");
		rf_data_number(s->params, rf_axis_scaled(&l->x, rf_values_get(&l->time, t, row)));
		g_ptr_array_add(names, (char *)rf_table_get(t, row, mark));
	}
	/* gnuplot has no empty array. */
	g_string_append(s->params, names->len ? "]\n" : "0]\n");
	rf_script_number(s, "marks", names->len);
	rf_script_strings(s, "markname", names);
}

static void append_names(struct rf_script *s, const struct timeline *l)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) memory = g_ptr_array_new();

	for (size_t k = 0; k < NLAYERS; k++)
		g_ptr_array_add(memory, (char *)layers[k].name);
	for (guint k = 0; k < l->nrates; k++) {
		const char *name = l->rate[k].name;

		/* The default's last one has a name that is longer than a legend. */
		g_ptr_array_add(
			names, g_strdup(strcmp(name, strrchr(RATES, ',') + 1) ? name : "refaults"));
	}
	rf_script_strings(s, "memory", memory);
	rf_script_number(s, "n", l->nrates);
	rf_script_strings(s, "names", names);
}

static void append_limit(struct rf_script *s, const struct timeline *l, const struct rf_table *t)
{
	const char *text = rf_table_constant(t, "limit_bytes");
	uint64_t bytes = 0;

	if (text)
		rf_parse_u64(text, &bytes, NULL);
	rf_script_number(s, "limit", rf_axis_scaled(&l->y, (double)bytes));
}

gboolean rf_plot_timeline(struct rf_script *s, const struct rf_table *t,
                          const struct rf_plot_options *o, GError **error)
{
	struct timeline l = { 0 };
	g_autofree char *interval = NULL, *label = NULL;
	gboolean ok;

	rf_axis_init(&l.x, "time_ns", RF_QUANTITY_TIME);
	rf_axis_init(&l.y, "resident memory", RF_QUANTITY_SIZE);
	rf_axis_init(&l.z, "", RF_QUANTITY_COUNT);
	l.rows = g_array_new(FALSE, FALSE, sizeof(guint));
	l.marks = g_array_new(FALSE, FALSE, sizeof(guint));
	choose_rows(&l, t);
	ok = prepare(&l, t, o->metric ? o->metric : RATES, error) && measure(&l, t, error);
	if (ok) {
		interval = rf_format_time((uint64_t)l.interval);
		label = g_strdup_printf("events in %s", interval);
		l.z.name = label;
		rf_axis_choose(&l.x, 0);
		rf_axis_choose(&l.y, 0);
		rf_axis_choose(&l.z, 0);
		g_string_append(
			s->data,
			"# time; resident anon, file, shmem; events since the row above.\n");
		append_rows(s->data, &l, t);
		append_names(s, &l);
		append_limit(s, &l, t);
		append_marks(s, &l, t);
		rf_script_axis(s, "x", &l.x);
		rf_script_axis(s, "y", &l.y);
		rf_script_axis(s, "z", &l.z);
	}
	g_array_unref(l.rows);
	g_array_unref(l.marks);
	rf_values_clear(&l.time);
	for (size_t i = 0; i < NLAYERS; i++)
		rf_values_clear(&l.layer[i]);
	for (guint i = 0; i < MOST_RATES; i++)
		rf_values_clear(&l.rate[i]);
	rf_axis_clear(&l.x);
	rf_axis_clear(&l.y);
	rf_axis_clear(&l.z);
	return ok;
}
