/* SPDX-License-Identifier: MIT
 * More about lists than policy.h needs: is a page on one at all (it is not while it is mlocked),
 * and does a list hold what it says.
 */
#ifndef RF_LISTS_H
#define RF_LISTS_H

#include "policies/policy.h"

/* For policies that keep nothing on a page: pages go off the list by rf_list_take() only. */
static inline gboolean rf_listed(const struct rf_link *link, const struct rf_list *l, rf_page page)
{
	return link[page].prev != RF_NO_PAGE || link[page].next != RF_NO_PAGE || l->head == page;
}

static inline void rf_list_take(struct rf_link *link, struct rf_list *l, rf_page page)
{
	rf_list_remove(link, l, page);
	link[page].prev = link[page].next = RF_NO_PAGE;
}

/* From where it is to the head. */
static inline void rf_list_to_head(struct rf_link *link, struct rf_list *l, rf_page page)
{
	if (l->head == page)
		return;
	rf_list_remove(link, l, page);
	rf_list_push_head(link, l, page);
}

/* A scout walks some pages ahead of the tail and asks for what will be needed of those that go next:
 * pages that lie together in time do not in memory. */
#define RF_SCOUT_AHEAD 8

struct rf_scout {
	rf_page page;   /* RF_NO_PAGE: it has not set out */
	uint32_t ahead; /* at most this far from the tail */
};

static inline void rf_scout_init(struct rf_scout *s)
{
	s->page = RF_NO_PAGE;
	s->ahead = 0;
}

/* Before page leaves its place in the list. */
static inline void rf_scout_evade(struct rf_scout *s, const struct rf_link *link, rf_page page)
{
	if (s->page == page)
		s->page = link[page].prev;
}

/* The tail has left. */
static inline void rf_scout_follow(struct rf_scout *s, const struct rf_policy *pol,
                                   const struct rf_list *l)
{
	if (s->page == RF_NO_PAGE || s->page == l->tail || !s->ahead) {
		s->page = l->tail;
		s->ahead = 0;
	} else {
		s->ahead--;
	}
	while (s->ahead < RF_SCOUT_AHEAD && s->page != RF_NO_PAGE) {
		s->page = pol->link[s->page].prev;
		s->ahead++;
		if (s->page == RF_NO_PAGE)
			return;
		__builtin_prefetch(&pol->link[s->page], 1);
		__builtin_prefetch(&pol->host->fact[s->page], 1);
	}
}

/* Checked builds: the list holds n pages, all with the tag, in memory or all not, linked both
 * ways. */
static inline void rf_list_check(const struct rf_policy *pol, const struct rf_list *l,
                                 const char *name, gboolean resident)
{
	rf_page page, prev = RF_NO_PAGE;
	uint32_t n = 0;

	for (page = l->head; page != RF_NO_PAGE; prev = page, page = pol->link[page].next) {
		if (pol->link[page].prev != prev)
			g_error("%s: list %s: page %u is not linked back", pol->ops->name, name, page);
		if (((pol->host->fact[page] & RF_PAGE_RESIDENT) != 0) != resident)
			g_error("%s: list %s: page %u is %sin memory", pol->ops->name, name, page,
			        resident ? "not " : "");
		if (++n > l->n)
			break;
	}
	if (n != l->n || l->tail != prev)
		g_error("%s: list %s: it says %u pages and has %u", pol->ops->name, name, l->n, n);
}

#endif
