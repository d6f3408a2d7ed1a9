/* SPDX-License-Identifier: MIT
 * The modelled machine: built, fed with the items of a trace, finished.
 */
#include "sim/model/model.h"
#include <string.h>
#include "base/error.h"

/* ORDER enum rf_access: what a hit needs of the entry, and what it leaves there. */
static const uint8_t hit_need[RF_NACCESS + 1] = { PTE_PRESENT, PTE_PRESENT | PTE_WRITE, PTE_PRESENT, PTE_PRESENT };
static const uint8_t hit_set[RF_NACCESS + 1] = { PTE_ACC, PTE_ACC | PTE_DIRTY, PTE_ACC, PTE_ACC };

static struct rf_lruvec *host_lruvec_of(struct rf_policy *pol, rf_page page)
{
	struct rf_model *m = pol->machine;

	return cgroup_nth(m, m->owner[page])->lv;
}

static gboolean host_spare_inactive(struct rf_policy *pol, rf_page page, unsigned vm)
{
	struct rf_model *m = pol->machine;

	return m->seams.protect->activate(m->seams.protect_opt, &m->host, page, vm);
}

static gboolean host_spare_active(struct rf_policy *pol, rf_page page, unsigned vm)
{
	struct rf_model *m = pol->machine;

	return m->seams.protect->rotate(m->seams.protect_opt, &m->host, page, vm);
}

/* Floors are the machine's, as the knobs are: also for a cgroup at its limit. */
static gboolean host_spare_list(struct rf_policy *pol, gboolean anon, struct rf_scan *sc)
{
	struct rf_model *m = pol->machine;
	const unsigned shift = m->cfg.page_shift;
	struct rf_protect_sizes sizes = { .swap = sc->may_swap && host_swap_available(pol, sc->target) };
	uint64_t file = m->lazyfree, all = 0;

	for (guint i = 0; i < m->cgroups->len; i++) {
		const struct cgroup *cg = cgroup_nth(m, i);

		file += cg->file - cg->shmem;
		all += cg->file + cg->anon;
	}
	sizes.file = file << shift;
	sizes.clean_file = (file - MIN(file, m->dirty)) << shift;
	sizes.anon = (all - file) << shift;
	if (!m->seams.protect->spare_list(m->seams.protect_opt, &sizes, anon, sc->prio))
		return FALSE;
	sc->spared = TRUE;
	return TRUE;
}

static void host_lazyfree(struct rf_policy *pol, rf_page page)
{
	page_set_lazyfree(pol->machine, page);
}

static void host_scan_cost(struct rf_policy *pol, uint64_t pages, gboolean mapped)
{
	struct rf_model *m = pol->machine;

	spend(m, pages * (mapped ? m->profile.scan_mapped : m->profile.scan_unmapped), &m->time_reclaim);
}

static uint64_t host_next_use(struct rf_policy *pol, rf_page page)
{
	(void)pol, (void)page;
	return UINT64_MAX;
}

/* Reclaim decides on statistics of cgroups that are old since 6.12; before, it flushed them itself or
 * they were current (kernel-reclaim 0.3). */
static gboolean stats_grow_old(const struct rf_model *m)
{
	return m->cfg.stats_flush_period && m->cfg.kernel_release >= RF_KERNEL(6, 12, 0);
}

static void flush_stats(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;

	(void)arg;
	m->stat_updates = 0;
	if (m->pol->ops->flush)
		m->pol->ops->flush(m->pol);
	rf_clock_at(m->clock, m->host.now + m->cfg.stats_flush_period, flush_stats, m, 0);
}

static void take_sample(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;
	struct rf_sample s;

	(void)arg;
	stats_sample(m, &s);
	g_array_append_val(m->timeline, s);
	if (m->timeline->len == RF_TIMELINE_MOST) {
		struct rf_sample *all = (struct rf_sample *)(void *)m->timeline->data;

		for (guint i = 0; i < RF_TIMELINE_MOST / 2; i++)
			all[i] = all[2 * i + 1];
		g_array_set_size(m->timeline, RF_TIMELINE_MOST / 2);
		m->sample_every *= 2;
	}
	rf_clock_at(m->clock, m->host.now + m->sample_every, take_sample, m, 0);
}

