/* SPDX-License-Identifier: MIT
 * Runs for a comparison: option sets over traces, each trace decoded once.
 */
#ifndef RF_COMPARE_RUNS_H
#define RF_COMPARE_RUNS_H

#include "sim/compare/compare.h"
#include "sim/config.h"
#include "sim/progress.h"

/* One run: a trace under a configuration. */
struct rf_run {
	const char *trace, *format, *maps; /* format, maps: as --format and --maps, or NULL */
	char **params;                     /* of a scenario, as --param, or NULL; the caller's */
	struct rf_config *cfg;             /* checked (rf_preflight); not resolved */
	struct rf_saved *result;           /* set by rf_runs_do; the caller's */
	char *json;                        /* the same, as the report has it; the caller's */
};

/* Set a configuration from words of a command line: "--reclaim mglru --limit 25% --set x=y". */
gboolean rf_config_words(struct rf_config *cfg, const char *option, const char *words, GError **error);
/* The configuration of a saved run. */
gboolean rf_config_saved(struct rf_config *cfg, const struct rf_saved *s, GError **error);

/* Do them all; those that share a trace (and how it is read) go from one reading.  They need not be
 * sorted. */
gboolean rf_runs_do(struct rf_run *runs, guint n, gboolean quiet, GError **error);
/* The same document as `refault run --output-format=json' of the runs' results, in order. */
char *rf_runs_document(const struct rf_run *runs, guint n);

#endif
