/* SPDX-License-Identifier: MIT
 * What reading and writing the text form share.
 */
#ifndef RF_TEXT_H
#define RF_TEXT_H

#include "traces/import/import.h"

#define RF_TEXT_MAGIC "!refault-trace"
#define RF_TEXT_VERSION 1

struct rf_text;

extern const struct rf_importer rf_text_importer;

/* Lines by themselves, for what is made of them.  name must outlive it; it stands for the file in
 * messages. */
struct rf_text *rf_text_new(const char *name);
void rf_text_free(struct rf_text *t);
/* One event or access into the builder; the line, NUL-terminated, is written to. */
gboolean rf_text_line(struct rf_text *t, struct rf_builder *b, char *line, uint64_t number,
                      GError **error);
/* The first line, "MAGIC 1 KEY=VALUE…". */
gboolean rf_text_header_line(const char *name, const char *magic, char *line, uint64_t number,
                             struct rf_header *h, GError **error);

#endif
