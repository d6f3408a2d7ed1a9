/* SPDX-License-Identifier: MIT */
#include "sim/study/store.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/version.h"

/* What a point's file has behind the report's last member; the checksum is of all before it. */
#define MEMBER ",\n  \"sweep\" : {\n    \"point\" : \"%s\",\n    \"files\" : \"%s\",\n    \"sum\" : \""
#define END "\"\n  }\n}\n"
#define SUM 16

static char *point_path(const char *dir, const struct rf_point *p)
{
	return g_strdup_printf("%s/points/%s.json", dir, p->id);
}

static char *status_path(const char *dir, const struct rf_point *p)
{
	return g_strdup_printf("%s/status/%s", dir, p->id);
}

gboolean rf_store_make(const char *dir, GError **error)
{
	static const char *const inside[] = { "points", "status" };

	for (size_t i = 0; i < G_N_ELEMENTS(inside); i++) {
		g_autofree char *path = g_build_filename(dir, inside[i], NULL);

		if (g_mkdir_with_parents(path, 0777) == 0)
			continue;
		rf_set_env(error, "cannot make the directory %s: %s", path, g_strerror(errno));
		return FALSE;
	}
	return TRUE;
}

static gboolean write_file(const char *path, const char *text, gsize len, GError **error)
{
	struct rf_outfile out;

	if (!rf_outfile_open(&out, path, error))
		return FALSE;
	rf_outfile_write(&out, text, len);
	return rf_outfile_commit(&out, error);
}

/* ---- the plan ---- */

static void append_key(GString *s, const char *key, const char *value)
{
	if (value)
		g_string_append_printf(s, "%s = %s\n", key, value);
}

static char *plan_text(const GPtrArray *points, gsize *len)
{
	GString *s = g_string_new("# The points of a sweep, written by refault.\n");

	for (guint i = 0; i < points->len; i++) {
		const struct rf_point *p = points->pdata[i];
		g_autofree char *trace = g_shell_quote(p->trace);

		g_string_append_printf(s, "[%u %s]\n", i + 1, p->section);
		append_key(s, "trace", trace);
		append_key(s, "format", p->format);
		append_key(s, "maps", p->maps);
		append_key(s, "param", p->params);
		for (guint k = 0; k < p->settings->len; k++) {
			const struct rf_setting *x =
				&g_array_index(p->settings, struct rf_setting, k);

			append_key(s, x->key, x->value);
		}
	}
	*len = s->len;
	return g_string_free(s, FALSE);
}

gboolean rf_plan_save(const char *dir, const GPtrArray *points, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "plan.job", NULL), *old = NULL;
	gsize len, old_len;
	g_autofree char *text = plan_text(points, &len);

	/* Points that run at the same time must not find it gone. */
	if (g_file_get_contents(path, &old, &old_len, NULL) && old_len == len &&
	    memcmp(old, text, len) == 0)
		return TRUE;
	return write_file(path, text, len, error);
}

GPtrArray *rf_plan_load(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "plan.job", NULL);
	g_autoptr(GPtrArray) sections = NULL;
	GPtrArray *points;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		rf_set_usage(error, "%s holds no sweep yet; expected traces or --job too", dir);
		return NULL;
	}
	sections = rf_job_load(path, error);
	points = sections ? rf_points_new(sections, error) : NULL;
	if (!points)
		return NULL;
	for (guint i = 0; i < points->len; i++) {
		struct rf_point *p = points->pdata[i];
		g_autofree char *number = g_strdup_printf("%u ", i + 1);
		char *name = p->section;

		if (points->len != sections->len || !g_str_has_prefix(name, number)) {
			rf_set_usage(error, "%s: section [%s]: expected one point in each section, "
			             "numbered from 1", path, name);
			g_ptr_array_unref(points);
			return NULL;
		}
		p->section = g_strdup(name + strlen(number));
		g_free(name);
	}
	return points;
}

/* ---- results ---- */

static const char *setting(const struct rf_point *p, const char *key)
{
	const struct rf_setting *s = rf_settings_find(p->settings, key);

	return s ? s->value : NULL;
}

/* The names of a plug-in, of a machine profile's file and of mappings do not say what is in them. */
static char *sum_files(const struct rf_point *p)
{
	const char *const names[] = { setting(p, "plugin"), setting(p, "machine"), p->maps };
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *text;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *content = NULL;
		gsize len;

		if (!names[i] || !g_file_get_contents(names[i], &content, &len, NULL))
			continue;
		g_checksum_update(sum, (const guchar *)names[i], (gssize)strlen(names[i]) + 1);
		g_checksum_update(sum, (const guchar *)content, (gssize)len);
	}
	text = g_strndup(g_checksum_get_string(sum), SUM);
	g_checksum_free(sum);
	return text;
}

