/* SPDX-License-Identifier: MIT
 * CSV as RFC 4180 has it: fields in quotes may hold commas, quotes doubled, and line ends.  Lines
 * end with LF or CRLF, the last one perhaps not at all.
 */
#include "sim/plot/table.h"

#include <string.h>

#include "base/error.h"

struct reader {
	const char *name, *p, *end;
	unsigned line; /* of p, from 1 */
	GString *field;
};

enum after { COMMA, LINE_END, WRONG };

/* One field, into r->field; says what comes after it. */
static enum after take_field(struct reader *r, GError **error)
{
	unsigned begin = r->line;
	gboolean quoted = r->p < r->end && *r->p == '"';

	g_string_truncate(r->field, 0);
	if (quoted)
		r->p++;
	while (r->p < r->end) {
		char c = *r->p++;

		if (quoted && c == '"') {
			if (r->p == r->end || *r->p != '"') {
				quoted = FALSE;
				if (r->p < r->end && !strchr(",\r\n", *r->p)) {
					rf_set_data(error,
					            "%s, line %u: \"%c\" after a closing quote; "
					            "expected a comma",
					            r->name, r->line, *r->p);
					return WRONG;
				}
				continue;
			}
			r->p++;
		} else if (!quoted && c == ',') {
			return COMMA;
		} else if (!quoted && c == '\r' && r->p < r->end && *r->p == '\n') {
			continue;
		} else if (c == '\n') {
			r->line++;
			if (!quoted)
				return LINE_END;
		}
		g_string_append_c(r->field, c);
	}
	if (!quoted)
		return LINE_END;
	rf_set_data(error, "%s, line %u: a quoted field that does not end", r->name, begin);
	return WRONG;
}

static gboolean take_heading(struct reader *r, struct rf_table *t, GArray *columns, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	enum after after;

	do {
		int column;

		after = take_field(r, error);
		if (after == WRONG)
			return FALSE;
		g_strstrip(r->field->str);
		if (*r->field->str == '\0') {
			rf_set_data(error,
			            "%s, line 1: a column without a name; expected a heading",
			            r->name);
			return FALSE;
		}
		column = rf_table_add_column(t, r->field->str);
		if (!g_hash_table_add(seen, GINT_TO_POINTER(column + 1))) {
			rf_set_data(error, "%s, line 1: column \"%s\" twice", r->name,
			            r->field->str);
			return FALSE;
		}
		g_array_append_val(columns, column);
	} while (after == COMMA);
	return TRUE;
}

static gboolean take_row(struct reader *r, struct rf_table *t, const GArray *columns,
                         GError **error)
{
	unsigned line = r->line;
	g_autofree char *origin = g_strdup_printf("%s, line %u", r->name, line);
	enum after after;
	guint n = 0;

	rf_table_add_row(t, origin);
	do {
		after = take_field(r, error);
		if (after == WRONG)
			return FALSE;
		if (n < columns->len)
			rf_table_set(t, g_array_index(columns, int, n), r->field->str);
		n++;
	} while (after == COMMA);
	if (n == columns->len)
		return TRUE;
	rf_set_data(error, "%s: %u fields; expected %u, as the heading has", origin, n,
	            columns->len);
	return FALSE;
}

gboolean rf_table_read_csv(struct rf_table *t, const char *name, const char *text, gsize len,
                           GError **error)
{
	struct reader r = { .name = name, .p = text, .end = text + len, .line = 1 };
	g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(int));
	guint before = t->rows->len;
	gboolean ok;

	r.field = g_string_new(NULL);
	ok = take_heading(&r, t, columns, error);
	while (ok && r.p < r.end) {
		/* A line that has nothing in it is no row. */
		if (*r.p == '\n' || (*r.p == '\r' && r.p + 1 < r.end && r.p[1] == '\n')) {
			r.p += *r.p == '\r' ? 2 : 1;
			r.line++;
			continue;
		}
		ok = take_row(&r, t, columns, error);
	}
	g_string_free(r.field, TRUE);
	if (ok && t->rows->len == before) {
		rf_set_data(error, "%s: a heading, but no row", name);
		return FALSE;
	}
	return ok;
}
