/* SPDX-License-Identifier: MIT
 * What the sections of a definition mean.
 */
#include "sim/reproduce/definition.h"

#include <string.h>

#include "base/error.h"
#include "sim/reproduce/formula.h"

static const char *const kinds[] = { "experiment", "given", "chosen", "short", "options", "run",
	                             "outputs", "checks", "ablations", "notes", "anomalies", "plot",
	                             "scenario", NULL };

#define MOST_SEEDS 100

/* ---- life ---- */

static void input_free(void *data)
{
	struct rf_exp_input *in = data;

	g_free(in->name);
	g_free(in->text);
	g_free(in->note);
	g_free(in->where);
	g_free(in);
}

static void run_free(void *data)
{
	struct rf_exp_run *r = data;

	g_free(r->name);
	g_free(r->where);
	g_free(r->scenario);
	g_ptr_array_unref(r->settings);
	g_ptr_array_unref(r->params);
	for (unsigned i = 0; i < r->nresults; i++)
		rf_result_clear(&r->results[i]);
	g_free(r->results);
	g_free(r);
}

static void row_free(void *data)
{
	struct rf_exp_row *row = data;

	g_free(row->label);
	g_free(row->formula);
	g_free(row->where);
	g_free(row->posted);
	g_free(row->miss);
	g_free(row);
}

static void table_free(void *data)
{
	struct rf_exp_table *t = data;

	g_free(t->title);
	g_ptr_array_unref(t->rows);
	g_free(t);
}

static void point_clear(void *data)
{
	struct rf_exp_point *p = data;

	g_free(p->x);
	g_free(p->y);
}

static void series_free(void *data)
{
	struct rf_exp_series *s = data;

	g_free(s->title);
	g_free(s->where);
	g_array_unref(s->points);
	g_free(s);
}

void rf_exp_free(struct rf_experiment *e)
{
	GPtrArray *arrays[] = { e->sections, e->inputs, e->runs,   e->tables,
		                e->notes,    e->anomalies, e->series };

	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		if (arrays[i])
			g_ptr_array_unref(arrays[i]);
	g_free(e->file);
	g_free(e->name);
	g_free(e->title);
	g_free(e->source);
	g_free(e->about);
	g_free(e->xlabel);
	g_free(e->ylabel);
	g_free(e);
}

/* ---- sections ---- */

const struct rf_exp_section *rf_exp_section(const struct rf_experiment *e, const char *kind,
                                            const char *title)
{
	for (guint i = 0; i < e->sections->len; i++) {
		const struct rf_exp_section *s = e->sections->pdata[i];

		if (strcmp(s->kind, kind) == 0 && (!title || strcmp(s->title, title) == 0))
			return s;
	}
	return NULL;
}

static gboolean wrong_key(const struct rf_exp_entry *en, const char *const *keys, GError **error)
{
	const char *near = rf_nearest(en->key, keys);
	g_autofree char *all = g_strjoinv(", ", (char **)keys);

	rf_set_usage(error, "%s: unknown key '%s'; %s%s%s", en->where, en->key,
	             near ? "did you mean " : "expected ", near ? near : all, near ? "?" : "");
	return FALSE;
}

static void put(char **where, const char *value)
{
	g_free(*where);
	*where = g_strdup(value);
}

static gboolean yes_no(const struct rf_exp_entry *en, gboolean *v, GError **error)
{
	*v = strcmp(en->value, "yes") == 0;
	if (*v || strcmp(en->value, "no") == 0)
		return TRUE;
	rf_set_usage(error, "%s: %s = %s: expected yes or no", en->where, en->key, en->value);
	return FALSE;
}

static gboolean define_seeds(struct rf_experiment *e, const struct rf_exp_entry *en, GError **error)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(en->value, 10, 1, MOST_SEEDS, &n, NULL)) {
		rf_set_usage(error, "%s: seeds = %s: expected a number from 1 to %d", en->where, en->value, MOST_SEEDS);
		return FALSE;
	}
	e->seeds = (unsigned)n;
	return TRUE;
}

static gboolean define_head(struct rf_experiment *e, const struct rf_exp_entry *en, GError **error)
{
	static const char *const keys[] = { "name", "title", "source", "about", "quick", "seeds", NULL };
	char **const texts[] = { &e->name, &e->title, &e->source, &e->about };

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (strcmp(en->key, keys[i]) == 0) {
			put(texts[i], en->value);
			return TRUE;
		}
	if (strcmp(en->key, "seeds") == 0)
		return define_seeds(e, en, error);
	return strcmp(en->key, "quick") == 0 ? yes_no(en, &e->quick, error) : wrong_key(en, keys, error);
}

