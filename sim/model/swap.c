/* SPDX-License-Identifier: MIT
 * Swap: slots, the swap cache, reading and writing, read-ahead (kernel-reclaim 8).
 */
#include "sim/model/model.h"

void swap_init(struct rf_model *m)
{
	const struct rf_profile *p = &m->profile;

	m->swap_slots = m->cfg.swap_bytes >> m->cfg.page_shift;
	m->swap_sync = m->cfg.swap_device == RF_DEV_ZRAM;
	m->host.swap_total = m->swap_slots;
	switch (m->cfg.swap_device) {
	case RF_DEV_NVME:
		rf_device_init(&m->swap_dev, p->nvme_latency, p->nvme_mbps, p->nvme_depth);
		break;
	case RF_DEV_SSD:
		rf_device_init(&m->swap_dev, p->ssd_latency, p->ssd_mbps, p->ssd_depth);
		break;
	case RF_DEV_HDD: /* rotational: cluster read-ahead needs to know what lies side by side */
		rf_device_init(&m->swap_dev, p->hdd_latency, p->hdd_mbps, 1);
		m->slot_page = g_new(uint32_t, m->swap_slots);
		for (uint64_t i = 0; i < m->swap_slots; i++)
			m->slot_page[i] = RF_NO_PAGE;
		break;
	default:
		break;
	}
}

uint64_t host_swap_available(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct rf_model *m = pol->machine;

	(void)lv;
	return m->swap_slots - m->swap_used;
}

gboolean swap_half_full(const struct rf_model *m, const struct cgroup *cg)
{
	(void)cg;
	return (m->swap_slots - m->swap_used) * 2 < m->swap_slots;
}

gboolean swap_take_slot(struct rf_model *m, rf_page p)
{
	if (m->fact[p] & F_SLOT)
		return TRUE;
	if (m->swap_used >= m->swap_slots)
		return FALSE;
	if (m->slot_page) { /* the next free one, in one global sequence */
		while (m->slot_page[m->slot_cursor % m->swap_slots] != RF_NO_PAGE)
			m->slot_cursor++;
		m->slot[p] = (uint32_t)(m->slot_cursor++ % m->swap_slots);
		m->slot_page[m->slot[p]] = p;
	}
	m->swap_used++;
	m->fact[p] |= F_SLOT;
	cgroup_nth(m, m->owner[p])->swap++;
	slots_changed(m);
	return TRUE;
}

void swap_drop_slot(struct rf_model *m, rf_page p)
{
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);

	if (m->slot_page)
		m->slot_page[m->slot[p]] = RF_NO_PAGE;
	m->swap_used--;
	cg->swap--;
	if (m->fact[p] & RF_PAGE_SWAPCACHE) {
		cg->swapcache--;
		if (m->fact[p] & RF_PAGE_RESIDENT)
			m->fact[p] |= RF_PAGE_DIRTY;
	}
	m->fact[p] &= ~(F_SLOT | RF_PAGE_SWAPCACHE);
	slots_changed(m);
}

/* Move a page between its slot and memory: when that will be done. */
static uint64_t transfer(struct rf_model *m, rf_page p, gboolean write)
{
	uint64_t bytes = UINT64_C(1) << m->cfg.page_shift;

	if (!m->slot_page)
		return rf_device_submit(&m->swap_dev, m->host.now, bytes, write);
	return rf_device_submit_at(&m->swap_dev, m->host.now, m->slot[p] * bytes, bytes, write);
}

/* ---- out ---- */

static void write_done(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;
	rf_page p = (rf_page)arg;

	m->swap_writes--;
	if (p >= m->npages || !(m->fact[p] & RF_PAGE_WRITEBACK)) /* freed in the meantime */
		return;
	m->fact[p] &= ~RF_PAGE_WRITEBACK;
	page_rotate(m, p);
}

/* 8.3.  RF_FREED: written, the page can go; RF_KEEP: under way. */
enum rf_verdict swap_write(struct rf_model *m, rf_page p, struct rf_scan *sc)
{
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);
	uint64_t bytes = UINT64_C(1) << m->cfg.page_shift;

	sc->pageouts++;
	count(m, cg, RF_C_pswpout, 1);
	count(m, cg, RF_C_nr_vmscan_write, 1);
	m->fact[p] &= ~RF_PAGE_DIRTY;
	if (m->swap_sync) {
		spend(m, m->profile.zram_write * (int64_t)(bytes >> 12), &m->time_reclaim);
		m->swap_dev.write_kib += bytes >> 10;
		return RF_FREED;
	}
	m->fact[p] |= RF_PAGE_WRITEBACK | RF_PAGE_RECLAIM;
	m->swap_writes++;
	rf_clock_at(m->clock, transfer(m, p, TRUE), write_done, m, p);
	return RF_KEEP;
}

