/* SPDX-License-Identifier: MIT
 * Logical pages: how one becomes resident and ceases to be; what reclaim does to it.
 */
#include "sim/model/model.h"
#include <string.h>

rf_page page_new(struct rf_model *m, uint64_t ident)
{
	rf_page p = m->free_page;

	if (p != RF_NO_PAGE) {
		m->free_page = m->rmap[p];
	} else {
		p = m->npages++;
		if (m->npages > m->pages_size) {
			uint32_t old = m->pages_size;

			m->pages_size = MAX(1024, old + old / 4);
			m->fact = g_renew(uint16_t, m->fact, m->pages_size);
			m->owner = g_renew(uint16_t, m->owner, m->pages_size);
			m->rmap = g_renew(uint32_t, m->rmap, m->pages_size);
			m->shadow = g_renew(uint64_t, m->shadow, m->pages_size);
			m->ident = g_renew(uint64_t, m->ident, m->pages_size);
			if (m->slot_page)
				m->slot = g_renew(uint32_t, m->slot, m->pages_size);
			if (m->seams.protect->seen) {
				m->seen = g_renew(uint32_t, m->seen, m->pages_size);
				m->host.seen = m->seen;
			}
			if (m->order) {
				m->order = g_renew(uint8_t, m->order, m->pages_size);
				m->host.order = m->order;
			}
			llc_grow(m);
			m->host.fact = m->fact;
			rf_policy_grow(m->pol, m->pages_size);
		}
		m->host.npages = m->npages;
	}
	m->fact[p] = 0;
	m->owner[p] = 0;
	m->rmap[p] = RF_NO_PAGE;
	m->shadow[p] = 0;
	m->ident[p] = ident;
	if (m->llc.capacity)
		m->llc.of[p] = RF_NO_PAGE;
	if (m->order)
		m->order[p] = 0;
	return p;
}

void page_free(struct rf_model *m, rf_page p)
{
	if (m->shadow[p] && m->pol->ops->forget)
		m->pol->ops->forget(m->pol, p);
	m->fact[p] = 0;
	m->shadow[p] = 0;
	m->rmap[p] = m->free_page;
	m->free_page = p;
}

void page_add(struct rf_model *m, rf_page p, struct cgroup *cg, uint16_t facts, unsigned how)
{
	uint64_t shadow = m->shadow[p];

	m->fact[p] = (m->fact[p] & (F_SLOT | RF_PAGE_EXECUTED)) | RF_PAGE_RESIDENT | facts;
	m->owner[p] = cg->id;
	m->shadow[p] = 0;
	page_seen(m, p);
	count(m, cg, RF_C_rf_pages_in, 1);
	if (facts & RF_PAGE_ANON)
		cg->anon++;
	else {
		cg->file++;
		stats_updated(m, 1);
	}
	if (facts & F_SHMEM)
		cg->shmem++;
	if (shadow) {
		gboolean anon = (facts & RF_PAGE_SWAPBACKED) != 0;

		count(m, cg, anon ? RF_C_workingset_refault_anon : RF_C_workingset_refault_file, 1);
		if (!anon && (m->fact[p] & RF_PAGE_EXECUTED))
			count(m, cg, RF_C_rf_exec_refault, 1);
	} else {
		count(m, cg, RF_C_rf_first_touch, 1);
	}
	m->pol->ops->add(m->pol, cg->lv, p, how, shadow);
	lists_changed(m, cg);
}

/* What reclaim evicts it had taken off its list before. */
static void leave_list(struct rf_model *m, struct cgroup *cg, enum rf_why why)
{
	if (m->in_reclaim && why != RF_WHY_FREED)
		m->lists_evicted++;
	else
		lists_changed(m, cg);
}

void page_drop(struct rf_model *m, rf_page p, enum rf_why why)
{
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);
	uint64_t shadow = 0;

	if (!(m->fact[p] & F_UNEV))
		shadow = m->pol->ops->remove(m->pol, cg->lv, p, why);
	else
		m->mlocked--;
	if (why == RF_WHY_EVICTED)
		m->shadow[p] = shadow ? shadow : 1; /* a policy without shadows still has refaults counted */
	if (m->fact[p] & RF_PAGE_ANON)
		cg->anon--;
	else {
		cg->file--;
		stats_updated(m, 1);
	}
	if (m->fact[p] & F_SHMEM)
		cg->shmem--;
	if (m->fact[p] & RF_PAGE_LAZYFREE)
		m->lazyfree--;
	if (m->fact[p] & RF_PAGE_SWAPCACHE)
		cg->swapcache--;
	m->fact[p] &= F_SLOT | RF_PAGE_EXECUTED | RF_PAGE_ANON | RF_PAGE_SWAPBACKED | F_SHMEM;
	llc_leave(m, p);
	leave_list(m, cg, why);
	count(m, cg, RF_C_rf_pages_out, 1);
	uncharge(m, cg, 1);
}

