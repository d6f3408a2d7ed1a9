/* SPDX-License-Identifier: MIT
 * base: errors, units, option tables, output files, the generator.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "base/rng.h"
#include "base/units.h"

Suite *suite_base(void);

static uint64_t seed(void)
{
	const char *s = g_getenv("RF_TEST_SEED");

	return s ? g_ascii_strtoull(s, NULL, 0) : 20240229;
}

static void ck_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" does not contain \"%s\"", text, part);
}

/* ---- errors ---- */

START_TEST(exit_codes)
{
	static const struct {
		GQuark (*domain)(void);
		int code;
	} cases[] = {
		{ rf_usage_error_quark, 2 },       { rf_data_error_quark, 3 },
		{ rf_env_error_quark, 4 },         { rf_negative_error_quark, 1 },
		{ g_option_error_quark, 2 },       { g_file_error_quark, 4 },
		{ g_io_error_quark, 4 },           { g_key_file_error_quark, 2 },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		GError *e = g_error_new_literal(cases[i].domain(), 0, "x");

		ck_assert_int_eq(rf_error_exit_code(e), cases[i].code);
		g_error_free(e);
	}
	ck_assert_int_eq(rf_error_exit_code(NULL), 0);
}
END_TEST

START_TEST(messages)
{
	GError *e = NULL;

	rf_set_data(&e, "%s:%d: expected %s", "a.txt", 7, "a number");
	ck_assert(g_error_matches(e, RF_DATA_ERROR, 0));
	ck_assert_str_eq(e->message, "a.txt:7: expected a number");
	g_clear_error(&e);
	rf_set_usage(&e, "plain");
	ck_assert(g_error_matches(e, RF_USAGE_ERROR, 0));
	g_clear_error(&e);
	/* One line whatever a name holds; not the terminal's business; valid UTF-8. */
	rf_set_env(&e, "no file \"%s\"", "a\nb\033[2J\xff\xc3\xa9");
	ck_assert(g_error_matches(e, RF_ENV_ERROR, 0));
	ck_assert_str_eq(e->message, "no file \"a\\x0ab\\x1b[2J\xef\xbf\xbd\xc3\xa9\"");
	g_clear_error(&e);
	rf_set_env(NULL, "nobody asked");
}
END_TEST

START_TEST(nearest)
{
	static const char *const names[] = { "fifo",   "lru",    "clock",   "random", "2q",
		                             "arc",    "lirs",   "s3fifo",  "sieve",  "belady",
		                             "twolist", "swappiness", "min_free_kbytes", NULL };
	static const struct { const char *word, *near; } cases[] = {
		{ "lur", "lru" },       { "LRU", "lru" },         { "lruu", "lru" },
		{ "seive", "sieve" },   { "fifi", "fifo" },       { "two", "twolist" },
		{ "belay", "belady" },  { "swapiness", "swappiness" },
		{ "min-free-kbytes", "min_free_kbytes" },
		{ "marc", "arc" },      { "zzz", NULL },          { "", NULL },
		{ "memory", NULL },     { "lr", "lru" },
	};
	static const char *const none[] = { NULL };
	char *huge = g_strnfill(1 << 20, 'a');

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_pstr_eq(rf_nearest(cases[i].word, names), cases[i].near);
	ck_assert_ptr_null(rf_nearest("lru", none));
	ck_assert_ptr_null(rf_nearest(huge, names));
	g_free(huge);
}
END_TEST

/* Distance by the textbook recursion, no table. */
static unsigned naive_distance(const char *a, const char *b)
{
	unsigned d;

	if (!*a || !*b)
		return strlen(a) + strlen(b);
	d = naive_distance(a + 1, b + 1) + (*a != *b);
	d = MIN(d, naive_distance(a + 1, b) + 1);
	d = MIN(d, naive_distance(a, b + 1) + 1);
	if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0])
		d = MIN(d, naive_distance(a + 2, b + 2) + 1);
	return d;
}

