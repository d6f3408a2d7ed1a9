/* SPDX-License-Identifier: MIT
 * Dirty file pages: who writes them and when, and who waits (kernel-reclaim 9.5).
 */
#include "sim/model/model.h"

void file_mark_dirty(struct rf_model *m, rf_page p)
{
	struct file *f = m->files->pdata[m->ident[p] >> IDENT_OFF_BITS];

	if (m->fact[p] & RF_PAGE_DIRTY)
		return;
	m->fact[p] |= RF_PAGE_DIRTY;
	if (m->fact[p] & F_SHMEM)
		return; /* nothing to write back to: its only way out is swap */
	if (!f->ndirty++)
		f->dirtied_when = m->host.now;
	m->dirty++;
	count(m, cgroup_nth(m, m->owner[p]), RF_C_nr_dirtied, 1);
}

static void write_done(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;
	rf_page p = (rf_page)arg;

	if (p >= m->npages || !(m->fact[p] & RF_PAGE_WRITEBACK))
		return;
	m->fact[p] &= ~RF_PAGE_WRITEBACK;
	m->writeback--;
	page_rotate(m, p);
}

/* One dirty page goes to the device; its mappings become read-only, so that the next store tells. */
static uint64_t write_page(struct rf_model *m, struct file *f, rf_page p)
{
	uint64_t done = rf_device_submit(&m->disk, m->host.now, UINT64_C(1) << m->cfg.page_shift, TRUE);
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v]) {
		m->pte[v] &= ~(PTE_WRITE | PTE_DIRTY);
		tlb_drop(m, v);
	}
	m->writeback += !(m->fact[p] & RF_PAGE_WRITEBACK);
	m->fact[p] = (m->fact[p] & ~RF_PAGE_DIRTY) | RF_PAGE_WRITEBACK;
	f->ndirty--;
	m->dirty--;
	count(m, cgroup_nth(m, m->owner[p]), RF_C_nr_written, 1);
	rf_clock_at(m->clock, done, write_done, m, p);
	return done;
}

/* Write a file's dirty pages in file order: when the last of them will be done. */
static uint64_t write_file(struct rf_model *m, struct file *f)
{
	uint64_t done = m->host.now;
	guint i, j, k;

	for (i = 0; i < f->chunks->len && f->ndirty; i++) {
		struct chunk *c = f->chunks->pdata[i];

		for (j = 0; c && j < CHUNK_NODES && f->ndirty; j++) {
			if (!c->node[j] || !c->node[j]->cached)
				continue;
			for (k = 0; k < NODE_SLOTS; k++) {
				rf_page p = c->node[j]->page[k];
				uint64_t when;

				if (p == RF_NO_PAGE || (m->fact[p] & (RF_PAGE_RESIDENT | RF_PAGE_DIRTY)) !=
				    (RF_PAGE_RESIDENT | RF_PAGE_DIRTY))
					continue;
				when = write_page(m, f, p); /* once: MAX() names its arguments twice */
				done = MAX(done, when);
			}
		}
	}
	return done;
}

void file_sync(struct rf_model *m, struct file *f, gboolean wait)
{
	uint64_t done;
	guint i;

	/* Stores through mappings that no fault has told of: the entry knows. */
	for (i = 0; i < m->nptes; i++) {
		if ((m->pte[i] & (PTE_PRESENT | PTE_DIRTY | PTE_ZERO)) != (PTE_PRESENT | PTE_DIRTY))
			continue;
		if (!(m->fact[m->pte_page[i]] & (RF_PAGE_ANON | F_SHMEM)) &&
		    m->ident[m->pte_page[i]] >> IDENT_OFF_BITS == f->index)
			file_mark_dirty(m, m->pte_page[i]);
	}
	done = write_file(m, f);
	if (!wait)
		return;
	stall_begin(m);
	wait_until(m, done, &m->time_io);
	stall_end(m);
}

