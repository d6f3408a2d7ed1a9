/* SPDX-License-Identifier: MIT */
#include "sim/reclaim.h"
#include "sim/policy.h"

/* One page, whoever named it. */
static enum rf_verdict take(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, struct rf_scan *sc)
{
	const struct rf_host *host = pol->host;
	gboolean anon = page < host->npages && (host->fact[page] & RF_PAGE_SWAPBACKED);
	enum rf_verdict verdict;

	sc->scanned++;
	host->count(pol, lv, anon ? RF_C_pgscan_anon : RF_C_pgscan_file, 1);
	host->count(pol, lv, sc->kswapd ? RF_C_pgscan_kswapd : RF_C_pgscan_direct, 1);
	verdict = host->spare_list && host->spare_list(pol, anon, sc) ? RF_ACTIVATE : host->evict(pol, page, sc, FALSE);
	if (verdict == RF_FREED) {
		sc->reclaimed++;
		host->count(pol, lv, anon ? RF_C_pgsteal_anon : RF_C_pgsteal_file, 1);
		host->count(pol, lv, sc->kswapd ? RF_C_pgsteal_kswapd : RF_C_pgsteal_direct, 1);
	}
	return verdict;
}

/* A policy that proposes single victims has no use for priorities: it is asked until the goal is
 * met, or until as many proposals in a row failed as there are pages. */
static void shrink_by_proposal(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	uint32_t failures = 0, batch = 0;

	while (sc->reclaimed < sc->goal && failures < pol->host->npages) {
		rf_page page = pol->ops->propose(pol, lv, sc);
		enum rf_verdict verdict;

		if (page == RF_NO_PAGE)
			break;
		verdict = take(pol, lv, page, sc);
		if (++batch == RF_SWAP_CLUSTER_MAX) { /* dirty pages wake the flusher, as they do for the kernel's lists */
			pol->host->batch_done(pol, lv, sc, batch);
			batch = 0;
		}
		if (verdict == RF_FREED) {
			failures = 0;
			continue;
		}
		failures++;
		if (verdict == RF_REFUSED)
			break; /* the fallback serves a policy that names pages it has not got */
		if (pol->ops->kept)
			pol->ops->kept(pol, lv, page, verdict);
	}
}

static gboolean in_subtree(const struct rf_lruvec *lv, const struct rf_lruvec *root)
{
	while (lv && lv != root)
		lv = lv->parent;
	return lv != NULL;
}

/* A policy that names nothing that can leave, while something could, would have tasks killed for it:
 * the first pages that can go do, and no more are sent to a device than are wanted. */
static void fall_back(struct rf_policy *pol, struct rf_scan *sc)
{
	const struct rf_host *host = pol->host;

	for (rf_page page = 0; page < host->npages && MAX(sc->reclaimed, sc->pageouts) < sc->goal; page++) {
		struct rf_lruvec *lv;

		if ((host->fact[page] & (RF_PAGE_RESIDENT | RF_PAGE_MLOCKED)) != RF_PAGE_RESIDENT)
			continue;
		lv = host->lruvec_of(pol, page);
		if (in_subtree(lv, sc->target) && take(pol, lv, page, sc) == RF_FREED)
			host->count(pol, lv, RF_C_rf_policy_fallback, 1);
	}
}

void rf_shrink_lruvec(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	if (pol->ops->shrink)
		pol->ops->shrink(pol, lv, sc);
	else
		shrink_by_proposal(pol, lv, sc);
}

/* Since 6.9 or so (kernel-reclaim 4.5 has the bracket) a direct reclaimer stops its walk through the
 * cgroups when it has enough, and starts over with a full walk when it got nothing. */
static gboolean partial_walks(const struct rf_policy *pol)
{
	return pol->host->kernel >= RF_KERNEL(6, 9, 0);
}

static void descend(struct rf_policy *pol, struct rf_scan *sc)
{
	for (sc->prio = RF_DEF_PRIORITY; sc->prio >= 0; sc->prio--) {
		struct rf_lruvec *lv;

		if (pol->ops->prepare)
			pol->ops->prepare(pol, sc);
		for (lv = sc->target; lv; lv = rf_lruvec_next(sc->target, lv)) {
			rf_shrink_lruvec(pol, lv, sc);
			if (pol->host->shrink_slab)
				pol->host->shrink_slab(pol, lv, sc);
			if (sc->reclaimed >= sc->goal && !sc->kswapd && partial_walks(pol) && !sc->full_walk)
				break;
		}
		if (sc->reclaimed >= sc->goal)
			break;
		if (pol->host->round_done)
			pol->host->round_done(pol, sc);
		if (!pol->ops->shrink) {
			/* Once more for those that a floor left with nothing: as the last resort. */
			if (sc->reclaimed || !sc->spared || !sc->prio)
				break;
			sc->prio = 1;
		}
	}
}

uint64_t rf_reclaim(struct rf_policy *pol, struct rf_scan *sc)
{
	descend(pol, sc);
	if (!sc->reclaimed && partial_walks(pol) && pol->ops->shrink) {
		sc->full_walk = TRUE;
		descend(pol, sc);
	}
	/* Nothing at all: once more with everything deactivated (kernel-reclaim 4.6). */
	if (!sc->reclaimed && sc->skipped_deactivate && !sc->force_deactivate) {
		sc->force_deactivate = TRUE;
		descend(pol, sc);
	}
	if (!sc->reclaimed && sc->low_skipped && !sc->low_reclaim) {
		sc->low_reclaim = TRUE;
		descend(pol, sc);
	}
	if (!sc->reclaimed && !sc->pageouts && !pol->ops->shrink)
		fall_back(pol, sc);
	if (pol->ops->finish)
		pol->ops->finish(pol, sc);
	return sc->reclaimed;
}
