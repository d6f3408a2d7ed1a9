/* SPDX-License-Identifier: MIT
 * The kinds of synthetic workloads: which page comes next.
 */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "traces/synth.h"
#include "traces/zipf.h"

#define PAGES_MAX ((int64_t)1 << 28) /* 1 TiB of 4 KiB pages */
#define ACCESSES_MAX ((int64_t)1 << 48)

/* The members of struct rf_synth_common that every table begins with. */
#define COMMON(accesses_def, pages_def, pages_help, write_def, backing_help)                       \
	{ "accesses",   RF_OPT_INT,   offsetof(struct rf_synth_common, accesses),                  \
	  NULL,         accesses_def, 0,                                                           \
	  ACCESSES_MAX, NULL,         "accesses in all",                                           \
	  NULL },                                                                                  \
		{ "pages",   RF_OPT_INT, offsetof(struct rf_synth_common, pages),                  \
		  "pages",   pages_def,  1,                                                        \
		  PAGES_MAX, NULL,       pages_help,                                               \
		  NULL },                                                                          \
		{ "write",                                                                         \
		  RF_OPT_INT,                                                                      \
		  offsetof(struct rf_synth_common, write),                                         \
		  "percent",                                                                       \
		  write_def,                                                                       \
		  0,                                                                               \
		  100,                                                                             \
		  NULL,                                                                            \
		  "share of writes; first accesses to anonymous pages are writes in any case",     \
		  NULL },                                                                          \
		{ "seed",     RF_OPT_INT, offsetof(struct rf_synth_common, seed),                  \
		  NULL,       "1",        0,                                                       \
		  G_MAXINT64, NULL,       "of the generator",                                      \
		  NULL },                                                                          \
	{                                                                                          \
		"backing", RF_OPT_ENUM, offsetof(struct rf_synth_common, backing), NULL, "anon",   \
			0, 0, "anon,file,read", backing_help, NULL                                 \
	}

#define BACKING_HELP "anonymous memory, a shared mapping of a file, or read(2) and write(2)"

static const struct rf_synth_common *common(const struct rf_synth *s)
{
	return s->opt;
}

static gboolean need_accesses(struct rf_synth *s, GError **error)
{
	if (s->accesses)
		return TRUE;
	rf_set_usage(error, "accesses=0; expected at least 1");
	return FALSE;
}

/* Pages in random order: rank to page. */
static uint32_t *shuffled(struct rf_synth *s, uint32_t n, gboolean shuffle)
{
	uint32_t *page = g_try_new(uint32_t, n);

	if (!page)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		page[i] = i;
	for (uint32_t i = n; shuffle && i > 1; i--) {
		uint32_t j = rf_rng_below(&s->rng, i), t = page[j];

		page[j] = page[i - 1];
		page[i - 1] = t;
	}
	return page;
}

/* ---- zipf ---- */

struct zipf_options {
	struct rf_synth_common common;
	char *alpha;
	gboolean scatter;
};

struct zipf {
	uint32_t alpha; /* millionths */
	struct rf_alias alias;
};

static const struct rf_option zipf_options[] = {
	COMMON("1000000", "65536", "pages in all", "30", BACKING_HELP),
	{ "alpha", RF_OPT_STRING, offsetof(struct zipf_options, alpha), NULL, "1.0", 0, 0, NULL,
	  "exponent, 0 to 10: the page of rank i is accessed in proportion to 1 / i^alpha", NULL },
	{ "scatter", RF_OPT_BOOL, offsetof(struct zipf_options, scatter), NULL, "yes", 0, 0, NULL,
	  "ranks in random order over the pages; no: hottest page first", NULL },
	RF_OPTION_END,
};

/* A decimal number of 0 to 10, as millionths. */
static gboolean parse_alpha(const char *text, uint32_t *alpha, GError **error)
{
	const char *s = text ? text : "";
	uint32_t v = 0, unit = RF_ALPHA_ONE;
	gboolean good = g_ascii_isdigit(*s);

	while (g_ascii_isdigit(*s) && v <= 10)
		v = v * 10 + (uint32_t)(*s++ - '0');
	good = good && v <= 10;
	v *= RF_ALPHA_ONE;
	if (good && *s == '.')
		for (s++, good = g_ascii_isdigit(*s); g_ascii_isdigit(*s) && unit > 1; s++) {
			unit /= 10;
			v += (uint32_t)(*s - '0') * unit;
		}
	if (good && !*s && v <= RF_ALPHA_MAX) {
		*alpha = v;
		return TRUE;
	}
	rf_set_usage(error, "alpha=%s; expected a number from 0 to 10 with at most 6 decimals",
	             text ? text : "");
	return FALSE;
}

static gboolean zipf_init(struct rf_synth *s, GError **error)
{
	const struct zipf_options *o = s->opt;
	struct zipf *z = s->priv;

	return need_accesses(s, error) && parse_alpha(o->alpha, &z->alpha, error);
}

