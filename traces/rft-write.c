/* SPDX-License-Identifier: MIT
 * Writes a .rft.
 */
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "traces/rft.h"
#include "traces/sink.h"
#include "traces/totals.h"

#define LEVEL 9
#define LEVEL_RANDOM 1 /* where only entropy coding helps */
#define LEVEL_RAW (-5) /* where nothing helps: literals are stored */
#define SAMPLE 32768   /* runs */
#define RANDOM_RUNS (128u << 10)

struct rft_sink {
	struct rf_sink s;
	int level;
	gboolean sparse; /* recorded with a window: a hundredth of the runs, so bytes count, not speed */
	ZSTD_CCtx *zstd;
	struct rf_tally tally;
	uint64_t offset, chain;
	GByteArray *index;

	/* Named, but not used yet. */
	GArray *waiting;
	guint waiting_from;

	/* The frame that grows. */
	struct rft_frame frame;
	struct rft_encoder runs;
	GByteArray *names, *events;
	struct rf_page_name last_name;
	uint32_t tid, last_event; /* last_event: its position among the runs */

	GByteArray *col[RFT_RUN_COLS];
	uint8_t *packed;
	size_t packed_cap;
};

static gboolean write_chunk(struct rft_sink *k, GByteArray *a, GError **error)
{
	k->chain = rft_chain(k->chain, rft_chunk_end(a));
	k->offset += a->len;
	return rf_sink_write(&k->s, a->data, a->len, error);
}

/* ---- compression ---- */

static size_t pack(struct rft_sink *k, const void *data, size_t n, int level, size_t at)
{
	size_t bound = ZSTD_compressBound(n), got;

	if (n == 0)
		return 0;
	if (at + bound > k->packed_cap) {
		k->packed_cap = at + bound;
		k->packed = g_realloc(k->packed, k->packed_cap);
	}
	got = ZSTD_compressCCtx(k->zstd, k->packed + at, bound, data, n, level);
	/* With room for the bound, it can only fail for lack of memory. */
	if (ZSTD_isError(got))
		g_error("zstd: %s", ZSTD_getErrorName(got));
	return got;
}

/* What the first runs would take. */
static size_t try_encoding(struct rft_sink *k, enum rft_encoding enc, uint32_t n)
{
	GByteArray *id = k->col[RFT_COL_ID], *count = k->col[RFT_COL_COUNT];
	size_t counts;

	rft_encoder_columns(&k->runs, enc, n, k->col);
	counts = pack(k, count->data, count->len, LEVEL_RANDOM, 0);
	if (enc != RFT_PACKED) /* those of all runs */
		counts = counts * n / k->runs.n;
	if (enc == RFT_PACKED)
		return pack(k, id->data, id->len, LEVEL_RANDOM, 0) + k->col[RFT_COL_LOW]->len +
		       n / 8 + counts;
	return pack(k, id->data, id->len, MIN(k->level, 3), 0) +
	       pack(k, k->col[RFT_COL_CODE]->data, n, LEVEL_RANDOM, 0) + counts;
}

static enum rft_encoding choose_encoding(struct rft_sink *k)
{
	uint32_t n = MIN(k->runs.n, SAMPLE);
	enum rft_encoding best = RFT_CODED;
	size_t least;

	if (k->runs.nid < 16)
		return RFT_CODED;
	least = try_encoding(k, RFT_CODED, n);
	for (unsigned enc = RFT_DELTA; enc < RFT_NENCODINGS; enc++) {
		size_t size;

		/* Packed runs are decoded several times as fast, which is worth some bytes; but they never
		 * repeat a page for free. */
		if (enc == RFT_PACKED && (k->sparse || k->runs.nid < k->runs.n / 5 * 3))
			continue;
		size = try_encoding(k, enc, n);
		if (enc == RFT_PACKED)
			size -= size / 8;
		if (size < least) {
			least = size;
			best = enc;
		}
	}
	return best;
}

static int level_of(const struct rft_sink *k, enum rft_column col)
{
	if (k->frame.encoding != RFT_PACKED)
		return k->level;
	if (col == RFT_COL_LOW)
		return LEVEL_RAW;
	return col == RFT_COL_CODE || col == RFT_COL_ID ? LEVEL_RANDOM : k->level;
}

static void start_frame(struct rft_sink *k)
{
	uint32_t seq = k->frame.seq + 1, page = k->frame.first_page + k->frame.pages;
	uint64_t record = k->frame.first_record + k->frame.runs + k->frame.events;

	memset(&k->frame, 0, sizeof(k->frame));
	k->frame.seq = seq;
	k->frame.first_page = page;
	k->frame.first_record = record;
	rft_encoder_reset(&k->runs);
	g_byte_array_set_size(k->names, 0);
	g_byte_array_set_size(k->events, 0);
	k->last_name = (struct rf_page_name){ 0 };
	k->last_event = 0;
}

