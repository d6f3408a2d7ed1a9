/* SPDX-License-Identifier: MIT
 * The line for people who write their own recorder, with bpftrace or otherwise:
 *     time_ns pid tid op addr len [words]
 * op is R, W or X, addr hexadecimal, the rest decimal.  "Lost N events" counts them.
 */
#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

struct oneline {
	struct rf_lines lines;
	struct rf_procs *procs;
};

struct record {
	uint64_t ns, addr, len;
	uint32_t pid, tid;
	enum rf_access type;
	const char *bad, *what;
};

static gboolean take_op(char **s, enum rf_access *type)
{
	switch (**s) {
	case 'R':
		*type = RF_READ;
		break;
	case 'W':
		*type = RF_WRITE;
		break;
	case 'X':
		*type = RF_EXEC;
		break;
	default:
		return FALSE;
	}
	(*s)++;
	return TRUE;
}

static gboolean blank(char **s)
{
	char *before = *s;

	rf_take_blanks(s);
	return *s > before;
}

static enum rf_line parse(char *s, struct record *r)
{
	enum rf_line no = RF_LINE_OTHER;
	gboolean good;

	rf_take_blanks(&s);
	good = rf_take_digits(&s, 10, &r->ns) && blank(&s) && rf_take_tid(&s, &r->pid) && blank(&s) &&
	       rf_take_tid(&s, &r->tid) && blank(&s);
	if (!good)
		return no;
	r->what = "R, W or X";
	good = take_op(&s, &r->type) && blank(&s);
	if (good) {
		r->what = "an address, hexadecimal";
		good = rf_take_hex(&s, &r->addr) && blank(&s);
	}
	if (good) {
		r->what = "a number of bytes";
		good = rf_take_digits(&s, 10, &r->len) && (*s == 0 || blank(&s));
	}
	r->bad = s;
	return good ? RF_LINE_TAKEN : RF_LINE_BAD;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r) == RF_LINE_TAKEN;
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct oneline *o = self;

	(void)error;
	o->procs = rf_procs_new(o->lines.b, opt, FALSE);
	return TRUE;
}

static void clear(void *self)
{
	rf_procs_free(((struct oneline *)self)->procs);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct oneline *o = self;
	struct rf_event lost = { .kind = RF_EV_LOST };
	struct record r;

	if (rf_take_literal(&s, "Lost ") && rf_take_digits(&s, 10, &lost.len) &&
	    rf_take_literal(&s, " events") && lost.len > 0)
		return rf_line_of(rf_builder_event(o->lines.b, &lost, error));
	switch (parse(s, &r)) {
	case RF_LINE_TAKEN:
		break;
	case RF_LINE_BAD:
		return rf_lines_expected(&o->lines, r.bad, r.what, error);
	default:
		return RF_LINE_OTHER;
	}
	return rf_line_of(
		rf_lines_time(&o->lines, r.ns, error) &&
		rf_procs_access(o->procs, r.pid, r.tid, r.type, r.addr, r.len, error));
}

static const struct rf_line_format format = {
	.size = sizeof(struct oneline),
	.example = "7310114250331 4242 4243 W 7f10a2c4e018 8",
	.sure = 70,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_oneline_importer = {
	.name = "oneline",
	.summary = "what a script (bpftrace) prints: 'time_ns pid tid R|W|X addr len'",
	.cannot = "mappings, without --maps; order among processors; whatever the script did not see",
	.lines = &format,
};
