/* SPDX-License-Identifier: MIT
 * Fault curves of a trace for all memory sizes in one pass.  What is simulated is the ideal machine of
 * --frames (sim/frames.h) under lru or belady: the faults at N frames are those of
 * `refault run --frames N', one by one.
 */
#ifndef RF_CURVE_H
#define RF_CURVE_H

#include "sim/curve/hist.h"
#include "sim/future.h"
#include "traces/trace.h"

enum rf_curve_algorithm { RF_CURVE_LRU, RF_CURVE_OPT, RF_CURVE_NALGORITHMS };
/* What has frames of its own: all pages together; each kind of pages; each cgroup. */
enum rf_curve_by { RF_CURVE_BY_NONE, RF_CURVE_BY_KIND, RF_CURVE_BY_CGROUP };

#define RF_CURVE_WHOLE 1000000 /* a sample of everything, in millionths */
#define RF_CURVE_SUBSAMPLES 16

struct rf_curve_options {
	enum rf_curve_algorithm algorithm;
	enum rf_curve_by by;
	unsigned page_shift;
	uint32_t rate;  /* of pages sampled, in millionths; less than all of them only with LRU */
	uint64_t seed;  /* of the sample */
};

/* Pages that share frames. */
struct rf_curve_group {
	const char *name; /* "all", "anon", "file", "exec" or a cgroup's path */
	struct rf_hist hist[RF_CURVE_NCLASSES];
	uint64_t accesses; /* to its pages */
	uint64_t uses;     /* runs of them, and pages of read(2) and write(2) */
	uint64_t pages;    /* first touches */
	/* Of a sample: what each of its sixteen parts has of the uses at a distance. */
	struct rf_hist part[RF_CURVE_SUBSAMPLES];
};

struct rf_curve;

struct rf_curve *rf_curve_new(const struct rf_curve_options *o);
void rf_curve_free(struct rf_curve *c);
/* OPT: to be given before the first item, and told of each item before the curve is. */
void rf_curve_set_future(struct rf_curve *c, const struct rf_future *future);
/* Does the sample have the page of this name (at the granule of the trace)?  For
 * rf_source_select. */
gboolean rf_curve_wants(void *curve, const struct rf_page_name *name);
gboolean rf_curve_item(struct rf_curve *c, const struct rf_item *item, GError **error);

/* After the last item; sampled figures are those of the sample.  Groups in order of their first
 * page. */
guint rf_curve_ngroups(const struct rf_curve *c);
const struct rf_curve_group *rf_curve_group(const struct rf_curve *c, guint nth);

/* A number of a sample of this rate for the whole: uses, and distances. */
static inline uint64_t rf_curve_scale(uint64_t n, uint32_t rate)
{
	return (uint64_t)((unsigned __int128)n * RF_CURVE_WHOLE / rate);
}

/* Only LRU, before the first item: remember each page's distance at its last use.  Pages are those of
 * sim/names.h. */
void rf_curve_keep_last(struct rf_curve *c);
/* 0: it was cold. */
uint32_t rf_curve_last(const struct rf_curve *c, uint32_t page);

#endif
