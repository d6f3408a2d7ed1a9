/* SPDX-License-Identifier: MIT */
#include "sim/replay.h"

#include "base/interrupt.h"
#include "sim/future.h"
#include "sim/progress.h"

static gboolean make_futures(struct rf_futures *f, struct rf_source *source,
                             struct rf_machine *const *machines, unsigned n, GError **error)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned shift = rf_machine_page_shift(machines[i]);

		if (!rf_machine_needs_future(machines[i]))
			continue;
		if (!rf_futures_add(f, source, shift, error))
			return FALSE;
		rf_machine_set_future(machines[i], f->by_size[rf_futures_index(shift)]);
	}
	return TRUE;
}

static void name_machine(GError **error, unsigned i, unsigned n)
{
	if (n > 1)
		g_prefix_error(error, "configuration %u of %u: ", i + 1, n);
}

static gboolean feed(struct rf_source *source, struct rf_futures *futures,
                     struct rf_machine *const *machines, unsigned n, struct rf_progress *progress,
                     GError **error)
{
	struct rf_item item;

	for (;;) {
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			return FALSE;
		}
		if (!rf_source_next(source, &item, error))
			return FALSE;
		if (item.kind == RF_ITEM_END)
			return TRUE;
		if (!rf_futures_item(futures, &item, error))
			return FALSE;
		for (unsigned i = 0; i < n; i++) {
			if (rf_machine_is_closed(machines[i]) || rf_machine_item(machines[i], &item, error))
				continue;
			name_machine(error, i, n);
			return FALSE;
		}
		if (progress) {
			const struct rf_totals *t = rf_source_totals(source);

			rf_progress_update(progress, rf_source_progress(source),
			                   t->accesses[RF_READ] + t->accesses[RF_WRITE] +
			                           t->accesses[RF_EXEC]);
		}
	}
}

/* Closed replay chooses the order of items by itself: a machine, a reading. */
static gboolean closed(struct rf_source *source, struct rf_machine *const *machines, unsigned n,
                       gboolean read, struct rf_progress *progress, GError **error)
{
	for (unsigned i = 0; i < n; i++) {
		if (!rf_machine_is_closed(machines[i]))
			continue;
		if (read && !rf_source_rewind(source, error))
			return FALSE;
		read = TRUE;
		if (!rf_machine_replay_closed(machines[i], source, progress, error)) {
			name_machine(error, i, n);
			return FALSE;
		}
	}
	return TRUE;
}

static gboolean any_ordered(struct rf_machine *const *machines, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!rf_machine_is_closed(machines[i]))
			return TRUE;
	}
	return FALSE;
}

gboolean rf_replay(struct rf_source *source, struct rf_machine *const *machines, unsigned n,
                   struct rf_progress *progress, GError **error)
{
	struct rf_futures futures = { 0 };
	gboolean ordered = any_ordered(machines, n);
	gboolean ok = !ordered || (make_futures(&futures, source, machines, n, error) &&
	                           feed(source, &futures, machines, n, progress, error));

	for (unsigned i = 0; i < n; i++) {
		if (rf_machine_needs_future(machines[i]))
			rf_machine_set_future(machines[i], NULL);
	}
	rf_futures_clear(&futures);
	return ok && closed(source, machines, n, ordered, progress, error);
}
