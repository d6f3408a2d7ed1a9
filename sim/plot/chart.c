/* SPDX-License-Identifier: MIT */
#include "sim/plot/chart.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "sim/result.h"

/* Columns that say the same in other words, or that follow from one: where the first may differ, so
 * may the others.  A share of the footprint comes to other bytes with each trace and page size. */
static const char *const tied[][8] = {
	{ "limit", "limit_bytes" },
	{ "limit_bytes", "limit" },
	{ "ram", "ram_bytes", "swap_bytes" },
	{ "ram_bytes", "ram", "swap_bytes" },
	{ "frames", "frames_n" },
	{ "frames_n", "frames" },
	{ "swap", "swap_bytes" },
	{ "page-size", "page_bytes", "limit_bytes", "ram_bytes", "swap_bytes", "frames_n" },
	{ "page_bytes", "page-size", "limit_bytes", "ram_bytes", "swap_bytes", "frames_n" },
	{ "trace", "digest", "lost", "limit_bytes", "ram_bytes", "swap_bytes", "frames_n" },
};

/* Rows may differ in these whatever is plotted. */
static const char *const free_to_differ[] = { "schema", "timeline", "point", "section" };

/* An array of columns has this one. */
static gboolean has_column(const GArray *columns, int column)
{
	for (guint i = 0; i < columns->len; i++) {
		if (g_array_index(columns, int, i) == column)
			return TRUE;
	}
	return FALSE;
}

static void allow(GHashTable *may, const char *name)
{
	g_hash_table_add(may, g_strdup(name));
	for (size_t i = 0; i < G_N_ELEMENTS(tied); i++) {
		if (strcmp(tied[i][0], name) != 0)
			continue;
		for (size_t k = 1; k < G_N_ELEMENTS(tied[i]) && tied[i][k]; k++)
			g_hash_table_add(may, g_strdup(tied[i][k]));
	}
}

/* Columns of a list into an array. */
static gboolean want_columns(const struct rf_table *t, const char *where, const char *list,
                             GArray *columns, GHashTable *may, GError **error)
{
	g_auto(GStrv) names = g_strsplit(list ? list : "", ",", -1);

	for (char **n = names; *n; n++) {
		int column;

		if (!rf_table_want(t, where, *n, &column, error))
			return FALSE;
		g_array_append_val(columns, column);
		allow(may, *n);
	}
	return TRUE;
}

/* ---- rows into points ---- */

struct builder {
	const struct rf_table *t;
	const struct rf_chart_options *o;
	struct rf_values metric, x;
	GArray *by, *over;  /* columns */
	GArray *same;       /* columns that must not differ within a point */
	GHashTable *places; /* "x\x1fseries" to GArray of rows; owns both */
};

/* A row's values of some columns, as a key or as a name. */
static char *joined(const struct rf_table *t, guint row, const GArray *columns, const char *between)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (guint i = 0; i < columns->len; i++) {
		if (i > 0)
			g_string_append(s, between);
		g_string_append(s, rf_table_get(t, row, g_array_index(columns, int, i)));
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}

/* The same for people: "swappiness 60", where "60" alone would say nothing. */
static char *series_name(const struct rf_table *t, guint row, const GArray *columns)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (guint i = 0; i < columns->len; i++) {
		int column = g_array_index(columns, int, i);
		const char *value = rf_table_get(t, row, column), *name = t->names->pdata[column];

		g_string_append(s, i > 0 ? ", " : "");
		/* Not "reclaim 2q". */
		if (g_ascii_isdigit(*value) && strcmp(name, "trace") != 0 && strcmp(name, "reclaim") != 0)
			g_string_append_printf(s, "%s ", name);
		g_string_append(s, value);
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}

/* Rows at one place: they differ in the columns of --over and nowhere else.  The same run twice is
 * one row, provided that it gave the same. */
static gboolean add_row(struct builder *b, GArray *rows, guint row, GError **error)
{
	const struct rf_table *t = b->t;
	g_autofree char *which = joined(t, row, b->over, "\x1f");

	for (guint i = 0; i < rows->len; i++) {
		guint other = g_array_index(rows, guint, i);
		g_autofree char *its = joined(t, other, b->over, "\x1f");

		for (guint k = 0; k < b->same->len; k++) {
			int column = g_array_index(b->same, int, k);
			const char *one = rf_table_get(t, other, column);
			const char *two = rf_table_get(t, row, column);

			if (strcmp(one, two) == 0)
				continue;
			rf_set_usage(
				error,
				"%s and %s would be one point: they differ in %s (\"%s\", \"%s\"); "
				"expected --where %s=VALUE, or %s in --by or --over",
				(char *)t->origin->pdata[other], (char *)t->origin->pdata[row],
				(char *)t->names->pdata[column], one, two,
				(char *)t->names->pdata[column], (char *)t->names->pdata[column]);
			return FALSE;
		}
		if (strcmp(which, its) != 0)
			continue;
		if (rf_values_get(&b->metric, t, row) == rf_values_get(&b->metric, t, other))
			return TRUE;
		rf_set_data(error, "%s and %s are the same run, but differ in %s",
		            (char *)t->origin->pdata[other], (char *)t->origin->pdata[row],
		            b->metric.name);
		return FALSE;
	}
	g_array_append_val(rows, row);
	return TRUE;
}

