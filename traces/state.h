/* SPDX-License-Identifier: MIT
 * What the events of a trace have made so far: tasks, address spaces and their mappings, files.
 * For readers of a trace that must know, and for those that doubt it.
 */
#ifndef RF_STATE_H
#define RF_STATE_H

#include "traces/trace.h"
#include "traces/vma.h"

struct rf_state;

/* Of a trace with this header.  Where it says that the source can't know all, files may have grown
 * unseen, as in recordings: their sizes are not relied on. */
struct rf_state *rf_state_new(const struct rf_header *h);
void rf_state_free(struct rf_state *st);

/* Take in an item.  FALSE for an event that makes no sense, or runs of a task that is none; the
 * message has no position.  What does make sense in it is taken in nevertheless. */
gboolean rf_state_item(struct rf_state *st, const struct rf_item *item, GError **error);

/* Numbers from 1: rises whenever a mapping, or the size of a file, may have changed, so that answers below can be kept. */
uint32_t rf_state_epoch(const struct rf_state *st);
/* The mapping around a page now, or NULL. */
const struct rf_vma *rf_state_vma(const struct rf_state *st, uint32_t page);
/* Was there a mapping around a page at some time since its address space began? */
gboolean rf_state_ever_mapped(const struct rf_state *st, uint32_t page);
/* Bytes of a file: as declared, or what was written to; 0: not known. */
uint64_t rf_state_file_size(const struct rf_state *st, uint32_t id);
const struct rf_page_name *rf_state_page(const struct rf_state *st, uint32_t page);
uint32_t rf_state_pages(const struct rf_state *st);
/* The address space of a living task; FALSE when there is no such task. */
gboolean rf_state_space(const struct rf_state *st, uint32_t tid, uint32_t *space);

#endif
