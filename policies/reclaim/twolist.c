/* SPDX-License-Identifier: MIT
 * twolist: the kernel's classic active and inactive lists, 2.6.30 to 6.18: how pages enter, how use
 * is noticed, what a refault does.  Section numbers are those of the model's reference in the manual.
 */
#include "policies/reclaim/twolist.h"

#define OFF(member) offsetof(struct tl_options, member)
#define RULE(rule, member, text, rel) \
	{ .name = rule, .type = RF_OPT_ENUM, .offset = OFF(member), .def = "auto", \
	  .choices = "auto,no,yes", .help = text, .since = rel }

static const struct rf_option options[] = {
	RULE("anon_inactive", anon_inactive, "anonymous pages start on the inactive list", "5.9"),
	RULE("anon_second_chance", anon_second_chance,
	     "a young anonymous page makes another trip instead of being activated", "5.9"),
	RULE("ref_twice", ref_twice, "a mapped file page needs two references to be activated", "2.6.34"),
	RULE("shmem_twice", shmem_twice, "so does a page of shmem (2.6.34 to 3.4)", "2.6.34"),
	RULE("shared_once", shared_once, "one reference each through two mappings is enough", "3.3"),
	RULE("workingset", workingset, "shadows remember evictions; refaults are tested", "3.15"),
	{ .name = "active_file", .type = RF_OPT_ENUM, .offset = OFF(active_file), .def = "auto",
	  .choices = "auto,any,half,ratio", .since = "2.6.31",
	  .help = "when active file pages are looked at: at any time (2.6.30), when more than half of them are "
	          "active (2.6.31), when too few are inactive for the size of memory (4.7)" },
	{ .name = "cost", .type = RF_OPT_ENUM, .offset = OFF(cost), .def = "auto",
	  .choices = "auto,rotated,pageout,io_rotated",
	  .help = "what balances anonymous against file pages", .since = "5.8" },
	RULE("deactivate_root", deactivate_root,
	     "deactivation is decided at the root of reclaim, not by each cgroup", "5.5"),
	RULE("refault_deactivate", refault_deactivate,
	     "refaults seen since the last reclaim let the active list shrink", "5.5"),
	RULE("cache_trim", cache_trim, "plenty of inactive file pages: scan nothing else", "5.5"),
	RULE("proportional", proportional, "after the goal, the larger type catches up", "3.11"),
	{ .name = "batch", .type = RF_OPT_INT, .offset = OFF(batch), .unit = "pages", .def = "0",
	  .min = 0, .max = TL_BATCH_MAX, .help = "per-CPU batch of pages; 0: by release", .since = "2.6.30" },
	RF_OPTION_END
};

static gboolean pick(int option, gboolean by_release)
{
	return option == 0 ? by_release : option == 2;
}

static gboolean tl_init(struct rf_policy *pol, GError **error)
{
	const struct tl_options *o = pol->opt;
	struct tl_rules *r = &tl_state(pol)->rules;
	unsigned k = pol->host->kernel;

	(void)error;
	r->batch = o->batch ? (unsigned)o->batch : rf_lru_batch(k);
	r->anon_inactive = pick(o->anon_inactive, k >= RF_KERNEL(5, 9, 0));
	r->anon_second_chance = pick(o->anon_second_chance, k >= RF_KERNEL(5, 9, 0));
	r->ref_twice = pick(o->ref_twice, k >= RF_KERNEL(2, 6, 34));
	r->shmem_twice = pick(o->shmem_twice, k >= RF_KERNEL(2, 6, 34) && k < RF_KERNEL(3, 5, 0));
	r->shared_once = pick(o->shared_once, k >= RF_KERNEL(3, 3, 0));
	r->active_file = o->active_file ? o->active_file : k >= RF_KERNEL(4, 7, 0) ? TL_FILE_RATIO :
	                 k >= RF_KERNEL(2, 6, 31) ? TL_FILE_HALF : TL_FILE_ANY;
	r->workingset = pick(o->workingset, k >= RF_KERNEL(3, 15, 0));
	r->cost = o->cost ? o->cost : k >= RF_KERNEL(6, 3, 0) ? TL_COST_IO_ROTATED :
	          k >= RF_KERNEL(5, 8, 0) ? TL_COST_PAGEOUT : TL_COST_ROTATED;
	r->deactivate_root = pick(o->deactivate_root, k >= RF_KERNEL(5, 5, 0));
	r->refault_deactivate = pick(o->refault_deactivate, k >= RF_KERNEL(4, 7, 0));
	r->cache_trim = pick(o->cache_trim, k >= RF_KERNEL(5, 5, 0));
	r->proportional = pick(o->proportional, k >= RF_KERNEL(3, 11, 0));
	return TRUE;
}