static struct rf_point make_point(const struct builder *b, const GArray *rows)
{
	struct rf_point p = { .n = rows->len, .low = INFINITY, .high = -INFINITY };
	double sum = 0, squares = 0;

	for (guint i = 0; i < rows->len; i++) {
		double v = rf_values_get(&b->metric, b->t, g_array_index(rows, guint, i));

		sum += v;
		p.low = MIN(p.low, v);
		p.high = MAX(p.high, v);
	}
	p.mean = sum / rows->len;
	if (b->o->spread == RF_SPREAD_SD && rows->len > 1) {
		for (guint i = 0; i < rows->len; i++) {
			double v = rf_values_get(&b->metric, b->t, g_array_index(rows, guint, i));

			squares += (v - p.mean) * (v - p.mean);
		}
		squares = sqrt(squares / (rows->len - 1));
		p.low = p.mean - squares;
		p.high = p.mean + squares;
	}
	return p;
}

/* A trace goes by the name of its file. */
static char *x_word(const struct builder *b, const char *text)
{
	return strcmp(b->o->x, "trace") == 0 ? g_path_get_basename(text) : g_strdup(text);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Three digits, or as many more as tell all values apart. */
static char *number_word(const struct rf_axis *a, double x, int digits)
{
	return g_strdup_printf("%.*g", digits, rf_axis_scaled(a, x));
}

static int digits_needed(const struct rf_axis *a, const GArray *sorted)
{
	for (int digits = 3; digits < 10; digits++) {
		gboolean apart = TRUE;

		for (guint i = 1; i < sorted->len && apart; i++) {
			double one = g_array_index(sorted, double, i - 1);
			double two = g_array_index(sorted, double, i);
			g_autofree char *x = number_word(a, one, digits);
			g_autofree char *y = number_word(a, two, digits);

			apart = one == two || strcmp(x, y) != 0;
		}
		if (apart)
			return digits;
	}
	return 10;
}

/* Numbers that are to be places become words, in their order. */
static void numbers_to_words(struct rf_chart *c)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
	struct rf_axis numbers = c->x;

	int digits;

	rf_axis_choose(&numbers, 0);
	for (guint i = 0; i < c->series->len; i++) {
		const GArray *points = ((struct rf_series *)c->series->pdata[i])->points;

		for (guint k = 0; k < points->len; k++)
			g_array_append_val(all, g_array_index(points, struct rf_point, k).x);
	}
	g_array_sort(all, by_number);
	digits = digits_needed(&numbers, all);
	rf_axis_init(&c->x, numbers.name, RF_QUANTITY_WORD);
	c->x.unit_name = numbers.unit_name;
	for (guint i = 0; i < all->len; i++) {
		g_autofree char *word =
			number_word(&numbers, g_array_index(all, double, i), digits);

		rf_axis_word(&c->x, word);
	}
	for (guint i = 0; i < c->series->len; i++) {
		const GArray *points = ((struct rf_series *)c->series->pdata[i])->points;

		for (guint k = 0; k < points->len; k++) {
			struct rf_point *p = &g_array_index(points, struct rf_point, k);
			g_autofree char *word = number_word(&numbers, p->x, digits);

			p->x = rf_axis_word(&c->x, word);
		}
	}
	rf_axis_clear(&numbers);
}

static struct rf_series *find_series(struct rf_chart *c, char *name)
{
	struct rf_series *s;

	for (guint i = 0; i < c->series->len; i++) {
		s = c->series->pdata[i];
		if (strcmp(s->name, name) == 0) {
			g_free(name);
			return s;
		}
	}
	s = g_new0(struct rf_series, 1);
	s->name = name;
	s->points = g_array_new(FALSE, FALSE, sizeof(struct rf_point));
	g_ptr_array_add(c->series, s);
	return s;
}

static void free_series(void *p)
{
	struct rf_series *s = p;

	g_free(s->name);
	g_array_unref(s->points);
	g_free(s);
}

