/* SPDX-License-Identifier: MIT
 * The error of the refault distance for people: what it says against what is true, and a plot.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "base/version.h"
#include "sim/cells.h"
#include "sim/curve/distance.h"

#define MOST 40 /* buckets of a plot a side: ten octaves */

/* The ratio below which `share' thousandths of the refaults are. */
static double quantile(const struct rf_distances *d, unsigned share)
{
	uint64_t below = 0;

	for (unsigned i = 0; i < 2 * RF_DISTANCE_RATIO; i++) {
		below += d->ratio[i];
		if ((unsigned __int128)below * 1000 >= (unsigned __int128)d->refaults * share)
			return pow(2, ((int)i - RF_DISTANCE_RATIO) / 16.0);
	}
	return 0;
}

static void row(GString *out, const char *name, const struct rf_distances *d)
{
	static const unsigned shares[] = { 100, 500, 900 };

	rf_label(out, name);
	rf_count_cell(out, d->refaults);
	for (size_t i = 0; i < G_N_ELEMENTS(shares); i++) {
		g_autofree char *text = d->refaults ? g_strdup_printf("%.2f", quantile(d, shares[i])) : g_strdup("-");

		rf_cell(out, text);
	}
	g_string_append_c(out, '\n');
}

static void verdicts(GString *out, const struct rf_distances *anon, const struct rf_distances *file)
{
	static const struct {
		const char *name;
		unsigned fits, activated;
	} rows[] = {
		{ "fit, active", 1, 1 },
		{ "fit, not", 1, 0 },
		{ "far, active", 0, 1 },
		{ "far, not", 0, 0 },
	};

	rf_table_head(out, "Verdicts", (const char *const[]){ "anon", "of anon", "file", "of file", NULL });
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct rf_distances *of[] = { anon, file };

		rf_label(out, rows[i].name);
		for (size_t k = 0; k < G_N_ELEMENTS(of); k++) {
			uint64_t n = of[k]->verdict[rows[i].fits][rows[i].activated];

			rf_count_cell(out, n);
			rf_share_cell(out, n, of[k]->refaults, 1);
		}
		g_string_append_c(out, '\n');
	}
	g_string_append(out, "fit: LRU with as many frames has it; active: what the kernel made of it\n");
}

/* Density by the logarithm of the number: the darkest has the most. */
static char shade(uint64_t n, uint64_t most)
{
	static const char shades[] = ".:-=+*#%@";
	unsigned last = sizeof(shades) - 2;
	unsigned a, b;

	if (!n)
		return ' ';
	a = 64 - (unsigned)__builtin_clzll(n);
	b = 64 - (unsigned)__builtin_clzll(most);
	return shades[b > 1 ? (a - 1) * last / (b - 1) : last];
}

static void plot(GString *out, const struct rf_distances *anon, const struct rf_distances *file)
{
	unsigned low = RF_DISTANCE_BUCKETS, high = 0;
	uint64_t most = 0;

	for (unsigned x = 0; x < RF_DISTANCE_BUCKETS; x++) {
		for (unsigned y = 0; y < RF_DISTANCE_BUCKETS; y++) {
			uint64_t n = anon->n[x][y] + file->n[x][y];

			if (!n)
				continue;
			low = MIN(low, MIN(x, y));
			high = MAX(high, MAX(x, y));
			most = MAX(most, n);
		}
	}
	if (!most)
		return;
	/* The upper end matters. */
	if (high - low >= MOST)
		low = high - MOST + 1;
	g_string_append(out, "\nestimate in pages (up) by exact distance (right); / where they are the same\n");
	for (unsigned y = high + 1; y-- > low;) {
		gboolean named = y % 4 == 0 || y == high;

		if (named)
			g_string_append_printf(out, "%12" G_GUINT64_FORMAT " |", rf_distance_least(y));
		else
			g_string_append_printf(out, "%12s |", "");
		for (unsigned x = low; x <= high; x++) {
			uint64_t n = anon->n[x][y] + file->n[x][y];

			g_string_append_c(out, n || x != y ? shade(n, most) : '/');
		}
		while (out->str[out->len - 1] == ' ')
			g_string_truncate(out, out->len - 1);
		g_string_append_c(out, '\n');
	}
	g_string_append_printf(out, "%12s +", "");
	for (unsigned x = low; x <= high; x++)
		g_string_append_c(out, x % 4 ? '-' : '+');
	g_string_append_printf(out, "\n%12s  %-*" G_GUINT64_FORMAT "%" G_GUINT64_FORMAT "\n", "",
	                       (int)(high - low), rf_distance_least(low), rf_distance_least(high));
}

void rf_distance_normal(GString *out, const struct rf_distance_report *r)
{
	const struct rf_distances *anon = rf_distance_of(r->distance, FALSE);
	const struct rf_distances *file = rf_distance_of(r->distance, TRUE);
	uint64_t frames = rf_distance_frames(r->distance);
	g_autofree char *count = rf_format_count(frames), *size = rf_format_size(frames << r->page_shift);

	if (r->command)
		g_string_append(out, r->command);
	rf_label(out, "digest");
	g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x, refault %s\n", r->totals->digest, rf_version);
	if (r->forced) {
		rf_label(out, "");
		g_string_append(out, "forced: the trace lacks accesses, and distances are too short\n");
	}
	rf_label(out, "memory");
	g_string_append_printf(out, "%s frames, %s, under twolist\n", count, size);
	rf_table_head(out, "Ratio",
	              (const char *const[]){ "refaults", "10 %", "median", "90 %", NULL });
	row(out, "anon", anon);
	row(out, "file", file);
	verdicts(out, anon, file);
	plot(out, anon, file);
}
