/* SPDX-License-Identifier: MIT
 * Everything that the machine counts as it goes, counted anew: for tests and for checked builds.
 */
#include "sim/model/model.h"
#include <string.h>

/* What a full count of pages and entries gives. */
struct recount {
	uint64_t rss[RSS_N], resident, evictable, mlocked, lazyfree, dirty, slots, chained, chain;
	struct { uint64_t anon, file, mapped, shmem, swap, swapcache, evictable; } *cgroup;
	uint64_t *dirty_of_file;
};

G_GNUC_PRINTF(1, 2) static void broken(const char *format, ...)
{
	va_list ap;
	g_autofree char *text = NULL;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	g_error("machine: %s", text);
}

static void same(const char *what, uint32_t of, uint64_t kept, uint64_t counted)
{
	if (kept != counted)
		broken("%s of %u: kept %" G_GUINT64_FORMAT ", counted %" G_GUINT64_FORMAT, what, of, kept, counted);
}

/* ---- entries ---- */

static void check_entry(const struct rf_model *m, uint32_t v, struct recount *r, uint64_t rss[RSS_N],
                        uint64_t *swapents)
{
	uint8_t f = m->pte[v];
	rf_page p = m->pte_page[v];

	if (!f) {
		if (p != RF_NO_PAGE || m->rmap_next[v] != RF_NO_PAGE)
			broken("entry %u is empty and names page %u", v, p);
		return;
	}
	if (f == PTE_LOST)
		return;
	if (!(f & PTE_PRESENT) == !(f & PTE_SWAP))
		broken("entry %u has flags 0x%x", v, f);
	if (f & PTE_ZERO)
		return;
	if (p >= m->npages)
		broken("entry %u names page %u of %u", v, p, m->npages);
	r->chained++;
	if (f & PTE_SWAP) {
		if (!(m->fact[p] & F_SLOT) || !(m->fact[p] & RF_PAGE_ANON))
			broken("entry %u is in swap, its page %u has facts 0x%x", v, p, m->fact[p]);
		if ((m->fact[p] & RF_PAGE_RESIDENT) && !(m->fact[p] & RF_PAGE_SWAPCACHE))
			broken("entry %u is in swap, its page %u is resident outside the swap cache", v, p);
		(*swapents)++;
		return;
	}
	if (!(m->fact[p] & RF_PAGE_RESIDENT))
		broken("entry %u is present, its page %u is not resident", v, p);
	rss[m->fact[p] & RF_PAGE_ANON ? RSS_ANON : m->fact[p] & F_SHMEM ? RSS_SHMEM : RSS_FILE]++;
}

static void check_space(const struct rf_model *m, struct space *s, struct recount *r)
{
	uint32_t size = 1u << m->leaf_shift;
	uint64_t rss[RSS_N] = { 0 }, swapents = 0, tables = g_hash_table_size(s->tables), last = 0;
	guint i, j;

	for (i = 0; i < s->leaves->len; i++) {
		uint32_t n = g_array_index(s->leaves, uint32_t, i), used = 0;
		const struct leaf *l = &m->leaf[n];

		if (l->space != s->id || (i && l->base <= last) || (l->base & (size - 1)))
			broken("leaf %u of space %u at %" G_GUINT64_FORMAT " is out of place", n, s->id, l->base);
		last = l->base;
		for (j = 0; j < size; j++) {
			check_entry(m, (n << m->leaf_shift) + j, r, rss, &swapents);
			used += m->pte[(n << m->leaf_shift) + j] != 0;
		}
		same("entries in use of leaf", n, l->used, used);
		if (used && !l->charged)
			broken("leaf %u is in use and not charged", n);
		tables += l->charged != 0;
	}
	same("page tables of space", s->id, s->ntables, tables);
	same("swap entries of space", s->id, s->swapents, swapents);
	for (j = 0; j < RSS_N; j++) {
		same("resident set of space", s->id, s->rss[j], rss[j]);
		r->rss[j] += rss[j];
	}
	same("mappings of space", s->id, s->nvmas, rf_vmas_count(s->vmas));
	if (!s->users && (s->nvmas || tables || rss[0] + rss[1] + rss[2] || swapents))
		broken("space %u has no task and still memory", s->id);
}