static void tl_exit(struct rf_policy *pol)
{
	g_free(tl_state(pol)->lruvec);
}

static void tl_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct tl_state *st = tl_state(pol);
	int i;

	for (i = 0; i < TL_NLISTS; i++)
		rf_queue_init(&tl_lruvec(lv)->list[i]);
	if (lv->id >= st->nlruvecs) {
		st->lruvec = g_renew(struct rf_lruvec *, st->lruvec, lv->id + 1);
		while (st->nlruvecs <= lv->id)
			st->lruvec[st->nlruvecs++] = NULL;
	}
	st->lruvec[lv->id] = lv;
}

static void tl_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	int i;

	for (i = 0; i < TL_NLISTS; i++)
		rf_queue_clear(&tl_lruvec(lv)->list[i]);
	tl_state(pol)->lruvec[lv->id] = NULL;
}

/* ---- statistics: exact, and as folded last ---- */

uint64_t tl_subtree_size(struct rf_lruvec *lv, int list)
{
	uint64_t sum = tl_lruvec(lv)->size[list];

	for (lv = lv->child; lv; lv = lv->sibling)
		sum += tl_subtree_size(lv, list);
	return sum;
}

uint64_t tl_subtree_activated(struct rf_lruvec *lv, int type)
{
	uint64_t sum = tl_lruvec(lv)->activated[type];

	for (lv = lv->child; lv; lv = lv->sibling)
		sum += tl_subtree_activated(lv, type);
	return sum;
}

static void tl_flush(struct rf_policy *pol)
{
	struct tl_state *st = tl_state(pol);
	uint32_t i;
	int j;

	for (i = 0; i < st->nlruvecs; i++) {
		struct rf_lruvec *lv = st->lruvec[i];

		if (!lv)
			continue;
		for (j = 0; j < TL_NLISTS; j++)
			tl_lruvec(lv)->flushed_size[j] = tl_subtree_size(lv, j);
		for (j = 0; j < 2; j++)
			tl_lruvec(lv)->flushed_activated[j] = tl_subtree_activated(lv, j);
	}
}

void tl_age_nonresident(struct rf_lruvec *lv, unsigned pages)
{
	for (; lv; lv = lv->parent)
		tl_lruvec(lv)->nonresident_age += pages;
}

/* lru_note_cost(): 4.4. */
void tl_note_cost(struct rf_policy *pol, struct rf_lruvec *lv, int type, uint64_t io, uint64_t rotated)
{
	uint64_t cost;

	switch (tl_state(pol)->rules.cost) {
	case TL_COST_IO_ROTATED:
		cost = io * 32 + rotated;
		break;
	case TL_COST_PAGEOUT:
		cost = io;
		break;
	default:
		return; /* the scan keeps recent_scanned and recent_rotated */
	}
	if (!cost)
		return;
	for (; lv; lv = lv->parent) {
		struct tl_lruvec *v = tl_lruvec(lv);
		uint64_t size = 0;
		int i;

		v->cost[type] += cost;
		for (i = 0; i < TL_NLISTS; i++)
			size += tl_stale_size(pol, lv, i);
		if (v->cost[0] + v->cost[1] > size / 4) {
			v->cost[0] /= 2;
			v->cost[1] /= 2;
		}
	}
}

/* ---- lists and batches ---- */

void tl_list_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	uint8_t f = pol->page_priv[page];

	tl_lruvec(lv)->size[f & TL_LIST] -= rf_folio_pages(pol, page);
	rf_queue_remove(&tl_lruvec(lv)->list[f & TL_LIST], pol->link, page);
	pol->page_priv[page] = f & ~TL_LRU;
}

/* A full batch drains at once; a page that has left in the meantime is skipped. */
static gboolean batch_push(struct rf_policy *pol, struct tl_batch *b, rf_page page)
{
	b->page[b->n++] = page;
	return b->n >= tl_state(pol)->rules.batch;
}

static void batch_forget(struct tl_batch *b, rf_page page)
{
	unsigned i;

	for (i = 0; i < b->n; i++)
		if (b->page[i] == page)
			b->page[i] = RF_NO_PAGE;
}