START_TEST(nearest_random)
{
	struct rf_rng r = { seed() };

	for (unsigned n = 0; n < 500; n++) {
		char word[3][8];
		const char *list[] = { word[1], word[2], NULL };
		unsigned d1, d2, most;
		const char *expect = NULL;

		for (unsigned w = 0; w < 3; w++) {
			/* Equal lengths: no abbreviations here. */
			for (unsigned i = 0; i < 6; i++)
				word[w][i] = 'a' + rf_rng_below(&r, 3);
			word[w][6] = '\0';
		}
		d1 = naive_distance(word[0], word[1]);
		d2 = naive_distance(word[0], word[2]);
		most = 6 / 3;
		if (d1 <= most)
			expect = word[1];
		if (d2 <= most && d2 < d1)
			expect = word[2];
		ck_assert_msg(rf_nearest(word[0], list) == expect, "seed %" G_GUINT64_FORMAT ": %s among %s %s",
		              seed(), word[0], word[1], word[2]);
	}
}
END_TEST

/* ---- units ---- */

typedef gboolean parse_fn(const char *, uint64_t *, GError **);

static void parses(parse_fn *parse, const char *text, uint64_t expect)
{
	GError *e = NULL;
	uint64_t v = ~expect;

	ck_assert_msg(parse(text, &v, &e), "\"%s\": %s", text, e ? e->message : "");
	ck_assert_msg(v == expect, "\"%s\" gave %" G_GUINT64_FORMAT, text, v);
}

static void refuses(parse_fn *parse, const char *text, const char *because)
{
	GError *e = NULL;
	uint64_t v = 42;

	ck_assert_msg(!parse(text, &v, &e), "\"%s\" was taken for %" G_GUINT64_FORMAT, text, v);
	ck_assert_int_eq(v, 42);
	ck_assert(g_error_matches(e, RF_USAGE_ERROR, 0));
	ck_contains(e->message, because);
	g_error_free(e);
}

START_TEST(parse_u64)
{
	static const char *const bad[] = { "", " 1", "1 ", "+1", "-1", "0x", "0xg", "1.5", "1e3", "x", "0x1 ",
		                           "1K" };

	parses(rf_parse_u64, "0", 0);
	parses(rf_parse_u64, "007", 7);
	parses(rf_parse_u64, "0xFf", 255);
	parses(rf_parse_u64, "18446744073709551615", UINT64_MAX);
	parses(rf_parse_u64, "0xffffffffffffffff", UINT64_MAX);
	parses(rf_parse_u64, "0x00000000ffffffffffffffff", UINT64_MAX);
	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
		refuses(rf_parse_u64, bad[i], "expected a number");
	refuses(rf_parse_u64, "18446744073709551616", "beyond 64 bits");
	refuses(rf_parse_u64, "99999999999999999999999999", "beyond 64 bits");
	refuses(rf_parse_u64, "0x10000000000000000", "beyond 64 bits");
}
END_TEST

START_TEST(parse_size)
{
	static const char *const bad[] = { "",    "M",     "64 M",  "-64M", "64X",   "64MM", "1.M",
		                           ".5M", "1.5",   "1.5B",  "64m ", "0xM",   "1..5M", "64KIB",
		                           "nan", "64Mib", "inf",   "1e9",  "0x10M" };

	parses(rf_parse_size, "0", 0);
	parses(rf_parse_size, "4096", 4096);
	parses(rf_parse_size, "0x1000", 4096);
	parses(rf_parse_size, "4K", 4096);
	parses(rf_parse_size, "4k", 4096);
	parses(rf_parse_size, "64MiB", UINT64_C(64) << 20);
	parses(rf_parse_size, "64MB", UINT64_C(64) << 20);
	parses(rf_parse_size, "7B", 7);
	parses(rf_parse_size, "1.5G", UINT64_C(3) << 29);
	parses(rf_parse_size, "0.1K", 102);
	parses(rf_parse_size, "0.99999999999999999999999999999999999999999K", 1023);
	parses(rf_parse_size, "16777215T", UINT64_C(16777215) << 40);
	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
		refuses(rf_parse_size, bad[i], "expected a size such as 64M");
	refuses(rf_parse_size, "16777216T", "beyond 64 bits");
	refuses(rf_parse_size, "18446744073709551616", "beyond 64 bits");
	refuses(rf_parse_size, "18446744073709551615K", "beyond 64 bits");
	parses(rf_parse_size, "18446744073709551615", UINT64_MAX);
	parses(rf_parse_size, "9223372036854775808", UINT64_C(1) << 63);
}
END_TEST

