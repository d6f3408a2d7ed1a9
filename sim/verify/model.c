/* SPDX-License-Identifier: MIT
 * The same run on the model: the trace, and the replaying process's own pages before it.
 */
#include "base/error.h"
#include "base/interrupt.h"
#include "sim/machine.h"
#include "sim/progress.h"
#include "sim/verify/verify.h"

struct model {
	const struct rf_vplan *plan;
	struct rf_machine *machine;
	uint32_t own; /* pages; the trace's ids come after them */
	uint32_t *shifted, shifted_size;
};

/* mmap and a store to each page. */
static gboolean put_own(struct model *m, GError **error)
{
	const uint64_t at = rf_vplan_own_address(m->plan);
	g_autofree struct rf_page_name *name = g_new(struct rf_page_name, m->own);
	g_autofree uint32_t *page = g_new(uint32_t, m->own), *count = g_new(uint32_t, m->own);
	g_autofree uint8_t *type = g_new(uint8_t, m->own);
	struct rf_item item = { .kind = RF_ITEM_EVENT };

	for (uint32_t i = 0; i < m->own; i++) {
		name[i] = (struct rf_page_name){ .space = m->plan->space,
			                         .vpn = (at >> RF_GRANULE_SHIFT) + i };
		page[i] = i;
		count[i] = 1;
		type[i] = RF_WRITE;
	}
	item.event = (struct rf_event){
		.kind = RF_EV_MMAP,
		.tid = m->plan->tid,
		.addr = at,
		.len = m->own * RF_VERIFY_PAGE,
		.prot = RF_PROT_R | RF_PROT_W,
		.mkind = RF_MAP_ANON,
		.name = "own",
	};
	if (!rf_machine_item(m->machine, &item, error))
		return FALSE;
	item.kind = RF_ITEM_PAGES;
	item.pages.first = 0;
	item.pages.n = m->own;
	item.pages.name = name;
	if (!rf_machine_item(m->machine, &item, error))
		return FALSE;
	item.kind = RF_ITEM_RUNS;
	item.runs = (struct rf_runs){
		.n = m->own, .tid = m->plan->tid, .page = page, .type = type, .count = count
	};
	return rf_machine_item(m->machine, &item, error);
}

static gboolean put(struct model *m, struct rf_item *item, GError **error)
{
	if (item->kind == RF_ITEM_EVENT && item->event.kind == RF_EV_FILE) {
		/* As large as it was made for the kernel. */
		uint32_t i = rf_vplan_object(m->plan, item->event.id, FALSE);

		if (i != RF_VOP_NO_OBJECT)
			item->event.len =
				g_array_index(m->plan->objects, struct rf_vobject, i).size;
	}
	if (m->own && item->kind == RF_ITEM_PAGES)
		item->pages.first += m->own;
	if (m->own && item->kind == RF_ITEM_RUNS) {
		if (item->runs.n > m->shifted_size) {
			m->shifted_size = item->runs.n;
			m->shifted = g_renew(uint32_t, m->shifted, m->shifted_size);
		}
		for (uint32_t i = 0; i < item->runs.n; i++)
			m->shifted[i] = item->runs.page[i] + m->own;
		item->runs.page = m->shifted;
	}
	if (!rf_machine_item(m->machine, item, error))
		return FALSE;
	if (m->own && item->kind == RF_ITEM_EVENT && item->event.kind == RF_EV_TASK)
		return put_own(m, error);
	return TRUE;
}

gboolean rf_vrun_model(const struct rf_config *cfg, const struct rf_vplan *plan, uint64_t own_pages,
                       struct rf_source *source, gboolean quiet, struct rf_result *out,
                       GError **error)
{
	struct model m = { .plan = plan, .own = (uint32_t)own_pages };
	struct rf_progress *progress = NULL;
	struct rf_item item;
	gboolean ok;

	if (!rf_source_rewind(source, error))
		return FALSE;
	m.machine = rf_machine_new(cfg, rf_source_totals_ahead(source), error);
	if (!m.machine)
		return FALSE;
	if (!quiet)
		progress = rf_progress_new("model");
	do {
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			ok = FALSE;
			break;
		}
		ok = rf_source_next(source, &item, error) &&
		     (item.kind == RF_ITEM_END || put(&m, &item, error));
		if (ok && progress)
			rf_progress_update(progress, rf_source_progress(source), 0);
	} while (ok && item.kind != RF_ITEM_END);
	rf_progress_end(progress);
	ok = ok && rf_machine_finish(m.machine, out, error);
	if (ok)
		out->totals = *rf_source_totals(source);
	rf_machine_free(m.machine);
	g_free(m.shifted);
	return ok;
}
