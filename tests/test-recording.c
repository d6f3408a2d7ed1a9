/* SPDX-License-Identifier: MIT
 * The recorders' stream: what is read from streams made here, whole, cut and damaged; and the window.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "tests/items.h"
#include "traces/record/calls.h"
#include "traces/record/writer.h"

static GByteArray *stream;
static gboolean broken; /* nothing can be written now */

static int rf_writer_output(const void *data, rf_u32 n)
{
	if (broken)
		return 0;
	ck_assert_uint_le(n, RF_WIRE_BLOCK);
	g_byte_array_append(stream, data, n);
	return 1;
}

static void setup(void)
{
	stream = g_byte_array_new();
	broken = FALSE;
}

static void teardown(void)
{
	g_byte_array_unref(stream);
}

static void hello(struct rf_writer *w, unsigned pages, const char *program)
{
	rf_writer_control(w, RF_WIRE_HELLO, 400);
	rf_writer_varint(w, pages ? RF_WIRE_WINDOW : RF_WIRE_EXACT);
	rf_writer_varint(w, pages);
	rf_writer_varint(w, 1000);
	rf_writer_varint(w, RF_WIRE_X86_64);
	rf_writer_varint(w, 12);
	rf_writer_varint(w, 1);
	rf_writer_string(w, "test");
	rf_writer_string(w, program);
	rf_writer_string(w, program);
	rf_writer_string(w, "/home");
}

static void map(struct rf_writer *w, rf_u64 addr, rf_u64 len, unsigned prot, const char *path)
{
	rf_writer_control(w, RF_WIRE_MAP, 400);
	rf_writer_varint(w, addr);
	rf_writer_varint(w, len);
	rf_writer_varint(w, prot);
	rf_writer_varint(w, 0);
	rf_writer_varint(w, path[0] ? 5000 : 0);
	rf_writer_string(w, path);
	rf_writer_string(w, path[0] ? "" : "[stack]");
}

static void call(struct rf_writer *w, unsigned nr, rf_u64 result, unsigned n, const rf_u64 *arg,
                 const char *path, rf_u64 size)
{
	rf_writer_control(w, RF_WIRE_CALL, 400);
	rf_writer_varint(w, nr);
	rf_writer_varint(w, result);
	rf_writer_varint(w, n);
	for (unsigned i = 0; i < n; i++)
		rf_writer_varint(w, arg[i]);
	rf_writer_varint(w, size);
	rf_writer_varint(w, path != NULL);
	if (path)
		rf_writer_string(w, path);
}

static void number(struct rf_writer *w, enum rf_wire_kind kind, rf_u64 n)
{
	rf_writer_control(w, kind, 16);
	rf_writer_varint(w, n);
}

static void end(struct rf_writer *w)
{
	rf_writer_control(w, RF_WIRE_END, 1);
	rf_writer_flush(w);
}

static void expect(const char *text, const char *skipped)
{
	struct items it;

	items_read(&it, stream->data, stream->len, NULL);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(it.text->str, text);
	ck_assert_str_eq(it.skipped->str, skipped);
	items_clear(&it);
}

/* A program that opens a file, reads from it, and ends. */
static void program(struct rf_writer *w)
{
	static const rf_u64 open[] = { (rf_u64)-100, 0x7000, 0 }, read[] = { 3, 0x7100, 100 };

	rf_writer_start(w, 77);
	hello(w, 0, "prog");
	map(w, 0x1000, 0x2000, 5, "/bin/prog");
	map(w, 0x7000, 0x1000, 3, "");
	rf_writer_page(w, RF_WIRE_FETCH, 1, 0);
	rf_writer_page(w, RF_WIRE_STORE, 7, 3); /* three fetches, then a store */
	rf_writer_same(w, RF_WIRE_STORE, 1);
	rf_writer_page(w, RF_WIRE_FETCH, 2, 40); /* forty more on page 1 */
	rf_writer_same(w, RF_WIRE_FETCH, 1);
	rf_writer_range(w, RF_WIRE_LOAD, 0x1ffc, 8); /* over an edge */
	call(w, 257, 3, 3, open, "data", 9000);
	rf_writer_range(w, RF_WIRE_STORE | RF_WIRE_KERNEL, 0x7100, 100);
	call(w, 0, 100, 3, read, NULL, 0);
	end(w);
}

