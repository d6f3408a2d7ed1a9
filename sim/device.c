/* SPDX-License-Identifier: MIT */
#include "sim/device.h"
#include <string.h>

void rf_device_init(struct rf_device *d, uint64_t latency, uint64_t mbps, unsigned depth)
{
	memset(d, 0, sizeof *d);
	d->latency = latency;
	d->ns_per_kib = mbps ? 1024 * 1000 / mbps : 0;
	d->depth = CLAMP(depth, 1, RF_DEVICE_MAX_DEPTH);
}

uint64_t rf_device_submit(struct rf_device *d, uint64_t now, uint64_t bytes, gboolean write)
{
	unsigned i, channel = 0;
	uint64_t start, done;

	for (i = 1; i < d->depth; i++)
		if (d->channel_free[i] < d->channel_free[channel])
			channel = i;
	start = MAX(now, d->channel_free[channel]);
	d->wire_free = MAX(start, d->wire_free) + d->ns_per_kib * (bytes / 1024);
	done = MAX(start + d->latency, d->wire_free);
	d->busy += done - start;
	d->channel_free[channel] = done;
	d->requests++;
	if (write)
		d->write_kib += bytes / 1024;
	else
		d->read_kib += bytes / 1024;
	return done;
}

uint64_t rf_device_submit_at(struct rf_device *d, uint64_t now, uint64_t place, uint64_t bytes,
                             gboolean write)
{
	uint64_t latency = d->latency, done;

	if (d->requests && place == d->head)
		d->latency = 0;
	done = rf_device_submit(d, now, bytes, write);
	d->latency = latency;
	d->head = place + bytes;
	return done;
}