/* Pages that may be dirty: free frames and the page cache; a cgroup's limit bounds it (v2). */
static uint64_t dirtyable(const struct rf_model *m)
{
	uint64_t file = 0, avail;
	guint i;

	for (i = 0; i < m->cgroups->len; i++)
		file += cgroup_nth(m, i)->file;
	avail = (m->ram > m->used ? m->ram - m->used : 0) + file;
	if (m->cfg.cgroup == RF_CGROUP_V2 && m->workload->max != UINT64_MAX)
		avail = MIN(avail, file + m->workload->max - MIN(m->workload->max, m->workload->usage));
	return avail;
}

static void write_all(struct rf_model *m, uint64_t older_than)
{
	guint i;

	for (i = 0; i < m->files->len; i++) {
		struct file *f = m->files->pdata[i];

		if (f->ndirty && f->dirtied_when <= older_than)
			write_file(m, f);
	}
}

static void flusher_tick(void *machine, uint64_t periodic)
{
	struct rf_model *m = machine;
	uint64_t now = m->host.now;

	if (!periodic)
		m->flusher_woken = FALSE;
	if (!periodic || m->dirty > dirtyable(m) * m->cfg.dirty_background_ratio / 100)
		write_all(m, UINT64_MAX);
	else if (now >= m->cfg.dirty_expire)
		write_all(m, now - m->cfg.dirty_expire);
	if (periodic)
		rf_clock_at(m->clock, now + m->cfg.dirty_writeback, flusher_tick, m, 1);
}

void writeback_init(struct rf_model *m)
{
	const struct rf_profile *p = &m->profile;

	switch (p->disk) {
	case RF_DEV_HDD:
		rf_device_init(&m->disk, p->hdd_latency, p->hdd_mbps, 1);
		break;
	case RF_DEV_SSD:
		rf_device_init(&m->disk, p->ssd_latency, p->ssd_mbps, p->ssd_depth);
		break;
	case RF_DEV_NVME:
		rf_device_init(&m->disk, p->nvme_latency, p->nvme_mbps, p->nvme_depth);
		break;
	default: /* a memory disk: as zram without its compression */
		rf_device_init(&m->disk, p->zram_read, 0, 1);
	}
	if (m->cfg.dirty_writeback)
		rf_clock_at(m->clock, m->cfg.dirty_writeback, flusher_tick, m, 1);
}

void flusher_wake(struct rf_model *m)
{
	if (m->flusher_woken)
		return;
	m->flusher_woken = TRUE;
	rf_clock_at(m->clock, m->host.now + m->profile.kswapd_wake, flusher_tick, m, 0);
}

/* balance_dirty_pages(): above the background threshold the flusher works, above the limit the
 * writer waits until enough is written; what is on its way to the device still counts. */
void balance_dirty(struct rf_model *m)
{
	uint64_t avail = dirtyable(m);

	if (m->dirty + m->writeback <= avail * m->cfg.dirty_background_ratio / 100)
		return;
	flusher_wake(m);
	if (m->dirty + m->writeback <= avail * m->cfg.dirty_ratio / 100)
		return;
	stall_begin(m);
	while (m->dirty + m->writeback > dirtyable(m) * m->cfg.dirty_ratio / 100) {
		if (m->dirty)
			flusher_wake(m);
		wait_until(m, rf_clock_next(m->clock), &m->time_throttle);
	}
}

void host_batch_done(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc, uint64_t taken)
{
	struct rf_model *m = pol->machine;

	lists_scanned(m, cgroup_nth(m, lv->id), taken);
	if (sc->unqueued_dirty && sc->unqueued_dirty == taken) {
		flusher_wake(m);
		/* v1 has no dirty limits of its own: the reclaimer sleeps, 100 ms at most (3.2). */
		if (m->cfg.cgroup == RF_CGROUP_V1 && !sc->global && !sc->kswapd)
			wait_until(m, MIN(rf_clock_next(m->clock), m->host.now + 100000000), &m->time_throttle);
	}
	/* Congestion: every dirty page is under writeback and was met before (7.4). */
	if (sc->dirty && sc->dirty == sc->congested && !sc->kswapd)
		wait_until(m, m->host.now + 4000000, &m->time_throttle);
	sc->dirty = sc->unqueued_dirty = sc->writeback = sc->congested = sc->immediate = 0;
}
