/* SPDX-License-Identifier: MIT
 * The kernel's rule for executable pages.  Every member begins its options with it: what it adds to
 * the kernel is measured beside the rule, not instead of it.
 */
#ifndef RF_EXEC_H
#define RF_EXEC_H

#include "policies/seams.h"

struct rf_exec_options { int rule; }; /* first in a member's options */

#define RF_EXEC_OPTION \
	{ .name = "rule", .type = RF_OPT_ENUM, .offset = offsetof(struct rf_exec_options, rule), .def = "auto", \
	  .choices = "auto,none,2.6.31,2.6.34,3.3,5.9", \
	  .help = "the rule for executable pages of which release; auto: of --kernel", .since = "2.6.31" }

/* rf_protect_ops: activate and rotate. */
gboolean rf_exec_activate(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);
gboolean rf_exec_rotate(const void *opt, const struct rf_host *host, rf_page page, unsigned vm);

#endif
