/* SPDX-License-Identifier: MIT
 * The .rft container: what went in comes out, in any way of reading; nothing else does.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "base/rng.h"
#include "tests/traces.h"
#include "traces/raw.h"
#include "traces/rft.h"
#include "traces/source.h"

/* A bit of everything, in one frame. */
static const char sample[] =
	"!refault-trace 1 page-size=4K program=a\\040b\n"
	"task 1\nfile 1 x 8192\nmmap 1 400000 8192 r-x file:1 name=/x\n"
	"X 1 400000\nX 1 400000\nR 1 400000\nW 1 7e0000000000 12288\nX 1 401000\n"
	"task 2 parent=1\nW 2 7e0000000000\nR 1 7e0000002000\nR 2 7e0000001000\nthink 2 1000000\n"
	"exec 2\nW 2 1000\nW 2 ffff800000000000\nread 2 file:1 0 8192\nlost 5\nmark end\n";

/* For loops over many: Check notes every assertion that it sees, which takes its time. */
#define MUST(condition, ...) \
	do { \
		if (G_UNLIKELY(!(condition))) \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

/* ---- damage ---- */

/* Must be refused, in one line that names the file. */
static void refused(const void *data, gsize len, gboolean through_pipe, const char *what, gsize at)
{
	GError *error = NULL;
	struct rf_source *s = trace_rft(data, len, through_pipe, &error);

	MUST(!trace_drain(s, NULL, &error), "%s %zu: accepted", what, at);
	MUST(g_str_has_prefix(error->message, "x.rft: "), "%s", error->message);
	MUST(strchr(error->message, '\n') == NULL, "%s", error->message);
	MUST(error->domain == RF_DATA_ERROR, "%s", error->message);
	g_error_free(error);
}

START_TEST(every_truncation)
{
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len);

	for (gsize n = 0; n < len; n++) {
		refused(rft, n, FALSE, "cut at", n);
		refused(rft, n, TRUE, "cut at", n);
	}
	g_free(rft);
}
END_TEST

START_TEST(every_flipped_bit)
{
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len);

	for (gsize bit = 0; bit < len * 8; bit++) {
		rft[bit / 8] ^= 1 << bit % 8;
		refused(rft, len, FALSE, "flipped bit", bit);
		refused(rft, len, TRUE, "flipped bit", bit);
		rft[bit / 8] ^= 1 << bit % 8;
	}
	ck_assert(trace_drain(trace_rft(rft, len, FALSE, NULL), NULL, NULL));
	ck_assert(trace_drain(trace_rft(rft, len, TRUE, NULL), NULL, NULL));
	g_free(rft);
}
END_TEST

/* A whole file with flipped bits, as a user opens it. */
START_TEST(flipped_in_a_file)
{
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len);
	char *path = trace_temp("flipped.rft");

	for (gsize i = 0; i < len; i++) {
		GError *error = NULL;

		rft[i] ^= 0x10;
		trace_spit(path, rft, len);
		ck_assert(!trace_drain(rf_source_open(path, NULL, &error), NULL, &error));
		ck_assert(error->domain == RF_DATA_ERROR);
		g_error_free(error);
		rft[i] ^= 0x10;
	}
	g_free(path);
	g_free(rft);
}
END_TEST

static void says(const void *data, gsize len, gboolean through_pipe, const char *message)
{
	GError *error = NULL;
	struct rf_source *s = trace_rft(data, len, through_pipe, &error);

	ck_assert(!trace_drain(s, NULL, &error));
	ck_assert_str_eq(error->message, message);
	g_error_free(error);
}

START_TEST(messages)
{
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len), *more;
	gsize head = RFT_CHUNK_HEAD + rft_get32(rft + 4), foot = len - RFT_CHUNK_HEAD - RFT_FOOT_SIZE;
	char *want;

	want = g_strdup_printf("x.rft: offset %zu: the file is truncated; expected frame 0 or the index",
	                       head);
	says(rft, head, TRUE, want);
	g_free(want);
	want = g_strdup_printf("x.rft: offset %zu: the file is truncated; expected a footer", head);
	says(rft, head, FALSE, want);
	g_free(want);
	says(rft, 10, FALSE, "x.rft: offset 0: the file is truncated in the head");
	want = g_strdup_printf("x.rft: offset %zu: the file is truncated; expected the footer", foot);
	says(rft, foot, TRUE, want);
	g_free(want);
	want = g_strdup_printf("x.rft: frame 0, offset %zu: the checksum is wrong: the data was changed",
	                       head);
	rft[head + RFT_CHUNK_HEAD + RFT_FRAME_SIZE + 20] ^= 1;
	says(rft, len, TRUE, want);
	says(rft, len, FALSE, want);
	rft[head + RFT_CHUNK_HEAD + RFT_FRAME_SIZE + 20] ^= 1;
	g_free(want);
	rft[12] = 3;
	says(rft, len, FALSE, "x.rft: offset 0: version 3; expected 1 or 2");
	rft[12] = 1;
	rft[14] = 2;
	rft[15] = 1;
	says(rft, len, TRUE, "x.rft: offset 0: byte order 0x0102; expected 0x0201 (little-endian)");
	rft[14] = 1;
	rft[15] = 2;

	/* More than there should be. */
	more = g_malloc(2 * len);
	memcpy(more, rft, len);
	memcpy(more + len, rft, len);
	want = g_strdup_printf("x.rft: offset %zu: data behind the footer; expected the end of the file",
	                       len);
	says(more, len + 1, TRUE, want);
	says(more, 2 * len, TRUE, want);
	g_free(want);
	refused(more, len + 1, FALSE, "longer by", 1);
	want = g_strdup_printf("x.rft: offset %zu: the footer does not fit the file: data was cut out or "
	                       "put in", 2 * len);
	says(more, 2 * len, FALSE, want);
	g_free(want);
	g_free(more);
	g_free(rft);
}
END_TEST

/* ---- a stream that a test makes, and keeps ---- */

enum pattern { RANDOM, SCAN, PROGRAM, MIXED, NPATTERNS };

struct run { uint32_t tid, page, count; uint8_t type; };

