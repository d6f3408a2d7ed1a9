/* SPDX-License-Identifier: MIT
 * Purgeable ranges: what a program marks, cut into pieces that a member of the volatile seam can keep;
 * the pages that go when it says so.
 */
#include "sim/model/model.h"

static uint64_t page_bytes(const struct rf_model *m)
{
	return UINT64_C(1) << m->cfg.page_shift;
}

static void update_bytes(struct rf_model *m)
{
	const struct rf_volatile_ops *ops = m->vol.ops;

	if (!ops->bytes)
		return;
	m->vol_most = MAX(m->vol_most, ops->ranges(&m->vol));
	unowned_update(m);
}

/* ---- whose range a page is in ---- */

/* Root and address there of a page of a mapping. */
static uint64_t root_of(struct rf_model *m, const struct space *s, const struct rf_vma *vma, uint64_t vpn,
                        uint64_t *addr)
{
	if (vma->mkind != RF_MAP_SHMEM || m->vol.ops->by_address) {
		*addr = vpn << m->cfg.page_shift;
		return s->id;
	}
	*addr = vma_pgoff(m, vma, vpn) << m->cfg.page_shift;
	return RF_VROOT_FILE | vma_file(m, vma)->index;
}

static uint64_t root_of_entry(struct rf_model *m, uint32_t v, uint64_t *addr)
{
	struct space *s = space_of_entry(m, v);
	const struct rf_vma *vma = vma_of(m, s, entry_vpn(m, v));

	if (vma)
		return root_of(m, s, vma, entry_vpn(m, v), addr);
	*addr = entry_vpn(m, v) << m->cfg.page_shift;
	return s->id;
}

/* A page of shared memory belongs to its file's ranges, mapped or not. */
static gboolean file_root(const struct rf_model *m, rf_page p, uint64_t *root, uint64_t *addr)
{
	if (!(m->fact[p] & F_SHMEM) || m->vol.ops->by_address)
		return FALSE;
	*root = RF_VROOT_FILE | m->ident[p] >> IDENT_OFF_BITS;
	*addr = (m->ident[p] & ((UINT64_C(1) << IDENT_OFF_BITS) - 1)) << m->cfg.page_shift;
	return TRUE;
}

/* Is the page volatile for everybody who has it?  One shared since a fork stays while one of them needs
 * it; one that is in swap, or on its way there or back, stays, too. */
static gboolean nobody_needs(struct rf_model *m, rf_page p)
{
	uint64_t root, addr;
	uint32_t v;

	if (!(m->fact[p] & (RF_PAGE_ANON | F_SHMEM)) ||
	    (m->fact[p] & (RF_PAGE_RESIDENT | RF_PAGE_SWAPCACHE | F_UNEV | F_READING | RF_PAGE_WRITEBACK)) !=
	            RF_PAGE_RESIDENT || page_held(m, p))
		return FALSE;
	if (file_root(m, p, &root, &addr))
		return m->vol.ops->covers(&m->vol, root, addr);
	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v]) {
		root = root_of_entry(m, v, &addr);
		if (!m->vol.ops->covers(&m->vol, root, addr))
			return FALSE;
	}
	return m->rmap[p] != RF_NO_PAGE;
}

static void tell(struct rf_model *m, uint64_t root, uint64_t addr, uint64_t told)
{
	struct { uint64_t root, start, end; } doomed = { .root = root };

	if (root == told)
		return;
	m->vol.ops->met(&m->vol, root, addr, &doomed.start, &doomed.end);
	if (doomed.end)
		g_array_append_val(m->vol_doomed, doomed);
}

/* Ranges that lose the page learn it, except for the root that knows (or UINT64_MAX). */
static void tell_all(struct rf_model *m, rf_page p, uint64_t told)
{
	uint64_t root, addr;
	uint32_t v;

	if (file_root(m, p, &root, &addr)) {
		tell(m, root, addr, told);
		return;
	}
	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v]) {
		root = root_of_entry(m, v, &addr);
		tell(m, root, addr, told);
	}
}

