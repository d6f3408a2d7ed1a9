/* SPDX-License-Identifier: MIT
 * Reads a .rft, from a file or a pipe.
 *
 * A frame is read and unpacked whole, its runs are decoded a batch at a time, into buffers that stay
 * in the processor's cache.
 */
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "traces/event.h"
#include "traces/rft.h"
#include "traces/source.h"
#include "traces/tasks.h"

#define BATCH 8192
G_STATIC_ASSERT(BATCH == RFT_SELECT_MOST);
#define SLACK 8 /* bytes that may be read behind a column */
#define U64 G_GUINT64_FORMAT

/* Where a batch is decoded to. */
struct columns {
	uint32_t page[BATCH + 4], count[BATCH + 4];
	uint8_t type[BATCH + 4];
	struct rf_page_name name[BATCH];
};

struct rft_source {
	struct rf_source s;
	struct rf_raw *raw;
	struct rf_header header;
	unsigned version;
	uint64_t base, start; /* offsets of the file, and of its first frame */
	gboolean seekable;
	uint64_t head_hash, index_hash, chain;
	struct rft_foot foot;
	GArray *index; /* struct rft_index; of a seekable one */
	ZSTD_DCtx *zstd;

	/* The frame being read. */
	gboolean loaded;
	struct rft_frame frame;
	uint64_t frame_offset;
	uint32_t nframes; /* begun so far */
	uint8_t *buf;     /* its columns */
	size_t buf_cap;
	const uint8_t *col[RFT_NCOLS];
	struct rft_decoder runs;
	const uint8_t *name, *name_end, *event, *event_end;
	struct rf_page_name last_name;
	uint32_t tid, event_at; /* event_at: the run before which the next event stands */
	gboolean has_event, held; /* held: a batch waits behind its pages */
	uint32_t records;         /* how many are in it, with those left out */

	struct rf_tasks *tasks;
	uint32_t named, to_name; /* pages: named so far, and to be named before anything else */
	uint64_t record;
	struct rf_totals totals;
	gboolean ended, elsewhere; /* elsewhere: frame_runs moved away */

	struct rf_item batch;
	struct columns *to; /* made for the first frame */
	GStringChunk *strings;

	rf_wants_page wants; /* NULL: all are wanted */
	void *wants_user;
	struct rft_selection selection;

	/* For frame_runs. */
	uint32_t *all_page, *all_count;
	uint8_t *all_type;
	uint32_t all_cap;
};

gboolean rf_rft_probe(const uint8_t *head, size_t n)
{
	return n >= RFT_CHUNK_HEAD + 4 && rft_get32(head) == RFT_SKIPPABLE &&
	       memcmp(head + RFT_CHUNK_HEAD, RFT_TAG_HEAD, 4) == 0;
}

/* ---- errors ---- */

G_GNUC_PRINTF(3, 4)
static gboolean fail(const struct rft_source *r, GError **error, const char *format, ...)
{
	va_list ap;
	char *msg;

	va_start(ap, format);
	msg = g_strdup_vprintf(format, ap);
	va_end(ap);
	rf_set_data(error, "%s: offset %" U64 ": %s", r->s.path, rf_raw_offset(r->raw) - r->base, msg);
	g_free(msg);
	return FALSE;
}

static gboolean fail_frame(const struct rft_source *r, GError **error, const char *what)
{
	rf_set_data(error, "%s: frame %u, offset %" U64 ": %s", r->s.path, r->frame.seq,
	            r->frame_offset, what);
	return FALSE;
}

static gboolean fail_record(const struct rft_source *r, GError **error, const char *what)
{
	rf_set_data(error, "%s: frame %u, offset %" U64 ", record %" U64 ": %s", r->s.path,
	            r->frame.seq, r->frame_offset, r->record, what);
	return FALSE;
}

/* ---- chunks ---- */

/* The chunk at the current position: its payload, when the tag is right, the size is one of least …
 * most, and the hash holds.  It is not consumed. */
