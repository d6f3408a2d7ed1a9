/* SPDX-License-Identifier: MIT
 * JSON documents: members by name, and the whole as text.
 */
#ifndef RF_MEMBERS_H
#define RF_MEMBERS_H

#include <json-glib/json-glib.h>
#include <stdint.h>

void rf_json_number(JsonBuilder *b, const char *name, uint64_t value);
/* Whole numbers are integers; what is not finite becomes null. */
void rf_json_real(JsonBuilder *b, const char *name, double value);
/* NULL becomes null, what is not UTF-8 is replaced: names and paths out of traces need not be. */
void rf_json_text(JsonBuilder *b, const char *name, const char *value);
void rf_json_flag(JsonBuilder *b, const char *name, gboolean value);
/* Begin an object or an array, as a member, or (name NULL) as an element. */
void rf_json_object(JsonBuilder *b, const char *name);
void rf_json_array(JsonBuilder *b, const char *name);

/* Append the finished document, indented, without a newline at its end. */
void rf_json_append(GString *out, JsonBuilder *b);

#endif
