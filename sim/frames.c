/* SPDX-License-Identifier: MIT */
#include "sim/frames.h"

#include <string.h>

#include "base/error.h"
#include "sim/names.h"
#include "sim/policy.h"
#include "sim/reclaim.h"

/* The host's own facts on a page. */
enum {
	F_ACCESSED = 0x400,
	F_EVICTED = 0x800, /* not in memory, but it was: the next use is a refault */
	F_KIND = 0x3000,   /* enum kind */
	F_TOUCHED = 0x4000,/* ever */
};
enum { KIND_SHIFT = 12 };
enum kind { ANON, FILE_MAPPED, SHMEM, FILE_CACHE, NKINDS };

/* How many runs ahead memory is asked for: first the page's own state, then its neighbours'
 * links. */
enum { FAR_AHEAD = 48, NEAR_AHEAD = 24 };

struct rf_frames {
	struct rf_host host; /* policies hold on to it: it never moves */
	struct rf_policy *pol;
	struct rf_lruvec *lv;
	struct rf_names names;
	struct rf_names_user user;
	uint16_t *fact;      /* by page */
	uint64_t *shadow;    /* by page; NULL until a policy makes use of it */
	uint64_t *next_use;  /* by page, with RF_POLICY_FUTURE */
	uint32_t size;       /* of the arrays */
	uint32_t frames, resident;
	uint32_t by_kind[NKINDS]; /* of resident; ANON is what is left */
	uint32_t hand;       /* of the fallback */
	gboolean strict, kernel_like, simple_propose, wants_miss;
	gboolean many_spaces; /* each counts its own resident pages */
	int swappiness;
	struct rf_scan scan; /* for simple_propose */
	/* Only what can't be told from others is counted as it happens: see read_counters(). */
	uint64_t counter[RF_NCOUNTERS];
	uint64_t implicit, distinct, freed;
	uint64_t file_misses; /* by read(2) and write(2) */
	uint64_t rss_max;
	unsigned __int128 rss_sum; /* sum of the times at which pages left, less those at which they came */
	const struct rf_future *future;
	const uint64_t *next;      /* of the current item */
	uint32_t next_at;          /* for read and write events */
	struct rf_name_task *task; /* of the last batch */
	uint64_t record;
	GError *error;             /* from within a fault */
	GArray *marks;             /* struct rf_sample */
	rf_frames_estimated estimated;
	void *observer;
};

static struct rf_frames *frames_of(struct rf_policy *pol)
{
	return pol->machine;
}

/* ---- what the policy is offered ---- */

static struct rf_lruvec *host_lruvec_of(struct rf_policy *pol, rf_page page)
{
	(void)page;
	return frames_of(pol)->lv;
}

static unsigned host_young(struct rf_policy *pol, rf_page page, struct rf_lruvec *target,
                           unsigned *vm)
{
	uint16_t *fact = &frames_of(pol)->fact[page], was = *fact;

	(void)target;
	*fact = was & ~F_ACCESSED;
	if (vm)
		*vm = (was & (F_ACCESSED | RF_PAGE_EXECUTED)) == (F_ACCESSED | RF_PAGE_EXECUTED) ? RF_VM_EXEC : 0;
	return (was & F_ACCESSED) != 0;
}

static uint64_t rss(const struct rf_frames *m)
{
	return m->resident - m->by_kind[FILE_CACHE];
}

static void count_space(struct rf_frames *m, uint32_t page, int n)
{
	struct rf_name_space *s = rf_names_space(&m->names, page);

	s->resident += n;
	s->resident_max = MAX(s->resident, s->resident_max);
}

static void count_kind(struct rf_frames *m, uint16_t fact, int n)
{
	enum kind kind = (fact & F_KIND) >> KIND_SHIFT;

	m->by_kind[kind] += n;
	/* What no mapping shows is not in the resident set size. */
	if (kind == FILE_CACHE)
		m->rss_sum += n > 0 ? m->host.now : -(unsigned __int128)m->host.now;
}

