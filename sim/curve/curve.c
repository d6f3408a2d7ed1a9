/* SPDX-License-Identifier: MIT
 * Follows a trace's items, as sim/frames.c does, and asks a stack for the distance of each use.
 */
#include "sim/curve/curve.h"

#include <string.h>

#include "base/error.h"
#include "sim/curve/opt.h"
#include "sim/curve/stack.h"
#include "sim/names.h"

/* How many runs ahead memory is asked for: first the page's slot, then the slot's bit. */
enum { FAR_AHEAD = 32, NEAR_AHEAD = 12 };

enum { NO_KIND = RF_CURVE_NCLASSES }; /* not touched since it was made, or freed */
enum { OUT_OF_SAMPLE = 255 };
#define MOST_GROUPS 65535

struct group {
	struct rf_curve_group g;
	char *name;
	struct rf_stack stack;
	struct rf_opt opt;
};

struct rf_curve {
	struct rf_curve_options o;
	struct rf_names names;
	struct rf_names_user user;
	uint32_t *slot;    /* by page; of OPT, its place */
	uint8_t *kind;     /* by page: class of its faults but for fetches, or NO_KIND */
	uint16_t *group;   /* by page; NULL while all are in one */
	uint32_t npages, size;
	GPtrArray *groups; /* struct group * */
	GHashTable *cgroup_by_tid; /* name of the task's cgroup */
	GHashTable *group_by_name; /* number plus one */
	uint64_t threshold; /* of the sample's hash */
	uint32_t tid;
	const struct rf_future *future;
	const uint64_t *next; /* OPT: of the current item */
	uint32_t next_at;     /* of events */
	gboolean keep_last;
	uint32_t *last; /* by page: distance of the last use, when it is kept */
};

/* ---- the sample ---- */

/* The seed turns another sample; the multipliers are those of base/rng.h, whose output has no
 * pattern. */
static uint64_t page_hash(const struct rf_curve *c, uint32_t space, uint64_t vpn)
{
	uint64_t z = (vpn ^ (uint64_t)space << 40) + c->o.seed * 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static gboolean in_sample(const struct rf_curve *c, uint32_t space, uint64_t vpn)
{
	return page_hash(c, space, vpn) >> 32 < c->threshold;
}

gboolean rf_curve_wants(void *curve, const struct rf_page_name *name)
{
	const struct rf_curve *c = curve;

	return in_sample(c, name->space, name->vpn >> (c->o.page_shift - RF_GRANULE_SHIFT));
}

/* ---- groups ---- */

static uint16_t group_of_name(struct rf_curve *c, const char *name)
{
	gpointer at = g_hash_table_lookup(c->group_by_name, name);
	struct group *g;

	if (at)
		return (uint16_t)(GPOINTER_TO_UINT(at) - 1);
	/* Whoever has more cgroups than that finds the rest of them in the last one. */
	if (c->groups->len == MOST_GROUPS)
		return MOST_GROUPS - 1;
	g = g_new0(struct group, 1);
	g->name = g_strdup(name);
	g->g.name = g->name;
	if (c->o.algorithm == RF_CURVE_OPT)
		rf_opt_init(&g->opt);
	else
		rf_stack_init(&g->stack);
	g_ptr_array_add(c->groups, g);
	g_hash_table_insert(c->group_by_name, g->name, GUINT_TO_POINTER(c->groups->len));
	return (uint16_t)(c->groups->len - 1);
}

static void free_group(void *p)
{
	struct group *g = p;

	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++)
		rf_hist_clear(&g->g.hist[k]);
	for (unsigned i = 0; i < RF_CURVE_SUBSAMPLES; i++)
		rf_hist_clear(&g->g.part[i]);
	rf_stack_clear(&g->stack);
	rf_opt_clear(&g->opt);
	g_free(g->name);
	g_free(g);
}

static const char *cgroup_of(const struct rf_curve *c, uint32_t tid)
{
	const char *name = g_hash_table_lookup(c->cgroup_by_tid, GUINT_TO_POINTER(tid));

	return name ? name : "/";
}

/* A task begins in the cgroup that its event names, or in its parent's. */
static void follow_task(struct rf_curve *c, const struct rf_event *ev)
{
	const char *name = ev->name ? ev->name : ev->has_parent ? cgroup_of(c, ev->parent) : "/";

	g_hash_table_insert(c->cgroup_by_tid, GUINT_TO_POINTER(ev->tid), g_strdup(name));
}

/* ---- first touches ---- */

static __attribute__((noinline)) void first_touch(struct rf_curve *c, uint32_t page)
{
	gboolean file = (c->names.page[page].space & RF_NAME_FILE) != 0;
	const struct rf_vma *v = file ? NULL : rf_names_vma(&c->names, page);
	gboolean mapped_file = v && v->mkind == RF_MAP_FILE;
	uint16_t group = 0;

	c->kind[page] = file ? RF_CURVE_READ : mapped_file ? RF_CURVE_FILE : RF_CURVE_ANON;
	if (c->o.by == RF_CURVE_BY_KIND)
		group = group_of_name(c, mapped_file && (v->prot & RF_PROT_X) ? "exec" :
		                         file || mapped_file ? "file" : "anon");
	else if (c->o.by == RF_CURVE_BY_CGROUP)
		group = group_of_name(c, cgroup_of(c, c->tid));
	if (c->group)
		c->group[page] = group;
	((struct group *)c->groups->pdata[group])->g.pages++;
}

