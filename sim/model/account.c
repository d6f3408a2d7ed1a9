/* SPDX-License-Identifier: MIT
 * What it takes to find the cgroup of a page: memory at boot, as pages are charged, and as memory comes.
 */
#include "sim/model/model.h"

void account_init(struct rf_model *m)
{
	m->seams.account->layout(m->seams.account_opt, &m->host, &m->layout);
}

uint64_t account_boot(const struct rf_model *m)
{
	const struct rf_account_layout *l = &m->layout;
	uint64_t bytes = l->fixed_bytes + ((m->cfg.ram_bytes + l->holes) >> m->cfg.page_shift) * l->page_bytes;

	if (l->unit_bytes)
		bytes += ((m->cfg.ram_bytes + (UINT64_C(1) << l->unit_shift) - 1) >> l->unit_shift) * l->unit_bytes;
	return bytes;
}

/* Memory that came later brings its descriptors; what fills a hole has paid already. */
static uint64_t hotplug(const struct rf_model *m)
{
	const struct rf_account_layout *l = &m->layout;
	uint64_t pages = m->hotplugged > 0 ? (uint64_t)m->hotplugged : 0, holes = l->holes >> m->cfg.page_shift;

	return pages * l->struct_page + (pages - MIN(pages, holes)) * l->page_bytes;
}

uint64_t account_dynamic(const struct rf_model *m)
{
	const struct rf_account_layout *l = &m->layout;

	return m->ncharged * l->charged_bytes + (m->ncharged + 63) / 64 * l->node_bytes + hotplug(m);
}

uint64_t account_waste(const struct rf_model *m)
{
	return (m->hugetlb + (m->layout.holes >> m->cfg.page_shift)) * m->layout.page_bytes;
}

void account_charged(struct rf_model *m, int64_t pages)
{
	m->ncharged += pages;
	if (!m->layout.charged_bytes)
		return;
	m->account_max = MAX(m->account_max, account_boot(m) + account_dynamic(m));
	unowned_update(m);
}
