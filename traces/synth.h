/* SPDX-License-Identifier: MIT
 * Synthetic workloads as a source.  The same specification gives the same trace on any host.
 *
 * A specification is "KIND" or "KIND,option=value,…".  A file that begins with
 * "!refault-synth 1 SPECIFICATION" is a trace like any other.
 */
#ifndef RF_SYNTH_H
#define RF_SYNTH_H

#include "base/option.h"
#include "base/rng.h"
#include "traces/import/import.h"

#define RF_SYNTH_MAGIC "!refault-synth"

enum rf_synth_backing { RF_SYNTH_ANON, RF_SYNTH_FILE, RF_SYNTH_READ };

/* Options that every kind has; the first member of its block. */
struct rf_synth_common {
	int64_t accesses; /* 0: the kind's own choice */
	int64_t pages;
	int64_t write; /* percent */
	int64_t seed;
	int backing; /* enum rf_synth_backing */
};

struct rf_synth {
	const struct rf_synth_kind *kind;
	void *opt;         /* option block, struct rf_synth_common first */
	void *priv;        /* priv_size bytes, zeroed */
	struct rf_rng rng; /* for pages; writes have one of their own */
	uint64_t done;     /* accesses generated */
	uint64_t accesses; /* in all; init may set it where the user did not */
	uint32_t pages;    /* in all; init may raise it */
	uint32_t backed;   /* pages from here on are of the file: init lowers it where backing isn't
	                      all */
	const char *mark;  /* set by fill: a milestone before the pages that it gives */
};

struct rf_synth_kind {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size, priv_size;
	/* Check the options together, set what s says that it may. */
	gboolean (*init)(struct rf_synth *s, GError **error);
	gboolean (*start)(struct rf_synth *s, GError **error); /* optional: make tables */
	/* The next pages, at least one, at most n. */
	uint32_t (*fill)(struct rf_synth *s, uint32_t *page, uint32_t n);
	void (*clear)(struct rf_synth *s); /* optional */
};

extern const struct rf_synth_kind *const rf_synth_kinds[]; /* NULL-terminated; synth-kinds.c */

/* RF_USAGE_ERROR for a specification that is none. */
struct rf_source *rf_synth_open(const char *spec, GError **error);

extern const struct rf_importer rf_synth_importer;

#endif
