/* SPDX-License-Identifier: MIT
 * Canonical addresses for one address space: where a mapping goes depends on what it is and on what
 * is mapped, not on where the recorded machine happened to put it.
 *
 * Mappings are moved in clusters, whose inside keeps its shape: a library that was mapped whole and
 * then piece by piece, a program with its bss, a heap or a stack with what it grew by.
 *
 *	a file       at 64 GiB + 4 GiB × its number + the offset of the cluster's first mapping; files
 *	             are numbered as they are first mapped (struct rf_file_places)
 *	[heap]       at 1 TiB, upwards
 *	all else     the lowest place that is free from 64 TiB on, 64 KiB apart
 *	[stack]      ends at 127 TiB
 */
#ifndef RF_PLACES_H
#define RF_PLACES_H

#include "traces/trace.h"

struct rf_places;
struct rf_file_places; /* shared by the address spaces of a trace */

struct rf_file_places *rf_file_places_new(void);
void rf_file_places_free(struct rf_file_places *f);

struct rf_places *rf_places_new(struct rf_file_places *files, unsigned granule_shift);
struct rf_places *rf_places_copy(const struct rf_places *p);
void rf_places_free(struct rf_places *p);

/* A range of old addresses that stays together, at a new one. */
struct rf_place {
	uint64_t from, to, len;
};

/* Make places for a mapping (an mmap event) and count it as mapped. */
void rf_places_map(struct rf_places *p, const struct rf_event *mmap);
/* What is mapped no longer; places that nothing is left in are free after it. */
void rf_places_unmap(struct rf_places *p, uint64_t addr, uint64_t len);
/* An mremap event.  Where [addr, addr + len) was before comes from rf_places_piece; it can come out
 * in several pieces.  Call it after having asked. */
void rf_places_move(struct rf_places *p, const struct rf_event *mremap);
/* The part of [addr, end) that begins first and has a place; FALSE: none has. */
gboolean rf_places_piece(const struct rf_places *p, uint64_t addr, uint64_t end,
                         struct rf_place *piece);
/* The new address of an access; a place is made where there is none. */
uint64_t rf_places_access(struct rf_places *p, uint64_t addr);
/* Make places for what has none, so that pieces cover the range. */
void rf_places_cover(struct rf_places *p, uint64_t addr, uint64_t len);

#endif
