/* SPDX-License-Identifier: MIT
 * Kaplan's LRU behaviour sequences: what an LRU memory of some size fetched and threw out, a record
 * a fault: "F 1a2b W 03ff": C (first time) or F, page; W (dirty), R (clean) or N (nothing), page.
 *
 * Faults say less than accesses, but enough: which page goes says that all others were used after
 * it.  So accesses are made up that lead the memory through the same faults.  The sequence is then
 * right in LRU memories that hold as much as the recorder's or more.  A dirty page is written again
 * before it goes, then all others are used.
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/lines.h"

#define PAGES_MAX 65536 /* of the recorder's memory: each fault looks through it */

struct kaplan {
	struct rf_lines lines;
	GArray *stack; /* pages in memory, the one used last at the end */
};

struct record {
	uint64_t fetched, evicted;
	char tag, fate; /* C or F; W, R or N */
};

static gboolean parse(char *s, struct record *r)
{
	rf_take_blanks(&s);
	r->tag = *s;
	if (!rf_take_literal(&s, "C ") && !rf_take_literal(&s, "F "))
		return FALSE;
	rf_take_blanks(&s);
	if (!rf_take_hex(&s, &r->fetched) || !rf_take_literal(&s, " "))
		return FALSE;
	rf_take_blanks(&s);
	r->fate = *s;
	if (*s == 0 || strchr("WRN", *s) == NULL)
		return FALSE;
	s++;
	rf_take_blanks(&s);
	return r->fate == 'N' || rf_take_hex(&s, &r->evicted);
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	(void)opt;
	(void)error;
	((struct kaplan *)self)->stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return TRUE;
}

static void clear(void *self)
{
	g_array_unref(((struct kaplan *)self)->stack);
}

static void use(struct kaplan *k, enum rf_access type, uint64_t page)
{
	rf_lines_access(&k->lines, type, page << RF_GRANULE_SHIFT, 1);
}

static gboolean find(const struct kaplan *k, uint64_t page, guint *at)
{
	for (*at = 0; *at < k->stack->len; ++*at)
		if (g_array_index(k->stack, uint64_t, *at) == page)
			return TRUE;
	return FALSE;
}

/* Use whatever an LRU memory would throw out before page, and throw page out. */
static void evict(struct kaplan *k, guint at, gboolean dirty)
{
	uint64_t page = g_array_index(k->stack, uint64_t, at);

	if (dirty) {
		use(k, RF_WRITE, page);
		g_array_remove_index(k->stack, at);
		for (guint i = 0; i < k->stack->len; i++)
			use(k, RF_READ, g_array_index(k->stack, uint64_t, i));
		return;
	}
	for (guint i = 0; i < at; i++) {
		uint64_t other = g_array_index(k->stack, uint64_t, i);

		use(k, RF_READ, other);
		g_array_append_val(k->stack, other);
	}
	g_array_remove_range(k->stack, 0, at + 1);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct kaplan *k = self;
	struct record r;
	guint at;

	if (!parse(s, &r))
		return RF_LINE_OTHER;
	if (MAX(r.fetched, r.fate == 'N' ? 0 : r.evicted) > UINT64_MAX >> RF_GRANULE_SHIFT)
		return rf_lines_expected(&k->lines, s, "numbers of pages below 2^52", error);
	if (find(k, r.fetched, &at))
		return rf_lines_expected(&k->lines, s, "the fetch of a page that is not in memory", error);
	if (r.fate == 'N' && k->stack->len >= PAGES_MAX)
		return rf_lines_expected(&k->lines, s, "a memory of at most 65536 pages", error);
	if (r.fate != 'N' && !find(k, r.evicted, &at))
		return rf_lines_expected(&k->lines, s, "the eviction of a page that is in memory", error);
	if (r.fate != 'N')
		evict(k, at, r.fate == 'W');
	/* what was never there is made by its first store */
	use(k, r.tag == 'C' ? RF_WRITE : RF_READ, r.fetched);
	g_array_append_val(k->stack, r.fetched);
	return RF_LINE_TAKEN;
}

static const struct rf_line_format format = {
	.size = sizeof(struct kaplan),
	.example = "F 1a2b W 03ff",
	.sure = 80,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_kaplan_importer = {
	.name = "kaplan",
	.summary = "LRU behaviour sequences of Kaplan's, as text: 'F PAGE W PAGE'",
	.cannot = "accesses that the recorder's LRU memory answered (those made up keep LRU's faults, in "
	          "at least as much memory); time; tasks; mappings",
	.lines = &format,
};
