/* SPDX-License-Identifier: MIT */
#include "sim/study/axes.h"

#include <glob.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

/* ---- ranges ---- */

enum unit { PLAIN, SIZE, TIME, PAGES, PERCENT };

struct end {
	enum unit unit;
	uint64_t n; /* bytes, nanoseconds, pages, or ten-thousandths of a percent */
};

static const char pages_suffix[] = "pages";

/* "12.5" to ten-thousandths. */
static gboolean parse_decimals(const char *text, uint64_t *n)
{
	unsigned decimals = 0;
	gboolean dot = FALSE;

	if (!g_ascii_isdigit(*text))
		return FALSE;
	for (*n = 0; *text; text++) {
		if (*text == '.' && !dot) {
			dot = TRUE;
			continue;
		}
		if (!g_ascii_isdigit(*text) || (dot && ++decimals > 4) || *n > UINT64_MAX / 1000000)
			return FALSE;
		*n = *n * 10 + (uint64_t)(*text - '0');
	}
	if (dot && !decimals)
		return FALSE;
	for (; decimals < 4; decimals++)
		*n *= 10;
	return TRUE;
}

/* One end of a range; the option's type says what a number without a unit is. */
static gboolean parse_end(enum rf_option_type type, const char *text, struct end *e)
{
	size_t len = strlen(text);

	if (type != RF_OPT_TIME && type != RF_OPT_SIZE && rf_parse_u64(text, &e->n, NULL)) {
		e->unit = PLAIN;
		return TRUE;
	}
	if (type == RF_OPT_INT)
		return FALSE;
	if (type == RF_OPT_STRING && g_str_has_suffix(text, "%")) {
		g_autofree char *number = g_strndup(text, len - 1);

		e->unit = PERCENT;
		return parse_decimals(number, &e->n);
	}
	if (type == RF_OPT_STRING && g_str_has_suffix(text, pages_suffix)) {
		g_autofree char *number = g_strndup(text, len - strlen(pages_suffix));

		e->unit = PAGES;
		return rf_parse_u64(number, &e->n, NULL);
	}
	if (type == RF_OPT_TIME) {
		e->unit = TIME;
		return rf_parse_time(text, &e->n, NULL);
	}
	e->unit = SIZE;
	return rf_parse_size(text, &e->n, NULL);
}

static char *end_text(const struct end *e)
{
	GString *s;

	switch (e->unit) {
	case PLAIN:
		return g_strdup_printf("%" G_GUINT64_FORMAT, e->n);
	case SIZE:
		return rf_exact_size(e->n);
	case TIME:
		return rf_exact_time(e->n);
	case PAGES:
		return g_strdup_printf("%" G_GUINT64_FORMAT "%s", e->n, pages_suffix);
	case PERCENT:
		break;
	}
	s = g_string_new(NULL);
	g_string_append_printf(s, "%" G_GUINT64_FORMAT, e->n / 10000);
	if (e->n % 10000) {
		g_string_append_printf(s, ".%04u", (unsigned)(e->n % 10000));
		while (s->str[s->len - 1] == '0')
			g_string_truncate(s, s->len - 1);
	}
	g_string_append_c(s, '%');
	return g_string_free(s, FALSE);
}

static gboolean bad_range(const struct rf_setting *s, const char *item, const char *expected,
                          GError **error)
{
	rf_set_usage(error, "%s: %s: range %s: expected %s", s->where, s->key, item, expected);
	return FALSE;
}

static void add_end(GPtrArray *out, enum unit unit, uint64_t n)
{
	const struct end e = { unit, n };

	g_ptr_array_add(out, end_text(&e));
}

static gboolean add_steps(const struct rf_setting *s, const char *item, struct end a, struct end b,
                          const char *count, GPtrArray *out, GError **error)
{
	uint64_t n;

	if (!rf_parse_u64(count, &n, NULL) || n < 2 || n > RF_MOST_VALUES)
		return bad_range(s, item, "from 2 to 100000 values after the /", error);
	for (uint64_t i = 0; i < n; i++) {
		__int128 step = ((__int128)b.n - (__int128)a.n) * (__int128)i / (__int128)(n - 1);

		add_end(out, a.unit, (uint64_t)((__int128)a.n + step));
	}
	return TRUE;
}

