/* SPDX-License-Identifier: MIT
 * Small readers of text, for formats of lines.  Each advances *s over what it read and returns TRUE,
 * or leaves *s and returns FALSE.  A number that does not fit into 64 bits is none.
 */
#ifndef RF_FIELDS_H
#define RF_FIELDS_H

#include <glib.h>
#include <stdint.h>

gboolean rf_take_literal(char **s, const char *text);
void rf_take_blanks(char **s); /* blanks and tabs, perhaps none */
gboolean rf_take_digits(char **s, unsigned base, uint64_t *value);
/* Decimal, perhaps negative (then in two's complement), or hexadecimal with 0x. */
gboolean rf_take_number(char **s, uint64_t *value);
/* Hexadecimal, with 0x or without. */
gboolean rf_take_hex(char **s, uint64_t *value);
/* "13.402117" in units of 10^-digits; the point and what follows it may be missing, digits beyond
 * are dropped. */
gboolean rf_take_fraction(char **s, unsigned digits, uint64_t *value);
/* A task's number, below 2^32 - 1. */
gboolean rf_take_tid(char **s, uint32_t *tid);
/* Characters up to one of stop or the end, at least one; the word is a copy in buf, which holds
 * size bytes.  FALSE also where it does not fit. */
gboolean rf_take_word(char **s, const char *stop, char *buf, size_t size);

#endif
