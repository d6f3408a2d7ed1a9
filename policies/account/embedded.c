/* SPDX-License-Identifier: MIT
 * embedded: the owner's pointer is a word of the page descriptor (since 3.19), whose 64 bytes hold it.
 */
#include "policies/seams.h"

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	(void)opt, (void)host;
	l->struct_page = l->stride = 64;
}

const struct rf_account_ops rf_account_embedded = {
	.name = "embedded", .summary = "a word of the page descriptor (since 3.19): nothing beyond it",
	.layout = layout,
};
