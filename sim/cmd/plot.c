/* SPDX-License-Identifier: MIT
 * refault plot: results as pictures.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/file.h"
#include "sim/cmd/command.h"
#include "sim/plot/gnuplot.h"
#include "sim/plot/plot.h"

#define NAME "plot"

struct options {
	struct rf_plot_options plot;
	GPtrArray *where;
	char *output, *template, *gnuplot;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE",
	  "write the picture there: NAME.png, .svg, .pdf or .txt; its data and script come beside "
	  "it as "
	  "NAME.dat and NAME.gp (default -, text on standard output)" },
	{ "metric", 'm', RF_ARG_STRING, OFF(plot.metric), "NAME[+NAME...]",
	  "what is plotted: a metric, or the sum of some (default pgmajfault)" },
	{ "x", 'x', RF_ARG_STRING, OFF(plot.x), "COLUMN",
	  "column of the horizontal axis (default: the memory that differs)" },
	{ "y", 'y', RF_ARG_STRING, OFF(plot.y), "COLUMN",
	  "column of a heat map's vertical axis (default reclaim)" },
	{ "by", 'b', RF_ARG_STRING, OFF(plot.by), "COLUMN,...",
	  "a line or bar for each value of these columns (default reclaim)" },
	{ "over", 0, RF_ARG_STRING, OFF(plot.over), "COLUMN,...",
	  "average what differs in these columns only (default seed)" },
	{ "spread", 0, RF_ARG_STRING, OFF(plot.spread), "KIND",
	  "what the whiskers of an average show: range or sd (default range)" },
	{ "where", 'w', RF_ARG_LIST, OFF(where), "COLUMN=VALUE",
	  "only rows with that value; again for more conditions" },
	{ "log", 0, RF_ARG_STRING, OFF(plot.log), "AXES",
	  "logarithmic axes: x, y, x,y or none (default: y when its values need it)" },
	{ "title", 't', RF_ARG_STRING, OFF(plot.title), "TEXT",
	  "title, instead of what the results are of" },
	{ "template", 0, RF_ARG_STRING, OFF(template), "FILE",
	  "a gnuplot script of your own instead of the shipped one" },
	{ "gnuplot", 0, RF_ARG_STRING, OFF(gnuplot), "PROGRAM",
	  "the gnuplot to run (default gnuplot)" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(
		out,
		"Usage: refault plot KIND FILE... [OPTION]...\n"
		"Draw results with gnuplot: as text for a mail, or as PNG, SVG or PDF.  FILE is\n"
		"JSON or CSV of `refault run' or a sweep; - is standard input.  KIND is one "
		"of\n\n");
	for (const struct rf_plot_kind *k = rf_plot_kinds; k->name; k++)
		g_string_append_printf(out, "  %-10s %s\n", k->name, k->summary);
	g_string_append_c(out, '\n');
	rf_args_help(args, out);
}

static void man(GString *out)
{
	g_string_append(out, ".PP\nKinds of plots:\n");
	for (const struct rf_plot_kind *k = rf_plot_kinds; k->name; k++) {
		g_string_append_printf(out, ".TP\n.B %s\n", k->name);
		rf_man_escape(out, k->summary);
		g_string_append(out, ".\n");
	}
	g_string_append(out, ".PP\nOptions of the command:\n");
	rf_args_man(args, out);
}

/* ---- where the parts go ---- */

struct place {
	char *directory, *data, *script, *picture; /* names within the directory */
	gboolean temporary;
};

static void place_clear(struct place *p)
{
	if (p->temporary) {
		g_autofree char *data = g_build_filename(p->directory, p->data, NULL);
		g_autofree char *script = g_build_filename(p->directory, p->script, NULL);

		g_unlink(data);
		g_unlink(script);
		g_rmdir(p->directory);
	}
	g_free(p->directory);
	g_free(p->data);
	g_free(p->script);
	g_free(p->picture);
}

static gboolean picture_of(const char *output, enum rf_picture *picture, GError **error)
{
	static const struct {
		const char *suffix;
		enum rf_picture picture;
	} known[] = {
		{ ".txt", RF_PICTURE_TEXT },
		{ ".png", RF_PICTURE_PNG },
		{ ".svg", RF_PICTURE_SVG },
		{ ".pdf", RF_PICTURE_PDF },
	};

	*picture = RF_PICTURE_TEXT;
	if (!output || strcmp(output, "-") == 0)
		return TRUE;
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		g_autofree char *base = g_path_get_basename(output);

		if (g_str_has_suffix(base, known[i].suffix) && strcmp(base, known[i].suffix) != 0) {
			*picture = known[i].picture;
			return TRUE;
		}
	}
	rf_set_usage(error, "--output %s: expected a name that ends with .png, .svg, .pdf or .txt",
	             output);
	return FALSE;
}

