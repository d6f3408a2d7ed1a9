/* SPDX-License-Identifier: MIT
 * What it takes to find the cgroup of a page: memory at boot, as pages are charged, and as memory comes;
 * and time whenever one is charged or uncharged, in cache lines.
 */
#include "sim/model/model.h"

void account_init(struct rf_model *m)
{
	const struct rf_account_layout *l = &m->layout;
	const struct rf_profile *p = &m->profile;

	m->seams.account->layout(m->seams.account_opt, &m->host, &m->layout);
	/* A descriptor's first line is part of what a fault costs anyhow. */
	m->account_lines_64 = l->lines_64 + rf_lines_64(l->stride) - MIN(rf_lines_64(l->stride), RF_CACHE_LINE);
	m->account_ns = m->account_lines_64 * p->cache_line / RF_CACHE_LINE + l->shared_lines * p->cache_line_shared +
	                l->atomics * p->atomic;
	m->object_ns = l->object ? p->slab_pair : 0;
}

/* Whoever reclaims pays for what it uncharges. */
static void pay(struct rf_model *m, uint64_t ns)
{
	spend(m, ns, m->in_reclaim ? &m->time_reclaim : &m->time_fault);
	m->time_account += ns;
}

/* Every counter on the way up but the root's, which has none, is a cache line that others write too. */
void account_counters(struct rf_model *m, struct cgroup *cg)
{
	if (m->layout.none)
		return;
	for (; m->closed && cg->parent; cg = cg->parent) {
		unsigned others = rf_line_write(&cg->counter_line, m->sched);

		m->counter_writes++;
		m->counter_contended += others > 0;
		pay(m, others * m->profile.counter_line);
	}
}

static void look_up(struct rf_model *m, uint64_t pages, uint64_t object)
{
	m->account_lookups += pages;
	pay(m, pages * (m->account_ns + object));
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

static void charged_change(struct rf_model *m, int64_t pages)
{
	m->ncharged += pages;
	if (!m->layout.charged_bytes)
		return;
	m->account_max = MAX(m->account_max, account_boot(m) + account_dynamic(m));
	unowned_update(m);
}

/* An object's first half is its allocation. */
void account_charge(struct rf_model *m, uint32_t pages)
{
	charged_change(m, pages);
	look_up(m, pages, m->object_ns - m->object_ns / 2);
}

void account_uncharge(struct rf_model *m, uint32_t pages)
{
	charged_change(m, -(int64_t)pages);
	look_up(m, pages, m->object_ns / 2);
}

void account_gauges(const struct rf_model *m, uint64_t g[RF_NGAUGES])
{
	g[RF_G_rf_account_boot] = account_boot(m);
	g[RF_G_rf_account] = account_boot(m) + account_dynamic(m);
	g[RF_G_rf_account_max] = MAX(m->account_max, g[RF_G_rf_account]);
	g[RF_G_rf_account_waste] = account_waste(m);
	g[RF_G_rf_account_lines] = m->account_lookups * m->account_lines_64 / RF_CACHE_LINE;
	g[RF_G_rf_time_account] = m->time_account;
	g[RF_G_rf_counter_writes] = m->counter_writes;
	g[RF_G_rf_counter_contended] = m->counter_contended;
}
