/* SPDX-License-Identifier: MIT
 * The modelled machine, from inside: what the model-*.c files share.  Nobody else includes this, but
 * for tests that check a machine between two items.
 *
 * A page-table leaf is a block of consecutive entries of the PTE arrays: entry number v names a
 * virtual page, leaf[v / entries] says where it is.  A logical page p keeps its index from first
 * touch until it is freed for good; its reverse map is a chain of entry numbers through rmap_next,
 * of present entries and of swap entries alike.
 */
#ifndef RF_MODEL_H
#define RF_MODEL_H

#include "sim/clock.h"
#include "sim/closed/lock.h"
#include "sim/closed/sched.h"
#include "sim/closed/spin.h"
#include "sim/config.h"
#include "sim/device.h"
#include "sim/policy.h"
#include "sim/reclaim.h"
#include "sim/result.h"
#include "sim/seams.h"
#include "sim/skim.h"
#include "traces/vma.h"

struct rf_progress;
struct rf_source;

/* Page-table entry, one byte. */
enum {
	PTE_PRESENT = 1 << 0,
	PTE_WRITE = 1 << 1, /* a store needs no fault */
	PTE_ACC = 1 << 2,   /* accessed */
	PTE_DIRTY = 1 << 3,
	PTE_SWAP = 1 << 4,  /* not present; the page is in swap (or in the swap cache) */
	PTE_ZERO = 1 << 5,  /* present: the zero page or a reference page, no logical page behind it */
	PTE_LOST = PTE_ZERO, /* alone, not present: its page was discarded while it was volatile */
	PTE_EXEC = 1 << 6,  /* its mapping is executable */
	PTE_NOREC = 1 << 7, /* its mapping has no recency (2.4): reclaim does not see PTE_ACC */
};

/* The host's own facts on a page. */
enum {
	F_RA = 0x400,      /* readahead marker */
	F_SWAPRA = 0x800,  /* read ahead from swap, not wanted yet */
	F_UNEV = 0x1000,   /* off the lists: mlocked */
	F_SHMEM = 0x2000,
	F_READING = 0x4000,/* in the cache, its read is still under way */
	F_SLOT = 0x8000,   /* has a swap slot */
};

#define IDENT_ANON UINT64_MAX
#define IDENT_OFF_BITS 40
#define FILE_PAGES_MAX (UINT64_C(1) << 32) /* 16 TiB at 4K, as a file of ext4 */

enum { RSS_ANON, RSS_FILE, RSS_SHMEM, RSS_N };

struct leaf {
	uint32_t space;
	uint32_t used;  /* entries that are not empty */
	uint64_t base;  /* first page number */
	gboolean charged;
};

struct space {
	uint32_t id, users, cgroup;
	struct rf_vmas *vmas;
	struct rf_lock mmap_lock, ranges_lock;
	uint32_t changes, asleep; /* of its mappings; tasks that sleep with mmap_lock shared */
	gboolean changing;        /* somebody has mmap_lock exclusively */
	GArray *leaves;      /* uint32_t leaf numbers, by base */
	GByteArray *anon_vma; /* by the serial of a mapping: has it an anon_vma? */
	uint32_t nvmas, nanon_vmas; /* as charged */
	GHashTable *tables;  /* upper page-table pages that exist: key level << 56 | index */
	uint64_t ntables, rss[RSS_N], rss_max, rss_since, swapents;
	__uint128_t rss_integral; /* page nanoseconds up to rss_since */
	/* Swap readahead state (VMA mode), kept for the address space: last address, window, hits. */
	uint64_t swap_last;
	uint32_t swap_win, swap_hits;
	gboolean ran, walked; /* since the last walk of its page tables (walk.c); ever */
	uint64_t walked_at, requests_at; /* time, and what devices had served by then */
	gboolean busy;       /* devices were, between the last walk and the one before */
};

struct task {
	uint32_t tid, space;
	char *name;
	uint64_t pgfault, pgmajfault, accesses;
	gboolean alive, killed, exited;
	uint64_t ran, spun, waited[RF_NWAITS]; /* closed replay: ns on a processor and off it */
};

