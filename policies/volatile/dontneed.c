/* SPDX-License-Identifier: MIT
 * dontneed: a range marked volatile is discarded at once, as a program does with MADV_DONTNEED that
 * has nothing better.  It makes no call when it wants the range again: it finds zeros.
 */
#include "policies/seams.h"

static unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                      struct rf_vstep step[RF_VSTEPS])
{
	uint64_t pages = (end - start) >> vol->host->page_shift;

	step[0] = (struct rf_vstep){ RF_VLOCK_MMAP, FALSE, pages * vol->host->cost.zap_page };
	return op == RF_VOP_VOLATILE;
}

static gboolean mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	vol->host->dontneed(vol, root, start, end);
	return TRUE;
}

const struct rf_volatile_ops rf_volatile_dontneed = {
	.name = "dontneed", .summary = "discard a range as soon as it is marked volatile",
	.by_address = TRUE,
	.locks = locks,
	.mark = mark,
};
