/* SPDX-License-Identifier: MIT
 * A plug-in with a member of each seam but reclaim, each as small as can be: what it does shows in a run.
 */
#include <policies/plugin.h>

/* protect: the pages that are odd stay. */
static gboolean never(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	(void)opt, (void)host, (void)page, (void)vm;
	return FALSE;
}

static gboolean odd(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	(void)opt, (void)host, (void)vm;
	return page % 2;
}

static const struct rf_protect_ops protect = {
	.name = "odd", .summary = "odd pages stay", .activate = never, .rotate = never, .spare_page = odd,
};

/* account: so many bytes a page, and three lines to get there. */
struct account { int64_t each; };

static const struct rf_option account_options[] = {
	{ .name = "each", .type = RF_OPT_INT, .offset = offsetof(struct account, each), .unit = "bytes", .def = "10",
	  .min = 0, .max = 100, .help = "a page" },
	RF_OPTION_END
};

static void layout(const void *opt, const struct rf_host *host, struct rf_account_layout *l)
{
	const struct account *o = opt;

	(void)host;
	l->struct_page = l->stride = RF_CACHE_LINE;
	l->page_bytes = (uint32_t)o->each;
	l->lines_64 = 3 * RF_CACHE_LINE;
}

static const struct rf_account_ops account = {
	.name = "ten", .summary = "ten bytes a page", .options = account_options,
	.options_size = sizeof(struct account), .layout = layout,
};

/* volatile: nothing can be marked. */
static unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                      struct rf_vstep step[RF_VSTEPS])
{
	(void)vol, (void)op, (void)start, (void)end;
	step[0] = (struct rf_vstep){ RF_VLOCK_MMAP, FALSE, 7000 };
	return 1;
}

static gboolean mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	(void)vol, (void)root, (void)start, (void)end;
	return FALSE;
}

static const struct rf_volatile_ops volatile_ = {
	.name = "refuse", .summary = "nothing can be marked", .locks = locks, .mark = mark,
};

/* fill: a fresh page takes a millisecond, and there is no zero page. */
static enum rf_first_load load(const void *opt, gboolean pattern)
{
	(void)opt, (void)pattern;
	return RF_LOAD_OWN_PAGE;
}

static uint64_t init(const void *opt, struct rf_fresh *fresh)
{
	(void)opt, (void)fresh;
	return 1000000;
}

static const struct rf_fill_ops fill = {
	.name = "slow", .summary = "a millisecond a page", .load = load, .init = init,
};

const struct rf_plugin rf_plugin = {
	RF_PLUGIN, .protect = &protect, .account = &account, .volatile_ = &volatile_, .fill = &fill,
};
