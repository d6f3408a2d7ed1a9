/* SPDX-License-Identifier: MIT
 * Tasks, address spaces, page tables and the reverse map.
 */
#include "sim/model.h"
#include <string.h>
#include "base/error.h"

#define PTE_CHAINED (PTE_PRESENT | PTE_SWAP)

struct space *space_nth(struct rf_model *m, uint32_t id)
{
	return id < m->spaces->len ? m->spaces->pdata[id] : NULL;
}

struct space *space_of_entry(struct rf_model *m, uint32_t v)
{
	return m->spaces->pdata[m->leaf[v >> m->leaf_shift].space];
}

uint64_t entry_vpn(const struct rf_model *m, uint32_t v)
{
	return m->leaf[v >> m->leaf_shift].base + (v & ((1u << m->leaf_shift) - 1));
}

static struct space *space_new(struct rf_model *m, uint32_t id, uint32_t cgroup)
{
	struct space *s = g_new0(struct space, 1);

	s->id = id;
	s->cgroup = cgroup;
	s->vmas = rf_vmas_new(m->host.page_shift);
	s->leaves = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->anon_vma = g_byte_array_new();
	s->tables = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	s->swap_hits = 4;
	while (m->spaces->len <= id)
		g_ptr_array_add(m->spaces, NULL);
	m->spaces->pdata[id] = s;
	return s;
}

/* ---- page tables ---- */