#define NODE_SLOTS 64 /* XA_CHUNK_SIZE: pages a page-cache tree node */
#define NODE_BYTES 592 /* struct xa_node with its share of slab and its owner's pointer: 12.6 */

struct node {
	uint32_t page[NODE_SLOTS];
	uint64_t index;
	uint32_t file, cgroup;
	uint16_t cached, shadows;
	uint8_t charged; /* tree nodes that came with it: those above it too */
	struct node *prev, *next; /* shadow-only nodes of a cgroup, oldest first */
	gboolean listed;
};

/* The tree above the nodes, by position: a second-level node for each 64 nodes that exist. */
#define CHUNK_NODES 1024
struct chunk {
	struct node *node[CHUNK_NODES];
	uint16_t group[CHUNK_NODES / NODE_SLOTS];
};

struct file {
	uint32_t id;
	char *name;
	uint64_t npages;
	GPtrArray *chunks; /* of struct chunk, NULL where nothing is cached */
	uint32_t nnodes;   /* tree nodes with pages */
	gboolean shmem;
	uint64_t ncached, ndirty, dirtied_when;
	/* struct file_ra_state */
	uint64_t ra_start, ra_size, ra_async, prev_page;
	unsigned ra_order;
	uint32_t mmap_miss;
	gboolean read_before;
	uint32_t index; /* among the machine's files */
	uint32_t vol_cgroup; /* of whoever marked ranges of it, plus 1; 0: nobody did */
};

struct cgroup {
	uint32_t id;
	char *path;
	struct cgroup *parent;
	struct rf_lruvec *lv;
	uint64_t usage, usage_max, max, high, low, min; /* pages; max, high: UINT64_MAX none */
	uint64_t elow, emin;
	uint32_t stock; /* charged ahead, one CPU's */
	int swappiness;
	uint64_t anon, file, mapped, shmem, swap, swapcache, kernel; /* pages; own, not of children */
	int64_t kernel_bytes_stock;
	uint64_t slab_bytes;
	uint64_t counter[RF_NCOUNTERS];
	struct node *shadow_first, *shadow_last;
	uint64_t nshadow_nodes, shadow_deferred, ntree_nodes;
	uint64_t high_owed; /* pages charged over memory.high, to pay for */
	struct rf_line counter_line; /* of its usage */
	struct rf_spin lru_lock;     /* since 5.11 */
	uint32_t uncharges;          /* put together, not yet written there */
};

/* Of a processor: pages on their way to or from lists, slots of swap. */
struct collected {
	uint16_t pages, slots;
};

/* What a task keeps while others run: on its stack. */
struct waiting {
	struct task *current;
	struct space *locked;
	rf_page pinned[4];
	unsigned npinned;
	uint64_t stall_began;
	struct waiting *prev, *next;
};

enum fault { FAULT_DONE, FAULT_KILLED, FAULT_ERROR };

struct rf_model {
	struct rf_config cfg; /* strings belong to the caller's */
	struct rf_profile profile;
	struct rf_host host;
	struct rf_policy *pol;
	struct rf_clock *clock;
	struct rf_seams seams;

	/* page-table entries */
	uint8_t *pte;
	uint32_t *pte_page, *rmap_next;
	uint32_t nptes, ptes_size;
	struct leaf *leaf;
	uint8_t *leaf_acc; /* by leaf: PTE_ACC when its upper-level entry was accessed */
	uint32_t nleaves, leaves_size, leaf_shift;
	/* dense ids of the trace to entries */
	uint32_t *map;
	uint32_t nmap, map_size;

	/* logical pages */
	uint16_t *fact, *owner;
	uint32_t *rmap;   /* first entry of the chain; next free page while free */
	uint64_t *shadow, *ident;
	uint32_t *slot;   /* with F_SLOT, rotational swap only */
	uint32_t *seen;   /* ms when it came or was last found used, or NULL: rf_host */
	uint8_t *order;   /* of the page's folio; NULL where the page cache has no large ones */
	uint32_t npages, pages_size, free_page;

	GPtrArray *spaces, *cgroups, *files;
	GHashTable *tasks, *file_by_id, *cgroup_by_path;
	GHashTable *refpages; /* period of its pattern by id of a reference page */
	uint32_t nrefpages;   /* of them in memory */
	struct task *current;
	struct cgroup *workload;
	GPtrArray *task_order;

