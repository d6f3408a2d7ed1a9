/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"

#define COLUMNS 79

void rf_wrap(GString *out, const char *text, unsigned column, unsigned indent)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **w = words; *w; w++) {
		unsigned len = (unsigned)g_utf8_strlen(*w, -1);

		if (w == words) {
			/* Wherever the caller has left the line. */
		} else if (column + 1 + len > COLUMNS) {
			g_string_append_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append(out, *w);
		column += len;
	}
	g_string_append_c(out, '\n');
}