struct stream {
	GArray *runs;   /* struct run */
	GArray *events; /* guint: the run before which a think event of len = its index stands */
	GArray *names;  /* struct rf_page_name, by id */
	unsigned ntasks;
};

static void stream_clear(struct stream *st)
{
	g_array_unref(st->runs);
	g_array_unref(st->events);
	g_array_unref(st->names);
}

static uint32_t next_page(struct rf_rng *r, enum pattern p, uint32_t i, uint32_t npages)
{
	switch (p) {
	case RANDOM:
		return rf_rng_below(r, npages);
	case SCAN:
		return i % npages;
	case PROGRAM:
		return (i * 7 % 13 + i / 1000) % npages;
	default:
		return next_page(r, i / 5000 % 3, i, npages);
	}
}

/* n runs: pages in order of first access, now and then another task, an event, a long count. */
static void stream_make(struct stream *st, uint64_t seed, enum pattern p, uint32_t n, uint32_t npages,
                        unsigned ntasks, unsigned events_per_1000)
{
	struct rf_rng r = { .s = seed };
	uint32_t *id = g_new(uint32_t, npages), tid = 1;

	memset(id, 0xff, npages * sizeof(*id));
	st->runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	st->events = g_array_new(FALSE, FALSE, sizeof(guint));
	st->names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	st->ntasks = ntasks;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t page = next_page(&r, p, i, npages);
		struct run run = { .count = 1, .type = (uint8_t)rf_rng_below(&r, 3) };

		if (p == PROGRAM)
			run.type = i % 5 % 3;
		if (ntasks > 1 && rf_rng_below(&r, 50) == 0)
			tid = 1 + rf_rng_below(&r, ntasks);
		run.tid = tid;
		if (id[page] == UINT32_MAX) {
			struct rf_page_name name = { rf_rng_below(&r, ntasks),
				                     ((uint64_t)page << rf_rng_below(&r, 30)) % 0xfffffffffff };

			id[page] = st->names->len;
			g_array_append_val(st->names, name);
		}
		run.page = id[page];
		switch (rf_rng_below(&r, 40)) {
		case 0:
			run.count = 1 + rf_rng_below(&r, 40);
			break;
		case 1:
			run.count = 1 + (uint32_t)(rf_rng_next(&r) >> 32 >> rf_rng_below(&r, 32));
			run.count = MAX(run.count, 1);
			break;
		case 2:
			run.type |= RF_RUN_CONT;
			break;
		default:
			break;
		}
		while (rf_rng_below(&r, 1000) < events_per_1000)
			g_array_append_val(st->events, ((guint){ i }));
		g_array_append_val(st->runs, run);
	}
	g_free(id);
}

/* Give the stream to a sink, cut into items at random. */
static void stream_write(const struct stream *st, uint64_t seed, struct rf_sink *k)
{
	struct rf_rng r = { .s = seed };
	uint32_t page[1000], count[1000], named = 0;
	uint8_t type[1000];
	struct rf_item item;
	guint ev = 0;

	for (unsigned t = 1; t <= st->ntasks; t++) {
		item = (struct rf_item){ .kind = RF_ITEM_EVENT };
		item.event = (struct rf_event){ .kind = RF_EV_TASK, .tid = t, .space = t - 1 };
		MUST(rf_sink_put(k, &item, NULL), "task %u", t);
	}
	for (guint i = 0; i < st->runs->len;) {
		guint most = 1 + rf_rng_below(&r, 1000), n = 0, end = named;

		for (; ev < st->events->len && g_array_index(st->events, guint, ev) == i; ev++) {
			item = (struct rf_item){ .kind = RF_ITEM_EVENT };
			item.event = (struct rf_event){ .kind = RF_EV_THINK, .tid = 1, .len = ev };
			MUST(rf_sink_put(k, &item, NULL), "run %u", i);
		}
		for (; n < most && i + n < st->runs->len; n++) {
			const struct run *run = &g_array_index(st->runs, struct run, i + n);

			if (n > 0 && (run->tid != run[-1].tid || (ev < st->events->len &&
			                                          g_array_index(st->events, guint, ev) == i + n)))
				break;
			page[n] = run->page;
			count[n] = run->count;
			type[n] = run->type;
			end = MAX(end, run->page + 1);
		}
		if (end > named) {
			/* Sometimes more names than this item needs. */
			end += rf_rng_below(&r, 3);
			end = MIN(st->names->len, end);
			item = (struct rf_item){ .kind = RF_ITEM_PAGES };
			item.pages.first = named;
			item.pages.n = end - named;
			item.pages.name = &g_array_index(st->names, struct rf_page_name, named);
			MUST(rf_sink_put(k, &item, NULL), "run %u", i);
			named = end;
		}
		item = (struct rf_item){ .kind = RF_ITEM_RUNS };
		item.runs = (struct rf_runs){ n, g_array_index(st->runs, struct run, i).tid, page, type, count };
		MUST(rf_sink_put(k, &item, NULL), "run %u", i);
		i += n;
	}
}

static gboolean one_in(void *n, const struct rf_page_name *name)
{
	return (name->vpn * 7 + name->space) % GPOINTER_TO_UINT(n) == 0;
}

/* Past the runs before `until' that are not among the one in n. */
static void pass_over(const struct stream *st, unsigned n, uint32_t *run, uint32_t until)
{
	for (; *run < until; ++*run) {
		uint32_t page = g_array_index(st->runs, struct run, *run).page;

		if (one_in(GUINT_TO_POINTER(n), &g_array_index(st->names, struct rf_page_name, page)))
			break;
	}
}