/* page is in memory from now on. */
static inline void enter(struct rf_frames *m, uint32_t page, uint16_t fact)
{
	m->fact[page] = fact | RF_PAGE_RESIDENT;
	m->resident++;
	m->rss_sum -= m->host.now;
	if (G_UNLIKELY(fact & F_KIND))
		count_kind(m, fact, 1);
	if (rss(m) > m->rss_max)
		m->rss_max = rss(m);
	if (G_UNLIKELY(m->many_spaces))
		count_space(m, page, 1);
}

/* page is no longer in memory; evicted: F_EVICTED or nothing. */
static inline void leave(struct rf_frames *m, uint32_t page, uint16_t evicted)
{
	uint16_t fact = m->fact[page];

	m->fact[page] = (fact & ~(RF_PAGE_RESIDENT | F_ACCESSED)) | evicted;
	m->resident--;
	m->rss_sum += m->host.now;
	if (G_UNLIKELY(fact & F_KIND))
		count_kind(m, fact, -1);
	if (G_UNLIKELY(m->many_spaces))
		count_space(m, page, -1);
}

static __attribute__((noinline)) void keep_shadow(struct rf_frames *m, uint32_t page, uint64_t shadow)
{
	if (!m->shadow) {
		m->shadow = g_new(uint64_t, m->size);
		for (uint32_t i = 0; i < m->host.npages; i++)
			m->shadow[i] = 1;
	}
	m->shadow[page] = shadow;
}

/* Evict a page that may be evicted. */
static inline void take_out(struct rf_frames *m, uint32_t page)
{
	uint64_t shadow = m->pol->ops->remove(m->pol, m->lv, page, RF_WHY_EVICTED);

	/* Textbook policies answer 1: nothing that would be worth 8 bytes a page. */
	if (shadow != 1 || m->shadow)
		keep_shadow(m, page, shadow);
	leave(m, page, F_EVICTED);
}

static enum rf_verdict host_evict(struct rf_policy *pol, rf_page page, struct rf_scan *sc,
                                  gboolean clean_only)
{
	struct rf_frames *m = frames_of(pol);

	(void)clean_only;
	if (page >= m->host.npages || !(m->fact[page] & RF_PAGE_RESIDENT)) {
		m->counter[RF_C_rf_policy_refused]++;
		return RF_REFUSED;
	}
	m->host.evict_target = sc->target;
	take_out(m, page);
	return RF_FREED;
}

static void host_count(struct rf_policy *pol, struct rf_lruvec *lv, enum rf_counter c, int64_t n)
{
	(void)lv;
	frames_of(pol)->counter[c] += (uint64_t)n;
}

/* Without dirty data MADV_FREE means nothing here; policies are never told of it. */
static void host_lazyfree(struct rf_policy *pol, rf_page page)
{
	(void)pol, (void)page;
}

static void host_batch_done(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc,
                            uint64_t taken)
{
	(void)pol, (void)lv, (void)sc, (void)taken;
}

static void host_shrink_slab(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)lv, (void)sc;
}

static uint64_t host_swap_available(struct rf_policy *pol, struct rf_lruvec *lv)
{
	(void)lv;
	return pol->host->swap_total;
}

static uint64_t host_unprotected(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t size,
                                 struct rf_scan *sc)
{
	(void)pol, (void)lv, (void)sc;
	return size;
}

static gboolean host_spare(struct rf_policy *pol, rf_page page, unsigned vm)
{
	(void)pol, (void)page, (void)vm;
	return FALSE;
}

static void host_scan_cost(struct rf_policy *pol, uint64_t pages, gboolean mapped)
{
	(void)pol, (void)pages, (void)mapped;
}

static uint64_t host_next_use(struct rf_policy *pol, rf_page page)
{
	return frames_of(pol)->next_use[page];
}

