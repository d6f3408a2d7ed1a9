/* SPDX-License-Identifier: MIT
 * System calls on mappings: mmap, munmap, mremap, mprotect, mlock, madvise (kernel-reclaim 10).
 */
#include "sim/model.h"
#include "base/error.h"

typedef void (*entry_fn)(struct rf_model *m, struct space *s, uint32_t v);

/* Call fn on every entry of [from, to) that is not empty. */
static void for_entries(struct rf_model *m, struct space *s, uint64_t from, uint64_t to, entry_fn fn)
{
	guint i;

	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		uint32_t n = g_array_index(s->leaves, uint32_t, i), size = 1u << m->leaf_shift, j;
		uint64_t base = m->leaf[n].base;

		if (base >= to)
			break;
		if (!m->leaf[n].used)
			continue;
		for (j = base < from ? (uint32_t)(from - base) : 0; j < size && base + j < to; j++)
			if (m->pte[(n << m->leaf_shift) + j])
				fn(m, s, (n << m->leaf_shift) + j);
	}
}

static void drain(struct rf_model *m)
{
	if (m->pol->ops->drain)
		m->pol->ops->drain(m->pol);
}

/* ---- mlock ---- */

void page_mlock(struct rf_model *m, rf_page p)
{
	if (m->fact[p] & F_UNEV)
		return;
	m->pol->ops->remove(m->pol, m->host.lruvec_of(m->pol, p), p, RF_WHY_UNEVICTABLE);
	m->fact[p] |= F_UNEV | RF_PAGE_MLOCKED;
	m->mlocked++;
}

void page_munlock(struct rf_model *m, rf_page p)
{
	if (!(m->fact[p] & F_UNEV))
		return;
	m->fact[p] &= ~(F_UNEV | RF_PAGE_MLOCKED);
	m->mlocked--;
	m->pol->ops->add(m->pol, m->host.lruvec_of(m->pol, p), p, 0, 0);
}

static void munlock_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	(void)s;
	if ((m->pte[v] & (PTE_PRESENT | PTE_ZERO)) == PTE_PRESENT)
		page_munlock(m, m->pte_page[v]);
}

/* mlock faults everything in, as stores where the mapping allows them. */
static gboolean populate(struct rf_model *m, struct task *t, struct space *s, uint64_t from, uint64_t to,
                         GError **error)
{
	while (from < to) {
		const struct rf_vma *vma = rf_vmas_next(s->vmas, from);
		uint64_t end;
		unsigned type;

		if (!vma || vma->start >= to)
			return TRUE;
		from = MAX(from, vma->start);
		end = MIN(to, vma->end);
		type = (vma->prot & RF_PROT_W) && !(vma->flags & RF_VMA_SHARED) ? RF_WRITE : RF_READ;
		if (!(vma->prot & (RF_PROT_R | RF_PROT_W | RF_PROT_X))) {
			from = end;
			continue;
		}
		for (; from < end; from += UINT64_C(1) << m->cfg.page_shift) {
			uint32_t v = entry_get(m, s, from >> m->cfg.page_shift);
			uint8_t need = PTE_PRESENT | (type == RF_WRITE ? PTE_WRITE : 0);

			if ((m->pte[v] & need) != need) {
				enum fault f = fault(m, t, v, type, error);

				if (f == FAULT_ERROR)
					return FALSE;
				if (f == FAULT_KILLED)
					return TRUE;
			}
			if ((m->pte[v] & (PTE_PRESENT | PTE_ZERO)) == PTE_PRESENT)
				page_mlock(m, m->pte_page[v]);
		}
	}
	return TRUE;
}

/* ---- madvise ---- */

