/* SPDX-License-Identifier: MIT
 * Kinds of plots.  Each makes, from a table, parameters and data for a template of gnuplot; a
 * template (scripts/plot/KIND.gp, or a user's own) turns them into a picture.
 */
#ifndef RF_PLOT_H
#define RF_PLOT_H

#include "sim/plot/chart.h"
#include "sim/plot/table.h"

/* ORDER rf_device_suffixes in script.c. */
enum rf_picture { RF_PICTURE_TEXT, RF_PICTURE_PNG, RF_PICTURE_SVG, RF_PICTURE_PDF };

struct rf_plot_options {
	char *metric, *x, *y, *by, *over, *spread, *log,
		*title; /* as the command line has them, or NULL */
	enum rf_picture picture;
};

/* What gnuplot gets: assignments of parameters, and the data file. */
struct rf_script {
	GString *params, *data;
	enum rf_picture picture;
};

struct rf_plot_kind {
	const char *name;
	const char *summary; /* one line, no full stop */
	enum rf_table_rows rows;
	gboolean (*build)(struct rf_script *s, const struct rf_table *t,
	                  const struct rf_plot_options *o, GError **error);
};

extern const struct rf_plot_kind rf_plot_kinds[]; /* name NULL ends it */
/* NULL, with a usage error that suggests the nearest, when there is none. */
const struct rf_plot_kind *rf_plot_kind_find(const char *name, GError **error);

/* Parameters and data of one plot.  s need not be initialised; after an error it is clear. */
gboolean rf_plot_build(struct rf_script *s, const struct rf_plot_kind *kind,
                       const struct rf_table *t, const struct rf_plot_options *o, GError **error);
void rf_script_clear(struct rf_script *s);

/* The whole script: how to run it, parameters, what is common to all templates, the template.  data
 * and output are the names that it has for its files.  template_text is a user's own, or NULL. */
char *rf_script_text(const struct rf_script *s, const struct rf_plot_kind *kind, const char *data,
                     const char *output, const char *template_text);

/* For the kinds: assignments.  Texts are quoted whatever they hold; in pictures of text they become
 * ASCII. */
void rf_script_string(struct rf_script *s, const char *name, const char *value);
void rf_script_number(struct rf_script *s, const char *name, double value);
void rf_script_strings(struct rf_script *s, const char *name, const GPtrArray *values);
/* NAMElabel, NAMElog, NAMElow, NAMEhigh, NAMEzero and the ticks NAMEtick[], NAMEtext[]: name is
 * "x", "y" or "z". */
void rf_script_axis(struct rf_script *s, const char *name, const struct rf_axis *a);
/* The rest of a comment's line in the data file: what would end it is replaced. */
void rf_data_comment(GString *data, const char *text);
/* A number of the data file: shortest text that reads back as the same. */
void rf_data_number(GString *data, double value);

gboolean rf_plot_lines(struct rf_script *s, const struct rf_table *t,
                       const struct rf_plot_options *o, GError **error);
gboolean rf_plot_bars(struct rf_script *s, const struct rf_table *t,
                      const struct rf_plot_options *o, GError **error);
gboolean rf_plot_heatmap(struct rf_script *s, const struct rf_table *t,
                         const struct rf_plot_options *o, GError **error);
gboolean rf_plot_curve(struct rf_script *s, const struct rf_table *t,
                       const struct rf_plot_options *o, GError **error);
gboolean rf_plot_distance(struct rf_script *s, const struct rf_table *t,
                          const struct rf_plot_options *o, GError **error);
gboolean rf_plot_timeline(struct rf_script *s, const struct rf_table *t,
                          const struct rf_plot_options *o, GError **error);

/* What the options say, or the defaults, for kinds that are charts. */
gboolean rf_plot_chart(struct rf_chart *c, const struct rf_table *t,
                       const struct rf_plot_options *o, const char *x, const char *by,
                       gboolean words, GError **error);

/* note: what the whiskers are, when there are any. */
void rf_script_note(struct rf_script *s, const struct rf_chart *c, const struct rf_plot_options *o);
/* "x mean low high n", low and high NaN where there is one row only. */
void rf_data_point(GString *data, const struct rf_chart *c, const struct rf_point *p);

#endif