static void offer(struct rf_frames *m, const struct rf_config *cfg)
{
	m->host = (struct rf_host){
		.abi = RF_POLICY_ABI,
		.size = sizeof(struct rf_host),
		.page_shift = cfg->page_shift,
		.kernel = cfg->kernel_release,
		.ncpus = 1,
		.total_frames = m->frames,
		.seed = (uint64_t)cfg->seed,
		.swap_total = UINT32_MAX,
		.stats_fresh = TRUE,
		.lruvec_of = host_lruvec_of,
		.young = host_young,
		.evict = host_evict,
		.count = host_count,
		.lazyfree = host_lazyfree,
		.batch_done = host_batch_done,
		.shrink_slab = host_shrink_slab,
		.swap_available = host_swap_available,
		.unprotected = host_unprotected,
		.spare_inactive = host_spare,
		.spare_active = host_spare,
		.scan_cost = host_scan_cost,
		.next_use = host_next_use,
	};
}

/* ---- misses ---- */

static void fall_back(struct rf_frames *m)
{
	struct rf_scan sc = { .target = m->lv, .goal = 1 };

	while (!(m->fact[m->hand] & RF_PAGE_RESIDENT))
		m->hand = m->hand + 1 < m->host.npages ? m->hand + 1 : 0;
	m->counter[RF_C_rf_policy_fallback]++;
	host_evict(m->pol, m->hand, &sc, FALSE);
}

static __attribute__((noinline)) void make_room_by_reclaim(struct rf_frames *m)
{
	struct rf_scan sc = {
		.target = m->lv,
		.goal = m->pol->ops->shrink ? RF_SWAP_CLUSTER_MAX : 1,
		.swappiness = m->swappiness,
		.may_swap = TRUE,
		.global = TRUE,
	};

	rf_reclaim(m->pol, &sc);
	if (m->resident == m->frames)
		fall_back(m);
}

/* What rf_reclaim() comes to for a policy that proposes and has no other hooks, where no proposal of
 * a resident page is turned down. */
static inline void make_room(struct rf_frames *m)
{
	uint32_t page;

	if (!m->simple_propose) {
		make_room_by_reclaim(m);
		return;
	}
	page = m->pol->ops->propose(m->pol, m->lv, &m->scan);
	if (page < m->host.npages && (m->fact[page] & RF_PAGE_RESIDENT)) {
		m->counter[RF_C_pgsteal_file] += !(m->fact[page] & RF_PAGE_SWAPBACKED);
		take_out(m, page);
		return;
	}
	m->counter[RF_C_rf_policy_refused] += page != RF_NO_PAGE;
	fall_back(m);
}

static enum kind kind_of(struct rf_frames *m, uint32_t page)
{
	const struct rf_vma *v;

	if (m->names.page[page].space & RF_NAME_FILE)
		return FILE_CACHE;
	v = rf_names_vma(&m->names, page);
	if (!v) {
		m->implicit++;
		if (m->strict && !m->error)
			rf_set_data(&m->error, "record %" G_GUINT64_FORMAT ": access to page 0x%" G_GINT64_MODIFIER
			            "x, which no mapping covers (strict mode)", m->record,
			            m->names.page[page].vpn << m->names.page_shift);
		return ANON;
	}
	switch (v->mkind) {
	case RF_MAP_FILE:
		return FILE_MAPPED;
	case RF_MAP_SHMEM:
		return SHMEM;
	default:
		return ANON;
	}
}

/* The page's facts. */
static __attribute__((noinline)) uint16_t first_touch(struct rf_frames *m, uint32_t page)
{
	static const uint16_t facts[NKINDS] = {
		[ANON] = RF_PAGE_ANON | RF_PAGE_SWAPBACKED,
		[SHMEM] = RF_PAGE_SWAPBACKED,
	};
	enum kind kind = kind_of(m, page);

	m->counter[RF_C_rf_first_touch]++;
	if (!(m->fact[page] & F_TOUCHED))
		m->distinct++;
	return facts[kind] | (uint16_t)(kind << KIND_SHIFT) | F_TOUCHED;
}

static void file_refault(struct rf_frames *m, uint16_t fact)
{
	m->counter[RF_C_workingset_refault_file]++;
	if (fact & RF_PAGE_EXECUTED)
		m->counter[RF_C_rf_exec_refault]++;
}

