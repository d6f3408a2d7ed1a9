/* SPDX-License-Identifier: MIT
 * Means, changes, and what can be said of many of them.  Equal runs of a deterministic simulator give equal
 * figures: the spread there is, is over seeds and traces.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/compare/compare.h"

/* Student's t, two-sided 95 %, by degrees of freedom from 1. */
static double t95(guint freedom)
{
	static const double t[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		                    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		                    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042 };

	return freedom <= G_N_ELEMENTS(t) ? t[freedom - 1] : 1.96 + 2.5 / freedom;
}

struct rf_figure rf_compare_figure(const struct rf_row *row, guint side, const struct rf_metric *m)
{
	const GPtrArray *of = row->of[side];
	struct rf_figure f = { .n = of->len, .min = UINT64_MAX };
	double squares = 0;

	for (guint i = 0; i < of->len; i++) {
		uint64_t v;

		rf_saved_value(of->pdata[i], m, &v);
		f.sum += v;
		f.min = MIN(f.min, v);
		f.max = MAX(f.max, v);
	}
	f.mean = (double)f.sum / f.n;
	if (f.n < 2 || f.min == f.max)
		return f;
	for (guint i = 0; i < of->len; i++) {
		uint64_t v;

		rf_saved_value(of->pdata[i], m, &v);
		squares += ((double)v - f.mean) * ((double)v - f.mean);
	}
	f.half = t95(f.n - 1) * sqrt(squares / (f.n - 1) / f.n);
	return f;
}

static double gain_of(double percent, const struct rf_metric *m)
{
	return m->better == '-' ? -percent : percent;
}

struct rf_change rf_compare_change(const struct rf_figure *a, const struct rf_figure *b,
                                   const struct rf_metric *m)
{
	struct rf_change c = { .kind = RF_CHANGE_PERCENT };

	/* Without any spread a difference is a fact, not a finding: no mark. */
	c.sure = a->half + b->half > 0 && fabs(a->mean - b->mean) > a->half + b->half;
	if (a->sum == 0) {
		c.kind = b->sum ? RF_CHANGE_NEW : RF_CHANGE_NONE;
		return c;
	}
	c.percent = (b->mean - a->mean) * 100 / a->mean;
	c.gain = gain_of(c.percent, m);
	return c;
}

/* ---- the signed-rank test ---- */

struct pair {
	uint64_t low, high; /* of the ratio high/low, at least 1 */
	gboolean up;
};

static int by_ratio(const void *p, const void *q)
{
	const struct pair *a = p, *b = q;
	unsigned __int128 x, y;

	/* Something against nothing is larger than any ratio. */
	if (!a->low || !b->low)
		return !a->low - !b->low;
	x = (unsigned __int128)a->high * b->low;
	y = (unsigned __int128)b->high * a->low;
	return x < y ? -1 : x > y;
}

double rf_signed_rank(const uint64_t *a, const uint64_t *b, guint n)
{
	g_autofree struct pair *pair = g_new(struct pair, n + 1);
	g_autofree guint *rank = g_new(guint, n + 1); /* twice the rank: ties share whole numbers */
	g_autofree double *chance = NULL;
	guint m = 0, sum = 0, up = 0;
	double low = 0, high = 0;

	for (guint i = 0; i < n; i++) {
		if (a[i] != b[i])
			pair[m++] = (struct pair){ MIN(a[i], b[i]), MAX(a[i], b[i]), b[i] > a[i] };
	}
	if (m == 0)
		return 1;
	qsort(pair, m, sizeof(*pair), by_ratio);
	for (guint i = 0, j; i < m; i = j) {
		for (j = i + 1; j < m && by_ratio(&pair[i], &pair[j]) == 0;)
			j++;
		for (guint k = i; k < j; k++)
			rank[k] = i + 1 + j;
	}
	for (guint i = 0; i < m; i++) {
		sum += rank[i];
		up += pair[i].up ? rank[i] : 0;
	}
	/* Each rank goes up or down with equal chance: that of every sum. */
	chance = g_new0(double, sum + 1);
	chance[0] = 1;
	for (guint i = 0, reached = 0; i < m; i++) {
		reached += rank[i];
		for (guint s = reached + 1; s-- > 0;)
			chance[s] = (chance[s] + (s >= rank[i] ? chance[s - rank[i]] : 0)) / 2;
	}
	for (guint s = 0; s <= sum; s++) {
		low += s <= up ? chance[s] : 0;
		high += s >= up ? chance[s] : 0;
	}
	return MIN(1, 2 * MIN(low, high));
}

struct rf_overall rf_compare_overall(const struct rf_compare *c, guint side, const struct rf_metric *m)
{
	g_autofree uint64_t *a = g_new(uint64_t, c->rows->len + 1);
	g_autofree uint64_t *b = g_new(uint64_t, c->rows->len + 1);
	struct rf_overall o = { 0 };
	double logs = 0;

	for (guint i = 0; i < c->rows->len; i++) {
		/* Each row has as many seeds on one side as on the other: sums will do. */
		a[i] = rf_compare_figure(c->rows->pdata[i], 0, m).sum;
		b[i] = rf_compare_figure(c->rows->pdata[i], side, m).sum;
		if (a[i] && b[i]) {
			logs += log((double)b[i] / (double)a[i]);
			o.n++;
		} else if (a[i] || b[i]) {
			o.left_out++;
		}
	}
	o.p = rf_signed_rank(a, b, c->rows->len);
	if (o.n) {
		o.percent = (exp(logs / o.n) - 1) * 100;
		o.gain = gain_of(o.percent, m);
	}
	return o;
}
