/* SPDX-License-Identifier: MIT
 * Comparisons: the same runs, done in two or more ways.
 *
 * A side is a way: a document of results, or an option set.  A row is what was done in each way: a trace,
 * and those options that vary within the sides (limits of a sweep).  Runs of a row that differ in nothing
 * but the seed are repetitions of one another.
 */
#ifndef RF_COMPARE_H
#define RF_COMPARE_H

#include "sim/saved.h"

struct rf_side {
	char *label;        /* at most RF_SIDE_LABEL columns, heads a column */
	char *what;         /* a file, or options as given */
	GPtrArray *results; /* struct rf_saved *, owned */
};
#define RF_SIDE_LABEL 12

struct rf_row {
	char *label;
	GPtrArray **of; /* by side: struct rf_saved *, by seed; not owned, never empty, equally long */
};

struct rf_compare {
	GPtrArray *sides;   /* struct rf_side *, the baseline first */
	GPtrArray *rows;    /* struct rf_row *, in the baseline's order */
	guint seeds;        /* repetitions of each row */
	GPtrArray *differ;  /* const char *: options that are one thing on each side, but not the same */
};

struct rf_compare *rf_compare_new(void);
void rf_compare_free(struct rf_compare *c);
/* Takes the results over. */
void rf_compare_add(struct rf_compare *c, const char *label, const char *what, GPtrArray *results);
/* After the last side: pair what belongs together.  What has no counterpart is an error, as is the same
 * run twice. */
gboolean rf_compare_pair(struct rf_compare *c, GError **error);

/* ---- figures ---- */

struct rf_figure {
	guint n;           /* repetitions */
	uint64_t sum, min, max;
	double mean, half; /* half the width of the mean's 95% interval; 0 when n is 1, or all are equal */
};
struct rf_figure rf_compare_figure(const struct rf_row *row, guint side, const struct rf_metric *m);

/* How the second is against the first. */
enum rf_change_kind { RF_CHANGE_NONE /* 0, 0 */, RF_CHANGE_NEW /* 0, n */, RF_CHANGE_PERCENT };
struct rf_change {
	enum rf_change_kind kind;
	double percent; /* more than the first */
	double gain;    /* the same where more is better, the opposite where less is */
	gboolean sure;  /* the means lie further apart than both half-widths */
};
struct rf_change rf_compare_change(const struct rf_figure *a, const struct rf_figure *b,
                                   const struct rf_metric *m);

/* Over all rows with something on both sides. */
struct rf_overall {
	guint n, left_out;
	double percent, gain; /* of the geometric mean of the ratios */
	double p;             /* two-sided, of the exact Wilcoxon signed-rank test of the ratios' sizes */
};
struct rf_overall rf_compare_overall(const struct rf_compare *c, guint side, const struct rf_metric *m);
/* The test alone: n pairs; those that are equal don't count, ties share their ranks.  Ratios are compared
 * exactly. */
double rf_signed_rank(const uint64_t *a, const uint64_t *b, guint n);

/* ---- reports ---- */

/* metrics: const struct rf_metric *.  command: words, quoted where needed, that give the report again.
 * mail: ASCII, at most 72 columns, no blank at a line's end. */
void rf_compare_text(GString *out, const struct rf_compare *c, const GPtrArray *metrics,
                     const GPtrArray *command, gboolean mail);
void rf_compare_kswapd(GString *out, const struct rf_compare *c, guint side);
void rf_compare_csv(GString *out, const struct rf_compare *c, const GPtrArray *metrics);
void rf_compare_json(GString *out, const struct rf_compare *c, const GPtrArray *metrics);

/* The two cells of a side: the value ranged right in 12 columns, "(  gain%)", a blank: 24. */
void rf_compare_cells(GString *out, const char *value, const struct rf_change *change, char better);
#define RF_COMPARE_LABEL 24

/* ---- gates ---- */

struct rf_gate; /* one condition of --fail-if */

/* "METRIC>+2%", "METRIC<-2%": the change on a row, in percent; "METRIC>+5": in the metric's unit;
 * "METRIC>5": the value; "geomean(METRIC)>+2%": of all rows.  NULL on error. */
struct rf_gate *rf_gate_new(const char *text, GError **error);
void rf_gate_free(struct rf_gate *g);
/* Append a line a row (or side) that fails it; how many. */
guint rf_gate_check(const struct rf_gate *g, const struct rf_compare *c, GString *out);

#endif
