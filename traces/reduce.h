/* SPDX-License-Identifier: MIT
 * Trace reduction: leave out what can't matter to LRU and OPT in memories of a number of pages or
 * more.
 *
 * Safely allowed drop (Kaplan, Smaragdakis, Wilson, "Trace reduction for virtual memory
 * simulations", SIGMETRICS 1999): of three accesses to a page, the middle one is left out where
 * fewer than so many other pages are accessed between the first and the last.  The page stays in
 * memory between them either way, and so does every page that is used again in between.  A store
 * that is left out makes the last of the three a store.  The first access to a page always stays,
 * so pages keep their order.
 */
#ifndef RF_REDUCE_H
#define RF_REDUCE_H

#include "traces/trace.h"

struct rf_reducer;

/* What stays, in order. */
typedef void (*rf_reduce_fn)(void *data, uint32_t tid, enum rf_access type, uint32_t page);

struct rf_reducer *rf_reducer_new(uint32_t pages, rf_reduce_fn fn, void *data);
void rf_reducer_free(struct rf_reducer *r);
/* The next access; page is a dense id.  It, and others before it, may come out at once or later;
 * never more than about three for each page of the memory wait. */
void rf_reducer_access(struct rf_reducer *r, uint32_t tid, enum rf_access type, uint32_t page);
/* Something else happens here, or the trace ends: all that wait come out, and nothing is left out
 * between accesses before and after. */
void rf_reducer_barrier(struct rf_reducer *r);

#endif
