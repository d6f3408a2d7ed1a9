/* SPDX-License-Identifier: MIT
 * JSON: everything that a run was and gave.  Objects keep the order in which they are built.
 */
#include "sim/report/report.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/version.h"

static void number(JsonBuilder *b, const char *name, uint64_t value)
{
	/* json-glib's integers are signed.  Only an absurd trace (lost 2^63 events) comes near. */
	json_builder_set_member_name(b, name);
	json_builder_add_int_value(b, (gint64)MIN(value, G_MAXINT64));
}

/* NULL becomes null.  Names and paths out of traces need not be UTF-8, JSON must be. */
static void text(JsonBuilder *b, const char *name, const char *value)
{
	g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;

	json_builder_set_member_name(b, name);
	if (valid)
		json_builder_add_string_value(b, valid);
	else
		json_builder_add_null_value(b);
}

static void boolean(JsonBuilder *b, const char *name, gboolean value)
{
	json_builder_set_member_name(b, name);
	json_builder_add_boolean_value(b, value);
}

static void open_object(JsonBuilder *b, const char *name)
{
	if (name)
		json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
}

static void open_array(JsonBuilder *b, const char *name)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_array(b);
}

static void add_trace(JsonBuilder *b, const struct rf_report *r)
{
	static const char *const sizes[] = { "4K", "16K", "64K" };
	const struct rf_totals *t = &r->result->totals;
	g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", t->digest);

	open_object(b, "trace");
	text(b, "path", r->path);
	text(b, "format", r->format);
	text(b, "maps", r->maps);
	text(b, "digest", digest);
	number(b, "lost", t->lost);
	number(b, "events", t->events);
	number(b, "runs", t->runs);
	open_object(b, "accesses");
	number(b, "read", t->accesses[RF_READ]);
	number(b, "write", t->accesses[RF_WRITE]);
	number(b, "exec", t->accesses[RF_EXEC]);
	json_builder_end_object(b);
	open_object(b, "footprint_pages");
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		number(b, sizes[i], t->footprint[i]);
	json_builder_end_object(b);
	open_object(b, "header");
	for (guint i = 0; r->header && r->header->keys && i < r->header->keys->len; i++) {
		g_autofree char *key = g_utf8_make_valid(r->header->keys->pdata[i], -1);

		text(b, key, r->header->values->pdata[i]);
	}
	json_builder_end_object(b);
	json_builder_end_object(b);
}

static void add_options(JsonBuilder *b, const char *name, const struct rf_option *table,
                        const void *block)
{
	open_object(b, name);
	for (const struct rf_option *o = table; o->name; o++) {
		g_autofree char *value = rf_options_value(o, block);

		text(b, o->name, o->type == RF_OPT_STRING && !*value ? NULL : value);
	}
	json_builder_end_object(b);
}

static void add_resolved(JsonBuilder *b, const struct rf_config *c)
{
	open_object(b, "resolved");
	number(b, "page_bytes", UINT64_C(1) << c->page_shift);
	number(b, "limit_bytes", c->limit_bytes);
	number(b, "ram_bytes", c->ram_bytes);
	number(b, "swap_bytes", c->swap_bytes);
	number(b, "frames_n", c->frames_n);
	json_builder_end_object(b);
}

static void add_counters(JsonBuilder *b, const uint64_t *counter)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		if (rf_metrics[i].kind == RF_METRIC_COUNTER)
			number(b, rf_metrics[i].name, counter[rf_metrics[i].index]);
	}
}

static void add_gauges(JsonBuilder *b, const uint64_t *gauge)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		if (rf_metrics[i].kind == RF_METRIC_GAUGE)
			number(b, rf_metrics[i].name, gauge[rf_metrics[i].index]);
	}
}

