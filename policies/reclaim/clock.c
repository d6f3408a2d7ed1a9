/* SPDX-License-Identifier: MIT
 * clock: first in, first out, but a page used since the hand passed it gets a second chance.
 * Corbató, "A paging experiment with the Multics system", 1968.  A hand that turns over a ring and
 * a list whose tail goes back to its head are the same thing; the list needs no care when pages
 * are freed.
 */
#include "policies/reclaim/lists.h"
#include "policies/registry.h"

struct clock_lruvec {
	struct rf_list list; /* tail: under the hand */
};

static struct rf_list *ring(struct rf_lruvec *lv)
{
	return &((struct clock_lruvec *)lv->priv)->list;
}

static void clock_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_list_init(ring(lv));
}

static void clock_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                      uint64_t shadow)
{
	(void)how, (void)shadow;
	rf_list_push_head(pol->link, ring(lv), page);
}

static uint64_t clock_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                             enum rf_why why)
{
	(void)why;
	if (rf_listed(pol->link, ring(lv), page))
		rf_list_take(pol->link, ring(lv), page);
	rf_list_look_ahead(pol, ring(lv));
	return 1;
}

static rf_page clock_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct rf_host *host = pol->host;
	struct rf_list *l = ring(lv);

	/* One turn clears every bit: the page that the hand meets again is a victim. */
	for (uint32_t turn = l->n; turn; turn--) {
		if (!host->young(pol, l->tail, sc->target, NULL))
			break;
		rf_list_to_head(pol->link, l, l->tail);
	}
	return l->tail;
}

static void clock_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                       enum rf_verdict verdict)
{
	(void)verdict;
	rf_list_to_head(pol->link, ring(lv), page);
}

static void clock_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_check(pol, ring(lv), "clock", TRUE);
}

const struct rf_reclaim_ops rf_reclaim_clock = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "clock",
	.summary = "second chance: one accessed bit a page, a turning hand",
	.lruvec_size = sizeof(struct clock_lruvec),
	.lruvec_init = clock_lruvec_init,
	.add = clock_add,
	.remove = clock_remove,
	.propose = clock_propose,
	.kept = clock_kept,
	.check = clock_check,
};
