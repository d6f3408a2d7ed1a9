/* SPDX-License-Identifier: MIT
 * The builder: importers put accesses and events in, a source takes items out.
 *
 * Runs wait in columns, events in an array; segments say how they follow each other.  The last run
 * is held back until it is known that it can't grow, so that runs do not depend on where the batches
 * were cut.
 */
#include "traces/builder.h"

#include <string.h>

#include "base/error.h"
#include "traces/event.h"
#include "traces/pages.h"
#include "traces/tasks.h"

#define BATCH 8192       /* runs */
#define EVENTS_FULL 1024
#define ACCESS_PAGES_MAX ((uint64_t)1 << 24)

struct segment {
	enum rf_item_kind kind;
	uint32_t tid;
	uint32_t first, n; /* of the columns, or of events */
	uint32_t pages;    /* ids given out when it ended */
};

struct skipped {
	char *reason;
	uint64_t n;
};

struct rf_builder {
	struct rf_header header;
	gboolean strict;
	GError *error;

	struct rf_tasks *tasks;
	uint32_t tid, space; /* the task of the last access, if current */
	gboolean current;

	struct rf_pages pages;
	struct { uint64_t vpn; uint32_t space, id; } last[RF_NACCESS]; /* id UINT32_MAX: none */

	uint32_t *page, *count;
	uint8_t *type;
	uint32_t nruns, cap;
	GArray *events, *segments;
	GStringChunk *strings;
	gboolean joinable; /* the last thing in the queue is a run of tid */

	/* The rest of an access over many pages. */
	struct { enum rf_access type; uint64_t first, vpn, last; uint32_t times; } rest;

	guint seg;      /* the next segment to take */
	uint32_t named; /* ids told of */
	uint64_t records;
	GArray *skipped;
};

struct rf_builder *rf_builder_new(gboolean strict)
{
	struct rf_builder *b = g_new0(struct rf_builder, 1);

	b->header.granule_shift = RF_GRANULE_SHIFT;
	b->strict = strict;
	b->tasks = rf_tasks_new();
	rf_pages_init(&b->pages);
	for (unsigned i = 0; i < RF_NACCESS; i++)
		b->last[i].id = UINT32_MAX;
	b->events = g_array_new(FALSE, FALSE, sizeof(struct rf_event));
	b->segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
	b->strings = g_string_chunk_new(4096);
	b->skipped = g_array_new(FALSE, FALSE, sizeof(struct skipped));
	return b;
}

void rf_builder_free(struct rf_builder *b)
{
	if (b == NULL)
		return;
	rf_header_clear(&b->header);
	g_clear_error(&b->error);
	rf_tasks_free(b->tasks);
	rf_pages_clear(&b->pages);
	g_free(b->page);
	g_free(b->count);
	g_free(b->type);
	g_array_unref(b->events);
	g_array_unref(b->segments);
	g_string_chunk_free(b->strings);
	for (guint i = 0; i < b->skipped->len; i++)
		g_free(g_array_index(b->skipped, struct skipped, i).reason);
	g_array_unref(b->skipped);
	g_free(b);
}

struct rf_header *rf_builder_header(struct rf_builder *b)
{
	return &b->header;
}

const GError *rf_builder_error(const struct rf_builder *b)
{
	return b->error;
}

uint64_t rf_builder_records(const struct rf_builder *b)
{
	return b->records;
}

/* ---- putting in ---- */

static struct segment *open_segment(struct rf_builder *b, enum rf_item_kind kind, uint32_t tid)
{
	struct segment *last;

	if (b->segments->len > b->seg) {
		last = &g_array_index(b->segments, struct segment, b->segments->len - 1);
		if (kind == RF_ITEM_RUNS && last->kind == kind && last->tid == tid)
			return last;
	}
	g_array_append_val(b->segments, ((struct segment){
		.kind = kind,
		.tid = tid,
		.first = kind == RF_ITEM_RUNS ? b->nruns : b->events->len,
	}));
	return &g_array_index(b->segments, struct segment, b->segments->len - 1);
}

static void queue_event(struct rf_builder *b, const struct rf_event *ev)
{
	struct segment *seg = open_segment(b, RF_ITEM_EVENT, 0);
	struct rf_event copy = rf_event_clean(ev);

	if (copy.name != NULL)
		copy.name = g_string_chunk_insert(b->strings, copy.name);
	if (copy.text != NULL)
		copy.text = g_string_chunk_insert(b->strings, copy.text);
	g_array_append_val(b->events, copy);
	seg->n = 1;
	seg->pages = b->pages.n;
	b->joinable = FALSE;
}

/* A task that was never declared is declared on the way, unless that is an error. */
static gboolean need_task(struct rf_builder *b, uint32_t tid, uint32_t *space, GError **error)
{
	struct rf_event task = { .kind = RF_EV_TASK, .tid = tid };

	if (rf_tasks_find(b->tasks, tid, space))
		return TRUE;
	if (b->strict) {
		rf_set_data(error, "task %u was not declared; expected an event 'task %u' before", tid, tid);
		return FALSE;
	}
	rf_tasks_event(b->tasks, &task, NULL);
	*space = task.space;
	queue_event(b, &task);
	g_array_index(b->events, struct rf_event, b->events->len - 1).implied = 1;
	return TRUE;
}