	/* memory of the machine, in frames */
	uint64_t ram, used; /* used: reserved, pages of the page cache and of tasks, kernel memory */
	uint64_t reserved;  /* metadata and hugetlb pages */
	uint64_t wmark_min, wmark_low, wmark_high;
	gboolean kswapd_running;
	int kswapd_prio, kswapd_failures;
	uint64_t kswapd_reclaimed; /* since its priority was 12 */

	/* swap */
	gboolean swap_sync;
	uint64_t swap_slots, swap_used, swap_writes; /* swap_writes: under way */
	uint32_t *slot_page; /* rotational: which page a slot holds */
	uint64_t slot_cursor, swap_prev_key, swap_ra_hits, swap_prev_win;
	struct rf_device swap_dev, disk;

	uint64_t dirty, writeback; /* file pages; a page can be both */
	gboolean flusher_woken;
	/* Pages that the task at hand holds on to while it waits or allocates: reclaim keeps them. */
	rf_page pinned[4];
	unsigned npinned;
	int64_t poll_left;      /* accesses until somebody reads memory.stat again */
	uint64_t cpu_updates, stat_updates; /* of statistics: not yet, and pending since they were folded */

	/* purgeable ranges: volatile.c */
	struct rf_volatile vol;
	struct rf_lock vol_lock; /* of all ranges, where the member has one for them */
	struct rf_volatile_host vol_host;
	gboolean vol_used;  /* something was marked */
	uint64_t vol_most;  /* ranges */
	GArray *vol_doomed; /* what goes with pages that reclaim came across */
	const struct rf_lruvec *vol_target; /* of the reclaim that asks for ranges */
	struct rf_account_layout layout; /* account.c */
	uint64_t ncharged, account_max, hugetlb; /* pages, bytes, pages */
	uint64_t account_lines_64, account_ns, object_ns; /* of one look-up, and of its object */
	uint64_t account_lookups, time_account, counter_writes, counter_contended;
	int64_t hotplugged; /* pages that came since boot */
	uint64_t unowned;   /* pages of kernel memory that no cgroup pays for, within reserved */

	/* last-level cache: llc.c */
	struct {
		uint32_t capacity, nframes, size, nfree; /* frames; capacity 0: not modelled */
		struct rf_list list;                     /* cached, filled last first */
		struct rf_link *link;
		uint32_t *free, *of; /* frames that came back, last first out; by page */
		uint8_t *cached;
	} llc;

	/* translation cache: --tlb */
	struct rf_list tlb;
	struct rf_link *tlb_link;
	uint8_t *tlb_state;

	/* results */
	uint64_t counter[RF_NCOUNTERS];
	uint64_t accesses, implicit, time_access, time_fault, time_io, time_reclaim, time_throttle, time_kswapd;
	uint64_t rss[RSS_N], rss_kind_max[RSS_N], rss_max, rss_since;
	__uint128_t rss_integral[RSS_N]; /* page nanoseconds up to rss_since */
	uint64_t node_bytes, ntables, vma_bytes, mlocked, lazyfree;
	uint64_t stall_began; /* of the fault under way */

	/* Closed replay (closed.c); until and soft are never reached in ordered replay. */
	struct closed *closed; /* or NULL */
	struct rf_sched *sched;
	uint64_t until, soft; /* where a step ends (sched.h) */
	struct space *locked; /* the task at hand has its mmap_lock, shared, for a fault */
	struct waiting *waiting;
	uint64_t memory_now, memory_queue; /* stores on their way to memory, ns, and when that was so */
	uint64_t sleeps; /* how often tasks waited and others ran */
	struct rf_lock_stats lock_stats[RF_NLOCKS];
	struct rf_spin lru_lock, swap_lock; /* lists.c */
	struct collected *collected;        /* by processor; the last is kswapd's */
	uint64_t lists_evicted;             /* pages, since reclaim's last batch */
	GArray *stalls; /* uint64_t ns: reservoir, see stats.c */
	uint64_t nstalls, stall_max;
	GArray *oom, *marks, *timeline;
	uint64_t sample_every; /* ns */
	struct rf_scan *scan; /* of the reclaim under way, or NULL */
	gboolean in_reclaim;
#ifdef RF_CHECKED
	uint64_t checked; /* items taken */
#endif
};

