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
/* What is updated from here on is a part of the whole: its shares 0..1 stand for from..to, each
 * access for times of them, on top of those before. */
void rf_progress_part(struct rf_progress *p, double from, double to, double times);
/* A share of the whole was done before, or needs not be done; accesses were done elsewhere. */
void rf_progress_skip(struct rf_progress *p, double share, double accesses);
/* Show another label from here on. */
void rf_progress_label(struct rf_progress *p, const char *label);
/* Wipe the line, so that something else can be written; the next update draws it again. */
void rf_progress_wipe(struct rf_progress *p);
/* Wipe the line for good.  p may be NULL, as everywhere. */
void rf_progress_end(struct rf_progress *p);

#endif
