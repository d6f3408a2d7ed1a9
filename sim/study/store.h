/* SPDX-License-Identifier: MIT
 * The directory of a sweep:
 *
 *	plan.job        one section a point, named "NUMBER SECTION"
 *	points/ID.json  results: `run --output-format=json' and a member "sweep" with a checksum
 *	status/ID       how it went: state, seconds, memory, exit code, message
 *	status.csv      all of them, by number
 *	results.csv     all results, by number
 *
 * Files are whole or absent.  Results carry neither time nor host: those stand in status alone.
 */
#ifndef RF_STORE_H
#define RF_STORE_H

#include "sim/report/report.h"
#include "sim/saved.h"
#include "sim/study/axes.h"

/* Make the directory and what is in it. */
gboolean rf_store_make(const char *dir, GError **error);

/* Write the plan, unless it is there already. */
gboolean rf_plan_save(const char *dir, const GPtrArray *points, GError **error);
/* An array of struct rf_point, which it owns. */
GPtrArray *rf_plan_load(const char *dir, GError **error);

/* Write a point's result. */
gboolean rf_store_write(const char *dir, const struct rf_point *p, const struct rf_report *r,
                        GError **error);
/* The result of a point, if it is there, undamaged, of this point's trace and files and of this
 * version; else NULL, and *why (may be NULL) is "missing", "damaged" or "stale".  digest: of the
 * trace, or NULL when it is not known. */
struct rf_saved *rf_store_read(const char *dir, const struct rf_point *p, const uint64_t *digest,
                               const char **why);

struct rf_point_status {
	gboolean failed;
	double seconds;    /* of processor time */
	uint64_t peak_kib; /* of the process, which may have run others at the same time */
	int code;          /* exit code */
	char *message;     /* or NULL; owned */
};

gboolean rf_store_put_status(const char *dir, const struct rf_point *p,
                             const struct rf_point_status *s, GError **error);
/* FALSE when there is none. */
gboolean rf_store_get_status(const char *dir, const struct rf_point *p, struct rf_point_status *s);
void rf_store_drop_status(const char *dir, const struct rf_point *p);

#endif
