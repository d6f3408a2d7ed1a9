/* SPDX-License-Identifier: MIT
 * zero: fresh memory is zeroed by the kernel on the first store; a load before it maps the zero page.
 * What the kernel does: it has no reference pages, so that mappings of one are anonymous memory like
 * any other, and nobody writes a pattern.
 */
#include "policies/fill/fill.h"

static enum rf_first_load load(const void *opt, gboolean pattern)
{
	(void)opt, (void)pattern;
	return RF_LOAD_ZERO_PAGE;
}

const struct rf_fill_ops rf_fill_zero = {
	.name = "zero", .summary = "the kernel zeroes pages at first store; loads map the zero page",
	.load = load,
	.init = rf_fill_zeroed,
};
