/* SPDX-License-Identifier: MIT
 * The four seams beside reclaim: what reclaim must spare, how a page finds its cgroup, how purgeable
 * ranges are purged, what the first touch of memory costs and maps.  Public, installed as
 * refault/policies/seams.h.
 */
#ifndef RF_SEAMS_H
#define RF_SEAMS_H

#include "policies/policy.h"

/* What memory holds, in bytes; shmem counts as anonymous, lazyfree pages as file pages. */
struct rf_protect_sizes {
	uint64_t file, clean_file, anon;
	gboolean swap; /* anonymous pages can be reclaimed */
};

struct rf_protect_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	gboolean seen; /* host->seen is wanted */
	/* A page on the inactive list was referenced once, through mappings with flags vm: activate it? */
	gboolean (*activate)(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);
	/* A referenced page at the tail of the active list: rotate it instead of deactivating it? */
	gboolean (*rotate)(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);
	/* Optional.  A page about to be reclaimed, that mappings with flags vm have: must it stay? */
	gboolean (*spare_page)(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);
	/* Optional.  Are all pages of this type to be left alone at this priority?  12 is the first, 0 the
	 * last before reclaim gives up; when nothing is left then, a task is killed. */
	gboolean (*spare_list)(const void *opt, const struct rf_protect_sizes *sizes, gboolean anon, int prio);
};

/* Where a page's owner is kept, and what that takes: bytes. */
struct rf_account_layout {
	uint32_t struct_page;      /* a page descriptor */
	uint32_t page_bytes;       /* beyond it, for every page of memory */
	uint32_t charged_bytes;    /* for every page that is charged */
	uint32_t node_bytes;       /* for every 64 of those */
	uint64_t fixed_bytes;
	uint32_t unit_bytes, unit_shift; /* for every unit of 1 << unit_shift bytes of memory */
	uint64_t holes;            /* addresses without memory that pay as if they had it */
	/* And time: what it takes to find the description of a page that is charged or uncharged, beyond
	 * the first cache line of its descriptor. */
	uint32_t stride;           /* bytes from a descriptor to the next, with what was put in it */
	uint32_t lines_64;         /* cache lines of that page's own, in the mean: 64ths */
	uint32_t shared_lines;     /* lines on the way that many pages share: caches hold them */
	uint32_t atomics;          /* atomic operations, of its lock */
	gboolean object;           /* it is allocated for the one and freed by the other */
	gboolean none;             /* no page is accounted: no counter is written either */
};

#define RF_CACHE_LINE 64

/* Cache lines that an object of so many bytes lies in, in 64ths, where such objects stand side by side:
 * of those of 40 bytes, every second straddles two lines. */
static inline uint32_t rf_lines_64(uint32_t bytes)
{
	uint32_t step = bytes & -bytes; /* objects begin at multiples of it */

	return bytes ? RF_CACHE_LINE + bytes - MIN(step, RF_CACHE_LINE) : 0;
}

struct rf_account_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	/* *layout is zeroed. */
	void (*layout)(const void *opt, const struct rf_host *host, struct rf_account_layout *layout);
};

/* ---- volatile ----
 *
 * Ranges belong to a root: the memory of an address space, by address, or a shared-memory file, by
 * offset.  The host cuts what a program marks into pieces of one mapping, whole pages each; the member
 * keeps what it must know of them, and says what reclaim may take. */

#define RF_VROOT_FILE (UINT64_C(1) << 32) /* set in the root of a file */

enum rf_vmapping { RF_VMAPPING_PLAIN, RF_VMAPPING_VOLATILE, RF_VMAPPING_PURGED };

/* What an operation costs, from the machine profile: ns. */
struct rf_vcosts {
	uint64_t mapping;   /* split or merge a mapping */
	uint64_t range;     /* find, add, remove or resize a range */
	uint64_t zap_page;  /* unmap and free a page */
	uint64_t free_page; /* mark a page lazyfree */
};

enum rf_vop { RF_VOP_VOLATILE, RF_VOP_NONVOLATILE, RF_VOP_PURGE };

/* A lock that an operation holds. */
enum rf_vlock {
	RF_VLOCK_MMAP,   /* mmap_sem of the address space */
	RF_VLOCK_RANGES, /* of the ranges of one root */
	RF_VLOCK_GLOBAL, /* of all ranges there are */
};
struct rf_vstep { enum rf_vlock lock; gboolean exclusive; uint64_t hold; /* ns */ };
#define RF_VSTEPS 4

enum rf_vtouch {
	RF_VTOUCH_DATA,   /* the range was not purged, or was marked anew */
	RF_VTOUCH_ZEROS,  /* it was purged: zeros */
	RF_VTOUCH_SIGBUS, /* it was purged: the handler marked the range nonvolatile */
	RF_VTOUCH_KILLED, /* it was purged: there is no handler */
};

struct rf_volatile;

