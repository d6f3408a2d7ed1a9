/* SPDX-License-Identifier: MIT
 * What is printed of curves.
 */
#ifndef RF_CURVE_REPORT_H
#define RF_CURVE_REPORT_H

#include "sim/curve/curve.h"
#include "traces/trace.h"

#define RF_CURVE_SCHEMA 1

/* The curves of one trace. */
struct rf_curve_report {
	const char *path, *format; /* of the trace */
	const char *command;       /* what gives the report again, lines with a label; or NULL */
	const struct rf_totals *totals;
	unsigned page_shift;
	uint32_t rate;
	gboolean forced; /* the trace lacks accesses */
	const struct rf_curve *curve[RF_CURVE_NALGORITHMS]; /* by algorithm; NULL: not asked for */
	const GArray *frames; /* uint32_t, ascending: the sizes to report; NULL: all that differ */
};

extern const char *const rf_curve_algorithm_names[RF_CURVE_NALGORITHMS]; /* "lru", "opt" */

void rf_curve_report_normal(GString *out, const struct rf_curve_report *r);
void rf_curve_report_csv(GString *out, const struct rf_curve_report *r, gboolean heading);
/* An object. */
void rf_curve_report_json(GString *out, const struct rf_curve_report *r);

/* ---- for the three of them: the points of one curve ---- */

struct rf_curve_point {
	uint64_t frames;
	uint64_t faults, of[RF_CURVE_NCLASSES];
	uint64_t error; /* standard error of faults; 0 where everything was counted */
};
/* Figures for the whole trace, whatever the sample.  With r->frames those, else where the faults
 * change; most: no more than so many, evenly spaced by their logarithm (0: no limit).  Caller frees. */
GArray *rf_curve_points(const struct rf_curve_report *r, const struct rf_curve_group *g, guint most);

#endif