/* ---- uses ---- */

static __attribute__((noinline)) void renumber(struct rf_curve *c, struct group *g, uint16_t nth)
{
	const struct rf_stack_pages pages = { c->slot, c->group, c->npages };

	rf_stack_renumber(&g->stack, &pages, nth);
}

static inline __attribute__((always_inline))
void use_lru(struct rf_curve *c, uint32_t page, gboolean exec, uint32_t count, gboolean plain)
{
	uint16_t nth = 0;
	uint32_t distance;
	struct group *g;
	unsigned class;

	if (G_UNLIKELY(c->kind[page] >= NO_KIND)) {
		if (c->kind[page] == OUT_OF_SAMPLE)
			return;
		first_touch(c, page);
	}
	if (!plain && c->group)
		nth = c->group[page];
	g = c->groups->pdata[nth];
	if (G_UNLIKELY(rf_stack_full(&g->stack)))
		renumber(c, g, nth);
	distance = rf_stack_use(&g->stack, &c->slot[page]);
	class = exec ? RF_CURVE_EXEC : c->kind[page];
	rf_hist_add(&g->g.hist[class], distance);
	if (plain)
		return;
	g->g.uses++;
	g->g.accesses += count;
	if (c->o.rate != RF_CURVE_WHOLE) {
		const struct rf_name *name = &c->names.page[page];
		unsigned part = page_hash(c, name->space, name->vpn) % RF_CURVE_SUBSAMPLES;

		rf_hist_add(&g->g.part[part], distance);
	}
	if (c->last)
		c->last[page] = distance;
}

static void use_opt(struct rf_curve *c, uint32_t page, gboolean exec, uint32_t count, uint64_t next)
{
	struct group *g;

	if (c->kind[page] == NO_KIND)
		first_touch(c, page);
	g = c->groups->pdata[c->group ? c->group[page] : 0];
	g->g.uses++;
	g->g.accesses += count;
	rf_hist_add(&g->g.hist[exec ? RF_CURVE_EXEC : c->kind[page]],
	            rf_opt_use(&g->opt, c->slot, page, next));
}

/* Accesses that begin in a run. */
static inline uint32_t begun(const struct rf_runs *r, uint32_t i)
{
	return r->type[i] & RF_RUN_CONT ? 0 : r->count[i];
}

static inline __attribute__((always_inline))
void lru_runs(struct rf_curve *c, const struct rf_runs *r, gboolean mapped, gboolean plain)
{
	const uint32_t *const map = c->names.map, *const id = r->page;
	struct group *first = c->groups->len ? c->groups->pdata[0] : NULL;
	const uint32_t n = r->n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t page = mapped ? map[id[i]] : id[i];

		if (i + FAR_AHEAD < n) {
			uint32_t far = mapped ? map[id[i + FAR_AHEAD]] : id[i + FAR_AHEAD];
			uint32_t near = mapped ? map[id[i + NEAR_AHEAD]] : id[i + NEAR_AHEAD];
			uint32_t slot = c->slot[near];

			__builtin_prefetch(&c->slot[far], 1);
			__builtin_prefetch(&c->kind[far]);
			if (plain && slot != RF_NO_SLOT)
				__builtin_prefetch(&first->stack.bit[slot / 64], 1);
		}
		use_lru(c, page, (r->type[i] & RF_TYPE_MASK) == RF_EXEC, begun(r, i), plain);
	}
}

static void runs(struct rf_curve *c, const struct rf_runs *r)
{
	gboolean mapped = c->names.map != NULL;
	/* Of all pages together the trace's totals know the number of accesses. */
	gboolean plain = c->o.by == RF_CURVE_BY_NONE && c->o.rate == RF_CURVE_WHOLE && !c->keep_last;

	c->tid = r->tid;
	if (c->o.algorithm == RF_CURVE_OPT) {
		for (uint32_t i = 0; i < r->n; i++)
			use_opt(c, mapped ? c->names.map[r->page[i]] : r->page[i],
			        (r->type[i] & RF_TYPE_MASK) == RF_EXEC, begun(r, i), c->next[i]);
	} else if (plain) {
		struct rf_curve_group *g = &((struct group *)c->groups->pdata[0])->g;

		for (uint32_t i = 0; i < r->n; i++)
			g->accesses += begun(r, i);
		g->uses += r->n;
		if (mapped)
			lru_runs(c, r, TRUE, TRUE);
		else
			lru_runs(c, r, FALSE, TRUE);
	} else if (mapped) {
		lru_runs(c, r, TRUE, FALSE);
	} else {
		lru_runs(c, r, FALSE, FALSE);
	}
}

