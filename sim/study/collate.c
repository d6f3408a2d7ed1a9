/* SPDX-License-Identifier: MIT */
#include "sim/study/collate.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "sim/report/report.h"
#include "sim/study/store.h"

/* ORDER enum rf_point_state. */
static const char *const state_names[] = { "done", "failed", "missing", "stale", "damaged" };

G_STATIC_ASSERT(G_N_ELEMENTS(state_names) == RF_NPOINT_STATES);

struct collator {
	const char *dir;
	const GPtrArray *points;
	GHashTable *outcome; /* id: struct rf_outcome * */
	GHashTable *digest;  /* id: uint64_t *, of its trace, where it is known */
	struct rf_collation *out;
	FILE *results, *status; /* NULL: it can't be written, but what there is is to be known */
};

/* ---- which trace results must be of ---- */

/* What the trace itself says, where that costs no reading of it. */
static gboolean ask_trace(const struct rf_point *p, uint64_t *digest)
{
	const struct rf_source_options options = { .format = p->format, .maps = p->maps };
	struct rf_source *s = rf_source_open(p->trace, &options, NULL);
	const struct rf_totals *t = s ? rf_source_totals_ahead(s) : NULL;

	if (t)
		*digest = t->digest;
	rf_source_close(s);
	return t != NULL;
}

/* Else the results must agree with each other.  FALSE: they don't, and none can be believed. */
static gboolean ask_results(const struct collator *c, const GPtrArray *points, uint64_t *digest)
{
	gboolean known = FALSE;

	for (guint i = 0; i < points->len; i++) {
		struct rf_saved *s = rf_store_read(c->dir, points->pdata[i], NULL, NULL);

		if (!s)
			continue;
		if (known && s->result.totals.digest != *digest) {
			rf_saved_free(s);
			return FALSE;
		}
		*digest = s->result.totals.digest;
		known = TRUE;
		rf_saved_free(s);
	}
	return TRUE;
}

static void find_digests(struct collator *c)
{
	g_autoptr(GPtrArray) traces = rf_sweep_traces(c->points);

	for (guint i = 0; i < traces->len; i++) {
		const GPtrArray *t = traces->pdata[i];
		uint64_t digest = 0;

		/* No trace has the digest 0 but one with nothing in it. */
		if (!ask_trace(t->pdata[0], &digest) && !ask_results(c, t, &digest))
			digest = 0;
		for (guint k = 0; k < t->len; k++) {
			uint64_t *of_point = g_new(uint64_t, 1);

			*of_point = digest;
			g_hash_table_insert(c->digest, ((struct rf_point *)t->pdata[k])->id, of_point);
		}
	}
}

/* ---- rows ---- */

/* The row that a run of its own would have printed. */
static void result_row(struct collator *c, guint nth, const struct rf_point *p, struct rf_saved *s)
{
	g_autoptr(GString) row = g_string_new(NULL);
	struct rf_config cfg;
	const struct rf_report r = { .path = s->trace, .cfg = &cfg, .result = &s->result };

	if (!c->results || !rf_point_config(p, &cfg, NULL))
		return;
	cfg.page_shift = (unsigned)g_bit_nth_lsf((gulong)s->page_bytes, -1);
	cfg.limit_bytes = s->limit_bytes;
	cfg.ram_bytes = s->ram_bytes;
	cfg.swap_bytes = s->swap_bytes;
	cfg.frames_n = s->frames_n;
	g_string_append_printf(row, "%u,", nth + 1);
	rf_csv_field(row, p->section);
	g_string_append_c(row, ',');
	rf_report_csv(row, &r, FALSE);
	fwrite(row->str, 1, row->len, c->results);
	rf_config_clear(&cfg);
}

static void status_row(struct collator *c, guint nth, const struct rf_point *p,
                       enum rf_point_state state, const struct rf_point_status *s)
{
	g_autoptr(GString) row = g_string_new(NULL);
	g_autofree char *title = rf_point_title(p);
	gboolean known = state == RF_POINT_DONE || state == RF_POINT_FAILED;

	g_string_append_printf(row, "%u,", nth + 1);
	rf_csv_field(row, p->section);
	g_string_append_printf(row, ",%s,", state_names[state]);
	if (known && s->seconds > 0)
		g_string_append_printf(row, "%.3f", s->seconds);
	g_string_append_c(row, ',');
	if (known && s->peak_kib)
		g_string_append_printf(row, "%" G_GUINT64_FORMAT, s->peak_kib);
	g_string_append_c(row, ',');
	if (known)
		g_string_append_printf(row, "%d", s->code);
	g_string_append_c(row, ',');
	rf_csv_field(row, title);
	g_string_append_printf(row, ",points/%s.json,", p->id);
	rf_csv_field(row, s->message ? s->message : "");
	g_string_append_c(row, '\n');
	if (c->status)
		fwrite(row->str, 1, row->len, c->status);
}

