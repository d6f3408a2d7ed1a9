/* SPDX-License-Identifier: MIT
 * The text form: what is right comes back byte for byte, what is wrong is refused with its place.
 */
#include <check.h>
#include <string.h>

#include "base/error.h"
#include "tests/traces.h"

/* Names of the files *.txt below tests/data/FOLDER, sorted. */
static GPtrArray *texts(const char *folder)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	char *path = trace_data(folder);
	GDir *d = g_dir_open(path, 0, NULL);
	const char *name;

	ck_assert_msg(d != NULL, "%s", path);
	while ((name = g_dir_read_name(d)) != NULL)
		if (g_str_has_suffix(name, ".txt"))
			g_ptr_array_add(names, g_build_filename(path, name, NULL));
	g_dir_close(d);
	g_free(path);
	ck_assert_uint_gt(names->len, 0);
	return names;
}

static void same_bytes(const char *a, const char *b)
{
	gsize na, nb;
	char *ta = trace_slurp(a, &na), *tb = trace_slurp(b, &nb);

	ck_assert_msg(na == nb && memcmp(ta, tb, na) == 0, "%s became\n%s", a, tb);
	g_free(ta);
	g_free(tb);
}

START_TEST(round_trip)
{
	GPtrArray *names = texts("succeed");
	char *text = trace_temp("a.txt"), *rft = trace_temp("a.rft"), *back = trace_temp("b.txt");

	for (guint i = 0; i < names->len; i++) {
		struct rf_totals t[3];

		trace_must_copy(trace_must_open(names->pdata[i]), text, FALSE, &t[0]);
		same_bytes(names->pdata[i], text);
		trace_must_copy(trace_must_open(names->pdata[i]), rft, TRUE, &t[1]);
		trace_must_copy(trace_must_open(rft), back, FALSE, &t[2]);
		same_bytes(names->pdata[i], back);
		ck_assert_mem_eq(&t[0], &t[1], sizeof(t[0]));
		ck_assert_mem_eq(&t[0], &t[2], sizeof(t[0]));
	}
	g_ptr_array_unref(names);
	g_free(text);
	g_free(rft);
	g_free(back);
}
END_TEST

/* The file that shows all events has them all. */
START_TEST(every_kind)
{
	char *path = trace_data("succeed/events.txt");
	struct rf_source *s = trace_must_open(path);
	unsigned seen[RF_NEVENTS] = { 0 };
	struct rf_item item;
	uint64_t record = 0;

	do {
		ck_assert(rf_source_next(s, &item, NULL));
		ck_assert_uint_eq(item.record, record);
		if (item.kind == RF_ITEM_EVENT) {
			seen[item.event.kind]++;
			record++;
		} else if (item.kind == RF_ITEM_RUNS) {
			record += item.runs.n;
		}
	} while (item.kind != RF_ITEM_END);
	for (unsigned k = 0; k < RF_NEVENTS; k++)
		ck_assert_msg(seen[k] > 0, "%s", rf_event_kind_name(k));
	rf_source_close(s);
	g_free(path);
}
END_TEST

/* Beside x.txt stands x.err: the message, or its beginning and *. */
START_TEST(refused)
{
	GPtrArray *names = texts("fail");

	for (guint i = 0; i < names->len; i++) {
		char *path = names->pdata[i], *err = g_strndup(path, strlen(path) - 4), *want, *have;
		GError *error = NULL;
		gsize n;

		want = g_strconcat(err, ".err", NULL);
		g_free(err);
		err = want;
		want = g_strchomp(trace_slurp(err, &n));
		ck_assert_msg(!trace_drain(rf_source_open(path, NULL, &error), NULL, &error), "%s", path);
		have = strstr(error->message, "fail/");
		ck_assert_msg(have != NULL, "%s", error->message);
		have += strlen("fail/");
		if (g_str_has_suffix(want, "*")) {
			want[strlen(want) - 1] = 0;
			have[MIN(strlen(have), strlen(want))] = 0;
		}
		ck_assert_str_eq(have, want);
		ck_assert(rf_error_exit_code(error) == RF_EXIT_DATA);
		ck_assert_ptr_null(strchr(error->message, '\n'));
		g_error_free(error);
		g_free(want);
		g_free(err);
	}
	g_ptr_array_unref(names);
}
END_TEST

/* ---- cases worked out by hand ---- */

static char *through(const char *text)
{
	char *path = trace_temp("through.txt"), *out;
	gsize n;

	trace_must_copy(rf_source_from_text("in.txt", text, -1), path, FALSE, NULL);
	out = trace_slurp(path, &n);
	g_free(path);
	return out;
}

static void becomes(const char *text, const char *want)
{
	char *have = through(text);

	ck_assert_str_eq(have, want);
	g_free(have);
}

