/* SPDX-License-Identifier: MIT
 * What is printed of a run, one file a format.  The machine formats carry no colour, no rounded
 * numbers, no host name and no wall clock: equal runs give equal bytes.
 */
#ifndef RF_REPORT_H
#define RF_REPORT_H

#include "sim/config.h"
#include "sim/result.h"
#include <glib.h>

#define RF_REPORT_SCHEMA 1 /* of JSON and CSV: changes when a name changes its meaning or goes */

/* One run. */
struct rf_report {
	const char *path, *format;    /* of the trace; path as the user gave it */
	const char *as_format, *maps; /* --format and --maps, or NULL */
	const char *const *params;    /* of --param, or NULL */
	const struct rf_header *header;
	const struct rf_config *cfg; /* resolved */
	const struct rf_result *result;
};

/* ORDER output formats: names and functions in report.c. */
enum rf_output { RF_OUT_NORMAL, RF_OUT_JSON, RF_OUT_CSV, RF_OUT_VMSTAT, RF_NOUTPUTS };

/* "normal,json": a set of bits (1 << enum rf_output), never empty. */
gboolean rf_output_parse(const char *list, unsigned *set, GError **error);
/* Append one run; first and last among the runs of the document. */
void rf_report_append(GString *out, enum rf_output format, const struct rf_report *r,
                      gboolean first, gboolean last);

void rf_report_normal(GString *out, const struct rf_report *r);
void rf_report_blocks(GString *out,
                      const struct rf_report *r); /* its part on the modelled machine */
void rf_report_json(GString *out, const struct rf_report *r);
void rf_report_csv(GString *out, const struct rf_report *r, gboolean heading);
void rf_report_vmstat(GString *out, const struct rf_report *r);
void rf_csv_heading(GString *out); /* its first line */
/* All samples of the run's timeline, one line each; path is the first column. */
void rf_report_timeline(GString *out, const struct rf_report *r, gboolean heading);

/* Append a field of CSV, quoted where it must be. */
void rf_csv_field(GString *out, const char *text);
/* The name and the value of what the kernel's vmstat says of a gauge, or NULL: it has no such line.
 */
const char *rf_vmstat_name(const struct rf_metric *m);

#endif