START_TEST(parse_time)
{
	static const char *const bad[] = { "", "s", "1S", "1 s", "-1s", "1m", "1.5ns", "1.5", "10mss" };

	parses(rf_parse_time, "0", 0);
	parses(rf_parse_time, "17", 17);
	parses(rf_parse_time, "17ns", 17);
	parses(rf_parse_time, "3us", 3000);
	parses(rf_parse_time, "10ms", 10000000);
	parses(rf_parse_time, "2s", 2000000000);
	parses(rf_parse_time, "1.5ms", 1500000);
	parses(rf_parse_time, "18446744073s", UINT64_C(18446744073000000000));
	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
		refuses(rf_parse_time, bad[i], "expected a time such as 10ms");
	refuses(rf_parse_time, "18446744074s", "beyond 64 bits");
}
END_TEST

static void says(char *text, const char *expect)
{
	ck_assert_str_eq(text, expect);
	g_free(text);
}

START_TEST(format)
{
	says(rf_format_size(0), "0 B");
	says(rf_format_size(1023), "1023 B");
	says(rf_format_size(1024), "1 KiB");
	says(rf_format_size(1536 * 1024), "1.5 MiB");
	says(rf_format_size(1024 * 1024 - 1), "1 MiB");
	says(rf_format_size(1023 * 1024 + 1), "1023 KiB");
	says(rf_format_size(12345), "12.06 KiB");
	says(rf_format_size(UINT64_MAX), "16 EiB");
	says(rf_format_time(0), "0 ns");
	says(rf_format_time(999), "999 ns");
	says(rf_format_time(12300000), "12.3 ms");
	says(rf_format_time(999999), "1 ms");
	says(rf_format_time(1500), "1.5 us");
	says(rf_format_time(UINT64_C(9999) * 1000000000), "9999 s");
	says(rf_format_time(UINT64_C(36000) * 1000000000), "10 h");
	says(rf_format_count(0), "0");
	says(rf_format_count(999), "999");
	says(rf_format_count(1000), "1,000");
	says(rf_format_count(12345678), "12,345,678");
	says(rf_format_count(UINT64_MAX), "18,446,744,073,709,551,615");
	says(rf_exact_size(0), "0");
	says(rf_exact_size(64 << 20), "64M");
	says(rf_exact_size(1536 << 10), "1536K");
	says(rf_exact_size(4097), "4097");
	says(rf_exact_size(UINT64_C(1) << 63), "8388608T");
	says(rf_exact_time(0), "0");
	says(rf_exact_time(2000000000), "2s");
	says(rf_exact_time(1500), "1500ns");
}
END_TEST

/* People's numbers say what the value is, to half a unit of the fourth digit; exact ones come back. */
START_TEST(format_random)
{
	struct rf_rng r = { seed() };

	for (unsigned n = 0; n < 20000; n++) {
		uint64_t v = rf_rng_next(&r) >> rf_rng_below(&r, 64), back;
		char *text, *end, *exact;
		double shown, scale;

		text = rf_format_size(v);
		shown = g_ascii_strtod(text, &end);
		scale = exp2(10 * (double)(strchr("BKMGTPE", end[1]) - "BKMGTPE"));
		/* An assertion costs a write also when it holds. */
		if (!(fabs(shown * scale - (double)v) <= (double)v * 0.0005001) ||
		    strlen(text) > strlen("1.234 MiB"))
			ck_abort_msg("seed %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT " as %s", seed(), v,
			             text);
		g_free(text);

		exact = rf_exact_size(v);
		if (!rf_parse_size(exact, &back, NULL) || back != v)
			ck_abort_msg("seed %" G_GUINT64_FORMAT ": %s came back as %" G_GUINT64_FORMAT,
			             seed(), exact, back);
		g_free(exact);
		exact = rf_exact_time(v);
		if (!rf_parse_time(exact, &back, NULL) || back != v)
			ck_abort_msg("seed %" G_GUINT64_FORMAT ": %s came back as %" G_GUINT64_FORMAT,
			             seed(), exact, back);
		g_free(exact);
	}
}
END_TEST

/* ---- options ---- */

struct block {
	gboolean flag;
	int64_t count, percent, signed_;
	uint64_t size, time;
	int colour;
	char *name;
};

