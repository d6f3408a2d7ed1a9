/* SPDX-License-Identifier: MIT
 * 2q: new pages pass through a fifo; only those asked for again after they left it come to the lru.
 * Johnson, Shasha, "2Q: a low overhead high performance buffer management replacement algorithm",
 * VLDB 1994, the full version; lists by the paper's names.
 */
#include "policies/reclaim/capacity.h"
#include "policies/reclaim/ghost.h"
#include "policies/reclaim/stuck.h"
#include "policies/registry.h"

enum { NOWHERE, A1IN, AM, A1OUT };

struct q_options {
	int64_t in, out;
};

static const struct rf_option options[] = {
	{ .name = "in", .type = RF_OPT_INT, .offset = offsetof(struct q_options, in), .unit = "%",
	  .def = "25", .min = 0, .max = 100, .help = "share of memory for pages seen once" },
	{ .name = "out", .type = RF_OPT_INT, .offset = offsetof(struct q_options, out), .unit = "%",
	  .def = "50", .min = 0, .max = 1000, .help = "ghosts remembered, as a share of memory" },
	RF_OPTION_END
};

struct q_lruvec {
	struct rf_list a1in, am, a1out; /* head: the youngest */
	uint32_t capacity;
	uint32_t failed; /* stuck.h */
};

static struct q_lruvec *q(struct rf_lruvec *lv)
{
	return lv->priv;
}

static struct rf_tag *tags(struct rf_policy *pol)
{
	return (struct rf_tag *)pol->page_priv;
}

static struct rf_list *list_of(struct q_lruvec *v, unsigned where)
{
	return where == A1IN ? &v->a1in : where == AM ? &v->am : &v->a1out;
}

static void put(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned where)
{
	struct rf_tag *tag = &tags(pol)[page];

	tag->where = where;
	tag->owner = lv->id;
	rf_list_push_head(pol->link, list_of(q(lv), where), page);
}

static void take(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct rf_tag *tag = &tags(pol)[page];

	rf_list_remove(pol->link, list_of(q(lv), tag->where), page);
	tag->where = NOWHERE;
}

static void q_exit(struct rf_policy *pol)
{
	rf_lruvecs_clear(pol->priv);
}

static void q_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_init(&q(lv)->a1in);
	rf_list_init(&q(lv)->am);
	rf_list_init(&q(lv)->a1out);
	rf_capacity_init(&q(lv)->capacity, pol);
	rf_lruvecs_add(pol->priv, lv);
}

static void q_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_ghosts_drop(pol->link, tags(pol), &q(lv)->a1out);
	((struct rf_lruvecs *)pol->priv)->lv[lv->id] = NULL;
}

static void q_forget(struct rf_policy *pol, rf_page page)
{
	struct rf_tag *tag = &tags(pol)[page];

	if (tag->where)
		take(pol, ((struct rf_lruvecs *)pol->priv)->lv[tag->owner], page);
}

/* Ghosts are trimmed here and not in remove(): the page that comes in leaves A1out first. */
static void q_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                  uint64_t shadow)
{
	const struct q_options *o = pol->opt;
	struct q_lruvec *v = q(lv);
	struct rf_tag *tag = &tags(pol)[page];
	gboolean wanted_again = tag->where == A1OUT && tag->owner == lv->id;
	uint32_t kout;

	(void)how, (void)shadow;
	v->failed = 0;
	q_forget(pol, page);
	put(pol, lv, page, wanted_again ? AM : A1IN);
	rf_capacity_grown(&v->capacity, v->a1in.n + v->am.n);
	kout = rf_capacity_share(v->capacity, o->out);
	while (v->a1out.n > kout)
		take(pol, lv, v->a1out.tail);
}

static void q_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                     uint32_t count)
{
	(void)type, (void)count;
	if (tags(pol)[page].where != AM || q(lv)->am.head == page)
		return; /* a hit in A1in may be part of the same use: it proves nothing */
	rf_list_remove(pol->link, &q(lv)->am, page);
	rf_list_push_head(pol->link, &q(lv)->am, page);
}

static void q_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	q_access(pol, lv, page, 0, 1);
}

static uint64_t q_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_why why)
{
	unsigned where = tags(pol)[page].where;

	q(lv)->failed = 0;
	if (where)
		take(pol, lv, page);
	if (why == RF_WHY_EVICTED && where == A1IN)
		put(pol, lv, page, A1OUT);
	return 1;
}

static rf_page q_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct q_options *o = pol->opt;
	struct q_lruvec *v = q(lv);
	gboolean in;

	(void)sc;
	rf_capacity_full(&v->capacity, v->a1in.n + v->am.n);
	in = v->a1in.n > rf_capacity_share(v->capacity, o->in) || !v->am.n;
	if (rf_stuck(v->failed, in ? v->a1in.n : v->am.n, in ? v->am.n : v->a1in.n))
		in = !in;
	return in ? v->a1in.tail : v->am.tail;
}

static void q_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                   enum rf_verdict verdict)
{
	unsigned where = verdict == RF_ACTIVATE ? AM : tags(pol)[page].where;

	take(pol, lv, page);
	put(pol, lv, page, where);
	rf_stuck_kept(&q(lv)->failed, q(lv)->a1in.n + q(lv)->am.n);
}

static void q_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_check(pol, &q(lv)->a1in, "A1in", TRUE);
	rf_list_check(pol, &q(lv)->am, "Am", TRUE);
	rf_list_check(pol, &q(lv)->a1out, "A1out", FALSE);
}

const struct rf_reclaim_ops rf_reclaim_2q = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "2q",
	.summary = "a fifo for what is new, an lru for what came back",
	.flags = RF_POLICY_ACCESS,
	.options = options,
	.options_size = sizeof(struct q_options),
	.policy_size = sizeof(struct rf_lruvecs),
	.lruvec_size = sizeof(struct q_lruvec),
	.page_size = sizeof(struct rf_tag),
	.exit = q_exit,
	.lruvec_init = q_lruvec_init,
	.lruvec_exit = q_lruvec_exit,
	.add = q_add,
	.access = q_access,
	.touch = q_touch,
	.remove = q_remove,
	.forget = q_forget,
	.propose = q_propose,
	.kept = q_kept,
	.check = q_check,
};
