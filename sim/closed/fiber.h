/* SPDX-License-Identifier: MIT
 * Stacks to change between: how a task that waits in the middle of a system call is put aside while
 * others go on.
 */
#ifndef RF_FIBER_H
#define RF_FIBER_H

#include <glib.h>

struct rf_fiber;

/* What runs already, on the stack that it has. */
struct rf_fiber *rf_fiber_root(void);
/* A stack of its own; fn(arg) begins with the first switch to it and must never return.  NULL: no
 * memory for a stack. */
struct rf_fiber *rf_fiber_new(void (*fn)(void *arg), void *arg);
/* Not the one that runs. */
void rf_fiber_free(struct rf_fiber *f);
/* Leave from, which runs, and go on with to.  Returns when somebody switches back. */
void rf_fiber_switch(struct rf_fiber *from, struct rf_fiber *to);

#endif