static void init_host(struct rf_model *m)
{
	m->host = (struct rf_host){
		.abi = RF_POLICY_ABI, .size = sizeof(struct rf_host), .page_shift = m->cfg.page_shift,
		.kernel = m->cfg.kernel_release, .ncpus = (unsigned)m->cfg.cpus, .seed = (uint64_t)m->cfg.seed,
		.total_frames = (uint32_t)MIN(m->cfg.ram_bytes >> m->cfg.page_shift, UINT32_MAX),
		.stats_fresh = !stats_grow_old(m),
		.lruvec_of = host_lruvec_of, .young = host_young, .evict = host_evict, .count = host_count,
		.lazyfree = host_lazyfree, .batch_done = host_batch_done, .shrink_slab = host_shrink_slab,
		.swap_available = host_swap_available, .unprotected = host_unprotected,
		.spare_inactive = host_spare_inactive, .spare_active = host_spare_active,
		.scan_cost = host_scan_cost, .next_use = host_next_use,
		.walk = host_walk, .look_around = host_look_around, .mark_reclaim = host_mark_reclaim,
		.out_of_memory = host_out_of_memory, .round_done = host_round_done,
	};
}

static void init_cgroups(struct rf_model *m)
{
	struct cgroup *root = cgroup_new(m, "/", NULL), *cg = root;
	unsigned shift = m->cfg.page_shift;

	m->host.root = root->lv;
	if (m->cfg.limit_bytes || m->cfg.memory_high || m->cfg.memory_low || m->cfg.memory_min)
		cg = cgroup_new(m, "/workload", root);
	m->workload = cg;
	if (m->cfg.limit_bytes)
		cg->max = m->cfg.limit_bytes >> shift;
	if (m->cfg.memory_high)
		cg->high = m->cfg.memory_high >> shift;
	cg->low = m->cfg.memory_low >> shift;
	cg->min = m->cfg.memory_min >> shift;
}

struct rf_model *rf_model_new(const struct rf_config *cfg, const struct rf_totals *totals, GError **error)
{
	struct rf_model *m = g_new0(struct rf_model, 1);

	(void)totals;
	m->cfg = *cfg;
	m->profile = cfg->profile;
	m->leaf_shift = m->cfg.page_shift - 3; /* entries of 8 bytes, a table is a page: 12.5 */
	m->free_page = RF_NO_PAGE;
	m->until = m->soft = UINT64_MAX;
	rf_list_init(&m->tlb);
	m->clock = rf_clock_new();
	m->spaces = g_ptr_array_new();
	m->cgroups = g_ptr_array_new();
	m->files = g_ptr_array_new();
	m->task_order = g_ptr_array_new();
	m->tasks = g_hash_table_new(g_direct_hash, g_direct_equal);
	m->file_by_id = g_hash_table_new(g_direct_hash, g_direct_equal);
	m->cgroup_by_path = g_hash_table_new(g_str_hash, g_str_equal);
	m->refpages = g_hash_table_new(g_direct_hash, g_direct_equal);
	stats_init(m);
	lists_init(m);
	llc_init(m);
	init_host(m);
	if (!rf_seams_init(&m->seams, &m->cfg, error))
		goto fail;
	if (m->seams.protect->spare_list)
		m->host.spare_list = host_spare_list;
	m->pol = rf_policy_new(m->cfg.reclaim, &m->host, m, error);
	if (!m->pol)
		goto fail;
	if (m->pol->ops->flags & RF_POLICY_FUTURE) {
		rf_set_usage(error, "--reclaim %s knows the future of an ideal memory only: expected --frames with it",
		             m->pol->ops->name);
		goto fail;
	}
	/* ext4 has large folios since 6.16; a policy that does not know them keeps single pages. */
	if ((m->pol->ops->flags & RF_POLICY_FOLIOS) && m->cfg.read_ahead_kb &&
	    (m->cfg.large_folios == 2 || (!m->cfg.large_folios && m->cfg.kernel_release >= RF_KERNEL(6, 16, 0)))) {
		m->order = g_new0(uint8_t, 1);
		m->host.order = m->order;
	}
	swap_init(m);
	volatile_init(m);
	init_cgroups(m);
	node_init(m);
	writeback_init(m);
	if (stats_grow_old(m))
		rf_clock_at(m->clock, m->cfg.stats_flush_phase, flush_stats, m, 0);
	m->sample_every = m->cfg.timeline;
	if (m->sample_every)
		rf_clock_at(m->clock, m->sample_every, take_sample, m, 0);
	return m;
fail:
	rf_model_free(m);
	return NULL;
}

