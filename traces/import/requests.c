/* SPDX-License-Identifier: MIT */
#include "traces/import/requests.h"

#include <string.h>

#include "traces/import/devices.h"

#define NAME_MAX_BYTES 256

struct request {
	char device[NAME_MAX_BYTES];
	gboolean write;
	uint64_t time, off, len;
	const char *bad, *what; /* where the line is not as it should be, and what was expected */
};

static gboolean take_op(char **s, gboolean *write)
{
	static const struct { const char *word; gboolean write; } ops[] = {
		{ "read", FALSE }, { "r", FALSE }, { "write", TRUE }, { "w", TRUE },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(ops); i++)
		if (g_ascii_strncasecmp(*s, ops[i].word, strlen(ops[i].word)) == 0) {
			*s += strlen(ops[i].word);
			*write = ops[i].write;
			return TRUE;
		}
	return FALSE;
}

static gboolean take_units(char **s, uint64_t unit, uint64_t *value)
{
	char *p = *s;

	if (!rf_take_digits(&p, 10, value) || __builtin_mul_overflow(*value, unit, value))
		return FALSE;
	*s = p;
	return TRUE;
}

/* Names of several columns are joined with points. */
static gboolean take_device(const struct rf_request_format *f, char **s, const char *stop,
                            struct request *r)
{
	size_t n = strlen(r->device);

	if (n == 0)
		n = g_strlcpy(r->device, f->device, sizeof(r->device));
	else if (n + 1 < sizeof(r->device))
		r->device[n++] = '.';
	return rf_take_word(s, stop, r->device + n, sizeof(r->device) - n);
}

static gboolean take_column(const struct rf_request_format *f, const struct rf_column *c, char **s,
                            struct request *r)
{
	const char stop[3] = { f->separator, f->separator == ' ' ? '\t' : 0, 0 };

	switch (c->role) {
	case RF_COL_IGNORED:
		*s += strcspn(*s, stop);
		return TRUE;
	case RF_COL_DEVICE:
		return take_device(f, s, stop, r);
	case RF_COL_TIME:
		return c->unit == 0 ? rf_take_fraction(s, 9, &r->time)
		                    : take_units(s, c->unit, &r->time);
	case RF_COL_OP:
		return take_op(s, &r->write);
	case RF_COL_OFFSET:
		return take_units(s, c->unit, &r->off);
	case RF_COL_SIZE:
		return take_units(s, c->unit, &r->len);
	}
	return FALSE;
}

static gboolean take_separator(char separator, char **s)
{
	char *before = *s;

	if (separator == ' ')
		rf_take_blanks(s);
	else
		*s += **s == separator;
	return *s > before;
}

/* All formats begin with a number; a line that does not is no request. */
static enum rf_line parse(const struct rf_request_format *f, char *s, struct request *r)
{
	if (f->separator == ' ')
		rf_take_blanks(&s);
	if (!g_ascii_isdigit(*s))
		return RF_LINE_OTHER;
	for (unsigned i = 0; f->column[i].what != NULL; i++) {
		const struct rf_column *next = &f->column[i + 1];
		gboolean taken = take_column(f, &f->column[i], &s, r);

		r->bad = s;
		r->what = f->column[i].what;
		if (!taken)
			return RF_LINE_BAD;
		r->what = "the separator of columns";
		if (!take_separator(f->separator, &s) && (next->what != NULL || *s != 0))
			return RF_LINE_BAD;
	}
	return RF_LINE_TAKEN;
}

gboolean rf_requests_like(const struct rf_line_format *f, char *s)
{
	struct request r = { 0 };

	return parse((const struct rf_request_format *)f, s, &r) == RF_LINE_TAKEN;
}

gboolean rf_requests_begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct rf_requests *q = self;

	(void)opt;
	(void)error;
	q->devices = rf_devices_new(q->lines.b);
	return TRUE;
}

void rf_requests_clear(void *self)
{
	rf_devices_free(((struct rf_requests *)self)->devices);
}

enum rf_line rf_requests_line(void *self, char *s, GError **error)
{
	struct rf_requests *q = self;
	const struct rf_request_format *f = (const struct rf_request_format *)q->lines.format;
	struct request r = { 0 };
	enum rf_line took = parse(f, s, &r);

	if (took == RF_LINE_BAD)
		return rf_lines_expected(&q->lines, r.bad, r.what, error);
	if (took == RF_LINE_OTHER)
		return took;
	return rf_line_of(rf_lines_time(&q->lines, r.time, error) &&
	                  rf_devices_io(q->devices, 1, *r.device != 0 ? r.device : f->device, r.write,
	                                r.off, r.len, error));
}
