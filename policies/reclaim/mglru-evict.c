/* SPDX-License-Identifier: MIT
 * mglru: eviction.  How much, of which type, which of it is spared, and what becomes of the rest
 * (11.5, 11.6).
 */
#include "policies/reclaim/mglru.h"

static gboolean spared(struct rf_policy *pol, struct rf_scan *sc, int type)
{
	return pol->host->spare_list && pol->host->spare_list(pol, type == MG_ANON, sc);
}

/* A type that is spared is left out as swappiness leaves one out. */
int mg_swappiness(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	if (!sc->may_swap || pol->host->swap_available(pol, lv) < MG_BATCH || spared(pol, sc, MG_ANON))
		return 0;
	return sc->swappiness && spared(pol, sc, MG_FILE) ? MG_ANON_ONLY : sc->swappiness;
}

/* ---- choices: the control loop ---- */

struct position { uint64_t refaulted, total, gain; };

/* Of tiers [from, to] of a type. */
static struct position position(const struct mg_lruvec *v, int type, unsigned from, unsigned to, unsigned gain)
{
	struct position p = { .gain = gain };

	for (; from <= to; from++) {
		p.refaulted += v->avg_refaulted[type][from] + v->refaulted[type][from];
		p.total += v->avg_total[type][from] + v->evicted[type][from] + v->protected[type][from];
	}
	return p;
}

/* Is pv refaulted so little, or so much less than sp for its size, that it can be evicted? */
static gboolean expendable(struct position sp, struct position pv)
{
	return pv.refaulted < MG_BATCH ||
	       (__uint128_t)pv.refaulted * (sp.total + MG_BATCH) * sp.gain <=
	       (__uint128_t)(sp.refaulted + 1) * pv.total * pv.gain;
}

/* The last tier that is evicted when others are measured against sp. */
static unsigned tier_limit(const struct mg_lruvec *v, int type, struct position sp, unsigned gain)
{
	unsigned t;

	for (t = 1; t < MG_TIERS; t++)
		if (!expendable(sp, position(v, type, t, t, gain)))
			break;
	return t - 1;
}

static unsigned own_tier_limit(struct rf_policy *pol, const struct mg_lruvec *v, int type)
{
	const gboolean all = mg_state(pol)->rules.all_tiers;

	return tier_limit(v, type, position(v, type, 0, 0, all ? 2 : 1), all ? 3 : 2);
}

/* Which type first?  *limit: up to which tier, or -1 when its own tiers are to tell. */
static int choose_type(struct rf_policy *pol, const struct mg_lruvec *v, int swappiness, int *limit)
{
	const gboolean all = mg_state(pol)->rules.all_tiers;
	const unsigned last = all ? MG_TIERS - 1 : 0;
	const unsigned gain[MG_TYPES] = { (unsigned)swappiness, 200 - (unsigned)MIN(swappiness, 200) };
	struct position anon, file;
	int type;

	*limit = -1;
	if (!swappiness)
		return MG_FILE;
	if (!mg_state(pol)->rules.independent && v->min_seq[MG_ANON] < v->min_seq[MG_FILE])
		return MG_ANON;
	if (swappiness == 1)
		return MG_FILE;
	if (swappiness >= 200)
		return MG_ANON;
	anon = position(v, MG_ANON, 0, last, gain[MG_ANON]);
	file = position(v, MG_FILE, 0, last, gain[MG_FILE]);
	type = expendable(anon, file) ? MG_FILE : MG_ANON;
	if (!all)
		*limit = (int)tier_limit(v, type, position(v, !type, 0, 0, gain[!type]), gain[type]);
	return type;
}

/* ---- isolation ---- */

/* sort_folio(): TRUE when the page is not to be evicted now and found its place. */
static gboolean sort_page(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, int type, unsigned limit,
                          struct rf_scan *sc)
{
	const struct mg_rules *r = &mg_state(pol)->rules;
	struct mg_lruvec *v = mg_lruvec(lv);
	const uint16_t f = *mg_page(pol, page), fact = pol->host->fact[page];
	const unsigned refs = mg_refs(pol, f), tier = mg_tier(pol, f);
	const gboolean full = refs == 4 && (r->ws_last ? (f & MG_WS) != 0 : r->protect_full);
	gboolean dirty;

