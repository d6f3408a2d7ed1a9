/* SPDX-License-Identifier: MIT
 * mglru: the kernel's multi-gen LRU, 6.1 to 6.18: its rules by release, how use through file
 * descriptors is noticed, what a refault does.  Section numbers are those of the model's reference
 * in the manual.
 */
#include "policies/reclaim/mglru.h"
#include <string.h>

#define OFF(member) offsetof(struct mg_options, member)
#define RULE(rule, member, text, rel) \
	{ .name = rule, .type = RF_OPT_ENUM, .offset = OFF(member), .def = "auto", \
	  .choices = "auto,no,yes", .help = text, .since = rel }

static const struct rf_option options[] = {
	{ .name = "min_ttl_ms", .type = RF_OPT_INT, .offset = OFF(min_ttl_ms), .unit = "ms", .def = "0",
	  .min = 0, .max = UINT32_MAX, .since = "6.1",
	  .help = "kill rather than evict generations younger than this; 0: never" },
	{ .name = "enabled", .type = RF_OPT_INT, .offset = OFF(enabled), .def = "7", .min = 1, .max = 7,
	  .since = "6.1",
	  .help = "lru_gen/enabled: 1 core, 2 page-table walks, 4 skip what upper levels show unused" },
	RULE("two_touch", two_touch, "the second young entry promotes a page, not the first", "6.14"),
	RULE("ws_last", ws_last, "the workingset flag comes after the counter of uses by descriptor", "6.14"),
	RULE("distance", distance, "faulted pages enter the second youngest generation", "6.14"),
	RULE("near_refault", near_refault, "refaults within four generations count", "6.14"),
	RULE("fault_restores", fault_restores, "a refault in a fault is a restore, until 6.14", "6.1"),
	RULE("all_tiers", all_tiers, "types are compared by all tiers, not by the first", "6.14"),
	RULE("spread", spread, "aging also evens out the sizes of generations, until 6.14", "6.1"),
	RULE("independent", independent, "oldest generations of anon and file move on their own", "6.14"),
	RULE("protect_full", protect_full, "pages with all uses counted are spared always", "6.7"),
	RULE("reset_use", reset_use, "activation forgets uses, in 6.12 and 6.13", "6.12"),
	RULE("mark_own", mark_own, "a look around marks the page in its middle too, until 6.12", "6.1"),
	RULE("queue_holds", queue_holds,
	     "pages waiting to be activated can't be isolated, 6.11 to 6.16", "6.11"),
	RULE("memcg_lru", memcg_lru, "cgroups have generations in global reclaim", "6.3"),
	{ .name = "batch", .type = RF_OPT_INT, .offset = OFF(batch), .unit = "pages", .def = "0",
	  .min = 0, .max = MG_PER_CPU_MAX, .help = "per-CPU batch of pages; 0: by release", .since = "6.1" },
	RF_OPTION_END
};

static gboolean pick(int option, gboolean by_release)
{
	return option == 0 ? by_release : option == 2;
}

static gboolean mg_init(struct rf_policy *pol, GError **error)
{
	const struct mg_options *o = pol->opt;
	struct mg_state *st = mg_state(pol);
	struct mg_rules *r = &st->rules;
	const unsigned k = pol->host->kernel;
	const gboolean reworked = k >= RF_KERNEL(6, 14, 0);

	(void)error;
	r->batch = o->batch ? (unsigned)o->batch : rf_lru_batch(k);
	r->two_touch = pick(o->two_touch, reworked);
	r->ws_last = pick(o->ws_last, reworked);
	r->distance = pick(o->distance, reworked);
	r->near_refault = pick(o->near_refault, reworked);
	r->fault_restores = pick(o->fault_restores, !reworked);
	r->all_tiers = pick(o->all_tiers, reworked);
	r->spread = pick(o->spread, !reworked);
	r->independent = pick(o->independent, reworked);
	r->protect_full = pick(o->protect_full, k >= RF_KERNEL(6, 7, 0));
	r->reset_use = pick(o->reset_use, k >= RF_KERNEL(6, 12, 0) && !reworked);
	r->mark_own = pick(o->mark_own, k < RF_KERNEL(6, 12, 0));
	r->queue_holds = pick(o->queue_holds, k >= RF_KERNEL(6, 11, 0) && k < RF_KERNEL(6, 17, 0));
	r->memcg_lru = pick(o->memcg_lru, k >= RF_KERNEL(6, 3, 0));
	r->walk = (o->enabled & 2) && pol->host->walk;
	r->upper = (o->enabled & 4) != 0;
	st->min_ttl = (uint64_t)o->min_ttl_ms * 1000000;
	st->looking = RF_NO_PAGE;
	return TRUE;
}

