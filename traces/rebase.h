/* SPDX-License-Identifier: MIT
 * A trace whose addresses are canonical (places.h), so that two recordings of one program that the
 * kernel loaded at random addresses agree.
 */
#ifndef RF_REBASE_H
#define RF_REBASE_H

#include "traces/trace.h"

/* s with other addresses; takes s over.  Its header says "rebased".  Tasks are
 * numbered as they begin.
 *
 * An access over the edge of two mappings that are apart now counts as two.  What an mremap, mprotect
 * or the like did to several mappings that are apart now is an event for each.  An anonymous mapping
 * that is trimmed before it is used (aligned by hand, as malloc's arenas are) is one of what is left:
 * how much is trimmed depends on the address. */
struct rf_source *rf_source_rebase(struct rf_source *s);

#endif