static gboolean is_name(const char *s)
{
	if (!g_ascii_isalpha(*s) && *s != '_')
		return FALSE;
	while (g_ascii_isalnum(*s) || *s == '_')
		s++;
	return *s == '\0';
}

static struct rf_exp_input *find_input(const struct rf_experiment *e, const char *name)
{
	for (guint i = 0; i < e->inputs->len; i++) {
		struct rf_exp_input *in = e->inputs->pdata[i];

		if (strcmp(in->name, name) == 0)
			return in;
	}
	return NULL;
}

/* NAME = VALUE [cal] [| NOTE] */
static gboolean define_input(struct rf_experiment *e, const struct rf_exp_entry *en,
                             enum rf_exp_origin origin, GError **error)
{
	const char *bar = strchr(en->value, '|');
	g_autofree char *text = bar ? g_strndup(en->value, (gsize)(bar - en->value)) : g_strdup(en->value);
	struct rf_exp_input *in;

	if (!is_name(en->key) || find_input(e, en->key)) {
		rf_set_usage(error, "%s: input '%s': expected a name that is not taken", en->where, en->key);
		return FALSE;
	}
	g_strstrip(text);
	in = g_new0(struct rf_exp_input, 1);
	in->cal = g_str_has_suffix(text, " cal");
	if (in->cal)
		text[strlen(text) - 4] = '\0';
	in->name = g_strdup(en->key);
	in->text = g_strdup(g_strchomp(text));
	in->note = g_strdup(bar ? bar + 1 : "");
	g_strstrip(in->note);
	in->where = g_strdup(en->where);
	in->origin = origin;
	g_ptr_array_add(e->inputs, in);
	return TRUE;
}

/* POSTED [within N% | exactly | cal] */
static gboolean define_posted(struct rf_exp_row *row, const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \t", 0);
	g_autoptr(GPtrArray) w = g_ptr_array_new();
	g_auto(GStrv) parts = NULL;
	g_autofree char *plain = NULL;
	char *end;

	for (char **p = words; *p; p++)
		if (**p)
			g_ptr_array_add(w, *p);
	if (w->len == 0)
		goto bad;
	row->posted = g_strdup(w->pdata[0]);
	parts = g_strsplit(row->posted, ",", 0);
	plain = g_strjoinv("", parts);
	row->want = g_ascii_strtod(plain, &end);
	if (end == plain || *end)
		goto bad;
	if (w->len == 1)
		return TRUE;
	if (w->len == 2 && strcmp(w->pdata[1], "cal") == 0) {
		row->rule = RF_EXP_CAL;
		return TRUE;
	}
	if (w->len == 2 && strcmp(w->pdata[1], "exactly") == 0) {
		row->rule = RF_EXP_EXACT;
		return TRUE;
	}
	if (w->len == 3 && strcmp(w->pdata[1], "within") == 0) {
		row->rule = RF_EXP_WITHIN;
		row->within = g_ascii_strtod(w->pdata[2], &end);
		if (end != w->pdata[2] && strcmp(end, "%") == 0 && row->within > 0)
			return TRUE;
	}
bad:
	rf_set_usage(error, "%s: '~ %s': expected a posted number, then nothing, 'within N%%', 'exactly' or 'cal'",
	             row->where, text);
	return FALSE;
}

/* LABEL = FORMULA [~ POSTED …], or miss = TEXT for the row before. */
static gboolean define_row(struct rf_exp_table *t, const struct rf_exp_entry *en, GError **error)
{
	g_auto(GStrv) halves = g_strsplit(en->value, "~", 2);
	struct rf_exp_row *row;

	if (strcmp(en->key, "miss") == 0) {
		if (!t->rows->len) {
			rf_set_usage(error, "%s: miss: expected a row before", en->where);
			return FALSE;
		}
		row = t->rows->pdata[t->rows->len - 1];
		put(&row->miss, en->value);
		return TRUE;
	}
	row = g_new0(struct rf_exp_row, 1);
	g_ptr_array_add(t->rows, row);
	row->label = g_strdup(en->key);
	row->formula = g_strdup(halves[0] ? g_strstrip(halves[0]) : "");
	row->where = g_strdup(en->where);
	if (!halves[0] || !halves[1])
		return TRUE;
	if (t->kind != RF_EXP_OUTPUTS) {
		rf_set_usage(error, "%s: a check has no posted figure", en->where);
		return FALSE;
	}
	return define_posted(row, g_strstrip(halves[1]), error);
}

