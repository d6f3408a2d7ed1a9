/* SPDX-License-Identifier: MIT
 * Files in use: faults on mappings of them, fault-around, read(2) and write(2) (kernel-reclaim 9.1, 9.3).
 */
#include "sim/model.h"
#include "base/error.h"

<<<<<<< main
#define MAX_PGOFF (UINT64_C(1) << (IDENT_OFF_BITS - 8))
=======
#define MMAP_LOTSAMISS 100
#define MAX_FOLIO_ORDER 9u /* 2 MiB of 4 KiB pages */
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

static gboolean resident(const struct rf_model *m, rf_page p)
{
	return p != RF_NO_PAGE && (m->fact[p] & RF_PAGE_RESIDENT);
}

static gboolean charge_nodes(struct rf_model *m, struct cgroup *cg, unsigned nodes)
{
	if (!charge_kernel_bytes(m, cg, nodes * NODE_BYTES))
		return FALSE;
	m->node_bytes += nodes * NODE_BYTES;
	cg->slab_bytes += nodes * NODE_BYTES;
	return TRUE;
}

static void uncharge_node(struct rf_model *m, struct cgroup *cg)
{
	m->node_bytes -= NODE_BYTES;
	cg->slab_bytes -= NODE_BYTES;
	uncharge_kernel_bytes(m, cg, NODE_BYTES);
}

/* Memory of tree nodes: one for 64 pages, one above each 64 of those, and again. */
static gboolean node_charge(struct rf_model *m, struct file *f, struct chunk *chunk, unsigned group,
                            struct cgroup *cg)
{
	gboolean second = f->npages > NODE_SLOTS && !chunk->group_payer[group];
	gboolean third = f->npages > NODE_SLOTS * NODE_SLOTS && !f->top_payer;

	if (!charge_nodes(m, cg, 1 + second + third))
		return FALSE;
	if (second)
		chunk->group_payer[group] = cg->id + 1;
	if (third)
		f->top_payer = cg->id + 1;
	return TRUE;
}

/* A node goes; those above it with their last one. */
static void node_uncount(struct rf_model *m, struct file *f, struct chunk *chunk, unsigned group)
{
	if (!--chunk->group[group] && chunk->group_payer[group]) {
		uncharge_node(m, cgroup_nth(m, chunk->group_payer[group] - 1));
		chunk->group_payer[group] = 0;
	}
	if (!--f->nnodes && f->top_payer) {
		uncharge_node(m, cgroup_nth(m, f->top_payer - 1));
		f->top_payer = 0;
	}
}

static struct node *node_get(struct rf_model *m, struct file *f, uint64_t pgoff, struct cgroup *cg)
{
	struct node *n = node_find(f, pgoff);
	uint64_t at = pgoff / NODE_SLOTS, c = at / CHUNK_NODES;
	struct chunk *chunk;
	unsigned group, i;

	if (n)
		return n;
	while (f->chunks->len <= c)
		g_ptr_array_add(f->chunks, NULL);
	if (!f->chunks->pdata[c])
		f->chunks->pdata[c] = g_new0(struct chunk, 1);
	chunk = f->chunks->pdata[c];
	group = at % CHUNK_NODES / NODE_SLOTS;
	/* Counted before they are charged: what the charge reclaims must not free those above. */
	chunk->group[group]++;
	f->nnodes++;
	if (!node_charge(m, f, chunk, group, cg)) {
		node_uncount(m, f, chunk, group);
		return NULL;
	}
	n = g_new0(struct node, 1);
	for (i = 0; i < NODE_SLOTS; i++)
		n->page[i] = RF_NO_PAGE;
	n->index = at;
	n->file = f->index;
	n->cgroup = cg->id;
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

