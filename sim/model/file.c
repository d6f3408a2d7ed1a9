/* SPDX-License-Identifier: MIT
 * Files in use: faults on mappings of them, fault-around, read(2) and write(2) (kernel-reclaim 9.1, 9.3).
 */
#include "sim/model/model.h"
#include "base/error.h"

/* filemap_map_pages(): 9.3.  TRUE when the target is mapped now. */
static gboolean fault_around(struct rf_model *m, struct file *f, const struct rf_vma *vma, uint32_t v, uint64_t pgoff)
{
	uint32_t pages = (uint32_t)(m->cfg.fault_around_bytes >> m->cfg.page_shift), per_leaf = 1u << m->leaf_shift;
	uint64_t vma_off = entry_vpn(m, v) - vma_first(m, vma), vma_pages = vma_last(m, vma) - vma_first(m, vma);
	uint32_t at = v & (per_leaf - 1), from, to, i, k = 0;
	uint8_t flags = vma_pte_flags(m, vma), young = m->cfg.arch == RF_ARCH_X86_64 ? PTE_ACC : 0;

	if (pages <= 1 || m->cfg.kernel_release < RF_KERNEL(3, 15, 0))
		return FALSE;
	from = MAX(at - at % pages, at - (uint32_t)MIN(at, MIN(vma_off, pgoff)));
	to = (uint32_t)MIN(MIN(from + pages, per_leaf), at + vma_pages - vma_off);
	for (i = from; i < to; i++) {
		uint32_t w = v - at + i;
		rf_page p = file_page(m, f, pgoff - at + i);

		if (!page_resident(m, p) || (m->fact[p] & F_READING) || (m->fact[folio_head(m, p)] & F_RA))
			continue;
		if (!m->pol->ops->workingset || !m->pol->ops->workingset(m->pol, folio_head(m, p)))
			k++;
		if (m->pte[w])
			continue;
		spend(m, m->profile.fault_around_page, &m->time_fault);
		map_page(m, w, p, flags | (w == v ? PTE_ACC : young));
	}
	f->mmap_miss -= MIN(f->mmap_miss, k);
	return (m->pte[v] & PTE_PRESENT) != 0;
}

static enum fault shmem_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v,
                              struct file *f, uint64_t pgoff)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	rf_page p = file_page(m, f, pgoff);
	const uint32_t changes = s->changes;

	if (m->closed && page_resident(m, p)) { /* another task is swapping it in? */
		page_pin(m, p);
		wait_for_read(m, p);
		page_unpin(m);
	}
	if (!page_resident(m, p)) {
		if (p != RF_NO_PAGE) {
			if (!swap_in_shmem(m, cg, p))
				return FAULT_KILLED;
		} else {
			p = file_add(m, f, pgoff, cg, RF_HOW_FAULT | RF_HOW_NEW, FALSE);
			if (p == RF_NO_PAGE)
				return FAULT_KILLED;
			m->fact[p] |= RF_PAGE_DIRTY;
		}
	}
	if (m->closed && (!m->current->alive || m->pte[v] || s->changes != changes))
		return m->current->alive ? FAULT_DONE : FAULT_KILLED;
	map_page(m, v, p, PTE_ACC | PTE_WRITE | PTE_DIRTY | vma_pte_flags(m, vma));
	return FAULT_DONE;
}

static unsigned fault_how(const struct rf_vma *vma)
{
	return RF_HOW_FAULT | (vma->flags & (RF_VMA_RAND | RF_VMA_SEQ) ? RF_HOW_NORECENCY : 0) |
	       (vma->prot & RF_PROT_X ? RF_HOW_EXEC : 0);
}

