/* SPDX-License-Identifier: MIT
 * All importers of the registry, over the samples in tests/data/succeed/import: each must have one.  A
 * sample is FORMAT.NAME.in; what must come out of it stands in FORMAT.NAME.out.  Each sample is then
 * read again as files come in practice: with other line ends, without the last one, cut short, with
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

#define MESSAGE "==77== brk segment overflow in thread #1\n"

/* Formats that are not logs, among which anything may stand. */
enum sort { LOG, PROGRAM /* comments may stand in it */, EXACT /* nothing may */, BINARY /* no lines */ };

static const struct {
	const char *format;
	enum sort sort;
} others[] = {
	{ "text", EXACT }, { "synth", EXACT }, { "masim", PROGRAM }, { "scenario", PROGRAM },
	{ "oracle", BINARY }, { "recording", BINARY },
};

static enum sort sort_of(const char *format)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(others); i++)
		if (strcmp(others[i].format, format) == 0)
			return others[i].sort;
	return LOG;
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

/* The same items come out as from the sample. */
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

static void expect_refused(const char *format, const char *data, size_t len, const char *part)
{
	GError *error = NULL;

	g_free(outcome(format, data, len, &error));
	ck_assert_msg(error && error->domain == RF_DATA_ERROR, "%s", format);
	ck_assert_msg(strstr(error->message, part) != NULL, "%s: %s", format, error->message);
	g_clear_error(&error);
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
	char **lines, *text;

	if (sort_of(s->format) == BINARY)
		return;
	lines = g_strsplit(s->data, "\n", -1);
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

/* Binary files have no line to be cut: each missing byte is noticed. */
static void check_cut_binary(const struct sample *s)
{
	unsigned taken = 0;

	for (size_t len = 0; len < s->len; len++) {
		GError *error = NULL;

		g_free(outcome(s->format, s->data, len, &error));
		taken += error == NULL;
		ck_assert_msg(!error || error->domain == RF_DATA_ERROR, "%s: %s", s->path, error->message);
		g_clear_error(&error);
	}
	/* Records of a fixed size may end where a record does. */
	ck_assert_msg(taken == (strcmp(s->format, "oracle") == 0 ? s->len / 24 - 1 : 0), "%s: %u cuts "
	              "were taken", s->path, taken);
}

/* What was cut off a last line is noticed, or takes nothing away but digits. */
static void check_truncation(const struct sample *s)
{
	size_t last = s->len - 1;
	GError *error = NULL;
	char *before, *whole;
	unsigned least;

	if (sort_of(s->format) == BINARY) {
		check_cut_binary(s);
		return;
	}
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
	enum sort sort = sort_of(s->format);
	GString *text;
	char **lines, *line;

	if (sort == BINARY)
		return;
	text = g_string_new(NULL);
	lines = g_strsplit(s->data, "\n", -1);
	for (unsigned i = 0; lines[i] && lines[i + 1]; i++)
		g_string_append_printf(text, "%s\n%s", lines[i], sort == PROGRAM ? "# a comment\n" : MESSAGE);
	if (sort == EXACT)
		expect_refused(s->format, text->str, text->len, "expected");
	else
		expect_items(s, text->str, text->len, "noise");
	line = g_strnfill(70000, 'x');
	g_string_printf(text, "%s%s\n", s->data, line);
	expect_refused(s->format, text->str, text->len, "longer than");
	g_string_free(text, TRUE);
	g_strfreev(lines);
	g_free(line);
}

START_TEST(noise)
{
	each("succeed/import", check_noise);
}
END_TEST

/* Nothing, no single record, and a NUL byte. */
START_TEST(nothing)
{
	static const char text[] = MESSAGE "hello\n";

	for (unsigned i = 0; rf_importers[i]; i++) {
		const char *format = rf_importers[i]->name;

		expect_refused(format, "", 0, "expected");
		if (sort_of(format) == BINARY)
			continue;
		expect_refused(format, text, strlen(text), "expected");
		expect_refused(format, text, sizeof(text), "");
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

/* ---- addresses ---- */

/* A record of an address beyond 2^63, and what must come of it; or why nothing does. */
static const struct top {
	const char *format, *text, *item, *why;
} tops[] = {
	{ "text", "!refault-trace 1\nR 1 fffffffffffe0000\n", "R 1 fffffffffffe0\n", NULL },
	{ "lackey", " L fffffffffffe0000,8\n", "R 1 fffffffffffe0\n", NULL },
	{ "perf", "a 7/7 [000] 1.0: exceptions:page_fault_user: address=0xfffffffffffe0000 ip=0x1 error_code=0x4\n"
	  "a 7/7 [000] 1.1: exceptions:page_fault_user: address=0x1000 ip=0x1 error_code=0x4\n",
	  NULL, "the kernel's: skipped" },
	{ "perf-trace", "0.1 ( 0.000 ms): a/7 minfault [main+0x1] => 0xfffffffffffe0000 (d.)\n"
	  "0.2 ( 0.000 ms): a/7 minfault [main+0x1] => 0x1000 (d.)\n", NULL, "the kernel's: skipped" },
	{ "perf-mem", "# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL\n"
	  "7,7,0x1,0xfffffffffffe0000,3,0x68100142,a:b\n"
	  "7,7,0x1,0x1000,3,0x68100142,a:b\n", NULL, "the kernel's: skipped" },
	{ "ftrace", NULL, NULL, "files" },
	{ "strace", "1 munmap(0xfffffffffffe0000, 4096) = 0\n", "munmap 1 fffffffffffe0000 4096\n", NULL },
	{ "damon", "monitoring_start: 0 ns\nmonitoring_end: 100 ms\nmonitoring_duration: 100 ms\n"
	  "target_id: 0\nnr_regions: 1\n# start_addr end_addr length nr_accesses age\n"
	  "fffffffffffe0000-fffffffffffe1000 (   4.000 KiB) 11 4\n", "W 1 fffffffffffe0\n", NULL },
	{ "drview", "  6 1: W0.T7 read 8 byte(s) @ 0xfffffffffffe0000 by PC 0x1\n", "R 7 fffffffffffe0\n",
	  NULL },
	{ "pin", "0x1: R 0xfffffffffffe0000\n#eof\n", "R 1 fffffffffffe0\n", NULL },
	{ "oneline", "1 7 7 R fffffffffffe0000 8\n", "R 7 fffffffffffe0\n", NULL },
	{ "pagetrace", "0 # target aarch64\n5 L fffffffffffe0\n", "R 1 fffffffffffe0\n", NULL },
	{ "ucsd", "l 0xfffffffffffe0000 1\n", "R 1 fffffffffffe0\n", NULL },
	{ "kaplan", "C fffffffffffe0 N 0000\n", "W 1 fffffffffffe0\n", NULL },
	{ "teaching", "fffffffffffe0000 R\n", "R 1 fffffffffffe0\n", NULL },
	{ "pages", "4503599627370464\n", "W 1 fffffffffffe0\n", NULL },
	{ "oracle", NULL, NULL, "objects" },
	{ "csv", NULL, NULL, "objects" },
	{ "arc", NULL, NULL, "blocks" },
	{ "spc", NULL, NULL, "blocks" },
	{ "msr", NULL, NULL, "blocks" },
	{ "systor", NULL, NULL, "blocks" },
	{ "blkparse", NULL, NULL, "blocks" },
	{ "fio", NULL, NULL, "files" },
	{ "recording", NULL, NULL, "ids of pages below 2^52: tests/test-recording.c" },
	{ "masim", NULL, NULL, "regions" },
	{ "synth", NULL, NULL, "pages of its own" },
	{ "scenario", "!refault-scenario 1\ntask 1\nR 1 fffffffffffe0000\n", "R 1 fffffffffffe0\n", NULL },
};

START_TEST(top_addresses)
{
	for (unsigned i = 0; rf_importers[i]; i++) {
		const struct top *t = tops;
		GError *error = NULL;
		char *have;

		while (t < tops + G_N_ELEMENTS(tops) && strcmp(t->format, rf_importers[i]->name))
			t++;
		ck_assert_msg(t < tops + G_N_ELEMENTS(tops), "%s is not in the table", rf_importers[i]->name);
		if (!t->text)
			continue;
		have = outcome(t->format, t->text, strlen(t->text), &error);
		ck_assert_msg(!error, "%s: %s", t->format, error ? error->message : "");
		ck_assert_msg(t->item ? !!strstr(have, t->item) : !strstr(have, "fffffffffffe0"), "%s: %s",
		              t->format, have);
		g_free(have);
	}
}
END_TEST

/* ---- the registry ---- */

/* All there is to know stands in these. */
static gboolean knows_all(const char *format)
{
	return !strcmp(format, "text") || !strcmp(format, "synth") || !strcmp(format, "scenario");
}

static GHashTable *seen;

static void note_format(const struct sample *s)
{
	struct rf_source_options opt = { .format = s->format };
	struct items it;

	g_hash_table_add(seen, g_strdup(s->format));
	items_read(&it, s->data, s->len, &opt);
	for (unsigned i = 0; rf_importers[i]; i++)
		if (!strcmp(rf_importers[i]->name, s->format) && rf_importers[i]->cannot)
			/* lackey's says more where the file shows less */
			ck_assert_msg(strstr(rf_header_get(&it.header, "cannot-know"), rf_importers[i]->cannot) != NULL,
			              "%s", s->path);
	items_clear(&it);
}

/* Each importer has a sample, says what its source can't know, and the trace repeats it. */
START_TEST(complete)
{
	seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	each("succeed/import", note_format);
	for (unsigned i = 0; rf_importers[i]; i++) {
		const struct rf_importer *imp = rf_importers[i];

		ck_assert_msg(g_hash_table_contains(seen, imp->name), "no sample %s.*.in", imp->name);
		ck_assert_msg((imp->cannot == NULL) == knows_all(imp->name), "%s", imp->name);
	}
	g_hash_table_destroy(seen);
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
	tcase_add_test(c, top_addresses);
	tcase_add_test(c, complete);
	suite_add_tcase(s, c);
	return s;
}
