/* SPDX-License-Identifier: MIT
 * arc: recency (T1) and frequency (T2) share memory; ghosts of each (B1, B2) move the border.
 * Megiddo, Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003; names and the
 * case numbers in comments are the paper's.  The border moves in whole pages: the quotient of the
 * ghost lists' sizes is rounded down.
 */
#include "policies/reclaim/capacity.h"
#include "policies/reclaim/ghost.h"
#include "policies/reclaim/stuck.h"
#include "policies/registry.h"

enum { NOWHERE, T1, T2, B1, B2 };

struct arc_lruvec {
	struct rf_list list[5]; /* by the enum above; head: used last */
	uint32_t capacity, p;
	uint32_t failed;        /* stuck.h */
	rf_page wanted;         /* the page that miss() was last called for and add() not yet */
	gboolean wanted_in_b2, no_ghost;
};

static struct arc_lruvec *arc(struct rf_lruvec *lv)
{
	return lv->priv;
}

static struct rf_tag *tags(struct rf_policy *pol)
{
	return (struct rf_tag *)pol->page_priv;
}

static void put(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned where)
{
	struct rf_tag *tag = &tags(pol)[page];

	tag->where = where;
	tag->owner = lv->id;
	rf_list_push_head(pol->link, &arc(lv)->list[where], page);
}

static void take(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct rf_tag *tag = &tags(pol)[page];

	rf_list_remove(pol->link, &arc(lv)->list[tag->where], page);
	tag->where = NOWHERE;
}

static void arc_exit(struct rf_policy *pol)
{
	rf_lruvecs_clear(pol->priv);
}

static void arc_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	for (int i = 0; i < 5; i++)
		rf_list_init(&arc(lv)->list[i]);
	rf_capacity_init(&arc(lv)->capacity, pol);
	arc(lv)->wanted = RF_NO_PAGE;
	rf_lruvecs_add(pol->priv, lv);
}

static void arc_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_ghosts_drop(pol->link, tags(pol), &arc(lv)->list[B1]);
	rf_ghosts_drop(pol->link, tags(pol), &arc(lv)->list[B2]);
	((struct rf_lruvecs *)pol->priv)->lv[lv->id] = NULL;
}

static void arc_forget(struct rf_policy *pol, rf_page page)
{
	struct rf_tag *tag = &tags(pol)[page];

	if (tag->where)
		take(pol, ((struct rf_lruvecs *)pol->priv)->lv[tag->owner], page);
}

/* Move the border, and make room in the directory: all that comes before REPLACE. */
void rf_arc_miss(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct arc_lruvec *v = arc(lv);
	struct rf_list *l = v->list;
	const struct rf_tag *tag = &tags(pol)[page];
	unsigned where = tag->owner == lv->id ? tag->where : NOWHERE;
	uint32_t c = v->capacity;

	v->wanted = page;
	v->wanted_in_b2 = where == B2;
	v->no_ghost = FALSE;
	if (where == B1) { /* II */
		v->p = (uint32_t)MIN((uint64_t)v->p + MAX(l[B2].n / l[B1].n, 1), c);
	} else if (where == B2) { /* III */
		v->p -= MIN(v->p, MAX(l[B1].n / l[B2].n, 1));
	} else if (l[T1].n + l[B1].n >= c) { /* IV A */
		while (l[B1].n && l[T1].n + l[B1].n >= c)
			take(pol, lv, l[B1].tail);
		v->no_ghost = l[T1].n >= c;
	} else { /* IV B */
		while (l[B2].n && (uint64_t)l[T1].n + l[T2].n + l[B1].n + l[B2].n >= 2 * (uint64_t)c)
			take(pol, lv, l[B2].tail);
	}
}

static void arc_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                    uint64_t shadow)
{
	struct arc_lruvec *v = arc(lv);
	const struct rf_tag *tag = &tags(pol)[page];
	gboolean known;

	(void)how, (void)shadow;
	if (v->wanted != page)
		rf_arc_miss(pol, lv, page);
	v->wanted = RF_NO_PAGE;
	v->no_ghost = FALSE;
	v->failed = 0;
	known = (tag->where == B1 || tag->where == B2) && tag->owner == lv->id;
	arc_forget(pol, page);
	put(pol, lv, page, known ? T2 : T1);
	rf_capacity_grown(&v->capacity, v->list[T1].n + v->list[T2].n);
}

/* I: seen again. */
static void arc_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                       uint32_t count)
{
	(void)type, (void)count;
	if (!tags(pol)[page].where || arc(lv)->list[T2].head == page)
		return;
	take(pol, lv, page);
	put(pol, lv, page, T2);
}

static void arc_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	arc_access(pol, lv, page, 0, 1);
}

static uint64_t arc_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                           enum rf_why why)
{
	struct arc_lruvec *v = arc(lv);
	unsigned where = tags(pol)[page].where;

	v->failed = 0;
	if (where)
		take(pol, lv, page);
	if (why == RF_WHY_EVICTED) {
		if (!(where == T1 && v->no_ghost))
			put(pol, lv, page, where == T1 ? B1 : B2);
		v->no_ghost = FALSE;
	}
	return 1;
}

/* REPLACE */
static rf_page arc_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	struct arc_lruvec *v = arc(lv);
	const struct rf_list *t1 = &v->list[T1], *t2 = &v->list[T2];
	gboolean at_border = v->wanted != RF_NO_PAGE && v->wanted_in_b2 && t1->n == v->p, from_t1;

	(void)pol, (void)sc;
	rf_capacity_full(&v->capacity, t1->n + t2->n);
	v->p = MIN(v->p, v->capacity);
	from_t1 = (t1->n && (t1->n > v->p || at_border)) || v->no_ghost || !t2->n;
	/* The border is of no use when nothing on its side can leave. */
	if (rf_stuck(v->failed, (from_t1 ? t1 : t2)->n, (from_t1 ? t2 : t1)->n))
		from_t1 = !from_t1;
	return from_t1 ? t1->tail : t2->tail;
}

static void arc_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                     enum rf_verdict verdict)
{
	unsigned where = verdict == RF_ACTIVATE ? T2 : tags(pol)[page].where;

	take(pol, lv, page);
	put(pol, lv, page, where);
	rf_stuck_kept(&arc(lv)->failed, arc(lv)->list[T1].n + arc(lv)->list[T2].n);
}

static void arc_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	static const char *const names[] = { "", "T1", "T2", "B1", "B2" };

	for (unsigned i = T1; i <= B2; i++)
		rf_list_check(pol, &arc(lv)->list[i], names[i], i <= T2);
	if (arc(lv)->p > arc(lv)->capacity)
		g_error("arc: p is %u of %u", arc(lv)->p, arc(lv)->capacity);
}

const struct rf_reclaim_ops rf_reclaim_arc = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "arc",
	.summary = "adaptive: recency against frequency, balanced by ghosts",
	.flags = RF_POLICY_ACCESS,
	.policy_size = sizeof(struct rf_lruvecs),
	.lruvec_size = sizeof(struct arc_lruvec),
	.page_size = sizeof(struct rf_tag),
	.exit = arc_exit,
	.lruvec_init = arc_lruvec_init,
	.lruvec_exit = arc_lruvec_exit,
	.add = arc_add,
	.access = arc_access,
	.touch = arc_touch,
	.remove = arc_remove,
	.forget = arc_forget,
	.propose = arc_propose,
	.kept = arc_kept,
	.check = arc_check,
};