/* The page at pgoff is in memory and up to date: filemap_fault().  RF_NO_PAGE: the task was killed. */
static rf_page fault_page(struct rf_model *m, struct space *s, struct file *f, const struct rf_vma *vma, uint32_t v,
                          uint64_t pgoff, unsigned type)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	unsigned how = fault_how(vma);
	rf_page p = file_page(m, f, pgoff);
	const uint32_t changes = s->changes;
	uint64_t done = 0;

	if (page_resident(m, p)) {
		page_pin(m, p);
		if (!(vma->flags & RF_VMA_RAND) && ra_pages(m)) {
			if (f->mmap_miss && !(m->fact[p] & F_READING))
				f->mmap_miss--;
			if (m->fact[folio_head(m, p)] & F_RA) {
				m->fact[folio_head(m, p)] &= ~F_RA;
				async_readahead(m, f, pgoff, ra_pages(m), cg, how);
			}
		}
		wait_for_read(m, p);
		page_unpin(m);
		return p;
	}
	count(m, cg, RF_C_pgmajfault, 1);
	m->current->pgmajfault++;
	stall_begin(m);
	spend(m, m->profile.major_overhead, &m->time_fault);
	sync_mmap_readahead(m, f, vma, pgoff, cg, how, &done);
	p = file_page(m, f, pgoff);
	if (!page_resident(m, p)) {
		p = file_add(m, f, pgoff, cg, how, FALSE);
		if (p == RF_NO_PAGE)
			return RF_NO_PAGE;
		done = rf_device_submit(&m->disk, m->host.now, UINT64_C(1) << m->cfg.page_shift, FALSE);
	}
	page_pin(m, p);
	wait_until(m, done, &m->time_io);
	page_unpin(m);
	m->fact[p] &= ~F_READING;
	/* After the wait the fault is tried again from the start. */
	if (type != RF_WRITE && m->current->alive && s->changes == changes)
		fault_around(m, f, vma, v, pgoff);
	return p;
}

/* What do_fault() does around it: 9.1. */
enum fault file_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v, unsigned type)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	struct file *f = vma_file(m, vma);
	uint64_t pgoff = vma_pgoff(m, vma, entry_vpn(m, v));
	gboolean cow = type == RF_WRITE && !(vma->flags & RF_VMA_SHARED), absent;
	const uint32_t changes = s->changes;
	uint8_t flags;
	rf_page p;

	f->npages = MAX(f->npages, pgoff + 1); /* the last page of a mapping may lie beyond the size declared */
	if (vma->mkind == RF_MAP_SHMEM) {
		f->shmem = TRUE;
		return shmem_fault(m, s, vma, v, f, pgoff);
	}
	if (type != RF_WRITE && fault_around(m, f, vma, v, pgoff))
		return FAULT_DONE;
	if (cow && !new_anon_charge(m, s, vma))
		return FAULT_KILLED;
	absent = !page_resident(m, file_page(m, f, pgoff));
	p = fault_page(m, s, f, vma, v, pgoff, type);
	if (p == RF_NO_PAGE || !m->current->alive) {
		if (cow)
			uncharge(m, cg, 1);
		return FAULT_KILLED;
	}
	/* do_cow_fault() gives its copy back where it had to wait, and the second try has another. */
	if (cow && absent) {
		uncharge(m, cg, 1);
		if (!new_anon_charge(m, s, vma))
			return FAULT_KILLED;
	}
	if ((m->pte[v] & PTE_PRESENT) || s->changes != changes) {
		/* By fault-around, once the read was done; or other threads were here while it waited. */
		if (cow)
			uncharge(m, cg, 1);
		return FAULT_DONE;
	}
	if (cow) {
		spend(m, m->profile.copy_page, &m->time_fault);
		count(m, cg, RF_C_rf_cow, 1);
		new_anon_map(m, s, vma, v);
		return FAULT_DONE;
	}
	flags = PTE_ACC | vma_pte_flags(m, vma);
	if (type == RF_WRITE)
		flags |= PTE_WRITE | PTE_DIRTY;
	map_page(m, v, p, flags);
	if (vma->flags & RF_VMA_LOCKED)
		page_mlock(m, p);
	if (type == RF_WRITE) {
		file_mark_dirty(m, p);
		balance_dirty(m);
	}
	return FAULT_DONE;
}

/* ---- read(2), write(2), fsync(2) ---- */

static gboolean file_range(const struct rf_model *m, const struct rf_event *ev, uint64_t *from, uint64_t *to,
                           GError **error)
{
	if (ev->off + ev->len < ev->off || (ev->off + ev->len) >> m->cfg.page_shift >= FILE_PAGES_MAX) {
		rf_set_data(error, "file %u: offset %" G_GUINT64_FORMAT " length %" G_GUINT64_FORMAT
		            " is beyond what a file can be", ev->id, ev->off, ev->len);
		return FALSE;
	}
	*from = ev->off >> m->cfg.page_shift;
	*to = (ev->off + ev->len + (UINT64_C(1) << m->cfg.page_shift) - 1) >> m->cfg.page_shift;
	return TRUE;
}

