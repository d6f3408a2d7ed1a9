/* SPDX-License-Identifier: MIT
 * Numbers of pages, one a line: courses' exercises, and LIRS's traces, where "*" ends a pass.
 */
#include "traces/import/formats.h"
#include "traces/import/lines.h"

static enum rf_line line(void *self, char *s, GError **error)
{
	uint64_t page;

	rf_take_blanks(&s);
	if (*s == '*' && s[1] == 0)
		return RF_LINE_TAKEN;
	if (!g_ascii_isdigit(*s))
		return RF_LINE_OTHER;
	if (!rf_take_digits(&s, 10, &page) || page > UINT64_MAX >> RF_GRANULE_SHIFT)
		return rf_lines_expected(self, s, "a page's number below 2^52", error);
	rf_take_blanks(&s);
	if (*s != 0)
		return rf_lines_expected(self, s, "nothing behind a page's number", error);
	return rf_lines_access(self, RF_WRITE, page << RF_GRANULE_SHIFT, 1);
}

static const struct rf_line_format format = {
	.size = sizeof(struct rf_lines),
	.example = "4711",
	.line = line,
};

const struct rf_importer rf_pages_importer = {
	.name = "pages",
	.summary = "numbers of pages, decimal, one a line (LIRS, exercises)",
	.cannot = "reads from writes (all are taken as writes, so that every page has a frame of its own); "
	          "time; tasks; mappings",
	.lines = &format,
};