/* The source gives exactly the stream; n > 1: of runs those of one page in n (rf_source_select). */
static void stream_compare(const struct stream *st, struct rf_source *s, unsigned n)
{
	uint32_t named = 0, run = 0;
	uint64_t record = 0;
	unsigned tasks = 0;
	struct rf_item item;
	guint ev = 0;

	for (;;) {
		GError *error = NULL;

		MUST(rf_source_next(s, &item, &error), "%s", error ? error->message : "");
		MUST(item.record == record || n > 1, "record %" G_GUINT64_FORMAT, record);
		if (item.kind == RF_ITEM_END)
			break;
		if (item.kind == RF_ITEM_PAGES) {
			MUST(item.pages.first == named, "page %u", named);
			named += item.pages.n;
			MUST(named <= st->names->len, "page %u", named);
			for (uint32_t i = 0; i < item.pages.n; i++) {
				const struct rf_page_name *want, *have = &item.pages.name[i];

				want = &g_array_index(st->names, struct rf_page_name, item.pages.first + i);
				MUST(want->space == have->space && want->vpn == have->vpn, "page %u", i);
			}
			continue;
		}
		if (item.kind == RF_ITEM_EVENT) {
			record++;
			if (item.event.kind == RF_EV_TASK) {
				MUST(item.event.tid == ++tasks, "task %u", tasks);
				continue;
			}
			MUST(ev < st->events->len && item.event.len == ev, "event %u", ev);
			pass_over(st, n, &run, g_array_index(st->events, guint, ev));
			MUST(g_array_index(st->events, guint, ev) == run, "event %u", ev);
			ev++;
			continue;
		}
		MUST(item.runs.n > 0 && item.runs.n <= 8192, "%u runs", item.runs.n);
		for (uint32_t i = 0; i < item.runs.n; i++, run++) {
			const struct run *want;

			pass_over(st, n, &run, st->runs->len);
			want = &g_array_index(st->runs, struct run, run);
			MUST(run < st->runs->len && item.runs.tid == want->tid &&
			     item.runs.page[i] == want->page && item.runs.type[i] == want->type &&
			     item.runs.count[i] == want->count && want->page < named, "run %u", run);
		}
		record += item.runs.n;
	}
	pass_over(st, n, &run, st->runs->len);
	ck_assert_uint_eq(run, st->runs->len);
	ck_assert_uint_eq(ev, st->events->len);
	ck_assert_uint_eq(named, st->names->len);
}

/* Frames from the last to the first give the runs from the last to the first. */
static void backward_compare(const struct stream *st, struct rf_source *s)
{
	uint32_t run = st->runs->len;

	for (uint32_t f = rf_source_frames(s); f-- > 0;) {
		struct rf_runs r;

		ck_assert(rf_source_frame_runs(s, f, &r, NULL));
		for (uint32_t i = r.n; i-- > 0;) {
			const struct run *want = &g_array_index(st->runs, struct run, --run);

			MUST(r.page[i] == want->page && r.type[i] == want->type && r.count[i] == want->count,
			     "run %u", run);
		}
	}
	ck_assert_uint_eq(run, 0);
}

struct feed { int fd; const char *data; gsize len; };

static gpointer feed(gpointer data)
{
	struct feed *f = data;

	while (f->len > 0) {
		ssize_t n = write(f->fd, f->data, MIN(f->len, 60001));

		if (n <= 0)
			break;
		f->data += n;
		f->len -= (gsize)n;
	}
	close(f->fd);
	return NULL;
}

static void pipe_compare(const struct stream *st, const char *path)
{
	struct rf_source *s;
	GError *error = NULL;
	struct feed f;
	GThread *thread;
	char *data;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	f.fd = fd[1];
	f.data = data = trace_slurp(path, &f.len);
	thread = g_thread_new("feed", feed, &f);
	s = rf_source_rft(rf_raw_from_fd("pipe", fd[0]), &error);
	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	ck_assert_ptr_null(rf_source_totals_ahead(s));
	ck_assert(rf_source_progress(s) == -1);
	stream_compare(st, s, 1);
	rf_source_close(s);
	g_thread_join(thread);
	g_free(data);
}

/* The plain zstd tool sees all columns, one behind the other. */
static uint64_t unzstd_size(const char *path)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	gsize len;
	char *data = trace_slurp(path, &len), *out = g_malloc(1 << 20);
	ZSTD_inBuffer in = { data, len, 0 };
	uint64_t sum = 0;
	size_t left = 1;

	while (in.pos < in.size) {
		ZSTD_outBuffer ob = { out, 1 << 20, 0 };

		left = ZSTD_decompressStream(z, &ob, &in);
		ck_assert(!ZSTD_isError(left));
		sum += ob.pos;
	}
	ck_assert_uint_eq(left, 0);
	g_free(data);
	g_free(out);
	ZSTD_freeDStream(z);
	return sum;
}

static const struct {
	enum pattern pattern;
	uint32_t runs, pages;
	unsigned tasks, events;
} cases[] = {
	{ RANDOM, 300000, 200000, 1, 0 }, /* three frames, packed */
	{ RANDOM, 50000, 100, 3, 20 },
	{ RANDOM, 5000, 1000, 2, 0 },
	{ SCAN, 600000, 300000, 2, 1 },
	{ PROGRAM, 1500000, 50000, 1, 0 }, /* long frames */
	{ MIXED, 200000, 70000, 5, 300 },
	{ PROGRAM, 1, 1, 1, 0 },
	{ RANDOM, 7, 7, 1, 900 },
};