/* ---- space.c: tasks, address spaces, page tables, the reverse map ---- */
struct task *task_find(struct rf_model *m, uint32_t tid); /* or NULL */
struct task *task_get(struct rf_model *m, uint32_t tid, GError **error); /* NULL is an error */
gboolean task_event(struct rf_model *m, const struct rf_event *ev, GError **error); /* task exec exit */
void task_kill(struct rf_model *m, struct task *t);
struct space *space_of_entry(struct rf_model *m, uint32_t v);
struct space *space_nth(const struct rf_model *m, uint32_t id);
uint64_t entry_vpn(const struct rf_model *m, uint32_t v);
/* Entry of a page number; the leaf is made (not charged) when there is none. */
uint32_t entry_get(struct rf_model *m, struct space *s, uint64_t vpn);
uint32_t entry_find(struct rf_model *m, struct space *s, uint64_t vpn); /* or UINT32_MAX */
/* Leaves of s that overlap [from, to): index of the first in s->leaves. */
guint leaf_first(const struct rf_model *m, const struct space *s, uint64_t from);
/* Charge the page tables that an entry needs.  FALSE: the task was killed. */
gboolean tables_charge(struct rf_model *m, uint32_t v);
/* Mappings were made or went: charge their descriptors.  FALSE: the task was killed. */
gboolean vmas_charge(struct rf_model *m, struct space *s);
/* The mapping that a page belongs to: on a machine with large pages, the first that has part of it. */
const struct rf_vma *vma_of(const struct rf_model *m, struct space *s, uint64_t vpn);
/* The page of its file that page vpn of a mapping shows. */
uint64_t vma_pgoff(const struct rf_model *m, const struct rf_vma *vma, uint64_t vpn);
/* First page of a mapping, and one beyond its last. */
static inline uint64_t vma_first(const struct rf_model *m, const struct rf_vma *vma) { return vma->start >> m->cfg.page_shift; }
static inline uint64_t vma_last(const struct rf_model *m, const struct rf_vma *vma)
{
	return ((vma->end - 1) >> m->cfg.page_shift) + 1;
}
gboolean anon_vma_charge(struct rf_model *m, struct space *s, const struct rf_vma *vma);
void tables_free(struct rf_model *m, struct space *s, uint64_t from, uint64_t to);
void map_page(struct rf_model *m, uint32_t v, rf_page p, uint8_t flags);
void map_special(struct rf_model *m, uint32_t v, uint32_t what, uint8_t flags); /* zero or reference page */
void map_lost(struct rf_model *m, uint32_t v); /* an empty entry remembers that its page was purged */
/* Empty an entry; what becomes of its page is the caller's. */
void unmap_entry(struct rf_model *m, uint32_t v);
/* Empty an entry and let go of its page (munmap, exit, MADV_DONTNEED). */
void zap_entry(struct rf_model *m, uint32_t v);
void zap_range(struct rf_model *m, struct space *s, uint64_t from, uint64_t to);
unsigned page_mapcount(const struct rf_model *m, rf_page p); /* present entries */
unsigned page_swapcount(const struct rf_model *m, rf_page p);
uint8_t vma_pte_flags(const struct rf_model *m, const struct rf_vma *vma);

/* ---- tlb.c ---- */
void tlb_grow(struct rf_model *m, uint32_t from, uint32_t to); /* room for entries below to */
void tlb_drop(struct rf_model *m, uint32_t v);                  /* the entry changed */
void tlb_flush(struct rf_model *m);
uint8_t tlb_access(struct rf_model *m, uint32_t v, unsigned type); /* bits that the access sets */