/* ---- in ---- */

static void swap_read_done(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;

	if (arg < m->npages)
		m->fact[arg] &= ~F_READING;
}

/* Did somebody else bring it back, or throw it away, while its charge waited?  Then it is undone. */
static gboolean is_back(struct rf_model *m, rf_page p, struct cgroup *cg)
{
	if (!m->closed || (m->fact[p] & (RF_PAGE_RESIDENT | F_SLOT)) == F_SLOT)
		return FALSE;
	uncharge(m, cg, 1);
	return TRUE;
}

/* A page comes into the swap cache; unmapped, clean, still with its slot.  Whoever swapped it out is
 * charged again (6.1). */
static gboolean cache_add(struct rf_model *m, rf_page p, unsigned how, gboolean noretry)
{
	uint16_t kind = m->fact[p] & (RF_PAGE_ANON | F_SHMEM);
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);

	rf_policy_miss(m->pol, cg->lv, p);
	if (!charge(m, cg, 1, noretry))
		return FALSE;
	if (is_back(m, p, cg))
		return FALSE;
	page_add(m, p, cg, kind | RF_PAGE_SWAPBACKED | RF_PAGE_SWAPCACHE, how | RF_HOW_SWAPIN);
	cg->swapcache++;
	count(m, cg, RF_C_pswpin, 1);
	return TRUE;
}

/* One page without read-ahead: synchronous device, one user of the slot.  It never enters the swap
 * cache; its slot is free at once (8.4). */
static gboolean swap_in_direct(struct rf_model *m, rf_page p, unsigned how)
{
	uint16_t kind = m->fact[p] & (RF_PAGE_ANON | F_SHMEM);
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);
	uint64_t bytes = UINT64_C(1) << m->cfg.page_shift;

	rf_policy_miss(m->pol, cg->lv, p);
	if (!charge(m, cg, 1, FALSE))
		return FALSE;
	if (is_back(m, p, cg))
		return TRUE;
	swap_drop_slot(m, p);
	page_add(m, p, cg, kind | RF_PAGE_SWAPBACKED | RF_PAGE_DIRTY, how | RF_HOW_SWAPIN);
	count(m, cg, RF_C_pswpin, 1);
	m->swap_dev.read_kib += bytes >> 10;
	stall_begin(m);
	spend(m, m->profile.zram_read * (int64_t)(bytes >> 12), &m->time_io);
	return TRUE;
}

static uint64_t ra_window(uint64_t prev, uint64_t key, uint64_t hits, uint64_t max, uint64_t prev_win)
{
	uint64_t n = hits + 2;

	if (n == 2) {
		if (key != prev + 1 && key + 1 != prev)
			n = 1;
	} else {
		uint64_t r = 4;

		while (r < n)
			r *= 2;
		n = r;
	}
	return MAX(MIN(n, max), prev_win / 2);
}

struct reading { rf_page page[64]; unsigned n; };

static void read_one(struct rf_model *m, rf_page p, gboolean ahead, struct reading *r)
{
	if ((m->fact[p] & RF_PAGE_RESIDENT) || !(m->fact[p] & F_SLOT) || r->n == G_N_ELEMENTS(r->page))
		return;
	if (!cache_add(m, p, ahead ? RF_HOW_READAHEAD | RF_HOW_FAULT : RF_HOW_FAULT, ahead))
		return;
	m->fact[p] |= F_READING;
	if (ahead) {
		m->fact[p] |= F_SWAPRA;
		count(m, cgroup_nth(m, m->owner[p]), RF_C_swap_ra, 1);
	}
	r->page[r->n++] = p;
}

