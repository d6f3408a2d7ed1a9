/* SPDX-License-Identifier: MIT
 * radix: objects are found through a radix tree, as posted in August 2008: nothing for a page that is
 * not charged, an object and its share of a node of 64 for one that is.  Charged pages lie close together.
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_BITS, RF_ACCOUNT_BYTES("40"), RF_ACCOUNT_DISABLED, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	(void)host;
	l->struct_page = rf_account_bare(o);
	l->charged_bytes = o->disabled ? 0 : rf_account_words(o, (uint64_t)o->bytes);
	l->node_bytes = o->disabled ? 0 : rf_account_words(o, 576);
}

const struct rf_account_ops rf_account_radix = {
	.name = "radix", .summary = "a radix tree by page number, an object for each charged page (posted in 2008)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