guint leaf_first(const struct rf_model *m, const struct space *s, uint64_t from)
{
	guint lo = 0, hi = s->leaves->len;

	from &= ~((UINT64_C(1) << m->leaf_shift) - 1);
	while (lo < hi) {
		guint mid = (lo + hi) / 2;

		if (m->leaf[g_array_index(s->leaves, uint32_t, mid)].base < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t entry_find(struct rf_model *m, struct space *s, uint64_t vpn)
{
	guint i = leaf_first(m, s, vpn);
	uint32_t n;

	if (i >= s->leaves->len)
		return UINT32_MAX;
	n = g_array_index(s->leaves, uint32_t, i);
	if (m->leaf[n].base != (vpn & ~((UINT64_C(1) << m->leaf_shift) - 1)))
		return UINT32_MAX;
	return (n << m->leaf_shift) + (vpn & ((1u << m->leaf_shift) - 1));
}

static uint32_t leaf_new(struct rf_model *m, struct space *s, uint64_t base, guint at)
{
	uint32_t n = m->nleaves++, size = 1u << m->leaf_shift;

	if (m->nleaves > m->leaves_size) {
		m->leaves_size = MAX(64, m->leaves_size + m->leaves_size / 2);
		m->leaf = g_renew(struct leaf, m->leaf, m->leaves_size);
		m->leaf_acc = g_renew(uint8_t, m->leaf_acc, m->leaves_size);
	}
	if (m->nptes + size > m->ptes_size) {
		m->ptes_size = MAX(8 * size, m->ptes_size + m->ptes_size / 4);
		m->ptes_size = MAX(m->ptes_size, m->nptes + size);
		tlb_grow(m, m->nptes, m->ptes_size);
		m->pte = g_renew(uint8_t, m->pte, m->ptes_size);
		m->pte_page = g_renew(uint32_t, m->pte_page, m->ptes_size);
		m->rmap_next = g_renew(uint32_t, m->rmap_next, m->ptes_size);
	}
	memset(m->pte + m->nptes, 0, size);
	memset(m->pte_page + m->nptes, 0xff, size * sizeof *m->pte_page);
	memset(m->rmap_next + m->nptes, 0xff, size * sizeof *m->rmap_next);
	m->nptes += size;
	m->leaf[n] = (struct leaf){ .space = s->id, .base = base };
	m->leaf_acc[n] = 0;
	g_array_insert_val(s->leaves, at, n);
	return n;
}

uint32_t entry_get(struct rf_model *m, struct space *s, uint64_t vpn)
{
	uint32_t v = entry_find(m, s, vpn);

	if (v == UINT32_MAX) {
		guint at = leaf_first(m, s, vpn);
		uint32_t n = leaf_new(m, s, vpn & ~((UINT64_C(1) << m->leaf_shift) - 1), at);

		v = (n << m->leaf_shift) + (vpn & ((1u << m->leaf_shift) - 1));
	}
	return v;
}

/* Levels of tables above the leaves that a process fills for itself: the top one exists from the
 * start.  x86-64: 4 levels; arm64: 4 at 4K, 3 at 16K and 64K of 47 and 48 bits (12.5). */
static unsigned upper_levels(const struct rf_model *m)
{
	return m->cfg.page_shift == 12 ? 2 : 1;
}

gboolean tables_charge(struct rf_model *m, uint32_t v)
{
	struct leaf *l = &m->leaf[v >> m->leaf_shift];
	struct space *s = m->spaces->pdata[l->space];
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	unsigned level, bits = m->leaf_shift;
	uint64_t index = l->base >> bits;

	if (l->charged)
		return TRUE;
	for (level = upper_levels(m); level >= 1; level--) {
		uint64_t key = (uint64_t)level << 56 | (index >> (bits * level) & ((UINT64_C(1) << 56) - 1));
		uint64_t *stored;

		if (g_hash_table_contains(s->tables, &key))
			continue;
		if (!charge_kernel(m, cg, 1))
			return FALSE;
		stored = g_new(uint64_t, 1);
		*stored = key;
		g_hash_table_add(s->tables, stored);
		s->ntables++;
		m->ntables++;
	}
	if (!charge_kernel(m, cg, 1))
		return FALSE;
	m->leaf[v >> m->leaf_shift].charged = TRUE;
	s->ntables++;
	m->ntables++;
	return TRUE;
}

/* munmap frees the leaves that no mapping needs any more. */
void tables_free(struct rf_model *m, struct space *s, uint64_t from, uint64_t to)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	guint i;

	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		struct leaf *l = &m->leaf[g_array_index(s->leaves, uint32_t, i)];
		uint64_t start = l->base << m->cfg.page_shift, end = (l->base + (1u << m->leaf_shift)) << m->cfg.page_shift;
		const struct rf_vma *vma;

		if (l->base >= to)
			break;
		if (!l->charged || l->used)
			continue;
		vma = rf_vmas_next(s->vmas, start);
		if (vma && vma->start < end)
			continue;
		l->charged = FALSE;
		s->ntables--;
		m->ntables--;
		uncharge_kernel(m, cg, 1);
	}
}

/* Bytes of slab, with the share of slab pages and the owner's pointer: vm_area_struct and its part of
 * a maple node; anon_vma and its chain link (12.4).  Measured on 6.18.44: 128 untouched mappings take
 * 10 pages, 64 take 7; 120 written ones take 5 more. */
#define VMA_BYTES 226
#define ANON_VMA_BYTES 184

static gboolean has_anon_vma(const struct space *s, const struct rf_vma *vma)
{
	return vma->serial < s->anon_vma->len && s->anon_vma->data[vma->serial];
}

gboolean vmas_charge(struct rf_model *m, struct space *s)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	uint32_t n = rf_vmas_count(s->vmas), i, anon = 0;

	if (n > s->nvmas) {
		if (!charge_kernel_bytes(m, cg, (n - s->nvmas) * VMA_BYTES))
			return FALSE;
		m->vma_bytes += (uint64_t)(n - s->nvmas) * VMA_BYTES;
	} else if (n < s->nvmas) {
		for (i = 0; i < n; i++)
			anon += has_anon_vma(s, rf_vmas_nth(s->vmas, i));
		anon = MIN(anon, s->nanon_vmas);
		m->vma_bytes -= (uint64_t)(s->nvmas - n) * VMA_BYTES + (s->nanon_vmas - anon) * ANON_VMA_BYTES;
		uncharge_kernel_bytes(m, cg, (s->nvmas - n) * VMA_BYTES + (s->nanon_vmas - anon) * ANON_VMA_BYTES);
		s->nanon_vmas = anon;
	}
	s->nvmas = n;
	return TRUE;
}