static void add_cgroups(JsonBuilder *b, const struct rf_result *res)
{
	static const char *const lists[] = { "inactive_anon", "active_anon", "inactive_file",
		                             "active_file" };

	open_array(b, "cgroups");
	for (guint i = 0; i < res->cgroups->len; i++) {
		const struct rf_cgroup_result *g =
			&g_array_index(res->cgroups, struct rf_cgroup_result, i);

		open_object(b, NULL);
		text(b, "path", g->path);
		number(b, "usage", g->usage);
		number(b, "usage_max", g->usage_max);
		number(b, "anon", g->anon);
		number(b, "file", g->file);
		number(b, "file_mapped", g->file_mapped);
		number(b, "swap", g->swap);
		number(b, "kernel", g->kernel);
		for (size_t k = 0; k < G_N_ELEMENTS(lists); k++)
			number(b, lists[k], g->lru[k]);
		add_counters(b, g->counter);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_tasks(JsonBuilder *b, const struct rf_result *res)
{
	open_array(b, "tasks");
	for (guint i = 0; i < res->tasks->len; i++) {
		const struct rf_task_result *t =
			&g_array_index(res->tasks, struct rf_task_result, i);

		open_object(b, NULL);
		number(b, "tid", t->tid);
		text(b, "name", t->name);
		number(b, "rss", t->rss);
		number(b, "rss_mean", t->rss_mean);
		number(b, "rss_max", t->rss_max);
		number(b, "swap", t->swap);
		number(b, "pgfault", t->pgfault);
		number(b, "pgmajfault", t->pgmajfault);
		number(b, "accesses", t->accesses);
		number(b, "cpu_ns", t->cpu);
		number(b, "spin_ns", t->spin);
		number(b, "queue_ns", t->queue);
		number(b, "device_ns", t->device);
		number(b, "lock_ns", t->lock);
		number(b, "throttle_ns", t->throttle);
		boolean(b, "exited", t->exited);
		boolean(b, "oom_killed", t->oom_killed);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

/* Of closed replay; empty otherwise. */
static void add_processors(JsonBuilder *b, const struct rf_result *res)
{
	open_array(b, "processors");
	for (guint i = 0; i < res->cpus->len; i++) {
		const struct rf_cpu_result *c = &g_array_index(res->cpus, struct rf_cpu_result, i);

		open_object(b, NULL);
		number(b, "busy_ns", c->busy);
		number(b, "idle_ns", c->idle);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	open_array(b, "locks");
	for (guint i = 0; i < res->locks->len; i++) {
		const struct rf_lock_result *l =
			&g_array_index(res->locks, struct rf_lock_result, i);

		open_object(b, NULL);
		text(b, "name", l->name);
		number(b, "taken", l->taken);
		number(b, "contended", l->contended);
		number(b, "waited_ns", l->waited);
		number(b, "waited_max_ns", l->waited_max);
		number(b, "held_ns", l->held);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_oom(JsonBuilder *b, const struct rf_result *res)
{
	open_array(b, "oom");
	for (guint i = 0; i < res->oom->len; i++) {
		const struct rf_oom *o = &g_array_index(res->oom, struct rf_oom, i);

		open_object(b, NULL);
		number(b, "time_ns", o->now);
		number(b, "tid", o->tid);
		text(b, "cgroup", o->cgroup);
		text(b, "reason", o->reason);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_marks(JsonBuilder *b, const struct rf_result *res)
{
	open_array(b, "marks");
	for (guint i = 0; i < res->marks->len; i++) {
		const struct rf_sample *s = &g_array_index(res->marks, struct rf_sample, i);

		open_object(b, NULL);
		text(b, "name", s->mark);
		number(b, "time_ns", s->now);
		open_object(b, "metrics");
		add_counters(b, s->counter);
		add_gauges(b, s->gauge);
		json_builder_end_object(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static uint64_t sample_value(const struct rf_sample *s, const struct rf_metric *m)
{
	return m->kind == RF_METRIC_COUNTER ? s->counter[m->index] : s->gauge[m->index];
}

/* A column a metric: what plotting programs take as it is.  Absent when nothing was sampled. */
static void add_timeline(JsonBuilder *b, const struct rf_result *res)
{
	const struct rf_sample *s = (const void *)res->timeline->data;

	if (res->timeline->len == 0)
		return;
	open_object(b, "timeline");
	open_array(b, "time_ns");
	for (guint i = 0; i < res->timeline->len; i++)
		json_builder_add_int_value(b, (gint64)s[i].now);
	json_builder_end_array(b);
	for (unsigned k = 0; k < rf_nmetrics; k++) {
		open_array(b, rf_metrics[k].name);
		for (guint i = 0; i < res->timeline->len; i++)
			json_builder_add_int_value(b, (gint64)sample_value(&s[i], &rf_metrics[k]));
		json_builder_end_array(b);
	}
	json_builder_end_object(b);
}

void rf_report_json(GString *out, const struct rf_report *r)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *document = NULL;

	open_object(b, NULL);
	text(b, "program", "refault");
	text(b, "version", rf_version);
	number(b, "schema", RF_REPORT_SCHEMA);
	add_trace(b, r);
	number(b, "seed", (uint64_t)r->cfg->seed);
	add_options(b, "config", rf_config_options, r->cfg);
	if (!r->cfg->frames_n)
		add_options(b, "profile", rf_profile_options, &r->cfg->profile);
	add_resolved(b, r->cfg);
	open_object(b, "metrics");
	add_counters(b, r->result->counter);
	add_gauges(b, r->result->gauge);
	json_builder_end_object(b);
	add_cgroups(b, r->result);
	add_tasks(b, r->result);
	add_processors(b, r->result);
	add_oom(b, r->result);
	add_marks(b, r->result);
	add_timeline(b, r->result);
	json_builder_end_object(b);

	root = json_builder_get_root(b);
	json_generator_set_root(generator, root);
	json_generator_set_pretty(generator, TRUE);
	json_generator_set_indent(generator, 2);
	document = json_generator_to_data(generator, NULL);
	g_string_append(out, document);
}
