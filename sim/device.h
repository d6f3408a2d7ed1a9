/* SPDX-License-Identifier: MIT
 * A block device: latency, queue depth and bandwidth.  A request starts when a channel is free, and
 * is done after the latency and after its bytes have had their turn on the wire.
 */
#ifndef RF_DEVICE_H
#define RF_DEVICE_H

#include <glib.h>
#include <stdint.h>

#define RF_DEVICE_MAX_DEPTH 64

struct rf_device {
	uint64_t latency, ns_per_kib;
	unsigned depth;
	uint64_t channel_free[RF_DEVICE_MAX_DEPTH], wire_free;
	uint64_t read_kib, write_kib, requests, busy;
	uint64_t head; /* where the last request that said so ended */
};

/* mbps: MB (10^6 bytes) a second; depth is clamped to 1..RF_DEVICE_MAX_DEPTH. */
void rf_device_init(struct rf_device *d, uint64_t latency, uint64_t mbps, unsigned depth);
/* Submit a request at time now: when it will be done. */
uint64_t rf_device_submit(struct rf_device *d, uint64_t now, uint64_t bytes, gboolean write);
/* The same at a place of a rotating disk, in bytes: who goes on where the last one ended does not seek. */
uint64_t rf_device_submit_at(struct rf_device *d, uint64_t now, uint64_t place, uint64_t bytes,
                             gboolean write);

#endif
