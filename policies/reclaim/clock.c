/* SPDX-License-Identifier: MIT
 * clock: first in, first out, but a page used since the hand passed it gets a second chance.
 * Corbató, "A paging experiment with the Multics system", 1968.  A hand that turns over a ring,
 * and a queue whose oldest page goes back to its other end, are the same thing.
 */
#include "policies/reclaim/queue.h"
#include "policies/registry.h"

static struct rf_queue *ring(struct rf_lruvec *lv)
{
	return lv->priv;
}

static void clock_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_queue_init(ring(lv));
}

static void clock_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_queue_clear(ring(lv));
}

static void clock_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                      uint64_t shadow)
{
	(void)how, (void)shadow;
	rf_queue_push(ring(lv), pol->link, page);
}

static uint64_t clock_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                             enum rf_why why)
{
	(void)why;
	if (rf_queued(pol->link, page))
		rf_queue_remove(ring(lv), pol->link, page);
	return 1;
}

static rf_page clock_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct rf_host *host = pol->host;
	struct rf_queue *q = ring(lv);
	rf_page page = RF_NO_PAGE;

	/* One turn clears every bit: the page that the hand meets again is a victim. */
	for (uint32_t turn = q->n + 1; turn; turn--) {
		page = rf_queue_oldest(q, pol);
		if (page == RF_NO_PAGE || turn == 1 || !host->young(pol, page, sc->target, NULL))
			break;
		rf_queue_turn(q, pol->link, page);
	}
	return page;
}

static void clock_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                       enum rf_verdict verdict)
{
	(void)verdict;
	if (!rf_queued(pol->link, page))
		return;
	rf_queue_remove(ring(lv), pol->link, page);
	rf_queue_push(ring(lv), pol->link, page);
}

static void clock_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_queue_check(pol, ring(lv));
}

const struct rf_reclaim_ops rf_reclaim_clock = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "clock",
	.summary = "second chance: one accessed bit a page, a turning hand",
	.lruvec_size = sizeof(struct rf_queue),
	.lruvec_init = clock_lruvec_init,
	.lruvec_exit = clock_lruvec_exit,
	.add = clock_add,
	.remove = clock_remove,
	.propose = clock_propose,
	.kept = clock_kept,
	.check = clock_check,
};