/* page is not in memory and is wanted; how: what add() is told beside what is found here. */
static inline __attribute__((always_inline))
void bring_in(struct rf_frames *m, uint32_t page, unsigned how, gboolean exec)
{
	struct rf_policy *pol = m->pol;
	uint64_t shadow = 0;
	uint16_t fact;

	if (G_UNLIKELY(m->wants_miss))
		rf_policy_miss(pol, m->lv, page);
	if (m->resident == m->frames)
		make_room(m);
	fact = m->fact[page];
	if (fact & F_EVICTED) {
		shadow = m->shadow ? m->shadow[page] : 1;
		if (fact & RF_PAGE_SWAPBACKED)
			how |= RF_HOW_SWAPIN;
		else
			file_refault(m, fact);
	} else {
		fact = first_touch(m, page);
		if (fact & RF_PAGE_ANON)
			how |= RF_HOW_NEW;
	}
	fact = (fact & ~F_EVICTED) | (m->kernel_like ? F_ACCESSED : 0);
	if (exec) {
		fact |= RF_PAGE_EXECUTED;
		how |= RF_HOW_EXEC;
	}
	enter(m, page, fact);
	m->counter[RF_C_rf_pages_in]++;
	pol->ops->add(pol, m->lv, page, how, shadow);
}

static __attribute__((noinline)) void miss(struct rf_frames *m, uint32_t page, unsigned type)
{
	gboolean exec = type == RF_EXEC;

	bring_in(m, page, RF_HOW_FAULT, exec);
	if (exec)
		m->counter[RF_C_rf_fault_exec]++;
	else if (!(m->fact[page] & RF_PAGE_SWAPBACKED))
		m->counter[RF_C_rf_fault_file]++;
}

/* ---- accesses ---- */

static inline __attribute__((always_inline))
void replay_runs(struct rf_frames *m, const struct rf_runs *r, gboolean mapped, gboolean access,
                 gboolean future)
{
	static const uint16_t used[RF_NACCESS] = {
		[RF_READ] = F_ACCESSED, [RF_WRITE] = F_ACCESSED, [RF_EXEC] = F_ACCESSED | RF_PAGE_EXECUTED,
	};
	struct rf_policy *const pol = m->pol;
	struct rf_lruvec *const lv = m->lv;
	uint16_t *const fact = m->fact;
	const struct rf_link *const link = pol->link;
	const uint8_t *const priv = pol->page_priv ? pol->page_priv : (const uint8_t *)link;
	const size_t priv_size = pol->ops->page_size;
	const uint64_t *const shadow = m->shadow;
	const uint32_t *const map = m->names.map, *const id = r->page;
	const uint32_t n = r->n;
	uint64_t now = m->host.now; /* the policy's is brought up to date before each call */

	for (uint32_t i = 0; i < n; i++) {
		uint32_t page = mapped ? map[id[i]] : id[i];
		uint32_t count = r->count[i];
		unsigned type = r->type[i];
		uint16_t f;

		if (i + FAR_AHEAD < n) {
			uint32_t far = mapped ? map[id[i + FAR_AHEAD]] : id[i + FAR_AHEAD];
			uint32_t near = mapped ? map[id[i + NEAR_AHEAD]] : id[i + NEAR_AHEAD];

			__builtin_prefetch(&fact[far], 1);
			if (future)
				__builtin_prefetch(&m->next_use[far], 1);
			if (access) {
				struct rf_link l = link[near];

				__builtin_prefetch(&link[far], 1);
				__builtin_prefetch(&priv[priv_size * far], 1);
				__builtin_prefetch(&link[l.prev], 1);
				__builtin_prefetch(&link[l.next], 1);
			} else {
				/* Only a miss needs more than the fact; a hit asks for what it has. */
				uint32_t want = fact[near] & RF_PAGE_RESIDENT ? page : near;

				__builtin_prefetch(&link[want], 1);
				__builtin_prefetch(&priv[priv_size * want], 1);
				if (shadow)
					__builtin_prefetch(&shadow[want], 1);
			}
		}
		now += type & RF_RUN_CONT ? 0 : count;
		type &= RF_TYPE_MASK;
		if (future)
			m->next_use[page] = m->next[i];
		f = fact[page];
		if (!(f & RF_PAGE_RESIDENT)) {
			m->host.now = now;
			miss(m, page, type);
			if (!--count)
				continue;
			f = fact[page];
		}
		fact[page] = f | used[type];
		if (access) {
			m->host.now = now;
			pol->ops->access(pol, lv, page, type, count);
		}
	}
	m->host.now = now;
}

