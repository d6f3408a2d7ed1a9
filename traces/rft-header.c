/* SPDX-License-Identifier: MIT
 * The text in the head of a .rft: sections of key=value lines.  Unknown sections are skipped, so that
 * a later writer may add one.
 */
#include <string.h>

#include "traces/escape.h"
#include "traces/rft.h"

void rft_header_write(GString *text, const struct rf_header *h)
{
	g_string_append_printf(text, "[trace]\ngranule=%u\n[header]\n",
	                       1u << h->granule_shift);
	for (guint i = 0; h->keys != NULL && i < h->keys->len; i++) {
		const char *key = h->keys->pdata[i];

		/* A key is no section. */
		if (key[0] == '[') {
			g_string_append(text, "\\133");
			key++;
		}
		rf_escape(text, key);
		g_string_append_c(text, '=');
		rf_escape(text, h->values->pdata[i]);
		g_string_append_c(text, '\n');
	}
}

static const char *trace_line(struct rf_header *h, const char *key, const char *value)
{
	if (strcmp(key, "granule") == 0) {
		for (unsigned shift = 12; shift <= 16; shift++) {
			char size[8];

			g_snprintf(size, sizeof(size), "%u", 1u << shift);
			if (strcmp(value, size) == 0)
				h->granule_shift = shift;
		}
		return h->granule_shift != 0 ? NULL : "the granule is not 4096 to 65536";
	}
	return NULL;
}

static const char *one_line(struct rf_header *h, const char *section, char *line)
{
	char *eq = strchr(line, '=');

	if (eq == NULL || eq == line)
		return "a line of the header is not key=value";
	*eq = 0;
	if (strcmp(section, "trace") == 0)
		return trace_line(h, line, eq + 1);
	if (strcmp(section, "header") != 0)
		return NULL;
	if (rf_unescape(line) != NULL || rf_unescape(eq + 1) != NULL)
		return "a broken escape in the header";
	rf_header_set(h, line, eq + 1);
	return NULL;
}

gboolean rft_header_parse(struct rf_header *h, const char *text, size_t n, const char **problem)
{
	char *copy = g_strndup(text, n), *section = NULL, *next;

	*problem = strlen(copy) != n ? "a NUL byte in the header" : NULL;
	h->granule_shift = 0;
	for (char *line = copy; *problem == NULL && *line != 0; line = next) {
		char *end = strchr(line, '\n');

		if (end == NULL) {
			*problem = "the header's last line has no end";
			break;
		}
		*end = 0;
		next = end + 1;
		if (line[0] == '[' && end > line + 1 && end[-1] == ']') {
			end[-1] = 0;
			section = line + 1;
		} else if (section == NULL) {
			*problem = "the header does not begin with a section";
		} else {
			*problem = one_line(h, section, line);
		}
	}
	if (*problem == NULL && h->granule_shift == 0)
		*problem = "the header has no granule";
	g_free(copy);
	return *problem == NULL;
}
