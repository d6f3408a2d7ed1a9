/* SPDX-License-Identifier: MIT
 * The fault path: anonymous memory, copy-on-write, and who goes where.
 */
#include "sim/model/model.h"
#include "base/error.h"

static gboolean prot_allows(const struct rf_vma *vma, unsigned type)
{
	unsigned need = type == RF_WRITE ? RF_PROT_W : type == RF_EXEC ? RF_PROT_X : RF_PROT_R;

	/* A readable page can be executed on neither arch here; x86 lets writable pages be read. */
	return (vma->prot & need) || (type == RF_READ && (vma->prot & (RF_PROT_W | RF_PROT_X)));
}

static unsigned how_of(const struct rf_vma *vma)
{
	return RF_HOW_FAULT | (vma->flags & (RF_VMA_RAND | RF_VMA_SEQ) ? RF_HOW_NORECENCY : 0) |
	       (vma->prot & RF_PROT_X ? RF_HOW_EXEC : 0);
}

/* do_anonymous_page(), do_cow_fault(), wp_page_copy(): the charge comes first. */
gboolean new_anon_charge(struct rf_model *m, struct space *s, const struct rf_vma *vma)
{
	return anon_vma_charge(m, s, vma) && charge(m, cgroup_nth(m, s->cgroup), 1, FALSE);
}

void new_anon_map(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v)
{
	rf_page p;

	if (m->pte[v]) /* what was there before: zero page, file page, a page shared since fork */
		zap_entry(m, v);
	p = page_new(m, IDENT_ANON);
	spend(m, llc_fill(m, p), &m->time_fault);
	page_add(m, p, cgroup_nth(m, s->cgroup), RF_PAGE_SWAPBACKED | RF_PAGE_ANON, how_of(vma) | RF_HOW_NEW);
	map_page(m, v, p, PTE_WRITE | PTE_DIRTY | PTE_ACC | vma_pte_flags(m, vma));
	if (vma->flags & RF_VMA_LOCKED)
		page_mlock(m, p);
}

/* ns for 4 KiB come to this for a page. */
static uint64_t whole_page(const struct rf_model *m, uint64_t ns)
{
	return ns << (m->cfg.page_shift - RF_GRANULE_SHIFT);
}

/* Zeroing 4 KiB is a part of what a fault on anonymous memory costs. */
static uint64_t zeroing(const struct rf_model *m)
{
	return MIN(m->profile.zero_page, m->profile.fault_anon);
}

static uint64_t pattern_period(const struct rf_model *m, const struct rf_vma *vma)
{
	gpointer period = g_hash_table_lookup(m->refpages, GUINT_TO_POINTER(vma->id));

	return period ? GPOINTER_TO_SIZE(period) : UINT64_C(1) << m->cfg.page_shift;
}

/* Did another thread do this fault's work while it waited? */
gboolean fault_is_over(const struct rf_model *m, uint32_t v, unsigned type)
{
	uint8_t need = PTE_PRESENT | (type == RF_WRITE ? PTE_WRITE : 0);

	return m->closed && (m->pte[v] & need) == need;
}

/* The first page of its own that a task gets where nothing was stored before. */
static enum fault new_anon(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v)
{
	struct rf_fresh fresh = { .pattern = vma->mkind == RF_MAP_REFPAGE, .zero = whole_page(m, zeroing(m)),
	                          .fill = whole_page(m, m->profile.fill_page),
	                          .copy = whole_page(m, m->profile.copy_page) };

	if (fresh.pattern)
		fresh.period = pattern_period(m, vma);
	spend(m, m->seams.fill->init(m->seams.fill_opt, &fresh), &m->time_fault);
	memory_store(m, UINT64_C(1) << m->cfg.page_shift, &m->time_fault);
	if (!new_anon_charge(m, s, vma))
		return FAULT_KILLED;
	if (fault_is_over(m, v, RF_WRITE)) {
		uncharge(m, cgroup_nth(m, s->cgroup), 1);
		return FAULT_DONE;
	}
	new_anon_map(m, s, vma, v);
	if (fresh.filled)
		count(m, cgroup_nth(m, s->cgroup), RF_C_rf_filled, 1);
	return FAULT_DONE;
}

