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

struct rf_fill_ops {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
	/* Does a load from anonymous memory that was never written map a shared zero page? */
	gboolean zero_page_on_read;
};

/* NULL-terminated; the first is the default. */
extern const struct rf_protect_ops *const rf_protects[];
extern const struct rf_account_ops *const rf_accounts[];
extern const struct rf_volatile_ops *const rf_volatiles[];
extern const struct rf_fill_ops *const rf_fills[];

#endif