void rf_model_free(struct rf_model *m)
{
	guint i;

	if (!m)
		return;
	for (i = 0; i < m->spaces->len; i++) {
		struct space *s = m->spaces->pdata[i];

		if (!s)
			continue;
		rf_vmas_free(s->vmas);
		g_array_unref(s->leaves);
		g_byte_array_unref(s->anon_vma);
		g_hash_table_unref(s->tables);
		rf_lock_clear(&s->mmap_lock);
		rf_lock_clear(&s->ranges_lock);
		g_free(s);
	}
	for (i = 0; i < m->task_order->len; i++) {
		g_free(((struct task *)m->task_order->pdata[i])->name);
		g_free(m->task_order->pdata[i]);
	}
	for (i = 0; i < m->files->len; i++)
		file_free(m->files->pdata[i]);
	for (i = m->cgroups->len; i-- > 0; ) {
		struct cgroup *cg = m->cgroups->pdata[i];

		rf_lruvec_free(m->pol, cg->lv);
		rf_line_clear(&cg->counter_line);
		rf_spin_clear(&cg->lru_lock);
		g_free(cg->path);
		g_free(cg);
	}
	rf_policy_free(m->pol);
	rf_seams_clear(&m->seams);
	llc_free(m);
	lists_free(m);
	volatile_free(m);
	stats_free(m);
	rf_sched_free(m->sched);
	rf_clock_free(m->clock);
	g_ptr_array_unref(m->spaces);
	g_ptr_array_unref(m->cgroups);
	g_ptr_array_unref(m->files);
	g_ptr_array_unref(m->task_order);
	g_hash_table_unref(m->refpages);
	g_hash_table_unref(m->tasks);
	g_hash_table_unref(m->file_by_id);
	g_hash_table_unref(m->cgroup_by_path);
	g_free(m->pte);
	g_free(m->pte_page);
	g_free(m->rmap_next);
	g_free(m->tlb_link);
	g_free(m->tlb_state);
	g_free(m->leaf);
	g_free(m->leaf_acc);
	g_free(m->map);
	g_free(m->fact);
	g_free(m->owner);
	g_free(m->rmap);
	g_free(m->shadow);
	g_free(m->ident);
	g_free(m->slot);
	g_free(m->order);
	g_free(m->seen);
	g_free(m->slot_page);
	g_free(m);
}

/* Names of new dense ids: which entry each is. */
gboolean pages_item(struct rf_model *m, const struct rf_item *item, GError **error)
{
	uint32_t i, n = item->pages.first + item->pages.n;
	unsigned shift = m->cfg.page_shift - RF_GRANULE_SHIFT;

	if (n > m->map_size) {
		m->map_size = MAX(MAX(n, 4096), m->map_size + m->map_size / 4);
		m->map = g_renew(uint32_t, m->map, m->map_size);
	}
	for (i = 0; i < item->pages.n; i++) {
		const struct rf_page_name *name = &item->pages.name[i];
		struct space *s = space_nth(m, name->space);

		if (!s && m->closed) {
			closed_name(m, item->pages.first + i, name->space, name->vpn >> shift);
			continue;
		}
		if (!s) {
			rf_set_data(error, "record %" G_GUINT64_FORMAT ": a page of address space %u; there are %u so far",
			            item->record, name->space, m->spaces->len);
			return FALSE;
		}
		m->map[item->pages.first + i] = entry_get(m, s, name->vpn >> shift);
	}
	m->nmap = n;
	return TRUE;
}

/* Runs whose entry is asked for before its turn. */
#define LOOK_AHEAD 24

/* What a batch of runs adds up to. */
struct tally {
	uint64_t accesses, ns; /* ns: of hits */
	int64_t poll_left;
};

