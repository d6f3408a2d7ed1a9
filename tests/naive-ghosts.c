/* SPDX-License-Identifier: MIT
 * arc, lirs.
 */
#include "tests/naive.h"

/* ---- arc: T1, T2, B1, B2 ---- */

static void arc_replace(struct naive *n, gboolean in_b2)
{
	GArray *t1 = n->queue[0], *t2 = n->queue[1], *b1 = n->queue[2], *b2 = n->queue[3];

	if (t1->len >= 1 && ((in_b2 && t1->len == n->p) || t1->len > n->p))
		q_push(b1, q_pop(t1));
	else
		q_push(b2, q_pop(t2));
}

static gboolean arc_use(struct naive *n, guint page, guint at)
{
	GArray *t1 = n->queue[0], *t2 = n->queue[1], *b1 = n->queue[2], *b2 = n->queue[3];
	guint c = n->frames;
	gboolean full = t1->len + t2->len == c;

	(void)at;
	if (q_remove(t1, page) || q_remove(t2, page)) {
		q_push(t2, page);
		return FALSE;
	}
	if (q_find(b1, page) >= 0) {
		n->p = MIN(c, n->p + MAX(b2->len / b1->len, 1));
		if (full)
			arc_replace(n, FALSE);
		q_remove(b1, page);
		q_push(t2, page);
		return TRUE;
	}
	if (q_find(b2, page) >= 0) {
		guint delta = MAX(b1->len / b2->len, 1);

		n->p = n->p > delta ? n->p - delta : 0;
		if (full)
			arc_replace(n, TRUE);
		q_remove(b2, page);
		q_push(t2, page);
		return TRUE;
	}
	if (t1->len + b1->len == c) {
		if (t1->len < c) {
			q_pop(b1);
			if (full)
				arc_replace(n, FALSE);
		} else {
			q_pop(t1);
		}
	} else if (t1->len + t2->len + b1->len + b2->len >= c) {
		if (t1->len + t2->len + b1->len + b2->len == 2 * c)
			q_pop(b2);
		if (full)
			arc_replace(n, FALSE);
	}
	q_push(t1, page);
	return TRUE;
}

static void arc_drop(struct naive *n, guint page)
{
	for (guint i = 0; i < 4; i++)
		q_remove(n->queue[i], page);
}

const struct naive_ops naive_arc = { "arc", arc_use, arc_drop };

/* ---- lirs: the stack, the queue of resident HIR pages, LIR pages, ghosts in order of eviction ---- */

static gboolean is_in(GArray *q, guint page)
{
	return q_find(q, page) >= 0;
}

static void lirs_prune(struct naive *n)
{
	GArray *stack = n->queue[0], *lir = n->queue[2], *ghosts = n->queue[3];

	while (stack->len && !is_in(lir, q_at(stack, 0)))
		q_remove(ghosts, q_pop(stack));
}

/* One LIR page too many: the one at the bottom of the stack becomes HIR. */
static void lirs_demote(struct naive *n)
{
	GArray *stack = n->queue[0], *queue = n->queue[1], *lir = n->queue[2];

	lirs_prune(n);
	if (lir->len > n->frames - share(n, 1)) {
		guint page = q_pop(stack);

		q_remove(lir, page);
		q_push(queue, page);
		lirs_prune(n);
	}
}

static void to_top(GArray *stack, guint page)
{
	q_remove(stack, page);
	q_push(stack, page);
}

static gboolean lirs_hit(struct naive *n, guint page)
{
	GArray *stack = n->queue[0], *queue = n->queue[1], *lir = n->queue[2];
	gboolean recent = is_in(stack, page);

	if (is_in(lir, page)) {
		to_top(stack, page);
		lirs_prune(n);
		return TRUE;
	}
	if (!q_remove(queue, page))
		return FALSE;
	to_top(stack, page);
	q_push(recent ? lir : queue, page);
	lirs_demote(n);
	return TRUE;
}

static gboolean lirs_use(struct naive *n, guint page, guint at)
{
	GArray *stack = n->queue[0], *queue = n->queue[1], *lir = n->queue[2], *ghosts = n->queue[3];
	gboolean recent;

	(void)at;
	if (lirs_hit(n, page))
		return FALSE;
	recent = q_remove(ghosts, page);
	if (queue->len + lir->len == n->frames) {
		guint victim = q_pop(queue);

		if (is_in(stack, victim)) {
			q_push(ghosts, victim);
			if (ghosts->len > share(n, 200)) {
				guint oldest = q_pop(ghosts);

				q_remove(stack, oldest);
			}
		}
	}
	to_top(stack, page);
	q_push(recent || lir->len < n->frames - share(n, 1) ? lir : queue, page);
	lirs_demote(n);
	return TRUE;
}

static void lirs_drop(struct naive *n, guint page)
{
	for (guint i = 0; i < 4; i++)
		q_remove(n->queue[i], page);
	lirs_prune(n);
}

const struct naive_ops naive_lirs = { "lirs", lirs_use, lirs_drop };