static void throw_away(struct rf_model *m, rf_page p, uint64_t told)
{
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);
	gboolean last;

	tell_all(m, p, told);
	count(m, cg, RF_C_rf_purged_pages, 1);
	if (m->scan && m->scan->kswapd)
		count(m, cg, RF_C_rf_purged_kswapd, 1);
	spend(m, m->profile.zap_page, &m->time_reclaim);
	if (m->fact[p] & F_SHMEM) {
		shmem_remove(m, p);
		return;
	}
	do {
		uint32_t v = m->rmap[p];

		last = m->rmap_next[v] == RF_NO_PAGE;
		zap_entry(m, v); /* the last one frees it */
		map_lost(m, v);
	} while (!last);
}

/* ---- what members ask for ---- */

static uint64_t discard_file(struct rf_model *m, uint64_t root, uint64_t from, uint64_t to, uint64_t max)
{
	struct file *f = m->files->pdata[root & (RF_VROOT_FILE - 1)];
	uint64_t n = 0;

	for (; from < MIN(to, f->chunks->len * (uint64_t)CHUNK_NODES * NODE_SLOTS) && n < max; from++) {
		rf_page p = file_page(m, f, from);

		if (p == RF_NO_PAGE || !nobody_needs(m, p))
			continue;
		throw_away(m, p, root);
		n++;
	}
	return n;
}

static uint64_t host_discard(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end, uint64_t max)
{
	struct rf_model *m = vol->machine;
	uint64_t from = (start + page_bytes(m) - 1) >> m->cfg.page_shift, to = end >> m->cfg.page_shift, n = 0;
	struct space *s;
	guint i;

	if (root & RF_VROOT_FILE)
		return discard_file(m, root, from, to, max);
	s = m->spaces->pdata[root];
	for (i = leaf_first(m, s, from); i < s->leaves->len && n < max; i++) {
		uint32_t leaf = g_array_index(s->leaves, uint32_t, i), j, size = 1u << m->leaf_shift;
		uint64_t base = m->leaf[leaf].base;

		if (base >= to)
			break;
		for (j = base < from ? (uint32_t)(from - base) : 0; j < size && base + j < to && n < max; j++) {
			uint32_t v = (leaf << m->leaf_shift) + j;

			if (!m->leaf[leaf].used)
				break;
			if (!m->pte[v] || (m->pte[v] & PTE_ZERO) || !nobody_needs(m, m->pte_page[v]))
				continue;
			throw_away(m, m->pte_page[v], root);
			n++;
		}
	}
	return n;
}

static void host_dontneed(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	struct rf_model *m = vol->machine;

	zap_range(m, m->spaces->pdata[root], start >> m->cfg.page_shift, end >> m->cfg.page_shift);
}

static void host_lazyfree(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end)
{
	struct rf_model *m = vol->machine;

	advise_free(m, m->spaces->pdata[root], start >> m->cfg.page_shift, end >> m->cfg.page_shift);
}

struct rf_lock *volatile_lock(struct rf_model *m, struct space *s, enum rf_vlock lock)
{
	switch (lock) {
	case RF_VLOCK_MMAP:
		return &s->mmap_lock;
	case RF_VLOCK_RANGES:
		return &s->ranges_lock;
	case RF_VLOCK_GLOBAL:
		break;
	}
	return &m->vol_lock;
}

/* Reclaim does not wait for locks: somebody may wait for memory with them. */
static gboolean locks_are_free(struct rf_model *m, struct space *s)
{
	struct rf_vstep step[RF_VSTEPS];
	unsigned n = m->vol.ops->locks(&m->vol, RF_VOP_PURGE, 0, 0, step), i;

	for (i = 0; i < n; i++) {
		enum rf_lock_mode mode = step[i].exclusive ? RF_LOCK_EXCLUSIVE : RF_LOCK_SHARED;

		if ((step[i].lock == RF_VLOCK_MMAP && s->changing) ||
		    (m->closed && rf_lock_is_busy(volatile_lock(m, s, step[i].lock), m->host.now, mode)))
			return FALSE;
	}
	return TRUE;
}