static void replay(struct rf_frames *m, const struct rf_runs *r)
{
	gboolean mapped = m->names.map != NULL;
	unsigned flags = m->pol->ops->flags;

	if (flags & RF_POLICY_FUTURE)
		replay_runs(m, r, mapped, (flags & RF_POLICY_ACCESS) != 0, TRUE);
	else if ((flags & RF_POLICY_ACCESS) && mapped)
		replay_runs(m, r, TRUE, TRUE, FALSE);
	else if (flags & RF_POLICY_ACCESS)
		replay_runs(m, r, FALSE, TRUE, FALSE);
	else if (mapped)
		replay_runs(m, r, TRUE, FALSE, FALSE);
	else
		replay_runs(m, r, FALSE, FALSE, FALSE);
}

/* ---- items ---- */

static void grow(struct rf_frames *m)
{
	uint32_t npages = m->names.npages, old = m->host.npages;

	if (npages == old)
		return;
	if (npages > m->size) {
		m->size = (uint32_t)MIN(MAX((uint64_t)m->size + m->size / 2, (uint64_t)npages), UINT32_MAX);
		m->fact = g_renew(uint16_t, m->fact, m->size);
		if (m->shadow)
			m->shadow = g_renew(uint64_t, m->shadow, m->size);
		if (m->next_use)
			m->next_use = g_renew(uint64_t, m->next_use, m->size);
	}
	memset(m->fact + old, 0, (npages - old) * sizeof(*m->fact));
	m->host.fact = m->fact;
	m->host.npages = npages;
	rf_policy_grow(m->pol, npages);
}

/* Counting by address space begins with the second one; until then all that is resident is the
 * first one's. */
static void look_at_spaces(struct rf_frames *m)
{
	if (m->many_spaces || m->names.spaces->len + m->names.files->len < 2)
		return;
	m->many_spaces = TRUE;
	if (m->names.spaces->len) {
		struct rf_name_space *s = &g_array_index(m->names.spaces, struct rf_name_space, 0);

		s->resident = m->resident;
		s->resident_max = (uint32_t)m->rss_max;
	}
}

static void page_freed(void *self, uint32_t page)
{
	struct rf_frames *m = self;
	const struct rf_reclaim_ops *ops = m->pol->ops;
	uint16_t fact = page < m->host.npages ? m->fact[page] : 0;

	if (fact & RF_PAGE_RESIDENT) {
		ops->remove(m->pol, m->lv, page, RF_WHY_FREED);
		leave(m, page, 0);
		m->freed++;
	} else if ((fact & F_EVICTED) && ops->forget) {
		ops->forget(m->pol, page);
	}
	if (fact)
		m->fact[page] = F_TOUCHED;
}

/* read(2) and write(2). */
static void page_used(void *self, uint32_t page, const struct rf_event *ev)
{
	struct rf_frames *m = self;
	struct rf_policy *pol = m->pol;
	gboolean hit;

	look_at_spaces(m);
	grow(m);
	if (m->next_use)
		m->next_use[page] = m->next[m->next_at++];
	hit = m->fact[page] & RF_PAGE_RESIDENT;
	if (!hit) {
		bring_in(m, page, ev->kind == RF_EV_READ ? RF_HOW_READ : RF_HOW_WRITE, FALSE);
		m->file_misses++;
		/* The kernel marks what was read as accessed, also when it had to be fetched. */
		if (!m->kernel_like || ev->kind != RF_EV_READ)
			return;
	}
	if (pol->ops->touch)
		pol->ops->touch(pol, m->lv, page);
	else if (pol->ops->flags & RF_POLICY_ACCESS)
		pol->ops->access(pol, m->lv, page, ev->kind == RF_EV_READ ? RF_READ : RF_WRITE, 1);
	else
		m->fact[page] |= F_ACCESSED;
}