static gboolean add_powers(const struct rf_setting *s, const char *item, struct end a, struct end b,
                           const char *factor, GPtrArray *out, GError **error)
{
	uint64_t f;

	if (!rf_parse_u64(factor, &f, NULL) || f < 2)
		return bad_range(s, item, "a factor of 2 or more after the *", error);
	if (!a.n || a.n > b.n)
		return bad_range(s, item, "a beginning above 0 and not above the end", error);
	for (uint64_t v = a.n;; v *= f) {
		add_end(out, a.unit, v);
		if (v > b.n / f)
			return TRUE;
	}
}

static gboolean add_whole(const struct rf_setting *s, const char *item, struct end a, struct end b,
                          GPtrArray *out, GError **error)
{
	if (a.unit != PLAIN)
		return bad_range(s, item, "a number of values too, as in 10%..90%/9, or a factor, as "
		                          "in 1M..64M*2", error);
	if (a.n > b.n || b.n - a.n >= RF_MOST_VALUES)
		return bad_range(s, item, "an end above the beginning, by less than 100000", error);
	for (uint64_t v = a.n;; v++) {
		add_end(out, a.unit, v);
		if (v == b.n)
			return TRUE;
	}
}

/* *is: the item looks like a range; then it is one, or an error. */
static gboolean add_range(const struct rf_setting *s, const struct rf_option *o, const char *item,
                          gboolean *is, GPtrArray *out, GError **error)
{
	const char *dots = strstr(item, "..");
	g_autofree char *from = NULL, *to = NULL;
	const char *end, *more;
	struct end a, b;

	/* A path begins with no digit, an enumeration has no order. */
	*is = dots && g_ascii_isdigit(*item) && g_ascii_isdigit(dots[2]) && o->type != RF_OPT_ENUM &&
	      o->type != RF_OPT_BOOL;
	if (!*is)
		return TRUE;
	end = dots + 2;
	more = end + strcspn(end, "/*");
	from = g_strndup(item, (gsize)(dots - item));
	to = g_strndup(end, (gsize)(more - end));
	if (!parse_end(o->type, from, &a) || !parse_end(o->type, to, &b))
		return bad_range(s, item, "two numbers, as in 10%..90%/9 or 1M..64M*2", error);
	/* "0..4M": nothing is nothing in any unit. */
	if (a.unit == PLAIN && a.n == 0)
		a.unit = b.unit;
	if (a.unit != b.unit)
		return bad_range(s, item, "both ends in the same unit", error);
	if (*more == '/')
		return add_steps(s, item, a, b, more + 1, out, error);
	if (*more == '*')
		return add_powers(s, item, a, b, more + 1, out, error);
	return add_whole(s, item, a, b, out, error);
}

/* ---- lists ---- */

/* Of a seam's value, "in=25" belongs to the name before it. */
static gboolean has_options(const struct rf_option *o)
{
	return o->type == RF_OPT_STRING && o->choices && strstr(o->choices, "OPTION=VALUE");
}

static GPtrArray *split(const struct rf_option *o, const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, ",", -1);
	GPtrArray *items = g_ptr_array_new_with_free_func(g_free);

	for (char **w = words; *w; w++) {
		char *word = g_strstrip(*w);

		if (items->len && has_options(o) && strchr(word, '=')) {
			char *before = items->pdata[items->len - 1];

			items->pdata[items->len - 1] = g_strconcat(before, ",", word, NULL);
			g_free(before);
		} else {
			g_ptr_array_add(items, g_strdup(word));
		}
	}
	if (items->len == 0)
		g_ptr_array_add(items, g_strdup(""));
	return items;
}

/* The option as the tables know it; *profile: a figure of the machine profile. */
static const struct rf_option *option_of(const char *key, gboolean *profile)
{
	const struct rf_option *o = rf_options_find(rf_config_options, key);

	*profile = !o;
	return o ? o : rf_options_find(rf_profile_options, key);
}

