/* SPDX-License-Identifier: MIT */
#include "sim/study/batch.h"

#include <string.h>

/* A trace of nothing but events, or of new pages, ends a batch as well. */
#define MOST_ITEMS 8192
#define MOST_NAMES RF_BATCH_RUNS
/* Runs of a piece.  Short enough that most have no fault in them, long enough that pages repeat. */
#define PIECE 512

/* Where an item's columns begin: the arrays may move until the batch is full. */
struct spot {
	uint32_t run, name;
	uint32_t next[RF_FUTURES];
	struct rf_skim skim;
	uint32_t skim_at; /* where its pages begin */
};

struct rf_batch {
	GArray *items, *spots; /* struct rf_item, struct spot: parallel */
	GArray *page, *count;  /* uint32_t */
	GByteArray *type;
	GArray *names; /* struct rf_page_name */
	GArray *next[RF_FUTURES]; /* uint64_t */
	gboolean has_next[RF_FUTURES];
	GStringChunk *strings;
	/* skims */
	GArray *skim_page;  /* uint32_t */
	GByteArray *skim_types;
	struct seen *seen; /* by page */
	uint32_t nseen, serial;
};

/* Of a page, in the piece of that serial number: its place in the skim. */
struct seen {
	uint32_t serial, place;
};

struct rf_batch *rf_batch_new(void)
{
	struct rf_batch *b = g_new0(struct rf_batch, 1);

	b->items = g_array_sized_new(FALSE, FALSE, sizeof(struct rf_item), 64);
	b->spots = g_array_sized_new(FALSE, FALSE, sizeof(struct spot), 64);
	b->page = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	b->count = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	b->type = g_byte_array_new();
	b->names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	for (unsigned i = 0; i < RF_FUTURES; i++)
		b->next[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	b->strings = g_string_chunk_new(1024);
	b->skim_page = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	b->skim_types = g_byte_array_new();
	return b;
}

void rf_batch_free(struct rf_batch *b)
{
	if (!b)
		return;
	g_array_unref(b->items);
	g_array_unref(b->spots);
	g_array_unref(b->page);
	g_array_unref(b->count);
	g_byte_array_unref(b->type);
	g_array_unref(b->names);
	for (unsigned i = 0; i < RF_FUTURES; i++)
		g_array_unref(b->next[i]);
	g_string_chunk_free(b->strings);
	g_array_unref(b->skim_page);
	g_byte_array_unref(b->skim_types);
	g_free(b->seen);
	g_free(b);
}

static void empty(struct rf_batch *b)
{
	g_array_set_size(b->items, 0);
	g_array_set_size(b->spots, 0);
	g_array_set_size(b->page, 0);
	g_array_set_size(b->count, 0);
	g_byte_array_set_size(b->type, 0);
	g_array_set_size(b->names, 0);
	for (unsigned i = 0; i < RF_FUTURES; i++)
		g_array_set_size(b->next[i], 0);
	g_string_chunk_clear(b->strings);
	g_array_set_size(b->skim_page, 0);
	g_byte_array_set_size(b->skim_types, 0);
}

static const char *keep(struct rf_batch *b, const char *text)
{
	return text ? g_string_chunk_insert(b->strings, text) : NULL;
}

/* ---- skims ---- */

static void know_page(struct rf_batch *b, uint32_t page)
{
	uint32_t n = b->nseen;

	if (page < n)
		return;
	b->nseen = MAX(page + 1, n + n / 2);
	b->seen = g_renew(struct seen, b->seen, b->nseen);
	memset(b->seen + n, 0, (b->nseen - n) * sizeof(*b->seen));
}

/* Of the runs [from, to) of an item.  Left empty when most pages come only once. */
static void take_skim(struct rf_batch *b, const struct rf_runs *r, uint32_t from, uint32_t to,
                      struct spot *spot)
{
	uint32_t begin = b->skim_page->len, most = (to - from) / 2;
	struct rf_skim *k = &spot->skim;

