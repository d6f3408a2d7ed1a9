/* SPDX-License-Identifier: MIT
 * belady: reads on in the trace for each resident page.
 */
#include "tests/naive.h"

static guint next_use(struct naive *n, guint page, guint at)
{
	for (guint i = at + 1; i < n->nsteps; i++) {
		if (n->steps[i].page != page)
			continue;
		/* Freed first: what is used then is another page of that name. */
		return n->steps[i].what == STEP_DROP ? G_MAXUINT : i;
	}
	return G_MAXUINT;
}

static gboolean belady_use(struct naive *n, guint page, guint at)
{
	GArray *q = n->queue[0];
	guint furthest = 0, victim = 0;

	if (q_find(q, page) >= 0)
		return FALSE;
	if (q->len == n->frames) {
		for (guint i = 0; i < q->len; i++) {
			guint next = next_use(n, q_at(q, i), at);

			if (next > furthest) {
				furthest = next;
				victim = q_at(q, i);
			}
		}
		q_remove(q, victim);
	}
	q_push(q, page);
	return TRUE;
}

static void belady_drop(struct naive *n, guint page)
{
	q_remove(n->queue[0], page);
}

const struct naive_ops naive_belady = { "belady", belady_use, belady_drop };