START_TEST(exact)
{
	struct rf_writer w;
	struct items it;

	program(&w);
	items_read(&it, stream->data, stream->len, NULL);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(rf_header_get(&it.header, "clock"), "instructions");
	ck_assert_str_eq(rf_header_get(&it.header, "program"), "prog");
	ck_assert_ptr_null(rf_header_get(&it.header, "window-pages"));
	ck_assert_uint_eq(it.totals.accesses[RF_EXEC], 3 + 1 + 40 + 1);
	ck_assert_uint_eq(it.totals.accesses[RF_WRITE], 3);
	ck_assert_uint_eq(it.totals.accesses[RF_READ], 1);
	ck_assert_msg(strstr(it.text->str, "X 1 1 x3\nW 1 7\nX 1 1\nW 1 7\nX 1 1 x40\nX 1 2\n"),
	              "%s", it.text->str);
	/* the call comes before what the kernel stored for it */
	ck_assert_msg(g_str_has_suffix(it.text->str, "W 1 7\nexit 1\n"), "%s", it.text->str);
	items_clear(&it);
}
END_TEST

START_TEST(window_counts)
{
	struct rf_writer w;
	struct items it;

	rf_writer_start(&w, 5);
	hello(&w, 32, "p");
	rf_writer_page(&w, RF_WIRE_FETCH, 1, 0);
	rf_writer_page(&w, RF_WIRE_STORE, 9, 0);
	rf_writer_page(&w, RF_WIRE_FETCH, 2, 99);
	rf_writer_page(&w, RF_WIRE_STORE, 8, 7);
	rf_writer_same(&w, RF_WIRE_STORE, 5);
	end(&w);
	items_read(&it, stream->data, stream->len, NULL);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(it.text->str, "task 1\nX 1 1\nW 1 9\nX 1 2 x65\nW 1 8 x13\nX 1 2 x35\nexit 1\n");
	ck_assert_str_eq(rf_header_get(&it.header, "window-pages"), "32");
	ck_assert_str_eq(rf_header_get(&it.header, "window-instructions"), "1000");
	items_clear(&it);
}
END_TEST

/* Blocks of parent and child come in any order; the child begins where the parent forked. */
START_TEST(processes)
{
	struct rf_writer parent, child;

	rf_writer_start(&parent, 10);
	hello(&parent, 32, "p");
	rf_writer_page(&parent, RF_WIRE_STORE, 1, 0);
	number(&parent, RF_WIRE_FORK, 1);
	rf_writer_flush(&parent);
	rf_writer_page(&parent, RF_WIRE_STORE, 2, 0);
	number(&parent, RF_WIRE_SWITCH, 2); /* a second thread */
	rf_writer_page(&parent, RF_WIRE_STORE, 3, 0);
	number(&parent, RF_WIRE_THREAD_EXIT, 2);
	number(&parent, RF_WIRE_SWITCH, 1);
	rf_writer_flush(&parent);
	rf_writer_start(&child, 11);
	rf_writer_control(&child, RF_WIRE_FORKED, 32);
	rf_writer_varint(&child, 10);
	rf_writer_varint(&child, 1);
	number(&child, RF_WIRE_SWITCH, 1);
	rf_writer_page(&child, RF_WIRE_STORE, 4, 0);
	rf_writer_flush(&child);
	rf_writer_start(&child, 11); /* it execs */
	hello(&child, 32, "q");
	rf_writer_page(&child, RF_WIRE_STORE, 5, 0);
	end(&child);
	end(&parent);
	expect("task 1\nW 1 1\ntask 2 parent=1\nW 1 2\ntask 3 parent=1 thread\nW 3 3\nexit 3\nW 2 4\nexec 2\nW 2 5\n"
	       "exit 2\nexit 1\n",
	       "");
}
END_TEST

