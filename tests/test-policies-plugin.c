/* SPDX-License-Identifier: MIT
 * Plug-ins: the skeleton is built against installed headers, and runs; what does not fit is refused.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/frames.h"
#include "sim/policy.h"
#include "sim/seams.h"
#include "tests/model-run.h"

Suite *suite_policies_plugin(void);

static char *dir; /* of one test: headers below include/, plug-ins */

static const char *from_environment(const char *name, const char *otherwise)
{
	const char *value = g_getenv(name);

	return value && *value ? value : otherwise;
}

/* Run a shell command; what it says is in out, and must be freed. */
static int shell(char **out, const char *format, ...) G_GNUC_PRINTF(2, 3);
static int shell(char **out, const char *format, ...)
{
	char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	GError *error = NULL;
	int status = -1;
	va_list ap;

	va_start(ap, format);
	argv[2] = g_strdup_vprintf(format, ap);
	va_end(ap);
	if (!g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, out, NULL, &status, &error))
		ck_abort_msg("%s: %s", argv[2], error->message);
	g_free(argv[2]);
	return status;
}

static void must(const char *what, int status, char *out)
{
	ck_assert_msg(status == 0, "%s failed: %s", what, out);
	g_free(out);
}

static void install_headers(void)
{
	char *out;
	int status;

	dir = g_dir_make_tmp("refault-plugin-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
	/* Its own make: not a part of the one that may be running the tests. */
	status = shell(&out, "env -u MAKEFLAGS -u MAKELEVEL make -s -C '%s' prefix='%s' exec_prefix='%s'"
	               " install-policyincludeHEADERS install-baseincludeHEADERS install-pkgconfigDATA"
	               " 2>&1 && sed -i 's|^prefix=.*|prefix=%s|' '%s/lib/pkgconfig/refault.pc'",
	               from_environment("RF_TOP_BUILDDIR", "."), dir, dir, dir, dir);
	must("installing headers", status, out);
}

static void remove_all(void)
{
	shell(NULL, "rm -rf '%s'", dir);
	g_free(dir);
}

/* Build tests/plugin/SOURCE.c as NAME.so; returns its path. */
static char *build(const char *source, const char *name, const char *flags)
{
	char *out;
	int status = shell(&out, "cd '%s' && %s -std=gnu17 -Wall -Wextra -Werror -shared -fPIC %s"
	                   " $(PKG_CONFIG_PATH='%s/lib/pkgconfig':\"$PKG_CONFIG_PATH\" pkg-config"
	                   " --cflags refault) '%s/tests/plugin/%s.c' -o %s.so 2>&1", dir,
	                   from_environment("CC", "cc"), flags, dir,
	                   from_environment("RF_TOP_SRCDIR", RF_SRCDIR), source, name);

	must("building a plug-in", status, out);
	return g_strdup_printf("%s/%s.so", dir, name);
}

static uint64_t mru_faults(const char *spec, unsigned frames)
{
	/* A loop over 10 pages, 5 times. */
	GString *text = g_string_new("!refault-trace 1\n");
	struct rf_config cfg = { .reclaim = (char *)spec, .page_shift = 12, .frames_n = frames };
	GError *error = NULL;
	struct rf_frames *m = rf_frames_new(&cfg, NULL, &error);
	struct rf_source *s;
	struct rf_sample sample;
	struct rf_item item;

	ck_assert_msg(m != NULL, "%s", error ? error->message : "");
	for (int i = 0; i < 50; i++)
		g_string_append_printf(text, "R 1 %x000\n", 1 + i % 10);
	s = rf_source_from_text("loop", text->str, (gssize)text->len);
	do {
		ck_assert(rf_source_next(s, &item, &error));
		if (item.kind != RF_ITEM_END)
			ck_assert(rf_frames_item(m, &item, &error));
	} while (item.kind != RF_ITEM_END);
	rf_frames_sample(m, &sample);
	ck_assert_uint_eq(sample.counter[RF_C_rf_policy_fallback], 0);
	ck_assert_uint_eq(sample.counter[RF_C_rf_policy_refused], 0);
	rf_frames_free(m);
	rf_source_close(s);
	g_string_free(text, TRUE);
	return sample.counter[RF_C_pgfault];
}

START_TEST(skeleton)
{
	char *so = build("mru", "mru", "");
	GError *error = NULL;

	ck_assert(!rf_reclaim_find("mru", NULL));
	ck_assert_msg(rf_plugin_load(so, &error), "%s", error ? error->message : "");
	ck_assert_str_eq(rf_reclaim_find("mru", &error)->name, "mru");
	ck_assert_uint_eq(mru_faults("mru", 10), 10);
	ck_assert_uint_eq(mru_faults("mru", 1), 50);
	ck_assert_uint_lt(mru_faults("mru", 4), mru_faults("lru", 4));
	ck_assert_uint_eq(mru_faults("lru", 9), 50);
	/* By hand: page 10 takes the place of 9, then 8 hits, then 9 takes that of 8, … */
	ck_assert_uint_eq(mru_faults("mru", 9), 10 + 4);
	ck_assert_uint_eq(mru_faults("mru,spare=100", 4), mru_faults("lru", 4));

	ck_assert(!rf_policy_new("mru,spare=1001", NULL, NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "spare"));
	g_clear_error(&error);

	/* The same a second time changes nothing; in another file, the name is taken. */
	ck_assert(rf_plugin_load(so, &error));
	g_free(so);
	so = build("mru", "another", "");
	ck_assert(!rf_plugin_load(so, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "'mru'"));
	g_clear_error(&error);
	g_free(so);
}
END_TEST

START_TEST(on_the_command_line)
{
	const char *given = g_getenv("REFAULT");
	g_autofree char *refault = g_canonicalize_filename(given ? given : "refault", NULL);
	char *so = build("mru", "mru", ""), *out;
	int status;

	if (!g_file_test(refault, G_FILE_TEST_IS_EXECUTABLE))
		ck_abort_msg("no program %s", refault);
	status = shell(&out, "cd '%s' && printf '!refault-trace 1\\nR 1 1000\\nR 1 2000\\nR 1 3000\\n"
	               "R 1 1000\\n' >loop.txt && '%s' run loop.txt --plugin ./mru.so --reclaim mru"
	               " --frames 2 --output-format=vmstat 2>&1", dir, refault);
	ck_assert_msg(status == 0, "%s", out);
	/* 1 and 2 come in, 3 takes the place of 2, 1 is still there. */
	ck_assert_msg(strstr(out, "pgmajfault 3\n") != NULL, "%s", out);
	g_free(out);
	status = shell(&out, "cd '%s' && '%s' run loop.txt --plugin ./none.so --reclaim mru"
	               " --frames 2 2>&1", dir, refault);
	ck_assert_int_eq(WEXITSTATUS(status), RF_EXIT_ENVIRONMENT);
	g_free(out);
	status = shell(&out, "cd '%s' && '%s' run loop.txt --plugin ./mru.so --reclaim mrx"
	               " --frames 2 2>&1", dir, refault);
	ck_assert_int_eq(WEXITSTATUS(status), RF_EXIT_USAGE);
	ck_assert_msg(strstr(out, "'mru'") != NULL, "%s", out);
	g_free(out);
	g_free(so);
}
END_TEST

/* Members of the other seams, by what they leave in a run. */
START_TEST(members_of_all_seams)
{
	static const char *const names[RF_NSEAMS] = { "odd", "ten", "refuse", "slow" };
	char *so = build("seams", "seams", "");
	GError *error = NULL;
	struct model_run r;

	ck_assert_msg(rf_plugin_load(so, &error), "%s", error ? error->message : "");
	ck_assert_msg(rf_plugin_load(so, &error), "%s", error ? error->message : ""); /* once more: the same */
	for (unsigned seam = 0; seam < RF_NSEAMS; seam++) {
		unsigned found = 0;
		const struct rf_member *m;

		for (unsigned i = 0; (m = rf_seam_nth(seam, i)); i++)
			found += !strcmp(m->name, names[seam]);
		ck_assert_uint_eq(found, 1);
	}

	model_run(&r, "--account ten,each=20", "task 1\n", 0);
	eq(GAUGE(&r, rf_account), (UINT64_C(1) << 30) / PAGE * 20);
	model_run_clear(&r);
	model_run(&r, "--account ten", "task 1\nmmap 1 10000000 64K rw- anon\nW 1 10000000 64K\n", 0);
	eq(GAUGE(&r, rf_account_lines), 16 * 3);
	model_run_clear(&r);
	model_run(&r, "--fill slow --set zero_page=100ns --set fault_anon=100ns --set access=0",
	          "task 1\nmmap 1 10000000 64K rw- anon\nR 1 10000000 64K\n", 0);
	eq(COUNTER(&r, rf_zero_page), 0);
	eq(PAGES(&r, rf_rss_anon), 16);
	eq(GAUGE(&r, rf_time_fault), 16 * 1000000);
	model_run_clear(&r);
	/* Of 80 pages that are read 40 stay, which fit; of 256, 128, which do not. */
	model_run(&r, "--limit 64pages --protect odd --read_ahead_kb 0", "task 1\nfile 1 data 1M\nread 1 file:1 0 320K\n", 0);
	eq(COUNTER(&r, pgsteal_file) > 0, 1);
	eq(COUNTER(&r, oom_kill), 0);
	model_run_clear(&r);
	model_run(&r, "--limit 64pages --protect odd --read_ahead_kb 0", "task 1\nfile 1 data 1M\nread 1 file:1 0 1M\n", 0);
	eq(COUNTER(&r, oom_kill), 1);
	model_run_clear(&r);
	model_run(&r, "--volatile refuse", "task 1\nmmap 1 10000000 64K rw- anon\nW 1 10000000 64K\n"
	          "mark before\nvrange 1 10000000 64K volatile\n", 0);
	eq(GAUGE(&r, rf_time) - mark_of(&r, "before")->gauge[RF_G_rf_time], 7000 + 200); /* and the system call */
	model_run_clear(&r);
	g_free(so);
}
END_TEST

static const struct {
	const char *macro, *message[3];
} refused[] = {
	{ "WRONG_ABI", { "version 77", "version 2" } },
	{ "WRONG_OPS_ABI", { "version 77", "version 2" } },
	{ "WRONG_SIZE", { "rf_reclaim_ops has 8 bytes", NULL /* sizeof, below */ } },
	{ "WRONG_HOST", { "rf_host has 8 bytes" } },
	{ "WRONG_PROTECT", { "rf_protect_ops has 8 bytes" } },
	{ "NO_HOOK", { "'wrong'", "propose or shrink" } },
	{ "NO_NAME", { "needs a name" } },
	{ "TAKEN_NAME", { "'lru'", "already" } },
	{ "NO_POLICY", { "no policy" } },
	{ "NO_SYMBOL", { "rf_plugin" } },
	{ "NO_ACTIVATE", { "'wrong' of --protect", "activate" } },
	{ "TAKEN_PROTECT", { "'skipexec' of --protect", "already" } },
	{ "NO_LAYOUT", { "'wrong' of --account", "layout" } },
	{ "NO_LOCKS", { "'wrong' of --volatile", "locks" } },
	{ "NO_COVERS", { "'wrong' of --volatile", "covers" } },
	{ "NO_INIT", { "'wrong' of --fill", "init" } },
};

START_TEST(misfits)
{
	char *size = g_strdup_printf("program's has %zu", sizeof(struct rf_reclaim_ops)), *so;
	GError *error = NULL;

	for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++) {
		char *flag = g_strconcat("-D", refused[i].macro, NULL);

		so = build("wrong", refused[i].macro, flag);
		ck_assert_msg(!rf_plugin_load(so, &error), "%s was loaded", flag);
		ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_ENVIRONMENT);
		ck_assert_msg(strstr(error->message, so) != NULL, "%s", error->message);
		for (unsigned k = 0; k < 2; k++) {
			const char *part = refused[i].message[k];

			if (!part && k == 1 && !strcmp(refused[i].macro, "WRONG_SIZE"))
				part = size;
			ck_assert_msg(!part || strstr(error->message, part), "\"%s\" does not say \"%s\"",
			              error->message, part);
		}
		g_clear_error(&error);
		g_free(flag);
		g_free(so);
	}
	ck_assert(!rf_reclaim_find("wrong", NULL));
	g_free(size);

	so = g_build_filename(dir, "absent.so", NULL);
	ck_assert(!rf_plugin_load(so, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "no such file"));
	g_clear_error(&error);
	ck_assert(g_file_set_contents(so, "not a library", -1, NULL));
	ck_assert(!rf_plugin_load(so, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "cannot be loaded"));
	g_clear_error(&error);
	g_free(so);
}
END_TEST

