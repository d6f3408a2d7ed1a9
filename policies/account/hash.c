/* SPDX-License-Identifier: MIT
 * hash: chunks of 128 MiB in a hash of 16 KiB, 20 bytes each, with an array of their pages
 * (September 2008).
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_COMMON("40"), RF_ACCOUNT_PADDED, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	rf_account_begin(o, host, l);
	if (o->disabled)
		return;
	l->page_bytes = rf_account_bytes(o, host);
	l->fixed_bytes = 16384;
	l->unit_bytes = 20;
	l->unit_shift = 27;
	l->shared_lines = 2; /* the bucket and its chunk */
}

const struct rf_account_ops rf_account_hash = {
	.name = "hash", .summary = "a hash of 128 MiB chunks, each with an array (posted in 2008)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
