/* SPDX-License-Identifier: MIT
 * min-ttl: no page leaves before it was out of use for so long; when all that could go are younger than
 * that, a task is killed.  mglru's knob of that name asks this of generations; here it is of pages, with any
 * reclaim policy.
 */
#include "policies/protect/exec.h"

struct min_ttl_options {
	struct rf_exec_options exec; /* first */
	int64_t min_ttl_ms;
};

static const struct rf_option options[] = {
	{ .name = "min_ttl_ms", .type = RF_OPT_INT, .offset = offsetof(struct min_ttl_options, min_ttl_ms),
	  .unit = "ms", .def = "1000", .min = 0, .max = INT32_MAX,
	  .help = "a page that came or was last found used so long ago may go", .since = "6.1" },
	RF_EXEC_OPTION,
	RF_OPTION_END
};

static gboolean spare_page(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	const struct min_ttl_options *o = opt;
	uint32_t now = (uint32_t)(host->now / 1000000); /* as seen, it may wrap */

	(void)vm;
	return now - host->seen[page] < o->min_ttl_ms;
}

const struct rf_protect_ops rf_protect_min_ttl = {
	.name = "min-ttl",
	.summary = "pages in use within min_ttl_ms stay, or a task is killed (mglru's knob)",
	.options = options,
	.options_size = sizeof(struct min_ttl_options),
	.seen = TRUE,
	.activate = rf_exec_activate,
	.rotate = rf_exec_rotate,
	.spare_page = spare_page,
};
