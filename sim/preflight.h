/* SPDX-License-Identifier: MIT
 * What can be said of a configuration before a trace is opened.
 */
#ifndef RF_PREFLIGHT_H
#define RF_PREFLIGHT_H

#include "sim/config.h"

/* Everything that can be wrong whatever the trace, before hours of work.  Loads the plug-in. */
gboolean rf_preflight(struct rf_config *cfg, GError **error);
/* Does the trace have all that a resolved configuration needs of it, unless cfg->force?  A trace that
 * was recorded with a window has not, for policies that must be told of every access; a reduced one
 * has, for LRU and OPT in an ideal memory of so many frames or more. */
gboolean rf_config_suits(const struct rf_config *cfg, const struct rf_header *h, GError **error);
/* Is such a trace replayed nevertheless? */
gboolean rf_config_forced(const struct rf_config *cfg, const struct rf_header *h);
/* Does the reclaim policy know the future?  Then the source must be spooled or seekable. */
gboolean rf_config_knows_future(const struct rf_config *cfg);

#endif
