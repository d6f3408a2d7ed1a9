/* SPDX-License-Identifier: MIT
 * Names in text: blanks, control characters, '#' and '\' are written \ooo, in octal, as in
 * /proc/self/mounts.
 */
#ifndef RF_ESCAPE_H
#define RF_ESCAPE_H

#include <glib.h>

void rf_escape(GString *to, const char *s);
/* Undo in place.  NULL, or where the broken escape is. */
const char *rf_unescape(char *s);

#endif
