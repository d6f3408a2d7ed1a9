/* SPDX-License-Identifier: MIT
 * What can be said of a configuration before a trace is opened.
 */
#ifndef RF_PREFLIGHT_H
#define RF_PREFLIGHT_H

#include "sim/config.h"

/* Everything that can be wrong whatever the trace, before hours of work.  Loads the plug-in. */
gboolean rf_preflight(struct rf_config *cfg, GError **error);
/* Does the reclaim policy know the future?  Then the source must be spooled or seekable. */
gboolean rf_config_knows_future(const struct rf_config *cfg);

#endif
