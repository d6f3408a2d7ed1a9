/* SPDX-License-Identifier: MIT
 * The document of a report: head, tables, configuration.
 */
#include "sim/plot/html.h"

#include <gio/gio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "base/version.h"
#include "sim/config.h"
#include "sim/plot/chart.h"
#include "sim/resources.h"
#include "sim/result.h"

/* Of all metrics those that a first look wants; the others are in a table that is closed at first.
 */
static const char *const first_look[] = {
	"pgfault",
	"pgmajfault",
	"workingset_refault_anon",
	"workingset_refault_file",
	"pswpin",
	"pswpout",
	"oom_kill",
	"rf_rss_mean",
	"rf_rss_max",
	"rf_time",
};

void rf_html_escape(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (c == '&')
			g_string_append(out, "&amp;");
		else if (c == '<')
			g_string_append(out, "&lt;");
		else if (c == '>')
			g_string_append(out, "&gt;");
		else if (c == '"')
			g_string_append(out, "&quot;");
		else if (c == '\'')
			g_string_append(out, "&#39;");
		else if (g_unichar_isprint(c))
			g_string_append_unichar(out, c);
		else
			g_string_append_unichar(out, 0xfffd);
	}
}

static GBytes *resource(const char *name)
{
	g_autofree char *path = g_strdup_printf("/refault/plot/%s", name);
	GBytes *bytes =
		g_resource_lookup_data(rf_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

	if (!bytes)
		g_error("no resource %s", path); /* compiled in: a bug */
	return bytes;
}

static void append_bytes(GString *out, GBytes *bytes)
{
	gsize len;
	const char *data = g_bytes_get_data(bytes, &len);

	g_string_append_len(out, data, (gssize)len);
}

/* ---- head ---- */

/* A browser then runs this one script, whatever a trace's name may have smuggled in, and fetches
 * nothing. */
static void append_policy(GString *out, GBytes *script)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize len = sizeof(digest);
	g_autofree char *base64 = NULL;

	g_checksum_update(sum, g_bytes_get_data(script, NULL), (gssize)g_bytes_get_size(script));
	g_checksum_get_digest(sum, digest, &len);
	base64 = g_base64_encode(digest, len);
	g_string_append_printf(
		out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'sha256-%s'\">\n",
		base64);
}

