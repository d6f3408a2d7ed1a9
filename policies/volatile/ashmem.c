/* SPDX-License-Identifier: MIT
 * ashmem: Android's pin and unpin.  Memory is pinned unless said otherwise; ranges that were unpinned
 * stand on one list, and the shrinker punches whole ones out, the one unpinned longest ago first.  Its
 * budget is one of pages, but it counts ranges.  Who touches what was lost finds zeros.  Reclaim that
 * comes across a page of such a range does nothing special about it.
 */
#include "policies/volatile/tree.h"

static const struct rf_option options[] = { RF_TREE_TOUCH_OPTION("zero"), RF_TREE_BYTES_OPTION("64"),
	                                    RF_OPTION_END };

static void init(struct rf_volatile *vol)
{
	rf_tree_init(vol);
	((struct rf_ranges *)vol->priv)->purged_leave = TRUE;
}

static unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                      struct rf_vstep step[RF_VSTEPS])
{
	uint64_t zap = op == RF_VOP_PURGE ? ((end - start) >> vol->host->page_shift) * vol->host->cost.zap_page : 0;

	step[0] = (struct rf_vstep){ RF_VLOCK_GLOBAL, TRUE, vol->host->cost.range + zap };
	return 1;
}

static uint64_t shrink(struct rf_volatile *vol, uint64_t wanted)
{
	return rf_tree_shrink(vol, wanted, TRUE);
}

const struct rf_volatile_ops rf_volatile_ashmem = {
	.name = "ashmem", .summary = "unpinned ranges on one list, punched out whole, oldest first (Android)",
	.options = options,
	.options_size = sizeof(struct rf_tree_options),
	.state_size = sizeof(struct rf_ranges),
	.init = init,
	.exit = rf_tree_exit,
	.locks = locks,
	.mark = rf_tree_mark,
	.unmark = rf_tree_unmark,
	.forget = rf_tree_forget,
	.fork = rf_tree_fork,
	.covers = rf_tree_covers,
	.met = rf_tree_met,
	.shrink = shrink,
	.touch = rf_tree_touch,
	.ranges = rf_tree_ranges,
	.bytes = rf_tree_bytes,
	.purged = rf_tree_purged,
};