static const struct rf_option table[] = {
	{ "flag", RF_OPT_BOOL, offsetof(struct block, flag), .def = "no", .help = "whether" },
	{ "count", RF_OPT_INT, offsetof(struct block, count), .def = "-3", .unit = "pages",
	  .help = "how many" },
	{ "percent", RF_OPT_INT, offsetof(struct block, percent), .def = "25", .min = 0, .max = 100,
	  .unit = "%", .help = "share of the memory that the very first of the queues may take before "
	                       "it has to give pages to the second one", .since = "2.6.31" },
	{ "signed", RF_OPT_INT, offsetof(struct block, signed_), .def = "0", .min = -5,
	  .max = G_MAXINT64, .help = "from below zero" },
	{ "size", RF_OPT_SIZE, offsetof(struct block, size), .def = "64M", .min = 4096, .help = "how big" },
	{ "time", RF_OPT_TIME, offsetof(struct block, time), .def = "10ms", .help = "how long" },
	{ "colour", RF_OPT_ENUM, offsetof(struct block, colour), .def = "green", .choices = "red,green,blue",
	  .help = "which" },
	{ "name", RF_OPT_STRING, offsetof(struct block, name), .help = "who" },
	RF_OPTION_END,
};

START_TEST(option_defaults)
{
	struct block b;

	memset(&b, 0xa5, sizeof b);
	rf_options_init(table, &b);
	ck_assert_int_eq(b.flag, FALSE);
	ck_assert_int_eq(b.count, -3);
	ck_assert_int_eq(b.percent, 25);
	ck_assert_int_eq(b.signed_, 0);
	ck_assert_uint_eq(b.size, 64 << 20);
	ck_assert_uint_eq(b.time, 10000000);
	ck_assert_int_eq(b.colour, 1);
	ck_assert_ptr_null(b.name);
	rf_options_clear(table, &b);
	rf_options_init(NULL, NULL);
	rf_options_clear(NULL, NULL);
}
END_TEST

START_TEST(option_set)
{
	struct block b;
	GError *e = NULL;

	rf_options_init(table, &b);
	ck_assert(rf_options_parse(table, &b, "--x y", "flag,count=-9223372036854775808,percent=100,size=4K,"
	                           "time=2s,colour=blue,name=a=b", &e));
	ck_assert_int_eq(b.flag, TRUE);
	ck_assert(b.count == G_MININT64);
	ck_assert_int_eq(b.percent, 100);
	ck_assert_uint_eq(b.size, 4096);
	ck_assert_uint_eq(b.time, 2000000000);
	ck_assert_int_eq(b.colour, 2);
	ck_assert_str_eq(b.name, "a=b");
	ck_assert(rf_options_set(table, &b, NULL, "name", "other", &e));
	ck_assert_str_eq(b.name, "other");
	ck_assert(rf_options_set(table, &b, NULL, "name", "", &e));
	ck_assert_ptr_null(b.name);
	ck_assert(rf_options_parse(table, &b, "--x y", "", &e));
	ck_assert(rf_options_parse(table, &b, "--x y", NULL, &e));
	ck_assert(rf_options_parse(table, &b, "--x y", "count=9223372036854775807", &e));
	ck_assert(b.count == G_MAXINT64);
	rf_options_clear(table, &b);
}
END_TEST

