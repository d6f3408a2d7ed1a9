/* SPDX-License-Identifier: MIT
 * What the members that keep ranges of their own share: a tree of ranges for each root, one list of all
 * in order of insertion, and what becomes of a program that touches what it lost.
 */
#ifndef RF_TREE_H
#define RF_TREE_H

#include "policies/seams.h"
#include "policies/volatile/ranges.h"

/* ORDER choices of RF_TREE_TOUCH_OPTION and RF_TREE_PURGE_OPTION. */
enum rf_on_touch { RF_ON_TOUCH_SIGBUS, RF_ON_TOUCH_ZERO, RF_ON_TOUCH_KILL };
enum rf_purge { RF_PURGE_FULL, RF_PURGE_PARTIAL };

struct rf_tree_options {
	int purge, on_purged_touch;
	int64_t bytes;
};

#define RF_TREE_OFF(member) offsetof(struct rf_tree_options, member)
#define RF_TREE_PURGE_OPTION \
	{ .name = "purge", .type = RF_OPT_ENUM, .offset = RF_TREE_OFF(purge), .def = "full", \
	  .choices = "full,partial", .help = "a victim loses all of its pages, or as many as are wanted" }
#define RF_TREE_TOUCH_OPTION(otherwise) \
	{ .name = "on_purged_touch", .type = RF_OPT_ENUM, .offset = RF_TREE_OFF(on_purged_touch), \
	  .def = otherwise, .choices = "sigbus,zero,kill", \
	  .help = "who touches what was purged gets a signal and makes it anew, finds zeros, or dies" }
#define RF_TREE_BYTES_OPTION(size) \
	{ .name = "bytes", .type = RF_OPT_INT, .offset = RF_TREE_OFF(bytes), .unit = "bytes", .def = size, \
	  .min = 1, .max = 65536, .help = "memory that the description of a range takes" }

void rf_tree_init(struct rf_volatile *vol);
void rf_tree_exit(struct rf_volatile *vol);
gboolean rf_tree_mark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end);
gboolean rf_tree_unmark(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end, gboolean *lost);
void rf_tree_forget(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end);
void rf_tree_fork(struct rf_volatile *vol, uint64_t from, uint64_t to);
gboolean rf_tree_covers(struct rf_volatile *vol, uint64_t root, uint64_t addr);
void rf_tree_met(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *start, uint64_t *end);
/* Discard ranges in reach, oldest first, until wanted is met: in pages, or in ranges as if they were. */
uint64_t rf_tree_shrink(struct rf_volatile *vol, uint64_t wanted, gboolean count_ranges);
enum rf_vtouch rf_tree_touch(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *pages);
uint64_t rf_tree_ranges(struct rf_volatile *vol);
uint64_t rf_tree_bytes(struct rf_volatile *vol);
uint64_t rf_tree_purged(struct rf_volatile *vol);

#endif