static gboolean define_table(struct rf_experiment *e, const struct rf_exp_section *s, enum rf_exp_kind kind,
                             GError **error)
{
	struct rf_exp_table *t = g_new0(struct rf_exp_table, 1);

	t->kind = kind;
	t->title = g_strdup(s->title);
	t->rows = g_ptr_array_new_with_free_func(row_free);
	g_ptr_array_add(e->tables, t);
	for (guint i = 0; i < s->entries->len; i++)
		if (!define_row(t, &g_array_index(s->entries, struct rf_exp_entry, i), error))
			return FALSE;
	return TRUE;
}

/* series TITLE = X: Y, X: Y, …  Commas in parentheses belong to formulas. */
static gboolean define_series(struct rf_experiment *e, const struct rf_exp_entry *en, GError **error)
{
	struct rf_exp_series *s = g_new0(struct rf_exp_series, 1);
	const char *p = en->value;

	g_ptr_array_add(e->series, s);
	s->title = g_strdup(en->key + strlen("series "));
	s->where = g_strdup(en->where);
	s->points = g_array_new(FALSE, TRUE, sizeof(struct rf_exp_point));
	g_array_set_clear_func(s->points, point_clear);
	while (*p) {
		const char *start = p, *colon;
		g_autofree char *one = NULL;
		struct rf_exp_point point = { 0 };
		int depth = 0;

		for (; *p && (depth > 0 || *p != ','); p++)
			depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		one = g_strndup(start, (gsize)(p - start));
		colon = strchr(one, ':');
		if (!colon) {
			rf_set_usage(error, "%s: '%s': expected X: Y, two formulas", en->where, one);
			return FALSE;
		}
		point.x = g_strndup(one, (gsize)(colon - one));
		point.y = g_strdup(colon + 1);
		g_array_append_val(s->points, point);
		p += *p == ',';
	}
	return TRUE;
}

static gboolean define_plot(struct rf_experiment *e, const struct rf_exp_entry *en, GError **error)
{
	static const char *const keys[] = { "xlabel", "ylabel", "logx", "logy", "series TITLE", NULL };

	if (g_str_has_prefix(en->key, "series "))
		return define_series(e, en, error);
	if (strcmp(en->key, "xlabel") == 0 || strcmp(en->key, "ylabel") == 0) {
		put(en->key[0] == 'x' ? &e->xlabel : &e->ylabel, en->value);
		return TRUE;
	}
	if (strcmp(en->key, "logx") == 0)
		return yes_no(en, &e->logx, error);
	if (strcmp(en->key, "logy") == 0)
		return yes_no(en, &e->logy, error);
	return wrong_key(en, keys, error);
}

static gboolean define_entry(struct rf_experiment *e, const struct rf_exp_section *s,
                             const struct rf_exp_entry *en, GError **error)
{
	if (strcmp(s->kind, "experiment") == 0)
		return define_head(e, en, error);
	if (strcmp(s->kind, "given") == 0)
		return define_input(e, en, RF_EXP_GIVEN, error);
	if (strcmp(s->kind, "chosen") == 0)
		return define_input(e, en, RF_EXP_CHOSEN, error);
	if (strcmp(s->kind, "notes") == 0)
		g_ptr_array_add(e->notes, g_strdup(en->value));
	else if (strcmp(s->kind, "anomalies") == 0)
		g_ptr_array_add(e->anomalies, g_strdup(en->value));
	else if (strcmp(s->kind, "plot") == 0)
		return define_plot(e, en, error);
	return TRUE; /* of runs and options: when they are prepared */
}

static gboolean define_section(struct rf_experiment *e, const struct rf_exp_section *s, GError **error)
{
	if (!g_strv_contains(kinds, s->kind)) {
		const char *near = rf_nearest(s->kind, kinds);
		g_autofree char *all = g_strjoinv(", ", (char **)kinds);

		rf_set_usage(error, "%s: unknown section [%s]; %s%s%s", s->where, s->kind,
		             near ? "did you mean " : "expected ", near ? near : all, near ? "?" : "");
		return FALSE;
	}
	if (strcmp(s->kind, "outputs") == 0)
		return define_table(e, s, RF_EXP_OUTPUTS, error);
	if (strcmp(s->kind, "checks") == 0)
		return define_table(e, s, RF_EXP_CHECKS, error);
	if (strcmp(s->kind, "ablations") == 0)
		return define_table(e, s, RF_EXP_ABLATIONS, error);
	for (guint i = 0; i < s->entries->len; i++)
		if (!define_entry(e, s, &g_array_index(s->entries, struct rf_exp_entry, i), error))
			return FALSE;
	return TRUE;
}

