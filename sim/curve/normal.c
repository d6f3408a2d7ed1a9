/* SPDX-License-Identifier: MIT
 * Curves for people: a table and a plot in text, at most 79 columns.
 */
#include <string.h>

#include "base/units.h"
#include "base/version.h"
#include "sim/cells.h"
#include "sim/curve/report.h"

#define ROWS 18        /* of the table: about one an octave */
#define PLOT_ROWS 15
#define PLOT_COLUMNS 60
#define PLOT_LEFT 12   /* columns of the axis's labels */

static const char letter[RF_CURVE_NALGORITHMS] = { '*', 'o' };

/* ---- what was done ---- */

static void head(GString *out, const struct rf_curve_report *r)
{
	const struct rf_totals *t = r->totals;
	g_autofree char *accesses = rf_format_count(t->accesses[RF_READ] + t->accesses[RF_WRITE] +
	                                            t->accesses[RF_EXEC]);
	g_autofree char *page = rf_format_size(UINT64_C(1) << r->page_shift);

	if (r->command)
		g_string_append(out, r->command);
	rf_label(out, "trace");
	g_string_append_printf(out, "%s accesses, %s", accesses, r->format);
	if (t->lost) {
		g_autofree char *lost = rf_format_count(t->lost);

		g_string_append_printf(out, ", %s events LOST", lost);
	}
	g_string_append_c(out, '\n');
	if (r->forced) {
		rf_label(out, "");
		g_string_append(out, "forced: the trace lacks accesses, and distances are too short\n");
	}
	rf_label(out, "digest");
	g_string_append_printf(out, "%016" G_GINT64_MODIFIER "x, refault %s\n", t->digest, rf_version);
	rf_label(out, "frames");
	g_string_append_printf(out, "of %s", page);
	if (r->rate != RF_CURVE_WHOLE) {
		g_string_append_printf(out, "; sample of %u.%04u %% of the pages, +-: standard error",
		                       r->rate / 10000, r->rate % 10000);
	}
	g_string_append_c(out, '\n');
}

/* ---- the table ---- */

static void size_cell(GString *out, uint64_t frames, unsigned page_shift)
{
	g_autofree char *count = rf_format_count(frames), *size = rf_format_size(frames << page_shift);

	/* The label's columns. */
	g_string_append_printf(out, "%*s", RF_LABEL - 1, count);
	rf_cell(out, size);
}

/* Thousandths of a fault in 1,000 accesses. */
static void rate_cell(GString *out, uint64_t faults, uint64_t accesses)
{
	uint64_t n;
	g_autofree char *text = NULL;

	if (!accesses) {
		rf_cell(out, "-");
		return;
	}
	n = (uint64_t)(((unsigned __int128)faults * 1000000 + accesses / 2) / accesses);
	text = g_strdup_printf("%" G_GUINT64_FORMAT ".%03u", n / 1000, (unsigned)(n % 1000));
	rf_cell(out, text);
}

static void table(GString *out, const struct rf_curve_report *r, enum rf_curve_algorithm a,
                  const struct rf_curve_group *g, const GArray *points)
{
	static const char *const exact[] = { "size", "faults", "of 1,000", "anon", "exec", NULL };
	static const char *const sampled[] = { "size", "faults", "+-", "of 1,000", NULL };
	g_autofree char *pages = rf_format_count(rf_curve_scale(g->pages, r->rate));
	uint64_t accesses = rf_curve_scale(g->accesses, r->rate);
	gboolean sample = r->rate != RF_CURVE_WHOLE;

	g_string_append_c(out, '\n');
	g_string_append_printf(out, "%s, ", a == RF_CURVE_LRU ? "LRU" : "OPT");
	rf_foreign_label(out, g->name);
	g_string_append_printf(out, "%s%s pages\n", sample ? "about " : "", pages);
	g_string_append_printf(out, "%*s", RF_LABEL - 1, "frames");
	for (const char *const *c = sample ? sampled : exact; *c; c++)
		rf_cell(out, *c);
	g_string_append_c(out, '\n');
	for (guint i = 0; i < points->len; i++) {
		const struct rf_curve_point *p = &g_array_index(points, struct rf_curve_point, i);

		size_cell(out, p->frames, r->page_shift);
		rf_count_cell(out, p->faults);
		if (sample)
			rf_count_cell(out, p->error);
		rate_cell(out, p->faults, accesses);
		if (!sample) {
			rf_count_cell(out, p->of[RF_CURVE_ANON]);
			rf_count_cell(out, p->of[RF_CURVE_EXEC]);
		}
		g_string_append_c(out, '\n');
	}
}

/* ---- the plot ---- */

/* Sixteenths of the binary logarithm of n, which is not 0: straight between powers of two. */
static unsigned log16(uint64_t n)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(n);
	uint64_t rest = octave > 4 ? n >> (octave - 4) : n << (4 - octave);

	return octave * 16 + (unsigned)(rest & 15);
}

