/* SPDX-License-Identifier: MIT
 * Time, resident set sizes, stalls, and the result of a run.
 */
#include "sim/model/model.h"
#include <string.h>

/* Stalls are kept exactly up to this many; after that every other one, again and again: the
 * percentiles of a longer run come from an even sample. */
#define STALLS_MAX 65536

void stats_init(struct rf_model *m)
{
	m->stalls = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	m->oom = g_array_new(FALSE, TRUE, sizeof(struct rf_oom));
	m->marks = g_array_new(FALSE, TRUE, sizeof(struct rf_sample));
	m->timeline = g_array_new(FALSE, TRUE, sizeof(struct rf_sample));
}

/* Somebody reads memory.stat: the statistics are folded when more than 64 updates a processor are
 * pending (0.3). */
void stats_poll(struct rf_model *m)
{
	m->poll_left += m->cfg.stats_poll;
	if (m->poll_left < 0)
		m->poll_left = m->cfg.stats_poll - 1;
	if (m->stat_updates <= 64 * (uint64_t)m->cfg.cpus || !m->pol->ops->flush)
		return;
	m->stat_updates = 0;
	m->pol->ops->flush(m->pol);
}

/* Integrals up to now.  An event of the past, run late, must not count backwards. */
static void settle_rss(struct rf_model *m)
{
	int i;

	if (m->host.now <= m->rss_since)
		return;
	for (i = 0; i < RSS_N; i++)
		m->rss_integral[i] += (__uint128_t)m->rss[i] * (m->host.now - m->rss_since);
	m->rss_since = m->host.now;
}

static void settle_space_rss(const struct rf_model *m, struct space *s)
{
	if (m->host.now <= s->rss_since)
		return;
	s->rss_integral += (__uint128_t)(s->rss[0] + s->rss[1] + s->rss[2]) * (m->host.now - s->rss_since);
	s->rss_since = m->host.now;
}

static uint64_t mean_bytes(const struct rf_model *m, __uint128_t integral)
{
	return m->host.now ? (uint64_t)((integral << m->cfg.page_shift) / m->host.now) : 0;
}

void rss_change(struct rf_model *m, struct space *s, int kind, int64_t pages)
{
	uint64_t total = m->rss[0] + m->rss[1] + m->rss[2], own;

	stats_updated(m, 1);
	settle_rss(m);
	settle_space_rss(m, s);
	m->rss[kind] += pages;
	s->rss[kind] += pages;
	m->rss_kind_max[kind] = MAX(m->rss_kind_max[kind], m->rss[kind]);
	m->rss_max = MAX(m->rss_max, total + pages);
	own = s->rss[0] + s->rss[1] + s->rss[2];
	s->rss_max = MAX(s->rss_max, own);
}

void spend(struct rf_model *m, uint64_t ns, uint64_t *account)
{
	ns = core_time(m, ns);
	m->host.now += ns;
	*account += ns;
}

void wait_until(struct rf_model *m, uint64_t when, uint64_t *account)
{
	if (m->closed && rf_sched_current(m->sched)) {
		closed_wait(m, when, account);
		return;
	}
	if (when > m->host.now) {
		*account += when - m->host.now;
		m->host.now = when;
	}
	if (rf_clock_next(m->clock) <= m->host.now)
		rf_clock_run(m->clock, &m->host.now);
}

void stall_begin(struct rf_model *m)
{
	if (!m->stall_began)
		m->stall_began = m->host.now + 1; /* 0 is none */
}

void stall_end(struct rf_model *m)
{
	uint64_t ns, every;

	if (!m->stall_began)
		return;
	ns = m->host.now + 1 - m->stall_began;
	m->stall_began = 0;
	m->stall_max = MAX(m->stall_max, ns);
	for (every = 1; m->nstalls / every >= STALLS_MAX; every *= 2)
		;
	if (m->stalls->len == STALLS_MAX) { /* thin out */
		guint i;

		for (i = 0; i < STALLS_MAX / 2; i++)
			g_array_index(m->stalls, uint64_t, i) = g_array_index(m->stalls, uint64_t, 2 * i);
		g_array_set_size(m->stalls, STALLS_MAX / 2);
	}
	if (m->nstalls % every == 0)
		g_array_append_val(m->stalls, ns);
	m->nstalls++;
}

