/* SPDX-License-Identifier: MIT */
#include "traces/streams.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "traces/event.h"
#include "traces/rft.h"

#define SEGMENT (1u << 20) /* where a segment ends */
#define NONE RF_NO_STREAM

/* Records of a stream, in memory or in the file. */
struct segment {
	GByteArray *mem; /* or NULL */
	uint64_t offset;
	size_t len;
};

enum { REC_RUNS = 1, REC_EVENT, REC_AT };

struct stream {
	uint32_t parent, previous; /* previous: had the same number */
	gboolean live;      /* its task has not exited */
	gboolean closed;    /* nothing more will come */
	uint64_t at;        /* written last */
	GQueue segments;    /* of struct segment */
	GByteArray *tail;   /* being written */
	GByteArray *head;   /* being read, from pos */
	size_t pos;
	uint64_t not_before;
	/* The item handed out. */
	uint32_t *page, *count;
	uint8_t *type;
	uint32_t cap;
	GStringChunk *strings;
};

struct rf_streams {
	struct rf_source *source;
	rf_streams_ahead_fn ahead;
	void *arg;
	GPtrArray *all;        /* of struct stream */
	GHashTable *by_tid;    /* of the tasks that live */
	GHashTable *had_tid;   /* of those too that lived last */
	uint32_t last, nlive;  /* last: stream of the record before */
	uint32_t cached_tid, cached;
	uint64_t at, held, limit, spilled; /* held: bytes that wait in memory */
	int fd;
	uint64_t file_size;
	gboolean ended;
};

static struct stream *nth(const struct rf_streams *s, uint32_t n)
{
	return s->all->pdata[n];
}

static uint32_t stream_new(struct rf_streams *s, uint32_t parent)
{
	struct stream *st = g_new0(struct stream, 1);

	st->parent = parent;
	st->previous = NONE;
	st->tail = g_byte_array_new();
	g_queue_init(&st->segments);
	g_ptr_array_add(s->all, st);
	return s->all->len - 1;
}

static void segment_free(struct segment *g)
{
	if (g->mem)
		g_byte_array_unref(g->mem);
	g_free(g);
}

static void stream_free(struct stream *st)
{
	g_queue_clear_full(&st->segments, (GDestroyNotify)segment_free);
	g_byte_array_unref(st->tail);
	if (st->head)
		g_byte_array_unref(st->head);
	if (st->strings)
		g_string_chunk_free(st->strings);
	g_free(st->page);
	g_free(st->count);
	g_free(st->type);
	g_free(st);
}

/* It has nothing more to give. */
static void stream_trim(struct stream *st)
{
	g_clear_pointer(&st->head, g_byte_array_unref);
	g_clear_pointer(&st->strings, g_string_chunk_free);
	g_clear_pointer(&st->page, g_free);
	g_clear_pointer(&st->count, g_free);
	g_clear_pointer(&st->type, g_free);
	st->pos = st->cap = 0;
}

struct rf_streams *rf_streams_new(struct rf_source *source, uint64_t memory, rf_streams_ahead_fn ahead,
                                  void *arg)
{
	struct rf_streams *s = g_new0(struct rf_streams, 1);

	s->source = source;
	s->limit = memory;
	s->ahead = ahead;
	s->arg = arg;
	s->fd = -1;
	s->cached = NONE;
	s->all = g_ptr_array_new_with_free_func((GDestroyNotify)stream_free);
	s->by_tid = g_hash_table_new(NULL, NULL);
	s->had_tid = g_hash_table_new(NULL, NULL);
	stream_new(s, NONE);
	return s;
}

void rf_streams_free(struct rf_streams *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	g_ptr_array_unref(s->all);
	g_hash_table_unref(s->by_tid);
	g_hash_table_unref(s->had_tid);
	g_free(s);
}

uint64_t rf_streams_spilled(const struct rf_streams *s)
{
	return s->spilled;
}

/* ---- what waits ---- */

static gboolean file_error(GError **error, const char *what)
{
	rf_set_env(error, "cannot %s a temporary file in %s: %s", what, g_get_tmp_dir(), g_strerror(errno));
	return FALSE;
}

