/* SPDX-License-Identifier: MIT
 * The machine's own memory: free frames and watermarks, kswapd, direct reclaim, the OOM killer
 * (kernel-reclaim 6.6 and 7).
 */
#include "sim/model/model.h"
#include "base/isqrt.h"

static uint64_t free_frames(const struct rf_model *m)
{
	return m->ram > m->used ? m->ram - m->used : 0;
}

/* Metadata is taken first; what is left is what reclaim has to live with. */
void node_init(struct rf_model *m)
{
	unsigned shift = m->cfg.page_shift;
	uint64_t frames = m->cfg.ram_bytes >> shift, kb, gap;
	uint64_t meta;

	account_init(m);
	meta = frames * m->layout.struct_page + account_boot(m);
	m->ram = frames;
	m->used = m->reserved = (meta + (UINT64_C(1) << shift) - 1) >> shift;
	kb = m->cfg.min_free_kbytes;
	if (!kb) /* 7.1; the clamp was 64 MiB before 5.10 */
		kb = CLAMP(rf_isqrt(16 * (m->cfg.ram_bytes >> 10)), 128,
		           m->cfg.kernel_release >= RF_KERNEL(5, 10, 0) ? 262144u : 65536u);
	m->wmark_min = MAX(1, (kb << 10) >> shift);
	gap = m->wmark_min / 4;
	if (m->cfg.kernel_release >= RF_KERNEL(4, 6, 0))
		gap = MAX(gap, frames * m->cfg.watermark_scale_factor / 10000);
	m->wmark_low = m->wmark_min + gap;
	m->wmark_high = m->wmark_low + gap;
}

static struct rf_scan node_scan(struct rf_model *m, uint64_t goal, gboolean kswapd)
{
	uint64_t file = 0;
	guint i;

	for (i = 0; i < m->cgroups->len; i++)
		file += cgroup_nth(m, i)->file;
	return (struct rf_scan){
		.target = m->host.root, .goal = MAX(goal, RF_SWAP_CLUSTER_MAX),
		.swappiness = (int)m->cfg.swappiness, .may_swap = TRUE, .global = TRUE, .kswapd = kswapd,
		.file_tiny = file + free_frames(m) <= m->wmark_high,
	};
}

/* congestion_wait(): up to 2.6.36 whoever reclaims naps after a round that scanned at these priorities, so
 * that writes may end before it looks at more pages. */
#define NAP 100000000 /* ns */

static gboolean wants_nap(const struct rf_model *m, const struct rf_scan *sc, int prio)
{
	return m->cfg.congestion_wait && sc->scanned && prio < RF_DEF_PRIORITY - 2;
}

/* Others reclaim meanwhile, kswapd too. */
void host_round_done(struct rf_policy *pol, struct rf_scan *sc)
{
	struct rf_model *m = pol->machine;

	if (!wants_nap(m, sc, sc->prio))
		return;
	m->in_reclaim = FALSE;
	m->scan = NULL;
	wait_until(m, m->host.now + NAP, &m->time_throttle);
	m->in_reclaim = TRUE;
	m->scan = sc;
}

/* A kswapd that naps goes deeper with every round, and starts over with the first pages that it frees. */
static void kswapd_next_prio(struct rf_model *m, const struct rf_scan *sc)
{
	if (!m->cfg.congestion_wait) {
		m->kswapd_prio -= sc->scanned < sc->goal || !sc->reclaimed;
	} else if (m->kswapd_reclaimed >= RF_SWAP_CLUSTER_MAX) {
		m->kswapd_prio = RF_DEF_PRIORITY;
		m->kswapd_reclaimed = 0;
	} else {
		m->kswapd_prio--;
	}
}

/* balance_pgdat(): 7.3.  One round an event; the round's own time passes before the next. */
static void kswapd_round(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;
	uint64_t began = m->host.now, took, reclaim = m->time_reclaim;
	struct rf_scan sc, *outer = m->scan;
	struct rf_lruvec *lv;
	gboolean nap;

	(void)arg;
	if (m->in_reclaim) { /* a task waits inside its own reclaim: after it */
		rf_clock_at(m->clock, m->host.now + MAX(m->profile.kswapd_wake, 1), kswapd_round, m, 0);
		return;
	}
	if (free_frames(m) > m->wmark_high || m->kswapd_failures >= 16) {
		m->kswapd_running = FALSE;
		return;
	}
	sc = node_scan(m, m->wmark_high, TRUE);
	m->scan = &sc;
	m->in_reclaim = TRUE;
	count(m, m->cgroups->pdata[0], RF_C_pageoutrun, 1);
	sc.prio = m->kswapd_prio;
	volatile_purge(m, &sc);
	if (m->pol->ops->age)
		m->pol->ops->age(m->pol, &sc);
	if (!m->pol->ops->shrink) {
		sc.goal = MIN(sc.goal, m->wmark_high + 1 - free_frames(m));
		rf_reclaim(m->pol, &sc);
	} else {
		if (m->pol->ops->prepare)
			m->pol->ops->prepare(m->pol, &sc);
		for (lv = sc.target; lv; lv = rf_lruvec_next(sc.target, lv)) {
			rf_shrink_lruvec(m->pol, lv, &sc);
			host_shrink_slab(m->pol, lv, &sc);
		}
	}
	volatile_settle(m);
	m->in_reclaim = FALSE;
	m->scan = outer;
	/* It runs on a processor of its own: its time is not the task's. */
	took = m->host.now - began;
	m->host.now = began;
	m->time_reclaim = reclaim;
	m->time_kswapd += took;
	m->kswapd_reclaimed += sc.reclaimed;
	if (sc.reclaimed)
		m->kswapd_failures = 0;
	nap = wants_nap(m, &sc, m->kswapd_prio);
	kswapd_next_prio(m, &sc);
	if (m->kswapd_prio < 1) { /* a whole run in vain is a failure; it does not sleep for that (yet) */
		if (!m->kswapd_reclaimed)
			m->kswapd_failures++;
		m->kswapd_reclaimed = 0;
		m->kswapd_prio = RF_DEF_PRIORITY;
		if (m->pol->ops->finish)
			m->pol->ops->finish(m->pol, &sc);
	} else if (free_frames(m) > m->wmark_high && m->pol->ops->finish) {
		m->pol->ops->finish(m->pol, &sc);
	}
	rf_clock_at(m->clock, began + (nap ? NAP : MAX(took, 1)), kswapd_round, m, 0);
}

