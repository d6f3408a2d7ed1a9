/* SPDX-License-Identifier: MIT
 * radix: objects are found through a radix tree, as posted in August 2008: nothing for a page that is
 * not charged, an object and its share of a node of 64 for one that is.  Charged pages lie close together.
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_COMMON("40"), RF_ACCOUNT_PADDED, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;
	uint64_t pages = host->total_frames;

	rf_account_begin(o, host, l);
	if (o->disabled)
		return;
	l->charged_bytes = rf_account_bytes(o, host);
	l->node_bytes = rf_account_words(o, 576);
	l->object = TRUE;
	l->lines_64 += RF_CACHE_LINE; /* its slot in the lowest node */
	for (; pages > 64; pages = (pages + 63) / 64)
		l->shared_lines++; /* the nodes above that */
}

const struct rf_account_ops rf_account_radix = {
	.name = "radix", .summary = "a radix tree by page number, an object for each charged page (posted in 2008)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
