/* SPDX-License-Identifier: MIT
 * Plug-ins that must be refused, one a macro: WRONG_ABI, WRONG_SIZE, WRONG_HOST, WRONG_PROTECT, WRONG_OPS_ABI,
 * NO_HOOK, NO_NAME, TAKEN_NAME, NO_POLICY, NO_SYMBOL; NO_ACTIVATE, NO_LAYOUT, NO_LOCKS, NO_COVERS, NO_INIT and
 * TAKEN_PROTECT of other seams.
 */
#include <policies/plugin.h>

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

static __attribute__((unused)) gboolean rule(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	(void)opt, (void)host, (void)page, (void)vm;
	return FALSE;
}

static __attribute__((unused)) enum rf_first_load load(const void *opt, gboolean pattern)
{
	(void)opt, (void)pattern;
	return RF_LOAD_ZERO_PAGE;
}

static __attribute__((unused)) unsigned locks(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
                                              struct rf_vstep step[RF_VSTEPS])
{
	(void)vol, (void)op, (void)start, (void)end, (void)step;
	return 0;
}

static __attribute__((unused)) gboolean mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	(void)vol, (void)root, (void)start, (void)end;
	return TRUE;
}

static __attribute__((unused)) uint64_t ranges(struct rf_volatile *vol)
{
	(void)vol;
	return 0;
}

extern const struct rf_protect_ops rules;
const struct rf_protect_ops rules = {
#ifdef TAKEN_PROTECT
	.name = "skipexec",
#else
	.name = "wrong",
#endif
	.summary = "refused",
#ifndef NO_ACTIVATE
	.activate = rule,
#endif
	.rotate = rule,
};

extern const struct rf_account_ops layouts;
const struct rf_account_ops layouts = { .name = "wrong", .summary = "refused" };

extern const struct rf_volatile_ops purges;
const struct rf_volatile_ops purges = {
	.name = "wrong", .summary = "refused",
#ifdef NO_COVERS /* it counts ranges, and does not say what is in them */
	.locks = locks, .ranges = ranges,
#endif
	.mark = mark,
};

extern const struct rf_fill_ops fills;
const struct rf_fill_ops fills = { .name = "wrong", .summary = "refused", .load = load };

#ifdef NO_SYMBOL
#define SYMBOL another_name
extern const struct rf_plugin SYMBOL;
#else
#define SYMBOL rf_plugin
#endif
/* What is wrong stands behind what is right, and so takes its place. */
#pragma GCC diagnostic ignored "-Woverride-init"
const struct rf_plugin SYMBOL = {
	RF_PLUGIN,
#if defined(WRONG_ABI)
	.abi = 77,
#elif defined(WRONG_SIZE)
	.reclaim_size = 8,
#elif defined(WRONG_HOST)
	.host_size = 8,
#elif defined(WRONG_PROTECT)
	.protect_size = 8,
#elif defined(NO_ACTIVATE) || defined(TAKEN_PROTECT)
	.protect = &rules,
#elif defined(NO_LAYOUT)
	.account = &layouts,
#elif defined(NO_LOCKS) || defined(NO_COVERS)
	.volatile_ = &purges,
#elif defined(NO_INIT)
	.fill = &fills,
#endif
#if !defined(NO_POLICY) && !defined(NO_ACTIVATE) && !defined(TAKEN_PROTECT) && !defined(NO_LAYOUT) && \
	!defined(NO_LOCKS) && !defined(NO_COVERS) && !defined(NO_INIT)
	.reclaim = &wrong,
#endif
};
