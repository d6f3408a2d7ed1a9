/* SPDX-License-Identifier: MIT */
#include "sim/preflight.h"

#include "base/error.h"
#include "base/units.h"
#include "sim/policy.h"
#include "sim/seams.h"

static gboolean check_reclaim(const char *spec, GError **error)
{
	g_autofree char *name = NULL, *list = NULL, *where = NULL;
	g_autofree void *block = NULL;
	const struct rf_reclaim_ops *ops;
	gboolean ok;

	rf_spec_split(spec ? spec : "", &name, &list);
	ops = rf_reclaim_find(name, error);
	if (!ops)
		return FALSE;
	where = g_strdup_printf("--reclaim %s", name);
	block = g_malloc0(ops->options_size + 1);
	if (ops->options)
		rf_options_init(ops->options, block);
	ok = rf_options_parse(ops->options, block, where, list, error);
	rf_options_clear(ops->options, block);
	return ok;
}

gboolean rf_preflight(struct rf_config *cfg, GError **error)
{
	const struct rf_totals any = { .footprint = { 1 << 24, 1 << 24, 1 << 24 } };
	struct rf_seams seams;

	if (cfg->plugin && !rf_plugin_load(cfg->plugin, error))
		return FALSE;
	if (!check_reclaim(cfg->reclaim, error))
		return FALSE;
	if (!rf_seams_init(&seams, cfg, error)) {
		rf_seams_clear(&seams);
		return FALSE;
	}
	rf_seams_clear(&seams);
	return rf_config_resolve(cfg, &any, error);
}

static unsigned flags(const struct rf_config *cfg)
{
	g_autofree char *name = NULL, *list = NULL;
	const struct rf_reclaim_ops *ops;

	rf_spec_split(cfg->reclaim ? cfg->reclaim : "", &name, &list);
	ops = rf_reclaim_find(name, NULL);
	return ops ? ops->flags : 0;
}

gboolean rf_config_knows_future(const struct rf_config *cfg)
{
	return flags(cfg) & RF_POLICY_FUTURE;
}

static gboolean lacks_accesses(const struct rf_config *cfg, const struct rf_header *h)
{
	return h && rf_header_get(h, "window-pages") &&
	       flags(cfg) & (RF_POLICY_ACCESS | RF_POLICY_FUTURE | RF_POLICY_STACK);
}

/* A reduced trace is proven for few. */
static gboolean beyond_reduction(const struct rf_config *cfg, const struct rf_header *h)
{
	const char *memory = h ? rf_header_get(h, "reduced-memory") : NULL;
	uint64_t least = UINT64_MAX;

	if (!memory)
		return FALSE;
	rf_parse_size(memory, &least, NULL);
	return !cfg->frames_n || cfg->page_shift != h->granule_shift ||
	       cfg->frames_n < least >> h->granule_shift ||
	       (g_strcmp0(cfg->reclaim, "lru") && g_strcmp0(cfg->reclaim, "belady"));
}

gboolean rf_config_suits(const struct rf_config *cfg, const struct rf_header *h, GError **error)
{
	if (cfg->force)
		return TRUE;
	if (beyond_reduction(cfg, h)) {
		rf_set_usage(error,
		             "the trace is reduced, and right for --reclaim lru and belady alone, with "
		             "--frames of %s of memory or more: replay the whole trace, or with --force",
		             rf_header_get(h, "reduced-memory"));
		return FALSE;
	}
	if (!lacks_accesses(cfg, h))
		return TRUE;
	rf_set_usage(error,
	             "--reclaim %s must be told of every access, and the trace leaves out those to "
	             "the %s latest pages: record it with --exact, or replay it with --force",
	             cfg->reclaim, rf_header_get(h, "window-pages"));
	return FALSE;
}

gboolean rf_config_forced(const struct rf_config *cfg, const struct rf_header *h)
{
	return lacks_accesses(cfg, h) || beyond_reduction(cfg, h);
}