START_TEST(normalised)
{
	/* comments, blank lines, blanks of any kind, CRLF, a byte order mark, no final newline */
	becomes("\xef\xbb\xbf!refault-trace\t1  a=1#x\r\n\r\n# c\r\n \t task\t1 \r\nW  1\t0x1000 #y\r\n"
	        "mark x#y\nR 1 1000",
	        "!refault-trace 1 a=1\ntask 1\nW 1 1000\nmark x\nR 1 1000\n");
	/* offsets in a page, lengths, 0X, letters of either case, units */
	becomes("!refault-trace 1\ntask 1\nR 1 1fff\nR 1 1fff 2\nR 1 0XaBcDeF000 1K\nR 1 1000 4K\n"
	        "R 1 1001 4K\nmunmap 1 1001 2M\nhugetlb 1G\n",
	        "!refault-trace 1\ntask 1\nR 1 1000\nR 1 1000 8192\nR 1 abcdef000\nR 1 1000\n"
	        "R 1 1000 8192\nmunmap 1 1001 2097152\nhugetlb 1073741824\n");
	/* tasks are declared on the way; an exited one may come again */
	becomes("!refault-trace 1\nR 7 1000\nexit 7\nR 7 1000\nmunmap 8 1000 4096\n",
	        "!refault-trace 1\ntask 7\nR 7 1000\nexit 7\ntask 7\nR 7 1000\ntask 8\n"
	        "munmap 8 1000 4096\n");
	/* what has its default value is left out */
	becomes("!refault-trace 1\ntask 1\nmmap 1 1000 4096 r-- file:1 off=0\n",
	        "!refault-trace 1\ntask 1\nmmap 1 1000 4096 r-- file:1\n");
	/* a granule of 16 KiB */
	becomes("!refault-trace 1 page-size=16K\ntask 1\nR 1 4fff\nR 1 7fff 2\n",
	        "!refault-trace 1 page-size=16K\ntask 1\nR 1 4000\nR 1 4000 32768\n");
}
END_TEST

START_TEST(long_lines)
{
	GString *text = g_string_new("!refault-trace 1\nmark ");
	GError *error = NULL;

	/* 65,536 bytes are a line, */
	while (text->len < 17 + 65536)
		g_string_append_c(text, 'a');
	ck_assert_msg(trace_drain(rf_source_from_text("l.txt", text->str, -1), NULL, &error), "%s",
	              error ? error->message : "");
	/* one more is none, with and without an end. */
	g_string_append_c(text, 'a');
	ck_assert(!trace_drain(rf_source_from_text("l.txt", text->str, -1), NULL, &error));
	ck_assert_str_eq(error->message, "l.txt:2: the line is longer than 65536 bytes");
	g_clear_error(&error);
	for (unsigned i = 0; i < 1000000; i++)
		g_string_append_c(text, 'a');
	ck_assert(!trace_drain(rf_source_from_text("l.txt", text->str, -1), NULL, &error));
	ck_assert_str_eq(error->message, "l.txt:2: the line is longer than 65536 bytes");
	g_clear_error(&error);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(strict)
{
	const struct rf_source_options strict = { .strict = TRUE };
	const char text[] = "!refault-trace 1\ntask 1\nR 1 1000\nR 2 1000\n";
	char *path = trace_temp("strict.txt"), *want;
	GError *error = NULL;

	trace_spit(path, text, strlen(text));
	ck_assert(!trace_drain(rf_source_open(path, &strict, &error), NULL, &error));
	want = g_strdup_printf("%s:4: task 2 was not declared; expected an event 'task 2' before", path);
	ck_assert_str_eq(error->message, want);
	g_clear_error(&error);
	g_free(want);
	g_free(path);
}
END_TEST

START_TEST(from_text)
{
	struct rf_source *s = rf_source_from_text("t.txt", "!refault-trace 9", -1);
	struct rf_item item;
	GError *error = NULL;

	/* A header is broken at the first item, again and again. */
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(!rf_source_next(s, &item, &error));
		ck_assert_str_eq(error->message, "t.txt:1:16: version 9; expected 1");
		g_clear_error(&error);
	}
	rf_source_close(s);
	s = rf_source_from_text("t.txt", "!refault-trace 1 k=v\nmark xyz", 17 + 4 + 6);
	ck_assert_str_eq(rf_header_get(rf_source_header(s), "k"), "v");
	ck_assert_str_eq(rf_source_format(s), "text");
	ck_assert_str_eq(rf_source_path(s), "t.txt");
	ck_assert(rf_source_next(s, &item, &error));
	ck_assert_str_eq(item.event.name, "x"); /* the length counts */
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(rf_source_next(s, &item, &error));
		ck_assert_int_eq(item.kind, RF_ITEM_END);
	}
	rf_source_close(s);
}
END_TEST

START_TEST(unknown_format)
{
	const struct rf_source_options wrong = { .format = "lacky" };
	char *path = trace_data("succeed/runs.txt");
	GError *error = NULL;

	ck_assert_ptr_null(rf_source_open(path, &wrong, &error));
	ck_assert_str_eq(error->message, "unknown format 'lacky'; did you mean lackey?");
	ck_assert(rf_error_exit_code(error) == RF_EXIT_USAGE);
	g_clear_error(&error);
	ck_assert_ptr_null(rf_source_open("/nonexistent/x", NULL, &error));
	ck_assert(rf_error_exit_code(error) == RF_EXIT_ENVIRONMENT);
	g_clear_error(&error);
	g_free(path);
}
END_TEST

Suite *suite_trace_text(void);
Suite *suite_trace_text(void)
{
	Suite *s = suite_create("trace_text");
	TCase *c = tcase_create("text");

	tcase_add_test(c, round_trip);
	tcase_add_test(c, every_kind);
	tcase_add_test(c, refused);
	tcase_add_test(c, normalised);
	tcase_add_test(c, long_lines);
	tcase_add_test(c, strict);
	tcase_add_test(c, from_text);
	tcase_add_test(c, unknown_format);
	suite_add_tcase(s, c);
	return s;
}
