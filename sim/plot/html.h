/* SPDX-License-Identifier: MIT
 * Results as one HTML file that fetches nothing: plots, tables that sort, configuration.
 */
#ifndef RF_HTML_H
#define RF_HTML_H

#include "sim/plot/table.h"

struct rf_html_options {
	const char *title;   /* or NULL: what the results are of */
	const char *metrics; /* those plotted, separated by commas; or NULL: the usual ones */
	const char *by;      /* columns that tell lines apart, or NULL: those that differ */
	const char *gnuplot; /* the program, or NULL: no plots */
};

/* The document; NULL on error.  Caller frees. */
GString *rf_html_report(const struct rf_table *t, const struct rf_html_options *o, GError **error);

/* Append the plots, a group a trace. */
gboolean rf_html_figures(GString *out, const struct rf_table *t, const struct rf_html_options *o,
                         GError **error);
/* Append text as it is to be read: what HTML or a terminal would take for something else is
 * replaced. */
void rf_html_escape(GString *out, const char *text);

#endif
