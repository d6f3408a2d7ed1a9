/* SPDX-License-Identifier: MIT
 * Scripts for gnuplot: parameters, and the templates that use them.
 */
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "base/version.h"
#include "sim/plot/plot.h"
#include "sim/resources.h"

/* ORDER enum rf_picture. */
static const char *const devices[] = { "text", "png", "svg", "pdf" };

void rf_script_clear(struct rf_script *s)
{
	if (s->params)
		g_string_free(s->params, TRUE);
	if (s->data)
		g_string_free(s->data, TRUE);
	s->params = s->data = NULL;
}

/* Traces give names, and gnuplot runs what stands in backquotes.  A text of harmless characters
 * stands in single quotes, for those who read the script; any other in double quotes, in octal. */
static void append_quoted(const struct rf_script *s, GString *out, const char *value)
{
	static const char harmless[] = "_-.,:/+%=()<>~*&!? ";
	g_autofree char *valid = g_utf8_make_valid(value, -1);
	g_autoptr(GString) text = g_string_new(NULL);
	gboolean plain = TRUE;

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (!g_unichar_isprint(c) || (c > 126 && s->picture == RF_PICTURE_TEXT))
			c = '?';
		g_string_append_unichar(text, c);
		plain = plain && (c > 126 || g_ascii_isalnum((char)c) || strchr(harmless, (int)c));
	}
	if (plain) {
		g_string_append_printf(out, "'%s'", text->str);
		return;
	}
	g_string_append_c(out, '"');
	for (const char *p = text->str; *p; p++) {
		if (g_ascii_isalnum(*p) || (*p & 0x80) || strchr(harmless, *p))
			g_string_append_c(out, *p);
		else
			g_string_append_printf(out, "\\%03o", (unsigned)*p);
	}
	g_string_append_c(out, '"');
}

void rf_data_comment(GString *data, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		g_string_append_unichar(data, g_unichar_isprint(c) ? c : '?');
	}
	g_string_append_c(data, '\n');
}

void rf_data_number(GString *data, double value)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];

	if (isnan(value)) {
		g_string_append(data, "NaN");
		return;
	}
	g_ascii_formatd(digits, sizeof(digits), "%.10g", value);
	g_string_append(data, digits);
}

void rf_script_string(struct rf_script *s, const char *name, const char *value)
{
	g_string_append_printf(s->params, "%s = ", name);
	append_quoted(s, s->params, value);
	g_string_append_c(s->params, '\n');
}

void rf_script_number(struct rf_script *s, const char *name, double value)
{
	g_string_append_printf(s->params, "%s = ", name);
	rf_data_number(s->params, value);
	g_string_append_c(s->params, '\n');
}

void rf_script_strings(struct rf_script *s, const char *name, const GPtrArray *values)
{
	/* gnuplot has no empty array. */
	g_string_append_printf(s->params, "array %s[%u] = [", name, MAX(values->len, 1));
	for (guint i = 0; i < values->len; i++) {
		g_string_append(s->params, i > 0 ? ", " : "");
		append_quoted(s, s->params, values->pdata[i]);
	}
	g_string_append(s->params, values->len ? "]\n" : "'']\n");
}

/* ---- axes ---- */

struct ticks {
	GPtrArray *text;
	GArray *at; /* double */
};

static void add_tick(struct ticks *t, double at, char *text)
{
	g_array_append_val(t->at, at);
	g_ptr_array_add(t->text, text);
}

static char *count_text(double value)
{
	static const char *const suffixes[] = { "", "k", "M", "G", "T", "P", "E" };
	unsigned k = 0;

	while (value >= 1000 && k + 1 < G_N_ELEMENTS(suffixes)) {
		value /= 1000;
		k++;
	}
	return g_strdup_printf("%g%s", value, suffixes[k]);
}

/* In powers of two, or of four or more where there would be too many; halves between where few. */
static void size_ticks(struct ticks *t, const struct rf_axis *a, double low, double high)
{
	int step = 1 + (int)(log2(high / low) / 8);

	for (int k = (int)floor(log2(low)); exp2(k) <= high; k++) {
		double at = exp2(k), half = at * 1.5;

		if (k % step == 0 && at >= low)
			add_tick(t, at,
			         *a->unit_name ? g_strdup_printf("%g", at)
			                       : rf_format_size((uint64_t)at));
		if (high / low < 8 && half >= low && half <= high)
			add_tick(t, half, g_strdup_printf("%g", half));
	}
}

