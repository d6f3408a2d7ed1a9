/* SPDX-License-Identifier: MIT
 * The report for people: what was run, then tables of at most 79 columns.  A block that has nothing
 * to say is left out.
 */
#include "sim/report.h"

#include <string.h>

#include "base/units.h"
#include "base/version.h"

#define COLUMNS 79
#define LABEL 14 /* width of the first column */
#define CELL 13
#define MOST_TASKS 16
#define MOST_OOM 8
#define BAR 24

static uint64_t counter(const struct rf_report *r, enum rf_counter c)
{
	return r->result->counter[c];
}

/* Of a limit's reclaim the machine's own counters know little, as in the kernel; its cgroups know. */
static uint64_t anywhere(const struct rf_report *r, enum rf_counter c)
{
	uint64_t n = r->result->counter[c];

	for (guint i = 0; i < r->result->cgroups->len; i++)
		n = MAX(n, g_array_index(r->result->cgroups, struct rf_cgroup_result, i).counter[c]);
	return n;
}

static uint64_t gauge(const struct rf_report *r, enum rf_gauge g)
{
	return r->result->gauge[g];
}

/* ---- cells ---- */

static void cell(GString *out, const char *text)
{
	glong pad = CELL - g_utf8_strlen(text, -1);

	g_string_append_printf(out, "%*s%s", (int)MAX(pad, 1), "", text);
}

/* In full up to 999,999,999, which is what fits. */
static void count_cell(GString *out, uint64_t n)
{
	static const char *const units[] = { "", " M", " G", " T" };
	unsigned u = 0;
	g_autofree char *digits = NULL, *text = NULL;

	for (uint64_t most = 1000000000; n >= most && u + 1 < G_N_ELEMENTS(units); u++)
		n /= u ? 1000 : 1000000;
	digits = rf_format_count(n);
	text = g_strconcat(digits, units[u], NULL);
	cell(out, text);
}

static void size_cell(GString *out, uint64_t n)
{
	g_autofree char *text = rf_format_size(n);

	cell(out, text);
}

/* part of whole in percent with some decimals.  Rounded, but only all of it is 100. */
static char *share_text(uint64_t part, uint64_t whole, unsigned decimals)
{
	uint64_t one = 1, n;

	if (whole == 0)
		return g_strdup("-");
	for (unsigned i = 0; i < decimals; i++)
		one *= 10;
	n = (uint64_t)(((unsigned __int128)part * 100 * one + whole / 2) / whole);
	if (n == 100 * one && part < whole)
		n--;
	return g_strdup_printf("%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT " %%", n / one, (int)decimals,
	                       n % one);
}

static void share_cell(GString *out, uint64_t part, uint64_t whole, unsigned decimals)
{
	g_autofree char *text = share_text(part, whole, decimals);

	cell(out, text);
}

static void label(GString *out, const char *text)
{
	g_string_append_printf(out, "%-*s", LABEL, text);
}

/* A label that a trace gave: a long one has a line of its own. */
static void foreign_label(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	glong len;

	if (g_utf8_strlen(valid, -1) > COLUMNS)
		*g_utf8_offset_to_pointer(valid, COLUMNS) = '\0';
	g_strdelimit(valid, "\n\r\t", ' ');
	len = g_utf8_strlen(valid, -1);
	if (len > LABEL)
		g_string_append_printf(out, "%s\n%*s", valid, LABEL, "");
	else
		g_string_append_printf(out, "%s%*s", valid, (int)(LABEL - len), "");
}

static void head(GString *out, const char *name, const char *const *columns)
{
	g_string_append_c(out, '\n');
	label(out, name);
	for (; *columns; columns++)
		cell(out, *columns);
	g_string_append_c(out, '\n');
}

/* "Label   a 1, b 2" of those that are not zero; nothing when all are. */
struct fact { const char *name; uint64_t n; };

