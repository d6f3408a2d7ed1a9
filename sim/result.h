/* SPDX-License-Identifier: MIT
 * What a run gives: counters (policies/counters.h) and gauges, each registered once.
 */
#ifndef RF_RESULT_H
#define RF_RESULT_H

#include <glib.h>
#include <stdint.h>
#include "policies/counters.h"
#include "traces/trace.h"

/* X(id, unit, better, help).  Values of the whole machine at the end of the run unless the help
 * says otherwise.  Units: "B" bytes, "ns", "" a count. */
#define RF_GAUGES(X) \
	X(rf_accesses, "", '0', "accesses replayed") \
	X(rf_implicit, "", '-', "accesses that made an implicit mapping: no mapping covered them") \
	X(rf_time, "ns", '-', "simulated time of the run") \
	X(rf_time_access, "ns", '-', "time spent in accesses that hit, and in think events") \
	X(rf_time_fault, "ns", '-', "time spent in the fault path without waiting for devices") \
	X(rf_time_io, "ns", '-', "time tasks waited for devices") \
	X(rf_time_reclaim, "ns", '-', "time tasks spent in reclaim") \
	X(rf_time_throttle, "ns", '-', "time tasks were throttled") \
	X(rf_time_kswapd, "ns", '-', "time spent by kswapd") \
	X(rf_cpu_busy, "ns", '0', "closed replay: time that processors ran tasks, their sum") \
	X(rf_cpu_idle, "ns", '0', "closed replay: time that processors were idle, their sum") \
	X(rf_switches, "", '-', "closed replay: changes from one task to another on a processor") \
	X(rf_time_queue, "ns", '-', "closed replay: time tasks waited for a processor") \
	X(rf_time_lock, "ns", '-', "closed replay: time tasks waited for locks, spinning included") \
	X(rf_lock_contended, "", '-', "closed replay: locks taken that were waited for") \
	X(rf_stalls, "", '-', "faults that waited for a device, for reclaim or for a throttle") \
	X(rf_stall_p50, "ns", '-', "median stall") \
	X(rf_stall_p99, "ns", '-', "99th percentile of stalls") \
	X(rf_stall_max, "ns", '-', "longest stall") \
	X(rf_footprint, "B", '0', "distinct pages touched, at the run's page size") \
	X(rf_rss, "B", '-', "resident set size of all tasks at the end (anon + file + shmem)") \
	X(rf_rss_anon, "B", '-', "of it anonymous") \
	X(rf_rss_file, "B", '-', "of it file") \
	X(rf_rss_shmem, "B", '-', "of it shmem") \
	X(rf_rss_mean, "B", '-', "resident set size, mean over simulated time") \
	X(rf_rss_max, "B", '-', "resident set size, largest") \
	X(rf_rss_anon_mean, "B", '-', "anonymous part of it, mean; 0 with --frames") \
	X(rf_rss_anon_max, "B", '-', "anonymous part of it, largest; 0 with --frames") \
	X(rf_rss_file_mean, "B", '-', "file part of it, mean; 0 with --frames") \
	X(rf_rss_file_max, "B", '-', "file part of it, largest; 0 with --frames") \
	X(rf_rss_shmem_mean, "B", '-', "shmem part of it, mean; 0 with --frames") \
	X(rf_rss_shmem_max, "B", '-', "shmem part of it, largest; 0 with --frames") \
	X(rf_resident, "B", '-', "pages of the workload in memory, mapped or not") \
	X(rf_cache, "B", '0', "page cache") \
	X(rf_mapped_file, "B", '0', "of it mapped") \
	X(rf_dirty, "B", '0', "of it dirty") \
	X(rf_lazyfree, "B", '0', "lazyfree pages (MADV_FREE) in memory") \
	X(rf_mlocked, "B", '0', "mlocked pages in memory") \
	X(rf_swap, "B", '-', "swap in use") \
	X(rf_swapcache, "B", '0', "pages in memory that also have a swap slot") \
	X(rf_inactive_anon, "B", '0', "inactive anonymous list") \
	X(rf_active_anon, "B", '0', "active anonymous list") \
	X(rf_inactive_file, "B", '0', "inactive file list") \
	X(rf_active_file, "B", '0', "active file list") \
	X(rf_inactive_file_scan, "ns", '0', "time a scan takes through the workload's inactive file list; 0: none") \
	X(rf_active_file_scan, "ns", '0', "time a scan takes through the workload's active file list; 0: none") \
	X(rf_usage, "B", '-', "charged to the workload's cgroup") \
	X(rf_usage_max, "B", '-', "charged to the workload's cgroup, largest") \
	X(rf_kernel, "B", '-', "of it kernel memory (page tables, page-cache tree nodes)") \
	X(rf_working_set, "B", '-', "charged to the workload's cgroup, less inactive file pages") \
	X(rf_free, "B", '+', "free memory of the machine") \
	X(rf_page_tables, "B", '-', "page tables") \
	X(rf_struct_page, "B", '-', "page descriptors for all memory") \
	X(rf_account_boot, "B", '-', "memory for cgroup accounting, taken at boot") \
	X(rf_account, "B", '-', "memory for cgroup accounting, beyond the page descriptor") \
	X(rf_account_max, "B", '-', "memory for cgroup accounting, at most") \
	X(rf_account_waste, "B", '-', "of it for pages that are never charged: hugetlb, holes") \
	X(rf_account_lines, "", '-', "cache lines read to find pages' cgroups, beyond the first of a descriptor") \
	X(rf_time_account, "ns", '-', "time in accounting pages, within fault and reclaim time") \
	X(rf_counter_writes, "", '-', "closed replay: writes of the usage of cgroups") \
	X(rf_counter_contended, "", '-', "closed replay: of them, after another processor's") \
	X(rf_vma, "B", '-', "mappings (VMA descriptors)") \
	X(rf_vranges, "", '0', "purgeable ranges") \
	X(rf_vranges_max, "", '0', "purgeable ranges, at most") \
	X(rf_vranges_purged, "", '0', "purgeable ranges that lost data") \
	X(rf_vrange_bytes, "B", '-', "descriptions of purgeable ranges, beyond mappings") \
	X(rf_shadow_nodes, "B", '-', "page-cache tree nodes") \
	X(rf_swap_meta, "B", '-', "swap tables") \
	X(rf_reference_pages, "B", '-', "reference pages, which are nobody's") \
	X(rf_metadata, "B", '-', "all memory that metadata takes")

