/* SPDX-License-Identifier: MIT
 * DAMON's regions: damo report access --raw, and perf script of damon:damon_aggregated.  A region
 * that was accessed is accessed once, whole, in the order of addresses: a reconstruction.
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/procs.h"
#include "traces/import/tracepoints.h"

struct damon {
	struct rf_lines lines;
	struct rf_procs *procs;
	GHashTable *targets; /* id as text → number, from 1 */
	uint32_t target;
};

struct region {
	uint64_t start, end, accesses;
};

/* "7f10a2000000-7f10a2400000 (   4.000 MiB)          11     4" */
static gboolean raw_region(char *s, struct region *r)
{
	rf_take_blanks(&s);
	if (!rf_take_hex(&s, &r->start) || !rf_take_literal(&s, "-") || !rf_take_hex(&s, &r->end) ||
	    !rf_take_literal(&s, " ("))
		return FALSE;
	s = strchr(s, ')');
	if (s == NULL)
		return FALSE;
	s++;
	rf_take_blanks(&s);
	return rf_take_digits(&s, 10, &r->accesses) && *s == ' ';
}

/* "target_id=0 nr_regions=12 139711070208-139711594496: 17 3"; leaves *s behind it. */
static gboolean event_region(char *s, struct region *r, char *target, size_t size)
{
	uint64_t n;

	return rf_take_literal(&s, "target_id=") && rf_take_word(&s, " ", target, size) &&
	       rf_take_literal(&s, " nr_regions=") && rf_take_digits(&s, 10, &n) &&
	       rf_take_literal(&s, " ") && rf_take_digits(&s, 10, &r->start) &&
	       rf_take_literal(&s, "-") && rf_take_digits(&s, 10, &r->end) &&
	       rf_take_literal(&s, ": ") && rf_take_digits(&s, 10, &r->accesses);
}

#define EVENT "damon_aggregated: "

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct region r;

	(void)f;
	return strstr(s, EVENT) != NULL || raw_region(s, &r) || g_str_has_prefix(s, "monitoring_") ||
	       g_str_has_prefix(s, "nr_regions:") || g_str_has_prefix(s, "target_id:") ||
	       g_str_has_prefix(s, "base_time_absolute:");
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct damon *d = self;

	(void)error;
	rf_header_set(rf_builder_header(d->lines.b), "reconstructed",
	              "from DAMON's regions: a statistical picture, no recording");
	d->procs = rf_procs_new(d->lines.b, opt, FALSE);
	d->targets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	d->target = 1;
	return TRUE;
}

static void clear(void *self)
{
	struct damon *d = self;

	rf_procs_free(d->procs);
	g_hash_table_destroy(d->targets);
}

/* Ids may be anything, pointers too. */
static void set_target(struct damon *d, const char *id)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(d->targets, id));

	if (n == 0) {
		n = g_hash_table_size(d->targets) + 1;
		g_hash_table_insert(d->targets, g_strdup(id), GUINT_TO_POINTER(n));
	}
	d->target = n;
}

static enum rf_line touch(struct damon *d, const struct region *r, const char *at, GError **error)
{
	if (r->end <= r->start)
		return rf_lines_expected(&d->lines, at, "a region that ends behind its start", error);
	if (r->accesses == 0) {
		rf_builder_skipped(d->lines.b, "region without accesses");
		return RF_LINE_TAKEN;
	}
	return rf_line_of(rf_procs_touch(d->procs, d->target, d->target, r->start, r->end - r->start,
	                                 error));
}

static enum rf_line event(struct damon *d, char *s, GError **error)
{
	struct region r;
	char *head, *fields, target[32];
	uint64_t ns;

	if (rf_tracepoint_head(s, &head, &ns) == NULL)
		return RF_LINE_OTHER;
	fields = strstr(head + strlen(head) + 1, EVENT);
	if (fields == NULL)
		return RF_LINE_OTHER;
	fields += strlen(EVENT);
	if (!event_region(fields, &r, target, sizeof(target)))
		return rf_lines_expected(&d->lines, fields, "target_id=ID nr_regions=N START-END: N", error);
	set_target(d, target);
	return rf_lines_time(&d->lines, ns, error) ? touch(d, &r, fields, error) : RF_LINE_BAD;
}

static enum rf_line line(void *self, char *s, GError **error)
{
	static const char *const known[] = { "base_time_absolute:", "data source:", "monitoring_start:",
		                             "monitoring_duration:", "nr_regions:" };
	struct damon *d = self;
	struct region r;
	uint64_t ns;
	char *p = s;

	if (strstr(s, EVENT) != NULL)
		return event(d, s, error);
	if (rf_take_literal(&p, "target_id:")) {
		rf_take_blanks(&p);
		set_target(d, p);
		return RF_LINE_TAKEN;
	}
	if (rf_take_literal(&p, "monitoring_end:")) {
		rf_take_blanks(&p);
		/* only --raw_number gives exact times */
		return rf_line_of(!rf_take_digits(&p, 10, &ns) || *p != 0 ||
		                  rf_lines_time(&d->lines, ns, error));
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
		if (g_str_has_prefix(s, known[i]))
			return RF_LINE_TAKEN;
	return raw_region(s, &r) ? touch(d, &r, s, error) : RF_LINE_OTHER;
}

static const struct rf_line_format format = {
	.size = sizeof(struct damon),
	.example = "7f10a2000000-7f10a2400000 (   4.000 MiB)   11   4",
	.sure = 90,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_damon_importer = {
	.name = "damon",
	.summary = "DAMON: damo report access --raw, or perf script of damon:damon_aggregated",
	.cannot = "accesses: they are reconstructed, one to each page of a region that was accessed, a "
	          "snapshot; their order and number in between; loads from stores; mappings, without "
	          "--maps",
	.lines = &format,
};