START_TEST(option_refused)
{
	static const struct { const char *list, *message; } cases[] = {
		{ "percnt=5", "--reclaim 2q: unknown option \"percnt\"; did you mean \"percent\"?" },
		{ "zzz=5", "expected one of flag, count, percent, signed, size, time, colour, name" },
		{ "percent=101", "--reclaim 2q: percent=\"101\": expected a whole number from 0 to 100 of %" },
		{ "percent=-1", "from 0 to 100" },
		{ "percent=", "\"\": expected a whole number" },
		{ "percent=1.5", "expected a whole number" },
		{ "percent", "option \"percent\" needs a value: expected percent=VALUE" },
		{ "signed=-6", "from -5 or more" },
		{ "count=9223372036854775808", "expected a whole number of pages" },
		{ "count=-9223372036854775809", "expected a whole number of pages" },
		{ "count=--1", "expected a whole number" },
		{ "size=4095", "expected at least 4K" },
		{ "size=18446744073709551616", "beyond 64 bits" },
		{ "time=1m", "expected a time such as 10ms" },
		{ "colour=bleu", "did you mean \"blue\"?" },
		{ "colour=mauve", "expected one of red, green, blue" },
		{ "flag=maybe", "expected yes or no" },
		{ "flag,", "expected name=value,name=value" },
		{ ",flag", "expected name=value,name=value" },
		{ "=5", "expected name=value,name=value" },
	};
	struct block b;
	GError *e = NULL;

	rf_options_init(table, &b);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_msg(!rf_options_parse(table, &b, "--reclaim 2q", cases[i].list, &e), "%s was taken",
		              cases[i].list);
		ck_assert(g_error_matches(e, RF_USAGE_ERROR, 0));
		ck_contains(e->message, cases[i].message);
		g_clear_error(&e);
	}
	ck_assert_int_eq(b.percent, 25);
	ck_assert_int_eq(b.count, -3);
	ck_assert_uint_eq(b.size, 64 << 20);
	ck_assert(!rf_options_set(NULL, NULL, "--reclaim fifo", "x", "1", &e));
	ck_contains(e->message, "--reclaim fifo: unknown option \"x\": there are no options");
	g_clear_error(&e);
	rf_options_clear(table, &b);
}
END_TEST

START_TEST(option_value_is_inverse)
{
	struct rf_rng r = { seed() };
	struct block b, c;

	rf_options_init(table, &b);
	rf_options_init(table, &c);
	for (unsigned n = 0; n < 500; n++) {
		b.flag = rf_rng_below(&r, 2);
		b.count = (int64_t)rf_rng_next(&r);
		b.percent = rf_rng_below(&r, 101);
		b.signed_ = (int64_t)(rf_rng_next(&r) >> 1) - 5;
		b.size = 4096 + (rf_rng_next(&r) >> (1 + rf_rng_below(&r, 60)));
		b.time = rf_rng_next(&r) >> rf_rng_below(&r, 64);
		b.colour = rf_rng_below(&r, 3);
		g_free(b.name);
		b.name = rf_rng_below(&r, 2) ? g_strdup("some = name") : NULL;
		for (const struct rf_option *o = table; o->name; o++) {
			char *text = rf_options_value(o, &b);
			GError *e = NULL;

			ck_assert_msg(rf_options_set(table, &c, NULL, o->name, text, &e),
			              "seed %" G_GUINT64_FORMAT ": %s", seed(), e ? e->message : "");
			g_free(text);
		}
		ck_assert_int_eq(b.flag, c.flag);
		ck_assert(b.count == c.count && b.percent == c.percent && b.signed_ == c.signed_);
		ck_assert(b.size == c.size && b.time == c.time && b.colour == c.colour);
		ck_assert_pstr_eq(b.name, c.name);
	}
	rf_options_clear(table, &b);
	rf_options_clear(table, &c);
}
END_TEST

START_TEST(option_help)
{
	GString *out = g_string_new(NULL);
	char **lines;

	rf_options_help(table, out);
	lines = g_strsplit(out->str, "\n", -1);
	for (unsigned i = 0; lines[i]; i++)
		ck_assert_msg(g_utf8_strlen(lines[i], -1) <= 79, "too long: %s", lines[i]);
	ck_contains(out->str, "  flag=yes|no (default no)\n      whether\n");
	ck_contains(out->str, "  percent=N (default 25 %; 0 to 100; since 2.6.31)\n      share of");
	ck_contains(out->str, "  size=SIZE (default 64M; at least 4K)\n");
	ck_contains(out->str, "  colour=red|green|blue (default green)\n");
	ck_contains(out->str, "  name=STRING (no default)\n      who\n");
	ck_assert(g_str_has_suffix(out->str, "\n"));
	g_strfreev(lines);
	g_string_free(out, TRUE);
}
END_TEST

/* ---- output files ---- */

static char *dir;

static void make_dir(void)
{
	dir = g_dir_make_tmp("refault-test-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
}

static unsigned entries(void)
{
	GDir *d = g_dir_open(dir, 0, NULL);
	unsigned n = 0;

	while (g_dir_read_name(d))
		n++;
	g_dir_close(d);
	return n;
}

static void remove_dir(void)
{
	GDir *d = g_dir_open(dir, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(d))) {
		char *path = g_build_filename(dir, name, NULL);

		g_remove(path);
		g_free(path);
	}
	g_dir_close(d);
	g_rmdir(dir);
	g_clear_pointer(&dir, g_free);
}