/* From run i on, those that hit while nothing else is due: the first one that is not. */
static uint32_t take_hits(struct rf_model *m, const struct rf_runs *r, uint32_t i, struct tally *sum)
{
	const uint64_t cost = (uint64_t)m->profile.access, next = MIN(rf_clock_next(m->clock), m->soft);
	const uint32_t *map = m->map;
	uint8_t *pte = m->pte, *leaf_acc = m->leaf_acc;
	uint64_t now = m->host.now, accesses = 0, ns;
	int64_t poll_left = sum->poll_left;

	for (; i < r->n && now < next; i++) {
		uint32_t v = map[r->page[i]], n = r->count[i];
		unsigned type = r->type[i] & RF_TYPE_MASK;
		uint32_t records = r->type[i] & RF_RUN_CONT ? 0 : n;

		if (i + LOOK_AHEAD < r->n)
			__builtin_prefetch(&pte[map[r->page[i + LOOK_AHEAD]]], 1);
		if ((pte[v] & hit_need[type]) != hit_need[type] || poll_left < records)
			break;
		poll_left -= records;
		accesses += records;
		pte[v] |= hit_set[type];
		leaf_acc[v >> m->leaf_shift] = PTE_ACC;
		now += cost * n;
	}
	ns = core_time(m, now - m->host.now);
	m->host.now += ns;
	sum->poll_left = poll_left;
	sum->accesses += accesses;
	sum->ns += ns;
	return i;
}

/* The poll of the statistics is due, or was never asked for. */
static void poll_due(struct rf_model *m, struct tally *sum)
{
	if (m->cfg.stats_poll) {
		m->poll_left = sum->poll_left;
		stats_poll(m);
		sum->poll_left = m->poll_left;
	} else {
		sum->poll_left = INT64_MAX;
	}
}

/* While a fault waits, another thread may take away what it waits for: then again, as the kernel does. */
static enum fault fault_in(struct rf_model *m, struct task *t, uint32_t v, unsigned type, GError **error)
{
	enum fault result;
	unsigned tries = 4;
	uint64_t sleeps;

	do {
		sleeps = m->sleeps;
		result = fault(m, t, v, type, error);
	} while (result == FAULT_DONE && (m->pte[v] & hit_need[type]) != hit_need[type] && m->sleeps != sleeps &&
	         --tries);
	return result;
}

/* Any run: FALSE when it can't be. */
static gboolean take_run(struct rf_model *m, struct task *t, const struct rf_runs *r, uint32_t i,
                         struct tally *sum, GError **error)
{
	uint32_t v = m->map[r->page[i]], n = r->count[i];
	unsigned type = r->type[i] & RF_TYPE_MASK;
	uint32_t records = r->type[i] & RF_RUN_CONT ? 0 : n;

	sum->accesses += records;
	if ((sum->poll_left -= records) < 0)
		poll_due(m, sum);
	if ((m->pte[v] & hit_need[type]) != hit_need[type]) {
		m->poll_left = sum->poll_left;
		switch (fault_in(m, t, v, type, error)) {
		case FAULT_ERROR:
			return FALSE;
		case FAULT_KILLED:
			return TRUE;
		case FAULT_DONE:
			n--;
		}
		sum->poll_left = m->poll_left;
		if (!(m->pte[v] & PTE_PRESENT))
			return TRUE;
	}
	if (m->cfg.tlb_entries) {
		uint8_t bits = tlb_access(m, v, type);

		m->pte[v] |= bits;
		m->leaf_acc[v >> m->leaf_shift] |= bits & PTE_ACC;
	} else {
		m->pte[v] |= hit_set[type];
		m->leaf_acc[v >> m->leaf_shift] = PTE_ACC;
	}
	if ((m->pol->ops->flags & RF_POLICY_ACCESS) && n && !(m->pte[v] & PTE_ZERO)) {
		rf_page p = m->pte_page[v];

		if (!(m->fact[p] & F_UNEV))
			m->pol->ops->access(m->pol, m->host.lruvec_of(m->pol, p), p, type, n);
	}
	spend(m, (uint64_t)m->profile.access * n, &sum->ns);
	if (m->profile.mem_mbps)
		memory_run(m, r, i);
	return TRUE;
}

/* Nothing but the entry's bits learns of a hit. */
static gboolean hits_are_quiet(const struct rf_model *m)
{
	return !(m->pol->ops->flags & RF_POLICY_ACCESS) && m->cfg.tlb_entries == 0 && m->profile.mem_mbps == 0;
}

