/* SPDX-License-Identifier: MIT
 * The kernel's multi-gen LRU: what its files share.  mglru.c has the options, the rules by release, use
 * and refault; mglru-list.c lists and batches; mglru-age.c makes generations; mglru-evict.c takes from
 * the oldest.
 * Section numbers are those of the model's reference in the manual.
 */
#ifndef RF_MGLRU_H
#define RF_MGLRU_H

#include "policies/policy.h"

#define MG_MIN_GENS 2u
#define MG_GENS 4u      /* at most, for each type */
#define MG_TIERS 4u
#define MG_BATCH 64u    /* MIN_LRU_BATCH: isolated at once, looked around, too little to judge by */
#define MG_SORT_MAX 4096u /* MAX_LRU_BATCH: looked at in one go */
#define MG_PER_CPU_MAX 31u
#define MG_ANON_ONLY 201 /* swappiness=max of a proactive reclaim */

enum { MG_ANON, MG_FILE, MG_TYPES };

/* Private bits of a page.  The list that it is linked on can differ from its generation: promotion
 * changes only the latter, and the scan moves what it meets. */
enum {
	MG_LIST_GEN = 3,       /* generation modulo 4 of the list that it is linked on, while MG_LRU */
	MG_LIST_FILE = 1 << 2, /* and that list's type */
	MG_GEN_SHIFT = 3,
	MG_GEN = 3 << MG_GEN_SHIFT, /* the page's own generation, while MG_LRU */
	MG_LRU = 1 << 5,
	MG_ADDED = 1 << 6,     /* in the add batch, on no list */
	MG_REF = 1 << 7,       /* PG_referenced */
	MG_WS = 1 << 8,        /* PG_workingset */
	MG_X_SHIFT = 9,
	MG_X = 3 << MG_X_SHIFT,/* more uses through file descriptors */
	MG_ACT = 1 << 11,      /* PG_active: never on a list */
	MG_ISOLATED = 1 << 12, /* taken by a scan */
	MG_QUEUED = 1 << 13,   /* in the activate batch */
};
#define MG_USE (MG_REF | MG_X)

/* Behaviour that changed between releases (11.8); each is an option too. */
struct mg_rules {
	unsigned batch;         /* per-CPU batch */
	gboolean two_touch;     /* 6.14: a young entry promotes only a page that had one before */
	gboolean ws_last;       /* 6.14: uses through descriptors count REF, X, WS; before REF, WS, X */
	gboolean distance;      /* 6.14: entry by distance from the youngest, faulted pages in the second */
	gboolean near_refault;  /* 6.14: a refault counts within 4 generations, not in the oldest only */
	gboolean fault_restores;/* until 6.14: every refault in a fault that counts is a restore */
	gboolean all_tiers;     /* 6.14: types are compared by all tiers, margin of tiers 2:3 */
	gboolean spread;        /* until 6.14: aging also looks at how pages spread over generations */
	gboolean independent;   /* 6.14: oldest generations of the types move on their own */
	gboolean protect_full;  /* 6.7: pages used four times and more are spared whatever the tiers say */
	gboolean reset_use;     /* 6.12 and 6.13: activation forgets uses */
	gboolean mark_own;      /* until 6.12: a look around marks the page in its middle used as well */
	gboolean queue_holds;   /* 6.11 to 6.16: a page that waits to be activated can't be isolated */
	gboolean memcg_lru;     /* 6.3: cgroups have generations of their own in global reclaim */
	gboolean walk, upper;   /* lru_gen/enabled: walk page tables; only where upper levels were used */
};

struct mg_options {
	int two_touch, ws_last, distance, near_refault, fault_restores, all_tiers, spread, independent;
	int protect_full, reset_use, mark_own, queue_holds, memcg_lru;
	int64_t enabled, min_ttl_ms, batch;
};

/* Per-CPU batches, in the order in which they are drained.  ORDER batches: moves[] in mglru-list.c. */
enum mg_batches { MG_B_ADD, MG_B_ROTATE, MG_B_DEACTIVATE, MG_B_LAZYFREE, MG_B_ACTIVATE, MG_NBATCHES };
struct mg_batch {
	unsigned n;
	rf_page page[MG_PER_CPU_MAX];
};

/* A Bloom filter of page-table leaves. */
#define MG_FILTER_SHIFT 15
struct mg_filter { uint64_t bit[(1 << MG_FILTER_SHIFT) / 64]; };

