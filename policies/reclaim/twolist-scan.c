/* SPDX-License-Identifier: MIT
 * twolist: the scans.  How much of which list, and what becomes of each page looked at.
 */
#include "policies/reclaim/twolist.h"
#include "base/isqrt.h"

#define CLUSTER 32 /* SWAP_CLUSTER_MAX: pages isolated at once */

/* inactive_is_low(): 3.5.  File pages had rules of their own: inactive_file_is_low() from 2.6.31 to 4.6,
 * none before. */
static gboolean inactive_is_low(struct rf_policy *pol, struct rf_lruvec *lv, int type)
{
	uint64_t inactive = tl_stale_size(pol, lv, type ? TL_INACTIVE_FILE : TL_INACTIVE_ANON);
	uint64_t active = tl_stale_size(pol, lv, type ? TL_ACTIVE_FILE : TL_ACTIVE_ANON);
	uint64_t gib = (inactive + active) >> (30 - pol->host->page_shift);
	int rule = tl_state(pol)->rules.active_file;

	if (type && rule != TL_FILE_RATIO)
		return rule == TL_FILE_ANY || active > inactive;
	return inactive * (gib ? rf_isqrt(10 * gib) : 1) < active;
}

/* prepare_scan_control(): 4.1.  Before 5.5 each vector decided by itself. */
static void decide_deactivation(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct tl_rules *r = &tl_state(pol)->rules;
	struct tl_lruvec *v = tl_lruvec(lv);
	gboolean may[2];
	int type;

	for (type = 0; type < 2; type++)
		may[type] = sc->force_deactivate || inactive_is_low(pol, lv, type) ||
		            (r->refault_deactivate && (type || r->anon_inactive) &&
		             tl_stale_activated(pol, lv, type) != v->snapshot[type]);
	sc->may_deactivate_anon = may[0];
	sc->may_deactivate_file = may[1];
}

void tl_prepare(struct rf_policy *pol, struct rf_scan *sc)
{
	const struct tl_rules *r = &tl_state(pol)->rules;

	decide_deactivation(pol, sc->target, sc);
	sc->cache_trim = r->cache_trim && !sc->may_deactivate_file && !sc->cache_trim_forbidden &&
	                 tl_stale_size(pol, sc->target, TL_INACTIVE_FILE) >> sc->prio > 0;
	/* file_tiny is the host's: it knows free memory and watermarks.  Here only its second half. */
	sc->file_tiny = sc->global && sc->file_tiny && !sc->may_deactivate_anon &&
	                tl_stale_size(pol, sc->target, TL_INACTIVE_ANON) >> sc->prio > 0;
}

void tl_finish(struct rf_policy *pol, struct rf_scan *sc)
{
	struct tl_lruvec *v = tl_lruvec(sc->target);

	v->snapshot[0] = tl_stale_activated(pol, sc->target, TL_ANON_TYPE);
	v->snapshot[1] = tl_stale_activated(pol, sc->target, TL_FILE_TYPE);
}

static void note_pace(struct tl_pace *p, uint64_t now, unsigned pages, uint64_t size)
{
	if (p->last)
		p->rounds += ((uint64_t)pages << TL_PACE_SHIFT) / size;
	else
		p->first = now;
	p->last = now;
}

/* Take folios off the tail, coldest first, until n pages were looked at.  Every folio on a list can be
 * isolated here.  Returns how many; *pages is what they come to. */
static unsigned isolate(struct rf_policy *pol, struct rf_lruvec *lv, int list, unsigned n, rf_page *page,
                        unsigned *pages)
{
	const uint16_t *const fact = pol->host->fact;
	uint8_t *const priv = pol->page_priv;
	struct tl_lruvec *v = tl_lruvec(lv);
	unsigned taken = 0, i;

	if (!pol->host->order) {
		*pages = taken = rf_queue_take(&v->list[list], pol, n, page);
	} else {
		for (*pages = 0; *pages < n && rf_queue_take(&v->list[list], pol, 1, page + taken); taken++)
			*pages += rf_folio_pages(pol, page[taken]);
	}
	if (taken)
		note_pace(&v->pace[list], pol->host->now, *pages, v->size[list]);
	v->size[list] -= *pages;
	for (i = 0; i < taken; i++) {
		__builtin_prefetch(&fact[page[i]], 1);
		priv[page[i]] = (priv[page[i]] & ~TL_LRU) | TL_ISOLATED;
	}
	return taken;
}

