/* SPDX-License-Identifier: MIT
 * A plot as SVG that can stand within an HTML document.
 */
#ifndef RF_FIGURE_H
#define RF_FIGURE_H

#include "sim/plot/plot.h"

/* Draw, and give the <svg> element.  nth: a number that no other figure of the document has, for
 * the names of its parts.  Caller frees. */
GString *rf_figure_svg(const struct rf_plot_kind *kind, const struct rf_table *t,
                       const struct rf_plot_options *o, const char *gnuplot, unsigned nth,
                       GError **error);

#endif