static void check_chain(const struct rf_model *m, rf_page p, struct recount *r)
{
	uint32_t v;

	for (v = m->rmap[p]; v != RF_NO_PAGE; v = m->rmap_next[v]) {
		if (v >= m->nptes || !(m->pte[v] & (PTE_PRESENT | PTE_SWAP)) || (m->pte[v] & PTE_ZERO) ||
		    m->pte_page[v] != p)
			broken("page %u is not what entry %u of its reverse map has", p, v);
		if (++r->chain > m->nptes)
			broken("the reverse map of page %u has no end", p);
	}
}

/* ---- pages ---- */

/* The pages of a large folio, from any of them. */
static void check_folio(const struct rf_model *m, rf_page p)
{
	rf_page head = folio_head(m, p);
	unsigned i;

	if (folio_pages(m, p) == 1)
		return;
	for (i = 0; i < folio_pages(m, p); i++) {
		rf_page q = head == RF_NO_PAGE ? RF_NO_PAGE : folio_page(m, head, i);

		if (q == RF_NO_PAGE || m->order[q] != m->order[p] || !(m->fact[q] & RF_PAGE_RESIDENT) ||
		    m->owner[q] != m->owner[p] || (i && (m->fact[q] & F_UNEV)))
			broken("page %u is of order %u; page %u of its folio is not right", p, m->order[p], i);
	}
}

static void check_page(const struct rf_model *m, rf_page p, struct recount *r)
{
	uint16_t f = m->fact[p];

	if (m->owner[p] >= m->cgroups->len)
		broken("page %u belongs to cgroup %u of %u", p, m->owner[p], m->cgroups->len);
	if (f & F_SLOT) {
		r->slots++;
		r->cgroup[m->owner[p]].swap++;
		if (m->slot_page && m->slot_page[m->slot[p]] != p)
			broken("page %u has slot %u, which has page %u", p, m->slot[p], m->slot_page[m->slot[p]]);
	}
	if ((f & RF_PAGE_SWAPCACHE) && (f & (F_SLOT | RF_PAGE_RESIDENT)) != (F_SLOT | RF_PAGE_RESIDENT))
		broken("page %u is in the swap cache with facts 0x%x", p, f);
	check_chain(m, p, r);
	if (!(f & RF_PAGE_RESIDENT)) {
		if (f & (RF_PAGE_DIRTY | RF_PAGE_WRITEBACK | RF_PAGE_LAZYFREE | RF_PAGE_MLOCKED | F_UNEV | F_READING | F_RA))
			broken("page %u is not resident and has facts 0x%x", p, f);
		if ((f & RF_PAGE_SWAPBACKED) && !(f & F_SLOT))
			broken("page %u is neither in memory nor in swap", p);
		return;
	}
	if (m->shadow[p])
		broken("page %u is resident and has a shadow", p);
	if (!(f & F_UNEV) != !(f & RF_PAGE_MLOCKED) || ((f & RF_PAGE_LAZYFREE) && (f & RF_PAGE_SWAPBACKED)))
		broken("page %u has facts 0x%x", p, f);
	r->resident++;
	if (m->fact[folio_head(m, p)] & F_UNEV)
		r->mlocked++;
	else
		r->cgroup[m->owner[p]].evictable++;
	check_folio(m, p);
	r->lazyfree += (f & RF_PAGE_LAZYFREE) != 0;
	r->cgroup[m->owner[p]].swapcache += (f & RF_PAGE_SWAPCACHE) != 0;
	if (f & RF_PAGE_ANON) {
		r->cgroup[m->owner[p]].anon++;
		if (m->rmap[p] == RF_NO_PAGE)
			broken("anonymous page %u is nobody's", p);
		return;
	}
	r->cgroup[m->owner[p]].file++;
	r->cgroup[m->owner[p]].shmem += (f & F_SHMEM) != 0;
	r->cgroup[m->owner[p]].mapped += page_mapcount(m, p) != 0;
	if ((f & (RF_PAGE_DIRTY | F_SHMEM)) == RF_PAGE_DIRTY) {
		r->dirty++;
		r->dirty_of_file[m->ident[p] >> IDENT_OFF_BITS]++;
	}
}