/* anon_vma_prepare(): before the first anonymous page of a mapping. */
gboolean anon_vma_charge(struct rf_model *m, struct space *s, const struct rf_vma *vma)
{
	if (has_anon_vma(s, vma))
		return TRUE;
	if (vma->serial >= s->anon_vma->len) {
		guint old = s->anon_vma->len;

		g_byte_array_set_size(s->anon_vma, MAX(vma->serial + 1, old + old / 2));
		memset(s->anon_vma->data + old, 0, s->anon_vma->len - old);
	}
	s->anon_vma->data[vma->serial] = 1;
	s->nanon_vmas++;
	m->vma_bytes += ANON_VMA_BYTES;
	return charge_kernel_bytes(m, cgroup_nth(m, s->cgroup), ANON_VMA_BYTES);
}

/* ---- entries and the reverse map ---- */

static void chain_add(struct rf_model *m, uint32_t v, rf_page p)
{
	m->rmap_next[v] = m->rmap[p];
	m->rmap[p] = v;
}

static void chain_remove(struct rf_model *m, uint32_t v, rf_page p)
{
	uint32_t *at = &m->rmap[p];

	while (*at != v)
		at = &m->rmap_next[*at];
	*at = m->rmap_next[v];
	m->rmap_next[v] = RF_NO_PAGE;
}

unsigned page_mapcount(const struct rf_model *m, rf_page p)
{
	unsigned n = 0;
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v])
		n += m->pte[v] & PTE_PRESENT;
	return n;
}

unsigned page_swapcount(const struct rf_model *m, rf_page p)
{
	unsigned n = 0;
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v])
		n += (m->pte[v] & PTE_SWAP) != 0;
	return n;
}

static int rss_kind(const struct rf_model *m, rf_page p)
{
	return m->fact[p] & RF_PAGE_ANON ? RSS_ANON : m->fact[p] & F_SHMEM ? RSS_SHMEM : RSS_FILE;
}

void map_page(struct rf_model *m, uint32_t v, rf_page p, uint8_t flags)
{
	struct space *s = space_of_entry(m, v);
	int kind = rss_kind(m, p);

	if (m->pte[v] & PTE_SWAP)
		s->swapents--; /* the chain has the entry already */
	else
		chain_add(m, v, p);
	if (!(m->pte[v] & PTE_CHAINED))
		m->leaf[v >> m->leaf_shift].used++;
	if (kind != RSS_ANON && !(page_mapcount(m, p)))
		cgroup_nth(m, m->owner[p])->mapped++;
	m->pte[v] = PTE_PRESENT | flags;
	m->pte_page[v] = p;
	rss_change(m, s, kind, 1);
	if (flags & PTE_EXEC)
		m->fact[p] |= RF_PAGE_EXECUTED;
}

void map_special(struct rf_model *m, uint32_t v, uint32_t what, uint8_t flags)
{
	if (!(m->pte[v] & (PTE_CHAINED | PTE_ZERO)))
		m->leaf[v >> m->leaf_shift].used++;
	m->pte[v] = PTE_PRESENT | PTE_ZERO | flags;
	m->pte_page[v] = what;
}

void unmap_entry(struct rf_model *m, uint32_t v)
{
	struct space *s = space_of_entry(m, v);
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	if (!f)
		return;
	tlb_drop(m, v);
	m->pte[v] = 0;
	m->pte_page[v] = RF_NO_PAGE;
	m->leaf[v >> m->leaf_shift].used--;
	if (f & PTE_ZERO)
		return;
	chain_remove(m, v, p);
	if (f & PTE_SWAP) {
		s->swapents--;
		return;
	}
	rss_change(m, s, rss_kind(m, p), -1);
	if (!(m->fact[p] & RF_PAGE_ANON) && !page_mapcount(m, p))
		cgroup_nth(m, m->owner[p])->mapped--;
}