START_TEST(names)
{
	char *name, *options;
	GError *error = NULL;

	rf_spec_split("2q,in=25,out=50", &name, &options);
	ck_assert_str_eq(name, "2q");
	ck_assert_str_eq(options, "in=25,out=50");
	g_free(name);
	g_free(options);
	rf_spec_split("lru", &name, &options);
	ck_assert_str_eq(name, "lru");
	ck_assert_str_eq(options, "");
	g_free(name);
	g_free(options);

	ck_assert(!rf_reclaim_find("s3fif", &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(error->message, "'s3fifo'"));
	g_clear_error(&error);
	ck_assert(!rf_policy_new("lru,in=25", NULL, NULL, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_USAGE);
	g_clear_error(&error);
}
END_TEST

Suite *suite_policies_plugin(void)
{
	Suite *s = suite_create("policies_plugin");
	TCase *t = tcase_create("built");

	/* In the child process of each test: what is loaded there is gone with it. */
	tcase_add_checked_fixture(t, install_headers, remove_all);
	tcase_add_test(t, skeleton);
	tcase_add_test(t, on_the_command_line);
	tcase_add_test(t, members_of_all_seams);
	tcase_add_test(t, misfits);
	suite_add_tcase(s, t);
	t = tcase_create("names");
	tcase_add_test(t, names);
	suite_add_tcase(s, t);
	return s;
}
