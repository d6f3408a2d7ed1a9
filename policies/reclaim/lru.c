/* SPDX-License-Identifier: MIT
 * lru: the page unused for longest leaves, every access counted.  A stack algorithm: Mattson,
 * Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal,
 * 1970.
 */
#include "policies/reclaim/lists.h"
#include "policies/registry.h"

struct lru_lruvec {
	struct rf_list list; /* head: used last */
	struct rf_scout scout;
};

static struct lru_lruvec *lru(struct rf_lruvec *lv)
{
	return lv->priv;
}

static void lru_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	rf_list_init(&lru(lv)->list);
	rf_scout_init(&lru(lv)->scout);
}

static void lru_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                    uint64_t shadow)
{
	(void)how, (void)shadow;
	rf_list_push_head(pol->link, &lru(lv)->list, page);
}

static void to_head(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct lru_lruvec *v = lru(lv);

	if (v->list.head == page || !rf_listed(pol->link, &v->list, page))
		return;
	rf_scout_evade(&v->scout, pol->link, page);
	rf_list_remove(pol->link, &v->list, page);
	rf_list_push_head(pol->link, &v->list, page);
}

static void lru_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                       uint32_t count)
{
	(void)type, (void)count;
	to_head(pol, lv, page);
}

static uint64_t lru_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                           enum rf_why why)
{
	struct lru_lruvec *v = lru(lv);

	if (!rf_listed(pol->link, &v->list, page))
		return 1;
	rf_scout_evade(&v->scout, pol->link, page);
	rf_list_take(pol->link, &v->list, page);
	if (why == RF_WHY_EVICTED)
		rf_scout_follow(&v->scout, pol, &v->list);
	return 1;
}

static rf_page lru_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)sc;
	return lru(lv)->list.tail;
}

static void lru_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                     enum rf_verdict verdict)
{
	(void)verdict;
	to_head(pol, lv, page);
}

static void lru_move(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_move how)
{
	struct lru_lruvec *v = lru(lv);
	struct rf_list *l = &v->list;

	if (how == RF_MOVE_UNLAZY || how == RF_MOVE_PAGEOUT || !rf_listed(pol->link, l, page))
		return;
	if (how == RF_MOVE_LAZYFREE)
		pol->host->lazyfree(pol, page);
	rf_scout_evade(&v->scout, pol->link, page);
	rf_list_remove(pol->link, l, page);
	rf_list_push_tail(pol->link, l, page);
}

static void lru_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_check(pol, &lru(lv)->list, "lru", TRUE);
}

const struct rf_reclaim_ops rf_reclaim_lru = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "lru",
	.summary = "least recently used, exact: every access counts",
	.flags = RF_POLICY_ACCESS | RF_POLICY_STACK,
	.lruvec_size = sizeof(struct lru_lruvec),
	.lruvec_init = lru_lruvec_init,
	.add = lru_add,
	.access = lru_access,
	.touch = to_head,
	.remove = lru_remove,
	.move = lru_move,
	.propose = lru_propose,
	.kept = lru_kept,
	.check = lru_check,
};