/* madvise_free_pte_range(). */
static void free_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	(void)s;
	if (f & PTE_SWAP) {
		zap_entry(m, v);
		return;
	}
	if ((f & PTE_ZERO) || !(m->fact[p] & RF_PAGE_ANON) || page_mapcount(m, p) != 1 ||
	    page_swapcount(m, p) || (m->fact[p] & (RF_PAGE_WRITEBACK | F_UNEV)))
		return;
	if (m->fact[p] & F_SLOT)
		swap_drop_slot(m, p);
	m->fact[p] &= ~RF_PAGE_DIRTY;
	m->pte[v] = f & ~(PTE_ACC | PTE_DIRTY);
	tlb_drop(m, v);
	if (m->fact[p] & RF_PAGE_LAZYFREE)
		return;
	if (m->pol->ops->move)
		m->pol->ops->move(m->pol, m->host.lruvec_of(m->pol, p), p, RF_MOVE_LAZYFREE);
	else
		page_set_lazyfree(m, p);
}

static gboolean one_user(const struct rf_model *m, uint32_t v)
{
	return (m->pte[v] & (PTE_PRESENT | PTE_ZERO)) == PTE_PRESENT && !(m->fact[m->pte_page[v]] & F_UNEV) &&
	       page_mapcount(m, m->pte_page[v]) == 1;
}

static void cold_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	(void)s;
	if (!one_user(m, v))
		return;
	m->pte[v] &= ~PTE_ACC;
	tlb_drop(m, v);
	if (m->pol->ops->move)
		m->pol->ops->move(m->pol, m->host.lruvec_of(m->pol, m->pte_page[v]), m->pte_page[v], RF_MOVE_DEACTIVATE);
}

/* Reclaimed now, whatever its references; its shadow is against the root. */
static void pageout_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	struct rf_scan sc = { .target = m->host.root, .goal = 1, .may_swap = TRUE, .proactive = TRUE };
	rf_page p = m->pte_page[v];
	enum rf_verdict verdict;

	(void)s;
	if (!one_user(m, v))
		return;
	m->pte[v] &= ~PTE_ACC;
	verdict = host_evict(m->pol, p, &sc, FALSE);
	if (verdict != RF_FREED && verdict != RF_REFUSED && m->pol->ops->kept)
		m->pol->ops->kept(m->pol, m->host.lruvec_of(m->pol, p), p, verdict);
}

static void refresh_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	const struct rf_vma *vma = rf_vmas_find(s->vmas, entry_vpn(m, v) << m->cfg.page_shift);

	if (vma && (m->pte[v] & PTE_PRESENT))
		m->pte[v] = (m->pte[v] & ~(PTE_EXEC | PTE_NOREC)) | vma_pte_flags(m, vma);
}

static void advise_files_willneed(struct rf_model *m, struct space *s, uint64_t start, uint64_t end)
{
	const struct rf_vma *vma;
	uint64_t at;

	for (at = start; (vma = rf_vmas_next(s->vmas, at)) && vma->start < end; ) {
		uint64_t from = MAX(at, vma->start), to = MIN(end, vma->end);

		at = vma->end;
		if (vma->mkind != RF_MAP_FILE)
			continue;
		file_willneed(m, file_get(m, vma->id), (vma->off + from - vma->start) >> m->cfg.page_shift,
		              (vma->off + to - vma->start + (1u << m->cfg.page_shift) - 1) >> m->cfg.page_shift);
	}
}

static void advise(struct rf_model *m, struct space *s, uint64_t start, uint64_t end, unsigned advice)
{
	unsigned shift = m->cfg.page_shift;
	/* Ranges smaller than the machine's page do nothing where pages are freed. */
	uint64_t from = start >> shift, to = end >> shift;

	switch (advice) {
	case RF_ADV_NORMAL:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, 0, RF_VMA_RAND | RF_VMA_SEQ);
		for_entries(m, s, from, to, refresh_entry);
		break;
	case RF_ADV_RANDOM:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, RF_VMA_RAND, RF_VMA_SEQ);
		for_entries(m, s, from, to, refresh_entry);
		break;
	case RF_ADV_SEQUENTIAL:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, RF_VMA_SEQ, RF_VMA_RAND);
		for_entries(m, s, from, to, refresh_entry);
		break;
	case RF_ADV_WILLNEED:
		drain(m);
		advise_files_willneed(m, s, start, end);
		if (m->swap_slots)
			swap_willneed(m, s, from, to);
		break;
	case RF_ADV_DONTNEED:
		zap_range(m, s, from, to);
		break;
	case RF_ADV_FREE: /* no drain of the batches here: 1.3 */
		for_entries(m, s, from, to, free_entry);
		break;
	case RF_ADV_COLD:
		drain(m);
		for_entries(m, s, from, to, cold_entry);
		break;
	case RF_ADV_PAGEOUT:
		drain(m);
		for_entries(m, s, from, to, pageout_entry);
		break;
	case RF_ADV_HUGEPAGE:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, RF_VMA_HUGE, RF_VMA_NOHUGE);
		break;
	case RF_ADV_NOHUGEPAGE:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, RF_VMA_NOHUGE, RF_VMA_HUGE);
		break;
	}
}