static gboolean zipf_start(struct rf_synth *s, GError **error)
{
	const struct zipf_options *o = s->opt;
	struct zipf *z = s->priv;
	uint32_t *page = shuffled(s, s->pages, o->scatter);
	gboolean good = page && rf_alias_zipf(&z->alias, s->pages, z->alpha, page);

	g_free(page);
	if (!good)
		rf_set_env(error, "zipf: no memory for %u pages", s->pages);
	return good;
}

static uint32_t zipf_fill(struct rf_synth *s, uint32_t *page, uint32_t n)
{
	struct zipf *z = s->priv;

	for (uint32_t i = 0; i < n; i++)
		page[i] = rf_alias_draw(&z->alias, &s->rng);
	return n;
}

static void zipf_clear(struct rf_synth *s)
{
	struct zipf *z = s->priv;

	rf_alias_clear(&z->alias);
}

static const struct rf_synth_kind zipf = {
	.name = "zipf",
	.summary = "few pages hot, many cold, by Zipf's law",
	.options = zipf_options,
	.options_size = sizeof(struct zipf_options),
	.priv_size = sizeof(struct zipf),
	.init = zipf_init,
	.start = zipf_start,
	.fill = zipf_fill,
	.clear = zipf_clear,
};

/* ---- uniform ---- */

static const struct rf_option uniform_options[] = {
	COMMON("1000000", "65536", "pages in all", "30", BACKING_HELP),
	RF_OPTION_END,
};

static uint32_t uniform_fill(struct rf_synth *s, uint32_t *page, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		page[i] = rf_rng_below(&s->rng, s->pages);
	return n;
}

static const struct rf_synth_kind uniform = {
	.name = "uniform",
	.summary = "every page as likely as any other",
	.options = uniform_options,
	.options_size = sizeof(struct rf_synth_common),
	.init = need_accesses,
	.fill = uniform_fill,
};

/* ---- loop and scan ---- */

struct loop_options {
	struct rf_synth_common common;
	int64_t touches;
};

struct loop {
	uint32_t page;
	int64_t touch;
};

#define TOUCHES                                                                                    \
	{                                                                                          \
		"touches", RF_OPT_INT, offsetof(struct loop_options, touches), NULL, "1", 1,       \
			1000000, NULL, "accesses to a page before the next one", NULL              \
	}

static const struct rf_option loop_options[] = {
	COMMON("1000000", "65536", "pages of a round", "30", BACKING_HELP),
	TOUCHES,
	RF_OPTION_END,
};

static const struct rf_option scan_options[] = {
	COMMON("0", "65536", "pages of the one pass (accesses=0: all of it)", "0", BACKING_HELP),
	TOUCHES,
	RF_OPTION_END,
};

static gboolean scan_init(struct rf_synth *s, GError **error)
{
	const struct loop_options *o = s->opt;
	uint64_t all = s->pages * (uint64_t)o->touches;

	if (!s->accesses)
		s->accesses = all;
	if (s->accesses <= all)
		return TRUE;
	rf_set_usage(error,
	             "accesses=%" G_GUINT64_FORMAT
	             "; expected at most pages times touches, %" G_GUINT64_FORMAT,
	             s->accesses, all);
	return FALSE;
}

static uint32_t loop_fill(struct rf_synth *s, uint32_t *page, uint32_t n)
{
	const struct loop_options *o = s->opt;
	struct loop *l = s->priv;

	for (uint32_t i = 0; i < n; i++) {
		page[i] = l->page;
		if (++l->touch == o->touches) {
			l->touch = 0;
			if (++l->page == s->pages)
				l->page = 0;
		}
	}
	return n;
}

static const struct rf_synth_kind loop = {
	.name = "loop",
	.summary = "page after page, round and round",
	.options = loop_options,
	.options_size = sizeof(struct loop_options),
	.priv_size = sizeof(struct loop),
	.init = need_accesses,
	.fill = loop_fill,
};

static const struct rf_synth_kind scan = {
	.name = "scan",
	.summary = "page after page, once",
	.options = scan_options,
	.options_size = sizeof(struct loop_options),
	.priv_size = sizeof(struct loop),
	.init = scan_init,
	.fill = loop_fill,
};

/* ---- phases ---- */

struct phases_options {
	struct rf_synth_common common;
	int64_t phases, overlap;
};

struct phases {
	uint64_t each;           /* accesses a phase; the last may be longer */
	uint32_t set, step, now; /* pages of a set, from set to set, number of the phase + 1 */
	char mark[32];
};

static const struct rf_option phases_options[] = {
	COMMON("1000000", "16384", "pages of one working set", "30", BACKING_HELP),
	{ "phases", RF_OPT_INT, offsetof(struct phases_options, phases), NULL, "8", 1, 1000000,
	  NULL, "working sets one after the other; each begins with a mark", NULL },
	{ "overlap", RF_OPT_INT, offsetof(struct phases_options, overlap), "percent", "0", 0, 100,
	  NULL, "share of a working set that the next one keeps", NULL },
	RF_OPTION_END,
};

