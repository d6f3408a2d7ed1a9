/* SPDX-License-Identifier: MIT
 * The table of metrics, and the life of a result.
 */
#include "sim/result.h"

#include <string.h>

const struct rf_metric rf_metrics[] = {
#define METRIC(id, better, scope, help) { #id, "", help, better, RF_METRIC_COUNTER, RF_C_##id },
	RF_COUNTERS(METRIC)
#undef METRIC
#define METRIC(id, unit, better, help) { #id, unit, help, better, RF_METRIC_GAUGE, RF_G_##id },
		RF_GAUGES(METRIC)
#undef METRIC
};

const unsigned rf_nmetrics = G_N_ELEMENTS(rf_metrics);

G_STATIC_ASSERT(G_N_ELEMENTS(rf_metrics) == (size_t)RF_NCOUNTERS + (size_t)RF_NGAUGES);

const struct rf_metric *rf_metric_find(const char *name)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		if (strcmp(rf_metrics[i].name, name) == 0)
			return &rf_metrics[i];
	}
	return NULL;
}

uint64_t rf_result_value(const struct rf_result *r, const struct rf_metric *m)
{
	return m->kind == RF_METRIC_COUNTER ? r->counter[m->index] : r->gauge[m->index];
}

static void clear_task(void *p)
{
	g_free(((struct rf_task_result *)p)->name);
}

static void clear_cgroup(void *p)
{
	g_free(((struct rf_cgroup_result *)p)->path);
}

static void clear_oom(void *p)
{
	struct rf_oom *o = p;

	g_free(o->cgroup);
	g_free(o->reason);
}

static void clear_sample(void *p)
{
	g_free(((struct rf_sample *)p)->mark);
}

static GArray *owning_array(guint size, GDestroyNotify clear)
{
	GArray *a = g_array_new(FALSE, TRUE, size);

	g_array_set_clear_func(a, clear);
	return a;
}

void rf_result_init(struct rf_result *r)
{
	memset(r, 0, sizeof(*r));
	r->tasks = owning_array(sizeof(struct rf_task_result), clear_task);
	r->cgroups = owning_array(sizeof(struct rf_cgroup_result), clear_cgroup);
	r->oom = owning_array(sizeof(struct rf_oom), clear_oom);
	r->cpus = g_array_new(FALSE, TRUE, sizeof(struct rf_cpu_result));
	r->locks = g_array_new(FALSE, TRUE, sizeof(struct rf_lock_result));
	r->marks = owning_array(sizeof(struct rf_sample), clear_sample);
	r->timeline = owning_array(sizeof(struct rf_sample), clear_sample);
}

void rf_result_clear(struct rf_result *r)
{
	GArray **arrays[] = { &r->tasks, &r->cgroups, &r->oom,     &r->cpus,
		              &r->locks, &r->marks,   &r->timeline };

	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_clear_pointer(arrays[i], g_array_unref);
}