/* The old page is held while the new one is allocated. */
static enum fault copy_on_write(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v)
{
	gboolean charged;

	count(m, cgroup_nth(m, s->cgroup), RF_C_rf_cow, 1);
	spend(m, whole_page(m, m->profile.copy_page), &m->time_fault);
	memory_store(m, UINT64_C(1) << m->cfg.page_shift, &m->time_fault);
	page_pin(m, m->pte_page[v]);
	charged = new_anon_charge(m, s, vma);
	page_unpin(m);
	if (!charged)
		return FAULT_KILLED;
	if (fault_is_over(m, v, RF_WRITE))
		uncharge(m, cgroup_nth(m, s->cgroup), 1);
	else
		new_anon_map(m, s, vma, v);
	return FAULT_DONE;
}

static enum fault anon_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v,
                             unsigned type)
{
	enum rf_first_load load = type == RF_WRITE ? RF_LOAD_OWN_PAGE :
	                          m->seams.fill->load(m->seams.fill_opt, vma->mkind == RF_MAP_REFPAGE);

	if (load == RF_LOAD_OWN_PAGE)
		return new_anon(m, s, vma, v);
	count(m, cgroup_nth(m, s->cgroup), load == RF_LOAD_ZERO_PAGE ? RF_C_rf_zero_page : RF_C_rf_reference_page, 1);
	map_special(m, v, load == RF_LOAD_ZERO_PAGE ? RF_NO_PAGE : vma->id, PTE_ACC | vma_pte_flags(m, vma));
	return FAULT_DONE;
}

/* A store to an entry that is present and not writable (do_wp_page). */
static enum fault write_protect_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v)
{
	rf_page p = m->pte_page[v];

	if (m->pte[v] & PTE_ZERO)
		return new_anon(m, s, vma, v);
	if (m->fact[p] & RF_PAGE_ANON) {
		if (m->rmap[p] == v && m->rmap_next[v] == RF_NO_PAGE) { /* ours alone: reuse */
			if (m->pol->ops->drain)
				m->pol->ops->drain(m->pol);
			if ((m->fact[p] & F_SLOT) && !(m->fact[p] & RF_PAGE_WRITEBACK))
				swap_drop_slot(m, p);
			m->pte[v] |= PTE_WRITE | PTE_DIRTY | PTE_ACC;
			return FAULT_DONE;
		}
		return copy_on_write(m, s, vma, v);
	}
	if (vma->flags & RF_VMA_SHARED || vma->mkind == RF_MAP_SHMEM) {
		m->pte[v] |= PTE_WRITE | PTE_DIRTY | PTE_ACC;
		file_mark_dirty(m, p);
		balance_dirty(m);
		return FAULT_DONE;
	}
	return copy_on_write(m, s, vma, v);
}

static const struct rf_vma *implicit_mapping(struct rf_model *m, struct space *s, uint64_t addr)
{
	uint64_t size = UINT64_C(1) << m->cfg.page_shift;
	struct rf_vma vma = { .start = addr & ~(size - 1), .prot = RF_PROT_R | RF_PROT_W | RF_PROT_X,
	                      .mkind = RF_MAP_ANON, .flags = RF_VMA_IMPLICIT };

	vma.end = vma.start + size;
	rf_vmas_map(s->vmas, &vma);
	m->implicit++;
	vmas_charge(m, s); /* may kill: then the mapping is gone again */
	return rf_vmas_find(s->vmas, addr);
}

/* What every fault of its kind costs.  Where an entry of anonymous memory has no page of its own, zeroing
 * is left out: what one costs, if it gets one, is the fill seam's. */
static uint64_t fault_cost(const struct rf_model *m, uint32_t v, gboolean anon)
{
	uint64_t cost = m->profile.fault_anon;

	if (!anon)
		return m->profile.fault_file;
	return m->pte[v] && !(m->pte[v] & PTE_ZERO) ? cost : cost - zeroing(m);
}

