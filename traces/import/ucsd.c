/* SPDX-License-Identifier: MIT
 * Address traces of UCSD's form: "l 0x12ff228 1", a load or store and the instructions since the one
 * before.  An instruction counts as 1 ns.
 */
#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

#define TICK 1000 /* instructions between two events that tell the time */

struct ucsd {
	struct rf_lines lines;
	struct rf_procs *procs;
	uint64_t instructions, told;
};

static gboolean like(const struct rf_line_format *f, char *s)
{
	uint64_t addr, n;

	(void)f;
	return (rf_take_literal(&s, "l 0x") || rf_take_literal(&s, "s 0x")) &&
	       rf_take_digits(&s, 16, &addr) && rf_take_literal(&s, " ") && rf_take_digits(&s, 10, &n);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct ucsd *u = self;

	(void)error;
	rf_header_set(rf_builder_header(u->lines.b), "clock", "ns");
	u->procs = rf_procs_new(u->lines.b, opt, FALSE);
	return TRUE;
}

static void clear(void *self)
{
	rf_procs_free(((struct ucsd *)self)->procs);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct ucsd *u = self;
	enum rf_access type = *s == 's' ? RF_WRITE : RF_READ;
	uint64_t addr, n;

	if (!rf_take_literal(&s, "l ") && !rf_take_literal(&s, "s "))
		return RF_LINE_OTHER;
	if (!rf_take_literal(&s, "0x") || !rf_take_digits(&s, 16, &addr) || !rf_take_literal(&s, " "))
		return rf_lines_expected(&u->lines, s, "an address with 0x", error);
	if (!rf_take_digits(&s, 10, &n) || (*s != 0 && *s != ' ') ||
	    __builtin_add_overflow(u->instructions, n, &u->instructions))
		return rf_lines_expected(&u->lines, s, "a number of instructions", error);
	if (u->instructions - u->told >= TICK) {
		u->told = u->instructions;
		if (!rf_lines_time_from_0(&u->lines, u->told, error))
			return RF_LINE_BAD;
	}
	return rf_line_of(rf_procs_access(u->procs, 1, 1, type, addr, 1, error));
}

static const struct rf_line_format format = {
	.size = sizeof(struct ucsd),
	.example = "l 0x12ff228 1",
	.sure = 70,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_ucsd_importer = {
	.name = "ucsd",
	.summary = "address traces of UCSD's form: 'l 0xADDR N', N instructions since the last access",
	.cannot = "instruction fetches; which thread ran; mappings, without --maps; sizes of accesses; how "
	          "long an instruction takes (each counts as 1 ns)",
	.lines = &format,
};