START_TEST(streams)
{
	struct rf_header h = { .granule_shift = 12 };
	uint64_t seed = (uint64_t)_i + 1;
	char *path = trace_temp("stream.rft");
	struct rf_totals ahead;
	struct rf_source *s;
	struct rf_sink *k;
	struct stream st;
	GError *error = NULL;

	stream_make(&st, seed, cases[_i].pattern, cases[_i].runs, cases[_i].pages, cases[_i].tasks,
	            cases[_i].events);
	rf_header_set(&h, "key", "a value");
	k = rf_sink_rft(path, &h, 1 + _i % 9, &error);
	ck_assert_msg(k != NULL, "%s", error ? error->message : "");
	stream_write(&st, seed, k);
	ck_assert_msg(rf_sink_commit(k, &error), "%s", error ? error->message : "");
	rf_header_clear(&h);

	s = trace_must_open(path);
	ck_assert_str_eq(rf_header_get(rf_source_header(s), "key"), "a value");
	ck_assert_ptr_nonnull(rf_source_totals_ahead(s));
	ahead = *rf_source_totals_ahead(s);
	ck_assert_uint_eq(ahead.runs, st.runs->len);
	ck_assert_uint_eq(ahead.events, st.events->len + st.ntasks);
	ck_assert_uint_eq(ahead.pages, st.names->len);
	stream_compare(&st, s, 1);
	ck_assert_mem_eq(&ahead, rf_source_totals(s), sizeof(ahead));
	ck_assert(rf_source_rewind(s, NULL));
	ck_assert_uint_eq(rf_source_totals(s)->runs, 0);
	stream_compare(&st, s, 1);
	for (unsigned n = 1; n <= 1000; n *= 10) {
		rf_source_select(s, one_in, GUINT_TO_POINTER(n));
		ck_assert(rf_source_rewind(s, NULL));
		stream_compare(&st, s, n);
		ck_assert_mem_eq(&ahead, rf_source_totals(s), sizeof(ahead));
	}
	rf_source_select(s, NULL, NULL);
	backward_compare(&st, s);
	ck_assert(rf_source_rewind(s, NULL));
	stream_compare(&st, s, 1);
	rf_source_close(s);
	pipe_compare(&st, path);
	ck_assert_uint_ge(unzstd_size(path), st.runs->len / 4);
	stream_clear(&st);
	g_free(path);
}
END_TEST

/* The digest does not depend on how a stream was cut, and changes with everything in it. */
START_TEST(digest)
{
	struct rf_header h = { .granule_shift = 12 };
	char *path = trace_temp("digest.rft");
	uint64_t first = 0;
	struct stream st;

	stream_make(&st, 5, MIXED, 20000, 500, 3, 5);
	for (unsigned i = 0; i < 8; i++) {
		struct rf_sink *k = rf_sink_rft(path, &h, 1, NULL);
		struct run *run = &g_array_index(st.runs, struct run, 19000 + i);
		struct rf_source *s;
		uint64_t d;

		if (i == 3)
			run->count++;
		if (i == 4)
			run->type = (run->type & RF_TYPE_MASK) == 0 ? 1 : 0;
		if (i == 5)
			g_array_index(st.names, struct rf_page_name, 250).vpn++;
		if (i == 6)
			g_array_index(st.events, guint, 10)--;
		if (i == 7) {
			struct run swap = run[0];

			run[0] = run[1];
			run[1] = swap;
			ck_assert(run[0].page != run[1].page || run[0].type != run[1].type);
		}
		stream_write(&st, i, k);
		ck_assert(rf_sink_commit(k, NULL));
		s = trace_must_open(path);
		d = rf_source_totals_ahead(s)->digest;
		rf_source_close(s);
		if (i == 0)
			first = d;
		else
			ck_assert_msg((d == first) == (i < 3), "variation %u", i);
		first = d;
	}
	stream_clear(&st);
	g_free(path);
}
END_TEST

/* ---- columns ---- */

/* Columns as an encoder makes them: of the pages that are wanted, every run, and no other. */
static void select_compare(const struct rft_frame *f, const uint8_t *const in[RFT_RUN_COLS],
                           const uint32_t *page, const uint8_t *type, const uint32_t *count, struct rf_rng *r)
{
	uint32_t *p = g_new(uint32_t, RFT_SELECT_MOST + 4), *k = g_new(uint32_t, RFT_SELECT_MOST + 4);
	uint8_t *t = g_new(uint8_t, RFT_SELECT_MOST + 4);
	uint32_t at = 0, named = rf_rng_below(r, 5000), share = 1 + rf_rng_below(r, 200);
	struct rft_selection s = { 0 };
	struct rft_decoder d;

	for (uint32_t i = 0; i < named; i++)
		rft_selection_add(&s, i % share == 0);
	ck_assert_ptr_null(rft_decoder_init(&d, f, in));
	rft_select_begin(&s, &d, f);
	while (d.pos < f->runs) {
		uint32_t until = d.pos + 1 + rf_rng_below(r, 2000), begin = d.pos, n, max, most = 0, i = 0;

		until = MIN(until, f->runs);
		ck_assert_ptr_null(rft_select(&d, &s, until, p, t, k, &n, &max));
		MUST(d.pos > begin && d.pos <= until && at == begin, "run %u", begin);
		for (; at < d.pos; at++) {
			if (page[at] < named && page[at] % share != 0)
				continue;
			MUST(i < n && p[i] == page[at] && t[i] == type[at] && k[i] == count[at], "run %u", at);
			most = MAX(most, page[at]);
			i++;
		}
		MUST(i == n, "run %u", at);
		/* A page that is the last one of its type need not be told again. */
		MUST(max <= most, "page %u", max);
	}
	rft_selection_clear(&s);
	g_free(p);
	g_free(k);
	g_free(t);
}