	node_unlist(m, n);
	chunk->node[n->index % CHUNK_NODES] = NULL;
	uncharge_node(m, cgroup_nth(m, n->cgroup));
	node_uncount(m, f, chunk, n->index % CHUNK_NODES / NODE_SLOTS);
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
static rf_page file_add(struct rf_model *m, struct file *f, uint64_t pgoff, struct cgroup *cg, unsigned how,
                        gboolean noretry)
{
	rf_page p;

	if (!charge(m, cg, 1, noretry))
		return RF_NO_PAGE;
	p = tree_add(m, f, pgoff, cg, how);
	if (p == RF_NO_PAGE) {
		uncharge(m, cg, 1);
		return RF_NO_PAGE;
	}
	page_add(m, p, cg, f->shmem ? RF_PAGE_SWAPBACKED | F_SHMEM : 0, how);
	return p;
}

/* A large folio, as far as its pages go: nothing of it is cached.  FALSE: the charge failed. */
static gboolean file_add_folio(struct rf_model *m, struct file *f, uint64_t pgoff, unsigned order,
                               struct cgroup *cg, unsigned how, rf_page *page)
{
	unsigned n = 1u << order, i;

	if (!charge(m, cg, n, TRUE))
		return FALSE;
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

/* Reads of a whole window end at once; pages nobody waits for stay marked until then. */
static void read_done(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;

	if (arg < m->npages)
		m->fact[arg] &= ~F_READING;
}

static void wait_for_read(struct rf_model *m, rf_page p)
{
	if (!(m->fact[p] & F_READING))
		return;
	stall_begin(m);
	while ((m->fact[p] & F_READING) && rf_clock_next(m->clock) != UINT64_MAX)
		wait_until(m, rf_clock_next(m->clock), &m->time_io);
}

static unsigned ra_pages(const struct rf_model *m)
{
	return (unsigned)((m->cfg.read_ahead_kb << 10) >> m->cfg.page_shift);
}

/* The largest folio of at most order that is aligned at index, ends before end, and has nothing cached. */
static unsigned folio_order_at(const struct rf_model *m, const struct file *f, uint64_t index, uint64_t end,
                               unsigned order)
{
	uint64_t i;

	for (; order; order--) {
		uint64_t n = UINT64_C(1) << order;

		if ((index & (n - 1)) || index + n > end)
			continue;
		for (i = index; i < index + n && !resident(m, file_page(m, f, i)); i++)
			;
		if (i == index + n)
			break;
	}
	return order;
}

/* Read the missing pages of [start, start+size) in folios of up to order, with the marker async pages
 * before the end (page_cache_ra_order).  The target's caller waits until *done; others find F_READING.
 * FALSE: not all of it could be charged. */
static gboolean read_window(struct rf_model *m, struct file *f, uint64_t start, uint64_t size, uint64_t async,
                            unsigned order, uint64_t target, struct cgroup *cg, unsigned how, uint64_t *done)
{
	uint64_t i, j, n = 0, mark = async ? start + size - async : UINT64_MAX, pages;
	g_autofree rf_page *added = NULL;

	*done = m->host.now;
	if (start >= f->npages)
		return TRUE;
	size = MIN(size, f->npages - start);
	added = g_new(rf_page, size);
	for (i = start; i < start + size; i += pages) {
		unsigned o = m->order && order ? folio_order_at(m, f, i, start + size, order) : 0;

		pages = UINT64_C(1) << o;
		if (resident(m, file_page(m, f, i)))
			continue;
		if (o) {
			if (!file_add_folio(m, f, i, o, cg, how | RF_HOW_READAHEAD, added + n))
				break;
		} else {
			added[n] = file_add(m, f, i, cg, i == target ? how : how | RF_HOW_READAHEAD, TRUE);
			if (added[n] == RF_NO_PAGE)
				break; /* a failed charge ends the window quietly */
		}
		if (i <= mark && mark < i + pages)
			m->fact[added[n]] |= F_RA;
		n += pages;
	}
	if (n)
		*done = rf_device_submit(&m->disk, m->host.now, n << m->cfg.page_shift, FALSE);
	for (j = 0; j < n; j++) {
		m->fact[added[j]] |= F_READING;
		rf_clock_at(m->clock, *done, read_done, m, added[j]);
	}
	return i >= start + size;
}

static uint64_t round_up_pow2(uint64_t n)
{
	uint64_t r = 1;

	while (r < n)
		r *= 2;
	return r;
}

static uint64_t ra_init(uint64_t req, uint64_t max)
{
	uint64_t r = round_up_pow2(req);

	return r <= max / 32 ? r * 4 : r <= max / 4 ? r * 2 : max;
}

static uint64_t ra_next(uint64_t cur, uint64_t max)
{
	return cur < max / 16 ? 4 * cur : cur <= max / 2 ? 2 * cur : max;
}

/* page_cache_sync_ra(): a read() miss, 9.4. */
static void sync_readahead(struct rf_model *m, struct file *f, uint64_t index, uint64_t req, struct cgroup *cg,
                           unsigned how, uint64_t *done)
{
	uint64_t max = ra_pages(m), c;

	if (!max) {
		read_window(m, f, index, 1, 0, 0, index, cg, how, done);
		return;
	}
	if (!index || req > max || (f->read_before && index - f->prev_page <= 1)) {
		f->ra_start = index;
		f->ra_size = ra_init(req, max);
		f->ra_async = f->ra_size > req ? f->ra_size - req : f->ra_size / 2;
	} else {
		for (c = 0; c < max && c < index; c++)
			if (!resident(m, file_page(m, f, index - 1 - c)))
				break;
		if (c <= req) {
			read_window(m, f, index, req, 0, 0, index, cg, how, done);
			return;
		}
		if (c >= index)
			c *= 2;
		f->ra_start = index;
		f->ra_size = MIN(c + req, max);
		f->ra_async = 1;
	}
	f->ra_order = 0;
	read_window(m, f, f->ra_start, f->ra_size, f->ra_async, 0, index, cg, how, done);
}

/* page_cache_async_ra(): the marker was met, 9.4. */
static void async_readahead(struct rf_model *m, struct file *f, uint64_t index, uint64_t req, struct cgroup *cg,
                            unsigned how)
{
	uint64_t max = ra_pages(m), s, done;

	if (!max)
		return;
	if (index == f->ra_start + f->ra_size - f->ra_async) {
		f->ra_start += f->ra_size;
		f->ra_size = ra_next(f->ra_size, max);
	} else {
		for (s = index + 1; s < index + 1 + max && resident(m, file_page(m, f, s)); s++)
			;
		if (s >= index + 1 + max)
			return;
		f->ra_start = s;
		f->ra_size = ra_next(s - index + req, max);
	}
	/* Each step that was in time makes the folios larger by two orders; the window ends with one. */
	f->ra_order = MIN(f->ra_order + 2, MAX_FOLIO_ORDER);
	while (f->ra_order && UINT64_C(1) << f->ra_order > f->ra_size)
		f->ra_order--;
	if (m->order && f->ra_order) {
		uint64_t end = (f->ra_start + f->ra_size) & ~((UINT64_C(1) << f->ra_order) - 1);

		if (end > f->ra_start)
			f->ra_size = end - f->ra_start;
	}
	f->ra_async = f->ra_size;
	read_window(m, f, f->ra_start, f->ra_size, f->ra_async, f->ra_order, UINT64_MAX, cg, how, &done);
}

void file_willneed(struct rf_model *m, struct file *f, uint64_t from, uint64_t to)
{
	struct cgroup *cg = m->workload;
	uint64_t done, step = (2 << 20) >> m->cfg.page_shift;

	if (m->current)
		cg = cgroup_nth(m, ((struct space *)m->spaces->pdata[m->current->space])->cgroup);
	to = MIN(MIN(to, f->npages), FILE_PAGES_MAX);
	for (; from < to; from += MIN(step, to - from))
		if (!read_window(m, f, from, MIN(step, to - from), 0, 0, UINT64_MAX, cg, 0, &done))
			break;
}

/* ---- mapped files ---- */

/* do_sync_mmap_readahead(): 9.2. */
static void sync_mmap_readahead(struct rf_model *m, struct file *f, const struct rf_vma *vma, uint64_t pgoff,
                                struct cgroup *cg, unsigned how, uint64_t *done)
{
	uint64_t max = ra_pages(m), start, first, last;
	gboolean exec = (vma->prot & RF_PROT_X) && m->cfg.kernel_release >= RF_KERNEL(6, 16, 0);

