/* SPDX-License-Identifier: MIT
 * The locks that all processors take for pages: of their lists (zone->lru_lock, lruvec->lru_lock since
 * 5.11), and of swap slots (swap_lock, of the device since 3.9).  A processor collects pages that go on
 * and off lists and passes the lock for a batch of them; reclaim does for what it takes off a list and for
 * what it puts back; slots are taken and freed one by one, since 4.11 in batches, too.  Moves from list to
 * list because of use are left out.
 *
 * A profile that has no figures for them leaves them out: there the costs of faults hold them already.
 */
#include "sim/model/model.h"

#define SLOTS_BATCH 64 /* SWAP_SLOTS_CACHE_SIZE */

void lists_init(struct rf_model *m)
{
	rf_spin_init(&m->lru_lock, &m->profile.lock[RF_LOCK_LRU], &m->lock_stats[RF_LOCK_LRU]);
	rf_spin_init(&m->swap_lock, &m->profile.lock[RF_LOCK_SWAP], &m->lock_stats[RF_LOCK_SWAP]);
	m->collected = g_new0(struct collected, m->cfg.cpus + 1);
}

void lists_free(struct rf_model *m)
{
	rf_spin_clear(&m->lru_lock);
	rf_spin_clear(&m->swap_lock);
	g_free(m->collected);
}

static gboolean is_free(const struct rf_spin *l)
{
	return !l->costs->hold && !l->costs->line;
}

static void pass(struct rf_model *m, struct rf_spin *l, uint64_t things)
{
	const uint64_t began = m->host.now;

	rf_spin_pass(l, m->closed ? m->sched : NULL, &m->host.now, things * l->costs->hold);
	*(m->in_reclaim ? &m->time_reclaim : &m->time_fault) += m->host.now - began;
}

static struct rf_spin *lru_lock(struct rf_model *m, struct cgroup *cg)
{
	return m->cfg.kernel_release >= RF_KERNEL(5, 11, 0) ? &cg->lru_lock : &m->lru_lock;
}

/* kswapd has a processor of its own. */
static struct collected *here(struct rf_model *m)
{
	if (m->scan && m->scan->kswapd)
		return &m->collected[m->cfg.cpus];
	return &m->collected[m->closed ? rf_sched_cpu(m->sched) : 0];
}

void lists_changed(struct rf_model *m, struct cgroup *cg)
{
	struct collected *c;
	unsigned batch;

	if (is_free(&m->lru_lock))
		return;
	c = here(m);
	batch = rf_lru_batch(m->cfg.kernel_release);
	if (++c->pages < batch)
		return;
	c->pages = 0;
	pass(m, lru_lock(m, cg), batch);
}

void lists_scanned(struct rf_model *m, struct cgroup *cg, uint64_t taken)
{
	const uint64_t left = taken - MIN(taken, m->lists_evicted);

	m->lists_evicted = 0;
	if (is_free(&m->lru_lock) || !taken)
		return;
	pass(m, lru_lock(m, cg), taken);
	if (left)
		pass(m, lru_lock(m, cg), left);
}

void slots_changed(struct rf_model *m)
{
	struct collected *c;
	unsigned batch;

	if (is_free(&m->swap_lock))
		return;
	c = here(m);
	batch = m->cfg.kernel_release >= RF_KERNEL(4, 11, 0) ? SLOTS_BATCH : 1;
	if (++c->slots < batch)
		return;
	c->slots = 0;
	pass(m, &m->swap_lock, batch);
}
