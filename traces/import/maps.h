/* SPDX-License-Identifier: MIT
 * Mappings as recorders write them down: valgrind's address-space dump in a stream, and companion
 * files for traces of addresses alone.
 */
#ifndef RF_MAPS_H
#define RF_MAPS_H

#include "traces/import/process.h"

struct rf_maps;

struct rf_maps *rf_maps_new(void);
void rf_maps_free(struct rf_maps *m);
/* What follows "aspacem " in a line of the dump; may be written to. */
void rf_maps_dump_line(struct rf_maps *m, char *s);
/* The dump has ended: its mappings into the trace. */
gboolean rf_maps_end(struct rf_maps *m, struct rf_process *process, uint32_t tid, GError **error);

/* A companion file: the dump, lines of /proc/PID/maps, or what strace prints; of the latter what was
 * mapped at any time, as it was mapped last. */
gboolean rf_maps_read(const char *path, struct rf_process *process, uint32_t tid, GError **error);

#endif
