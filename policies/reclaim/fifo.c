/* SPDX-License-Identifier: MIT
 * fifo: the page that came first leaves first.  Belady, "A study of replacement algorithms for a
 * virtual-storage computer", IBM Systems Journal, 1966.
 */
#include "policies/reclaim/queue.h"
#include "policies/registry.h"

static struct rf_queue *queue(struct rf_lruvec *lv)
{
	return lv->priv;
}

static void fifo_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_queue_init(queue(lv));
}

static void fifo_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_queue_clear(queue(lv));
}

static void fifo_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                     uint64_t shadow)
{
	(void)how, (void)shadow;
	rf_queue_push(queue(lv), pol->link, page);
}

static uint64_t fifo_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                            enum rf_why why)
{
	(void)why;
	if (rf_queued(pol->link, page))
		rf_queue_remove(queue(lv), pol->link, page);
	return 1;
}

static rf_page fifo_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)sc;
	return rf_queue_oldest(queue(lv), pol);
}

/* What can't leave now goes round once more. */
static void fifo_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                      enum rf_verdict verdict)
{
	(void)verdict;
	if (!rf_queued(pol->link, page))
		return;
	rf_queue_remove(queue(lv), pol->link, page);
	rf_queue_push(queue(lv), pol->link, page);
}

static void fifo_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_queue_check(pol, queue(lv));
}

const struct rf_reclaim_ops rf_reclaim_fifo = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "fifo",
	.summary = "first in, first out",
	.lruvec_size = sizeof(struct rf_queue),
	.lruvec_init = fifo_lruvec_init,
	.lruvec_exit = fifo_lruvec_exit,
	.add = fifo_add,
	.remove = fifo_remove,
	.propose = fifo_propose,
	.kept = fifo_kept,
	.check = fifo_check,
};
