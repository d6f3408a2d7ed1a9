/* SPDX-License-Identifier: MIT
 * The processes of a recording, by number: for formats whose records name tasks.  A task is declared
 * when it is first named; the first process takes a companion file's mappings (--maps).
 */
#ifndef RF_PROCS_H
#define RF_PROCS_H

#include "traces/import/process.h"

struct rf_procs;

/* kernel_accesses as for rf_process_new.  opt may be NULL. */
struct rf_procs *rf_procs_new(struct rf_builder *b, const struct rf_source_options *opt,
                              gboolean kernel_accesses);
void rf_procs_free(struct rf_procs *p);

gboolean rf_procs_known(const struct rf_procs *p, uint32_t tid);
/* The process of task tid; pid is a number for the process (for most recorders that of its first
 * task), or tid again where that is not known.  NULL on error. */
struct rf_process *rf_procs_get(struct rf_procs *p, uint32_t pid, uint32_t tid, GError **error);
/* Task child comes from parent, as a thread or by fork; nothing happens where it is there already. */
gboolean rf_procs_fork(struct rf_procs *p, uint32_t parent, uint32_t child, gboolean thread,
                       GError **error);
gboolean rf_procs_exit(struct rf_procs *p, uint32_t tid, GError **error);

/* An access by a task. */
gboolean rf_procs_access(struct rf_procs *p, uint32_t pid, uint32_t tid, enum rf_access type,
                         uint64_t addr, uint64_t len, GError **error);
/* The same where the recorder does not know its type: a load in file mappings, else a store, so
 * that the page has a frame of its own. */
gboolean rf_procs_touch(struct rf_procs *p, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len,
                        GError **error);

#endif