gboolean rf_exp_define(struct rf_experiment *e, GError **error)
{
	e->seeds = 1;
	e->inputs = g_ptr_array_new_with_free_func(input_free);
	e->runs = g_ptr_array_new_with_free_func(run_free);
	e->tables = g_ptr_array_new_with_free_func(table_free);
	e->notes = g_ptr_array_new_with_free_func(g_free);
	e->anomalies = g_ptr_array_new_with_free_func(g_free);
	e->series = g_ptr_array_new_with_free_func(series_free);
	for (guint i = 0; i < e->sections->len; i++)
		if (!define_section(e, e->sections->pdata[i], error))
			return FALSE;
	if (!e->name || !e->title || !e->source) {
		rf_set_usage(error, "%s: [experiment]: expected name, title and source", e->file);
		return FALSE;
	}
	if (!rf_exp_section(e, "run", NULL) || !rf_exp_section(e, "scenario", NULL)) {
		rf_set_usage(error, "%s: expected a section [run NAME] and a section [scenario]", e->file);
		return FALSE;
	}
	return TRUE;
}

/* ---- inputs ---- */

/* A loop's variable while runs are made. */
struct loop {
	const char *name;
	double value;
};

struct scope {
	const struct rf_experiment *e;
	guint ninputs;       /* those that have a value */
	const GArray *loops; /* struct loop, or NULL */
};

static gboolean scope_name(void *data, const char *name, double *v, GError **error)
{
	const struct scope *sc = data;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;

	for (guint i = 0; sc->loops && i < sc->loops->len; i++) {
		const struct loop *l = &g_array_index(sc->loops, struct loop, i);

		if (strcmp(l->name, name) == 0) {
			*v = l->value;
			return TRUE;
		}
		g_ptr_array_add(names, (char *)l->name);
	}
	for (guint i = 0; i < sc->ninputs; i++) {
		const struct rf_exp_input *in = sc->e->inputs->pdata[i];

		if (strcmp(in->name, name) == 0) {
			*v = in->value;
			return TRUE;
		}
		g_ptr_array_add(names, in->name);
	}
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	rf_set_usage(error, "no input '%s'; %s%s%s", name, near ? "did you mean " : "expected one of the ones above",
	             near ? near : "", near ? "?" : "");
	return FALSE;
}

static gboolean override(struct rf_experiment *e, const char *where, const char *name, const char *value,
                         GError **error)
{
	struct rf_exp_input *in = find_input(e, name);

	if (in) {
		put(&in->text, value);
		put(&in->where, where);
		return TRUE;
	}
	rf_set_usage(error, "%s: %s has no input '%s'", where, e->name, name);
	return FALSE;
}

static gboolean prepare_inputs(struct rf_experiment *e, const char *const *params, gboolean is_short,
                               GError **error)
{
	const struct rf_exp_section *s = is_short ? rf_exp_section(e, "short", NULL) : NULL;
	struct scope sc = { .e = e };

	for (guint i = 0; s && i < s->entries->len; i++) {
		const struct rf_exp_entry *en = &g_array_index(s->entries, struct rf_exp_entry, i);

		if (!override(e, en->where, en->key, en->value, error))
			return FALSE;
	}
	for (; params && *params; params++) {
		g_auto(GStrv) pair = g_strsplit(*params, "=", 2);

		if (!pair[0] || !pair[1]) {
			rf_set_usage(error, "--param %s: expected NAME=VALUE", *params);
			return FALSE;
		}
		if (!override(e, "--param", pair[0], pair[1], error))
			return FALSE;
	}
	for (; sc.ninputs < e->inputs->len; sc.ninputs++) {
		struct rf_exp_input *in = e->inputs->pdata[sc.ninputs];

		if (!rf_formula_value(in->text, scope_name, &sc, &in->value, error)) {
			g_prefix_error(error, "%s: %s: ", in->where, in->name);
			return FALSE;
		}
	}
	return TRUE;
}

/* ---- runs ---- */

struct rf_exp_run *rf_exp_find_run(const struct rf_experiment *e, const char *name)
{
	for (guint i = 0; i < e->runs->len; i++) {
		struct rf_exp_run *r = e->runs->pdata[i];

		if (strcmp(r->name, name) == 0)
			return r;
	}
	return NULL;
}

/* A later setting of a key takes the earlier one's place. */
static void put_pair(GPtrArray *pairs, const char *key, const char *value)
{
	char *pair = g_strconcat(key, "=", value, NULL);
	size_t n = strlen(key) + 1;

	for (guint i = 0; i < pairs->len; i++)
		if (strncmp(pairs->pdata[i], pair, n) == 0) {
			g_free(pairs->pdata[i]);
			pairs->pdata[i] = pair;
			return;
		}
	g_ptr_array_add(pairs, pair);
}