static void mg_exit(struct rf_policy *pol)
{
	g_free(mg_state(pol)->lruvec);
}

static void mg_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct mg_state *st = mg_state(pol);
	struct mg_lruvec *v = mg_lruvec(lv);
	unsigned gen;

	for (gen = 0; gen < MG_GENS; gen++) {
		rf_list_init(&v->list[gen][MG_ANON]);
		rf_list_init(&v->list[gen][MG_FILE]);
		v->birth[gen] = pol->host->now;
	}
	v->max_seq = MG_MIN_GENS + 1;
	v->memcg_seq = st->memcg_seq;
	if (lv->id >= st->nlruvecs) {
		st->lruvec = g_renew(struct rf_lruvec *, st->lruvec, lv->id + 1);
		while (st->nlruvecs <= lv->id)
			st->lruvec[st->nlruvecs++] = NULL;
	}
	st->lruvec[lv->id] = lv;
}

static void mg_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	g_free(mg_lruvec(lv)->filter[0]);
	g_free(mg_lruvec(lv)->filter[1]);
	mg_state(pol)->lruvec[lv->id] = NULL;
}

/* ---- uses and tiers: 11.1 ---- */

/* Uses through file descriptors: all of them since 6.14, those beyond the first before. */
unsigned mg_refs(struct rf_policy *pol, uint16_t f)
{
	unsigned x = (f & MG_X) >> MG_X_SHIFT;

	if (mg_state(pol)->rules.ws_last)
		return f & MG_REF ? x + 1 : 0;
	return x + (f & MG_WS ? 1 : 0);
}

static unsigned tier_of(struct rf_policy *pol, unsigned refs, gboolean ws)
{
	static const uint8_t log2_up[] = { 0, 0, 1, 2, 2, 3 };

	if (!mg_state(pol)->rules.ws_last)
		return log2_up[refs + 1];
	return ws ? MG_TIERS - 1 : log2_up[refs];
}

unsigned mg_tier(struct rf_policy *pol, uint16_t f)
{
	return tier_of(pol, mg_refs(pol, f), (f & MG_WS) != 0);
}

/* ---- eviction and refault: 11.5 ---- */

/* Shadow: top bit set, oldest generation then, uses, workingset flag, id of the page's cgroup. */
#define SHADOW_VALID (UINT64_C(1) << 63)
#define SHADOW_ID_BITS 16
#define SHADOW_SEQ_SHIFT (SHADOW_ID_BITS + 3)
#define SHADOW_SEQ_MASK ((UINT64_C(1) << (63 - SHADOW_SEQ_SHIFT)) - 1)

/* lru_gen_eviction(). */
static uint64_t evicted(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, uint16_t f)
{
	struct mg_lruvec *v = mg_lruvec(lv);
	const int type = mg_type(pol, page);
	const unsigned refs = mg_refs(pol, f);
	const gboolean ws = mg_state(pol)->rules.ws_last ? (f & MG_WS) != 0 : refs != 0;

	v->evicted[type][mg_tier(pol, f)]++;
	return SHADOW_VALID | (v->min_seq[type] & SHADOW_SEQ_MASK) << SHADOW_SEQ_SHIFT |
	       (uint64_t)lv->id << 3 | (refs ? refs - 1 : 0) << 1 | (ws ? 1 : 0);
}

