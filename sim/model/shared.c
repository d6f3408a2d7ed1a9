/* SPDX-License-Identifier: MIT
 * What processors share besides locks and counters: cores, the way to memory, and translations that each
 * of them caches.  A profile that has no figures for it leaves it out: there the costs of faults and of
 * accesses are averages that hold it already.
 */
#include "sim/model/model.h"

/* Hardware threads: while another one of its core is busy, a processor has a share of the core's speed.
 * Whether one is is asked when the work begins. */
uint64_t shared_core_time(const struct rf_model *m, uint64_t ns)
{
	return rf_sched_shares_core(m->sched) ? ns * 100 / (uint64_t)m->profile.core_share : ns;
}

/* Stores come one after the other, whoever's they are: with more of them than memory takes, processors
 * wait for each other. */
void memory_store(struct rf_model *m, uint64_t bytes, uint64_t *account)
{
	if (!m->profile.mem_mbps)
		return;
	/* Who is behind the others in time finds the queue as they left it. */
	if (m->host.now > m->memory_now) {
		m->memory_queue -= MIN(m->memory_queue, m->host.now - m->memory_now);
		m->memory_now = m->host.now;
	}
	m->memory_queue += bytes * 1000 / (uint64_t)m->profile.mem_mbps;
	*account += m->memory_queue;
	m->host.now += m->memory_queue;
}

/* An access that goes on to the next page stores to all of this one; other runs store to as many cache
 * lines as they have accesses, or again to the same, which are in the cache. */
void memory_run(struct rf_model *m, const struct rf_runs *r, uint32_t i)
{
	const uint64_t granule = UINT64_C(1) << RF_GRANULE_SHIFT, line = 64;
	gboolean whole = (r->type[i] & RF_RUN_CONT) || (i + 1 < r->n && (r->type[i + 1] & RF_RUN_CONT));

	if ((r->type[i] & RF_TYPE_MASK) == RF_WRITE)
		memory_store(m, whole ? granule : MIN(r->count[i] * line, granule), &m->time_access);
}

/* Pages of the address space were unmapped: processors that run it forget their translations, each
 * asked by an interrupt. */
void shoot_down(struct rf_model *m, const struct space *s)
{
	if (m->closed && m->profile.tlb_shootdown)
		spend(m, closed_others(m, s) * m->profile.tlb_shootdown, &m->time_access);
}
