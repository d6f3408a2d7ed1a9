/* SPDX-License-Identifier: MIT
 * sieve: first in, first out with a hand that stays where it is, so that what it spares keeps its
 * place and new pages are sifted first.  Zhang, Yang, Yue, Vigfusson, Rashmi, "SIEVE is simpler
 * than LRU", NSDI 2024.
 */
#include "policies/reclaim/lists.h"
#include "policies/registry.h"

struct sieve_lruvec {
	struct rf_list list; /* head: the youngest */
	rf_page hand;        /* goes from tail to head; RF_NO_PAGE: start at the tail */
};

static struct sieve_lruvec *sieve(struct rf_lruvec *lv)
{
	return lv->priv;
}

static void sieve_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_list_init(&sieve(lv)->list);
	sieve(lv)->hand = RF_NO_PAGE;
}

static void sieve_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                      uint64_t shadow)
{
	(void)how, (void)shadow;
	rf_list_push_head(pol->link, &sieve(lv)->list, page);
}

static uint64_t sieve_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                             enum rf_why why)
{
	struct sieve_lruvec *s = sieve(lv);

	(void)why;
	if (!rf_listed(pol->link, &s->list, page))
		return 1;
	if (s->hand == page)
		s->hand = pol->link[page].prev;
	rf_list_take(pol->link, &s->list, page);
	return 1;
}

static rf_page sieve_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct rf_host *host = pol->host;
	struct sieve_lruvec *s = sieve(lv);
	rf_page page = s->hand;

	for (uint32_t turn = s->list.n; turn; turn--) {
		if (page == RF_NO_PAGE)
			page = s->list.tail;
		if (!host->young(pol, page, sc->target, NULL))
			break;
		page = pol->link[page].prev;
	}
	if (page == RF_NO_PAGE)
		page = s->list.tail;
	s->hand = page;
	return page;
}

static void sieve_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                       enum rf_verdict verdict)
{
	(void)verdict;
	if (sieve(lv)->hand == page)
		sieve(lv)->hand = pol->link[page].prev;
}

static void sieve_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct sieve_lruvec *s = sieve(lv);

	rf_list_check(pol, &s->list, "sieve", TRUE);
	if (s->hand != RF_NO_PAGE && !(pol->host->fact[s->hand] & RF_PAGE_RESIDENT))
		g_error("sieve: the hand points at page %u, which is not in memory", s->hand);
}

const struct rf_reclaim_ops rf_reclaim_sieve = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "sieve",
	.summary = "fifo with a visited bit and a hand that does not move pages",
	.lruvec_size = sizeof(struct sieve_lruvec),
	.lruvec_init = sieve_lruvec_init,
	.add = sieve_add,
	.remove = sieve_remove,
	.propose = sieve_propose,
	.kept = sieve_kept,
	.check = sieve_check,
};