/* Folios are aligned in their file by their size. */
rf_page folio_head(const struct rf_model *m, rf_page p)
{
	uint64_t pgoff;

	if (!m->order || !m->order[p])
		return p;
	pgoff = m->ident[p] & ((UINT64_C(1) << IDENT_OFF_BITS) - 1);
	return file_neighbour(m, p, pgoff & ~((UINT64_C(1) << m->order[p]) - 1));
}

rf_page folio_page(const struct rf_model *m, rf_page head, unsigned i)
{
	return i ? file_neighbour(m, head, (m->ident[head] & ((UINT64_C(1) << IDENT_OFF_BITS) - 1)) + i) : head;
}

uint16_t folio_facts(const struct rf_model *m, rf_page p)
{
	unsigned i, pages = folio_pages(m, p);
	uint16_t f = 0;

	for (i = 0; i < pages; i++)
		f |= m->fact[folio_page(m, p, i)];
	return f;
}

/* One refault test for the whole, by the last shadow that was in its place (filemap_add_folio). */
void folio_add(struct rf_model *m, const rf_page *page, unsigned order, struct cgroup *cg, unsigned how)
{
	unsigned n = 1u << order, i;
	rf_page head = page[0];
	uint64_t shadow = 0;

	for (i = 0; i < n; i++) {
		rf_page p = page[i];

		if (m->shadow[p]) {
			shadow = m->shadow[p];
			m->pol->link[head] = m->pol->link[p];
		}
		m->fact[p] = (m->fact[p] & RF_PAGE_EXECUTED) | RF_PAGE_RESIDENT;
		m->owner[p] = cg->id;
		m->shadow[p] = 0;
		m->order[p] = order;
	}
	cg->file += n;
	stats_updated(m, n);
	page_seen(m, head);
	count(m, cg, RF_C_rf_pages_in, n);
	count(m, cg, shadow ? RF_C_workingset_refault_file : RF_C_rf_first_touch, n);
	if (shadow && (m->fact[head] & RF_PAGE_EXECUTED))
		count(m, cg, RF_C_rf_exec_refault, n);
	m->pol->ops->add(m->pol, cg->lv, head, how, shadow);
	lists_changed(m, cg);
}

void folio_drop(struct rf_model *m, rf_page p, enum rf_why why)
{
	struct cgroup *cg = cgroup_nth(m, m->owner[p]);
	unsigned n = folio_pages(m, p), i;
	uint64_t shadow;

	shadow = m->pol->ops->remove(m->pol, cg->lv, p, why);
	for (i = n; i-- > 0; ) { /* the first page last: the others are found through it */
		rf_page tail = folio_page(m, p, i);

		m->pol->link[tail] = m->pol->link[p];
		m->shadow[tail] = why == RF_WHY_EVICTED ? (shadow ? shadow : 1) : 0;
		m->fact[tail] &= RF_PAGE_EXECUTED;
		m->order[tail] = 0;
		file_evicted(m, tail);
	}
	cg->file -= n;
	stats_updated(m, n);
	leave_list(m, cg, why);
	count(m, cg, RF_C_rf_pages_out, n);
	uncharge(m, cg, n);
}

void page_set_lazyfree(struct rf_model *m, rf_page p)
{
	if (!(m->fact[p] & RF_PAGE_LAZYFREE)) {
		m->fact[p] = (m->fact[p] & ~RF_PAGE_SWAPBACKED) | RF_PAGE_LAZYFREE;
		m->lazyfree++;
	}
}

void page_pin(struct rf_model *m, rf_page p)
{
	g_assert(m->npinned < G_N_ELEMENTS(m->pinned));
	m->pinned[m->npinned++] = p;
}

void page_unpin(struct rf_model *m)
{
	m->npinned--;
}

/* Does somebody hold the folio?  Its count of references says no to reclaim. */
gboolean page_held(const struct rf_model *m, rf_page p)
{
	const struct waiting *w;
	rf_page head = folio_head(m, p);
	unsigned i;

	for (i = 0; i < m->npinned; i++)
		if (folio_head(m, m->pinned[i]) == head)
			return TRUE;
	for (w = m->waiting; w; w = w->next)
		for (i = 0; i < w->npinned; i++)
			if (folio_head(m, w->pinned[i]) == head)
				return TRUE;
	return FALSE;
}