START_TEST(encodings)
{
	struct rf_rng r = { .s = (uint64_t)_i + 99 };
	uint32_t bits = 1 + (uint32_t)_i % 32, n = 1 + rf_rng_below(&r, 3000);
	uint32_t *page = g_new(uint32_t, n), *count = g_new(uint32_t, n), top = 0;
	/* Programs repeat themselves, but not for ever. */
	uint32_t period = _i % 3 ? 16 * (1 + rf_rng_below(&r, 8)) : n, again = 0;
	uint8_t *type = g_new(uint8_t, n);
	struct rft_encoder e;
	GByteArray *col[RFT_RUN_COLS];

	rft_encoder_init(&e, RFT_RUNS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		page[i] = (uint32_t)(rf_rng_next(&r) >> (64 - bits));
		if (i > 0 && rf_rng_below(&r, 3) == 0)
			page[i] = page[i - 1];
		type[i] = (uint8_t)rf_rng_below(&r, 3);
		count[i] = rf_rng_below(&r, 4) ? 1 : (uint32_t)(rf_rng_next(&r) >> rf_rng_below(&r, 32) >> 32);
		count[i] = MAX(count[i], 1);
		if (count[i] == 1 && rf_rng_below(&r, 9) == 0)
			type[i] |= RF_RUN_CONT;
		if (again == 0 && i >= period && rf_rng_below(&r, 50) == 0)
			again = rf_rng_below(&r, 1000);
		if (again > 0) {
			again--;
			page[i] = page[i - period];
			type[i] = type[i - period];
			count[i] = count[i - period];
		}
		top = MAX(top, page[i]);
	}
	rft_encode(&e, n / 3, page, type, count);
	rft_encode(&e, n - n / 3, page + n / 3, type + n / 3, count + n / 3);
	for (unsigned c = 0; c < RFT_RUN_COLS; c++)
		col[c] = g_byte_array_new();
	for (unsigned enc = 0; enc < RFT_NENCODINGS; enc++) {
		struct rft_frame f = { .runs = n, .encoding = (uint8_t)enc };
		const uint8_t *in[RFT_RUN_COLS];
		uint32_t p[304], k[304], max, most = 0;
		uint8_t t[304];
		struct rft_decoder d;

		f.width = rft_encoder_columns(&e, enc, n, col);
		for (unsigned c = 0; c < RFT_RUN_COLS; c++) {
			f.raw[c] = col[c]->len;
			g_byte_array_set_size(col[c], col[c]->len + 8);
			in[c] = col[c]->data;
		}
		ck_assert_ptr_null(rft_decoder_init(&d, &f, in));
		for (uint32_t at = 0; at < n;) {
			uint32_t m = 1 + rf_rng_below(&r, 300);

			m = MIN(m, n - at);
			ck_assert_ptr_null(rft_decode(&d, m, p, t, k, &max));
			ck_assert_mem_eq(p, page + at, m * sizeof(*p));
			ck_assert_mem_eq(k, count + at, m * sizeof(*k));
			ck_assert_mem_eq(t, type + at, m);
			most = MAX(most, max);
			at += m;
		}
		ck_assert_uint_eq(most, top);
		select_compare(&f, in, page, type, count, &r);
	}
	for (unsigned c = 0; c < RFT_RUN_COLS; c++)
		g_byte_array_unref(col[c]);
	rft_encoder_clear(&e);
	g_free(page);
	g_free(count);
	g_free(type);
}
END_TEST

/* Codes are looked at sixteen at once, then what is left: a wrong one is found wherever it stands. */
START_TEST(wrong_codes)
{
	const struct {
		uint8_t code;
		const char *problem;
	} wrong[] = {
		{ 1 << RFT_CODE_COUNT | 3, "a code that does not exist" },
		{ 2 << RFT_CODE_COUNT | RFT_CODE_CONT, "a code that does not exist" },
		{ 0, "the count column is malformed" },
		{ 1 << RFT_CODE_COUNT | RFT_CODE_SAME, "the page column has another length than its runs" },
	};
	uint8_t code[1100 + 8] = { 0 }, id[2200 + 8] = { 0 };
	const uint8_t *col[RFT_RUN_COLS] = { code, id, id, id };
	struct rft_decoder d;

	for (uint32_t n = 1; n <= 1100; n += n < 40 ? 1 : 353) {
		struct rft_frame f = { .runs = n, .encoding = RFT_CODED, .width = 2 };

		f.raw[RFT_COL_CODE] = n;
		f.raw[RFT_COL_ID] = 2 * n;
		memset(code, 1 << RFT_CODE_COUNT, n);
		memset(code + n, 0xff, 8); /* of no meaning */
		ck_assert_ptr_null(rft_decoder_init(&d, &f, col));
		for (uint32_t i = 0; i < n; i++) {
			for (unsigned k = 0; k < G_N_ELEMENTS(wrong); k++) {
				code[i] = wrong[k].code;
				ck_assert_str_eq(rft_decoder_init(&d, &f, col), wrong[k].problem);
			}
			code[i] = 1 << RFT_CODE_COUNT;
		}
	}
}
END_TEST

START_TEST(varints)
{
	GByteArray *a = g_byte_array_new();
	const uint8_t *p, over[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 };
	uint64_t v;

	for (unsigned shift = 0; shift < 64; shift++)
		for (int d = -1; d <= 1; d++) {
			uint64_t want = ((uint64_t)1 << shift) + (uint64_t)d;

			g_byte_array_set_size(a, 0);
			rft_put_varint(a, want);
			p = a->data;
			ck_assert(rft_get_varint(&p, a->data + a->len, &v));
			ck_assert_uint_eq(v, want);
			ck_assert_ptr_eq(p, a->data + a->len);
			p = a->data;
			ck_assert(!rft_get_varint(&p, a->data + a->len - 1, &v));
		}
	p = over;
	ck_assert(!rft_get_varint(&p, over + sizeof(over), &v));
	g_byte_array_unref(a);
}
END_TEST

/* ---- files whose checksums hold, but that are wrong ---- */

