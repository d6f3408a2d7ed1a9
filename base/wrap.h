/* SPDX-License-Identifier: MIT
 * Words into lines.
 */
#ifndef RF_WRAP_H
#define RF_WRAP_H

#include <glib.h>

/* Append the words of text, each line at most 79 columns and, but for the first, indented.  column:
 * where the first begins.  Ends the line. */
void rf_wrap(GString *out, const char *text, unsigned column, unsigned indent);

#endif
