/* SPDX-License-Identifier: MIT
 * off: no memory controller, no memory for it.  Since 3.19 the page descriptor is padded to 64 bytes anyway.
 */
#include "policies/seams.h"

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	(void)opt;
	l->struct_page = l->stride = host->kernel >= RF_KERNEL(3, 19, 0) ? 64 : 56;
	l->none = TRUE;
}

const struct rf_account_ops rf_account_off = {
	.name = "off", .summary = "no memory controller", .layout = layout,
};
