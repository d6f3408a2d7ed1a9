/* SPDX-License-Identifier: MIT
 * What a run will take, before it is begun.
 */
#ifndef RF_ESTIMATE_H
#define RF_ESTIMATE_H

#include "sim/config.h"

/* Memory that a machine of this configuration comes to on a trace, in bytes; rather too much than
 * too little.  cfg is resolved. */
uint64_t rf_estimate_bytes(const struct rf_config *cfg, const struct rf_totals *totals);

/* Memory of this host that is free for use, in bytes: a third less than what the kernel says is
 * available, and half of all where it does not say. */
uint64_t rf_estimate_free(void);

#endif
