/* SPDX-License-Identifier: MIT
 * Saved results as the rows that their CSV would have, and the samples of their timelines.
 */
#include "sim/plot/table.h"

#include <string.h>

#include "base/error.h"
#include "sim/report/report.h"
#include "sim/saved.h"

static void set_number(struct rf_table *t, const char *name, uint64_t value)
{
	char digits[24];

	g_snprintf(digits, sizeof(digits), "%" G_GUINT64_FORMAT, value);
	rf_table_set(t, rf_table_add_column(t, name), digits);
}

static void set_text(struct rf_table *t, const char *name, const char *value)
{
	rf_table_set(t, rf_table_add_column(t, name), value ? value : "");
}

static void set_pairs(struct rf_table *t, const char *prefix, const GArray *pairs)
{
	for (guint i = 0; i < pairs->len; i++) {
		const struct rf_saved_pair *p = &g_array_index(pairs, struct rf_saved_pair, i);
		g_autofree char *name = g_strconcat(prefix, p->name, NULL);

		set_text(t, name, p->value);
	}
}

static void set_resolved(struct rf_table *t, const struct rf_saved *s)
{
	set_number(t, "page_bytes", s->page_bytes);
	set_number(t, "limit_bytes", s->limit_bytes);
	set_number(t, "ram_bytes", s->ram_bytes);
	set_number(t, "swap_bytes", s->swap_bytes);
	set_number(t, "frames_n", s->frames_n);
}

static void add_run(struct rf_table *t, const struct rf_saved *s)
{
	g_autofree char *origin = rf_saved_where(s);

	rf_table_add_row(t, origin);
	set_text(t, "version", s->version);
	set_number(t, "schema", s->schema);
	set_text(t, "trace", s->trace);
	set_text(t, "digest", s->digest);
	set_number(t, "lost", s->result.totals.lost);
	set_pairs(t, "", s->config);
	set_resolved(t, s);
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		uint64_t value;

		if (rf_saved_value(s, &rf_metrics[i], &value))
			set_number(t, rf_metrics[i].name, value);
	}
	set_pairs(t, "profile.", s->profile);
}

static void add_sample(struct rf_table *t, const struct rf_saved *s, const char *origin,
                       const struct rf_sample *sample)
{
	rf_table_add_row(t, origin);
	set_text(t, "trace", s->trace);
	set_number(t, "time_ns", sample->now);
	set_text(t, "mark", sample->mark);
	set_pairs(t, "", s->config);
	set_resolved(t, s);
	for (unsigned k = 0; k < rf_nmetrics; k++) {
		const struct rf_metric *m = &rf_metrics[k];

		set_number(t, m->name,
		           m->kind == RF_METRIC_COUNTER ? sample->counter[m->index]
		                                        : sample->gauge[m->index]);
	}
}

static gboolean add_samples(struct rf_table *t, const struct rf_saved *s, GError **error)
{
	g_autofree char *origin = rf_saved_where(s);

	if (s->result.timeline->len == 0) {
		rf_set_data(error, "%s: no timeline; expected a run with --timeline INTERVAL",
		            origin);
		return FALSE;
	}
	for (guint i = 0; i < s->result.timeline->len; i++)
		add_sample(t, s, origin, &g_array_index(s->result.timeline, struct rf_sample, i));
	for (guint i = 0; i < s->result.marks->len; i++)
		add_sample(t, s, origin, &g_array_index(s->result.marks, struct rf_sample, i));
	return TRUE;
}

gboolean rf_table_add_saved(struct rf_table *t, const GPtrArray *saved, enum rf_table_rows rows,
                            GError **error)
{
	for (guint i = 0; i < saved->len; i++) {
		if (rows == RF_ROWS_RUNS)
			add_run(t, saved->pdata[i]);
		else if (!add_samples(t, saved->pdata[i], error))
			return FALSE;
	}
	return TRUE;
}
