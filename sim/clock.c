/* SPDX-License-Identifier: MIT */
#include "sim/clock.h"

struct entry {
	uint64_t when, seq, arg;
	rf_event_fn fn;
	void *machine;
};

struct rf_clock {
	struct entry *heap; /* binary heap, earliest first */
	size_t n, size;
	uint64_t seq;
};

static gboolean earlier(const struct entry *a, const struct entry *b)
{
	return a->when < b->when || (a->when == b->when && a->seq < b->seq);
}

struct rf_clock *rf_clock_new(void)
{
	return g_new0(struct rf_clock, 1);
}

void rf_clock_free(struct rf_clock *c)
{
	if (!c)
		return;
	g_free(c->heap);
	g_free(c);
}

void rf_clock_at(struct rf_clock *c, uint64_t when, rf_event_fn fn, void *machine, uint64_t arg)
{
	struct entry e = { when, c->seq++, arg, fn, machine };
	size_t i = c->n++;

	if (c->n > c->size) {
		c->size = MAX(64, c->size * 2);
		c->heap = g_renew(struct entry, c->heap, c->size);
	}
	for (; i && earlier(&e, &c->heap[(i - 1) / 2]); i = (i - 1) / 2)
		c->heap[i] = c->heap[(i - 1) / 2];
	c->heap[i] = e;
}

uint64_t rf_clock_next(const struct rf_clock *c)
{
	return c->n ? c->heap[0].when : UINT64_MAX;
}

static struct entry pop(struct rf_clock *c)
{
	struct entry top = c->heap[0], last = c->heap[--c->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < c->n) {
		if (child + 1 < c->n && earlier(&c->heap[child + 1], &c->heap[child]))
			child++;
		if (!earlier(&c->heap[child], &last))
			break;
		c->heap[i] = c->heap[child];
		i = child;
	}
	c->heap[i] = last;
	return top;
}

void rf_clock_run(struct rf_clock *c, uint64_t *now)
{
	uint64_t until = *now;

	while (c->n && c->heap[0].when <= until) {
		struct entry e = pop(c);

		*now = e.when;
		e.fn(e.machine, e.arg);
		if (*now > until) /* an event that takes time of its own */
			until = *now;
	}
	*now = until;
}
