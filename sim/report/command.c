/* SPDX-License-Identifier: MIT */
#include "sim/report/command.h"

#include <string.h>

char *rf_shell_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=,+%@";

	return *text && text[strspn(text, plain)] == '\0' ? g_strdup(text) : g_shell_quote(text);
}

void rf_command_options(GPtrArray *list, const struct rf_option *table, const void *block,
                        const void *defaults)
{
	for (const struct rf_option *o = table; o->name; o++) {
		g_autofree char *value = rf_options_value(o, block),
				*def = rf_options_value(o, defaults);
		g_autofree char *quoted = NULL;

		if (strcmp(value, def) == 0)
			continue;
		quoted = rf_shell_word(value);
		if (o->type == RF_OPT_BOOL)
			g_ptr_array_add(list,
			                g_strdup_printf("--%s%s", o->name,
			                                strcmp(value, "yes") == 0 ? "" : "=no"));
		else
			g_ptr_array_add(list, g_strdup_printf("--%s %s", o->name, quoted));
	}
}

void rf_command_lines(GString *out, const char *label, unsigned indent, unsigned columns,
                      const GPtrArray *list)
{
	size_t column = indent;

	g_string_append_printf(out, "%-*s", (int)indent, label);
	for (guint i = 0; i < list->len; i++) {
		const char *word = list->pdata[i];
		size_t len = (size_t)g_utf8_strlen(word, -1);

		if (i > 0 && column + 1 + len > columns - 2) {
			g_string_append_printf(out, " \\\n%*s", (int)indent + 4, "");
			column = indent + 4;
		} else if (i > 0) {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append(out, word);
		column += len;
	}
	g_string_append_c(out, '\n');
}
