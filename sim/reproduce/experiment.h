/* SPDX-License-Identifier: MIT
 * Experiments: definition files of tables that somebody posted, and how a model is made to give them.
 * refault-experiment(5) describes the file; the shipped ones stand in sim/experiments.
 */
#ifndef RF_EXPERIMENT_H
#define RF_EXPERIMENT_H

#include <glib.h>

#include "sim/result.h"

enum rf_exp_origin { RF_EXP_GIVEN, RF_EXP_CHOSEN }; /* by the source; here */

struct rf_exp_input {
	char *name, *text, *note, *where;
	enum rf_exp_origin origin;
	gboolean cal; /* chosen so that an output has its posted value */
	double value; /* set by rf_exp_prepare */
};

/* One run: a scenario on a machine. */
struct rf_exp_run {
	char *name, *where;
	char *scenario;      /* which section; "" is the one without a name */
	GPtrArray *settings; /* char *KEY=VALUE of rf_config_set_any */
	GPtrArray *params;   /* char *NAME=VALUE of the scenario */
	/* After rf_exp_run_all: */
	gboolean done;
	struct rf_result *results; /* one for each seed of the experiment */
	unsigned nresults;
	unsigned cpus;
};

enum rf_exp_rule {
	RF_EXP_SHOWN,  /* nothing is posted, or nothing is claimed */
	RF_EXP_WITHIN, /* some per cent of the posted figure */
	RF_EXP_EXACT,
	RF_EXP_CAL,    /* an input was chosen for it */
};

enum rf_exp_verdict { RF_EXP_NONE, RF_EXP_OK, RF_EXP_MISS };

/* A row of a table. */
struct rf_exp_row {
	char *label, *formula, *where;
	char *posted; /* as it was posted, or NULL */
	double want, within; /* within: per cent */
	enum rf_exp_rule rule;
	char *miss;   /* why it is known to miss, or NULL */
	double value; /* set by rf_exp_judge, as are the rest; of the means of all seeds */
	double low, high; /* among the seeds, each alone */
	unsigned held;    /* seeds that make a check true */
	double error; /* per cent of want */
	enum rf_exp_verdict verdict;
};

enum rf_exp_kind { RF_EXP_OUTPUTS, RF_EXP_CHECKS, RF_EXP_ABLATIONS };

struct rf_exp_table {
	enum rf_exp_kind kind;
	char *title; /* or "" */
	GPtrArray *rows; /* struct rf_exp_row */
};

struct rf_exp_point {
	char *x, *y; /* formulas */
	double at[2];
};

struct rf_exp_series {
	char *title, *where;
	GArray *points; /* struct rf_exp_point */
};

/* A section, as it stands in the file. */
struct rf_exp_section {
	char *kind, *title, *where;
	GArray *entries;  /* struct rf_exp_entry */
	char *text;       /* of a scenario; else NULL */
	unsigned line;    /* of its first line */
};

struct rf_exp_entry {
	char *key, *value, *where;
};

struct rf_experiment {
	char *file, *name, *title, *source, *about;
	gboolean quick; /* takes a second or two: continuous integration runs it */
	unsigned seeds; /* times that every run is done, with another seed of its scenario each */
	GPtrArray *sections; /* struct rf_exp_section: the file */
	GPtrArray *inputs;   /* struct rf_exp_input, in order */
	GPtrArray *runs;     /* struct rf_exp_run */
	GPtrArray *tables;   /* struct rf_exp_table */
	GPtrArray *notes, *anomalies; /* char * */
	GPtrArray *series;   /* struct rf_exp_series */
	char *xlabel, *ylabel;
	gboolean logx, logy;
	gboolean is_short;
};

/* Read a definition from memory; name stands for the file in messages.  RF_USAGE_ERROR. */
struct rf_experiment *rf_exp_parse(const char *name, const char *text, gsize len, GError **error);
/* A shipped one by its name (case does not matter), or a file: its name has a dot or a slash. */
struct rf_experiment *rf_exp_load(const char *name_or_path, GError **error);
void rf_exp_free(struct rf_experiment *e);
/* Names of the shipped ones, NULL-terminated, in the order of the list. */
const char *const *rf_exp_names(void);
/* The text of a shipped one, which stays there; NULL when there is none. */
const char *rf_exp_text(const char *name, gsize *len);

/* Give inputs their values and runs their settings.  params: NULL, or NULL-terminated "NAME=VALUE" that
 * take the place of inputs.  is_short: those of section [short] too. */
gboolean rf_exp_prepare(struct rf_experiment *e, const char *const *params, gboolean is_short,
                        GError **error);

/* Run everything, njobs at once.  Every result is the same for any njobs. */
gboolean rf_exp_run_all(struct rf_experiment *e, unsigned njobs, GError **error);

/* Work out all rows and points.  Before the runs, with every metric 0, it finds wrong names. */
gboolean rf_exp_judge(struct rf_experiment *e, GError **error);
/* Rows that missed: those that nothing explains, and in all. */
void rf_exp_misses(const struct rf_experiment *e, unsigned *unexplained, unsigned *all);

/* sim/reproduce/report.c, json.c, markdown.c, plot.c */
void rf_exp_text_report(GString *out, const struct rf_experiment *e);
char *rf_exp_json(GPtrArray *experiments); /* an array of them */
char *rf_exp_markdown(const GPtrArray *experiments); /* a page of them */
/* DIR/NAME.dat, NAME.gp and NAME.png; without gnuplot it is an error, and the first two are there. */
gboolean rf_exp_plot(const struct rf_experiment *e, const char *dir, GError **error);

#endif
