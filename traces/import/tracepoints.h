/* SPDX-License-Identifier: MIT
 * The kernel's tracepoints of memory management, as perf script and ftrace print them: the same
 * fields behind different heads.
 */
#ifndef RF_TRACEPOINTS_H
#define RF_TRACEPOINTS_H

#include "traces/import/lines.h"
#include "traces/import/procs.h"

struct rf_tracepoints;

struct rf_tracepoints *rf_tracepoints_new(struct rf_lines *l, struct rf_procs *procs,
                                          gboolean kernel_accesses);
void rf_tracepoints_free(struct rf_tracepoints *t);

/* The head of a line: "… 7310.220117: ".  Finds the time; *before ends where it began (cut there),
 * the result is what follows.  NULL: there is no such time. */
char *rf_tracepoint_head(char *s, char **before, uint64_t *ns);
/* The last word of text, which is cut off; "" when there is none. */
char *rf_last_word(char *text);

/* An event by its name without its system, "mm_lru_insertion", and its fields. */
enum rf_line rf_tracepoint(struct rf_tracepoints *t, uint32_t pid, uint32_t tid, const char *name,
                           char *fields, GError **error);
/* No more events: tell what the kernel counted until here. */
enum rf_line rf_tracepoints_end(struct rf_tracepoints *t, GError **error);

#endif