/* Parse and print again, so that 64M and 65536K are one value. */
static char *canonical(const struct rf_setting *s, const char *value, GError **error)
{
	gboolean profile;
	const struct rf_option *o = option_of(s->key, &profile);
	char *text = NULL;

	if (profile) {
		struct rf_profile p;

		memset(&p, 0, sizeof(p));
		rf_options_init(rf_profile_options, &p);
		if (rf_profile_set(&p, s->where, s->key, value, error))
			text = rf_options_value(o, &p);
		rf_options_clear(rf_profile_options, &p);
	} else {
		struct rf_config c;

		rf_config_init(&c);
		if (rf_options_set(rf_config_options, &c, s->where, s->key, value, error))
			text = rf_options_value(o, &c);
		rf_config_clear(&c);
	}
	return text;
}

static gboolean canonical_values(const struct rf_setting *s, GPtrArray *values, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	if (values->len > RF_MOST_VALUES) {
		rf_set_usage(error, "%s: %s: %u values; expected at most %d", s->where, s->key,
		             values->len, RF_MOST_VALUES);
		return FALSE;
	}
	for (guint i = 0; i < values->len; i++) {
		char *text = canonical(s, values->pdata[i], error);

		if (!text)
			return FALSE;
		g_free(values->pdata[i]);
		values->pdata[i] = text;
		if (g_hash_table_add(seen, text))
			continue;
		rf_set_usage(error, "%s: %s: %s is in the list twice", s->where, s->key, text);
		return FALSE;
	}
	return TRUE;
}

GPtrArray *rf_axis_values(const struct rf_setting *s, GError **error)
{
	gboolean profile, ok = TRUE;
	const struct rf_option *o = option_of(s->key, &profile);
	g_autoptr(GPtrArray) items = split(o, s->value);
	GPtrArray *values = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; ok && i < items->len; i++) {
		const char *item = items->pdata[i];
		gboolean range = FALSE;

		if (*item == '\0' && items->len > 1) {
			rf_set_usage(error, "%s: %s: an empty value in the list \"%s\"", s->where,
			             s->key, s->value);
			ok = FALSE;
			break;
		}
		ok = add_range(s, o, item, &range, values, error);
		if (ok && !range)
			g_ptr_array_add(values, g_strdup(item));
	}
	if (ok && canonical_values(s, values, error))
		return values;
	g_ptr_array_unref(values);
	return NULL;
}

/* ---- traces ---- */

static gboolean add_pattern(const struct rf_setting *s, const char *pattern, GPtrArray *out,
                            GError **error)
{
	glob_t g;

	/* A name that is there needs no pattern in it. */
	if (!strpbrk(pattern, "*?[") || g_file_test(pattern, G_FILE_TEST_EXISTS)) {
		g_ptr_array_add(out, g_strdup(pattern));
		return TRUE;
	}
	if (glob(pattern, 0, NULL, &g) != 0) {
		rf_set_usage(error, "%s: trace %s: no file has such a name", s->where, pattern);
		return FALSE;
	}
	for (size_t i = 0; i < g.gl_pathc; i++)
		g_ptr_array_add(out, g_strdup(g.gl_pathv[i]));
	globfree(&g);
	return TRUE;
}

static GPtrArray *trace_names(const struct rf_section *section, GError **error)
{
	const struct rf_setting *s = rf_settings_find(section->settings, "trace");
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) words = NULL;
	GError *e = NULL;

	if (!s || *s->value == '\0') {
		rf_set_usage(error, "%s: [%s]: expected a trace", section->where, section->name);
		goto fail;
	}
	if (!g_shell_parse_argv(s->value, NULL, &words, &e)) {
		rf_set_usage(error, "%s: trace: %s", s->where, e->message);
		g_error_free(e);
		goto fail;
	}
	for (char **w = words; *w; w++) {
		if (!add_pattern(s, *w, names, error))
			goto fail;
	}
	for (guint i = 0; i < names->len; i++) {
		const char *problem = NULL;

		if (strcmp(names->pdata[i], "-") == 0)
			problem = "standard input can be read only once; expected files";
		else if (!g_hash_table_add(seen, names->pdata[i]))
			problem = "is in the list twice";
		if (problem) {
			rf_set_usage(error, "%s: trace %s: %s", s->where, (char *)names->pdata[i],
			             problem);
			goto fail;
		}
	}
	return names;
