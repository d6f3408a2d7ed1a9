/* SPDX-License-Identifier: MIT
 * Formats of I/O requests in columns: one request a line, fields between separators.  A format is a
 * list of what its columns mean.
 */
#ifndef RF_REQUESTS_H
#define RF_REQUESTS_H

#include "traces/import/lines.h"

enum rf_role {
	RF_COL_IGNORED,
	RF_COL_DEVICE, /* part of the device's name */
	RF_COL_TIME,   /* in seconds with a fraction, or whole units of so many ns */
	RF_COL_OP,     /* R, Read, W, Write, in any case */
	RF_COL_OFFSET, /* in units of so many bytes */
	RF_COL_SIZE,   /* the same */
};

struct rf_column {
	enum rf_role role;
	uint32_t unit;    /* for time, 0: seconds */
	const char *what; /* for messages: "expected …" */
};

#define RF_COLUMNS_MAX 8

struct rf_request_format {
	struct rf_line_format lines; /* its functions are the four below */
	char separator;              /* ' ': any number of blanks */
	const char *device;          /* the start of devices' names */
	/* Up to the first with what NULL.  More may follow in a line. */
	struct rf_column column[RF_COLUMNS_MAX + 1];
};

struct rf_requests {
	struct rf_lines lines;
	struct rf_devices *devices;
};

gboolean rf_requests_like(const struct rf_line_format *f, char *s);
gboolean rf_requests_begin(void *self, const struct rf_source_options *opt, GError **error);
enum rf_line rf_requests_line(void *self, char *s, GError **error);
void rf_requests_clear(void *self);

#define RF_REQUEST_LINES                                                                           \
	.size = sizeof(struct rf_requests), .like = rf_requests_like, .begin = rf_requests_begin,  \
	.line = rf_requests_line, .clear = rf_requests_clear

#endif
