/* SPDX-License-Identifier: MIT
 * Frames of a .rft: which encoding, compression, writing.  One frame is in work while another one is
 * gathered, so the bytes do not depend on who is faster.
 */
#include "traces/rft-pack.h"

#include <signal.h>
#include <string.h>
#include <zstd.h>

#define LEVEL_RANDOM 1 /* where only entropy coding helps */
#define LEVEL_RAW (-5) /* where nothing helps: literals are stored */
#define SAMPLE 32768   /* runs */

struct rft_packer {
	struct rf_sink *s;
	int level;
	gboolean sparse;
	uint32_t runs_max;
	struct rft_gathered frame[2];

	/* The worker's, while it has a frame. */
	ZSTD_CCtx *zstd;
	GByteArray *col[RFT_RUN_COLS];
	uint8_t *packed;
	size_t packed_cap;
	uint64_t offset, chain;
	GByteArray *index;

	GThread *thread; /* NULL: no frame was full yet, or there can be none */
	GMutex lock;
	GCond turn;
	struct rft_gathered *work; /* NULL: the worker waits */
	gboolean stop;
	GError *error; /* the first one; nothing is written after it */
};

gboolean rft_packer_chunk(struct rft_packer *p, GByteArray *a, GError **error)
{
	p->chain = rft_chain(p->chain, rft_chunk_end(a));
	p->offset += a->len;
	return rf_sink_write(p->s, a->data, a->len, error);
}

/* ---- a frame ---- */

static size_t pack(struct rft_packer *p, const void *data, size_t n, int level, size_t at)
{
	size_t bound = ZSTD_compressBound(n), got;

	if (n == 0)
		return 0;
	if (at + bound > p->packed_cap) {
		p->packed_cap = at + bound;
		p->packed = g_realloc(p->packed, p->packed_cap);
	}
	got = ZSTD_compressCCtx(p->zstd, p->packed + at, bound, data, n, level);
	/* With room for the bound, it can only fail for lack of memory. */
	if (ZSTD_isError(got))
		g_error("zstd: %s", ZSTD_getErrorName(got));
	return got;
}

/* What the first runs would take. */
static size_t try_encoding(struct rft_packer *p, const struct rft_encoder *runs,
                           enum rft_encoding enc, uint32_t n)
{
	GByteArray *id = p->col[RFT_COL_ID], *count = p->col[RFT_COL_COUNT];
	size_t counts;

	rft_encoder_columns(runs, enc, n, p->col);
	counts = pack(p, count->data, count->len, LEVEL_RANDOM, 0);
	if (enc != RFT_PACKED) /* those of all runs */
		counts = counts * n / runs->n;
	if (enc == RFT_PACKED)
		return pack(p, id->data, id->len, LEVEL_RANDOM, 0) + p->col[RFT_COL_LOW]->len +
		       n / 8 + counts;
	return pack(p, id->data, id->len, MIN(p->level, 3), 0) +
	       pack(p, p->col[RFT_COL_CODE]->data, n, LEVEL_RANDOM, 0) + counts;
}

static enum rft_encoding choose_encoding(struct rft_packer *p, const struct rft_encoder *runs)
{
	uint32_t n = MIN(runs->n, SAMPLE);
	enum rft_encoding best = RFT_CODED;
	size_t least;

	if (runs->nid < 16)
		return RFT_CODED;
	least = try_encoding(p, runs, RFT_CODED, n);
	for (unsigned enc = RFT_DELTA; enc < RFT_NENCODINGS; enc++) {
		size_t size;

		/* Packed runs are decoded several times as fast, which is worth some bytes; but they never
		 * repeat a page for free. */
		if (enc == RFT_PACKED && (p->sparse || runs->nid < runs->n / 5 * 3))
			continue;
		size = try_encoding(p, runs, enc, n);
		if (enc == RFT_PACKED)
			size -= size / 8;
		if (size < least) {
			least = size;
			best = enc;
		}
	}
	return best;
}

static int level_of(const struct rft_packer *p, enum rft_encoding encoding, enum rft_column col)
{
	if (encoding != RFT_PACKED)
		return p->level;
	if (col == RFT_COL_LOW)
		return LEVEL_RAW;
	return col == RFT_COL_CODE || col == RFT_COL_ID ? LEVEL_RANDOM : p->level;
}

static gboolean write_frame(struct rft_packer *p, struct rft_gathered *g, GError **error)
{
	struct rft_frame *f = &g->head;
	GByteArray *head, *cols[RFT_NCOLS];
	uint8_t entry[RFT_INDEX_ENTRY];
	size_t at = 0;
	gboolean ok;

	f->encoding = choose_encoding(p, &g->runs);
	f->width = rft_encoder_columns(&g->runs, f->encoding, g->runs.n, p->col);
	for (unsigned c = 0; c < RFT_NCOLS; c++) {
		cols[c] = c < RFT_RUN_COLS ? p->col[c] : c == RFT_COL_NAME ? g->names : g->events;
		f->raw[c] = cols[c]->len;
		f->packed[c] = (uint32_t)pack(p, cols[c]->data, cols[c]->len,
		                              level_of(p, f->encoding, c), at);
		at += f->packed[c];
	}
	f->data_hash = rft_hash(p->packed, at);

	rft_put64(entry, p->offset);
	rft_put32(entry + 8, f->runs);
	rft_put32(entry + 12, f->events);
	g_byte_array_append(p->index, entry, sizeof(entry));

	head = g_byte_array_new();
	rft_chunk_begin(head, RFT_TAG_FRAME);
	rft_frame_write(head, f);
	ok = rft_packer_chunk(p, head, error) && rf_sink_write(p->s, p->packed, at, error);
	p->offset += at;
	g_byte_array_unref(head);
	return ok;
}