/* Rebuild the sample after damage() had a go at its frame's numbers and columns, all hashes right. */
static GByteArray *reseal(const uint8_t *rft, gsize len,
                          void (*damage)(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data),
                          void *data)
{
	gsize head = RFT_CHUNK_HEAD + rft_get32(rft + 4);
	const uint8_t *p = rft + head + RFT_CHUNK_HEAD;
	GByteArray *out = g_byte_array_new(), *col[RFT_NCOLS], *chunk = g_byte_array_new();
	GByteArray *packed = g_byte_array_new();
	uint8_t entry[4 + RFT_INDEX_ENTRY];
	struct rft_frame f;
	struct rft_foot foot;
	uint64_t chain;

	rft_frame_parse(&f, p);
	rft_foot_parse(&foot, rft + len - RFT_FOOT_SIZE);
	p += RFT_FRAME_SIZE;
	for (unsigned c = 0; c < RFT_NCOLS; c++) {
		col[c] = g_byte_array_new();
		g_byte_array_set_size(col[c], f.raw[c]);
		if (f.raw[c] > 0)
			ck_assert_uint_eq(ZSTD_decompress(col[c]->data, f.raw[c], p, f.packed[c]), f.raw[c]);
		p += f.packed[c];
	}
	damage(&f, col, data);
	for (unsigned c = 0; c < RFT_NCOLS; c++) {
		guint at = packed->len;
		size_t bound = ZSTD_compressBound(col[c]->len);

		f.packed[c] = 0;
		if (f.raw[c] == 0)
			continue;
		g_byte_array_set_size(packed, at + (guint)bound);
		f.packed[c] = (uint32_t)ZSTD_compress(packed->data + at, bound, col[c]->data, col[c]->len, 1);
		g_byte_array_set_size(packed, at + f.packed[c]);
	}
	f.data_hash = rft_hash(packed->data, packed->len);

	g_byte_array_append(out, rft, (guint)head);
	chain = rft_chain(0, rft_get64(rft + head - RFT_HASH));
	rft_chunk_begin(chunk, RFT_TAG_FRAME);
	rft_frame_write(chunk, &f);
	chain = rft_chain(chain, rft_chunk_end(chunk));
	g_byte_array_append(out, chunk->data, chunk->len);
	g_byte_array_append(out, packed->data, packed->len);

	foot.index_offset = out->len;
	g_byte_array_set_size(chunk, 0);
	rft_chunk_begin(chunk, RFT_TAG_INDEX);
	rft_put32(entry, 1);
	rft_put64(entry + 4, head);
	rft_put32(entry + 12, f.runs);
	rft_put32(entry + 16, f.events);
	g_byte_array_append(chunk, entry, sizeof(entry));
	foot.chain = rft_chain(chain, rft_chunk_end(chunk));
	g_byte_array_append(out, chunk->data, chunk->len);

	foot.totals.runs = f.runs;
	foot.totals.events = f.events;
	foot.totals.pages = f.pages;
	foot.totals.lost = f.lost;
	memcpy(foot.totals.accesses, f.accesses, sizeof(f.accesses));
	g_byte_array_set_size(chunk, 0);
	rft_chunk_begin(chunk, RFT_TAG_FOOT);
	rft_foot_write(chunk, &foot);
	rft_chunk_end(chunk);
	g_byte_array_append(out, chunk->data, chunk->len);

	for (unsigned c = 0; c < RFT_NCOLS; c++)
		g_byte_array_unref(col[c]);
	g_byte_array_unref(chunk);
	g_byte_array_unref(packed);
	return out;
}

static void leave_alone(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)f, (void)col, (void)data;
}

static void no_pages(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->pages--;
}

static void more_pages(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->pages++;
}

static void huge_column(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->raw[RFT_COL_EVENT] = UINT32_MAX;
}

static void other_size(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->raw[RFT_COL_NAME]++;
}

static void other_encoding(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->encoding = 77;
}

static void other_start(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->first_record = 1;
}

static void no_task(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->tid = 9;
}

static void bad_code(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)f, (void)data;
	col[RFT_COL_CODE]->data[0] |= 3;
}

static void far_name(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)f, (void)data;
	col[RFT_COL_NAME]->data[0] |= 1; /* another space, which follows the two bytes of this number */
	col[RFT_COL_NAME]->data[2] = 0x7f;
}

static void fewer_events(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)col, (void)data;
	f->events--;
}

static void bad_event(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)f, (void)data;
	col[RFT_COL_EVENT]->data[1] = 200;
}

START_TEST(resealed)
{
	static const struct {
		void (*damage)(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data);
		const char *says;
	} kinds[] = {
		{ no_pages, "a page that was not named" },
		{ more_pages, "names of pages that are not accessed" },
		{ huge_column, "a column of an impossible size" },
		{ other_size, "a column that zstd cannot decompress to its size" },
		{ other_encoding, "an unknown encoding of runs" },
		{ other_start, "begins with record 1 and page 0; expected frame 0, record 0, page 0" },
		{ no_task, "record 3: accesses of a task that was not declared" },
		{ bad_code, "a code that does not exist" },
		{ far_name, "record 3: a page outside of every address space" },
		{ fewer_events, "another number of events than its head says" },
		{ bad_event, "record 0: an unknown kind of event" },
	};
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len);
	GByteArray *a = reseal(rft, len, leave_alone, NULL);
	GError *error = NULL;

	ck_assert_msg(trace_drain(trace_rft(a->data, a->len, FALSE, &error), NULL, &error), "%s",
	              error ? error->message : "");
	g_byte_array_unref(a);
	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
		a = reseal(rft, len, kinds[i].damage, NULL);
		ck_assert(!trace_drain(trace_rft(a->data, a->len, FALSE, &error), NULL, &error));
		ck_assert_msg(g_str_has_suffix(error->message, kinds[i].says), "%s\nwant: %s",
		              error->message, kinds[i].says);
		g_clear_error(&error);
		g_byte_array_unref(a);
	}
	g_free(rft);
}
END_TEST

static void other_access(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	(void)f, (void)data;
	col[RFT_COL_CODE]->data[2] ^= 1; /* a read becomes a write */
}

/* Checksums and sums that hold are not enough for who wants to know. */
START_TEST(verified)
{
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len);
	GByteArray *a = reseal(rft, len, other_access, NULL);
	struct rf_source *s = trace_rft(a->data, a->len, FALSE, NULL);
	GError *error = NULL;

	ck_assert(trace_drain(s, NULL, NULL));
	s = trace_rft(a->data, a->len, FALSE, NULL);
	rf_source_verify(s);
	ck_assert(!trace_drain(s, NULL, &error));
	ck_assert_msg(g_str_has_prefix(error->message, "x.rft: the digest of its content is "), "%s",
	              error->message);
	g_clear_error(&error);
	s = trace_rft(rft, len, TRUE, NULL);
	rf_source_verify(s);
	ck_assert(trace_drain(s, NULL, NULL));
	g_byte_array_unref(a);
	g_free(rft);
}
END_TEST

static void damage_at_random(struct rft_frame *f, GByteArray *col[RFT_NCOLS], void *data)
{
	struct rf_rng *r = data;

	for (unsigned i = 0; i < 1 + rf_rng_below(r, 3); i++) {
		unsigned c = rf_rng_below(r, RFT_NCOLS + 1);

		if (c < RFT_NCOLS && col[c]->len > 0)
			col[c]->data[rf_rng_below(r, col[c]->len)] = (uint8_t)rf_rng_next(r);
		else if (c == RFT_NCOLS)
			f->width ^= 1 << rf_rng_below(r, 8);
	}
}

