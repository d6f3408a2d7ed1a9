/* SPDX-License-Identifier: MIT */
#include "traces/rebase.h"

#include <string.h>

#include "base/error.h"
#include "traces/builder.h"
#include "traces/event.h"
#include "traces/pages.h"
#include "traces/places.h"
#include "traces/source.h"
#include "traces/tasks.h"
#include "traces/totals.h"

#define NONE UINT32_MAX

struct space {
	struct rf_places *places;
	unsigned tasks;
};

struct rebase {
	struct rf_source s;
	struct rf_source *from;
	struct rf_builder *b;
	struct rf_tally tally;
	struct rf_tasks *tasks;
	GHashTable *numbers; /* of living tasks: old → new */
	uint32_t number;     /* the latest given out */
	struct rf_file_places *files;
	GArray *spaces; /* struct space */

	GArray *names;   /* of the pages of from */
	struct rf_page_name *now; /* their new names, right at this epoch */
	uint32_t *id, *at;        /* their new ids, and the epoch */
	uint32_t cap, epoch;
	struct rf_page_name last; /* of the access that may go on */
	struct rf_pages pages;    /* new names, numbered as in b */

	struct rf_event held; /* an anonymous mapping that may yet be trimmed */
	gboolean holds, ended;
};

/* ---- tasks ---- */

static struct space *space_nth(struct rebase *r, uint32_t n)
{
	if (n >= r->spaces->len)
		g_array_set_size(r->spaces, n + 1);
	return &g_array_index(r->spaces, struct space, n);
}

static void space_clear(gpointer data)
{
	rf_places_free(((struct space *)data)->places);
}

static void leave(struct rebase *r, uint32_t n)
{
	struct space *s = space_nth(r, n);

	if (s->tasks && !--s->tasks)
		g_clear_pointer(&s->places, rf_places_free);
}

static void enter(struct rebase *r, uint32_t n, uint32_t parent)
{
	struct rf_places *from = parent == NONE ? NULL : space_nth(r, parent)->places;
	struct space *s = space_nth(r, n);

	if (!s->places && from)
		s->places = rf_places_copy(from);
	else if (!s->places)
		s->places = rf_places_new(r->files, r->s.header->granule_shift);
	s->tasks++;
}

/* Tasks are numbered as they begin. */
static uint32_t number_of(struct rebase *r, uint32_t tid, gboolean begins)
{
	gpointer n = begins ? NULL : g_hash_table_lookup(r->numbers, GUINT_TO_POINTER(tid));

	if (n)
		return GPOINTER_TO_UINT(n);
	g_hash_table_insert(r->numbers, GUINT_TO_POINTER(tid), GUINT_TO_POINTER(++r->number));
	return r->number;
}

/* Follow a task event; what makes no sense is the builder's to refuse. */
static void task_event(struct rebase *r, const struct rf_event *ev)
{
	struct rf_event copy = *ev;
	uint32_t old = NONE, parent = NONE;

	if (!rf_tasks_find(r->tasks, ev->tid, &old))
		old = NONE;
	if (ev->kind == RF_EV_TASK && ev->has_parent && !rf_tasks_find(r->tasks, ev->parent, &parent))
		parent = NONE;
	if (!rf_tasks_event(r->tasks, &copy, NULL))
		return;
	if (ev->kind != RF_EV_TASK && old != NONE)
		leave(r, old);
	if (ev->kind != RF_EV_EXIT)
		enter(r, copy.space, ev->kind == RF_EV_TASK ? parent : NONE);
}

static struct rf_places *places_of(struct rebase *r, uint32_t tid)
{
	uint32_t n;

	return rf_tasks_find(r->tasks, tid, &n) ? space_nth(r, n)->places : NULL;
}

/* ---- events ---- */

static gboolean put(struct rebase *r, const struct rf_event *ev, uint64_t record, GError **error)
{
	struct rf_event e = *ev;

	if (rf_event_has_tid(e.kind)) {
		if (e.has_parent)
			e.parent = number_of(r, e.parent, FALSE);
		e.tid = number_of(r, e.tid, e.kind == RF_EV_TASK);
	}
	if (rf_builder_event(r->b, &e, error))
		return TRUE;
	g_prefix_error(error, "%s: record %" G_GUINT64_FORMAT ": ", r->s.path, record);
	return FALSE;
}