/* ---- the thread ---- */

static gpointer worker(gpointer user)
{
	struct rft_packer *p = user;

	g_mutex_lock(&p->lock);
	for (;;) {
		GError *error = NULL;

		while (p->work == NULL && !p->stop)
			g_cond_wait(&p->turn, &p->lock);
		if (p->work == NULL)
			break;
		g_mutex_unlock(&p->lock);
		write_frame(p, p->work, &error);
		g_mutex_lock(&p->lock);
		p->error = error;
		p->work = NULL;
		g_cond_signal(&p->turn);
	}
	g_mutex_unlock(&p->lock);
	return NULL;
}

/* Signals stay with the thread that they are to interrupt. */
static void start(struct rft_packer *p)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	p->thread = g_thread_try_new("frames", worker, p, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Until the worker has nothing to do. */
static gboolean wait_for(struct rft_packer *p, GError **error)
{
	g_mutex_lock(&p->lock);
	while (p->work != NULL)
		g_cond_wait(&p->turn, &p->lock);
	g_mutex_unlock(&p->lock);
	if (p->error == NULL)
		return TRUE;
	if (error != NULL)
		*error = g_error_copy(p->error);
	return FALSE;
}

static void hand_over(struct rft_packer *p, struct rft_gathered *g)
{
	g_mutex_lock(&p->lock);
	p->work = g;
	g_cond_signal(&p->turn);
	g_mutex_unlock(&p->lock);
}

static void empty(struct rft_gathered *g)
{
	memset(&g->head, 0, sizeof(g->head));
	rft_encoder_reset(&g->runs);
	g_byte_array_set_size(g->names, 0);
	g_byte_array_set_size(g->events, 0);
}

static struct rft_gathered *other(struct rft_packer *p, const struct rft_gathered *g)
{
	struct rft_gathered *o = g == &p->frame[0] ? &p->frame[1] : &p->frame[0];

	if (o->names == NULL) {
		rft_encoder_init(&o->runs, p->runs_max);
		o->names = g_byte_array_new();
		o->events = g_byte_array_new();
	}
	empty(o);
	return o;
}

struct rft_gathered *rft_packer_first(struct rft_packer *p)
{
	return other(p, &p->frame[1]);
}

struct rft_gathered *rft_packer_frame(struct rft_packer *p, struct rft_gathered *g, GError **error)
{
	if (!wait_for(p, error))
		return NULL;
	if (p->thread == NULL)
		start(p);
	if (p->thread != NULL) {
		hand_over(p, g);
		return other(p, g);
	}
	if (!write_frame(p, g, error))
		return NULL;
	empty(g);
	return g;
}

gboolean rft_packer_last(struct rft_packer *p, struct rft_gathered *g, GError **error)
{
	return wait_for(p, error) &&
	       ((g->head.runs == 0 && g->head.events == 0) || write_frame(p, g, error));
}

/* ---- all of it ---- */

struct rft_packer *rft_packer_new(struct rf_sink *s, int level, gboolean sparse, uint32_t runs_max)
{
	struct rft_packer *p = g_new0(struct rft_packer, 1);

	p->s = s;
	p->level = level;
	p->sparse = sparse;
	p->runs_max = runs_max;
	p->zstd = ZSTD_createCCtx();
	p->index = g_byte_array_new();
	for (unsigned i = 0; i < RFT_RUN_COLS; i++)
		p->col[i] = g_byte_array_new();
	g_mutex_init(&p->lock);
	g_cond_init(&p->turn);
	return p;
}

void rft_packer_free(struct rft_packer *p)
{
	if (p->thread != NULL) {
		g_mutex_lock(&p->lock);
		p->stop = TRUE;
		g_cond_signal(&p->turn);
		g_mutex_unlock(&p->lock);
		g_thread_join(p->thread);
	}
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->turn);
	g_clear_error(&p->error);
	ZSTD_freeCCtx(p->zstd);
	g_byte_array_unref(p->index);
	for (unsigned i = 0; i < RFT_RUN_COLS; i++)
		g_byte_array_unref(p->col[i]);
	for (unsigned i = 0; i < 2; i++)
		if (p->frame[i].names != NULL) {
			rft_encoder_clear(&p->frame[i].runs);
			g_byte_array_unref(p->frame[i].names);
			g_byte_array_unref(p->frame[i].events);
		}
	g_free(p->packed);
	g_free(p);
}

uint64_t rft_packer_offset(const struct rft_packer *p)
{
	return p->offset;
}

uint64_t rft_packer_chain(const struct rft_packer *p)
{
	return p->chain;
}

const GByteArray *rft_packer_index(const struct rft_packer *p)
{
	return p->index;
}
