/* SPDX-License-Identifier: MIT
 * The page cache: the tree of each file, what enters it and what stays as a shadow (kernel-reclaim 5).
 */
#include "sim/model/model.h"

#define IDENT_OFF_MASK ((UINT64_C(1) << IDENT_OFF_BITS) - 1)

struct file *file_get(struct rf_model *m, uint32_t id)
{
	struct file *f = g_hash_table_lookup(m->file_by_id, GUINT_TO_POINTER(id));

	if (!f) {
		f = g_new0(struct file, 1);
		f->id = id;
		f->index = m->files->len;
		f->chunks = g_ptr_array_new_with_free_func(g_free);
		f->prev_page = UINT64_MAX;
		g_hash_table_insert(m->file_by_id, GUINT_TO_POINTER(id), f);
		g_ptr_array_add(m->files, f);
	}
	return f;
}

struct file *vma_file(struct rf_model *m, const struct rf_vma *vma)
{
	return file_get(m, vma->mkind == RF_MAP_SHMEM ? vma->id | UINT32_C(1) << 31 : vma->id);
}

void file_free(struct file *f)
{
	guint i, j;

	for (i = 0; i < f->chunks->len; i++) {
		struct chunk *c = f->chunks->pdata[i];

		for (j = 0; c && j < CHUNK_NODES; j++)
			g_free(c->node[j]);
	}
	g_ptr_array_unref(f->chunks);
	g_free(f->name);
	g_free(f);
}

/* ---- the tree ---- */

static struct node *node_find(const struct file *f, uint64_t pgoff)
{
	uint64_t n = pgoff / NODE_SLOTS, c = n / CHUNK_NODES;
	struct chunk *chunk = c < f->chunks->len ? f->chunks->pdata[c] : NULL;

	return chunk ? chunk->node[n % CHUNK_NODES] : NULL;
}

rf_page file_page(const struct rf_model *m, const struct file *f, uint64_t pgoff)
{
	const struct node *n = node_find(f, pgoff);

	(void)m;
	return n ? n->page[pgoff % NODE_SLOTS] : RF_NO_PAGE;
}

/* Memory of tree nodes: one for 64 pages, one above each 64 of those, and again. */
static gboolean node_charge(struct rf_model *m, struct cgroup *cg, unsigned nodes)
{
	if (!charge_kernel_bytes(m, cg, nodes * NODE_BYTES))
		return FALSE;
	m->node_bytes += nodes * NODE_BYTES;
	cg->slab_bytes += nodes * NODE_BYTES;
	return TRUE;
}

static void node_uncharge(struct rf_model *m, struct cgroup *cg, unsigned nodes)
{
	m->node_bytes -= nodes * NODE_BYTES;
	cg->slab_bytes -= nodes * NODE_BYTES;
	uncharge_kernel_bytes(m, cg, nodes * NODE_BYTES);
}

static struct node *node_get(struct rf_model *m, struct file *f, uint64_t pgoff, struct cgroup *cg)
{
	struct node *n = node_find(f, pgoff);
	uint64_t at = pgoff / NODE_SLOTS, c = at / CHUNK_NODES;
	struct chunk *chunk;
	unsigned nodes, i;

	if (n)
		return n;
	while (f->chunks->len <= c)
		g_ptr_array_add(f->chunks, NULL);
	if (!f->chunks->pdata[c])
		f->chunks->pdata[c] = g_new0(struct chunk, 1);
	chunk = f->chunks->pdata[c];
	nodes = 1 + (f->npages > NODE_SLOTS && !chunk->group[at % CHUNK_NODES / NODE_SLOTS]) +
	        (f->npages > NODE_SLOTS * NODE_SLOTS && !f->nnodes);
	if (!node_charge(m, cg, nodes))
		return NULL;
	if (chunk->node[at % CHUNK_NODES]) { /* another task was faster */
		node_uncharge(m, cg, nodes);
		return chunk->node[at % CHUNK_NODES];
	}
	chunk->group[at % CHUNK_NODES / NODE_SLOTS]++;
	f->nnodes++;
	n = g_new0(struct node, 1);
	for (i = 0; i < NODE_SLOTS; i++)
		n->page[i] = RF_NO_PAGE;
	n->index = at;
	n->file = f->index;
	n->cgroup = cg->id;
	n->charged = nodes;
	chunk->node[at % CHUNK_NODES] = n;
	return n;
}