static const uint8_t *peek_chunk(struct rft_source *r, const char *tag, const char *what, size_t least,
                                 size_t most, size_t *size, uint64_t *hash, GError **error)
{
	const uint8_t *p;
	size_t have, n;

	p = rf_raw_peek(r->raw, RFT_CHUNK_HEAD + 4, &have, error);
	if (p == NULL)
		return NULL;
	if (have < RFT_CHUNK_HEAD + 4) {
		fail(r, error, "the file is truncated; expected %s", what);
		return NULL;
	}
	n = rft_get32(p + 4);
	if (rft_get32(p) != RFT_SKIPPABLE || memcmp(p + RFT_CHUNK_HEAD, tag, 4) != 0) {
		fail(r, error, "broken data; expected %s", what);
		return NULL;
	}
	if (n < least || n > most) {
		fail(r, error, "%s of %zu bytes; expected %zu", what, n, n < least ? least : most);
		return NULL;
	}
	p = rf_raw_peek(r->raw, RFT_CHUNK_HEAD + n, &have, error);
	if (p == NULL)
		return NULL;
	if (have < RFT_CHUNK_HEAD + n) {
		fail(r, error, "the file is truncated in %s", what);
		return NULL;
	}
	*hash = rft_hash(p, RFT_CHUNK_HEAD + n - RFT_HASH);
	if (*hash != rft_get64(p + RFT_CHUNK_HEAD + n - RFT_HASH)) {
		fail(r, error, "the checksum of %s is wrong: the data was changed", what);
		return NULL;
	}
	*size = n;
	return p + RFT_CHUNK_HEAD;
}

static gboolean read_head(struct rft_source *r, GError **error)
{
	const uint8_t *p;
	const char *problem;
	size_t have, n;

	/* A later version may have another head: look before the hash is checked. */
	p = rf_raw_peek(r->raw, RFT_CHUNK_HEAD + 8, &have, error);
	if (p == NULL)
		return FALSE;
	if (have < RFT_CHUNK_HEAD + 8)
		return fail(r, error, "the file is truncated in the head");
	r->version = rft_get16(p + RFT_CHUNK_HEAD + 4);
	if (r->version != RFT_VERSION && r->version != RFT_VERSION_LONG)
		return fail(r, error, "version %u; expected %u or %u", r->version, RFT_VERSION,
		            RFT_VERSION_LONG);
	if (rft_get16(p + RFT_CHUNK_HEAD + 6) != RFT_BYTE_ORDER)
		return fail(r, error, "byte order 0x%04x; expected 0x%04x (little-endian)",
		            rft_get16(p + RFT_CHUNK_HEAD + 6), RFT_BYTE_ORDER);
	p = peek_chunk(r, RFT_TAG_HEAD, "the head", 8 + RFT_HASH, RFT_HEADER_MAX, &n, &r->head_hash,
	               error);
	if (p == NULL)
		return FALSE;
	if (!rft_header_parse(&r->header, (const char *)p + 8, n - 8 - RFT_HASH, &problem))
		return fail(r, error, "%s", problem);
	rf_raw_consume(r->raw, RFT_CHUNK_HEAD + n);
	r->start = rf_raw_offset(r->raw) - r->base;
	return TRUE;
}

/* The foot at the current position. */
static gboolean read_foot(struct rft_source *r, GError **error)
{
	const uint8_t *p;
	uint64_t hash;
	size_t n;

	p = peek_chunk(r, RFT_TAG_FOOT, "the footer", RFT_FOOT_SIZE, RFT_FOOT_SIZE, &n, &hash, error);
	if (p == NULL)
		return FALSE;
	rft_foot_parse(&r->foot, p);
	rf_raw_consume(r->raw, RFT_CHUNK_HEAD + n);
	return TRUE;
}

static gboolean read_index(struct rft_source *r, uint32_t frames, gboolean keep, GError **error)
{
	const size_t size = 4 + 4 + (size_t)frames * RFT_INDEX_ENTRY + RFT_HASH;
	const uint8_t *p;
	uint64_t last = 0;
	size_t n;

	p = peek_chunk(r, RFT_TAG_INDEX, "the index", size, size, &n, &r->index_hash, error);
	if (p == NULL)
		return FALSE;
	if (rft_get32(p + 4) != frames)
		return fail(r, error, "an index of %u frames; expected %u", rft_get32(p + 4), frames);
	for (uint32_t i = 0; keep && i < frames; i++) {
		const uint8_t *q = p + 8 + (size_t)i * RFT_INDEX_ENTRY;
		struct rft_index e = { rft_get64(q), rft_get32(q + 8), rft_get32(q + 12) };

		if (e.offset <= last || e.offset >= r->foot.index_offset || e.runs > rft_runs_max(r->version))
			return fail(r, error, "entry %u of the index makes no sense", i);
		last = e.offset;
		g_array_append_val(r->index, e);
	}
	rf_raw_consume(r->raw, RFT_CHUNK_HEAD + n);
	return TRUE;
}

