/* SPDX-License-Identifier: MIT
 * fill-on-fault: what reviewers of reference pages asked for instead: no shared page, any first access
 * to allocator memory gets a fresh page that the kernel filled with the pattern.
 */
#include "policies/fill/fill.h"

static const struct rf_option options[] = { RF_FILL_OPTIONS, RF_OPTION_END };

static enum rf_first_load load(const void *opt, gboolean pattern)
{
	(void)opt;
	return pattern ? RF_LOAD_OWN_PAGE : RF_LOAD_ZERO_PAGE;
}

const struct rf_fill_ops rf_fill_fill_on_fault = {
	.name = "fill-on-fault", .summary = "first access to allocator memory gets a page filled with the pattern",
	.options = options,
	.options_size = sizeof(struct rf_fill_options),
	.load = load,
	.init = rf_fill_patterned,
};