static gboolean host_in_reach(struct rf_volatile *vol, uint64_t root)
{
	struct rf_model *m = vol->machine;
	struct space *s;

	if (root & RF_VROOT_FILE) {
		const struct file *f = m->files->pdata[root & (RF_VROOT_FILE - 1)];

		return !m->vol_target || below(m, f->vol_cgroup - 1, m->vol_target);
	}
	s = m->spaces->pdata[root];
	return (!m->vol_target || below(m, s->cgroup, m->vol_target)) && locks_are_free(m, s);
}

/* ---- ranges as flags of mappings ---- */

#define MAPPING_FLAGS (RF_VMA_VOLATILE | RF_VMA_PURGED)

static uint16_t flags_of(enum rf_vmapping state)
{
	return state == RF_VMAPPING_PLAIN ? 0 : state == RF_VMAPPING_VOLATILE ? RF_VMA_VOLATILE : MAPPING_FLAGS;
}

static enum rf_vmapping host_mapping(struct rf_volatile *vol, uint64_t root, uint64_t addr, uint64_t *start,
                                     uint64_t *end)
{
	struct rf_model *m = vol->machine;
	const struct rf_vma *vma = rf_vmas_find(((struct space *)m->spaces->pdata[root])->vmas, addr);

	if (!vma || !(vma->flags & RF_VMA_VOLATILE))
		return RF_VMAPPING_PLAIN;
	*start = vma->start;
	*end = vma->end;
	return vma->flags & RF_VMA_PURGED ? RF_VMAPPING_PURGED : RF_VMAPPING_VOLATILE;
}

/* split_vma() fails where there are max_map_count mappings already. */
static gboolean host_set_mapping(struct rf_volatile *vol, uint64_t root, uint64_t start, uint64_t end,
                                 enum rf_vmapping state, uint32_t most)
{
	struct rf_model *m = vol->machine;
	struct rf_vmas *vmas = ((struct space *)m->spaces->pdata[root])->vmas;
	const struct rf_vma *vma = rf_vmas_find(vmas, start);
	uint16_t before = vma ? vma->flags & MAPPING_FLAGS : 0, after = flags_of(state);
	uint32_t n = rf_vmas_count(vmas);

	rf_vmas_change(vmas, start, end, FALSE, 0, after, MAPPING_FLAGS & ~after);
	if (rf_vmas_count(vmas) < n)
		vmas_charge(m, m->spaces->pdata[root]); /* only gives back */
	if (rf_vmas_count(vmas) <= MAX(n, most))
		return TRUE;
	rf_vmas_change(vmas, start, end, FALSE, 0, before, MAPPING_FLAGS & ~before);
	return FALSE;
}

static uint64_t host_volatile_mappings(struct rf_volatile *vol)
{
	const struct rf_model *m = vol->machine;
	uint64_t n = 0;

	for (guint i = 0; i < m->spaces->len; i++) {
		const struct space *s = m->spaces->pdata[i];

		for (uint32_t j = 0; s && j < rf_vmas_count(s->vmas); j++)
			n += (rf_vmas_nth(s->vmas, j)->flags & RF_VMA_VOLATILE) != 0;
	}
	return n;
}

void volatile_init(struct rf_model *m)
{
	m->vol_host = (struct rf_volatile_host){
		.page_shift = m->cfg.page_shift, .kernel = m->cfg.kernel_release, .swap = m->cfg.swap_bytes != 0,
		.cost = { .mapping = m->profile.mapping_op, .range = m->profile.range_op,
		          .zap_page = m->profile.zap_page, .free_page = m->profile.lazyfree_page },
		.discard = host_discard, .dontneed = host_dontneed, .lazyfree = host_lazyfree,
		.in_reach = host_in_reach, .set_mapping = host_set_mapping, .mapping = host_mapping,
		.volatile_mappings = host_volatile_mappings,
	};
	m->vol = (struct rf_volatile){ .ops = m->seams.volatile_, .host = &m->vol_host, .opt = m->seams.volatile_opt,
		                       .priv = g_malloc0(MAX(m->seams.volatile_->state_size, 1)), .machine = m };
	rf_lock_init(&m->vol_lock, &m->profile.lock[RF_LOCK_VRANGE], &m->lock_stats[RF_LOCK_VRANGE]);
	m->vol_doomed = g_array_new(FALSE, TRUE, 3 * sizeof(uint64_t));
	if (m->vol.ops->init)
		m->vol.ops->init(&m->vol);
}