/* In closed replay a fault begins when no other task is behind. */
static gboolean must_let_others(const struct rf_model *m, const struct rf_runs *r, uint32_t i)
{
	uint8_t need = hit_need[r->type[i] & RF_TYPE_MASK];

	return m->until <= m->host.now && (m->pte[m->map[r->page[i]]] & need) != need;
}

gboolean runs_item(struct rf_model *m, const struct rf_item *item, uint32_t *from, GError **error)
{
	const struct rf_runs *r = &item->runs;
	struct task *t = task_get(m, r->tid, error);
	const gboolean quiet = hits_are_quiet(m);
	struct tally sum = { .poll_left = m->poll_left };
	uint32_t i = *from;

	if (!t)
		return FALSE;
	if (m->cfg.tlb_entries && m->current != t && !m->closed)
		tlb_flush(m);
	m->current = t;
	space_nth(m, t->space)->ran = TRUE;
	while (i < r->n && t->alive) {
		if (quiet)
			i = take_hits(m, r, i, &sum);
		if (m->closed && i > *from && i < r->n && (m->soft <= m->host.now || must_let_others(m, r, i)))
			break;
		if (i < r->n && rf_clock_next(m->clock) > m->host.now) {
			if (!take_run(m, t, r, i, &sum, error)) {
				g_prefix_error(error, "record %" G_GUINT64_FORMAT ": ", item->record + i);
				return FALSE;
			}
			i++;
		}
		if (rf_clock_next(m->clock) > m->host.now)
			continue;
		if (m->closed)
			break;
		rf_clock_run(m->clock, &m->host.now);
	}
	*from = t->alive ? i : r->n;
	m->poll_left = sum.poll_left;
	m->time_access += sum.ns;
	m->accesses += sum.accesses;
	t->accesses += sum.accesses;
	return TRUE;
}

/* What entries must have, and what they get, by the ways in which a page was accessed. */
static uint8_t need_of(uint8_t types)
{
	return hit_need[RF_READ] | (types & 1 << RF_WRITE ? hit_need[RF_WRITE] : 0);
}

static uint8_t set_of(uint8_t types)
{
	return hit_set[RF_READ] | (types & 1 << RF_WRITE ? hit_set[RF_WRITE] : 0);
}

gboolean rf_model_skim(struct rf_model *m, const struct rf_item *item, const struct rf_skim *skim)
{
	const uint64_t ns = (uint64_t)m->profile.access * skim->hits;
	struct task *t = m->current;

	/* Of the task that ran last, with nothing due before its end. */
	if (!hits_are_quiet(m) || m->cfg.replay != RF_REPLAY_ORDERED || !t || !t->alive ||
	    t->tid != item->runs.tid || m->poll_left < 0 || (uint64_t)m->poll_left < skim->accesses ||
	    rf_clock_next(m->clock) <= m->host.now ||
	    rf_clock_next(m->clock) - m->host.now <= ns)
		return FALSE;
	for (uint32_t i = 0; i < skim->n; i++) {
		uint8_t need = need_of(skim->types[i]);

		if ((m->pte[m->map[skim->page[i]]] & need) != need)
			return FALSE;
	}
	for (uint32_t i = 0; i < skim->n; i++) {
		uint32_t v = m->map[skim->page[i]];

		m->pte[v] |= set_of(skim->types[i]);
		m->leaf_acc[v >> m->leaf_shift] = PTE_ACC;
	}
	space_nth(m, t->space)->ran = TRUE;
	m->host.now += ns;
	m->poll_left -= (int64_t)skim->accesses;
	m->time_access += ns;
	m->accesses += skim->accesses;
	t->accesses += skim->accesses;
	return TRUE;
}

static void mark(struct rf_model *m, const char *name)
{
	struct rf_sample s;

	stats_sample(m, &s);
	s.mark = g_strdup(name);
	g_array_append_val(m->marks, s);
}

/* refpage_create(): one kernel page for the life of the trace, which nobody is charged for. */
static void refpage(struct rf_model *m, const struct rf_event *ev)
{
	uint64_t period = MIN(ev->len, UINT64_C(1) << m->cfg.page_shift);

	if (!g_hash_table_insert(m->refpages, GUINT_TO_POINTER(ev->id), GSIZE_TO_POINTER(MAX(period, 1))) ||
	    m->seams.fill->load(m->seams.fill_opt, TRUE) != RF_LOAD_REFERENCE_PAGE)
		return;
	m->nrefpages++;
	m->reserved++;
	m->used++;
}

