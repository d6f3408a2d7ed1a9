/* SPDX-License-Identifier: MIT
 * Option tables: defaults, setting from text, text back, help.
 */
#include "base/option.h"

#include <string.h>

#include "base/error.h"
#include "base/units.h"

#define HELP_COLUMNS 79

/* A table may be NULL: a component without options. */
static const struct rf_option no_options[] = { RF_OPTION_END };

static const struct rf_option *table_or_none(const struct rf_option *table)
{
	return table ? table : no_options;
}

static void *slot(const struct rf_option *opt, void *block)
{
	return (char *)block + opt->offset;
}

/* ---- text to value ---- */

static gboolean parse_bool(const char *text, gboolean *value, GError **error)
{
	static const char *const yes[] = { "yes", "true", "on", "1", NULL };
	static const char *const no[] = { "no", "false", "off", "0", NULL };

	if (g_strv_contains(yes, text))
		*value = TRUE;
	else if (g_strv_contains(no, text))
		*value = FALSE;
	else {
		rf_set_usage(error, "\"%s\": expected yes or no", text);
		return FALSE;
	}
	return TRUE;
}

static gboolean limited(const struct rf_option *opt)
{
	return opt->min || opt->max;
}

static char *range_text(const struct rf_option *opt)
{
	if (opt->max == G_MAXINT64)
		return g_strdup_printf("%" G_GINT64_FORMAT " or more", opt->min);
	if (opt->min == G_MININT64)
		return g_strdup_printf("%" G_GINT64_FORMAT " or less", opt->max);
	return g_strdup_printf("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, opt->min, opt->max);
}

static gboolean parse_int(const struct rf_option *opt, const char *text, int64_t *value,
                          GError **error)
{
	gboolean negative = *text == '-';
	uint64_t magnitude;
	int64_t v = 0;
	char *range;

	if (rf_parse_u64(text + negative, &magnitude, NULL)) {
		gboolean fits = magnitude <= (uint64_t)G_MAXINT64 + negative;

		v = (int64_t)(negative ? -magnitude : magnitude);
		if (fits && (!limited(opt) || (v >= opt->min && v <= opt->max))) {
			*value = v;
			return TRUE;
		}
	}
	range = limited(opt) ? range_text(opt) : NULL;
	rf_set_usage(error, "\"%s\": expected a whole number%s%s%s%s", text, range ? " from " : "",
	             range ? range : "", opt->unit ? " of " : "", opt->unit ? opt->unit : "");
	g_free(range);
	return FALSE;
}

/* A size or a time, with its least value. */
static gboolean parse_scaled(const struct rf_option *opt, const char *text, uint64_t *value,
                             GError **error)
{
	gboolean size = opt->type == RF_OPT_SIZE;
	uint64_t v;

	if (!(size ? rf_parse_size(text, &v, error) : rf_parse_time(text, &v, error)))
		return FALSE;
	if (opt->min > 0 && v < (uint64_t)opt->min) {
		char *least = size ? rf_exact_size(opt->min) : rf_exact_time(opt->min);

		rf_set_usage(error, "\"%s\": expected at least %s", text, least);
		g_free(least);
		return FALSE;
	}
	*value = v;
	return TRUE;
}

static gboolean parse_enum(const struct rf_option *opt, const char *text, int *value,
                           GError **error)
{
	char **choices = g_strsplit(opt->choices, ",", -1);
	const char *near;
	char *all;

	for (int i = 0; choices[i]; i++) {
		if (!strcmp(choices[i], text)) {
			*value = i;
			g_strfreev(choices);
			return TRUE;
		}
	}
	near = rf_nearest(text, (const char *const *)choices);
	all = g_strjoinv(", ", choices);
	if (near)
		rf_set_usage(error, "\"%s\": did you mean \"%s\"? expected one of %s", text, near,
		             all);
	else
		rf_set_usage(error, "\"%s\": expected one of %s", text, all);
	g_free(all);
	g_strfreev(choices);
	return FALSE;
}

/* Parse value into the option's place.  A string that stands there is not freed. */
static gboolean store(const struct rf_option *opt, void *block, const char *value, GError **error)
{
	void *to = slot(opt, block);

	switch (opt->type) {
	case RF_OPT_BOOL:
		return parse_bool(value, to, error);
	case RF_OPT_INT:
		return parse_int(opt, value, to, error);
	case RF_OPT_SIZE:
	case RF_OPT_TIME:
		return parse_scaled(opt, value, to, error);
	case RF_OPT_ENUM:
		return parse_enum(opt, value, to, error);
	case RF_OPT_STRING:
		*(char **)to = *value ? g_strdup(value) : NULL;
		return TRUE;
	}
	g_assert_not_reached();
}

void rf_options_init(const struct rf_option *table, void *block)
{
	for (const struct rf_option *opt = table_or_none(table); opt->name; opt++) {
		GError *error = NULL;

		if (!store(opt, block, opt->def ? opt->def : "", &error))
			g_error("default of option %s: %s", opt->name, error->message);
	}
}

const struct rf_option *rf_options_find(const struct rf_option *table, const char *name)
{
	for (const struct rf_option *opt = table_or_none(table); opt->name; opt++)
		if (!strcmp(opt->name, name))
			return opt;
	return NULL;
}

static void unknown_option(const struct rf_option *table, const char *where, const char *name,
                           GError **error)
{
	GPtrArray *names = g_ptr_array_new();
	const char *near;
	char *all;

	for (const struct rf_option *opt = table; opt->name; opt++)
		g_ptr_array_add(names, (char *)opt->name);
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	all = g_strjoinv(", ", (char **)names->pdata);
	if (!*all)
		rf_set_usage(error, "%s: unknown option \"%s\": there are no options", where, name);
	else if (near)
		rf_set_usage(error, "%s: unknown option \"%s\"; did you mean \"%s\"?", where, name,
		             near);
	else if (strlen(all) <= 200)
		rf_set_usage(error, "%s: unknown option \"%s\"; expected one of %s", where, name,
		             all);
	else
		rf_set_usage(error, "%s: unknown option \"%s\"", where, name);
	g_free(all);
	g_ptr_array_free(names, TRUE);
}

gboolean rf_options_set(const struct rf_option *table, void *block, const char *where,
                        const char *name, const char *value, GError **error)
{
	const struct rf_option *opt = rf_options_find(table, name);
	char *old;

	if (!where)
		where = "options";
	if (!opt) {
		unknown_option(table_or_none(table), where, name, error);
		return FALSE;
	}
	old = opt->type == RF_OPT_STRING ? *(char **)slot(opt, block) : NULL;
	if (!store(opt, block, value, error)) {
		g_prefix_error(error, "%s: %s=", where, name);
		return FALSE;
	}
	g_free(old);
	return TRUE;
}

static gboolean parse_item(const struct rf_option *table, void *block, const char *where,
                           char *item, GError **error)
{
	const struct rf_option *opt;
	char *value = strchr(item, '=');

	if (value) {
		*value++ = '\0';
	} else {
		opt = rf_options_find(table, item);
		if (opt && opt->type != RF_OPT_BOOL) {
			rf_set_usage(error, "%s: option \"%s\" needs a value: expected %s=VALUE",
			             where, item, item);
			return FALSE;
		}
		value = "yes";
	}
	return rf_options_set(table, block, where, item, value, error);
}

gboolean rf_options_parse(const struct rf_option *table, void *block, const char *where,
                          const char *list, GError **error)
{
	char **items;
	gboolean ok = TRUE;

	if (!list || !*list)
		return TRUE;
	if (!where)
		where = "options";
	items = g_strsplit(list, ",", -1);
	for (unsigned i = 0; ok && items[i]; i++) {
		if (*items[i] && *items[i] != '=') {
			ok = parse_item(table, block, where, items[i], error);
		} else {
			rf_set_usage(error, "%s: \"%s\": expected name=value,name=value,…", where,
			             list);
			ok = FALSE;
		}
	}
	g_strfreev(items);
	return ok;
}

void rf_options_clear(const struct rf_option *table, void *block)
{
	for (const struct rf_option *opt = table_or_none(table); opt->name; opt++)
		if (opt->type == RF_OPT_STRING)
			g_clear_pointer((char **)slot(opt, block), g_free);
}

/* ---- value to text ---- */

char *rf_options_value(const struct rf_option *opt, const void *block)
{
	const void *from = (const char *)block + opt->offset;
	char **choices, *text;
	int index;

	switch (opt->type) {
	case RF_OPT_BOOL:
		return g_strdup(*(const gboolean *)from ? "yes" : "no");
	case RF_OPT_INT:
		return g_strdup_printf("%" G_GINT64_FORMAT, *(const int64_t *)from);
	case RF_OPT_SIZE:
		return rf_exact_size(*(const uint64_t *)from);
	case RF_OPT_TIME:
		return rf_exact_time(*(const uint64_t *)from);
	case RF_OPT_ENUM:
		choices = g_strsplit(opt->choices, ",", -1);
		index = *(const int *)from;
		g_assert(index >= 0 && (guint)index < g_strv_length(choices));
		text = g_strdup(choices[index]);
		g_strfreev(choices);
		return text;
	case RF_OPT_STRING:
		text = *(char *const *)from;
		return g_strdup(text ? text : "");
	}
	g_assert_not_reached();
}

/* ---- help ---- */

/* Words of text, wrapped, each line after indent blanks; the first goes on at column. */
static void append_wrapped(GString *out, const char *text, unsigned column, unsigned indent)
{
	char **words = g_strsplit(text, " ", -1);
	gboolean first = TRUE;

	for (unsigned i = 0; words[i]; i++) {
		unsigned len = (unsigned)g_utf8_strlen(words[i], -1);

		if (!first && column + 1 + len > HELP_COLUMNS) {
			g_string_append_printf(out, "\n%*s", (int)indent, "");
			column = indent;
			first = TRUE;
		}
		if (!first) {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append(out, words[i]);
		column += len;
		first = FALSE;
	}
	g_string_append_c(out, '\n');
	g_strfreev(words);
}

static char *value_text(const struct rf_option *opt)
{
	static const char *const names[] = {
		[RF_OPT_BOOL] = "yes|no", [RF_OPT_INT] = "N",         [RF_OPT_SIZE] = "SIZE",
		[RF_OPT_TIME] = "TIME",   [RF_OPT_STRING] = "STRING",
	};
	char **choices, *text;

	if (opt->type != RF_OPT_ENUM)
		return g_strdup(names[opt->type]);
	choices = g_strsplit(opt->choices, ",", -1);
	text = g_strjoinv("|", choices);
	g_strfreev(choices);
	/* No line has room for it: the blank lets it wrap. */
	if (strlen(text) > 50) {
		g_free(text);
		choices = g_strsplit(opt->choices, ",", -1);
		text = g_strjoinv("| ", choices);
		g_strfreev(choices);
	}
	return text;
}

void rf_options_help(const struct rf_option *table, GString *out)
{
	for (const struct rf_option *opt = table_or_none(table); opt->name; opt++) {
		char *value = value_text(opt);
		GString *head = g_string_new(NULL);

		g_string_append_printf(head, "%s=%s (", opt->name, value);
		if (opt->def && *opt->def)
			g_string_append_printf(head, "default %s", opt->def);
		else
			g_string_append(head, "no default");
		if (opt->unit)
			g_string_append_printf(head, " %s", opt->unit);
		if (opt->type == RF_OPT_INT && limited(opt)) {
			char *range = range_text(opt);

			g_string_append_printf(head, "; %s", range);
			g_free(range);
		} else if ((opt->type == RF_OPT_SIZE || opt->type == RF_OPT_TIME) && opt->min > 0) {
			char *least = opt->type == RF_OPT_SIZE ? rf_exact_size(opt->min)
			                                       : rf_exact_time(opt->min);

			g_string_append_printf(head, "; at least %s", least);
			g_free(least);
		}
		if (opt->since)
			g_string_append_printf(head, "; since %s", opt->since);
		g_string_append_c(head, ')');

		g_string_append(out, "  ");
		append_wrapped(out, head->str, 2, 6);
		g_string_append(out, "      ");
		append_wrapped(out, opt->help ? opt->help : "", 6, 6);
		g_string_free(head, TRUE);
		g_free(value);
	}
}
