/* SPDX-License-Identifier: MIT
 * CSV: a row a run, and a row a sample.  Columns are found by name; new ones come at the end of
 * their group: what was run, the options, what they came to, the metrics.
 */
#include "sim/report/report.h"

#include <string.h>

#include "base/version.h"

void rf_csv_field(GString *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		g_string_append(out, text);
		return;
	}
	g_string_append_c(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *text);
	}
	g_string_append_c(out, '"');
}

void rf_csv_heading(GString *out)
{
	g_string_append(out, "version,schema,trace,digest,lost");
	for (const struct rf_option *o = rf_config_options; o->name; o++)
		g_string_append_printf(out, ",%s", o->name);
	g_string_append(out, ",page_bytes,limit_bytes,ram_bytes,swap_bytes,frames_n");
	for (unsigned i = 0; i < rf_nmetrics; i++)
		g_string_append_printf(out, ",%s", rf_metrics[i].name);
	g_string_append_c(out, '\n');
}

static void number(GString *out, uint64_t n)
{
	g_string_append_printf(out, ",%" G_GUINT64_FORMAT, n);
}

void rf_report_csv(GString *out, const struct rf_report *r, gboolean heading)
{
	const struct rf_totals *t = &r->result->totals;

	if (heading)
		rf_csv_heading(out);
	g_string_append_printf(out, "%s,%d,", rf_version, RF_REPORT_SCHEMA);
	rf_csv_field(out, r->path);
	g_string_append_printf(out, ",%016" G_GINT64_MODIFIER "x,%" G_GUINT64_FORMAT, t->digest,
	                       t->lost);
	for (const struct rf_option *o = rf_config_options; o->name; o++) {
		g_autofree char *value = rf_options_value(o, r->cfg);

		g_string_append_c(out, ',');
		rf_csv_field(out, value);
	}
	number(out, UINT64_C(1) << r->cfg->page_shift);
	number(out, r->cfg->limit_bytes);
	number(out, r->cfg->ram_bytes);
	number(out, r->cfg->swap_bytes);
	number(out, r->cfg->frames_n);
	for (unsigned i = 0; i < rf_nmetrics; i++)
		number(out, rf_result_value(r->result, &rf_metrics[i]));
	g_string_append_c(out, '\n');
}

void rf_report_timeline(GString *out, const struct rf_report *r, gboolean heading)
{
	if (heading) {
		g_string_append(out, "trace,time_ns");
		for (unsigned i = 0; i < rf_nmetrics; i++)
			g_string_append_printf(out, ",%s", rf_metrics[i].name);
		g_string_append_c(out, '\n');
	}
	for (guint i = 0; i < r->result->timeline->len; i++) {
		const struct rf_sample *s =
			&g_array_index(r->result->timeline, struct rf_sample, i);

		rf_csv_field(out, r->path);
		number(out, s->now);
		for (unsigned k = 0; k < RF_NCOUNTERS; k++)
			number(out, s->counter[k]);
		for (unsigned k = 0; k < RF_NGAUGES; k++)
			number(out, s->gauge[k]);
		g_string_append_c(out, '\n');
	}
}
