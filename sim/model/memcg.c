/* SPDX-License-Identifier: MIT
 * Memory cgroups: charging and its batches, limits, memory.high, protection (kernel-reclaim 6).
 */
#include "sim/model/model.h"
#include <string.h>
#include "base/error.h"
#include "base/units.h"

#define MAX_RETRIES 16
#define STOCK_LIMIT 64
#define UNCHARGE_BATCH 15
#define MAX_CGROUPS UINT16_MAX /* owners of pages are stored in 16 bits */

static unsigned charge_batch(const struct rf_model *m)
{
	if (m->cfg.charge_batch)
		return (unsigned)m->cfg.charge_batch;
	return m->cfg.kernel_release >= RF_KERNEL(6, 1, 0) ? 64 : m->cfg.kernel_release >= RF_KERNEL(2, 6, 33) ? 32 : 1;
}

static int max_retries(const struct rf_model *m)
{
	return m->cfg.kernel_release >= RF_KERNEL(5, 10, 0) ? MAX_RETRIES : 5;
}

struct cgroup *cgroup_new(struct rf_model *m, const char *path, struct cgroup *parent)
{
	struct cgroup *cg = g_new0(struct cgroup, 1);

	cg->id = m->cgroups->len;
	cg->path = g_strdup(path);
	cg->parent = parent;
	cg->max = cg->high = UINT64_MAX;
	cg->swappiness = parent ? parent->swappiness : (int)m->cfg.swappiness;
	rf_spin_init(&cg->lru_lock, &m->profile.lock[RF_LOCK_LRU], &m->lock_stats[RF_LOCK_LRU]);
	cg->lv = rf_lruvec_new(m->pol, cg->id, parent ? parent->lv : NULL);
	g_ptr_array_add(m->cgroups, cg);
	g_hash_table_insert(m->cgroup_by_path, cg->path, cg);
	return cg;
}

struct cgroup *cgroup_get(struct rf_model *m, const char *path)
{
	struct cgroup *cg = g_hash_table_lookup(m->cgroup_by_path, path), *parent = m->workload;
	g_autofree char *up = NULL;
	const char *slash;

	if (cg)
		return cg;
	slash = strrchr(path, '/');
	if (slash && slash != path) {
		up = g_strndup(path, slash - path);
		parent = cgroup_get(m, up);
	}
	return cgroup_new(m, path, parent);
}

static void lower_usage(struct cgroup *cg, uint64_t pages)
{
	for (; cg; cg = cg->parent)
		cg->usage -= pages;
}

static void drain_stocks(struct rf_model *m, struct cgroup *over)
{
	guint i;

	for (i = 0; i < m->cgroups->len; i++) {
		struct cgroup *cg = cgroup_nth(m, i), *up = cg;

		while (up && up != over)
			up = up->parent;
		if (up && cg->stock) {
			lower_usage(cg, cg->stock);
			cg->stock = 0;
		}
	}
}

static uint64_t limit_reclaim(struct rf_model *m, struct cgroup *over, uint64_t goal)
{
	struct rf_scan sc = { .target = over->lv, .goal = MAX(goal, RF_SWAP_CLUSTER_MAX),
	                      .swappiness = over->swappiness, .may_swap = TRUE };
	struct rf_scan *outer = m->scan;
	uint64_t n;

	m->scan = &sc;
	m->in_reclaim = TRUE;
	stall_begin(m);
	volatile_purge(m, &sc);
	n = sc.reclaimed < sc.goal ? rf_reclaim(m->pol, &sc) : sc.reclaimed;
	volatile_settle(m);
	m->in_reclaim = FALSE;
	m->scan = outer;
	return n;
}

