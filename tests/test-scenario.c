/* SPDX-License-Identifier: MIT
 * Scenarios: what each statement writes, against lines written by hand; arithmetic against C's own;
 * chance against its law.  Broken ones stand in tests/data/fail/scenario-*.txt.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/items.h"
#include "traces/event.h"

#define HEAD "!refault-scenario 1\n"

static void read_scenario(struct items *it, const char *body, const char *const *params)
{
	const struct rf_source_options opt = { .format = "scenario", .params = params };
	g_autofree char *text = g_strconcat(HEAD, body, NULL);

	items_read(it, text, strlen(text), &opt);
}

/* The scenario writes what the text says, line by line. */
static void writes_with(const char *body, const char *const *params, const char *lines)
{
	const struct rf_source_options opt = { .format = "text" };
	g_autofree char *text = g_strconcat("!refault-trace 1\n", lines, NULL);
	struct items have, want;

	read_scenario(&have, body, params);
	items_read(&want, text, strlen(text), &opt);
	ck_assert_msg(!have.error, "%s", have.error ? have.error->message : "");
	ck_assert_msg(!want.error, "%s", want.error ? want.error->message : "");
	ck_assert_str_eq(have.text->str, want.text->str);
	ck_assert(have.totals.digest == want.totals.digest);
	items_clear(&have);
	items_clear(&want);
}

static void writes(const char *body, const char *lines)
{
	writes_with(body, NULL, lines);
}

/* The number that an expression has, told by the length of a think. */
static uint64_t number(const char *expression)
{
	g_autofree char *body = g_strdup_printf("think 1 $(%s)\n", expression);
	struct items it;
	uint64_t v;

	read_scenario(&it, body, NULL);
	ck_assert_msg(!it.error, "%s: %s", expression, it.error ? it.error->message : "");
	v = strtoull(strrchr(it.events->str, ' ') + 1, NULL, 10);
	items_clear(&it);
	return v;
}

START_TEST(every_text_line)
{
	g_autofree char *path = g_build_filename(RF_SRCDIR, "tests", "data", "succeed", "events.txt", NULL);
	g_autofree char *text = NULL;
	char *body;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	while (*text == '#' || strncmp(text, "!refault-trace", 14) != 0)
		memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n') + 1) + 1);
	body = strchr(text, '\n') + 1;
	writes(body, body);
}
END_TEST