fail:
	g_ptr_array_unref(names);
	return NULL;
}

/* ---- points ---- */

void rf_point_free(struct rf_point *p)
{
	g_free(p->section);
	g_free(p->trace);
	g_free(p->format);
	g_free(p->maps);
	g_free(p->params);
	g_array_unref(p->settings);
	g_free(p);
}

/* In the tables' order: the same run has the same id however it was written. */
static void identify(struct rf_point *p)
{
	const struct rf_option *const tables[] = { rf_config_options, rf_profile_options };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *sum = NULL;

	g_string_append_printf(text, "trace=%s\nformat=%s\nmaps=%s\n", p->trace,
	                       p->format ? p->format : "", p->maps ? p->maps : "");
	if (p->params)
		g_string_append_printf(text, "param=%s\n", p->params);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		for (const struct rf_option *o = tables[i]; o->name; o++) {
			const struct rf_setting *s = rf_settings_find(p->settings, o->name);

			if (s)
				g_string_append_printf(text, "%s=%s\n", s->key, s->value);
		}
	}
	sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
	g_strlcpy(p->id, sum, sizeof(p->id));
}

/* A section's lists, and how they are gone through. */
struct axes {
	const struct rf_section *section;
	GPtrArray *setting; /* const struct rf_setting * */
	GPtrArray *values;  /* GPtrArray * of each */
	gboolean zip;
	uint64_t points; /* of one trace */
};

static const char *text_of(const struct rf_section *section, const char *key)
{
	const struct rf_setting *s = rf_settings_find(section->settings, key);

	return s && *s->value ? s->value : NULL;
}

static gboolean is_study_key(const char *key)
{
	return rf_options_find(rf_study_keys, key) != NULL;
}

static gboolean how_combined(struct axes *a, GError **error)
{
	const struct rf_setting *s = rf_settings_find(a->section->settings, "combine");
	const struct rf_setting *first = NULL, *second = NULL;
	uint64_t n = 1;

	if (s && strcmp(s->value, "product") != 0 && strcmp(s->value, "zip") != 0) {
		rf_set_usage(error, "%s: combine=\"%s\": expected product or zip", s->where, s->value);
		return FALSE;
	}
	a->zip = s && strcmp(s->value, "zip") == 0;
	for (guint i = 0; i < a->values->len; i++) {
		const GPtrArray *v = a->values->pdata[i];

		if (v->len == 1)
			continue;
		if (a->zip && first && v->len != n) {
			rf_set_usage(error, "%s: %s has %u values, %s has %" G_GUINT64_FORMAT
			             ": expected as many to zip them",
			             ((struct rf_setting *)a->setting->pdata[i])->where,
			             ((struct rf_setting *)a->setting->pdata[i])->key, v->len, first->key, n);
			return FALSE;
		}
		if (!first)
			first = a->setting->pdata[i];
		else if (!second)
			second = a->setting->pdata[i];
		n = a->zip ? v->len : n * v->len;
		if (n > RF_MOST_POINTS) {
			rf_set_usage(error, "%s: [%s]: more than %d points", a->section->where,
			             a->section->name, RF_MOST_POINTS);
			return FALSE;
		}
	}
	if (second && !s) {
		rf_set_usage(error, "%s: %s and %s both have several values: expected combine to say "
		             "product (each with each) or zip (side by side)",
		             second->where, first->key, second->key);
		return FALSE;
	}
	a->points = n;
	return TRUE;
}

static gboolean axes_make(struct axes *a, const struct rf_section *section, GError **error)
{
	*a = (struct axes){ .section = section };
	a->setting = g_ptr_array_new();
	a->values = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	for (guint i = 0; i < section->settings->len; i++) {
		struct rf_setting *s = &g_array_index(section->settings, struct rf_setting, i);
		GPtrArray *v;

		if (is_study_key(s->key))
			continue;
		v = rf_axis_values(s, error);
		if (!v)
			return FALSE;
		g_ptr_array_add(a->setting, s);
		g_ptr_array_add(a->values, v);
	}
	return how_combined(a, error);
}

