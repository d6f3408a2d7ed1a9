/* SPDX-License-Identifier: MIT
 * Formulas of experiments: what a table says, as arithmetic over inputs and the metrics of runs.
 *
 *	(off.pgmajfault - off.pgmajfault@warm) / rounds
 *
 * Numbers are real, with K M G T (binary) or ns us ms s behind them if wanted; a name is an input, or
 * RUN.METRIC, or RUN.METRIC@MARK.  Operators are C's; functions are min max abs round floor pow and
 * if(CONDITION, THEN, ELSE).
 */
#ifndef RF_FORMULA_H
#define RF_FORMULA_H

#include <glib.h>

/* The value of a name.  FALSE and an error without position when there is none. */
typedef gboolean (*rf_formula_name)(void *data, const char *name, double *value, GError **error);

/* The whole text must be a formula.  The message of an error has no position. */
gboolean rf_formula_value(const char *text, rf_formula_name name, void *data, double *value,
                          GError **error);
/* Put values in: "$NAME" and "$(FORMULA)" become numbers, "$$" a dollar.  Caller frees; NULL on error. */
char *rf_formula_expand(const char *text, rf_formula_name name, void *data, GError **error);
/* A whole number as such, any other with the digits that it needs.  Caller frees. */
char *rf_formula_number(double value);

#endif
