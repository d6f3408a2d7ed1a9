/* SPDX-License-Identifier: MIT
 * le9: floors for clean file pages and for anonymous pages, from a set of patches of that name.  Below
 * the soft one file pages go only as the last resort; below a hard one, never.
 */
#include "policies/protect/exec.h"

struct le9_options {
	struct rf_exec_options exec; /* first */
	uint64_t clean_low, clean_min, anon_min;
};

#define FLOOR(member, value, text) \
	{ .name = #member, .type = RF_OPT_SIZE, .offset = offsetof(struct le9_options, member), .def = value, .help = text }

static const struct rf_option options[] = {
	FLOOR(clean_low, "256M", "below so many clean file pages, anonymous pages go first if there is swap"),
	FLOOR(clean_min, "0", "so many clean file pages stay in any case"),
	FLOOR(anon_min, "0", "so many anonymous pages stay in any case"),
	RF_EXEC_OPTION,
	RF_OPTION_END
};

static gboolean spare_list(const void *opt, const struct rf_protect_sizes *sizes, gboolean anon, int prio)
{
	const struct le9_options *o = opt;

	if (anon)
		return sizes->anon < o->anon_min;
	return sizes->clean_file < o->clean_min || (sizes->clean_file < o->clean_low && sizes->swap && prio);
}

const struct rf_protect_ops rf_protect_le9 = {
	.name = "le9",
	.summary = "soft and hard floors for clean file pages, one for anonymous pages (le9)",
	.options = options,
	.options_size = sizeof(struct le9_options),
	.activate = rf_exec_activate,
	.rotate = rf_exec_rotate,
	.spare_list = spare_list,
};