static void node_unlist(struct rf_model *m, struct node *n)
{
	struct cgroup *cg = cgroup_nth(m, n->cgroup);

	if (!n->listed)
		return;
	*(n->prev ? &n->prev->next : &cg->shadow_first) = n->next;
	*(n->next ? &n->next->prev : &cg->shadow_last) = n->prev;
	n->prev = n->next = NULL;
	n->listed = FALSE;
	cg->nshadow_nodes--;
}

static void node_list(struct rf_model *m, struct node *n)
{
	struct cgroup *cg = cgroup_nth(m, n->cgroup);

	n->prev = cg->shadow_last;
	n->next = NULL;
	*(n->prev ? &n->prev->next : &cg->shadow_first) = n;
	cg->shadow_last = n;
	n->listed = TRUE;
	cg->nshadow_nodes++;
}

static void node_free(struct rf_model *m, struct node *n)
{
	struct file *f = m->files->pdata[n->file];
	struct chunk *chunk = f->chunks->pdata[n->index / CHUNK_NODES];
	uint16_t *group = &chunk->group[n->index % CHUNK_NODES / NODE_SLOTS];

	node_unlist(m, n);
	chunk->node[n->index % CHUNK_NODES] = NULL;
	--*group;
	--f->nnodes;
	node_uncharge(m, cgroup_nth(m, n->cgroup), n->charged);
	g_free(n);
}

static void node_settle(struct rf_model *m, struct node *n)
{
	if (!n->cached && !n->shadows)
		node_free(m, n);
	else if (!n->cached && !n->listed)
		node_list(m, n);
	else if (n->cached && n->listed)
		node_unlist(m, n);
}

static struct node *node_of(struct rf_model *m, rf_page p, struct file **file, unsigned *slot)
{
	uint64_t pgoff = m->ident[p] & IDENT_OFF_MASK;

	*file = m->files->pdata[m->ident[p] >> IDENT_OFF_BITS];
	*slot = pgoff % NODE_SLOTS;
	return node_find(*file, pgoff);
}

void file_evicted(struct rf_model *m, rf_page p)
{
	struct file *f;
	unsigned slot;
	struct node *n = node_of(m, p, &f, &slot);

	f->ncached--;
	n->cached--;
	n->shadows++;
	node_settle(m, n);
}

rf_page file_neighbour(const struct rf_model *m, rf_page p, uint64_t pgoff)
{
	return file_page(m, m->files->pdata[m->ident[p] >> IDENT_OFF_BITS], pgoff);
}

void shmem_remove(struct rf_model *m, rf_page p)
{
	struct file *f;
	unsigned slot;
	struct node *n = node_of(m, p, &f, &slot);

	while (m->rmap[p] != RF_NO_PAGE)
		unmap_entry(m, m->rmap[p]);
	n->page[slot] = RF_NO_PAGE;
	n->cached--;
	f->ncached--;
	if (m->fact[p] & RF_PAGE_RESIDENT)
		page_drop(m, p, RF_WHY_FREED);
	if (m->fact[p] & F_SLOT)
		swap_drop_slot(m, p);
	page_free(m, p);
	node_settle(m, n);
}

/* The oldest node that holds only shadows is forgotten. */
static void forget_node(struct rf_model *m, struct cgroup *cg)
{
	struct node *node = cg->shadow_first;
	unsigned i;

	for (i = 0; i < NODE_SLOTS; i++)
		if (node->page[i] != RF_NO_PAGE)
			page_free(m, node->page[i]);
	count(m, cg, RF_C_workingset_nodereclaim, 1);
	node_free(m, node);
}

#define SHRINK_BATCH 128

/* do_shrink_slab() for the shadow nodes beyond an eighth of the cgroup's pages: half the excess, in
 * whole batches; what is left over is carried, but counts only as the priority lets it (5.6; the
 * priority is not in the reference: kernel memory at the end of exec-stream and exec-read says so). */