	spot->skim_at = begin;
	*k = (struct rf_skim){ 0 };
	/* 0 is no piece: after that many, begin anew. */
	if (++b->serial == 0) {
		memset(b->seen, 0, b->nseen * sizeof(*b->seen));
		b->serial = 1;
	}
	for (uint32_t i = from; i < to; i++) {
		uint32_t page = r->page[i];
		uint8_t type = (uint8_t)(1 << (r->type[i] & RF_TYPE_MASK));

		k->hits += r->count[i];
		k->accesses += r->type[i] & RF_RUN_CONT ? 0 : r->count[i];
		know_page(b, page);
		if (b->seen[page].serial == b->serial) {
			b->skim_types->data[b->seen[page].place] |= type;
			continue;
		}
		if (k->n == most) {
			g_array_set_size(b->skim_page, begin);
			g_byte_array_set_size(b->skim_types, begin);
			k->n = 0;
			return;
		}
		b->seen[page] = (struct seen){ b->serial, b->skim_page->len };
		g_array_append_val(b->skim_page, page);
		g_byte_array_append(b->skim_types, &type, 1);
		k->n++;
	}
}

/* ---- items ---- */

static void add_runs(struct rf_batch *b, const struct rf_item *item, const struct rf_futures *futures)
{
	const struct rf_runs *r = &item->runs;
	const uint32_t run = b->page->len;
	uint32_t next[RF_FUTURES];

	g_array_append_vals(b->page, r->page, r->n);
	g_array_append_vals(b->count, r->count, r->n);
	g_byte_array_append(b->type, r->type, r->n);
	for (unsigned i = 0; i < RF_FUTURES; i++) {
		next[i] = b->next[i]->len;
		if (futures->by_size[i])
			g_array_append_vals(b->next[i], rf_future_next(futures->by_size[i]), r->n);
	}
	for (uint32_t from = 0; from < r->n; from += PIECE) {
		uint32_t to = MIN(from + PIECE, r->n);
		struct rf_item piece = *item;
		struct spot spot = { .run = run + from };

		piece.record += from;
		piece.runs.n = to - from;
		for (unsigned i = 0; i < RF_FUTURES; i++)
			spot.next[i] = next[i] + from;
		take_skim(b, r, from, to, &spot);
		g_array_append_val(b->items, piece);
		g_array_append_val(b->spots, spot);
	}
}

static void add_other(struct rf_batch *b, const struct rf_item *item, const struct rf_futures *futures)
{
	struct spot spot = { .name = b->names->len };
	struct rf_item copy = *item;

	if (item->kind == RF_ITEM_PAGES) {
		g_array_append_vals(b->names, item->pages.name, item->pages.n);
	} else {
		copy.event.name = keep(b, item->event.name);
		copy.event.text = keep(b, item->event.text);
	}
	for (unsigned i = 0; i < RF_FUTURES; i++) {
		const struct rf_future *f = futures->by_size[i];

		spot.next[i] = b->next[i]->len;
		if (f)
			g_array_append_vals(b->next[i], rf_future_next(f),
			                    (guint)rf_future_count(f, item));
	}
	g_array_append_val(b->items, copy);
	g_array_append_val(b->spots, spot);
}

/* Nothing moves any more: point into the columns. */
static void settle(struct rf_batch *b)
{
	for (guint i = 0; i < b->items->len; i++) {
		struct rf_item *item = &g_array_index(b->items, struct rf_item, i);
		struct spot *s = &g_array_index(b->spots, struct spot, i);

		if (item->kind == RF_ITEM_RUNS) {
			s->skim.page = (const uint32_t *)(void *)b->skim_page->data + s->skim_at;
			s->skim.types = b->skim_types->data + s->skim_at;
			item->runs.page = (const uint32_t *)(void *)b->page->data + s->run;
			item->runs.count = (const uint32_t *)(void *)b->count->data + s->run;
			item->runs.type = b->type->data + s->run;
		} else if (item->kind == RF_ITEM_PAGES) {
			item->pages.name =
				(const struct rf_page_name *)(void *)b->names->data + s->name;
		}
	}
}

gboolean rf_batch_fill(struct rf_batch *b, struct rf_source *source, struct rf_futures *futures,
                       gboolean *end, GError **error)
{
	struct rf_item item;

	empty(b);
	*end = FALSE;
	for (unsigned i = 0; i < RF_FUTURES; i++)
		b->has_next[i] = futures->by_size[i] != NULL;
	while (b->page->len < RF_BATCH_RUNS && b->items->len < MOST_ITEMS &&
	       b->names->len < MOST_NAMES) {
		if (!rf_source_next(source, &item, error))
			return FALSE;
		if (item.kind == RF_ITEM_END) {
			*end = TRUE;
			break;
		}
		if (!rf_futures_item(futures, &item, error))
			return FALSE;
		(item.kind == RF_ITEM_RUNS ? add_runs : add_other)(b, &item, futures);
	}
	settle(b);
	return TRUE;
}

guint rf_batch_runs(const struct rf_batch *b)
{
	return b->page->len;
}

guint rf_batch_items(const struct rf_batch *b)
{
	return b->items->len;
}

const struct rf_item *rf_batch_item(const struct rf_batch *b, guint i)
{
	return &g_array_index(b->items, struct rf_item, i);
}

const struct rf_skim *rf_batch_skim(const struct rf_batch *b, guint i)
{
	const struct rf_skim *k = &g_array_index(b->spots, struct spot, i).skim;

	return k->n ? k : NULL;
}

const uint64_t *rf_batch_next(const struct rf_batch *b, guint i, unsigned size)
{
	const struct spot *s = &g_array_index(b->spots, struct spot, i);

	return b->has_next[size] ? (const uint64_t *)(void *)b->next[size]->data + s->next[size] : NULL;
}
