/* SPDX-License-Identifier: MIT
 * What DynamoRIO's drmemtrace tool view prints: record, instruction, thread, then an access, a fetch
 * or a marker.  Times are those of its timestamp markers (us).
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

struct drview {
	struct rf_lines lines;
	struct rf_procs *procs;
};

struct record {
	uint32_t workload, tid;
	char *what; /* what stands behind the thread */
};

static gboolean parse(char *s, struct record *r)
{
	uint64_t number;

	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &number) || *s != ' ')
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &number) || !rf_take_literal(&s, ":"))
		return FALSE;
	rf_take_blanks(&s);
	r->workload = 0;
	if (rf_take_literal(&s, "W") && (!rf_take_tid(&s, &r->workload) || !rf_take_literal(&s, ".")))
		return FALSE;
	rf_take_literal(&s, "T");
	if (!rf_take_tid(&s, &r->tid) || *s != ' ')
		return FALSE;
	rf_take_blanks(&s);
	r->what = s;
	return *s != 0;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r) && (strstr(s, " byte(s) @ 0x") != NULL || *r.what == '<');
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct drview *d = self;

	(void)error;
	d->procs = rf_procs_new(d->lines.b, opt, FALSE);
	return TRUE;
}

static void clear(void *self)
{
	rf_procs_free(((struct drview *)self)->procs);
}

static enum rf_line marker(struct drview *d, char *s, GError **error)
{
	uint64_t us;

	if (strchr(s, '>') == NULL)
		return RF_LINE_OTHER;
	if (!rf_take_literal(&s, "timestamp ") || !rf_take_digits(&s, 10, &us) ||
	    us > UINT64_MAX / 1000)
		return RF_LINE_TAKEN;
	/* since 1601, which leaves no room for ns */
	if (!d->lines.timed) {
		d->lines.timed = TRUE;
		d->lines.start = us;
	}
	return rf_line_of(us < d->lines.start ||
	                  rf_lines_time_from_0(&d->lines, (us - d->lines.start) * 1000, error));
}

static enum rf_line line(void *self, char *s, GError **error)
{
	static const struct { const char *word; enum rf_access type; } kinds[] = {
		{ "read", RF_READ }, { "write", RF_WRITE }, { "ifetch", RF_EXEC },
	};
	struct drview *d = self;
	struct record r;
	uint64_t size, addr;
	unsigned i;

	if (!parse(s, &r))
		return RF_LINE_OTHER;
	s = r.what;
	if (rf_take_literal(&s, "<marker: "))
		return marker(d, s, error);
	for (i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (rf_take_literal(&s, kinds[i].word) && *s == ' ')
			break;
	if (i == G_N_ELEMENTS(kinds))
		return RF_LINE_OTHER;
	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &size) || size == 0 || size > 65536)
		return rf_lines_expected(&d->lines, s, "a size in bytes", error);
	if (!rf_take_literal(&s, " byte(s) @ ") || !rf_take_hex(&s, &addr) || *s != ' ')
		return rf_lines_expected(&d->lines, s, "' byte(s) @ ' and an address", error);
	if (kinds[i].type != RF_EXEC && !g_str_has_prefix(s, " by PC 0x"))
		return rf_lines_expected(&d->lines, s, "' by PC 0x...'", error);
	return rf_line_of(rf_procs_access(d->procs, r.workload, r.tid, kinds[i].type, addr, size, error));
}

static const struct rf_line_format format = {
	.size = sizeof(struct drview),
	.example = "4012 1997: W0.T7731 write 8 byte(s) @ 0x00007f3ac0011a40 by PC 0x00007f3abf9e1c22",
	.sure = 85,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_drview_importer = {
	.name = "drview",
	.summary = "DynamoRIO drmemtrace traces, as its tool view prints them",
	.cannot = "mappings, without --maps; what the kernel touched",
	.lines = &format,
};
