/* SPDX-License-Identifier: MIT
 * The kernel's active and inactive lists: what its two files share.  twolist.c has the options, the
 * rules by release, entry, use and workingset; twolist-scan.c the scanning.
 */
#ifndef RF_TWOLIST_H
#define RF_TWOLIST_H

#include "policies/policy.h"
#include "policies/reclaim/queue.h"

/* ORDER list: bit 0 active, bit 1 file; sizes() gives them in this order. */
enum { TL_INACTIVE_ANON, TL_ACTIVE_ANON, TL_INACTIVE_FILE, TL_ACTIVE_FILE, TL_NLISTS };
#define TL_ACTIVE 1
#define TL_FILE 2
#define TL_ANON_TYPE 0
#define TL_FILE_TYPE 1

/* Private byte of a page: bits 0..1 the list it is on, while TL_LRU. */
enum {
	TL_LIST = 3,
	TL_LRU = 1 << 2,     /* on that list */
	TL_BATCH = 1 << 3,   /* in the add batch, on no list */
	TL_REF = 1 << 4,     /* PG_referenced */
	TL_ACT = 1 << 5,     /* PG_active */
	TL_WS = 1 << 6,      /* PG_workingset: was active once */
	TL_ISOLATED = 1 << 7 /* taken by a scan */
};

#define TL_BATCH_MAX 31

/* Behaviour that changed between releases (kernel-reclaim 15); each is an option too. */
enum { TL_FILE_AUTO, TL_FILE_ANY, TL_FILE_HALF, TL_FILE_RATIO }; /* ORDER active_file: choices */

struct tl_rules {
	unsigned batch;             /* per-CPU batch: 31 since 6.10, 15 before, 14 until 4.x */
	gboolean anon_inactive;     /* 5.9: anonymous pages start inactive and have a refault test */
	gboolean anon_second_chance;/* 5.9: a young anonymous page gets one more trip, not activation */
	gboolean ref_twice;         /* 2.6.34: a mapped file page needs two references to be activated */
	int active_file;            /* when the active file list is looked at */
	gboolean shmem_twice;       /* 2.6.34 to 3.4: a page of shmem too */
	gboolean shared_once;       /* 3.3: but one time is enough through two mappings */
	gboolean workingset;        /* 3.15: shadows and the refault test */
	int cost;                   /* enum tl_cost */
	gboolean deactivate_root;   /* 5.5: decided from the root of reclaim, not from each vector */
	gboolean refault_deactivate;/* 5.5 (file 4.7): new refaults let the active list shrink */
	gboolean cache_trim;        /* 5.5: plenty of inactive file: nothing else is scanned */
	gboolean proportional;      /* 3.11: after the goal, the larger type catches up */
};

/* ORDER cost: choices of the option. */
enum tl_cost { TL_COST_AUTO, TL_COST_ROTATED, TL_COST_PAGEOUT, TL_COST_IO_ROTATED };

struct tl_options {
	int active_file;
	int anon_inactive, ref_twice, shmem_twice, shared_once, anon_second_chance, workingset, cost;
	int deactivate_root, refault_deactivate, cache_trim, proportional;
	int64_t batch;
};

/* An index batch that drains when full (struct folio_batch of one CPU). */
struct tl_batch {
	unsigned n;
	rf_page page[TL_BATCH_MAX];
};

struct tl_state {
	struct tl_rules rules;
	struct tl_batch add, activate, deactivate, lazyfree, rotate;
	struct rf_lruvec **lruvec; /* by id, NULL when gone */
	uint32_t nlruvecs;
};

/* How fast scans go through a list. */
struct tl_pace {
	uint64_t first, last; /* scans: ns */
	uint64_t rounds;      /* lists' lengths looked at since the first, times 1 << TL_PACE_SHIFT */
};
#define TL_PACE_SHIFT 20

struct tl_lruvec {
	struct rf_queue list[TL_NLISTS]; /* of folios; the oldest is the tail */
	uint64_t size[TL_NLISTS];        /* in pages */
	struct tl_pace pace[TL_NLISTS];
	uint64_t cost[2];            /* anon_cost, file_cost */
	uint64_t nonresident_age;
	uint64_t activated[2];       /* workingset_activate_*, exact */
	uint64_t snapshot[2];        /* of ~activated at the end of the last reclaim call */
	uint64_t recent_scanned[2], recent_rotated[2]; /* balance before 5.8 */
	/* Statistics as folded last, hierarchical: decisions see these (kernel-reclaim 0.3). */
	uint64_t flushed_size[TL_NLISTS], flushed_activated[2];
};

static inline struct tl_state *tl_state(struct rf_policy *pol) { return pol->priv; }
static inline struct tl_lruvec *tl_lruvec(struct rf_lruvec *lv) { return lv->priv; }
static inline gboolean tl_is_file(struct rf_policy *pol, rf_page page)
{
	return !(pol->host->fact[page] & RF_PAGE_SWAPBACKED);
}

uint64_t tl_subtree_size(struct rf_lruvec *lv, int list);
uint64_t tl_subtree_activated(struct rf_lruvec *lv, int type);
/* ~X of kernel-reclaim 0.2: size of a list as the folded statistics have it. */
static inline uint64_t tl_stale_size(struct rf_policy *pol, struct rf_lruvec *lv, int list)
{
	if (!pol->host->stats_fresh)
		return tl_lruvec(lv)->flushed_size[list];
	return lv->child ? tl_subtree_size(lv, list) : tl_lruvec(lv)->size[list];
}

static inline uint64_t tl_stale_activated(struct rf_policy *pol, struct rf_lruvec *lv, int type)
{
	if (!pol->host->stats_fresh)
		return tl_lruvec(lv)->flushed_activated[type];
	return lv->child ? tl_subtree_activated(lv, type) : tl_lruvec(lv)->activated[type];
}

void tl_age_nonresident(struct rf_lruvec *lv, unsigned pages);
void tl_note_cost(struct rf_policy *pol, struct rf_lruvec *lv, int type, uint64_t io, uint64_t rotated);
/* Put a page on a list's head, by its flags and its type now.  Returns its flags then. */
static inline uint8_t tl_list_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct tl_lruvec *v = tl_lruvec(lv);
	uint8_t f = pol->page_priv[page] & ~(TL_LIST | TL_BATCH | TL_ISOLATED);

	f |= TL_LRU | (tl_is_file(pol, page) ? TL_FILE : 0) | (f & TL_ACT ? TL_ACTIVE : 0);
	v->size[f & TL_LIST] += rf_folio_pages(pol, page);
	rf_queue_push(&v->list[f & TL_LIST], pol->link, page);
	return pol->page_priv[page] = f;
}

void tl_list_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);
void tl_drain(struct rf_policy *pol);

/* twolist-scan.c */
void tl_prepare(struct rf_policy *pol, struct rf_scan *sc);
void tl_finish(struct rf_policy *pol, struct rf_scan *sc);
void tl_shrink(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);
void tl_age(struct rf_policy *pol, struct rf_scan *sc);

#endif
