/* SPDX-License-Identifier: MIT
 * Input: whatever it is packed with and however it is read, the same bytes; and the builder: accesses
 * and events against a naive model.
 */
#include <check.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "base/rng.h"
#include "tests/traces.h"
#include "traces/builder.h"
#include "traces/input.h"

/* ---- packing ---- */

enum { PLAIN, ZSTD, ZSTD_FRAMES, GZIP, GZIP_MEMBERS, NPACKINGS };

static void add_zstd(GByteArray *a, const char *data, gsize n, int level)
{
	guint at = a->len;
	size_t bound = ZSTD_compressBound(n), got;

	g_byte_array_set_size(a, at + (guint)bound);
	got = ZSTD_compress(a->data + at, bound, data, n, level);
	ck_assert(!ZSTD_isError(got));
	g_byte_array_set_size(a, at + (guint)got);
}

static void add_gzip(GByteArray *a, const char *data, gsize n)
{
	GConverter *c = G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6));
	GConverterResult r;
	gsize took, gave, at = 0;
	char out[4096];

	do {
		r = g_converter_convert(c, data + at, n - at, out, sizeof(out), G_CONVERTER_INPUT_AT_END,
		                        &took, &gave, NULL);
		ck_assert_int_ne(r, G_CONVERTER_ERROR);
		at += took;
		g_byte_array_append(a, (guint8 *)out, (guint)gave);
	} while (r != G_CONVERTER_FINISHED);
	g_object_unref(c);
}

