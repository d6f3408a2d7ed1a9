/* SPDX-License-Identifier: MIT
 * Plug-ins that must be refused, one a macro: WRONG_ABI, WRONG_SIZE, WRONG_OPS_ABI, NO_HOOK, NO_NAME,
 * TAKEN_NAME, NO_POLICY, NO_SYMBOL.
 */
#include <policies/policy.h>

static void add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                uint64_t shadow)
{
	(void)pol, (void)lv, (void)page, (void)how, (void)shadow;
}

static uint64_t take(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_why why)
{
	(void)pol, (void)lv, (void)page, (void)why;
	return 1;
}

static __attribute__((unused)) rf_page propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)lv, (void)sc;
	return RF_NO_PAGE;
}

extern const struct rf_reclaim_ops wrong;
const struct rf_reclaim_ops wrong = {
#ifdef WRONG_OPS_ABI
	.abi = 77,
#else
	.abi = RF_POLICY_ABI,
#endif
	.size = sizeof(struct rf_reclaim_ops),
#if defined(TAKEN_NAME)
	.name = "lru",
#elif !defined(NO_NAME)
	.name = "wrong",
#endif
	.summary = "refused",
	.add = add,
	.remove = take,
#ifndef NO_HOOK
	.propose = propose,
#endif
};

#ifdef NO_SYMBOL
#define SYMBOL another_name
#else
#define SYMBOL rf_plugin
#endif
extern const struct rf_plugin SYMBOL;
const struct rf_plugin SYMBOL = {
#ifdef WRONG_ABI
	.abi = 77,
#else
	.abi = RF_POLICY_ABI,
#endif
#ifdef WRONG_SIZE
	.ops_size = 8,
#else
	.ops_size = sizeof(struct rf_reclaim_ops),
#endif
#ifndef NO_POLICY
	.reclaim = &wrong,
#endif
};
