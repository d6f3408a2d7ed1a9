/* SPDX-License-Identifier: MIT
 * The event queue: simulated time in integer nanoseconds.  Events at the same time run in the order
 * in which they were added.
 */
#ifndef RF_CLOCK_H
#define RF_CLOCK_H

#include <glib.h>
#include <stdint.h>

struct rf_clock;
typedef void (*rf_event_fn)(void *machine, uint64_t arg);

struct rf_clock *rf_clock_new(void);
void rf_clock_free(struct rf_clock *c);
/* Run fn(machine, arg) at time when. */
void rf_clock_at(struct rf_clock *c, uint64_t when, rf_event_fn fn, void *machine, uint64_t arg);
/* Time of the next event, UINT64_MAX when there is none. */
uint64_t rf_clock_next(const struct rf_clock *c);
/* Run what is due at time now or before; *now is each event's time while it runs. */
void rf_clock_run(struct rf_clock *c, uint64_t *now);

#endif
