/* SPDX-License-Identifier: MIT
 * The stack of the optimum: how many page frames a use needs to be a hit when the page whose next use
 * lies furthest ahead always leaves.  Mattson, Gecsei, Slutz, Traiger 1970 (as in stack.h): the page
 * used comes to the top; the one that was there moves down, and at each place the page that is wanted
 * sooner stays, the other moves on, down to where the used page was.  Those that move on are ever
 * later ones: they are found in maxima over blocks, without looking at the places between.
 */
#ifndef RF_CURVE_OPT_H
#define RF_CURVE_OPT_H

#include <glib.h>
#include <stdint.h>

#define RF_OPT_LEVELS 8

struct rf_opt {
	uint64_t *next[RF_OPT_LEVELS]; /* by place: the next use, 0 in a hole; then maxima over 16 */
	uint32_t *page;                /* by place */
	uint32_t n, size;              /* places */
	uint32_t *hole, nholes, holes_size; /* a heap, the highest place (lowest number) first */
};

void rf_opt_init(struct rf_opt *o);
void rf_opt_clear(struct rf_opt *o);
/* A page is used, and then at `next' (of rf_future_next).  place: of all pages, by page, counted from
 * 1, 0 for one that is in no stack.  The distance; 0 for a page that was in none. */
uint32_t rf_opt_use(struct rf_opt *o, uint32_t *place, uint32_t page, uint64_t next);
void rf_opt_free_page(struct rf_opt *o, uint32_t *place, uint32_t page);

#endif
