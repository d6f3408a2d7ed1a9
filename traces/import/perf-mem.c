/* SPDX-License-Identifier: MIT
 * Samples of loads and stores: perf mem report -D -x,
 *     pid,tid,0xIP,0xADDR,[0xPHYS,][size,]weight,0xDSRC,object:symbol
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

#define USER_END ((uint64_t)1 << 56)

/* Bits of perf_event_open(2)'s data source. */
enum { OP_STORE = 4, OP_EXEC = 16 };

struct perf_mem {
	struct rf_lines lines;
	struct rf_procs *procs;
};

struct record {
	uint32_t pid, tid;
	uint64_t ip, addr, source;
	const char *bad, *what;
};

static gboolean comma(char **s)
{
	rf_take_blanks(s);
	if (!rf_take_literal(s, ","))
		return FALSE;
	rf_take_blanks(s);
	return TRUE;
}

static enum rf_line parse(char *s, struct record *r)
{
	gboolean have = FALSE;

	rf_take_blanks(&s);
	if (!rf_take_tid(&s, &r->pid) || !comma(&s))
		return RF_LINE_OTHER;
	r->what = "a task's number, 0xIP and 0xADDR";
	r->bad = s;
	if (!rf_take_tid(&s, &r->tid) || !comma(&s) || !rf_take_literal(&s, "0x") ||
	    !rf_take_digits(&s, 16, &r->ip) || !comma(&s) || !rf_take_literal(&s, "0x") ||
	    !rf_take_digits(&s, 16, &r->addr) || !comma(&s))
		return RF_LINE_BAD;
	/* what stands between depends on the options; the source is the last number with 0x */
	r->what = "a data source with 0x, and a symbol";
	while (*s != 0 && strchr(s, ',') != NULL) {
		r->bad = s;
		if (rf_take_literal(&s, "0x")) {
			if (!rf_take_digits(&s, 16, &r->source))
				return RF_LINE_BAD;
			have = TRUE;
		}
		s += strcspn(s, ",");
		if (!comma(&s))
			return RF_LINE_BAD;
	}
	return have ? RF_LINE_TAKEN : RF_LINE_BAD;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r) == RF_LINE_TAKEN;
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct perf_mem *p = self;

	(void)error;
	rf_header_set(rf_builder_header(p->lines.b), "sampled", "one access in many");
	p->procs = rf_procs_new(p->lines.b, opt, FALSE);
	return TRUE;
}

static void clear(void *self)
{
	rf_procs_free(((struct perf_mem *)self)->procs);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct perf_mem *p = self;
	struct record r;
	enum rf_access type;

	switch (parse(s, &r)) {
	case RF_LINE_TAKEN:
		break;
	case RF_LINE_BAD:
		return rf_lines_expected(&p->lines, r.bad, r.what, error);
	default:
		return RF_LINE_OTHER;
	}
	if (r.addr == 0 || r.addr >= USER_END) {
		rf_builder_skipped(p->lines.b, "sample without a user's address");
		return RF_LINE_TAKEN;
	}
	type = r.source & OP_STORE ? RF_WRITE : r.source & OP_EXEC ? RF_EXEC : RF_READ;
	return rf_line_of(rf_procs_access(p->procs, r.pid, r.tid, type, r.addr, 1, error));
}

static const struct rf_line_format format = {
	.size = sizeof(struct perf_mem),
	.example = "4242,4243,0x5594c0220c,0x7f10a2c4f010,31,0x68100142,/opt/demo:work_loop",
	.sure = 85,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_perf_mem_importer = {
	.name = "perf-mem",
	.summary = "perf mem report -D -x, : samples of loads and stores",
	.cannot = "all accesses but the samples (fault counts would be too low); time; mappings, without "
	          "--maps",
	.lines = &format,
};
