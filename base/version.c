/* SPDX-License-Identifier: MIT
 * A file of its own: only this is compiled again after a commit.
 */
#include "base/version.h"

#include "version-string.h" /* written by the Makefile */

const char rf_version[] = RF_VERSION_STRING;
