/* SPDX-License-Identifier: MIT */
#include "sim/cells.h"

#include <string.h>

#include "base/units.h"

void rf_cell(GString *out, const char *text)
{
	glong pad = RF_CELL - g_utf8_strlen(text, -1);

	g_string_append_printf(out, "%*s%s", (int)MAX(pad, 1), "", text);
}

/* In full up to 999,999,999, which is what fits. */
void rf_count_cell(GString *out, uint64_t n)
{
	static const char *const units[] = { "", " M", " G", " T" };
	unsigned u = 0;
	g_autofree char *digits = NULL, *text = NULL;

	for (uint64_t most = 1000000000; n >= most && u + 1 < G_N_ELEMENTS(units); u++)
		n /= u ? 1000 : 1000000;
	digits = rf_format_count(n);
	text = g_strconcat(digits, units[u], NULL);
	rf_cell(out, text);
}

void rf_size_cell(GString *out, uint64_t n)
{
	g_autofree char *text = rf_format_size(n);

	rf_cell(out, text);
}

/* part of whole in percent with some decimals.  Rounded, but only all of it is 100. */
char *rf_share_text(uint64_t part, uint64_t whole, unsigned decimals)
{
	uint64_t one = 1, n;

	if (whole == 0)
		return g_strdup("-");
	for (unsigned i = 0; i < decimals; i++)
		one *= 10;
	n = (uint64_t)(((unsigned __int128)part * 100 * one + whole / 2) / whole);
	if (n == 100 * one && part < whole)
		n--;
	return g_strdup_printf("%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %%", n / one,
	                       (int)decimals, n % one);
}

void rf_share_cell(GString *out, uint64_t part, uint64_t whole, unsigned decimals)
{
	g_autofree char *text = rf_share_text(part, whole, decimals);

	rf_cell(out, text);
}

void rf_label(GString *out, const char *text)
{
	g_string_append_printf(out, "%-*s", RF_LABEL, text);
}

/* A label that a trace gave: a long one has a line of its own. */
void rf_foreign_label(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	glong len;

	if (g_utf8_strlen(valid, -1) > RF_COLUMNS)
		*g_utf8_offset_to_pointer(valid, RF_COLUMNS) = '\0';
	g_strdelimit(valid, "\n\r\t\033\b", '?');
	len = g_utf8_strlen(valid, -1);
	if (len > RF_LABEL)
		g_string_append_printf(out, "%s\n%*s", valid, RF_LABEL, "");
	else
		g_string_append_printf(out, "%s%*s", valid, (int)(RF_LABEL - len), "");
}

void rf_table_head(GString *out, const char *name, const char *const *columns)
{
	g_string_append_c(out, '\n');
	rf_label(out, name);
	for (; *columns; columns++)
		rf_cell(out, *columns);
	g_string_append_c(out, '\n');
}

/* "Label   a 1, b 2" of those that are not zero; nothing when all are. */
void rf_facts_line(GString *out, const char *name, const struct rf_fact *f, size_t n)
{
	size_t column = RF_LABEL;
	gboolean any = FALSE;

	for (size_t i = 0; i < n; i++) {
		g_autofree char *number = rf_format_count(f[i].n);
		size_t len = strlen(f[i].name) + 1 + strlen(number);

		if (f[i].n == 0)
			continue;
		if (!any) {
			rf_label(out, name);
			g_string_append(out, "  ");
			column = RF_LABEL + 2;
		} else if (column + 2 + len > RF_COLUMNS) {
			g_string_append_printf(out, ",\n%*s", RF_LABEL + 2, "");
			column = RF_LABEL + 2;
		} else {
			g_string_append(out, ", ");
			column += 2;
		}
		g_string_append_printf(out, "%s %s", f[i].name, number);
		column += len;
		any = TRUE;
	}
	if (any)
		g_string_append_c(out, '\n');
}