/* Foot and index, ahead of the frames. */
static gboolean read_end(struct rft_source *r, GError **error)
{
	uint64_t size = rf_raw_size(r->raw) - r->base, foot = RFT_CHUNK_HEAD + RFT_FOOT_SIZE;
	const uint8_t *p;
	size_t have;

	if (size < r->start + foot) {
		rf_set_data(error, "%s: offset %" U64 ": the file is truncated; expected a footer",
		            r->s.path, size);
		return FALSE;
	}
	if (!rf_raw_seek(r->raw, r->base + size - foot, error))
		return FALSE;
	p = rf_raw_peek(r->raw, RFT_CHUNK_HEAD + 4, &have, error);
	if (p == NULL)
		return FALSE;
	if (have < RFT_CHUNK_HEAD + 4 || rft_get32(p) != RFT_SKIPPABLE ||
	    memcmp(p + RFT_CHUNK_HEAD, RFT_TAG_FOOT, 4) != 0)
		return fail(r, error, "no footer at the end: the file is truncated or its end was changed");
	if (!read_foot(r, error))
		return FALSE;
	if (r->foot.index_offset < r->start || r->foot.index_offset > size - foot ||
	    size - foot - r->foot.index_offset !=
	    RFT_CHUNK_HEAD + 8 + (uint64_t)r->foot.frames * RFT_INDEX_ENTRY + RFT_HASH)
		return fail(r, error, "the footer does not fit the file: data was cut out or put in");
	return rf_raw_seek(r->raw, r->base + r->foot.index_offset, error) &&
	       read_index(r, r->foot.frames, TRUE, error) &&
	       rf_raw_seek(r->raw, r->base + r->start, error);
}

/* ---- frames ---- */

static const char *check_frame(const struct rft_frame *f, unsigned version)
{
	uint64_t raw = 0, raw_max = rft_raw_max(version);

	if (f->runs > rft_runs_max(version) || f->pages > f->runs)
		return "more runs or pages than a frame may hold";
	for (unsigned c = 0; c < RFT_NCOLS; c++) {
		raw += f->raw[c];
		if (f->raw[c] > raw_max || f->packed[c] > ZSTD_COMPRESSBOUND(f->raw[c]) ||
		    (f->raw[c] == 0) != (f->packed[c] == 0))
			return "a column of an impossible size";
	}
	return raw <= raw_max ? NULL : "larger columns than a frame may hold";
}

/* Read and unpack the columns below ncols of the frame at the current position. */
static gboolean load_frame(struct rft_source *r, unsigned ncols, GError **error)
{
	const uint8_t *p;
	const char *problem;
	size_t n, have, packed = 0, raw = 0;
	uint64_t hash;

	r->frame_offset = rf_raw_offset(r->raw) - r->base;
	p = peek_chunk(r, RFT_TAG_FRAME, "the head of a frame", RFT_FRAME_SIZE, RFT_FRAME_SIZE, &n,
	               &hash, error);
	if (p == NULL)
		return FALSE;
	rft_frame_parse(&r->frame, p);
	r->chain = rft_chain(r->chain, hash);
	rf_raw_consume(r->raw, RFT_CHUNK_HEAD + n);
	problem = check_frame(&r->frame, r->version);
	if (problem != NULL)
		return fail_frame(r, error, problem);
	for (unsigned c = 0; c < RFT_NCOLS; c++) {
		packed += r->frame.packed[c];
		raw += r->frame.raw[c] + SLACK;
	}
	p = rf_raw_peek(r->raw, packed, &have, error);
	if (p == NULL)
		return FALSE;
	if (have < packed)
		return fail_frame(r, error, "the file is truncated in this frame");
	if (rft_hash(p, packed) != r->frame.data_hash)
		return fail_frame(r, error, "the checksum is wrong: the data was changed");
	if (raw > r->buf_cap) {
		g_free(r->buf);
		/* One size for all frames of a writer: memory that was never touched costs a fault a page. */
		r->buf_cap = MAX(raw, rft_raw_close(r->version) / 4 * 5);
		r->buf = g_malloc(r->buf_cap);
	}
	if (r->zstd == NULL)
		r->zstd = ZSTD_createDCtx();
	raw = 0;
	for (unsigned c = 0; c < ncols; c++) {
		uint32_t size = r->frame.raw[c];

		r->col[c] = r->buf + raw;
		if (size > 0 && ZSTD_decompressDCtx(r->zstd, r->buf + raw, size, p,
		                                    r->frame.packed[c]) != size)
			return fail_frame(r, error, "a column that zstd cannot decompress to its size");
		memset(r->buf + raw + size, 0, SLACK);
		raw += size + SLACK;
		p += r->frame.packed[c];
	}
	rf_raw_consume(r->raw, packed);
	problem = rft_decoder_init(&r->runs, &r->frame, r->col);
	return problem == NULL || fail_frame(r, error, problem);
}

