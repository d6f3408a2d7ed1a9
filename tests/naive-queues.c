/* SPDX-License-Identifier: MIT
 * fifo, lru, clock, sieve, 2q, s3fifo.
 */
#include "tests/naive.h"

static void drop_everywhere(struct naive *n, guint page)
{
	for (guint i = 0; i < G_N_ELEMENTS(n->queue); i++)
		q_remove(n->queue[i], page);
}

/* ---- fifo ---- */

static gboolean fifo_use(struct naive *n, guint page, guint at)
{
	GArray *q = n->queue[0];

	(void)at;
	if (q_find(q, page) >= 0)
		return FALSE;
	if (q->len == n->frames)
		q_pop(q);
	q_push(q, page);
	return TRUE;
}

const struct naive_ops naive_fifo = { "fifo", fifo_use, drop_everywhere };

/* ---- lru ---- */

static gboolean lru_use(struct naive *n, guint page, guint at)
{
	GArray *q = n->queue[0];
	gboolean hit = q_remove(q, page);

	(void)at;
	if (!hit && q->len == n->frames)
		q_pop(q);
	q_push(q, page);
	return !hit;
}

const struct naive_ops naive_lru = { "lru", lru_use, drop_everywhere };

/* ---- clock: a ring with a hand; a new page takes the victim's place ---- */

static gboolean clock_use(struct naive *n, guint page, guint at)
{
	GArray *ring = n->queue[0];

	(void)at;
	if (q_find(ring, page) >= 0) {
		set_count(n, page, 1);
		return FALSE;
	}
	set_count(n, page, 0);
	if (ring->len < n->frames) {
		/* Before the hand: it comes to the new page last. */
		g_array_insert_val(ring, n->hand, page);
		n->hand = (n->hand + 1) % ring->len;
		return TRUE;
	}
	while (count_of(n, q_at(ring, n->hand))) {
		set_count(n, q_at(ring, n->hand), 0);
		n->hand = (n->hand + 1) % ring->len;
	}
	g_array_index(ring, guint, n->hand) = page;
	n->hand = (n->hand + 1) % ring->len;
	return TRUE;
}

static void clock_drop(struct naive *n, guint page)
{
	GArray *ring = n->queue[0];
	int i = q_find(ring, page);

	if (i < 0)
		return;
	g_array_remove_index(ring, (guint)i);
	if ((guint)i < n->hand)
		n->hand--;
	if (n->hand == ring->len)
		n->hand = 0;
}

const struct naive_ops naive_clock = { "clock", clock_use, clock_drop };

/* ---- sieve: the hand walks from the oldest to the youngest; index of what it looks at next ---- */

static gboolean sieve_use(struct naive *n, guint page, guint at)
{
	GArray *q = n->queue[0];

	(void)at;
	if (q_find(q, page) >= 0) {
		set_count(n, page, 1);
		return FALSE;
	}
	if (q->len == n->frames) {
		for (;;) {
			if (n->hand >= q->len)
				n->hand = 0;
			if (!count_of(n, q_at(q, n->hand)))
				break;
			set_count(n, q_at(q, n->hand), 0);
			n->hand++;
		}
		/* The one after the victim slides under the hand; past the end, it starts anew with
		 * the oldest, and not with the page that comes in now. */
		g_array_remove_index(q, n->hand);
		if (n->hand >= q->len)
			n->hand = 0;
	}
	q_push(q, page);
	set_count(n, page, 0);
	return TRUE;
}

static void sieve_drop(struct naive *n, guint page)
{
	GArray *q = n->queue[0];
	int i = q_find(q, page);

	if (i < 0)
		return;
	g_array_remove_index(q, (guint)i);
	if ((guint)i < n->hand)
		n->hand--;
	if (n->hand >= q->len)
		n->hand = 0;
}

const struct naive_ops naive_sieve = { "sieve", sieve_use, sieve_drop };

/* ---- 2q: Kin a quarter, Kout a half of the frames ---- */

static gboolean q2_use(struct naive *n, guint page, guint at)
{
	GArray *a1in = n->queue[0], *am = n->queue[1], *a1out = n->queue[2];
	gboolean seen;

	(void)at;
	if (q_remove(am, page)) {
		q_push(am, page);
		return FALSE;
	}
	if (q_find(a1in, page) >= 0)
		return FALSE;
	seen = q_remove(a1out, page);
	if (a1in->len + am->len == n->frames) {
		if (a1in->len > share(n, 25) || !am->len) {
			q_push(a1out, q_pop(a1in));
			if (a1out->len > share(n, 50))
				q_pop(a1out);
		} else {
			q_pop(am);
		}
	}
	q_push(seen ? am : a1in, page);
	return TRUE;
}

const struct naive_ops naive_2q = { "2q", q2_use, drop_everywhere };

/* ---- s3fifo: S a tenth of the frames, G as large as M should be ---- */

static void s3_evict(struct naive *n)
{
	GArray *s = n->queue[0], *m = n->queue[1], *g = n->queue[2];

	if (s->len >= share(n, 10) || !m->len) {
		while (s->len) {
			guint page = q_pop(s);

			if (count_of(n, page) > 1) {
				set_count(n, page, 0);
				q_push(m, page);
				continue;
			}
			q_push(g, page);
			if (g->len > share(n, 90))
				q_pop(g);
			return;
		}
	}
	for (;;) {
		guint page = q_pop(m);

		if (!count_of(n, page))
			return;
		set_count(n, page, count_of(n, page) - 1);
		q_push(m, page);
	}
}

static gboolean s3_use(struct naive *n, guint page, guint at)
{
	GArray *s = n->queue[0], *m = n->queue[1], *g = n->queue[2];
	gboolean ghost;

	(void)at;
	if (q_find(s, page) >= 0 || q_find(m, page) >= 0) {
		set_count(n, page, MIN(count_of(n, page) + 1, 3));
		return FALSE;
	}
	ghost = q_remove(g, page);
	if (s->len + m->len == n->frames)
		s3_evict(n);
	q_push(ghost ? m : s, page);
	set_count(n, page, 0);
	return TRUE;
}

const struct naive_ops naive_s3fifo = { "s3fifo", s3_use, drop_everywhere };
