/* SPDX-License-Identifier: MIT */
#include "sim/replay.h"

#include "sim/cmd/command.h"
#include "sim/future.h"
#include "sim/progress.h"

/* Page sizes that a run can have: 4, 16 and 64 KiB.  Machines of one size share a future. */
#define MIN_SHIFT 12
#define MAX_SHIFT 16

struct futures {
	struct rf_future *by_shift[MAX_SHIFT - MIN_SHIFT + 1];
};

static void futures_free(struct futures *f)
{
	for (size_t i = 0; i < G_N_ELEMENTS(f->by_shift); i++)
		g_clear_pointer(&f->by_shift[i], rf_future_free);
}

static gboolean futures_make(struct futures *f, struct rf_source *source,
                             struct rf_machine *const *machines, unsigned n, GError **error)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned shift;

		if (!rf_machine_needs_future(machines[i]))
			continue;
		shift = rf_machine_page_shift(machines[i]);
		g_assert(shift >= MIN_SHIFT && shift <= MAX_SHIFT);
		if (!f->by_shift[shift - MIN_SHIFT]) {
			f->by_shift[shift - MIN_SHIFT] = rf_future_new(source, shift, error);
			if (!f->by_shift[shift - MIN_SHIFT])
				return FALSE;
		}
		rf_machine_set_future(machines[i], f->by_shift[shift - MIN_SHIFT]);
	}
	return TRUE;
}

static gboolean futures_item(struct futures *f, const struct rf_item *item, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(f->by_shift); i++) {
		if (f->by_shift[i] && !rf_future_item(f->by_shift[i], item, error))
			return FALSE;
	}
	return TRUE;
}

static void name_machine(GError **error, unsigned i, unsigned n)
{
	if (n > 1)
		g_prefix_error(error, "configuration %u of %u: ", i + 1, n);
}

static gboolean feed(struct rf_source *source, struct futures *futures,
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
		if (!futures_item(futures, &item, error))
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
	struct futures futures = { 0 };
	gboolean ordered = any_ordered(machines, n);
	gboolean ok = !ordered || (futures_make(&futures, source, machines, n, error) &&
	                           feed(source, &futures, machines, n, progress, error));

	for (unsigned i = 0; i < n; i++) {
		if (rf_machine_needs_future(machines[i]))
			rf_machine_set_future(machines[i], NULL);
	}
	futures_free(&futures);
	return ok && closed(source, machines, n, ordered, progress, error);
}
