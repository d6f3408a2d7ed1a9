/* SPDX-License-Identifier: MIT
 * JSON of `refault run': one result or an array of them, as the rows that its CSV would have, and the
 * samples of timelines.
 */
#include "sim/plot/table.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/error.h"
#include "sim/report/report.h"

static const char *result_string(JsonObject *o, const char *member)
{
	JsonNode *n = json_object_get_member(o, member);

	return n && JSON_NODE_HOLDS_VALUE(n) && json_node_get_value_type(n) == G_TYPE_STRING
	               ? json_node_get_string(n)
	               : NULL;
}

static JsonObject *result_object(JsonObject *o, const char *member)
{
	JsonNode *n = json_object_get_member(o, member);

	return n && JSON_NODE_HOLDS_OBJECT(n) ? json_node_get_object(n) : NULL;
}

/* A scalar as CSV would have it; NULL for what is none. */
static char *scalar_text(JsonNode *n)
{
	if (JSON_NODE_HOLDS_NULL(n))
		return g_strdup("");
	if (!JSON_NODE_HOLDS_VALUE(n))
		return NULL;
	switch (json_node_get_value_type(n)) {
	case G_TYPE_STRING:
		return g_strdup(json_node_get_string(n));
	case G_TYPE_INT64:
		return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(n));
	case G_TYPE_BOOLEAN:
		return g_strdup(json_node_get_boolean(n) ? "yes" : "no");
	case G_TYPE_DOUBLE: {
		char digits[G_ASCII_DTOSTR_BUF_SIZE];

		return g_strdup(g_ascii_dtostr(digits, sizeof(digits), json_node_get_double(n)));
	}
	default:
		return NULL;
	}
}

/* The members of an object that are scalars, as columns PREFIXname. */
static void add_members(struct rf_table *t, JsonObject *o, const char *prefix)
{
	g_autoptr(GList) members = json_object_get_members(o);

	for (GList *m = members; m; m = m->next) {
		g_autofree char *name = g_strconcat(prefix, m->data, NULL);
		g_autofree char *value = scalar_text(json_object_get_member(o, m->data));

		if (value)
			rf_table_set(t, rf_table_add_column(t, name), value);
	}
}

static void add_run(struct rf_table *t, const char *origin, JsonObject *result)
{
	JsonObject *trace = result_object(result, "trace"), *profile = result_object(result, "profile");
	static const char *const of_trace[] = { "digest", "lost" };
	g_autofree char *schema = g_strdup_printf("%d", RF_REPORT_SCHEMA);

	rf_table_add_row(t, origin);
	rf_table_set(t, rf_table_add_column(t, "version"), result_string(result, "version"));
	rf_table_set(t, rf_table_add_column(t, "schema"), schema);
	rf_table_set(t, rf_table_add_column(t, "trace"), result_string(trace, "path"));
	for (size_t i = 0; i < G_N_ELEMENTS(of_trace); i++) {
		JsonNode *n = json_object_get_member(trace, of_trace[i]);
		g_autofree char *value = n ? scalar_text(n) : NULL;

		if (value)
			rf_table_set(t, rf_table_add_column(t, of_trace[i]), value);
	}
	add_members(t, result_object(result, "config"), "");
	add_members(t, result_object(result, "resolved"), "");
	add_members(t, result_object(result, "metrics"), "");
	if (profile)
		add_members(t, profile, "profile.");
}