gboolean event_item(struct rf_model *m, const struct rf_event *ev, GError **error)
{
	uint64_t pages;
	struct file *f;

	switch (ev->kind) {
	case RF_EV_FILE:
		f = file_get(m, ev->id);
		g_free(f->name);
		f->name = g_strdup(ev->name);
		f->npages = MAX(f->npages, (ev->len >> m->cfg.page_shift) + ((ev->len & ((1u << m->cfg.page_shift) - 1)) != 0));
		return TRUE;
	case RF_EV_CGROUP:
		return cgroup_event(m, ev, error);
	case RF_EV_TASK:
	case RF_EV_EXEC:
	case RF_EV_EXIT:
		return task_event(m, ev, error);
	case RF_EV_MMAP:
	case RF_EV_MUNMAP:
	case RF_EV_MREMAP:
	case RF_EV_MPROTECT:
	case RF_EV_MADVISE:
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
	case RF_EV_VRANGE:
		return mapping_event(m, ev, error);
	case RF_EV_READ:
	case RF_EV_WRITE:
	case RF_EV_FSYNC:
		return file_rw(m, ev, error);
	case RF_EV_HUGETLB:
		pages = ev->len >> m->cfg.page_shift;
		pages = MIN(pages, m->ram - MIN(m->ram, m->used));
		m->reserved += pages;
		m->used += pages;
		m->hugetlb += pages;
		return TRUE;
	case RF_EV_MEMORY:
		pages = ev->len >> m->cfg.page_shift;
		if (!ev->flag)
			pages = MIN(pages, m->ram);
		m->ram += ev->flag ? pages : -pages;
		m->hotplugged += ev->flag ? (int64_t)pages : -(int64_t)pages;
		unowned_update(m);
		return TRUE;
	case RF_EV_THINK:
		wait_until(m, m->host.now + MIN(ev->len, UINT64_MAX / 4), &m->time_access);
		return TRUE;
	case RF_EV_AT:
		if (ev->len > m->host.now) {
			uint64_t idle = 0;

			wait_until(m, MIN(ev->len, UINT64_MAX / 4), &idle);
		}
		return TRUE;
	case RF_EV_MARK:
		mark(m, ev->name);
		return TRUE;
	case RF_EV_REFPAGE:
		refpage(m, ev);
		return TRUE;
	case RF_EV_LOST:
	case RF_NEVENTS:
		return TRUE;
	}
	return TRUE;
}

void event_counts(struct rf_model *m, enum rf_event_kind kind)
{
	if (m->cfg.stats_poll && kind >= RF_EV_MMAP && kind <= RF_EV_MARK && --m->poll_left < 0)
		stats_poll(m);
}

gboolean take_event(struct rf_model *m, const struct rf_item *item, GError **error)
{
	event_counts(m, item->event.kind);
	if (event_item(m, &item->event, error))
		return TRUE;
	g_prefix_error(error, "record %" G_GUINT64_FORMAT ": ", item->record);
	return FALSE;
}

static gboolean take_item(struct rf_model *m, const struct rf_item *item, GError **error)
{
	uint32_t from = 0;

	switch (item->kind) {
	case RF_ITEM_RUNS:
		return runs_item(m, item, &from, error);
	case RF_ITEM_PAGES:
		return pages_item(m, item, error);
	case RF_ITEM_EVENT:
		if (!take_event(m, item, error))
			return FALSE;
		if (rf_clock_next(m->clock) <= m->host.now)
			rf_clock_run(m->clock, &m->host.now);
		return TRUE;
	case RF_ITEM_END:
		return TRUE;
	}
	return TRUE;
}

gboolean rf_model_item(struct rf_model *m, const struct rf_item *item, GError **error)
{
	if (!take_item(m, item, error))
		return FALSE;
#ifdef RF_CHECKED
	/* A count of everything takes its time: often at first, then now and then. */
	if (m->checked < 256 || m->checked % 64 == 0)
		rf_model_check(m);
	m->checked++;
#endif
	return TRUE;
}

gboolean rf_model_finish(struct rf_model *m, struct rf_result *out, GError **error)
{
	return stats_finish(m, out, error);
}

void rf_model_sample(struct rf_model *m, struct rf_sample *out)
{
	stats_sample(m, out);
}