void volatile_free(struct rf_model *m)
{
	if (!m->vol.ops)
		return;
	if (m->vol.ops->exit)
		m->vol.ops->exit(&m->vol);
	rf_lock_clear(&m->vol_lock);
	g_free(m->vol.priv);
	g_array_unref(m->vol_doomed);
}

/* ---- calls ---- */

unsigned volatile_locks(struct rf_model *m, const struct rf_event *ev, struct rf_vstep step[RF_VSTEPS])
{
	return m->vol.ops->locks(&m->vol, ev->flag ? RF_VOP_VOLATILE : RF_VOP_NONVOLATILE, ev->addr,
	                         ev->addr + ev->len, step);
}

/* One piece, within a mapping.  FALSE: the call ends here. */
static gboolean call_piece(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint64_t start,
                           uint64_t end, gboolean mark, gboolean *lost)
{
	const struct rf_volatile_ops *ops = m->vol.ops;
	uint64_t addr, root, from = (start + page_bytes(m) - 1) & ~(page_bytes(m) - 1);
	gboolean some = FALSE, ok;

	end &= ~(page_bytes(m) - 1);
	if (from >= end)
		return TRUE;
	root = root_of(m, s, vma, from >> m->cfg.page_shift, &addr);
	if (root & RF_VROOT_FILE)
		vma_file(m, vma)->vol_cgroup = s->cgroup + 1;
	end = addr + (end - from);
	ok = mark ? ops->mark(&m->vol, root, addr, end) : !ops->unmark || ops->unmark(&m->vol, root, addr, end, &some);
	*lost |= some;
	if (!ok)
		count(m, cgroup_nth(m, s->cgroup), RF_C_rf_vrange_nomem, 1);
	return ok;
}

/* Memory that such a call may be about; it ends where the range leaves it. */
static gboolean suits(const struct rf_vma *vma, const struct rf_vma *first)
{
	return !(vma->flags & RF_VMA_LOCKED) && !(vma->mkind == RF_MAP_FILE && (vma->flags & RF_VMA_SHARED)) &&
	       (vma->mkind == RF_MAP_SHMEM) == (first->mkind == RF_MAP_SHMEM);
}

void volatile_call(struct rf_model *m, struct space *s, const struct rf_event *ev, uint64_t start, uint64_t end)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	struct rf_vma first = { .flags = 0 };
	gboolean lost = FALSE;
	uint64_t at = start;

	while (at < end) {
		const struct rf_vma *next = rf_vmas_find(s->vmas, at);
		struct rf_vma vma;

		if (!next)
			break;
		vma = *next;
		if (at == start)
			first = vma;
		if (!suits(&vma, &first) || !call_piece(m, s, &vma, at, MIN(end, vma.end), ev->flag, &lost))
			break;
		at = vma.end;
	}
	m->vol_used |= ev->flag && m->vol.ops->covers;
	count(m, cg, ev->flag ? RF_C_rf_vrange_volatile : RF_C_rf_vrange_nonvolatile, 1);
	count(m, cg, RF_C_rf_vrange_lost, lost);
	count(m, cg, RF_C_rf_vrange_short, at < end);
	update_bytes(m);
}

/* Does anybody map the file? */
static gboolean mapped_anywhere(struct rf_model *m, const struct file *f)
{
	for (guint i = 0; i < m->spaces->len; i++) {
		const struct space *s = m->spaces->pdata[i];

		for (uint32_t j = 0; s && j < rf_vmas_count(s->vmas); j++) {
			const struct rf_vma *vma = rf_vmas_nth(s->vmas, j);

			if (vma->mkind == RF_MAP_SHMEM && vma_file(m, vma) == f)
				return TRUE;
		}
	}
	return FALSE;
}

