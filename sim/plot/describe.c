/* SPDX-License-Identifier: MIT
 * What the rows of a table have in common, in words.
 */
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "sim/plot/chart.h"

gboolean rf_chart_differs(const struct rf_table *t, const char *name)
{
	return rf_table_column(t, name) >= 0 && !rf_table_constant(t, name);
}

const char *rf_chart_memory(const struct rf_table *t)
{
	/* In bytes first: a share of the footprint is in bytes only as long as there is one trace.
	 */
	static const char *const bytes[] = { "limit_bytes", "frames_n", "ram_bytes" };
	static const char *const given[] = { "limit", "frames", "ram" };
	gboolean one = !rf_chart_differs(t, "trace");

	for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) {
		if (rf_chart_differs(t, bytes[i]))
			return one || !rf_chart_differs(t, given[i]) ? bytes[i] : given[i];
	}
	return bytes[0];
}

gboolean rf_spread_parse(const char *text, enum rf_spread *spread, GError **error)
{
	if (strcmp(text, "range") == 0) {
		*spread = RF_SPREAD_RANGE;
	} else if (strcmp(text, "sd") == 0) {
		*spread = RF_SPREAD_SD;
	} else {
		rf_set_usage(error, "--spread %s: expected range or sd", text);
		return FALSE;
	}
	return TRUE;
}

/* "2 traces". */
static char *how_many(const struct rf_table *t, const char *name)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	int column = rf_table_column(t, name);

	for (guint i = 0; i < t->rows->len; i++)
		g_hash_table_add(seen, (char *)rf_table_get(t, i, column));
	return g_strdup_printf("%u %ss", g_hash_table_size(seen), name);
}

static void append(GString *out, const char *text)
{
	if (out->len > 0)
		g_string_append(out, g_str_has_suffix(out->str, ":") ? " " : ", ");
	g_string_append(out, text);
}

char *rf_chart_title(const struct rf_table *t)
{
	const char *trace = rf_table_constant(t, "trace"),
		   *frames = rf_table_constant(t, "frames_n");
	const char *machine = rf_table_constant(t, "machine"), *swap = rf_table_constant(t, "swap");
	const char *page = rf_table_constant(t, "page_bytes");
	GString *out = g_string_new(NULL);
	uint64_t bytes;

	if (trace) {
		g_autofree char *base = g_path_get_basename(trace);

		g_string_append_printf(out, "%s:", base);
	} else if (rf_table_column(t, "trace") >= 0) {
		g_autofree char *many = how_many(t, "trace");

		g_string_append_printf(out, "%s:", many);
	}
	if (frames ? strcmp(frames, "0") != 0 : rf_table_column(t, "frames_n") >= 0)
		append(out, "ideal memory");
	else if (machine)
		append(out, machine);
	if (page && rf_parse_u64(page, &bytes, NULL)) {
		g_autofree char *size = rf_format_size(bytes);
		g_autofree char *pages = g_strdup_printf("%s pages", size);

		append(out, pages);
	}
	if (machine && swap && (!frames || strcmp(frames, "0") == 0)) {
		g_autofree char *text = strcmp(swap, "none") == 0
		                                ? g_strdup("no swap")
		                                : g_strdup_printf("swap %s", swap);

		append(out, text);
	}
	if (g_str_has_suffix(out->str, ":"))
		g_string_truncate(out, out->len - 1);
	return g_string_free(out, FALSE);
}
