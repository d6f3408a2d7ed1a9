/* SPDX-License-Identifier: MIT
 * From histograms of distances to points of a curve.  A sample of rate R has R of the pages: a distance
 * d there, d - 1 other pages, stands for one of 1 + (d - 1) / R; below 1 / R frames it knows nothing.
 * Faults are the sample's times 1 / R; of uses that the sample has too few or too many of, because a hot
 * page is not in it or is, all are taken for hits (SHARDS-adj).
 * Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC construction with SHARDS", FAST 2015.
 */
#include "sim/curve/report.h"

#include "base/isqrt.h"

/* Frames for which the sample's frames stand. */
static uint64_t from_sample(uint64_t frames, uint32_t rate)
{
	return 1 + rf_curve_scale(frames - 1, rate);
}

/* The other way, rounded down. */
static uint64_t to_sample(uint64_t frames, uint32_t rate)
{
	return 1 + (uint64_t)((unsigned __int128)(frames - 1) * rate / RF_CURVE_WHOLE);
}

/* The sample's sixteen parts are samples themselves: how far they lie apart says how far all of them
 * lie from the truth.  Of the whole trace's faults. */
static uint64_t standard_error(const uint64_t part[RF_CURVE_SUBSAMPLES], uint32_t rate)
{
	const unsigned n = RF_CURVE_SUBSAMPLES;
	unsigned __int128 squares = 0;
	uint64_t total = 0;

	for (unsigned i = 0; i < n; i++)
		total += part[i];
	for (unsigned i = 0; i < n; i++) {
		__int128 d = (__int128)n * part[i] - total;

		squares += (unsigned __int128)(d * d);
	}
	squares /= n * (n - 1);
	return rf_curve_scale(rf_isqrt((uint64_t)MIN(squares, UINT64_MAX)), rate);
}

struct walk {
	struct rf_curve_walk all;
	struct rf_curve_walk part[RF_CURVE_SUBSAMPLES]; /* each with one class only */
	struct rf_hist own[RF_CURVE_SUBSAMPLES][RF_CURVE_NCLASSES];
	uint32_t rate;
};

static struct walk *walk_begin(const struct rf_curve_group *g, uint32_t rate)
{
	struct walk *w = g_new0(struct walk, 1);

	w->rate = rate;
	rf_curve_walk_begin(&w->all, g->hist);
	for (unsigned i = 0; rate != RF_CURVE_WHOLE && i < RF_CURVE_SUBSAMPLES; i++) {
		w->own[i][0] = g->part[i];
		rf_curve_walk_begin(&w->part[i], w->own[i]);
	}
	return w;
}

/* The point where the walk stands. */
static void add_point(struct walk *w, uint64_t frames, GArray *to)
{
	struct rf_curve_point p = { .frames = frames };

	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++) {
		p.of[k] = rf_curve_scale(w->all.faults[k], w->rate);
		p.faults += p.of[k];
	}
	if (w->rate != RF_CURVE_WHOLE) {
		uint64_t part[RF_CURVE_SUBSAMPLES];

		for (unsigned i = 0; i < RF_CURVE_SUBSAMPLES; i++) {
			rf_curve_walk_to(&w->part[i], w->all.frames);
			part[i] = rf_curve_faults(&w->part[i]);
		}
		p.error = standard_error(part, w->rate);
	}
	g_array_append_val(to, p);
}

/* Every size where the faults change: how many, or the points themselves. */
static void all_points(const struct rf_curve_group *g, uint32_t rate, GArray *to)
{
	struct walk *w = walk_begin(g, rate);

	/* One page of a sample says nothing of what is between one frame and the next. */
	if (rate == RF_CURVE_WHOLE)
		add_point(w, 1, to);
	while (rf_curve_walk_next(&w->all))
		add_point(w, from_sample(w->all.frames, rate), to);
	/* Nothing but cold faults, or one page. */
	if (to->len == 0)
		add_point(w, from_sample(2, rate), to);
	g_free(w);
}

static uint64_t last_frames(const struct rf_curve_group *g)
{
	struct rf_curve_walk w;
	uint64_t last = 1;

	rf_curve_walk_begin(&w, g->hist);
	while (rf_curve_walk_next(&w))
		last = w.frames;
	return last;
}

static void points_at(const struct rf_curve_group *g, uint32_t rate, const GArray *frames, GArray *to)
{
	struct walk *w = walk_begin(g, rate);

	for (guint i = 0; i < frames->len; i++) {
		uint64_t f = g_array_index(frames, uint32_t, i);

		rf_curve_walk_to(&w->all, to_sample(f, rate));
		add_point(w, f, to);
	}
	g_free(w);
}

/* Up to `most' sizes: the whole powers of 2^(1/k) for the largest k that keeps within it. */
static GArray *spaced(uint64_t first, uint64_t last, guint most)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	unsigned octaves = 1, parts;

	while (first << octaves < last)
		octaves++;
	parts = MAX((most - 2) / octaves, 1);
	for (unsigned o = 0; o <= octaves; o++) {
		for (unsigned k = 0; k < parts; k++) {
			uint64_t f = (first << o) + (first << o) * k / parts;
			uint32_t f32 = (uint32_t)MIN(f, last);

			if (frames->len == 0 ||
			    g_array_index(frames, uint32_t, frames->len - 1) < f32)
				g_array_append_val(frames, f32);
		}
	}
	return frames;
}

GArray *rf_curve_points(const struct rf_curve_report *r, const struct rf_curve_group *g, guint most)
{
	GArray *points = g_array_new(FALSE, FALSE, sizeof(struct rf_curve_point));

	if (r->frames) {
		points_at(g, r->rate, r->frames, points);
	} else if (most) {
		uint64_t last = from_sample(last_frames(g), r->rate);
		uint64_t first = r->rate == RF_CURVE_WHOLE ? 1 : from_sample(2, r->rate);
		g_autoptr(GArray) frames = spaced(first, MAX(first, last), most);

		points_at(g, r->rate, frames, points);
	} else {
		all_points(g, r->rate, points);
	}
	return points;
}
