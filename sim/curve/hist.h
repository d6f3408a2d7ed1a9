/* SPDX-License-Identifier: MIT
 * Histograms of distances, and the curves of faults that they are: with N page frames, every use at a
 * distance beyond N is a fault.
 */
#ifndef RF_CURVE_HIST_H
#define RF_CURVE_HIST_H

#include <glib.h>
#include <stdint.h>

/* What a fault counts as: as the counters rf_fault_anon (shmem among them), rf_fault_file and
 * rf_fault_exec of a run say; read: of read(2) and write(2), which no counter has alone. */
enum rf_curve_class {
	RF_CURVE_ANON,
	RF_CURVE_FILE,
	RF_CURVE_EXEC,
	RF_CURVE_READ,
	RF_CURVE_NCLASSES
};
extern const char *const rf_curve_class_names[RF_CURVE_NCLASSES];

/* Uses by distance.  Four bytes a distance: what goes beyond 2^32 is kept aside. */
struct rf_hist {
	uint32_t *n; /* by distance, from 1 */
	uint32_t size;
	GHashTable *carry; /* distance: how often its count began anew; or NULL */
	uint64_t cold;     /* uses that no number of frames makes a hit */
};

void rf_hist_clear(struct rf_hist *h);
void rf_hist_grow(struct rf_hist *h, uint32_t distance);
void rf_hist_carry(struct rf_hist *h, uint32_t distance);
uint64_t rf_hist_at(const struct rf_hist *h, uint32_t distance);

/* distance 0: cold. */
static inline void rf_hist_add(struct rf_hist *h, uint32_t distance)
{
	if (G_UNLIKELY(distance == 0)) {
		h->cold++;
		return;
	}
	if (G_UNLIKELY(distance >= h->size))
		rf_hist_grow(h, distance);
	if (G_UNLIKELY(++h->n[distance] == 0))
		rf_hist_carry(h, distance);
}

/* A walk along a curve, from one frame up. */
struct rf_curve_walk {
	const struct rf_hist *hist; /* of the classes */
	uint32_t size;              /* no distance is that long */
	uint64_t frames;
	uint64_t faults[RF_CURVE_NCLASSES]; /* with these frames */
};

void rf_curve_walk_begin(struct rf_curve_walk *w, const struct rf_hist hist[RF_CURVE_NCLASSES]);
/* To the next number of frames with which there are fewer faults; FALSE: there is none. */
gboolean rf_curve_walk_next(struct rf_curve_walk *w);
/* To that many frames, no fewer than now. */
void rf_curve_walk_to(struct rf_curve_walk *w, uint64_t frames);
uint64_t rf_curve_faults(const struct rf_curve_walk *w); /* of all classes */
/* The uses of all classes at a distance beyond some frames, cold ones among them, of one class. */
uint64_t rf_hist_beyond(const struct rf_hist *h, uint64_t frames);

#endif
