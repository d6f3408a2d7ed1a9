/* SPDX-License-Identifier: MIT
 * Page tables as policies see them: a walk over whole address spaces, and a look around one entry
 * (kernel-reclaim 11.3 to 11.5).
 */
#include "sim/model/model.h"

/* Does the accessed bit of entry v hold news for a policy? */
static gboolean news(const struct rf_model *m, uint32_t v)
{
	return (m->pte[v] & (PTE_PRESENT | PTE_ACC | PTE_ZERO)) == (PTE_PRESENT | PTE_ACC);
}

/* Offer the entries [from, to) of one leaf to w->young(); how many were cleared. */
static unsigned offer(struct rf_model *m, struct rf_walk *w, uint32_t from, uint32_t to)
{
	unsigned young = 0;
	uint32_t v;

	for (v = from; v < to; v++) {
		if (!news(m, v) || !w->young(m->pol, w, m->pte_page[v]))
			continue;
		m->pte[v] &= ~PTE_ACC;
		if (m->seen)
			page_seen(m, folio_head(m, m->pte_page[v]));
		young++;
	}
	return young;
}

static gboolean wanted(const struct rf_walk *w, const struct rf_vma *vma)
{
	if (!vma->prot || (vma->flags & (RF_VMA_LOCKED | RF_VMA_RAND | RF_VMA_SEQ)))
		return FALSE;
	return vma->mkind == RF_MAP_FILE ? w->file : w->anon;
}

/* The first mapping that is wanted and ends beyond addr, or NULL. */
static const struct rf_vma *next_wanted(const struct rf_walk *w, const struct space *s, uint64_t addr)
{
	const struct rf_vma *vma;

	while ((vma = rf_vmas_next(s->vmas, addr)) && !wanted(w, vma))
		addr = vma->end;
	return vma;
}

/* Was the upper-level entry of the leaf accessed since this was asked last? */
static gboolean leaf_used(struct rf_model *m, uint32_t n)
{
	gboolean used = m->leaf_acc[n] != 0;

	m->leaf_acc[n] = 0;
	return used;
}

static void walk_leaf(struct rf_model *m, struct space *s, struct rf_walk *w, uint32_t n)
{
	const uint64_t base = m->leaf[n].base, size = UINT64_C(1) << m->leaf_shift;
	const struct rf_vma *vma = next_wanted(w, s, base << m->cfg.page_shift);
	unsigned total = 0, young = 0;

	if (!vma || vma_first(m, vma) >= base + size || (w->upper && !leaf_used(m, n)) ||
	    !w->enter(m->pol, w, n))
		return;
	for (; vma && vma_first(m, vma) < base + size; vma = next_wanted(w, s, vma->end)) {
		uint64_t from = MAX(vma_first(m, vma), base), to = MIN(vma_last(m, vma), base + size);
		uint32_t v = (n << m->leaf_shift) + (uint32_t)(from - base);

		total += (unsigned)(to - from);
		young += offer(m, w, v, v + (uint32_t)(to - from));
	}
	spend(m, young * m->profile.scan_unmapped, &m->time_reclaim);
	w->left(m->pol, w, n, total, young);
}

/* The kernel marks an address space as it switches to a task of it, and a walk takes the mark away.
 * The model has no switches: whoever accessed or faulted since the walk counts as switched to.  Two walks
 * in one reclaim are a matter of time: the second is left out, unless a kernel thread had its turn in
 * between.  Where devices are busy, one wakes about every 10 ms (a grace period of RCU), and a walk is
 * much shorter.  In the runs of 6.12 that can tell, none of 35 such pairs was walked twice with zram
 * alone, and one in some thirty with files read from a disk. */
#define TURN 10000000

static uint64_t device_requests(const struct rf_model *m)
{
	return m->disk.requests + m->swap_dev.requests;
}

static gboolean ran_since(const struct rf_model *m, const struct space *s)
{
	return !s->walked || s->ran || (s->busy && m->host.now / TURN != s->walked_at / TURN);
}

void host_walk(struct rf_policy *pol, struct rf_walk *w)
{
	struct rf_model *m = pol->machine;
	guint i, j;

	for (i = 0; i < m->spaces->len; i++) {
		struct space *s = m->spaces->pdata[i];

		if (!s || !s->users || s->cgroup != w->lv->id || !ran_since(m, s))
			continue;
		w->space(pol, w, !s->walked);
		s->walked = TRUE;
		s->walked_at = m->host.now;
		s->busy = device_requests(m) != s->requests_at;
		s->requests_at = device_requests(m);
		s->ran = FALSE;
		for (j = 0; j < s->leaves->len; j++) {
			uint32_t n = g_array_index(s->leaves, uint32_t, j);

			if (m->leaf[n].used)
				walk_leaf(m, s, w, n);
		}
	}
}

/* The reach of a look around entry v: as many entries as reach, centred on it where the leaf and
 * the mapping allow. */
static void neighbourhood(struct rf_model *m, uint32_t v, unsigned reach, uint32_t *from, uint32_t *to)
{
	uint64_t vpn = entry_vpn(m, v), first = m->leaf[v >> m->leaf_shift].base;
	uint64_t end = first + (UINT64_C(1) << m->leaf_shift);
	const struct rf_vma *vma = vma_of(m, space_of_entry(m, v), vpn);

	if (vma) {
		first = MAX(first, vma_first(m, vma));
		end = MIN(end, vma_last(m, vma));
	}
	if (end - first > reach) {
		if (vpn - first < reach / 2)
			end = first + reach;
		else if (end - vpn < reach / 2)
			first = end - reach;
		else {
			first = vpn - reach / 2;
			end = vpn + reach / 2;
		}
	}
	*from = v - (uint32_t)(vpn - first);
	*to = v + (uint32_t)(end - vpn);
}

unsigned host_look_around(struct rf_policy *pol, rf_page p, struct rf_lruvec *target, unsigned *vm,
                          struct rf_walk *w, unsigned reach)
{
	struct rf_model *m = pol->machine;
	unsigned n = 0, flags = 0;
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v]) {
		uint32_t from, to;

		if (!news(m, v) || (m->pte[v] & PTE_NOREC))
			continue;
		if (target->parent && !below(m, space_of_entry(m, v)->cgroup, target))
			continue;
		neighbourhood(m, v, reach, &from, &to);
		w->left(pol, w, v >> m->leaf_shift, to - from, offer(m, w, from, to));
		m->pte[v] &= ~PTE_ACC; /* also when the policy passed over it */
		if (m->pte[v] & PTE_EXEC)
			flags |= RF_VM_EXEC;
		n++;
	}
	if (n)
		page_seen(m, p);
	if (vm)
		*vm = flags;
	return n;
}

void host_mark_reclaim(struct rf_policy *pol, rf_page p, gboolean on)
{
	struct rf_model *m = pol->machine;

	if (on && (m->fact[p] & (RF_PAGE_DIRTY | RF_PAGE_WRITEBACK)))
		m->fact[p] |= RF_PAGE_RECLAIM;
	else
		m->fact[p] &= ~RF_PAGE_RECLAIM;
}

void host_out_of_memory(struct rf_policy *pol, struct rf_lruvec *lv, const char *reason)
{
	struct rf_model *m = pol->machine;

	out_of_memory(m, cgroup_nth(m, lv->id), reason);
}