/* Those of page[] that were not taken away in the meantime, as unevictable. */
static void put_back(struct rf_policy *pol, struct rf_lruvec *lv, const rf_page *page, unsigned n)
{
	unsigned aged = 0, i;

	for (i = 0; i < n; i++)
		if (pol->page_priv[page[i]] & TL_ISOLATED && tl_list_add(pol, lv, page[i]) & TL_ACT)
			aged += rf_folio_pages(pol, page[i]);
	tl_age_nonresident(lv, aged);
}

enum references { REF_RECLAIM, REF_RECLAIM_CLEAN, REF_KEEP, REF_ACTIVATE };

/* folio_check_references(): 3.2. */
static enum references check_references(struct rf_policy *pol, rf_page page, struct rf_scan *sc)
{
	const struct tl_rules *r = &tl_state(pol)->rules;
	gboolean file = tl_is_file(pol, page);
	unsigned vm, young = pol->host->young(pol, page, sc->target, &vm);
	uint8_t *f = &pol->page_priv[page];
	gboolean referenced = (*f & TL_REF) != 0;

	if (vm & RF_VM_LOCKED_VMA)
		return REF_ACTIVATE;
	*f &= ~TL_REF;
	if (young) {
		if (!file && !r->anon_second_chance &&
		    ((pol->host->fact[page] & RF_PAGE_ANON) || !r->shmem_twice))
			return REF_ACTIVATE;
		if (!r->ref_twice)
			return REF_ACTIVATE;
		*f |= TL_REF;
		if (referenced || (young > 1 && r->shared_once))
			return REF_ACTIVATE;
		if (pol->host->spare_inactive(pol, page, vm))
			return REF_ACTIVATE;
		return REF_KEEP;
	}
	return referenced && file ? REF_RECLAIM_CLEAN : REF_RECLAIM;
}

/* What one pass over a vector did; handed to the host at its end.  ORDER type. */
struct tally {
	unsigned scanned[2], freed[2], activated, refilled, deactivated;
};

static void count(struct rf_policy *pol, struct rf_lruvec *lv, enum rf_counter counter, unsigned n)
{
	if (n)
		pol->host->count(pol, lv, counter, n);
}

static void report(struct rf_policy *pol, struct rf_lruvec *lv, const struct rf_scan *sc, const struct tally *t)
{
	count(pol, lv, sc->kswapd ? RF_C_pgscan_kswapd : sc->proactive ? RF_C_pgscan_proactive :
	      RF_C_pgscan_direct, t->scanned[0] + t->scanned[1]);
	count(pol, lv, sc->kswapd ? RF_C_pgsteal_kswapd : sc->proactive ? RF_C_pgsteal_proactive :
	      RF_C_pgsteal_direct, t->freed[0] + t->freed[1]);
	count(pol, lv, RF_C_pgscan_anon, t->scanned[0]);
	count(pol, lv, RF_C_pgscan_file, t->scanned[1]);
	count(pol, lv, RF_C_pgsteal_anon, t->freed[0]);
	count(pol, lv, RF_C_pgsteal_file, t->freed[1]);
	count(pol, lv, RF_C_pgactivate, t->activated);
	count(pol, lv, RF_C_pgrefill, t->refilled);
	count(pol, lv, RF_C_pgdeactivate, t->deactivated);
}

/* shrink_inactive_list(): 3.2.  Returns the pages freed. */
static unsigned shrink_inactive(struct rf_policy *pol, struct rf_lruvec *lv, int list, unsigned n,
                                struct rf_scan *sc, struct tally *tally)
{
	const struct rf_host *host = pol->host;
	int type = (list & TL_FILE) != 0;
	rf_page page[CLUSTER], left[CLUSTER];
	unsigned taken, scanned, freed = 0, nleft = 0, activated = 0, i;
	uint64_t pageouts = sc->pageouts;

	tl_drain(pol);
	taken = isolate(pol, lv, list, n, page, &scanned);
	if (!taken)
		return 0;
	sc->scanned += scanned;

