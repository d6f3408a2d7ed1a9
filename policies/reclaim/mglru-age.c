/* SPDX-License-Identifier: MIT
 * mglru: aging.  A new youngest generation, the page-table walk that fills it, the filter of leaves
 * that are worth walking, and the ends of the window (11.4).
 */
#include "policies/reclaim/mglru.h"

/* ---- the Bloom filter of leaves ---- */

static void filter_keys(uint64_t leaf, unsigned key[2])
{
	uint64_t h = (leaf + 1) * UINT64_C(0x9e3779b97f4a7c15);

	key[0] = h >> 34 & ((1 << MG_FILTER_SHIFT) - 1);
	key[1] = (unsigned)(h >> (34 + MG_FILTER_SHIFT));
}

gboolean mg_filter_test(const struct mg_lruvec *v, uint64_t seq, uint64_t leaf)
{
	const struct mg_filter *f = v->filter[seq % 2];
	unsigned key[2];

	if (!f)
		return TRUE;
	filter_keys(leaf, key);
	return f->bit[key[0] / 64] >> key[0] % 64 & f->bit[key[1] / 64] >> key[1] % 64 & 1;
}

void mg_filter_update(struct mg_lruvec *v, uint64_t seq, uint64_t leaf)
{
	struct mg_filter *f = v->filter[seq % 2];
	unsigned key[2], i;

	if (!f)
		return;
	filter_keys(leaf, key);
	for (i = 0; i < 2; i++)
		f->bit[key[i] / 64] |= UINT64_C(1) << key[i] % 64;
}

static void filter_reset(struct mg_lruvec *v, uint64_t seq)
{
	if (v->filter[seq % 2])
		*v->filter[seq % 2] = (struct mg_filter){ { 0 } };
	else
		v->filter[seq % 2] = g_new0(struct mg_filter, 1);
}

/* Worth another walk: a young entry in each cache line, on average. */
gboolean mg_dense(unsigned total, unsigned young)
{
	return young * 8 >= total;
}

/* ---- generations of single pages ---- */

void mg_promote(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	const gboolean two_touch = mg_state(pol)->rules.two_touch;
	struct mg_lruvec *v = mg_lruvec(lv);
	const unsigned gen = v->max_seq % MG_GENS;
	uint16_t *f = mg_page(pol, page);

	if (two_touch && !(*f & (MG_REF | MG_WS))) {
		*f = (*f & ~MG_X) | MG_REF;
		return;
	}
	if (!(*f & MG_LRU)) { /* isolated: the scan will see that it is wanted */
		if (!two_touch)
			*f |= MG_REF;
		return;
	}
	v->nr[mg_gen(*f)][*f & MG_LIST_FILE ? MG_FILE : MG_ANON]--;
	v->nr[gen][*f & MG_LIST_FILE ? MG_FILE : MG_ANON]++;
	*f = (*f & ~(MG_GEN | MG_USE | MG_WS)) | gen << MG_GEN_SHIFT | (two_touch ? MG_WS : 0);
}

unsigned mg_demote(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, gboolean reclaim)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	uint16_t *f = mg_page(pol, page);
	const int type = *f & MG_LIST_FILE ? MG_FILE : MG_ANON;
	const unsigned old = v->min_seq[type] % MG_GENS, gen = (old + 1) % MG_GENS;

	if (mg_gen(*f) != old)
		return mg_gen(*f);
	v->nr[old][type]--;
	v->nr[gen][type]++;
	*f = (*f & ~(MG_GEN | MG_USE)) | gen << MG_GEN_SHIFT;
	if (!mg_state(pol)->rules.ws_last)
		*f &= ~MG_WS;
	if (reclaim && pol->host->mark_reclaim)
		pol->host->mark_reclaim(pol, page, TRUE);
	return gen;
}

/* ---- the window of generations ---- */

/* The counts of the oldest generation become part of the averages. */
static void carry_over(struct mg_lruvec *v, int type)
{
	unsigned t;

	for (t = 0; t < MG_TIERS; t++) {
		v->avg_refaulted[type][t] += v->refaulted[type][t];
		v->avg_refaulted[type][t] /= 2;
		v->avg_total[type][t] += v->evicted[type][t] + v->protected[type][t];
		v->avg_total[type][t] /= 2;
		v->refaulted[type][t] = v->evicted[type][t] = v->protected[type][t] = 0;
	}
}

