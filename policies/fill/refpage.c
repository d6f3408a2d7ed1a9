/* SPDX-License-Identifier: MIT
 * refpage: reference pages, as proposed for Linux in 2020 and 2021 (refpage_create).  A load from
 * allocator memory maps one shared page that holds the pattern, read-only and through a special entry:
 * not in RSS, on no list, never reclaimed.  A store gets a fresh page that is filled, not zeroed.  Where
 * the kernel must not share pages of zeros, it does not share these either.
 */
#include "policies/fill/fill.h"

struct options {
	struct rf_fill_options fill;
	gboolean zero_page;
};

static const struct rf_option options[] = {
	RF_FILL_OPTIONS,
	{ .name = "zero_page", .type = RF_OPT_BOOL, .offset = offsetof(struct options, zero_page), .def = "yes",
	  .help = "may loads map shared pages?  no: as where the zero page is forbidden (zero-always)" },
	RF_OPTION_END
};

static enum rf_first_load load(const void *opt, gboolean pattern)
{
	if (!((const struct options *)opt)->zero_page)
		return RF_LOAD_OWN_PAGE;
	return pattern ? RF_LOAD_REFERENCE_PAGE : RF_LOAD_ZERO_PAGE;
}

const struct rf_fill_ops rf_fill_refpage = {
	.name = "refpage", .summary = "loads from allocator memory map a shared page with the pattern; stores copy it",
	.options = options,
	.options_size = sizeof(struct options),
	.load = load,
	.init = rf_fill_patterned,
};
