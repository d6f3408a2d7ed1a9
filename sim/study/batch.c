/* SPDX-License-Identifier: MIT */
#include "sim/study/batch.h"

#include <string.h>

/* A trace of nothing but events, or of new pages, ends a batch as well. */
#define MOST_ITEMS 8192
#define MOST_NAMES RF_BATCH_RUNS

/* Where an item's columns begin: the arrays may move until the batch is full. */
struct spot {
	uint32_t run, name;
	uint32_t next[RF_FUTURES];
};

struct rf_batch {
	GArray *items, *spots; /* struct rf_item, struct spot: parallel */
	GArray *page, *count;  /* uint32_t */
	GByteArray *type;
	GArray *names; /* struct rf_page_name */
	GArray *next[RF_FUTURES]; /* uint64_t */
	gboolean has_next[RF_FUTURES];
	GStringChunk *strings;
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
}

static const char *keep(struct rf_batch *b, const char *text)
{
	return text ? g_string_chunk_insert(b->strings, text) : NULL;
}

static void add(struct rf_batch *b, const struct rf_item *item, const struct rf_futures *futures)
{
	struct spot spot = { b->page->len, b->names->len, { 0 } };
	struct rf_item copy = *item;

	switch (item->kind) {
	case RF_ITEM_RUNS:
		g_array_append_vals(b->page, item->runs.page, item->runs.n);
		g_array_append_vals(b->count, item->runs.count, item->runs.n);
		g_byte_array_append(b->type, item->runs.type, item->runs.n);
		break;
	case RF_ITEM_PAGES:
		g_array_append_vals(b->names, item->pages.name, item->pages.n);
		break;
	case RF_ITEM_EVENT:
		copy.event.name = keep(b, item->event.name);
		copy.event.text = keep(b, item->event.text);
		break;
	case RF_ITEM_END:
		break;
	}
	for (unsigned i = 0; i < RF_FUTURES; i++) {
		const struct rf_future *f = futures->by_size[i];

		b->has_next[i] = f != NULL;
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
		const struct spot *s = &g_array_index(b->spots, struct spot, i);

		if (item->kind == RF_ITEM_RUNS) {
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
		add(b, &item, futures);
	}
	settle(b);
	return TRUE;
}

guint rf_batch_items(const struct rf_batch *b)
{
	return b->items->len;
}

const struct rf_item *rf_batch_item(const struct rf_batch *b, guint i)
{
	return &g_array_index(b->items, struct rf_item, i);
}

const uint64_t *rf_batch_next(const struct rf_batch *b, guint i, unsigned size)
{
	const struct spot *s = &g_array_index(b->spots, struct spot, i);

	return b->has_next[size] ? (const uint64_t *)(void *)b->next[size]->data + s->next[size] : NULL;
}