/* Nothing can go before something that is being written has been: a cluster of it, or all. */
static gboolean wait_for_swap(struct rf_model *m)
{
	uint64_t enough = m->swap_writes - MIN(m->swap_writes, RF_SWAP_CLUSTER_MAX);

	if (!m->swap_writes)
		return FALSE;
	while (m->swap_writes > enough && rf_clock_next(m->clock) != UINT64_MAX)
		wait_until(m, rf_clock_next(m->clock), &m->time_throttle);
	return TRUE;
}

/* Writing a limit below the usage reclaims at once, and kills for memory.max in the end: 6.3. */
static void enforce(struct rf_model *m, struct cgroup *cg, uint64_t limit, gboolean kill)
{
	int tries = MAX_RETRIES;

	if (cg->usage > limit)
		drain_stocks(m, cg);
	while (cg->usage > limit) {
		if (limit_reclaim(m, cg, cg->usage - limit) || wait_for_swap(m) || --tries > 0)
			continue;
		if (!kill || !out_of_memory(m, cg, "memory.max was set below what can be reclaimed"))
			break;
	}
}

static gboolean parse_limit(const struct rf_model *m, const char *value, uint64_t *pages, GError **error)
{
	uint64_t bytes;

	if (!strcmp(value, "max")) {
		*pages = UINT64_MAX;
		return TRUE;
	}
	if (!rf_parse_size(value, &bytes, error))
		return FALSE;
	*pages = bytes >> m->cfg.page_shift;
	return TRUE;
}

gboolean cgroup_event(struct rf_model *m, const struct rf_event *ev, GError **error)
{
	struct cgroup *cg;
	g_auto(GStrv) words = g_strsplit_set(ev->text ? ev->text : "", " \t", -1);
	unsigned i;

	if (m->cgroups->len >= MAX_CGROUPS) {
		rf_set_data(error, "cgroup %s: more than %u cgroups", ev->name, MAX_CGROUPS);
		return FALSE;
	}
	cg = cgroup_get(m, ev->name);
	for (i = 0; words[i]; i++) {
		char *value = strchr(words[i], '=');
		uint64_t pages = 0;
		gboolean ok = TRUE;

		if (!*words[i])
			continue;
		if (!value) {
			rf_set_data(error, "cgroup %s: expected KEY=VALUE, got '%s'", ev->name, words[i]);
			return FALSE;
		}
		*value++ = '\0';
		if (!strcmp(words[i], "memory.max"))
			ok = parse_limit(m, value, &cg->max, error);
		else if (!strcmp(words[i], "memory.high"))
			ok = parse_limit(m, value, &cg->high, error);
		else if (!strcmp(words[i], "memory.low"))
			ok = parse_limit(m, value, &cg->low, error);
		else if (!strcmp(words[i], "memory.min"))
			ok = parse_limit(m, value, &cg->min, error);
		else if (!strcmp(words[i], "swappiness")) {
			ok = rf_parse_u64(value, &pages, error);
			if (ok && pages > 200) {
				rf_set_data(error, "swappiness %s: expected 0 to 200", value);
				ok = FALSE;
			}
			cg->swappiness = (int)pages;
		} else {
			rf_set_data(error, "cgroup %s: unknown key '%s', expected memory.max, memory.high, "
			            "memory.low, memory.min or swappiness", ev->name, words[i]);
			return FALSE;
		}
		if (!ok) {
			g_prefix_error(error, "cgroup %s: %s: ", ev->name, words[i]);
			return FALSE;
		}
	}
	enforce(m, cg, cg->high, FALSE);
	enforce(m, cg, cg->max, TRUE);
	m->stall_began = 0; /* whoever wrote the limit waited, not a task of the trace */
	return TRUE;
}

/* How many updates of a cgroup's statistics one event stands for.  A page scanned also leaves its
 * list and comes back to one, or is counted as stolen. */
