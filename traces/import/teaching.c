/* SPDX-License-Identifier: MIT
 * What courses hand out: "0041f7a0 R", a hexadecimal address and a letter.
 */
#include "traces/import/formats.h"
#include "traces/import/lines.h"

static gboolean parse(char *s, enum rf_access *type, uint64_t *addr)
{
	rf_take_blanks(&s);
	if (!rf_take_hex(&s, addr) || (*s != ' ' && *s != '\t'))
		return FALSE;
	rf_take_blanks(&s);
	*type = *s == 'W' || *s == 'w' ? RF_WRITE : RF_READ;
	if (*s != 'R' && *s != 'r' && *s != 'W' && *s != 'w')
		return FALSE;
	s++;
	rf_take_blanks(&s);
	return *s == 0;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	enum rf_access type;
	uint64_t addr;

	(void)f;
	return parse(s, &type, &addr);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	enum rf_access type;
	uint64_t addr;

	if (parse(s, &type, &addr))
		return rf_lines_access(self, type, addr, 1);
	/* An address and something else is a mistake rather than talk. */
	return rf_take_hex(&s, &addr) && (*s == ' ' || *s == '\t') && g_ascii_isalnum(s[1]) && s[2] == 0
	               ? rf_lines_expected(self, s + 1, "R or W", error)
	               : RF_LINE_OTHER;
}

static const struct rf_line_format format = {
	.size = sizeof(struct rf_lines),
	.example = "0041f7a0 R",
	.sure = 60,
	.like = like,
	.line = line,
};

const struct rf_importer rf_teaching_importer = {
	.name = "teaching",
	.summary = "courses' address traces: 'HEX R' or 'HEX W'",
	.cannot = "instruction fetches (they count as reads); time; tasks; mappings; sizes of accesses",
	.lines = &format,
};