	if (mg_gen(f) != v->min_seq[type] % MG_GENS) {
		mg_list_move(pol, lv, page, mg_gen(f), FALSE);
		return TRUE;
	}
	if (tier > limit || full) {
		mg_list_move(pol, lv, page, mg_demote(pol, lv, page, FALSE), !r->ws_last);
		if (!full || !r->ws_last)
			v->protected[type][tier]++;
		return TRUE;
	}
	/* Lazyfree pages are of the type file: whether they were written to shows when they are unmapped. */
	dirty = type == MG_FILE && (fact & RF_PAGE_DIRTY) && !(fact & RF_PAGE_ANON);
	if (dirty || (fact & RF_PAGE_WRITEBACK)) {
		if (dirty && !(fact & RF_PAGE_WRITEBACK))
			sc->unqueued_dirty++;
		mg_list_move(pol, lv, page, mg_demote(pol, lv, page, TRUE), FALSE);
		return TRUE;
	}
	return FALSE;
}

static void isolate_page(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	uint16_t *f = mg_page(pol, page);

	mg_list_remove(pol, lv, page);
	if (mg_state(pol)->rules.ws_last) {
		if (!(*f & MG_REF))
			*f &= ~MG_X;
	} else {
		if (!(*f & MG_REF))
			*f &= ~(MG_X | MG_WS);
		*f &= ~MG_REF;
	}
	*f |= MG_ISOLATED;
	if (pol->host->mark_reclaim && (pol->host->fact[page] & RF_PAGE_RECLAIM))
		pol->host->mark_reclaim(pol, page, FALSE);
}

/* scan_folios(): take up to a batch from the tail of the oldest generation, coldest first.  Pages
 * looked at, or 0 when that came to nothing. */
static unsigned isolate(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc, int type,
                        unsigned limit, rf_page *taken, unsigned *ntaken)
{
	const struct rf_host *host = pol->host;
	struct mg_lruvec *v = mg_lruvec(lv);
	struct rf_list *l = &v->list[v->min_seq[type] % MG_GENS][type];
	rf_page held[MG_BATCH];
	unsigned scanned = 0, sorted = 0, n = 0, nheld = 0, i;

	if (mg_gens(v, type) == MG_MIN_GENS)
		return 0;
	while (l->tail != RF_NO_PAGE && scanned < MG_SORT_MAX && MAX(n, nheld) < MG_BATCH) {
		const rf_page page = l->tail;

		scanned++;
		if (sort_page(pol, lv, page, type, limit, sc)) {
			sorted++;
			continue;
		}
		if ((*mg_page(pol, page) & MG_QUEUED) && mg_state(pol)->rules.queue_holds) {
			rf_list_remove(pol->link, l, page);
			held[nheld++] = page;
			continue;
		}
		isolate_page(pol, lv, page);
		taken[n++] = page;
	}
	for (i = 0; i < nheld; i++) /* passed over: to the young end */
		rf_list_push_head(pol->link, l, held[i]);
	host->count(pol, lv, sc->kswapd ? RF_C_pgscan_kswapd : sc->proactive ? RF_C_pgscan_proactive :
	            RF_C_pgscan_direct, n);
	host->count(pol, lv, type == MG_FILE ? RF_C_pgscan_file : RF_C_pgscan_anon, n);
	host->count(pol, lv, RF_C_pgrefill, sorted);
	sc->scanned += n;
	*ntaken = n;
	return n || scanned == MG_SORT_MAX ? scanned : 0;
}

/* ---- references, with a look around ---- */

struct look {
	struct rf_walk w; /* first */
	gboolean walking; /* promote as a page-table walk does: kswapd and proactive reclaim */
};

/* lru_gen_set_refs(): the page was found used; TRUE when that promotes it (since 6.14). */
static gboolean set_refs(uint16_t *f)
{
	if (!(*f & (MG_REF | MG_WS))) {
		*f = (*f & ~MG_X) | MG_REF;
		return FALSE;
	}
	*f = (*f & ~MG_USE) | MG_WS;
	return TRUE;
}

static gboolean look_young(struct rf_policy *pol, struct rf_walk *w, rf_page page)
{
	const struct mg_state *st = mg_state(pol);
	const struct look *look = (const struct look *)w;
	uint16_t *f = mg_page(pol, page);

	if (pol->host->lruvec_of(pol, page) != w->lv)
		return FALSE;
	if (page == st->looking && !st->rules.mark_own)
		return TRUE;
	if (st->rules.two_touch) {
		if (!(*f & MG_LRU))
			return FALSE;
	} else if (mg_type(pol, page) == MG_ANON && mg_type(pol, st->looking) == MG_FILE) {
		return FALSE;
	}
	if (look->walking) {
		mg_promote(pol, w->lv, page);
		return TRUE;
	}
	if (st->rules.two_touch && !set_refs(f))
		return TRUE;
	if (!(*f & MG_LRU)) {
		*f |= MG_REF;
	} else if (mg_gen(*f) != mg_lruvec(w->lv)->max_seq % MG_GENS) {
		if (st->rules.reset_use)
			*f &= ~(MG_USE | MG_WS);
		*f |= MG_QUEUED;
		mg_queue(pol, MG_B_ACTIVATE, page);
	}
	return TRUE;
}

