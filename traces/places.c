/* SPDX-License-Identifier: MIT */
#include "traces/places.h"

#include <string.h>

#include "traces/event.h"
#include "traces/vma.h"

#define UNIT_SHIFT 16 /* places begin at whole 64 KiB, so that larger pages are as good as can be */
#define FILES (UINT64_C(64) << 30)
#define FILE_ROOM (UINT64_C(4) << 30)
#define FILES_END (UINT64_C(1) << 40)
#define HEAP (UINT64_C(1) << 40)
#define OTHERS (UINT64_C(64) << 40)
#define STACK_END (UINT64_C(127) << 40)
#define GAP (UINT64_C(16) << 20)   /* at most, between the segments of a program */
#define REACH (UINT64_C(1) << 30) /* accesses to nothing so near keep their distance */

enum kind { OTHER, PROGRAM, HEAP_KIND, STACK_KIND };

struct cluster {
	uint64_t lo, hi; /* old addresses */
	uint64_t to;     /* of lo */
	uint32_t id;     /* PROGRAM: the file */
	uint8_t kind;
	gboolean nothing; /* for accesses that no mapping covers: it stays */
};

struct rf_file_places {
	GHashTable *number; /* file id → 1 + number */
};

struct rf_places {
	struct rf_file_places *files;
	unsigned shift;         /* of the unit */
	uint64_t page;          /* of the trace */
	GArray *clusters;       /* sorted and disjoint by old addresses */
	struct rf_vmas *mapped; /* old addresses */
	struct rf_vmas *taken;  /* new addresses */
	gboolean started;       /* there was an access */
	guint last;             /* where the latest search ended */
};

struct rf_file_places *rf_file_places_new(void)
{
	struct rf_file_places *f = g_new(struct rf_file_places, 1);

	f->number = g_hash_table_new(NULL, NULL);
	return f;
}

void rf_file_places_free(struct rf_file_places *f)
{
	g_hash_table_destroy(f->number);
	g_free(f);
}

struct rf_places *rf_places_new(struct rf_file_places *files, unsigned granule_shift)
{
	struct rf_places *p = g_new0(struct rf_places, 1);

	p->files = files;
	p->shift = MAX(granule_shift, UNIT_SHIFT);
	p->page = UINT64_C(1) << granule_shift;
	p->clusters = g_array_new(FALSE, FALSE, sizeof(struct cluster));
	p->mapped = rf_vmas_new(granule_shift);
	p->taken = rf_vmas_new(p->shift);
	return p;
}

struct rf_places *rf_places_copy(const struct rf_places *p)
{
	struct rf_places *c = g_new(struct rf_places, 1);

	*c = *p;
	c->clusters = g_array_new(FALSE, FALSE, sizeof(struct cluster));
	g_array_append_vals(c->clusters, p->clusters->data, p->clusters->len);
	c->mapped = rf_vmas_copy(p->mapped);
	c->taken = rf_vmas_copy(p->taken);
	return c;
}

void rf_places_free(struct rf_places *p)
{
	if (!p)
		return;
	g_array_unref(p->clusters);
	rf_vmas_free(p->mapped);
	rf_vmas_free(p->taken);
	g_free(p);
}

/* Old addresses in whole pages. */
static uint64_t down(const struct rf_places *p, uint64_t addr)
{
	return addr & -p->page;
}

static uint64_t up(const struct rf_places *p, uint64_t addr)
{
	return (addr + p->page - 1) & -p->page;
}

/* New ones in whole units. */
static uint64_t down_unit(const struct rf_places *p, uint64_t at)
{
	return at & -(UINT64_C(1) << p->shift);
}

static uint64_t up_unit(const struct rf_places *p, uint64_t at)
{
	return down_unit(p, at + (UINT64_C(1) << p->shift) - 1);
}

static struct cluster *nth(const struct rf_places *p, guint i)
{
	return &g_array_index(p->clusters, struct cluster, i);
}