START_TEST(lost)
{
	struct rf_writer w;

	rf_writer_start(&w, 5);
	hello(&w, 32, "p");
	rf_writer_page(&w, RF_WIRE_STORE, 1000, 0);
	rf_writer_flush(&w);
	broken = TRUE;
	rf_writer_page(&w, RF_WIRE_STORE, 1001, 0);
	rf_writer_page(&w, RF_WIRE_STORE, 1002, 0);
	rf_writer_flush(&w);
	rf_writer_flush(&w);
	broken = FALSE;
	rf_writer_page(&w, RF_WIRE_STORE, 0x2000, 0);
	end(&w);
	/* two records and, each time, the block's own */
	expect("task 1\nW 1 3e8\nlost 0 0 4\nW 1 2000\nexit 1\n", "");
}
END_TEST

START_TEST(truncation)
{
	static const struct rf_source_options strict = { .strict = TRUE };
	struct rf_writer w;
	struct items it;

	program(&w);
	for (guint n = 1; n < stream->len; n++) {
		items_read(&it, stream->data, n, NULL);
		ck_assert_msg(it.error && it.error->domain == RF_DATA_ERROR, "cut at %u", n);
		items_clear(&it);
	}
	/* between two blocks: the process has no end */
	stream->len = 0;
	rf_writer_start(&w, 5);
	hello(&w, 32, "p");
	rf_writer_page(&w, RF_WIRE_STORE, 1, 0);
	rf_writer_flush(&w);
	items_read(&it, stream->data, stream->len, &strict);
	ck_assert_ptr_nonnull(it.error);
	items_clear(&it);
	expect("task 1\nW 1 1\nlost 0 0 1\nexit 1\n",
	       "1 end of a process: it was killed, or the recording was cut off; ");
}
END_TEST

/* A program that is about to exec one that is not recorded; the second time that fails. */
START_TEST(not_followed)
{
	struct rf_writer w;

	for (unsigned fails = 0; fails < 2; fails++) {
		stream->len = 0;
		rf_writer_start(&w, 5);
		hello(&w, 32, "p");
		rf_writer_page(&w, RF_WIRE_STORE, 1, 0);
		rf_writer_control(&w, RF_WIRE_NOT_FOLLOWED, 32);
		rf_writer_string(&w, "/other/program");
		rf_writer_flush(&w);
		if (fails) {
			rf_writer_page(&w, RF_WIRE_STORE, 2, 0);
			end(&w);
			rf_writer_flush(&w);
			expect("task 1\nW 1 1\nW 1 2\nexit 1\n", "");
		} else {
			expect("task 1\nW 1 1\nlost 0 0 1\nexit 1\n",
			       "1 exec of a program that this recorder can't run: /other/program; ");
		}
	}
}
END_TEST

static void refused(const char *what)
{
	struct items it;

	items_read(&it, stream->data, stream->len, NULL);
	ck_assert_msg(it.error && strstr(it.error->message, what), "%s: %s", what,
	              it.error ? it.error->message : "no error");
	items_clear(&it);
}

START_TEST(nonsense)
{
	struct rf_writer w;

	/* no beginning */
	rf_writer_start(&w, 5);
	rf_writer_page(&w, RF_WIRE_STORE, 1, 0);
	rf_writer_flush(&w);
	refused("offset 16: a process that did not begin");
	/* a missing block */
	stream->len = 0;
	rf_writer_start(&w, 5);
	hello(&w, 0, "p");
	rf_writer_flush(&w);
	w.seq = 2;
	rf_writer_page(&w, RF_WIRE_STORE, 1, 0);
	rf_writer_flush(&w);
	refused("a block of the process is missing before");
	/* fetches from nowhere */
	stream->len = 0;
	rf_writer_start(&w, 5);
	hello(&w, 0, "p");
	rf_writer_same(&w, RF_WIRE_FETCH, 4);
	rf_writer_flush(&w);
	refused("fetches before a page of code");
	/* an unknown record */
	stream->len = 0;
	rf_writer_start(&w, 5);
	hello(&w, 0, "p");
	rf_writer_control(&w, RF_WIRE_NKINDS, 1);
	rf_writer_flush(&w);
	refused("an unknown record");
	/* no block behind a good one */
	stream->len = 0;
	program(&w);
	g_byte_array_append(stream, (const guint8 *)"this is not a block", 19);
	refused("no block begins here");
}
END_TEST

