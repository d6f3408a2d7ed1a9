/* SPDX-License-Identifier: MIT
 * Which task has which address space.
 */
#include "traces/tasks.h"

#include "base/error.h"
#include "traces/event.h"

struct rf_tasks {
	GHashTable *space; /* tid → space, of tasks that live */
	uint32_t spaces;
};

struct rf_tasks *rf_tasks_new(void)
{
	struct rf_tasks *t = g_new0(struct rf_tasks, 1);

	t->space = g_hash_table_new(NULL, NULL);
	return t;
}

void rf_tasks_free(struct rf_tasks *t)
{
	if (t == NULL)
		return;
	g_hash_table_unref(t->space);
	g_free(t);
}

gboolean rf_tasks_find(const struct rf_tasks *t, uint32_t tid, uint32_t *space)
{
	gpointer value;

	if (!g_hash_table_lookup_extended(t->space, GUINT_TO_POINTER(tid), NULL, &value))
		return FALSE;
	*space = GPOINTER_TO_UINT(value);
	return TRUE;
}

uint32_t rf_tasks_spaces(const struct rf_tasks *t)
{
	return t->spaces;
}

static gboolean start(struct rf_tasks *t, struct rf_event *ev, GError **error)
{
	uint32_t space;

	if (rf_tasks_find(t, ev->tid, &space)) {
		rf_set_data(error, "task %u exists already", ev->tid);
		return FALSE;
	}
	if (ev->has_parent && !rf_tasks_find(t, ev->parent, &space)) {
		rf_set_data(error, "parent %u of task %u does not exist", ev->parent, ev->tid);
		return FALSE;
	}
	ev->space = ev->thread ? space : t->spaces++;
	return TRUE;
}

gboolean rf_tasks_event(struct rf_tasks *t, struct rf_event *ev, GError **error)
{
	uint32_t space;

	if (!rf_event_has_tid(ev->kind))
		return TRUE;
	if (ev->kind == RF_EV_TASK) {
		if (!start(t, ev, error))
			return FALSE;
	} else if (!rf_tasks_find(t, ev->tid, &space)) {
		rf_set_data(error, "task %u was not declared; expected an event 'task %u' before", ev->tid,
		            ev->tid);
		return FALSE;
	} else if (ev->kind == RF_EV_EXEC) {
		ev->space = t->spaces++;
	} else if (ev->kind == RF_EV_EXIT) {
		g_hash_table_remove(t->space, GUINT_TO_POINTER(ev->tid));
		return TRUE;
	} else {
		return TRUE;
	}
	g_hash_table_insert(t->space, GUINT_TO_POINTER(ev->tid), GUINT_TO_POINTER(ev->space));
	return TRUE;
}
