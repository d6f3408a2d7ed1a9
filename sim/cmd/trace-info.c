/* SPDX-License-Identifier: MIT
 * refault trace info: what is in a trace.
 */
#include <string.h>

#include "base/units.h"
#include "base/wrap.h"
#include "sim/cmd/trace.h"
#include "traces/state.h"

static const struct rf_arg args[] = { RF_TRACE_IN_ARGS, RF_ARG_END };

/* What lies behind a page. */
enum backing { ANON, FILE_EXEC, FILE_OTHER, SHMEM, REFPAGE, IMPLICIT, NBACKING };

static const char *const backing_names[NBACKING] = {
	"anonymous", "file, executable", "file, other", "shmem", "reference page", "nothing",
};

struct survey {
	struct rf_state *state;
	uint64_t events[RF_NEVENTS];
	uint64_t accesses[NBACKING], pages[NBACKING];
	/* per page: its backing, right at this epoch */
	uint32_t *epoch, cap;
	uint8_t *backing;
	uint64_t io_bytes[2]; /* read(2), write(2) */
	uint64_t nonsense;
};

static enum backing backing_of(const struct rf_vma *v)
{
	if (!v)
		return IMPLICIT;
	switch (v->mkind) {
	case RF_MAP_ANON:
		return ANON;
	case RF_MAP_FILE:
		return v->prot & RF_PROT_X ? FILE_EXEC : FILE_OTHER;
	case RF_MAP_SHMEM:
		return SHMEM;
	default:
		return REFPAGE;
	}
}

static void grow(struct survey *s, uint32_t page)
{
	uint32_t cap = MAX(page + 1024, s->cap + s->cap / 4);

	s->epoch = g_renew(uint32_t, s->epoch, cap);
	s->backing = g_renew(uint8_t, s->backing, cap);
	memset(s->epoch + s->cap, 0, (cap - s->cap) * sizeof(*s->epoch));
	s->cap = cap;
}

static void survey_runs(struct survey *s, const struct rf_runs *r)
{
	uint32_t epoch = rf_state_epoch(s->state);

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t page = r->page[i];

		if (page >= s->cap)
			grow(s, page);
		if (s->epoch[page] != epoch) {
			uint8_t b = backing_of(rf_state_vma(s->state, page));

			if (!s->epoch[page])
				s->pages[b]++;
			s->epoch[page] = epoch;
			s->backing[page] = b;
		}
		if (!(r->type[i] & RF_RUN_CONT))
			s->accesses[s->backing[page]] += r->count[i];
	}
}

static gboolean survey_item(void *data, const struct rf_item *item, gboolean *stop, GError **error)
{
	struct survey *s = data;
	GError *e = NULL;

	(void)stop;
	(void)error;
	if (!rf_state_item(s->state, item, &e)) {
		s->nonsense++;
		g_error_free(e);
	}
	if (item->kind == RF_ITEM_RUNS) {
		survey_runs(s, &item->runs);
	} else if (item->kind == RF_ITEM_EVENT) {
		s->events[item->event.kind]++;
		if (item->event.kind == RF_EV_READ || item->event.kind == RF_EV_WRITE)
			s->io_bytes[item->event.kind == RF_EV_WRITE] += item->event.len;
	}
	return TRUE;
}

/* ---- the report ---- */

static void line(GString *out, const char *label, const char *value)
{
	g_string_append_printf(out, "%-12s ", label);
	rf_wrap(out, value, 13, 13);
}

static void percent(GString *out, uint64_t part, uint64_t whole)
{
	uint64_t t = 0; /* tenths, rounded */

	if (part <= (G_MAXUINT64 - whole / 2) / 1000)
		t = whole ? (part * 1000 + whole / 2) / whole : 0;
	else
		t = part / (whole / 1000);

	g_string_append_printf(out, "%4" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT " %%", t / 10,
	                       t % 10);
}

static void put_header(GString *out, const struct rf_source *s)
{
	const struct rf_header *h = rf_source_header(s);
	g_autofree char *granule = rf_format_size((uint64_t)1 << h->granule_shift);

	line(out, "trace", rf_source_path(s));
	line(out, "format", rf_source_format(s));
	for (guint i = 0; h->keys && i < h->keys->len; i++)
		if (strcmp(h->keys->pdata[i], "page-size") &&
		    strcmp(h->keys->pdata[i], "cannot-know"))
			line(out, h->keys->pdata[i], h->values->pdata[i]);
	line(out, "page-size", granule);
}

static void put_accesses(GString *out, const struct rf_totals *t)
{
	static const char *const names[RF_NACCESS] = { "R", "W", "X" };
	uint64_t all = t->accesses[RF_READ] + t->accesses[RF_WRITE] + t->accesses[RF_EXEC];
	g_autofree char *total = rf_format_count(all), *runs = rf_format_count(t->runs);

	g_string_append_printf(out, "\n%-12s %20s   in %s runs\n", "accesses", total, runs);
	for (unsigned i = 0; i < RF_NACCESS; i++) {
		g_autofree char *n = rf_format_count(t->accesses[i]);

		g_string_append_printf(out, "  %-10s %20s ", names[i], n);
		percent(out, t->accesses[i], all);
		g_string_append_c(out, '\n');
	}
}

