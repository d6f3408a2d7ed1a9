/* SPDX-License-Identifier: MIT
 * Which task has which address space, as task, exec and exit events say.
 */
#ifndef RF_TASKS_H
#define RF_TASKS_H

#include "traces/trace.h"

struct rf_tasks;

struct rf_tasks *rf_tasks_new(void);
void rf_tasks_free(struct rf_tasks *t);
/* FALSE: no such task now. */
gboolean rf_tasks_find(const struct rf_tasks *t, uint32_t tid, uint32_t *space);
uint32_t rf_tasks_spaces(const struct rf_tasks *t); /* opened so far */
/* Follow an event; a task or exec event gets its space.  FALSE for a task that is there already, for
 * a parent or task that is not. */
gboolean rf_tasks_event(struct rf_tasks *t, struct rf_event *ev, GError **error);

#endif
