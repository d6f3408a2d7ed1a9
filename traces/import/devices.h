/* SPDX-License-Identifier: MIT
 * Devices and files of recorded I/O, by name: for formats of requests.  Each name is a file of its
 * own in the trace, so that equal offsets on two devices are two places.
 */
#ifndef RF_DEVICES_H
#define RF_DEVICES_H

#include "traces/import/import.h"

struct rf_devices;

struct rf_devices *rf_devices_new(struct rf_builder *b);
void rf_devices_free(struct rf_devices *d);

/* The number of the file with this name, declared on first mention with a size that no request can
 * exceed: that of a device is not known.  FALSE when there is an error. */
gboolean rf_devices_number(struct rf_devices *d, const char *name, uint32_t *id, GError **error);
/* A request, as read(2) or write(2).  One of no bytes is counted as skipped; one that ends beyond
 * 2^63 bytes is an error. */
gboolean rf_devices_io(struct rf_devices *d, uint32_t tid, const char *name, gboolean write,
                       uint64_t off, uint64_t len, GError **error);
/* The same in sectors of 512 bytes. */
gboolean rf_devices_sectors(struct rf_devices *d, uint32_t tid, const char *name, gboolean write,
                            uint64_t sector, uint64_t n, GError **error);

#endif
