/* SPDX-License-Identifier: MIT */
#include "policies/volatile/ranges.h"

static void free_array(gpointer array)
{
	g_array_unref(array);
}

void rf_ranges_init(struct rf_ranges *r)
{
	r->roots = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_array);
	r->free = RF_NO_PAGE;
	rf_list_init(&r->list);
}

void rf_ranges_clear(struct rf_ranges *r)
{
	g_hash_table_unref(r->roots);
	g_free(r->range);
	g_free(r->link);
}

static GArray *root_find(const struct rf_ranges *r, uint64_t root)
{
	return g_hash_table_lookup(r->roots, &root);
}

static GArray *root_get(struct rf_ranges *r, uint64_t root)
{
	GArray *a = root_find(r, root);
	uint64_t *key;

	if (a)
		return a;
	key = g_new(uint64_t, 1);
	*key = root;
	a = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_hash_table_insert(r->roots, key, a);
	return a;
}

#define NTH(a, i) g_array_index(a, uint32_t, i)

/* Position of the first range that ends after addr. */
static guint lower(const struct rf_ranges *r, const GArray *a, uint64_t addr)
{
	guint lo = 0, hi = a->len;

	while (lo < hi) {
		guint mid = lo + (hi - lo) / 2;

		if (r->range[NTH(a, mid)].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* ---- ranges and their list ---- */

static void enlist(struct rf_ranges *r, uint32_t i)
{
	struct rf_range *g = &r->range[i];

	if (g->listed)
		rf_list_remove(r->link, &r->list, i);
	g->listed = !(g->purged && r->purged_leave);
	if (g->listed)
		rf_list_push_head(r->link, &r->list, i);
}

void rf_ranges_unlist(struct rf_ranges *r, uint32_t i)
{
	if (r->range[i].listed)
		rf_list_remove(r->link, &r->list, i);
	r->range[i].listed = FALSE;
}

static void add(struct rf_ranges *r, GArray *a, guint at, const struct rf_range *range)
{
	uint32_t i = r->free;

	if (i != RF_NO_PAGE) {
		r->free = r->link[i].next;
	} else {
		i = r->n;
		if (i == r->size) {
			r->size = MAX(64, r->size * 2);
			r->range = g_renew(struct rf_range, r->range, r->size);
			r->link = g_renew(struct rf_link, r->link, r->size);
		}
	}
	r->range[i] = *range;
	r->range[i].listed = FALSE;
	r->n++;
	r->most = MAX(r->most, r->n);
	g_array_insert_val(a, at, i);
	enlist(r, i);
}

static void delete(struct rf_ranges *r, GArray *a, guint at)
{
	uint32_t i = NTH(a, at);

	rf_ranges_unlist(r, i);
	g_array_remove_index(a, at);
	r->link[i].next = r->free;
	r->free = i;
	r->n--;
}

static void resized(struct rf_ranges *r, uint32_t i)
{
	if (r->requeue)
		enlist(r, i);
}

/* ---- marking ---- */

void rf_ranges_mark(struct rf_ranges *r, uint64_t root, uint64_t start, uint64_t end)
{
	GArray *a = root_get(r, root);
	guint at = lower(r, a, start);
	struct rf_range whole = { .root = root, .start = start, .end = end };

	while (at < a->len && r->range[NTH(a, at)].start < end) {
		const struct rf_range *old = &r->range[NTH(a, at)];

		if (old->start <= start && old->end >= end)
			return;
		whole.start = MIN(whole.start, old->start);
		whole.end = MAX(whole.end, old->end);
		whole.purged |= old->purged;
		delete(r, a, at);
	}
	add(r, a, at, &whole);
}

gboolean rf_ranges_unmark(struct rf_ranges *r, uint64_t root, uint64_t start, uint64_t end)
{
	GArray *a = root_find(r, root);
	guint at = a ? lower(r, a, start) : 0;
	gboolean purged = FALSE;

	while (a && at < a->len && r->range[NTH(a, at)].start < end) {
		uint32_t i = NTH(a, at);
		struct rf_range old = r->range[i];

		purged |= old.purged;
		if (old.start >= start && old.end <= end) {
			delete(r, a, at);
			continue;
		}
		if (old.start < start) {
			r->range[i].end = start;
			resized(r, i);
			at++;
			old.start = end;
			if (old.end > end)
				add(r, a, at, &old);
		} else {
			r->range[i].start = end;
			resized(r, i);
			break;
		}
	}
	return purged;
}

void rf_ranges_copy(struct rf_ranges *r, uint64_t from, uint64_t to)
{
	const GArray *a = root_find(r, from);
	GArray *b;

	if (!a)
		return;
	b = root_get(r, to);
	for (guint i = 0; i < a->len; i++) {
		struct rf_range copy = r->range[NTH(a, i)];

		copy.root = to;
		add(r, b, b->len, &copy);
	}
}

uint32_t rf_ranges_find(const struct rf_ranges *r, uint64_t root, uint64_t addr)
{
	const GArray *a = root_find(r, root);
	guint at = a ? lower(r, a, addr) : 0;

	return a && at < a->len && r->range[NTH(a, at)].start <= addr ? NTH(a, at) : RF_NO_PAGE;
}

void rf_ranges_purge(struct rf_ranges *r, uint32_t i)
{
	r->purged += !r->range[i].purged;
	r->range[i].purged = TRUE;
	if (r->purged_leave)
		rf_ranges_unlist(r, i);
}

void rf_ranges_check(const struct rf_ranges *r)
{
	GHashTableIter it;
	gpointer key, value;
	uint32_t n = 0, listed = 0;

	g_hash_table_iter_init(&it, r->roots);
	while (g_hash_table_iter_next(&it, &key, &value)) {
		const GArray *a = value;
		uint64_t last = 0;

		for (guint i = 0; i < a->len; i++, n++) {
			const struct rf_range *g = &r->range[NTH(a, i)];

			if (g->root != *(uint64_t *)key || g->start >= g->end || (i && g->start < last))
				g_error("range %u is out of order", NTH(a, i));
			last = g->end;
			listed += g->listed != 0;
		}
	}
	if (n != r->n || listed != r->list.n)
		g_error("%u ranges, %u of them listed; counted %u and %u", r->n, r->list.n, n, listed);
}
