/* SPDX-License-Identifier: MIT */
#include "traces/zipf.h"

__extension__ typedef unsigned __int128 u128;

#define HALF_BITS 63 /* numbers of 1 to 2 have so many bits after the point */
#define ONE ((uint64_t)1 << HALF_BITS)

/* log2 of a whole number, 32 bits after the point: squaring doubles the logarithm, so that each
 * carry beyond 2 is its next bit. */
static uint64_t log2_fixed(uint64_t x)
{
	unsigned e = 63 - (unsigned)__builtin_clzll(x);
	uint64_t m = x << (63 - e), bits = e;

	for (int i = 0; i < 32; i++) {
		u128 sq = (u128)m * m >> HALF_BITS;

		bits = bits << 1 | (uint64_t)(sq >> 64);
		m = (uint64_t)(sq >> (sq >> 64));
	}
	return bits;
}

static uint64_t root(u128 x)
{
	u128 r = 0;

	for (int bit = 63; bit >= 0; bit--) {
		u128 t = r | (u128)1 << bit;

		if (t * t <= x)
			r = t;
	}
	return (uint64_t)r;
}

/* 2^-(b * 2^-(8 * (i + 1))) for the four bytes of a fraction, made of repeated square roots. */
static const uint64_t (*powers(void))[256]
{
	static uint64_t table[4][256];
	static gsize once;

	if (g_once_init_enter(&once)) {
		uint64_t c = ONE / 2;

		for (int i = 0; i < 4; i++) {
			table[i][0] = ONE;
			for (int bit = 7; bit >= 0; bit--) {
				c = root((u128)c << HALF_BITS);
				table[i][1 << bit] = c;
			}
			for (int b = 1; b < 256; b++)
				table[i][b] =
					(uint64_t)((u128)table[i][b & (b - 1)] * table[i][b & -b] >>
				                   HALF_BITS);
		}
		g_once_init_leave(&once, 1);
	}
	return table;
}

uint64_t rf_zipf_weight(uint64_t rank, uint32_t alpha)
{
	const uint64_t(*p)[256] = powers();
	u128 t = (u128)log2_fixed(rank) * alpha / RF_ALPHA_ONE;
	uint32_t f = (uint32_t)t;
	uint64_t w = ONE;

	if (t >> 32 > 56)
		return 0;
	for (int i = 0; i < 4; i++)
		w = (uint64_t)((u128)w * p[i][f >> (24 - 8 * i) & 255] >> HALF_BITS);
	return w >> 7 >> (unsigned)(t >> 32);
}

gboolean rf_alias_zipf(struct rf_alias *a, uint32_t n, uint32_t alpha, const uint32_t *value)
{
	const uint64_t mean = (uint64_t)1 << 32;
	uint64_t *q = g_try_new(uint64_t, n);
	uint32_t *todo =
		g_try_new(uint32_t, n); /* small ones from the left, large ones from the right */
	uint32_t small = 0, large = n;
	u128 sum = 0;

	a->n = n;
	a->cell = g_try_new(struct rf_alias_cell, n);
	if (!q || !todo || !a->cell) {
		g_free(q);
		g_free(todo);
		rf_alias_clear(a);
		return FALSE;
	}
	for (uint32_t i = 0; i < n; i++) {
		q[i] = rf_zipf_weight((uint64_t)i + 1, alpha);
		sum += q[i];
	}
	/* mean 1 with 32 bits after the point */
	for (uint32_t i = 0; i < n; i++) {
		q[i] = (uint64_t)((((u128)q[i] * n) << 32) / sum);
		a->cell[i] = (struct rf_alias_cell){ UINT32_MAX, value[i], value[i] };
		if (q[i] < mean)
			todo[small++] = i;
		else
			todo[--large] = i;
	}
	while (small > 0 && large < n) {
		uint32_t s = todo[--small], l = todo[large];

		a->cell[s].below = (uint32_t)q[s];
		a->cell[s].other = value[l];
		q[l] -= mean - q[s];
		if (q[l] < mean) {
			large++;
			todo[small++] = l;
		}
	}
	/* what rounding left over keeps its own value */
	g_free(q);
	g_free(todo);
	return TRUE;
}

void rf_alias_clear(struct rf_alias *a)
{
	g_free(a->cell);
	a->cell = NULL;
}