/* lru_gen_refault(). */
static void refault(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how, uint64_t shadow)
{
	const struct mg_rules *r = &mg_state(pol)->rules;
	struct mg_lruvec *v = mg_lruvec(lv);
	const int type = mg_type(pol, page);
	const uint64_t seq = shadow >> SHADOW_SEQ_SHIFT & SHADOW_SEQ_MASK;
	const gboolean in_fault = (how & (RF_HOW_FAULT | RF_HOW_NORECENCY)) == RF_HOW_FAULT, ws = shadow & 1;
	const unsigned refs = (shadow >> 1 & 3) + (r->ws_last || ws ? 1 : 0);
	gboolean restore;

	if ((shadow >> 3 & ((1 << SHADOW_ID_BITS) - 1)) != lv->id)
		return;
	if (r->near_refault ? ((v->max_seq - seq) & SHADOW_SEQ_MASK) >= MG_GENS
	                    : seq != (v->min_seq[type] & SHADOW_SEQ_MASK))
		return;
	v->refaulted[type][tier_of(pol, refs, ws)]++;
	if (!r->fault_restores) {
		restore = ws;
		if (!ws)
			*mg_page(pol, page) |= (refs - 1) << MG_X_SHIFT;
	} else {
		restore = in_fault || refs >= (r->protect_full ? 3 : 4);
		if (restore && r->protect_full)
			*mg_page(pol, page) |= MG_X;
	}
	if (in_fault || r->fault_restores)
		pol->host->count(pol, lv, type == MG_FILE ? RF_C_workingset_activate_file :
		                 RF_C_workingset_activate_anon, 1);
	if (restore) {
		*mg_page(pol, page) |= MG_WS;
		pol->host->count(pol, lv, type == MG_FILE ? RF_C_workingset_restore_file :
		                 RF_C_workingset_restore_anon, 1);
	}
}

/* ---- entry, use, exit ---- */

static void mg_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how, uint64_t shadow)
{
	*mg_page(pol, page) = MG_ADDED;
	if (shadow & SHADOW_VALID)
		refault(pol, lv, page, how, shadow);
	if ((how & (RF_HOW_FAULT | RF_HOW_NORECENCY)) == RF_HOW_FAULT)
		*mg_page(pol, page) |= MG_ACT;
	mg_queue(pol, MG_B_ADD, page);
}

/* lru_gen_inc_refs(): 11.3. */
static void mg_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	const gboolean ws_last = mg_state(pol)->rules.ws_last;
	uint16_t *f = mg_page(pol, page);

	(void)lv;
	if (!(*f & MG_REF))
		*f = (ws_last ? *f & ~MG_X : *f) | MG_REF;
	else if (!ws_last && !(*f & MG_WS))
		*f |= MG_WS;
	else if ((*f & MG_X) != MG_X)
		*f += 1 << MG_X_SHIFT;
	else if (ws_last)
		*f |= MG_WS;
}

static uint64_t mg_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_why why)
{
	const uint16_t f = *mg_page(pol, page);
	uint64_t shadow = 0;

	if (f & MG_LRU)
		mg_list_remove(pol, lv, page);
	if (f & MG_ADDED)
		mg_unqueue(pol, MG_B_ADD, page);
	if (f & MG_QUEUED)
		mg_unqueue(pol, MG_B_ACTIVATE, page);
	if (why == RF_WHY_EVICTED) {
		shadow = evicted(pol, lv, page, f);
	} else {
		mg_unqueue(pol, MG_B_DEACTIVATE, page);
		mg_unqueue(pol, MG_B_LAZYFREE, page);
		mg_unqueue(pol, MG_B_ROTATE, page);
	}
	*mg_page(pol, page) = 0;
	return shadow;
}

static void mg_move(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_move how)
{
	uint16_t *f = mg_page(pol, page);

	if (!(*f & MG_LRU))
		return;
	switch (how) {
	case RF_MOVE_DEACTIVATE: /* MADV_COLD: folio_deactivate() */
		*f &= ~mg_uses(pol);
		if (mg_state(pol)->rules.ws_last &&
		    mg_gen(*f) == mg_lruvec(lv)->min_seq[mg_type(pol, page)] % MG_GENS)
			break; /* as old as can be */
		mg_queue(pol, MG_B_DEACTIVATE, page);
		break;
	case RF_MOVE_LAZYFREE:
		mg_queue(pol, MG_B_LAZYFREE, page);
		break;
	case RF_MOVE_ROTATE:
		mg_queue(pol, MG_B_ROTATE, page);
		break;
	case RF_MOVE_PAGEOUT:
		*f &= ~mg_uses(pol);
		break;
	case RF_MOVE_UNLAZY:
		mg_list_remove(pol, lv, page);
		mg_list_add(pol, lv, page, FALSE);
		break;
	}
}

