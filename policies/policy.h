/* SPDX-License-Identifier: MIT
 * The policy interface: what a policy sees of the machine, and what it must answer.  Public,
 * installed as refault/policies/policy.h; plug-ins include plugin.h beside it.
 *
 * A policy sees logical pages: 32-bit indices that stay with a page from its first touch until it is
 * freed for good, in memory or not.  So a ghost list is just another list.  It keeps its state in
 * arrays that the host sizes (links, private bytes a page), never allocates per event, and decides in
 * integers.  It proposes; the host checks every proposal and answers with a verdict.
 *
 * Per memory cgroup there is one lruvec.  Every resident page on the LRU belongs to exactly one.
 */
#ifndef RF_POLICY_H
#define RF_POLICY_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/counters.h"
#include "base/option.h"

#define RF_POLICY_ABI 2

typedef uint32_t rf_page;
#define RF_NO_PAGE UINT32_MAX

/* Facts that the host keeps on a page; policies read them (host->fact[page]). */
enum rf_page_fact {
	RF_PAGE_RESIDENT = 1 << 0,
	RF_PAGE_SWAPBACKED = 1 << 1, /* anon-type: private anonymous, shmem; lazyfree pages have it clear */
	RF_PAGE_DIRTY = 1 << 2,
	RF_PAGE_WRITEBACK = 1 << 3,
	RF_PAGE_SWAPCACHE = 1 << 4,
	RF_PAGE_LAZYFREE = 1 << 5,
	RF_PAGE_MLOCKED = 1 << 6,
	RF_PAGE_RECLAIM = 1 << 7,  /* to be freed as soon as it is clean */
	RF_PAGE_EXECUTED = 1 << 8, /* an instruction was fetched from it, ever */
	RF_PAGE_ANON = 1 << 9,     /* private anonymous, lazyfree or not */
	RF_PAGE_HOST = 0xfc00,     /* the host's own */
};

/* Doubly linked lists by page index. */
struct rf_link { rf_page prev, next; };
struct rf_list { rf_page head, tail; uint32_t n; };
#define RF_LIST_INIT { RF_NO_PAGE, RF_NO_PAGE, 0 }

struct rf_lruvec {
	uint32_t id; /* 0 is the root */
	struct rf_lruvec *parent, *child, *sibling;
	void *priv; /* the policy's, ops->lruvec_size bytes, zeroed */
};

/* Flags of the mappings through which a page was found referenced. */
enum rf_vm { RF_VM_EXEC = 1, RF_VM_LOCKED_VMA = 2 };

enum rf_verdict {
	RF_FREED,    /* gone: remove() was called for it */
	RF_KEEP,     /* keep inactive: under asynchronous write, or in use */
	RF_ACTIVATE, /* make it active: mlocked, no swap slot, dirty file page, … */
	RF_REFUSED,  /* not a page that may be proposed; counted */
};

/* One reclaim call (the kernel's scan_control). */
struct rf_scan {
	struct rf_lruvec *target; /* whose limit was met; the root for the machine's own */
	uint64_t goal;            /* pages wanted */
	uint64_t reclaimed, scanned;
	uint64_t pageouts;        /* pages that evict() sent to swap, synchronous or not */
	uint64_t dirty, unqueued_dirty, writeback, congested, immediate; /* file pages met by evict() */
	int prio;                 /* 12 … 0 */
	int swappiness;           /* of the target */
	gboolean may_swap;
	gboolean global;          /* the machine is short, not a cgroup at its limit */
	gboolean kswapd, proactive;
	/* For kernel-like policies, between prepare() and finish(). */
	gboolean may_deactivate_anon, may_deactivate_file, force_deactivate, skipped_deactivate;
	gboolean cache_trim, cache_trim_forbidden, file_tiny;
	/* For memory.low: somebody was spared; this time nobody is. */
	gboolean low_skipped, low_reclaim;
	gboolean spared;    /* a floor of the protect seam kept pages from being reclaimed */
	gboolean full_walk; /* every cgroup of the subtree is visited, though the goal is met */
};

/* How a page came to be resident. */
enum rf_how {
	RF_HOW_FAULT = 1 << 0,     /* inside a page fault */
	RF_HOW_NEW = 1 << 1,       /* fresh anonymous memory: first touch or a copy */
	RF_HOW_READ = 1 << 2,      /* read(2) */
	RF_HOW_WRITE = 1 << 3,     /* write(2) */
	RF_HOW_READAHEAD = 1 << 4, /* nobody asked for this page yet */
	RF_HOW_SWAPIN = 1 << 5,
	RF_HOW_NORECENCY = 1 << 6, /* through a mapping with MADV_RANDOM or SEQUENTIAL */
	RF_HOW_EXEC = 1 << 7,      /* through an executable mapping */
};

