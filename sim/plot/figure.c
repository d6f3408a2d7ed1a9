/* SPDX-License-Identifier: MIT */
#include "sim/plot/figure.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "sim/plot/gnuplot.h"

#define DATA "plot.dat"
#define SCRIPT "plot.gp"
#define SVG "plot.svg"

/* Width and height of one among others, in the units of common.gp. */
#define SIZE "width = 10\nheight = 6\n"

static gboolean draw_in(const char *directory, const struct rf_script *s,
                        const struct rf_plot_kind *kind, const char *gnuplot, GString **svg,
                        GError **error)
{
	g_autofree char *data = g_build_filename(directory, DATA, NULL);
	g_autofree char *script = g_build_filename(directory, SCRIPT, NULL);
	g_autofree char *text = rf_script_text(s, kind, DATA, SVG, NULL);
	gboolean ok = g_file_set_contents(data, s->data->str, (gssize)s->data->len, error) &&
	              g_file_set_contents(script, text, -1, error);

	if (ok)
		*svg = rf_gnuplot_run(gnuplot, directory, SCRIPT, RF_PICTURE_SVG, error);
	g_unlink(data);
	g_unlink(script);
	return ok && *svg;
}

static char *replaced(const char *text, const char *what, const char *with)
{
	g_auto(GStrv) parts = g_strsplit(text, what, -1);

	return g_strjoinv(with, parts);
}

/* From begin to end, both included, if it is there. */
static void erase(GString *svg, const char *begin, const char *end)
{
	const char *from = strstr(svg->str, begin), *to = from ? strstr(from, end) : NULL;

	if (to)
		g_string_erase(svg, from - svg->str, to + strlen(end) - from);
}

/* The element alone, without what only a file of its own has: declaration, document type, its
 * maker. */
static gboolean cut_element(GString *svg, GError **error)
{
	const char *begin = strstr(svg->str, "<svg");

	if (!begin) {
		rf_set_env(error, "gnuplot drew no SVG");
		return FALSE;
	}
	g_string_erase(svg, 0, begin - svg->str);
	erase(svg, "<title>Gnuplot", "</title>");
	erase(svg, "<desc>Produced by", "</desc>");
	return TRUE;
}

/* Parts of a picture go by names, which must be of this one alone in the document. */
static void rename_parts(GString *svg, unsigned nth)
{
	static const char *const before[] = { "id='", "id=\"", "href='#", "href=\"#", "url(#" };

	for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
		g_autofree char *after = g_strdup_printf("%sf%u-", before[i], nth);
		g_autofree char *text = replaced(svg->str, before[i], after);

		g_string_assign(svg, text);
	}
}

GString *rf_figure_svg(const struct rf_plot_kind *kind, const struct rf_table *t,
                       const struct rf_plot_options *o, const char *gnuplot, unsigned nth,
                       GError **error)
{
	g_autofree char *directory = NULL;
	GString *svg = NULL;
	struct rf_script s;

	if (!rf_plot_build(&s, kind, t, o, error))
		return NULL;
	g_string_append(s.params, SIZE);
	directory = g_dir_make_tmp("refault-report-XXXXXX", error);
	if (directory) {
		if (draw_in(directory, &s, kind, gnuplot, &svg, error)) {
			if (cut_element(svg, error)) {
				rename_parts(svg, nth);
			} else {
				g_string_free(svg, TRUE);
				svg = NULL;
			}
		}
		g_rmdir(directory);
	}
	rf_script_clear(&s);
	return svg;
}
