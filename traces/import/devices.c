/* SPDX-License-Identifier: MIT */
#include "traces/import/devices.h"

#include <string.h>

#include "base/error.h"
#include "traces/event.h"

#define SECTOR 512
/* What a request moves at once: whole granules below what read(2) can. */
#define PART ((uint64_t)0x7fff0000)
#define REQUEST_MAX ((uint64_t)1 << 40)

struct rf_devices {
	struct rf_builder *b;
	GHashTable *id; /* name → number, from 1 */
	const char *last_name;
	uint32_t last_id;
};

struct rf_devices *rf_devices_new(struct rf_builder *b)
{
	struct rf_devices *d = g_new0(struct rf_devices, 1);

	d->b = b;
	d->id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return d;
}

void rf_devices_free(struct rf_devices *d)
{
	if (d == NULL)
		return;
	g_hash_table_destroy(d->id);
	g_free(d);
}

gboolean rf_devices_number(struct rf_devices *d, const char *name, uint32_t *id, GError **error)
{
	gpointer key, value;

	if (d->last_name != NULL && strcmp(name, d->last_name) == 0) {
		*id = d->last_id;
		return TRUE;
	}
	if (!g_hash_table_lookup_extended(d->id, name, &key, &value)) {
		struct rf_event file = {
			.kind = RF_EV_FILE,
			.id = g_hash_table_size(d->id) + 1,
			.name = name,
			.len = RF_FILE_END & ~(((uint64_t)1 << RF_GRANULE_SHIFT) - 1),
		};

		key = g_strdup(name);
		value = GUINT_TO_POINTER(file.id);
		g_hash_table_insert(d->id, key, value);
		if (!rf_builder_event(d->b, &file, error))
			return FALSE;
	}
	d->last_name = key;
	*id = d->last_id = GPOINTER_TO_UINT(value);
	return TRUE;
}

gboolean rf_devices_io(struct rf_devices *d, uint32_t tid, const char *name, gboolean write,
                       uint64_t off, uint64_t len, GError **error)
{
	struct rf_event ev = { .kind = write ? RF_EV_WRITE : RF_EV_READ, .tid = tid, .off = off };

	if (len == 0) {
		rf_builder_skipped(d->b, "request of no bytes");
		return TRUE;
	}
	if (off > RF_FILE_END || len > RF_FILE_END - off) {
		rf_set_data(error, "%" G_GUINT64_FORMAT " bytes at offset %" G_GUINT64_FORMAT
		            "; expected an end below 2^63", len, off);
		return FALSE;
	}
	if (!rf_devices_number(d, name, &ev.id, error))
		return FALSE;
	if (len > REQUEST_MAX) {
		rf_set_data(error, "a request of %" G_GUINT64_FORMAT " bytes; expected at most 1 TiB", len);
		return FALSE;
	}
	for (; len > 0; len -= ev.len, ev.off += ev.len) {
		ev.len = MIN(len, PART);
		if (!rf_builder_event(d->b, &ev, error))
			return FALSE;
	}
	return TRUE;
}

gboolean rf_devices_sectors(struct rf_devices *d, uint32_t tid, const char *name, gboolean write,
                            uint64_t sector, uint64_t n, GError **error)
{
	uint64_t off, len;

	if (__builtin_mul_overflow(sector, (uint64_t)SECTOR, &off) ||
	    __builtin_mul_overflow(n, (uint64_t)SECTOR, &len)) {
		rf_set_data(error, "%" G_GUINT64_FORMAT " sectors at sector %" G_GUINT64_FORMAT
		            "; expected an end below 2^63 bytes", n, sector);
		return FALSE;
	}
	return rf_devices_io(d, tid, name, write, off, len, error);
}
