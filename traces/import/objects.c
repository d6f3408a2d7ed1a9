/* SPDX-License-Identifier: MIT */
#include "traces/import/objects.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

#define LARGE ((size_t)2 << 20) /* a huge page */
#define OBJECTS_MAX (UINT32_MAX - 1)

/* Slots are looked up at random: of a large table, most of the time would go into page tables. */
static struct rf_object *table(uint64_t n)
{
	size_t size = n * sizeof(struct rf_object);
	void *p;

	if (size < 2 * LARGE)
		return calloc(n, sizeof(struct rf_object));
	p = aligned_alloc(LARGE, size);
	if (p) {
		madvise(p, size, MADV_HUGEPAGE); /* or not */
		memset(p, 0, size);
	}
	return p;
}

gboolean rf_objects_init(struct rf_objects *o, struct rf_builder *b, GError **error)
{
	struct rf_event task = { .kind = RF_EV_TASK, .tid = 1 };
	struct rf_event map = {
		.kind = RF_EV_MMAP,
		.tid = 1,
		.addr = RF_OBJECTS_BASE,
		.len = ((uint64_t)OBJECTS_MAX + 1) << RF_GRANULE_SHIFT,
		.prot = RF_PROT_R | RF_PROT_W,
		.name = "objects",
	};

	o->mask = 4095;
	o->slot = table(o->mask + 1);
	if (!o->slot) {
		rf_set_env(error, "no memory for a table of objects");
		return FALSE;
	}
	return rf_builder_event(b, &task, error) && rf_builder_event(b, &map, error);
}

void rf_objects_clear(struct rf_objects *o)
{
	g_clear_pointer(&o->slot, free);
}

static gboolean grow(struct rf_objects *o)
{
	uint64_t size = (o->mask + 1) * 2, old = o->mask + 1;
	struct rf_object *from = o->slot, *to = table(size);

	if (!to)
		return FALSE;
	o->slot = to;
	o->mask = size - 1;
	for (uint64_t i = 0; i < old; i++) {
		uint64_t j;

		if (!from[i].page)
			continue;
		for (j = rf_objects_place(o, from[i].id); to[j].page; j = (j + 1) & o->mask)
			;
		to[j] = from[i];
	}
	free(from);
	return TRUE;
}

uint32_t rf_objects_add(struct rf_objects *o, struct rf_builder *b, uint64_t id, uint64_t slot)
{
	uint32_t page = rf_builder_new_page(b, 1, (RF_OBJECTS_BASE >> RF_GRANULE_SHIFT) + o->n);

	if (page == UINT32_MAX)
		return UINT32_MAX;
	o->slot[slot].id = id;
	o->slot[slot].page = page + 1;
	if (++o->n * (uint64_t)3 > o->mask * 2 && !grow(o))
		return UINT32_MAX;
	return page;
}