static gboolean end_frame(struct rft_sink *k, GError **error)
{
	GByteArray *head, *cols[RFT_NCOLS];
	uint8_t entry[RFT_INDEX_ENTRY];
	size_t at = 0;
	gboolean ok;

	if (k->frame.runs == 0 && k->frame.events == 0)
		return TRUE;
	k->frame.encoding = choose_encoding(k);
	k->frame.width = rft_encoder_columns(&k->runs, k->frame.encoding, k->runs.n, k->col);
	for (unsigned c = 0; c < RFT_NCOLS; c++) {
		cols[c] = c < RFT_RUN_COLS ? k->col[c] : c == RFT_COL_NAME ? k->names : k->events;
		k->frame.raw[c] = cols[c]->len;
		k->frame.packed[c] = (uint32_t)pack(k, cols[c]->data, cols[c]->len, level_of(k, c), at);
		at += k->frame.packed[c];
	}
	k->frame.data_hash = rft_hash(k->packed, at);

	rft_put64(entry, k->offset);
	rft_put32(entry + 8, k->frame.runs);
	rft_put32(entry + 12, k->frame.events);
	g_byte_array_append(k->index, entry, sizeof(entry));

	head = g_byte_array_new();
	rft_chunk_begin(head, RFT_TAG_FRAME);
	rft_frame_write(head, &k->frame);
	ok = write_chunk(k, head, error) && rf_sink_write(&k->s, k->packed, at, error);
	k->offset += at;
	g_byte_array_unref(head);
	start_frame(k);
	return ok;
}

/* ---- items ---- */

static inline gboolean is_full(const struct rft_sink *k)
{
	/* Random accesses gain nothing from a long frame, and a short one stays in the cache. */
	return k->frame.runs == RFT_RUNS_MAX ||
	       (k->frame.runs == RANDOM_RUNS && k->runs.nid > RANDOM_RUNS / 8 * 7) ||
	       rft_encoder_raw(&k->runs) + k->names->len + k->events->len >= RFT_RAW_CLOSE;
}

/* The event column's next entry stands at the present run. */
static void put_position(struct rft_sink *k)
{
	rft_put_varint(k->events, k->frame.runs - k->last_event);
	k->last_event = k->frame.runs;
}

static void put_name(struct rft_sink *k)
{
	const struct rf_page_name *n;
	gboolean moved;
	int64_t by;

	n = &g_array_index(k->waiting, struct rf_page_name, k->waiting_from++);
	moved = n->space != k->last_name.space;
	by = (int64_t)(n->vpn - k->last_name.vpn);
	/* Zigzag, then one bit for another space. */
	rft_put_varint(k->names, ((uint64_t)by << 1 ^ (uint64_t)(by >> 63)) << 1 | moved);
	if (moved)
		rft_put_varint(k->names, n->space);
	k->last_name = *n;
	k->frame.pages++;
}

static void switch_task(struct rft_sink *k, uint32_t tid)
{
	if (k->frame.runs == 0) {
		k->frame.tid = tid;
	} else {
		put_position(k);
		g_byte_array_append(k->events, (uint8_t[]){ RFT_SWITCH }, 1);
		rft_put_varint(k->events, tid);
	}
	k->tid = tid;
}

static gboolean put_runs(struct rft_sink *k, const struct rf_item *item, GError **error)
{
	const struct rf_runs *r = &item->runs;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t page = r->page[i], next;

		if (is_full(k) && !end_frame(k, error))
			return FALSE;
		if (k->frame.runs == 0 || r->tid != k->tid)
			switch_task(k, r->tid);
		next = k->frame.first_page + k->frame.pages;
		if (page == next) {
			put_name(k);
		} else if (G_UNLIKELY(page > next)) {
			rf_set_data(error, "record %" G_GUINT64_FORMAT ": page %u before page %u; expected "
			            "numbers in the order of first access", item->record + i, page, next);
			return FALSE;
		}
		rft_encode(&k->runs, page, r->type[i], r->count[i]);
		k->frame.runs++;
		if (!(r->type[i] & RF_RUN_CONT))
			k->frame.accesses[r->type[i] & RF_TYPE_MASK] += r->count[i];
	}
	return TRUE;
}

static gboolean put_event(struct rft_sink *k, const struct rf_event *ev, GError **error)
{
	if (is_full(k) && !end_frame(k, error))
		return FALSE;
	put_position(k);
	rft_event_write(k->events, ev);
	k->frame.events++;
	if (ev->kind == RF_EV_LOST)
		k->frame.lost += ev->len;
	return TRUE;
}

static void put_pages(struct rft_sink *k, const struct rf_item *item)
{
	if (k->waiting_from > 0) {
		g_array_remove_range(k->waiting, 0, k->waiting_from);
		k->waiting_from = 0;
	}
	g_array_append_vals(k->waiting, item->pages.name, item->pages.n);
}

