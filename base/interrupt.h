/* SPDX-License-Identifier: MIT
 * SIGINT and SIGTERM set a flag; a second one kills.  Loops over a trace ask now and then, and stop
 * with an error, so that what they were writing is removed.
 */
#ifndef RF_INTERRUPT_H
#define RF_INTERRUPT_H

#include <glib.h>

void rf_interrupt_catch(void);
gboolean rf_interrupted(void);
void rf_set_interrupted(GError **error);

#endif
