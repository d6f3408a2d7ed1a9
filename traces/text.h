/* SPDX-License-Identifier: MIT
 * What reading and writing the text form share.
 */
#ifndef RF_TEXT_H
#define RF_TEXT_H

#include "traces/import/import.h"

#define RF_TEXT_MAGIC "!refault-trace"
#define RF_TEXT_VERSION 1

extern const struct rf_importer rf_text_importer;

#endif