/* Whatever stands in the columns: an error or a trace, but no crash and no endless loop. */
START_TEST(resealed_at_random)
{
	struct rf_rng r = { .s = (uint64_t)_i * 31 + 3 };
	gsize len;
	uint8_t *rft = trace_rft_of(sample, &len);

	for (unsigned i = 0; i < 100; i++) {
		GByteArray *a = reseal(rft, len, damage_at_random, &r);
		struct rf_source *s = trace_rft(a->data, a->len, FALSE, NULL);
		struct rf_item item = { .kind = RF_ITEM_RUNS };
		uint32_t named = 0;
		uint64_t items = 0;

		ck_assert_ptr_nonnull(s);
		while (item.kind != RF_ITEM_END && rf_source_next(s, &item, NULL)) {
			MUST(++items < 10000, "no end");
			if (item.kind == RF_ITEM_PAGES)
				named += item.pages.n;
			for (uint32_t k = 0; item.kind == RF_ITEM_RUNS && k < item.runs.n; k++) {
				MUST(item.runs.page[k] < named && item.runs.count[k] > 0 &&
				     (item.runs.type[k] & RF_TYPE_MASK) < RF_NACCESS, "run %u", k);
			}
		}
		rf_source_close(s);
		g_byte_array_unref(a);
	}
	g_free(rft);
}
END_TEST

/* ---- the manual page ---- */

/* The lines between a comment and the comment "end" in the manual page, as a reader sees them. */
static char **example(const char *man, const char *name)
{
	char *from = g_strdup_printf(".\\\" %s:\n.nf\n", name), **parts, **lines;
	const char *start = strstr(man, from), *end = start == NULL ? NULL : strstr(start, ".fi\n.\\\" end");
	char *text;

	ck_assert_ptr_nonnull(end);
	text = g_strndup(start + strlen(from), (gsize)(end - start) - strlen(from));
	parts = g_strsplit(text, "\\-", -1);
	g_free(text);
	text = g_strjoinv("-", parts);
	g_strfreev(parts);
	lines = g_strsplit(text, "\n", -1);
	g_free(text);
	g_free(from);
	return lines;
}

/* The worked example is what it says: its bytes are the trace, and members stand where it says. */
START_TEST(manual_page)
{
	char *path = g_build_filename(RF_SRCDIR, "traces/refault-trace.5", NULL), *back;
	gsize n;
	char *man = trace_slurp(path, &n), **text = example(man, "text"), **dump = example(man, "bytes");
	char *trace = g_strjoinv("\n", text), *have;
	GByteArray *a = g_byte_array_new();
	struct rf_totals totals, want;
	GError *error = NULL;
	struct rf_source *s;

	for (char **l = dump; *l != NULL && **l != 0; l++) {
		char *p = *l;

		ck_assert_uint_eq(g_ascii_strtoull(p, &p, 16), a->len);
		ck_assert(g_str_has_prefix(p, "  "));
		for (p += 2; g_ascii_isxdigit(p[0]) && g_ascii_isxdigit(p[1]); p += 3) {
			uint8_t b = (uint8_t)(g_ascii_xdigit_value(p[0]) << 4 | g_ascii_xdigit_value(p[1]));

			g_byte_array_append(a, &b, 1);
			if (p[2] != ' ')
				break;
		}
	}
	s = trace_rft(a->data, a->len, FALSE, &error);
	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	back = trace_temp("man.txt");
	trace_must_copy(s, back, FALSE, &totals);
	have = trace_slurp(back, &n);
	ck_assert_str_eq(have, trace);
	ck_assert(trace_drain(rf_source_from_text("man", trace, -1), &want, NULL));
	ck_assert_mem_eq(&totals, &want, sizeof(want));
	g_byte_array_unref(a);
	g_strfreev(text);
	g_strfreev(dump);
	g_free(trace);
	g_free(have);
	g_free(back);
	g_free(man);
	g_free(path);
}
END_TEST

/* Recordings of ours, of all accesses, have frames of up to four million runs, others of one million. */
START_TEST(long_frames)
{
	static const struct { const char *key, *value; uint32_t frames; } headers[] = {
		{ "architecture", "arm64", 2 }, { "clock", "instructions", 5 }, { "window-pages", "48", 5 },
	};
	enum { N = 10000, TIMES = 420 }; /* 4.2 million runs */
	struct rf_header h = { .granule_shift = 12 };
	char *path = trace_temp("long.rft");
	uint32_t page[N], count[N];
	uint8_t type[N];
	struct rf_item item = { .kind = RF_ITEM_RUNS }, task = { .kind = RF_ITEM_EVENT };
	struct rf_item pages = { .kind = RF_ITEM_PAGES };
	struct rf_page_name names[2] = { { 0, 1 }, { 0, 2 } };
	uint64_t runs = 0;
	struct rf_sink *k;
	struct rf_source *s;

	for (uint32_t i = 0; i < N; i++) {
		page[i] = i / 40 % 2;
		type[i] = i % 2 ? RF_READ : RF_EXEC;
		count[i] = 1 + i % 3;
	}
	pages.pages.n = 2;
	pages.pages.name = names;
	task.event = (struct rf_event){ .kind = RF_EV_TASK, .tid = 1 };
	item.runs = (struct rf_runs){ N, 1, page, type, count };
	rf_header_set(&h, headers[_i].key, headers[_i].value);
	k = rf_sink_rft(path, &h, 1, NULL);
	ck_assert(rf_sink_put(k, &task, NULL));
	item.record = pages.record = 1;
	ck_assert(rf_sink_put(k, &pages, NULL));
	for (unsigned i = 0; i < TIMES; i++, item.record += N)
		ck_assert(rf_sink_put(k, &item, NULL));
	ck_assert(rf_sink_commit(k, NULL));
	rf_header_clear(&h);

	s = trace_must_open(path);
	ck_assert_uint_eq(rf_source_frames(s), headers[_i].frames);
	do {
		ck_assert(rf_source_next(s, &item, NULL));
		if (item.kind != RF_ITEM_RUNS)
			continue;
		for (uint32_t i = 0; i < item.runs.n; i++, runs++)
			MUST(item.runs.page[i] == page[runs % N] && item.runs.type[i] == type[runs % N] &&
			     item.runs.count[i] == count[runs % N], "run %u", i);
	} while (item.kind != RF_ITEM_END);
	ck_assert_uint_eq(runs, (uint64_t)N * TIMES);
	rf_source_close(s);
	g_free(path);
}
END_TEST

