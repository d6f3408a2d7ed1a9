/* SPDX-License-Identifier: MIT
 * vma: volatility is a flag of mappings, as in the first postings for Linux (mvolatile, 2012): a range
 * that is marked splits its mapping, under mmap_sem held for writing, and there can be only so many
 * mappings.  There is no list of ranges: reclaim finds them by coming across their pages.
 */
#include "policies/volatile/tree.h"

struct options {
	int purge, on_purged_touch;
	int64_t max_map_count;
};

#undef RF_TREE_OFF
#define RF_TREE_OFF(member) offsetof(struct options, member)

static const struct rf_option options[] = {
	RF_TREE_PURGE_OPTION,
	RF_TREE_TOUCH_OPTION("sigbus"),
	{ .name = "max_map_count", .type = RF_OPT_INT, .offset = RF_TREE_OFF(max_map_count), .unit = "mappings",
	  .def = "65530", .min = 1, .max = INT32_MAX, .help = "mappings that an address space can have" },
	RF_OPTION_END
};

struct state { uint64_t purged; };

static const struct options *opt(const struct rf_volatile *vol)
{
	return vol->opt;
}

static unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                      struct rf_vstep step[RF_VSTEPS])
{
	uint64_t pages = (end - start) >> vol->host->page_shift;

	step[0] = op == RF_VOP_PURGE
		? (struct rf_vstep){ RF_VLOCK_MMAP, FALSE, pages * vol->host->cost.zap_page }
		: (struct rf_vstep){ RF_VLOCK_MMAP, TRUE, vol->host->cost.mapping };
	return 1;
}

/* The host hands over pieces of one mapping. */
static gboolean mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	uint64_t from, to;

	if (vol->host->mapping(vol, root, start, &from, &to) != RF_VMAPPING_PLAIN)
		return TRUE;
	return vol->host->set_mapping(vol, root, start, end, RF_VMAPPING_VOLATILE, (uint32_t)opt(vol)->max_map_count);
}

static gboolean unmark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end, gboolean *lost)
{
	uint64_t from, to;
	enum rf_vmapping was = vol->host->mapping(vol, root, start, &from, &to);

	*lost = was == RF_VMAPPING_PURGED;
	return was == RF_VMAPPING_PLAIN ||
	       vol->host->set_mapping(vol, root, start, end, RF_VMAPPING_PLAIN, (uint32_t)opt(vol)->max_map_count);
}

static gboolean covers(struct rf_volatile *vol, uint64_t root, uint64_t addr)
{
	uint64_t from, to;

	return vol->host->mapping(vol, root, addr, &from, &to) != RF_VMAPPING_PLAIN;
}

static void met(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *start, uint64_t *end)
{
	uint64_t from, to;

	if (vol->host->mapping(vol, root, addr, &from, &to) == RF_VMAPPING_VOLATILE) {
		((struct state *)vol->priv)->purged++;
		vol->host->set_mapping(vol, root, from, to, RF_VMAPPING_PURGED, UINT32_MAX);
	}
	if (opt(vol)->purge == RF_PURGE_PARTIAL)
		return;
	*start = from;
	*end = to;
}

static enum rf_vtouch touch(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *pages)
{
	uint64_t from, to;

	if (vol->host->mapping(vol, root, addr, &from, &to) != RF_VMAPPING_PURGED)
		return RF_VTOUCH_DATA;
	switch (opt(vol)->on_purged_touch) {
	case RF_ON_TOUCH_ZERO:
		return RF_VTOUCH_ZEROS;
	case RF_ON_TOUCH_KILL:
		return RF_VTOUCH_KILLED;
	}
	*pages = (to - from) >> vol->host->page_shift;
	vol->host->set_mapping(vol, root, from, to, RF_VMAPPING_PLAIN, UINT32_MAX);
	return RF_VTOUCH_SIGBUS;
}

static uint64_t ranges(struct rf_volatile *vol)
{
	return vol->host->volatile_mappings(vol);
}

static uint64_t purged(struct rf_volatile *vol)
{
	return ((const struct state *)vol->priv)->purged;
}

const struct rf_volatile_ops rf_volatile_vma = {
	.name = "vma", .summary = "a flag of mappings, which ranges split (mvolatile, 2012)",
	.options = options,
	.options_size = sizeof(struct options),
	.reclaim_discards = TRUE,
	.state_size = sizeof(struct state),
	.by_address = TRUE,
	.locks = locks,
	.mark = mark,
	.unmark = unmark,
	.covers = covers,
	.met = met,
	.touch = touch,
	.ranges = ranges,
	.purged = purged,
};
