/* SPDX-License-Identifier: MIT
 * Distance error: how often the kernel took a page's reuse distance for which other one, as `refault
 * curve --distance' has counted it.  On the diagonal it was right.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/curve/distance.h"
#include "sim/plot/plot.h"

/* Buckets of both distances with refaults in them, those of all types together. */
struct cell {
	uint64_t exact, estimate; /* their least */
	double n;
};

struct grid {
	struct rf_values exact, estimate, n;
	GHashTable *at; /* "exact and estimate" to struct cell * in cells */
	GPtrArray *cells;
	struct rf_axis x, y, z;
};

/* Where a bucket ends. */
static double end_of(uint64_t least)
{
	return (double)rf_distance_least(rf_distance_bucket(least) + 1);
}

static gboolean prepare(struct grid *g, const struct rf_table *t, const char *metric, GError **error)
{
	static const char *const one[] = { "trace", "page_bytes", "frames" };

	if (!rf_values_init(&g->exact, t, "distance", "exact_pages", TRUE, error) ||
	    !rf_values_init(&g->estimate, t, "distance", "estimate_pages", TRUE, error) ||
	    !rf_values_init(&g->n, t, "--metric", metric, TRUE, error))
		return FALSE;
	for (size_t i = 0; i < G_N_ELEMENTS(one); i++) {
		if (rf_table_column(t, one[i]) < 0 || rf_table_constant(t, one[i]))
			continue;
		rf_set_usage(error, "distances of several runs, which differ in %s: choose with --where %s=VALUE",
		             one[i], one[i]);
		return FALSE;
	}
	return TRUE;
}

static gboolean in_range(double pages)
{
	return pages >= 1 && pages < 0x1p60 && pages == floor(pages);
}

static gboolean collect(struct grid *g, const struct rf_table *t, GError **error)
{
	for (guint i = 0; i < t->rows->len; i++) {
		double exact = rf_values_get(&g->exact, t, i), estimate = rf_values_get(&g->estimate, t, i);
		g_autofree char *key = g_strdup_printf("%.10g and %.10g", exact, estimate);
		struct cell *c = g_hash_table_lookup(g->at, key);

		if (!in_range(exact) || !in_range(estimate)) {
			rf_set_data(error, "%s: distances of %s pages; expected whole numbers from 1 on",
			            (char *)t->origin->pdata[i], key);
			return FALSE;
		}
		if (!c) {
			c = g_new0(struct cell, 1);
			c->exact = (uint64_t)exact;
			c->estimate = (uint64_t)estimate;
			g_hash_table_insert(g->at, g_steal_pointer(&key), c);
			g_ptr_array_add(g->cells, c);
		}
		c->n += rf_values_get(&g->n, t, i);
	}
	return TRUE;
}

/* The same range on both axes, for the diagonal to be one. */
static void measure(struct grid *g)
{
	struct rf_axis *const axes[] = { &g->x, &g->y };

	for (guint i = 0; i < g->cells->len; i++) {
		const struct cell *c = g->cells->pdata[i];

		for (size_t k = 0; k < G_N_ELEMENTS(axes); k++) {
			rf_axis_add(axes[k], (double)MIN(c->exact, c->estimate));
			rf_axis_add(axes[k], end_of(MAX(c->exact, c->estimate)));
		}
		rf_axis_add(&g->z, c->n);
	}
	rf_axis_choose(&g->x, 1);
	rf_axis_choose(&g->y, 1);
	rf_axis_choose(&g->z, 1);
}

/* Few ones first: in text, where cells fall together, the one of most is seen. */
static int by_number(const void *a, const void *b)
{
	const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	if (x->exact != y->exact)
		return x->exact < y->exact ? -1 : 1;
	return x->estimate < y->estimate ? -1 : x->estimate > y->estimate;
}

/* In text: by the logarithm of the number; the darkest has the most. */
static char shade(const struct rf_axis *z, double n)
{
	static const char shades[] = ".:-=+*%@";
	double share = z->max > 1 ? log(MAX(n, 1)) / log(z->max) : 1;

	return shades[(size_t)lround(share * (sizeof(shades) - 2))];
}

static void append_cells(GString *data, const struct grid *g)
{
	g_string_append(data, "# exact distance from, to; estimate from, to; refaults; in text\n");
	for (guint i = 0; i < g->cells->len; i++) {
		const struct cell *c = g->cells->pdata[i];
		const double values[] = { (double)c->exact, end_of(c->exact), (double)c->estimate,
			                  end_of(c->estimate), c->n };

		for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
			rf_data_number(data, values[k]);
			g_string_append_c(data, ' ');
		}
		g_string_append_printf(data, "%c\n", shade(&g->z, c->n));
	}
}

static void append_memory(struct rf_script *s, const struct rf_table *t)
{
	const char *frames = rf_table_constant(t, "frames");
	double n = 0;

	if (frames)
		rf_number(frames, RF_QUANTITY_COUNT, &n);
	rf_script_number(s, "memory", n);
}

gboolean rf_plot_distance(struct rf_script *s, const struct rf_table *t, const struct rf_plot_options *o,
                          GError **error)
{
	struct grid g = { 0 };
	gboolean ok;

	g.at = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g.cells = g_ptr_array_new_with_free_func(g_free);
	rf_axis_init(&g.x, "exact_pages", RF_QUANTITY_COUNT);
	rf_axis_init(&g.y, "estimate_pages", RF_QUANTITY_COUNT);
	rf_axis_init(&g.z, o->metric ? o->metric : "refaults", RF_QUANTITY_COUNT);
	ok = prepare(&g, t, o->metric ? o->metric : "refaults", error) && collect(&g, t, error);
	if (ok) {
		measure(&g);
		g_ptr_array_sort(g.cells, by_number);
		append_cells(s->data, &g);
		append_memory(s, t);
		rf_script_axis(s, "x", &g.x);
		rf_script_axis(s, "y", &g.y);
		rf_script_axis(s, "z", &g.z);
	}
	rf_values_clear(&g.exact);
	rf_values_clear(&g.estimate);
	rf_values_clear(&g.n);
	rf_axis_clear(&g.x);
	rf_axis_clear(&g.y);
	rf_axis_clear(&g.z);
	g_ptr_array_unref(g.cells);
	g_hash_table_unref(g.at);
	return ok;
}
