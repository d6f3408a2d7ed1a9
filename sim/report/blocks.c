/* SPDX-License-Identifier: MIT
 * The blocks of the report for people, of runs on the modelled machine.  Each begins with an empty
 * line, and is left out when it has nothing to say.
 */
#include "base/wrap.h"
#include "sim/report/report.h"

#include <string.h>

#include "base/units.h"
#include "sim/cells.h"

#define MOST_TASKS 16
#define MOST_OOM 8
#define BAR 24

static uint64_t counter(const struct rf_report *r, enum rf_counter c)
{
	return r->result->counter[c];
}

static uint64_t gauge(const struct rf_report *r, enum rf_gauge g)
{
	return r->result->gauge[g];
}

/* Of a limit's reclaim the machine's own counters know little, as in the kernel; its cgroups know.
 */
static uint64_t anywhere(const struct rf_report *r, enum rf_counter c)
{
	uint64_t n = r->result->counter[c];

	for (guint i = 0; i < r->result->cgroups->len; i++)
		n = MAX(n,
		        g_array_index(r->result->cgroups, struct rf_cgroup_result, i).counter[c]);
	return n;
}

static void faults(GString *out, const struct rf_report *r)
{
	const struct {
		const char *name;
		enum rf_counter anon, file;
	} rows[] = {
		{ "refaults", RF_C_workingset_refault_anon, RF_C_workingset_refault_file },
		{ "  activated", RF_C_workingset_activate_anon, RF_C_workingset_activate_file },
		{ "  restored", RF_C_workingset_restore_anon, RF_C_workingset_restore_file },
	};
	const struct rf_fact more[] = {
		{ "major", counter(r, RF_C_pgmajfault) },
		{ "first touches", counter(r, RF_C_rf_first_touch) },
		{ "zero page", counter(r, RF_C_rf_zero_page) },
		{ "reference page", counter(r, RF_C_rf_reference_page) },
		{ "filled by the kernel", counter(r, RF_C_rf_filled) },
		{ "by the program", counter(r, RF_C_rf_memset) },
		{ "copies on write", counter(r, RF_C_rf_cow) },
		{ "implicit mappings", gauge(r, RF_G_rf_implicit) },
	};

	rf_table_head(out, "Faults",
	              (const char *const[]){ "total", "anon", "file", "exec", NULL });
	rf_label(out, "faults");
	rf_count_cell(out, counter(r, RF_C_pgfault));
	rf_count_cell(out, counter(r, RF_C_rf_fault_anon));
	rf_count_cell(out, counter(r, RF_C_rf_fault_file));
	rf_count_cell(out, counter(r, RF_C_rf_fault_exec));
	g_string_append_c(out, '\n');
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		uint64_t anon = counter(r, rows[i].anon), file = counter(r, rows[i].file);

		if (i > 0 && anon + file == 0)
			continue;
		rf_label(out, rows[i].name);
		rf_count_cell(out, anon + file);
		rf_count_cell(out, anon);
		rf_count_cell(out, file);
		/* In brackets: these are among those of files. */
		if (i == 0 && counter(r, RF_C_rf_exec_refault)) {
			g_autofree char *n = rf_format_count(counter(r, RF_C_rf_exec_refault));
			g_autofree char *text = g_strdup_printf("(%s)", n);

			rf_cell(out, text);
		}
		g_string_append_c(out, '\n');
	}
	rf_facts_line(out, "of them", more, G_N_ELEMENTS(more));
}

