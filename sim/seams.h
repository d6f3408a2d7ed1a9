/* SPDX-License-Identifier: MIT
 * The members of the four seams that a run uses, with their options.
 */
#ifndef RF_SIM_SEAMS_H
#define RF_SIM_SEAMS_H

#include "policies/seams.h"
#include "sim/config.h"

struct rf_seams {
	const struct rf_protect_ops *protect;
	const struct rf_account_ops *account;
	const struct rf_volatile_ops *volatile_;
	const struct rf_fill_ops *fill;
	void *protect_opt, *account_opt, *volatile_opt, *fill_opt;
};

/* Find the members that the configuration names; an empty name is the default. */
gboolean rf_seams_init(struct rf_seams *s, const struct rf_config *cfg, GError **error);
void rf_seams_clear(struct rf_seams *s);

#endif
