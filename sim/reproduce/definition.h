/* SPDX-License-Identifier: MIT
 * Between the files of this folder.
 */
#ifndef RF_DEFINITION_H
#define RF_DEFINITION_H

#include "sim/reproduce/experiment.h"

/* Make everything but runs of the sections, which were read. */
gboolean rf_exp_define(struct rf_experiment *e, GError **error);
const struct rf_exp_section *rf_exp_section(const struct rf_experiment *e, const char *kind,
                                            const char *title);
struct rf_exp_run *rf_exp_find_run(const struct rf_experiment *e, const char *name);

#endif
