/* SPDX-License-Identifier: MIT
 * Writes a .rft.
 */
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "traces/rft-pack.h"
#include "traces/totals.h"

#define LEVEL 9
#define RANDOM_RUNS (128u << 10)
#define PAGE_NAME_MAX 15 /* bytes of a page's name: two varints */

struct rft_sink {
	struct rf_sink s;
	uint16_t version;
	struct rf_tally tally;
	struct rft_packer *packer;

	/* Named, but not used yet. */
	GArray *waiting;
	guint waiting_from;

	struct rft_gathered *g; /* the frame that grows */
	struct rf_page_name last_name;
	uint32_t tid, last_event; /* last_event: its position among the runs */
};

/* What follows the frame before in the one that is empty now. */
static void start_frame(struct rft_sink *k, const struct rft_frame *before)
{
	struct rft_frame *f = &k->g->head;

	f->seq = before->seq + 1;
	f->first_page = before->first_page + before->pages;
	f->first_record = before->first_record + before->runs + before->events;
	k->last_name = (struct rf_page_name){ 0 };
	k->last_event = 0;
}

static gboolean end_frame(struct rft_sink *k, GError **error)
{
	struct rft_frame before = k->g->head;
	struct rft_gathered *g = rft_packer_frame(k->packer, k->g, error);

	if (g == NULL)
		return FALSE;
	k->g = g;
	start_frame(k, &before);
	return TRUE;
}

/* ---- items ---- */

/* Bytes of the frame's columns, at most. */
static size_t raw(const struct rft_gathered *g)
{
	return rft_encoder_raw(&g->runs) + g->names->len + g->events->len;
}

static gboolean is_full(const struct rft_sink *k)
{
	const struct rft_gathered *g = k->g;

	/* Random accesses gain nothing from a long frame, and a short one stays in the cache. */
	return g->head.runs == rft_runs_max(k->version) ||
	       (g->head.runs == RANDOM_RUNS && g->runs.nid > RANDOM_RUNS / 8 * 7) ||
	       raw(g) >= rft_raw_close(k->version);
}

/* How many runs may go into a frame that is not full before it must be asked again. */
static uint32_t room(const struct rft_sink *k)
{
	uint32_t runs = k->g->head.runs;
	uint32_t most = (runs < RANDOM_RUNS ? RANDOM_RUNS : rft_runs_max(k->version)) - runs;
	size_t bytes = (rft_raw_close(k->version) - raw(k->g)) / (RFT_RUN_RAW_MAX + PAGE_NAME_MAX);

	return (uint32_t)CLAMP(bytes, 1, most);
}

/* The event column's next entry stands at the present run. */
static void put_position(struct rft_sink *k)
{
	rft_put_varint(k->g->events, k->g->head.runs - k->last_event);
	k->last_event = k->g->head.runs;
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
	rft_put_varint(k->g->names, ((uint64_t)by << 1 ^ (uint64_t)(by >> 63)) << 1 | moved);
	if (moved)
		rft_put_varint(k->g->names, n->space);
	k->last_name = *n;
	k->g->head.pages++;
}

static void switch_task(struct rft_sink *k, uint32_t tid)
{
	if (k->g->head.runs == 0) {
		k->g->head.tid = tid;
	} else {
		put_position(k);
		g_byte_array_append(k->g->events, (uint8_t[]){ RFT_SWITCH }, 1);
		rft_put_varint(k->g->events, tid);
	}
	k->tid = tid;
}

/* The names of pages that these runs are the first to use. */
static gboolean put_names(struct rft_sink *k, uint32_t n, const uint32_t *page, uint64_t record,
                          GError **error)
{
	uint32_t next = k->g->head.first_page + k->g->head.pages;

	for (uint32_t i = 0; i < n; i++) {
		if (G_LIKELY(page[i] < next))
			continue;
		if (page[i] > next) {
			rf_set_data(error, "record %" G_GUINT64_FORMAT ": page %u before page %u; expected "
			            "numbers in the order of first access", record + i, page[i], next);
			return FALSE;
		}
		put_name(k);
		next++;
	}
	return TRUE;
}

