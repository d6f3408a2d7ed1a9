/* SPDX-License-Identifier: MIT
 * Configuration, machine profiles, metrics and the command line's parser.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/args.h"
#include "base/error.h"
#include "policies/policy.h"
#include "sim/config.h"
#include "sim/report/report.h"
#include "sim/result.h"

Suite *suite_config(void);

static const struct rf_totals totals = { .footprint = { 1000, 300, 90 } };

static struct rf_config config(const char *name, const char *value)
{
	struct rf_config c;
	GError *e = NULL;

	rf_config_init(&c);
	if (name && !rf_config_set(&c, name, value, &e))
		ck_abort_msg("%s", e->message);
	return c;
}

/* What a message must hold when it can't be resolved. */
static void refused(struct rf_config *c, const struct rf_totals *t, const char *part)
{
	GError *e = NULL;

	ck_assert(!rf_config_resolve(c, t, &e));
	ck_assert_msg(e->domain == RF_USAGE_ERROR, "%s", e->message);
	ck_assert_msg(strstr(e->message, part) != NULL, "\"%s\" lacks \"%s\"", e->message, part);
	g_error_free(e);
	rf_config_clear(c);
}

static void resolve(struct rf_config *c, const struct rf_totals *t)
{
	GError *e = NULL;

	if (!rf_config_resolve(c, t, &e))
		ck_abort_msg("%s", e->message);
}

START_TEST(defaults)
{
	struct rf_config c = config(NULL, NULL);

	ck_assert(!rf_config_needs_totals(&c));
	resolve(&c, NULL);
	ck_assert_uint_eq(c.page_shift, 12);
	ck_assert_uint_eq(c.kernel_release, RF_KERNEL(6, 18, 0));
	ck_assert_uint_eq(c.limit_bytes, 0);
	ck_assert_uint_eq(c.frames_n, 0);
	ck_assert_uint_eq(c.swap_bytes, 0);
	ck_assert_uint_eq(c.ram_bytes, UINT64_C(16) << 30);
	ck_assert_uint_eq(c.dirty_expire, UINT64_C(30000000000));
	rf_config_clear(&c);
}
END_TEST

/* Setting an option to what it reads as must change nothing: JSON and CSV can be fed back. */
static void round_trip(const struct rf_option *table, void *a, void *b)
{
	for (const struct rf_option *o = table; o->name; o++) {
		g_autofree char *value = rf_options_value(o, a), *again = NULL;
		GError *e = NULL;

		if (!rf_options_set(table, b, "test", o->name, value, &e))
			ck_abort_msg("%s", e->message);
		again = rf_options_value(o, b);
		ck_assert_str_eq(value, again);
		ck_assert_msg(o->help && *o->help && o->help[strlen(o->help) - 1] != '.', "%s",
		              o->name);
	}
}

START_TEST(round_trips)
{
	struct rf_config a = config(NULL, NULL), b = config(NULL, NULL);

	ck_assert(rf_config_set(&a, "limit", "12.5%", NULL));
	ck_assert(rf_config_set(&a, "swap", "zram:3G", NULL));
	ck_assert(rf_config_set(&a, "fault_around_bytes", "12345", NULL));
	ck_assert(rf_config_set(&a, "stats-flush-period", "2001ms", NULL));
	ck_assert(rf_config_set(&a, "strict", "yes", NULL));
	ck_assert(rf_config_set(&a, "page-size", "64K", NULL));
	round_trip(rf_config_options, &a, &b);
	rf_config_clear(&a);
	rf_config_clear(&b);
}
END_TEST

START_TEST(amounts)
{
	static const struct {
		const char *option, *text, *page_size;
		uint64_t limit, ram, frames;
	} cases[] = {
		{ "limit", "25%", "4K", 250 << 12, 0, 0 },
		{ "limit", "12.5%", "4K", 125 << 12, 0, 0 },
		{ "limit", "0.1999%", "4K", 1 << 12, 0, 0 }, /* 1.999 pages: rounded down */
		{ "limit", "100%", "16K", 300 << 14, 0, 0 },
		{ "limit", "250%", "64K", 225 << 16, 0, 0 },
		{ "limit", "64M", "4K", 64 << 20, 0, 0 },
		{ "limit", "70000", "64K", 65536, 0, 0 },
		{ "limit", "3pages", "16K", 3 << 14, 0, 0 },
		{ "ram", "50%", "4K", 0, 500 << 12, 0 },
		{ "frames", "50%", "4K", 0, 0, 500 },
		{ "frames", "7", "64K", 0, 0, 7 },
		{ "frames", "33.3333%", "64K", 0, 0, 29 }, /* 29.99997 */
		{ "frames", "4294967294", "4K", 0, 0, 4294967294u },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct rf_config c = config(cases[i].option, cases[i].text);

		ck_assert(rf_config_set(&c, "page-size", cases[i].page_size, NULL));
		ck_assert_int_eq(rf_config_needs_totals(&c), strchr(cases[i].text, '%') != NULL);
		resolve(&c, &totals);
		ck_assert_uint_eq(c.limit_bytes, cases[i].limit);
		ck_assert_uint_eq(c.frames_n, cases[i].frames);
		if (cases[i].ram)
			ck_assert_uint_eq(c.ram_bytes, cases[i].ram);
		rf_config_clear(&c);
	}
}
END_TEST

