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
gboolean rf_event_has_tid(enum rf_event_kind kind);

#endif