void page_touch(struct rf_model *m, rf_page p)
{
	rf_page head = folio_head(m, p);

	page_seen(m, head);
	if (m->pol->ops->touch && !(m->fact[head] & F_UNEV))
		m->pol->ops->touch(m->pol, m->host.lruvec_of(m->pol, head), head);
}

void page_rotate(struct rf_model *m, rf_page p)
{
	rf_page head = folio_head(m, p);

	if ((m->fact[head] & (RF_PAGE_RESIDENT | RF_PAGE_RECLAIM)) != (RF_PAGE_RESIDENT | RF_PAGE_RECLAIM) ||
	    (folio_facts(m, head) & (RF_PAGE_WRITEBACK | RF_PAGE_DIRTY)))
		return;
	m->fact[head] &= ~RF_PAGE_RECLAIM;
	if (m->pol->ops->move && !(m->fact[head] & F_UNEV))
		m->pol->ops->move(m->pol, m->host.lruvec_of(m->pol, head), head, RF_MOVE_ROTATE);
}

gboolean below(const struct rf_model *m, uint32_t cgroup, const struct rf_lruvec *target)
{
	const struct rf_lruvec *lv = cgroup_nth(m, cgroup)->lv;

	while (lv && lv != target)
		lv = lv->parent;
	return lv != NULL;
}

static unsigned page_young(struct rf_model *m, rf_page p, struct rf_lruvec *target, unsigned *vm)
{
	unsigned n = 0;
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v]) {
		uint8_t f = m->pte[v];

		if ((f & (PTE_PRESENT | PTE_ACC | PTE_NOREC)) != (PTE_PRESENT | PTE_ACC))
			continue;
		if (target->parent && !below(m, space_of_entry(m, v)->cgroup, target))
			continue;
		m->pte[v] = f & ~PTE_ACC;
		if (m->cfg.arch == RF_ARCH_ARM64)
			tlb_drop(m, v);
		if (f & PTE_EXEC)
			*vm |= RF_VM_EXEC;
		n++;
	}
	return n;
}

/* folio_referenced(): 2.3.  A mapping counts once, however many pages of the folio it used. */
unsigned host_young(struct rf_policy *pol, rf_page p, struct rf_lruvec *target, unsigned *vm)
{
	struct rf_model *m = pol->machine;
	unsigned n = 0, flags = 0, i, pages = folio_pages(m, p);

	for (i = 0; i < pages; i++) {
		unsigned young = page_young(m, folio_page(m, p, i), target, &flags);

		n = MAX(n, young);
	}
	if (n)
		page_seen(m, p);
	if (vm)
		*vm = flags;
	return n;
}

/* try_to_unmap(): 3.4.  What the hardware wrote goes to the page. */
static void unmap_all(struct rf_model *m, rf_page p, gboolean to_swap)
{
	uint32_t v, next;
	gboolean dirty = FALSE;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = next) {
		uint8_t f = m->pte[v];

		next = m->rmap_next[v];
		if (!(f & PTE_PRESENT))
			continue;
		dirty |= (f & PTE_DIRTY) != 0;
		if (to_swap) {
			struct space *s = space_of_entry(m, v);

			tlb_drop(m, v);
			m->pte[v] = PTE_SWAP; /* stays in the chain */
			s->swapents++;
			rss_change(m, s, RSS_ANON, -1);
		} else {
			unmap_entry(m, v);
		}
	}
	if (!dirty)
		return;
	if (m->fact[p] & RF_PAGE_ANON)
		m->fact[p] |= RF_PAGE_DIRTY;
	else
		file_mark_dirty(m, p);
}

/* A lazyfree page: gone when nobody wrote to it since MADV_FREE, else anonymous again (3.4). */
static enum rf_verdict evict_lazyfree(struct rf_model *m, rf_page p)
{
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v])
		if (m->pte[v] & PTE_DIRTY)
			break;
	if (v != RF_NO_PAGE || (m->fact[p] & RF_PAGE_DIRTY)) {
		m->fact[p] = (m->fact[p] & ~RF_PAGE_LAZYFREE) | RF_PAGE_SWAPBACKED;
		m->lazyfree--;
		return RF_ACTIVATE;
	}
	count(m, cgroup_nth(m, m->owner[p]), RF_C_pglazyfreed, 1);
	while (m->rmap[p] != RF_NO_PAGE)
		unmap_entry(m, m->rmap[p]);
	page_drop(m, p, RF_WHY_LAZYFREE);
	page_free(m, p);
	return RF_FREED;
}

