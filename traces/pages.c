/* SPDX-License-Identifier: MIT
 * Names of pages to dense ids.
 */
#include "traces/pages.h"

#include <string.h>

void rf_pages_init(struct rf_pages *p)
{
	memset(p, 0, sizeof(*p));
}

void rf_pages_clear(struct rf_pages *p)
{
	g_free(p->name);
	g_free(p->slot);
	rf_pages_init(p);
}

static inline uint32_t first_slot(const struct rf_pages *p, uint32_t space, uint64_t vpn)
{
	uint64_t h = (vpn ^ (uint64_t)space << 40) * 0x9E3779B97F4A7C15u;

	return (uint32_t)(h >> 32) & p->mask;
}

static gboolean grow_slots(struct rf_pages *p)
{
	uint64_t n = p->slot == NULL ? 1024 : ((uint64_t)p->mask + 1) * 2;
	uint32_t *slot = n > (uint64_t)1 << 32 ? NULL : g_try_malloc_n(n, sizeof(*slot));

	if (slot == NULL)
		return FALSE;
	g_free(p->slot);
	p->slot = slot;
	p->mask = (uint32_t)(n - 1);
	memset(slot, 0xff, n * sizeof(*slot));
	for (uint32_t id = 0; id < p->n; id++) {
		uint32_t i = first_slot(p, p->name[id].space, p->name[id].vpn);

		while (slot[i] != UINT32_MAX)
			i = (i + 1) & p->mask;
		slot[i] = id;
	}
	return TRUE;
}

uint32_t rf_pages_append(struct rf_pages *p, uint32_t space, uint64_t vpn)
{
	if (p->n >= RF_PAGES_MAX)
		return UINT32_MAX;
	if (p->n == p->cap) {
		uint64_t cap = p->cap == 0 ? 1024 : (uint64_t)p->cap + p->cap / 4;
		struct rf_page_name *name;

		cap = MIN(cap, RF_PAGES_MAX);
		name = g_try_realloc_n(p->name, cap, sizeof(*name));
		if (name == NULL)
			return UINT32_MAX;
		p->name = name;
		p->cap = (uint32_t)cap;
	}
	p->name[p->n] = (struct rf_page_name){ .space = space, .vpn = vpn };
	return p->n++;
}

static uint32_t add(struct rf_pages *p, uint32_t space, uint64_t vpn)
{
	uint32_t i, id;

	if (p->slot == NULL || p->n >= p->mask - p->mask / 4)
		if (!grow_slots(p))
			return UINT32_MAX;
	id = rf_pages_append(p, space, vpn);
	if (id == UINT32_MAX)
		return UINT32_MAX;
	for (i = first_slot(p, space, vpn); p->slot[i] != UINT32_MAX;)
		i = (i + 1) & p->mask;
	p->slot[i] = id;
	return id;
}

uint32_t rf_pages_id(struct rf_pages *p, uint32_t space, uint64_t vpn)
{
	if (p->slot == NULL)
		return add(p, space, vpn);
	for (uint32_t i = first_slot(p, space, vpn); p->slot[i] != UINT32_MAX; i = (i + 1) & p->mask) {
		const struct rf_page_name *name = &p->name[p->slot[i]];

		if (name->vpn == vpn && name->space == space)
			return p->slot[i];
	}
	return add(p, space, vpn);
}