enum rf_why {
	RF_WHY_EVICTED, /* reclaimed with a shadow: the value that remove() returns comes back in add() */
	RF_WHY_FREED,   /* freed for good: munmap, exit, truncation, MADV_DONTNEED */
	RF_WHY_LAZYFREE,/* a lazyfree page discarded by reclaim */
	RF_WHY_UNEVICTABLE, /* mlocked: off the lists until add() gives it back */
};

/* Advice that moves a page. */
enum rf_move {
	RF_MOVE_DEACTIVATE, /* MADV_COLD */
	RF_MOVE_LAZYFREE,   /* MADV_FREE: the policy calls host->lazyfree() when it takes effect */
	RF_MOVE_ROTATE,     /* writeback ended on a page marked RECLAIM: inactive tail */
	RF_MOVE_UNLAZY,     /* a lazyfree page was dirtied again: SWAPBACKED is set already */
	RF_MOVE_PAGEOUT,    /* MADV_PAGEOUT: evict() is next, whatever references there were */
};

struct rf_policy;

/* What a policy wants from page tables: of host->walk() and host->look_around(). */
struct rf_walk {
	struct rf_lruvec *lv;
	gboolean anon, file; /* mappings of anonymous memory and shmem; of files */
	gboolean upper;      /* leaves that were not used since they were last asked for are left out */
	/* walk() comes to an address space; fresh: for the first time. */
	void (*space)(struct rf_policy *pol, struct rf_walk *w, gboolean fresh);
	/* A page-table leaf: enter it? */
	gboolean (*enter)(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf);
	/* An entry of page has its accessed bit set: clear it (TRUE) or pass over it? */
	gboolean (*young)(struct rf_policy *pol, struct rf_walk *w, rf_page page);
	/* The leaf is done: entries looked at that a mapping covers, and how many were cleared. */
	void (*left)(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf, unsigned total, unsigned young);
};

/* What the host offers.  Arrays may move when pages are added: read them through the host. */
struct rf_host {
	uint32_t abi, size; /* RF_POLICY_ABI, sizeof(struct rf_host) */
	const uint16_t *fact;
	/* Simulated ms, by page, when it came into memory or was last found used; or NULL: kept only where
	 * the member of the protect seam wants it. */
	const uint32_t *seen;
	/* Order of a page's folio, or NULL where every folio is one page: only the first page of a folio
	 * is the policy's, and stands for 1 << order.  What the policy keeps in the link of a page that
	 * is out of memory goes with its shadow: the host copies it among the pages of a folio. */
	const uint8_t *order;
	uint64_t now;       /* simulated ns */
	uint32_t npages;    /* indices below this are valid */
	unsigned page_shift;
	unsigned kernel;    /* release: RF_KERNEL(6, 18, 0) */
	unsigned ncpus;
	uint32_t total_frames; /* of the machine, or of --frames */
	uint64_t seed;
	uint64_t swap_total;  /* pages of swap in the machine; 0: no device at all */
	gboolean stats_fresh; /* statistics of the cgroups are always current: flush() is not called */

	struct rf_lruvec *root;
	struct rf_lruvec *evict_target; /* during remove(RF_WHY_EVICTED): whose reclaim it is */
	struct rf_lruvec *(*lruvec_of)(struct rf_policy *pol, rf_page page);

	/* Test and clear the accessed bit in every mapping of the page that has recency and belongs to
	 * target's subtree: how many mappings had it.  vm: the flags of those (enum rf_vm), or NULL. */
	unsigned (*young)(struct rf_policy *pol, rf_page page, struct rf_lruvec *target, unsigned *vm);
	/* Take the page out of memory: unmap, write if it must, free.  The policy must have taken it
	 * off its list or leave it there: remove() follows a RF_FREED in either case.
	 * clean_only: RF_KEEP where it would have to be written. */
	enum rf_verdict (*evict)(struct rf_policy *pol, rf_page page, struct rf_scan *sc, gboolean clean_only);