START_TEST(amounts_refused)
{
	static const struct {
		const char *option, *text, *part;
	} cases[] = {
		{ "limit", "0.05%", "less than one page" },
		{ "limit", "4095", "less than one page" },
		{ "limit", "9223372036854775808", "can be modelled" },
		{ "limit", "17592186036225",
		  "less" }, /* 2^44 - 8191: one page too many, see below */
		{ "limit", "10000000%", "percentage" },
		{ "limit", "99999999999999999999%", "percentage" },
		{ "limit", ".5%", "percentage" },
		{ "limit", "5.%", "percentage" },
		{ "limit", "5%x", "percentage" },
		{ "limit", "pages", "number of pages" },
		{ "limit", "18446744073709551615pages", "number of pages" },
		{ "frames", "4294967295", "can be modelled" },
		{ "frames", "1M", "number of page frames" },
		{ "swap", "zram:0", "less than one page" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct rf_config c = config(cases[i].option, cases[i].text);

		if (i == 3) {
			/* The largest limit: 2^32 - 2 pages, and a little that is no page. */
			resolve(&c, &totals);
			ck_assert_uint_eq(c.limit_bytes, (UINT64_C(1) << 44) - 8192);
			rf_config_clear(&c);
			continue;
		}
		refused(&c, &totals, cases[i].part);
	}
}
END_TEST

START_TEST(no_footprint)
{
	static const struct rf_totals coarse = { .footprint = { 0, 0, 90 } };
	struct rf_config c = config("limit", "50%");

	refused(&c, NULL, "not known");
	c = config("limit", "50%");
	refused(&c, &coarse, "empty");
	c = config("limit", "50%");
	ck_assert(rf_config_set(&c, "page-size", "64K", NULL));
	resolve(&c, &coarse);
	ck_assert_uint_eq(c.limit_bytes, 45 << 16);
	/* Again, for the next trace. */
	resolve(&c, &totals);
	ck_assert_uint_eq(c.limit_bytes, 45 << 16);
	rf_config_clear(&c);
}
END_TEST

START_TEST(kernels)
{
	static const struct {
		const char *text;
		unsigned release;
	} good[] = {
		{ "2.6.30", RF_KERNEL(2, 6, 30) },   { "2.6.39", RF_KERNEL(2, 6, 39) },
		{ "3.0", RF_KERNEL(3, 0, 0) },       { "3.19.8", RF_KERNEL(3, 19, 8) },
		{ "4.20", RF_KERNEL(4, 20, 0) },     { "5.9", RF_KERNEL(5, 9, 0) },
		{ "6.18.44", RF_KERNEL(6, 18, 44) },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
		struct rf_config c = config("kernel", good[i].text);

		resolve(&c, NULL);
		ck_assert_uint_eq(c.kernel_release, good[i].release);
		rf_config_clear(&c);
	}
}
END_TEST

START_TEST(swap)
{
	struct rf_config c = config("swap", "hdd:1G");

	resolve(&c, NULL);
	ck_assert_int_eq(c.swap_device, RF_DEV_HDD);
	ck_assert_uint_eq(c.swap_bytes, 1 << 30);
	rf_config_clear(&c);

	c = config("swap", "zram");
	ck_assert(rf_config_set(&c, "ram", "64M", NULL));
	resolve(&c, NULL);
	ck_assert_int_eq(c.swap_device, RF_DEV_ZRAM);
	ck_assert_uint_eq(c.swap_bytes, 64 << 20);
	rf_config_clear(&c);
}
END_TEST

START_TEST(any_key)
{
	struct rf_config c = config(NULL, NULL);
	GError *e = NULL;

	ck_assert(rf_config_set_any(&c, "swappiness=7", NULL));
	ck_assert(rf_config_set_any(&c, "zram_read=9us", NULL));
	ck_assert(rf_config_set_any(&c, "zram_read=10us", NULL));
	ck_assert(rf_config_set_any(&c, "disk=hdd", NULL));
	ck_assert(!rf_config_set_any(&c, "zram_raed=1us", &e));
	ck_assert_ptr_nonnull(strstr(e->message, "did you mean zram_read?"));
	g_error_free(e);
	/* The machine is loaded afterwards, and what was set stays on top of it. */
	ck_assert(rf_config_set(&c, "machine", "pixel4", NULL));
	resolve(&c, NULL);
	ck_assert_int_eq(c.swappiness, 7);
	ck_assert_uint_eq(c.profile.zram_read, 10000);
	ck_assert_int_eq(c.profile.disk, RF_DEV_HDD);
	ck_assert_uint_eq(c.ram_bytes, UINT64_C(6) << 30);
	rf_config_clear(&c);
}
END_TEST

START_TEST(profiles)
{
	const char *const *names = rf_profile_names();

	ck_assert(g_strv_contains(names, "x86-64-nvme"));
	for (unsigned i = 0; names[i]; i++) {
		struct rf_profile a, b;
		GError *e = NULL;

		ck_assert(i == 0 || strcmp(names[i - 1], names[i]) < 0);
		if (!rf_profile_load(&a, names[i], &e))
			ck_abort_msg("%s", e->message);
		ck_assert_ptr_nonnull(a.description);
		ck_assert_uint_ge(a.ram, 64 << 20);
		ck_assert_uint_gt(a.fault_anon, a.access);
		ck_assert_uint_gt(a.hdd_latency, a.ssd_latency);
		ck_assert_uint_ge(a.ssd_latency, a.nvme_latency);
		ck_assert_uint_gt(a.zram_write, a.zram_read);
		memset(&b, 0, sizeof b);
		rf_options_init(rf_profile_options, &b);
		round_trip(rf_profile_options, &a, &b);
		rf_profile_clear(&a);
		rf_profile_clear(&b);
	}
}
END_TEST

/* The table's defaults are x86-64-nvme's: two places, one truth. */
START_TEST(profile_defaults)
{
	struct rf_profile p, d;

	ck_assert(rf_profile_load(&p, "x86-64-nvme", NULL));
	rf_options_init(rf_profile_options, &d);
	for (const struct rf_option *o = rf_profile_options; o->name; o++) {
		g_autofree char *a = rf_options_value(o, &p), *b = rf_options_value(o, &d);

		if (strcmp(o->name, "description") != 0)
			ck_assert_str_eq(a, b);
	}
	rf_profile_clear(&p);
	rf_profile_clear(&d);
}
END_TEST

START_TEST(profile_file)
{
	g_autofree char *dir = g_dir_make_tmp("refault-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "m.ini", NULL);
	struct rf_profile p;
	GError *e = NULL;

	ck_assert(g_file_set_contents(
		path,
		"; mine\n\n[machine]\r\ninherit=raspberry-pi4\n  ram = 1G \n# no\nhdd_latency=5ms",
		-1, NULL));
	if (!rf_profile_load(&p, path, &e))
		ck_abort_msg("%s", e->message);
	ck_assert_uint_eq(p.ram, 1 << 30);
	ck_assert_uint_eq(p.hdd_latency, 5000000);
	ck_assert_uint_eq(p.zram_read, 9400);
	ck_assert_int_eq(p.ssd_depth, 1);
	rf_profile_clear(&p);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* ---- metrics ---- */

START_TEST(metrics)
{
	struct rf_result r;

	ck_assert_uint_eq(rf_nmetrics, RF_NCOUNTERS + RF_NGAUGES);
	rf_result_init(&r);
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		const struct rf_metric *m = &rf_metrics[i];

		ck_assert_ptr_eq(rf_metric_find(m->name), m); /* so no name comes twice */
		ck_assert(strchr("-+0", m->better) != NULL);
		if (m->kind == RF_METRIC_COUNTER)
			r.counter[m->index] = i + 1;
		else
			r.gauge[m->index] = i + 1;
	}
	for (unsigned i = 0; i < rf_nmetrics; i++)
		ck_assert_uint_eq(rf_result_value(&r, &rf_metrics[i]), i + 1);
	ck_assert_ptr_null(rf_metric_find("pgfaults"));
	ck_assert_str_eq(rf_metric_find("rf_rss")->unit, "B");
	rf_result_clear(&r);
}
END_TEST

START_TEST(csv_fields)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{ "lru", "lru" },
		{ "", "" },
		{ "2q,in=25", "\"2q,in=25\"" },
		{ "a\"b", "\"a\"\"b\"" },
		{ "a\nb", "\"a\nb\"" },
		{ " a b ", " a b " },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) s = g_string_new(NULL);

		rf_csv_field(s, cases[i].text);
		ck_assert_str_eq(s->str, cases[i].field);
	}
}
END_TEST

