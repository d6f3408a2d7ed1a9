/* SPDX-License-Identifier: MIT */
#include "sim/study/job.h"

#include <string.h>

#include "base/args.h"
#include "base/error.h"
#include "base/file.h"
#include "sim/config.h"
#include "sim/report/command.h"

#define MOST_MIB 64
#define GLOBAL "global"

/* clang-format off */
const struct rf_option rf_study_keys[] = {
	{ "trace", RF_OPT_STRING, 0, NULL, "", 0, 0, "FILE...",
	  "traces, separated by blanks; patterns as a shell has them", NULL },
	{ "format", RF_OPT_STRING, 0, NULL, "", 0, 0, "NAME",
	  "format of the traces, instead of finding out from their content", NULL },
	{ "maps", RF_OPT_STRING, 0, NULL, "", 0, 0, "FILE",
	  "mappings of a trace that has none of its own", NULL },
	{ "param", RF_OPT_STRING, 0, NULL, "", 0, 0, "NAME=VALUE...",
	  "parameters of scenarios, separated by blanks", NULL },
	{ "combine", RF_OPT_ENUM, 0, NULL, "product", 0, 0, "product,zip",
	  "several lists: every value with every other, or the first ones, the second ones and so on",
	  NULL },
	RF_OPTION_END
};
/* clang-format on */

/* ---- keys and settings ---- */

const char *rf_study_key(const char *where, const char *name, GError **error)
{
	const struct rf_option *const tables[] = { rf_study_keys, rf_config_options,
		                                   rf_profile_options };
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		const struct rf_option *o = rf_args_option(tables[i], name);

		if (o)
			return o->name;
		for (o = tables[i]; o->name; o++)
			g_ptr_array_add(names, (char *)o->name);
	}
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(error, "%s: no key \"%s\"; did you mean \"%s\"?", where, name, near);
	else
		rf_set_usage(error, "%s: no key \"%s\"; see `refault help sweep'", where, name);
	return NULL;
}

static void clear_setting(void *p)
{
	struct rf_setting *s = p;

	g_free(s->value);
	g_free(s->where);
}

GArray *rf_settings_new(void)
{
	GArray *a = g_array_new(FALSE, FALSE, sizeof(struct rf_setting));

	g_array_set_clear_func(a, clear_setting);
	return a;
}

struct rf_setting *rf_settings_find(const GArray *settings, const char *key)
{
	for (guint i = 0; i < settings->len; i++) {
		struct rf_setting *s = &g_array_index(settings, struct rf_setting, i);

		if (strcmp(s->key, key) == 0)
			return s;
	}
	return NULL;
}

void rf_settings_put(GArray *settings, const char *key, const char *value, const char *where)
{
	struct rf_setting *old = rf_settings_find(settings, key);
	struct rf_setting s = { key, g_strdup(value), g_strdup(where) };

	if (!old) {
		g_array_append_val(settings, s);
		return;
	}
	clear_setting(old);
	*old = s;
}

void rf_settings_put_words(GArray *settings, const char *key, const GPtrArray *words, const char *where)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (guint i = 0; words && i < words->len; i++) {
		g_autofree char *quoted = rf_shell_word(words->pdata[i]);

		g_string_append_printf(list, "%s%s", i ? " " : "", quoted);
	}
	if (list->len)
		rf_settings_put(settings, key, list->str, where);
}

struct rf_section *rf_section_new(const char *name, const char *where, const GArray *settings)
{
	struct rf_section *s = g_new(struct rf_section, 1);

	s->name = g_strdup(name);
	s->where = g_strdup(where);
	s->settings = rf_settings_new();
	for (guint i = 0; settings && i < settings->len; i++) {
		const struct rf_setting *x = &g_array_index(settings, struct rf_setting, i);

		rf_settings_put(s->settings, x->key, x->value, x->where);
	}
	return s;
}

void rf_section_free(struct rf_section *s)
{
	g_free(s->name);
	g_free(s->where);
	g_array_unref(s->settings);
	g_free(s);
}

/* ---- the file ---- */

struct parser {
	const char *file;
	unsigned line;
	GPtrArray *sections;
	GArray *global;     /* what sections inherit from here on */
	GArray *current;    /* settings of the section at hand; NULL before the first */
	GHashTable *names;  /* of sections: their lines */
	GHashTable *keys;   /* of the section at hand: their lines */
};