static void drain_add(struct rf_policy *pol)
{
	struct tl_batch *b = &tl_state(pol)->add;
	unsigned i;

	for (i = 0; i < b->n; i++)
		if (b->page[i] != RF_NO_PAGE)
			tl_list_add(pol, pol->host->lruvec_of(pol, b->page[i]), b->page[i]);
	b->n = 0;
}

static void drain_activate(struct rf_policy *pol)
{
	struct tl_batch *b = &tl_state(pol)->activate;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		rf_page page = b->page[i];
		struct rf_lruvec *lv;

		if (page == RF_NO_PAGE || !(pol->page_priv[page] & TL_LRU) || (pol->page_priv[page] & TL_ACT))
			continue;
		lv = pol->host->lruvec_of(pol, page);
		tl_list_remove(pol, lv, page);
		pol->page_priv[page] |= TL_ACT;
		tl_list_add(pol, lv, page);
		pol->host->count(pol, lv, RF_C_pgactivate, rf_folio_pages(pol, page));
	}
	b->n = 0;
}

static void drain_deactivate(struct rf_policy *pol)
{
	struct tl_batch *b = &tl_state(pol)->deactivate;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		rf_page page = b->page[i];
		struct rf_lruvec *lv;

		if (page == RF_NO_PAGE || !(pol->page_priv[page] & TL_LRU) || !(pol->page_priv[page] & TL_ACT))
			continue;
		lv = pol->host->lruvec_of(pol, page);
		tl_list_remove(pol, lv, page);
		pol->page_priv[page] &= ~(TL_ACT | TL_REF);
		pol->page_priv[page] |= TL_WS;
		tl_list_add(pol, lv, page);
		pol->host->count(pol, lv, RF_C_pgdeactivate, rf_folio_pages(pol, page));
	}
	b->n = 0;
}

static void drain_lazyfree(struct rf_policy *pol)
{
	struct tl_batch *b = &tl_state(pol)->lazyfree;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		rf_page page = b->page[i];
		struct rf_lruvec *lv;

		if (page == RF_NO_PAGE || !(pol->page_priv[page] & TL_LRU) ||
		    (pol->host->fact[page] & (RF_PAGE_SWAPCACHE | RF_PAGE_SWAPBACKED)) != RF_PAGE_SWAPBACKED)
			continue;
		lv = pol->host->lruvec_of(pol, page);
		tl_list_remove(pol, lv, page);
		pol->page_priv[page] &= ~(TL_ACT | TL_REF);
		pol->host->lazyfree(pol, page);
		tl_list_add(pol, lv, page);
		pol->host->count(pol, lv, RF_C_pglazyfree, 1);
	}
	b->n = 0;
}

/* lru_move_tail: a page marked RECLAIM whose writeback has ended. */
static void drain_rotate(struct rf_policy *pol)
{
	struct tl_batch *b = &tl_state(pol)->rotate;
	unsigned i;

	for (i = 0; i < b->n; i++) {
		rf_page page = b->page[i];
		struct rf_lruvec *lv;
		uint8_t f;

		if (page == RF_NO_PAGE || !(pol->page_priv[page] & TL_LRU))
			continue;
		lv = pol->host->lruvec_of(pol, page);
		tl_list_remove(pol, lv, page);
		f = pol->page_priv[page] & ~(TL_ACT | TL_LIST);
		if (tl_is_file(pol, page))
			f |= TL_FILE;
		pol->page_priv[page] = f | TL_LRU;
		tl_lruvec(lv)->size[f & TL_LIST] += rf_folio_pages(pol, page);
		rf_queue_push_oldest(&tl_lruvec(lv)->list[f & TL_LIST], pol->link, page);
		pol->host->count(pol, lv, RF_C_pgrotated, rf_folio_pages(pol, page));
	}
	b->n = 0;
}

void tl_drain(struct rf_policy *pol)
{
	struct tl_state *st = tl_state(pol);

	if (st->add.n)
		drain_add(pol);
	if (st->rotate.n)
		drain_rotate(pol);
	if (st->deactivate.n)
		drain_deactivate(pol);
	if (st->lazyfree.n)
		drain_lazyfree(pol);
	if (st->activate.n)
		drain_activate(pol);
}

/* ---- entry, use, exit ---- */

/* A shadow: stamp, id of the cgroup that was the target of reclaim, workingset flag.  It lives in the
 * page's link, which no list needs while the page is out of memory and which add() touches anyway;
 * the host only remembers that there is one. */
#define SHADOW_ID_BITS 16

