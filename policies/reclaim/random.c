/* SPDX-License-Identifier: MIT
 * random: any page leaves, with equal chance.  The floor that a policy has to beat: Belady, "A
 * study of replacement algorithms for a virtual-storage computer", IBM Systems Journal, 1966.
 */
#include "base/rng.h"
#include "policies/registry.h"

struct random_lruvec {
	rf_page *slot; /* resident pages, in no order */
	uint32_t n, capacity;
};

struct random_page {
	uint32_t slot; /* counted from 1; 0: in none */
};

static struct random_lruvec *bag(struct rf_lruvec *lv)
{
	return lv->priv;
}

static struct random_page *of_page(struct rf_policy *pol, rf_page page)
{
	return &((struct random_page *)pol->page_priv)[page];
}

static gboolean random_init(struct rf_policy *pol, GError **error)
{
	(void)error;
	((struct rf_rng *)pol->priv)->s = pol->host->seed;
	return TRUE;
}

static void random_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)pol;
	g_free(bag(lv)->slot);
}

static void random_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                       uint64_t shadow)
{
	struct random_lruvec *b = bag(lv);

	(void)how, (void)shadow;
	if (b->n == b->capacity) {
		b->capacity = MAX(64, b->capacity * 2);
		b->slot = g_renew(rf_page, b->slot, b->capacity);
	}
	b->slot[b->n++] = page;
	of_page(pol, page)->slot = b->n;
}

static uint64_t random_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                              enum rf_why why)
{
	struct random_lruvec *b = bag(lv);
	uint32_t hole = of_page(pol, page)->slot;
	rf_page last;

	(void)why;
	if (!hole)
		return 1;
	last = b->slot[--b->n];
	b->slot[hole - 1] = last;
	of_page(pol, last)->slot = hole;
	of_page(pol, page)->slot = 0;
	return 1;
}

static rf_page random_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	struct random_lruvec *b = bag(lv);

	(void)sc;
	return b->n ? b->slot[rf_rng_below(pol->priv, b->n)] : RF_NO_PAGE;
}

static void random_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct random_lruvec *b = bag(lv);

	for (uint32_t i = 0; i < b->n; i++) {
		if (of_page(pol, b->slot[i])->slot != i + 1)
			g_error("random: page %u thinks that it is elsewhere than in slot %u", b->slot[i], i);
		if (!(pol->host->fact[b->slot[i]] & RF_PAGE_RESIDENT))
			g_error("random: page %u is not in memory", b->slot[i]);
	}
}

const struct rf_reclaim_ops rf_reclaim_random = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "random",
	.summary = "any page, with equal chance",
	.policy_size = sizeof(struct rf_rng),
	.lruvec_size = sizeof(struct random_lruvec),
	.page_size = sizeof(struct random_page),
	.init = random_init,
	.lruvec_exit = random_lruvec_exit,
	.add = random_add,
	.remove = random_remove,
	.propose = random_propose,
	.check = random_check,
};