/* Make room for a generation: the oldest one of a full window joins the next, at its cold end. */
static void merge_oldest(struct rf_policy *pol, struct rf_lruvec *lv, int type, int swappiness)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	struct rf_list *l = &v->list[v->min_seq[type] % MG_GENS][type];

	/* The pages of a type that is not reclaimed now change their generation as the numbers turn. */
	const gboolean evictable = type >= mg_first_type(swappiness) && type <= mg_last_type(swappiness);

	while (evictable && l->tail != RF_NO_PAGE) {
		const rf_page page = l->tail;
		const uint16_t f = *mg_page(pol, page);
		const unsigned tier = mg_tier(pol, f);

		mg_list_move(pol, lv, page, mg_demote(pol, lv, page, FALSE), TRUE);
		if (mg_state(pol)->rules.independent && mg_refs(pol, f) + (f & MG_WS ? 1 : 0) != MG_GENS + 1)
			v->protected[type][tier]++;
	}
	carry_over(v, type);
	v->min_seq[type]++;
}

/* Drop generations that are empty at the old end.  TRUE: some were. */
gboolean mg_inc_min_seq(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness)
{
	const struct mg_rules *r = &mg_state(pol)->rules;
	struct mg_lruvec *v = mg_lruvec(lv);
	uint64_t seq[MG_TYPES] = { v->min_seq[MG_ANON], v->min_seq[MG_FILE] };
	const gboolean both = swappiness && swappiness != MG_ANON_ONLY;
	gboolean moved = FALSE;
	int type;

	for (type = mg_first_type(swappiness); type <= mg_last_type(swappiness); type++)
		while (seq[type] + MG_MIN_GENS <= v->max_seq && !v->list[seq[type] % MG_GENS][type].n)
			seq[type]++;
	if (both && !r->independent) { /* file may not be older than anon */
		seq[MG_ANON] = MIN(seq[MG_ANON], seq[MG_FILE]);
		seq[MG_FILE] = MAX(seq[MG_ANON], v->min_seq[MG_FILE]);
	} else if (both) {
		const uint64_t held = v->max_seq - MG_MIN_GENS;

		if (seq[MG_ANON] > held && seq[MG_FILE] < held)
			seq[MG_ANON] = held;
		else if (seq[MG_FILE] > held && seq[MG_ANON] < held)
			seq[MG_FILE] = held;
	}
	for (type = 0; type < MG_TYPES; type++) {
		if (seq[type] <= v->min_seq[type])
			continue;
		carry_over(v, type);
		v->min_seq[type] = seq[type];
		moved = TRUE;
	}
	return moved;
}

gboolean mg_should_age(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness, uint64_t *pages)
{
	const struct mg_rules *r = &mg_state(pol)->rules;
	const struct mg_lruvec *v = mg_lruvec(lv);
	const uint64_t oldest = mg_oldest(pol, v, swappiness);
	uint64_t total = 0, young = 0, old = 0, seq;
	int type;

	*pages = 0;
	if (oldest + MG_MIN_GENS > v->max_seq && r->memcg_lru)
		return TRUE;
	for (type = mg_first_type(swappiness); type <= mg_last_type(swappiness); type++) {
		for (seq = v->min_seq[type]; seq <= v->max_seq; seq++) {
			const uint64_t n = v->nr[seq % MG_GENS][type];

			total += n;
			if (seq == v->max_seq)
				young += n;
			else if (seq + MG_MIN_GENS == v->max_seq)
				old += n;
		}
	}
	*pages = total;
	if (oldest + MG_MIN_GENS > v->max_seq)
		return TRUE;
	if (oldest + MG_MIN_GENS < v->max_seq)
		return FALSE;
	/* Three generations, as it should be: aging keeps each of them between a half and a quarter. */
	return !r->spread || young * MG_MIN_GENS > total || old * (MG_MIN_GENS + 2) < total;
}

/* ---- the page-table walk ---- */