static void holds(const char *path, const char *text)
{
	char *content = NULL;

	ck_assert(g_file_get_contents(path, &content, NULL, NULL));
	ck_assert_str_eq(content, text);
	g_free(content);
}

START_TEST(outfile_whole_or_absent)
{
	char *path = g_build_filename(dir, "out", NULL);
	struct rf_outfile o;
	struct stat st;
	GError *e = NULL;

	umask(022);
	ck_assert(rf_outfile_open(&o, path, &e));
	fputs("one\n", o.f);
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
	ck_assert(rf_outfile_commit(&o, &e));
	holds(path, "one\n");
	ck_assert_uint_eq(entries(), 1);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0644);

	/* Given up: the old content stands, nothing else does. */
	ck_assert(rf_outfile_open(&o, path, &e));
	fputs("two\n", o.f);
	rf_outfile_abort(&o);
	holds(path, "one\n");
	ck_assert_uint_eq(entries(), 1);
	rf_outfile_abort(&o); /* again does no harm */

	/* Two writers at once: each whole, the last one stays. */
	struct rf_outfile p;
	ck_assert(rf_outfile_open(&o, path, &e));
	ck_assert(rf_outfile_open(&p, path, &e));
	fputs("first", o.f);
	fputs("second", p.f);
	ck_assert(rf_outfile_commit(&p, &e));
	ck_assert(rf_outfile_commit(&o, &e));
	holds(path, "first");
	ck_assert_uint_eq(entries(), 1);
	g_free(path);
}
END_TEST

START_TEST(outfile_symlink_and_device)
{
	char *path = g_build_filename(dir, "real", NULL), *link_ = g_build_filename(dir, "link", NULL);
	struct rf_outfile o;
	struct stat st;
	GError *e = NULL;

	ck_assert(g_file_set_contents(path, "old", -1, NULL));
	ck_assert_int_eq(symlink("real", link_), 0);
	ck_assert(rf_outfile_open(&o, link_, &e));
	fputs("new", o.f);
	ck_assert(rf_outfile_commit(&o, &e));
	ck_assert(g_file_test(link_, G_FILE_TEST_IS_SYMLINK));
	holds(path, "new");
	ck_assert_uint_eq(entries(), 2);

	ck_assert(rf_outfile_open(&o, "/dev/null", &e));
	fputs("gone", o.f);
	ck_assert(rf_outfile_commit(&o, &e));
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	g_free(path);
	g_free(link_);
}
END_TEST

START_TEST(outfile_errors)
{
	char *path = g_build_filename(dir, "no", "such", "out", NULL);
	struct rf_outfile o;
	GError *e = NULL;

	ck_assert(!rf_outfile_open(&o, path, &e));
	ck_assert(g_error_matches(e, RF_ENV_ERROR, 0));
	ck_contains(e->message, path);
	ck_contains(e->message, g_strerror(ENOENT));
	g_clear_error(&e);
	rf_outfile_abort(&o);
	ck_assert(!rf_outfile_open(&o, dir, &e));
	ck_contains(e->message, "it is a directory");
	g_clear_error(&e);
	ck_assert_uint_eq(entries(), 0);
	g_free(path);

	if (access("/dev/full", W_OK) == 0) {
		ck_assert(rf_outfile_open(&o, "/dev/full", &e));
		fputs("much", o.f);
		ck_assert(!rf_outfile_commit(&o, &e));
		ck_assert(g_error_matches(e, RF_ENV_ERROR, 0));
		ck_contains(e->message, "cannot write /dev/full: ");
		ck_contains(e->message, g_strerror(ENOSPC));
		g_clear_error(&e);
	}
}
END_TEST

