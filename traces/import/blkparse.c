/* SPDX-License-Identifier: MIT
 * What blkparse(1) prints of a block trace, in its own form.
 *
 * A request passes several stations.  One is taken: where it was queued, or, in a file that does not
 * show that, where it was issued, or else where it was completed.
 */
#include <string.h>

#include "traces/import/devices.h"
#include "traces/import/formats.h"
#include "traces/import/lines.h"

struct blkparse {
	struct rf_lines lines;
	struct rf_devices *devices;
	char station; /* the action that counts */
};

struct record {
	uint64_t major, minor, ns, sector, n;
	uint32_t pid;
	char action[8], rwbs[16];
};

/* "259,0    1       77     0.004410212  4242  Q   R 40218624 + 8 [pgtoy]"; what stands behind rwbs
 * depends on both. */
static gboolean parse(char *s, struct record *r, char **rest)
{
	uint64_t ignored;

	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &r->major) || !rf_take_literal(&s, ",") ||
	    !rf_take_digits(&s, 10, &r->minor) || !rf_take_literal(&s, " "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &ignored) || !rf_take_literal(&s, " "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &ignored) || !rf_take_literal(&s, " "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_fraction(&s, 9, &r->ns) || !rf_take_literal(&s, " "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_tid(&s, &r->pid) || !rf_take_literal(&s, " "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_word(&s, " \t", r->action, sizeof(r->action)))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_word(&s, " \t", r->rwbs, sizeof(r->rwbs)))
		return FALSE;
	rf_take_blanks(&s);
	*rest = s;
	return TRUE;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r, &s);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct blkparse *b = self;
	size_t have;
	const uint8_t *p = rf_input_peek(b->lines.in, 1u << 20, &have, error);
	gboolean seen[256] = { FALSE };
	char **lines, *text;

	(void)opt;
	if (p == NULL)
		return FALSE;
	text = g_strndup((const char *)p, have);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned i = 0; lines[i] != NULL; i++) {
		struct record r;
		char *rest;

		if (parse(lines[i], &r, &rest) && r.action[1] == 0)
			seen[(uint8_t)r.action[0]] = TRUE;
	}
	g_strfreev(lines);
	g_free(text);
	b->station = seen['Q'] ? 'Q' : seen['D'] ? 'D' : seen['C'] ? 'C' : 'Q';
	b->devices = rf_devices_new(b->lines.b);
	return TRUE;
}

static void clear(void *self)
{
	rf_devices_free(((struct blkparse *)self)->devices);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct blkparse *b = self;
	struct record r = { 0 };
	char name[64];
	gboolean write;

	if (!parse(s, &r, &s))
		return RF_LINE_OTHER;
	if (r.action[0] != b->station || r.action[1] != 0) {
		rf_builder_skipped(b->lines.b, "another station of a request");
		return RF_LINE_TAKEN;
	}
	write = strchr(r.rwbs, 'W') != NULL;
	if ((!write && strchr(r.rwbs, 'R') == NULL) || *s == '[') {
		rf_builder_skipped(b->lines.b, "discard, flush or other request without data");
		return RF_LINE_TAKEN;
	}
	if (!rf_take_digits(&s, 10, &r.sector))
		return rf_lines_expected(&b->lines, s, "a sector", error);
	if (!rf_take_literal(&s, " + ") || !rf_take_digits(&s, 10, &r.n) || (*s != 0 && *s != ' '))
		return rf_lines_expected(&b->lines, s, "' + ' and a number of sectors", error);
	g_snprintf(name, sizeof(name), "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, r.major, r.minor);
	return rf_line_of(rf_lines_time(&b->lines, r.ns, error) &&
	                  rf_devices_sectors(b->devices, r.pid, name, write, r.sector, r.n, error));
}

static const struct rf_line_format format = {
	.size = sizeof(struct blkparse),
	.example = "259,0 1 77 0.004410212 4242 Q R 40218624 + 8 [demo]",
	.sure = 80,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_blkparse_importer = {
	.name = "blkparse",
	.summary = "block traces as blkparse prints them",
	.cannot = "hits of the page cache; which file; which tasks are threads; sizes of devices; who "
	          "wrote what writeback writes",
	.lines = &format,
};