/* The timeline is an object of arrays of equal lengths, a column each. */
static gboolean add_samples(struct rf_table *t, const char *origin, JsonObject *result, GError **error)
{
	JsonObject *timeline = result_object(result, "timeline");
	JsonObject *resolved = result_object(result, "resolved");
	g_autoptr(GList) members = timeline ? json_object_get_members(timeline) : NULL;
	const char *path = result_string(result_object(result, "trace"), "path");
	guint n = 0;

	if (!members) {
		rf_set_data(error, "%s: no timeline; expected a run with --timeline INTERVAL", origin);
		return FALSE;
	}
	for (GList *m = members; m; m = m->next) {
		JsonNode *node = json_object_get_member(timeline, m->data);
		guint len = JSON_NODE_HOLDS_ARRAY(node) ? json_array_get_length(json_node_get_array(node))
		                                        : 0;

		if (m == members)
			n = len;
		if (len == 0 || len != n) {
			rf_set_data(error, "%s: timeline: %s has %u samples, %s has %u", origin,
			            (char *)members->data, n, (char *)m->data, len);
			return FALSE;
		}
	}
	for (guint i = 0; i < n; i++) {
		rf_table_add_row(t, origin);
		rf_table_set(t, rf_table_add_column(t, "trace"), path);
		for (GList *m = members; m; m = m->next) {
			JsonArray *a = json_object_get_array_member(timeline, m->data);
			g_autofree char *value = scalar_text(json_array_get_element(a, i));

			rf_table_set(t, rf_table_add_column(t, m->data), value ? value : "");
		}
		add_members(t, resolved, "");
	}
	return TRUE;
}

/* Is this a result, of a shape that we know? */
static gboolean check_result(JsonNode *node, const char *origin, GError **error)
{
	static const char *const parts[] = { "trace", "config", "resolved", "metrics" };
	JsonObject *o = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	JsonNode *schema;

	if (!o || g_strcmp0(result_string(o, "program"), "refault") != 0 ||
	    !result_string(o, "version")) {
		rf_set_data(error, "%s: no result of refault; expected what `refault run "
		                   "--output-format=json' writes", origin);
		return FALSE;
	}
	schema = json_object_get_member(o, "schema");
	if (!schema || !JSON_NODE_HOLDS_VALUE(schema) ||
	    json_node_get_value_type(schema) != G_TYPE_INT64 ||
	    json_node_get_int(schema) != RF_REPORT_SCHEMA) {
		g_autofree char *have = schema ? scalar_text(schema) : NULL;

		rf_set_data(error, "%s: schema %s; this program reads %d: run it again", origin,
		            have ? have : "of another kind", RF_REPORT_SCHEMA);
		return FALSE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		if (!result_object(o, parts[i])) {
			rf_set_data(error, "%s: no object \"%s\" in this result", origin, parts[i]);
			return FALSE;
		}
	}
	if (!result_string(result_object(o, "trace"), "path")) {
		rf_set_data(error, "%s: trace: no \"path\" in this result", origin);
		return FALSE;
	}
	return TRUE;
}

static gboolean add_result(struct rf_table *t, const char *origin, JsonNode *node,
                           enum rf_table_rows rows, GError **error)
{
	if (!check_result(node, origin, error))
		return FALSE;
	if (rows == RF_ROWS_SAMPLES)
		return add_samples(t, origin, json_node_get_object(node), error);
	add_run(t, origin, json_node_get_object(node));
	return TRUE;
}

gboolean rf_table_read_json(struct rf_table *t, const char *name, const char *text, gsize len,
                            enum rf_table_rows rows, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) cause = NULL;
	JsonNode *root;
	JsonArray *all;

	if (!json_parser_load_from_data(parser, text, (gssize)len, &cause)) {
		/* "<data>:3:14: Parse error: …" */
		const char *what = cause->message;

		if (g_str_has_prefix(what, "<data>:"))
			what += strlen("<data>:");
		rf_set_data(error, "%s: not JSON: %s", name, what);
		return FALSE;
	}
	root = json_parser_get_root(parser);
	if (!JSON_NODE_HOLDS_ARRAY(root))
		return add_result(t, name, root, rows, error);
	all = json_node_get_array(root);
	for (guint i = 0; i < json_array_get_length(all); i++) {
		g_autofree char *origin = g_strdup_printf("%s, result %u", name, i + 1);

		if (!add_result(t, origin, json_array_get_element(all, i), rows, error))
			return FALSE;
	}
	if (json_array_get_length(all) == 0) {
		rf_set_data(error, "%s: an array of no results", name);
		return FALSE;
	}
	return TRUE;
}
