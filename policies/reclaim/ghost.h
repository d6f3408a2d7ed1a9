/* SPDX-License-Identifier: MIT
 * What algorithms with ghost lists keep on a page: the list that it is on, and the lruvec that it
 * was evicted from (the host knows the lruvec of pages in memory only).
 */
#ifndef RF_GHOST_H
#define RF_GHOST_H

#include "policies/reclaim/lists.h"

struct rf_tag {
	uint32_t where : 4; /* the policy's; 0: on no list */
	uint32_t count : 4;
	uint32_t owner : 24; /* id of the lruvec */
};

#define RF_TAG_OWNERS (1u << 24)

/* lruvecs by id; first member of the policy's priv. */
struct rf_lruvecs {
	struct rf_lruvec **lv;
	uint32_t n;
};

static inline void rf_lruvecs_add(struct rf_lruvecs *t, struct rf_lruvec *lv)
{
	g_assert(lv->id < RF_TAG_OWNERS);
	if (lv->id >= t->n) {
		t->lv = g_renew(struct rf_lruvec *, t->lv, lv->id + 1);
		while (t->n <= lv->id)
			t->lv[t->n++] = NULL;
	}
	t->lv[lv->id] = lv;
}

static inline void rf_lruvecs_clear(struct rf_lruvecs *t)
{
	g_free(t->lv);
	t->lv = NULL;
	t->n = 0;
}

/* Take every page off a list and clear its tag: for a lruvec that goes away with its ghosts. */
static inline void rf_ghosts_drop(struct rf_link *link, struct rf_tag *tag, struct rf_list *l)
{
	rf_page page;

	while ((page = rf_list_pop_tail(link, l)) != RF_NO_PAGE)
		tag[page].where = 0;
}

#endif
