/* SPDX-License-Identifier: MIT
 * Cache traces in columns, as libCacheSim reads them.  Which column is what says a heading, or
 * parameters: --param id=2 --param time=1 --param delimiter=; (columns count from 1).
 */
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/objects.h"

#define COLUMNS_MAX 64

struct csv {
	struct rf_lines lines;
	struct rf_objects objects;
	char delimiter[2];
	unsigned id, time; /* columns from 1; 0: not known, not there */
	gboolean told;     /* by parameters */
};

/* Names of columns in headings. */
static const char *const ids[] = { "obj_id", "obj-id", "object_id", "object", "id", "key", "lbn", NULL };
static const char *const times[] = { "time", "timestamp", "clock_time", "ts", NULL };

static gboolean set_param(struct csv *c, const char *param, GError **error)
{
	const char *value = strchr(param, '=');
	uint64_t n;

	if (g_str_has_prefix(param, "delimiter=") && value[1] != 0 && value[2] == 0) {
		c->delimiter[0] = value[1];
		return TRUE;
	}
	if (value != NULL && rf_parse_u64(value + 1, &n, NULL) && n >= 1 && n <= COLUMNS_MAX) {
		if (g_str_has_prefix(param, "id=")) {
			c->id = (unsigned)n;
			return TRUE;
		}
		if (g_str_has_prefix(param, "time=")) {
			c->time = (unsigned)n;
			return TRUE;
		}
	}
	rf_set_usage(error, "--param %s; expected id=N, time=N (columns from 1 to %u), or delimiter=C",
	             param, COLUMNS_MAX);
	return FALSE;
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct csv *c = self;

	c->delimiter[0] = ',';
	for (unsigned i = 0; opt != NULL && opt->params != NULL && opt->params[i] != NULL; i++) {
		if (!set_param(c, opt->params[i], error))
			return FALSE;
	}
	c->told = c->id != 0;
	return rf_objects_init(&c->objects, c->lines.b, error);
}

static void clear(void *self)
{
	rf_objects_clear(&((struct csv *)self)->objects);
}

/* The first line, where it names columns. */
static gboolean heading(struct csv *c, const char *s)
{
	g_auto(GStrv) names = g_strsplit(s, c->delimiter, COLUMNS_MAX);
	unsigned id = 0, time = 0;

	for (unsigned i = 0; names[i] != NULL; i++) {
		g_autofree char *name = g_ascii_strdown(g_strstrip(names[i]), -1);

		if (id == 0 && g_strv_contains(ids, name))
			id = i + 1;
		if (time == 0 && g_strv_contains(times, name))
			time = i + 1;
	}
	if (id == 0)
		return FALSE;
	if (!c->told) {
		c->id = id;
		c->time = time;
	}
	return TRUE;
}

/* Numbers are themselves.  Other names are told apart by 64 bits of a hash. */
static uint64_t object_of(const char *s, size_t n)
{
	char *end = (char *)s;
	uint64_t h;

	if (rf_take_digits(&end, 10, &h) && end == s + n)
		return h;
	h = 0x9FB21C651E98DF25u ^ n;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ (uint8_t)s[i]) * 0xD6E8FEB86659FD93u;
		h ^= h >> 29;
	}
	return h;
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct csv *c = self;
	char *id = NULL, *time = NULL, *at = s;
	uint64_t ns;
	uint32_t page;

	if (c->lines.records == 0 && heading(c, s))
		return RF_LINE_TAKEN;
	if (c->id == 0)
		return RF_LINE_OTHER;
	for (unsigned i = 1; i <= MAX(c->id, c->time); i++) {
		if (i == c->id)
			id = at;
		if (i == c->time)
			time = at;
		at += strcspn(at, c->delimiter);
		if (*at == 0 && i < MAX(c->id, c->time))
			return strchr(s, c->delimiter[0]) == NULL
			               ? RF_LINE_OTHER
			               : rf_lines_expected(&c->lines, at, "another column", error);
		at += *at != 0;
	}
	if (time != NULL && !rf_take_fraction(&time, 9, &ns))
		return rf_lines_expected(&c->lines, time, "a time in seconds", error);
	if (id == NULL || strcspn(id, c->delimiter) == 0)
		return rf_lines_expected(&c->lines, id != NULL ? id : s, "an object's name", error);
	if (time != NULL && !rf_lines_time(&c->lines, ns, error))
		return RF_LINE_BAD;
	page = rf_objects_page(&c->objects, c->lines.b, object_of(id, strcspn(id, c->delimiter)));
	if (page == UINT32_MAX) {
		rf_set_env(error, "no memory for more than %u objects", c->objects.n);
		return RF_LINE_BAD;
	}
	rf_builder_run(c->lines.b, 1, RF_WRITE, page, 1);
	return RF_LINE_TAKEN;
}

static const struct rf_line_format format = {
	.size = sizeof(struct csv),
	.example = "time,obj_id,obj_size (a heading; or --param id=2 --param time=1)",
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_csv_importer = {
	.name = "csv",
	.summary = "cache traces in columns (libCacheSim): a heading names time and obj_id, or --param "
	           "id=N, time=N and delimiter=C do",
	.takes_params = TRUE,
	.cannot = "reads from writes (all are taken as writes, so that every page has a frame of its own); "
	          "sizes of objects (each is a page)",
	.lines = &format,
};