void host_shrink_slab(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	struct rf_model *m = pol->machine;
	struct cgroup *cg = cgroup_nth(m, lv->id);
	uint64_t most = (cg->anon + cg->file + (cg->slab_bytes >> m->cfg.page_shift)) / 8, excess, work, scan, scanned = 0, n;

	if (cg->nshadow_nodes <= most)
		return;
	excess = cg->nshadow_nodes - most;
	work = cg->shadow_deferred + excess / 2;
	scan = MIN((cg->shadow_deferred >> sc->prio) + excess / 2, 2 * excess);
	while (scan >= SHRINK_BATCH || scan >= excess) {
		n = MIN(scan, SHRINK_BATCH);
		scan -= n;
		scanned += n;
		for (; n && cg->shadow_first; n--)
			forget_node(m, cg);
		if (n || !scan)
			break;
	}
	cg->shadow_deferred = MIN(work - MIN(work, scanned), 2 * excess);
}

/* ---- pages in ---- */

/* The page's place in the tree, charged.  RF_NO_PAGE: the charge failed. */
static rf_page tree_add(struct rf_model *m, struct file *f, uint64_t pgoff, struct cgroup *cg, unsigned how)
{
	struct node *n = node_get(m, f, pgoff, cg);
	rf_page p;

	if (!n)
		return RF_NO_PAGE;
	p = n->page[pgoff % NODE_SLOTS];
	if (page_resident(m, p)) /* the same */
		return RF_NO_PAGE;
	if (p == RF_NO_PAGE) {
		p = page_new(m, (uint64_t)f->index << IDENT_OFF_BITS | pgoff);
		n->page[pgoff % NODE_SLOTS] = p;
	} else if (m->shadow[p]) {
		n->shadows--;
		if (how & RF_HOW_WRITE) /* a buffered write does not look at the shadow: 5.2 */
			m->shadow[p] = 0;
	}
	n->cached++;
	f->ncached++;
	node_settle(m, n);
	return p;
}

/* filemap_add_folio(): charge, tree, refault test, LRU.  RF_NO_PAGE: the charge failed. */
rf_page file_add(struct rf_model *m, struct file *f, uint64_t pgoff, struct cgroup *cg, unsigned how,
                        gboolean noretry)
{
	rf_page p = file_page(m, f, pgoff);

	if (p != RF_NO_PAGE)
		rf_policy_miss(m->pol, cg->lv, p);
	if (!charge(m, cg, 1, noretry))
		return RF_NO_PAGE;
	p = file_page(m, f, pgoff);
	if (page_resident(m, p)) { /* another task was faster, while this one's charge waited */
		uncharge(m, cg, 1);
		return p;
	}
	p = tree_add(m, f, pgoff, cg, how);
	if (p == RF_NO_PAGE) {
		uncharge(m, cg, 1);
		p = file_page(m, f, pgoff);
		return page_resident(m, p) ? p : RF_NO_PAGE;
	}
	page_add(m, p, cg, f->shmem ? RF_PAGE_SWAPBACKED | F_SHMEM : 0, how);
	return p;
}

/* A large folio, as far as its pages go: nothing of it is cached.  FALSE: the charge failed. */
gboolean file_add_folio(struct rf_model *m, struct file *f, uint64_t pgoff, unsigned order,
                               struct cgroup *cg, unsigned how, rf_page *page)
{
	unsigned n = 1u << order, i;

	if (!charge(m, cg, n, TRUE))
		return FALSE;
	for (i = 0; i < n && m->closed; i++) {
		if (page_resident(m, file_page(m, f, pgoff + i))) { /* the same */
			uncharge(m, cg, n);
			return FALSE;
		}
	}
	for (i = 0; i < n; i++) {
		page[i] = tree_add(m, f, pgoff + i, cg, how);
		if (page[i] == RF_NO_PAGE) { /* what is in already becomes pages of their own */
			uncharge(m, cg, n - i);
			while (i--)
				page_add(m, page[i], cg, 0, how);
			return FALSE;
		}
	}
	folio_add(m, page, order, cg, how);
	return TRUE;
}