/* ---- spools and sinks ---- */

START_TEST(spool)
{
	struct rf_source *s = rf_source_from_text("t.txt", sample, -1), *again;
	struct rf_totals want, have;
	GError *error = NULL;
	char *path = trace_temp("spool.txt"), *data, *first;
	gsize n;

	trace_must_copy(rf_source_from_text("t.txt", sample, -1), path, FALSE, &want);
	first = trace_slurp(path, &n);
	s = rf_source_spool(s, &error);
	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	ck_assert_str_eq(rf_source_path(s), "t.txt");
	ck_assert_mem_eq(rf_source_totals_ahead(s), &want, sizeof(want));
	again = rf_source_spool(s, &error);
	ck_assert_ptr_eq(again, s); /* it is one already */
	trace_must_copy(s, path, FALSE, &have);
	ck_assert_mem_eq(&have, &want, sizeof(want));
	data = trace_slurp(path, &n);
	ck_assert_str_eq(data, first);
	g_free(data);
	g_free(first);
	ck_assert_ptr_null(rf_source_spool(rf_source_from_text("t.txt", "!refault-trace 1\nR 1 z", -1),
	                                   &error));
	ck_assert_str_eq(error->message,
	                 "t.txt:2:5: 'z' is no hexadecimal number; expected an address");
	g_clear_error(&error);
	g_free(path);
}
END_TEST

START_TEST(sinks_refuse)
{
	struct rf_header h = { .granule_shift = 12 };
	char *path = trace_temp("bad.rft");
	const uint32_t one = 1;
	uint32_t page = 0, count = 1;
	uint8_t type = RF_READ;
	struct rf_page_name names[3] = { { 0, 1 }, { 0, 2 }, { 0, 3 } };
	struct rf_item item = { .kind = RF_ITEM_RUNS };
	GError *error = NULL;
	struct rf_sink *k = rf_sink_rft(path, &h, 1, &error);

	item.runs = (struct rf_runs){ 1, 1, &page, &type, &count };
	ck_assert(!rf_sink_put(k, &item, &error)); /* not named */
	ck_assert_str_eq(error->message, "record 0: 1 accesses to page 0; expected at least 1 to one of "
	                 "0 named pages");
	g_clear_error(&error);
	item = (struct rf_item){ .kind = RF_ITEM_PAGES };
	item.pages.first = 1;
	item.pages.n = 3;
	item.pages.name = names;
	ck_assert(!rf_sink_put(k, &item, &error));
	ck_assert_str_eq(error->message, "record 0: names of pages from 1; expected 0");
	g_clear_error(&error);
	item.pages.first = 0;
	ck_assert(rf_sink_put(k, &item, &error));
	item = (struct rf_item){ .kind = RF_ITEM_RUNS };
	item.runs = (struct rf_runs){ 1, 1, &one, &type, &count };
	ck_assert(!rf_sink_put(k, &item, &error));
	ck_assert_str_eq(error->message, "record 0: page 1 before page 0; expected numbers in the order "
	                 "of first access");
	g_clear_error(&error);
	rf_sink_abort(k);
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));

	/* Named, but never accessed: such a file could not be read. */
	k = rf_sink_rft(path, &h, 1, &error);
	item = (struct rf_item){ .kind = RF_ITEM_PAGES };
	item.pages.n = 3;
	item.pages.name = names;
	ck_assert(rf_sink_put(k, &item, &error));
	ck_assert(!rf_sink_commit(k, &error));
	ck_assert_str_eq(error->message, "3 pages were named but not accessed");
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
	g_clear_error(&error);

	ck_assert_ptr_null(rf_sink_rft("/nonexistent/x.rft", &h, 1, &error));
	ck_assert(rf_error_exit_code(error) == RF_EXIT_ENVIRONMENT);
	g_clear_error(&error);
	rf_sink_abort(NULL);
	g_free(path);
}
END_TEST

START_TEST(disk_full)
{
	GError *error = NULL;

	for (int rft = 0; rft < 2; rft++) {
		ck_assert(!trace_copy(rf_source_from_text("t.txt", sample, -1), "/dev/full", rft, NULL,
		                      &error));
		ck_assert_msg(strstr(error->message, "/dev/full") != NULL, "%s", error->message);
		ck_assert(rf_error_exit_code(error) == RF_EXIT_ENVIRONMENT);
		g_clear_error(&error);
	}
}
END_TEST

Suite *suite_trace_rft(void);
Suite *suite_trace_rft(void)
{
	Suite *s = suite_create("trace_rft");
	TCase *c = tcase_create("rft");

	tcase_set_timeout(c, 300);
	tcase_add_test(c, every_truncation);
	tcase_add_test(c, every_flipped_bit);
	tcase_add_test(c, flipped_in_a_file);
	tcase_add_test(c, messages);
	tcase_add_loop_test(c, streams, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(c, long_frames, 0, 3);
	tcase_add_test(c, digest);
	tcase_add_loop_test(c, encodings, 0, 96);
	tcase_add_test(c, wrong_codes);
	tcase_add_test(c, varints);
	tcase_add_test(c, resealed);
	tcase_add_test(c, verified);
	tcase_add_loop_test(c, resealed_at_random, 0, 10);
	tcase_add_test(c, manual_page);
	tcase_add_test(c, spool);
	tcase_add_test(c, sinks_refuse);
	if (access("/dev/full", W_OK) == 0)
		tcase_add_test(c, disk_full);
	suite_add_tcase(s, c);
	return s;
}
