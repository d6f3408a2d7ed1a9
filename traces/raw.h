/* SPDX-License-Identifier: MIT
 * Bytes of a file, a pipe or memory, as they stand there, with a look ahead.
 */
#ifndef RF_RAW_H
#define RF_RAW_H

#include <glib.h>
#include <stdint.h>

struct rf_raw;

/* "-" is standard input. */
struct rf_raw *rf_raw_open(const char *path, GError **error);
/* Takes the descriptor over, from its current position on. */
struct rf_raw *rf_raw_from_fd(const char *name, int fd);
struct rf_raw *rf_raw_from_memory(const char *name, const void *data, size_t len);
void rf_raw_close(struct rf_raw *r);

/* n bytes from the current position, without consuming; *have says how many (fewer only at the
 * end).  NULL on error.  The buffer grows to n: the caller has checked that n is sane. */
const uint8_t *rf_raw_peek(struct rf_raw *r, size_t n, size_t *have, GError **error);
/* As peek, but whatever is buffered, at least one byte unless the end is reached. */
const uint8_t *rf_raw_some(struct rf_raw *r, size_t *have, GError **error);
/* Up to n bytes, and at least one unless the end is reached, into the caller's buffer; they are
 * consumed.  Large ones come without a detour. */
gboolean rf_raw_read(struct rf_raw *r, void *to, size_t n, size_t *got, GError **error);
void rf_raw_consume(struct rf_raw *r, size_t n); /* n <= what the last peek had */
gboolean rf_raw_seek(struct rf_raw *r, uint64_t offset, GError **error);

gboolean rf_raw_seekable(const struct rf_raw *r);
uint64_t rf_raw_size(const struct rf_raw *r);   /* of a seekable one */
uint64_t rf_raw_offset(const struct rf_raw *r); /* of the next byte */
const char *rf_raw_name(const struct rf_raw *r);

#endif