static int by_x(const void *a, const void *b)
{
	const struct rf_point *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

static gboolean collect(struct builder *b, struct rf_chart *c, GError **error)
{
	g_autoptr(GPtrArray) order = g_ptr_array_new(); /* of places, as they came */
	int x_column = g_array_index(b->x.columns, int, 0);

	for (guint i = 0; i < b->t->rows->len; i++) {
		g_autofree char *series = joined(b->t, i, b->by, "\x1f");
		g_autofree char *key =
			g_strdup_printf("%s\x1e%s", rf_table_get(b->t, i, x_column), series);
		GArray *rows = g_hash_table_lookup(b->places, key);

		if (!rows) {
			rows = g_array_new(FALSE, FALSE, sizeof(guint));
			g_hash_table_insert(b->places, g_steal_pointer(&key), rows);
			g_ptr_array_add(order, rows);
		}
		if (!add_row(b, rows, i, error))
			return FALSE;
	}
	for (guint i = 0; i < order->len; i++) {
		const GArray *rows = order->pdata[i];
		guint first = g_array_index(rows, guint, 0);
		struct rf_point p = make_point(b, rows);
		struct rf_series *s = find_series(c, series_name(b->t, first, b->by));

		if (c->x.quantity == RF_QUANTITY_WORD) {
			g_autofree char *word = x_word(b, rf_table_get(b->t, first, x_column));

			p.x = rf_axis_word(&c->x, word);
		} else {
			p.x = rf_values_get(&b->x, b->t, first);
			rf_axis_add(&c->x, p.x);
		}
		rf_axis_add(&c->y, p.mean);
		if (p.n > 1) {
			rf_axis_add(&c->y, p.low);
			rf_axis_add(&c->y, p.high);
		}
		c->most = MAX(c->most, p.n);
		g_array_append_val(s->points, p);
	}
	for (guint i = 0; i < c->series->len; i++)
		g_array_sort(((struct rf_series *)c->series->pdata[i])->points, by_x);
	return TRUE;
}

static gboolean prepare(struct builder *b, GError **error)
{
	g_autoptr(GHashTable) may = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct rf_table *t = b->t;

	for (size_t i = 0; i < G_N_ELEMENTS(free_to_differ); i++)
		g_hash_table_add(may, g_strdup(free_to_differ[i]));
	allow(may, b->o->x);
	if (!rf_values_init(&b->metric, t, "--metric", b->o->metric, TRUE, error) ||
	    !rf_values_init(&b->x, t, "--x", b->o->x, FALSE, error) ||
	    !want_columns(t, "--by", b->o->by, b->by, may, error) ||
	    !want_columns(t, "--over", b->o->over, b->over, may, error))
		return FALSE;
	for (int k = 0; k < (int)t->names->len; k++) {
		const char *name = t->names->pdata[k];
		gboolean profile = g_str_has_prefix(name, "profile.");

		if (!rf_metric_find(name) && !has_column(b->metric.columns, k) &&
		    !g_hash_table_contains(may, profile ? "machine" : name))
			g_array_append_val(b->same, k);
	}
	return TRUE;
}

gboolean rf_chart_init(struct rf_chart *c, const struct rf_table *t,
                       const struct rf_chart_options *o, GError **error)
{
	struct builder b = { .t = t, .o = o };
	gboolean ok;

	memset(c, 0, sizeof(*c));
	c->series = g_ptr_array_new_with_free_func(free_series);
	b.by = g_array_new(FALSE, FALSE, sizeof(int));
	b.over = g_array_new(FALSE, FALSE, sizeof(int));
	b.same = g_array_new(FALSE, FALSE, sizeof(int));
	b.places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
	                                 (GDestroyNotify)g_array_unref);
	ok = prepare(&b, error);
	rf_axis_init(&c->x, o->x, b.x.quantity);
	rf_axis_init(&c->y, o->metric, b.metric.quantity);
	ok = ok && collect(&b, c, error);
	if (ok && o->words && c->x.quantity != RF_QUANTITY_WORD)
		numbers_to_words(c);
	if (ok) {
		rf_axis_choose(&c->x, o->log_x);
		rf_axis_choose(&c->y, o->log_y);
	}
	rf_values_clear(&b.metric);
	rf_values_clear(&b.x);
	g_array_unref(b.by);
	g_array_unref(b.over);
	g_array_unref(b.same);
	g_hash_table_unref(b.places);
	if (!ok)
		rf_chart_clear(c);
	return ok;
}

void rf_chart_clear(struct rf_chart *c)
{
	rf_axis_clear(&c->x);
	rf_axis_clear(&c->y);
	g_clear_pointer(&c->series, g_ptr_array_unref);
}
