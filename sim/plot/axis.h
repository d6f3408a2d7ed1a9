/* SPDX-License-Identifier: MIT
 * An axis: which values it has to show, in which unit, linear or logarithmic, and its label.
 */
#ifndef RF_PLOT_AXIS_H
#define RF_PLOT_AXIS_H

#include "sim/plot/values.h"

struct rf_axis {
	const char *name; /* of the column; not owned */
	enum rf_quantity quantity;
	double min, max,
		least; /* least: the smallest above zero, or 0; of values before the unit */
	gboolean log;
	/* Chosen by rf_axis_choose: what one unit is, and its name ("MiB", "thousands", "" for
	 * none). */
	double unit;
	const char *unit_name;
	GPtrArray *words; /* of WORD: what stands at 0, 1, … */
};

void rf_axis_init(struct rf_axis *a, const char *name, enum rf_quantity quantity);
void rf_axis_clear(struct rf_axis *a);
void rf_axis_add(struct rf_axis *a, double value);
/* The place of a word, which is the next one when it is new. */
double rf_axis_word(struct rf_axis *a, const char *word);
/* log: 1 yes, 0 no, -1 when the values span so much that a linear axis would hide the small ones.
 */
void rf_axis_choose(struct rf_axis *a, int log);
/* "memory limit (MiB)".  Caller frees. */
char *rf_axis_label(const struct rf_axis *a);
/* A value in the axis's unit, for the data file. */
double rf_axis_scaled(const struct rf_axis *a, double value);
/* A value as one would write it into a cell: at most five characters.  Caller frees. */
char *rf_axis_short(const struct rf_axis *a, double value);

#endif
