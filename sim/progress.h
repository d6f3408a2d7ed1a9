/* SPDX-License-Identifier: MIT
 * A progress bar for people.  The only user of the wall clock: nothing of it reaches a result.
 */
#ifndef RF_PROGRESS_H
#define RF_PROGRESS_H

#include <glib.h>
#include <stdint.h>

struct rf_progress;

/* NULL when standard error is no terminal.  label: what goes on, shown first. */
struct rf_progress *rf_progress_new(const char *label);
/* share: 0..1, or below 0 when not known; done: accesses so far.  Cheap: draws a few times a
 * second. */
void rf_progress_update(struct rf_progress *p, double share, uint64_t done);
/* Wipe the line.  p may be NULL. */
void rf_progress_end(struct rf_progress *p);

#endif
