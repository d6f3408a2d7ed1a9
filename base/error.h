/* SPDX-License-Identifier: MIT
 * Error domains.  One per subsystem; the exit code follows from the domain and code.
 * A message says where (file, line or record, offset), what, and what was expected.
 */
#ifndef RF_ERROR_H
#define RF_ERROR_H

#include <glib.h>

/* Exit codes of every command. */
enum rf_exit {
	RF_EXIT_OK = 0,          /* success */
	RF_EXIT_NEGATIVE = 1,    /* the answer is negative: a regression, an invalid trace */
	RF_EXIT_USAGE = 2,       /* usage or configuration */
	RF_EXIT_DATA = 3,        /* input data */
	RF_EXIT_ENVIRONMENT = 4, /* disk full, cannot fork, no such file, plug-in missing */
	RF_EXIT_INTERRUPTED = 130,
};

#define RF_USAGE_ERROR (rf_usage_error_quark())
#define RF_DATA_ERROR (rf_data_error_quark())
#define RF_ENV_ERROR (rf_env_error_quark())
#define RF_NEGATIVE_ERROR (rf_negative_error_quark())

GQuark rf_usage_error_quark(void);
GQuark rf_data_error_quark(void);
GQuark rf_env_error_quark(void);
GQuark rf_negative_error_quark(void);

/* The exit code that an error leads to; GLib's own domains count as usage (GOptionError) or
 * environment (GFileError, GIOErrorEnum). */
enum rf_exit rf_error_exit_code(const GError *error);

/* Set an error of one of the domains above (code 0); the message is printf-like. */
void rf_set_usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
void rf_set_data(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
void rf_set_env(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The candidate nearest to word by edit distance, or NULL when none is near enough to suggest.
 * candidates is NULL-terminated. */
const char *rf_nearest(const char *word, const char *const *candidates);

#endif
