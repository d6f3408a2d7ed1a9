/* SPDX-License-Identifier: MIT
 * The files of a sweep's points, put together.
 */
#ifndef RF_COLLATE_H
#define RF_COLLATE_H

#include "sim/study/sweep.h"

/* ORDER names in collate.c. */
enum rf_point_state { RF_POINT_DONE, RF_POINT_FAILED, RF_POINT_MISSING, RF_POINT_STALE,
	              RF_POINT_DAMAGED, RF_NPOINT_STATES };

struct rf_collation {
	guint count[RF_NPOINT_STATES];
	GArray *state;     /* enum rf_point_state, one a point */
	GPtrArray *message; /* char * of the failed ones, NULL of others; one a point */
	int code;          /* exit code: the largest of a failed point's; 1 when others are missing */
};

/* Look at every point's files and write DIR/status.csv and DIR/results.csv: rows in the order of the
 * points, whatever the order they were computed in.  outcome: what a sweep has just learnt of its
 * distinct points, or NULL; it counts more than the files.  out is filled also when a file can't be
 * written. */
gboolean rf_collate(const char *dir, const GPtrArray *points, const GPtrArray *distinct,
                    const struct rf_outcome *outcome, struct rf_collation *out, GError **error);
void rf_collation_clear(struct rf_collation *c);

#endif
