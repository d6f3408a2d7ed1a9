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

/* What the ops of these seams begin with. */
struct rf_member {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
};

enum rf_seam { RF_SEAM_PROTECT, RF_SEAM_ACCOUNT, RF_SEAM_VOLATILE, RF_SEAM_FILL, RF_NSEAMS };

/* The i-th member of a seam, a struct rf_protect_ops and so on: the built-in ones, then the loaded ones;
 * NULL after the last. */
const struct rf_member *rf_seam_nth(enum rf_seam seam, unsigned i);
/* Add one that was loaded; who names its plug-in in messages.  Refused when its name is taken or wrong, or
 * a mandatory hook is missing. */
gboolean rf_seam_register(enum rf_seam seam, const void *ops, const char *who, GError **error);

/* Find the members that the configuration names; an empty name is the default. */
gboolean rf_seams_init(struct rf_seams *s, const struct rf_config *cfg, GError **error);
void rf_seams_clear(struct rf_seams *s);

#endif