static void facts(GString *out, const char *name, const struct fact *f, size_t n)
{
	size_t column = LABEL;
	gboolean any = FALSE;

	for (size_t i = 0; i < n; i++) {
		g_autofree char *number = rf_format_count(f[i].n);
		size_t len = strlen(f[i].name) + 1 + strlen(number);

		if (f[i].n == 0)
			continue;
		if (!any) {
			label(out, name);
			g_string_append(out, "  ");
			column = LABEL + 2;
		} else if (column + 2 + len > COLUMNS) {
			g_string_append_printf(out, ",\n%*s", LABEL + 2, "");
			column = LABEL + 2;
		} else {
			g_string_append(out, ", ");
			column += 2;
		}
		g_string_append_printf(out, "%s %s", f[i].name, number);
		column += len;
		any = TRUE;
	}
	if (any)
		g_string_append_c(out, '\n');
}

/* ---- what was run ---- */

/* Words after a label, wrapped with what a shell takes as a continued line. */
static void words(GString *out, const char *name, const GPtrArray *list)
{
	size_t column = LABEL;

	label(out, name);
	for (guint i = 0; i < list->len; i++) {
		const char *word = list->pdata[i];
		size_t len = g_utf8_strlen(word, -1);

		if (i > 0 && column + 1 + len > COLUMNS - 2) {
			g_string_append_printf(out, " \\\n%*s", LABEL + 4, "");
			column = LABEL + 4;
		} else if (i > 0) {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append(out, word);
		column += len;
	}
	g_string_append_c(out, '\n');
}

static char *shell_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            "_-./:=,+%@";

	return *text && text[strspn(text, plain)] == '\0' ? g_strdup(text) : g_shell_quote(text);
}

/* A command line that does this run again: every option that is not at its default. */
static void command(GString *out, const struct rf_report *r)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
	struct rf_config plain;

	rf_config_init(&plain);
	g_ptr_array_add(list, g_strdup("refault"));
	g_ptr_array_add(list, g_strdup("run"));
	g_ptr_array_add(list, shell_word(r->path));
	for (const struct rf_option *o = rf_config_options; o->name; o++) {
		g_autofree char *value = rf_options_value(o, r->cfg), *def = rf_options_value(o, &plain);
		g_autofree char *quoted = NULL;

		/* Samples go to a file of their own and change nothing here. */
		if (strcmp(value, def) == 0 || strcmp(o->name, "timeline") == 0)
			continue;
		quoted = shell_word(value);
		if (o->type == RF_OPT_BOOL)
			g_ptr_array_add(list, g_strdup_printf("--%s%s", o->name,
			                                      strcmp(value, "yes") == 0 ? "" : "=no"));
		else
			g_ptr_array_add(list, g_strdup_printf("--%s %s", o->name, quoted));
	}
	for (guint i = 0; i < r->cfg->profile_set->len; i++) {
		g_autofree char *quoted = shell_word(r->cfg->profile_set->pdata[i]);

		g_ptr_array_add(list, g_strdup_printf("--set %s", quoted));
	}
	rf_config_clear(&plain);
	words(out, "command", list);
}

static void trace(GString *out, const struct rf_report *r)
{
	const struct rf_totals *t = &r->result->totals;
	g_autofree char *accesses = rf_format_count(t->accesses[RF_READ] + t->accesses[RF_WRITE] +
	                                            t->accesses[RF_EXEC]);
	uint64_t pages = t->footprint[r->cfg->page_size];
	g_autofree char *footprint = rf_format_size(pages << r->cfg->page_shift);
	g_autofree char *count = rf_format_count(pages);

	label(out, "trace");
	g_string_append_printf(out, "%s accesses, footprint %s (%s pages), %s\n", accesses, footprint, count,
	                       r->format);
	if (t->lost) {
		g_autofree char *lost = rf_format_count(t->lost);

		label(out, "");
		g_string_append_printf(out, "the recorder lost %s events: counts are too low\n", lost);
	}
	label(out, "digest");
	g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x, refault %s\n", t->digest, rf_version);
}

