/* SPDX-License-Identifier: MIT */
#include "sim/plot/values.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "sim/config.h"
#include "sim/result.h"

gboolean rf_number(const char *text, enum rf_quantity quantity, double *value)
{
	char *end;
	uint64_t whole;

	if (quantity == RF_QUANTITY_WORD || !(g_ascii_isdigit(*text) || strchr("+-.", *text)))
		return FALSE;
	*value = g_ascii_strtod(text, &end);
	if (end == text || !isfinite(*value))
		return FALSE;
	if (quantity == RF_QUANTITY_PERCENT)
		return end[0] == '%' && end[1] == '\0';
	if (*end == '\0')
		return TRUE;
	if (quantity == RF_QUANTITY_SIZE
	            ? rf_parse_size(text, &whole, NULL)
	            : quantity == RF_QUANTITY_TIME && rf_parse_time(text, &whole, NULL)) {
		*value = (double)whole;
		return TRUE;
	}
	return FALSE;
}

/* What a name alone says: of a metric, of an option, of a column that ends with its unit. */
static enum rf_quantity named_quantity(const char *name)
{
	const struct rf_metric *m = rf_metric_find(name);
	const struct rf_option *o = rf_options_find(rf_config_options, name);

	if (m)
		return strcmp(m->unit, "B") == 0    ? RF_QUANTITY_SIZE
		       : strcmp(m->unit, "ns") == 0 ? RF_QUANTITY_TIME
		                                    : RF_QUANTITY_COUNT;
	if ((o && o->type == RF_OPT_SIZE) || g_str_has_suffix(name, "_bytes") ||
	    strcmp(name, "page-size") == 0)
		return RF_QUANTITY_SIZE;
	if ((o && o->type == RF_OPT_TIME) || g_str_has_suffix(name, "_ns"))
		return RF_QUANTITY_TIME;
	return RF_QUANTITY_COUNT;
}

/* Is every value of the column one of this quantity?  If not, *bad is the first row that is not. */
static gboolean all_are(const struct rf_table *t, int column, enum rf_quantity quantity, guint *bad)
{
	for (guint i = 0; i < t->rows->len; i++) {
		double value;

		if (!rf_number(rf_table_get(t, i, column), quantity, &value)) {
			*bad = i;
			return FALSE;
		}
	}
	return TRUE;
}

static enum rf_quantity column_quantity(const struct rf_table *t, const char *name, int column)
{
	const enum rf_quantity likely[] = { named_quantity(name), RF_QUANTITY_PERCENT,
		                            RF_QUANTITY_SIZE, RF_QUANTITY_TIME };
	guint bad;

	for (size_t i = 0; i < G_N_ELEMENTS(likely); i++) {
		if (all_are(t, column, likely[i], &bad))
			return likely[i];
	}
	return RF_QUANTITY_WORD;
}

/* whole: what was asked for, of which the column may be a part. */
static gboolean bad_number(const struct rf_table *t, const char *whole, const char *name,
                           int column, GError **error)
{
	enum rf_quantity quantity = named_quantity(name);
	guint bad = 0;
	const char *text;

	if (all_are(t, column, quantity, &bad)) {
		rf_set_usage(error, "%s: its columns are of different units", whole);
		return FALSE;
	}
	text = rf_table_get(t, bad, column);
	if (*text == '\0')
		rf_set_data(error, "%s: no value in column \"%s\"", (char *)t->origin->pdata[bad],
		            name);
	else
		rf_set_data(error, "%s: \"%s\" in column \"%s\"; expected a number",
		            (char *)t->origin->pdata[bad], text, name);
	return FALSE;
}

gboolean rf_values_init(struct rf_values *v, const struct rf_table *t, const char *where,
                        const char *name, gboolean numbers, GError **error)
{
	g_auto(GStrv) names = g_strsplit(name, "+", -1);

	memset(v, 0, sizeof(*v));
	v->name = g_strdup(name);
	v->columns = g_array_new(FALSE, FALSE, sizeof(int));
	for (char **n = names; *n; n++) {
		enum rf_quantity quantity;
		int column;

		if (!rf_table_want(t, where, *n, &column, error))
			return FALSE;
		quantity = column_quantity(t, *n, column);
		if (n == names)
			v->quantity = quantity;
		if ((numbers || names[1]) &&
		    (quantity == RF_QUANTITY_WORD || quantity != v->quantity))
			return bad_number(t, name, *n, column, error);
		g_array_append_val(v->columns, column);
	}
	if (v->columns->len > 0)
		return TRUE;
	rf_set_usage(error, "%s: expected the name of a column", where);
	return FALSE;
}

void rf_values_clear(struct rf_values *v)
{
	g_clear_pointer(&v->name, g_free);
	g_clear_pointer(&v->columns, g_array_unref);
}

double rf_values_get(const struct rf_values *v, const struct rf_table *t, guint row)
{
	double sum = 0, value;

	for (guint i = 0; i < v->columns->len; i++) {
		if (rf_number(rf_table_get(t, row, g_array_index(v->columns, int, i)), v->quantity,
		              &value))
			sum += value;
	}
	return sum;
}