/* Where does the next event or task switch stand? */
static gboolean next_event(struct rft_source *r, GError **error)
{
	uint64_t by;

	r->has_event = r->event < r->event_end;
	if (!r->has_event)
		return TRUE;
	if (!rft_get_varint(&r->event, r->event_end, &by) || by > r->frame.runs - r->event_at ||
	    r->event == r->event_end)
		return fail_record(r, error, "the event column is malformed");
	r->event_at += (uint32_t)by;
	return TRUE;
}

/* The name behind *name, which becomes it. */
static gboolean read_name(struct rft_source *r, const uint8_t **p, struct rf_page_name *name,
                          GError **error)
{
	uint64_t v, space;

	if (!rft_get_varint(p, r->name_end, &v))
		return fail_record(r, error, "the column of names is malformed");
	if (v & 1) {
		if (!rft_get_varint(p, r->name_end, &space) || space > UINT32_MAX)
			return fail_record(r, error, "the column of names is malformed");
		name->space = (uint32_t)space;
	}
	v >>= 1;
	name->vpn += v >> 1 ^ -(v & 1);
	return TRUE;
}

/* Which of the frame's pages are wanted is known before any of its runs is looked at. */
static gboolean begin_selection(struct rft_source *r, GError **error)
{
	struct rf_page_name name = { 0 };
	const uint8_t *p = r->name;

	for (uint32_t i = 0; i < r->frame.pages; i++) {
		if (!read_name(r, &p, &name, error))
			return FALSE;
		rft_selection_add(&r->selection, r->wants(r->wants_user, &name));
	}
	rft_select_begin(&r->selection, &r->runs, &r->frame);
	return TRUE;
}

static gboolean begin_frame(struct rft_source *r, GError **error)
{
	const struct rft_frame *f = &r->frame;

	if (!load_frame(r, RFT_NCOLS, error))
		return FALSE;
	if (f->seq != r->nframes || f->first_record != r->record || f->first_page != r->named) {
		rf_set_data(error, "%s: frame %u, offset %" U64 ": begins with record %" U64
		            " and page %u; expected frame %u, record %" U64 ", page %u", r->s.path, f->seq,
		            r->frame_offset, f->first_record, f->first_page, r->nframes, r->record, r->named);
		return FALSE;
	}
	if (f->pages > UINT32_MAX - 1 - r->named)
		return fail_frame(r, error, "more pages than there are numbers");
	if (r->to == NULL)
		r->to = g_new(struct columns, 1);
	r->nframes++;
	r->loaded = TRUE;
	r->name = r->col[RFT_COL_NAME];
	r->name_end = r->name + f->raw[RFT_COL_NAME];
	r->event = r->col[RFT_COL_EVENT];
	r->event_end = r->event + f->raw[RFT_COL_EVENT];
	r->last_name = (struct rf_page_name){ 0 };
	r->tid = f->tid;
	r->event_at = 0;
	for (unsigned i = 0; i < RF_NACCESS; i++)
		r->totals.accesses[i] += f->accesses[i];
	r->totals.runs += f->runs;
	r->totals.events += f->events;
	r->totals.lost += f->lost;
	r->totals.pages += f->pages;
	return (r->wants == NULL || begin_selection(r, error)) && next_event(r, error);
}