static void look_left(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf, unsigned total, unsigned young)
{
	struct mg_lruvec *v = mg_lruvec(w->lv);

	(void)pol;
	if (mg_dense(total, young))
		mg_filter_update(v, v->max_seq, leaf);
}

/* folio_check_references(): RF_FREED says that it may be evicted. */
static enum rf_verdict check_references(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                                        struct rf_scan *sc)
{
	struct mg_state *st = mg_state(pol);
	struct look look = {
		.w = { .lv = lv, .young = look_young, .left = look_left },
		.walking = sc->kswapd || sc->proactive,
	};
	uint16_t *f = mg_page(pol, page);
	unsigned vm = 0, young;
	gboolean referenced;

	if (*f & MG_QUEUED) /* its place in the batch holds it */
		return RF_KEEP;
	/* Found used since it was isolated, in the look around another page. */
	if (!st->rules.ws_last && (*f & MG_REF))
		return RF_KEEP;
	st->looking = page;
	young = pol->host->look_around ? pol->host->look_around(pol, page, sc->target, &vm, &look.w, MG_BATCH)
	                               : pol->host->young(pol, page, sc->target, &vm);
	st->looking = RF_NO_PAGE;
	if (vm & RF_VM_LOCKED_VMA)
		return RF_ACTIVATE;
	if (st->rules.two_touch)
		return !young ? RF_FREED : set_refs(f) ? RF_ACTIVATE : RF_KEEP;
	referenced = (*f & MG_REF) != 0;
	*f &= ~MG_REF;
	if (!young)
		return RF_FREED;
	*f |= MG_REF;
	return referenced || young > 1 || pol->host->spare_inactive(pol, page, vm) ? RF_ACTIVATE : RF_KEEP;
}

/* ---- eviction ---- */

/* shrink_folio_list() for one isolated page.  TRUE: it is gone. */
static gboolean shrink_page(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, struct rf_scan *sc)
{
	enum rf_verdict verdict = check_references(pol, lv, page, sc);

	if (verdict == RF_FREED)
		verdict = pol->host->evict(pol, page, sc, FALSE);
	if (verdict == RF_FREED)
		return TRUE;
	if (verdict == RF_ACTIVATE && !(pol->host->fact[page] & RF_PAGE_MLOCKED)) {
		*mg_page(pol, page) |= MG_ACT;
		pol->host->count(pol, lv, RF_C_pgactivate, 1);
	}
	return FALSE;
}

/* A page that stays must not land in the oldest generation again. */
static void put_back(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, int type)
{
	const uint16_t fact = pol->host->fact[page];
	uint16_t *f = mg_page(pol, page);

	if (mg_state(pol)->rules.ws_last) {
		if (mg_entry_seq(pol, lv, page, FALSE) == mg_lruvec(lv)->min_seq[type])
			*f = (*f & ~MG_USE) | MG_ACT;
	} else if ((fact & RF_PAGE_RECLAIM) && (fact & (RF_PAGE_DIRTY | RF_PAGE_WRITEBACK))) {
		if (*f & MG_WS)
			*f |= MG_REF;
	} else {
		*f = (*f & ~(MG_USE | MG_WS)) | MG_ACT;
	}
	mg_list_add(pol, lv, page, FALSE);
}