static void grow_columns(struct rf_builder *b)
{
	uint32_t cap = b->cap == 0 ? BATCH + 64 : b->cap * 2;

	b->page = g_renew(uint32_t, b->page, cap);
	b->count = g_renew(uint32_t, b->count, cap);
	b->type = g_renew(uint8_t, b->type, cap);
	b->cap = cap;
}

static void add_run_of(struct rf_builder *b, uint8_t type, uint32_t id, uint32_t count)
{
	struct segment *seg;
	uint32_t i = b->nruns;

	if (b->joinable && !(type & RF_RUN_CONT) && b->type[i - 1] == type && b->page[i - 1] == id &&
	    b->count[i - 1] <= UINT32_MAX - count) {
		b->count[i - 1] += count;
		return;
	}
	if (i == b->cap)
		grow_columns(b);
	seg = open_segment(b, RF_ITEM_RUNS, b->tid);
	b->page[i] = id;
	b->type[i] = type;
	b->count[i] = count;
	b->nruns++;
	seg->n++;
	seg->pages = b->pages.n;
	b->joinable = TRUE;
}

static void add_run(struct rf_builder *b, uint8_t type, uint64_t vpn, uint32_t count)
{
	unsigned t = type & RF_TYPE_MASK;
	uint32_t id;

	if (b->last[t].vpn == vpn && b->last[t].space == b->space && b->last[t].id != UINT32_MAX) {
		id = b->last[t].id;
	} else {
		id = rf_pages_id(&b->pages, b->space, vpn);
		if (id == UINT32_MAX) {
			if (b->error == NULL)
				rf_set_env(&b->error, "no memory for the names of more than %u pages",
				           b->pages.n);
			return;
		}
		b->last[t].vpn = vpn;
		b->last[t].space = b->space;
		b->last[t].id = id;
	}
	add_run_of(b, type, id, count);
}

/* Put runs of the rest of a long access into the queue, up to a batch (or all of them). */
static void go_on(struct rf_builder *b, gboolean all)
{
	while (b->rest.times > 0 && b->error == NULL && (all || b->nruns < BATCH)) {
		add_run(b, b->rest.type | (b->rest.vpn > b->rest.first ? RF_RUN_CONT : 0), b->rest.vpn, 1);
		if (b->rest.vpn++ == b->rest.last) {
			b->rest.vpn = b->rest.first;
			b->rest.times--;
		}
	}
}

/* Make tid the task of what comes. */
static inline gboolean enter_task(struct rf_builder *b, uint32_t tid)
{
	if (b->current && tid == b->tid)
		return TRUE;
	if (!need_task(b, tid, &b->space, &b->error))
		return FALSE;
	b->tid = tid;
	b->current = TRUE;
	b->joinable = FALSE;
	return TRUE;
}

uint32_t rf_builder_new_page(struct rf_builder *b, uint32_t tid, uint64_t vpn)
{
	if (b->error != NULL || !enter_task(b, tid))
		return UINT32_MAX;
	return rf_pages_append(&b->pages, b->space, vpn);
}

void rf_builder_run(struct rf_builder *b, uint32_t tid, enum rf_access type, uint32_t page,
                    uint32_t count)
{
	if (b->error != NULL || count == 0)
		return;
	if (b->rest.times > 0)
		go_on(b, TRUE);
	g_assert(page < b->pages.n);
	if (enter_task(b, tid))
		add_run_of(b, type, page, count);
}

void rf_builder_pages(struct rf_builder *b, uint32_t tid, enum rf_access type, const uint32_t *page,
                      uint32_t n)
{
	struct segment *seg;
	uint32_t i;

	if (n == 0)
		return;
	rf_builder_run(b, tid, type, page[0], 1);
	if (b->error != NULL)
		return;
	while (b->cap - b->nruns < n)
		grow_columns(b);
	i = b->nruns - 1; /* the run that may grow */
	for (uint32_t j = 1; j < n; j++) {
		g_assert(page[j] < b->pages.n);
		if (page[j] == b->page[i] && b->count[i] < UINT32_MAX) {
			b->count[i]++;
			continue;
		}
		i++;
		b->page[i] = page[j];
		b->type[i] = (uint8_t)type;
		b->count[i] = 1;
	}
	seg = &g_array_index(b->segments, struct segment, b->segments->len - 1);
	seg->n += i + 1 - b->nruns;
	seg->pages = b->pages.n;
	b->nruns = i + 1;
}

