/* SPDX-License-Identifier: MIT
 * mmtests' block of reclaim's counters, in its order: sums over all rows (means of their seeds).
 */
#include "sim/compare/compare.h"

enum { FAULTS, MAJOR, SWAP_IN, SWAP_OUT, STALLS, SCAN_DIRECT, SCAN_KSWAPD, STEAL_KSWAPD, STEAL_DIRECT, WRITES,
       IMMEDIATE, KIB_IN, KIB_OUT, TIME, NSUMS };

struct sums {
	double n[NSUMS];
};

/* The kernel does not count the reclaim of a cgroup at its limit for the whole machine; its cgroups do. */
static uint64_t anywhere(const struct rf_saved *s, enum rf_counter c)
{
	uint64_t n = s->result.counter[c];

	for (guint i = 0; i < s->result.cgroups->len; i++)
		n = MAX(n, g_array_index(s->result.cgroups, struct rf_cgroup_result, i).counter[c]);
	return n;
}

static void add(struct sums *sums, const struct rf_saved *s, guint seeds)
{
	const uint64_t *c = s->result.counter;
	const uint64_t n[NSUMS] = {
		[FAULTS] = c[RF_C_pgfault] - MIN(c[RF_C_pgmajfault], c[RF_C_pgfault]),
		[MAJOR] = c[RF_C_pgmajfault],
		[SWAP_IN] = c[RF_C_pswpin],
		[SWAP_OUT] = c[RF_C_pswpout],
		[STALLS] = c[RF_C_allocstall],
		[SCAN_DIRECT] = anywhere(s, RF_C_pgscan_direct),
		[SCAN_KSWAPD] = anywhere(s, RF_C_pgscan_kswapd),
		[STEAL_KSWAPD] = anywhere(s, RF_C_pgsteal_kswapd),
		[STEAL_DIRECT] = anywhere(s, RF_C_pgsteal_direct),
		[WRITES] = c[RF_C_nr_vmscan_write],
		[IMMEDIATE] = c[RF_C_nr_vmscan_immediate_reclaim],
		[KIB_IN] = c[RF_C_pgpgin],
		[KIB_OUT] = c[RF_C_pgpgout],
		[TIME] = s->result.gauge[RF_G_rf_time],
	};

	for (unsigned i = 0; i < NSUMS; i++)
		sums->n[i] += (double)n[i] / seeds;
}

static struct sums sums_of(const struct rf_compare *c, guint side)
{
	struct sums sums = { { 0 } };

	for (guint i = 0; i < c->rows->len; i++) {
		const GPtrArray *of = ((const struct rf_row *)c->rows->pdata[i])->of[side];

		for (guint k = 0; k < of->len; k++)
			add(&sums, of->pdata[k], of->len);
	}
	return sums;
}

/* Percent of what was scanned; all of nothing. */
static double efficiency(double reclaimed, double scanned)
{
	return scanned > 0 ? reclaimed * 100 / scanned : 100;
}

static double velocity(double scanned, double ns)
{
	return ns > 0 ? scanned * 1e9 / ns : 0;
}

enum { NROWS = 20 };

static void rows_of(const struct sums *s, double out[NROWS])
{
	const double *n = s->n;
	double scanned = n[SCAN_DIRECT] + n[SCAN_KSWAPD];
	/* Swap is the anonymous part. */
	double anon = n[SWAP_OUT] < n[WRITES] ? n[SWAP_OUT] : n[WRITES];
	const double rows[NROWS] = {
		n[FAULTS], n[MAJOR], n[SWAP_IN], n[SWAP_OUT], n[STALLS], n[SCAN_DIRECT], n[SCAN_KSWAPD],
		n[STEAL_KSWAPD], n[STEAL_DIRECT],
		efficiency(n[STEAL_KSWAPD], n[SCAN_KSWAPD]), velocity(n[SCAN_KSWAPD], n[TIME]),
		efficiency(n[STEAL_DIRECT], n[SCAN_DIRECT]), velocity(n[SCAN_DIRECT], n[TIME]),
		scanned > 0 ? n[SCAN_DIRECT] * 100 / scanned : 0,
		n[WRITES], n[WRITES] - anon, anon, n[IMMEDIATE], n[KIB_IN] * 2, n[KIB_OUT] * 2,
	};

	for (unsigned i = 0; i < NROWS; i++)
		out[i] = rows[i];
}

/* In 12 columns. */
static char *value_text(double v, unsigned decimals)
{
	return v >= 1e12 ? g_strdup_printf("%.5g", v)
	                 : g_strdup_printf("%.*f", v >= 1e9 ? 0 : (int)decimals, v);
}

void rf_compare_kswapd(GString *out, const struct rf_compare *c, guint side)
{
	static const struct {
		const char *name;
		char better;
		unsigned decimals;
	} row[NROWS] = {
		{ "Minor Faults", '-', 0 },
		{ "Major Faults", '-', 0 },
		{ "Swap Ins", '-', 0 },
		{ "Swap Outs", '-', 0 },
		{ "Allocation stalls", '-', 0 },
		{ "Direct pages scanned", '-', 0 },
		{ "Kswapd pages scanned", '-', 0 },
		{ "Kswapd pages reclaimed", '0', 0 },
		{ "Direct pages reclaimed", '0', 0 },
		{ "Kswapd efficiency %", '+', 2 },
		{ "Kswapd velocity", '-', 2 },
		{ "Direct efficiency %", '+', 2 },
		{ "Direct velocity", '-', 2 },
		{ "Percentage direct scans", '-', 2 },
		{ "Page writes by reclaim", '-', 0 },
		{ "Page writes file", '-', 0 },
		{ "Page writes anon", '-', 0 },
		{ "Page reclaim immediate", '0', 0 },
		{ "Sector Reads", '-', 0 },
		{ "Sector Writes", '-', 0 },
	};
	struct sums a = sums_of(c, 0), b = sums_of(c, side);
	double va[NROWS], vb[NROWS];

	rows_of(&a, va);
	rows_of(&b, vb);
	for (unsigned i = 0; i < NROWS; i++) {
		struct rf_change base = { .kind = va[i] > 0 ? RF_CHANGE_PERCENT : RF_CHANGE_NONE };
		struct rf_change change = base;
		g_autofree char *ta = value_text(va[i], row[i].decimals);
		g_autofree char *tb = value_text(vb[i], row[i].decimals);

		if (va[i] > 0) {
			change.percent = (vb[i] - va[i]) * 100 / va[i];
			change.gain = row[i].better == '-' ? -change.percent : change.percent;
		} else if (vb[i] > 0) {
			change.kind = RF_CHANGE_NEW;
		}
		g_string_append_printf(out, "%-*s", RF_COMPARE_LABEL, row[i].name);
		rf_compare_cells(out, ta, &base, row[i].better);
		rf_compare_cells(out, tb, &change, row[i].better);
		g_string_truncate(out, out->len - 1);
		g_string_append_c(out, '\n');
	}
	g_string_append_printf(out, "%-*s%12s%24s\n%-*s%12s%24s\n", RF_COMPARE_LABEL, "Slabs scanned", "-", "-",
	                       RF_COMPARE_LABEL, "THP fault alloc", "-", "-");
}
