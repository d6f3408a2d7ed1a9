/* SPDX-License-Identifier: MIT */
#include "traces/import/objects.h"

#include <sys/mman.h>

#include "base/error.h"

#define FIRST 4096
#define PIECE ((size_t)2 << 20) /* a huge page */
#define OBJECTS_MAX (UINT32_MAX - 1)

/* Of zeros, which take no memory before they are written to.  Slots are looked up at random: of a
 * large table, most of the time would go into page tables. */
static struct rf_object *table(uint64_t n)
{
	size_t size = n * sizeof(struct rf_object);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (size >= 2 * PIECE)
		madvise(p, size, MADV_HUGEPAGE); /* or not */
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

	o->size = FIRST;
	o->slot = table(o->size);
	if (!o->slot) {
		rf_set_env(error, "no memory for a table of objects");
		return FALSE;
	}
	return rf_builder_event(b, &task, error) && rf_builder_event(b, &map, error);
}

void rf_objects_clear(struct rf_objects *o)
{
	if (o->slot)
		munmap(o->slot, o->size * sizeof(*o->slot));
	o->slot = NULL;
}

/* The new table fills from its beginning as the old one is read, and given back, from its own: both
 * together are never larger than the new one alone. */
static gboolean grow(struct rf_objects *o)
{
	uint64_t old = o->size, pieces = 0;
	struct rf_object *from = o->slot, *to = table(old + old / 2);

	if (!to)
		return FALSE;
	o->slot = to;
	o->size = old + old / 2;
	for (uint64_t i = 0; i < old; i++) {
		uint64_t j;

		if ((i - pieces) * sizeof(*from) == PIECE) {
			munmap(from + pieces, PIECE);
			pieces = i;
		}
		if (!from[i].page)
			continue;
		for (j = rf_objects_place(o, from[i].id); to[j].page; j = rf_objects_next(o, j))
			;
		to[j] = from[i];
	}
	munmap(from + pieces, (old - pieces) * sizeof(*from));
	return TRUE;
}

uint32_t rf_objects_add(struct rf_objects *o, struct rf_builder *b, uint64_t id, uint64_t slot)
{
	uint32_t page = rf_builder_new_page(b, 1, (RF_OBJECTS_BASE >> RF_GRANULE_SHIFT) + o->n);

	if (page == UINT32_MAX)
		return UINT32_MAX;
	o->slot[slot].id = id;
	o->slot[slot].page = page + 1;
	if (++o->n * (uint64_t)5 > o->size * 4 && !grow(o))
		return UINT32_MAX;
	return page;
}
