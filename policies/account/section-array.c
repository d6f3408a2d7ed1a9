/* SPDX-License-Identifier: MIT
 * section-array: an array for each section of 128 MiB that has memory, also when it comes later: every page
 * pays, charged or not; holes do not (2.6.28, SPARSEMEM).
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_COMMON("0"), RF_ACCOUNT_PADDED, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	rf_account_begin(o, host, l);
	if (o->disabled)
		return;
	l->page_bytes = rf_account_bytes(o, host);
	l->shared_lines = 1; /* the section */
}

const struct rf_account_ops rf_account_section_array = {
	.name = "section-array", .summary = "an array for each section of memory (2.6.28)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