static void reclaim(GString *out, const struct rf_report *r)
{
	const uint64_t scan[] = {
		counter(r, RF_C_pgscan_anon) + counter(r, RF_C_pgscan_file),
		counter(r, RF_C_pgscan_anon),
		counter(r, RF_C_pgscan_file),
		anywhere(r, RF_C_pgscan_direct),
		anywhere(r, RF_C_pgscan_kswapd),
	};
	const uint64_t steal[] = {
		counter(r, RF_C_pgsteal_anon) + counter(r, RF_C_pgsteal_file),
		counter(r, RF_C_pgsteal_anon),
		counter(r, RF_C_pgsteal_file),
		anywhere(r, RF_C_pgsteal_direct),
		anywhere(r, RF_C_pgsteal_kswapd),
	};
	const struct rf_fact lists[] = {
		{ "refilled", anywhere(r, RF_C_pgrefill) },
		{ "activated", anywhere(r, RF_C_pgactivate) },
		{ "deactivated", anywhere(r, RF_C_pgdeactivate) },
		{ "rotated", counter(r, RF_C_pgrotated) },
		{ "lazyfree", counter(r, RF_C_pglazyfree) },
		{ "lazyfreed", counter(r, RF_C_pglazyfreed) },
	};
	const struct rf_fact swap[] = {
		{ "pages out", counter(r, RF_C_pswpout) },
		{ "pages in", counter(r, RF_C_pswpin) },
		{ "read ahead", counter(r, RF_C_swap_ra) },
		{ "of those wanted", counter(r, RF_C_swap_ra_hit) },
	};
	const struct rf_fact disk[] = {
		{ "KiB in", counter(r, RF_C_pgpgin) },
		{ "KiB out", counter(r, RF_C_pgpgout) },
		{ "pages dirtied", counter(r, RF_C_nr_dirtied) },
		{ "written", counter(r, RF_C_nr_written) },
		{ "by reclaim, swap included,", counter(r, RF_C_nr_vmscan_write) },
	};
	const struct rf_fact calls[] = {
		{ "limit met", anywhere(r, RF_C_rf_limit_reclaim) },
		{ "direct reclaims", counter(r, RF_C_allocstall) },
		{ "rounds of kswapd", counter(r, RF_C_pageoutrun) },
		{ "fallback victims", counter(r, RF_C_rf_policy_fallback) },
		{ "refused proposals", counter(r, RF_C_rf_policy_refused) },
	};

	if (scan[0] + steal[0] + anywhere(r, RF_C_rf_limit_reclaim) + counter(r, RF_C_allocstall) +
	            counter(r, RF_C_pageoutrun) ==
	    0) {
		g_string_append(out, "\nReclaim       none: memory was never short\n");
	} else {
		rf_table_head(
			out, "Reclaim",
			(const char *const[]){ "total", "anon", "file", "direct", "kswapd", NULL });
		rf_label(out, "scanned");
		for (size_t i = 0; i < G_N_ELEMENTS(scan); i++)
			rf_count_cell(out, scan[i]);
		g_string_append_c(out, '\n');
		rf_label(out, "reclaimed");
		for (size_t i = 0; i < G_N_ELEMENTS(steal); i++)
			rf_count_cell(out, steal[i]);
		g_string_append_c(out, '\n');
		rf_label(out, "efficiency");
		for (size_t i = 0; i < G_N_ELEMENTS(scan); i++)
			rf_share_cell(out, steal[i], scan[i], 1);
		g_string_append_c(out, '\n');
		rf_facts_line(out, "calls", calls, G_N_ELEMENTS(calls));
		rf_facts_line(out, "lists", lists, G_N_ELEMENTS(lists));
	}
	rf_facts_line(out, "swap", swap, G_N_ELEMENTS(swap));
	rf_facts_line(out, "disk", disk, G_N_ELEMENTS(disk));
}

static void size_row(GString *out, const char *name, uint64_t now, uint64_t mean, uint64_t max,
                     gboolean has_mean, gboolean has_max)
{
	rf_label(out, name);
	rf_size_cell(out, now);
	if (has_mean)
		rf_size_cell(out, mean);
	else if (has_max)
		rf_cell(out, "");
	if (has_max)
		rf_size_cell(out, max);
	g_string_append_c(out, '\n');
}

