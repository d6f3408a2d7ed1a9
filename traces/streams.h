/* SPDX-License-Identifier: MIT
 * The tasks of a trace, each as a stream of its own, from one source.
 *
 * The source is read once, as far as somebody asks; what others will want waits in memory, and beyond
 * a bound in a temporary file.  A trace is never in memory whole: at most the bound, a mebibyte a
 * stream, and 24 bytes for each mebibyte in the file.
 *
 * An event that names no task, or starts one without a parent, belongs to the stream of the task that
 * the record before it belongs to: it happens when that one has come so far.  When that task has
 * exited, to its parent, or else to the first that lives.  An event `at' is no item: it bounds the
 * time of whatever follows in the trace, in every stream.
 */
#ifndef RF_STREAMS_H
#define RF_STREAMS_H

#include "traces/trace.h"

struct rf_streams;

#define RF_NO_STREAM UINT32_MAX

struct rf_stream_item {
	struct rf_item item; /* runs, an event, or the end; not pages, files, refpages, lost and at */
	uint32_t child;      /* of a task event: the stream of the task that starts */
	uint32_t previous;   /* and of the one that had its number before; RF_NO_STREAM: none had */
	uint64_t not_before; /* ns */
};

/* The names of pages and what is declared (file, refpage), as soon as they are read. */
typedef gboolean (*rf_streams_ahead_fn)(void *arg, const struct rf_item *item, GError **error);

#define RF_STREAMS_MEMORY (UINT64_C(64) << 20) /* a bound that fits everybody */

/* The source stays the caller's, who leaves it alone meanwhile. */
struct rf_streams *rf_streams_new(struct rf_source *source, uint64_t memory, rf_streams_ahead_fn ahead,
                                  void *arg);
void rf_streams_free(struct rf_streams *s);
/* The next item of a stream; the end again and again.  Pointers live until the stream's next one.
 * Stream 0 is what stands before the first task, and that task's start; the others are numbered in
 * the order of their task events. */
gboolean rf_streams_next(struct rf_streams *s, uint32_t stream, struct rf_stream_item *out,
                         GError **error);
/* Bytes that went through the temporary file. */
uint64_t rf_streams_spilled(const struct rf_streams *s);

#endif
