/* SPDX-License-Identifier: MIT
 * What a kind of source must do; source.c dispatches.
 */
#ifndef RF_SOURCE_H
#define RF_SOURCE_H

#include "traces/raw.h"
#include "traces/trace.h"

struct rf_source_ops {
	gboolean (*next)(struct rf_source *s, struct rf_item *item, GError **error);
	void (*close)(struct rf_source *s);
	const struct rf_totals *(*totals)(const struct rf_source *s);
	double (*progress)(const struct rf_source *s);
	/* Only seekable ones; NULL otherwise. */
	const struct rf_totals *(*totals_ahead)(const struct rf_source *s);
	gboolean (*rewind)(struct rf_source *s, GError **error);
	uint32_t (*frames)(const struct rf_source *s);
	gboolean (*frame_runs)(struct rf_source *s, uint32_t frame, struct rf_runs *runs,
	                       GError **error);
	/* May be absent: all runs are given then. */
	void (*select)(struct rf_source *s, rf_wants_page wants, void *user);
	gboolean (*skipped)(const struct rf_source *s, guint i, const char **reason, uint64_t *n);
};

/* First member of every kind of source. */
struct rf_source {
	const struct rf_source_ops *ops;
	char *path;
	const char *format;
	const struct rf_header *header;
	struct rf_tally *tally; /* for rf_source_verify, or NULL */
};

/* A trace that is no scenario was given a parameter. */
void rf_source_no_params(const char *path, const char *format, const char *param, GError **error);

/* An .rft?  n bytes of its head. */
gboolean rf_rft_probe(const uint8_t *head, size_t n);
/* Takes raw over, also on error. */
struct rf_source *rf_source_rft(struct rf_raw *raw, GError **error);

#endif
