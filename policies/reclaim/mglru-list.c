/* SPDX-License-Identifier: MIT
 * mglru: lists, where a page enters them, and the per-CPU batches through which it moves (11.2).
 */
#include "policies/reclaim/mglru.h"

/* 11.2, and 11.8 for releases before 6.14. */
uint64_t mg_entry_seq(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, gboolean rotate)
{
	const struct mg_rules *r = &mg_state(pol)->rules;
	const struct mg_lruvec *v = mg_lruvec(lv);
	const uint16_t f = *mg_page(pol, page), fact = pol->host->fact[page];
	const int type = mg_type(pol, page);
	/* It can't be evicted at once: it needs a swap slot, or waits for its writeback. */
	gboolean wait = (type == MG_ANON && !(fact & RF_PAGE_SWAPCACHE)) ||
	                ((fact & RF_PAGE_RECLAIM) && (fact & (RF_PAGE_DIRTY | RF_PAGE_WRITEBACK)));
	uint64_t seq, back;

	if (!r->distance) {
		if (f & MG_ACT)
			seq = v->max_seq;
		else if (wait)
			seq = r->protect_full ? v->max_seq - 1 : v->min_seq[type] + 1;
		else if (rotate || v->min_seq[type] + MG_MIN_GENS >= v->max_seq || !r->protect_full)
			seq = v->min_seq[type];
		else
			seq = v->min_seq[type] + 1;
		return seq;
	}
	if (f & MG_ACT)
		back = f & MG_WS ? 0 : 1;
	else if (rotate)
		back = MG_GENS - 1;
	else if (wait)
		back = 1;
	else
		back = f & MG_WS ? MG_GENS - 2 : MG_GENS - 1;
	return MAX(v->max_seq - back, v->min_seq[type]);
}

void mg_list_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, gboolean rotate)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	const unsigned gen = mg_entry_seq(pol, lv, page, rotate) % MG_GENS;
	const int type = mg_type(pol, page);
	uint16_t f = *mg_page(pol, page);

	if ((f & MG_ACT) && mg_state(pol)->rules.reset_use)
		f &= ~MG_USE;
	f &= ~(MG_LIST_GEN | MG_LIST_FILE | MG_GEN | MG_ADDED | MG_ISOLATED | MG_ACT);
	f |= gen | gen << MG_GEN_SHIFT | (type == MG_FILE ? MG_LIST_FILE : 0) | MG_LRU;
	*mg_page(pol, page) = f;
	v->nr[gen][type]++;
	if (rotate)
		rf_list_push_tail(pol->link, &v->list[gen][type], page);
	else
		rf_list_push_head(pol->link, &v->list[gen][type], page);
}

void mg_list_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	uint16_t *f = mg_page(pol, page);
	const int type = *f & MG_LIST_FILE ? MG_FILE : MG_ANON;

	rf_list_remove(pol->link, &v->list[*f & MG_LIST_GEN][type], page);
	v->nr[mg_gen(*f)][type]--;
	*f &= ~MG_LRU;
}

void mg_list_move(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned gen, gboolean tail)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	uint16_t *f = mg_page(pol, page);
	const int type = *f & MG_LIST_FILE ? MG_FILE : MG_ANON;

	rf_list_remove(pol->link, &v->list[*f & MG_LIST_GEN][type], page);
	*f = (*f & ~MG_LIST_GEN) | gen;
	if (tail)
		rf_list_push_tail(pol->link, &v->list[gen][type], page);
	else
		rf_list_push_head(pol->link, &v->list[gen][type], page);
}

/* ---- per-CPU batches ---- */

static void do_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	mg_list_add(pol, lv, page, FALSE);
}

static void do_rotate(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	mg_list_remove(pol, lv, page);
	mg_list_add(pol, lv, page, TRUE);
	pol->host->count(pol, lv, RF_C_pgrotated, 1);
}

static void do_deactivate(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	mg_list_remove(pol, lv, page);
	*mg_page(pol, page) &= ~mg_uses(pol);
	mg_list_add(pol, lv, page, FALSE);
	pol->host->count(pol, lv, RF_C_pgdeactivate, 1);
}

static void do_lazyfree(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	if ((pol->host->fact[page] & (RF_PAGE_SWAPCACHE | RF_PAGE_SWAPBACKED)) != RF_PAGE_SWAPBACKED)
		return;
	mg_list_remove(pol, lv, page);
	*mg_page(pol, page) &= ~mg_uses(pol);
	pol->host->lazyfree(pol, page);
	mg_list_add(pol, lv, page, FALSE);
	pol->host->count(pol, lv, RF_C_pglazyfree, 1);
}

static void do_activate(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	*mg_page(pol, page) &= ~MG_QUEUED;
	mg_list_remove(pol, lv, page);
	*mg_page(pol, page) |= MG_ACT;
	mg_list_add(pol, lv, page, FALSE);
	pol->host->count(pol, lv, RF_C_pgactivate, 1);
}

/* ORDER batches. */
static const struct {
	void (*fn)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);
	uint16_t only; /* pages that were taken off the lists meanwhile are skipped */
} moves[MG_NBATCHES] = {
	{ do_add, MG_ADDED },
	{ do_rotate, MG_LRU },
	{ do_deactivate, MG_LRU },
	{ do_lazyfree, MG_LRU },
	{ do_activate, MG_LRU },
};

static void drain(struct rf_policy *pol, enum mg_batches which)
{
	struct mg_batch *b = &mg_state(pol)->batch[which];
	const unsigned n = b->n;
	unsigned i;

	b->n = 0;
	for (i = 0; i < n; i++)
		if (b->page[i] != RF_NO_PAGE && (*mg_page(pol, b->page[i]) & moves[which].only))
			moves[which].fn(pol, pol->host->lruvec_of(pol, b->page[i]), b->page[i]);
}

void mg_queue(struct rf_policy *pol, enum mg_batches which, rf_page page)
{
	struct mg_batch *b = &mg_state(pol)->batch[which];

	b->page[b->n++] = page;
	if (b->n >= mg_state(pol)->rules.batch)
		drain(pol, which);
}

void mg_unqueue(struct rf_policy *pol, enum mg_batches which, rf_page page)
{
	struct mg_batch *b = &mg_state(pol)->batch[which];
	unsigned i;

	for (i = 0; i < b->n; i++)
		if (b->page[i] == page)
			b->page[i] = RF_NO_PAGE;
}

void mg_drain(struct rf_policy *pol)
{
	int i;

	for (i = 0; i < MG_NBATCHES; i++)
		drain(pol, i);
}