static gboolean put_runs(struct rft_sink *k, const struct rf_item *item, GError **error)
{
	const struct rf_runs *r = &item->runs;

	for (uint32_t i = 0, n; i < r->n; i += n) {
		uint64_t sum[2 * RF_RUN_CONT] = { 0 };

		if (is_full(k) && !end_frame(k, error))
			return FALSE;
		if (k->g->head.runs == 0 || r->tid != k->tid)
			switch_task(k, r->tid);
		n = MIN(r->n - i, room(k));
		if (!put_names(k, n, r->page + i, item->record + i, error))
			return FALSE;
		rft_encode(&k->g->runs, n, r->page + i, r->type + i, r->count + i);
		k->g->head.runs += n;
		for (uint32_t j = i; j < i + n; j++)
			sum[r->type[j] & (RF_RUN_CONT | RF_TYPE_MASK)] += r->count[j];
		for (unsigned t = 0; t < RF_NACCESS; t++)
			k->g->head.accesses[t] += sum[t];
	}
	return TRUE;
}

static gboolean put_event(struct rft_sink *k, const struct rf_event *ev, GError **error)
{
	if (is_full(k) && !end_frame(k, error))
		return FALSE;
	put_position(k);
	rft_event_write(k->g->events, ev);
	k->g->head.events++;
	if (ev->kind == RF_EV_LOST)
		k->g->head.lost += ev->len;
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

	if (s->copied == NULL)
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
	rft_put16(fixed, k->version);
	rft_put16(fixed + 2, RFT_BYTE_ORDER);
	g_byte_array_append(a, fixed, sizeof(fixed));
	rft_header_write(text, h);
	g_byte_array_append(a, (const uint8_t *)text->str, (guint)text->len);
	if (a->len > RFT_HEADER_MAX) {
		rf_set_data(error, "the header takes %u bytes; expected at most %u", a->len,
		            RFT_HEADER_MAX);
		ok = FALSE;
	}
	ok = ok && rft_packer_chunk(k->packer, a, error);
	g_string_free(text, TRUE);
	g_byte_array_unref(a);
	return ok;
}

static gboolean rft_finish(struct rf_sink *s, GError **error)
{
	struct rft_sink *k = (struct rft_sink *)s;
	struct rft_foot foot = { 0 };
	const GByteArray *index = rft_packer_index(k->packer);
	GByteArray *a;
	uint8_t n[4];
	gboolean ok;

	if (!rft_packer_last(k->packer, k->g, error))
		return FALSE;
	if (k->waiting_from < k->waiting->len) {
		rf_set_data(error, "%u pages were named but not accessed", k->waiting->len - k->waiting_from);
		return FALSE;
	}
	foot.frames = index->len / RFT_INDEX_ENTRY;
	foot.index_offset = rft_packer_offset(k->packer);
	foot.totals = s->copied != NULL ? *rf_source_totals(s->copied) : k->tally.totals;

	a = g_byte_array_new();
	rft_chunk_begin(a, RFT_TAG_INDEX);
	rft_put32(n, foot.frames);
	g_byte_array_append(a, n, sizeof(n));
	g_byte_array_append(a, index->data, index->len);
	ok = rft_packer_chunk(k->packer, a, error);
	foot.chain = rft_packer_chain(k->packer);
	g_byte_array_set_size(a, 0);
	rft_chunk_begin(a, RFT_TAG_FOOT);
	rft_foot_write(a, &foot);
	ok = ok && rft_packer_chunk(k->packer, a, error);
	g_byte_array_unref(a);
	return ok;
}

static void rft_close(struct rf_sink *s)
{
	struct rft_sink *k = (struct rft_sink *)s;

	rft_packer_free(k->packer);
	rf_tally_clear(&k->tally);
	g_array_unref(k->waiting);
}

static const struct rf_sink_ops rft_ops = {
	.put = rft_put,
	.finish = rft_finish,
	.close = rft_close,
};

static struct rft_sink *sink_new(const struct rf_header *h, int level)
{
	struct rft_sink *k = g_new0(struct rft_sink, 1);
	/* Recorded with a window: a hundredth of the runs. */
	gboolean sparse = rf_header_get(h, "window-pages") != NULL;

	k->s.ops = &rft_ops;
	/* Of all importers, only that of our recorders names it. */
	k->version = !sparse && rf_header_get(h, "architecture") ? RFT_VERSION_LONG : RFT_VERSION;
	level = level == 0 ? LEVEL : CLAMP(level, ZSTD_minCLevel(), ZSTD_maxCLevel());
	k->packer = rft_packer_new(&k->s, level, sparse, rft_runs_max(k->version));
	k->g = rft_packer_first(k->packer);
	rf_tally_init(&k->tally, h->granule_shift);
	k->waiting = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
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
