/* SPDX-License-Identifier: MIT
 * System calls on mappings: mmap, munmap, mremap, mprotect, mlock, madvise (kernel-reclaim 10).
 */
#include "sim/model/model.h"
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

/* Of a large folio the first page stands for all. */
void page_mlock(struct rf_model *m, rf_page p)
{
	rf_page head = folio_head(m, p);

	if (m->fact[head] & F_UNEV)
		return;
	m->pol->ops->remove(m->pol, m->host.lruvec_of(m->pol, head), head, RF_WHY_UNEVICTABLE);
	m->fact[head] |= F_UNEV | RF_PAGE_MLOCKED;
	m->mlocked += folio_pages(m, head);
}

void page_munlock(struct rf_model *m, rf_page p)
{
	rf_page head = folio_head(m, p);

	if (!(m->fact[head] & F_UNEV))
		return;
	m->fact[head] &= ~(F_UNEV | RF_PAGE_MLOCKED);
	m->mlocked -= folio_pages(m, head);
	m->pol->ops->add(m->pol, m->host.lruvec_of(m->pol, head), head, 0, 0);
}

void page_munlock_unmapped(struct rf_model *m, rf_page p)
{
	rf_page head = folio_head(m, p);
	unsigned i;

	if (!(m->fact[head] & F_UNEV))
		return;
	for (i = 0; i < folio_pages(m, head); i++)
		if (page_mapcount(m, folio_page(m, head, i)))
			return;
	page_munlock(m, head);
}

static void munlock_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	(void)s;
	if ((m->pte[v] & (PTE_PRESENT | PTE_ZERO)) == PTE_PRESENT)
		page_munlock(m, m->pte_page[v]);
}

