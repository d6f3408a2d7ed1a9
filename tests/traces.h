/* SPDX-License-Identifier: MIT
 * For tests of traces: files come and go, sources are copied into sinks and compared.
 */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include "traces/trace.h"

/* The data of the tests: a path below tests/data.  Caller frees. */
char *trace_data(const char *name);
/* A path that nothing stands at yet, in the tests' own temporary folder, removed at exit. */
char *trace_temp(const char *name);
char *trace_slurp(const char *path, gsize *len);
void trace_spit(const char *path, const void *data, gsize len);

/* Copy all items of a source, which is closed, into a .rft (level 1) or text file. */
gboolean trace_copy(struct rf_source *s, const char *path, gboolean rft, struct rf_totals *totals,
                    GError **error);
/* The same, which must go well. */
void trace_must_copy(struct rf_source *s, const char *path, gboolean rft, struct rf_totals *totals);
/* Read to the end; the source is closed.  s may be NULL: error is set then. */
gboolean trace_drain(struct rf_source *s, struct rf_totals *totals, GError **error);
struct rf_source *trace_must_open(const char *path);
/* A .rft in memory, read as a file, or through a pipe when it fits into one. */
struct rf_source *trace_rft(const void *data, gsize len, gboolean pipe, GError **error);
/* The bytes of the .rft that a text makes.  Caller frees. */
uint8_t *trace_rft_of(const char *text, gsize *len);

#endif
