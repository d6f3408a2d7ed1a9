/* SPDX-License-Identifier: MIT */
#include "sim/closed/spin.h"

#include <string.h>

#include "sim/closed/sched.h"

void rf_spin_clear(struct rf_spin *l)
{
	g_free(l->section);
	rf_line_clear(&l->line);
}

static void forget_past(struct rf_spin *l, uint64_t floor)
{
	while (l->first < l->n && l->section[l->first].to <= floor)
		l->first++;
	if (l->first < l->n / 2)
		return;
	l->n -= l->first;
	if (l->n)
		memmove(l->section, l->section + l->first, l->n * sizeof(*l->section));
	l->first = 0;
}

static void enter(struct rf_spin *l, size_t at, uint64_t from, uint64_t to)
{
	if (l->n == l->size) {
		l->size = MAX(16, l->size * 2);
		l->section = g_renew(struct rf_spin_section, l->section, l->size);
	}
	memmove(l->section + at + 1, l->section + at, (l->n - at) * sizeof(*l->section));
	l->section[at] = (struct rf_spin_section){ from, to };
	l->n++;
}

/* Each that is ahead hands it over; the more of them there are, the later it gets to know. */
static uint64_t first_gap(const struct rf_spin *l, uint64_t now, uint64_t hold, size_t *at)
{
	uint64_t ahead = 0;
	size_t i = l->first;

	while (i < l->n && l->section[i].to <= now)
		i++;
	for (; i < l->n && l->section[i].from < now + hold; i++, ahead++)
		now = MAX(now, l->section[i].to + l->costs->spin_handoff + ahead * l->costs->waiter);
	*at = i;
	return now;
}

void rf_spin_pass(struct rf_spin *l, struct rf_sched *s, uint64_t *now, uint64_t hold)
{
	uint64_t from;
	size_t at;

	l->stats->taken++;
	l->stats->held += hold;
	if (!s) {
		*now += hold;
		return;
	}
	if (l->costs->line && rf_sched_current(s))
		*now += rf_line_write(&l->line, s) * l->costs->line;
	forget_past(l, rf_sched_floor(s));
	from = first_gap(l, *now, hold, &at);
	if (from > *now) {
		l->stats->contended++;
		l->stats->waited += from - *now;
		l->stats->waited_max = MAX(l->stats->waited_max, from - *now);
		rf_sched_spun(s, from - *now);
	}
	if (hold)
		enter(l, at, from, from + hold);
	*now = from + hold;
}