void volatile_unmap(struct rf_model *m, struct space *s, uint64_t start, uint64_t end)
{
	if (!m->vol_used || !m->vol.ops->forget)
		return;
	m->vol.ops->forget(&m->vol, s->id, start, end);
	for (guint i = 0; i < m->files->len; i++) { /* ranges of a file go with its last mapping */
		struct file *f = m->files->pdata[i];

		if (!f->vol_cgroup || mapped_anywhere(m, f))
			continue;
		f->vol_cgroup = 0;
		m->vol.ops->forget(&m->vol, RF_VROOT_FILE | i, 0, UINT64_MAX);
	}
	update_bytes(m);
}

void volatile_fork(struct rf_model *m, const struct space *from, const struct space *to)
{
	if (!m->vol_used || !m->vol.ops->fork)
		return;
	m->vol.ops->fork(&m->vol, from->id, to->id);
	update_bytes(m);
}

/* ---- reclaim ---- */

/* The kernel's shrinker runs beside the scan of the lists; here it comes first, and what it frees need
 * not be found on them. */
void volatile_purge(struct rf_model *m, struct rf_scan *sc)
{
	if (!m->vol_used || !m->vol.ops->shrink)
		return;
	m->vol_target = sc->target;
	sc->reclaimed += m->vol.ops->shrink(&m->vol, sc->goal);
	m->vol_target = NULL;
	volatile_settle(m);
}

void volatile_settle(struct rf_model *m)
{
	guint i;

	for (i = 0; i < m->vol_doomed->len; i++) { /* may grow meanwhile */
		const uint64_t *d = (const uint64_t *)(m->vol_doomed->data + i * 3 * sizeof(uint64_t));

		host_discard(&m->vol, d[0], d[1], d[2], UINT64_MAX);
	}
	if (i)
		update_bytes(m);
	g_array_set_size(m->vol_doomed, 0);
}

gboolean volatile_discards(struct rf_model *m, rf_page p)
{
	if (!m->vol_used || !m->vol.ops->reclaim_discards || !nobody_needs(m, p))
		return FALSE;
	throw_away(m, p, UINT64_MAX);
	return TRUE;
}

/* ---- touches ---- */

gboolean volatile_touch(struct rf_model *m, struct task *t, struct space *s, uint32_t v)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	const struct rf_vma *vma = vma_of(m, s, entry_vpn(m, v));
	gboolean was_lost = m->pte[v] == PTE_LOST;
	uint64_t root, addr, pages = 0;

	unmap_entry(m, v);
	if (!vma)
		return TRUE;
	if (vma->mkind == RF_MAP_SHMEM) { /* what was discarded left its file: nobody's entry knows it */
		rf_page p = file_page(m, vma_file(m, vma), vma_pgoff(m, vma, entry_vpn(m, v)));

		if (p != RF_NO_PAGE && (m->fact[p] & (RF_PAGE_RESIDENT | F_SLOT)))
			return TRUE;
	} else if (!was_lost) {
		return TRUE;
	}
	root = root_of(m, s, vma, entry_vpn(m, v), &addr);
	switch (m->vol.ops->touch(&m->vol, root, addr, &pages)) {
	case RF_VTOUCH_DATA:
		return TRUE;
	case RF_VTOUCH_ZEROS:
		count(m, cg, RF_C_rf_purged_zero, 1);
		return TRUE;
	case RF_VTOUCH_KILLED:
		count(m, cg, RF_C_rf_sigbus, 1);
		task_kill(m, t);
		return FALSE;
	case RF_VTOUCH_SIGBUS:
		break;
	}
	count(m, cg, RF_C_rf_sigbus, 1);
	count(m, cg, RF_C_rf_vrange_nonvolatile, 1);
	count(m, cg, RF_C_rf_vrange_lost, 1);
	spend(m, m->profile.sigbus + pages * (m->profile.regen_page << (m->cfg.page_shift - RF_GRANULE_SHIFT)),
	      &m->time_fault);
	update_bytes(m);
	return TRUE;
}
