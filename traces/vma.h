/* SPDX-License-Identifier: MIT
 * The mappings of one address space: disjoint ranges, sorted.  Used by importers that must know what
 * is mapped, by `trace validate`, and by the machine.
 */
#ifndef RF_VMA_H
#define RF_VMA_H

#include "traces/trace.h"

enum rf_vma_flag {
	RF_VMA_SHARED = 1 << 0,
	RF_VMA_LOCKED = 1 << 1,
	RF_VMA_RAND = 1 << 2, /* MADV_RANDOM */
	RF_VMA_SEQ = 1 << 3,  /* MADV_SEQUENTIAL */
	RF_VMA_VOLATILE = 1 << 4,
	RF_VMA_IMPLICIT = 1 << 5, /* made for an access that no mapping covered */
	RF_VMA_PURGED = 1 << 8, /* volatile, and its data is lost */
	RF_VMA_HUGE = 1 << 6, RF_VMA_NOHUGE = 1 << 7,
};

struct rf_vma {
	uint64_t start, end; /* bytes, multiples of the unit given to rf_vmas_new */
	uint64_t off;        /* file offset of start */
	uint32_t id;         /* file or refpage id */
	uint8_t prot, mkind;
	uint16_t flags;
	uint32_t serial;     /* unique in the map, kept by the larger part on a split; for per-VMA state */
};

struct rf_vmas;

struct rf_vmas *rf_vmas_new(unsigned unit_shift); /* ranges are widened to whole units */
struct rf_vmas *rf_vmas_copy(const struct rf_vmas *m);
void rf_vmas_free(struct rf_vmas *m);
uint32_t rf_vmas_count(const struct rf_vmas *m);
const struct rf_vma *rf_vmas_nth(const struct rf_vmas *m, uint32_t i);
/* The mapping that covers addr, or NULL.  Fast when it is the one found last. */
const struct rf_vma *rf_vmas_find(struct rf_vmas *m, uint64_t addr);
/* The first mapping with end > addr, or NULL. */
const struct rf_vma *rf_vmas_next(const struct rf_vmas *m, uint64_t addr);
/* Does a mapping other than an implicit one overlap [start, end)? */
gboolean rf_vmas_overlaps(const struct rf_vmas *m, uint64_t start, uint64_t end);
/* Add a mapping; whatever was in its place is removed first (MAP_FIXED).  Neighbours of the same
 * kind, contiguous in file and equal in flags, merge. */
void rf_vmas_map(struct rf_vmas *m, const struct rf_vma *v);
/* Remove a range; mappings at its edges are split. */
void rf_vmas_unmap(struct rf_vmas *m, uint64_t start, uint64_t end);
/* Change prot (set_prot) and flags in a range; FALSE when part of it is not mapped. */
gboolean rf_vmas_change(struct rf_vmas *m, uint64_t start, uint64_t end, gboolean set_prot,
                        uint8_t prot, uint16_t set_flags, uint16_t clear_flags);
/* Move [start, start+len) to new_start with new_len; FALSE when start is not mapped. */
gboolean rf_vmas_move(struct rf_vmas *m, uint64_t start, uint64_t len, uint64_t new_start, uint64_t new_len);

#endif