static int by_value(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t stall_percentile(const GArray *sorted, unsigned per_cent)
{
	if (!sorted->len)
		return 0;
	return g_array_index(sorted, uint64_t, (uint64_t)(sorted->len - 1) * per_cent / 100);
}

static void gauges(struct rf_model *m, uint64_t g[RF_NGAUGES])
{
	unsigned shift = m->cfg.page_shift;
	uint64_t rss = m->rss[0] + m->rss[1] + m->rss[2];
	uint64_t file = 0, mapped = 0, swapcache = 0, anon = 0, lru[4] = { 0 }, kernel = 0, frames, inactive_file = 0;
	guint i;
	int j;

	for (i = 0; i < m->cgroups->len; i++) {
		struct cgroup *cg = cgroup_nth(m, i);
		uint64_t sizes[4] = { 0 };

		file += cg->file;
		anon += cg->anon;
		mapped += cg->mapped;
		swapcache += cg->swapcache;
		kernel += cg->kernel;
		if (m->pol->ops->sizes)
			m->pol->ops->sizes(m->pol, cg->lv, sizes);
		for (j = 0; j < 4; j++)
			lru[j] += sizes[j];
		if (below(m, i, m->workload->lv))
			inactive_file += sizes[2];
	}
	frames = m->cfg.ram_bytes >> shift;
	g[RF_G_rf_accesses] = m->accesses;
	g[RF_G_rf_implicit] = m->implicit;
	g[RF_G_rf_time] = m->host.now;
	g[RF_G_rf_time_access] = m->time_access;
	g[RF_G_rf_time_fault] = m->time_fault;
	g[RF_G_rf_time_io] = m->time_io;
	g[RF_G_rf_time_reclaim] = m->time_reclaim;
	g[RF_G_rf_time_throttle] = m->time_throttle;
	g[RF_G_rf_time_kswapd] = m->time_kswapd;
	g[RF_G_rf_stalls] = m->nstalls;
	g[RF_G_rf_stall_max] = m->stall_max;
	g[RF_G_rf_rss] = rss << shift;
	g[RF_G_rf_rss_anon] = m->rss[RSS_ANON] << shift;
	g[RF_G_rf_rss_file] = m->rss[RSS_FILE] << shift;
	g[RF_G_rf_rss_shmem] = m->rss[RSS_SHMEM] << shift;
	g[RF_G_rf_rss_max] = m->rss_max << shift;
	settle_rss(m);
	g[RF_G_rf_rss_mean] = mean_bytes(m, m->rss_integral[0] + m->rss_integral[1] + m->rss_integral[2]);
	g[RF_G_rf_rss_anon_mean] = mean_bytes(m, m->rss_integral[RSS_ANON]);
	g[RF_G_rf_rss_file_mean] = mean_bytes(m, m->rss_integral[RSS_FILE]);
	g[RF_G_rf_rss_shmem_mean] = mean_bytes(m, m->rss_integral[RSS_SHMEM]);
	g[RF_G_rf_rss_anon_max] = m->rss_kind_max[RSS_ANON] << shift;
	g[RF_G_rf_rss_file_max] = m->rss_kind_max[RSS_FILE] << shift;
	g[RF_G_rf_rss_shmem_max] = m->rss_kind_max[RSS_SHMEM] << shift;
	g[RF_G_rf_resident] = (anon + file) << shift;
	g[RF_G_rf_cache] = file << shift;
	g[RF_G_rf_mapped_file] = mapped << shift;
	g[RF_G_rf_dirty] = m->dirty << shift;
	g[RF_G_rf_lazyfree] = m->lazyfree << shift;
	g[RF_G_rf_mlocked] = m->mlocked << shift;
	g[RF_G_rf_swap] = m->swap_used << shift;
	g[RF_G_rf_swapcache] = swapcache << shift;
	for (j = 0; j < 4; j++)
		g[RF_G_rf_inactive_anon + j] = lru[j] << shift;
	if (m->pol->ops->scan_times) {
		uint64_t ns[4];

		m->pol->ops->scan_times(m->pol, m->workload->lv, ns);
		g[RF_G_rf_inactive_file_scan] = ns[2];
		g[RF_G_rf_active_file_scan] = ns[3];
	}
	g[RF_G_rf_usage] = m->workload->usage << shift;
	g[RF_G_rf_usage_max] = m->workload->usage_max << shift;
	g[RF_G_rf_kernel] = kernel << shift;
	g[RF_G_rf_working_set] = (m->workload->usage - MIN(m->workload->usage, inactive_file)) << shift;
	g[RF_G_rf_free] = (m->ram - MIN(m->ram, m->used)) << shift;
	g[RF_G_rf_page_tables] = m->ntables << shift;
	g[RF_G_rf_struct_page] = frames * m->layout.struct_page;
	account_gauges(m, g);
	g[RF_G_rf_vma] = m->vma_bytes;
	if (m->vol.ops->ranges) {
		g[RF_G_rf_vranges] = m->vol.ops->ranges(&m->vol);
		g[RF_G_rf_vranges_max] = MAX(m->vol_most, g[RF_G_rf_vranges]);
		g[RF_G_rf_vranges_purged] = m->vol.ops->purged(&m->vol);
		g[RF_G_rf_vrange_bytes] = m->vol.ops->bytes ? m->vol.ops->bytes(&m->vol) : 0;
	}
	g[RF_G_rf_shadow_nodes] = m->node_bytes;
	g[RF_G_rf_swap_meta] = m->swap_slots * 11 + m->swap_slots / 16; /* 12.4: map 1, id 2, table 8; cluster 32/512 */
	g[RF_G_rf_reference_pages] = (uint64_t)m->nrefpages << shift;
	g[RF_G_rf_metadata] = g[RF_G_rf_page_tables] + g[RF_G_rf_struct_page] + g[RF_G_rf_account] +
	                      g[RF_G_rf_vma] + g[RF_G_rf_vrange_bytes] + g[RF_G_rf_shadow_nodes] + g[RF_G_rf_swap_meta];
}

void stats_sample(struct rf_model *m, struct rf_sample *out)
{
	memset(out, 0, sizeof *out);
	out->now = m->host.now;
	memcpy(out->counter, m->counter, sizeof out->counter);
	gauges(m, out->gauge);
}

static void cgroup_result(struct rf_model *m, struct cgroup *cg, struct rf_cgroup_result *r)
{
	unsigned shift = m->cfg.page_shift;
	guint i;
	int j;

	memset(r, 0, sizeof *r);
	r->path = g_strdup(cg->path);
	r->usage = cg->usage << shift;
	r->usage_max = cg->usage_max << shift;
	for (i = 0; i < m->cgroups->len; i++) { /* hierarchical, as memory.stat */
		struct cgroup *c = cgroup_nth(m, i), *up = c;
		uint64_t sizes[4] = { 0 };

		while (up && up != cg)
			up = up->parent;
		if (!up)
			continue;
		for (j = 0; j < RF_NCOUNTERS; j++)
			r->counter[j] += c->counter[j];
		r->anon += c->anon << shift;
		r->file += c->file << shift;
		r->file_mapped += c->mapped << shift;
		r->swap += c->swap << shift;
		r->kernel += c->kernel << shift;
		if (m->pol->ops->sizes)
			m->pol->ops->sizes(m->pol, c->lv, sizes);
		for (j = 0; j < 4; j++)
			r->lru[j] += sizes[j] << shift;
	}
}

gboolean stats_finish(struct rf_model *m, struct rf_result *out, GError **error)
{
	guint i;

	(void)error;
	memcpy(out->counter, m->counter, sizeof out->counter);
	m->counter[RF_C_pgpgin] = out->counter[RF_C_pgpgin] = m->swap_dev.read_kib + m->disk.read_kib;
	m->counter[RF_C_pgpgout] = out->counter[RF_C_pgpgout] = m->swap_dev.write_kib + m->disk.write_kib;
	gauges(m, out->gauge);
	g_array_sort(m->stalls, by_value);
	closed_gauges(m, out);
	out->gauge[RF_G_rf_stall_p50] = stall_percentile(m->stalls, 50);
	out->gauge[RF_G_rf_stall_p99] = stall_percentile(m->stalls, 99);
	for (i = 0; i < m->task_order->len; i++) {
		struct task *t = m->task_order->pdata[i];
		struct space *s = m->spaces->pdata[t->space];
		struct rf_task_result r = { .tid = t->tid, .name = g_strdup(t->name),
			.rss = (s->rss[0] + s->rss[1] + s->rss[2]) << m->cfg.page_shift,
			.rss_mean = (settle_space_rss(m, s), mean_bytes(m, s->rss_integral)),
			.rss_max = s->rss_max << m->cfg.page_shift, .swap = s->swapents << m->cfg.page_shift,
			.pgfault = t->pgfault, .pgmajfault = t->pgmajfault, .accesses = t->accesses,
			.cpu = t->ran, .spin = t->spun, .queue = t->waited[RF_WAIT_CPU],
			.device = t->waited[RF_WAIT_DEVICE], .lock = t->waited[RF_WAIT_LOCK],
			.throttle = t->waited[RF_WAIT_THROTTLE],
			.oom_killed = t->killed, .exited = t->exited };

		g_array_append_val(out->tasks, r);
	}
	for (i = 0; i < m->cgroups->len; i++) {
		struct cgroup *cg = cgroup_nth(m, i);
		struct rf_cgroup_result r;

		cgroup_result(m, cg, &r);
		if (cg == m->workload)
			g_array_prepend_val(out->cgroups, r);
		else
			g_array_append_val(out->cgroups, r);
	}
	g_array_append_vals(out->oom, m->oom->data, m->oom->len);
	g_array_append_vals(out->marks, m->marks->data, m->marks->len);
	g_array_append_vals(out->timeline, m->timeline->data, m->timeline->len);
	g_array_set_size(m->oom, 0);
	g_array_set_size(m->marks, 0);
	g_array_set_size(m->timeline, 0);
	return TRUE;
}

void stats_free(struct rf_model *m)
{
	guint i;

	for (i = 0; m->oom && i < m->oom->len; i++) {
		g_free(g_array_index(m->oom, struct rf_oom, i).cgroup);
		g_free(g_array_index(m->oom, struct rf_oom, i).reason);
	}
	for (i = 0; m->marks && i < m->marks->len; i++)
		g_free(g_array_index(m->marks, struct rf_sample, i).mark);
	g_clear_pointer(&m->oom, g_array_unref);
	g_clear_pointer(&m->marks, g_array_unref);
	g_clear_pointer(&m->timeline, g_array_unref);
	g_clear_pointer(&m->stalls, g_array_unref);
}
