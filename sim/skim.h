/* SPDX-License-Identifier: MIT
 * A stretch of runs at a glance: which pages, how many accesses.  A machine on which all of them hit,
 * whose policy learns nothing of hits but the accessed bit, and on which nothing else is due
 * meanwhile, needs no more: bits are set, time passes, in whatever order.  Taken once for all
 * machines that replay the same trace.
 */
#ifndef RF_SKIM_H
#define RF_SKIM_H

#include <stdint.h>

struct rf_skim {
	uint32_t n;
	const uint32_t *page;  /* dense ids, none twice */
	const uint8_t *types;  /* how each was accessed: 1 << enum rf_access, added up */
	uint64_t accesses;     /* one that goes on from the page before counts once */
	uint64_t hits;         /* and here once a page */
};

#endif