static void append_head(GString *out, const char *title, GBytes *script)
{
	g_autoptr(GBytes) style = resource("report.css");

	g_string_append(out,
	                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	append_policy(out, script);
	g_string_append(out,
	                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	                "<title>");
	rf_html_escape(out, title);
	g_string_append(out, "</title>\n<style>\n");
	append_bytes(out, style);
	g_string_append(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
	rf_html_escape(out, title);
	g_string_append(out, "</h1>\n");
}

static guint count_of(const struct rf_table *t, const char *name)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	int column = rf_table_column(t, name);

	for (guint i = 0; i < t->rows->len; i++)
		g_hash_table_add(seen, (char *)rf_table_get(t, i, column));
	return g_hash_table_size(seen);
}

static void append_summary(GString *out, const struct rf_table *t, gboolean plots)
{
	const char *version = rf_table_constant(t, "version");
	guint runs = t->rows->len, traces = count_of(t, "trace");

	g_string_append_printf(out, "<p class=\"soft\">%u run%s of %u trace%s", runs,
	                       runs == 1 ? "" : "s", traces, traces == 1 ? "" : "s");
	g_string_append(out, version ? ", refault " : "");
	rf_html_escape(out, version ? version : "");
	g_string_append(out, "</p>\n<nav>");
	if (plots)
		g_string_append(out, "<a href=\"#plots\">Plots</a>");
	g_string_append(out,
	                "<a href=\"#runs\">Runs</a><a href=\"#configuration\">Configuration</a>"
	                "<a href=\"#traces\">Traces</a></nav>\n</header>\n<main>\n");
}

/* ---- tables that sort ---- */

/* People read "1.9 MiB"; sorting, and a pointer that rests there, need the number. */
static void append_value(GString *out, const char *name, const char *text)
{
	const struct rf_metric *m = rf_metric_find(name);
	const char *unit = m ? m->unit : g_str_has_suffix(name, "_bytes") ? "B" : NULL;
	g_autofree char *shown = NULL;
	uint64_t value;

	if (!unit || !rf_parse_u64(text, &value, NULL)) {
		double number;

		if (rf_number(text, RF_QUANTITY_SIZE, &number) ||
		    rf_number(text, RF_QUANTITY_PERCENT, &number))
			g_string_append_printf(out, "<td data-v=\"%.17g\">", number);
		else
			g_string_append(out, "<td>");
		rf_html_escape(out, text);
		g_string_append(out, "</td>");
		return;
	}
	shown = strcmp(unit, "B") == 0    ? rf_format_size(value)
	        : strcmp(unit, "ns") == 0 ? rf_format_time(value)
	                                  : rf_format_count(value);
	g_string_append_printf(out, "<td class=\"n\" data-v=\"%" G_GUINT64_FORMAT "\"", value);
	if (*unit)
		g_string_append_printf(out, " title=\"%" G_GUINT64_FORMAT " %s\"", value, unit);
	g_string_append_printf(out, ">%s</td>", shown);
}

static void append_heading(GString *out, const char *name)
{
	const struct rf_metric *m = rf_metric_find(name);

	g_string_append(out, m || g_str_has_suffix(name, "_bytes")
	                             ? "<th scope=\"col\" class=\"n\" title=\""
	                             : "<th scope=\"col\" title=\"");
	rf_html_escape(out, m ? m->help : name);
	g_string_append(out, "\"><button type=\"button\">");
	rf_html_escape(out, name);
	g_string_append(out, "</button>");
	if (m && m->better != '0')
		g_string_append(out, m->better == '-' ? "<small>less is better</small>"
		                                      : "<small>more is better</small>");
	g_string_append(out, "</th>");
}

static void append_table(GString *out, const struct rf_table *t, const GArray *columns,
                         const char *box)
{
	g_string_append_printf(out,
	                       "<input type=\"search\" placeholder=\"filter\" aria-label=\"%s\">\n"
	                       "<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr>",
	                       box);
	for (guint k = 0; k < columns->len; k++)
		append_heading(out, t->names->pdata[g_array_index(columns, int, k)]);
	g_string_append(out, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < t->rows->len; i++) {
		g_string_append(out, "<tr>");
		for (guint k = 0; k < columns->len; k++) {
			int column = g_array_index(columns, int, k);

			append_value(out, t->names->pdata[column], rf_table_get(t, i, column));
		}
		g_string_append(out, "</tr>\n");
	}
	g_string_append(out, "</tbody></table></div>\n");
}

/* Columns that say which run a row is: the trace, and whatever differs; resolved sizes stand for
 * themselves only where no option says it. */
static GArray *identity(const struct rf_table *t)
{
	GArray *columns = g_array_new(FALSE, FALSE, sizeof(int));

	for (int k = 0; k < (int)t->names->len; k++) {
		const char *name = t->names->pdata[k];
		gboolean option = rf_options_find(rf_config_options, name) != NULL;

		if (strcmp(name, "trace") == 0 || strcmp(name, "reclaim") == 0 ||
		    (rf_chart_differs(t, name) &&
		     (option || strcmp(name, "version") == 0 || strcmp(name, "limit_bytes") == 0)))
			g_array_append_val(columns, k);
	}
	return columns;
}

static gboolean has_any(const struct rf_table *t, int column)
{
	const char *all = rf_table_constant(t, t->names->pdata[column]);

	return !all || (strcmp(all, "0") != 0 && *all);
}

static void append_runs(GString *out, const struct rf_table *t)
{
	g_autoptr(GArray) few = identity(t), all = identity(t);

	for (size_t i = 0; i < G_N_ELEMENTS(first_look); i++) {
		int column = rf_table_column(t, first_look[i]);

		if (column >= 0 && has_any(t, column))
			g_array_append_val(few, column);
	}
	for (int k = 0; k < (int)t->names->len; k++) {
		if (rf_metric_find(t->names->pdata[k]) && has_any(t, k))
			g_array_append_val(all, k);
	}
	g_string_append(out, "<section id=\"runs\">\n<h2>Runs</h2>\n");
	append_table(out, t, few, "filter the runs");
	g_string_append(out,
	                "<details><summary>All metrics that are not zero everywhere</summary>\n");
	append_table(out, t, all, "filter the runs, all metrics");
	g_string_append(out, "</details>\n</section>\n");
}

/* ---- configuration and traces ---- */

static void append_pair(GString *out, const char *name, const char *value, const char *help,
                        gboolean is_default)
{
	g_string_append(out, "<tr><th scope=\"row\" class=\"name\" title=\"");
	rf_html_escape(out, help ? help : "");
	g_string_append(out, "\">");
	rf_html_escape(out, name);
	g_string_append(out, is_default ? "</th><td class=\"default\">" : "</th><td>");
	rf_html_escape(out, *value ? value : "not set");
	g_string_append(out, is_default ? " (default)</td></tr>\n" : "</td></tr>\n");
}

static void append_configuration(GString *out, const struct rf_table *t)
{
	g_autoptr(GString) profile = g_string_new(NULL);

	g_string_append(
		out, "<section id=\"configuration\">\n<h2>Configuration</h2>\n"
		     "<p>What all runs have in common; what differs is in the table of runs.</p>\n"
		     "<div class=\"scroll\"><table class=\"pairs\"><tbody>\n");
	for (guint k = 0; k < t->names->len; k++) {
		const char *name = t->names->pdata[k], *value = rf_table_constant(t, name);
		const struct rf_option *option = rf_options_find(rf_config_options, name);

		if (!value)
			continue;
		if (option)
			append_pair(out, name, value, option->help,
			            strcmp(value, option->def ? option->def : "") == 0);
		else if (g_str_has_prefix(name, "profile."))
			append_pair(profile, name + strlen("profile."), value, NULL, FALSE);
	}
	g_string_append(out, "</tbody></table></div>\n");
	if (profile->len)
		g_string_append_printf(
			out,
			"<details><summary>Figures of the machine</summary>\n<div class=\"scroll\">"
			"<table class=\"pairs\"><tbody>\n%s</tbody></table></div></details>\n",
			profile->str);
	g_string_append(out, "</section>\n");
}

static void append_traces(GString *out, const struct rf_table *t)
{
	int trace = rf_table_column(t, "trace"), digest = rf_table_column(t, "digest");
	int lost = rf_table_column(t, "lost");
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	g_string_append(out,
	                "<section id=\"traces\">\n<h2>Traces</h2>\n<div class=\"scroll\"><table>\n"
	                "<thead><tr><th scope=\"col\">trace</th><th scope=\"col\">digest</th>"
	                "<th scope=\"col\">events lost</th></tr></thead>\n<tbody>\n");
	for (guint i = 0; i < t->rows->len; i++) {
		const char *cells[] = { rf_table_get(t, i, trace), rf_table_get(t, i, digest),
			                rf_table_get(t, i, lost) };

		if (!g_hash_table_add(seen, g_strjoin("\x1f", cells[0], cells[1], cells[2], NULL)))
			continue;
		g_string_append(out, "<tr>");
		for (size_t k = 0; k < G_N_ELEMENTS(cells); k++) {
			g_string_append(out, k == 1 ? "<td class=\"name\">" : "<td>");
			rf_html_escape(out, cells[k]);
			g_string_append(out, "</td>");
		}
		g_string_append(out, "</tr>\n");
	}
	g_string_append(out, "</tbody></table></div>\n</section>\n");
}

GString *rf_html_report(const struct rf_table *t, const struct rf_html_options *o, GError **error)
{
	g_autofree char *title = o->title ? g_strdup(o->title) : rf_chart_title(t);
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GBytes) script = resource("report.js");

	if (rf_table_column(t, "trace") < 0) {
		rf_set_data(error, "%s: no column \"trace\"; expected results of `refault run'",
		            (char *)t->origin->pdata[0]);
		return NULL;
	}
	append_head(out, *title ? title : "refault", script);
	append_summary(out, t, o->gnuplot != NULL);
	if (o->gnuplot && !rf_html_figures(out, t, o, error))
		return NULL;
	append_runs(out, t);
	append_configuration(out, t);
	append_traces(out, t);
	g_string_append_printf(
		out,
		"</main>\n<footer>Written by refault %s. Sizes are powers of two; the exact "
		"number is under the pointer.</footer>\n<script>",
		rf_version);
	append_bytes(out, script);
	g_string_append(out, "</script>\n</body>\n</html>\n");
	return g_steal_pointer(&out);
}
