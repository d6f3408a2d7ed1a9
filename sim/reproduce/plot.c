/* SPDX-License-Identifier: MIT
 * A plot of an experiment: its data as a table of text, and a picture by gnuplot and the template
 * scripts/plot/reproduce.gp, which stands in the program and is written beside the data.
 */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "sim/reproduce/experiment.h"
#include "sim/resources.h"

#define TEMPLATE "/refault/plot/reproduce.gp"

static void put_number(GString *out, double v)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(out, isfinite(v) ? g_ascii_formatd(text, sizeof(text), "%.9g", v) : "NaN");
}

/* In quotes, as gnuplot reads it. */
static void put_text(GString *out, const char *text)
{
	g_autofree char *plain = g_strdelimit(g_strdup(text), "\"\\", '\'');

	g_string_append_printf(out, "\"%s\"", plain);
}

/* Blocks of X and Y under the title of each. */
static void series_data(GString *out, const struct rf_experiment *e)
{
	for (guint i = 0; i < e->series->len; i++) {
		const struct rf_exp_series *s = e->series->pdata[i];

		g_string_append(out, i ? "\n\n" : "");
		put_text(out, s->title);
		g_string_append_c(out, '\n');
		for (guint j = 0; j < s->points->len; j++) {
			const struct rf_exp_point *p = &g_array_index(s->points, struct rf_exp_point, j);

			put_number(out, p->at[0]);
			g_string_append_c(out, ' ');
			put_number(out, p->at[1]);
			g_string_append_c(out, '\n');
		}
	}
}

/* No series: what the model gives as a share of what was posted, a row each. */
static void ratio_data(GString *out, const struct rf_experiment *e)
{
	for (guint i = 0; i < e->tables->len; i++) {
		const struct rf_exp_table *t = e->tables->pdata[i];

		for (guint j = 0; j < t->rows->len; j++) {
			const struct rf_exp_row *row = t->rows->pdata[j];

			if (!row->posted || row->want == 0)
				continue;
			put_text(out, row->label);
			g_string_append_c(out, ' ');
			put_number(out, row->value / row->want);
			g_string_append_c(out, '\n');
		}
	}
}

static gboolean write_file(const char *path, const char *text, gsize len, GError **error)
{
	struct rf_outfile out = { 0 };

	if (rf_outfile_open(&out, path, error)) {
		fwrite(text, 1, len, out.f);
		if (rf_outfile_commit(&out, error))
			return TRUE;
	}
	rf_outfile_abort(&out);
	return FALSE;
}

static char *gnuplot_text(const char *text)
{
	g_autofree char *plain = g_strdelimit(g_strdup(text ? text : ""), "\"\\'", ' ');

	return g_strdup_printf("\"%s\"", plain);
}

static char *settings(const struct rf_experiment *e, const char *base)
{
	g_autofree char *title = gnuplot_text(e->title), *x = gnuplot_text(e->xlabel), *y = gnuplot_text(e->ylabel);

	return g_strdup_printf("name = \"%s\"\nbase = \"%s\"\ntitle = %s\nxlabel = %s\nylabel = %s\n"
	                       "logx = %d\nlogy = %d\nblocks = %u\n",
	                       e->name, base, title, x, y, e->logx, e->logy, e->series->len);
}

gboolean rf_exp_plot(const struct rf_experiment *e, const char *dir, GError **error)
{
	g_autoptr(GBytes) template = g_resource_lookup_data(rf_get_resource(), TEMPLATE,
	                                                    G_RESOURCE_LOOKUP_FLAGS_NONE, error);
	g_autofree char *base = g_ascii_strdown(e->name, -1), *head = settings(e, base);
	g_autofree char *dat = g_strdup_printf("%s/%s.dat", dir, base);
	g_autofree char *gp = g_strdup_printf("%s/%s.gp", dir, base);
	g_autofree char *gnuplot = g_find_program_in_path("gnuplot"), *script = NULL, *told = NULL;
	char *argv[] = { gnuplot, NULL, NULL };
	g_autoptr(GString) data = g_string_new(NULL);
	int status;

	if (!template)
		return FALSE;
	if (e->series->len)
		series_data(data, e);
	else
		ratio_data(data, e);
	script = g_strconcat(head, (const char *)g_bytes_get_data(template, NULL), NULL);
	if (g_mkdir_with_parents(dir, 0777) < 0) {
		rf_set_env(error, "%s: cannot make the directory", dir);
		return FALSE;
	}
	if (!write_file(dat, data->str, data->len, error) || !write_file(gp, script, strlen(script), error))
		return FALSE;
	if (!gnuplot)
		return TRUE; /* the data and the script are there for who has one */
	argv[1] = g_path_get_basename(gp);
	if (!g_spawn_sync(dir, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &told, &status, error)) {
		g_free(argv[1]);
		return FALSE;
	}
	g_free(argv[1]);
	if (status == 0)
		return TRUE;
	g_strdelimit(g_strstrip(told), "\n", ' ');
	rf_set_env(error, "%s: gnuplot failed: %s", gp, told);
	return FALSE;
}
