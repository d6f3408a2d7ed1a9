/* SPDX-License-Identifier: MIT
 * The report for people: what was run, then tables of at most 79 columns.
 */
#include "base/wrap.h"
#include "sim/preflight.h"
#include "sim/report/report.h"

#include <string.h>

#include "base/units.h"
#include "base/version.h"
#include "sim/cells.h"
#include "sim/report/command.h"

static uint64_t counter(const struct rf_report *r, enum rf_counter c)
{
	return r->result->counter[c];
}

/* ---- what was run ---- */

/* A command line that does this run again: every option that is not at its default. */
static void command(GString *out, const struct rf_report *r)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
	struct rf_config plain;

	rf_config_init(&plain);
	g_ptr_array_add(list, g_strdup("refault"));
	g_ptr_array_add(list, g_strdup("run"));
	g_ptr_array_add(list, rf_shell_word(r->path));
	/* Samples go to a file of their own and change nothing here. */
	plain.timeline = r->cfg->timeline;
	rf_command_options(list, rf_config_options, r->cfg, &plain);
	for (guint i = 0; i < r->cfg->profile_set->len; i++) {
		g_autofree char *quoted = rf_shell_word(r->cfg->profile_set->pdata[i]);

		g_ptr_array_add(list, g_strdup_printf("--set %s", quoted));
	}
	rf_config_clear(&plain);
	if (r->as_format)
		g_ptr_array_add(list, g_strdup_printf("--format %s", r->as_format));
	if (r->maps) {
		g_autofree char *quoted = rf_shell_word(r->maps);

		g_ptr_array_add(list, g_strdup_printf("--maps %s", quoted));
	}
	for (unsigned i = 0; r->params && r->params[i]; i++) {
		g_autofree char *quoted = rf_shell_word(r->params[i]);

		g_ptr_array_add(list, g_strdup_printf("--param %s", quoted));
	}
	rf_command_lines(out, "command", RF_LABEL, RF_COLUMNS, list);
}

/* What was recorded, if the recorder said. */
static void program(GString *out, const struct rf_header *h)
{
	const char *command = h ? rf_header_get(h, "command") : NULL;
	g_autofree char *text = NULL;

	if (!command && h)
		command = rf_header_get(h, "program");
	if (!command)
		return;
	text = g_utf8_make_valid(command, -1);
	rf_label(out, "program");
	rf_wrap(out, g_strdelimit(text, "\n\r\t\033\b", '?'), RF_LABEL, RF_LABEL);
}

static void trace(GString *out, const struct rf_report *r)
{
	const struct rf_totals *t = &r->result->totals;
	g_autofree char *accesses = rf_format_count(t->accesses[RF_READ] + t->accesses[RF_WRITE] +
	                                            t->accesses[RF_EXEC]);
	uint64_t pages = t->footprint[r->cfg->page_size];
	g_autofree char *footprint = rf_format_size(pages << r->cfg->page_shift);
	g_autofree char *count = rf_format_count(pages);

	rf_label(out, "trace");
	g_string_append_printf(out, "%s accesses, footprint %s (%s pages), %s\n", accesses,
	                       footprint, count, r->format);
	program(out, r->header);
	if (t->lost) {
		g_autofree char *lost = rf_format_count(t->lost);

		rf_label(out, "");
		g_string_append_printf(out, "the recorder lost %s events: counts are too low\n",
		                       lost);
	}
	if (rf_config_forced(r->cfg, r->header)) {
		rf_label(out, "");
		g_string_append(out, "forced: the trace lacks accesses that the policy must be told of\n");
	}
	rf_label(out, "digest");
	g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x, refault %s\n", t->digest,
	                       rf_version);
}

static void machine(GString *out, const struct rf_report *r)
{
	const struct rf_config *c = r->cfg;
	g_autofree char *ram = rf_format_size(c->ram_bytes);
	g_autofree char *limit = c->limit_bytes ? rf_format_size(c->limit_bytes) : g_strdup("none");
	g_autofree char *swap = c->swap_bytes ? rf_format_size(c->swap_bytes) : NULL;

	rf_label(out, "machine");
	g_string_append_printf(out, "%s, %s, %u KiB pages, kernel %s, %" G_GINT64_FORMAT " CPU%s\n",
	                       c->machine, c->arch == RF_ARCH_ARM64 ? "arm64" : "x86-64",
	                       1u << (c->page_shift - 10), c->kernel, c->cpus,
	                       c->cpus == 1 ? "" : "s");
	rf_label(out, "memory");
	g_string_append_printf(out, "RAM %s, limit %s", ram, limit);
	if (c->limit && strchr(c->limit, '%'))
		g_string_append_printf(out, " (%s)", c->limit);
	g_string_append_printf(out, ", swap %s%s%s\n",
	                       swap ? rf_device_names[c->swap_device] : "none", swap ? " " : "",
	                       swap ? swap : "");
	rf_label(out, "policy");
	g_string_append_printf(out, "%s, protect %s, swappiness %" G_GINT64_FORMAT "\n", c->reclaim,
	                       c->protect ? c->protect : "-", c->swappiness);
}

/* ---- the ideal memory ---- */

static void misses(GString *out, const struct rf_report *r)
{
	uint64_t accesses = r->result->gauge[RF_G_rf_accesses], faults = counter(r, RF_C_pgfault);
	uint64_t refaults =
		counter(r, RF_C_workingset_refault_anon) + counter(r, RF_C_workingset_refault_file);
	uint64_t pages = r->result->totals.footprint[r->cfg->page_size];
	g_autofree char *size = rf_format_size(r->cfg->frames_n << r->cfg->page_shift);
	g_autofree char *frames = rf_format_count(r->cfg->frames_n);

	rf_label(out, "memory");
	g_string_append_printf(out, "%s frames of %u KiB, %s", frames,
	                       1u << (r->cfg->page_shift - 10), size);
	if (pages) {
		g_autofree char *share = rf_share_text(r->cfg->frames_n, pages, 1);

		g_string_append_printf(out, ", %s of the footprint", share);
	}
	g_string_append_c(out, '\n');
	rf_label(out, "policy");
	g_string_append_printf(out, "%s\n", r->cfg->reclaim);

	rf_table_head(out, "", (const char *const[]){ "count", "of accesses", "of misses", NULL });
	static const char *const rows[] = { "misses", "  cold", "  refaults" };
	const uint64_t n[] = { faults, faults - MIN(refaults, faults), refaults };

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		rf_label(out, rows[i]);
		rf_count_cell(out, n[i]);
		/* Miss ratios of real programs are small. */
		rf_share_cell(out, n[i], accesses, 4);
		rf_share_cell(out, n[i], faults, 1);
		g_string_append_c(out, '\n');
	}
	const struct rf_fact f[] = {
		{ "fallback victims", counter(r, RF_C_rf_policy_fallback) },
		{ "refused proposals", counter(r, RF_C_rf_policy_refused) },
	};

	rf_facts_line(out, "policy", f, G_N_ELEMENTS(f));
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
	rf_report_blocks(out, r);
}
