/* SPDX-License-Identifier: MIT
 * Objects of cache traces as pages: each is a page of one mapping, numbered as they first appear,
 * whatever their sizes.  Per record, so the look-up is inline.
 */
#ifndef RF_OBJECTS_H
#define RF_OBJECTS_H

#include "traces/import/import.h"

#define RF_OBJECTS_BASE ((uint64_t)1 << 44) /* address of the first object's page */

struct rf_object {
	uint64_t id;
	uint32_t page; /* 1 + number; 0: free */
};

struct rf_objects {
	struct rf_object *slot;
	uint64_t size; /* slots */
	uint32_t n;
};

/* Declares task 1 and the mapping. */
gboolean rf_objects_init(struct rf_objects *o, struct rf_builder *b, GError **error);
void rf_objects_clear(struct rf_objects *o);
/* For an object seen for the first time, whose slot would be there; UINT32_MAX: no room. */
uint32_t rf_objects_add(struct rf_objects *o, struct rf_builder *b, uint64_t id, uint64_t slot);

/* Grows with the hash: what is apart in a table is so in a larger one. */
static inline uint64_t rf_objects_place(const struct rf_objects *o, uint64_t id)
{
	return (id * 0x9E3779B97F4A7C15u >> 32) * o->size >> 32;
}

static inline uint64_t rf_objects_next(const struct rf_objects *o, uint64_t place)
{
	return place + 1 < o->size ? place + 1 : 0;
}

/* Soon asked for. */
static inline void rf_objects_prefetch(const struct rf_objects *o, uint64_t id)
{
	__builtin_prefetch(&o->slot[rf_objects_place(o, id)]);
}

/* The page of an object; UINT32_MAX when there is no room. */
static inline uint32_t rf_objects_page(struct rf_objects *o, struct rf_builder *b, uint64_t id)
{
	uint64_t j = rf_objects_place(o, id);

	for (; o->slot[j].page; j = rf_objects_next(o, j))
		if (o->slot[j].id == id)
			return o->slot[j].page - 1;
	return rf_objects_add(o, b, id, j);
}

#endif
