/* SPDX-License-Identifier: MIT
 * The LRU stack of a trace: how many page frames a use of a page needs to be a hit.
 *
 * Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage hierarchies", IBM Systems
 * Journal, 1970.  A page stands in the slot of its last use; its distance is the number of slots
 * taken from there on.  Slots are bits, summed up over blocks of blocks: Olken's tree ("Efficient
 * methods for calculating the success function of fixed-space replacement policies", 1981) without
 * pointers.  When all slots are used up, those taken are numbered anew.
 *
 * A page that is freed leaves a hole: memories that reach down to it have a free frame.  The next
 * page that they miss fills the hole, and nothing below it moves.
 *
 * Memory: 4 bytes a page, and half a byte of slots.
 */
#ifndef RF_CURVE_STACK_H
#define RF_CURVE_STACK_H

#include <glib.h>
#include <stdint.h>

#define RF_STACK_LEVELS 5
#define RF_NO_SLOT UINT32_MAX
#define RF_STACK_MOST_PAGES (UINT32_C(1) << 30)

struct rf_stack {
	uint64_t *bit;                  /* a slot each: is it taken? */
	uint32_t *sum[RF_STACK_LEVELS]; /* slots taken in a block of 2^9, 2^14, 2^19… */
	uint32_t top, cap;              /* the next slot; how many there are */
	uint32_t taken;                 /* pages and holes */
	uint32_t *hole;                 /* a heap of slots, the highest first */
	uint32_t nholes, holes_size;
};

/* The slots of the caller's pages, by page; for more than one stack, with the stack's number. */
struct rf_stack_pages {
	uint32_t *slot; /* RF_NO_SLOT: the page is in no stack */
	const uint16_t *stack; /* by page; NULL: there is one stack */
	uint32_t n;
};

void rf_stack_init(struct rf_stack *s);
void rf_stack_clear(struct rf_stack *s);

/* Number the slots anew, for those of the pages that are in this stack, number `nth`. */
void rf_stack_renumber(struct rf_stack *s, const struct rf_stack_pages *pages, uint16_t nth);

/* Is it time to do that?  To be asked before each use. */
static inline gboolean rf_stack_full(const struct rf_stack *s)
{
	return s->top == s->cap;
}

/* The page whose last slot is *slot is used.  Its distance: the least number of frames that make it a
 * hit; 0: never seen before, or freed since. */
uint32_t rf_stack_use(struct rf_stack *s, uint32_t *slot);
/* The page is freed. */
void rf_stack_free_page(struct rf_stack *s, uint32_t *slot);

#endif
