/* SPDX-License-Identifier: MIT
 * zero: fresh memory is zeroed by the kernel on the first store; a load before it maps the zero page.
 */
#include "policies/seams.h"

const struct rf_fill_ops rf_fill_zero = {
	.name = "zero", .summary = "the kernel zeroes pages at first store; loads map the zero page",
	.zero_page_on_read = TRUE,
};