/* The disk is full while a file is written: an error, and neither file nor remains. */
/* What no text file of that size is gives a message, and no endless read. */
START_TEST(load_text)
{
	g_autofree char *path = g_build_filename(dir, "small", NULL);
	g_autofree char *large = g_strnfill((1 << 20) + 1, 'x');
	g_autofree char *text = NULL;
	GError *e = NULL;
	gsize len;

	ck_assert(g_file_set_contents(path, large, 1 << 20, NULL));
	text = rf_load_text("list", path, 1, &len, &e);
	ck_assert(text != NULL && len == 1 << 20 && text[len] == '\0');
	ck_assert(g_file_set_contents(path, large, (1 << 20) + 1, NULL));
	ck_assert(rf_load_text("list", path, 1, &len, &e) == NULL);
	ck_assert(g_error_matches(e, RF_USAGE_ERROR, 0));
	ck_assert(g_str_has_suffix(e->message, "small: expected a text file of at most 1 MiB"));
	g_clear_error(&e);
	ck_assert(rf_load_text("list", "/dev/zero", 1, &len, &e) == NULL);
	ck_assert_str_eq(e->message, "list /dev/zero: expected a text file of at most 1 MiB");
	g_clear_error(&e);
	ck_assert(rf_load_text("list", dir, 1, &len, &e) == NULL);
	ck_assert(g_error_matches(e, RF_USAGE_ERROR, 0));
	g_clear_error(&e);
	ck_assert(rf_load_text("list", "/nonexistent/list", 1, &len, &e) == NULL);
	ck_assert(g_error_matches(e, RF_ENV_ERROR, 0));
	ck_assert(g_str_has_prefix(e->message, "list: "));
	g_clear_error(&e);
}
END_TEST

START_TEST(outfile_failed_write)
{
	char *path = g_build_filename(dir, "out", NULL);
	struct rf_outfile o;
	GError *e = NULL;
	int full = open("/dev/full", O_WRONLY);

	if (full >= 0) {
		ck_assert(rf_outfile_open(&o, path, &e));
		ck_assert_int_ge(dup2(full, fileno(o.f)), 0);
		fputs("much", o.f);
		ck_assert(!rf_outfile_commit(&o, &e));
		ck_contains(e->message, g_strerror(ENOSPC));
		ck_assert_uint_eq(entries(), 0);
		g_clear_error(&e);
		close(full);
	}
	g_free(path);
}
END_TEST

/* ---- the generator ---- */

/* The first numbers of splitmix64 for two seeds, computed apart from this code (with Python's
 * integers); and the mean of a bounded draw. */
START_TEST(generator)
{
	struct rf_rng r = { 1234567 }, z = { 0 };
	static const uint64_t from_1234567[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
	};
	uint64_t sum = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(from_1234567); i++)
		ck_assert(rf_rng_next(&r) == from_1234567[i]);
	ck_assert(rf_rng_next(&z) == UINT64_C(0xe220a8397b1dcdaf));
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t v = rf_rng_below(&r, 1001);

		if (v > 1000)
			ck_abort_msg("%u is not below 1001", v);
		sum += v;
	}
	/* Standard error of the mean is 0.91. */
	ck_assert_int_ge(sum / 100000, 495);
	ck_assert_int_le(sum / 100000, 505);
	ck_assert_uint_eq(rf_rng_below(&r, 1), 0);
}
END_TEST

Suite *suite_base(void)
{
	Suite *s = suite_create("base");
	TCase *t = tcase_create("error");

	tcase_add_test(t, exit_codes);
	tcase_add_test(t, messages);
	tcase_add_test(t, nearest);
	tcase_add_test(t, nearest_random);
	suite_add_tcase(s, t);

	t = tcase_create("units");
	tcase_add_test(t, parse_u64);
	tcase_add_test(t, parse_size);
	tcase_add_test(t, parse_time);
	tcase_add_test(t, format);
	tcase_add_test(t, format_random);
	suite_add_tcase(s, t);

	t = tcase_create("option");
	tcase_add_test(t, option_defaults);
	tcase_add_test(t, option_set);
	tcase_add_test(t, option_refused);
	tcase_add_test(t, option_value_is_inverse);
	tcase_add_test(t, option_help);
	suite_add_tcase(s, t);

	t = tcase_create("file");
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_test(t, outfile_whole_or_absent);
	tcase_add_test(t, outfile_symlink_and_device);
	tcase_add_test(t, outfile_errors);
	tcase_add_test(t, outfile_failed_write);
	tcase_add_test(t, load_text);
	suite_add_tcase(s, t);

	t = tcase_create("rng");
	tcase_add_test(t, generator);
	suite_add_tcase(s, t);
	return s;
}