struct plot {
	char cell[PLOT_ROWS][PLOT_COLUMNS];
	uint64_t least, most;  /* faults */
	uint64_t first, last; /* frames */
};

static unsigned scale(uint64_t n, uint64_t low, uint64_t high, unsigned steps)
{
	unsigned l = log16(low), h = log16(high);

	n = CLAMP(n, low, high);
	return h > l ? (log16(n) - l) * (steps - 1) / (h - l) : 0;
}

static void bounds(struct plot *p, const GArray *points)
{
	for (guint i = 0; i < points->len; i++) {
		const struct rf_curve_point *q = &g_array_index(points, struct rf_curve_point, i);

		p->least = MIN(p->least, MAX(q->faults, 1));
		p->most = MAX(p->most, MAX(q->faults, 1));
		p->first = MIN(p->first, q->frames);
		p->last = MAX(p->last, q->frames);
	}
}

/* A curve is a staircase: its value holds until the next size. */
static void draw(struct plot *p, const GArray *points, char mark)
{
	for (guint i = 0; i < points->len; i++) {
		const struct rf_curve_point *q = &g_array_index(points, struct rf_curve_point, i);
		unsigned from = scale(q->frames, p->first, p->last, PLOT_COLUMNS), to = from + 1;
		unsigned row = scale(MAX(q->faults, 1), p->least, p->most, PLOT_ROWS);

		if (i + 1 < points->len)
			to = MAX(to, scale(q[1].frames, p->first, p->last, PLOT_COLUMNS));
		for (unsigned x = from; x < to && x < PLOT_COLUMNS; x++) {
			char *cell = &p->cell[row][x];

			*cell = *cell == ' ' || *cell == mark ? mark : '#';
		}
	}
}

static void print(GString *out, const struct plot *p, const struct rf_curve_report *r, gboolean both)
{
	g_autofree char *least = rf_format_count(p->least), *most = rf_format_count(p->most);
	g_autofree char *first = rf_format_size(p->first << r->page_shift);
	g_autofree char *last = rf_format_size(p->last << r->page_shift);

	g_string_append(out, "\nfaults, by size of memory; both axes logarithmic");
	if (both)
		g_string_append(out, "; * LRU, o OPT, # both");
	g_string_append_c(out, '\n');
	for (unsigned y = PLOT_ROWS; y-- > 0;) {
		const char *label = y == PLOT_ROWS - 1 ? most : y == 0 ? least : "";
		int width = PLOT_COLUMNS;

		while (width > 0 && p->cell[y][width - 1] == ' ')
			width--;
		g_string_append_printf(out, "%*s |%.*s\n", PLOT_LEFT, label, width, p->cell[y]);
	}
	g_string_append_printf(out, "%*s +", PLOT_LEFT, "");
	for (unsigned x = 0; x < PLOT_COLUMNS; x++)
		g_string_append_c(out, '-');
	g_string_append_printf(out, "\n%*s  %s%*s\n", PLOT_LEFT, "", first,
	                       PLOT_COLUMNS - (int)strlen(first), last);
}

static void plot(GString *out, const struct rf_curve_report *r, guint group)
{
	GArray *points[RF_CURVE_NALGORITHMS] = { NULL };
	struct plot p = { .least = UINT64_MAX, .first = UINT64_MAX };
	unsigned n = 0;

	memset(p.cell, ' ', sizeof(p.cell));
	for (unsigned a = 0; a < RF_CURVE_NALGORITHMS; a++) {
		if (!r->curve[a])
			continue;
		points[a] = rf_curve_points(r, rf_curve_group(r->curve[a], group), 4 * PLOT_COLUMNS);
		bounds(&p, points[a]);
		n++;
	}
	for (unsigned a = 0; a < RF_CURVE_NALGORITHMS; a++) {
		if (!points[a])
			continue;
		draw(&p, points[a], letter[a]);
		g_array_unref(points[a]);
	}
	print(out, &p, r, n > 1);
}

void rf_curve_report_normal(GString *out, const struct rf_curve_report *r)
{
	const struct rf_curve *any = r->curve[RF_CURVE_LRU] ? r->curve[RF_CURVE_LRU]
	                                                    : r->curve[RF_CURVE_OPT];

	head(out, r);
	for (guint i = 0; i < rf_curve_ngroups(any); i++) {
		for (unsigned a = 0; a < RF_CURVE_NALGORITHMS; a++) {
			const struct rf_curve_group *g;
			g_autoptr(GArray) points = NULL;

			if (!r->curve[a])
				continue;
			g = rf_curve_group(r->curve[a], i);
			points = rf_curve_points(r, g, ROWS);
			table(out, r, a, g, points);
		}
		plot(out, r, i);
	}
}
