/* SPDX-License-Identifier: MIT
 * node-array: an array over all that a node spans, taken at boot: every page pays, charged or not, and
 * so do holes (2.6.28, FLATMEM).
 */
#include "policies/account/layout.h"

static const struct rf_option options[] = {
	RF_ACCOUNT_COMMON("0"), RF_ACCOUNT_PADDED,
	{ .name = "holes", .type = RF_OPT_SIZE, .offset = RF_ACCOUNT_OFF(holes), .def = "0",
	  .help = "addresses that the node spans and has no memory at" }, RF_OPTION_END };

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct rf_account_options *o = opt;

	rf_account_begin(o, host, l);
	l->holes = o->holes;
	if (o->disabled)
		return;
	l->page_bytes = rf_account_bytes(o, host);
	l->shared_lines = 1; /* the node */
}

const struct rf_account_ops rf_account_node_array = {
	.name = "node-array", .summary = "an array for each node at boot (2.6.28), holes included",
	.options = options,
	.options_size = sizeof(struct rf_account_options),
	.layout = layout,
};