/* ---- page.c: logical pages ---- */
rf_page page_new(struct rf_model *m, uint64_t ident);
void page_free(struct rf_model *m, rf_page p); /* for good; not mapped, not on a list */
/* p becomes resident (already charged to cg): facts, LRU, counters.  shadow is consumed. */
void page_add(struct rf_model *m, rf_page p, struct cgroup *cg, uint16_t facts, unsigned how);
/* p leaves memory and is uncharged; its index lives on only after RF_WHY_EVICTED. */
void page_drop(struct rf_model *m, rf_page p, enum rf_why why);
/* The same for a large folio of the page cache, given by its pages in order; p is its first page. */
void folio_add(struct rf_model *m, const rf_page *page, unsigned order, struct cgroup *cg, unsigned how);
void folio_drop(struct rf_model *m, rf_page p, enum rf_why why);
/* First page of the folio that p belongs to: the one that is on a list. */
rf_page folio_head(const struct rf_model *m, rf_page p);
rf_page folio_page(const struct rf_model *m, rf_page head, unsigned i);
/* What is true of one of its pages is true of a folio: dirty, being written, being read. */
uint16_t folio_facts(const struct rf_model *m, rf_page head);
static inline unsigned folio_pages(const struct rf_model *m, rf_page p)
{
	return m->order ? 1u << m->order[p] : 1;
}
static inline rf_page page_of(const struct rf_model *m, uint32_t v) { return m->pte_page[v]; }
enum rf_verdict host_evict(struct rf_policy *pol, rf_page p, struct rf_scan *sc, gboolean clean_only);
unsigned host_young(struct rf_policy *pol, rf_page p, struct rf_lruvec *target, unsigned *vm);
void page_set_lazyfree(struct rf_model *m, rf_page p);
static inline void page_seen(struct rf_model *m, rf_page p)
{
	if (m->seen)
		m->seen[p] = (uint32_t)(m->host.now / 1000000);
}
void page_pin(struct rf_model *m, rf_page p);
void page_unpin(struct rf_model *m); /* the one pinned last */
gboolean page_held(const struct rf_model *m, rf_page p); /* is its folio pinned? */
void page_touch(struct rf_model *m, rf_page p); /* used through a file descriptor, or unmapped young */
void page_rotate(struct rf_model *m, rf_page p); /* its writeback ended: clean, and to be freed soon? */
/* Is the cgroup in target's subtree? */
gboolean below(const struct rf_model *m, uint32_t cgroup, const struct rf_lruvec *target);

/* ---- volatile.c: purgeable ranges ---- */
void volatile_init(struct rf_model *m);
void volatile_free(struct rf_model *m);
/* vrange(2), or what the member makes of it. */
void volatile_call(struct rf_model *m, struct space *s, const struct rf_event *ev, uint64_t start, uint64_t end);
/* Locks that the call takes: their number, 0 when there is no call (rf_volatile_ops.locks). */
unsigned volatile_locks(struct rf_model *m, const struct rf_event *ev, struct rf_vstep step[RF_VSTEPS]);
struct rf_lock *volatile_lock(struct rf_model *m, struct space *s, enum rf_vlock lock);
void volatile_unmap(struct rf_model *m, struct space *s, uint64_t start, uint64_t end); /* before it is done */
void volatile_fork(struct rf_model *m, const struct space *from, const struct space *to);
/* Before reclaim looks at pages: ranges of sc's target.  Pages that went are in sc->reclaimed. */
void volatile_purge(struct rf_model *m, struct rf_scan *sc);
void volatile_settle(struct rf_model *m); /* after it */
gboolean volatile_discards(struct rf_model *m, rf_page p); /* reclaim met p: was it discarded? */
/* Entry v, which is empty or lost, is accessed, and is empty then.  FALSE: the task was killed for it. */
gboolean volatile_touch(struct rf_model *m, struct task *t, struct space *s, uint32_t v);

/* ---- llc.c: which frames the last-level cache holds, as fresh pages fill them ---- */
void llc_init(struct rf_model *m);
void llc_free(struct rf_model *m);
void llc_grow(struct rf_model *m);              /* with the arrays of pages */
uint64_t llc_fill(struct rf_model *m, rf_page p); /* p gets a frame and is filled: ns more for a cold one */
void llc_leave(struct rf_model *m, rf_page p);  /* p gives its frame back */

/* ---- lists.c: locks of lists of pages and of swap slots ---- */
void lists_init(struct rf_model *m);
void lists_free(struct rf_model *m);
void lists_changed(struct rf_model *m, struct cgroup *cg); /* a page, or folio, came or went */
void lists_scanned(struct rf_model *m, struct cgroup *cg, uint64_t taken); /* reclaim took so many from one */
void slots_changed(struct rf_model *m); /* one was taken or freed */