static void collate_point(struct collator *c, guint nth)
{
	const struct rf_point *p = c->points->pdata[nth];
	const struct rf_outcome *outcome =
		c->outcome ? g_hash_table_lookup(c->outcome, p->id) : NULL;
	struct rf_saved *saved = NULL;
	struct rf_point_status s;
	const char *why = "failed";
	enum rf_point_state state = RF_POINT_DONE;
	gboolean known = rf_store_get_status(c->dir, p, &s);

	if (outcome && outcome->state == RF_OUTCOME_FAILED) {
		g_free(s.message);
		s.failed = TRUE;
		s.code = outcome->code;
		s.message = g_strdup(outcome->message);
	} else if (known && s.failed && outcome && outcome->state == RF_OUTCOME_BEFORE) {
		s.failed = FALSE; /* it has been there after all */
	}
	if (!s.failed)
		saved = rf_store_read(c->dir, p, g_hash_table_lookup(c->digest, p->id), &why);
	while (!saved && strcmp(state_names[state], why) != 0)
		state++;
	if (saved)
		result_row(c, nth, p, saved);
	status_row(c, nth, p, state, &s);
	c->out->count[state]++;
	g_array_append_val(c->out->state, state);
	g_ptr_array_add(c->out->message, state == RF_POINT_FAILED ? g_strdup(s.message) : NULL);
	if (state == RF_POINT_FAILED)
		c->out->code = MAX(c->out->code, s.code);
	else if (state != RF_POINT_DONE)
		c->out->code = MAX(c->out->code, (int)RF_EXIT_NEGATIVE);
	rf_saved_free(saved);
	g_free(s.message);
}

static void headings(struct collator *c)
{
	g_autoptr(GString) all = g_string_new(NULL);

	rf_csv_heading(all);
	if (c->results)
		fprintf(c->results, "point,section,%s", all->str);
	if (c->status)
		fputs("point,section,state,seconds,peak_kib,exit_code,run,file,message\n", c->status);
}

/* Remove from a folder of the sweep what killed processes had half written of files whose names
 * begin so: all, or what was written by processes that this host no longer has. */
static void tidy(const struct collator *c, const char *folder, GHashTable *names, gboolean all)
{
	g_autofree char *path = g_build_filename(c->dir, folder, NULL);
	GDir *d = g_dir_open(path, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		const char *tmp = strstr(name, ".tmp-");
		g_autofree char *first = g_strndup(name, strcspn(name, ".")), *file = NULL;

		if (!tmp || !g_hash_table_contains(names, first))
			continue;
		if (!all && (kill(atoi(tmp + strlen(".tmp-")), 0) == 0 || errno != ESRCH))
			continue;
		file = g_build_filename(path, name, NULL);
		g_unlink(file);
	}
	if (d)
		g_dir_close(d);
}

static void tidy_up(const struct collator *c)
{
	g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) whole = g_hash_table_new(g_str_hash, g_str_equal);

	/* A task of another host may be at work on the points that are not done. */
	for (guint i = 0; i < c->points->len; i++) {
		if (g_array_index(c->out->state, enum rf_point_state, i) == RF_POINT_DONE)
			g_hash_table_add(done, ((struct rf_point *)c->points->pdata[i])->id);
	}
	tidy(c, "points", done, TRUE);
	tidy(c, "status", done, TRUE);
	g_hash_table_add(whole, "results");
	g_hash_table_add(whole, "status");
	g_hash_table_add(whole, "plan");
	tidy(c, ".", whole, FALSE);
}

gboolean rf_collate(const char *dir, const GPtrArray *points, const GPtrArray *distinct,
                    const struct rf_outcome *outcome, struct rf_collation *out, GError **error)
{
	struct collator c = { .dir = dir, .points = points, .out = out };
	g_autofree char *results_path = g_build_filename(dir, "results.csv", NULL);
	g_autofree char *status_path = g_build_filename(dir, "status.csv", NULL);
	struct rf_outfile results = { 0 }, status = { 0 };
	gboolean ok = TRUE;

	memset(out, 0, sizeof(*out));
	out->state = g_array_new(FALSE, FALSE, sizeof(enum rf_point_state));
	out->message = g_ptr_array_new_with_free_func(g_free);
	ok = rf_outfile_open(&results, results_path, error);
	ok = rf_outfile_open(&status, status_path, ok ? error : NULL) && ok;
	c.results = results.f;
	c.status = status.f;
	c.digest = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	if (outcome) {
		c.outcome = g_hash_table_new(g_str_hash, g_str_equal);
		for (guint i = 0; i < distinct->len; i++)
			g_hash_table_insert(c.outcome, ((struct rf_point *)distinct->pdata[i])->id,
			                    (void *)&outcome[i]);
	}
	find_digests(&c);
	headings(&c);
	for (guint i = 0; i < points->len; i++)
		collate_point(&c, i);
	tidy_up(&c);
	if (results.f)
		ok = rf_outfile_commit(&results, ok ? error : NULL) && ok;
	if (status.f)
		ok = rf_outfile_commit(&status, ok ? error : NULL) && ok;
	g_hash_table_unref(c.digest);
	if (c.outcome)
		g_hash_table_unref(c.outcome);
	return ok;
}

void rf_collation_clear(struct rf_collation *c)
{
	g_clear_pointer(&c->state, g_array_unref);
	g_clear_pointer(&c->message, g_ptr_array_unref);
}
