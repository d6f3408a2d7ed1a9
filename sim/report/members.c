/* SPDX-License-Identifier: MIT */
#include "sim/report/members.h"

#include <math.h>

void rf_json_number(JsonBuilder *b, const char *name, uint64_t value)
{
	/* json-glib's integers are signed.  Only an absurd trace (lost 2^63 events) comes near. */
	json_builder_set_member_name(b, name);
	json_builder_add_int_value(b, (gint64)MIN(value, G_MAXINT64));
}

void rf_json_real(JsonBuilder *b, const char *name, double value)
{
	json_builder_set_member_name(b, name);
	if (!isfinite(value))
		json_builder_add_null_value(b);
	else if (value == floor(value) && fabs(value) < 9e15)
		json_builder_add_int_value(b, (gint64)value);
	else
		json_builder_add_double_value(b, value);
}

void rf_json_text(JsonBuilder *b, const char *name, const char *value)
{
	g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;

	json_builder_set_member_name(b, name);
	if (valid)
		json_builder_add_string_value(b, valid);
	else
		json_builder_add_null_value(b);
}

void rf_json_flag(JsonBuilder *b, const char *name, gboolean value)
{
	json_builder_set_member_name(b, name);
	json_builder_add_boolean_value(b, value);
}

void rf_json_object(JsonBuilder *b, const char *name)
{
	if (name)
		json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
}

void rf_json_array(JsonBuilder *b, const char *name)
{
	if (name)
		json_builder_set_member_name(b, name);
	json_builder_begin_array(b);
}

void rf_json_append(GString *out, JsonBuilder *b)
{
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = json_builder_get_root(b);
	g_autofree char *document = NULL;

	json_generator_set_root(generator, root);
	json_generator_set_pretty(generator, TRUE);
	json_generator_set_indent(generator, 2);
	document = json_generator_to_data(generator, NULL);
	g_string_append(out, document);
}
