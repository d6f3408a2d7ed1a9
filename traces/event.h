/* SPDX-License-Identifier: MIT
 * What every event must obey, whatever format it came from.
 */
#ifndef RF_EVENT_H
#define RF_EVENT_H

#include "traces/trace.h"

/* Addresses stay below the last 64 KiB, so that the end of a range is a number too.  No program has
 * anything there: the kernel returns errors as such values. */
#define RF_ADDR_END (UINT64_MAX - 0xffff)
#define RF_FILE_END ((uint64_t)INT64_MAX) /* file offsets are signed */
/* What one read(2) or write(2) moves at most. */
#define RF_RW_MAX ((uint64_t)0x7ffff000)

gboolean rf_range_fail(uint64_t addr, uint64_t len, const char *what, GError **error);

static inline gboolean rf_range_check(uint64_t addr, uint64_t len, const char *what, GError **error)
{
	if (G_LIKELY(len > 0 && addr < RF_ADDR_END && len <= RF_ADDR_END - addr))
		return TRUE;
	return rf_range_fail(addr, len, what, error);
}

/* Ranges that make sense, known protections, kinds and advice, strings where a kind needs them.  The
 * message has no position. */
gboolean rf_event_check(const struct rf_event *ev, GError **error);

/* ORDER fields: the members that a kind uses, in the order in which a .rft writes them. */
enum rf_event_field {
	RF_FIELD_TID = 1 << 0, RF_FIELD_PARENT = 1 << 1, RF_FIELD_ID = 1 << 2, RF_FIELD_SPACE = 1 << 3,
	RF_FIELD_ADDR = 1 << 4, RF_FIELD_LEN = 1 << 5, RF_FIELD_ADDR2 = 1 << 6, RF_FIELD_LEN2 = 1 << 7,
	RF_FIELD_OFF = 1 << 8, RF_FIELD_PROT = 1 << 9, RF_FIELD_MKIND = 1 << 10,
	RF_FIELD_ADVICE = 1 << 11,
	/* the following are bits of one byte there */
	RF_FIELD_FLAG = 1 << 12, RF_FIELD_SHARED = 1 << 13, RF_FIELD_LOCKED = 1 << 14,
	RF_FIELD_THREAD = 1 << 15, RF_FIELD_HAS_PARENT = 1 << 16, RF_FIELD_NAME = 1 << 17,
	RF_FIELD_TEXT = 1 << 18,
};
unsigned rf_event_fields(enum rf_event_kind kind); /* kind is a known one */
/* The event with what its kind does not use zeroed. */
struct rf_event rf_event_clean(const struct rf_event *ev);
static inline gboolean rf_event_has_tid(enum rf_event_kind kind)
{
	return rf_event_fields(kind) & RF_FIELD_TID;
}

#define RF_NAME_MAX 65535 /* bytes of a name or text */

#endif