static gboolean begin_section(struct parser *p, const char *where, char *line, GError **error)
{
	size_t len = strlen(line);
	const char *name = line + 1;
	gpointer before;

	if (line[len - 1] != ']') {
		rf_set_usage(error, "%s: %s: expected [NAME]", where, line);
		return FALSE;
	}
	line[len - 1] = '\0';
	name = g_strstrip(line + 1);
	if (*name == '\0' || strpbrk(name, "[]")) {
		rf_set_usage(error, "%s: [%s]: expected the name of a section", where, name);
		return FALSE;
	}
	g_hash_table_remove_all(p->keys);
	if (strcmp(name, GLOBAL) == 0) {
		p->current = p->global;
		return TRUE;
	}
	before = g_hash_table_lookup(p->names, name);
	if (before) {
		rf_set_usage(error, "%s: a second section [%s]; the first is in line %u", where, name,
		             GPOINTER_TO_UINT(before));
		return FALSE;
	}
	g_hash_table_insert(p->names, g_strdup(name), GUINT_TO_POINTER(p->line));
	g_ptr_array_add(p->sections, rf_section_new(name, where, p->global));
	p->current = ((struct rf_section *)p->sections->pdata[p->sections->len - 1])->settings;
	return TRUE;
}

static gboolean take_key(struct parser *p, const char *where, char *line, GError **error)
{
	char *eq = strchr(line, '=');
	const char *key;
	gpointer before;

	if (!eq || eq == line) {
		rf_set_usage(error, "%s: \"%s\": expected KEY = VALUE", where, line);
		return FALSE;
	}
	if (!p->current) {
		rf_set_usage(error, "%s: expected [global] or [NAME] before the first key", where);
		return FALSE;
	}
	*eq = '\0';
	key = rf_study_key(where, g_strstrip(line), error);
	if (!key)
		return FALSE;
	before = g_hash_table_lookup(p->keys, key);
	if (before) {
		rf_set_usage(error, "%s: %s is given twice; the first is in line %u", where, key,
		             GPOINTER_TO_UINT(before));
		return FALSE;
	}
	g_hash_table_insert(p->keys, (char *)key, GUINT_TO_POINTER(p->line));
	rf_settings_put(p->current, key, g_strstrip(eq + 1), where);
	return TRUE;
}

static gboolean take_lines(struct parser *p, char *text, GError **error)
{
	for (char *next, *line = text; line; line = next) {
		g_autofree char *where = g_strdup_printf("%s:%u", p->file, ++p->line);

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line = g_strstrip(line);
		if (*line == '\0' || *line == '#' || *line == ';')
			continue;
		if (!(*line == '[' ? begin_section : take_key)(p, where, line, error))
			return FALSE;
	}
	if (p->sections->len)
		return TRUE;
	rf_set_usage(error, "%s: expected a section [NAME]%s", p->file,
	             p->current ? " beside [global]" : "");
	return FALSE;
}

GPtrArray *rf_job_parse(const char *name, const char *text, gsize len, GError **error)
{
	struct parser p = { .file = name };
	g_autofree char *copy = g_strndup(text, len);
	gboolean ok;

	if (memchr(text, '\0', len) || !g_utf8_validate(text, (gssize)len, NULL)) {
		rf_set_usage(error, "%s: expected a job file, found bytes that are no text", name);
		return NULL;
	}
	p.sections = g_ptr_array_new_with_free_func((GDestroyNotify)rf_section_free);
	p.global = rf_settings_new();
	p.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	p.keys = g_hash_table_new(g_str_hash, g_str_equal);
	ok = take_lines(&p, copy, error);
	g_array_unref(p.global);
	g_hash_table_unref(p.names);
	g_hash_table_unref(p.keys);
	if (ok)
		return p.sections;
	g_ptr_array_unref(p.sections);
	return NULL;
}

GPtrArray *rf_job_load(const char *path, GError **error)
{
	gsize len;
	g_autofree char *text = rf_load_text("job file", path, MOST_MIB, &len, error);

	return text ? rf_job_parse(path, text, len, error) : NULL;
}

gboolean rf_job_choose(GPtrArray *sections, const GPtrArray *names, GError **error)
{
	g_autoptr(GPtrArray) known = g_ptr_array_new();

	for (guint i = 0; i < sections->len; i++)
		g_ptr_array_add(known, ((struct rf_section *)sections->pdata[i])->name);
	g_ptr_array_add(known, NULL);
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i], *near;

		if (g_strv_contains((const char *const *)known->pdata, name))
			continue;
		near = rf_nearest(name, (const char *const *)known->pdata);
		rf_set_usage(error, "--section %s: no such section%s%s%s", name,
		             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		return FALSE;
	}
	for (guint i = sections->len; i-- > 0;) {
		const char *name = ((struct rf_section *)sections->pdata[i])->name;
		gboolean chosen = FALSE;

		for (guint k = 0; k < names->len; k++)
			chosen |= strcmp(names->pdata[k], name) == 0;
		if (!chosen)
			g_ptr_array_remove_index(sections, i);
	}
	return TRUE;
}
