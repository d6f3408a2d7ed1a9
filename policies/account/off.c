/* SPDX-License-Identifier: MIT
 * off: no memory controller, no memory for it.
 */
#include "policies/seams.h"

static uint64_t boot_bytes(const void *opt, const struct rf_host *host, uint64_t npages)
{
	(void)opt, (void)host, (void)npages;
	return 0;
}

const struct rf_account_ops rf_account_off = {
	.name = "off", .summary = "no memory controller", .boot_bytes = boot_bytes,
};