static gboolean phases_init(struct rf_synth *s, GError **error)
{
	const struct phases_options *o = s->opt;
	struct phases *p = s->priv;
	uint64_t all;

	if (s->accesses < (uint64_t)o->phases) {
		rf_set_usage(error, "accesses=%" G_GUINT64_FORMAT "; expected at least one a phase",
		             s->accesses);
		return FALSE;
	}
	p->set = s->pages;
	p->step = (uint32_t)(s->pages - s->pages * (uint64_t)o->overlap / 100);
	p->each = s->accesses / (uint64_t)o->phases;
	all = p->set + p->step * (uint64_t)(o->phases - 1);
	if (all > (uint64_t)PAGES_MAX) {
		rf_set_usage(error,
		             "%" G_GUINT64_FORMAT
		             " pages in all; expected at most %" G_GINT64_FORMAT,
		             all, PAGES_MAX);
		return FALSE;
	}
	s->pages = (uint32_t)all;
	return TRUE;
}

static uint32_t phases_fill(struct rf_synth *s, uint32_t *page, uint32_t n)
{
	const struct phases_options *o = s->opt;
	struct phases *p = s->priv;
	uint64_t phase = MIN(s->done / p->each, (uint64_t)o->phases - 1);
	uint32_t first = (uint32_t)(phase * p->step);

	if (phase + 1 != p->now) {
		p->now = (uint32_t)phase + 1;
		g_snprintf(p->mark, sizeof(p->mark), "phase-%u", p->now);
		s->mark = p->mark;
	}
	if (phase + 1 < (uint64_t)o->phases)
		n = (uint32_t)MIN(n, (phase + 1) * p->each - s->done);
	for (uint32_t i = 0; i < n; i++)
		page[i] = first + rf_rng_below(&s->rng, p->set);
	return n;
}

static const struct rf_synth_kind phases = {
	.name = "phases",
	.summary = "a working set, then another, …; uniform within each",
	.options = phases_options,
	.options_size = sizeof(struct phases_options),
	.priv_size = sizeof(struct phases),
	.init = phases_init,
	.fill = phases_fill,
};

/* ---- hotscan ---- */

struct hotscan_options {
	struct rf_synth_common common;
	int64_t scan, hot_share;
};

struct hotscan {
	uint32_t hot, at;
	uint64_t hot_below; /* 2^32 times the share */
};

static const struct rf_option hotscan_options[] = {
	COMMON("1000000", "16384", "pages of the hot set", "30",
	       "of the scanned pages: anonymous memory, a mapped file, or read(2)"),
	{ "scan", RF_OPT_INT, offsetof(struct hotscan_options, scan), "pages", "65536", 1,
	  PAGES_MAX, NULL, "pages that are scanned, round and round", NULL },
	{ "hot-share", RF_OPT_INT, offsetof(struct hotscan_options, hot_share), "percent", "50", 0,
	  100, NULL, "share of accesses that goes to the hot set, which is anonymous memory",
	  NULL },
	RF_OPTION_END,
};

static gboolean hotscan_init(struct rf_synth *s, GError **error)
{
	const struct hotscan_options *o = s->opt;
	struct hotscan *h = s->priv;
	uint64_t all = s->pages + (uint64_t)o->scan;

	h->hot = s->pages;
	h->hot_below = ((uint64_t)o->hot_share << 32) / 100;
	if (all > (uint64_t)PAGES_MAX) {
		rf_set_usage(error,
		             "%" G_GUINT64_FORMAT
		             " pages in all; expected at most %" G_GINT64_FORMAT,
		             all, PAGES_MAX);
		return FALSE;
	}
	s->pages = (uint32_t)all;
	s->backed = common(s)->backing == RF_SYNTH_ANON ? s->pages : h->hot;
	return need_accesses(s, error);
}

static uint32_t hotscan_fill(struct rf_synth *s, uint32_t *page, uint32_t n)
{
	const struct hotscan_options *o = s->opt;
	struct hotscan *h = s->priv;

	for (uint32_t i = 0; i < n; i++) {
		if (h->hot_below > (uint32_t)(rf_rng_next(&s->rng) >> 32)) {
			page[i] = rf_rng_below(&s->rng, h->hot);
		} else {
			page[i] = h->hot + h->at;
			if (++h->at == (uint32_t)o->scan)
				h->at = 0;
		}
	}
	return n;
}

static const struct rf_synth_kind hotscan = {
	.name = "hotscan",
	.summary = "a hot set at random, between the steps of a long scan",
	.options = hotscan_options,
	.options_size = sizeof(struct hotscan_options),
	.priv_size = sizeof(struct hotscan),
	.init = hotscan_init,
	.fill = hotscan_fill,
};

const struct rf_synth_kind *const rf_synth_kinds[] = {
	&zipf, &uniform, &loop, &scan, &phases, &hotscan, NULL,
};