static void axes_clear(struct axes *a)
{
	g_ptr_array_unref(a->setting);
	g_ptr_array_unref(a->values);
}

static struct rf_point *point_new(const struct axes *a, const char *trace, uint64_t nth)
{
	struct rf_point *p = g_new0(struct rf_point, 1);
	uint64_t left = a->points;

	p->section = g_strdup(a->section->name);
	p->trace = g_strdup(trace);
	p->format = g_strdup(text_of(a->section, "format"));
	p->maps = g_strdup(text_of(a->section, "maps"));
	p->params = g_strdup(text_of(a->section, "param"));
	p->settings = rf_settings_new();
	for (guint i = 0; i < a->values->len; i++) {
		const struct rf_setting *s = a->setting->pdata[i];
		const GPtrArray *v = a->values->pdata[i];
		uint64_t which = 0;

		if (v->len > 1 && a->zip) {
			which = nth;
		} else if (v->len > 1) {
			left /= v->len;
			which = nth / left % v->len;
		}
		rf_settings_put(p->settings, s->key, v->pdata[which], s->where);
	}
	identify(p);
	return p;
}

static gboolean check_params(const struct rf_section *section, GError **error)
{
	const struct rf_setting *s = rf_settings_find(section->settings, "param");
	GError *e = NULL;

	if (!s || !*s->value || g_shell_parse_argv(s->value, NULL, NULL, &e))
		return TRUE;
	rf_set_usage(error, "%s: param: %s", s->where, e->message);
	g_error_free(e);
	return FALSE;
}

static gboolean add_section(const struct rf_section *section, GPtrArray *points, GError **error)
{
	g_autoptr(GPtrArray) traces = trace_names(section, error);
	struct axes a;
	gboolean ok;

	if (!traces || !check_params(section, error))
		return FALSE;
	ok = axes_make(&a, section, error);
	if (ok && points->len + traces->len * a.points > RF_MOST_POINTS) {
		rf_set_usage(error, "%s: [%s]: more than %d points with those before", section->where,
		             section->name, RF_MOST_POINTS);
		ok = FALSE;
	}
	for (guint t = 0; ok && t < traces->len; t++) {
		for (uint64_t i = 0; i < a.points; i++)
			g_ptr_array_add(points, point_new(&a, traces->pdata[t], i));
	}
	axes_clear(&a);
	return ok;
}

GPtrArray *rf_points_new(const GPtrArray *sections, GError **error)
{
	GPtrArray *points = g_ptr_array_new_with_free_func((GDestroyNotify)rf_point_free);

	for (guint i = 0; i < sections->len; i++) {
		if (!add_section(sections->pdata[i], points, error)) {
			g_ptr_array_unref(points);
			return NULL;
		}
	}
	return points;
}

char *rf_point_title(const struct rf_point *p)
{
	g_autofree char *name = g_path_get_basename(p->trace);
	GString *s = g_string_new(name);

	if (p->params)
		g_string_append_printf(s, " %s", p->params);
	for (guint i = 0; i < p->settings->len; i++) {
		const struct rf_setting *x = &g_array_index(p->settings, struct rf_setting, i);

		g_string_append_printf(s, " %s=%s", x->key, x->value);
	}
	return g_string_free(s, FALSE);
}

char **rf_point_params(const struct rf_point *p)
{
	char **params = NULL;

	if (p->params)
		g_shell_parse_argv(p->params, NULL, &params, NULL);
	return params;
}

gboolean rf_point_config(const struct rf_point *p, struct rf_config *c, GError **error)
{
	rf_config_init(c);
	for (guint i = 0; i < p->settings->len; i++) {
		const struct rf_setting *s = &g_array_index(p->settings, struct rf_setting, i);
		g_autofree char *assignment = g_strdup_printf("%s=%s", s->key, s->value);

		if (rf_config_set_any(c, assignment, error))
			continue;
		rf_config_clear(c);
		return FALSE;
	}
	return TRUE;
}
