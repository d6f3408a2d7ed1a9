/* SPDX-License-Identifier: MIT
 * Integer square root, rounded down: bit by bit, the same on any host.
 */
#ifndef RF_ISQRT_H
#define RF_ISQRT_H

#include <stdint.h>

static inline uint64_t rf_isqrt(uint64_t n)
{
	uint64_t r = 0, bit = UINT64_C(1) << 62;

	while (bit > n)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (n >= r + bit) {
			n -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

#endif