static const uint8_t stat_weight[RF_NCOUNTERS] = {
	[RF_C_pgfault] = 1, [RF_C_pgmajfault] = 1,
	[RF_C_pgscan_kswapd] = 3, [RF_C_pgscan_direct] = 3, [RF_C_pgscan_proactive] = 3, [RF_C_pgrefill] = 3,
	[RF_C_pgactivate] = 1, [RF_C_pgdeactivate] = 1, [RF_C_pglazyfree] = 3, [RF_C_pglazyfreed] = 1,
	[RF_C_pswpin] = 2, [RF_C_pswpout] = 6, /* with the swap cache's and the swap's own size */
	[RF_C_workingset_refault_anon] = 1, [RF_C_workingset_refault_file] = 1,
	[RF_C_workingset_activate_anon] = 1, [RF_C_workingset_activate_file] = 1,
	[RF_C_workingset_restore_anon] = 1, [RF_C_workingset_restore_file] = 1,
	[RF_C_rf_charge_pages] = 1, [RF_C_rf_uncharge_pages] = 1,
	[RF_C_rf_pages_in] = 1, /* onto a list */
};

void count(struct rf_model *m, struct cgroup *cg, enum rf_counter c, int64_t n)
{
#define B 1
#define M 2
#define G 3
#define SCOPE(id, better, scope, help) scope,
	static const uint8_t scope[RF_NCOUNTERS] = { RF_COUNTERS(SCOPE) };
#undef SCOPE
#undef G
#undef M
#undef B
	cg->counter[c] += n;
	stats_updated(m, stat_weight[c] * (uint64_t)n);
	if (scope[c] != 2 || (m->scan && m->scan->global) || !cg->parent)
		m->counter[c] += n;
}

void host_count(struct rf_policy *pol, struct rf_lruvec *lv, enum rf_counter c, int64_t n)
{
	struct rf_model *m = pol->machine;

	count(m, cgroup_nth(m, lv->id), c, n);
}

/* ---- charging ---- */

/* Room for n pages in cg and all above it?  The first that has none in *over. */
static gboolean try_usage(struct cgroup *cg, uint64_t n, struct cgroup **over)
{
	struct cgroup *c;

	for (c = cg; c; c = c->parent) {
		if (c->usage + n > c->max) {
			*over = c;
			return FALSE;
		}
	}
	for (c = cg; c; c = c->parent) {
		c->usage += n;
		c->usage_max = MAX(c->usage_max, c->usage);
	}
	return TRUE;
}

static gboolean above_high(const struct cgroup *cg)
{
	while (cg && cg->usage <= cg->high)
		cg = cg->parent;
	return cg != NULL;
}

/* try_charge(): 6.1. */
static gboolean charge_usage(struct rf_model *m, struct cgroup *cg, uint32_t n, gboolean noretry)
{
	uint32_t batch = MAX(charge_batch(m), n);
	int retries = max_retries(m);
	gboolean drained = FALSE;
	struct cgroup *over = NULL;

	if (cg->stock >= n) {
		cg->stock -= n;
		return TRUE;
	}
	for (;;) {
		uint64_t freed;

		account_counters(m, cg);
		if (try_usage(cg, batch, &over)) {
			cg->stock += batch - n;
			if (cg->stock > STOCK_LIMIT) { /* refill_stock() hands back all of it */
				lower_usage(cg, cg->stock);
				cg->stock = 0;
			}
			if (above_high(cg))
				cg->high_owed += batch;
			return TRUE;
		}
		if (batch > n) {
			batch = n;
			continue;
		}
		if (m->in_reclaim) { /* the reclaimer itself may go past the limit */
			struct cgroup *c;

			for (c = cg; c; c = c->parent)
				c->usage += n;
			return TRUE;
		}
		count(m, over, RF_C_rf_limit_reclaim, 1);
		freed = limit_reclaim(m, over, n);
		if (rf_clock_next(m->clock) <= m->host.now)
			rf_clock_run(m->clock, &m->host.now);
		if (!freed && wait_for_swap(m))
			continue;
		if (over->max - MIN(over->usage, over->max) >= n)
			continue;
		if (!drained) {
			drain_stocks(m, over);
			drained = TRUE;
			continue;
		}
		if (noretry)
			return FALSE;
		if (freed && n <= 8)
			continue;
		if (retries-- > 0)
			continue;
		out_of_memory(m, over, "nothing left to reclaim at memory.max");
		if (!m->current || !m->current->alive)
			return FALSE;
		retries = max_retries(m);
	}
}