/* The reads go to the device together, each a request of its own. */
static void submit_reads(struct rf_model *m, const struct reading *r)
{
	uint64_t bytes = UINT64_C(1) << m->cfg.page_shift, done;
	unsigned i;

	for (i = 0; i < r->n; i++) {
		if (m->swap_sync) {
			spend(m, m->profile.zram_read * (int64_t)(bytes >> 12), &m->time_io);
			m->swap_dev.read_kib += bytes >> 10;
			done = m->host.now;
			m->fact[r->page[i]] &= ~F_READING;
			continue;
		}
		/* Neighbours on a rotational device need no seek of their own. */
		if (m->slot_page && i) {
			done = rf_device_submit(&m->swap_dev, m->host.now, bytes, FALSE);
			done = MAX(m->swap_dev.wire_free, done - m->swap_dev.latency);
			m->swap_dev.channel_free[0] = done;
		} else {
			done = transfer(m, r->page[i], FALSE);
		}
		rf_clock_at(m->clock, done, swap_read_done, m, r->page[i]);
	}
}

/* swap_vma_readahead(): 8.5. */
static void vma_readahead(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v,
                          struct reading *r)
{
	uint64_t vpn = entry_vpn(m, v), max = MIN(UINT64_C(1) << m->cfg.page_cluster, 32), win, from, to, i;
	uint64_t base = m->leaf[v >> m->leaf_shift].base;
	rf_page target = m->pte_page[v];

	win = ra_window(s->swap_last, vpn, s->swap_hits, max, s->swap_win);
	if (vpn == s->swap_last + 1)
		from = vpn;
	else if (vpn + 1 == s->swap_last)
		from = vpn >= win - 1 ? vpn - (win - 1) : 0;
	else
		from = vpn >= (win - 1) / 2 ? vpn - (win - 1) / 2 : 0;
	to = from + win;
	from = MAX(MAX(from, vma_first(m, vma)), base);
	to = MIN(MIN(to, vma_last(m, vma)), base + (UINT64_C(1) << m->leaf_shift));
	s->swap_last = vpn;
	s->swap_win = (uint32_t)win;
	s->swap_hits = 0;
	for (i = from; i < to; i++) {
		uint32_t w = v + (uint32_t)(i - vpn);

		if (i == vpn)
			read_one(m, target, FALSE, r);
		else if (m->pte[w] & PTE_SWAP)
			read_one(m, m->pte_page[w], TRUE, r);
	}
	read_one(m, target, FALSE, r);
	if (win > 1 && m->pol->ops->drain)
		m->pol->ops->drain(m->pol);
}

/* swap_cluster_readahead(): an aligned block of slots. */
static void cluster_readahead(struct rf_model *m, rf_page p, struct reading *r)
{
	uint64_t key = m->slot[p], max = UINT64_C(1) << m->cfg.page_cluster, win, from, i;

	win = ra_window(m->swap_prev_key, key, m->swap_ra_hits, max, m->swap_prev_win);
	if (!m->swap_ra_hits)
		m->swap_prev_key = key;
	m->swap_ra_hits = 0;
	m->swap_prev_win = win;
	read_one(m, p, FALSE, r);
	from = key - key % win;
	for (i = from; i < from + win && i < m->swap_slots; i++)
		if (m->slot_page[i] != RF_NO_PAGE && m->slot_page[i] != p)
			read_one(m, m->slot_page[i], TRUE, r);
}

/* Found in the swap cache: a minor fault. */
static void cache_hit(struct rf_model *m, struct space *s, uint32_t v, rf_page p, struct cgroup *cg)
{
	s->swap_last = entry_vpn(m, v);
	if (m->fact[p] & F_SWAPRA) {
		m->fact[p] &= ~F_SWAPRA;
		count(m, cg, RF_C_swap_ra_hit, 1);
		s->swap_hits = MIN(s->swap_hits + 1, 63);
		m->swap_ra_hits++;
	}
}

/* Page p, of the faulting entry v, comes from the device: a major fault.  FALSE: the task was killed. */
static gboolean swap_read(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v, rf_page p)
{
	struct reading r = { .n = 0 };

	count(m, cgroup_nth(m, s->cgroup), RF_C_pgmajfault, 1);
	m->current->pgmajfault++;
	stall_begin(m);
	spend(m, m->profile.major_overhead, &m->time_fault);
	if (m->swap_sync && page_swapcount(m, p) == 1)
		return swap_in_direct(m, p, RF_HOW_FAULT);
	if (m->slot_page)
		cluster_readahead(m, p, &r);
	else
		vma_readahead(m, s, vma, v, &r);
	if (m->current->alive && !(m->fact[p] & RF_PAGE_RESIDENT)) {
		if (!cache_add(m, p, RF_HOW_FAULT, FALSE)) {
			submit_reads(m, &r);
			return m->closed && (m->fact[p] & RF_PAGE_RESIDENT);
		}
		m->fact[p] |= F_READING;
		r.page[r.n < G_N_ELEMENTS(r.page) ? r.n++ : r.n - 1] = p;
	}
	submit_reads(m, &r); /* what is in the cache already is read, even if its reader was killed on the way */
	return m->current->alive;
}

