/* SPDX-License-Identifier: MIT
 * The rows of a table as series of points: x against a value, a series for each value of other
 * columns, each point the mean of the rows that differ only in what was meant to vary (seeds,
 * traces).
 */
#ifndef RF_PLOT_CHART_H
#define RF_PLOT_CHART_H

#include "sim/plot/axis.h"

enum rf_spread { RF_SPREAD_RANGE, RF_SPREAD_SD };

struct rf_chart_options {
	const char *metric; /* a column or a sum of columns */
	const char *x;      /* a column */
	const char *by;     /* columns, separated by commas: a series for each of their values */
	const char
		*over; /* columns, separated by commas: rows that differ only there are averaged */
	enum rf_spread spread;
	gboolean words;   /* every value of x is a place of its own, also when they are numbers */
	int log_x, log_y; /* as rf_axis_choose has it */
};

struct rf_point {
	double x, mean, low, high; /* low, high: the spread */
	guint n;                   /* rows */
};

struct rf_series {
	char *name;
	GArray *points; /* struct rf_point, by x */
};

struct rf_chart {
	struct rf_axis x, y;
	GPtrArray *series; /* struct rf_series *, in order of first appearance; never empty */
	guint most;        /* rows in a point, at most */
};

/* Errors: an unknown column, a value that is no number, rows that cannot be told apart by x, by and
 * over (the message says what else they differ in).  c need not be initialised. */
gboolean rf_chart_init(struct rf_chart *c, const struct rf_table *t,
                       const struct rf_chart_options *o, GError **error);
void rf_chart_clear(struct rf_chart *c);

/* The column of memory that the rows differ in: of --limit, --ram or --frames. */
const char *rf_chart_memory(const struct rf_table *t);
/* Do the rows differ in a column?  Not, when there is none. */
gboolean rf_chart_differs(const struct rf_table *t, const char *name);
/* "range" or "sd". */
gboolean rf_spread_parse(const char *text, enum rf_spread *spread, GError **error);
/* What a figure of these rows is of: "sqlite3.rft: x86-64-nvme, 4 KiB pages, swap zram".  What
 * differs between the rows is left out.  Caller frees. */
char *rf_chart_title(const struct rf_table *t);

#endif