void rf_builder_access(struct rf_builder *b, uint32_t tid, enum rf_access type, uint64_t addr,
                       uint64_t len, uint32_t count)
{
	unsigned shift = b->header.granule_shift;
	uint64_t first, last;

	if (b->error != NULL || count == 0)
		return;
	if (b->rest.times > 0)
		go_on(b, TRUE);
	if (!rf_range_check(addr, len, "the access", &b->error))
		return;
	if (!enter_task(b, tid))
		return;
	first = addr >> shift;
	last = (addr + len - 1) >> shift;
	if (first == last) {
		add_run(b, type, first, count);
		return;
	}
	if (last - first >= ACCESS_PAGES_MAX) {
		rf_set_data(&b->error,
		            "an access of %" G_GUINT64_FORMAT " bytes; expected at most %" G_GUINT64_FORMAT
		            " pages", len, ACCESS_PAGES_MAX);
		return;
	}
	b->rest.type = type;
	b->rest.first = b->rest.vpn = first;
	b->rest.last = last;
	b->rest.times = count;
	go_on(b, FALSE);
}

gboolean rf_builder_event(struct rf_builder *b, const struct rf_event *ev, GError **error)
{
	struct rf_event e = *ev;
	uint32_t space;

	if (b->rest.times > 0)
		go_on(b, TRUE);
	if (!rf_event_check(&e, error))
		return FALSE;
	if (e.kind != RF_EV_TASK && rf_event_has_tid(e.kind) && !need_task(b, e.tid, &space, error))
		return FALSE;
	if (!rf_tasks_event(b->tasks, &e, error))
		return FALSE;
	b->current = FALSE;
	queue_event(b, &e);
	return TRUE;
}

gboolean rf_builder_full(const struct rf_builder *b)
{
	return b->nruns >= BATCH || b->events->len >= EVENTS_FULL || b->rest.times > 0 ||
	       b->error != NULL;
}

void rf_builder_skipped(struct rf_builder *b, const char *reason)
{
	for (guint i = 0; i < b->skipped->len; i++) {
		struct skipped *s = &g_array_index(b->skipped, struct skipped, i);

		if (strcmp(s->reason, reason) == 0) {
			s->n++;
			return;
		}
	}
	g_array_append_val(b->skipped, ((struct skipped){ g_strdup(reason), 1 }));
}

gboolean rf_builder_skipped_nth(const struct rf_builder *b, guint i, const char **reason,
                                uint64_t *n)
{
	if (i >= b->skipped->len)
		return FALSE;
	*reason = g_array_index(b->skipped, struct skipped, i).reason;
	*n = g_array_index(b->skipped, struct skipped, i).n;
	return TRUE;
}

/* ---- taking out ---- */

/* All was taken but perhaps the last run: move it to the front. */
static void restart(struct rf_builder *b, gboolean keep)
{
	if (keep) {
		struct segment seg = g_array_index(b->segments, struct segment, b->segments->len - 1);
		uint32_t i = b->nruns - 1;

		b->page[0] = b->page[i];
		b->type[0] = b->type[i];
		b->count[0] = b->count[i];
		seg.first = 0;
		seg.n = 1;
		g_array_set_size(b->segments, 0);
		g_array_append_val(b->segments, seg);
	} else {
		g_array_set_size(b->segments, 0);
		b->joinable = FALSE;
	}
	b->nruns = keep ? 1 : 0;
	b->seg = 0;
	g_array_set_size(b->events, 0);
	g_string_chunk_clear(b->strings);
}

gboolean rf_builder_take(struct rf_builder *b, gboolean last, struct rf_item *item)
{
	struct segment *seg;
	uint32_t n;

	if (b->seg == b->segments->len) {
		restart(b, FALSE);
		go_on(b, FALSE);
		if (b->seg == b->segments->len)
			return FALSE;
	}
	seg = &g_array_index(b->segments, struct segment, b->seg);
	if (seg->kind == RF_ITEM_RUNS && b->named < seg->pages) {
		item->kind = RF_ITEM_PAGES;
		item->record = b->records;
		item->pages.first = b->named;
		item->pages.n = seg->pages - b->named;
		item->pages.name = b->pages.name + b->named;
		b->named = seg->pages;
		return TRUE;
	}
	item->record = b->records;
	if (seg->kind == RF_ITEM_EVENT) {
		item->kind = RF_ITEM_EVENT;
		item->event = g_array_index(b->events, struct rf_event, seg->first);
		b->records++;
		b->seg++;
		return TRUE;
	}
	n = seg->n;
	if (!last && b->seg == b->segments->len - 1 && b->joinable) {
		/* Hold the last run back. */
		n--;
		if (n == 0) {
			if (b->nruns > 1 || b->events->len > 0)
				restart(b, TRUE);
			if (b->rest.times == 0 || b->error != NULL)
				return FALSE;
			go_on(b, FALSE);
			return rf_builder_take(b, last, item);
		}
	}
	item->kind = RF_ITEM_RUNS;
	item->runs.tid = seg->tid;
	item->runs.n = n;
	item->runs.page = b->page + seg->first;
	item->runs.type = b->type + seg->first;
	item->runs.count = b->count + seg->first;
	b->records += n;
	if (n == seg->n) {
		b->seg++;
	} else {
		seg->first += n;
		seg->n -= n;
	}
	return TRUE;
}
