/* SPDX-License-Identifier: MIT
 * What Intel Pin's example tool pinatrace writes: "0xPC: R 0xADDR", and "#eof" at the end.
 */
#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

struct pin {
	struct rf_lines lines;
	struct rf_procs *procs;
	gboolean eof;
};

struct record {
	enum rf_access type;
	uint64_t addr, size;
};

/* Variants append the size, or put 0x nowhere. */
static gboolean parse(char *s, struct record *r)
{
	uint64_t pc;

	rf_take_blanks(&s);
	if (!rf_take_hex(&s, &pc) || !rf_take_literal(&s, ":"))
		return FALSE;
	rf_take_blanks(&s);
	r->type = *s == 'W' ? RF_WRITE : RF_READ;
	if (!rf_take_literal(&s, "R ") && !rf_take_literal(&s, "W "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_hex(&s, &r->addr))
		return FALSE;
	rf_take_blanks(&s);
	r->size = 1;
	return *s == 0 || (rf_take_digits(&s, 10, &r->size) && r->size > 0 && r->size <= 4096);
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct pin *p = self;

	(void)error;
	p->procs = rf_procs_new(p->lines.b, opt, FALSE);
	return TRUE;
}

static void clear(void *self)
{
	rf_procs_free(((struct pin *)self)->procs);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct pin *p = self;
	struct record r;

	if (!parse(s, &r)) {
		p->eof |= g_str_has_prefix(s, "#eof");
		return RF_LINE_OTHER;
	}
	return rf_line_of(rf_procs_access(p->procs, 1, 1, r.type, r.addr, r.size, error));
}

static enum rf_step end(void *self, GError **error)
{
	struct pin *p = self;

	(void)error;
	if (!p->eof)
		rf_builder_skipped(p->lines.b, "no #eof at the end: the recording was cut short");
	return RF_STEP_END;
}

static const struct rf_line_format format = {
	.size = sizeof(struct pin),
	.example = "0x55d0c8a1b7e4: W 0x7ffd20a1be58",
	.sure = 80,
	.like = like,
	.begin = begin,
	.line = line,
	.end = end,
	.clear = clear,
};

const struct rf_importer rf_pin_importer = {
	.name = "pin",
	.summary = "Intel Pin's pinatrace: '0xPC: R 0xADDR'",
	.cannot = "instruction fetches; which thread ran; time; mappings, without --maps; what the kernel "
	          "touched",
	.lines = &format,
};
