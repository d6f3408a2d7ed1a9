/* SPDX-License-Identifier: MIT
 * What formats of one record a line have in common: reading lines, noise between records, a file
 * that was cut short, time.  A format is a function that takes a line, and this does the rest.
 */
#ifndef RF_LINES_H
#define RF_LINES_H

#include "traces/import/fields.h"
#include "traces/import/import.h"

enum rf_line {
	RF_LINE_BAD = -1, /* the error is set, without its position */
	RF_LINE_OTHER,    /* no record: noise, or one whose end is missing */
	RF_LINE_TAKEN,    /* a record, perhaps one that is of no use and was counted as skipped */
};

/* First member of a format's own data. */
struct rf_lines {
	const struct rf_line_format *format;
	struct rf_input *in;
	struct rf_builder *b;
	gboolean strict;
	uint64_t records;
	const char *line;   /* the line in hand, as it came */
	uint64_t start, at; /* time of the first record, and of the last one, ns */
	gboolean timed, ended;
};

struct rf_line_format {
	size_t size;         /* of the format's own data */
	const char *example; /* of a record, for messages */
	/* Could this line be a record?  For sniffing; NULL where the importer has a probe.  May write
	 * to s. */
	gboolean (*like)(const struct rf_line_format *f, char *s);
	/* How sure, 0..100, where most lines are like records; 0: never sniffed, for formats that
	 * look like others. */
	int sure;
	gboolean blank_lines; /* they mean something: hand them over too */
	/* Take a line, NUL-terminated, that may be written to. */
	enum rf_line (*line)(void *self, char *s, GError **error);
	/* These three are optional.  begin: all of self but its first member is zero. */
	gboolean (*begin)(void *self, const struct rf_source_options *opt, GError **error);
	/* All lines were taken; called until it says RF_STEP_END. */
	enum rf_step (*end)(void *self, GError **error);
	void (*clear)(void *self);
};

/* The importer's functions, for any format; source.c calls them. */
int rf_lines_probe(const struct rf_line_format *f, const uint8_t *head, size_t n);
void *rf_lines_open(const struct rf_line_format *f, struct rf_input *in, struct rf_builder *b,
                    const struct rf_source_options *opt, GError **error);
enum rf_step rf_lines_step(void *self, GError **error);
void rf_lines_close(void *self);

/* Complain of the text at a place in the line in hand: "column 5: 'abc'; expected WHAT". */
enum rf_line rf_lines_expected(const struct rf_lines *l, const char *at, const char *what,
                               GError **error);
/* What a call of the builder said. */
static inline enum rf_line rf_line_of(gboolean good)
{
	return good ? RF_LINE_TAKEN : RF_LINE_BAD;
}

/* The time of the record in hand, by the source's clock; the trace's begins with the first.  Time
 * that goes back is counted, and stands still in the trace. */
gboolean rf_lines_time(struct rf_lines *l, uint64_t ns, GError **error);
/* As above, of a clock that is 0 where the recording began. */
gboolean rf_lines_time_from_0(struct rf_lines *l, uint64_t ns, GError **error);

/* An access of a trace that knows of no tasks: it is task 1. */
static inline enum rf_line rf_lines_access(struct rf_lines *l, enum rf_access type, uint64_t addr,
                                           uint64_t len)
{
	rf_builder_access(l->b, 1, type, addr, len, 1);
	return RF_LINE_TAKEN;
}

#endif
