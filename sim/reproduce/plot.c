/* SPDX-License-Identifier: MIT
 * A plot of an experiment, by the template scripts/plot/reproduce.gp: its series as lines or, where it
 * has none, what the model gives as a share of what was posted, a bar a row, with both figures.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "sim/plot/gnuplot.h"
#include "sim/plot/plot.h"
#include "sim/reproduce/figures.h"

#define FAR 2.5 /* a figure that is more times too large than this would squeeze all others */

static const struct rf_plot_kind kind = { .name = "reproduce" };

/* Blocks of X and Y, one for each name. */
static void series_data(struct rf_script *s, const struct rf_experiment *e, GPtrArray *names)
{
	for (guint i = 0; i < e->series->len; i++) {
		const struct rf_exp_series *series = e->series->pdata[i];

		g_ptr_array_add(names, series->title);
		g_string_append(s->data, i ? "\n\n# " : "# ");
		rf_data_comment(s->data, series->title);
		for (guint j = 0; j < series->points->len; j++) {
			const struct rf_exp_point *p =
				&g_array_index(series->points, struct rf_exp_point, j);

			rf_data_number(s->data, p->at[0]);
			g_string_append_c(s->data, ' ');
			rf_data_number(s->data, p->at[1]);
			g_string_append_c(s->data, '\n');
		}
	}
}

/* A row that can be drawn as model / posted. */
static gboolean has_ratio(const struct rf_exp_row *row)
{
	return row->posted && row->want != 0;
}

static gboolean any_ratio(const struct rf_exp_table *t)
{
	for (guint i = 0; i < t->rows->len; i++)
		if (has_ratio(t->rows->pdata[i]))
			return TRUE;
	return FALSE;
}

static gboolean anything_posted(const struct rf_experiment *e)
{
	for (guint i = 0; i < e->tables->len; i++)
		if (any_ratio(e->tables->pdata[i]))
			return TRUE;
	return FALSE;
}

static double largest(const struct rf_exp_table *t)
{
	double most = 0;

	for (guint i = 0; i < t->rows->len; i++)
		most = MAX(most, ((const struct rf_exp_row *)t->rows->pdata[i])->value);
	return most;
}

struct bars {
	GPtrArray *names, *headings, *model, *posted; /* char *, of every line; model's are its own */
	double most;                                  /* ratio */
	gboolean posts;                               /* there are posted figures */
};

static void add_bar(struct bars *b, char *name, char *heading, char *model, char *posted)
{
	g_ptr_array_add(b->names, name);
	g_ptr_array_add(b->headings, heading);
	g_ptr_array_add(b->model, model);
	g_ptr_array_add(b->posted, posted);
}

/* A bar a row; above those of a table that has a title, a line for it alone.  Where nothing at all is
 * posted a bar is the row's share of its table's largest. */
static void ratio_data(struct rf_script *s, const struct rf_experiment *e, struct bars *b)
{
	g_string_append(s->data, "# line, model / posted, calibrated\n");
	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];
		double most = largest(t);

		if (b->posts ? !any_ratio(t) : t->kind != RF_EXP_OUTPUTS || most <= 0)
			continue;
		if (*t->title)
			add_bar(b, "", t->title, g_strdup(""), "");
		for (guint j = 0; j < t->rows->len; j++) {
			const struct rf_exp_row *row = t->rows->pdata[j];
			double ratio = row->value / (b->posts ? row->want : most);

			if (b->posts && !has_ratio(row))
				continue;
			add_bar(b, row->label, "", rf_exp_value_text(row), row->posted ? row->posted : "");
			b->most = MAX(b->most, ratio);
			g_string_append_printf(s->data, "%u ", b->names->len);
			rf_data_number(s->data, ratio);
			g_string_append_printf(s->data, " %d\n", row->rule == RF_EXP_CAL);
		}
	}
}

static gboolean goes_below_zero(const struct rf_experiment *e)
{
	for (guint i = 0; i < e->series->len; i++) {
		const struct rf_exp_series *series = e->series->pdata[i];

		for (guint j = 0; j < series->points->len; j++)
			if (g_array_index(series->points, struct rf_exp_point, j).at[1] < 0)
				return TRUE;
	}
	return FALSE;
}

static void fill(struct rf_script *s, const struct rf_experiment *e)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new(), headings = g_ptr_array_new(), posted = g_ptr_array_new(),
			     model = g_ptr_array_new_with_free_func(g_free);
	struct bars bars = { names, headings, model, posted, 0, anything_posted(e) };
	g_autofree char *title = g_strdup_printf("%s: %s", e->name, e->title);

	if (e->series->len)
		series_data(s, e, names);
	else
		ratio_data(s, e, &bars);
	rf_script_string(s, "title", title);
	rf_script_number(s, "lines", e->series->len > 0);
	rf_script_number(s, "n", names->len);
	rf_script_strings(s, "names", names);
	if (e->series->len) {
		rf_script_string(s, "across", e->xlabel ? e->xlabel : "");
		rf_script_string(s, "ylabel", e->ylabel ? e->ylabel : "");
		rf_script_number(s, "logx", e->logx);
		rf_script_number(s, "logy", e->logy);
		rf_script_number(s, "negative", goes_below_zero(e));
	} else {
		rf_script_strings(s, "headings", headings);
		rf_script_strings(s, "model", model);
		rf_script_strings(s, "posted", posted);
		rf_script_number(s, "posts", bars.posts);
		rf_script_number(s, "far", CLAMP(bars.most * 1.1, 1.2, FAR));
		rf_script_number(s, "height", 2.2 + 0.35 * names->len);
	}
}

static gboolean write_file(const char *dir, const char *name, const char *text, gsize len, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	struct rf_outfile out;

	if (!rf_outfile_open(&out, path, error))
		return FALSE;
	rf_outfile_write(&out, text, len);
	return rf_outfile_commit(&out, error);
}

gboolean rf_exp_plot(const struct rf_experiment *e, const char *dir, GError **error)
{
	struct rf_script s = { g_string_new(NULL), g_string_new(NULL), RF_PICTURE_PNG };
	g_autofree char *base = g_ascii_strdown(e->name, -1), *text = NULL;
	g_autofree char *dat = g_strconcat(base, ".dat", NULL), *gp = g_strconcat(base, ".gp", NULL),
			*png = g_strconcat(base, ".png", NULL);
	g_autoptr(GString) picture = NULL;
	gboolean ok = FALSE;

	fill(&s, e);
	text = rf_script_text(&s, &kind, dat, png, NULL);
	if (g_mkdir_with_parents(dir, 0777) < 0)
		rf_set_env(error, "%s: cannot make the directory", dir);
	else if (write_file(dir, dat, s.data->str, s.data->len, error) &&
	         write_file(dir, gp, text, strlen(text), error)) {
		picture = rf_gnuplot_run("gnuplot", dir, gp, s.picture, error);
		ok = picture && write_file(dir, png, picture->str, picture->len, error);
		if (!picture && !rf_interrupted())
			g_prefix_error(error, "%s/%s is not drawn, its data are in %s and %s: ", dir, png, dat, gp);
	}
	rf_script_clear(&s);
	return ok;
}
