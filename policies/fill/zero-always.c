/* SPDX-License-Identifier: MIT
 * zero-always: as zero, where the kernel has no shared zero page to map for a load (virtual machines
 * that forbid it, s390 guests with storage keys).
 */
#include "policies/fill/fill.h"

static enum rf_first_load load(const void *opt, gboolean pattern)
{
	(void)opt, (void)pattern;
	return RF_LOAD_OWN_PAGE;
}

const struct rf_fill_ops rf_fill_zero_always = {
	.name = "zero-always", .summary = "the kernel zeroes pages at first access, loads included: no zero page",
	.load = load,
	.init = rf_fill_zeroed,
};