static gboolean rft_put(struct rf_sink *s, const struct rf_item *item, GError **error)
{
	struct rft_sink *k = (struct rft_sink *)s;

	rf_tally_add(&k->tally, item);
	switch (item->kind) {
	case RF_ITEM_RUNS:
		return put_runs(k, item, error);
	case RF_ITEM_EVENT:
		return put_event(k, &item->event, error);
	case RF_ITEM_PAGES:
		put_pages(k, item);
		break;
	case RF_ITEM_END:
		break;
	}
	return TRUE;
}

/* ---- head and foot ---- */

static gboolean put_head(struct rft_sink *k, const struct rf_header *h, GError **error)
{
	GByteArray *a = g_byte_array_new();
	GString *text = g_string_new(NULL);
	uint8_t fixed[4];
	gboolean ok = TRUE;

	rft_chunk_begin(a, RFT_TAG_HEAD);
	rft_put16(fixed, RFT_VERSION);
	rft_put16(fixed + 2, RFT_BYTE_ORDER);
	g_byte_array_append(a, fixed, sizeof(fixed));
	rft_header_write(text, h);
	g_byte_array_append(a, (const uint8_t *)text->str, (guint)text->len);
	if (a->len > RFT_HEADER_MAX) {
		rf_set_data(error, "the header takes %u bytes; expected at most %u", a->len,
		            RFT_HEADER_MAX);
		ok = FALSE;
	}
	ok = ok && write_chunk(k, a, error);
	g_string_free(text, TRUE);
	g_byte_array_unref(a);
	return ok;
}

static gboolean rft_finish(struct rf_sink *s, GError **error)
{
	struct rft_sink *k = (struct rft_sink *)s;
	struct rft_foot foot = { 0 };
	GByteArray *a;
	uint8_t n[4];
	gboolean ok;

	if (!end_frame(k, error))
		return FALSE;
	if (k->waiting_from < k->waiting->len) {
		rf_set_data(error, "%u pages were named but not accessed", k->waiting->len - k->waiting_from);
		return FALSE;
	}
	foot.frames = k->frame.seq;
	foot.index_offset = k->offset;
	foot.totals = k->tally.totals;

	a = g_byte_array_new();
	rft_chunk_begin(a, RFT_TAG_INDEX);
	rft_put32(n, foot.frames);
	g_byte_array_append(a, n, sizeof(n));
	g_byte_array_append(a, k->index->data, k->index->len);
	ok = write_chunk(k, a, error);
	foot.chain = k->chain;
	g_byte_array_set_size(a, 0);
	rft_chunk_begin(a, RFT_TAG_FOOT);
	rft_foot_write(a, &foot);
	ok = ok && write_chunk(k, a, error);
	g_byte_array_unref(a);
	return ok;
}

static void rft_close(struct rf_sink *s)
{
	struct rft_sink *k = (struct rft_sink *)s;

	ZSTD_freeCCtx(k->zstd);
	rf_tally_clear(&k->tally);
	rft_encoder_clear(&k->runs);
	g_byte_array_unref(k->index);
	g_array_unref(k->waiting);
	g_byte_array_unref(k->names);
	g_byte_array_unref(k->events);
	for (unsigned i = 0; i < RFT_RUN_COLS; i++)
		g_byte_array_unref(k->col[i]);
	g_free(k->packed);
}

static const struct rf_sink_ops rft_ops = {
	.put = rft_put,
	.finish = rft_finish,
	.close = rft_close,
};

static struct rft_sink *sink_new(const struct rf_header *h, int level)
{
	struct rft_sink *k = g_new0(struct rft_sink, 1);

	k->s.ops = &rft_ops;
	k->level = level == 0 ? LEVEL : CLAMP(level, ZSTD_minCLevel(), ZSTD_maxCLevel());
	k->sparse = rf_header_get(h, "window-pages") != NULL;
	k->zstd = ZSTD_createCCtx();
	rf_tally_init(&k->tally, h->granule_shift);
	k->index = g_byte_array_new();
	k->waiting = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	k->names = g_byte_array_new();
	k->events = g_byte_array_new();
	for (unsigned i = 0; i < RFT_RUN_COLS; i++)
		k->col[i] = g_byte_array_new();
	rft_encoder_init(&k->runs);
	return k;
}

struct rf_sink *rf_sink_rft(const char *path, const struct rf_header *h, int level, GError **error)
{
	struct rft_sink *k = sink_new(h, level);

	if (!rf_outfile_open(&k->s.out, path, error)) {
		rft_close(&k->s);
		g_free(k);
		return NULL;
	}
	k->s.f = k->s.out.f;
	if (!put_head(k, h, error)) {
		rf_sink_abort(&k->s);
		return NULL;
	}
	return &k->s;
}

struct rf_sink *rf_sink_rft_spool(FILE *f, const struct rf_header *h, int level, GError **error)
{
	struct rft_sink *k = sink_new(h, level);

	k->s.f = f;
	if (!put_head(k, h, error)) {
		rf_sink_abort(&k->s);
		return NULL;
	}
	return &k->s;
}