static void machine(GString *out, const struct rf_report *r)
{
	const struct rf_config *c = r->cfg;
	g_autofree char *ram = rf_format_size(c->ram_bytes);
	g_autofree char *limit = c->limit_bytes ? rf_format_size(c->limit_bytes) : g_strdup("none");
	g_autofree char *swap = c->swap_bytes ? rf_format_size(c->swap_bytes) : NULL;

	label(out, "machine");
	g_string_append_printf(out, "%s, %s, %u KiB pages, kernel %s, %" G_GINT64_FORMAT " CPU%s\n",
	                       c->machine, c->arch == RF_ARCH_ARM64 ? "arm64" : "x86-64",
	                       1u << (c->page_shift - 10), c->kernel, c->cpus, c->cpus == 1 ? "" : "s");
	label(out, "memory");
	g_string_append_printf(out, "RAM %s, limit %s", ram, limit);
	if (c->limit && strchr(c->limit, '%'))
		g_string_append_printf(out, " (%s)", c->limit);
	g_string_append_printf(out, ", swap %s%s%s\n", swap ? rf_device_names[c->swap_device] : "none",
	                       swap ? " " : "", swap ? swap : "");
	label(out, "policy");
	g_string_append_printf(out, "%s, protect %s, swappiness %" G_GINT64_FORMAT "\n", c->reclaim,
	                       c->protect ? c->protect : "-", c->swappiness);
}

/* ---- the ideal memory ---- */

static void misses(GString *out, const struct rf_report *r)
{
	uint64_t accesses = gauge(r, RF_G_rf_accesses), faults = counter(r, RF_C_pgfault);
	uint64_t refaults = counter(r, RF_C_workingset_refault_anon) +
	                    counter(r, RF_C_workingset_refault_file);
	uint64_t pages = r->result->totals.footprint[r->cfg->page_size];
	g_autofree char *size = rf_format_size(r->cfg->frames_n << r->cfg->page_shift);
	g_autofree char *frames = rf_format_count(r->cfg->frames_n);

	label(out, "memory");
	g_string_append_printf(out, "%s frames of %u KiB, %s", frames, 1u << (r->cfg->page_shift - 10), size);
	if (pages) {
		g_autofree char *share = share_text(r->cfg->frames_n, pages, 1);

		g_string_append_printf(out, ", %s of the footprint", share);
	}
	g_string_append_c(out, '\n');
	label(out, "policy");
	g_string_append_printf(out, "%s\n", r->cfg->reclaim);

	head(out, "", (const char *const[]) { "count", "of accesses", "of misses", NULL });
	static const char *const rows[] = { "misses", "  cold", "  refaults" };
	const uint64_t n[] = { faults, faults - MIN(refaults, faults), refaults };

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		label(out, rows[i]);
		count_cell(out, n[i]);
		/* Miss ratios of real programs are small. */
		share_cell(out, n[i], accesses, 4);
		share_cell(out, n[i], faults, 1);
		g_string_append_c(out, '\n');
	}
	const struct fact f[] = {
		{ "fallback victims", counter(r, RF_C_rf_policy_fallback) },
		{ "refused proposals", counter(r, RF_C_rf_policy_refused) },
	};

	facts(out, "policy", f, G_N_ELEMENTS(f));
}

/* ---- blocks of the modelled machine ---- */

static void faults(GString *out, const struct rf_report *r)
{
	const struct { const char *name; enum rf_counter anon, file; } rows[] = {
		{ "refaults", RF_C_workingset_refault_anon, RF_C_workingset_refault_file },
		{ "  activated", RF_C_workingset_activate_anon, RF_C_workingset_activate_file },
		{ "  restored", RF_C_workingset_restore_anon, RF_C_workingset_restore_file },
	};
	const struct fact more[] = {
		{ "major", counter(r, RF_C_pgmajfault) },
		{ "first touches", counter(r, RF_C_rf_first_touch) },
		{ "zero page", counter(r, RF_C_rf_zero_page) },
		{ "copies on write", counter(r, RF_C_rf_cow) },
		{ "implicit mappings", gauge(r, RF_G_rf_implicit) },
	};

	head(out, "Faults", (const char *const[]) { "total", "anon", "file", "exec", NULL });
	label(out, "faults");
	count_cell(out, counter(r, RF_C_pgfault));
	count_cell(out, counter(r, RF_C_rf_fault_anon));
	count_cell(out, counter(r, RF_C_rf_fault_file));
	count_cell(out, counter(r, RF_C_rf_fault_exec));
	g_string_append_c(out, '\n');
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		uint64_t anon = counter(r, rows[i].anon), file = counter(r, rows[i].file);

		if (i > 0 && anon + file == 0)
			continue;
		label(out, rows[i].name);
		count_cell(out, anon + file);
		count_cell(out, anon);
		count_cell(out, file);
		/* In brackets: these are among those of files. */
		if (i == 0 && counter(r, RF_C_rf_exec_refault)) {
			g_autofree char *n = rf_format_count(counter(r, RF_C_rf_exec_refault));
			g_autofree char *text = g_strdup_printf("(%s)", n);

			cell(out, text);
		}
		g_string_append_c(out, '\n');
	}
	facts(out, "of them", more, G_N_ELEMENTS(more));
}