void zap_entry(struct rf_model *m, uint32_t v)
{
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	unmap_entry(m, v);
	if ((f & PTE_ZERO) || !f)
		return;
	if (m->fact[p] & RF_PAGE_ANON) {
		if (m->rmap[p] == RF_NO_PAGE) { /* nobody has it any more, in memory or in swap */
			if (m->fact[p] & RF_PAGE_RESIDENT)
				page_drop(m, p, RF_WHY_FREED);
			if (m->fact[p] & F_SLOT)
				swap_drop_slot(m, p);
			page_free(m, p);
		}
		return;
	}
	if (!(f & PTE_PRESENT))
		return;
	/* Unmap tells the page cache what the hardware knew: 2.2. */
	if (f & PTE_DIRTY)
		file_mark_dirty(m, p);
	if ((f & PTE_ACC) && !(f & PTE_NOREC) && !(m->fact[p] & (RF_PAGE_SWAPBACKED | F_UNEV)) && m->pol->ops->touch)
		m->pol->ops->touch(m->pol, m->host.lruvec_of(m->pol, p), p);
	if ((m->fact[p] & F_UNEV) && !page_mapcount(m, p))
		page_munlock(m, p);
}

void zap_range(struct rf_model *m, struct space *s, uint64_t from, uint64_t to)
{
	guint i;

	if (m->pol->ops->drain)
		m->pol->ops->drain(m->pol);
	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		uint32_t n = g_array_index(s->leaves, uint32_t, i), j, size = 1u << m->leaf_shift;
		uint64_t base = m->leaf[n].base;

		if (base >= to)
			break;
		if (!m->leaf[n].used)
			continue;
		for (j = base < from ? from - base : 0; j < size && base + j < to && m->leaf[n].used; j++)
			if (m->pte[(n << m->leaf_shift) + j])
				zap_entry(m, (n << m->leaf_shift) + j);
	}
}

uint8_t vma_pte_flags(const struct rf_model *m, const struct rf_vma *vma)
{
	gboolean norec = m->cfg.kernel_release >= RF_KERNEL(6, 3, 0) && (vma->flags & (RF_VMA_RAND | RF_VMA_SEQ));

	return (vma->prot & RF_PROT_X ? PTE_EXEC : 0) | (norec ? PTE_NOREC : 0);
}

/* ---- tasks ---- */

struct task *task_find(struct rf_model *m, uint32_t tid)
{
	if (m->current && m->current->tid == tid)
		return m->current;
	return g_hash_table_lookup(m->tasks, GUINT_TO_POINTER(tid));
}

static struct task *task_new(struct rf_model *m, uint32_t tid, uint32_t space)
{
	struct task *t = g_new0(struct task, 1);

	t->tid = tid;
	t->space = space;
	t->alive = TRUE;
	((struct space *)m->spaces->pdata[space])->users++;
	if (m->current && m->current->tid == tid)
		m->current = NULL;
	g_hash_table_insert(m->tasks, GUINT_TO_POINTER(tid), t);
	g_ptr_array_add(m->task_order, t);
	return t;
}

struct task *task_get(struct rf_model *m, uint32_t tid)
{
	struct task *t = task_find(m, tid);

	if (!t) {
		uint32_t id = m->spaces->len;

		space_new(m, id, m->workload->id);
		t = task_new(m, tid, id);
	}
	return t;
}

