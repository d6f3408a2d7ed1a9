/* SPDX-License-Identifier: MIT */
#include "sim/replay.h"

#include "sim/command.h"
#include "sim/progress.h"

gboolean rf_replay(struct rf_source *source, struct rf_machine *const *machines, unsigned n,
                   struct rf_progress *progress, GError **error)
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
		for (unsigned i = 0; i < n; i++) {
			if (rf_machine_item(machines[i], &item, error))
				continue;
			if (n > 1)
				g_prefix_error(error, "configuration %u of %u: ", i + 1, n);
			return FALSE;
		}
		if (progress) {
			const struct rf_totals *t = rf_source_totals(source);

			rf_progress_update(progress, rf_source_progress(source),
			                   t->accesses[RF_READ] + t->accesses[RF_WRITE] + t->accesses[RF_EXEC]);
		}
	}
}
