/* SPDX-License-Identifier: MIT
 * Policies that are loaded at run time, by path: one symbol, checked before anything of it is used.
 */
#include "sim/policy.h"

#include <gmodule.h>

#include "base/error.h"
#include "policies/plugin.h"
#include "sim/seams.h"

/* Was it built with this program's headers? */
static gboolean fits(const struct rf_plugin *p, const char *who, GError **error)
{
	const struct { const char *name; uint32_t theirs; size_t ours; } structs[] = {
		{ "rf_plugin", p->size, sizeof(struct rf_plugin) },
		{ "rf_host", p->host_size, sizeof(struct rf_host) },
		{ "rf_reclaim_ops", p->reclaim_size, sizeof(struct rf_reclaim_ops) },
		{ "rf_protect_ops", p->protect_size, sizeof(struct rf_protect_ops) },
		{ "rf_account_ops", p->account_size, sizeof(struct rf_account_ops) },
		{ "rf_volatile_ops", p->volatile_size, sizeof(struct rf_volatile_ops) },
		{ "rf_fill_ops", p->fill_size, sizeof(struct rf_fill_ops) },
	};

	if (p->abi != RF_POLICY_ABI) {
		rf_set_env(error, "%s: made for policy interface version %u, this program has version %u", who, p->abi,
		           RF_POLICY_ABI);
		return FALSE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(structs); i++) {
		if (structs[i].theirs == structs[i].ours)
			continue;
		rf_set_env(error, "%s: its struct %s has %u bytes, this program's has %zu", who, structs[i].name,
		           structs[i].theirs, structs[i].ours);
		return FALSE;
	}
	return TRUE;
}

static gboolean take_members(const struct rf_plugin *p, const char *who, GError **error)
{
	/* ORDER enum rf_seam. */
	const void *const members[RF_NSEAMS] = { p->protect, p->account, p->volatile_, p->fill };
	gboolean any = p->reclaim != NULL;

	if (p->reclaim && !rf_reclaim_register(p->reclaim, who, error))
		return FALSE;
	for (unsigned i = 0; i < RF_NSEAMS; i++) {
		if (members[i] && !rf_seam_register(i, members[i], who, error))
			return FALSE;
		any |= members[i] != NULL;
	}
	if (!any)
		rf_set_env(error, "%s: it has no policy in it", who);
	return any;
}

gboolean rf_plugin_load(const char *path, GError **error)
{
	/* A name without a slash would be looked for in the library path. */
	g_autofree char *full = g_canonicalize_filename(path, NULL), *who = g_strdup_printf("plug-in %s", path);
	GModule *module;
	gpointer symbol;

	if (!g_file_test(full, G_FILE_TEST_EXISTS)) {
		rf_set_env(error, "%s: no such file", who);
		return FALSE;
	}
	module = g_module_open(full, G_MODULE_BIND_LOCAL);
	if (!module) {
		rf_set_env(error, "%s: cannot be loaded: %s", who, g_module_error());
		return FALSE;
	}
	if (!g_module_symbol(module, "rf_plugin", &symbol) || !symbol) {
		rf_set_env(error, "%s: it exports no symbol rf_plugin", who);
		g_module_close(module);
		return FALSE;
	}
	if (!fits(symbol, who, error)) {
		g_module_close(module);
		return FALSE;
	}
	/* It stays for the life of the process: one of its members may be registered, though another was refused. */
	return take_members(symbol, who, error);
}