static void memory(GString *out, const struct rf_report *r)
{
	static const struct {
		const char *name;
		enum rf_gauge now, mean, max;
	} rows[] = {
		{ "RSS", RF_G_rf_rss, RF_G_rf_rss_mean, RF_G_rf_rss_max },
		{ "  anon", RF_G_rf_rss_anon, RF_G_rf_rss_anon_mean, RF_G_rf_rss_anon_max },
		{ "  file", RF_G_rf_rss_file, RF_G_rf_rss_file_mean, RF_G_rf_rss_file_max },
		{ "  shmem", RF_G_rf_rss_shmem, RF_G_rf_rss_shmem_mean, RF_G_rf_rss_shmem_max },
	};
	static const struct {
		const char *name;
		enum rf_gauge gauge;
	} more[] = {
		{ "page cache", RF_G_rf_cache },     { "  mapped", RF_G_rf_mapped_file },
		{ "  dirty", RF_G_rf_dirty },        { "lazyfree", RF_G_rf_lazyfree },
		{ "mlocked", RF_G_rf_mlocked },      { "swap used", RF_G_rf_swap },
		{ "swap cache", RF_G_rf_swapcache },
	};

	rf_table_head(out, "Memory", (const char *const[]){ "at the end", "mean", "max", NULL });
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (i < 3 || gauge(r, rows[i].max))
			size_row(out, rows[i].name, gauge(r, rows[i].now), gauge(r, rows[i].mean),
			         gauge(r, rows[i].max), TRUE, TRUE);
	}
	size_row(out, "charged", gauge(r, RF_G_rf_usage), 0, gauge(r, RF_G_rf_usage_max), FALSE,
	         TRUE);
	if (gauge(r, RF_G_rf_kernel))
		size_row(out, "  kernel", gauge(r, RF_G_rf_kernel), 0, 0, FALSE, FALSE);
	for (size_t i = 0; i < G_N_ELEMENTS(more); i++) {
		if (gauge(r, more[i].gauge))
			size_row(out, more[i].name, gauge(r, more[i].gauge), 0, 0, FALSE, FALSE);
	}
}

static void lists(GString *out, const struct rf_report *r)
{
	uint64_t ia = gauge(r, RF_G_rf_inactive_anon), aa = gauge(r, RF_G_rf_active_anon);
	uint64_t fi = gauge(r, RF_G_rf_inactive_file), fa = gauge(r, RF_G_rf_active_file);

	if (ia + aa + fi + fa == 0)
		return;
	rf_table_head(out, "Lists", (const char *const[]){ "inactive", "active", NULL });
	rf_label(out, "anon");
	rf_size_cell(out, ia);
	rf_size_cell(out, aa);
	g_string_append_c(out, '\n');
	rf_label(out, "file");
	rf_size_cell(out, fi);
	rf_size_cell(out, fa);
	g_string_append_c(out, '\n');
}

/* Purgeable memory. */
static void ranges(GString *out, const struct rf_report *r)
{
	const struct rf_fact calls[] = {
		{ "made volatile", counter(r, RF_C_rf_vrange_volatile) },
		{ "wanted back", counter(r, RF_C_rf_vrange_nonvolatile) },
		{ "of those lost", counter(r, RF_C_rf_vrange_lost) },
		{ "ended early", counter(r, RF_C_rf_vrange_short) },
		{ "of those for want of mappings", counter(r, RF_C_rf_vrange_nomem) },
	};
	const struct rf_fact purged[] = {
		{ "ranges", gauge(r, RF_G_rf_vranges_purged) },
		{ "pages", counter(r, RF_C_rf_purged_pages) },
		{ "of those by kswapd", counter(r, RF_C_rf_purged_kswapd) },
		{ "signals", counter(r, RF_C_rf_sigbus) },
		{ "touches that found zeros", counter(r, RF_C_rf_purged_zero) },
	};
	const struct rf_fact now[] = {
		{ "at the end", gauge(r, RF_G_rf_vranges) },
		{ "at most", gauge(r, RF_G_rf_vranges_max) },
	};

	if (!counter(r, RF_C_rf_vrange_volatile))
		return;
	g_string_append_c(out, '\n');
	rf_facts_line(out, "Ranges", calls, G_N_ELEMENTS(calls));
	rf_facts_line(out, "purged", purged, G_N_ELEMENTS(purged));
	rf_facts_line(out, "volatile", now, G_N_ELEMENTS(now));
}