static void reclaim(GString *out, const struct rf_report *r)
{
	const uint64_t scan[] = {
		counter(r, RF_C_pgscan_anon) + counter(r, RF_C_pgscan_file),
		counter(r, RF_C_pgscan_anon), counter(r, RF_C_pgscan_file),
		anywhere(r, RF_C_pgscan_direct), anywhere(r, RF_C_pgscan_kswapd),
	};
	const uint64_t steal[] = {
		counter(r, RF_C_pgsteal_anon) + counter(r, RF_C_pgsteal_file),
		counter(r, RF_C_pgsteal_anon), counter(r, RF_C_pgsteal_file),
		anywhere(r, RF_C_pgsteal_direct), anywhere(r, RF_C_pgsteal_kswapd),
	};
	const struct fact lists[] = {
		{ "refilled", anywhere(r, RF_C_pgrefill) },
		{ "activated", anywhere(r, RF_C_pgactivate) },
		{ "deactivated", anywhere(r, RF_C_pgdeactivate) },
		{ "rotated", counter(r, RF_C_pgrotated) },
		{ "lazyfree", counter(r, RF_C_pglazyfree) },
		{ "lazyfreed", counter(r, RF_C_pglazyfreed) },
	};
	const struct fact swap[] = {
		{ "pages out", counter(r, RF_C_pswpout) },
		{ "pages in", counter(r, RF_C_pswpin) },
		{ "read ahead", counter(r, RF_C_swap_ra) },
		{ "of those wanted", counter(r, RF_C_swap_ra_hit) },
	};
	const struct fact disk[] = {
		{ "KiB in", counter(r, RF_C_pgpgin) },
		{ "KiB out", counter(r, RF_C_pgpgout) },
		{ "pages dirtied", counter(r, RF_C_nr_dirtied) },
		{ "written", counter(r, RF_C_nr_written) },
		{ "by reclaim", counter(r, RF_C_nr_vmscan_write) },
	};
	const struct fact calls[] = {
		{ "limit met", anywhere(r, RF_C_rf_limit_reclaim) },
		{ "direct reclaims", counter(r, RF_C_allocstall) },
		{ "rounds of kswapd", counter(r, RF_C_pageoutrun) },
		{ "fallback victims", counter(r, RF_C_rf_policy_fallback) },
		{ "refused proposals", counter(r, RF_C_rf_policy_refused) },
	};

	if (scan[0] + steal[0] + anywhere(r, RF_C_rf_limit_reclaim) + counter(r, RF_C_allocstall) +
	    counter(r, RF_C_pageoutrun) == 0) {
		g_string_append(out, "\nReclaim       none: memory was never short\n");
	} else {
		head(out, "Reclaim", (const char *const[]) { "total", "anon", "file", "direct", "kswapd", NULL });
		label(out, "scanned");
		for (size_t i = 0; i < G_N_ELEMENTS(scan); i++)
			count_cell(out, scan[i]);
		g_string_append_c(out, '\n');
		label(out, "reclaimed");
		for (size_t i = 0; i < G_N_ELEMENTS(steal); i++)
			count_cell(out, steal[i]);
		g_string_append_c(out, '\n');
		label(out, "efficiency");
		for (size_t i = 0; i < G_N_ELEMENTS(scan); i++)
			share_cell(out, steal[i], scan[i], 1);
		g_string_append_c(out, '\n');
		facts(out, "calls", calls, G_N_ELEMENTS(calls));
		facts(out, "lists", lists, G_N_ELEMENTS(lists));
	}
	facts(out, "swap", swap, G_N_ELEMENTS(swap));
	facts(out, "disk", disk, G_N_ELEMENTS(disk));
}