static void shadow_keep(struct rf_link *link, uint64_t stamp, uint32_t id, gboolean ws)
{
	uint64_t shadow = stamp << (SHADOW_ID_BITS + 1) | (uint64_t)id << 1 | (ws ? 1 : 0);

	link->prev = (rf_page)shadow;
	link->next = (rf_page)(shadow >> 32);
}

static uint64_t shadow_kept(const struct rf_link *link)
{
	return (uint64_t)link->next << 32 | link->prev;
}

/* workingset_refault(): 5.3. */
static void refault(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, uint64_t shadow)
{
	struct tl_state *st = tl_state(pol);
	uint32_t id = shadow >> 1 & ((1 << SHADOW_ID_BITS) - 1);
	struct rf_lruvec *evicted_by = id < st->nlruvecs ? st->lruvec[id] : NULL;
	gboolean file = tl_is_file(pol, page);
	const uint64_t mask = (UINT64_C(1) << (64 - SHADOW_ID_BITS - 1)) - 1;
	unsigned pages = rf_folio_pages(pol, page);
	uint64_t distance, size;

	if (!evicted_by || !st->rules.workingset || (!file && !st->rules.anon_inactive))
		return;
	distance = (tl_lruvec(evicted_by)->nonresident_age - (shadow >> (SHADOW_ID_BITS + 1))) & mask;
	size = tl_stale_size(pol, evicted_by, TL_ACTIVE_FILE);
	if (!file)
		size += tl_stale_size(pol, evicted_by, TL_INACTIVE_FILE);
	if (st->rules.anon_inactive && pol->host->swap_available(pol, evicted_by) > 0) {
		size += tl_stale_size(pol, evicted_by, TL_ACTIVE_ANON);
		if (file)
			size += tl_stale_size(pol, evicted_by, TL_INACTIVE_ANON);
	}
	if (pol->host->estimated)
		pol->host->estimated(pol, page, distance, size);
	if (distance > size)
		return;
	pol->page_priv[page] |= TL_ACT;
	tl_age_nonresident(lv, pages);
	tl_lruvec(lv)->activated[file] += pages;
	pol->host->count(pol, lv, file ? RF_C_workingset_activate_file : RF_C_workingset_activate_anon, pages);
	if (shadow & 1) {
		pol->page_priv[page] |= TL_WS;
		tl_note_cost(pol, lv, file, pages, 0);
		pol->host->count(pol, lv, file ? RF_C_workingset_restore_file : RF_C_workingset_restore_anon, pages);
	}
}

static void tl_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how, uint64_t shadow)
{
	struct tl_state *st = tl_state(pol);

	pol->page_priv[page] = TL_BATCH;
	if (!st->rules.anon_inactive && !tl_is_file(pol, page))
		pol->page_priv[page] |= TL_ACT;
	if (shadow)
		refault(pol, lv, page, shadow_kept(&pol->link[page]));
	(void)how;
	/* A large folio does not wait in a batch: 1.3. */
	if (batch_push(pol, &st->add, page) || rf_folio_pages(pol, page) > 1)
		drain_add(pol);
}

/* folio_mark_accessed(): 2.2. */
static void tl_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct tl_state *st = tl_state(pol);
	uint8_t *f = &pol->page_priv[page];

	if (!(*f & TL_REF)) {
		*f |= TL_REF;
		return;
	}
	if ((*f & TL_ACT) || !(*f & (TL_LRU | TL_BATCH)))
		return;
	*f &= ~TL_REF;
	if (*f & TL_BATCH)
		*f |= TL_ACT;
	else if (batch_push(pol, &st->activate, page))
		drain_activate(pol);
	tl_age_nonresident(lv, rf_folio_pages(pol, page));
}

static uint64_t tl_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_why why)
{
	struct tl_state *st = tl_state(pol);
	uint8_t f = pol->page_priv[page];

	if (f & TL_LRU)
		tl_list_remove(pol, lv, page);
	if (f & TL_BATCH)
		batch_forget(&st->add, page);
	if (why != RF_WHY_EVICTED) {
		batch_forget(&st->activate, page);
		batch_forget(&st->deactivate, page);
		batch_forget(&st->lazyfree, page);
		batch_forget(&st->rotate, page);
	} else {
		struct rf_lruvec *target = pol->host->evict_target;

		/* workingset_eviction(): the stamp first, then the age moves on. */
		shadow_keep(&pol->link[page], tl_lruvec(target)->nonresident_age, target->id, (f & TL_WS) != 0);
		tl_age_nonresident(target, rf_folio_pages(pol, page));
	}
	pol->page_priv[page] = 0;
	return 1;
}