/* fork: the child's page table is the parent's, both read-only where memory is private. */
static void copy_tables(struct rf_model *m, struct space *to, struct space *from)
{
	guint i, n = from->leaves->len;

	for (i = 0; i < n; i++) {
		uint32_t leaf = g_array_index(from->leaves, uint32_t, i), j, size = 1u << m->leaf_shift;

		if (!m->leaf[leaf].used)
			continue;
		for (j = 0; j < size; j++) {
			uint32_t v = (leaf << m->leaf_shift) + j, w;
			uint8_t f = m->pte[v];
			rf_page p = m->pte_page[v];

			/* File pages are faulted in again by whoever needs them (copy_page_range). */
			if (!f || (!(f & PTE_ZERO) && !(m->fact[p] & RF_PAGE_ANON)))
				continue;
			w = entry_get(m, to, m->leaf[leaf].base + j);
			if (!tables_charge(m, w))
				return;
			if (f & PTE_ZERO) {
				map_special(m, w, p, f & ~PTE_PRESENT & ~PTE_ZERO);
			} else if (f & PTE_SWAP) {
				chain_add(m, w, p);
				m->leaf[w >> m->leaf_shift].used++;
				m->pte[w] = f;
				m->pte_page[w] = p;
				to->swapents++;
			} else {
				m->pte[v] &= ~PTE_WRITE;
				tlb_drop(m, v);
				map_page(m, w, p, (f & ~PTE_PRESENT & ~PTE_WRITE));
			}
		}
	}
}

static void space_put(struct rf_model *m, struct space *s)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	guint i;

	if (--s->users)
		return;
	zap_range(m, s, 0, UINT64_MAX);
	for (i = 0; i < s->leaves->len; i++)
		m->leaf[g_array_index(s->leaves, uint32_t, i)].charged = FALSE;
	uncharge_kernel(m, cg, s->ntables);
	m->ntables -= s->ntables;
	s->ntables = 0;
	g_hash_table_remove_all(s->tables);
	rf_vmas_unmap(s->vmas, 0, UINT64_MAX);
	vmas_charge(m, s);
}

void task_kill(struct rf_model *m, struct task *t)
{
	guint i;

	/* The kill is of the whole thread group: whoever shares the address space. */
	for (i = 0; i < m->task_order->len; i++) {
		struct task *other = m->task_order->pdata[i];

		if (other->alive && other->space == t->space) {
			other->alive = FALSE;
			other->killed = TRUE;
			space_put(m, m->spaces->pdata[other->space]);
		}
	}
}

gboolean task_event(struct rf_model *m, const struct rf_event *ev, GError **error)
{
	struct task *t = task_find(m, ev->tid), *parent = NULL;
	struct cgroup *cg = m->workload;
	struct space *s;

	if (ev->kind == RF_EV_EXIT) {
		if (t && t->alive) {
			t->alive = FALSE;
			t->exited = TRUE;
			space_put(m, m->spaces->pdata[t->space]);
		}
		return TRUE;
	}
	if (ev->kind == RF_EV_EXEC) {
		t = task_get(m, ev->tid);
		if (!t->alive)
			return TRUE;
		s = m->spaces->pdata[t->space];
		space_new(m, ev->space, s->cgroup);
		space_put(m, s);
		t->space = ev->space;
		((struct space *)m->spaces->pdata[ev->space])->users++;
		return TRUE;
	}
	if (t && t->alive) {
		rf_set_data(error, "task %u starts twice", ev->tid);
		return FALSE;
	}
	if (ev->has_parent) {
		parent = task_find(m, ev->parent);
		if (!parent) {
			rf_set_data(error, "task %u has parent %u, which was never started", ev->tid, ev->parent);
			return FALSE;
		}
		cg = cgroup_nth(m, ((struct space *)m->spaces->pdata[parent->space])->cgroup);
	}
	if (ev->name)
		cg = cgroup_get(m, ev->name);
	if (parent && ev->thread) {
		t = task_new(m, ev->tid, parent->space);
		if (!parent->alive) {
			t->alive = FALSE;
			((struct space *)m->spaces->pdata[parent->space])->users--;
		}
		return TRUE;
	}
	s = space_new(m, ev->space, cg->id);
	t = task_new(m, ev->tid, ev->space);
	if (parent && parent->alive) {
		struct space *from = m->spaces->pdata[parent->space];

		rf_vmas_free(s->vmas);
		s->vmas = rf_vmas_copy(from->vmas);
		vmas_charge(m, s);
		copy_tables(m, s, from);
	} else if (parent) {
		task_kill(m, t); /* a child of a task that the OOM killer took never ran */
	}
	return TRUE;
}
