/* SPDX-License-Identifier: MIT
 * Which run of one side belongs to which of another.
 */
#include <string.h>

#include "base/error.h"
#include "sim/compare/compare.h"
#include "sim/config.h"

static void free_side(void *p)
{
	struct rf_side *s = p;

	g_free(s->label);
	g_free(s->what);
	g_ptr_array_unref(s->results);
	g_free(s);
}

struct rf_compare *rf_compare_new(void)
{
	struct rf_compare *c = g_new0(struct rf_compare, 1);

	c->sides = g_ptr_array_new_with_free_func(free_side);
	c->rows = g_ptr_array_new();
	c->differ = g_ptr_array_new();
	return c;
}

void rf_compare_free(struct rf_compare *c)
{
	for (guint i = 0; i < c->rows->len; i++) {
		struct rf_row *row = c->rows->pdata[i];

		for (guint k = 0; k < c->sides->len; k++)
			g_ptr_array_unref(row->of[k]);
		g_free(row->of);
		g_free(row->label);
		g_free(row);
	}
	g_ptr_array_unref(c->rows);
	g_ptr_array_unref(c->differ);
	g_ptr_array_unref(c->sides);
	g_free(c);
}

void rf_compare_add(struct rf_compare *c, const char *label, const char *what, GPtrArray *results)
{
	struct rf_side *s = g_new(struct rf_side, 1);

	*s = (struct rf_side){ g_strdup(label), g_strdup(what), results };
	g_ptr_array_add(c->sides, s);
}

static GPtrArray *results_of(const struct rf_compare *c, guint side)
{
	return ((struct rf_side *)c->sides->pdata[side])->results;
}

/* ---- what varies ---- */

static gboolean varies_within(const struct rf_compare *c, guint side, const char *option)
{
	const GPtrArray *r = results_of(c, side);

	for (guint i = 1; i < r->len; i++) {
		if (g_strcmp0(rf_saved_config(r->pdata[i], option), rf_saved_config(r->pdata[0], option)))
			return TRUE;
	}
	return FALSE;
}

static gboolean varies_between(const struct rf_compare *c, const char *option)
{
	const char *first = rf_saved_config(results_of(c, 0)->pdata[0], option);

	for (guint k = 1; k < c->sides->len; k++) {
		if (g_strcmp0(rf_saved_config(results_of(c, k)->pdata[0], option), first))
			return TRUE;
	}
	return FALSE;
}

/* What makes a row: options that vary within a side.  What makes a side: those that vary between them
 * only.  The seed makes neither. */
static void find_options(struct rf_compare *c, GPtrArray *row_options)
{
	for (const struct rf_option *o = rf_config_options; o->name; o++) {
		gboolean within = FALSE;

		if (strcmp(o->name, "seed") == 0)
			continue;
		for (guint k = 0; k < c->sides->len; k++)
			within |= varies_within(c, k, o->name);
		if (within)
			g_ptr_array_add(row_options, (char *)o->name);
		else if (varies_between(c, o->name))
			g_ptr_array_add(c->differ, (char *)o->name);
	}
}

/* ---- rows ---- */

static char *key_of(const struct rf_saved *s, const GPtrArray *options)
{
	GString *key = g_string_new(s->digest);

	for (guint i = 0; i < options->len; i++) {
		const char *value = rf_saved_config(s, options->pdata[i]);

		g_string_append_printf(key, "\n%s", value ? value : "");
	}
	return g_string_free(key, FALSE);
}

static char *label_of(const struct rf_saved *s, const GPtrArray *options)
{
	g_autofree char *base = g_path_get_basename(s->trace);
	GString *label = g_string_new(base);

	for (guint i = 0; i < options->len; i++) {
		const char *value = rf_saved_config(s, options->pdata[i]);

		if (value)
			g_string_append_printf(label, " %s=%s", (const char *)options->pdata[i], value);
	}
	return g_string_free(label, FALSE);
}

static struct rf_row *new_row(struct rf_compare *c, const struct rf_saved *s, const GPtrArray *options)
{
	struct rf_row *row = g_new(struct rf_row, 1);

	row->label = label_of(s, options);
	row->of = g_new(GPtrArray *, c->sides->len);
	for (guint k = 0; k < c->sides->len; k++)
		row->of[k] = g_ptr_array_new();
	g_ptr_array_add(c->rows, row);
	return row;
}

static int by_seed(const void *a, const void *b)
{
	const struct rf_saved *const *x = a, *const *y = b;

	return (*x)->seed < (*y)->seed ? -1 : (*x)->seed > (*y)->seed;
}

/* Each side of a row has the same seeds, each once. */
static gboolean check_row(const struct rf_compare *c, const struct rf_row *row, GError **error)
{
	const GPtrArray *first = row->of[0];

	for (guint k = 0; k < c->sides->len; k++) {
		const struct rf_side *side = c->sides->pdata[k];
		GPtrArray *of = row->of[k];

		g_ptr_array_sort(of, by_seed);
		for (guint i = 1; i < of->len; i++) {
			const struct rf_saved *a = of->pdata[i - 1], *b = of->pdata[i];
			g_autofree char *where = rf_saved_where(b);

			if (a->seed != b->seed)
				continue;
			rf_set_data(error, "%s: %s was run with seed %" G_GUINT64_FORMAT
			            " before; expected each run once", where, row->label, b->seed);
			return FALSE;
		}
		for (guint i = 0; i < MAX(of->len, first->len); i++) {
			if (i < of->len && i < first->len &&
			    ((struct rf_saved *)of->pdata[i])->seed == ((struct rf_saved *)first->pdata[i])->seed)
				continue;
			rf_set_data(error, "%s: no run of %s to compare that of %s with (seeds must be the same)",
			            of->len > i && first->len <= i ? ((struct rf_side *)c->sides->pdata[0])->what
			                                           : side->what,
			            row->label, of->len > i && first->len <= i ? side->what
			            : ((struct rf_side *)c->sides->pdata[0])->what);
			return FALSE;
		}
	}
	return TRUE;
}

gboolean rf_compare_pair(struct rf_compare *c, GError **error)
{
	g_autoptr(GPtrArray) options = g_ptr_array_new();
	g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	find_options(c, options);
	for (guint k = 0; k < c->sides->len; k++) {
		const GPtrArray *results = results_of(c, k);

		for (guint i = 0; i < results->len; i++) {
			struct rf_saved *s = results->pdata[i];
			g_autofree char *key = key_of(s, options);
			struct rf_row *row = g_hash_table_lookup(rows, key);

			if (!row) {
				row = new_row(c, s, options);
				g_hash_table_insert(rows, g_steal_pointer(&key), row);
			}
			g_ptr_array_add(row->of[k], s);
		}
	}
	for (guint i = 0; i < c->rows->len; i++) {
		struct rf_row *row = c->rows->pdata[i];

		if (!check_row(c, row, error))
			return FALSE;
		c->seeds = MAX(c->seeds, row->of[0]->len);
	}
	return TRUE;
}