/* In closed replay others ran while the charge waited, and may have had the task killed. */
static gboolean died_waiting(const struct rf_model *m, uint64_t sleeps)
{
	return m->sleeps != sleeps && m->current && !m->current->alive;
}

gboolean charge(struct rf_model *m, struct cgroup *cg, uint32_t n, gboolean noretry)
{
	uint64_t sleeps = m->sleeps;

	if (!charge_usage(m, cg, n, noretry))
		return FALSE;
	if (!frames_take(m, n, noretry)) {
		lower_usage(cg, n);
		return FALSE;
	}
	if (died_waiting(m, sleeps)) {
		lower_usage(cg, n);
		frames_give(m, n);
		return FALSE;
	}
	account_charge(m, n);
	count(m, cg, RF_C_rf_charge_pages, n);
	return TRUE;
}

/* Uncharges are put together since 2.6.33, those of an unmap; since 3.17 those of reclaim, too. */
static gboolean uncharge_writes(struct rf_model *m, struct cgroup *cg, uint32_t n)
{
	unsigned batch = m->cfg.kernel_release < RF_KERNEL(2, 6, 33) ? 1 : UNCHARGE_BATCH;

	if (m->cfg.uncharge_batch)
		batch = (unsigned)m->cfg.uncharge_batch;
	if (m->in_reclaim && m->cfg.kernel_release < RF_KERNEL(3, 17, 0))
		return TRUE;
	cg->uncharges += n;
	if (cg->uncharges < batch)
		return FALSE;
	cg->uncharges = 0;
	return TRUE;
}

void uncharge(struct rf_model *m, struct cgroup *cg, uint32_t n)
{
	if (uncharge_writes(m, cg, n))
		account_counters(m, cg);
	lower_usage(cg, n);
	account_uncharge(m, n);
	count(m, cg, RF_C_rf_uncharge_pages, n);
	frames_give(m, n);
}

gboolean charge_kernel(struct rf_model *m, struct cgroup *cg, uint32_t pages)
{
	uint64_t sleeps = m->sleeps;

	if (!charge_usage(m, cg, pages, FALSE))
		return FALSE;
	if (!frames_take(m, pages, FALSE)) {
		lower_usage(cg, pages);
		return FALSE;
	}
	if (died_waiting(m, sleeps)) {
		lower_usage(cg, pages);
		frames_give(m, pages);
		return FALSE;
	}
	cg->kernel += pages;
	return TRUE;
}

void uncharge_kernel(struct rf_model *m, struct cgroup *cg, uint32_t pages)
{
	lower_usage(cg, pages);
	cg->kernel -= pages;
	frames_give(m, pages);
}

/* Objects of slab are charged by bytes from a stock of whole pages (12.6). */
gboolean charge_kernel_bytes(struct rf_model *m, struct cgroup *cg, uint32_t bytes)
{
	while (cg->kernel_bytes_stock < bytes) {
		if (!charge_kernel(m, cg, 1))
			return FALSE;
		cg->kernel_bytes_stock += INT64_C(1) << m->cfg.page_shift;
	}
	cg->kernel_bytes_stock -= bytes;
	uncharge_kernel_bytes(m, cg, 0); /* an OOM kill on the way may have filled the stock */
	return TRUE;
}

void uncharge_kernel_bytes(struct rf_model *m, struct cgroup *cg, uint32_t bytes)
{
	int64_t page = INT64_C(1) << m->cfg.page_shift;

	cg->kernel_bytes_stock += bytes;
	while (cg->kernel_bytes_stock > page) {
		cg->kernel_bytes_stock -= page;
		uncharge_kernel(m, cg, 1);
	}
}

