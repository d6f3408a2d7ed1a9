/* SPDX-License-Identifier: MIT
 * none: reclaim spares nothing.
 */
#include "policies/seams.h"

static gboolean never(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	(void)opt, (void)host, (void)page, (void)vm;
	return FALSE;
}

const struct rf_protect_ops rf_protect_none = {
	.name = "none", .summary = "spare nothing", .activate = never, .rotate = never,
};
