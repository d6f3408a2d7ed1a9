/* SPDX-License-Identifier: MIT
 * What a kind of sink must do; sink.c dispatches.
 */
#ifndef RF_SINK_H
#define RF_SINK_H

#include "base/file.h"
#include "traces/trace.h"

struct rf_sink_ops {
	gboolean (*put)(struct rf_sink *s, const struct rf_item *item, GError **error);
	gboolean (*finish)(struct rf_sink *s, GError **error); /* all was put: write what is left */
	void (*close)(struct rf_sink *s);
};

/* First member of every kind of sink. */
struct rf_sink {
	const struct rf_sink_ops *ops;
	struct rf_outfile out;
	FILE *f;        /* out's, or a spool file without a name, which the sink closes */
	uint32_t named; /* ids told of */
	const struct rf_source *copied; /* see rf_sink_copies; or NULL */
};

/* A .rft into a temporary file, which is closed with the sink. */
struct rf_sink *rf_sink_rft_spool(FILE *f, const struct rf_header *h, int level, GError **error);

/* Write, or set the error. */
gboolean rf_sink_write(struct rf_sink *s, const void *data, size_t n, GError **error);

#endif
