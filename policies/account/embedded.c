/* SPDX-License-Identifier: MIT
 * embedded: the owner's pointer is a word of the page descriptor (since 3.19), whose 64 bytes hold it.
 */
#include "policies/seams.h"

static uint64_t boot_bytes(const void *opt, const struct rf_host *host, uint64_t npages)
{
	(void)opt, (void)host, (void)npages;
	return 0;
}

const struct rf_account_ops rf_account_embedded = {
	.name = "embedded", .summary = "a word of the page descriptor (since 3.19): nothing beyond it",
	.boot_bytes = boot_bytes,
};