static void tl_move(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_move how)
{
	struct tl_state *st = tl_state(pol);
	uint8_t *f = &pol->page_priv[page];

	switch (how) {
	case RF_MOVE_DEACTIVATE: /* MADV_COLD: folio_deactivate() */
		*f &= ~TL_REF;
		if ((*f & TL_LRU) && (*f & TL_ACT)) {
			*f |= TL_WS;
			if (batch_push(pol, &st->deactivate, page))
				drain_deactivate(pol);
		}
		break;
	case RF_MOVE_LAZYFREE: /* folio_mark_lazyfree(): pages still in the add batch are passed over */
		if ((*f & TL_LRU) && batch_push(pol, &st->lazyfree, page))
			drain_lazyfree(pol);
		break;
	case RF_MOVE_ROTATE:
		if ((*f & TL_LRU) && batch_push(pol, &st->rotate, page))
			drain_rotate(pol);
		break;
	case RF_MOVE_PAGEOUT: /* its shadow knows that it was active */
		*f &= ~TL_REF;
		if (*f & TL_ACT)
			*f |= TL_WS;
		break;
	case RF_MOVE_UNLAZY: /* its list follows when it is put back */
		if (*f & TL_LRU) {
			tl_list_remove(pol, lv, page);
			tl_list_add(pol, lv, page);
		}
		break;
	}
}

static gboolean tl_workingset(struct rf_policy *pol, rf_page page)
{
	return (pol->page_priv[page] & TL_WS) != 0;
}

static void tl_sizes(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t out[4])
{
	int i;

	(void)pol;
	for (i = 0; i < TL_NLISTS; i++)
		out[i] = tl_lruvec(lv)->size[i];
}

static void tl_scan_times(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t out[4])
{
	int i;

	(void)pol;
	for (i = 0; i < TL_NLISTS; i++) {
		const struct tl_pace *p = &tl_lruvec(lv)->pace[i];

		out[i] = p->rounds ? (uint64_t)(((__uint128_t)(p->last - p->first) << TL_PACE_SHIFT) / p->rounds) : 0;
	}
}

static void tl_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	uint32_t i;
	int l;

	for (l = 0; l < TL_NLISTS; l++) {
		const struct rf_queue *q = &tl_lruvec(lv)->list[l];
		uint64_t pages = 0;

		rf_queue_check(pol, q);
		for (i = q->old; i != q->young; i++) {
			rf_page page = q->slot[i & q->mask];
			uint8_t f;

			if (page == RF_NO_PAGE)
				continue;
			f = pol->page_priv[page];
			if (!(f & TL_LRU) || (f & TL_LIST) != l || !(f & TL_ACT) != !(l & TL_ACTIVE))
				g_error("twolist: page %u on list %d has flags 0x%x", page, l, f);
			if (pol->host->lruvec_of(pol, page) != lv)
				g_error("twolist: page %u on list %d is another lruvec's", page, l);
			pages += rf_folio_pages(pol, page);
		}
		if (pages != tl_lruvec(lv)->size[l])
			g_error("twolist: list %d has %" G_GUINT64_FORMAT " pages, says %" G_GUINT64_FORMAT, l, pages,
			        tl_lruvec(lv)->size[l]);
	}
}

const struct rf_reclaim_ops rf_reclaim_twolist = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "twolist",
	.summary = "the kernel's active and inactive lists, by release",
	.flags = RF_POLICY_KERNEL | RF_POLICY_FOLIOS,
	.options = options,
	.options_size = sizeof(struct tl_options),
	.policy_size = sizeof(struct tl_state),
	.lruvec_size = sizeof(struct tl_lruvec),
	.page_size = 1,
	.init = tl_init,
	.exit = tl_exit,
	.lruvec_init = tl_lruvec_init,
	.lruvec_exit = tl_lruvec_exit,
	.add = tl_add,
	.touch = tl_touch,
	.remove = tl_remove,
	.move = tl_move,
	.shrink = tl_shrink,
	.prepare = tl_prepare,
	.finish = tl_finish,
	.age = tl_age,
	.drain = tl_drain,
	.flush = tl_flush,
	.workingset = tl_workingset,
	.sizes = tl_sizes,
	.scan_times = tl_scan_times,
	.check = tl_check,
};