struct walk {
	struct rf_walk w; /* first */
	uint64_t seq;
	gboolean forced, first;
	int swappiness;
};

static void walk_space(struct rf_policy *pol, struct rf_walk *w, gboolean fresh)
{
	struct walk *walk = (struct walk *)w;

	(void)pol;
	walk->forced |= fresh;
	if (walk->first)
		filter_reset(mg_lruvec(w->lv), walk->seq + 1);
	walk->first = FALSE;
}

static gboolean walk_enter(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf)
{
	struct walk *walk = (struct walk *)w;

	(void)pol;
	return walk->forced || mg_filter_test(mg_lruvec(w->lv), walk->seq, leaf);
}

static gboolean walk_young(struct rf_policy *pol, struct rf_walk *w, rf_page page)
{
	struct walk *walk = (struct walk *)w;
	const gboolean reworked = mg_state(pol)->rules.two_touch;

	if (pol->host->lruvec_of(pol, page) != w->lv)
		return FALSE;
	if (reworked ? !(*mg_page(pol, page) & MG_LRU)
	             : !walk->swappiness && mg_type(pol, page) == MG_ANON)
		return FALSE;
	mg_promote(pol, w->lv, page);
	return TRUE;
}

static void walk_left(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf, unsigned total, unsigned young)
{
	struct walk *walk = (struct walk *)w;

	(void)pol;
	if (mg_dense(total, young))
		mg_filter_update(mg_lruvec(w->lv), walk->seq + 1, leaf);
}

void mg_inc_max_seq(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	int type;

	if (mg_state(pol)->rules.walk) {
		struct walk walk = {
			.w = { .lv = lv, .anon = swappiness > 0, .file = swappiness != MG_ANON_ONLY,
			       .upper = mg_state(pol)->rules.upper, .space = walk_space, .enter = walk_enter,
			       .young = walk_young, .left = walk_left },
			.seq = v->max_seq, .first = TRUE, .swappiness = swappiness,
		};

		pol->host->walk(pol, &walk.w);
	}
	for (type = MG_TYPES - 1; type >= 0; type--)
		if (mg_gens(v, type) == MG_GENS)
			merge_oldest(pol, lv, type, swappiness);
	v->max_seq++;
	v->birth[v->max_seq % MG_GENS] = pol->host->now;
}

/* ---- kswapd: 11.7 ---- */

static gboolean old_enough(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct mg_state *st = mg_state(pol);
	const struct mg_lruvec *v = mg_lruvec(lv);
	const int swappiness = mg_swappiness(pol, lv, sc);
	const uint64_t oldest = st->rules.independent ? mg_oldest(pol, v, swappiness) : v->min_seq[MG_FILE];
	uint64_t total = 0, seq;
	int type;

	if (v->birth[oldest % MG_GENS] + st->min_ttl > pol->host->now)
		return FALSE;
	for (type = mg_first_type(swappiness); type <= mg_last_type(swappiness); type++)
		for (seq = v->min_seq[type]; seq <= v->max_seq; seq++)
			total += v->nr[seq % MG_GENS][type];
	return total >> sc->prio > 0 && pol->host->unprotected(pol, lv, total, sc) > 0;
}

void mg_age(struct rf_policy *pol, struct rf_scan *sc)
{
	struct mg_state *st = mg_state(pol);
	gboolean any = FALSE;
	uint32_t i;

	for (i = 0; i < st->nlruvecs; i++) {
		struct rf_lruvec *lv = st->lruvec[i];
		uint64_t pages;

		if (!lv)
			continue;
		any |= st->min_ttl && old_enough(pol, lv, sc);
		/* Until 6.3 kswapd alone ages for global reclaim, and does so here. */
		if (!st->rules.memcg_lru && mg_should_age(pol, lv, mg_swappiness(pol, lv, sc), &pages))
			mg_inc_max_seq(pol, lv, mg_swappiness(pol, lv, sc));
	}
	if (!st->min_ttl || any || sc->prio == 12 || !pol->host->out_of_memory)
		return;
	pol->host->out_of_memory(pol, sc->target, "no generation is older than min_ttl_ms");
}