	for (i = 0; i < taken; i++) {
		enum references ref = check_references(pol, page[i], sc);
		enum rf_verdict verdict = ref == REF_ACTIVATE ? RF_ACTIVATE : RF_KEEP;
		unsigned pages = rf_folio_pages(pol, page[i]);

		if (ref <= REF_RECLAIM_CLEAN)
			verdict = host->evict(pol, page[i], sc, ref == REF_RECLAIM_CLEAN);
		if (verdict == RF_FREED) {
			freed += pages;
			continue;
		}
		if (verdict == RF_ACTIVATE && !(host->fact[page[i]] & RF_PAGE_MLOCKED)) {
			pol->page_priv[page[i]] |= TL_ACT;
			activated += pages;
		}
		left[nleft++] = page[i];
	}
	put_back(pol, lv, left, nleft);

	tally->scanned[type] += scanned;
	tally->freed[type] += freed;
	tally->activated += activated;
	tl_lruvec(lv)->recent_scanned[type] += scanned;
	tl_lruvec(lv)->recent_rotated[type] += activated;
	tl_note_cost(pol, lv, type, sc->pageouts - pageouts, scanned - freed);
	host->batch_done(pol, lv, sc, scanned);
	return freed;
}

/* shrink_active_list(): 3.3. */
static void shrink_active(struct rf_policy *pol, struct rf_lruvec *lv, int list, unsigned n,
                          struct rf_scan *sc, struct tally *tally)
{
	const struct rf_host *host = pol->host;
	int type = (list & TL_FILE) != 0;
	rf_page page[CLUSTER], keep[CLUSTER];
	unsigned taken, scanned, i, nkeep = 0, nrest = 0, rotated = 0;

	tl_drain(pol);
	taken = isolate(pol, lv, list, n, page, &scanned);
	if (!taken)
		return;
	tally->refilled += scanned;
	for (i = 0; i < taken; i++) {
		unsigned vm;

		if (host->young(pol, page[i], sc->target, &vm) && host->spare_active(pol, page[i], vm)) {
			rotated += rf_folio_pages(pol, page[i]);
			keep[nkeep++] = page[i];
			continue;
		}
		pol->page_priv[page[i]] = (pol->page_priv[page[i]] & ~TL_ACT) | TL_WS;
		page[nrest++] = page[i];
	}
	put_back(pol, lv, keep, nkeep);
	put_back(pol, lv, page, nrest);
	tally->deactivated += scanned - rotated;
	tl_lruvec(lv)->recent_scanned[type] += scanned;
	tl_lruvec(lv)->recent_rotated[type] += rotated;
	tl_note_cost(pol, lv, type, 0, rotated);
	host->batch_done(pol, lv, sc, scanned);
}

/* The balance before 5.8: pressure by what share of the pages scanned lately was not rotated. */
static void old_fractions(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness,
                          uint64_t *ap, uint64_t *fp)
{
	struct tl_lruvec *v = tl_lruvec(lv);
	int type;

	for (type = 0; type < 2; type++) {
		uint64_t size = v->size[type * 2] + v->size[type * 2 + 1];

		if (v->recent_scanned[type] > size / 4) {
			v->recent_scanned[type] /= 2;
			v->recent_rotated[type] /= 2;
		}
	}
	*ap = swappiness * (v->recent_scanned[0] + 1) / (v->recent_rotated[0] + 1);
	*fp = (200 - swappiness) * (v->recent_scanned[1] + 1) / (v->recent_rotated[1] + 1);
	(void)pol;
}

static void new_fractions(const struct tl_lruvec *v, int swappiness, uint64_t *ap, uint64_t *fp)
{
	uint64_t total = v->cost[0] + v->cost[1];
	uint64_t anon = total + v->cost[0], file = total + v->cost[1];

	total = anon + file;
	*ap = swappiness * (total + 1) / (anon + 1);
	*fp = (200 - swappiness) * (total + 1) / (file + 1);
}

