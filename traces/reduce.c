/* SPDX-License-Identifier: MIT */
#include "traces/reduce.h"

#define NONE UINT32_MAX

/* Times count accesses, from 1. */
struct page {
	uint64_t first; /* the access before the last; 0: none */
	uint64_t last;  /* 0: never */
	uint32_t newer, older; /* in the list by recency */
	gboolean near;         /* it is the mark, or newer */
};

struct waiting {
	uint32_t tid, page;
	uint8_t type;
	gboolean dropped;
};

struct rf_reducer {
	uint32_t frames;
	rf_reduce_fn fn;
	void *data;
	GArray *pages; /* struct page, by id */
	/* mark: the page that exactly frames others are newer than */
	uint32_t newest, oldest, mark, listed;
	GArray *ring;       /* those that wait; the one at head has the time base */
	guint head;
	uint64_t base, now, since; /* since: what came before the barrier is of no account */
};

struct rf_reducer *rf_reducer_new(uint32_t pages, rf_reduce_fn fn, void *data)
{
	struct rf_reducer *r = g_new0(struct rf_reducer, 1);

	r->frames = pages;
	r->fn = fn;
	r->data = data;
	r->pages = g_array_new(FALSE, TRUE, sizeof(struct page));
	r->ring = g_array_new(FALSE, FALSE, sizeof(struct waiting));
	r->newest = r->oldest = r->mark = NONE;
	r->base = r->since = 1;
	return r;
}

void rf_reducer_free(struct rf_reducer *r)
{
	if (r == NULL)
		return;
	g_array_unref(r->pages);
	g_array_unref(r->ring);
	g_free(r);
}

static struct page *page_at(const struct rf_reducer *r, uint32_t id)
{
	return &g_array_index(r->pages, struct page, id);
}

/* ---- the list by recency ---- */

static void unlink_page(struct rf_reducer *r, struct page *p)
{
	if (p->newer == NONE)
		r->newest = p->older;
	else
		page_at(r, p->newer)->older = p->older;
	if (p->older == NONE)
		r->oldest = p->newer;
	else
		page_at(r, p->older)->newer = p->newer;
}

static void link_newest(struct rf_reducer *r, uint32_t id)
{
	struct page *p = page_at(r, id);

	p->newer = NONE;
	p->older = r->newest;
	if (r->newest == NONE)
		r->oldest = id;
	else
		page_at(r, r->newest)->newer = id;
	r->newest = id;
	p->near = TRUE;
}

/* The mark moves to the page before it, and leaves it far. */
static void mark_newer(struct rf_reducer *r)
{
	struct page *p = page_at(r, r->mark);

	p->near = FALSE;
	r->mark = p->newer;
}

static void to_front(struct rf_reducer *r, uint32_t id)
{
	struct page *p = page_at(r, id);

	if (r->newest == id)
		return;
	if (p->last == 0) {
		link_newest(r, id);
		r->listed++;
		if (r->mark != NONE)
			mark_newer(r);
		else if (r->listed == r->frames + 1)
			r->mark = r->oldest;
		return;
	}
	if (r->mark != NONE && (r->mark == id || !p->near))
		mark_newer(r);
	unlink_page(r, p);
	link_newest(r, id);
}

/* ---- the queue ---- */

static struct waiting *waiting_at(const struct rf_reducer *r, uint64_t time)
{
	return &g_array_index(r->ring, struct waiting, r->head + (guint)(time - r->base));
}

/* Are there fewer than frames other pages used since?  The page in hand is the newest. */
static gboolean few_since(const struct rf_reducer *r, uint64_t time)
{
	return r->mark == NONE || page_at(r, r->mark)->last < time;
}

/* May the access still be left out? */
static gboolean undecided(const struct rf_reducer *r, uint64_t time, const struct waiting *w)
{
	const struct page *p = page_at(r, w->page);

	return p->last == time && p->first >= r->since && few_since(r, p->first);
}

static void let_go(struct rf_reducer *r, gboolean all)
{
	while (r->base <= r->now) {
		const struct waiting *w = waiting_at(r, r->base);

		if (!w->dropped) {
			if (!all && undecided(r, r->base, w))
				break;
			r->fn(r->data, w->tid, w->type, w->page);
		}
		r->base++;
		r->head++;
	}
	if (r->head > r->ring->len / 2 && r->head > 1024) {
		g_array_remove_range(r->ring, 0, r->head);
		r->head = 0;
	}
}

void rf_reducer_access(struct rf_reducer *r, uint32_t tid, enum rf_access type, uint32_t page)
{
	struct waiting w = { .tid = tid, .page = page, .type = type }, *middle;
	struct page *p;

	if (page >= r->pages->len)
		g_array_set_size(r->pages, page + 1);
	to_front(r, page);
	p = page_at(r, page);
	r->now++;
	if (p->last < r->since) {
		p->first = 0;
	} else if (p->first >= r->since && few_since(r, p->first)) {
		middle = waiting_at(r, p->last);
		middle->dropped = TRUE;
		if (middle->type == RF_WRITE)
			w.type = RF_WRITE;
	} else {
		p->first = p->last;
	}
	p->last = r->now;
	g_array_append_val(r->ring, w);
	let_go(r, FALSE);
}

void rf_reducer_barrier(struct rf_reducer *r)
{
	let_go(r, TRUE);
	r->since = r->now + 1;
}
