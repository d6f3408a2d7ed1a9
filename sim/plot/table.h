/* SPDX-License-Identifier: MIT
 * What is plotted or reported, whatever file it came from: named columns of text, a row a run (or a
 * row a sample).  Names are those of the CSV of `refault run'; any other CSV will do as well.
 */
#ifndef RF_PLOT_TABLE_H
#define RF_PLOT_TABLE_H

#include <glib.h>

/* Which rows of a JSON result: the runs themselves, or the samples of their timelines, and behind them
 * those taken at marks, which have a name in the column "mark". */
enum rf_table_rows { RF_ROWS_RUNS, RF_ROWS_SAMPLES };

struct rf_table {
	GPtrArray *names;   /* of columns, in order of first appearance */
	GPtrArray *rows;    /* const char **: a value a column that was known when it was read */
	GArray *lens;       /* guint: how many values a row has */
	GPtrArray *origin;  /* const char *, a row: "FILE, line 3", for messages */
	GHashTable *index;  /* name to column + 1 */
	GStringChunk *text; /* owns all of the above's strings */
};

typedef struct rf_table rf_table;

struct rf_table *rf_table_new(void);
void rf_table_free(struct rf_table *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(rf_table, rf_table_free)

/* Append what path ("-": standard input) holds: CSV with a heading, or JSON of `refault run'.
 * Errors say where: file and line, or file and which of its results. */
gboolean rf_table_read(struct rf_table *t, const char *path, enum rf_table_rows rows,
                       GError **error);

/* The column of a name, or -1. */
int rf_table_column(const struct rf_table *t, const char *name);
/* The same, but an unknown name is a usage error that suggests the nearest; where is the option. */
gboolean rf_table_want(const struct rf_table *t, const char *where, const char *name, int *column,
                       GError **error);
/* A value; "" where the row has none. */
const char *rf_table_get(const struct rf_table *t, guint row, int column);
/* The value that all rows have in a column, or NULL: there is none such, or no row. */
const char *rf_table_constant(const struct rf_table *t, const char *name);
/* Keep the rows whose value in a column is this: "COLUMN=VALUE"; a trace also by its file name.
 * A usage error when no row is left. */
gboolean rf_table_where(struct rf_table *t, const char *condition, GError **error);

/* Another one with the same rows. */
struct rf_table *rf_table_copy(const struct rf_table *t);

/* For the readers: a column by name, made when new; a row's values are then set one by one. */
int rf_table_add_column(struct rf_table *t, const char *name);
void rf_table_add_row(struct rf_table *t, const char *origin);
void rf_table_set(struct rf_table *t, int column, const char *value);

gboolean rf_table_read_csv(struct rf_table *t, const char *name, const char *text, gsize len,
                           GError **error);
/* Append what rf_saved_load gave. */
gboolean rf_table_add_saved(struct rf_table *t, const GPtrArray *saved, enum rf_table_rows rows,
                            GError **error);

#endif
