/* SPDX-License-Identifier: MIT */
#include "sim/plot/table.h"

#include <string.h>

#include "base/error.h"
#include "sim/saved.h"

#define STDIN "/dev/stdin"

struct rf_table *rf_table_new(void)
{
	struct rf_table *t = g_new0(struct rf_table, 1);

	t->names = g_ptr_array_new();
	t->rows = g_ptr_array_new_with_free_func(g_free);
	t->lens = g_array_new(FALSE, FALSE, sizeof(guint));
	t->origin = g_ptr_array_new();
	t->index = g_hash_table_new(g_str_hash, g_str_equal);
	t->text = g_string_chunk_new(1 << 16);
	return t;
}

void rf_table_free(struct rf_table *t)
{
	if (!t)
		return;
	g_ptr_array_unref(t->names);
	g_ptr_array_unref(t->rows);
	g_array_unref(t->lens);
	g_ptr_array_unref(t->origin);
	g_hash_table_unref(t->index);
	g_string_chunk_free(t->text);
	g_free(t);
}

/* ---- reading ---- */

gboolean rf_table_read(struct rf_table *t, const char *path, enum rf_table_rows rows,
                       GError **error)
{
	gboolean standard = strcmp(path, "-") == 0;
	const char *name = standard ? "standard input" : path;
	g_autofree char *text = NULL;
	g_autoptr(GError) cause = NULL;
	gsize len, i = 0;

	if (!g_file_get_contents(standard ? STDIN : path, &text, &len, &cause)) {
		/* GLib's message has the name already, in its own words. */
		rf_set_env(error, "cannot read %s: %s", name,
		           g_error_matches(cause, G_FILE_ERROR, G_FILE_ERROR_NOENT)
		                   ? "no such file"
		                   : cause->message);
		return FALSE;
	}
	while (i < len && g_ascii_isspace(text[i]))
		i++;
	if (i == len) {
		rf_set_data(error,
		            "%s: empty; expected CSV with a heading, or JSON of `refault run'",
		            name);
		return FALSE;
	}
	if (memchr(text, '\0', len)) {
		rf_set_data(error,
		            "%s: a zero byte at offset %" G_GSIZE_FORMAT "; expected CSV or JSON",
		            name, (gsize)((char *)memchr(text, '\0', len) - text));
		return FALSE;
	}
	if (text[i] == '{' || text[i] == '[') {
		g_autoptr(GPtrArray) saved = rf_saved_parse(name, text, len, error);

		return saved && rf_table_add_saved(t, saved, rows, error);
	}
	return rf_table_read_csv(t, name, text, len, error);
}

int rf_table_add_column(struct rf_table *t, const char *name)
{
	int column = rf_table_column(t, name);

	if (column < 0) {
		char *own = g_string_chunk_insert_const(t->text, name);

		column = (int)t->names->len;
		g_ptr_array_add(t->names, own);
		g_hash_table_insert(t->index, own, GINT_TO_POINTER(column + 1));
	}
	return column;
}

void rf_table_add_row(struct rf_table *t, const char *origin)
{
	guint zero = 0;

	g_ptr_array_add(t->rows, NULL);
	g_array_append_val(t->lens, zero);
	g_ptr_array_add(t->origin, g_string_chunk_insert_const(t->text, origin));
}

void rf_table_set(struct rf_table *t, int column, const char *value)
{
	guint row = t->rows->len - 1, *len = &g_array_index(t->lens, guint, row);

	if ((guint)column >= *len) {
		guint wanted = t->names->len;
		const char **values = g_renew(const char *, t->rows->pdata[row], wanted);

		for (guint i = *len; i < wanted; i++)
			values[i] = "";
		t->rows->pdata[row] = values;
		*len = wanted;
	}
	((const char **)t->rows->pdata[row])[column] = g_string_chunk_insert_const(t->text, value);
}

struct rf_table *rf_table_copy(const struct rf_table *t)
{
	struct rf_table *copy = rf_table_new();

	for (guint k = 0; k < t->names->len; k++)
		rf_table_add_column(copy, t->names->pdata[k]);
	for (guint i = 0; i < t->rows->len; i++) {
		rf_table_add_row(copy, t->origin->pdata[i]);
		for (guint k = 0; k < g_array_index(t->lens, guint, i); k++)
			rf_table_set(copy, (int)k, rf_table_get(t, i, (int)k));
	}
	return copy;
}

/* ---- looking up ---- */

int rf_table_column(const struct rf_table *t, const char *name)
{
	return GPOINTER_TO_INT(g_hash_table_lookup(t->index, name)) - 1;
}

gboolean rf_table_want(const struct rf_table *t, const char *where, const char *name, int *column,
                       GError **error)
{
	g_autoptr(GPtrArray) names = NULL;
	const char *near;

	*column = rf_table_column(t, name);
	if (*column >= 0)
		return TRUE;
	names = g_ptr_array_new();
	for (guint i = 0; i < t->names->len; i++)
		g_ptr_array_add(names, t->names->pdata[i]);
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(error, "%s: no column \"%s\"; did you mean \"%s\"?", where, name,
		             near);
	else
		rf_set_usage(error, "%s: no column \"%s\" in what was read", where, name);
	return FALSE;
}

const char *rf_table_get(const struct rf_table *t, guint row, int column)
{
	if (column < 0 || (guint)column >= g_array_index(t->lens, guint, row))
		return "";
	return ((const char **)t->rows->pdata[row])[column];
}

const char *rf_table_constant(const struct rf_table *t, const char *name)
{
	int column = rf_table_column(t, name);
	const char *value;

	if (column < 0 || t->rows->len == 0)
		return NULL;
	value = rf_table_get(t, 0, column);
	for (guint i = 1; i < t->rows->len; i++) {
		if (strcmp(rf_table_get(t, i, column), value) != 0)
			return NULL;
	}
	return value;
}

static gboolean is_wanted(const char *name, const char *have, const char *wanted)
{
	g_autofree char *base = NULL;

	if (strcmp(have, wanted) == 0)
		return TRUE;
	if (strcmp(name, "trace") != 0)
		return FALSE;
	base = g_path_get_basename(have);
	return strcmp(base, wanted) == 0;
}

gboolean rf_table_where(struct rf_table *t, const char *condition, GError **error)
{
	g_autofree char *where = g_strdup_printf("--where %s", condition), *name = NULL;
	const char *equals = strchr(condition, '=');
	guint kept = 0;
	int column;

	if (!equals || equals == condition) {
		rf_set_usage(error, "%s: expected COLUMN=VALUE", where);
		return FALSE;
	}
	name = g_strndup(condition, equals - condition);
	if (!rf_table_want(t, where, name, &column, error))
		return FALSE;
	for (guint i = 0; i < t->rows->len; i++) {
		if (!is_wanted(name, rf_table_get(t, i, column), equals + 1)) {
			g_clear_pointer(&t->rows->pdata[i], g_free);
			continue;
		}
		if (kept != i) {
			t->rows->pdata[kept] = g_steal_pointer(&t->rows->pdata[i]);
			t->origin->pdata[kept] = t->origin->pdata[i];
			g_array_index(t->lens, guint, kept) = g_array_index(t->lens, guint, i);
		}
		kept++;
	}
	g_ptr_array_set_size(t->rows, kept);
	g_ptr_array_set_size(t->origin, kept);
	g_array_set_size(t->lens, kept);
	if (kept == 0) {
		rf_set_usage(error, "%s: no row has that value", where);
		return FALSE;
	}
	return TRUE;
}