static gboolean end_frame(struct rft_source *r, GError **error)
{
	r->loaded = FALSE;
	if (r->named != r->frame.first_page + r->frame.pages || r->name != r->name_end)
		return fail_frame(r, error, "names of pages that are not accessed");
	if (r->record != r->frame.first_record + r->frame.runs + r->frame.events)
		return fail_frame(r, error, "another number of events than its head says");
	return TRUE;
}

/* All frames were read: do they add up to what the foot says? */
static gboolean check_totals(struct rft_source *r, GError **error)
{
	const struct rf_totals *t = &r->totals, *f = &r->foot.totals;
	const struct { const char *what; uint64_t have, want; } sums[] = {
		{ "frames", r->nframes, r->foot.frames },
		{ "runs", t->runs, f->runs },
		{ "events", t->events, f->events },
		{ "lost events", t->lost, f->lost },
		{ "pages", t->pages, f->pages },
		{ "reads", t->accesses[RF_READ], f->accesses[RF_READ] },
		{ "writes", t->accesses[RF_WRITE], f->accesses[RF_WRITE] },
		{ "fetches", t->accesses[RF_EXEC], f->accesses[RF_EXEC] },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(sums); i++)
		if (sums[i].have != sums[i].want)
			return fail(r, error, "%" U64 " %s were read; the footer says %" U64, sums[i].have,
			            sums[i].what, sums[i].want);
	if (rft_chain(r->chain, r->index_hash) != r->foot.chain)
		return fail(r, error, "head, frames and index do not belong together");
	r->totals = *f;
	return TRUE;
}

/* No frame follows: index, foot and nothing else. */
static gboolean finish(struct rft_source *r, GError **error)
{
	uint64_t offset = rf_raw_offset(r->raw) - r->base;
	size_t have;

	if (!r->seekable) {
		if (!read_index(r, r->nframes, FALSE, error) || !read_foot(r, error))
			return FALSE;
		if (rf_raw_peek(r->raw, 1, &have, error) == NULL)
			return FALSE;
		if (have > 0)
			return fail(r, error, "data behind the footer; expected the end of the file");
	}
	if (offset != r->foot.index_offset)
		return fail(r, error, "the index is at %" U64 "; the footer says %" U64, offset,
		            r->foot.index_offset);
	r->ended = TRUE;
	return check_totals(r, error);
}

static gboolean at_frame(struct rft_source *r, gboolean *frame, GError **error)
{
	size_t have;
	const uint8_t *p;

	if (r->seekable) {
		*frame = r->nframes < r->foot.frames;
		return TRUE;
	}
	p = rf_raw_peek(r->raw, RFT_CHUNK_HEAD + 4, &have, error);
	if (p == NULL)
		return FALSE;
	if (have < RFT_CHUNK_HEAD + 4)
		return fail(r, error, "the file is truncated; expected frame %u or the index", r->nframes);
	*frame = memcmp(p + RFT_CHUNK_HEAD, RFT_TAG_INDEX, 4) != 0;
	return TRUE;
}

/* ---- items ---- */

/* The next pages that are to be named, as many as there is room for. */
static gboolean read_names(struct rft_source *r, struct rf_item *item, GError **error)
{
	const uint64_t vpn_end = RF_ADDR_END >> r->header.granule_shift;
	uint32_t n = MIN(r->to_name - r->named, BATCH);

	for (uint32_t i = 0; i < n; i++) {
		struct rf_page_name *name = &r->last_name;

		if (!read_name(r, &r->name, name, error))
			return FALSE;
		if (name->space >= rf_tasks_spaces(r->tasks) || name->vpn >= vpn_end)
			return fail_record(r, error, "a page outside of every address space");
		r->to->name[i] = *name;
	}
	item->kind = RF_ITEM_PAGES;
	item->record = r->record;
	item->pages.first = r->named;
	item->pages.n = n;
	item->pages.name = r->to->name;
	r->named += n;
	return TRUE;
}