/* ---- command lines ---- */

struct block {
	gboolean flag;
	char *string;
	GPtrArray *list;
};

static const struct rf_arg args[] = {
	{ "flag", 'f', RF_ARG_FLAG, offsetof(struct block, flag), NULL, "a flag" },
	{ "some-string", 's', RF_ARG_STRING, offsetof(struct block, string), "TEXT", "a text" },
	{ "list", 0, RF_ARG_LIST, offsetof(struct block, list), "ITEM", "items" },
	RF_ARG_END,
};

/* line: words separated by blanks. */
static gboolean parse(const char *line, struct block *b, struct rf_config *c, GPtrArray *operands,
                      gboolean *help, GError **error)
{
	const struct rf_args a = { args, b, rf_config_options, c, FALSE };
	g_auto(GStrv) argv = g_strsplit(line, " ", -1);

	memset(b, 0, sizeof *b);
	return rf_args_parse(&a, (int)g_strv_length(argv), argv, operands, help, error);
}

START_TEST(command_line)
{
	g_autoptr(GPtrArray) operands = g_ptr_array_new_with_free_func(g_free);
	struct rf_config c = config(NULL, NULL);
	struct block b;
	gboolean help;

	ck_assert(parse(
		"cmd one --swappiness=3 -fs two --watermark-scale-factor 20 - --list a --list=b "
		"--strict -- --flag",
		&b, &c, operands, &help, NULL));
	ck_assert(!help && b.flag && c.strict);
	ck_assert_str_eq(b.string, "two");
	ck_assert_uint_eq(b.list->len, 2);
	ck_assert_str_eq(b.list->pdata[1], "b");
	ck_assert_int_eq(c.swappiness, 3);
	ck_assert_int_eq(c.watermark_scale_factor, 20);
	ck_assert_uint_eq(operands->len, 3);
	ck_assert_str_eq(operands->pdata[0], "one");
	ck_assert_str_eq(operands->pdata[1], "-");
	ck_assert_str_eq(operands->pdata[2], "--flag");
	rf_args_clear(args, &b);

	ck_assert(parse("cmd -sx --some_string=y --strict=no --help --nonsense", &b, &c, operands,
	                &help, NULL));
	ck_assert(help && !c.strict);
	ck_assert_str_eq(b.string, "y");
	rf_args_clear(args, &b);
	rf_config_clear(&c);
}
END_TEST