static gboolean must_stay(struct rf_model *m, rf_page p, unsigned pages)
{
	const struct rf_protect_ops *protect = m->seams.protect;
	unsigned vm = 0, i;
	uint32_t v;

	if (!protect->spare_page)
		return FALSE;
	if (m->seen) /* not every policy asks before it proposes */
		host_young(m->pol, p, m->host.root, NULL);
	for (i = 0; i < pages; i++)
		for (v = m->rmap[folio_page(m, p, i)]; v != RF_NO_PAGE; v = m->rmap_next[v])
			if ((m->pte[v] & (PTE_PRESENT | PTE_EXEC)) == (PTE_PRESENT | PTE_EXEC))
				vm |= RF_VM_EXEC;
	return protect->spare_page(m->seams.protect_opt, &m->host, p, vm);
}

/* shrink_folio_list() for one folio, after its references were judged: 3.2. */
enum rf_verdict host_evict(struct rf_policy *pol, rf_page p, struct rf_scan *sc, gboolean clean_only)
{
	struct rf_model *m = pol->machine;
	struct cgroup *cg;
	unsigned pages, i;
	uint16_t f;

	if (p >= m->npages || !(m->fact[p] & RF_PAGE_RESIDENT) || (m->fact[p] & F_UNEV) || folio_head(m, p) != p ||
	    !below(m, m->owner[p], sc->target)) {
		count(m, m->workload, RF_C_rf_policy_refused, 1);
		return RF_REFUSED;
	}
	(void)clean_only; /* dirty file pages are the flusher's since 6.18 whatever the verdict was */
	pages = folio_pages(m, p);
	f = folio_facts(m, p);
	if ((f & F_READING) || page_held(m, p)) /* folio_trylock() fails, or somebody has a reference */
		return RF_KEEP;
	cg = cgroup_nth(m, m->owner[p]);
	spend(m, page_mapcount(m, p) ? m->profile.scan_mapped : m->profile.scan_unmapped, &m->time_reclaim);
	if (volatile_discards(m, p))
		return RF_FREED;
	if (must_stay(m, p, pages))
		return RF_ACTIVATE;
	if (!(f & RF_PAGE_SWAPBACKED) && (f & (RF_PAGE_DIRTY | RF_PAGE_WRITEBACK))) {
		sc->dirty++;
		if (!(f & RF_PAGE_WRITEBACK))
			sc->unqueued_dirty++;
		else if (f & RF_PAGE_RECLAIM)
			sc->congested++;
	}
	if (f & RF_PAGE_WRITEBACK) {
		sc->writeback++;
		if ((f & RF_PAGE_RECLAIM) && m->cfg.cgroup == RF_CGROUP_V1 && !sc->global) {
			/* Limit reclaim of v1 waits for this very page; kswapd must not take it meanwhile. */
			page_pin(m, p);
			while ((folio_facts(m, p) & RF_PAGE_WRITEBACK) && rf_clock_next(m->clock) != UINT64_MAX)
				wait_until(m, rf_clock_next(m->clock), &m->time_throttle);
			page_unpin(m);
			f = folio_facts(m, p);
		} else {
			m->fact[p] |= RF_PAGE_RECLAIM;
			return RF_ACTIVATE;
		}
	}
	if (f & RF_PAGE_LAZYFREE)
		return evict_lazyfree(m, p);
	if ((f & RF_PAGE_SWAPBACKED) && !(f & RF_PAGE_SWAPCACHE)) {
		if (!sc->may_swap || !swap_take_slot(m, p))
			return RF_ACTIVATE;
		m->fact[p] |= RF_PAGE_SWAPCACHE | RF_PAGE_DIRTY;
		cg->swapcache++;
	}
	for (i = 0; i < pages; i++)
		unmap_all(m, folio_page(m, p, i), (f & RF_PAGE_ANON) != 0);
	if (folio_facts(m, p) & RF_PAGE_DIRTY) {
		if (!(f & RF_PAGE_SWAPBACKED)) {
			m->fact[p] |= RF_PAGE_RECLAIM;
			sc->immediate++;
			count(m, cg, RF_C_nr_vmscan_immediate_reclaim, 1);
			return RF_ACTIVATE;
		}
		if (swap_write(m, p, sc) == RF_KEEP)
			return RF_KEEP;
	}
	m->host.evict_target = sc->target;
	spend(m, (uint64_t)m->profile.reclaim_page * pages, &m->time_reclaim);
	if (pages > 1) {
		folio_drop(m, p, RF_WHY_EVICTED);
		return RF_FREED;
	}
	page_drop(m, p, RF_WHY_EVICTED);
	if (!(f & RF_PAGE_ANON) && !(f & F_SHMEM))
		file_evicted(m, p);
	return RF_FREED;
}
