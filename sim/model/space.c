/* SPDX-License-Identifier: MIT
 * Tasks, address spaces, page tables and the reverse map.
 */
#include "sim/model/model.h"
#include <string.h>
#include "base/error.h"

#define PTE_CHAINED (PTE_PRESENT | PTE_SWAP)

struct space *space_nth(const struct rf_model *m, uint32_t id)
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
	s->vmas = rf_vmas_new(RF_GRANULE_SHIFT);
	s->leaves = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s->anon_vma = g_byte_array_new();
	s->tables = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	s->swap_hits = 4;
	rf_lock_init(&s->mmap_lock, &m->profile.lock[RF_LOCK_MMAP], &m->lock_stats[RF_LOCK_MMAP]);
	rf_lock_init(&s->ranges_lock, &m->profile.lock[RF_LOCK_VRANGE], &m->lock_stats[RF_LOCK_VRANGE]);
	if (id >= m->spaces->len) /* closed replay opens them in an order of its own */
		g_ptr_array_set_size(m->spaces, (gint)id + 1);
	m->spaces->pdata[id] = s;
	closed_space(m, s);
	return s;
}

/* ---- mappings ---- */

const struct rf_vma *vma_of(const struct rf_model *m, struct space *s, uint64_t vpn)
{
	uint64_t addr = vpn << m->cfg.page_shift;
	const struct rf_vma *vma = rf_vmas_find(s->vmas, addr);

	if (vma || m->cfg.page_shift == RF_GRANULE_SHIFT)
		return vma;
	vma = rf_vmas_next(s->vmas, addr);
	return vma && vma_first(m, vma) == vpn ? vma : NULL;
}

uint64_t vma_pgoff(const struct rf_model *m, const struct rf_vma *vma, uint64_t vpn)
{
	uint64_t addr = vpn << m->cfg.page_shift;

	if (addr >= vma->start)
		return (vma->off + (addr - vma->start)) >> m->cfg.page_shift;
	/* A large page may begin before the mapping. */
	return (vma->off - MIN(vma->off, vma->start - addr)) >> m->cfg.page_shift;
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

/* One table of s.  A fork fills the child's tables while the OOM killer may take the child. */
static gboolean charge_for(struct rf_model *m, struct space *s, struct cgroup *cg)
{
	if (!charge_kernel(m, cg, 1))
		return FALSE;
	if (s->users)
		return TRUE;
	uncharge_kernel(m, cg, 1);
	return FALSE;
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
		if (!charge_for(m, s, cg))
			return FALSE;
		if (g_hash_table_contains(s->tables, &key)) { /* a thread was faster */
			uncharge_kernel(m, cg, 1);
			continue;
		}
		stored = g_new(uint64_t, 1);
		*stored = key;
		g_hash_table_add(s->tables, stored);
		s->ntables++;
		m->ntables++;
	}
	if (!charge_for(m, s, cg))
		return FALSE;
	if (m->leaf[v >> m->leaf_shift].charged) {
		uncharge_kernel(m, cg, 1);
		return TRUE;
	}
	m->leaf[v >> m->leaf_shift].charged = TRUE;
	s->ntables++;
	m->ntables++;
	return TRUE;
}

/* Does a mapping need a table for part of [from, from + pages)? */
static gboolean table_needed(const struct rf_model *m, const struct space *s, uint64_t from, uint64_t pages)
{
	const struct rf_vma *vma = rf_vmas_next(s->vmas, from << m->cfg.page_shift);

	return vma && vma_first(m, vma) < from + pages;
}

/* munmap frees the tables that no mapping needs any more: free_pgtables(). */
void tables_free(struct rf_model *m, struct space *s, uint64_t from, uint64_t to)
{
	uint64_t before = s->ntables;
	const uint64_t *key;
	GHashTableIter it;
	guint i;

	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		struct leaf *l = &m->leaf[g_array_index(s->leaves, uint32_t, i)];

		if (l->base >= to)
			break;
		if (!l->charged || l->used || table_needed(m, s, l->base, UINT64_C(1) << m->leaf_shift))
			continue;
		l->charged = FALSE;
		s->ntables--;
	}
	g_hash_table_iter_init(&it, s->tables);
	while (g_hash_table_iter_next(&it, (gpointer *)&key, NULL)) {
		unsigned bits = m->leaf_shift * ((*key >> 56) + 1);
		uint64_t base = (*key & ((UINT64_C(1) << 56) - 1)) << bits;

		if (base >= to || base + (UINT64_C(1) << bits) <= from ||
		    table_needed(m, s, base, UINT64_C(1) << bits))
			continue;
		g_hash_table_iter_remove(&it);
		s->ntables--;
	}
	if (s->ntables == before)
		return;
	m->ntables -= before - s->ntables;
	uncharge_kernel(m, cgroup_nth(m, s->cgroup), (uint32_t)(before - s->ntables));
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