START_TEST(arithmetic)
{
	const struct { const char *text; uint64_t v; } cases[] = {
		{ "1+2*3", 7 }, { "(1+2)*3", 9 }, { "2*3+4*5", 26 }, { "20-5-3", 12 }, { "100/7", 14 },
		{ "100%7", 2 }, { "60/2/3", 10 }, { "4K", 4096 }, { "3M+1", (3 << 20) + 1 },
		{ "2G", UINT64_C(2) << 30 }, { "0x1f", 31 }, { "0xfK", 15360 }, { "min(3,2)", 2 },
		{ "max(3, 2)", 3 }, { "min(1+1,max(5,1))*2", 4 }, { "1<2", 1 }, { "2<1", 0 }, { "2<=2", 1 },
		{ "2>=3", 0 }, { "3!=3", 0 }, { "3==3", 1 }, { "1||0", 1 }, { "1&&0", 0 }, { "!0", 1 },
		{ "!5", 0 }, { "1+2==3&&4<5", 1 }, { "0||2>1", 1 }, { "18446744073709551615", UINT64_MAX },
		{ "18446744073709551615/1K", UINT64_MAX / 1024 }, { " 1 + 1 ", 2 }, { "rand(1)", 0 },
		{ "hash(7,1)", 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(number(cases[i].text) == cases[i].v, "%s is %" G_GUINT64_FORMAT, cases[i].text,
		              number(cases[i].text));
}
END_TEST

START_TEST(loops)
{
	writes("repeat 3 {\n\tmark a\n}\n", "mark a\nmark a\nmark a\n");
	writes("repeat 0 {\n\tmark a\n}\nmark b\n", "mark b\n");
	writes("for i in 2 .. 5 {\n\tmark m$i\n}\n", "mark m2\nmark m3\nmark m4\n");
	writes("for i in 0 .. 10 step 4 {\n\tmark m$i\n}\n", "mark m0\nmark m4\nmark m8\n");
	writes("for i in 5 .. 5 {\n\tmark m$i\n}\nmark e\n", "mark e\n");
	writes("for i in 0 .. 2 {\n\tfor j in i .. 2 {\n\t\tmark m$i-$j\n\t}\n}\n",
	       "mark m0-0\nmark m0-1\nmark m1-1\n");
	/* Near the end of 64 bits nothing goes round. */
	writes("for i in 18446744073709551613 .. 18446744073709551615 {\n\tmark m$i\n}\n",
	       "mark m18446744073709551613\nmark m18446744073709551614\n");
	writes("for i in 0 .. 18446744073709551615 step 18446744073709551614 {\n\tmark m$i\n}\n",
	       "mark m0\nmark m18446744073709551614\n");
	/* Empty bodies cost nothing, however often. */
	writes("repeat 18446744073709551615 {\n}\nmark e\n", "mark e\n");
}
END_TEST

START_TEST(variables)
{
	writes("param n = 3\nlet x = n * 2\nrepeat 2 {\n\tlet x = x + 1\n\tthink 1 $x\n}\n",
	       "think 1 7\nthink 1 8\n");
	writes("define two a b {\n\tmark $a-$b\n}\ncall two 1, 2\ncall two 1+2, 4*5\n",
	       "mark 1-2\nmark 3-20\n");
	writes("define in a {\n\tmark i$a\n}\ndefine out a {\n\tcall in a+1\n\tmark o$a\n}\ncall out 5\n",
	       "mark i6\nmark o5\n");
	writes("if 0 {\n\tmark a\n} else if 1 {\n\tmark b\n} else {\n\tmark c\n}\n", "mark b\n");
	writes("if 0 {\n\tmark a\n}\nif 2 > 1 {\n\tmark d\n}\n", "mark d\n");
}
END_TEST

START_TEST(addresses)
{
	/* Plain ones are hexadecimal, as in the text form; computed ones are numbers. */
	writes("param at = 0x10000\nmmap 1 $at $(2*4K) rw- anon\nW 1 $(at + 4096) $(4K)\nR 1 10000\n"
	       "munmap 1 $(at+4K) 4K\nmremap 1 10000 4K $(at*2) 8K\n",
	       "mmap 1 10000 8192 rw- anon\nW 1 11000 4096\nR 1 10000\n"
	       "munmap 1 11000 4096\nmremap 1 10000 4096 20000 8192\n");
	writes("file 1 data 1M\nfor i in 0 .. 2 {\n\tread 1 file:1 $(i*4K) 4K\n}\n",
	       "file 1 data 1M\nread 1 file:1 0 4096\nread 1 file:1 4096 4096\n");
}
END_TEST

START_TEST(strands)
{
	/* Line by line, in turn; whoever waits goes on when the last has ended. */
	writes("parallel {\n\tmark a1\n\tmark a2\n\tmark a3\n} with {\n\tmark b1\n}\nmark end\n",
	       "mark a1\nmark b1\nmark a2\nmark a3\nmark end\n");
	writes("parallel t in 1 .. 4 {\n\trepeat t {\n\t\tthink $t 1\n\t}\n}\n",
	       "think 1 1\nthink 2 1\nthink 3 1\nthink 2 1\nthink 3 1\nthink 3 1\n");
	/* Variables are each strand's own. */
	writes("let x = 10\nparallel t in 0 .. 2 {\n\tlet x = x + t\n\tmark s$x\n\tlet x = x + 5\n"
	       "\tmark s$x\n}\nmark m$x\n",
	       "mark s10\nmark s11\nmark s15\nmark s16\nmark m10\n");
	writes("parallel t in 0 .. 0 {\n\tmark a\n}\nmark b\n", "mark b\n");
	writes("parallel {\n\tparallel {\n\t\tmark a\n\t} with {\n\t\tmark b\n\t}\n\tmark c\n} with {\n"
	       "\tmark x\n\tmark y\n}\n",
	       "mark x\nmark a\nmark b\nmark y\nmark c\n");
}
END_TEST

START_TEST(parameters)
{
	const char *const three[] = { "n=3", NULL }, *const sum[] = { "n=1+1", "n=2*2", NULL };
	const char *const wrong[] = { "m=3", NULL };
	const char *body = "param n = 1\nparam twice = n * 2\nrepeat n {\n\tthink 1 $twice\n}\n";
	struct items it;

	writes(body, "think 1 2\n");
	writes_with(body, three, "think 1 6\nthink 1 6\nthink 1 6\n");
	writes_with(body, sum, "think 1 8\nthink 1 8\nthink 1 8\nthink 1 8\n"); /* the last one counts */
	read_scenario(&it, body, three);
	ck_assert_str_eq(rf_header_get(&it.header, "param.n"), "3");
	ck_assert_str_eq(rf_header_get(&it.header, "param.twice"), "6");
	items_clear(&it);
	read_scenario(&it, body, wrong);
	ck_assert(it.error && rf_error_exit_code(it.error) == RF_EXIT_USAGE);
	ck_assert(strstr(it.error->message, "has no parameter m; did you mean n?"));
	items_clear(&it);
}
END_TEST

/* 10,000 draws of three arms with weights 1, 2 and 5: each within five standard deviations; and the
 * same again with the same seed, others with another. */
START_TEST(chance)
{
	const char *body = "repeat 10000 {\n\tchoose 1 {\n\t\tthink 1 1\n\t} or 2 {\n\t\tthink 1 2\n\t} or 5 {\n"
			   "\t\tthink 1 5\n\t}\n}\n";
	const struct rf_source_options opt = { .format = "scenario" };
	g_autofree char *other = g_strconcat("!refault-scenario 1 seed=2\n", body, NULL);
	struct items a, b;
	unsigned n[6] = { 0 };

	read_scenario(&a, body, NULL);
	for (const char *p = a.events->str; (p = strstr(p, "think 1 0 ")); p++)
		n[p[10] - '0']++;
	ck_assert_uint_eq(n[1] + n[2] + n[5], 10000);
	for (unsigned w = 1; w <= 5; w += w == 2 ? 3 : 1) {
		double share = w / 8.0;

		ck_assert_msg(fabs(n[w] - 10000 * share) < 5 * sqrt(10000 * share * (1 - share)), "%u: %u", w,
		              n[w]);
	}
	read_scenario(&b, body, NULL);
	ck_assert(a.totals.digest == b.totals.digest);
	items_clear(&b);
	items_read(&b, other, strlen(other), &opt);
	ck_assert(a.totals.digest != b.totals.digest);
	items_clear(&a);
	items_clear(&b);
}
END_TEST

/* The trace is longer than memory; a reader gets its beginning at once. */
START_TEST(streams)
{
	const char *text = HEAD "mmap 1 10000000 4G rw- anon\nrepeat 1000000000000 {\n"
				"\tW 1 $(0x10000000 + rand(1M) * 4K)\n\tthink 1 1\n}\n";
	g_autofree char *path = NULL;
	struct rf_source *s;
	struct rf_item item;
	int fd = g_file_open_tmp("refault-XXXXXX", &path, NULL);

	ck_assert(fd >= 0);
	close(fd);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	s = rf_source_open(path, NULL, NULL);
	ck_assert_ptr_nonnull(s);
	ck_assert_str_eq(rf_source_format(s), "scenario");
	for (unsigned i = 0; i < 10000; i++) {
		ck_assert(rf_source_next(s, &item, NULL));
		ck_assert(item.kind != RF_ITEM_END);
	}
	rf_source_close(s);
	remove(path);
}
END_TEST

Suite *suite_scenario(void);

Suite *suite_scenario(void)
{
	Suite *s = suite_create("scenario");
	TCase *t = tcase_create("scenario");

	tcase_add_test(t, every_text_line);
	tcase_add_test(t, arithmetic);
	tcase_add_test(t, loops);
	tcase_add_test(t, variables);
	tcase_add_test(t, addresses);
	tcase_add_test(t, strands);
	tcase_add_test(t, parameters);
	tcase_add_test(t, chance);
	tcase_add_test(t, streams);
	suite_add_tcase(s, t);
	return s;
}
