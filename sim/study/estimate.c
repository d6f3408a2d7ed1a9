/* SPDX-License-Identifier: MIT */
#include "sim/study/estimate.h"

#include <string.h>
#include <unistd.h>

#include "sim/policy.h"

/* Measured on the shipped traces and on synthetic ones of a million pages, arrays' room to grow and
 * the old copy while they do included; tests/test-study-sweep.c compares. */
#define FIXED (UINT64_C(3) << 20) /* page-table leaves of a sparse address space, nodes of large files */
#define FRAMES_PAGE 80 /* of the ideal machine, each page */
#define MODEL_PAGE 120 /* of the modelled one, each page; file pages have nodes as well */
#define TRACE_PAGE 8   /* each page of the trace, whatever the size of the run's */

static uint64_t policy_page(const struct rf_config *cfg)
{
	g_autofree char *name = NULL, *list = NULL;
	const struct rf_reclaim_ops *ops;

	rf_spec_split(cfg->reclaim ? cfg->reclaim : "", &name, &list);
	ops = rf_reclaim_find(name, NULL);
	return ops ? 2 * ops->page_size : 0;
}

uint64_t rf_estimate_bytes(const struct rf_config *cfg, const struct rf_totals *totals)
{
	uint64_t pages = totals->footprint[cfg->page_size], slots = 0;
	uint64_t page = (cfg->frames_n ? FRAMES_PAGE : MODEL_PAGE) + policy_page(cfg);

	/* The granule is larger than the run's pages. */
	if (!pages)
		pages = totals->pages;
	/* Of a rotational device it matters what lies side by side: there is a table of slots. */
	if (cfg->swap_device == RF_DEV_HDD)
		slots = cfg->swap_bytes >> cfg->page_shift;
	return FIXED + pages * page + totals->pages * TRACE_PAGE + slots * sizeof(uint32_t);
}

static uint64_t available(void)
{
	g_autofree char *text = NULL;
	const char *line;

	if (!g_file_get_contents("/proc/meminfo", &text, NULL, NULL))
		return 0;
	line = strstr(text, "MemAvailable:");
	return line ? g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10 : 0;
}

uint64_t rf_estimate_free(void)
{
	uint64_t bytes = available();

	if (bytes)
		return bytes / 3 * 2;
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}
