/* SPDX-License-Identifier: MIT
 * pointer: a word of every page descriptor points to an object that is allocated when the page is
 * charged (2.6.25 to 2.6.27).  The word is there with the controller disabled, too.
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = { RF_ACCOUNT_COMMON("40"), RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	rf_account_begin(o, host, l);
	l->page_bytes = rf_account_words(o, 8);
	l->stride += l->page_bytes;
	if (o->disabled)
		return;
	l->charged_bytes = rf_account_bytes(o, host);
	l->object = TRUE;
}

const struct rf_account_ops rf_account_pointer = {
	.name = "pointer", .summary = "a pointer in the page descriptor, an object for each charged page (2.6.25)",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
