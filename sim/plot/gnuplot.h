/* SPDX-License-Identifier: MIT
 * gnuplot as a child: a script in, a picture out, whole or not at all.
 */
#ifndef RF_GNUPLOT_H
#define RF_GNUPLOT_H

#include "sim/plot/plot.h"

/* Run program on the script file in a directory and give what it draws.  Errors (RF_ENV_ERROR): it
 * is not there, it was killed, it failed (with its first words), the picture is not whole.  Caller
 * frees. */
GString *rf_gnuplot_run(const char *program, const char *directory, const char *script,
                        enum rf_picture picture, GError **error);

#endif