/* ---- shared.c: what processors share besides locks ---- */
uint64_t shared_core_time(const struct rf_model *m, uint64_t ns);
/* ns of work, on the processor of the task at hand as it is now. */
static inline uint64_t core_time(const struct rf_model *m, uint64_t ns)
{
	return m->profile.core_threads > 1 && m->closed ? shared_core_time(m, ns) : ns;
}
void memory_store(struct rf_model *m, uint64_t bytes, uint64_t *account);
void memory_run(struct rf_model *m, const struct rf_runs *r, uint32_t i); /* what run i stores */
void shoot_down(struct rf_model *m, const struct space *s);

/* ---- walk.c: page tables as policies see them ---- */
void host_walk(struct rf_policy *pol, struct rf_walk *w);
unsigned host_look_around(struct rf_policy *pol, rf_page p, struct rf_lruvec *target, unsigned *vm,
                          struct rf_walk *w, unsigned reach);
void host_mark_reclaim(struct rf_policy *pol, rf_page p, gboolean on);
void host_out_of_memory(struct rf_policy *pol, struct rf_lruvec *lv, const char *reason);

/* ---- memcg.c ---- */
struct cgroup *cgroup_new(struct rf_model *m, const char *path, struct cgroup *parent);
struct cgroup *cgroup_get(struct rf_model *m, const char *path); /* made with its parents */
gboolean cgroup_event(struct rf_model *m, const struct rf_event *ev, GError **error);
static inline struct cgroup *cgroup_nth(const struct rf_model *m, uint32_t id) { return m->cgroups->pdata[id]; }
/* Charge n pages and take them from the machine.  FALSE: failed (noretry), or the current task was
 * killed for want of memory. */
gboolean charge(struct rf_model *m, struct cgroup *cg, uint32_t n, gboolean noretry);
void uncharge(struct rf_model *m, struct cgroup *cg, uint32_t n);
gboolean charge_kernel(struct rf_model *m, struct cgroup *cg, uint32_t pages);
void uncharge_kernel(struct rf_model *m, struct cgroup *cg, uint32_t pages);
gboolean charge_kernel_bytes(struct rf_model *m, struct cgroup *cg, uint32_t bytes);
void uncharge_kernel_bytes(struct rf_model *m, struct cgroup *cg, uint32_t bytes);
void pay_high(struct rf_model *m); /* memory.high, on the way back to user mode */
uint64_t host_unprotected(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t size, struct rf_scan *sc);
void count(struct rf_model *m, struct cgroup *cg, enum rf_counter c, int64_t n);
void host_count(struct rf_policy *pol, struct rf_lruvec *lv, enum rf_counter c, int64_t n);

/* ---- account.c: what finding the owner of a page takes ---- */
void account_init(struct rf_model *m);
uint64_t account_boot(const struct rf_model *m);    /* bytes, beyond page descriptors */
uint64_t account_dynamic(const struct rf_model *m); /* bytes, for what is charged now */
uint64_t account_waste(const struct rf_model *m);
void account_charge(struct rf_model *m, uint32_t pages);
void account_uncharge(struct rf_model *m, uint32_t pages);
void account_counters(struct rf_model *m, struct cgroup *cg); /* the usage of cg and those above it is written */
void account_gauges(const struct rf_model *m, uint64_t g[RF_NGAUGES]);

/* ---- node.c: the machine's own memory: frames, watermarks, kswapd, OOM ---- */
void node_init(struct rf_model *m);
gboolean frames_take(struct rf_model *m, uint32_t n, gboolean noretry);
void frames_give(struct rf_model *m, uint32_t n);
/* Count anew the kernel memory that no cgroup pays for: ranges, accounting, descriptors of new memory. */
void unowned_update(struct rf_model *m);
/* FALSE: there is nobody to kill. */
gboolean out_of_memory(struct rf_model *m, struct cgroup *cg, const char *reason);

/* ---- fault.c ---- */
/* A fresh anonymous page, charged and then put in an entry. */
gboolean new_anon_charge(struct rf_model *m, struct space *s, const struct rf_vma *vma);
void new_anon_map(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v);
enum fault fault(struct rf_model *m, struct task *t, uint32_t v, unsigned type, GError **error);
gboolean fault_is_over(const struct rf_model *m, uint32_t v, unsigned type);

