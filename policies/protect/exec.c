/* SPDX-License-Identifier: MIT
 * exec: executable file pages that are in use stay.  The rule as it stood since four releases:
 * 2.6.31 rotates them on the active list, 2.6.34 leaves that, 3.3 also activates them on their first
 * reference, 5.9 asks for file-backed pages there too.
 */
#include "policies/protect/exec.h"

/* ORDER rule: choices */
enum { RULE_AUTO, RULE_NONE, RULE_2_6_31, RULE_2_6_34, RULE_3_3, RULE_5_9 };

static const struct rf_option options[] = { RF_EXEC_OPTION, RF_OPTION_END };

static int rule_of(const void *opt, const struct rf_host *host)
{
	const struct rf_exec_options *o = opt;

	if (o->rule != RULE_AUTO)
		return o->rule;
	return host->kernel >= RF_KERNEL(5, 9, 0) ? RULE_5_9 : host->kernel >= RF_KERNEL(3, 3, 0) ? RULE_3_3 :
	       host->kernel >= RF_KERNEL(2, 6, 34) ? RULE_2_6_34 :
	       host->kernel >= RF_KERNEL(2, 6, 31) ? RULE_2_6_31 : RULE_NONE;
}

/* folio_check_references() since 3.3. */
gboolean rf_exec_activate(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	int rule = rule_of(opt, host);

	if (!(vm & RF_VM_EXEC) || rule < RULE_3_3)
		return FALSE;
	return rule < RULE_5_9 || !(host->fact[page] & RF_PAGE_SWAPBACKED);
}

/* shrink_active_list() since 2.6.31: never for anonymous pages, a JIT's for instance. */
gboolean rf_exec_rotate(const void *opt, const struct rf_host *host, rf_page page, unsigned vm)
{
	return (vm & RF_VM_EXEC) && rule_of(opt, host) >= RULE_2_6_31 &&
	       !(host->fact[page] & RF_PAGE_SWAPBACKED);
}

const struct rf_protect_ops rf_protect_exec = {
	.name = "exec",
	.summary = "executable file pages in use stay active (the kernel's rule, by release; with twolist and mglru)",
	.options = options,
	.options_size = sizeof(struct rf_exec_options),
	.activate = rf_exec_activate,
	.rotate = rf_exec_rotate,
};
