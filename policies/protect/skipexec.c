/* SPDX-License-Identifier: MIT
 * skipexec: a page that is mapped executable is never reclaimed, used or not (proposed in January
 * 2026 against stalls of programs whose code had left memory).
 */
#include "policies/protect/exec.h"

static const struct rf_option options[] = { RF_EXEC_OPTION, RF_OPTION_END };

static gboolean spare_page(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	(void)opt, (void)host, (void)page;
	return (vm & RF_VM_EXEC) != 0;
}

const struct rf_protect_ops rf_protect_skipexec = {
	.name = "skipexec",
	.summary = "pages that are mapped executable are never reclaimed",
	.options = options,
	.options_size = sizeof(struct rf_exec_options),
	.activate = rf_exec_activate,
	.rotate = rf_exec_rotate,
	.spare_page = spare_page,
};
