/* SPDX-License-Identifier: MIT
 * libCacheSim's oracleGeneral: records of 24 bytes, little-endian: time in s (u32), object (u64),
 * size (u32), position of the object's next request (i64, -1: none).
 *
 * An object becomes a page, whatever its size; pages are numbered as objects first appear.
 */
#include "traces/import/oracle.h"

#include <string.h>

#include "base/error.h"
#include "traces/event.h"

#define RECORD 24
#define WINDOW (RECORD * 8192)
#define AHEAD 16                 /* records between the prefetch of a slot and its use */
#define BASE ((uint64_t)1 << 44) /* address of the first object's page */
#define OBJECTS_MAX (UINT32_MAX - 1)
#define FEW 8 /* fewer records than this may look plausible by chance */
/* Positions beyond this are taken for another format's bytes. */
#define PLAUSIBLE ((int64_t)1 << 48)

struct slot {
	uint64_t id;
	uint32_t page; /* 1 + id; 0: free */
};

struct oracle {
	struct rf_input *in;
	uint64_t n; /* records so far */
	struct slot *slot;
	uint64_t mask;
	uint32_t objects;
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

/* ---- objects to pages ---- */

static inline uint64_t place(const struct oracle *o, uint64_t id)
{
	id *= 0x9E3779B97F4A7C15u;
	return (id ^ id >> 32) & o->mask;
}

static gboolean grow(struct oracle *o)
{
	uint64_t size = (o->mask + 1) * 2, old = o->mask + 1;
	struct slot *from = o->slot, *to = g_try_new0(struct slot, size);

	if (!to)
		return FALSE;
	o->slot = to;
	o->mask = size - 1;
	for (uint64_t i = 0; i < old; i++) {
		uint64_t j;

		if (!from[i].page)
			continue;
		for (j = place(o, from[i].id); to[j].page; j = (j + 1) & o->mask)
			;
		to[j] = from[i];
	}
	g_free(from);
	return TRUE;
}

/* The page of an object; UINT32_MAX when there is no room. */
static inline uint32_t page_of(struct oracle *o, struct rf_builder *b, uint64_t id)
{
	uint64_t j = place(o, id);
	uint32_t page;

	for (; o->slot[j].page; j = (j + 1) & o->mask)
		if (o->slot[j].id == id)
			return o->slot[j].page - 1;
	page = rf_builder_new_page(b, 1, (BASE >> RF_GRANULE_SHIFT) + o->objects);
	if (page == UINT32_MAX)
		return UINT32_MAX;
	o->slot[j].id = id;
	o->slot[j].page = page + 1;
	if (++o->objects * (uint64_t)3 > o->mask * 2 && !grow(o))
		return UINT32_MAX;
	return page;
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

	g_free(o->slot);
	g_free(o);
}

static void *oracle_open(struct rf_input *in, struct rf_builder *b,
                         const struct rf_source_options *opt, GError **error)
{
	struct rf_event task = { .kind = RF_EV_TASK, .tid = 1 };
	struct rf_event map = {
		.kind = RF_EV_MMAP,
		.tid = 1,
		.addr = BASE,
		.len = ((uint64_t)OBJECTS_MAX + 1) << RF_GRANULE_SHIFT,
		.prot = RF_PROT_R | RF_PROT_W,
		.name = "objects",
	};
	struct oracle *o;

	(void)opt;
	if (!rf_builder_event(b, &task, error) || !rf_builder_event(b, &map, error))
		return NULL;
	o = g_new0(struct oracle, 1);
	o->in = in;
	o->mask = 4095;
	o->slot = g_new0(struct slot, o->mask + 1);
	return o;
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
	for (size_t i = 0; i < records; i++, r += RECORD) {
		int64_t next = next_of(r);
		uint32_t page;

		if (i + AHEAD < records)
			__builtin_prefetch(&o->slot[place(o, id_of(r + AHEAD * RECORD))]);
		if (!forward(next, o->n))
			return bad(o, error,
			           "next request at %" G_GINT64_FORMAT
			           "; expected -1 or a later one",
			           next);
		if ((time_of(r) != o->time || !o->n) && !new_second(o, b, time_of(r), error))
			return FALSE;
		page = page_of(o, b, id_of(r));
		if (page == UINT32_MAX)
			return bad(o, error, "no memory for more than %u objects", o->objects);
		rf_builder_run(b, 1, RF_WRITE, page, 1);
		o->n++;
	}
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
