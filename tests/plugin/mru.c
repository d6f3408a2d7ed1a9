/* SPDX-License-Identifier: MIT
 * A complete reclaim policy in a plug-in, to begin your own from: mru, the page used last leaves
 * first.  (Good for loops that do not fit into memory, bad for nearly everything else.)
 *
 * Build it where you like; the program's sources are not needed, its installed headers are:
 *
 *     cc -shared -fPIC $(pkg-config --cflags refault) mru.c -o mru.so
 *     refault run TRACE --plugin ./mru.so --reclaim mru,spare=2 --frames 1000
 *     refault policies mru --plugin ./mru.so
 *
 * A policy sees pages as 32-bit indices, and keeps what it must know of them in lists that are linked
 * through pol->link, in page_size private bytes a page (pol->page_priv), and in lruvec_size bytes for
 * each memory cgroup (lv->priv).  The host allocates all of it, zeroed, and calls the hooks below.
 */
#include <policies/plugin.h>

/* 1. Options: the command line, --help, the JSON report and the manual come from this table. */
struct mru_options {
	int64_t spare;
};

static const struct rf_option options[] = {
	{ .name = "spare", .type = RF_OPT_INT, .offset = offsetof(struct mru_options, spare),
	  .unit = "pages", .def = "0", .min = 0, .max = 1000,
	  .help = "the pages used last that are not taken" },
	RF_OPTION_END
};

/* 2. State: a list for each memory cgroup. */
struct mru_lruvec {
	struct rf_list list; /* head: used last */
};

static struct rf_list *list_of(struct rf_lruvec *lv)
{
	return &((struct mru_lruvec *)lv->priv)->list;
}

static void mru_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_list_init(list_of(lv));
}

/* 3. A page comes into memory.  shadow is what remove() answered when it was evicted, or 0. */
static void mru_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                    uint64_t shadow)
{
	(void)how;
	(void)shadow;
	rf_list_push_head(pol->link, list_of(lv), page);
}

/* 4. It is used.  Only policies that set RF_POLICY_ACCESS are told; the others ask host->young() whether
 * a page was used since they asked last, which costs a replay much less. */
static void mru_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                       uint32_t count)
{
	(void)type;
	(void)count;
	rf_list_remove(pol->link, list_of(lv), page);
	rf_list_push_head(pol->link, list_of(lv), page);
}

/* 5. It leaves memory, evicted or freed for good.  The answer is kept as its shadow if it was evicted. */
static uint64_t mru_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                           enum rf_why why)
{
	(void)why;
	rf_list_remove(pol->link, list_of(lv), page);
	return 1;
}

/* 6. A victim is wanted.  The host checks the proposal; remove() follows when it agrees. */
static rf_page mru_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct mru_options *o = pol->opt;
	const struct rf_list *l = list_of(lv);
	rf_page page = l->head;

	(void)sc;
	if (l->n <= o->spare)
		return l->tail;
	for (int64_t i = 0; i < o->spare; i++)
		page = pol->link[page].next;
	return page;
}

/* 7. When the host can't evict the page now: not the same proposal again. */
static void mru_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                     enum rf_verdict verdict)
{
	(void)verdict;
	rf_list_remove(pol->link, list_of(lv), page);
	rf_list_push_tail(pol->link, list_of(lv), page);
}

static const struct rf_reclaim_ops mru = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "mru",
	.summary = "most recently used leaves first",
	.flags = RF_POLICY_ACCESS,
	.options = options,
	.options_size = sizeof(struct mru_options),
	.lruvec_size = sizeof(struct mru_lruvec),
	.lruvec_init = mru_lruvec_init,
	.add = mru_add,
	.access = mru_access,
	.remove = mru_remove,
	.propose = mru_propose,
	.kept = mru_kept,
};

/* 8. The one symbol that the program looks for. */
const struct rf_plugin rf_plugin = { RF_PLUGIN, .reclaim = &mru };