static gboolean run_item(struct rf_frames *m, const struct rf_item *item, GError **error)
{
	uint64_t began = m->host.now, misses = m->counter[RF_C_rf_pages_in];

	if (!m->task || m->task->tid != item->runs.tid)
		m->task = rf_names_task(&m->names, item->runs.tid);
	if (!m->task) {
		rf_set_data(error, "record %" G_GUINT64_FORMAT ": accesses of task %u, which does not exist",
		            item->record, item->runs.tid);
		return FALSE;
	}
	m->record = item->record;
	replay(m, &item->runs);
	m->task->accesses += m->host.now - began;
	m->task->faults += m->counter[RF_C_rf_pages_in] - misses;
	if (m->error) {
		g_propagate_error(error, m->error);
		m->error = NULL;
		return FALSE;
	}
	return TRUE;
}

gboolean rf_frames_skim(struct rf_frames *m, const struct rf_item *item,
                        const struct rf_skim *skim)
{
	const uint32_t *map = m->names.map;
	uint16_t *fact = m->fact;

	/* Of the task that the last item was of: then its pages are known as well. */
	if (m->pol->ops->flags & (RF_POLICY_ACCESS | RF_POLICY_FUTURE) || !m->task ||
	    m->task->tid != item->runs.tid)
		return FALSE;
	for (uint32_t i = 0; i < skim->n; i++) {
		uint32_t id = skim->page[i];

		if (id >= m->names.nids || !(fact[map ? map[id] : id] & RF_PAGE_RESIDENT))
			return FALSE;
	}
	for (uint32_t i = 0; i < skim->n; i++) {
		uint32_t page = map ? map[skim->page[i]] : skim->page[i];
		gboolean executed = skim->types[i] & 1 << RF_EXEC;

		fact[page] |= F_ACCESSED | (executed ? RF_PAGE_EXECUTED : 0);
	}
	m->host.now += skim->accesses;
	m->task->accesses += skim->accesses;
	return TRUE;
}

gboolean rf_frames_item(struct rf_frames *m, const struct rf_item *item, GError **error)
{
	gboolean ok;

	if (m->next_use) {
		m->next = rf_future_next(m->future);
		m->next_at = 0;
	}
	if (item->kind == RF_ITEM_RUNS) {
		ok = run_item(m, item, error);
	} else {
		m->task = NULL;
		ok = rf_names_item(&m->names, item, &m->user, error);
		if (!ok)
			g_prefix_error(error, "record %" G_GUINT64_FORMAT ": ", item->record);
		look_at_spaces(m);
		grow(m);
		if (ok && item->kind == RF_ITEM_EVENT && item->event.kind == RF_EV_MARK) {
			struct rf_sample s;

			rf_frames_sample(m, &s);
			s.mark = g_strdup(item->event.name);
			g_array_append_val(m->marks, s);
		}
	}
#ifdef RF_CHECKED
	rf_frames_check(m);
#endif
	return ok;
}

/* ---- life ---- */

static void clear_mark(void *p)
{
	g_free(((struct rf_sample *)p)->mark);
}

struct rf_frames *rf_frames_new(const struct rf_config *cfg, const struct rf_totals *totals,
                                GError **error)
{
	const struct rf_reclaim_ops *ops;
	struct rf_frames *m;

	(void)totals;
	if (!cfg->frames_n) {
		rf_set_usage(error, "--frames 0: a fault needs a page frame");
		return NULL;
	}
	m = g_new0(struct rf_frames, 1);
	m->frames = (uint32_t)MIN(cfg->frames_n, UINT32_MAX);
	m->strict = cfg->strict;
	m->swappiness = (int)cfg->swappiness;
	m->user = (struct rf_names_user){ page_freed, page_used, m };
	offer(m, cfg);
	rf_names_init(&m->names, cfg->page_shift);
	m->marks = g_array_new(FALSE, FALSE, sizeof(struct rf_sample));
	g_array_set_clear_func(m->marks, clear_mark);
	m->pol = rf_policy_new(cfg->reclaim, &m->host, m, error);
	if (!m->pol) {
		rf_frames_free(m);
		return NULL;
	}
	ops = m->pol->ops;
	m->kernel_like = (ops->flags & RF_POLICY_KERNEL) != 0;
	m->simple_propose = !ops->shrink && !ops->prepare && !ops->finish;
	m->wants_miss = rf_policy_wants_miss(m->pol);
	if (ops->flags & RF_POLICY_FUTURE)
		m->next_use = g_new(uint64_t, 1);
	m->lv = m->host.root = rf_lruvec_new(m->pol, 0, NULL);
	m->scan = (struct rf_scan){
		.target = m->lv, .goal = 1, .swappiness = m->swappiness, .may_swap = TRUE, .global = TRUE,
	};
	return m;
}