static char *sum_text(const char *text, gsize len)
{
	g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, len);

	return g_strndup(sum, SUM);
}

gboolean rf_store_write(const char *dir, const struct rf_point *p, const struct rf_report *r,
                        GError **error)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autofree char *path = point_path(dir, p), *files = sum_files(p), *sum = NULL;

	rf_report_json(s, r);
	g_assert(g_str_has_suffix(s->str, "\n}"));
	g_string_truncate(s, s->len - 2);
	g_string_append_printf(s, MEMBER, p->id, files);
	sum = sum_text(s->str, s->len);
	g_string_append(s, sum);
	g_string_append(s, END);
	return write_file(path, s->str, s->len, error);
}

/* Is the text one that rf_store_write wrote, of this point and with these files? */
static const char *check_text(const struct rf_point *p, const char *text, gsize len)
{
	g_autofree char *files = sum_files(p), *sum = NULL;
	g_autofree char *member = g_strdup_printf(MEMBER, p->id, files);
	gsize before = len - MIN(len, SUM + strlen(END)), size = strlen(member);

	if (before < size || memcmp(text + before + SUM, END, strlen(END)) != 0)
		return "damaged";
	sum = sum_text(text, before);
	if (memcmp(text + before, sum, SUM) != 0)
		return "damaged";
	return memcmp(text + before - size, member, size) == 0 ? NULL : "stale";
}

struct rf_saved *rf_store_read(const char *dir, const struct rf_point *p, const uint64_t *digest,
                               const char **why)
{
	g_autofree char *path = point_path(dir, p), *text = NULL;
	GPtrArray *all;
	struct rf_saved *s;
	const char *ignored;
	gsize len;

	if (!why)
		why = &ignored;
	*why = "missing";
	if (!g_file_get_contents(path, &text, &len, NULL))
		return NULL;
	*why = check_text(p, text, len);
	if (*why)
		return NULL;
	*why = "damaged";
	all = rf_saved_parse(path, text, (gssize)len, NULL);
	if (!all)
		return NULL;
	g_ptr_array_set_free_func(all, NULL);
	s = all->pdata[0];
	g_ptr_array_unref(all);
	if (strcmp(s->version, rf_version) == 0 && s->schema == RF_REPORT_SCHEMA &&
	    (!digest || s->result.totals.digest == *digest))
		return s;
	*why = "stale";
	rf_saved_free(s);
	return NULL;
}

/* ---- how it went ---- */

gboolean rf_store_put_status(const char *dir, const struct rf_point *p,
                             const struct rf_point_status *s, GError **error)
{
	g_autofree char *path = status_path(dir, p);
	g_autofree char *text = g_strdup_printf("%s %.3f %" G_GUINT64_FORMAT " %d %s\n",
	                                        s->failed ? "failed" : "done", s->seconds, s->peak_kib,
	                                        s->code, s->message ? s->message : "");

	return write_file(path, text, strlen(text), error);
}

gboolean rf_store_get_status(const char *dir, const struct rf_point *p, struct rf_point_status *s)
{
	g_autofree char *path = status_path(dir, p), *text = NULL;
	g_auto(GStrv) words = NULL;

	memset(s, 0, sizeof(*s));
	if (!g_file_get_contents(path, &text, NULL, NULL) || !g_str_has_suffix(text, "\n"))
		return FALSE;
	text[strlen(text) - 1] = '\0';
	words = g_strsplit(text, " ", 5);
	if (g_strv_length(words) != 5 ||
	    (strcmp(words[0], "done") != 0 && strcmp(words[0], "failed") != 0))
		return FALSE;
	s->failed = words[0][0] == 'f';
	s->seconds = g_ascii_strtod(words[1], NULL);
	s->peak_kib = g_ascii_strtoull(words[2], NULL, 10);
	s->code = (int)g_ascii_strtoll(words[3], NULL, 10);
	s->message = *words[4] ? g_strdup(words[4]) : NULL;
	return TRUE;
}

void rf_store_drop_status(const char *dir, const struct rf_point *p)
{
	g_autofree char *path = status_path(dir, p);

	g_unlink(path);
}
