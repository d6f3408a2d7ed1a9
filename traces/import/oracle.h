/* SPDX-License-Identifier: MIT
 * libCacheSim's oracleGeneral.
 */
#ifndef RF_ORACLE_H
#define RF_ORACLE_H

#include "traces/import/import.h"

extern const struct rf_importer rf_oracle_importer;

#endif