static GByteArray *packed(int packing, const char *data, gsize n)
{
	static const uint8_t skippable[] = { 0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
	GByteArray *a = g_byte_array_new();

	switch (packing) {
	case PLAIN:
		g_byte_array_append(a, (const guint8 *)data, (guint)n);
		break;
	case ZSTD:
		add_zstd(a, data, n, 3);
		break;
	case ZSTD_FRAMES: /* skippable and empty ones among them */
		g_byte_array_append(a, skippable, sizeof(skippable));
		add_zstd(a, data, n / 3, 1);
		g_byte_array_append(a, skippable, sizeof(skippable));
		add_zstd(a, data, 0, 1);
		add_zstd(a, data + n / 3, n - n / 3, 1);
		g_byte_array_append(a, skippable, sizeof(skippable));
		break;
	case GZIP:
		add_gzip(a, data, n);
		break;
	default:
		add_gzip(a, data, n / 2);
		add_gzip(a, data, 0);
		add_gzip(a, data + n / 2, n - n / 2);
		break;
	}
	return a;
}

/* Lines of many lengths, some as long as can be. */
static GString *lines(uint64_t seed, gsize size)
{
	struct rf_rng r = { .s = seed };
	GString *s = g_string_new(NULL);

	while (s->len < size) {
		unsigned n = rf_rng_below(&r, 200) ? rf_rng_below(&r, 60) : rf_rng_below(&r, 65537);

		for (unsigned i = 0; i < n; i++)
			g_string_append_c(s, (char)('!' + rf_rng_below(&r, 90)));
		g_string_append(s, rf_rng_below(&r, 3) ? "\n" : "\r\n");
	}
	return s;
}

static void read_lines(struct rf_input *in, const char *want, gsize len)
{
	const char *p = want;
	uint64_t number = 0;
	GError *error = NULL;
	char *line;
	size_t n;
	int got;

	while ((got = rf_input_line(in, &line, &n, &error)) == 1) {
		const char *end = memchr(p, '\n', len - (gsize)(p - want));
		size_t m = (size_t)(end - p);

		if (m > 0 && p[m - 1] == '\r')
			m--;
		if (++number != rf_input_line_number(in) || n != m || memcmp(p, line, m) != 0 || line[n] != 0)
			ck_abort_msg("line %" G_GUINT64_FORMAT, number);
		p = end + 1;
		if (rf_input_offset(in) != (uint64_t)(p - want))
			ck_abort_msg("offset behind line %" G_GUINT64_FORMAT, number);
	}
	ck_assert_msg(got == 0, "%s", error ? error->message : "");
	ck_assert_ptr_eq(p, want + len);
	ck_assert_int_eq(rf_input_line(in, &line, &n, NULL), 0);
}

static void read_blocks(struct rf_input *in, uint64_t seed, const char *want, gsize len)
{
	struct rf_rng r = { .s = seed };
	gsize at = 0;

	for (;;) {
		size_t n = rf_rng_below(&r, 50) ? rf_rng_below(&r, 5000) : rf_rng_below(&r, (1 << 20) + 1);
		size_t have = 12345, take;
		const uint8_t *p = rf_input_peek(in, n, &have, NULL);

		if (p == NULL || have != MIN(n, len - at) || memcmp(p, want + at, have) != 0 ||
		    rf_input_offset(in) != at)
			ck_abort_msg("block at %zu", at);
		if (n > 0 && have == 0)
			break;
		take = have == 0 ? 0 : rf_rng_below(&r, (uint32_t)have + 1);
		rf_input_consume(in, take);
		at += take;
	}
}

START_TEST(packings)
{
	GString *text = lines((uint64_t)_i + 1, 3000000);
	GByteArray *a = packed(_i, text->str, text->len);
	char *path = trace_temp("packed");
	struct rf_input *in;

	trace_spit(path, a->data, a->len);
	in = rf_input_open(path, NULL);
	ck_assert_ptr_nonnull(in);
	ck_assert_str_eq(rf_input_name(in), path);
	read_lines(in, text->str, text->len);
	ck_assert(rf_input_progress(in) == 1);
	rf_input_close(in);
	in = rf_input_open(path, NULL);
	read_blocks(in, (uint64_t)_i, text->str, text->len);
	rf_input_close(in);
	g_free(path);
	g_byte_array_unref(a);
	g_string_free(text, TRUE);
}
END_TEST

/* Through a pipe, in pieces of one byte and more. */
START_TEST(pipes)
{
	GString *text = lines(9, 100000);
	GByteArray *a = packed(_i, text->str, text->len);
	struct rf_input *in;
	int fd[2];
	pid_t child;

	ck_assert_int_eq(pipe(fd), 0);
	child = fork();
	if (child == 0) {
		for (guint at = 0, n = 1; at < a->len; at += n, n = n * 3 % 5001)
			if (write(fd[1], a->data + at, MIN(n, a->len - at)) < 0)
				_exit(1);
		_exit(0);
	}
	close(fd[1]);
	in = rf_input_new(rf_raw_from_fd("pipe", fd[0]), NULL);
	ck_assert_ptr_nonnull(in);
	ck_assert(rf_input_progress(in) == -1);
	read_lines(in, text->str, text->len);
	rf_input_close(in);
	g_byte_array_unref(a);
	g_string_free(text, TRUE);
}
END_TEST

/* Packed data that ends early, at any byte, is never taken for a shorter file. */
START_TEST(truncated)
{
	GString *text = g_string_new(NULL);
	GByteArray *a;
	unsigned whole = 0;

	for (unsigned i = 0; i < 300; i++)
		g_string_append_printf(text, "line %u\n", i * i);
	a = packed(_i, text->str, text->len);
	for (guint n = 1; n < a->len; n++) {
		struct rf_input *in = rf_input_new(rf_raw_from_memory("x", a->data, n), NULL);
		GError *error = NULL;
		size_t have;
		char *line;
		int got;

		ck_assert_ptr_nonnull(in);
		do
			got = rf_input_line(in, &line, &have, &error);
		while (got == 1);
		if (got == 0) {
			/* Cut between two frames, or too short to tell what it is. */
			whole++;
		} else {
			ck_assert_msg(g_str_has_prefix(error->message, "x: offset ") &&
			              error->domain == RF_DATA_ERROR, "%s", error->message);
		}
		g_clear_error(&error);
		rf_input_close(in);
	}
	ck_assert_uint_le(whole, _i == ZSTD_FRAMES ? 3 + 6 : 3 + 2);
	g_byte_array_unref(a);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(garbage_behind)
{
	for (int packing = ZSTD; packing < NPACKINGS; packing++) {
		GByteArray *a = packed(packing, "abc\n", 4);
		GError *error = NULL;
		struct rf_input *in;
		size_t n;
		char *line;
		int got;

		g_byte_array_append(a, (const guint8 *)"garbage garbage garbage", 23);
		in = rf_input_new(rf_raw_from_memory("x", a->data, a->len), NULL);
		do
			got = rf_input_line(in, &line, &n, &error);
		while (got == 1);
		ck_assert_int_eq(got, -1);
		ck_assert_msg(strstr(error->message, packing <= ZSTD_FRAMES ? "broken zstd data" :
		                     "broken gzip data") != NULL, "%s", error->message);
		g_clear_error(&error);
		rf_input_close(in);
		g_byte_array_unref(a);
	}
}
END_TEST

/* ---- the builder ---- */

struct model_run { uint32_t tid, space, count; uint64_t vpn; uint8_t type; };

/* One access of the model: runs grow as long as page, type and task stay. */
static void model_access(GArray *runs, uint32_t tid, uint32_t space, uint8_t type, uint64_t addr,
                         uint64_t len, uint32_t count, gboolean *fresh)
{
	uint64_t first = addr >> 12, last = (addr + len - 1) >> 12;

	for (uint32_t c = 0; c < count; c++)
		for (uint64_t v = first; v <= last; v++) {
			struct model_run run = { tid, space, 1, v, type | (v > first ? RF_RUN_CONT : 0) };
			struct model_run *p = runs->len == 0 ? NULL :
			                      &g_array_index(runs, struct model_run, runs->len - 1);

			if (!*fresh && v == first && p != NULL && p->tid == tid && p->vpn == v &&
			    p->type == type && p->space == space)
				p->count++;
			else
				g_array_append_val(runs, run);
			*fresh = FALSE;
		}
}

static void take_all(struct rf_builder *b, gboolean last, GArray *runs, GArray *names,
                     uint64_t *records, uint32_t *events)
{
	struct rf_item item;

	while (rf_builder_take(b, last, &item)) {
		if (item.record != *records)
			ck_abort_msg("record %" G_GUINT64_FORMAT, item.record);
		switch (item.kind) {
		case RF_ITEM_PAGES:
			ck_assert_uint_eq(item.pages.first, names->len);
			g_array_append_vals(names, item.pages.name, item.pages.n);
			break;
		case RF_ITEM_EVENT:
			++*records;
			++*events;
			break;
		default:
			if (item.runs.n == 0)
				ck_abort_msg("an empty item");
			for (uint32_t i = 0; i < item.runs.n; i++) {
				const struct rf_page_name *n;
				struct model_run run;

				if (item.runs.page[i] >= names->len)
					ck_abort_msg("page %u is not named", item.runs.page[i]);
				n = &g_array_index(names, struct rf_page_name, item.runs.page[i]);
				run = (struct model_run){ item.runs.tid, n->space, item.runs.count[i], n->vpn,
					                  item.runs.type[i] };
				g_array_append_val(runs, run);
			}
			*records += item.runs.n;
		}
	}
}

START_TEST(builder)
{
	struct rf_rng r = { .s = (uint64_t)_i + 1000 };
	struct rf_builder *b = rf_builder_new(FALSE);
	GArray *want = g_array_new(FALSE, FALSE, sizeof(struct model_run));
	GArray *have = g_array_new(FALSE, FALSE, sizeof(struct model_run));
	GArray *names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	uint32_t space[4] = { 0 }, spaces = 0, events = 0, want_events = 0;
	gboolean known[4] = { FALSE }, fresh = TRUE;
	uint64_t records = 0;

	for (unsigned i = 0; i < 20000; i++) {
		uint32_t tid = rf_rng_below(&r, 10) ? 0 : rf_rng_below(&r, 4);
		uint64_t addr = (uint64_t)rf_rng_below(&r, 300) * 1000 + ((uint64_t)1 << 63), len = 1;
		uint32_t count = rf_rng_below(&r, 5) ? 1 : rf_rng_below(&r, 5);
		uint8_t type = (uint8_t)rf_rng_below(&r, 3);

		if (rf_rng_below(&r, 10) == 0)
			len = 1 + rf_rng_below(&r, rf_rng_below(&r, 200) ? 9000 : 60000000);
		if (!known[tid] && count > 0) {
			known[tid] = TRUE;
			space[tid] = spaces++;
			want_events++;
		}
		if (rf_rng_below(&r, 100) == 0 && known[tid]) {
			struct rf_event ev = { .kind = RF_EV_EXEC, .tid = tid };

			ck_assert(rf_builder_event(b, &ev, NULL));
			space[tid] = spaces++;
			want_events++;
			fresh = TRUE;
		}
		rf_builder_access(b, tid, type, addr, len, count);
		model_access(want, tid, space[tid], type, addr, len, count, &fresh);
		/* An importer may go on when the builder is full, but normally does not. */
		if (rf_builder_full(b) ? rf_rng_below(&r, 3) > 0 : rf_rng_below(&r, 500) == 0)
			take_all(b, FALSE, have, names, &records, &events);
	}
	take_all(b, TRUE, have, names, &records, &events);
	ck_assert_ptr_null(rf_builder_error(b));
	ck_assert_uint_eq(events, want_events);
	ck_assert_uint_eq(have->len, want->len);
	for (guint i = 0; i < want->len; i++) {
		const struct model_run *w = &g_array_index(want, struct model_run, i), *h;

		h = &g_array_index(have, struct model_run, i);
		if (w->tid != h->tid || w->space != h->space || w->vpn != h->vpn || w->type != h->type ||
		    w->count != h->count)
			ck_abort_msg("seed %d, run %u", _i, i);
	}
	rf_builder_free(b);
	g_array_unref(want);
	g_array_unref(have);
	g_array_unref(names);
}
END_TEST

/* A run is full at 2^32-1 accesses. */
START_TEST(full_runs)
{
	struct rf_builder *b = rf_builder_new(FALSE);
	struct rf_item item;

	for (unsigned i = 0; i < 3; i++)
		rf_builder_access(b, 1, RF_READ, 0x1000, 1, 3000000000u);
	ck_assert(rf_builder_take(b, TRUE, &item)); /* the task */
	ck_assert(rf_builder_take(b, TRUE, &item)); /* the page */
	ck_assert(rf_builder_take(b, TRUE, &item));
	ck_assert_uint_eq(item.runs.n, 3);
	ck_assert_uint_eq(item.runs.count[2], 3000000000u);
	rf_builder_free(b);
}
END_TEST

/* What no program does stops with an error, not with memory. */
START_TEST(absurd_accesses)
{
	static const struct { uint64_t addr, len; const char *says; } kinds[] = {
		{ 0, (uint64_t)1 << 63, "an access of 9223372036854775808 bytes; expected at most" },
		{ 0, ((uint64_t)1 << 36) + 1, "an access of 68719476737 bytes; expected at most" },
		{ UINT64_MAX, 1, "ends beyond 0xffffffffffff0000" },
		{ UINT64_MAX - 0xffff, 1, "ends beyond" },
		{ 4096, UINT64_MAX, "ends beyond" },
		{ 4096, 0, "the access has length 0" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
		struct rf_builder *b = rf_builder_new(FALSE);
		struct rf_item item;

		rf_builder_access(b, 1, RF_READ, kinds[i].addr, kinds[i].len, 1);
		rf_builder_access(b, 1, RF_READ, 0x1000, 1, 1); /* too late */
		ck_assert(rf_builder_full(b));
		while (rf_builder_take(b, FALSE, &item))
			ck_assert_int_eq(item.kind, RF_ITEM_EVENT);
		ck_assert_ptr_nonnull(rf_builder_error(b));
		ck_assert_msg(strstr(rf_builder_error(b)->message, kinds[i].says) != NULL, "%s",
		              rf_builder_error(b)->message);
		rf_builder_free(b);
	}
}
END_TEST

/* Many pages go through a batch at a time. */
START_TEST(long_access)
{
	struct rf_builder *b = rf_builder_new(FALSE);
	uint64_t runs = 0;
	struct rf_item item;
	uint32_t most = 0;

	rf_builder_access(b, 1, RF_WRITE, 0x100000000, (uint64_t)1 << 30, 1);
	while (rf_builder_take(b, FALSE, &item))
		if (item.kind == RF_ITEM_RUNS) {
			runs += item.runs.n;
			most = MAX(most, item.runs.n);
		}
	while (rf_builder_take(b, TRUE, &item))
		runs += item.kind == RF_ITEM_RUNS ? item.runs.n : 0;
	ck_assert_uint_eq(runs, 1 << 18);
	ck_assert_uint_le(most, 8192);
	rf_builder_free(b);
}
END_TEST

START_TEST(skipped)
{
	struct rf_builder *b = rf_builder_new(FALSE);
	const char *reason;
	uint64_t n;

	rf_builder_skipped(b, "chatter");
	rf_builder_skipped(b, "no address");
	rf_builder_skipped(b, "chatter");
	ck_assert(rf_builder_skipped_nth(b, 0, &reason, &n));
	ck_assert_str_eq(reason, "chatter");
	ck_assert_uint_eq(n, 2);
	ck_assert(rf_builder_skipped_nth(b, 1, &reason, &n));
	ck_assert_uint_eq(n, 1);
	ck_assert(!rf_builder_skipped_nth(b, 2, &reason, &n));
	rf_builder_free(b);
}
END_TEST

/* ---- totals ---- */

static guint64 *key(uint64_t space, uint64_t page)
{
	guint64 *k = g_new(guint64, 1);

	*k = space << 56 | page;
	return k;
}

START_TEST(footprints)
{
	static const unsigned shifts[3] = { 12, 14, 16 };
	static const char *const sizes[] = { "4K", "8K", "16K", "32K", "64K" };
	struct rf_rng r = { .s = (uint64_t)_i + 5 };
	unsigned granule = 12 + (unsigned)_i % 5;
	GString *text = g_string_new("!refault-trace 1");
	GHashTable *set[3];
	struct rf_totals t;
	uint64_t reads = 0, writes = 0, fetches = 0, lost = 0;

	for (unsigned s = 0; s < 3; s++)
		set[s] = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_string_append_printf(text, " page-size=%s\ntask 1\ntask 2\n", sizes[granule - 12]);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t at = (uint64_t)rf_rng_below(&r, rf_rng_below(&r, 2) ? 1000000 : 1u << 31) << rf_rng_below(&r, 12);
		uint64_t len = 1 + rf_rng_below(&r, rf_rng_below(&r, 9) ? 8 : 200000);
		unsigned what = rf_rng_below(&r, 5), who = 1 + rf_rng_below(&r, 2);
		uint64_t first = at >> granule << granule;
		uint64_t end = ((at + len - 1) >> granule << granule) + ((uint64_t)1 << granule);

		if (what == 3 || what == 4)
			g_string_append_printf(text, "%s 1 file:%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n",
			                       what == 3 ? "read" : "write", who, at, len);
		else
			g_string_append_printf(text, "%c %u %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT "\n",
			                       "RWX"[what], who, at, len);
		reads += what == 0;
		writes += what == 1;
		fetches += what == 2;
		for (unsigned s = 0; s < 3; s++)
			for (uint64_t p = first >> shifts[s]; p <= (end - 1) >> shifts[s]; p++)
				g_hash_table_add(set[s], key(who + (what >= 3 ? 10 : 0), p));
		if (rf_rng_below(&r, 100) == 0) {
			g_string_append_printf(text, "lost %u\n", i + 1);
			lost += i + 1;
		}
	}
	ck_assert(trace_drain(rf_source_from_text("t", text->str, -1), &t, NULL));
	for (unsigned s = 0; s < 3; s++) {
		ck_assert_uint_eq(t.footprint[s], shifts[s] < granule ? 0 : g_hash_table_size(set[s]));
		g_hash_table_unref(set[s]);
	}
	ck_assert_uint_eq(t.accesses[RF_READ], reads);
	ck_assert_uint_eq(t.accesses[RF_WRITE], writes);
	ck_assert_uint_eq(t.accesses[RF_EXEC], fetches);
	ck_assert_uint_eq(t.lost, lost);
	g_string_free(text, TRUE);
}
END_TEST

Suite *suite_trace_input(void);
Suite *suite_trace_input(void)
{
	Suite *s = suite_create("trace_input");
	TCase *c = tcase_create("input");

	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, packings, 0, NPACKINGS);
	tcase_add_loop_test(c, pipes, 0, NPACKINGS);
	tcase_add_loop_test(c, truncated, ZSTD, NPACKINGS);
	tcase_add_test(c, garbage_behind);
	tcase_add_loop_test(c, builder, 0, 5);
	tcase_add_test(c, full_runs);
	tcase_add_test(c, absurd_accesses);
	tcase_add_test(c, long_access);
	tcase_add_test(c, skipped);
	tcase_add_loop_test(c, footprints, 0, 10);
	suite_add_tcase(s, c);
	return s;
}
