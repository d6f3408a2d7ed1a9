/* SPDX-License-Identifier: MIT
 * The four seams beside reclaim: what reclaim must spare, how a page finds its cgroup, how purgeable
 * ranges are purged, what the first touch of memory costs and maps.
 */
#ifndef RF_SEAMS_H
#define RF_SEAMS_H

#include "policies/policy.h"

struct rf_protect_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	/* A page on the inactive list was referenced once, through mappings with flags vm: activate it? */
	gboolean (*activate)(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);
	/* A referenced page at the tail of the active list: rotate it instead of deactivating it? */
	gboolean (*rotate)(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);
};

struct rf_account_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	/* Bytes of the machine's memory taken at boot for npages page frames, beyond the page descriptor. */
	uint64_t (*boot_bytes)(const void *opt, const struct rf_host *host, uint64_t npages);
};

struct rf_volatile_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	/* Are the pages of a range discarded when it is marked, rather than under pressure? */
	gboolean discard_at_once;
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

/* NULL-terminated; the first is the default. */
extern const struct rf_protect_ops *const rf_protects[];
extern const struct rf_account_ops *const rf_accounts[];
extern const struct rf_volatile_ops *const rf_volatiles[];
extern const struct rf_fill_ops *const rf_fills[];

#endif
