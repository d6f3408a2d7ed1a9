/* SPDX-License-Identifier: MIT
 * fifo: the page that came first leaves first.  Belady, "A study of replacement algorithms for a
 * virtual-storage computer", IBM Systems Journal, 1966.
 */
#include "policies/reclaim/lists.h"
#include "policies/registry.h"

struct fifo_lruvec {
	struct rf_list list; /* head: the youngest */
};

static struct fifo_lruvec *fifo(struct rf_lruvec *lv)
{
	return lv->priv;
}

static void fifo_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_list_init(&fifo(lv)->list);
}

static void fifo_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                     uint64_t shadow)
{
	(void)how, (void)shadow;
	rf_list_push_head(pol->link, &fifo(lv)->list, page);
}

static uint64_t fifo_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                            enum rf_why why)
{
	(void)why;
	if (rf_listed(pol->link, &fifo(lv)->list, page))
		rf_list_take(pol->link, &fifo(lv)->list, page);
	rf_list_look_ahead(pol, &fifo(lv)->list);
	return 1;
}

static rf_page fifo_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)sc;
	return fifo(lv)->list.tail;
}

/* What can't leave now goes round once more. */
static void fifo_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                      enum rf_verdict verdict)
{
	(void)verdict;
	rf_list_to_head(pol->link, &fifo(lv)->list, page);
}

static void fifo_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_check(pol, &fifo(lv)->list, "fifo", TRUE);
}

const struct rf_reclaim_ops rf_reclaim_fifo = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "fifo",
	.summary = "first in, first out",
	.lruvec_size = sizeof(struct fifo_lruvec),
	.lruvec_init = fifo_lruvec_init,
	.add = fifo_add,
	.remove = fifo_remove,
	.propose = fifo_propose,
	.kept = fifo_kept,
	.check = fifo_check,
};
