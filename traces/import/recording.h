/* SPDX-License-Identifier: MIT */
#ifndef RF_RECORDING_H
#define RF_RECORDING_H

#include "traces/import/import.h"

extern const struct rf_importer rf_recording_importer;

#endif