static void check_pages(const struct rf_model *m, struct recount *r)
{
	g_autofree uint8_t *is_free = g_malloc0(m->npages + 1);
	rf_page p;

	for (p = m->free_page; p != RF_NO_PAGE; p = m->rmap[p]) {
		if (p >= m->npages || is_free[p])
			broken("the free pages are not linked");
		if (m->fact[p] || m->shadow[p])
			broken("page %u is free with facts 0x%x", p, m->fact[p]);
		is_free[p] = 1;
	}
	for (p = 0; p < m->npages; p++)
		if (!is_free[p])
			check_page(m, p, r);
	same("entries in reverse maps", 0, r->chain, r->chained);
	same("mlocked pages", 0, m->mlocked, r->mlocked);
	same("lazyfree pages", 0, m->lazyfree, r->lazyfree);
	same("dirty pages", 0, m->dirty, r->dirty);
	same("swap slots", 0, m->swap_used, r->slots);
	same("pages that came and did not go", 0, m->counter[RF_C_rf_pages_in] - m->counter[RF_C_rf_pages_out],
	     r->resident);
}

/* ---- files ---- */

static void check_node(const struct rf_model *m, const struct file *f, const struct node *n)
{
	unsigned cached = 0, shadows = 0, i;

	for (i = 0; i < NODE_SLOTS; i++) {
		rf_page p = n->page[i];

		if (p == RF_NO_PAGE)
			continue;
		if (m->ident[p] != ((uint64_t)f->index << IDENT_OFF_BITS | (n->index * NODE_SLOTS + i)))
			broken("file %u: page %u is not the one at %" G_GUINT64_FORMAT, f->id, p,
			       n->index * NODE_SLOTS + i);
		/* Shmem in swap is an entry of the tree, not a shadow. */
		if ((m->fact[p] & RF_PAGE_RESIDENT) || (m->fact[p] & F_SLOT))
			cached++;
		else
			shadows++;
	}
	same("cached pages of a node of file", f->id, n->cached, cached);
	same("shadows of a node of file", f->id, n->shadows, shadows);
	if (!n->listed != (n->cached != 0))
		broken("file %u: a node with %u pages is %slisted", f->id, n->cached, n->listed ? "" : "not ");
}

static void check_file(const struct rf_model *m, const struct file *f, const struct recount *r)
{
	uint64_t cached = 0, nodes = 0;
	guint i, j;

	for (i = 0; i < f->chunks->len; i++) {
		const struct chunk *c = f->chunks->pdata[i];
		unsigned group[CHUNK_NODES / NODE_SLOTS] = { 0 };

		for (j = 0; c && j < CHUNK_NODES; j++) {
			if (!c->node[j])
				continue;
			check_node(m, f, c->node[j]);
			cached += c->node[j]->cached;
			group[j / NODE_SLOTS]++;
			nodes++;
		}
		for (j = 0; c && j < G_N_ELEMENTS(group); j++)
			same("nodes in a group of file", f->id, c->group[j], group[j]);
	}
	same("cached pages of file", f->id, f->ncached, cached);
	same("nodes of file", f->id, f->nnodes, nodes);
	same("dirty pages of file", f->id, f->ndirty, r->dirty_of_file[f->index]);
}

/* ---- cgroups and the machine ---- */

