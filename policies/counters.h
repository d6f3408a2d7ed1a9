/* SPDX-License-Identifier: MIT
 * The counters, once: enum, names, units, direction and meaning come from this list.  Kernel names
 * verbatim (/proc/vmstat, memory.stat); ours are prefixed rf_.  Part of the policy interface.
 *
 * X(id, better, kernel_scope, help): better is '-' lower, '+' higher, '0' neither.
 * scope: G counted globally for every reclaim, M only per cgroup for limit reclaim (the global
 * counter then stays as it is: reclaim of a cgroup at its limit is not in /proc/vmstat's
 * pgscan_direct), B both.
 */
#ifndef RF_COUNTERS_H
#define RF_COUNTERS_H

#include <stdint.h>

#define RF_COUNTERS(X) \
	X(pgfault, '-', B, "page faults completed") \
	X(pgmajfault, '-', B, "faults that found the page neither in memory nor in a cache") \
	X(pgscan_kswapd, '-', M, "pages looked at on inactive lists by kswapd") \
	X(pgscan_direct, '-', M, "pages looked at on inactive lists by direct and limit reclaim") \
	X(pgscan_proactive, '-', M, "pages looked at on inactive lists on request (memory.reclaim, memory.high write)") \
	X(pgscan_anon, '-', B, "anonymous pages looked at on inactive lists") \
	X(pgscan_file, '-', B, "file pages looked at on inactive lists") \
	X(pgsteal_kswapd, '0', M, "pages reclaimed by kswapd") \
	X(pgsteal_direct, '0', M, "pages reclaimed by direct and limit reclaim") \
	X(pgsteal_proactive, '0', M, "pages reclaimed on request") \
	X(pgsteal_anon, '0', B, "anonymous pages reclaimed") \
	X(pgsteal_file, '0', B, "file pages reclaimed (lazyfree included)") \
	X(pgrefill, '-', M, "pages looked at on active lists") \
	X(pgactivate, '0', B, "pages moved from an inactive to an active list") \
	X(pgdeactivate, '0', B, "pages moved from an active to an inactive list") \
	X(pgrotated, '0', B, "pages moved to the inactive tail after writeback") \
	X(pglazyfree, '0', B, "pages marked by MADV_FREE") \
	X(pglazyfreed, '0', B, "lazyfree pages discarded by reclaim") \
	X(pswpin, '-', B, "pages read from the swap device") \
	X(pswpout, '-', B, "pages written to the swap device") \
	X(swap_ra, '0', B, "pages read ahead from swap") \
	X(swap_ra_hit, '+', B, "pages read ahead from swap and then wanted") \
	X(workingset_refault_anon, '-', B, "anonymous pages that came back after eviction") \
	X(workingset_refault_file, '-', B, "file pages that came back after eviction") \
	X(workingset_activate_anon, '-', B, "refaulted anonymous pages activated at once") \
	X(workingset_activate_file, '-', B, "refaulted file pages activated at once") \
	X(workingset_restore_anon, '-', B, "refaulted anonymous pages that had been active before eviction") \
	X(workingset_restore_file, '-', B, "refaulted file pages that had been active before eviction") \
	X(workingset_nodereclaim, '0', B, "page-cache tree nodes with only shadows freed") \
	X(pgpgin, '-', G, "KiB read from block devices") \
	X(pgpgout, '-', G, "KiB written to block devices") \
	X(nr_vmscan_write, '-', G, "pages written by reclaim") \
	X(nr_vmscan_immediate_reclaim, '0', G, "dirty file pages marked to be freed when clean") \
	X(nr_dirtied, '0', G, "file pages dirtied") \
	X(nr_written, '0', G, "file pages written back") \
	X(allocstall, '-', G, "direct reclaims for want of free memory") \
	X(pageoutrun, '0', G, "rounds of kswapd") \
	X(oom_kill, '-', B, "tasks killed for want of memory") \
	X(rf_charge_pages, '0', M, "pages charged (pgpgin of a v1 memory.stat)") \
	X(rf_uncharge_pages, '0', M, "pages uncharged (pgpgout of a v1 memory.stat)") \
	X(rf_limit_reclaim, '-', M, "reclaims because a limit was met (events.max)") \
	X(rf_fault_anon, '-', B, "faults on anonymous memory") \
	X(rf_fault_file, '-', B, "faults on mapped files") \
	X(rf_fault_exec, '-', B, "faults by instruction fetch") \
	X(rf_first_touch, '0', B, "pages brought in for the first time") \
	X(rf_zero_page, '0', B, "read faults served by the zero page") \
	X(rf_reference_page, '0', B, "read faults served by a reference page") \
	X(rf_filled, '0', B, "fresh pages that the kernel filled with a pattern") \
	X(rf_memset, '0', B, "pages that programs filled with a pattern when they were mapped") \
	X(rf_cow, '0', B, "copy-on-write copies") \
	X(rf_vrange_volatile, '0', B, "calls that marked a range volatile") \
	X(rf_vrange_nonvolatile, '0', B, "calls that wanted a range back") \
	X(rf_vrange_lost, '-', B, "of those, told that data was lost") \
	X(rf_vrange_short, '-', B, "calls on ranges that ended before the range did") \
	X(rf_vrange_nomem, '-', B, "of those, for want of mappings (max_map_count)") \
	X(rf_purged_pages, '0', B, "volatile pages discarded") \
	X(rf_purged_kswapd, '0', B, "of those, by kswapd") \
	X(rf_sigbus, '-', B, "signals for touching purged memory") \
	X(rf_purged_zero, '-', B, "touches of purged memory that found zeros") \
	X(rf_exec_refault, '-', B, "executable file pages that came back after eviction") \
	X(rf_pages_in, '0', B, "pages that became resident") \
	X(rf_pages_out, '0', B, "pages that ceased to be resident") \
	X(rf_policy_fallback, '-', B, "victims chosen by the fallback because the policy proposed too few") \
	X(rf_policy_refused, '-', B, "proposals refused (not resident, wrong cgroup, pinned, taken twice)")

enum rf_counter {
#define RF_COUNTER_ID(id, better, scope, help) RF_C_##id,
	RF_COUNTERS(RF_COUNTER_ID)
#undef RF_COUNTER_ID
	RF_NCOUNTERS
};

#endif
