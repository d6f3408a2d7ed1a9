/* SPDX-License-Identifier: MIT
 * Events in a .rft: kind, a byte of flags, then the members that the kind uses, as varints.
 */
#include <string.h>

#include "traces/event.h"
#include "traces/rft.h"

/* ORDER fields */
static const struct { unsigned field; size_t offset; unsigned size; } members[] = {
#define M(field, member) \
	{ RF_FIELD_##field, G_STRUCT_OFFSET(struct rf_event, member), \
	  sizeof(((struct rf_event *)0)->member) }
	M(TID, tid), M(PARENT, parent), M(ID, id), M(SPACE, space), M(ADDR, addr), M(LEN, len),
	M(ADDR2, addr2), M(LEN2, len2), M(OFF, off), M(PROT, prot), M(MKIND, mkind),
	M(ADVICE, advice),
#undef M
};

enum { FLAG = 1, SHARED = 2, LOCKED = 4, THREAD = 8, HAS_PARENT = 16, NAME = 32, TEXT = 64 };

static uint64_t member_get(const struct rf_event *ev, unsigned i)
{
	const void *p = (const char *)ev + members[i].offset;

	switch (members[i].size) {
	case 1:
		return *(const uint8_t *)p;
	case 4:
		return *(const uint32_t *)p;
	default:
		return *(const uint64_t *)p;
	}
}

static gboolean member_set(struct rf_event *ev, unsigned i, uint64_t v)
{
	void *p = (char *)ev + members[i].offset;

	switch (members[i].size) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		return v <= UINT8_MAX;
	case 4:
		*(uint32_t *)p = (uint32_t)v;
		return v <= UINT32_MAX;
	default:
		*(uint64_t *)p = v;
		return TRUE;
	}
}

static void put_string(GByteArray *a, const char *s)
{
	size_t n;

	if (s == NULL)
		return;
	n = strlen(s);
	rft_put_varint(a, n);
	g_byte_array_append(a, (const uint8_t *)s, (guint)n);
}

static gboolean get_string(const uint8_t **p, const uint8_t *end, GStringChunk *strings,
                           const char **s)
{
	uint64_t n;

	if (!rft_get_varint(p, end, &n) || n > RF_NAME_MAX || n > (uint64_t)(end - *p) ||
	    memchr(*p, 0, n) != NULL)
		return FALSE;
	*s = g_string_chunk_insert_len(strings, (const char *)*p, (gssize)n);
	*p += n;
	return TRUE;
}

void rft_event_write(GByteArray *a, const struct rf_event *ev)
{
	unsigned fields = rf_event_fields(ev->kind);
	uint8_t head[2] = { (uint8_t)ev->kind, 0 };

	head[1] = (ev->flag ? FLAG : 0) | (ev->shared ? SHARED : 0) | (ev->locked ? LOCKED : 0) |
	          (ev->thread ? THREAD : 0) | (ev->has_parent ? HAS_PARENT : 0) |
	          (ev->name != NULL ? NAME : 0) | (ev->text != NULL ? TEXT : 0);
	g_byte_array_append(a, head, sizeof(head));
	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++)
		if (fields & members[i].field)
			rft_put_varint(a, member_get(ev, i));
	put_string(a, ev->name);
	put_string(a, ev->text);
}

gboolean rft_event_read(const uint8_t **p, const uint8_t *end, struct rf_event *ev,
                        GStringChunk *strings)
{
	unsigned fields = rf_event_fields(ev->kind);
	uint8_t flags;

	if (*p == end)
		return FALSE;
	flags = *(*p)++;
	for (unsigned i = 0; i < G_N_ELEMENTS(members); i++) {
		uint64_t v;

		if (!(fields & members[i].field))
			continue;
		if (!rft_get_varint(p, end, &v) || !member_set(ev, i, v))
			return FALSE;
	}
	ev->flag = !!(flags & FLAG);
	ev->shared = !!(flags & SHARED);
	ev->locked = !!(flags & LOCKED);
	ev->thread = !!(flags & THREAD);
	ev->has_parent = !!(flags & HAS_PARENT);
	if ((flags & NAME) && !get_string(p, end, strings, &ev->name))
		return FALSE;
	return !(flags & TEXT) || get_string(p, end, strings, &ev->text);
}
