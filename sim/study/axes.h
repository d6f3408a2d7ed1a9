/* SPDX-License-Identifier: MIT
 * Lists and ranges of values, and the points that they span.
 *
 *	lru,2q,in=25,arc     three values: "in=25" is no policy but an option of the one before
 *	10%..90%/9           nine values, evenly spaced, both ends among them
 *	1M..64M*4            each four times the one before
 *	1..5                 whole numbers
 *
 * Both ends of a range are of one unit.  Values between are whole in its smallest part: bytes,
 * nanoseconds, pages, a ten-thousandth of a percent.
 */
#ifndef RF_AXES_H
#define RF_AXES_H

#include "sim/config.h"
#include "sim/study/job.h"

#define RF_MOST_VALUES 100000   /* of one list */
#define RF_MOST_POINTS 1000000  /* of one study */

/* One run: a trace and a configuration.  Settings are canonical, in the order of their first
 * mention; two points are the same run when their ids are equal. */
struct rf_point {
	char *section, *trace;
	char *format, *maps; /* or NULL */
	char *params;        /* of a scenario: words as a shell has them; or NULL */
	GArray *settings;    /* struct rf_setting */
	char id[17];         /* 16 hexadecimal digits, of trace and settings */
};

/* The values that a setting's text stands for, canonical, none twice; an array of char *.  NULL on
 * error, which begins with the setting's where. */
GPtrArray *rf_axis_values(const struct rf_setting *s, GError **error);

/* The points of all sections, in order: of each, traces slowest, then its lists in order of their
 * mention, the last one fastest.  An array of struct rf_point, which it owns. */
GPtrArray *rf_points_new(const GPtrArray *sections, GError **error);
void rf_point_free(struct rf_point *p);
/* "sqlite3.rft reclaim=lru limit=10%", for people.  Caller frees. */
char *rf_point_title(const struct rf_point *p);
/* Its parameters one by one, or NULL.  Caller frees. */
char **rf_point_params(const struct rf_point *p);
/* The point's configuration, not yet resolved; c must not be initialised.  After an error there is
 * nothing to clear. */
gboolean rf_point_config(const struct rf_point *p, struct rf_config *c, GError **error);

#endif
