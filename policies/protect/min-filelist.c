/* SPDX-License-Identifier: MIT
 * min-filelist: ChromeOS's min_filelist_kbytes (2010).  File pages are left alone while there are
 * few of them, so that programs without swap run into the OOM killer instead of thrashing.
 */
#include "policies/protect/exec.h"

struct min_filelist_options {
	struct rf_exec_options exec; /* first */
	int64_t kbytes;
};

static const struct rf_option options[] = {
	{ .name = "kbytes", .type = RF_OPT_INT, .offset = offsetof(struct min_filelist_options, kbytes),
	  .unit = "KiB", .def = "50000", .min = 0, .max = INT64_C(1) << 40,
	  .help = "file pages that stay, in all" },
	RF_EXEC_OPTION,
	RF_OPTION_END
};

static gboolean spare_list(const void *opt, const struct rf_protect_sizes *sizes, gboolean anon, int prio)
{
	const struct min_filelist_options *o = opt;

	(void)prio;
	return !anon && sizes->file < (uint64_t)o->kbytes << 10;
}

const struct rf_protect_ops rf_protect_min_filelist = {
	.name = "min-filelist",
	.summary = "file pages are not reclaimed while they are few (ChromeOS)",
	.options = options,
	.options_size = sizeof(struct min_filelist_options),
	.activate = rf_exec_activate,
	.rotate = rf_exec_rotate,
	.spare_list = spare_list,
};