static void metadata(GString *out, const struct rf_report *r)
{
	static const struct {
		const char *name;
		enum rf_gauge gauge;
	} rows[] = {
		{ "struct page", RF_G_rf_struct_page },  { "cgroups", RF_G_rf_account },
		{ "page tables", RF_G_rf_page_tables },  { "mappings", RF_G_rf_vma },
		{ "ranges", RF_G_rf_vrange_bytes },
		{ "cache nodes", RF_G_rf_shadow_nodes }, { "swap tables", RF_G_rf_swap_meta },
	};

	rf_table_head(out, "Metadata", (const char *const[]){ "size", "of RAM", NULL });
	rf_label(out, "total");
	rf_size_cell(out, gauge(r, RF_G_rf_metadata));
	rf_share_cell(out, gauge(r, RF_G_rf_metadata), r->cfg->ram_bytes, 4);
	g_string_append_c(out, '\n');
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *name = g_strdup_printf("  %s", rows[i].name);

		if (!gauge(r, rows[i].gauge))
			continue;
		rf_label(out, name);
		rf_size_cell(out, gauge(r, rows[i].gauge));
		rf_share_cell(out, gauge(r, rows[i].gauge), r->cfg->ram_bytes, 4);
		g_string_append_c(out, '\n');
	}
}

static void time_row(GString *out, const char *name, uint64_t ns, uint64_t whole, gboolean bar)
{
	g_autofree char *text = rf_format_time(ns);
	uint64_t filled = whole ? (uint64_t)((unsigned __int128)ns * BAR / whole) : 0;

	rf_label(out, name);
	rf_cell(out, text);
	rf_share_cell(out, ns, whole, 1);
	if (bar && filled) {
		g_string_append(out, "  ");
		for (uint64_t i = 0; i < MIN(filled, BAR); i++)
			g_string_append_c(out, '#');
	}
	g_string_append_c(out, '\n');
}

/* ---- closed replay ---- */

static void processor_row(GString *out, const char *name, uint64_t busy, uint64_t idle)
{
	g_autofree char *b = rf_format_time(busy), *i = rf_format_time(idle);

	rf_label(out, name);
	rf_cell(out, b);
	rf_cell(out, i);
	rf_share_cell(out, busy, busy + idle, 1);
	g_string_append_c(out, '\n');
}

static void processors(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->cpus;

	if (all->len == 0)
		return;
	rf_table_head(out, "Processors",
	              (const char *const[]){ "busy", "idle", "utilisation", NULL });
	processor_row(out, "total", gauge(r, RF_G_rf_cpu_busy), gauge(r, RF_G_rf_cpu_idle));
	for (guint i = 0; all->len > 1 && i < MIN(all->len, MOST_TASKS); i++) {
		const struct rf_cpu_result *c = &g_array_index(all, struct rf_cpu_result, i);
		g_autofree char *name = g_strdup_printf("  %u", i);

		processor_row(out, name, c->busy, c->idle);
	}
	if (all->len > MOST_TASKS)
		g_string_append_printf(out, "and %u more\n", all->len - MOST_TASKS);
}

