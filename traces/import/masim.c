/* SPDX-License-Identifier: MIT
 * Configurations of masim, the memory access generator of DAMON's author: regions, and phases that
 * access them.  masim accesses as fast as it can; here a phase has so many accesses a ms: --param
 * rate=N, 1000 without it.  Which pattern is next is drawn by weight: --param seed=N.
 */
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "traces/import/formats.h"
#include "traces/import/lines.h"

#define NAME_MAX_BYTES 64
#define REGIONS_START ((uint64_t)1 << 44)
#define REGION_MAX ((uint64_t)1 << 44)
#define ITEMS_MAX 65536 /* regions, phases, patterns of a phase */
#define PATTERN "a pattern: REGION, RANDOM, STRIDE, WEIGHT[, ro|wo|rw]"

struct region {
	char name[NAME_MAX_BYTES];
	uint64_t addr, size, at; /* at: where the sequential pattern stands */
};

struct pattern {
	guint region;
	gboolean random;
	uint64_t stride;
	uint32_t weight;
	enum { WRITE_ONLY, READ_ONLY, READ_WRITE } mode;
};

struct phase {
	char name[NAME_MAX_BYTES];
	uint64_t ms;
	gboolean timed;
	guint first, n;   /* patterns */
	uint32_t weights; /* their sum */
};

struct masim {
	struct rf_lines lines;
	GArray *regions, *phases, *patterns;
	gboolean in_paragraph, regions_done;
	uint64_t rate, seed;
	struct rf_rng rng;
	/* how far it has run */
	guint phase;
	uint64_t done, before_ms;
	gboolean begun;
};

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct masim *m = self;

	m->regions = g_array_new(FALSE, TRUE, sizeof(struct region));
	m->phases = g_array_new(FALSE, TRUE, sizeof(struct phase));
	m->patterns = g_array_new(FALSE, TRUE, sizeof(struct pattern));
	m->rate = 1000;
	m->seed = 1;
	for (unsigned i = 0; opt != NULL && opt->params != NULL && opt->params[i] != NULL; i++) {
		const char *param = opt->params[i];
		uint64_t *to = g_str_has_prefix(param, "rate=")   ? &m->rate
		               : g_str_has_prefix(param, "seed=") ? &m->seed
		                                                  : NULL;

		if (to == NULL || !rf_parse_u64(param + 5, to, NULL) || m->rate < 1 || m->rate > 1000000) {
			rf_set_usage(error, "--param %s; expected rate=N (accesses a ms, 1 to 1000000) or "
			             "seed=N", param);
			return FALSE;
		}
	}
	m->rng.s = m->seed;
	return TRUE;
}

static void clear(void *self)
{
	struct masim *m = self;

	g_array_unref(m->regions);
	g_array_unref(m->phases);
	g_array_unref(m->patterns);
}

/* ---- the configuration ---- */

static gboolean comma(char **s)
{
	rf_take_blanks(s);
	if (!rf_take_literal(s, ","))
		return FALSE;
	rf_take_blanks(s);
	return TRUE;
}

/* "a, 104857600[, file]" */
static enum rf_line region(struct masim *m, char *s, GError **error)
{
	struct region r = { .addr = REGIONS_START };

	if (!rf_take_word(&s, ",", r.name, sizeof(r.name)) || !comma(&s) ||
	    !rf_take_digits(&s, 10, &r.size) || (*s != 0 && !comma(&s)) || r.size == 0 ||
	    r.size > REGION_MAX)
		return rf_lines_expected(&m->lines, s, "a region: NAME, SIZE[, FILE]", error);
	if (m->regions->len > 0) {
		const struct region *last = &g_array_index(m->regions, struct region, m->regions->len - 1);

		r.addr = last->addr + ((last->size + 0xffff) & ~(uint64_t)0xffff) + 0x10000;
	}
	if (m->regions->len >= ITEMS_MAX)
		return rf_lines_expected(&m->lines, s, "at most 65536 regions", error);
	g_array_append_val(m->regions, r);
	return RF_LINE_TAKEN;
}

static gboolean find_region(const struct masim *m, const char *name, guint *at)
{
	for (*at = 0; *at < m->regions->len; ++*at)
		if (strcmp(g_array_index(m->regions, struct region, *at).name, name) == 0)
			return TRUE;
	return FALSE;
}

/* "a, 1, 64, 90[, wo]" */
static enum rf_line pattern(struct masim *m, struct phase *p, char *s, GError **error)
{
	struct pattern a = { .mode = WRITE_ONLY };
	char name[NAME_MAX_BYTES], *at = s;
	uint64_t random, weight;

	if (!rf_take_word(&s, ",", name, sizeof(name)) || !comma(&s) ||
	    !rf_take_digits(&s, 10, &random) || !comma(&s) || !rf_take_digits(&s, 10, &a.stride) ||
	    !comma(&s) || !rf_take_digits(&s, 10, &weight) || (*s != 0 && !comma(&s)))
		return rf_lines_expected(&m->lines, s, PATTERN, error);
	if (!find_region(m, name, &a.region))
		return rf_lines_expected(&m->lines, at, "the name of a region above", error);
	if (a.stride == 0 || a.stride > REGION_MAX || weight == 0 || weight > 1000000 ||
	    p->n >= ITEMS_MAX / 16)
		return rf_lines_expected(&m->lines, at, "a stride, and a weight from 1 to 1000000", error);
	if (*s != 0) {
		if (strcmp(s, "ro") != 0 && strcmp(s, "wo") != 0 && strcmp(s, "rw") != 0)
			return rf_lines_expected(&m->lines, s, "ro, wo or rw", error);
		a.mode = s[0] == 'w' ? WRITE_ONLY : s[1] == 'o' ? READ_ONLY : READ_WRITE;
	}
	a.random = random != 0;
	a.weight = (uint32_t)weight;
	p->weights += a.weight;
	p->n++;
	g_array_append_val(m->patterns, a);
	return RF_LINE_TAKEN;
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct masim *m = self;
	struct phase *p;

