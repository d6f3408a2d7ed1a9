/* SPDX-License-Identifier: MIT
 * "name value" lines in the manner of /proc/vmstat: sizes in pages under the kernel's names, then
 * the counters, then what the kernel has no name for, in the unit of its metric.
 */
#include "sim/report/report.h"

#include <string.h>

static const struct {
	enum rf_gauge gauge;
	const char *name;
} kernel_names[] = {
	{ RF_G_rf_free, "nr_free_pages" },         { RF_G_rf_inactive_anon, "nr_inactive_anon" },
	{ RF_G_rf_active_anon, "nr_active_anon" }, { RF_G_rf_inactive_file, "nr_inactive_file" },
	{ RF_G_rf_active_file, "nr_active_file" }, { RF_G_rf_mlocked, "nr_mlock" },
	{ RF_G_rf_rss_anon, "nr_anon_pages" },     { RF_G_rf_mapped_file, "nr_mapped" },
	{ RF_G_rf_cache, "nr_file_pages" },        { RF_G_rf_dirty, "nr_dirty" },
	{ RF_G_rf_rss_shmem, "nr_shmem" },         { RF_G_rf_page_tables, "nr_page_table_pages" },
	{ RF_G_rf_swapcache, "nr_swapcached" },    { RF_G_rf_struct_page, "nr_memmap_pages" },
};

const char *rf_vmstat_name(const struct rf_metric *m)
{
	for (size_t i = 0; m->kind == RF_METRIC_GAUGE && i < G_N_ELEMENTS(kernel_names); i++) {
		if (kernel_names[i].gauge == (enum rf_gauge)m->index)
			return kernel_names[i].name;
	}
	return NULL;
}

static void line(GString *out, const char *name, uint64_t value)
{
	g_string_append_printf(out, "%s %" G_GUINT64_FORMAT "\n", name, value);
}

void rf_report_vmstat(GString *out, const struct rf_report *r)
{
	const struct rf_result *res = r->result;

	for (size_t i = 0; i < G_N_ELEMENTS(kernel_names); i++)
		line(out, kernel_names[i].name,
		     res->gauge[kernel_names[i].gauge] >> r->cfg->page_shift);
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		if (!rf_vmstat_name(&rf_metrics[i]))
			line(out, rf_metrics[i].name, rf_result_value(res, &rf_metrics[i]));
	}
}