static void check_cgroup(const struct rf_model *m, const struct cgroup *cg, const struct recount *r)
{
	uint64_t usage = cg->anon + cg->file + cg->kernel + cg->stock, on_lists = 0, size[4] = { 0 }, shadows = 0;
	const struct node *n;
	guint i;

	same("anonymous pages of cgroup", cg->id, cg->anon, r->cgroup[cg->id].anon);
	same("file pages of cgroup", cg->id, cg->file, r->cgroup[cg->id].file);
	same("mapped file pages of cgroup", cg->id, cg->mapped, r->cgroup[cg->id].mapped);
	same("shmem of cgroup", cg->id, cg->shmem, r->cgroup[cg->id].shmem);
	same("swap of cgroup", cg->id, cg->swap, r->cgroup[cg->id].swap);
	same("swap cache of cgroup", cg->id, cg->swapcache, r->cgroup[cg->id].swapcache);
	for (i = 0; i < m->cgroups->len; i++)
		if (cgroup_nth(m, i)->parent == cg)
			usage += cgroup_nth(m, i)->usage;
	same("usage of cgroup", cg->id, cg->usage, usage);
	same("pages charged and not uncharged of cgroup", cg->id,
	     cg->counter[RF_C_rf_charge_pages] - cg->counter[RF_C_rf_uncharge_pages], cg->anon + cg->file);
	if (cg->kernel_bytes_stock < 0 || cg->kernel_bytes_stock > INT64_C(1) << m->cfg.page_shift)
		broken("cgroup %u has a byte stock of %" G_GINT64_FORMAT, cg->id, cg->kernel_bytes_stock);
	for (n = cg->shadow_first; n; n = n->next)
		shadows++;
	same("shadow nodes of cgroup", cg->id, cg->nshadow_nodes, shadows);
	if (m->pol->ops->check)
		m->pol->ops->check(m->pol, cg->lv);
	if (!m->pol->ops->sizes)
		return;
	m->pol->ops->sizes(m->pol, cg->lv, size);
	for (i = 0; i < 4; i++)
		on_lists += size[i];
	/* A batch may hold some that are on their way to a list; large folios do not wait there. */
	if (on_lists > r->cgroup[cg->id].evictable ||
	    on_lists + (m->pol->ops->drain ? 64 : 0) < r->cgroup[cg->id].evictable)
		broken("cgroup %u has %" G_GUINT64_FORMAT " pages on its lists, and %" G_GUINT64_FORMAT
		       " that should be there", cg->id, on_lists, r->cgroup[cg->id].evictable);
}

static void check_machine(const struct rf_model *m, const struct recount *r)
{
	uint64_t pages = m->reserved, kernel = 0, tables = 0;
	guint i;

	for (i = 0; i < m->cgroups->len; i++) {
		const struct cgroup *cg = cgroup_nth(m, i);

		check_cgroup(m, cg, r);
		pages += cg->anon + cg->file + cg->kernel;
		kernel += (cg->kernel << m->cfg.page_shift) - cg->kernel_bytes_stock;
	}
	for (i = 0; i < m->spaces->len; i++)
		tables += m->spaces->pdata[i] ? ((struct space *)m->spaces->pdata[i])->ntables : 0;
	same("page tables", 0, m->ntables, tables);
	same("frames in use", 0, m->used, pages);
	same("kernel memory in bytes", 0, kernel, (m->ntables << m->cfg.page_shift) + m->vma_bytes + m->node_bytes);
	for (i = 0; i < RSS_N; i++)
		same("resident set, kind", i, m->rss[i], r->rss[i]);
	if (m->counter[RF_C_pgmajfault] > m->counter[RF_C_pgfault])
		broken("more major faults than faults");
	if (m->swap_used > m->swap_slots)
		broken("more swap slots in use than there are");
}

void rf_model_check(const struct rf_model *m)
{
	struct recount r = { .cgroup = NULL };
	guint i;

	r.cgroup = g_malloc0_n(m->cgroups->len, sizeof *r.cgroup);
	r.dirty_of_file = g_new0(uint64_t, m->files->len + 1);
	for (i = 0; i < m->spaces->len; i++)
		if (m->spaces->pdata[i])
			check_space(m, m->spaces->pdata[i], &r);
	check_pages(m, &r);
	for (i = 0; i < m->files->len; i++)
		check_file(m, m->files->pdata[i], &r);
	check_machine(m, &r);
	g_free(r.cgroup);
	g_free(r.dirty_of_file);
}
