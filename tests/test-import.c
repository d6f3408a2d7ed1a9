/* SPDX-License-Identifier: MIT
 * All importers of lines, over the samples in tests/data/succeed/import.  A sample is
 * FORMAT.NAME.in; what must come out of it stands in FORMAT.NAME.out.  Each sample is then read
 * again as files come in practice: with other line ends, without the last one, cut short, with
 * noise, damaged.  tests/data/fail/import has what must be refused, with the exact message in .err.
 * RF_BLESS=1 writes .out and .err anew.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "tests/items.h"
#include "tests/traces.h"
#include "traces/import/import.h"

#define NOISE "==77== brk segment overflow in thread #1\n"

/* Programs rather than logs: nobody's messages stand in them, but comments may. */
static gboolean is_program(const char *format)
{
	return strcmp(format, "masim") == 0;
}

struct sample {
	char *path, *format;
	char *data;
	gsize len;
};

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* For each sample of a folder of tests/data: fn(sample).  Returns how many there were. */
static unsigned each(const char *folder, void (*fn)(const struct sample *s))
{
	char *dir = trace_data(folder);
	GDir *d = g_dir_open(dir, 0, NULL);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	const char *name;
	unsigned n = 0;

	ck_assert_msg(d != NULL, "%s", dir);
	while ((name = g_dir_read_name(d)))
		if (g_str_has_suffix(name, ".in"))
			g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, by_name);
	for (; n < names->len; n++) {
		struct sample s = { 0 };

		name = names->pdata[n];
		s.path = g_strdup_printf("%s/%.*s", dir, (int)(strlen(name) - 3), name);
		s.format = g_strndup(name, strcspn(name, "."));
		name = g_strconcat(s.path, ".in", NULL);
		s.data = trace_slurp(name, &s.len);
		fn(&s);
		g_free((char *)name);
		g_free(s.path);
		g_free(s.format);
		g_free(s.data);
	}
	g_dir_close(d);
	g_ptr_array_unref(names);
	g_free(dir);
	return n;
}

/* What comes out, with what was skipped. */
static char *outcome(const char *format, const char *data, size_t len, GError **error)
{
	struct rf_source_options opt = { .format = format };
	struct items it;
	char *text;

	items_read(&it, data, len, &opt);
	text = g_strdup_printf("%sskipped: %s\n", it.text->str, it.skipped->str);
	if (it.error)
		g_propagate_error(error, g_steal_pointer(&it.error));
	items_clear(&it);
	return text;
}

/* The same without what was skipped; must succeed. */
static void expect_items(const struct sample *s, const char *data, size_t len, const char *how)
{
	GError *error = NULL;
	char *want = outcome(s->format, s->data, s->len, NULL);
	char *have = outcome(s->format, data, len, &error);

	ck_assert_msg(error == NULL, "%s, %s: %s", s->path, how, error ? error->message : "");
	*strstr(want, "skipped: ") = 0;
	*strstr(have, "skipped: ") = 0;
	ck_assert_msg(strcmp(want, have) == 0, "%s, %s:\n%s\nexpected\n%s", s->path, how, have, want);
	g_free(want);
	g_free(have);
}

static void compare(const char *path, const char *suffix, const char *have)
{
	char *file = g_strconcat(path, suffix, NULL), *want = NULL;

	if (getenv("RF_BLESS"))
		trace_spit(file, have, strlen(have));
	want = trace_slurp(file, NULL);
	ck_assert_msg(strcmp(want, have) == 0, "%s:\n%s\nexpected\n%s", file, have, want);
	g_free(want);
	g_free(file);
}

static void check_good(const struct sample *s)
{
	GError *error = NULL;
	char *have = outcome(s->format, s->data, s->len, &error);

	ck_assert_msg(error == NULL, "%s: %s", s->path, error ? error->message : "");
	compare(s->path, ".out", have);
	g_free(have);
}

START_TEST(good)
{
	ck_assert_uint_gt(each("succeed/import", check_good), 0);
}
END_TEST

static void check_bad(const struct sample *s)
{
	GError *error = NULL;
	char *have = outcome(s->format, s->data, s->len, &error), *line;

	ck_assert_msg(error != NULL, "%s: it was taken:\n%s", s->path, have);
	line = g_strconcat(error->message, "\n", NULL);
	compare(s->path, ".err", line);
	g_error_free(error);
	g_free(line);
	g_free(have);
}

START_TEST(bad)
{
	ck_assert_uint_gt(each("fail/import", check_bad), 0);
}
END_TEST

/* Either what it is, or nothing known: never another format. */
static void check_sniff(const struct sample *s)
{
	struct rf_source *source;
	GError *error = NULL;
	char *path = g_strconcat(s->path, ".in", NULL);

	source = rf_source_open(path, NULL, &error);
	ck_assert_msg(source != NULL || strstr(error->message, "no known format"), "%s: %s", path,
	              error ? error->message : "");
	if (source)
		ck_assert_msg(strcmp(rf_source_format(source), s->format) == 0, "%s is taken for %s", path,
		              rf_source_format(source));
	g_clear_error(&error);
	rf_source_close(source);
	g_free(path);
}

