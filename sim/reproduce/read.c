/* SPDX-License-Identifier: MIT
 * Reads definition files: an INI file whose sections may come more than once, and whose scenarios stand
 * in it as they are.  What sections mean is definition.c's.
 */
#include <gio/gio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "sim/reproduce/definition.h"
#include "sim/resources.h"

#define PREFIX "/refault/experiments"
#define SUFFIX ".exp"
#define MOST_MIB 1

static void entry_clear(void *data)
{
	struct rf_exp_entry *entry = data;

	g_free(entry->key);
	g_free(entry->value);
	g_free(entry->where);
}

static void section_free(void *data)
{
	struct rf_exp_section *s = data;

	g_free(s->kind);
	g_free(s->title);
	g_free(s->where);
	g_free(s->text);
	g_array_unref(s->entries);
	g_free(s);
}

/* "[KIND TITLE]" */
static struct rf_exp_section *section_new(char *line, const char *where, unsigned number, GError **error)
{
	size_t len = strlen(line);
	struct rf_exp_section *s;
	char *blank;

	if (line[len - 1] != ']' || len < 3) {
		rf_set_usage(error, "%s: %s: expected [SECTION] or [SECTION TITLE]", where, line);
		return NULL;
	}
	line[len - 1] = '\0';
	s = g_new0(struct rf_exp_section, 1);
	blank = strchr(line + 1, ' ');
	s->title = g_strdup(blank ? g_strchug(blank + 1) : "");
	if (blank)
		*blank = '\0';
	s->kind = g_strdup(line + 1);
	s->where = g_strdup(where);
	s->line = number;
	s->entries = g_array_new(FALSE, FALSE, sizeof(struct rf_exp_entry));
	g_array_set_clear_func(s->entries, entry_clear);
	return s;
}

/* One blank between words: the text will be wrapped. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++)
		if (!((*p == ' ' || *p == '\t') && (p[1] == ' ' || p[1] == '\t')))
			*to++ = *p;
	*to = '\0';
}

/* A line of a section that is no scenario; one that begins with a blank goes on with the entry before. */
static gboolean take_line(struct rf_exp_section *s, char *line, const char *where, GError **error)
{
	gboolean more = *line == ' ' || *line == '\t';
	struct rf_exp_entry entry;
	char *eq;

	squeeze(g_strstrip(line));
	if (*line == '\0' || *line == '#' || *line == ';')
		return TRUE;
	if (more && s->entries->len) {
		struct rf_exp_entry *last = &g_array_index(s->entries, struct rf_exp_entry, s->entries->len - 1);
		char *joined = g_strjoin(" ", last->value, line, NULL);

		g_free(last->value);
		last->value = joined;
		return TRUE;
	}
	eq = strchr(line, '=');
	if (!eq || eq == line) {
		rf_set_usage(error, "%s: %s: expected KEY = VALUE", where, line);
		return FALSE;
	}
	*eq = '\0';
	entry.key = g_strdup(g_strchomp(line));
	entry.value = g_strdup(g_strchug(eq + 1));
	entry.where = g_strdup(where);
	g_array_append_val(s->entries, entry);
	return TRUE;
}

static gboolean read_lines(struct rf_experiment *e, char *text, GError **error)
{
	struct rf_exp_section *s = NULL;
	GString *scenario = NULL;
	unsigned number = 0;
	gboolean ok = TRUE;

	for (char *next, *line = text; ok && line; line = next) {
		g_autofree char *where = g_strdup_printf("%s:%u", e->file, ++number);

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (*line == '[') {
			if (scenario)
				s->text = g_string_free(g_steal_pointer(&scenario), FALSE);
			s = section_new(g_strchomp(line), where, number, error);
			ok = s != NULL;
			if (ok)
				g_ptr_array_add(e->sections, s);
			if (ok && strcmp(s->kind, "scenario") == 0)
				scenario = g_string_new(NULL);
		} else if (scenario) {
			g_string_append(scenario, line);
			g_string_append_c(scenario, '\n');
		} else if (s) {
			ok = take_line(s, line, where, error);
		} else if (*g_strstrip(line) && *line != '#' && *line != ';') {
			rf_set_usage(error, "%s: %s: expected [experiment]", where, line);
			ok = FALSE;
		}
	}
	if (scenario)
		s->text = g_string_free(scenario, FALSE);
	return ok;
}

struct rf_experiment *rf_exp_parse(const char *name, const char *text, gsize len, GError **error)
{
	struct rf_experiment *e = g_new0(struct rf_experiment, 1);
	g_autofree char *copy = g_strndup(text, len);

	e->file = g_strdup(name);
	e->sections = g_ptr_array_new_with_free_func(section_free);
	if (memchr(text, '\0', len) || !g_utf8_validate(text, (gssize)len, NULL))
		rf_set_usage(error, "%s: expected the definition of an experiment, found bytes that are no text",
		             name);
	else if (read_lines(e, copy, error) && rf_exp_define(e, error))
		return e;
	rf_exp_free(e);
	return NULL;
}

/* ---- shipped ones and files ---- */

/* "c10" after "c9". */
static int by_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	if (*x != *y)
		return *x - *y;
	return (int)g_ascii_strtoll(x + 1, NULL, 10) - (int)g_ascii_strtoll(y + 1, NULL, 10);
}

const char *const *rf_exp_names(void)
{
	static char **names;

	if (g_once_init_enter(&names)) {
		char **list = g_resource_enumerate_children(rf_get_resource(), PREFIX,
		                                            G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

		g_assert(list); /* the build put them there */
		for (char **p = list; *p; p++) {
			g_assert(g_str_has_suffix(*p, SUFFIX));
			(*p)[strlen(*p) - strlen(SUFFIX)] = '\0';
		}
		qsort(list, g_strv_length(list), sizeof(*list), by_name);
		g_once_init_leave(&names, list);
	}
	return (const char *const *)names;
}

const char *rf_exp_text(const char *name, gsize *len)
{
	g_autofree char *lower = g_ascii_strdown(name, -1);
	g_autofree char *path = g_strconcat(PREFIX "/", lower, SUFFIX, NULL);
	g_autoptr(GBytes) bytes = NULL;

	if (!g_strv_contains(rf_exp_names(), lower))
		return NULL;
	bytes = g_resource_lookup_data(rf_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
	/* The resource is part of the program: its bytes outlive the wrapper. */
	return bytes ? g_bytes_get_data(bytes, len) : NULL;
}

static struct rf_experiment *load_file(const char *path, GError **error)
{
	gsize len;
	g_autofree char *text = rf_load_text("experiment", path, MOST_MIB, &len, error);

	return text ? rf_exp_parse(path, text, len, error) : NULL;
}

struct rf_experiment *rf_exp_load(const char *name, GError **error)
{
	const char *near, *text;
	g_autofree char *lower = g_ascii_strdown(name, -1);
	gsize len;

	if (strchr(name, '/') || strchr(name, '.'))
		return load_file(name, error);
	text = rf_exp_text(name, &len);
	if (text) {
		g_autofree char *file = g_strconcat(lower, SUFFIX, NULL);

		return rf_exp_parse(file, text, len, error);
	}
	near = rf_nearest(lower, rf_exp_names());
	rf_set_usage(error, "no experiment '%s'; %s%s%s", name,
	             near ? "did you mean " : "expected all, list, the path of a definition, or one of the list",
	             near ? near : "", near ? "?" : "");
	return NULL;
}