/* Whatever stands there: an error or a trace, and no harm. */
START_TEST(damage)
{
	const uint64_t seed = 20091;
	struct rf_rng rng = { seed };
	struct rf_writer w;
	unsigned errors = 0;

	program(&w);
	for (unsigned i = 0; i < 3000; i++) {
		g_autofree guint8 *copy = memcpy(g_malloc(stream->len), stream->data, stream->len);
		struct items it;

		for (unsigned k = rf_rng_below(&rng, 3) + 1; k; k--)
			copy[RF_WIRE_HEAD * (rf_rng_below(&rng, 8) > 0) +
			     rf_rng_below(&rng, stream->len - RF_WIRE_HEAD)] =
				(guint8)rf_rng_next(&rng);
		items_read(&it, copy, stream->len, NULL);
		ck_assert_msg(!it.error || it.error->domain == RF_DATA_ERROR, "seed %lu, %u: %s",
		              (unsigned long)seed, i, it.error ? it.error->message : "");
		errors += it.error != NULL;
		items_clear(&it);
	}
	ck_assert_uint_gt(errors, 300);
}
END_TEST

/* The window against lists: a page not told is among the latest told ones of its type, and was told
 * since the last drop. */
START_TEST(window)
{
	const uint64_t seed = 6;
	struct rf_rng rng = { seed };
	struct rf_window *window = g_new0(struct rf_window, 1);
	GArray *told[3];
	unsigned hidden = 0, n = 100000;

	for (unsigned t = 0; t < 3; t++)
		told[t] = g_array_new(FALSE, FALSE, sizeof(rf_u64));
	window->pages = 16;
	window->epoch = 1;
	for (unsigned i = 0; i < n; i++) {
		unsigned type = rf_rng_below(&rng, 3);
		rf_u64 page = rf_rng_below(&rng, rf_rng_below(&rng, 10) ? 20 : 100000);
		gboolean found = FALSE;

		if (rf_rng_below(&rng, 1000) == 0) {
			rf_window_drop(window, i);
			for (unsigned t = 0; t < 3; t++)
				g_array_set_size(told[t], 0);
		}
		for (guint k = 0; k < told[type]->len && k < window->pages; k++)
			found |= g_array_index(told[type], rf_u64, told[type]->len - 1 - k) == page;
		if (rf_window_tell(window, type, page)) {
			g_array_append_val(told[type], page);
		} else {
			ck_assert_msg(found, "seed %lu: page %lu at %u", (unsigned long)seed,
			              (unsigned long)page, i);
			hidden++;
		}
	}
	ck_assert_uint_gt(hidden, n / 3);
	for (unsigned t = 0; t < 3; t++)
		g_array_unref(told[t]);
	g_free(window);
}
END_TEST

/* No number stands for two calls. */
START_TEST(calls)
{
	for (unsigned arch = 0; arch < 2; arch++)
		for (unsigned i = 0; i < RF_WIRE_NCALLS; i++)
			if (rf_wire_calls[i].nr[arch] >= 0)
				ck_assert_ptr_eq(
					rf_wire_call(arch, (unsigned long)rf_wire_calls[i].nr[arch]),
					&rf_wire_calls[i]);
	ck_assert_ptr_null(rf_wire_call(RF_WIRE_ARM64, (unsigned long)-1));
}
END_TEST

Suite *suite_recording(void);
Suite *suite_recording(void)
{
	Suite *s = suite_create("recording");
	TCase *t = tcase_create("recording");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, exact);
	tcase_add_test(t, window_counts);
	tcase_add_test(t, processes);
	tcase_add_test(t, lost);
	tcase_add_test(t, truncation);
	tcase_add_test(t, not_followed);
	tcase_add_test(t, nonsense);
	tcase_add_test(t, damage);
	tcase_add_test(t, window);
	tcase_add_test(t, calls);
	suite_add_tcase(s, t);
	return s;
}
