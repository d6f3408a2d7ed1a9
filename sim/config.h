/* SPDX-License-Identifier: MIT
 * The configuration of one run, and the machine profile (costs and devices) it runs on.  Both are
 * option tables: command line, job files, --help, JSON and man page come from them.
 */
#ifndef RF_CONFIG_H
#define RF_CONFIG_H

#include "base/option.h"
#include "sim/closed/lock.h"
#include "traces/trace.h"
#include <glib.h>
#include <stdint.h>

enum rf_arch { RF_ARCH_X86_64, RF_ARCH_ARM64 };
enum rf_replay { RF_REPLAY_ORDERED, RF_REPLAY_CLOSED };
enum rf_cgroup_version { RF_CGROUP_V1, RF_CGROUP_V2 };
/* ORDER device kinds: rf_device_names in config.c, the choices of "disk" in profile.c. */
enum rf_device_kind { RF_DEV_NONE, RF_DEV_ZRAM, RF_DEV_NVME, RF_DEV_SSD, RF_DEV_HDD, RF_NDEVICES };

/* Costs and devices of a machine.  Every time is in ns unless its name says otherwise.  The shipped
 * ones stand in sim/profiles, with the source of each figure. */
struct rf_profile {
	char *description;
	uint64_t access, fault_anon, fault_file, fault_around_page, major_overhead;
	uint64_t zram_read, zram_write; /* of 4 KiB */
	uint64_t nvme_latency, ssd_latency, hdd_latency;
	int64_t nvme_mbps, nvme_depth, ssd_mbps, ssd_depth, hdd_mbps;
	int disk; /* device of the files: enum rf_device_kind */
	uint64_t scan_unmapped, scan_mapped, reclaim_page, kswapd_wake, syscall;
	uint64_t copy_page; /* of 4 KiB, as the next three */
	uint64_t zero_page, fill_page, memset_page;
	uint64_t zap_page, lazyfree_page, mapping_op, range_op, sigbus, regen_page;
	uint64_t llc, llc_miss; /* bytes; ns for each 4 KiB that is filled and not cached */
	uint64_t quantum, context_switch;
	struct rf_lock_costs lock[RF_NLOCKS];
	uint64_t counter_line, tlb_shootdown;
	int64_t mem_mbps; /* 0: no limit */
	int64_t core_threads, core_share; /* processors of a core; per cent */
	uint64_t cache_line, cache_line_shared, atomic, slab_pair; /* of accounting pages */
	uint64_t ram;       /* size of the machine, when --ram is not given */
};
extern const struct rf_option rf_profile_options[];
/* A shipped profile by name, or an INI file by path (a name with a slash or a dot).  p need not be
 * initialised; after an error there is nothing to clear. */
gboolean rf_profile_load(struct rf_profile *p, const char *name_or_path, GError **error);
void rf_profile_clear(struct rf_profile *p);
/* One figure, as --set gives it; checked for sense. */
gboolean rf_profile_set(struct rf_profile *p, const char *where, const char *name,
                        const char *value, GError **error);
/* Names of the shipped ones, NULL-terminated, sorted. */
const char *const *rf_profile_names(void);

struct rf_config {
	/* seams: "name" or "name,opt=value,…" */
	char *reclaim, *protect, *account, *volatile_, *fill;
	char *plugin;                        /* path, or NULL */
	char *kernel;                        /* "6.18" */
	int arch, page_size, replay, cgroup; /* page_size: index, 0 4K, 1 16K, 2 64K */
	char *machine;                       /* profile name or file */
	char *swap;                          /* none, or zram|nvme|ssd|hdd with :SIZE */
	int64_t swappiness, seed, cpus;
	char *limit, *ram,
		*frames; /* a size (frames: a count) or a percentage of the footprint, or NULL */
	uint64_t memory_high, memory_low, memory_min; /* of the workload's cgroup; 0: not set */
	char *tlb;                                    /* "ideal" or entries */
	gboolean strict;
	uint64_t timeline;                              /* ns between samples, 0: none */
	uint64_t stats_flush_period, stats_flush_phase; /* ns; period 0: always fresh */
	int64_t stats_poll; /* accesses between reads of memory.stat by somebody, 0: none */
	int64_t charge_batch, uncharge_batch; /* pages; 0: as the release */
	int64_t read_ahead_kb, page_cluster;
	int large_folios;          /* index: auto, no, yes */
	gboolean congestion_wait;
	uint64_t fault_around_bytes;
	int64_t min_free_kbytes,
		watermark_scale_factor; /* min_free_kbytes 0: by the kernel's formula */
	int64_t dirty_background_ratio, dirty_ratio;
	int64_t dirty_expire_centisecs, dirty_writeback_centisecs;
	gboolean exact_time;
	gboolean force; /* replay a trace that lacks accesses which the policy needs */

	/* What --set gave to the machine profile: "name=value", in order. */
	GPtrArray *profile_set;

	/* resolved by rf_config_resolve */
	unsigned page_shift;
	unsigned kernel_release;                /* RF_KERNEL(a,b,c) */
	uint64_t limit_bytes;                   /* 0: none */
	uint64_t ram_bytes;                     /* of the machine; 0 with frames_n */
	uint64_t frames_n;                      /* 0: not the ideal machine */
	uint64_t swap_bytes;                    /* 0: none */
	int swap_device;                        /* enum rf_device_kind */
	uint32_t tlb_entries;                   /* 0: ideal */
	uint64_t dirty_expire, dirty_writeback; /* ns */
	struct rf_profile profile;              /* machine, with profile_set on top */
};

extern const struct rf_option rf_config_options[];
extern const char *const rf_device_names[RF_NDEVICES];

void rf_config_init(struct rf_config *c);
void rf_config_clear(struct rf_config *c);
/* One option by its name in the table. */
gboolean rf_config_set(struct rf_config *c, const char *name, const char *value, GError **error);
/* "key=value" for an option of the configuration or of the machine profile (--set). */
gboolean rf_config_set_any(struct rf_config *c, const char *assignment, GError **error);
/* Check combinations, turn texts and percentages into numbers; totals may be NULL when nothing is a
 * percentage.  Can be called again, with the totals of another trace. */
gboolean rf_config_resolve(struct rf_config *c, const struct rf_totals *totals, GError **error);
gboolean rf_config_needs_totals(const struct rf_config *c);

#endif
