/* SPDX-License-Identifier: MIT
 * What a plug-in exports.  Public, installed as refault/policies/plugin.h; all that a plug-in includes.
 *
 *	const struct rf_plugin rf_plugin = { RF_PLUGIN, .protect = &mine };
 *
 * refault-policy(3) has two complete ones.
 */
#ifndef RF_PLUGIN_H
#define RF_PLUGIN_H

#include "policies/seams.h"

/* A plug-in has one of these, under the name rf_plugin: a member of any seam, or of several. */
struct rf_plugin {
	/* RF_POLICY_ABI, and sizes of the structs of the header that it was built with: RF_PLUGIN. */
	uint32_t abi, size, host_size;
	uint32_t reclaim_size, protect_size, account_size, volatile_size, fill_size;
	/* Each may be NULL, but not all of them. */
	const struct rf_reclaim_ops *reclaim;
	const struct rf_protect_ops *protect;
	const struct rf_account_ops *account;
	const struct rf_volatile_ops *volatile_;
	const struct rf_fill_ops *fill;
};

/* Begins the initialiser of one. */
#define RF_PLUGIN \
	.abi = RF_POLICY_ABI, .size = sizeof(struct rf_plugin), .host_size = sizeof(struct rf_host), \
	.reclaim_size = sizeof(struct rf_reclaim_ops), .protect_size = sizeof(struct rf_protect_ops), \
	.account_size = sizeof(struct rf_account_ops), .volatile_size = sizeof(struct rf_volatile_ops), \
	.fill_size = sizeof(struct rf_fill_ops)

/* Where the program looks for it. */
extern const struct rf_plugin rf_plugin;

#endif