/* mlock faults everything in, as stores where the mapping allows them. */
static gboolean populate(struct rf_model *m, struct task *t, struct space *s, uint64_t start, uint64_t end,
                         GError **error)
{
	const struct rf_vma *next;

	while ((next = rf_vmas_next(s->vmas, start)) && next->start < end) {
		const struct rf_vma vma = *next;
		uint64_t from = MAX(start, vma.start) >> m->cfg.page_shift;
		uint64_t to = ((MIN(end, vma.end) - 1) >> m->cfg.page_shift) + 1;
		unsigned type = (vma.prot & RF_PROT_W) && !(vma.flags & RF_VMA_SHARED) ? RF_WRITE : RF_READ;

		start = vma.end;
		if (!(vma.prot & (RF_PROT_R | RF_PROT_W | RF_PROT_X)))
			continue;
		for (; from < to; from++) {
			uint32_t v = entry_get(m, s, from);
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

/* An allocator writes its pattern over all of a new mapping. */
static gboolean program_fills(struct rf_model *m, struct task *t, struct space *s, const struct rf_vma *vma,
                              GError **error)
{
	uint64_t page = UINT64_C(1) << m->cfg.page_shift, at;

	for (at = vma->start & ~(page - 1); at < vma->end && t->alive; at += page) {
		uint64_t bytes = MIN(at + page, vma->end) - MAX(at, vma->start);
		uint32_t v = entry_get(m, s, at >> m->cfg.page_shift);

		if ((m->pte[v] & (PTE_PRESENT | PTE_WRITE)) != (PTE_PRESENT | PTE_WRITE)) {
			enum fault f = fault(m, t, v, RF_WRITE, error);

			if (f == FAULT_ERROR)
				return FALSE;
			if (f == FAULT_KILLED)
				return TRUE;
			if (!(m->pte[v] & PTE_PRESENT))
				continue;
		}
		count(m, cgroup_nth(m, s->cgroup), RF_C_rf_memset, 1);
		spend(m, (bytes >> RF_GRANULE_SHIFT) * m->profile.memset_page, &m->time_access);
		if (rf_clock_next(m->clock) <= m->host.now)
			rf_clock_run(m->clock, &m->host.now);
	}
	return TRUE;
}

/* Is a new mapping memory of an allocator that fills it by itself? */
static gboolean program_fills_it(const struct rf_model *m, const struct rf_vma *vma)
{
	return (vma->mkind == RF_MAP_ANON || vma->mkind == RF_MAP_REFPAGE) && (vma->prot & RF_PROT_W) &&
	       m->seams.fill->program_writes &&
	       m->seams.fill->program_writes(m->seams.fill_opt, vma->mkind == RF_MAP_REFPAGE);
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

void advise_free(struct rf_model *m, struct space *s, uint64_t from, uint64_t to)
{
	for_entries(m, s, from, to, free_entry);
	shoot_down(m, s);
}

/* Is the page on a list (the first of its folio), and mapped here alone? */
static gboolean one_user(const struct rf_model *m, uint32_t v)
{
	return (m->pte[v] & (PTE_PRESENT | PTE_ZERO)) == PTE_PRESENT && !(m->fact[m->pte_page[v]] & F_UNEV) &&
	       folio_head(m, m->pte_page[v]) == m->pte_page[v] && page_mapcount(m, m->pte_page[v]) == 1;
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
	if (m->pol->ops->move)
		m->pol->ops->move(m->pol, m->host.lruvec_of(m->pol, p), p, RF_MOVE_PAGEOUT);
	verdict = host_evict(m->pol, p, &sc, FALSE);
	if (verdict != RF_FREED && verdict != RF_REFUSED && m->pol->ops->kept)
		m->pol->ops->kept(m->pol, m->host.lruvec_of(m->pol, p), p, verdict);
}

static void refresh_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	const struct rf_vma *vma = vma_of(m, s, entry_vpn(m, v));

	if (vma && (m->pte[v] & PTE_PRESENT))
		m->pte[v] = (m->pte[v] & ~(PTE_EXEC | PTE_NOREC)) | vma_pte_flags(m, vma);
}

/* change_pte_range(): what may be written without telling anybody becomes writable at once. */
static void protect_entry(struct rf_model *m, struct space *s, uint32_t v)
{
	const struct rf_vma *vma = vma_of(m, s, entry_vpn(m, v));
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	refresh_entry(m, s, v);
	if (!vma || (f & PTE_ZERO) || !(f & PTE_PRESENT))
		return;
	if (!(vma->prot & RF_PROT_W))
		m->pte[v] &= ~PTE_WRITE;
	else if (m->fact[p] & RF_PAGE_ANON ? m->rmap[p] == v && m->rmap_next[v] == RF_NO_PAGE : f & PTE_DIRTY)
		m->pte[v] |= PTE_WRITE;
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
		file_willneed(m, vma_file(m, vma), vma_pgoff(m, vma, from >> m->cfg.page_shift),
		              vma_pgoff(m, vma, (to - 1) >> m->cfg.page_shift) + 1);
	}
}

static void advise(struct rf_model *m, struct space *s, uint64_t start, uint64_t end, unsigned advice)
{
	unsigned shift = m->cfg.page_shift;
	uint64_t from = start >> shift, to = ((end - 1) >> shift) + 1;
	/* Freeing part of a large page must not take the rest: whole pages only. */
	uint64_t inner_from = (start + (1u << shift) - 1) >> shift, inner_to = end >> shift;

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
		zap_range(m, s, inner_from, inner_to);
		break;
	case RF_ADV_FREE: /* no drain of the batches here: 1.3 */
		advise_free(m, s, inner_from, inner_to);
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

/* The range is unmapped, and what was in it let go.  A large page at its edge stays while anything of
 * it is mapped. */
static void discard(struct rf_model *m, struct space *s, uint64_t start, uint64_t end)
{
	uint64_t mask = (UINT64_C(1) << m->cfg.page_shift) - 1;
	uint64_t from = start >> m->cfg.page_shift, to = ((end - 1) >> m->cfg.page_shift) + 1;
	const struct rf_vma *vma;

	vma = rf_vmas_next(s->vmas, start);
	if (end <= start || !vma || vma->start >= end)
		return;
	rf_vmas_unmap(s->vmas, start, end);
	volatile_unmap(m, s, start, end);
	if ((start & mask) && vma_of(m, s, from))
		from++;
	if (from < to && (end & mask) && vma_of(m, s, to - 1))
		to--;
	zap_range(m, s, from, to);
}

static void free_tables(struct rf_model *m, struct space *s, uint64_t start, uint64_t end)
{
	tables_free(m, s, start >> m->cfg.page_shift, ((end - 1) >> m->cfg.page_shift) + 1);
}

static void move_entry(struct rf_model *m, struct space *s, uint32_t v, uint32_t w)
{
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	if (m->pte[w]) { /* a large page that another mapping has part of */
		zap_entry(m, v);
		return;
	}
	unmap_entry(m, v);
	if (f == PTE_LOST) /* its range was left behind */
		return;
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

/* Move the entries of n pages; at the new place there is nothing.  FALSE: killed for want of tables. */
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

		if (!tables_charge(m, w))
			return FALSE;
		if (m->pte[v]) /* the charge may have reclaimed a file page */
			move_entry(m, s, v, w);
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

/* [start, end) becomes [addr2, addr2 + len2): in place, or elsewhere, larger or smaller. */
static gboolean remap(struct rf_model *m, struct space *s, const struct rf_event *ev, uint64_t start, uint64_t end,
                      GError **error)
{
	const uint64_t granule = (1u << RF_GRANULE_SHIFT) - 1, mask = (UINT64_C(1) << m->cfg.page_shift) - 1;
	uint64_t to = ev->addr2 & ~granule, to_end = (ev->addr2 + ev->len2 + granule) & ~granule, kept, first, last;

	if (m->cfg.strict && to != start && rf_vmas_overlaps(s->vmas, to, to_end))
		return overlap_error(ev, error);
	if (!rf_vmas_find(s->vmas, start)) {
		if (!m->cfg.strict)
			return TRUE;
		rf_set_data(error, "task %u: mremap of 0x%" G_GINT64_MODIFIER "x, which is not mapped", ev->tid, ev->addr);
		return FALSE;
	}
	kept = MIN(end - start, to_end - to);
	if (start + kept < end)
		discard(m, s, start + kept, end);
	if (to == start) {
		discard(m, s, start + kept, to_end);
		rf_vmas_move(s->vmas, start, kept, to, to_end - to);
		free_tables(m, s, start, end);
		return TRUE;
	}
	discard(m, s, to, to_end);
	volatile_unmap(m, s, start, start + kept);
	if (rf_vmas_find(s->vmas, start)) /* but for an overlap of the two */
		rf_vmas_move(s->vmas, start, kept, to, to_end - to);
	first = start >> m->cfg.page_shift;
	last = (start + kept - 1) >> m->cfg.page_shift;
	if ((start & mask) && vma_of(m, s, first)) /* a large page that stays with another mapping */
		first++;
	if (first <= last && ((start + kept) & mask) && vma_of(m, s, last))
		last--;
	if (first <= last &&
	    !move_entries(m, s, first, (to >> m->cfg.page_shift) + first - (start >> m->cfg.page_shift), last - first + 1))
		return TRUE;
	free_tables(m, s, start, end);
	return TRUE;
}

/* Who changes what mappings there are keeps everybody else out; who only empties or fills them does not. */
static enum rf_lock_mode mapping_mode(const struct rf_event *ev)
{
	if (ev->kind != RF_EV_MADVISE)
		return RF_LOCK_EXCLUSIVE;
	switch (ev->advice) {
	case RF_ADV_WILLNEED:
	case RF_ADV_DONTNEED:
	case RF_ADV_FREE:
	case RF_ADV_COLD:
	case RF_ADV_PAGEOUT:
		return RF_LOCK_SHARED;
	default:
		return RF_LOCK_EXCLUSIVE;
	}
}

/* What the call does under the lock.  *map: of mmap, the new mapping. */
static gboolean change_mappings(struct rf_model *m, struct space *s, const struct rf_event *ev, uint64_t start,
                                uint64_t end, struct rf_vma *map, GError **error)
{
	const uint64_t granule = (1u << RF_GRANULE_SHIFT) - 1;

	switch (ev->kind) {
	case RF_EV_MMAP:
		if (m->cfg.strict && rf_vmas_overlaps(s->vmas, ev->addr, ev->addr + ev->len))
			return overlap_error(ev, error);
		discard(m, s, start, end);
		*map = (struct rf_vma){ .start = start, .end = end, .off = ev->off & ~granule, .id = ev->id, .prot = ev->prot,
		                        .mkind = ev->mkind, .flags = (ev->shared ? RF_VMA_SHARED : 0) |
		                                                     (ev->locked ? RF_VMA_LOCKED : 0) };
		rf_vmas_map(s->vmas, map);
		break;
	case RF_EV_MUNMAP:
		discard(m, s, start, end);
		free_tables(m, s, start, end);
		break;
	case RF_EV_MREMAP:
		if (!remap(m, s, ev, start, end, error))
			return FALSE;
		break;
	case RF_EV_MPROTECT:
		if (!rf_vmas_change(s->vmas, start, end, TRUE, ev->prot, 0, 0) && m->cfg.strict) {
			rf_set_data(error, "task %u: mprotect of 0x%" G_GINT64_MODIFIER "x, part of which is not mapped",
			            ev->tid, ev->addr);
			return FALSE;
		}
		for_entries(m, s, start >> m->cfg.page_shift, ((end - 1) >> m->cfg.page_shift) + 1, protect_entry);
		break;
	case RF_EV_MADVISE:
		advise(m, s, start, end, ev->advice);
		break;
	case RF_EV_MLOCK:
		drain(m);
		rf_vmas_change(s->vmas, start, end, FALSE, 0, RF_VMA_LOCKED, 0);
		break;
	case RF_EV_MUNLOCK:
		rf_vmas_change(s->vmas, start, end, FALSE, 0, 0, RF_VMA_LOCKED);
		for_entries(m, s, start >> m->cfg.page_shift, ((end - 1) >> m->cfg.page_shift) + 1, munlock_entry);
		break;
	default:
		break;
	}
	vmas_charge(m, s);
	return TRUE;
}

/* What comes after it: pages that the call, or the program behind it, touches at once. */
static gboolean touch_mappings(struct rf_model *m, struct task *t, struct space *s, const struct rf_event *ev,
                               uint64_t start, uint64_t end, const struct rf_vma *map, GError **error)
{
	if ((ev->kind == RF_EV_MLOCK || (ev->kind == RF_EV_MMAP && ev->locked)) &&
	    !populate(m, t, s, start, end, error))
		return FALSE;
	return ev->kind != RF_EV_MMAP || !program_fills_it(m, map) || program_fills(m, t, s, map, error);
}

/* vrange(2), or what stands for it: the locks that the member takes, one inside the other, and the call
 * in the innermost. */
static void vrange_event(struct rf_model *m, struct task *t, struct space *s, const struct rf_event *ev,
                         uint64_t start, uint64_t end)
{
	struct rf_vstep step[RF_VSTEPS];
	unsigned n = volatile_locks(m, ev, step), i;

	if (!n) /* there is no such call */
		return;
	spend(m, m->profile.syscall, &m->time_access);
	for (i = 0; i < n; i++) {
		enum rf_lock_mode mode = step[i].exclusive ? RF_LOCK_EXCLUSIVE : RF_LOCK_SHARED;

		if (step[i].lock == RF_VLOCK_MMAP)
			mmap_lock_take(m, s, mode);
		else
			lock_take(m, volatile_lock(m, s, step[i].lock), mode);
		spend(m, step[i].hold, &m->time_access);
	}
	if (t->alive) {
		volatile_call(m, s, ev, start, end);
		vmas_charge(m, s);
	}
	while (i-- > 0) {
		enum rf_lock_mode mode = step[i].exclusive ? RF_LOCK_EXCLUSIVE : RF_LOCK_SHARED;

		if (step[i].lock == RF_VLOCK_MMAP)
			mmap_lock_drop(m, s, mode);
		else
			lock_drop(m, volatile_lock(m, s, step[i].lock), mode);
	}
	stall_end(m);
}

gboolean mapping_event(struct rf_model *m, const struct rf_event *ev, GError **error)
{
	struct task *t = task_get(m, ev->tid, error);
	const uint64_t granule = (1u << RF_GRANULE_SHIFT) - 1;
	uint64_t start = ev->addr & ~granule, end = (ev->addr + ev->len + granule) & ~granule;
	const enum rf_lock_mode mode = mapping_mode(ev);
	struct rf_vma map = { 0 };
	struct space *s;
	gboolean ok = TRUE;

	if (!t)
		return FALSE;
	m->current = t;
	s = m->spaces->pdata[t->space];
	if (!t->alive)
		return TRUE;
	if (end <= start || (ev->kind == RF_EV_MREMAP && ev->addr2 + ev->len2 + granule < ev->addr2)) {
		rf_set_data(error, "task %u: %s of %" G_GUINT64_FORMAT " bytes at 0x%" G_GINT64_MODIFIER
		            "x goes beyond the address space", ev->tid, rf_event_kind_name(ev->kind), ev->len, ev->addr);
		return FALSE;
	}
	if (ev->kind == RF_EV_VRANGE) {
		vrange_event(m, t, s, ev, ev->addr, ev->addr + ev->len); /* whole pages alone: cut, not rounded */
		return TRUE;
	}
	spend(m, m->profile.syscall, &m->time_access);
	mmap_lock_take(m, s, mode);
	if (t->alive)
		ok = change_mappings(m, s, ev, start, end, &map, error);
	mmap_lock_drop(m, s, mode);
	if (ok && t->alive)
		ok = touch_mappings(m, t, s, ev, start, end, &map, error);
	if (ok)
		stall_end(m);
	return ok;
}