static void wait_for_swap(struct rf_model *m, rf_page p)
{
	if (m->fact[p] & F_READING)
		stall_begin(m);
	while ((m->fact[p] & F_READING) && rf_clock_next(m->clock) != UINT64_MAX)
		wait_until(m, rf_clock_next(m->clock), &m->time_io);
}

/* do_swap_page(): 8.4. */
enum fault swap_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v, unsigned type)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	rf_page p = m->pte_page[v];
	unsigned users = page_swapcount(m, p);
	gboolean alone;
	uint8_t flags;

	if (m->fact[p] & RF_PAGE_RESIDENT)
		cache_hit(m, s, v, p, cg);
	else if (!swap_read(m, s, vma, v, p))
		return m->current->alive ? FAULT_DONE : FAULT_KILLED;
	page_pin(m, p);
	wait_for_swap(m, p);
	page_unpin(m);
	if (!m->current->alive)
		return FAULT_KILLED;
	if (!(m->pte[v] & PTE_SWAP) || m->pte_page[v] != p) /* another thread was faster */
		return FAULT_DONE;
	users = page_swapcount(m, p);
	alone = m->rmap[p] == v && m->rmap_next[v] == RF_NO_PAGE;
	if ((m->fact[p] & RF_PAGE_SWAPCACHE) && !(m->fact[p] & RF_PAGE_WRITEBACK) && users == 1 &&
	    (swap_half_full(m, cg) || (vma->flags & RF_VMA_LOCKED) || (type == RF_WRITE && alone)))
		swap_drop_slot(m, p);
	flags = PTE_ACC | vma_pte_flags(m, vma);
	if (alone && (vma->prot & RF_PROT_W))
		flags |= PTE_WRITE;
	if (type == RF_WRITE && alone)
		flags |= PTE_WRITE | PTE_DIRTY;
	map_page(m, v, p, flags);
	if (vma->flags & RF_VMA_LOCKED)
		page_mlock(m, p);
	return FAULT_DONE;
}

gboolean swap_in_shmem(struct rf_model *m, struct cgroup *cg, rf_page p)
{
	struct reading r = { .n = 0 };

	count(m, cg, RF_C_pgmajfault, 1);
	m->current->pgmajfault++;
	stall_begin(m);
	spend(m, m->profile.major_overhead, &m->time_fault);
	if (m->swap_sync)
		return swap_in_direct(m, p, RF_HOW_FAULT);
	if (m->slot_page)
		cluster_readahead(m, p, &r);
	else
		read_one(m, p, FALSE, &r);
	if (!(m->fact[p] & RF_PAGE_RESIDENT))
		return FALSE;
	submit_reads(m, &r);
	page_pin(m, p);
	wait_for_swap(m, p);
	page_unpin(m);
	if (m->fact[p] & F_SLOT)
		swap_drop_slot(m, p); /* shmem leaves the swap cache as soon as it is back in the tree */
	return m->current && m->current->alive;
}

/* MADV_WILLNEED on anonymous memory. */
void swap_willneed(struct rf_model *m, struct space *s, uint64_t from, uint64_t to)
{
	guint i;

	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		uint32_t n = g_array_index(s->leaves, uint32_t, i), j;
		struct reading r = { .n = 0 };

		if (m->leaf[n].base >= to)
			break;
		for (j = 0; j < 1u << m->leaf_shift; j++) {
			uint32_t v = (n << m->leaf_shift) + j;

			if (m->leaf[n].base + j < from || m->leaf[n].base + j >= to || !(m->pte[v] & PTE_SWAP))
				continue;
			read_one(m, m->pte_page[v], TRUE, &r);
			if (r.n == G_N_ELEMENTS(r.page)) {
				submit_reads(m, &r);
				r.n = 0;
			}
		}
		submit_reads(m, &r);
	}
	if (m->pol->ops->drain)
		m->pol->ops->drain(m->pol);
}