/* An event for each piece of its range. */
static gboolean put_pieces(struct rebase *r, const struct rf_event *ev, uint64_t record,
                           GError **error)
{
	const struct rf_places *places = places_of(r, ev->tid);
	uint64_t at = ev->addr, end = ev->addr + ev->len;
	struct rf_place piece;

	for (; rf_places_piece(places, at, end, &piece); at = piece.from + piece.len) {
		struct rf_event part = *ev;

		part.addr = piece.to;
		part.len = piece.len;
		if (ev->kind == RF_EV_MMAP && ev->mkind != RF_MAP_ANON)
			part.off = ev->off + (piece.from - ev->addr);
		if (!put(r, &part, record, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean put_mremap(struct rebase *r, const struct rf_event *ev, uint64_t record,
                           GError **error)
{
	struct rf_places *places = places_of(r, ev->tid);
	g_autoptr(GArray) old = g_array_new(FALSE, FALSE, sizeof(struct rf_place));
	uint64_t at = ev->addr, end = ev->addr + ev->len;
	struct rf_place piece;

	rf_places_cover(places, ev->addr, ev->len);
	for (; rf_places_piece(places, at, end, &piece); at = piece.from + piece.len)
		g_array_append_val(old, piece);
	rf_places_move(places, ev);
	for (guint i = 0; i < old->len; i++) {
		const struct rf_place *from = &g_array_index(old, struct rf_place, i);
		struct rf_event part = *ev;
		uint64_t skip = from->from - ev->addr;

		part.addr = from->to;
		part.len = from->len;
		if (skip >= ev->len2) {
			part.kind = RF_EV_MUNMAP;
		} else {
			/* the last one has what it grew by */
			part.len2 = i + 1 == old->len ? ev->len2 - skip : MIN(from->len, ev->len2 - skip);
			if (!rf_places_piece(places, ev->addr2 + skip, ev->addr2 + ev->len2, &piece) ||
			    piece.len < part.len2)
				part.len2 = MIN(part.len2, piece.len);
			part.addr2 = piece.to;
		}
		if (!put(r, &part, record, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean release(struct rebase *r, uint64_t record, GError **error)
{
	if (!r->holds)
		return TRUE;
	r->holds = FALSE;
	rf_places_map(places_of(r, r->held.tid), &r->held);
	return put_pieces(r, &r->held, record, error);
}

/* Is the mapping that is held trimmed at its head or tail? */
static gboolean trim(struct rebase *r, const struct rf_event *ev)
{
	struct rf_event *h = &r->held;
	uint64_t end = ev->addr + ev->len;

	if (!r->holds || ev->kind != RF_EV_MUNMAP || ev->tid != h->tid || ev->len >= h->len)
		return FALSE;
	if (ev->addr == h->addr)
		h->addr += ev->len;
	else if (ev->addr < h->addr || end != h->addr + h->len)
		return FALSE;
	h->len -= ev->len;
	return TRUE;
}

static gboolean event(struct rebase *r, const struct rf_event *ev, uint64_t record, GError **error)
{
	struct rf_places *places;

	if (trim(r, ev))
		return TRUE;
	if (!release(r, record, error))
		return FALSE;
	r->epoch++;
	if (ev->kind == RF_EV_TASK || ev->kind == RF_EV_EXEC || ev->kind == RF_EV_EXIT) {
		task_event(r, ev);
		return put(r, ev, record, error);
	}
	places = rf_event_has_tid(ev->kind) ? places_of(r, ev->tid) : NULL;
	if (!places)
		return put(r, ev, record, error);
	switch (ev->kind) {
	case RF_EV_MMAP:
		r->holds = ev->mkind == RF_MAP_ANON && !ev->name;
		if (r->holds) {
			r->held = *ev;
			return TRUE;
		}
		rf_places_map(places, ev);
		return put_pieces(r, ev, record, error);
	case RF_EV_MUNMAP:
		if (!put_pieces(r, ev, record, error))
			return FALSE;
		rf_places_unmap(places, ev->addr, ev->len);
		return TRUE;
	case RF_EV_MREMAP:
		return put_mremap(r, ev, record, error);
	case RF_EV_MPROTECT:
	case RF_EV_MADVISE:
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
	case RF_EV_VRANGE:
		rf_places_cover(places, ev->addr, ev->len);
		return put_pieces(r, ev, record, error);
	default:
		return put(r, ev, record, error);
	}
}

/* ---- accesses ---- */

static void take_names(struct rebase *r, const struct rf_item *item)
{
	uint32_t n;

	g_array_append_vals(r->names, item->pages.name, item->pages.n);
	n = r->names->len;
	if (n <= r->cap)
		return;
	n = MAX(n, r->cap + r->cap / 4);
	r->now = g_renew(struct rf_page_name, r->now, n);
	r->id = g_renew(uint32_t, r->id, n);
	r->at = g_renew(uint32_t, r->at, n);
	memset(r->at + r->cap, 0, (n - r->cap) * sizeof(*r->at));
	r->cap = n;
}

/* The new name and id of a page, looked up once after each change of a mapping. */
static void look_up(struct rebase *r, struct rf_places *places, uint32_t tid, uint32_t page)
{
	const struct rf_page_name *old = &g_array_index(r->names, struct rf_page_name, page);
	unsigned shift = r->s.header->granule_shift;
	struct rf_page_name *name = &r->now[page];
	uint32_t known = r->pages.n, id;

	*name = *old;
	if (places)
		name->vpn = rf_places_access(places, old->vpn << shift) >> shift;
	id = rf_pages_id(&r->pages, name->space, name->vpn);
	if (id == known && rf_builder_new_page(r->b, tid, name->vpn) != id)
		id = NONE; /* the builder has an error */
	r->id[page] = id;
	r->at[page] = r->epoch;
}

static void runs(struct rebase *r, const struct rf_runs *runs)
{
	uint32_t tid = number_of(r, runs->tid, FALSE);

	for (uint32_t i = 0; i < runs->n; i++) {
		uint32_t page = runs->page[i];
		uint8_t type = runs->type[i];

		if (r->at[page] != r->epoch)
			look_up(r, places_of(r, runs->tid), tid, page);
		if ((type & RF_RUN_CONT) && r->now[page].vpn != r->last.vpn + 1)
			type &= RF_TYPE_MASK;
		r->last = r->now[page];
		if (r->id[page] != NONE)
			rf_builder_run(r->b, tid, type, r->id[page], runs->count[i]);
	}
}

/* ---- the source ---- */

static gboolean more(struct rebase *r, GError **error)
{
	struct rf_item item;

	if (!rf_source_next(r->from, &item, error))
		return FALSE;
	switch (item.kind) {
	case RF_ITEM_PAGES:
		take_names(r, &item);
		return TRUE;
	case RF_ITEM_EVENT:
		return event(r, &item.event, item.record, error);
	case RF_ITEM_RUNS:
		if (!release(r, item.record, error))
			return FALSE;
		runs(r, &item.runs);
		return TRUE;
	default:
		r->ended = TRUE;
		return release(r, item.record, error);
	}
}

static gboolean rebase_next(struct rf_source *s, struct rf_item *item, GError **error)
{
	struct rebase *r = (struct rebase *)s;

	while (!rf_builder_take(r->b, r->ended, item)) {
		const GError *e = rf_builder_error(r->b);

		if (e) {
			g_propagate_prefixed_error(error, g_error_copy(e), "%s: ", s->path);
			return FALSE;
		}
		if (r->ended) {
			item->kind = RF_ITEM_END;
			item->record = rf_builder_records(r->b);
			return TRUE;
		}
		if (!more(r, error))
			return FALSE;
	}
	rf_tally_add(&r->tally, item);
	return TRUE;
}

static void rebase_close(struct rf_source *s)
{
	struct rebase *r = (struct rebase *)s;

	rf_source_close(r->from);
	rf_builder_free(r->b);
	rf_tally_clear(&r->tally);
	g_array_unref(r->spaces);
	rf_tasks_free(r->tasks);
	g_hash_table_destroy(r->numbers);
	rf_file_places_free(r->files);
	g_array_unref(r->names);
	rf_pages_clear(&r->pages);
	g_free(r->now);
	g_free(r->id);
	g_free(r->at);
}

static const struct rf_totals *rebase_totals(const struct rf_source *s)
{
	return &((const struct rebase *)s)->tally.totals;
}

static double rebase_progress(const struct rf_source *s)
{
	return rf_source_progress(((const struct rebase *)s)->from);
}

static gboolean rebase_skipped(const struct rf_source *s, guint i, const char **reason, uint64_t *n)
{
	return rf_source_skipped(((const struct rebase *)s)->from, i, reason, n);
}

static const struct rf_source_ops rebase_ops = {
	.next = rebase_next,
	.close = rebase_close,
	.totals = rebase_totals,
	.progress = rebase_progress,
	.skipped = rebase_skipped,
};

struct rf_source *rf_source_rebase(struct rf_source *s)
{
	struct rebase *r = g_new0(struct rebase, 1);
	struct rf_header *header;

	r->from = s;
	r->b = rf_builder_new(FALSE);
	header = rf_builder_header(r->b);
	rf_header_copy(header, rf_source_header(s));
	rf_header_set(header, "rebased", "yes");
	r->s.ops = &rebase_ops;
	r->s.path = g_strdup(rf_source_path(s));
	r->s.format = rf_source_format(s);
	r->s.header = header;
	rf_tally_init(&r->tally, header->granule_shift);
	r->tasks = rf_tasks_new();
	r->numbers = g_hash_table_new(NULL, NULL);
	r->files = rf_file_places_new();
	r->spaces = g_array_new(FALSE, TRUE, sizeof(struct space));
	g_array_set_clear_func(r->spaces, space_clear);
	r->names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	rf_pages_init(&r->pages);
	r->epoch = 1;
	return &r->s;
}