	if ((vma->flags & RF_VMA_RAND) && !exec)
		return;
	if (!max)
		return;
	if (vma->flags & RF_VMA_SEQ) {
		sync_readahead(m, f, pgoff, max, cg, how, done);
		return;
	}
	if (f->mmap_miss < MMAP_LOTSAMISS * 10)
		f->mmap_miss++;
	if (f->mmap_miss > MMAP_LOTSAMISS)
		return;
	if (exec) {
		unsigned order = m->cfg.arch == RF_ARCH_ARM64 && m->cfg.page_shift < 16 ? 16 - m->cfg.page_shift : 0;

		first = vma_pgoff(m, vma, vma_first(m, vma));
		last = first + vma_last(m, vma) - vma_first(m, vma);
		start = MAX(pgoff & ~((UINT64_C(1) << order) - 1), first);
		f->ra_start = start;
		f->ra_size = MIN(max, last - start);
		f->ra_async = 0;
	} else {
		f->ra_start = pgoff > max / 2 ? pgoff - max / 2 : 0;
		f->ra_size = max;
		f->ra_async = max / 4;
	}
	f->ra_order = 0;
	read_window(m, f, f->ra_start, f->ra_size, f->ra_async, 0, pgoff, cg, how, done);
}
>>>>>>> local

static unsigned fault_how(const struct rf_vma *vma)
{
	return RF_HOW_FAULT | (vma->flags & (RF_VMA_RAND | RF_VMA_SEQ) ? RF_HOW_NORECENCY : 0) |
	       (vma->prot & RF_PROT_X ? RF_HOW_EXEC : 0);
}

/* filemap_map_pages(): 9.3.  TRUE when the target is mapped now. */
static gboolean fault_around(struct rf_model *m, struct file *f, const struct rf_vma *vma, uint32_t v, uint64_t pgoff)
{
	uint32_t pages = (uint32_t)(m->cfg.fault_around_bytes >> m->cfg.page_shift), per_leaf = 1u << m->leaf_shift;
	uint64_t vma_off = entry_vpn(m, v) - vma_first(m, vma), vma_pages = vma_last(m, vma) - vma_first(m, vma);
	uint32_t at = v & (per_leaf - 1), from, to, i, k = 0;
	uint8_t flags = vma_pte_flags(m, vma), young = m->cfg.arch == RF_ARCH_X86_64 ? PTE_ACC : 0;

	if (pages <= 1)
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
	map_page(m, v, p, PTE_ACC | PTE_WRITE | PTE_DIRTY | vma_pte_flags(m, vma));
	return FAULT_DONE;
}

/* The page at pgoff is in memory and up to date: filemap_fault().  RF_NO_PAGE: the task was killed. */
static rf_page fault_page(struct rf_model *m, struct space *s, struct file *f, const struct rf_vma *vma, uint32_t v,
                          uint64_t pgoff, unsigned type)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	unsigned how = fault_how(vma);
	rf_page p = file_page(m, f, pgoff);
	uint64_t done = 0;

