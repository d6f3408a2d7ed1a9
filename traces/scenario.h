/* SPDX-License-Identifier: MIT
 * Scenarios: programs that write a trace.  The lines of the text form, in loops, with numbers that
 * are computed, by several tasks at once; refault-trace(5) has the grammar.  A scenario is a format
 * of traces like any other, and is never expanded as a whole.
 */
#ifndef RF_SCENARIO_H
#define RF_SCENARIO_H

#include "traces/import/import.h"

#define RF_SCENARIO_MAGIC "!refault-scenario"

extern const struct rf_importer rf_scenario_importer;

#endif