/* ---- memory.high: 6.2 ---- */

#define HZ 250

void pay_high(struct rf_model *m)
{
	struct cgroup *cg, *c;
	int tries = MAX_RETRIES;
	uint64_t owed, goal;

	if (!m->current || !m->current->alive)
		return;
	cg = cgroup_nth(m, ((struct space *)m->spaces->pdata[m->current->space])->cgroup);
	owed = cg->high_owed;
	if (!owed)
		return;
	cg->high_owed = 0;
	goal = MAX(owed, RF_SWAP_CLUSTER_MAX);
	for (;;) {
		uint64_t reclaimed = 0, overage = 0, delay;

		for (c = cg; c; c = c->parent)
			if (c->usage > c->high)
				reclaimed += limit_reclaim(m, c, goal);
		for (c = cg; c; c = c->parent)
			if (c->usage > c->high) /* 2^20 fixed point */
				overage = MAX(overage, ((c->usage - c->high) << 20) / MAX(c->high, 1));
		overage = MIN(overage, UINT64_C(1) << 27); /* 128 times the limit: two seconds anyhow */
		delay = (overage * overage * HZ >> 34) * owed / STOCK_LIMIT;
		delay = MIN(delay, UINT64_C(2) * HZ); /* jiffies, 2 s at most */
		if (delay <= HZ / 100)
			return;
		if (!reclaimed && tries-- <= 0) {
			stall_begin(m);
			wait_until(m, m->host.now + delay * (1000000000 / HZ), &m->time_throttle);
			return;
		}
		goal = RF_SWAP_CLUSTER_MAX;
	}
}

/* ---- memory.min and memory.low: 6.4 ---- */

static uint64_t effective(uint64_t usage, uint64_t setting, uint64_t parent, uint64_t siblings)
{
	uint64_t p = MIN(usage, setting);

	return siblings > parent ? (uint64_t)((__uint128_t)p * parent / siblings) : p;
}

/* Set e_min and e_low of cg for reclaim from target. */
static void set_protection(struct rf_model *m, struct cgroup *cg, struct cgroup *target)
{
	uint64_t sib_min = 0, sib_low = 0;
	guint i;

	if (cg == target) {
		cg->emin = cg->elow = 0;
		return;
	}
	if (cg->parent == target) {
		cg->emin = cg->min;
		cg->elow = cg->low;
		return;
	}
	set_protection(m, cg->parent, target);
	for (i = 0; i < m->cgroups->len; i++) {
		struct cgroup *c = cgroup_nth(m, i);

		if (c->parent == cg->parent) {
			sib_min += MIN(c->usage, c->min);
			sib_low += MIN(c->usage, c->low);
		}
	}
	cg->emin = effective(cg->usage, cg->min, cg->parent->emin, sib_min);
	cg->elow = effective(cg->usage, cg->low, cg->parent->elow, sib_low);
}

uint64_t host_unprotected(struct rf_policy *pol, struct rf_lruvec *lv, uint64_t size, struct rf_scan *sc)
{
	struct rf_model *m = pol->machine;
	struct cgroup *cg = cgroup_nth(m, lv->id), *target = cgroup_nth(m, sc->target->id);
	uint64_t usage = cg->usage, protection;

	if ((!cg->min && !cg->low) || cg == target)
		return size;
	set_protection(m, cg, target);
	if (cg->emin >= usage)
		return 0;
	if (cg->elow >= usage && !sc->low_reclaim) {
		sc->low_skipped = TRUE;
		return 0;
	}
	protection = !sc->low_reclaim && cg->elow > cg->emin ? cg->elow : cg->emin;
	if (!protection)
		return size;
	usage = MAX(usage, protection);
	return MAX(size - (uint64_t)((__uint128_t)size * protection / (usage + 1)), MIN(size, RF_SWAP_CLUSTER_MAX));
}