enum rf_gauge {
#define RF_GAUGE_ID(id, unit, better, help) RF_G_##id,
	RF_GAUGES(RF_GAUGE_ID)
#undef RF_GAUGE_ID
	RF_NGAUGES
};

/* A timeline has at most so many points: then every other one is dropped, and the interval doubled. */
#define RF_TIMELINE_MOST 16384

/* A point of a timeline: simulated time, counters so far, gauges now. */
struct rf_sample {
	uint64_t now;
	char *mark;      /* name of the mark event, or NULL; owned */
	uint64_t counter[RF_NCOUNTERS];
	uint64_t gauge[RF_NGAUGES];
};

struct rf_task_result {
	uint32_t tid;
	char *name;      /* or NULL */
	uint64_t rss, rss_mean, rss_max, swap, pgfault, pgmajfault, accesses; /* bytes, counts */
	/* Closed replay, ns: on a processor, spinning in front of locks among it; and off it, waiting
	 * for one, for devices, for locks, throttled. */
	uint64_t cpu, spin, queue, device, lock, throttle;
	gboolean oom_killed, exited;
};

struct rf_cgroup_result {
	char *path;
	uint64_t counter[RF_NCOUNTERS];
	uint64_t usage, usage_max, anon, file, file_mapped, swap, kernel; /* bytes */
	uint64_t lru[4]; /* inactive_anon active_anon inactive_file active_file, bytes */
};

/* Closed replay: a processor, and the locks of a kind; ns but for the counts. */
struct rf_cpu_result { uint64_t busy, idle; };
struct rf_lock_result {
	const char *name; /* lives for ever */
	uint64_t taken, contended, waited, waited_max, held;
};

struct rf_oom { uint64_t now; uint32_t tid; char *cgroup; char *reason; };

struct rf_result {
	uint64_t counter[RF_NCOUNTERS];
	uint64_t gauge[RF_NGAUGES];
	GArray *tasks;    /* struct rf_task_result */
	GArray *cgroups;  /* struct rf_cgroup_result; the workload's first, then by path */
	GArray *oom;      /* struct rf_oom */
	GArray *cpus;     /* struct rf_cpu_result; empty in ordered replay, as the next */
	GArray *locks;    /* struct rf_lock_result, of kinds that were taken */
	GArray *marks;    /* struct rf_sample with mark */
	GArray *timeline; /* struct rf_sample, one every cfg->timeline, and the end */
	struct rf_totals totals;
};

/* Empty arrays, that own what their elements own, and zeros. */
void rf_result_init(struct rf_result *r);
void rf_result_clear(struct rf_result *r);

enum rf_metric_kind { RF_METRIC_COUNTER, RF_METRIC_GAUGE };
struct rf_metric {
	const char *name, *unit, *help;
	char better; /* '-' lower, '+' higher, '0' neither */
	enum rf_metric_kind kind;
	unsigned index;
};
extern const struct rf_metric rf_metrics[]; /* counters in order, then gauges in order */
extern const unsigned rf_nmetrics;
const struct rf_metric *rf_metric_find(const char *name);
uint64_t rf_result_value(const struct rf_result *r, const struct rf_metric *m);

#endif