struct rf_volatile_host {
	unsigned page_shift, kernel; /* RF_KERNEL(6, 18, 0) */
	gboolean swap;               /* is there any? */
	struct rf_vcosts cost;
	/* Discard at most max pages of [start, end) that are in memory.  Pages that are locked, that have a
	 * place in swap or that somebody else needs stay.  Answers how many went. */
	uint64_t (*discard)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end, uint64_t max);
	/* MADV_DONTNEED and MADV_FREE of a range of an address space. */
	void (*dontneed)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end);
	void (*lazyfree)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end);
	/* Does the reclaim under way concern this root, and are the locks of RF_VOP_PURGE free? */
	gboolean (*in_reach)(struct rf_volatile *vol, uint64_t root);
	/* For members that keep their state in mappings.  FALSE: more than most mappings would be needed. */
	gboolean (*set_mapping)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end,
	                        enum rf_vmapping state, uint32_t most);
	enum rf_vmapping (*mapping)(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *start,
	                            uint64_t *end);
	uint64_t (*volatile_mappings)(struct rf_volatile *vol);
};

struct rf_volatile_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size, state_size;
	gboolean by_address; /* ranges of shared memory are each address space's own, too */
	gboolean reclaim_discards; /* a volatile page that reclaim comes across is discarded, not swapped */
	void (*init)(struct rf_volatile *vol); /* optional, as exit */
	void (*exit)(struct rf_volatile *vol);
	/* Locks that an operation takes on [start, end), each inside the one before; their number.  0: a
	 * program makes no such call. */
	unsigned (*locks)(struct rf_volatile *vol, enum rf_vop op, uint64_t start, uint64_t end,
	                  struct rf_vstep step[RF_VSTEPS]);
	/* FALSE: it can't be marked. */
	gboolean (*mark)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end);

	/* The rest is for members that discard nothing at once; others leave it out. */

	/* FALSE: it can't be unmarked.  lost: was any data of the range? */
	gboolean (*unmark)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end, gboolean *lost);
	/* A range is unmapped, or a root gone (0 to UINT64_MAX): what was marked is forgotten. */
	void (*forget)(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end);
	void (*fork)(struct rf_volatile *vol, uint64_t from, uint64_t to);
	gboolean (*covers)(struct rf_volatile *vol, uint64_t root, uint64_t addr);
	/* The page there is being discarded, other than by shrink().  *start to *end: what is to go with it. */
	void (*met)(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *start, uint64_t *end);
	/* Memory is short: discard what is in reach, as many pages as are wanted.  Optional. */
	uint64_t (*shrink)(struct rf_volatile *vol, uint64_t wanted);
	/* A page that was discarded (or, of shared memory, is not there) is accessed.
	 * pages: of the range that a handler makes anew. */
	enum rf_vtouch (*touch)(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *pages);
	uint64_t (*ranges)(struct rf_volatile *vol); /* how many there are */
	uint64_t (*bytes)(struct rf_volatile *vol);  /* what they take, beyond mappings */
	uint64_t (*purged)(struct rf_volatile *vol); /* ranges purged so far */
};

/* An instance. */
struct rf_volatile {
	const struct rf_volatile_ops *ops;
	const struct rf_volatile_host *host;
	const void *opt;
	void *priv;    /* state_size bytes, zeroed */
	void *machine; /* the host's own */
};

/* What a load maps where nothing was stored yet. */
enum rf_first_load {
	RF_LOAD_ZERO_PAGE,      /* a shared page of zeros, not counted as the task's */
	RF_LOAD_REFERENCE_PAGE, /* the shared reference page of the mapping, likewise */
	RF_LOAD_OWN_PAGE,       /* a fresh page of the task's own, as a store does */
};

/* A fresh page that a task is about to get.  pattern: it is of a mapping of a reference page, that is,
 * memory from an allocator that must hold a pattern before anybody looks. */
struct rf_fresh {
	gboolean pattern;
	uint64_t period;           /* bytes after which the pattern repeats; a page's size at most */
	uint64_t zero, fill, copy; /* ns: to zero it, to write one byte all over it, to copy a page onto it */
	gboolean filled;           /* init() says: it holds the pattern now, not zeros */
};

struct rf_fill_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	/* What does the first load map? */
	enum rf_first_load (*load)(const void *opt, gboolean pattern);
	/* ns that the kernel takes to initialise a fresh page. */
	uint64_t (*init)(const void *opt, struct rf_fresh *fresh);
	/* Does the program itself write the pattern over all of a new mapping?  Optional: it does not. */
	gboolean (*program_writes)(const void *opt, gboolean pattern);
};

/* The built-in ones.  NULL-terminated; the first is the default. */
extern const struct rf_protect_ops *const rf_protects[];
extern const struct rf_account_ops *const rf_accounts[];
extern const struct rf_volatile_ops *const rf_volatiles[];
extern const struct rf_fill_ops *const rf_fills[];

#endif