/* ---- cache.c: the page cache ---- */
static inline gboolean page_resident(const struct rf_model *m, rf_page p)
{
	return p != RF_NO_PAGE && (m->fact[p] & RF_PAGE_RESIDENT);
}
/* filemap_add_folio(): charge, tree, refault test, LRU.  RF_NO_PAGE: the charge failed. */
rf_page file_add(struct rf_model *m, struct file *f, uint64_t pgoff, struct cgroup *cg, unsigned how, gboolean noretry);
/* A large folio of which nothing is cached; its pages go to page[].  FALSE: the charge failed. */
gboolean file_add_folio(struct rf_model *m, struct file *f, uint64_t pgoff, unsigned order, struct cgroup *cg,
                        unsigned how, rf_page *page);
struct file *file_get(struct rf_model *m, uint32_t id); /* declared on the way if need be */
/* The file that a mapping shows; shared memory has numbers of its own. */
struct file *vma_file(struct rf_model *m, const struct rf_vma *vma);
rf_page file_page(const struct rf_model *m, const struct file *f, uint64_t pgoff); /* resident or shadow, or RF_NO_PAGE */
void file_evicted(struct rf_model *m, rf_page p);  /* a shadow takes its place */
rf_page file_neighbour(const struct rf_model *m, rf_page p, uint64_t pgoff); /* another page of its file */
void file_free(struct file *f);
void shmem_remove(struct rf_model *m, rf_page p); /* for good, mapped or not (truncation) */
void host_shrink_slab(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc);

/* ---- readahead.c ---- */
unsigned ra_pages(const struct rf_model *m);
void wait_for_read(struct rf_model *m, rf_page p);
/* A miss of read(2) at index, which wants req pages; done: when index will have been read. */
void sync_readahead(struct rf_model *m, struct file *f, uint64_t index, uint64_t req, struct cgroup *cg, unsigned how,
                    uint64_t *done);
/* The marker was met at index. */
void async_readahead(struct rf_model *m, struct file *f, uint64_t index, uint64_t req, struct cgroup *cg, unsigned how);
/* A miss of a mapping. */
void sync_mmap_readahead(struct rf_model *m, struct file *f, const struct rf_vma *vma, uint64_t pgoff,
                         struct cgroup *cg, unsigned how, uint64_t *done);
void file_willneed(struct rf_model *m, struct file *f, uint64_t from, uint64_t to);

/* ---- file.c ---- */
enum fault file_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v, unsigned type);
gboolean file_rw(struct rf_model *m, const struct rf_event *ev, GError **error); /* read, write, fsync */
void file_mark_dirty(struct rf_model *m, rf_page p);

/* ---- writeback.c ---- */
void writeback_init(struct rf_model *m);
void flusher_wake(struct rf_model *m);
void file_sync(struct rf_model *m, struct file *f, gboolean wait);
void balance_dirty(struct rf_model *m); /* a writer pays for what it dirtied */
void host_round_done(struct rf_policy *pol, struct rf_scan *sc);
void host_batch_done(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc, uint64_t taken);

/* ---- swap.c ---- */
void swap_init(struct rf_model *m);
enum fault swap_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v, unsigned type);
/* A page of shmem that is in swap comes back. */
gboolean swap_in_shmem(struct rf_model *m, struct cgroup *cg, rf_page p);
gboolean swap_take_slot(struct rf_model *m, rf_page p);
void swap_drop_slot(struct rf_model *m, rf_page p); /* leaves the swap cache too */
enum rf_verdict swap_write(struct rf_model *m, rf_page p, struct rf_scan *sc);
gboolean swap_half_full(const struct rf_model *m, const struct cgroup *cg);
void swap_willneed(struct rf_model *m, struct space *s, uint64_t from, uint64_t to);
uint64_t host_swap_available(struct rf_policy *pol, struct rf_lruvec *lv);