static void size_row(GString *out, const char *name, uint64_t now, uint64_t mean, uint64_t max,
                     gboolean has_mean, gboolean has_max)
{
	label(out, name);
	size_cell(out, now);
	if (has_mean)
		size_cell(out, mean);
	else if (has_max)
		cell(out, "");
	if (has_max)
		size_cell(out, max);
	g_string_append_c(out, '\n');
}

static void memory(GString *out, const struct rf_report *r)
{
	static const struct { const char *name; enum rf_gauge now, mean, max; } rows[] = {
		{ "RSS", RF_G_rf_rss, RF_G_rf_rss_mean, RF_G_rf_rss_max },
		{ "  anon", RF_G_rf_rss_anon, RF_G_rf_rss_anon_mean, RF_G_rf_rss_anon_max },
		{ "  file", RF_G_rf_rss_file, RF_G_rf_rss_file_mean, RF_G_rf_rss_file_max },
		{ "  shmem", RF_G_rf_rss_shmem, RF_G_rf_rss_shmem_mean, RF_G_rf_rss_shmem_max },
	};
	static const struct { const char *name; enum rf_gauge gauge; } more[] = {
		{ "page cache", RF_G_rf_cache }, { "  mapped", RF_G_rf_mapped_file }, { "  dirty", RF_G_rf_dirty },
		{ "lazyfree", RF_G_rf_lazyfree }, { "mlocked", RF_G_rf_mlocked }, { "swap used", RF_G_rf_swap },
		{ "swap cache", RF_G_rf_swapcache },
	};

	head(out, "Memory", (const char *const[]) { "at the end", "mean", "max", NULL });
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (i < 3 || gauge(r, rows[i].max))
			size_row(out, rows[i].name, gauge(r, rows[i].now), gauge(r, rows[i].mean),
			         gauge(r, rows[i].max), TRUE, TRUE);
	}
	size_row(out, "charged", gauge(r, RF_G_rf_usage), 0, gauge(r, RF_G_rf_usage_max), FALSE, TRUE);
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
	head(out, "Lists", (const char *const[]) { "inactive", "active", NULL });
	label(out, "anon");
	size_cell(out, ia);
	size_cell(out, aa);
	g_string_append_c(out, '\n');
	label(out, "file");
	size_cell(out, fi);
	size_cell(out, fa);
	g_string_append_c(out, '\n');
}

static void metadata(GString *out, const struct rf_report *r)
{
	static const struct { const char *name; enum rf_gauge gauge; } rows[] = {
		{ "struct page", RF_G_rf_struct_page }, { "cgroups", RF_G_rf_account },
		{ "page tables", RF_G_rf_page_tables }, { "mappings", RF_G_rf_vma },
		{ "cache nodes", RF_G_rf_shadow_nodes }, { "swap tables", RF_G_rf_swap_meta },
	};

	head(out, "Metadata", (const char *const[]) { "size", "of RAM", NULL });
	label(out, "total");
	size_cell(out, gauge(r, RF_G_rf_metadata));
	share_cell(out, gauge(r, RF_G_rf_metadata), r->cfg->ram_bytes, 4);
	g_string_append_c(out, '\n');
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *name = g_strdup_printf("  %s", rows[i].name);

		if (!gauge(r, rows[i].gauge))
			continue;
		label(out, name);
		size_cell(out, gauge(r, rows[i].gauge));
		share_cell(out, gauge(r, rows[i].gauge), r->cfg->ram_bytes, 4);
		g_string_append_c(out, '\n');
	}
}

static void time_row(GString *out, const char *name, uint64_t ns, uint64_t whole, gboolean bar)
{
	g_autofree char *text = rf_format_time(ns);
	uint64_t filled = whole ? (uint64_t)((unsigned __int128)ns * BAR / whole) : 0;

	label(out, name);
	cell(out, text);
	share_cell(out, ns, whole, 1);
	if (bar && filled) {
		g_string_append(out, "  ");
		for (uint64_t i = 0; i < MIN(filled, BAR); i++)
			g_string_append_c(out, '#');
	}
	g_string_append_c(out, '\n');
}