static int busier_task(const void *a, const void *b)
{
	const struct rf_task_result *const *x = a, *const *y = b;

	if ((*x)->cpu != (*y)->cpu)
		return (*x)->cpu < (*y)->cpu ? 1 : -1;
	return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static void task_times(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->tasks;
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();

	if (r->result->cpus->len == 0 || all->len == 0)
		return;
	for (guint i = 0; i < all->len; i++)
		g_ptr_array_add(sorted, &g_array_index(all, struct rf_task_result, i));
	g_ptr_array_sort(sorted, busier_task);
	rf_table_head(out, "Tasks",
	              (const char *const[]){ "on CPU", "queued", "devices", "locks", "throttled",
	                                     NULL });
	for (guint i = 0; i < MIN(sorted->len, MOST_TASKS); i++) {
		const struct rf_task_result *t = sorted->pdata[i];
		const uint64_t ns[] = { t->cpu - t->spin, t->queue, t->device, t->lock + t->spin,
			                t->throttle };
		g_autofree char *name = g_strdup_printf("%u %s", t->tid, t->name ? t->name : "");

		rf_foreign_label(out, g_strchomp(name));
		for (size_t k = 0; k < G_N_ELEMENTS(ns); k++) {
			g_autofree char *text = rf_format_time(ns[k]);

			rf_cell(out, text);
		}
		g_string_append_c(out, '\n');
	}
	if (sorted->len > MOST_TASKS)
		g_string_append_printf(out, "and %u less busy ones\n", sorted->len - MOST_TASKS);
}

static void locks(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->locks;

	if (all->len == 0)
		return;
	rf_table_head(out, "Locks",
	              (const char *const[]){ "taken", "contended", "mean wait", "longest",
	                                     "held, excl.", NULL });
	for (guint i = 0; i < all->len; i++) {
		const struct rf_lock_result *l = &g_array_index(all, struct rf_lock_result, i);
		g_autofree char *mean =
			rf_format_time(l->contended ? l->waited / l->contended : 0);
		g_autofree char *longest = rf_format_time(l->waited_max);

		rf_label(out, l->name);
		rf_count_cell(out, l->taken);
		rf_share_cell(out, l->contended, l->taken, 1);
		rf_cell(out, mean);
		rf_cell(out, longest);
		rf_share_cell(out, l->held, gauge(r, RF_G_rf_time), 1);
		g_string_append_c(out, '\n');
	}
}

/* Of closed replay the shares are of all that the tasks' times come to. */
static uint64_t whole_time(const struct rf_report *r)
{
	uint64_t sum = 0;

	if (r->result->cpus->len == 0)
		return gauge(r, RF_G_rf_time);
	for (guint i = 0; i < r->result->tasks->len; i++) {
		const struct rf_task_result *t =
			&g_array_index(r->result->tasks, struct rf_task_result, i);

		sum += t->cpu + t->queue + t->device + t->lock + t->throttle;
	}
	return sum;
}

static void times(GString *out, const struct rf_report *r)
{
	static const struct {
		const char *name;
		enum rf_gauge gauge;
	} rows[] = {
		{ "  accesses", RF_G_rf_time_access },    { "  faults", RF_G_rf_time_fault },
		{ "  devices", RF_G_rf_time_io },         { "  reclaim", RF_G_rf_time_reclaim },
		{ "  throttled", RF_G_rf_time_throttle }, { "  locks", RF_G_rf_time_lock },
		{ "  queued", RF_G_rf_time_queue },
	};
	uint64_t whole = whole_time(r), kswapd = gauge(r, RF_G_rf_time_kswapd);

	rf_table_head(out, "Time", (const char *const[]){ "simulated", "share", NULL });
	if (r->result->cpus->len) {
		g_autofree char *elapsed = rf_format_time(gauge(r, RF_G_rf_time));

		rf_label(out, "elapsed");
		rf_cell(out, elapsed);
		g_string_append_c(out, '\n');
	}
	time_row(out, r->result->cpus->len ? "all tasks" : "total", whole, whole, FALSE);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (gauge(r, rows[i].gauge))
			time_row(out, rows[i].name, gauge(r, rows[i].gauge), whole, TRUE);
	}
	if (kswapd)
		time_row(out, "kswapd", kswapd, whole, TRUE);
	if (gauge(r, RF_G_rf_stalls)) {
		g_autofree char *n = rf_format_count(gauge(r, RF_G_rf_stalls));
		g_autofree char *p50 = rf_format_time(gauge(r, RF_G_rf_stall_p50));
		g_autofree char *p99 = rf_format_time(gauge(r, RF_G_rf_stall_p99));
		g_autofree char *max = rf_format_time(gauge(r, RF_G_rf_stall_max));

		rf_label(out, "stalls");
		g_string_append_printf(out, "  %s: p50 %s, p99 %s, max %s\n", n, p50, p99, max);
	}
}