static void put_backing(GString *out, const struct survey *s)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < NBACKING; i++)
		all += s->accesses[i];
	g_string_append_printf(out, "\n%-18s %14s %8s %10s\n", "mapped as", "accesses", "",
	                       "pages");
	for (unsigned i = 0; i < NBACKING; i++) {
		g_autofree char *n = rf_format_count(s->accesses[i]),
				*pages = rf_format_count(s->pages[i]);

		if (!s->accesses[i] && i != IMPLICIT)
			continue;
		g_string_append_printf(out, "  %-16s %14s ", backing_names[i], n);
		percent(out, s->accesses[i], all);
		g_string_append_printf(out, " %10s\n", pages);
	}
}

static void put_footprint(GString *out, const struct rf_totals *t)
{
	g_string_append_printf(out, "\n%-12s %10s\n", "footprint", "pages");
	for (unsigned i = 0; i < 3; i++) {
		uint64_t size = (uint64_t)4096 << 2 * i;
		g_autofree char *name = rf_format_size(size), *n = rf_format_count(t->footprint[i]);
		g_autofree char *bytes = rf_format_size(t->footprint[i] * size);

		if (t->footprint[i])
			g_string_append_printf(out, "  %-10s %10s %10s\n", name, n, bytes);
	}
}

static void put_events(GString *out, const struct survey *s, const struct rf_totals *t)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (unsigned i = 0; i < RF_NEVENTS; i++)
		if (s->events[i]) {
			g_autofree char *n = rf_format_count(s->events[i]);

			g_string_append_printf(list, "%s%s %s", list->len ? ", " : "",
			                       rf_event_kind_name(i), n);
		}
	g_string_append_c(out, '\n');
	line(out, "events", list->len ? list->str : "none");
	if (s->io_bytes[0] || s->io_bytes[1]) {
		g_autofree char *r = rf_format_size(s->io_bytes[0]),
				*w = rf_format_size(s->io_bytes[1]);
		g_autofree char *text = g_strdup_printf("%s by read(2), %s by write(2)", r, w);

		line(out, "file I/O", text);
	}
	{
		g_autofree char *lost = rf_format_count(t->lost);

		line(out, "lost", lost);
	}
	if (s->nonsense) {
		g_autofree char *n = rf_format_count(s->nonsense);
		g_autofree char *text =
			g_strdup_printf("%s events make no sense; see `refault trace validate'", n);

		line(out, "findings", text);
	}
}

static void put_source(GString *out, const struct rf_source *s)
{
	const char *cannot = rf_header_get(rf_source_header(s), "cannot-know"), *reason;
	g_autofree char *digest =
		g_strdup_printf("%016" G_GINT64_MODIFIER "x", rf_source_totals(s)->digest);
	uint64_t n;

	for (guint i = 0; rf_source_skipped(s, i, &reason, &n); i++) {
		g_autofree char *count = rf_format_count(n),
				*text = g_strdup_printf("%s: %s", count, reason);

		line(out, i ? "" : "skipped", text);
	}
	if (cannot)
		line(out, "cannot-know", cannot);
	line(out, "digest", digest);
}

static gboolean info_one(const char *path, const struct rf_trace_in *in, GString *out,
                         GError **error)
{
	struct rf_source *source = rf_trace_open(path, in, error);
	struct survey s = { 0 };
	gboolean good;

	if (!source)
		return FALSE;
	s.state = rf_state_new(rf_source_header(source));
	good = rf_trace_each(source, in, survey_item, &s, error);
	if (good) {
		put_header(out, source);
		put_accesses(out, rf_source_totals(source));
		put_backing(out, &s);
		put_footprint(out, rf_source_totals(source));
		put_events(out, &s, rf_source_totals(source));
		put_source(out, source);
	}
	rf_state_free(s.state);
	g_free(s.epoch);
	g_free(s.backing);
	rf_source_close(source);
	return good;
}

static gboolean info(const GPtrArray *operands, void *block, int *code, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	gboolean good = TRUE;

	if (operands->len == 0) {
		rf_set_usage(error, "trace info: expected TRACE; see `refault trace info --help'");
		return FALSE;
	}
	for (guint i = 0; i < operands->len && good; i++) {
		if (i)
			g_string_append_c(out, '\n');
		good = info_one(operands->pdata[i], block, out, error);
	}
	if (good)
		*code = rf_print(out->str);
	return good;
}

const struct rf_trace_verb rf_trace_info = {
	.name = "info",
	.operands = "TRACE... [OPTION]...",
	.summary = "say what is in a trace",
	.text = "Read a trace of any format and print where it comes from, how many accesses of\n"
		"which type fall into what, the footprint at three page sizes, its events, what\n"
		"was lost or skipped, and what its recorder could not know.\n",
	.args = args,
	.run = info,
	.block_size = sizeof(struct rf_trace_in),
};