static enum fault fault_error(const struct task *t, unsigned type, uint64_t addr, const char *why, GError **error)
{
	rf_set_data(error, "task %u: %s at 0x%" G_GINT64_MODIFIER "x, %s", t->tid,
	            type == RF_WRITE ? "store" : type == RF_EXEC ? "fetch" : "load", addr, why);
	return FAULT_ERROR;
}

/* Under the lock. */
static enum fault locked_fault(struct rf_model *m, struct task *t, uint32_t v, unsigned type, GError **error)
{
	struct space *s = space_of_entry(m, v);
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	uint64_t addr = entry_vpn(m, v) << m->cfg.page_shift;
	const struct rf_vma *found = vma_of(m, s, entry_vpn(m, v));
	struct rf_vma vma; /* others may change the mappings while this one waits */
	enum fault result;
	gboolean anon;

	if (m->vol_used && (!m->pte[v] || m->pte[v] == PTE_LOST)) {
		if (!volatile_touch(m, t, s, v))
			return FAULT_KILLED;
		found = vma_of(m, s, entry_vpn(m, v)); /* mappings may have merged */
	}
	if (!found) {
		if (m->cfg.strict)
			return fault_error(t, type, addr, "which no mapping covers", error);
		found = implicit_mapping(m, s, addr);
		if (!found)
			return FAULT_KILLED;
	}
	vma = *found;
	/* A large page may belong to several mappings, each with a protection of its own. */
	if (m->cfg.strict && m->cfg.page_shift == RF_GRANULE_SHIFT && !prot_allows(&vma, type))
		return fault_error(t, type, addr, "whose mapping does not allow it", error);
	anon = vma.mkind == RF_MAP_ANON || vma.mkind == RF_MAP_REFPAGE;
	if (!anon && vma_pgoff(m, &vma, entry_vpn(m, v)) >= FILE_PAGES_MAX) {
		rf_set_data(error, "task %u: page %" G_GUINT64_FORMAT " of file %u is beyond what a file can be",
		            t->tid, vma_pgoff(m, &vma, entry_vpn(m, v)), vma.id);
		return FAULT_ERROR;
	}
	count(m, cg, RF_C_pgfault, 1);
	count(m, cg, type == RF_EXEC ? RF_C_rf_fault_exec : anon ? RF_C_rf_fault_anon : RF_C_rf_fault_file, 1);
	t->pgfault++;
	spend(m, fault_cost(m, v, anon), &m->time_fault);
	if (!tables_charge(m, v))
		return FAULT_DONE;
	if (m->pte[v] & PTE_PRESENT)
		result = type == RF_WRITE && !(m->pte[v] & PTE_WRITE) ? write_protect_fault(m, s, &vma, v) : FAULT_DONE;
	else if (m->pte[v] & PTE_SWAP)
		result = swap_fault(m, s, &vma, v, type);
	else if (anon)
		result = anon_fault(m, s, &vma, v, type);
	else
		result = file_fault(m, s, &vma, v, type);
	if (result == FAULT_DONE && type == RF_WRITE && (m->pte[v] & (PTE_PRESENT | PTE_WRITE)) == PTE_PRESENT) {
		/* A page shared since a fork that came back from swap: copied in the same fault. */
		result = write_protect_fault(m, s, &vma, v);
	}
	return result;
}

/* handle_mm_fault().  On FAULT_DONE the entry allows the access and has its bits set, or there was no
 * memory for it. */
enum fault fault(struct rf_model *m, struct task *t, uint32_t v, unsigned type, GError **error)
{
	struct space *s = space_of_entry(m, v);
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	enum fault result;

	s->ran = TRUE;
	fault_lock(m, s);
	result = t->alive ? locked_fault(m, t, v, type, error) : FAULT_KILLED;
	fault_unlock(m);
	if (result == FAULT_ERROR)
		return result;
	if (cg->high_owed)
		pay_high(m);
	stall_end(m);
	return t->alive ? result : FAULT_KILLED;
}