START_TEST(sniffing)
{
	each("succeed/import", check_sniff);
}
END_TEST

static void check_line_ends(const struct sample *s)
{
	char **lines = g_strsplit(s->data, "\n", -1), *text;

	text = g_strjoinv("\r\n", lines);
	expect_items(s, text, strlen(text), "CRLF");
	g_free(text);
	text = g_strconcat("\xef\xbb\xbf", s->data, NULL);
	expect_items(s, text, strlen(text), "byte order mark");
	g_free(text);
	ck_assert_msg(s->data[s->len - 1] == '\n', "%s", s->path);
	expect_items(s, s->data, s->len - 1, "no last line end");
	g_strfreev(lines);
}

START_TEST(line_ends)
{
	each("succeed/import", check_line_ends);
}
END_TEST

static unsigned count_lines(const char *s)
{
	unsigned n = 0;

	for (; (s = strchr(s, '\n')); s++)
		n++;
	return n;
}

/* What was cut off a last line is noticed, or takes nothing away but digits. */
static void check_truncation(const struct sample *s)
{
	size_t last = s->len - 1;
	GError *error = NULL;
	char *before, *whole;
	unsigned least;

	while (last > 0 && s->data[last - 1] != '\n')
		last--;
	before = outcome(s->format, s->data, last, &error);
	g_clear_error(&error);
	whole = outcome(s->format, s->data, s->len, NULL);
	least = count_lines(whole);
	last += strspn(s->data + last, " "); /* blanks alone are nobody's record */
	for (size_t len = last + 1; len < s->len; len++) {
		char *have = outcome(s->format, s->data, len, &error);

		if (error)
			ck_assert_msg(error->domain == RF_DATA_ERROR, "%s: %s", s->path, error->message);
		else
			ck_assert_msg(count_lines(have) >= least || strcmp(before, whole) == 0,
			              "%s, cut after %zu bytes: the last record vanishes", s->path, len);
		g_clear_error(&error);
		g_free(have);
	}
	g_free(before);
	g_free(whole);
}

START_TEST(truncation)
{
	each("succeed/import", check_truncation);
}
END_TEST

static void check_noise(const struct sample *s)
{
	const char *noise = is_program(s->format) ? "# a comment\n" : NOISE;
	GString *text = g_string_new(NULL);
	char **lines = g_strsplit(s->data, "\n", -1), *line = g_strnfill(70000, 'x');
	GError *error = NULL;
	char *have;

	for (unsigned i = 0; lines[i] && lines[i + 1]; i++)
		g_string_append_printf(text, "%s\n%s", lines[i], noise);
	expect_items(s, text->str, text->len, "noise");
	g_string_append_printf(text, "%s\n", line);
	have = outcome(s->format, text->str, text->len, &error);
	ck_assert_msg(error && strstr(error->message, "the line is longer than 65536 bytes"),
	              "%s", s->path);
	g_clear_error(&error);
	g_free(have);
	g_string_free(text, TRUE);
	g_strfreev(lines);
	g_free(line);
}

START_TEST(noise)
{
	each("succeed/import", check_noise);
}
END_TEST

/* Formats without a single record, and with a NUL byte. */
START_TEST(nothing)
{
	static const char text[] = NOISE "hello\n";

	for (unsigned i = 0; rf_importers[i]; i++) {
		const char *format = rf_importers[i]->name;
		GError *error = NULL;

		if (!rf_importers[i]->lines)
			continue;
		g_free(outcome(format, text, strlen(text), &error));
		ck_assert_msg(error && error->domain == RF_DATA_ERROR, "%s", format);
		ck_assert_msg(strstr(error->message, "expected") != NULL, "%s: %s", format, error->message);
		g_clear_error(&error);
		g_free(outcome(format, text, sizeof(text), &error));
		ck_assert_msg(error && error->domain == RF_DATA_ERROR, "%s", format);
		g_clear_error(&error);
		g_free(outcome(format, "", 0, &error));
		ck_assert_msg(error && error->domain == RF_DATA_ERROR, "%s", format);
		g_clear_error(&error);
	}
}
END_TEST

