/* SPDX-License-Identifier: MIT
 * libCacheSim's oracleGeneral: records of 24 bytes, little-endian: time in s (u32), object (u64),
 * size (u32), position of the object's next request (i64, -1: none).
 *
 * An object becomes a page, whatever its size; pages are numbered as objects first appear.
 */
#include "traces/import/oracle.h"

#include <string.h>

#include "base/error.h"
#include "traces/import/objects.h"

#define RECORD 24
#define WINDOW (RECORD * 2048)
#define AHEAD 16  /* records between the prefetch of a slot and its use */
#define BATCH 512 /* records handed on together */
#define FEW 8     /* fewer records than this may look plausible by chance */
/* Positions beyond this are taken for another format's bytes. */
#define PLAUSIBLE ((int64_t)1 << 48)

struct oracle {
	struct rf_input *in;
	uint64_t n; /* records so far */
	struct rf_objects objects;
	uint32_t time, start; /* s */
};

static inline uint32_t time_of(const uint8_t *r)
{
	uint32_t v;

	memcpy(&v, r, 4);
	return GUINT32_FROM_LE(v);
}

static inline uint64_t id_of(const uint8_t *r)
{
	uint64_t v;

	memcpy(&v, r + 4, 8);
	return GUINT64_FROM_LE(v);
}

static inline int64_t next_of(const uint8_t *r)
{
	uint64_t v;

	memcpy(&v, r + 16, 8);
	return (int64_t)GUINT64_FROM_LE(v);
}

/* Can a record at this position point there?  Positions count from 0 or from 1. */
static inline gboolean forward(int64_t next, uint64_t position)
{
	return next == -1 || next > (int64_t)position;
}

/* ---- the importer ---- */

/* Does every request point to one of the same object, counted from base? */
static gboolean linked(const uint8_t *head, size_t records, int64_t base)
{
	for (size_t i = 0; i < records; i++) {
		const uint8_t *r = head + i * RECORD;
		int64_t next = next_of(r);

		if (next == -1 || next == INT64_MAX)
			continue;
		if (next - base <= (int64_t)i || next - base >= (int64_t)records ||
		    id_of(head + (next - base) * RECORD) != id_of(r))
			return FALSE;
	}
	return TRUE;
}

static int probe(const uint8_t *head, size_t n)
{
	size_t records = n / RECORD;

	if (!records || (records < FEW &&
	                 (n % RECORD || !(linked(head, records, 0) || linked(head, records, 1)))))
		return 0;
	for (size_t i = 0; i < records; i++) {
		const uint8_t *r = head + i * RECORD;
		int64_t next = next_of(r);

		if (!forward(next, i) || (next > PLAUSIBLE && next != INT64_MAX) ||
		    (i && time_of(r) < time_of(r - RECORD)))
			return 0;
	}
	return records < FEW ? 30 : 60;
}

static void oracle_close(void *self)
{
	struct oracle *o = self;

	rf_objects_clear(&o->objects);
	g_free(o);
}

static void *oracle_open(struct rf_input *in, struct rf_builder *b,
                         const struct rf_source_options *opt, GError **error)
{
	struct oracle *o = g_new0(struct oracle, 1);

	(void)opt;
	o->in = in;
	if (rf_objects_init(&o->objects, b, error))
		return o;
	oracle_close(o);
	return NULL;
}

static gboolean bad(const struct oracle *o, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
static gboolean bad(const struct oracle *o, GError **error, const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	rf_set_data(error, "%s: record %" G_GUINT64_FORMAT ", offset %" G_GUINT64_FORMAT ": %s",
	            rf_input_name(o->in), o->n, o->n * RECORD, text);
	g_free(text);
	return FALSE;
}

static gboolean new_second(struct oracle *o, struct rf_builder *b, uint32_t time, GError **error)
{
	struct rf_event at = { .kind = RF_EV_AT };

	if (!o->n) {
		o->start = o->time = time;
		return TRUE;
	}
	if (time < o->time) { /* seen in published traces, and of no consequence */
		rf_builder_skipped(b, "time that goes back");
		return TRUE;
	}
	o->time = time;
	at.len = (uint64_t)(time - o->start) * 1000000000u;
	return rf_builder_event(b, &at, error);
}

static gboolean take(struct oracle *o, struct rf_builder *b, const uint8_t *r, size_t records,
                     GError **error)
{
	uint32_t page[BATCH], n = 0; /* those not yet handed on */

	for (size_t i = 0; i < records; i++, r += RECORD) {
		int64_t next = next_of(r);

		if (i + AHEAD < records)
			rf_objects_prefetch(&o->objects, id_of(r + AHEAD * RECORD));
		if (!forward(next, o->n))
			return bad(o, error,
			           "next request at %" G_GINT64_FORMAT
			           "; expected -1 or a later one",
			           next);
		if (time_of(r) != o->time || !o->n) {
			rf_builder_pages(b, 1, RF_WRITE, page, n);
			n = 0;
			if (!new_second(o, b, time_of(r), error))
				return FALSE;
		}
		page[n] = rf_objects_page(&o->objects, b, id_of(r));
		if (page[n] == UINT32_MAX)
			return bad(o, error, "no memory for more than %u objects", o->objects.n);
		if (++n == BATCH) {
			rf_builder_pages(b, 1, RF_WRITE, page, n);
			n = 0;
		}
		o->n++;
	}
	rf_builder_pages(b, 1, RF_WRITE, page, n);
	return TRUE;
}

static enum rf_step oracle_step(void *self, struct rf_builder *b, GError **error)
{
	struct oracle *o = self;

	do {
		size_t have;
		const uint8_t *r = rf_input_peek(o->in, WINDOW, &have, error);

		if (!r)
			return RF_STEP_ERROR;
		if (!take(o, b, r, have / RECORD, error))
			return RF_STEP_ERROR;
		if (have < WINDOW) {
			if (have % RECORD)
				bad(o, error, "the file ends inside it, after %zu of %d bytes",
				    have % RECORD, RECORD);
			else if (!o->n)
				bad(o, error, "no record; expected at least one");
			else
				rf_input_consume(o->in, have);
			return have % RECORD || !o->n ? RF_STEP_ERROR : RF_STEP_END;
		}
		rf_input_consume(o->in, have);
	} while (!rf_builder_full(b));
	return RF_STEP_MORE;
}

const struct rf_importer rf_oracle_importer = {
	.name = "oracle",
	.summary = "libCacheSim oracleGeneral, 24-byte records",
	.cannot = "reads from writes (all are taken as writes, so that every page has a frame of "
	          "its own); "
		  "sizes of objects (each is a page)",
	.probe = probe,
	.open = oracle_open,
	.step = oracle_step,
	.close = oracle_close,
};