/* evict_folios(): one batch.  Pages looked at; 0 when there is no more to get. */
static unsigned evict_batch(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc, int swappiness)
{
	const struct rf_host *host = pol->host;
	struct mg_lruvec *v = mg_lruvec(lv);
	rf_page page[MG_BATCH];
	unsigned scanned = 0, taken = 0, freed = 0, i;
	uint64_t dirty = sc->unqueued_dirty;
	int limit, type, last, tries;

	last = type = choose_type(pol, v, swappiness, &limit);
	tries = mg_last_type(swappiness) - mg_first_type(swappiness) + 1;
	for (; tries > 0 && !scanned; tries--) {
		if (limit < 0)
			limit = (int)own_tier_limit(pol, v, type);
		last = type;
		scanned = isolate(pol, lv, sc, type, (unsigned)limit, page, &taken);
		type = !type;
		limit = -1;
	}
	type = last;
	dirty = sc->unqueued_dirty - dirty;
	scanned += mg_inc_min_seq(pol, lv, swappiness);
	if (mg_oldest(pol, v, swappiness) + MG_MIN_GENS > v->max_seq)
		scanned = 0;
	for (i = 0; i < taken; i++) {
		if (shrink_page(pol, lv, page[i], sc)) {
			page[i] = RF_NO_PAGE;
			freed++;
		}
	}
	for (i = 0; i < taken; i++)
		/* Not those that were taken away as unevictable. */
		if (page[i] != RF_NO_PAGE && (*mg_page(pol, page[i]) & MG_ISOLATED))
			put_back(pol, lv, page[i], type);
	sc->reclaimed += freed;
	host->count(pol, lv, sc->kswapd ? RF_C_pgsteal_kswapd : sc->proactive ? RF_C_pgsteal_proactive :
	            RF_C_pgsteal_direct, freed);
	host->count(pol, lv, type == MG_FILE ? RF_C_pgsteal_file : RF_C_pgsteal_anon, freed);
	if (taken + dirty)
		host->batch_done(pol, lv, sc, taken + dirty);
	return scanned;
}

/* ---- how much ---- */

/* set_initial_priority(): global reclaim starts where one pass could meet the goal. */
void mg_prepare(struct rf_policy *pol, struct rf_scan *sc)
{
	uint64_t size[4] = { 0 }, reclaimable = 0;
	struct mg_state *st = mg_state(pol);
	uint32_t i;
	int prio;

	if (!sc->global || sc->prio != 12 || sc->goal < MG_BATCH)
		return;
	for (i = 0; i < st->nlruvecs; i++) {
		if (!st->lruvec[i])
			continue;
		pol->ops->sizes(pol, st->lruvec[i], size);
		reclaimable += size[2] + (mg_swappiness(pol, sc->target, sc) ? size[0] : 0);
	}
	prio = g_bit_storage(reclaimable) - 1 - g_bit_storage(sc->goal - 1);
	sc->prio = CLAMP(prio, pol->host->kernel >= RF_KERNEL(6, 14, 0) ? 6 : 0, 12);
}

/* Global reclaim goes round the cgroups: one whose turn is over waits until all had theirs. */
static gboolean has_turn(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct mg_state *st = mg_state(pol);
	uint32_t i;

	if (mg_lruvec(lv)->memcg_seq == st->memcg_seq)
		return TRUE;
	for (i = 0; i < st->nlruvecs; i++)
		if (st->lruvec[i] && mg_lruvec(st->lruvec[i])->memcg_seq == st->memcg_seq)
			return FALSE;
	st->memcg_seq++;
	return mg_lruvec(lv)->memcg_seq == st->memcg_seq;
}

void mg_shrink(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct mg_rules *r = &mg_state(pol)->rules;
	const int swappiness = mg_swappiness(pol, lv, sc);
	const gboolean turns = sc->global && r->memcg_lru;
	struct mg_lruvec *v = mg_lruvec(lv);
	uint64_t scanned = 0;
	gboolean aged = FALSE;

	if (turns && (!has_turn(pol, lv) || sc->reclaimed >= sc->goal))
		return;
	if (!swappiness && spared(pol, sc, MG_FILE))
		return;
	mg_drain(pol);
	for (;;) {
		uint64_t total, left;
		const gboolean needed = mg_should_age(pol, lv, swappiness, &total);
		unsigned n;

		left = total ? pol->host->unprotected(pol, lv, total, sc) : 0;
		if (total && !left)
			break;
		if (r->independent)
			total = left;
		total >>= sc->prio;
		if (needed && sc->prio < 12) {
			if (!r->memcg_lru && (sc->kswapd || aged))
				break; /* kswapd ages apart; others once, to be fair */
			mg_inc_max_seq(pol, lv, swappiness);
			aged = TRUE;
			if (r->memcg_lru)
				break; /* low on cold pages: let others give theirs first */
		}
		if (!total || mg_oldest(pol, v, swappiness) + MG_MIN_GENS > v->max_seq)
			break;
		n = evict_batch(pol, lv, sc, swappiness);
		scanned += n;
		if (!n || scanned >= total || (sc->global && sc->reclaimed >= sc->goal))
			break;
	}
	if (turns && aged)
		v->memcg_seq = mg_state(pol)->memcg_seq + 1;
}