/* ---- advice.c: system calls on mappings ---- */
void advise_free(struct rf_model *m, struct space *s, uint64_t from, uint64_t to); /* pages: MADV_FREE */
gboolean mapping_event(struct rf_model *m, const struct rf_event *ev, GError **error);
void page_mlock(struct rf_model *m, rf_page p);
void page_munlock(struct rf_model *m, rf_page p);
void page_munlock_unmapped(struct rf_model *m, rf_page p); /* when nobody maps its folio any more */

/* ---- stats.c ---- */
void stats_init(struct rf_model *m);
void stats_poll(struct rf_model *m);
/* n updates of a cgroup's statistics: a processor tells of them 64 at a time (memcg_rstat_updated). */
static inline void stats_updated(struct rf_model *m, uint64_t n)
{
	m->cpu_updates += n;
	if (m->cpu_updates >= 64) {
		m->stat_updates += m->cpu_updates;
		m->cpu_updates = 0;
	}
}
void rss_change(struct rf_model *m, struct space *s, int kind, int64_t pages);
void stall_begin(struct rf_model *m);
void stall_end(struct rf_model *m);
void wait_until(struct rf_model *m, uint64_t when, uint64_t *account); /* time passes, events run */
void spend(struct rf_model *m, uint64_t ns, uint64_t *account);
void stats_sample(struct rf_model *m, struct rf_sample *out);
gboolean stats_finish(struct rf_model *m, struct rf_result *out, GError **error);
void stats_free(struct rf_model *m);

/* ---- closed.c: tasks as streams on N processors ---- */
/* Replay a whole source that way. */
gboolean rf_model_closed(struct rf_model *m, struct rf_source *source, struct rf_progress *progress, GError **error);
void closed_wait(struct rf_model *m, uint64_t when, uint64_t *account);
/* A space that names of pages may have waited for. */
void closed_space(struct rf_model *m, struct space *s);
void closed_name(struct rf_model *m, uint32_t id, uint32_t space, uint64_t vpn); /* one of them */
/* Processors and locks, for a result. */
/* Other processors that run a task of the space. */
unsigned closed_others(const struct rf_model *m, const struct space *s);
void closed_gauges(struct rf_model *m, struct rf_result *out);
/* In ordered replay a lock is always free; an exclusive section costs what it costs. */
void lock_take(struct rf_model *m, struct rf_lock *l, enum rf_lock_mode mode);
void lock_drop(struct rf_model *m, struct rf_lock *l, enum rf_lock_mode mode);
/* mmap_lock for a call. */
void mmap_lock_take(struct rf_model *m, struct space *s, enum rf_lock_mode mode);
void mmap_lock_drop(struct rf_model *m, struct space *s, enum rf_lock_mode mode);
/* mmap_lock for a fault: let go of while a device is waited for. */
void fault_lock(struct rf_model *m, struct space *s);
void fault_unlock(struct rf_model *m);
/* The task at hand is about to take what is in s away from under its threads: none may be asleep in
 * the middle of a fault. */
void wait_for_faults(struct rf_model *m, struct space *s);

/* ---- check.c: every sum counted anew; aborts with a message ---- */
void rf_model_check(const struct rf_model *m);

/* model.c */
struct rf_model *rf_model_new(const struct rf_config *cfg, const struct rf_totals *totals, GError **error);
void rf_model_free(struct rf_model *m);
gboolean rf_model_item(struct rf_model *m, const struct rf_item *item, GError **error);
gboolean rf_model_skim(struct rf_model *m, const struct rf_item *item, const struct rf_skim *skim);
/* Runs from number *from on, which is moved to the first that was not taken: all are, but in closed
 * replay. */
gboolean runs_item(struct rf_model *m, const struct rf_item *item, uint32_t *from, GError **error);
/* Names of pages; those of a space that is not there yet are left to closed_space(). */
gboolean pages_item(struct rf_model *m, const struct rf_item *item, GError **error);
gboolean event_item(struct rf_model *m, const struct rf_event *ev, GError **error);
/* For --stats-poll. */
void event_counts(struct rf_model *m, enum rf_event_kind kind);
gboolean take_event(struct rf_model *m, const struct rf_item *item, GError **error);
gboolean rf_model_finish(struct rf_model *m, struct rf_result *out, GError **error);
void rf_model_sample(struct rf_model *m, struct rf_sample *out);

#endif
