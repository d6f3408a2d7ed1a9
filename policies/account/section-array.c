/* SPDX-License-Identifier: MIT
 * section-array: an array for each section of 128 MiB that has memory, also when it comes later: every page
 * pays, charged or not; holes do not (2.6.28, SPARSEMEM).
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_BITS, RF_ACCOUNT_BYTES("40"), RF_ACCOUNT_DISABLED, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	(void)host;
	l->struct_page = rf_account_bare(o);
	l->page_bytes = o->disabled ? 0 : rf_account_words(o, (uint64_t)o->bytes);
}

const struct rf_account_ops rf_account_section_array = {
	.name = "section-array", .summary = "an array for each section of memory (2.6.28)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