/* Sizes in powers of two; all else at 1, 2 and 5, or only at 1 where there would be too many. */
static void log_ticks(struct ticks *t, const struct rf_axis *a, double low, double high)
{
	if (a->quantity == RF_QUANTITY_SIZE) {
		size_ticks(t, a, low, high);
		return;
	}
	for (int k = (int)floor(log10(low)); pow(10, k) <= high; k++) {
		static const double few[] = { 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 };
		static const double some[] = { 1, 2, 5 };
		const double *steps = high / low < 5 ? few : some;
		size_t n = high / low < 5      ? G_N_ELEMENTS(few)
		           : high / low < 2000 ? G_N_ELEMENTS(some)
		                               : 1;

		for (size_t i = 0; i < n; i++) {
			double at = steps[i] * pow(10, k);

			if (at >= low && at <= high)
				add_tick(t, at, count_text(at));
		}
	}
}

static void axis_number(struct rf_script *s, const char *name, const char *what, double value)
{
	g_autofree char *full = g_strconcat(name, what, NULL);

	rf_script_number(s, full, value);
}

static void axis_ticks(struct rf_script *s, const char *name, const struct ticks *t)
{
	g_autofree char *text = g_strconcat(name, "text", NULL);

	axis_number(s, name, "ticks", t->at->len);
	g_string_append_printf(s->params, "array %stick[%u] = [", name, MAX(t->at->len, 1));
	for (guint i = 0; i < t->at->len; i++) {
		g_string_append(s->params, i > 0 ? ", " : "");
		rf_data_number(s->params, g_array_index(t->at, double, i));
	}
	g_string_append(s->params, t->at->len ? "]\n" : "0]\n");
	rf_script_strings(s, text, t->text);
}

void rf_script_axis(struct rf_script *s, const char *name, const struct rf_axis *a)
{
	struct ticks t = { g_ptr_array_new_with_free_func(g_free),
		           g_array_new(FALSE, FALSE, sizeof(double)) };
	double low = rf_axis_scaled(a, a->min), high = rf_axis_scaled(a, a->max), zero = 0;
	g_autofree char *label = rf_axis_label(a), *full = g_strconcat(name, "label", NULL);

	if (a->quantity == RF_QUANTITY_WORD) {
		for (guint i = 0; i < a->words->len; i++)
			add_tick(&t, i, g_strdup(a->words->pdata[i]));
	} else if (a->log) {
		low = rf_axis_scaled(a, a->least);
		/* What is zero stands below all else, at a tick of its own. */
		if (a->min <= 0) {
			zero = low / 2.5;
			add_tick(&t, zero, g_strdup("0"));
		}
		log_ticks(&t, a, low * 0.8, high * 1.25);
		low = zero > 0 ? zero * 0.7 : low * 0.8;
		high *= 1.25;
	}
	rf_script_string(s, full, label);
	axis_number(s, name, "log", a->log);
	axis_number(s, name, "low", low);
	axis_number(s, name, "high", high);
	axis_number(s, name, "zero", zero);
	axis_ticks(s, name, &t);
	g_ptr_array_unref(t.text);
	g_array_unref(t.at);
}

/* ---- the script ---- */

static void append_template(GString *out, const char *name)
{
	g_autofree char *path = g_strdup_printf("/refault/plot/%s.gp", name);
	g_autoptr(GBytes) bytes =
		g_resource_lookup_data(rf_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
	gsize len;
	const char *text;

	if (!bytes)
		g_error("no template %s", path); /* each kind has one: a bug */
	text = g_bytes_get_data(bytes, &len);
	g_string_append_len(out, text, (gssize)len);
}

char *rf_script_text(const struct rf_script *s, const struct rf_plot_kind *kind, const char *data,
                     const char *output, const char *template_text)
{
	GString *out = g_string_new(NULL);

	g_string_append_printf(
		out, "# Written by refault %s; gnuplot draws the picture again from this.\n",
		rf_version);
	g_string_append(out, "if (!exists('output')) output = ");
	append_quoted(s, out, output);
	g_string_append(out, "\ndata = ");
	append_quoted(s, out, data);
	g_string_append_printf(out, "\ndevice = '%s'\n", devices[s->picture]);
	g_string_append(out, s->params->str);
	g_string_append_c(out, '\n');
	append_template(out, "common");
	g_string_append_c(out, '\n');
	if (template_text)
		g_string_append(out, template_text);
	else
		append_template(out, kind->name);
	return g_string_free(out, FALSE);
}