	/* Count, for the lruvec's cgroup and its ancestors and, as the counter's scope says, the whole machine. */
	void (*count)(struct rf_policy *pol, struct rf_lruvec *lv, enum rf_counter c, int64_t n);
	/* A page becomes lazyfree now: SWAPBACKED is cleared.  For policies that have move(). */
	void (*lazyfree)(struct rf_policy *pol, rf_page page);
	/* A batch of pages from one list was looked at, and what stays put back: throttle on dirty pages,
	 * wake the flusher. */
	void (*batch_done)(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc, uint64_t taken);
	/* Shrink the kernel's own caches (shadow nodes) of lv at sc->prio. */
	void (*shrink_slab)(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);
	/* Free swap for this cgroup, in pages. */
	uint64_t (*swap_available)(struct rf_policy *pol, struct rf_lruvec *lv);
	/* Of size pages on a list of lv, how many the protection of memory.min and low leaves to scan. */
	uint64_t (*unprotected)(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t size, struct rf_scan *sc);
	/* The protect seam: see policies/protect. */
	gboolean (*spare_inactive)(struct rf_policy *pol, rf_page page, unsigned vm); /* activate on one reference? */
	gboolean (*spare_active)(struct rf_policy *pol, rf_page page, unsigned vm);   /* rotate instead of deactivating? */
	/* Time spent scanning n pages, charged to whoever reclaims. */
	void (*scan_cost)(struct rf_policy *pol, uint64_t pages, gboolean mapped);
	/* Belady only: position of the page's next use, UINT64_MAX for never. */
	uint64_t (*next_use)(struct rf_policy *pol, rf_page page);

	/* The rest may be NULL: a machine without page tables, without dirty data, without tasks. */

	/* Walk the page tables of each address space of w->lv's cgroup that ran since its last walk.
	 * Mappings that are locked, not accessible, or without recency are left out. */
	void (*walk)(struct rf_policy *pol, struct rf_walk *w);
	/* young() for page, and w->young() for it and its up to reach neighbours in the same leaf and
	 * mapping, wherever it was found young. */
	unsigned (*look_around)(struct rf_policy *pol, rf_page page, struct rf_lruvec *target, unsigned *vm,
	                        struct rf_walk *w, unsigned reach);
	/* A dirty page, or one under writeback, is to be freed as soon as it is clean, or not any more. */
	void (*mark_reclaim)(struct rf_policy *pol, rf_page page, gboolean on);
	/* Kill a task of lv's subtree rather than reclaim what is still wanted. */
	void (*out_of_memory)(struct rf_policy *pol, struct rf_lruvec *lv, const char *reason);
	/* What the policy makes of a refault, for who studies it: how far its estimate says that page was
	 * from staying in memory, in pages; within limit it takes the page for one of the working set. */
	void (*estimated)(struct rf_policy *pol, rf_page page, uint64_t distance, uint64_t limit);
	/* The protect seam: are pages of this type to be left alone at sc->prio?  For policies that have
	 * shrink(): what others propose is tested for them. */
	gboolean (*spare_list)(struct rf_policy *pol, gboolean anon, struct rf_scan *sc);
	/* A direct reclaimer is done with priority sc->prio and has not enough: it may have to wait. */
	void (*round_done)(struct rf_policy *pol, struct rf_scan *sc);
};

#define RF_KERNEL(a, b, c) (((a) << 16) | ((b) << 8) | (c))

enum rf_policy_flag {
	RF_POLICY_ACCESS = 1 << 0,  /* wants access() for every access */
	RF_POLICY_FUTURE = 1 << 1,  /* wants host->next_use() */
	RF_POLICY_STACK = 1 << 2,   /* a stack algorithm: one-pass curves and reduced traces are valid */
	RF_POLICY_FOLIOS = 1 << 4,  /* heeds host->order: the page cache may have large folios */
	RF_POLICY_KERNEL = 1 << 3,  /* counts as the kernel does: vmscan-shaped reports need no note */
};

/* A reclaim policy. */
struct rf_reclaim_ops {
	uint32_t abi, size; /* RF_POLICY_ABI, sizeof(struct rf_reclaim_ops) */
	const char *name, *summary;
	unsigned flags;
	const struct rf_option *options; /* or NULL */
	size_t options_size, policy_size, lruvec_size, page_size; /* bytes; zeroed by the host */

	gboolean (*init)(struct rf_policy *pol, GError **error); /* optional */
	void (*exit)(struct rf_policy *pol);                     /* optional */
	void (*lruvec_init)(struct rf_policy *pol, struct rf_lruvec *lv);
	void (*lruvec_exit)(struct rf_policy *pol, struct rf_lruvec *lv); /* optional */

