/* SPDX-License-Identifier: MIT
 * mm-tree: vrange(2) as proposed for Linux in 2013 (8th and 9th posting): a tree of ranges for each
 * address space and each shared file, no mappings touched, mmap_sem only taken for reading.
 */
#include "policies/volatile/tree.h"

static const struct rf_option options[] = {
	RF_TREE_PURGE_OPTION, RF_TREE_TOUCH_OPTION("sigbus"), RF_TREE_BYTES_OPTION("80"), RF_OPTION_END
};

static void init(struct rf_volatile *vol)
{
	rf_tree_init(vol);
	((struct rf_ranges *)vol->priv)->requeue = TRUE;
}

static unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                      struct rf_vstep step[RF_VSTEPS])
{
	uint64_t zap = op == RF_VOP_PURGE ? ((end - start) >> vol->host->page_shift) * vol->host->cost.zap_page : 0;

	step[0] = (struct rf_vstep){ RF_VLOCK_MMAP, FALSE, zap };
	step[1] = (struct rf_vstep){ RF_VLOCK_RANGES, TRUE, vol->host->cost.range };
	return 2;
}

static uint64_t shrink(struct rf_volatile *vol, uint64_t wanted)
{
	return rf_tree_shrink(vol, wanted, FALSE);
}

const struct rf_volatile_ops rf_volatile_mm_tree = {
	.name = "mm-tree", .summary = "a tree of ranges for each address space, purged oldest first (vrange, 2013)",
	.options = options,
	.options_size = sizeof(struct rf_tree_options),
	.reclaim_discards = TRUE,
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