	if (resident(m, p)) {
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
	stall_begin(m);
	spend(m, m->profile.major_overhead, &m->time_fault);
	sync_mmap_readahead(m, f, vma, pgoff, cg, how, &done);
	p = file_page(m, f, pgoff);
	if (!resident(m, p)) {
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
	if (type != RF_WRITE && m->current->alive)
		fault_around(m, f, vma, v, pgoff);
	return p;
}

/* What do_fault() does around it: 9.1. */
enum fault file_fault(struct rf_model *m, struct space *s, const struct rf_vma *vma, uint32_t v, unsigned type)
{
	struct cgroup *cg = cgroup_nth(m, s->cgroup);
	struct file *f = file_get(m, vma->mkind == RF_MAP_SHMEM ? vma->id | UINT32_C(1) << 31 : vma->id);
	uint64_t pgoff = vma_pgoff(m, vma, entry_vpn(m, v));
	gboolean cow = type == RF_WRITE && !(vma->flags & RF_VMA_SHARED);
	uint8_t flags;
	rf_page p;

<<<<<<< main
	if (pgoff >= MAX_PGOFF)
		return FAULT_ERROR;
=======
>>>>>>> local
	f->npages = MAX(f->npages, pgoff + 1); /* the last page of a mapping may lie beyond the size declared */
	if (vma->mkind == RF_MAP_SHMEM) {
		f->shmem = TRUE;
		return shmem_fault(m, s, vma, v, f, pgoff);
	}
	if (type != RF_WRITE && fault_around(m, f, vma, v, pgoff))
		return FAULT_DONE;
<<<<<<< main
	p = file_page(m, f, pgoff);
	if (page_resident(m, p)) {
		if (!(vma->flags & RF_VMA_RAND) && ra_pages(m)) {
			if (f->mmap_miss && !(m->fact[p] & F_READING))
				f->mmap_miss--;
			if (m->fact[folio_head(m, p)] & F_RA) {
				m->fact[folio_head(m, p)] &= ~F_RA;
				async_readahead(m, f, pgoff, ra_pages(m), cg, how);
			}
		}
		wait_for_read(m, p);
	} else {
		uint64_t done = 0;

		count(m, cg, RF_C_pgmajfault, 1);
		stall_begin(m);
		spend(m, m->profile.major_overhead, &m->time_fault);
		sync_mmap_readahead(m, f, vma, pgoff, cg, how, &done);
		p = file_page(m, f, pgoff);
		if (!page_resident(m, p)) {
			p = file_add(m, f, pgoff, cg, how, FALSE);
			if (p == RF_NO_PAGE)
				return FAULT_KILLED;
			done = rf_device_submit(&m->disk, m->host.now, UINT64_C(1) << m->cfg.page_shift, FALSE);
		}
		wait_until(m, done, &m->time_io);
		p = file_page(m, f, pgoff);
		m->fact[p] &= ~F_READING;
		/* After the wait the fault is tried again from the start. */
		if (type != RF_WRITE && fault_around(m, f, vma, v, pgoff))
			return FAULT_DONE;
=======
	if (cow && !new_anon_charge(m, s, vma))
		return FAULT_KILLED;
	p = fault_page(m, s, f, vma, v, pgoff, type);
	if (p == RF_NO_PAGE || !m->current->alive) {
		if (cow)
			uncharge(m, cg, 1);
		return FAULT_KILLED;
>>>>>>> local
	}
	if (m->pte[v] & PTE_PRESENT) /* by fault-around, once the read was done */
		return FAULT_DONE;
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
<<<<<<< main
	if (ev->off + ev->len < ev->off || (ev->off + ev->len) >> m->cfg.page_shift >= MAX_PGOFF) {
=======
	if (ev->off + ev->len < ev->off || (ev->off + ev->len) >> m->cfg.page_shift >= FILE_PAGES_MAX) {
>>>>>>> local
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

<<<<<<< main
		if (!page_resident(m, p)) {
			stall_begin(m);
			sync_readahead(m, f, i, to - i, cg, RF_HOW_READ, &done);
			p = file_page(m, f, i);
			if (!page_resident(m, p)) {
				p = file_add(m, f, i, cg, RF_HOW_READ, FALSE);
				if (p == RF_NO_PAGE)
					return FALSE;
				done = rf_device_submit(&m->disk, m->host.now, UINT64_C(1) << m->cfg.page_shift, FALSE);
			}
			wait_until(m, done, &m->time_io);
			p = file_page(m, f, i);
			m->fact[p] &= ~F_READING;
		} else if (m->fact[folio_head(m, p)] & F_RA) {
			m->fact[folio_head(m, p)] &= ~F_RA;
			async_readahead(m, f, i, to - i, cg, RF_HOW_READ);
			p = file_page(m, f, i);
		}
		if (!page_resident(m, p)) { /* reclaimed by its own read-ahead: start this page over */
			i--;
			continue;
=======
	if (resident(m, p)) {
		page_pin(m, p);
		if (m->fact[folio_head(m, p)] & F_RA) {
			m->fact[folio_head(m, p)] &= ~F_RA;
			async_readahead(m, f, i, to - i, cg, RF_HOW_READ);
>>>>>>> local
		}
		wait_for_read(m, p);
		return p;
	}
	stall_begin(m);
	sync_readahead(m, f, i, to - i, cg, RF_HOW_READ, &done);
	p = file_page(m, f, i);
	if (!resident(m, p)) {
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
		gboolean missing = !resident(m, p);

<<<<<<< main
		if (!page_resident(m, p)) {
			gboolean whole = off <= i * size && off + len >= (i + 1) * size;

=======
		if (missing) {
>>>>>>> local
			stall_begin(m);
			p = file_add(m, f, i, cg, RF_HOW_WRITE, FALSE);
			if (p == RF_NO_PAGE)
				return;
		}
		page_pin(m, p);
		if (missing && !(off <= i * size && off + len >= (i + 1) * size) && i < old)
			/* the rest of the page has to be read */
			wait_until(m, rf_device_submit(&m->disk, m->host.now, size, FALSE), &m->time_io);
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
