/* SPDX-License-Identifier: MIT */
#include "sim/curve/hist.h"

#include <string.h>

const char *const rf_curve_class_names[RF_CURVE_NCLASSES] = { "anon", "file", "exec", "read" };

void rf_hist_clear(struct rf_hist *h)
{
	g_free(h->n);
	g_clear_pointer(&h->carry, g_hash_table_destroy);
	memset(h, 0, sizeof(*h));
}

void rf_hist_grow(struct rf_hist *h, uint32_t distance)
{
	uint32_t size = (uint32_t)MIN((uint64_t)distance + distance / 8 + 1024, UINT32_MAX);

	h->n = g_renew(uint32_t, h->n, size);
	memset(h->n + h->size, 0, (size - h->size) * sizeof(*h->n));
	h->size = size;
}

void rf_hist_carry(struct rf_hist *h, uint32_t distance)
{
	gpointer key = GUINT_TO_POINTER(distance);

	if (!h->carry)
		h->carry = g_hash_table_new(NULL, NULL);
	g_hash_table_insert(h->carry, key,
	                    GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(h->carry, key)) + 1));
}

uint64_t rf_hist_at(const struct rf_hist *h, uint32_t distance)
{
	uint64_t n;

	if (distance >= h->size)
		return 0;
	n = h->n[distance];
	if (h->carry)
		n += (uint64_t)GPOINTER_TO_UINT(g_hash_table_lookup(h->carry, GUINT_TO_POINTER(distance))) << 32;
	return n;
}

/* ---- curves ---- */

uint64_t rf_hist_beyond(const struct rf_hist *h, uint64_t frames)
{
	uint64_t n = h->cold;

	for (uint64_t d = frames + 1; d < h->size; d++)
		n += rf_hist_at(h, (uint32_t)d);
	return n;
}

void rf_curve_walk_begin(struct rf_curve_walk *w, const struct rf_hist hist[RF_CURVE_NCLASSES])
{
	*w = (struct rf_curve_walk){ .hist = hist, .frames = 1 };
	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++) {
		w->faults[k] = rf_hist_beyond(&hist[k], 1);
		w->size = MAX(w->size, hist[k].size);
	}
}

/* One frame more; FALSE when that made no difference. */
static gboolean step(struct rf_curve_walk *w)
{
	gboolean fewer = FALSE;

	w->frames++;
	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++) {
		uint64_t n = rf_hist_at(&w->hist[k], (uint32_t)w->frames);

		w->faults[k] -= n;
		fewer |= n > 0;
	}
	return fewer;
}

gboolean rf_curve_walk_next(struct rf_curve_walk *w)
{
	while (w->frames + 1 < w->size) {
		if (step(w))
			return TRUE;
	}
	return FALSE;
}

void rf_curve_walk_to(struct rf_curve_walk *w, uint64_t frames)
{
	while (w->frames < frames && w->frames + 1 < w->size)
		step(w);
	w->frames = MAX(w->frames, frames);
}

uint64_t rf_curve_faults(const struct rf_curve_walk *w)
{
	uint64_t n = 0;

	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++)
		n += w->faults[k];
	return n;
}
