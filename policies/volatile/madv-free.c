/* SPDX-License-Identifier: MIT
 * madv-free: pages of a range marked volatile become lazyfree (MADV_FREE, Linux 4.5): reclaim drops
 * those that nobody stored to since.  Each page is marked by itself, which a walk of the page tables
 * pays for; there is no call when the program wants the range again, and it is not told of what it
 * lost: it finds zeros.
 */
#include "policies/seams.h"

enum { SWAPLESS_AUTO, SWAPLESS_FREE, SWAPLESS_DONTNEED };

struct options { int swapless; };

static const struct rf_option options[] = {
	{ .name = "swapless", .type = RF_OPT_ENUM, .offset = offsetof(struct options, swapless), .def = "auto",
	  .choices = "auto,free,dontneed",
	  .help = "what it does where there is no swap; auto: discards at once before 4.12", .since = "4.5" },
	RF_OPTION_END
};

static gboolean discards(const struct rf_volatile *vol)
{
	int swapless = ((const struct options *)vol->opt)->swapless;

	if (vol->host->swap)
		return FALSE;
	return swapless == SWAPLESS_AUTO ? vol->host->kernel < RF_KERNEL(4, 12, 0) : swapless == SWAPLESS_DONTNEED;
}

static unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                      struct rf_vstep step[RF_VSTEPS])
{
	uint64_t pages = (end - start) >> vol->host->page_shift;

	step[0] = (struct rf_vstep){ RF_VLOCK_MMAP, FALSE, pages * (discards(vol) ? vol->host->cost.zap_page
	                                                                         : vol->host->cost.free_page) };
	return op == RF_VOP_VOLATILE;
}

static gboolean mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	if (discards(vol))
		vol->host->dontneed(vol, root, start, end);
	else
		vol->host->lazyfree(vol, root, start, end);
	return TRUE;
}

const struct rf_volatile_ops rf_volatile_madv_free = {
	.name = "madv-free", .summary = "pages become lazyfree: gone under pressure, unless stored to (4.5)",
	.options = options,
	.options_size = sizeof(struct options),
	.by_address = TRUE,
	.locks = locks,
	.mark = mark,
};