	/* page has become resident.  shadow: what remove() returned when it was evicted last, or 0. */
	void (*add)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how, uint64_t shadow);
	/* count accesses to a resident page, of one type (enum rf_access).  Only with RF_POLICY_ACCESS;
	 * not called for the access that brought the page in. */
	void (*access)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type, uint32_t count);
	/* Optional: use through a file descriptor, or a young mapping of a file page that goes away
	 * (mark_page_accessed). */
	void (*touch)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);
	/* page leaves memory, or its list.  Must forget it, whatever list it is on.  For
	 * RF_WHY_EVICTED the answer (not 0) is kept as its shadow. */
	uint64_t (*remove)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_why why);
	/* A page that was evicted is freed for good (its ghost must be forgotten).  Optional. */
	void (*forget)(struct rf_policy *pol, rf_page page);
	void (*move)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_move how); /* optional */

	/* One of the two.  propose: the next victim of lv, still on its list, or RF_NO_PAGE; kept()
	 * follows when it was not freed.  shrink: one pass over lv at sc->prio: call host->evict. */
	rf_page (*propose)(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);
	void (*kept)(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, enum rf_verdict verdict);
	void (*shrink)(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);

	void (*prepare)(struct rf_policy *pol, struct rf_scan *sc); /* optional: before each priority */
	void (*finish)(struct rf_policy *pol, struct rf_scan *sc);  /* optional: after a whole reclaim call */
	void (*age)(struct rf_policy *pol, struct rf_scan *sc);     /* optional: kswapd's aging, each round */
	void (*drain)(struct rf_policy *pol);  /* optional: empty the per-CPU batches */
	void (*flush)(struct rf_policy *pol);  /* optional: statistics of the cgroups are folded now */
	/* Optional: is the page's workingset flag set (it was active once)? */
	gboolean (*workingset)(struct rf_policy *pol, rf_page page);
	/* Sizes for reports: inactive_anon, active_anon, inactive_file, active_file.  Optional. */
	void (*sizes)(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t out[4]);
	/* Simulated ns that scans take from end to end of those lists, in the mean; 0: not scanned.  Optional. */
	void (*scan_times)(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t out[4]);
	/* Checked builds: verify every list against the facts; abort with a message.  Optional. */
	void (*check)(struct rf_policy *pol, struct rf_lruvec *lv);
};

/* An instance of a policy. */
struct rf_policy {
	const struct rf_reclaim_ops *ops;
	const struct rf_host *host;
	void *opt;             /* option block, or NULL */
	void *priv;            /* policy_size bytes */
	struct rf_link *link;  /* one a page, initialised to RF_NO_PAGE */
	uint8_t *page_priv;    /* page_size bytes a page; may move: read through the policy */
	void *machine;         /* the host's own */
};

/* Pages that a processor collects before it puts them on lists (PAGEVEC_SIZE). */
static inline unsigned rf_lru_batch(unsigned kernel)
{
	return kernel >= RF_KERNEL(6, 10, 0) ? 31 : kernel >= RF_KERNEL(4, 15, 0) ? 15 : 14;
}

/* Pages that a page on a list stands for. */
static inline unsigned rf_folio_pages(const struct rf_policy *pol, rf_page page)
{
	return pol->host->order ? 1u << pol->host->order[page] : 1;
}

/* ---- lists ---- */

static inline void rf_list_init(struct rf_list *l)
{
	l->head = l->tail = RF_NO_PAGE;
	l->n = 0;
}

static inline void rf_list_push_head(struct rf_link *link, struct rf_list *l, rf_page p)
{
	link[p].prev = RF_NO_PAGE;
	link[p].next = l->head;
	if (l->head != RF_NO_PAGE)
		link[l->head].prev = p;
	else
		l->tail = p;
	l->head = p;
	l->n++;
}

static inline void rf_list_push_tail(struct rf_link *link, struct rf_list *l, rf_page p)
{
	link[p].next = RF_NO_PAGE;
	link[p].prev = l->tail;
	if (l->tail != RF_NO_PAGE)
		link[l->tail].next = p;
	else
		l->head = p;
	l->tail = p;
	l->n++;
}

static inline void rf_list_remove(struct rf_link *link, struct rf_list *l, rf_page p)
{
	rf_page prev = link[p].prev, next = link[p].next;

	if (prev != RF_NO_PAGE)
		link[prev].next = next;
	else
		l->head = next;
	if (next != RF_NO_PAGE)
		link[next].prev = prev;
	else
		l->tail = prev;
	l->n--;
}

static inline rf_page rf_list_pop_tail(struct rf_link *link, struct rf_list *l)
{
	rf_page p = l->tail;

	if (p != RF_NO_PAGE)
		rf_list_remove(link, l, p);
	return p;
}

#endif