static int larger_task(const void *a, const void *b)
{
	const struct rf_task_result *const *x = a, *const *y = b;

	if ((*x)->rss_max != (*y)->rss_max)
		return (*x)->rss_max < (*y)->rss_max ? 1 : -1;
	return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static void tasks(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->tasks;
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();

	if (all->len == 0)
		return;
	for (guint i = 0; i < all->len; i++)
		g_ptr_array_add(sorted, &g_array_index(all, struct rf_task_result, i));
	g_ptr_array_sort(sorted, larger_task);
	rf_table_head(out, "Tasks",
	              (const char *const[]){ "RSS", "mean", "max", "faults", "major", NULL });
	for (guint i = 0; i < MIN(sorted->len, MOST_TASKS); i++) {
		const struct rf_task_result *t = sorted->pdata[i];
		g_autofree char *name = g_strdup_printf("%u %s", t->tid, t->name ? t->name : "");

		rf_foreign_label(out, g_strchomp(name));
		rf_size_cell(out, t->rss);
		rf_size_cell(out, t->rss_mean);
		rf_size_cell(out, t->rss_max);
		rf_count_cell(out, t->pgfault);
		rf_count_cell(out, t->pgmajfault);
		g_string_append_c(out, '\n');
	}
	if (sorted->len > MOST_TASKS)
		g_string_append_printf(out, "and %u smaller ones\n", sorted->len - MOST_TASKS);
}

/* Those of the trace: with the workload's and the root alone, the figures are those of the whole.
 */
static void cgroups(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->cgroups;

	if (all->len < 3)
		return;
	rf_table_head(
		out, "Cgroups",
		(const char *const[]){ "charged", "max", "faults", "refaults", "OOM kills", NULL });
	for (guint i = 0; i < MIN(all->len, MOST_TASKS); i++) {
		const struct rf_cgroup_result *g = &g_array_index(all, struct rf_cgroup_result, i);

		rf_foreign_label(out, g->path);
		rf_size_cell(out, g->usage);
		rf_size_cell(out, g->usage_max);
		rf_count_cell(out, g->counter[RF_C_pgfault]);
		rf_count_cell(out, g->counter[RF_C_workingset_refault_anon] +
		                           g->counter[RF_C_workingset_refault_file]);
		rf_count_cell(out, g->counter[RF_C_oom_kill]);
		g_string_append_c(out, '\n');
	}
	if (all->len > MOST_TASKS)
		g_string_append_printf(out, "and %u more\n", all->len - MOST_TASKS);
}

static void marks(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->marks;

	if (all->len == 0)
		return;
	rf_table_head(out, "Marks",
	              (const char *const[]){ "time", "RSS", "faults", "major", NULL });
	for (guint i = 0; i < MIN(all->len, MOST_TASKS); i++) {
		const struct rf_sample *s = &g_array_index(all, struct rf_sample, i);
		g_autofree char *when = rf_format_time(s->now);

		rf_foreign_label(out, s->mark ? s->mark : "");
		rf_cell(out, when);
		rf_size_cell(out, s->gauge[RF_G_rf_rss]);
		rf_count_cell(out, s->counter[RF_C_pgfault]);
		rf_count_cell(out, s->counter[RF_C_pgmajfault]);
		g_string_append_c(out, '\n');
	}
	if (all->len > MOST_TASKS)
		g_string_append_printf(out, "and %u more\n", all->len - MOST_TASKS);
}

static void oom(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->oom;

	if (all->len == 0)
		return;
	g_string_append(out, "\nOOM kills\n");
	for (guint i = 0; i < MIN(all->len, MOST_OOM); i++) {
		const struct rf_oom *o = &g_array_index(all, struct rf_oom, i);
		g_autofree char *when = rf_format_time(o->now);

		g_autofree char *cgroup = g_utf8_make_valid(o->cgroup ? o->cgroup : "/", -1);
		g_autofree char *text = g_strdup_printf("at %s task %u in %s: %s", when, o->tid,
		                                        cgroup, o->reason ? o->reason : "");

		g_string_append(out, "  ");
		rf_wrap(out, g_strdelimit(text, "\n\r\t\033", '?'), 2, 4);
	}
	if (all->len > MOST_OOM)
		g_string_append_printf(out, "  and %u more\n", all->len - MOST_OOM);
}

void rf_report_blocks(GString *out, const struct rf_report *r)
{
	oom(out, r);
	faults(out, r);
	reclaim(out, r);
	memory(out, r);
	lists(out, r);
	ranges(out, r);
	tasks(out, r);
	cgroups(out, r);
	metadata(out, r);
	processors(out, r);
	task_times(out, r);
	locks(out, r);
	times(out, r);
	marks(out, r);
}