/* ---- mremap, mprotect ---- */

/* Move the entries; whatever is at the new place was unmapped before. */
static gboolean move_entries(struct rf_model *m, struct space *s, uint64_t from, uint64_t to, uint64_t n)
{
	g_autoptr(GArray) moved = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint i;

	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		uint32_t leaf = g_array_index(s->leaves, uint32_t, i), j;

		if (m->leaf[leaf].base >= from + n)
			break;
		for (j = 0; j < 1u << m->leaf_shift; j++) {
			uint32_t v = (leaf << m->leaf_shift) + j;

			if (m->leaf[leaf].base + j >= from && m->leaf[leaf].base + j < from + n && m->pte[v])
				g_array_append_val(moved, v);
		}
	}
	for (i = 0; i < moved->len; i++) {
		uint32_t v = g_array_index(moved, uint32_t, i), w = entry_get(m, s, entry_vpn(m, v) - from + to);
		uint8_t f = m->pte[v];
		rf_page p = m->pte_page[v];

		if (!tables_charge(m, w))
			return FALSE;
		unmap_entry(m, v);
		if (f & PTE_ZERO) {
			map_special(m, w, p, f & ~(PTE_PRESENT | PTE_ZERO));
		} else if (f & PTE_PRESENT) {
			map_page(m, w, p, f & ~PTE_PRESENT);
		} else { /* a swap entry */
			m->rmap_next[w] = m->rmap[p];
			m->rmap[p] = w;
			m->leaf[w >> m->leaf_shift].used++;
			m->pte[w] = f;
			m->pte_page[w] = p;
			s->swapents++;
		}
	}
	return TRUE;
}

static gboolean overlap_error(const struct rf_event *ev, GError **error)
{
	rf_set_data(error, "task %u: %s 0x%" G_GINT64_MODIFIER "x, length %" G_GUINT64_FORMAT
	            ", overlaps a mapping that was not unmapped", ev->tid, rf_event_kind_name(ev->kind),
	            ev->kind == RF_EV_MREMAP ? ev->addr2 : ev->addr, ev->kind == RF_EV_MREMAP ? ev->len2 : ev->len);
	return FALSE;
}

