/* SPDX-License-Identifier: MIT
 * Names of pages to dense ids: an open-addressing hash of ids beside the array of names.
 */
#ifndef RF_PAGES_H
#define RF_PAGES_H

#include "traces/trace.h"

#define RF_PAGES_MAX (UINT32_MAX - 1) /* the last id means "none" everywhere */

struct rf_pages {
	struct rf_page_name *name; /* by id */
	uint32_t n, cap;
	uint32_t *slot; /* ids; UINT32_MAX: free */
	uint32_t mask;
};

void rf_pages_init(struct rf_pages *p);
void rf_pages_clear(struct rf_pages *p);
/* The id of a page, the next one when it is new.  UINT32_MAX: no memory, or too many. */
uint32_t rf_pages_id(struct rf_pages *p, uint32_t space, uint64_t vpn);
/* The next id for a page that the caller keeps track of: rf_pages_id won't find it. */
uint32_t rf_pages_append(struct rf_pages *p, uint32_t space, uint64_t vpn);

#endif
