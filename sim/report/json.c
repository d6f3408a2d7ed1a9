/* SPDX-License-Identifier: MIT
 * JSON: everything that a run was and gave.  Objects keep the order in which they are built.
 */
#include "sim/report/report.h"

#include <string.h>

#include "base/version.h"
#include "sim/report/members.h"

static void add_trace(JsonBuilder *b, const struct rf_report *r)
{
	static const char *const sizes[] = { "4K", "16K", "64K" };
	const struct rf_totals *t = &r->result->totals;
	g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", t->digest);

	rf_json_object(b, "trace");
	rf_json_text(b, "path", r->path);
	rf_json_text(b, "format", r->format);
	rf_json_text(b, "maps", r->maps);
	rf_json_text(b, "digest", digest);
	rf_json_number(b, "lost", t->lost);
	rf_json_number(b, "events", t->events);
	rf_json_number(b, "runs", t->runs);
	rf_json_object(b, "accesses");
	rf_json_number(b, "read", t->accesses[RF_READ]);
	rf_json_number(b, "write", t->accesses[RF_WRITE]);
	rf_json_number(b, "exec", t->accesses[RF_EXEC]);
	json_builder_end_object(b);
	rf_json_object(b, "footprint_pages");
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		rf_json_number(b, sizes[i], t->footprint[i]);
	json_builder_end_object(b);
	rf_json_object(b, "header");
	for (guint i = 0; r->header && r->header->keys && i < r->header->keys->len; i++) {
		g_autofree char *key = g_utf8_make_valid(r->header->keys->pdata[i], -1);

		rf_json_text(b, key, r->header->values->pdata[i]);
	}
	json_builder_end_object(b);
	json_builder_end_object(b);
}

static void add_options(JsonBuilder *b, const char *name, const struct rf_option *table,
                        const void *block)
{
	rf_json_object(b, name);
	for (const struct rf_option *o = table; o->name; o++) {
		g_autofree char *value = rf_options_value(o, block);

		rf_json_text(b, o->name, o->type == RF_OPT_STRING && !*value ? NULL : value);
	}
	json_builder_end_object(b);
}

static void add_resolved(JsonBuilder *b, const struct rf_config *c)
{
	rf_json_object(b, "resolved");
	rf_json_number(b, "page_bytes", UINT64_C(1) << c->page_shift);
	rf_json_number(b, "limit_bytes", c->limit_bytes);
	rf_json_number(b, "ram_bytes", c->ram_bytes);
	rf_json_number(b, "swap_bytes", c->swap_bytes);
	rf_json_number(b, "frames_n", c->frames_n);
	json_builder_end_object(b);
}

static void add_counters(JsonBuilder *b, const uint64_t *counter)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		if (rf_metrics[i].kind == RF_METRIC_COUNTER)
			rf_json_number(b, rf_metrics[i].name, counter[rf_metrics[i].index]);
	}
}

static void add_gauges(JsonBuilder *b, const uint64_t *gauge)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		if (rf_metrics[i].kind == RF_METRIC_GAUGE)
			rf_json_number(b, rf_metrics[i].name, gauge[rf_metrics[i].index]);
	}
}

