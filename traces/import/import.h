/* SPDX-License-Identifier: MIT
 * The importers' seam: a file a format, one line in the registry (import.c).
 */
#ifndef RF_IMPORT_H
#define RF_IMPORT_H

#include "traces/trace.h"

/* Decompressed input with a look ahead (input.c). */
struct rf_input;
struct rf_input *rf_input_open(const char *path, GError **error);
struct rf_input *rf_input_from_memory(const char *name, const void *data, size_t len);
void rf_input_close(struct rf_input *in);
/* Up to n bytes from the current position, without consuming; *have says how many (fewer only at
 * the end).  n <= 1 MiB.  NULL on error. */
const uint8_t *rf_input_peek(struct rf_input *in, size_t n, size_t *have, GError **error);
void rf_input_consume(struct rf_input *in, size_t n);
/* The next line without its end (LF or CRLF; a missing last one is fine), NUL-terminated in place.
 * 1 a line, 0 the end, -1 error.  A line over 64 KiB or with a NUL byte is an error. */
int rf_input_line(struct rf_input *in, char **line, size_t *len, GError **error);
uint64_t rf_input_line_number(const struct rf_input *in); /* of the line last returned, from 1 */
uint64_t rf_input_offset(const struct rf_input *in);      /* decompressed */
gboolean rf_input_cut(const struct rf_input *in); /* the line last returned had no end */
double rf_input_progress(const struct rf_input *in);
const char *rf_input_name(const struct rf_input *in);

/* Gathers accesses and events of an importer; a source hands them on as items. */
struct rf_builder;
struct rf_header *rf_builder_header(struct rf_builder *b);
/* count accesses of len bytes at addr.  Tasks never declared are declared on the way. */
void rf_builder_access(struct rf_builder *b, uint32_t tid, enum rf_access type, uint64_t addr,
                       uint64_t len, uint32_t count);
/* The two for importers that keep track of pages themselves, one for one, at half the cost: the next
 * dense id for a page of a task not accessed before (UINT32_MAX: no room), and count accesses by
 * id.  Pages so named must not be accessed by address. */
uint32_t rf_builder_new_page(struct rf_builder *b, uint32_t tid, uint64_t vpn);
void rf_builder_run(struct rf_builder *b, uint32_t tid, enum rf_access type, uint32_t page,
                    uint32_t count);
/* The same for single accesses to pages one after the other. */
void rf_builder_pages(struct rf_builder *b, uint32_t tid, enum rf_access type, const uint32_t *page,
                      uint32_t n);
/* Copies the event and its strings.  Sets space of task and exec events itself.  FALSE where the
 * event makes no sense (unknown parent, task twice): the message has no position yet. */
gboolean rf_builder_event(struct rf_builder *b, const struct rf_event *ev, GError **error);
/* Is there enough for an item already?  An importer's step returns then. */
gboolean rf_builder_full(const struct rf_builder *b);
/* A record skipped, by reason, counted for `trace info`; zero accepted records is an error. */
void rf_builder_skipped(struct rf_builder *b, const char *reason);

enum rf_step { RF_STEP_ERROR = -1, RF_STEP_END = 0, RF_STEP_MORE = 1 };

struct rf_line_format;

struct rf_importer {
	const char *name;    /* for --format */
	const char *summary; /* one line */
	gboolean takes_params; /* of rf_source_options */
	const char *cannot;  /* what the source can't know, for `trace info`; or NULL */
	/* A record a line: instead of all that follows, but that it may have a probe of its own. */
	const struct rf_line_format *lines;
	/* How sure, 0..100, that the head of the input is of this format; n may be small. */
	int (*probe)(const uint8_t *head, size_t n);
	void *(*open)(struct rf_input *in, struct rf_builder *b, const struct rf_source_options *opt,
	              GError **error);
	/* Read on until the builder is full or the input ends. */
	enum rf_step (*step)(void *self, struct rf_builder *b, GError **error);
	void (*close)(void *self);
	double (*progress)(void *self); /* optional, where the input does not tell */
};

extern const struct rf_importer *const rf_importers[]; /* NULL-terminated */

#endif
