/* SPDX-License-Identifier: MIT */
#include "sim/cmd/run-job.h"

#include <string.h>

#include "base/error.h"
#include "sim/study/axes.h"

static gboolean choose(GPtrArray *sections, const char *path, const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	if (name) {
		g_ptr_array_add(names, (char *)name);
		return rf_job_choose(sections, names, error);
	}
	if (sections->len == 1)
		return TRUE;
	for (guint i = 0; i < sections->len; i++)
		g_ptr_array_add(names, ((struct rf_section *)sections->pdata[i])->name);
	g_ptr_array_add(names, NULL);

	g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);

	rf_set_usage(error, "%s: several sections: expected --section with one of %s", path, all);
	return FALSE;
}

/* Points of one configuration differ in their traces alone. */
static gboolean check_same(const struct rf_section *section, const GPtrArray *points, GError **error)
{
	const struct rf_point *first = points->pdata[0];

	for (guint i = 1; i < points->len; i++) {
		const struct rf_point *p = points->pdata[i];

		for (guint k = 0; k < first->settings->len; k++) {
			const struct rf_setting *a = &g_array_index(first->settings, struct rf_setting, k);
			const struct rf_setting *b = rf_settings_find(p->settings, a->key);

			if (strcmp(a->value, b->value) == 0)
				continue;
			rf_set_usage(error, "%s: [%s]: %s has several values: expected one, with --%s for "
			                    "example, or refault sweep",
			             section->where, section->name, a->key, a->key);
			return FALSE;
		}
	}
	return TRUE;
}

static GPtrArray *params_of(const struct rf_point *p)
{
	g_auto(GStrv) words = rf_point_params(p);
	GPtrArray *params = words ? g_ptr_array_new_with_free_func(g_free) : NULL;

	for (char **w = words; w && *w; w++)
		g_ptr_array_add(params, g_strdup(*w));
	return params;
}

gboolean rf_run_job_load(struct rf_run_job *job, const char *path, const char *section,
                         const GArray *given, GError **error)
{
	GPtrArray *sections = rf_job_load(path, error), *points = NULL;
	gboolean ok = sections && choose(sections, path, section, error);

	memset(job, 0, sizeof(*job));
	if (ok) {
		struct rf_section *s = sections->pdata[0];
		const struct rf_point *first;

		for (guint k = 0; k < given->len; k++) {
			const struct rf_setting *x = &g_array_index(given, struct rf_setting, k);

			rf_settings_put(s->settings, x->key, x->value, x->where);
		}
		points = rf_points_new(sections, error);
		first = points ? points->pdata[0] : NULL;
		ok = points && check_same(s, points, error) && rf_point_config(first, &job->cfg, error);
		if (ok) {
			job->traces = g_ptr_array_new_with_free_func(g_free);
			job->format = g_strdup(first->format);
			job->maps = g_strdup(first->maps);
			job->params = params_of(first);
		}
		for (guint i = 0; ok && i < points->len; i++)
			g_ptr_array_add(job->traces, g_strdup(((struct rf_point *)points->pdata[i])->trace));
	}
	g_clear_pointer(&points, g_ptr_array_unref);
	g_clear_pointer(&sections, g_ptr_array_unref);
	return ok;
}

void rf_run_job_clear(struct rf_run_job *job)
{
	rf_config_clear(&job->cfg);
	g_ptr_array_unref(job->traces);
	g_free(job->format);
	g_free(job->maps);
	g_clear_pointer(&job->params, g_ptr_array_unref);
}