static gboolean prepare_setting(struct rf_exp_run *r, const struct rf_exp_entry *en, struct scope *sc,
                                GError **error)
{
	g_autofree char *value = NULL;

	if (g_str_has_prefix(en->key, "for "))
		return TRUE;
	if (g_str_has_prefix(en->key, "param ")) {
		double v;

		if (!rf_formula_value(en->value, scope_name, sc, &v, error))
			goto bad;
		value = rf_formula_number(v);
		put_pair(r->params, en->key + strlen("param "), value);
		return TRUE;
	}
	value = rf_formula_expand(en->value, scope_name, sc, error);
	if (!value)
		goto bad;
	if (strcmp(en->key, "scenario") == 0)
		put(&r->scenario, value);
	else
		put_pair(r->settings, en->key, value);
	return TRUE;
bad:
	g_prefix_error(error, "%s: %s: ", en->where, en->key);
	return FALSE;
}

static gboolean make_run(struct rf_experiment *e, const struct rf_exp_section *s, struct scope *sc,
                         GError **error)
{
	const struct rf_exp_section *options = rf_exp_section(e, "options", NULL);
	const struct rf_exp_section *from[] = { options, s };
	struct rf_exp_run *r = g_new0(struct rf_exp_run, 1);

	r->settings = g_ptr_array_new_with_free_func(g_free);
	r->params = g_ptr_array_new_with_free_func(g_free);
	r->scenario = g_strdup("");
	r->where = g_strdup(s->where);
	r->results = g_new0(struct rf_result, e->seeds);
	for (r->nresults = 0; r->nresults < e->seeds; r->nresults++)
		rf_result_init(&r->results[r->nresults]);
	g_ptr_array_add(e->runs, r);
	r->name = rf_formula_expand(s->title, scope_name, sc, error);
	if (!r->name) {
		g_prefix_error(error, "%s: ", s->where);
		return FALSE;
	}
	if (!is_name(r->name) || rf_exp_find_run(e, r->name) != r) {
		rf_set_usage(error, "%s: run '%s': expected a name of letters, digits and _ that is not taken",
		             s->where, r->name);
		return FALSE;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(from); i++)
		for (guint j = 0; from[i] && j < from[i]->entries->len; j++)
			if (!prepare_setting(r, &g_array_index(from[i]->entries, struct rf_exp_entry, j), sc, error))
				return FALSE;
	if (rf_exp_section(e, "scenario", r->scenario))
		return TRUE;
	rf_set_usage(error, "%s: run %s: no section [scenario %s]", s->where, r->name, r->scenario);
	return FALSE;
}

/* Runs of the section from its nth loop on. */
static gboolean make_runs(struct rf_experiment *e, const struct rf_exp_section *s, guint from, GArray *loops,
                          GError **error)
{
	struct scope sc = { .e = e, .ninputs = e->inputs->len, .loops = loops };
	const struct rf_exp_entry *en = NULL;
	g_auto(GStrv) values = NULL;

	for (; from < s->entries->len && !en; from++) {
		en = &g_array_index(s->entries, struct rf_exp_entry, from);
		if (!g_str_has_prefix(en->key, "for "))
			en = NULL;
	}
	if (!en)
		return make_run(e, s, &sc, error);
	values = g_strsplit_set(en->value, " \t", 0);
	for (char **v = values; *v; v++) {
		struct loop l = { en->key + strlen("for "), 0 };
		gboolean ok;

		if (!**v)
			continue;
		if (!rf_formula_value(*v, scope_name, &sc, &l.value, error)) {
			g_prefix_error(error, "%s: %s: ", en->where, en->key);
			return FALSE;
		}
		g_array_append_val(loops, l);
		ok = make_runs(e, s, from, loops, error);
		g_array_set_size(loops, loops->len - 1);
		if (!ok)
			return FALSE;
	}
	return TRUE;
}

gboolean rf_exp_prepare(struct rf_experiment *e, const char *const *params, gboolean is_short,
                        GError **error)
{
	g_autoptr(GArray) loops = g_array_new(FALSE, FALSE, sizeof(struct loop));

	e->is_short = is_short;
	if (!prepare_inputs(e, params, is_short, error))
		return FALSE;
	for (guint i = 0; i < e->sections->len; i++) {
		const struct rf_exp_section *s = e->sections->pdata[i];

		if (strcmp(s->kind, "run") == 0 && !make_runs(e, s, 0, loops, error))
			return FALSE;
	}
	return rf_exp_judge(e, error);
}