void rf_frames_free(struct rf_frames *m)
{
	if (!m)
		return;
	if (m->pol)
		rf_lruvec_free(m->pol, m->lv);
	rf_policy_free(m->pol);
	rf_names_clear(&m->names);
	g_array_free(m->marks, TRUE);
	g_clear_error(&m->error);
	g_free(m->fact);
	g_free(m->shadow);
	g_free(m->next_use);
	g_free(m);
}

gboolean rf_frames_needs_future(const struct rf_frames *m)
{
	return m->next_use != NULL;
}

static void host_estimated(struct rf_policy *pol, rf_page page, uint64_t distance, uint64_t limit)
{
	struct rf_frames *m = frames_of(pol);
	uint64_t sizes[4] = { 0 };

	if (pol->ops->sizes)
		pol->ops->sizes(pol, m->lv, sizes);
	m->estimated(m->observer, page, !(m->fact[page] & RF_PAGE_SWAPBACKED), distance, limit, sizes);
}

void rf_frames_observe(struct rf_frames *m, rf_frames_estimated estimated, void *self)
{
	m->estimated = estimated;
	m->observer = self;
	m->host.estimated = estimated ? host_estimated : NULL;
}

void rf_frames_set_future(struct rf_frames *m, const struct rf_future *future)
{
	m->future = future;
}

/* ---- results ---- */

static uint32_t resident_anon(const struct rf_frames *m)
{
	return m->resident - m->by_kind[FILE_MAPPED] - m->by_kind[SHMEM] - m->by_kind[FILE_CACHE];
}

static void read_counters(const struct rf_frames *m, uint64_t c[RF_NCOUNTERS])
{
	memcpy(c, m->counter, sizeof(m->counter));
	c[RF_C_pgfault] = c[RF_C_pgmajfault] = c[RF_C_rf_pages_in];
	c[RF_C_rf_fault_anon] = c[RF_C_pgfault] - m->file_misses - c[RF_C_rf_fault_file] -
	                        c[RF_C_rf_fault_exec];
	c[RF_C_workingset_refault_anon] = c[RF_C_pgfault] - c[RF_C_rf_first_touch] -
	                                  c[RF_C_workingset_refault_file];
	c[RF_C_rf_pages_out] = c[RF_C_rf_pages_in] - m->resident;
	if (m->simple_propose) {
		c[RF_C_pgsteal_direct] = c[RF_C_rf_pages_out] - m->freed - c[RF_C_rf_policy_fallback];
		c[RF_C_pgsteal_anon] = c[RF_C_pgsteal_direct] - c[RF_C_pgsteal_file];
		c[RF_C_pgscan_direct] = c[RF_C_pgsteal_direct];
		c[RF_C_pgscan_anon] = c[RF_C_pgsteal_anon];
		c[RF_C_pgscan_file] = c[RF_C_pgsteal_file];
	}
}