START_TEST(command_line_refused)
{
	static const struct {
		const char *line, *part;
	} cases[] = {
		{ "cmd --flga", "did you mean --flag?" },
		{ "cmd --flag=1", "takes no value" },
		{ "cmd -s", "-s needs a value" },
		{ "cmd --list", "--list needs a value: expected --list ITEM" },
		{ "cmd -fx", "unknown option -fx" },
		{ "cmd --swapiness 3", "did you mean --swappiness?" },
		{ "cmd --swappiness x",
		  "--swappiness=\"x\": expected a whole number from 0 to 200" },
		{ "cmd --=3", "unknown option --" },
	};
	g_autoptr(GPtrArray) operands = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct rf_config c = config(NULL, NULL);
		struct block b;
		gboolean help;
		GError *e = NULL;

		ck_assert(!parse(cases[i].line, &b, &c, operands, &help, &e));
		ck_assert_msg(strstr(e->message, cases[i].part) != NULL, "\"%s\" lacks \"%s\"",
		              e->message, cases[i].part);
		g_error_free(e);
		rf_args_clear(args, &b);
		rf_config_clear(&c);
	}
}
END_TEST

Suite *suite_config(void)
{
	const TTest *const tests[] = {
		defaults,     round_trips, amounts,    amounts_refused, no_footprint,
		kernels,      swap,        any_key,    profiles,        profile_defaults,
		profile_file, metrics,     csv_fields, command_line,    command_line_refused,
	};
	Suite *s = suite_create("config");
	TCase *t = tcase_create("config");

	for (unsigned i = 0; i < G_N_ELEMENTS(tests); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	return s;
}