	if (*s == '#')
		return RF_LINE_OTHER;
	if (s[strspn(s, " \t")] == 0) {
		m->regions_done |= m->in_paragraph;
		m->in_paragraph = FALSE;
		return RF_LINE_OTHER;
	}
	if (!m->regions_done) {
		m->in_paragraph = TRUE;
		return region(m, s, error);
	}
	if (!m->in_paragraph) {
		struct phase fresh = { .first = m->patterns->len };

		if (m->phases->len >= ITEMS_MAX)
			return rf_lines_expected(&m->lines, s, "at most 65536 phases", error);
		g_strlcpy(fresh.name, s, sizeof(fresh.name));
		g_array_append_val(m->phases, fresh);
		m->in_paragraph = TRUE;
		return RF_LINE_TAKEN;
	}
	p = &g_array_index(m->phases, struct phase, m->phases->len - 1);
	if (p->timed)
		return pattern(m, p, s, error);
	p->timed = TRUE;
	if (!rf_take_digits(&s, 10, &p->ms) || *s != 0 || p->ms > (uint64_t)1 << 32)
		return rf_lines_expected(&m->lines, s, "the time of a phase in ms", error);
	return RF_LINE_TAKEN;
}

/* ---- the run ---- */

static gboolean map_regions(struct masim *m, GError **error)
{
	struct rf_event task = { .kind = RF_EV_TASK, .tid = 1 };
	gboolean good = rf_builder_event(m->lines.b, &task, error);

	for (guint i = 0; i < m->regions->len && good; i++) {
		const struct region *r = &g_array_index(m->regions, struct region, i);
		struct rf_event map = {
			.kind = RF_EV_MMAP, .tid = 1, .addr = r->addr, .len = r->size,
			.prot = RF_PROT_R | RF_PROT_W, .name = r->name,
		};

		good = rf_builder_event(m->lines.b, &map, error);
	}
	return good;
}

static void access_one(struct masim *m, const struct phase *p)
{
	uint32_t draw = rf_rng_below(&m->rng, p->weights);
	const struct pattern *a = &g_array_index(m->patterns, struct pattern, p->first);
	struct region *r;
	uint64_t off;

	for (; draw >= a->weight; a++)
		draw -= a->weight;
	r = &g_array_index(m->regions, struct region, a->region);
	if (a->random) {
		off = rf_rng_next(&m->rng) % r->size;
	} else {
		off = r->at;
		r->at = a->stride < r->size - off ? off + a->stride : 0;
	}
	if (a->mode != WRITE_ONLY)
		rf_lines_access(&m->lines, RF_READ, r->addr + off, 1);
	if (a->mode != READ_ONLY)
		rf_lines_access(&m->lines, RF_WRITE, r->addr + off, 1);
}

static gboolean start_phase(struct masim *m, const struct phase *p, GError **error)
{
	struct rf_event mark = { .kind = RF_EV_MARK, .name = p->name };

	if (!p->timed || p->n == 0) {
		rf_set_data(error, "%s: phase '%s' ends without a pattern; expected its time in ms, then "
		            PATTERN, rf_input_name(m->lines.in), p->name);
		return FALSE;
	}
	return rf_builder_event(m->lines.b, &mark, error);
}

static enum rf_step end(void *self, GError **error)
{
	struct masim *m = self;

	if (!m->begun) {
		m->begun = TRUE;
		if (m->phases->len == 0) {
			rf_set_data(error, "%s: no phase; expected a paragraph with its name, its time in ms, "
			            "and " PATTERN, rf_input_name(m->lines.in));
			return RF_STEP_ERROR;
		}
		if (!map_regions(m, error))
			return RF_STEP_ERROR;
	}
	while (m->phase < m->phases->len && !rf_builder_full(m->lines.b)) {
		const struct phase *p = &g_array_index(m->phases, struct phase, m->phase);

		if (m->done == 0 && !start_phase(m, p, error))
			return RF_STEP_ERROR;
		if (m->done % m->rate == 0 &&
		    !rf_lines_time_from_0(&m->lines, (m->before_ms + m->done / m->rate) * 1000000, error))
			return RF_STEP_ERROR;
		if (m->done == p->ms * m->rate) {
			m->before_ms += p->ms;
			m->phase++;
			m->done = 0;
			continue;
		}
		access_one(m, p);
		m->done++;
	}
	return m->phase < m->phases->len ? RF_STEP_MORE : RF_STEP_END;
}

static const struct rf_line_format format = {
	.size = sizeof(struct masim),
	.example = "a, 104857600",
	.blank_lines = TRUE,
	.begin = begin,
	.line = line,
	.end = end,
	.clear = clear,
};

const struct rf_importer rf_masim_importer = {
	.name = "masim",
	.summary = "configurations of masim, run: --param rate=N accesses a ms (1000), seed=N",
	.takes_params = TRUE,
	.cannot = "how fast masim would access (rate says it); instruction fetches; masim's own memory",
	.lines = &format,
};
