/* SPDX-License-Identifier: MIT
 * Numbers with units, in and out.  Sizes take K M G T (powers of two), times ns us ms s.
 */
#ifndef RF_UNITS_H
#define RF_UNITS_H

#include <glib.h>
#include <stdint.h>

/* Whole string or error ("expected a size such as 64M"); overflow beyond 64 bits is an error. */
gboolean rf_parse_size(const char *text, uint64_t *bytes, GError **error);
gboolean rf_parse_time(const char *text, uint64_t *ns, GError **error);
/* Decimal, or hexadecimal with 0x.  No sign, no blanks. */
gboolean rf_parse_u64(const char *text, uint64_t *value, GError **error);

/* "1.5 MiB", "12.3 ms": at most 4 significant digits, for people.  Caller frees. */
char *rf_format_size(uint64_t bytes);
char *rf_format_time(uint64_t ns);
/* "12,345,678".  Caller frees. */
char *rf_format_count(uint64_t n);
/* Exact: "64M" where divisible, else plain bytes; "2s" likewise.  Caller frees. */
char *rf_exact_size(uint64_t bytes);
char *rf_exact_time(uint64_t ns);

#endif
