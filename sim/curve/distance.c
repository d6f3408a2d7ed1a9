/* SPDX-License-Identifier: MIT */
#include "sim/curve/distance.h"

#include <string.h>

#include "sim/curve/curve.h"
#include "sim/frames.h"

struct rf_distance {
	struct rf_frames *machine;
	struct rf_curve *exact;
	uint64_t frames;
	struct rf_distances of[2]; /* by file */
};

/* Sixteenths of the binary logarithm of n, which is not 0: straight between powers of two. */
static int log16(uint64_t n)
{
	int octave = 63 - __builtin_clzll(n);
	uint64_t rest = octave > 4 ? n >> (octave - 4) : n << (4 - octave);

	return octave * 16 + (int)(rest & 15);
}

unsigned rf_distance_bucket(uint64_t n)
{
	unsigned octave;

	if (n < 4)
		return (unsigned)n;
	octave = 63 - (unsigned)__builtin_clzll(n);
	return octave * 4 - 4 + (unsigned)(n >> (octave - 2) & 3);
}

uint64_t rf_distance_least(unsigned bucket)
{
	return bucket < 4 ? bucket : (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

/* sizes: inactive_anon, active_anon, inactive_file, active_file. */
static void estimated(void *self, uint32_t page, gboolean file, uint64_t distance, uint64_t limit,
                      const uint64_t sizes[4])
{
	struct rf_distance *d = self;
	struct rf_distances *of = &d->of[file != 0];
	uint64_t exact = rf_curve_last(d->exact, page);
	uint64_t estimate = MAX(distance + sizes[file ? 2 : 0], 1);

	/* A page that was freed in between is no refault: the machine does not say that it is one. */
	g_assert(exact > 0);
	of->n[rf_distance_bucket(exact)][rf_distance_bucket(estimate)]++;
	of->ratio[CLAMP(RF_DISTANCE_RATIO + log16(estimate) - log16(exact), 0, 2 * RF_DISTANCE_RATIO - 1)]++;
	of->verdict[exact <= d->frames][distance <= limit]++;
	of->refaults++;
}

struct rf_distance *rf_distance_new(const struct rf_config *cfg, GError **error)
{
	const struct rf_curve_options o = { RF_CURVE_LRU, RF_CURVE_BY_NONE, cfg->page_shift, RF_CURVE_WHOLE, 1 };
	struct rf_distance *d = g_new0(struct rf_distance, 1);

	d->machine = rf_frames_new(cfg, NULL, error);
	if (!d->machine) {
		g_free(d);
		return NULL;
	}
	d->frames = cfg->frames_n;
	d->exact = rf_curve_new(&o);
	rf_curve_keep_last(d->exact);
	rf_frames_observe(d->machine, estimated, d);
	return d;
}

void rf_distance_free(struct rf_distance *d)
{
	if (!d)
		return;
	rf_frames_free(d->machine);
	rf_curve_free(d->exact);
	g_free(d);
}

/* The stack goes first: it knows the exact distance of a use when the machine has its refault.  Runs one
 * by one, because a page may occur twice in an item. */
gboolean rf_distance_item(struct rf_distance *d, const struct rf_item *item, GError **error)
{
	struct rf_item one = *item;

	if (item->kind != RF_ITEM_RUNS)
		return rf_curve_item(d->exact, item, error) && rf_frames_item(d->machine, item, error);
	one.runs.n = 1;
	for (uint32_t i = 0; i < item->runs.n; i++) {
		one.record = item->record + i;
		one.runs.page = item->runs.page + i;
		one.runs.type = item->runs.type + i;
		one.runs.count = item->runs.count + i;
		if (!rf_curve_item(d->exact, &one, error) || !rf_frames_item(d->machine, &one, error))
			return FALSE;
	}
	return TRUE;
}

const struct rf_distances *rf_distance_of(const struct rf_distance *d, gboolean file)
{
	return &d->of[file != 0];
}

uint64_t rf_distance_frames(const struct rf_distance *d)
{
	return d->frames;
}
