/* SPDX-License-Identifier: MIT
 * Figures of an experiment as text, the same in every report for people.  The caller frees them.
 */
#ifndef RF_FIGURES_H
#define RF_FIGURES_H

#include "sim/reproduce/experiment.h"

/* What the model gave: with as many decimals as the posted figure, or four digits without one. */
char *rf_exp_value_text(const struct rf_exp_row *row);
/* "lowest to highest" among several seeds. */
char *rf_exp_spread_text(const struct rf_exp_row *row);
/* "+1.50 %" of the posted figure; "" without one. */
char *rf_exp_error_text(const struct rf_exp_row *row);
/* What is allowed: "20 %", "exact", "cal", or "" when nothing is claimed. */
char *rf_exp_rule_text(const struct rf_exp_row *row);

#endif