/* Whatever is done to a sample, it gives a trace or an error that says where. */
static void check_damage(const struct sample *s)
{
	static const char *const pieces[] = {
		"18446744073709551615", "18446744073709551616", "ffffffffffffffff", "0x", "-1", ",", " ",
		"\n", ": ", "9223372036854775807", "4294967295", "(", ")", "\"", "=", "[", "]", "\t", "\r",
	};
	uint64_t seed = 20261130;
	struct rf_rng rng = { seed };

	for (unsigned round = 0; round < 60; round++) {
		GString *t = g_string_new_len(s->data, (gssize)s->len);
		GError *error = NULL;

		for (unsigned n = 1 + rf_rng_below(&rng, 4); n > 0 && t->len > 0; n--) {
			gsize at = rf_rng_below(&rng, (uint32_t)t->len), len;

			switch (rf_rng_below(&rng, 3)) {
			case 0:
				t->str[at] = (char)rf_rng_next(&rng);
				break;
			case 1:
				len = rf_rng_below(&rng, 20);
				g_string_erase(t, (gssize)at, (gssize)MIN(len, t->len - at));
				break;
			default:
				g_string_insert(t, (gssize)at,
				                pieces[rf_rng_below(&rng, G_N_ELEMENTS(pieces))]);
			}
		}
		g_free(outcome(s->format, t->str, t->len, &error));
		if (error)
			ck_assert_msg(error->domain == RF_DATA_ERROR || error->domain == RF_USAGE_ERROR,
			              "%s, seed %" PRIu64 ", round %u: %s", s->path, seed, round,
			              error->message);
		g_clear_error(&error);
		g_string_free(t, TRUE);
	}
}

START_TEST(damage)
{
	each("succeed/import", check_damage);
}
END_TEST

/* Mappings from another file, whatever wrote it; only the first process has them. */
START_TEST(companion)
{
	static const char *const maps[] = {
		"55d0c8a1b000-55d0c8a1c000 r-xp 00001000 fe:00 332383 /usr/bin/x\n"
		"7ffd20a00000-7ffd20a21000 rw-p 00000000 00:00 0 [stack]\n",
		"--9:1: aspacem (1,49,7) /usr/bin/x\n"
		"--9:1: aspacem   0: file 55d0c8a1b000-55d0c8a1bfff    4096 r-x-- d=0xfe00 i=109 o=4096    (1,49)\n"
		"--9:1: aspacem   1: RSVN 7ffd20000000-7ffd209fffff       10m ----- SmUpper\n"
		"--9:1: aspacem   2: anon 7ffd20a00000-7ffd20a20fff  135168 rw---\n",
		"1 openat(AT_FDCWD, \"/usr/bin/x\", O_RDONLY) = 3\n"
		"1 mmap(NULL, 4096, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3, 0x1000) = 0x55d0c8a1b000\n"
		"1 read(3, \"\", 8) = 8\n"
		"1 mmap(NULL, 135168, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7ffd20a00000\n"
		"1 munmap(0x7ffd20a00000, 135168) = 0\n",
	};
	static const char text[] = "7 1 1 X 55d0c8a1b7e4 4\n7 1 1 W 7ffd20a1be58 8\n7 2 2 R 1000 1\n";
	char *path = trace_temp("companion.maps");

	for (unsigned i = 0; i < G_N_ELEMENTS(maps); i++) {
		struct rf_source_options opt = { .format = "oneline", .maps = path };
		struct items it;
		char *want = g_strdup_printf(
			"task 1\nfile 1 /usr/bin/x 8192\nmmap 1 55d0c8a1b000 4096 r-x file:1 off=4096\n"
			"mmap 1 7ffd20a00000 135168 rw- anon%s\nX 1 55d0c8a1b\nW 1 7ffd20a1b\ntask 2\nR 2 1\n",
			i < 2 ? " [stack]" : "");

		trace_spit(path, maps[i], strlen(maps[i]));
		items_read(&it, text, strlen(text), &opt);
		ck_assert_msg(it.error == NULL, "%u: %s", i, it.error ? it.error->message : "");
		ck_assert_str_eq(it.text->str, want);
		items_clear(&it);
		g_free(want);
	}
	g_free(path);
}
END_TEST

/* Each importer of lines has a sample, and says what its source can't know. */
START_TEST(complete)
{
	char *dir = trace_data("succeed/import");

	for (unsigned i = 0; rf_importers[i]; i++) {
		const struct rf_importer *imp = rf_importers[i];
		GDir *d = g_dir_open(dir, 0, NULL);
		const char *name;
		gboolean found = FALSE;

		while (d && (name = g_dir_read_name(d)))
			found |= g_str_has_prefix(name, imp->name) && name[strlen(imp->name)] == '.';
		g_dir_close(d);
		if (!imp->lines)
			continue;
		ck_assert_msg(found, "no sample %s.*.in", imp->name);
		ck_assert_msg(imp->cannot != NULL, "%s", imp->name);
	}
	g_free(dir);
}
END_TEST

Suite *suite_import(void);
Suite *suite_import(void)
{
	Suite *s = suite_create("import");
	TCase *c = tcase_create("import");

	tcase_add_test(c, good);
	tcase_add_test(c, bad);
	tcase_add_test(c, sniffing);
	tcase_add_test(c, line_ends);
	tcase_add_test(c, truncation);
	tcase_add_test(c, noise);
	tcase_add_test(c, nothing);
	tcase_add_test(c, damage);
	tcase_add_test(c, companion);
	tcase_add_test(c, complete);
	suite_add_tcase(s, c);
	return s;
}