/* ---- items ---- */

static gboolean grow(struct rf_curve *c, GError **error)
{
	uint32_t n = c->names.npages, none = c->o.algorithm == RF_CURVE_OPT ? 0 : RF_NO_SLOT;

	if (n > RF_STACK_MOST_PAGES) {
		rf_set_data(error, "more than %u pages", RF_STACK_MOST_PAGES);
		return FALSE;
	}
	if (n > c->size) {
		c->size = (uint32_t)MIN(MAX((uint64_t)n, (uint64_t)c->size + c->size / 4), UINT32_MAX);
		c->slot = g_renew(uint32_t, c->slot, c->size);
		c->kind = g_renew(uint8_t, c->kind, c->size);
		if (c->o.by != RF_CURVE_BY_NONE)
			c->group = g_renew(uint16_t, c->group, c->size);
		if (c->keep_last)
			c->last = g_renew(uint32_t, c->last, c->size);
	}
	for (; c->npages < n; c->npages++) {
		const struct rf_name *name = &c->names.page[c->npages];

		c->slot[c->npages] = none;
		c->kind[c->npages] = NO_KIND;
		if (c->o.rate != RF_CURVE_WHOLE && !in_sample(c, name->space, name->vpn))
			c->kind[c->npages] = OUT_OF_SAMPLE;
	}
	return TRUE;
}

static void page_freed(void *self, uint32_t page)
{
	struct rf_curve *c = self;
	struct group *g;

	if (page >= c->npages || c->kind[page] >= NO_KIND)
		return;
	g = c->groups->pdata[c->group ? c->group[page] : 0];
	if (c->o.algorithm == RF_CURVE_OPT)
		rf_opt_free_page(&g->opt, c->slot, page);
	else
		rf_stack_free_page(&g->stack, &c->slot[page]);
	c->kind[page] = NO_KIND;
}

/* read(2) and write(2). */
static void page_used(void *self, uint32_t page, const struct rf_event *ev)
{
	struct rf_curve *c = self;

	c->tid = ev->tid;
	/* Too many pages: the item's end says so. */
	if (!grow(c, NULL))
		return;
	if (c->o.algorithm == RF_CURVE_OPT)
		use_opt(c, page, FALSE, 0, c->next[c->next_at++]);
	else
		use_lru(c, page, FALSE, 0, FALSE);
}

gboolean rf_curve_item(struct rf_curve *c, const struct rf_item *item, GError **error)
{
	if (c->future) {
		c->next = rf_future_next(c->future);
		c->next_at = 0;
	}
	if (item->kind == RF_ITEM_RUNS) {
		runs(c, &item->runs);
		return TRUE;
	}
	if (item->kind == RF_ITEM_EVENT && item->event.kind == RF_EV_TASK)
		follow_task(c, &item->event);
	if (!rf_names_item(&c->names, item, &c->user, error)) {
		g_prefix_error(error, "record %" G_GUINT64_FORMAT ": ", item->record);
		return FALSE;
	}
	return grow(c, error);
}

/* ---- life ---- */

struct rf_curve *rf_curve_new(const struct rf_curve_options *o)
{
	struct rf_curve *c = g_new0(struct rf_curve, 1);

	c->o = *o;
	g_assert(o->rate >= 1 && o->rate <= RF_CURVE_WHOLE);
	g_assert(o->rate == RF_CURVE_WHOLE || o->algorithm == RF_CURVE_LRU);
	c->threshold = ((uint64_t)o->rate << 32) / RF_CURVE_WHOLE;
	c->user = (struct rf_names_user){ page_freed, page_used, c };
	rf_names_init(&c->names, o->page_shift);
	c->groups = g_ptr_array_new_with_free_func(free_group);
	c->cgroup_by_tid = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	c->group_by_name = g_hash_table_new(g_str_hash, g_str_equal);
	if (o->by == RF_CURVE_BY_NONE)
		group_of_name(c, "all");
	return c;
}

void rf_curve_free(struct rf_curve *c)
{
	if (!c)
		return;
	rf_names_clear(&c->names);
	g_hash_table_destroy(c->group_by_name);
	g_hash_table_destroy(c->cgroup_by_tid);
	g_ptr_array_unref(c->groups);
	g_free(c->slot);
	g_free(c->kind);
	g_free(c->group);
	g_free(c->last);
	g_free(c);
}

void rf_curve_set_future(struct rf_curve *c, const struct rf_future *future)
{
	c->future = future;
}

void rf_curve_keep_last(struct rf_curve *c)
{
	c->keep_last = TRUE;
}

uint32_t rf_curve_last(const struct rf_curve *c, uint32_t page)
{
	return c->last[page];
}

guint rf_curve_ngroups(const struct rf_curve *c)
{
	return c->groups->len;
}

const struct rf_curve_group *rf_curve_group(const struct rf_curve *c, guint nth)
{
	return &((const struct group *)c->groups->pdata[nth])->g;
}