/* The first cluster with hi > addr. */
static guint lower(const struct rf_places *p, uint64_t addr)
{
	guint lo = 0, hi = p->clusters->len;

	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;

		if (nth(p, mid)->hi > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* ---- new addresses ---- */

static void take(struct rf_places *p, uint64_t start, uint64_t end)
{
	const struct rf_vma v = { .start = start, .end = end };

	rf_vmas_map(p->taken, &v);
}

static void give_back(struct rf_places *p, const struct cluster *c)
{
	/* the middle of REACH on both sides was taken */
	if (!c->nothing)
		rf_vmas_unmap(p->taken, c->to, c->to + (c->hi - c->lo));
}

static gboolean is_free(const struct rf_places *p, uint64_t start, uint64_t end)
{
	return !rf_vmas_overlaps(p->taken, down_unit(p, start), end);
}

/* The lowest place for len bytes and a gap. */
static uint64_t first_fit(const struct rf_places *p, uint64_t len)
{
	uint64_t unit = UINT64_C(1) << p->shift, need = len + unit, at = OTHERS;
	const struct rf_vma *v;

	while ((v = rf_vmas_next(p->taken, at)) && v->start < at + need)
		at = v->end + unit;
	return at;
}

static uint64_t file_place(const struct rf_places *p, uint32_t id, uint64_t off, uint64_t len)
{
	GHashTable *t = p->files->number;
	gpointer number = g_hash_table_lookup(t, GUINT_TO_POINTER(id));
	uint64_t at;

	if (!number) {
		number = GUINT_TO_POINTER(g_hash_table_size(t) + 1);
		g_hash_table_insert(t, GUINT_TO_POINTER(id), number);
	}
	at = FILES + (GPOINTER_TO_UINT(number) - 1) * FILE_ROOM;
	if (at < FILES_END && off < FILE_ROOM && len <= FILE_ROOM - off &&
	    is_free(p, at + off, at + off + len))
		return at + off;
	return first_fit(p, len);
}

/* ---- clusters ---- */

static gboolean named(const struct rf_event *ev, const char *name)
{
	return ev && ev->name && !strcmp(ev->name, name);
}

/* Does the mapping [lo, hi) belong to the cluster before it? */
static gboolean continues(const struct rf_places *p, const struct cluster *c, uint64_t lo,
                          const struct rf_event *ev)
{
	if (c->kind == HEAP_KIND)
		return named(ev, "[heap]") && c->hi == lo;
	/* what the kernel maps of a program before it runs: segments of one file, then its bss */
	if (c->kind != PROGRAM || p->started || ev->name)
		return FALSE;
	return ev->mkind == RF_MAP_FILE ? ev->id == c->id && ev->off && lo - c->hi <= GAP
	                                : ev->mkind == RF_MAP_ANON && lo == c->hi;
}

static gboolean extend(struct rf_places *p, struct cluster *c, uint64_t hi)
{
	/* the unit in which it ends is its own already */
	uint64_t end = up_unit(p, c->to + (c->hi - c->lo)), to = c->to + (hi - c->lo);

	if (end < to && !is_free(p, end, to))
		return FALSE;
	take(p, c->to, to);
	c->hi = hi;
	return TRUE;
}

static gboolean extend_down(struct rf_places *p, struct cluster *c, uint64_t lo)
{
	uint64_t start = down_unit(p, c->to), to = c->to - (c->lo - lo);

	if (c->lo - lo > c->to || (to < start && !is_free(p, to, start)))
		return FALSE;
	take(p, to, c->to + (c->hi - c->lo));
	c->to = to;
	c->lo = lo;
	return TRUE;
}

static void insert(struct rf_places *p, guint at, const struct cluster *c)
{
	if (!c->nothing)
		take(p, c->to, c->to + (c->hi - c->lo));
	g_array_insert_val(p->clusters, at, *c);
}

/* A place for [lo, hi), which is in no cluster; at: the first cluster behind it.  ev: the mapping
 * that it is a part of, or NULL. */
static void fill(struct rf_places *p, guint at, uint64_t lo, uint64_t hi, const struct rf_event *ev)
{
	struct cluster c = { .lo = lo, .hi = hi, .kind = OTHER };
	uint64_t len = hi - lo;

	if (ev && at > 0 && continues(p, nth(p, at - 1), lo, ev) && extend(p, nth(p, at - 1), hi))
		return;
	if (named(ev, "[stack]") && at < p->clusters->len && nth(p, at)->kind == STACK_KIND &&
	    nth(p, at)->lo == hi && extend_down(p, nth(p, at), lo))
		return;
	if (named(ev, "[heap]") && is_free(p, HEAP, HEAP + len)) {
		c.kind = HEAP_KIND;
		c.to = HEAP;
	} else if (named(ev, "[stack]") && len < STACK_END - OTHERS &&
	           is_free(p, STACK_END - len, STACK_END)) {
		c.kind = STACK_KIND;
		c.to = STACK_END - len;
	} else if (ev && ev->mkind == RF_MAP_FILE) {
		c.kind = PROGRAM;
		c.id = ev->id;
		c.to = file_place(p, ev->id, ev->off + (lo - ev->addr), len);
	} else {
		c.to = first_fit(p, len);
	}
	insert(p, at, &c);
}

/* Make places for what of [lo, hi) is in no cluster. */
static void cover(struct rf_places *p, uint64_t lo, uint64_t hi, const struct rf_event *ev)
{
	while (lo < hi) {
		guint i = lower(p, lo);
		uint64_t end = i < p->clusters->len ? MIN(hi, MAX(nth(p, i)->lo, lo)) : hi;

		if (lo < end)
			fill(p, i, lo, end, ev);
		i = lower(p, lo);
		lo = nth(p, i)->hi;
	}
}

/* Take [lo, hi) out of the clusters. */
static void carve(struct rf_places *p, uint64_t lo, uint64_t hi)
{
	for (guint i = lower(p, lo); i < p->clusters->len && nth(p, i)->lo < hi;) {
		struct cluster c = *nth(p, i), rest = c;

		give_back(p, &c);
		g_array_remove_index(p->clusters, i);
		if (c.lo < lo) {
			rest.hi = lo;
			insert(p, i++, &rest);
		}
		if (c.hi > hi) {
			rest = c;
			rest.lo = hi;
			rest.to = c.to + (hi - c.lo);
			insert(p, i++, &rest);
		}
	}
}

/* ---- what happens ---- */

void rf_places_map(struct rf_places *p, const struct rf_event *ev)
{
	const struct rf_vma v = { .start = ev->addr, .end = ev->addr + ev->len };

	cover(p, down(p, ev->addr), up(p, ev->addr + ev->len), ev);
	rf_vmas_map(p->mapped, &v);
}

/* Clusters that [lo, hi) touches and nothing is mapped in any more. */
static void forget(struct rf_places *p, uint64_t lo, uint64_t hi)
{
	for (guint i = lower(p, lo); i < p->clusters->len && nth(p, i)->lo < hi;) {
		struct cluster *c = nth(p, i);

		if (c->nothing || rf_vmas_overlaps(p->mapped, c->lo, c->hi)) {
			i++;
			continue;
		}
		give_back(p, c);
		g_array_remove_index(p->clusters, i);
	}
}

void rf_places_unmap(struct rf_places *p, uint64_t addr, uint64_t len)
{
	rf_vmas_unmap(p->mapped, addr, addr + len);
	forget(p, down(p, addr), up(p, addr + len));
}

void rf_places_move(struct rf_places *p, const struct rf_event *ev)
{
	uint64_t lo = down(p, ev->addr), hi = up(p, ev->addr + ev->len);
	uint64_t lo2 = down(p, ev->addr2), hi2 = up(p, ev->addr2 + ev->len2);
	guint i = lower(p, lo);
	struct cluster *c = i < p->clusters->len ? nth(p, i) : NULL;
	gboolean whole = c && c->lo <= lo && hi <= c->hi;
	const struct rf_vma v = { .start = ev->addr2, .end = ev->addr2 + ev->len2 };

	/* in place, with room in the cluster or behind it */
	if (lo == lo2 && whole && (hi2 <= c->hi || (hi == c->hi && extend(p, c, hi2)))) {
		rf_vmas_unmap(p->mapped, ev->addr, ev->addr + ev->len);
		rf_vmas_map(p->mapped, &v);
		return;
	}
	rf_vmas_unmap(p->mapped, ev->addr, ev->addr + ev->len);
	if (lo == lo2)
		carve(p, lo, MAX(hi, hi2));
	cover(p, lo2, hi2, NULL);
	rf_vmas_map(p->mapped, &v);
	forget(p, lo, hi);
}

gboolean rf_places_piece(const struct rf_places *p, uint64_t addr, uint64_t end,
                         struct rf_place *piece)
{
	guint i = lower(p, addr);
	const struct cluster *c;

	if (addr >= end || i == p->clusters->len || nth(p, i)->lo >= end)
		return FALSE;
	c = nth(p, i);
	piece->from = MAX(addr, c->lo);
	piece->to = c->to + (piece->from - c->lo);
	piece->len = MIN(end, c->hi) - piece->from;
	return TRUE;
}

uint64_t rf_places_access(struct rf_places *p, uint64_t addr)
{
	struct cluster c = { .nothing = TRUE };
	uint64_t middle;
	guint i = p->last;

	p->started = TRUE;
	if (i >= p->clusters->len || addr < nth(p, i)->lo || addr >= nth(p, i)->hi)
		i = p->last = lower(p, addr);
	if (i < p->clusters->len && nth(p, i)->lo <= addr)
		return nth(p, i)->to + (addr - nth(p, i)->lo);
	middle = first_fit(p, 2 * REACH) + REACH;
	c.lo = down(p, addr > REACH ? addr - REACH : 0);
	c.hi = addr < RF_ADDR_END - REACH ? up(p, addr + REACH) : UINT64_MAX;
	if (i > 0)
		c.lo = MAX(c.lo, nth(p, i - 1)->hi);
	if (i < p->clusters->len)
		c.hi = MIN(c.hi, nth(p, i)->lo);
	c.to = middle - (down(p, addr) - c.lo);
	take(p, middle - REACH, middle + REACH);
	insert(p, i, &c);
	return middle + (addr - down(p, addr));
}

void rf_places_cover(struct rf_places *p, uint64_t addr, uint64_t len)
{
	cover(p, down(p, addr), up(p, addr + len), NULL);
}