static void vmas_uncharge(struct rf_model *m, struct space *s, uint32_t vmas, uint32_t anon_vmas)
{
	uint32_t bytes = vmas * VMA_BYTES + anon_vmas * ANON_VMA_BYTES;

	m->vma_bytes -= bytes;
	uncharge_kernel_bytes(m, cgroup_nth(m, s->cgroup), bytes);
}

gboolean vmas_charge(struct rf_model *m, struct space *s)
{
	uint32_t n = rf_vmas_count(s->vmas), more = n - MIN(n, s->nvmas), i, anon = 0;

	if (more) {
		if (!charge_kernel_bytes(m, cgroup_nth(m, s->cgroup), more * VMA_BYTES))
			return FALSE;
		m->vma_bytes += (uint64_t)more * VMA_BYTES;
		s->nvmas += more;
		if (!s->users) { /* killed for it, in the middle of a fork */
			vmas_uncharge(m, s, s->nvmas, 0);
			s->nvmas = 0;
			return FALSE;
		}
		n = rf_vmas_count(s->vmas);
		if (s->nvmas > n) { /* a thread had the same charged meanwhile */
			vmas_uncharge(m, s, s->nvmas - n, 0);
			s->nvmas = n;
		}
		return TRUE;
	}
	/* The anon_vma of a mapping that went goes with it. */
	for (i = 0; i < n && s->nanon_vmas; i++)
		anon += has_anon_vma(s, rf_vmas_nth(s->vmas, i));
	anon = MIN(anon, s->nanon_vmas);
	vmas_uncharge(m, s, s->nvmas - n, s->nanon_vmas - anon);
	s->nanon_vmas = anon;
	s->nvmas = n;
	return TRUE;
}