struct mg_lruvec {
	struct rf_list list[MG_GENS][MG_TYPES];
	uint64_t nr[MG_GENS][MG_TYPES]; /* pages by their own generation */
	uint64_t max_seq, min_seq[MG_TYPES];
	uint64_t birth[MG_GENS];
	/* Of the oldest generation, by tier, and averages of those before. */
	uint64_t refaulted[MG_TYPES][MG_TIERS], evicted[MG_TYPES][MG_TIERS], protected[MG_TYPES][MG_TIERS];
	uint64_t avg_refaulted[MG_TYPES][MG_TIERS], avg_total[MG_TYPES][MG_TIERS];
	struct mg_filter *filter[2]; /* NULL until a walk makes it: all pass */
	uint64_t memcg_seq;     /* memcg_lru: this cgroup's turn in global reclaim */
};

struct mg_state {
	struct mg_rules rules;
	uint64_t min_ttl; /* ns */
	struct mg_batch batch[MG_NBATCHES];
	struct rf_lruvec **lruvec; /* by id, NULL when gone */
	uint32_t nlruvecs;
	uint64_t memcg_seq;
	rf_page looking; /* the page whose references are being judged */
};

static inline struct mg_state *mg_state(struct rf_policy *pol) { return pol->priv; }
static inline struct mg_lruvec *mg_lruvec(struct rf_lruvec *lv) { return lv->priv; }
static inline uint16_t *mg_page(struct rf_policy *pol, rf_page page)
{
	return &((uint16_t *)(void *)pol->page_priv)[page];
}
static inline int mg_type(struct rf_policy *pol, rf_page page)
{
	return pol->host->fact[page] & RF_PAGE_SWAPBACKED ? MG_ANON : MG_FILE;
}
static inline unsigned mg_gen(uint16_t f) { return (f & MG_GEN) >> MG_GEN_SHIFT; }
static inline unsigned mg_gens(const struct mg_lruvec *v, int type)
{
	return (unsigned)(v->max_seq - v->min_seq[type] + 1);
}
/* The types that may be reclaimed at this swappiness: [first, last]. */
static inline int mg_first_type(int swappiness) { return swappiness ? MG_ANON : MG_FILE; }
static inline int mg_last_type(int swappiness) { return swappiness == MG_ANON_ONLY ? MG_ANON : MG_FILE; }
/* The oldest generation that there is to evict; until 6.14 that of anon, which is never younger. */
static inline uint64_t mg_oldest(struct rf_policy *pol, const struct mg_lruvec *v, int swappiness)
{
	const uint64_t first = v->min_seq[mg_first_type(swappiness)];

	return mg_state(pol)->rules.independent ? MIN(first, v->min_seq[mg_last_type(swappiness)]) : first;
}

/* What a page forgets when it is deactivated. */
static inline uint16_t mg_uses(struct rf_policy *pol)
{
	return mg_state(pol)->rules.ws_last ? MG_USE | MG_WS : MG_REF;
}

/* mglru.c */
unsigned mg_refs(struct rf_policy *pol, uint16_t f);
unsigned mg_tier(struct rf_policy *pol, uint16_t f);

/* mglru-list.c */
/* Where a page would go now. */
uint64_t mg_entry_seq(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, gboolean rotate);
void mg_list_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, gboolean rotate);
void mg_list_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);
/* Link the page, which is on a list, on that of gen; at the head or the tail. */
void mg_list_move(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned gen, gboolean tail);
void mg_queue(struct rf_policy *pol, enum mg_batches which, rf_page page);
void mg_unqueue(struct rf_policy *pol, enum mg_batches which, rf_page page);
void mg_drain(struct rf_policy *pol);

/* mglru-age.c */
/* folio_update_gen(): a walk found the page used. */
void mg_promote(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);
/* folio_inc_gen(): out of the oldest generation, unless it was promoted.  Its generation now. */
unsigned mg_demote(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, gboolean reclaim);
void mg_filter_update(struct mg_lruvec *v, uint64_t seq, uint64_t leaf);
gboolean mg_filter_test(const struct mg_lruvec *v, uint64_t seq, uint64_t leaf);
gboolean mg_dense(unsigned total, unsigned young);
gboolean mg_inc_min_seq(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness);
/* Must, or had better, aging run before more is evicted?  *pages: how many there are to evict. */
gboolean mg_should_age(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness, uint64_t *pages);
void mg_inc_max_seq(struct rf_policy *pol, struct rf_lruvec *lv, int swappiness);
void mg_age(struct rf_policy *pol, struct rf_scan *sc);

/* mglru-evict.c */
int mg_swappiness(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);
void mg_prepare(struct rf_policy *pol, struct rf_scan *sc);
void mg_shrink(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);

#endif