gboolean mapping_event(struct rf_model *m, const struct rf_event *ev, GError **error)
{
	struct task *t = task_get(m, ev->tid);
	struct space *s = m->spaces->pdata[t->space];
	uint64_t page = UINT64_C(1) << m->cfg.page_shift, mask = page - 1;
	uint64_t start = ev->addr & ~mask, end = (ev->addr + ev->len + mask) & ~mask;
	struct rf_vma vma;

	m->current = t;
	if (!t->alive)
		return TRUE;
	if (ev->addr + ev->len < ev->addr || end < start ||
	    (ev->kind == RF_EV_MREMAP && ev->addr2 + ev->len2 < ev->addr2)) {
		rf_set_data(error, "task %u: %s of %" G_GUINT64_FORMAT " bytes at 0x%" G_GINT64_MODIFIER
		            "x goes beyond the address space", ev->tid, rf_event_kind_name(ev->kind), ev->len, ev->addr);
		return FALSE;
	}
	spend(m, m->profile.syscall, &m->time_access);
	switch (ev->kind) {
	case RF_EV_MMAP:
		if (m->cfg.strict && rf_vmas_overlaps(s->vmas, ev->addr, ev->addr + ev->len))
			return overlap_error(ev, error);
		zap_range(m, s, start >> m->cfg.page_shift, end >> m->cfg.page_shift);
		vma = (struct rf_vma){ .start = start, .end = end, .off = ev->off & ~mask, .id = ev->id, .prot = ev->prot,
		                       .mkind = ev->mkind, .flags = (ev->shared ? RF_VMA_SHARED : 0) |
		                                                    (ev->locked ? RF_VMA_LOCKED : 0) };
		rf_vmas_map(s->vmas, &vma);
		if (ev->locked && !populate(m, t, s, start, end, error))
			return FALSE;
		break;
	case RF_EV_MUNMAP:
		zap_range(m, s, start >> m->cfg.page_shift, end >> m->cfg.page_shift);
		rf_vmas_unmap(s->vmas, start, end);
		tables_free(m, s, start >> m->cfg.page_shift, end >> m->cfg.page_shift);
		break;
	case RF_EV_MREMAP: {
		uint64_t new_start = ev->addr2 & ~mask, old_n = (end - start) >> m->cfg.page_shift;
		uint64_t new_n = ((ev->addr2 + ev->len2 + mask) & ~mask) - new_start;

		new_n >>= m->cfg.page_shift;
		if (new_start != start) {
			if (m->cfg.strict && rf_vmas_overlaps(s->vmas, ev->addr2, ev->addr2 + ev->len2))
				return overlap_error(ev, error);
			zap_range(m, s, new_start >> m->cfg.page_shift, (new_start >> m->cfg.page_shift) + new_n);
			if (!move_entries(m, s, start >> m->cfg.page_shift, new_start >> m->cfg.page_shift, MIN(old_n, new_n)))
				return TRUE;
		}
		if (new_n < old_n)
			zap_range(m, s, (start >> m->cfg.page_shift) + new_n, (start >> m->cfg.page_shift) + old_n);
		if (!rf_vmas_move(s->vmas, start, end - start, new_start, new_n << m->cfg.page_shift) && m->cfg.strict) {
			rf_set_data(error, "task %u: mremap of 0x%" G_GINT64_MODIFIER "x, which is not mapped", ev->tid, ev->addr);
			return FALSE;
		}
		break;
	}
	case RF_EV_MPROTECT:
		if (!rf_vmas_change(s->vmas, start, end, TRUE, ev->prot, 0, 0) && m->cfg.strict) {
			rf_set_data(error, "task %u: mprotect of 0x%" G_GINT64_MODIFIER "x, part of which is not mapped",
			            ev->tid, ev->addr);
			return FALSE;
		}
		for_entries(m, s, start >> m->cfg.page_shift, end >> m->cfg.page_shift, refresh_entry);
		break;
	case RF_EV_MADVISE:
		/* DONTNEED and FREE of part of a large page must not take the rest: whole pages only. */
		if (ev->advice == RF_ADV_DONTNEED || ev->advice == RF_ADV_FREE) {
			start = (ev->addr + mask) & ~mask;
			end = (ev->addr + ev->len) & ~mask;
			if (end <= start)
				break;
		}
		advise(m, s, start, end, ev->advice);
		break;
	case RF_EV_VRANGE:
		start = (ev->addr + mask) & ~mask;
		end = (ev->addr + ev->len) & ~mask;
		if (ev->flag && end > start && m->seams.volatile_->discard_at_once)
			zap_range(m, s, start >> m->cfg.page_shift, end >> m->cfg.page_shift);
		rf_vmas_change(s->vmas, start, end, FALSE, 0, ev->flag ? RF_VMA_VOLATILE : 0, ev->flag ? 0 : RF_VMA_VOLATILE);
		break;
	case RF_EV_MLOCK:
		drain(m);
		rf_vmas_change(s->vmas, start, end, FALSE, 0, RF_VMA_LOCKED, 0);
		if (!populate(m, t, s, start, end, error))
			return FALSE;
		break;
	case RF_EV_MUNLOCK:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, 0, RF_VMA_LOCKED);
		for_entries(m, s, start >> m->cfg.page_shift, end >> m->cfg.page_shift, munlock_entry);
		break;
	default:
		break;
	}
	vmas_charge(m, s);
	stall_end(m);
	return TRUE;
}