/* anon_vma_prepare(): before the first anonymous page of a mapping. */
gboolean anon_vma_charge(struct rf_model *m, struct space *s, const struct rf_vma *vma)
{
	if (has_anon_vma(s, vma))
		return TRUE;
	if (!charge_kernel_bytes(m, cgroup_nth(m, s->cgroup), ANON_VMA_BYTES))
		return FALSE;
	if (has_anon_vma(s, vma)) { /* a thread was faster */
		uncharge_kernel_bytes(m, cgroup_nth(m, s->cgroup), ANON_VMA_BYTES);
		return TRUE;
	}
	if (vma->serial >= s->anon_vma->len) {
		guint old = s->anon_vma->len;

		g_byte_array_set_size(s->anon_vma, MAX(vma->serial + 1, old + old / 2));
		memset(s->anon_vma->data + old, 0, s->anon_vma->len - old);
	}
	s->anon_vma->data[vma->serial] = 1;
	s->nanon_vmas++;
	m->vma_bytes += ANON_VMA_BYTES;
	return TRUE;
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

void map_lost(struct rf_model *m, uint32_t v)
{
	m->leaf[v >> m->leaf_shift].used++;
	m->pte[v] = PTE_LOST;
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
	if ((f & PTE_ACC) && !(f & PTE_NOREC) && !(m->fact[p] & RF_PAGE_SWAPBACKED))
		page_touch(m, p);
	page_munlock_unmapped(m, p);
}

void zap_range(struct rf_model *m, struct space *s, uint64_t from, uint64_t to)
{
	gboolean any = FALSE;
	guint i;

	for (i = leaf_first(m, s, from); i < s->leaves->len; i++) {
		uint32_t n = g_array_index(s->leaves, uint32_t, i), j, size = 1u << m->leaf_shift;
		uint64_t base = m->leaf[n].base;

		if (base >= to)
			break;
		if (!m->leaf[n].used)
			continue;
		for (j = base < from ? from - base : 0; j < size && base + j < to && m->leaf[n].used; j++) {
			uint32_t v = (n << m->leaf_shift) + j;

			if (!m->pte[v])
				continue;
			any |= (m->pte[v] & PTE_PRESENT) != 0;
			zap_entry(m, v);
		}
	}
	if (any)
		shoot_down(m, s);
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

struct task *task_get(struct rf_model *m, uint32_t tid, GError **error)
{
	struct task *t = task_find(m, tid);

	if (!t)
		rf_set_data(error, "task %u was never started", tid);
	return t;
}

/* One entry of the parent in the child; read-only in both where memory is private. */
static void copy_entry(struct rf_model *m, uint32_t v, uint32_t w, struct space *to)
{
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	if (f == PTE_LOST) {
		map_lost(m, w);
	} else if (f & PTE_ZERO) {
		map_special(m, w, p, f & (PTE_EXEC | PTE_NOREC));
	} else if (f & PTE_SWAP) {
		chain_add(m, w, p);
		m->leaf[w >> m->leaf_shift].used++;
		m->pte[w] = f;
		m->pte_page[w] = p;
		to->swapents++;
	} else if (f) {
		m->pte[v] = f & ~PTE_WRITE;
		tlb_drop(m, v);
		map_page(m, w, p, f & (PTE_DIRTY | PTE_EXEC | PTE_NOREC)); /* old: the child has not used it */
	}
}

/* fork: the child's page tables are the parent's.  FALSE: one of the two was killed on the way. */
static gboolean copy_tables(struct rf_model *m, struct space *to, struct space *from)
{
	guint i, n = from->leaves->len;

	for (i = 0; i < n; i++) {
		uint32_t leaf = g_array_index(from->leaves, uint32_t, i), j, size = 1u << m->leaf_shift;

		for (j = 0; j < size && m->leaf[leaf].used; j++) {
			uint32_t v = (leaf << m->leaf_shift) + j, w;

			/* File pages are faulted in again by whoever needs them (copy_page_range). */
			if (!m->pte[v] || (!(m->pte[v] & PTE_ZERO) && !(m->fact[m->pte_page[v]] & RF_PAGE_ANON)))
				continue;
			w = entry_get(m, to, m->leaf[leaf].base + j);
			if (!tables_charge(m, w))
				return FALSE;
			copy_entry(m, v, w, to); /* as it is now: the charge may have reclaimed it */
		}
	}
	return from->users != 0;
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
	volatile_unmap(m, s, 0, UINT64_MAX);
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

/* dup_mmap(): on the parent's account; locks are not inherited. */
static gboolean copy_space(struct rf_model *m, struct space *s, struct task *parent)
{
	struct space *from = m->spaces->pdata[parent->space];
	gboolean ok;

	m->current = parent;
	mmap_lock_take(m, from, RF_LOCK_EXCLUSIVE);
	rf_vmas_free(s->vmas);
	s->vmas = rf_vmas_copy(from->vmas);
	rf_vmas_change(s->vmas, 0, UINT64_MAX, FALSE, 0, 0, RF_VMA_LOCKED);
	volatile_fork(m, from, s);
	ok = vmas_charge(m, s) && copy_tables(m, s, from);
	mmap_lock_drop(m, from, RF_LOCK_EXCLUSIVE);
	return ok;
}

/* Spaces are numbered in the order in which task and exec events open them. */
static gboolean space_is_next(const struct rf_model *m, uint32_t id, GError **error)
{
	if (id == m->spaces->len || (m->closed && id < INT32_MAX && !space_nth(m, id)))
		return TRUE;
	rf_set_data(error, "address space %u where %u was expected", id, m->spaces->len);
	return FALSE;
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
		t = task_get(m, ev->tid, error);
		if (!t || !space_is_next(m, ev->space, error))
			return FALSE;
		s = m->spaces->pdata[t->space];
		space_new(m, ev->space, s->cgroup); /* a killed task's too: the trace counts it, and names its pages */
		if (!t->alive)
			return TRUE;
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
	if (!space_is_next(m, ev->space, error))
		return FALSE;
	s = space_new(m, ev->space, cg->id);
	t = task_new(m, ev->tid, ev->space);
	if (!parent)
		return TRUE;
	/* A child of a task that the OOM killer took never ran. */
	if (!parent->alive || !copy_space(m, s, parent))
		if (t->alive)
			task_kill(m, t);
	stall_end(m);
	return TRUE;
}
