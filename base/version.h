/* SPDX-License-Identifier: MIT
 * The version that every result carries.
 */
#ifndef RF_VERSION_H
#define RF_VERSION_H

/* "0.1.0" in a release, "0.1.0-g0123abc" in a checkout ("-dirty" when it is edited). */
extern const char rf_version[];

#endif
