/* SPDX-License-Identifier: MIT
 * hash: chunks of 128 MiB in a hash of 16 KiB, 20 bytes each, with an array of their pages
 * (September 2008).
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_BITS, RF_ACCOUNT_BYTES("40"), RF_ACCOUNT_DISABLED, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	(void)host;
	l->struct_page = rf_account_bare(o);
	l->page_bytes = o->disabled ? 0 : rf_account_words(o, (uint64_t)o->bytes);
	l->fixed_bytes = o->disabled ? 0 : 16384;
	l->unit_bytes = o->disabled ? 0 : 20;
	l->unit_shift = 27;
}

const struct rf_account_ops rf_account_hash = {
	.name = "hash", .summary = "a hash of 128 MiB chunks, each with an array (posted in 2008)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
