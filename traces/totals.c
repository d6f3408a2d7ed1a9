/* SPDX-License-Identifier: MIT
 * Sums over the items of a trace.
 *
 * The digest is a sum of one mixed word a run, event or page name, each mixed with its number.  It
 * depends on order and on every member, but not on how the stream is cut into items; the terms do
 * not depend on each other, so that the processor overlaps them.
 */
#include "traces/totals.h"

#include <string.h>

#define K1 0x9E3779B97F4A7C15u
#define K2 0xC2B2AE3D27D4EB4Fu
#define K3 0x165667B19E3779F9u

static uint64_t mix(uint64_t w)
{
	w = (w ^ (w >> 32)) * K2;
	w = (w ^ (w >> 29)) * K3;
	return w ^ (w >> 32);
}

/* ---- footprint ---- */

void rf_footprint_init(struct rf_footprint *f, unsigned granule_shift)
{
	*f = (struct rf_footprint){ .granule_shift = granule_shift };
}

void rf_footprint_clear(struct rf_footprint *f)
{
	g_clear_pointer(&f->key, g_free);
	g_clear_pointer(&f->space, g_free);
	f->n = f->cap = 0;
}

static uint32_t slot_of(const struct rf_footprint *f, uint32_t space, uint64_t group)
{
	uint32_t i = (uint32_t)(mix(group * K1 + space) & (f->cap - 1));

	while (f->key[i] != 0 && (f->key[i] >> 16 != group || f->space[i] != space))
		i = (i + 1) & (f->cap - 1);
	return i;
}

static void grow(struct rf_footprint *f)
{
	struct rf_footprint old = *f;

	f->cap = old.cap == 0 ? 64 : old.cap * 2;
	f->key = g_new0(uint64_t, f->cap);
	f->space = g_new(uint32_t, f->cap);
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.key[i] != 0) {
			uint32_t to = slot_of(f, old.space[i], old.key[i] >> 16);

			f->key[to] = old.key[i];
			f->space[to] = old.space[i];
		}
	rf_footprint_clear(&old);
}

/* Distinct pages of 2^shift granules among the 16 of mask. */
static unsigned pages_of(uint32_t mask, unsigned shift)
{
	if (shift >= 1)
		mask = (mask | mask >> 1) & 0x5555;
	if (shift >= 2)
		mask = (mask | mask >> 2) & 0x1111;
	if (shift >= 3)
		mask = (mask | mask >> 4) & 0x0101;
	if (shift >= 4)
		mask = (mask | mask >> 8) & 0x0001;
	return (unsigned)__builtin_popcount(mask);
}

void rf_footprint_add(struct rf_footprint *f, uint32_t space, uint64_t vpn, uint64_t n)
{
	static const unsigned shifts[3] = { 12, 14, 16 };

	while (n > 0) {
		uint64_t group = vpn >> 4;
		unsigned at = vpn & 15, here = (unsigned)MIN(n, 16 - at);
		uint32_t bits = ((1u << here) - 1) << at, i, was, now;

		if (f->n >= f->cap - f->cap / 4)
			grow(f);
		i = slot_of(f, space, group);
		if (f->key[i] == 0) {
			f->n++;
			f->space[i] = space;
		}
		was = f->key[i] & 0xffff;
		now = was | bits;
		f->key[i] = group << 16 | now;
		for (unsigned s = 0; was != now && s < 3; s++)
			if (shifts[s] >= f->granule_shift)
				f->pages[s] += pages_of(now, shifts[s] - f->granule_shift) -
				               pages_of(was, shifts[s] - f->granule_shift);
		vpn += here;
		n -= here;
	}
}

/* ---- tally ---- */

void rf_tally_init(struct rf_tally *t, unsigned granule_shift)
{
	t->totals = (struct rf_totals){ 0 };
	rf_footprint_init(&t->mem, granule_shift);
	rf_footprint_init(&t->file, granule_shift);
}

void rf_tally_clear(struct rf_tally *t)
{
	rf_footprint_clear(&t->mem);
	rf_footprint_clear(&t->file);
}

static void add_runs(struct rf_totals *t, const struct rf_runs *r)
{
	uint64_t sum[8] = { 0 }, digest = 0;
	uint64_t base = (t->runs + t->events) * K1 + (uint64_t)r->tid * K2;

	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t w = (uint64_t)r->page[i] << 32 | r->count[i];

		sum[r->type[i] & 7] += r->count[i];
		digest += mix(w + r->type[i] * K3 + base + i * K1);
	}
	for (unsigned i = 0; i < RF_NACCESS; i++)
		t->accesses[i] += sum[i];
	t->runs += r->n;
	t->digest += digest;
}

static uint64_t mix_string(uint64_t h, const char *s)
{
	if (s == NULL)
		return mix(h + 1);
	h = mix(h + 2 + strlen(s));
	for (; *s != 0; s++)
		h = (h ^ (uint8_t)*s) * K1 + (h >> 47);
	return mix(h);
}

static void add_event(struct rf_tally *t, const struct rf_event *e)
{
	uint64_t h = mix((t->totals.runs + t->totals.events) * K1 ^ K3);
	uint64_t words[] = {
		e->kind, e->tid, e->parent, e->id, e->space, e->addr, e->len, e->addr2, e->len2, e->off,
		e->prot, e->mkind, e->advice, e->flag, e->shared, e->locked, e->thread, e->has_parent,
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		h = mix(h * K1 + words[i]);
	h = mix_string(h, e->name);
	t->totals.digest += mix_string(h, e->text);
	t->totals.events++;
	if (e->kind == RF_EV_LOST)
		t->totals.lost += e->len;
	if ((e->kind == RF_EV_READ || e->kind == RF_EV_WRITE) && e->len > 0) {
		unsigned shift = t->file.granule_shift;
		uint64_t first = e->off >> shift, last = (e->off + e->len - 1) >> shift;

		rf_footprint_add(&t->file, e->id, first, last - first + 1);
	}
}

/* Neighbours go into the footprint together. */
static void add_pages(struct rf_tally *t, const struct rf_item *item)
{
	const struct rf_page_name *p = item->pages.name, *end = p + item->pages.n;
	uint64_t id = item->pages.first, digest = 0;

	while (p < end) {
		const struct rf_page_name *first = p;

		do
			digest += mix(mix(p->vpn * K1 + p->space) ^ id++ * K2);
		while (++p < end && p->space == first->space && p->vpn == p[-1].vpn + 1);
		rf_footprint_add(&t->mem, first->space, first->vpn, (uint64_t)(p - first));
	}
	t->totals.digest += digest;
}

void rf_tally_add(struct rf_tally *t, const struct rf_item *item)
{
	switch (item->kind) {
	case RF_ITEM_RUNS:
		add_runs(&t->totals, &item->runs);
		break;
	case RF_ITEM_EVENT:
		add_event(t, &item->event);
		break;
	case RF_ITEM_PAGES:
		add_pages(t, item);
		t->totals.pages = (uint64_t)item->pages.first + item->pages.n;
		break;
	case RF_ITEM_END:
		break;
	}
	for (unsigned i = 0; i < 3; i++)
		t->totals.footprint[i] = t->mem.pages[i] + t->file.pages[i];
}