static void kswapd_wake(struct rf_model *m)
{
	if (m->kswapd_running || m->kswapd_failures >= 16)
		return;
	m->kswapd_running = TRUE;
	m->kswapd_prio = RF_DEF_PRIORITY;
	m->kswapd_reclaimed = 0;
	rf_clock_at(m->clock, m->host.now + m->profile.kswapd_wake, kswapd_round, m, 0);
}

/* __alloc_pages(): 7.2.  FALSE: nothing could be freed for an allocation that may fail, or the
 * current task was killed. */
gboolean frames_take(struct rf_model *m, uint32_t n, gboolean noretry)
{
	int failures = 0;

	while (m->used + n + m->wmark_low > m->ram) {
		struct rf_scan sc, *outer = m->scan;

		kswapd_wake(m);
		if (m->in_reclaim || m->used + n + m->wmark_min <= m->ram)
			break;
		sc = node_scan(m, RF_SWAP_CLUSTER_MAX, FALSE);
		m->scan = &sc;
		m->in_reclaim = TRUE;
		stall_begin(m);
		count(m, m->cgroups->pdata[0], RF_C_allocstall, 1);
		volatile_purge(m, &sc);
		if (sc.reclaimed < sc.goal)
			rf_reclaim(m->pol, &sc);
		volatile_settle(m);
		m->in_reclaim = FALSE;
		m->scan = outer;
		if (sc.reclaimed) {
			m->kswapd_failures = 0;
			failures = 0;
			if (m->used + n + m->wmark_min <= m->ram)
				break;
			continue;
		}
		if (noretry)
			return FALSE;
		if (rf_clock_next(m->clock) != UINT64_MAX && failures < MAX(16, (int)m->swap_dev.depth)) {
			/* Writeback or kswapd may still bring something: a jiffy's sleep (7.4). */
			failures++;
			wait_until(m, m->host.now + 4000000, &m->time_throttle);
			continue;
		}
		if (++failures < 16)
			continue;
		if (m->used + n <= m->ram && m->current && !m->current->alive)
			break;
		out_of_memory(m, m->cgroups->pdata[0], "no free frames and nothing left to reclaim");
		failures = 0;
		if (!m->current || !m->current->alive)
			return FALSE;
	}
	m->used += n;
	return TRUE;
}

void frames_give(struct rf_model *m, uint32_t n)
{
	m->used -= MIN(m->used, n);
}

void unowned_update(struct rf_model *m)
{
	uint64_t bytes = account_dynamic(m) + (m->vol.ops->bytes ? m->vol.ops->bytes(&m->vol) : 0);
	uint64_t pages = (bytes + (UINT64_C(1) << m->cfg.page_shift) - 1) >> m->cfg.page_shift;

	m->reserved += pages - m->unowned;
	m->used += pages - m->unowned;
	m->unowned = pages;
}

/* oom_badness(): the largest of resident pages, swap entries and page tables. */
gboolean out_of_memory(struct rf_model *m, struct cgroup *cg, const char *reason)
{
	struct task *victim = NULL;
	uint64_t worst = 0;
	struct rf_oom oom = { .now = m->host.now };
	guint i;

	for (i = 0; i < m->task_order->len; i++) {
		struct task *t = m->task_order->pdata[i];
		struct space *s = m->spaces->pdata[t->space];
		struct cgroup *up = cgroup_nth(m, s->cgroup);
		uint64_t points = s->rss[0] + s->rss[1] + s->rss[2] + s->swapents + s->ntables + 1;

		while (up && up != cg)
			up = up->parent;
		if (t->alive && up && points > worst) {
			worst = points;
			victim = t;
		}
	}
	if (!victim)
		victim = m->current && m->current->alive ? m->current : NULL;
	if (!victim)
		return FALSE;
	count(m, cg, RF_C_oom_kill, 1);
	oom.tid = victim->tid;
	oom.cgroup = g_strdup(cg->path);
	oom.reason = g_strdup(reason);
	g_array_append_val(m->oom, oom);
	task_kill(m, victim);
	return TRUE;
}