/* Page i of a read(2) of [i, to), up to date and pinned.  RF_NO_PAGE: the task was killed. */
static rf_page read_page(struct rf_model *m, struct file *f, struct cgroup *cg, uint64_t i, uint64_t to)
{
	rf_page p = file_page(m, f, i);
	uint64_t done = 0;

	if (page_resident(m, p)) {
		page_pin(m, p);
		if (m->fact[folio_head(m, p)] & F_RA) {
			m->fact[folio_head(m, p)] &= ~F_RA;
			async_readahead(m, f, i, to - i, cg, RF_HOW_READ);
		}
		wait_for_read(m, p);
		return p;
	}
	stall_begin(m);
	sync_readahead(m, f, i, to - i, cg, RF_HOW_READ, &done);
	p = file_page(m, f, i);
	if (!page_resident(m, p)) {
		p = file_add(m, f, i, cg, RF_HOW_READ, FALSE);
		if (p == RF_NO_PAGE)
			return RF_NO_PAGE;
		done = rf_device_submit(&m->disk, m->host.now, UINT64_C(1) << m->cfg.page_shift, FALSE);
	}
	page_pin(m, p);
	wait_until(m, done, &m->time_io);
	m->fact[p] &= ~F_READING;
	return p;
}

static void file_read(struct rf_model *m, struct file *f, struct cgroup *cg, uint64_t from, uint64_t to)
{
	uint64_t i, last = f->read_before ? f->prev_page : UINT64_MAX;

	to = MIN(to, f->npages);
	for (i = from; i < to && m->current->alive; i++) {
		rf_page p = read_page(m, f, cg, i, to);

		if (p == RF_NO_PAGE)
			return;
		/* Once a folio and call (2.2): not again for the pages behind its first. */
		if (i != last && (i == from || folio_head(m, p) == p))
			page_touch(m, p);
		page_unpin(m);
		last = i;
		f->prev_page = i;
		f->read_before = TRUE;
		spend(m, m->profile.copy_page, &m->time_access);
		stall_end(m);
	}
}

static void file_write(struct rf_model *m, struct file *f, struct cgroup *cg, uint64_t off, uint64_t len,
                       uint64_t from, uint64_t to)
{
	uint64_t i, size = UINT64_C(1) << m->cfg.page_shift, old = f->npages;

	f->npages = MAX(f->npages, to);
	for (i = from; i < to && m->current->alive; i++) {
		rf_page p = file_page(m, f, i);
		gboolean missing = !page_resident(m, p);

		if (missing) {
			p = file_add(m, f, i, cg, RF_HOW_WRITE, FALSE);
			if (p == RF_NO_PAGE)
				return;
		}
		page_pin(m, p);
		if (missing && !(off <= i * size && off + len >= (i + 1) * size) && i < old) {
			stall_begin(m); /* the rest of the page has to be read */
			wait_until(m, rf_device_submit(&m->disk, m->host.now, size, FALSE), &m->time_io);
		}
		wait_for_read(m, p);
		file_mark_dirty(m, p);
		page_unpin(m);
		spend(m, m->profile.copy_page, &m->time_access);
		balance_dirty(m);
		stall_end(m);
	}
}

gboolean file_rw(struct rf_model *m, const struct rf_event *ev, GError **error)
{
	struct task *t = task_get(m, ev->tid, error);
	struct file *f = file_get(m, ev->id);
	struct cgroup *cg;
	uint64_t from, to;

	if (!t)
		return FALSE;
	m->current = t;
	if (!t->alive)
		return TRUE;
	space_nth(m, t->space)->ran = TRUE;
	spend(m, m->profile.syscall, &m->time_access);
	if (ev->kind == RF_EV_FSYNC) {
		file_sync(m, f, TRUE);
		return TRUE;
	}
	if (!file_range(m, ev, &from, &to, error))
		return FALSE;
	if (!ev->len)
		return TRUE;
	cg = cgroup_nth(m, ((struct space *)m->spaces->pdata[t->space])->cgroup);
	if (ev->kind == RF_EV_READ)
		file_read(m, f, cg, from, to);
	else
		file_write(m, f, cg, ev->off, ev->len, from, to);
	stall_end(m);
	if (cg->high_owed)
		pay_high(m);
	stall_end(m);
	return TRUE;
}