static void times(GString *out, const struct rf_report *r)
{
	static const struct { const char *name; enum rf_gauge gauge; } rows[] = {
		{ "  accesses", RF_G_rf_time_access }, { "  faults", RF_G_rf_time_fault },
		{ "  devices", RF_G_rf_time_io }, { "  reclaim", RF_G_rf_time_reclaim },
		{ "  throttled", RF_G_rf_time_throttle },
	};
	uint64_t whole = gauge(r, RF_G_rf_time), kswapd = gauge(r, RF_G_rf_time_kswapd);

	head(out, "Time", (const char *const[]) { "simulated", "share", NULL });
	time_row(out, "total", whole, whole, FALSE);
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

		label(out, "stalls");
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
	head(out, "Tasks", (const char *const[]) { "RSS", "mean", "max", "faults", "major", NULL });
	for (guint i = 0; i < MIN(sorted->len, MOST_TASKS); i++) {
		const struct rf_task_result *t = sorted->pdata[i];
		g_autofree char *name = g_strdup_printf("%u %s", t->tid, t->name ? t->name : "");

		foreign_label(out, g_strchomp(name));
		size_cell(out, t->rss);
		size_cell(out, t->rss_mean);
		size_cell(out, t->rss_max);
		count_cell(out, t->pgfault);
		count_cell(out, t->pgmajfault);
		g_string_append_c(out, '\n');
	}
	if (sorted->len > MOST_TASKS)
		g_string_append_printf(out, "and %u smaller ones\n", sorted->len - MOST_TASKS);
}

/* Those of the trace: with the workload's and the root alone, the figures are those of the whole. */
static void cgroups(GString *out, const struct rf_report *r)
{
	const GArray *all = r->result->cgroups;

	if (all->len < 3)
		return;
	head(out, "Cgroups", (const char *const[]) { "charged", "max", "faults", "refaults", "OOM kills", NULL });
	for (guint i = 0; i < MIN(all->len, MOST_TASKS); i++) {
		const struct rf_cgroup_result *g = &g_array_index(all, struct rf_cgroup_result, i);

		foreign_label(out, g->path);
		size_cell(out, g->usage);
		size_cell(out, g->usage_max);
		count_cell(out, g->counter[RF_C_pgfault]);
		count_cell(out, g->counter[RF_C_workingset_refault_anon] +
		                g->counter[RF_C_workingset_refault_file]);
		count_cell(out, g->counter[RF_C_oom_kill]);
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
	head(out, "Marks", (const char *const[]) { "time", "RSS", "faults", "major", NULL });
	for (guint i = 0; i < MIN(all->len, MOST_TASKS); i++) {
		const struct rf_sample *s = &g_array_index(all, struct rf_sample, i);
		g_autofree char *when = rf_format_time(s->now);

		foreign_label(out, s->mark ? s->mark : "");
		cell(out, when);
		size_cell(out, s->gauge[RF_G_rf_rss]);
		count_cell(out, s->counter[RF_C_pgfault]);
		count_cell(out, s->counter[RF_C_pgmajfault]);
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

		g_string_append_printf(out, "  at %s task %u in %s: %s\n", when, o->tid,
		                       o->cgroup ? o->cgroup : "/", o->reason ? o->reason : "");
	}
	if (all->len > MOST_OOM)
		g_string_append_printf(out, "  and %u more\n", all->len - MOST_OOM);
}

void rf_report_normal(GString *out, const struct rf_report *r)
{
	command(out, r);
	trace(out, r);
	if (r->cfg->frames_n) {
		misses(out, r);
		return;
	}
	machine(out, r);
	oom(out, r);
	faults(out, r);
	reclaim(out, r);
	memory(out, r);
	lists(out, r);
	tasks(out, r);
	cgroups(out, r);
	metadata(out, r);
	times(out, r);
	marks(out, r);
}
