/* SPDX-License-Identifier: MIT
 * Policies that are loaded at run time, by path: one symbol, checked before anything of it is used.
 */
#include "sim/policy.h"

#include <gmodule.h>

#include "base/error.h"

gboolean rf_plugin_load(const char *path, GError **error)
{
	/* A name without a slash would be looked for in the library path. */
	char *full = g_canonicalize_filename(path, NULL);
	GModule *module = NULL;
	const struct rf_plugin *plugin;
	gpointer symbol;
	gboolean ok = FALSE;

	if (!g_file_test(full, G_FILE_TEST_EXISTS)) {
		rf_set_env(error, "plug-in %s: no such file", path);
		goto out;
	}
	module = g_module_open(full, G_MODULE_BIND_LOCAL);
	if (!module) {
		rf_set_env(error, "plug-in %s: cannot be loaded: %s", path, g_module_error());
		goto out;
	}
	if (!g_module_symbol(module, "rf_plugin", &symbol) || !symbol) {
		rf_set_env(error, "plug-in %s: it exports no symbol rf_plugin", path);
		goto out;
	}
	plugin = symbol;
	if (plugin->abi != RF_POLICY_ABI) {
		rf_set_env(error, "plug-in %s: made for policy interface version %u, this program has version %u",
		           path, plugin->abi, RF_POLICY_ABI);
		goto out;
	}
	if (plugin->ops_size != sizeof(struct rf_reclaim_ops)) {
		rf_set_env(error, "plug-in %s: its struct rf_reclaim_ops has %u bytes, this program's has %zu",
		           path, plugin->ops_size, sizeof(struct rf_reclaim_ops));
		goto out;
	}
	if (!plugin->reclaim) {
		rf_set_env(error, "plug-in %s: it has no policy in it", path);
		goto out;
	}
	{
		char *who = g_strdup_printf("plug-in %s", path);

		ok = rf_reclaim_register(plugin->reclaim, who, error);
		g_free(who);
	}
out:
	/* A module that serves policies stays for the life of the process. */
	if (module && !ok)
		g_module_close(module);
	g_free(full);
	return ok;
}