void rf_frames_sample(struct rf_frames *m, struct rf_sample *out)
{
	const struct rf_reclaim_ops *ops = m->pol->ops;
	unsigned shift = m->host.page_shift;
	uint64_t *g = out->gauge;

	memset(out, 0, sizeof(*out));
	read_counters(m, out->counter);
	out->now = m->host.now;
	g[RF_G_rf_accesses] = g[RF_G_rf_time] = g[RF_G_rf_time_access] = m->host.now;
	g[RF_G_rf_implicit] = m->implicit;
	g[RF_G_rf_footprint] = m->distinct << shift;
	g[RF_G_rf_rss] = rss(m) << shift;
	g[RF_G_rf_rss_anon] = (uint64_t)resident_anon(m) << shift;
	g[RF_G_rf_rss_file] = (uint64_t)m->by_kind[FILE_MAPPED] << shift;
	g[RF_G_rf_rss_shmem] = (uint64_t)m->by_kind[SHMEM] << shift;
	if (m->host.now) {
		unsigned __int128 sum = m->rss_sum + (unsigned __int128)rss(m) * m->host.now;

		g[RF_G_rf_rss_mean] = (uint64_t)((sum << shift) / m->host.now);
	}
	g[RF_G_rf_rss_max] = m->rss_max << shift;
	g[RF_G_rf_resident] = (uint64_t)m->resident << shift;
	g[RF_G_rf_cache] = ((uint64_t)m->by_kind[FILE_MAPPED] + m->by_kind[FILE_CACHE]) << shift;
	g[RF_G_rf_mapped_file] = (uint64_t)m->by_kind[FILE_MAPPED] << shift;
	g[RF_G_rf_free] = (uint64_t)(m->frames - m->resident) << shift;
	if (ops->sizes) {
		uint64_t sizes[4];

		ops->sizes(m->pol, m->lv, sizes);
		g[RF_G_rf_inactive_anon] = sizes[0] << shift;
		g[RF_G_rf_active_anon] = sizes[1] << shift;
		g[RF_G_rf_inactive_file] = sizes[2] << shift;
		g[RF_G_rf_active_file] = sizes[3] << shift;
	}
}

static void task_results(struct rf_frames *m, GArray *out)
{
	unsigned shift = m->host.page_shift;

	for (guint i = 0; i < m->names.tasks->len; i++) {
		const struct rf_name_task *t = g_ptr_array_index(m->names.tasks, i);
		const struct rf_name_space *s = &g_array_index(m->names.spaces, struct rf_name_space, t->space);
		struct rf_task_result r = {
			.tid = t->tid,
			.pgfault = t->faults,
			.pgmajfault = t->faults,
			.accesses = t->accesses,
			.exited = t->exited,
		};

		r.rss = t->exited ? 0 : (m->many_spaces ? s->resident : rss(m)) << shift;
		r.rss_max = (m->many_spaces ? s->resident_max : m->rss_max) << shift;
		g_array_append_val(out, r);
	}
}

gboolean rf_frames_finish(struct rf_frames *m, struct rf_result *out, GError **error)
{
	struct rf_sample s;

	(void)error;
	rf_frames_sample(m, &s);
	memcpy(out->counter, s.counter, sizeof(s.counter));
	memcpy(out->gauge, s.gauge, sizeof(s.gauge));
	task_results(m, out->tasks);
	g_array_append_vals(out->marks, m->marks->data, m->marks->len);
	/* The names of the marks belong to the result now. */
	g_array_set_clear_func(m->marks, NULL);
	g_array_set_size(m->marks, 0);
	g_array_set_clear_func(m->marks, clear_mark);
	return TRUE;
}

void rf_frames_check(struct rf_frames *m)
{
	uint32_t resident = 0, by_kind[NKINDS] = { 0 };

	for (uint32_t i = 0; i < m->host.npages; i++) {
		if (!(m->fact[i] & RF_PAGE_RESIDENT))
			continue;
		resident++;
		by_kind[(m->fact[i] & F_KIND) >> KIND_SHIFT]++;
		if (m->fact[i] & F_EVICTED)
			g_error("frames: page %u is in memory and evicted", i);
	}
	if (resident != m->resident || resident > m->frames)
		g_error("frames: %u pages are in memory, counted %u, of %u frames", resident, m->resident,
		        m->frames);
	by_kind[ANON] = 0;
	if (memcmp(by_kind, m->by_kind, sizeof(by_kind)))
		g_error("frames: the kinds of resident pages are miscounted");
	if (m->pol->ops->check)
		m->pol->ops->check(m->pol, m->lv);
}