/* get_scan_count(): 4.2. */
static void scan_targets(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc,
                         uint64_t target[TL_NLISTS])
{
	const struct rf_host *host = pol->host;
	struct tl_lruvec *v = tl_lruvec(lv);
	enum { FILE_ONLY, ANON_ONLY, EQUAL, FRACTION } how;
	const gboolean spare_anon = host->spare_list && host->spare_list(pol, TRUE, sc);
	const gboolean spare_file = host->spare_list && host->spare_list(pol, FALSE, sc);
	uint64_t ap = 0, fp = 0;
	int i;

	if (!sc->may_swap || !host->swap_available(pol, lv))
		how = FILE_ONLY;
	else if (!sc->global && !sc->swappiness)
		how = FILE_ONLY;
	else if (!sc->prio && sc->swappiness)
		how = EQUAL;
	else if (sc->file_tiny || spare_file)
		how = ANON_ONLY;
	else if (sc->cache_trim)
		how = FILE_ONLY;
	else
		how = FRACTION;
	if (how == FRACTION) {
		if (tl_state(pol)->rules.cost == TL_COST_ROTATED)
			old_fractions(pol, lv, sc->swappiness, &ap, &fp);
		else /* the target's costs, not this vector's */
			new_fractions(tl_lruvec(sc->target), sc->swappiness, &ap, &fp);
	}
	for (i = 0; i < TL_NLISTS; i++) {
		gboolean file = (i & TL_FILE) != 0;
		uint64_t s = host->unprotected(pol, lv, v->size[i], sc) >> sc->prio;

		if (how == FRACTION && s)
			s = s * (file ? fp : ap) / (ap + fp);
		else if ((how == FILE_ONLY && !file) || (how == ANON_ONLY && file))
			s = 0;
		if (file ? spare_file : spare_anon)
			s = 0;
		target[i] = s;
	}
}

/* shrink_lruvec(): 4.3. */
void tl_shrink(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	/* ORDER: IA, AA, IF, AF as the kernel walks them. */
	const struct tl_rules *r = &tl_state(pol)->rules;
	uint64_t target[TL_NLISTS], nr[TL_NLISTS], got = 0;
	struct tally tally = { 0 };
	gboolean proportional_only = sc->global && !sc->kswapd && sc->prio == 12;
	int i;

	if (!r->deactivate_root)
		decide_deactivation(pol, lv, sc);
	scan_targets(pol, lv, sc, target);
	for (i = 0; i < TL_NLISTS; i++)
		nr[i] = target[i];
	while (nr[TL_INACTIVE_ANON] || nr[TL_ACTIVE_FILE] || nr[TL_INACTIVE_FILE]) {
		uint64_t nf, na, pct;
		int small, large;

		for (i = 0; i < TL_NLISTS; i++) {
			unsigned k = MIN(nr[i], CLUSTER);
			gboolean may = i & TL_FILE ? sc->may_deactivate_file : sc->may_deactivate_anon;

			if (!k)
				continue;
			nr[i] -= k;
			if (!(i & TL_ACTIVE))
				got += shrink_inactive(pol, lv, i, k, sc, &tally);
			else if (may)
				shrink_active(pol, lv, i, k, sc, &tally);
			else
				sc->skipped_deactivate = TRUE;
		}
		if (got < sc->goal || proportional_only)
			continue;
		if (!r->proportional)
			break;
		nf = nr[TL_INACTIVE_FILE] + nr[TL_ACTIVE_FILE];
		na = nr[TL_INACTIVE_ANON] + nr[TL_ACTIVE_ANON];
		if (!nf || !na)
			break;
		small = nf > na ? TL_INACTIVE_ANON : TL_INACTIVE_FILE;
		large = small ^ TL_FILE;
		pct = MIN(nf, na) * 100 / (target[small] + target[small | TL_ACTIVE] + 1);
		nr[small] = nr[small | TL_ACTIVE] = 0;
		for (i = large; i <= (large | TL_ACTIVE); i++) {
			uint64_t done = target[i] - nr[i], want = target[i] * (100 - pct) / 100;

			nr[i] = want - MIN(want, done);
		}
	}
	sc->reclaimed += got;
	/* Anonymous pages are aged whatever the targets were: 3.6. */
	if (pol->host->swap_total && inactive_is_low(pol, lv, TL_ANON_TYPE))
		shrink_active(pol, lv, TL_ACTIVE_ANON, CLUSTER, sc, &tally);
	report(pol, lv, sc, &tally);
}

/* kswapd_age_node(): 3.6. */
void tl_age(struct rf_policy *pol, struct rf_scan *sc)
{
	struct tl_state *st = tl_state(pol);
	uint32_t i;

	if (!pol->host->swap_total || !inactive_is_low(pol, sc->target, TL_ANON_TYPE))
		return;
	for (i = 0; i < st->nlruvecs; i++) {
		struct tally tally = { 0 };

		if (!st->lruvec[i])
			continue;
		shrink_active(pol, st->lruvec[i], TL_ACTIVE_ANON, CLUSTER, sc, &tally);
		report(pol, st->lruvec[i], sc, &tally);
	}
}
