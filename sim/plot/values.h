/* SPDX-License-Identifier: MIT
 * Texts of a table as numbers, and what kind of numbers they are.
 */
#ifndef RF_PLOT_VALUES_H
#define RF_PLOT_VALUES_H

#include "sim/plot/table.h"

enum rf_quantity {
	RF_QUANTITY_COUNT,
	RF_QUANTITY_SIZE,    /* bytes */
	RF_QUANTITY_TIME,    /* ns */
	RF_QUANTITY_PERCENT, /* written with a percent sign */
	RF_QUANTITY_WORD,    /* no number: each value is a place of its own */
};

/* One column, or the sum of several: "pgmajfault",
 * "workingset_refault_anon+workingset_refault_file". */
struct rf_values {
	char *name;      /* as given */
	GArray *columns; /* int */
	enum rf_quantity quantity;
};

/* where is the option that named it.  numbers: words are an error, of the data; else any column
 * does. */
gboolean rf_values_init(struct rf_values *v, const struct rf_table *t, const char *where,
                        const char *name, gboolean numbers, GError **error);
void rf_values_clear(struct rf_values *v);
/* The value of a row; of words, 0. */
double rf_values_get(const struct rf_values *v, const struct rf_table *t, guint row);

/* "12", "0.5", "50%", "64M", "10ms"; FALSE when text is none of the quantity. */
gboolean rf_number(const char *text, enum rf_quantity quantity, double *value);

#endif