static gboolean open_file(struct rf_streams *s, GError **error)
{
	g_autofree char *name = g_build_filename(g_get_tmp_dir(), "refault-XXXXXX", NULL);

	if (s->fd >= 0)
		return TRUE;
	s->fd = g_mkstemp(name);
	if (s->fd < 0)
		return file_error(error, "make");
	unlink(name);
	return TRUE;
}

static gboolean write_segment(struct rf_streams *s, struct segment *g, GError **error)
{
	size_t done = 0;

	g->offset = s->file_size;
	while (done < g->len) {
		ssize_t n = pwrite(s->fd, g->mem->data + done, g->len - done, (off_t)(g->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(error, "write");
		done += (size_t)n;
	}
	s->file_size += g->len;
	s->spilled += g->len;
	g_clear_pointer(&g->mem, g_byte_array_unref);
	return TRUE;
}

static void end_segment(struct stream *st)
{
	struct segment *g;

	if (!st->tail->len)
		return;
	g = g_new0(struct segment, 1);
	g->mem = st->tail;
	g->len = st->tail->len;
	g_queue_push_tail(&st->segments, g);
	st->tail = g_byte_array_new();
}

/* All that waits in memory goes to the file. */
static gboolean spill(struct rf_streams *s, GError **error)
{
	if (!open_file(s, error))
		return FALSE;
	for (guint i = 0; i < s->all->len; i++) {
		struct stream *st = nth(s, i);

		end_segment(st);
		for (GList *l = st->segments.head; l; l = l->next) {
			struct segment *g = l->data;

			if (g->mem && !write_segment(s, g, error))
				return FALSE;
		}
	}
	s->held = 0;
	return TRUE;
}

/* The records at the head of the queue.  FALSE without an error: there are none. */
static gboolean load_head(struct rf_streams *s, struct stream *st, GError **error)
{
	struct segment *g;
	size_t done = 0;

	if (st->head && st->pos < st->head->len)
		return TRUE;
	g_clear_pointer(&st->head, g_byte_array_unref);
	st->pos = 0;
	if (g_queue_is_empty(&st->segments))
		end_segment(st);
	g = g_queue_pop_head(&st->segments);
	if (!g)
		return FALSE;
	if (g->mem) {
		s->held -= g->len;
		st->head = g_steal_pointer(&g->mem);
		segment_free(g);
		return TRUE;
	}
	st->head = g_byte_array_sized_new((guint)g->len);
	g_byte_array_set_size(st->head, (guint)g->len);
	while (done < g->len) {
		ssize_t n = pread(s->fd, st->head->data + done, g->len - done, (off_t)(g->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			segment_free(g);
			return file_error(error, "read");
		}
		done += (size_t)n;
	}
	segment_free(g);
	return TRUE;
}

static gboolean added(struct rf_streams *s, struct stream *st, size_t before, GError **error)
{
	s->held += st->tail->len - before;
	if (st->tail->len >= SEGMENT)
		end_segment(st);
	return s->held <= s->limit || spill(s, error);
}

static void put(GByteArray *a, const void *data, size_t n)
{
	g_byte_array_append(a, data, (guint)n);
}

static void put_head(GByteArray *a, uint8_t kind, uint32_t n, uint64_t number)
{
	put(a, &kind, 1);
	put(a, &n, sizeof n);
	put(a, &number, sizeof number);
}

static void put_at(struct rf_streams *s, struct stream *st)
{
	if (st->at == s->at)
		return;
	st->at = s->at;
	put_head(st->tail, REC_AT, 0, s->at);
}

static gboolean add_runs(struct rf_streams *s, struct stream *st, const struct rf_item *item, GError **error)
{
	const struct rf_runs *r = &item->runs;
	size_t before = st->tail->len;

	put_at(s, st);
	put_head(st->tail, REC_RUNS, r->n, item->record);
	put(st->tail, &r->tid, sizeof r->tid);
	put(st->tail, r->page, r->n * sizeof *r->page);
	put(st->tail, r->count, r->n * sizeof *r->count);
	put(st->tail, r->type, r->n);
	return added(s, st, before, error);
}

static gboolean add_event(struct rf_streams *s, struct stream *st, const struct rf_item *item, uint32_t child,
                          GError **error)
{
	size_t before = st->tail->len, at;
	uint32_t len;

	put_at(s, st);
	at = st->tail->len;
	put_head(st->tail, REC_EVENT, 0, item->record);
	put(st->tail, &child, sizeof child);
	rft_event_write(st->tail, &item->event);
	len = (uint32_t)(st->tail->len - at);
	memcpy(st->tail->data + at + 1, &len, sizeof len);
	return added(s, st, before, error);
}

/* ---- from the source ---- */

static uint32_t stream_of(struct rf_streams *s, uint32_t tid)
{
	gpointer value;

	if (s->cached != NONE && s->cached_tid == tid)
		return s->cached;
	/* The source has checked that the task was declared. */
	if (!g_hash_table_lookup_extended(s->by_tid, GUINT_TO_POINTER(tid), NULL, &value))
		return NONE;
	s->cached_tid = tid;
	return s->cached = GPOINTER_TO_UINT(value);
}

static uint32_t first_live(const struct rf_streams *s)
{
	for (uint32_t i = 0; i < s->all->len; i++)
		if (nth(s, i)->live)
			return i;
	return NONE;
}

/* Its task exits with the event that was added last. */
static void exits(struct rf_streams *s, uint32_t n, uint32_t tid)
{
	struct stream *st = nth(s, n);

	g_hash_table_remove(s->by_tid, GUINT_TO_POINTER(tid));
	s->cached = NONE;
	st->live = FALSE;
	if (!--s->nlive)
		return; /* who is left to carry on what follows? */
	st->closed = TRUE;
	if (s->last == n)
		s->last = st->parent != NONE && nth(s, st->parent)->live ? st->parent : first_live(s);
}

static uint32_t starts(struct rf_streams *s, const struct rf_event *ev, uint32_t by)
{
	uint32_t n = stream_new(s, ev->has_parent ? by : NONE);
	gpointer previous;

	if (g_hash_table_lookup_extended(s->had_tid, GUINT_TO_POINTER(ev->tid), NULL, &previous))
		nth(s, n)->previous = GPOINTER_TO_UINT(previous);
	g_hash_table_insert(s->had_tid, GUINT_TO_POINTER(ev->tid), GUINT_TO_POINTER(n));
	g_hash_table_insert(s->by_tid, GUINT_TO_POINTER(ev->tid), GUINT_TO_POINTER(n));
	s->cached = NONE;
	nth(s, n)->live = TRUE;
	nth(s, n)->at = nth(s, n)->not_before = s->at; /* whoever starts it has waited for that */
	/* The beginning ends with the first task; a task that had exited, but was all there was. */
	if (!s->nlive++)
		nth(s, by)->closed = TRUE;
	return n;
}

static uint32_t owner(struct rf_streams *s, const struct rf_event *ev)
{
	if (ev->kind == RF_EV_TASK)
		return ev->has_parent ? stream_of(s, ev->parent) : s->last;
	return rf_event_has_tid(ev->kind) ? stream_of(s, ev->tid) : s->last;
}

static gboolean take_event(struct rf_streams *s, const struct rf_item *item, GError **error)
{
	const struct rf_event *ev = &item->event;
	uint32_t n, child = NONE;

	switch (ev->kind) {
	case RF_EV_FILE:
	case RF_EV_REFPAGE:
		return s->ahead(s->arg, item, error);
	case RF_EV_LOST:
		return TRUE;
	case RF_EV_AT:
		s->at = MAX(s->at, ev->len);
		return TRUE;
	default:
		break;
	}
	n = owner(s, ev);
	if (n == NONE) {
		rf_set_data(error, "record %" G_GUINT64_FORMAT ": task %u was not declared", item->record,
		            ev->kind == RF_EV_TASK ? ev->parent : ev->tid);
		return FALSE;
	}
	if (ev->kind == RF_EV_TASK)
		child = starts(s, ev, n);
	if (!add_event(s, nth(s, n), item, child, error))
		return FALSE;
	s->last = child != NONE ? child : n;
	if (ev->kind == RF_EV_EXIT)
		exits(s, n, ev->tid);
	return TRUE;
}

/* One item of the source.  *direct: it is stream want's, alone, and *out; else it waits. */
static gboolean advance(struct rf_streams *s, uint32_t want, struct rf_stream_item *out, gboolean *direct,
                        GError **error)
{
	struct rf_item *item = &out->item;
	uint32_t n;

	if (rf_interrupted()) {
		rf_set_interrupted(error);
		return FALSE;
	}
	if (!rf_source_next(s->source, item, error))
		return FALSE;
	switch (item->kind) {
	case RF_ITEM_PAGES:
		return s->ahead(s->arg, item, error);
	case RF_ITEM_EVENT:
		return take_event(s, item, error);
	case RF_ITEM_END:
		s->ended = TRUE;
		return TRUE;
	case RF_ITEM_RUNS:
		break;
	}
	n = stream_of(s, item->runs.tid);
	if (n == NONE) {
		rf_set_data(error, "record %" G_GUINT64_FORMAT ": task %u was not declared", item->record,
		            item->runs.tid);
		return FALSE;
	}
	s->last = n;
	/* Alone, and not before anything else of its own: as it is. */
	if (n == want && s->nlive == 1 && nth(s, n)->at == s->at) {
		out->not_before = nth(s, n)->not_before;
		*direct = TRUE;
		return TRUE;
	}
	return add_runs(s, nth(s, n), item, error);
}

/* ---- to whoever asks ---- */

static void get(struct stream *st, void *data, size_t n)
{
	memcpy(data, st->head->data + st->pos, n);
	st->pos += n;
}

static void read_runs(struct stream *st, uint32_t n, struct rf_item *item)
{
	uint32_t tid;

	if (n > st->cap) {
		st->cap = MAX(n, 2 * st->cap);
		st->page = g_renew(uint32_t, st->page, st->cap);
		st->count = g_renew(uint32_t, st->count, st->cap);
		st->type = g_renew(uint8_t, st->type, st->cap);
	}
	get(st, &tid, sizeof tid);
	get(st, st->page, n * sizeof *st->page);
	get(st, st->count, n * sizeof *st->count);
	get(st, st->type, n);
	item->kind = RF_ITEM_RUNS;
	item->runs = (struct rf_runs){ n, tid, st->page, st->type, st->count };
}

static void read_event(struct stream *st, uint32_t len, size_t begin, struct rf_stream_item *out)
{
	const uint8_t *p, *end = st->head->data + begin + len;

	get(st, &out->child, sizeof out->child);
	p = st->head->data + st->pos;
	st->pos = begin + len;
	if (!st->strings)
		st->strings = g_string_chunk_new(256);
	g_string_chunk_clear(st->strings);
	out->item.kind = RF_ITEM_EVENT;
	memset(&out->item.event, 0, sizeof out->item.event);
	out->item.event.kind = *p++;
	if (!rft_event_read(&p, end, &out->item.event, st->strings))
		g_assert_not_reached(); /* we wrote it */
}

/* FALSE: only a bound of time was left in the queue. */
static gboolean read_record(struct stream *st, struct rf_stream_item *out)
{
	size_t begin = st->pos;
	uint64_t number;
	uint32_t n;
	uint8_t kind;

	get(st, &kind, 1);
	get(st, &n, sizeof n);
	get(st, &number, sizeof number);
	if (kind == REC_AT) {
		st->not_before = number;
		return FALSE;
	}
	if (kind == REC_RUNS)
		read_runs(st, n, &out->item);
	else
		read_event(st, n, begin, out);
	out->item.record = number;
	out->not_before = st->not_before;
	return TRUE;
}

gboolean rf_streams_next(struct rf_streams *s, uint32_t stream, struct rf_stream_item *out, GError **error)
{
	struct stream *st = nth(s, stream);
	gboolean direct = FALSE;
	GError *e = NULL;

	out->child = out->previous = NONE;
	for (;;) {
		if (load_head(s, st, &e)) {
			if (!read_record(st, out))
				continue;
			if (out->child != NONE)
				out->previous = nth(s, out->child)->previous;
			return TRUE;
		}
		if (e) {
			g_propagate_error(error, e);
			return FALSE;
		}
		if (st->closed || s->ended) {
			stream_trim(st);
			out->item.kind = RF_ITEM_END;
			return TRUE;
		}
		if (!advance(s, stream, out, &direct, error))
			return FALSE;
		if (direct)
			return TRUE;
	}
}
