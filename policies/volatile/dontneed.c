/* SPDX-License-Identifier: MIT
 * dontneed: a range marked volatile is discarded at once, as a program does with MADV_DONTNEED that
 * has nothing better.
 */
#include "policies/seams.h"

const struct rf_volatile_ops rf_volatile_dontneed = {
	.name = "dontneed", .summary = "discard a range as soon as it is marked volatile",
	.discard_at_once = TRUE,
};