static void add_cgroups(JsonBuilder *b, const struct rf_result *res)
{
	static const char *const lists[] = { "inactive_anon", "active_anon", "inactive_file",
		                             "active_file" };

	rf_json_array(b, "cgroups");
	for (guint i = 0; i < res->cgroups->len; i++) {
		const struct rf_cgroup_result *g =
			&g_array_index(res->cgroups, struct rf_cgroup_result, i);

		rf_json_object(b, NULL);
		rf_json_text(b, "path", g->path);
		rf_json_number(b, "usage", g->usage);
		rf_json_number(b, "usage_max", g->usage_max);
		rf_json_number(b, "anon", g->anon);
		rf_json_number(b, "file", g->file);
		rf_json_number(b, "file_mapped", g->file_mapped);
		rf_json_number(b, "swap", g->swap);
		rf_json_number(b, "kernel", g->kernel);
		for (size_t k = 0; k < G_N_ELEMENTS(lists); k++)
			rf_json_number(b, lists[k], g->lru[k]);
		add_counters(b, g->counter);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_tasks(JsonBuilder *b, const struct rf_result *res)
{
	rf_json_array(b, "tasks");
	for (guint i = 0; i < res->tasks->len; i++) {
		const struct rf_task_result *t =
			&g_array_index(res->tasks, struct rf_task_result, i);

		rf_json_object(b, NULL);
		rf_json_number(b, "tid", t->tid);
		rf_json_text(b, "name", t->name);
		rf_json_number(b, "rss", t->rss);
		rf_json_number(b, "rss_mean", t->rss_mean);
		rf_json_number(b, "rss_max", t->rss_max);
		rf_json_number(b, "swap", t->swap);
		rf_json_number(b, "pgfault", t->pgfault);
		rf_json_number(b, "pgmajfault", t->pgmajfault);
		rf_json_number(b, "accesses", t->accesses);
		rf_json_number(b, "cpu_ns", t->cpu);
		rf_json_number(b, "spin_ns", t->spin);
		rf_json_number(b, "queue_ns", t->queue);
		rf_json_number(b, "device_ns", t->device);
		rf_json_number(b, "lock_ns", t->lock);
		rf_json_number(b, "throttle_ns", t->throttle);
		rf_json_flag(b, "exited", t->exited);
		rf_json_flag(b, "oom_killed", t->oom_killed);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

/* Of closed replay; empty otherwise. */
static void add_processors(JsonBuilder *b, const struct rf_result *res)
{
	rf_json_array(b, "processors");
	for (guint i = 0; i < res->cpus->len; i++) {
		const struct rf_cpu_result *c = &g_array_index(res->cpus, struct rf_cpu_result, i);

		rf_json_object(b, NULL);
		rf_json_number(b, "busy_ns", c->busy);
		rf_json_number(b, "idle_ns", c->idle);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	rf_json_array(b, "locks");
	for (guint i = 0; i < res->locks->len; i++) {
		const struct rf_lock_result *l =
			&g_array_index(res->locks, struct rf_lock_result, i);

		rf_json_object(b, NULL);
		rf_json_text(b, "name", l->name);
		rf_json_number(b, "taken", l->taken);
		rf_json_number(b, "contended", l->contended);
		rf_json_number(b, "waited_ns", l->waited);
		rf_json_number(b, "waited_max_ns", l->waited_max);
		rf_json_number(b, "held_ns", l->held);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_oom(JsonBuilder *b, const struct rf_result *res)
{
	rf_json_array(b, "oom");
	for (guint i = 0; i < res->oom->len; i++) {
		const struct rf_oom *o = &g_array_index(res->oom, struct rf_oom, i);

		rf_json_object(b, NULL);
		rf_json_number(b, "time_ns", o->now);
		rf_json_number(b, "tid", o->tid);
		rf_json_text(b, "cgroup", o->cgroup);
		rf_json_text(b, "reason", o->reason);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_marks(JsonBuilder *b, const struct rf_result *res)
{
	rf_json_array(b, "marks");
	for (guint i = 0; i < res->marks->len; i++) {
		const struct rf_sample *s = &g_array_index(res->marks, struct rf_sample, i);

		rf_json_object(b, NULL);
		rf_json_text(b, "name", s->mark);
		rf_json_number(b, "time_ns", s->now);
		rf_json_object(b, "metrics");
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
	rf_json_object(b, "timeline");
	rf_json_array(b, "time_ns");
	for (guint i = 0; i < res->timeline->len; i++)
		json_builder_add_int_value(b, (gint64)s[i].now);
	json_builder_end_array(b);
	for (unsigned k = 0; k < rf_nmetrics; k++) {
		rf_json_array(b, rf_metrics[k].name);
		for (guint i = 0; i < res->timeline->len; i++)
			json_builder_add_int_value(b, (gint64)sample_value(&s[i], &rf_metrics[k]));
		json_builder_end_array(b);
	}
	json_builder_end_object(b);
}

void rf_report_json(GString *out, const struct rf_report *r)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	rf_json_object(b, NULL);
	rf_json_text(b, "program", "refault");
	rf_json_text(b, "version", rf_version);
	rf_json_number(b, "schema", RF_REPORT_SCHEMA);
	add_trace(b, r);
	rf_json_number(b, "seed", (uint64_t)r->cfg->seed);
	add_options(b, "config", rf_config_options, r->cfg);
	if (!r->cfg->frames_n)
		add_options(b, "profile", rf_profile_options, &r->cfg->profile);
	add_resolved(b, r->cfg);
	rf_json_object(b, "metrics");
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
	rf_json_append(out, b);
}