/* Decode a batch; its new pages come first. */
static gboolean read_batch(struct rft_source *r, GError **error)
{
	const uint32_t begin = r->runs.pos, until = r->has_event ? r->event_at : r->runs.n;
	struct columns *to = r->to;
	uint32_t n = MIN(until - begin, BATCH), max, space;
	const char *problem;

	if (r->wants != NULL)
		problem = rft_select(&r->runs, &r->selection, until, to->page, to->type, to->count, &n, &max);
	else
		problem = rft_decode(&r->runs, n, to->page, to->type, to->count, &max);
	if (problem != NULL)
		return fail_record(r, error, problem);
	if (!rf_tasks_find(r->tasks, r->tid, &space))
		return fail_record(r, error, "accesses of a task that was not declared");
	r->records = r->runs.pos - begin;
	if (n == 0) {
		r->record += r->records;
		return TRUE;
	}
	r->batch = (struct rf_item){ .kind = RF_ITEM_RUNS, .record = r->record };
	r->batch.runs = (struct rf_runs){ n, r->tid, to->page, to->type, to->count };
	r->held = TRUE;
	if (max < r->named)
		return TRUE;
	if (max - r->frame.first_page >= r->frame.pages || (r->wants == NULL && max - r->named >= n))
		return fail_record(r, error, "a page that was not named");
	r->to_name = max + 1;
	return TRUE;
}

/* The event or task switch at hand; *given when it makes an item. */
static gboolean read_event(struct rft_source *r, struct rf_item *item, gboolean *given,
                           GError **error)
{
	struct rf_event *ev = &item->event;
	GError *e = NULL;
	uint32_t space;
	uint8_t kind;

	*given = FALSE;
	kind = *r->event++;
	if (kind == RFT_SWITCH) {
		uint64_t tid;

		if (!rft_get_varint(&r->event, r->event_end, &tid) || tid > UINT32_MAX)
			return fail_record(r, error, "the event column is malformed");
		r->tid = (uint32_t)tid;
		return next_event(r, error);
	}
	if (kind >= RF_NEVENTS)
		return fail_record(r, error, "an unknown kind of event");
	*item = (struct rf_item){ .kind = RF_ITEM_EVENT, .record = r->record };
	ev->kind = kind;
	g_string_chunk_clear(r->strings);
	if (!rft_event_read(&r->event, r->event_end, ev, r->strings))
		return fail_record(r, error, "the event column is malformed");
	*ev = rf_event_clean(ev);
	space = ev->space;
	if (!rf_event_check(ev, &e) || !rf_tasks_event(r->tasks, ev, &e)) {
		fail_record(r, error, e->message);
		g_error_free(e);
		return FALSE;
	}
	if (ev->space != space)
		return fail_record(r, error, "a task's address space has another number than its turn");
	r->record++;
	*given = TRUE;
	return next_event(r, error);
}

static gboolean rft_next(struct rf_source *s, struct rf_item *item, GError **error)
{
	struct rft_source *r = (struct rft_source *)s;
	gboolean given, frame = FALSE;

	if (r->elsewhere) {
		rf_set_data(error, "%s: read on after a look elsewhere; expected a rewind", s->path);
		return FALSE;
	}
	while (!r->ended) {
		if (r->to_name > r->named)
			return read_names(r, item, error);
		if (r->held) {
			*item = r->batch;
			r->record += r->records;
			r->held = FALSE;
			return TRUE;
		}
		if (!r->loaded) {
			if (!at_frame(r, &frame, error))
				return FALSE;
			if (!(frame ? begin_frame(r, error) : finish(r, error)))
				return FALSE;
		} else if (r->has_event && r->event_at == r->runs.pos) {
			if (!read_event(r, item, &given, error))
				return FALSE;
			if (given)
				return TRUE;
		} else if (r->runs.pos < r->runs.n) {
			if (!read_batch(r, error))
				return FALSE;
		} else if (r->wants != NULL && r->named < r->frame.first_page + r->frame.pages) {
			r->to_name = r->frame.first_page + r->frame.pages; /* those that nobody wants */
		} else if (!end_frame(r, error)) {
			return FALSE;
		}
	}
	item->kind = RF_ITEM_END;
	item->record = r->record;
	return TRUE;
}

/* ---- the source ---- */

static void restart(struct rft_source *r)
{
	r->loaded = r->held = r->ended = r->elsewhere = FALSE;
	r->nframes = r->named = r->to_name = 0;
	r->record = 0;
	rft_selection_reset(&r->selection);
	r->totals = (struct rf_totals){ 0 };
	r->chain = rft_chain(0, r->head_hash);
	rf_tasks_free(r->tasks);
	r->tasks = rf_tasks_new();
}