static gboolean place_init(struct place *p, const char *output, GError **error)
{
	g_autofree char *stem = NULL;

	if (!output || strcmp(output, "-") == 0) {
		*p = (struct place){ g_dir_make_tmp("refault-plot-XXXXXX", error),
			             g_strdup("plot.dat"), g_strdup("plot.gp"),
			             g_strdup("plot.txt"), TRUE };
		return p->directory != NULL;
	}
	*p = (struct place){ .directory = g_path_get_dirname(output),
		             .picture = g_path_get_basename(output) };
	stem = g_strndup(p->picture, strrchr(p->picture, '.') - p->picture);
	p->data = g_strconcat(stem, ".dat", NULL);
	p->script = g_strconcat(stem, ".gp", NULL);
	return TRUE;
}

static gboolean same_file(const char *a, const char *b)
{
	char *x = realpath(a, NULL), *y = realpath(b, NULL);
	gboolean same = x && y && strcmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}

static gboolean write_file(const struct place *p, const char *name, const GPtrArray *inputs,
                           const char *text, gsize len, GError **error)
{
	g_autofree char *path = g_build_filename(p->directory, name, NULL);
	struct rf_outfile out;

	for (guint i = 1; i < inputs->len; i++) {
		if (same_file(inputs->pdata[i], path)) {
			rf_set_usage(error, "--output: %s would replace an input", path);
			return FALSE;
		}
	}
	if (!rf_outfile_open(&out, strcmp(p->directory, ".") == 0 ? name : path, error))
		return FALSE;
	rf_outfile_write(&out, text, len);
	return rf_outfile_commit(&out, error);
}

/* ---- the command ---- */

static gboolean draw(struct rf_script *s, const struct rf_plot_kind *kind, const struct options *o,
                     const GPtrArray *inputs, const struct place *p, GError **error)
{
	g_autofree char *template = NULL, *script = NULL;
	g_autoptr(GString) picture = NULL;
	gboolean ok;

	if (o->template && !g_file_get_contents(o->template, &template, NULL, error))
		return FALSE;
	script = rf_script_text(s, kind, p->data, p->picture, template);
	if (!write_file(p, p->data, inputs, s->data->str, s->data->len, error) ||
	    !write_file(p, p->script, inputs, script, strlen(script), error))
		return FALSE;
	picture = rf_gnuplot_run(o->gnuplot ? o->gnuplot : "gnuplot", p->directory, p->script,
	                         s->picture, error);
	ok = picture &&
	     (p->temporary ? rf_print(picture->str) == RF_EXIT_OK
	                   : write_file(p, p->picture, inputs, picture->str, picture->len, error));
	if (!ok && !p->temporary && !rf_interrupted())
		g_prefix_error(error, "%s is not drawn, its data are in %s and %s: ", p->picture,
		               p->data, p->script);
	return ok;
}

static gboolean plot(const struct rf_plot_kind *kind, const struct options *o,
                     const GPtrArray *inputs, GError **error)
{
	g_autoptr(rf_table) t = rf_table_new();
	struct place p = { 0 };
	struct rf_script s;
	gboolean ok;

	for (guint i = 1; i < inputs->len; i++) {
		if (!rf_table_read(t, inputs->pdata[i], kind->rows, error))
			return FALSE;
	}
	for (guint i = 0; o->where && i < o->where->len; i++) {
		if (!rf_table_where(t, o->where->pdata[i], error))
			return FALSE;
	}
	if (!rf_plot_build(&s, kind, t, &o->plot, error))
		return FALSE;
	ok = place_init(&p, o->output, error) && draw(&s, kind, o, inputs, &p, error);
	place_clear(&p);
	rf_script_clear(&s);
	return ok;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	GPtrArray *operands = call->operands;
	struct options *o = call->block;
	const struct rf_plot_kind *kind;

	(void)code;
	if (operands->len == 0) {
		rf_set_usage(error, "expected the kind of plot; see `refault help plot'");
		return FALSE;
	}
	kind = rf_plot_kind_find(operands->pdata[0], error);
	if (!kind || !picture_of(o->output, &o->plot.picture, error))
		return FALSE;
	if (operands->len == 1) {
		rf_set_usage(error, "expected a FILE of results; see `refault help plot'");
		return FALSE;
	}
	return plot(kind, o, operands, error);
}

const struct rf_command rf_command_plot = {
	.name = NAME,
	.summary = "draw results with gnuplot, as text or as a picture",
	.size = sizeof(struct options),
	.args = args,
	.run = run,
	.help = help,
	.man = man,
};