static gboolean mg_workingset(struct rf_policy *pol, rf_page page)
{
	return (*mg_page(pol, page) & MG_WS) != 0;
}

/* The two youngest generations count as active. */
static void mg_sizes(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t out[4])
{
	const struct mg_lruvec *v = mg_lruvec(lv);
	unsigned gen, type;

	(void)pol;
	for (type = 0; type < MG_TYPES; type++) {
		out[type * 2] = out[type * 2 + 1] = 0;
		for (gen = 0; gen < MG_GENS; gen++) {
			const gboolean active = gen == v->max_seq % MG_GENS || gen == (v->max_seq - 1) % MG_GENS;

			out[type * 2 + active] += v->nr[gen][type];
		}
	}
}

/* One list: linked both ways, its pages flagged as they should be.  Counts them by generation. */
static void check_list(struct rf_policy *pol, struct rf_lruvec *lv, unsigned gen, unsigned type,
                       uint64_t nr[MG_GENS][MG_TYPES])
{
	const uint16_t never = MG_ACT | MG_ADDED | MG_ISOLATED;
	const struct rf_list *l = &mg_lruvec(lv)->list[gen][type];
	rf_page page, prev = RF_NO_PAGE;
	uint32_t n = 0;

	for (page = l->head; page != RF_NO_PAGE; prev = page, page = pol->link[page].next, n++) {
		const uint16_t f = *mg_page(pol, page);

		if (pol->link[page].prev != prev || n > l->n)
			g_error("mglru: list %u.%u is not linked both ways at page %u", gen, type, page);
		if (!(f & MG_LRU) || (f & never) || (f & MG_LIST_GEN) != gen ||
		    !(f & MG_LIST_FILE) != !type || mg_type(pol, page) != (int)type)
			g_error("mglru: page %u on list %u.%u has flags 0x%x", page, gen, type, f);
		if (!(pol->host->fact[page] & RF_PAGE_RESIDENT) || pol->host->lruvec_of(pol, page) != lv)
			g_error("mglru: page %u is not resident, or another lruvec's", page);
		nr[mg_gen(f)][type]++;
	}
	if (n != l->n || l->tail != prev)
		g_error("mglru: list %u.%u has %u pages, says %u", gen, type, n, l->n);
}

static void mg_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	const struct mg_lruvec *v = mg_lruvec(lv);
	uint64_t nr[MG_GENS][MG_TYPES] = { { 0 } };
	unsigned gen, type;

	for (type = 0; type < MG_TYPES; type++)
		if (mg_gens(v, type) < MG_MIN_GENS || mg_gens(v, type) > MG_GENS)
			g_error("mglru: lruvec %u has %u generations of type %u", lv->id, mg_gens(v, type), type);
	for (gen = 0; gen < MG_GENS; gen++)
		for (type = 0; type < MG_TYPES; type++)
			check_list(pol, lv, gen, type, nr);
	if (memcmp(nr, v->nr, sizeof(nr)))
		g_error("mglru: the counts of generations of lruvec %u are not those of its pages", lv->id);
}

const struct rf_reclaim_ops rf_reclaim_mglru = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "mglru",
	.summary = "the kernel's multi-gen LRU, by release",
	.flags = RF_POLICY_KERNEL,
	.options = options,
	.options_size = sizeof(struct mg_options),
	.policy_size = sizeof(struct mg_state),
	.lruvec_size = sizeof(struct mg_lruvec),
	.page_size = sizeof(uint16_t),
	.init = mg_init,
	.exit = mg_exit,
	.lruvec_init = mg_lruvec_init,
	.lruvec_exit = mg_lruvec_exit,
	.add = mg_add,
	.touch = mg_touch,
	.remove = mg_remove,
	.move = mg_move,
	.shrink = mg_shrink,
	.prepare = mg_prepare,
	.age = mg_age,
	.drain = mg_drain,
	.workingset = mg_workingset,
	.sizes = mg_sizes,
	.check = mg_check,
};