static gboolean rft_rewind(struct rf_source *s, GError **error)
{
	struct rft_source *r = (struct rft_source *)s;

	restart(r);
	return rf_raw_seek(r->raw, r->base + r->start, error);
}

static uint32_t rft_frames(const struct rf_source *s)
{
	return ((const struct rft_source *)s)->foot.frames;
}

static gboolean rft_frame_runs(struct rf_source *s, uint32_t frame, struct rf_runs *runs,
                               GError **error)
{
	struct rft_source *r = (struct rft_source *)s;
	const struct rft_index *at;
	const char *problem;
	uint32_t n, max = 0;

	g_assert(frame < r->index->len);
	at = &g_array_index(r->index, struct rft_index, frame);
	r->elsewhere = TRUE;
	if (!rf_raw_seek(r->raw, r->base + at->offset, error) || !load_frame(r, RFT_RUN_COLS, error))
		return FALSE;
	n = r->frame.runs;
	if (r->frame.seq != frame || n != at->runs || r->frame.events != at->events)
		return fail_frame(r, error, "is not the frame that the index says");
	if (n + 4 > r->all_cap) {
		r->all_cap = n + 4;
		r->all_page = g_renew(uint32_t, r->all_page, r->all_cap);
		r->all_count = g_renew(uint32_t, r->all_count, r->all_cap);
		r->all_type = g_renew(uint8_t, r->all_type, r->all_cap);
	}
	problem = rft_decode(&r->runs, n, r->all_page, r->all_type, r->all_count, &max);
	if (problem == NULL && n > 0 && max >= r->foot.totals.pages)
		problem = "a page that was not named";
	if (problem != NULL)
		return fail_frame(r, error, problem);
	*runs = (struct rf_runs){ n, r->frame.tid, r->all_page, r->all_type, r->all_count };
	return TRUE;
}

static void rft_source_select(struct rf_source *s, rf_wants_page wants, void *user)
{
	struct rft_source *r = (struct rft_source *)s;

	r->wants = wants;
	r->wants_user = user;
}

static const struct rf_totals *rft_totals(const struct rf_source *s)
{
	return &((const struct rft_source *)s)->totals;
}

static const struct rf_totals *rft_totals_ahead(const struct rf_source *s)
{
	const struct rft_source *r = (const struct rft_source *)s;

	return r->seekable ? &r->foot.totals : NULL;
}

static double rft_progress(const struct rf_source *s)
{
	const struct rft_source *r = (const struct rft_source *)s;

	if (!r->seekable)
		return -1;
	return (double)(rf_raw_offset(r->raw) - r->base) / (double)(rf_raw_size(r->raw) - r->base);
}

static void rft_close(struct rf_source *s)
{
	struct rft_source *r = (struct rft_source *)s;

	rf_raw_close(r->raw);
	rf_header_clear(&r->header);
	g_array_unref(r->index);
	ZSTD_freeDCtx(r->zstd);
	g_free(r->buf);
	g_free(r->to);
	rf_tasks_free(r->tasks);
	rft_selection_clear(&r->selection);
	g_string_chunk_free(r->strings);
	g_free(r->all_page);
	g_free(r->all_count);
	g_free(r->all_type);
}

static const struct rf_source_ops rft_ops = {
	.next = rft_next,
	.close = rft_close,
	.totals = rft_totals,
	.progress = rft_progress,
	.totals_ahead = rft_totals_ahead,
	.rewind = rft_rewind,
	.frames = rft_frames,
	.frame_runs = rft_frame_runs,
	.select = rft_source_select,
};

struct rf_source *rf_source_rft(struct rf_raw *raw, GError **error)
{
	struct rft_source *r = g_new0(struct rft_source, 1);

	r->s.ops = &rft_ops;
	r->s.path = g_strdup(rf_raw_name(raw));
	r->s.format = "rft";
	r->s.header = &r->header;
	r->raw = raw;
	r->base = rf_raw_offset(raw);
	r->seekable = rf_raw_seekable(raw);
	r->index = g_array_new(FALSE, FALSE, sizeof(struct rft_index));
	r->strings = g_string_chunk_new(1024);
	if (!read_head(r, error) || (r->seekable && !read_end(r, error))) {
		rf_source_close(&r->s);
		return NULL;
	}
	restart(r);
	return &r->s;
}
