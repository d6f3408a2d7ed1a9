/* SPDX-License-Identifier: MIT
 * mglru's rules, switch by switch: on a workload of all kinds each makes a difference, and --kernel sets it as
 * the release did.  What some of them do is worked out in test-mglru.c.
 */
#include <check.h>

#include "tests/rules.h"

Suite *suite_mglru_rules(void);

/* Under 8 MiB: code, memory in use, memory that grows, files read over and over and once.  There is more code
 * where it is read, too; else the data are read twice. */
static char *everything(gboolean read_code)
{
	GString *t = g_string_new("task 1\nfile 1 lib 4M\nfile 2 data 3M\nfile 3 stream 16M\n"
	                          "mmap 1 10000000 4M r-x file:1\nmmap 1 20000000 2M rw- anon\n"
	                          "mmap 1 30000000 8M rw- anon\nW 1 20000000 2M\n");

	for (unsigned i = 0; i < 48; i++) {
		unsigned part = read_code ? i % 8 : i % 4;

		line(t, "X 1 %x 512K", 0x10000000 + (part << 19));
		if (read_code) {
			line(t, "X 1 10000000 256K");
			line(t, "read 1 file:1 %uK 512K", part * 512);
			line(t, "read 1 file:1 0 256K");
			line(t, "read 1 file:1 0 256K");
		}
		line(t, "W 1 %x 1M", 0x20000000 + (i % 2 << 20));
		for (unsigned k = 0; k < (read_code ? 1 : 2); k++)
			line(t, "read 1 file:2 %uK 512K", i % 6 * 512);
		line(t, "read 1 file:3 %uK 256K", i * 256);
		line(t, "W 1 %x 256K", 0x30000000 + (i % 32 << 18));
	}
	return g_string_free(t, FALSE);
}

static const struct { const char *name, *off, *on, *before, *since; gboolean read_code; } rules[] = {
	{ "two_touch", "no", "yes", "6.13", "6.14", FALSE },
	{ "ws_last", "no", "yes", "6.13", "6.14", FALSE },
	{ "distance", "no", "yes", "6.13", "6.14", FALSE },
	{ "near_refault", "no", "yes", "6.13", "6.14", FALSE },
	{ "fault_restores", "yes", "no", "6.13", "6.14", FALSE },
	{ "all_tiers", "no", "yes", "6.13", "6.14", FALSE },
	{ "spread", "yes", "no", "6.13", "6.14", FALSE },
	{ "independent", "no", "yes", "6.13", "6.14", FALSE },
	{ "protect_full", "no", "yes", "6.6", "6.7", FALSE },
	{ "reset_use", "no", "yes", "6.11", "6.12", TRUE },
	{ "reset_use", "yes", "no", "6.13", "6.14", TRUE },
	{ "mark_own", "yes", "no", "6.11", "6.12", FALSE },
	/* Only a look around queues pages: without walks there are more of those. */
	{ "enabled=1,queue_holds", "no", "yes", "6.10", "6.11", TRUE },
	{ "enabled=1,queue_holds", "yes", "no", "6.16", "6.17", TRUE },
	{ "memcg_lru", "no", "yes", "6.2", "6.3", FALSE },
};

START_TEST(by_release)
{
	g_autofree char *trace = everything(rules[_i].read_code);
	const struct rule rule = { "mglru", rules[_i].name, rules[_i].off, rules[_i].on, rules[_i].before, rules[_i].since,
	                           "--limit 8M --swap zram:64M", trace };
	struct model_run off, on;

	rule_by_release(&rule, &off, &on);
	model_run_clear(&off);
	model_run_clear(&on);
}
END_TEST

START_TEST(batch)
{
	static const struct batch_rule rows[] = {
		{ "--kernel 6.9 --reclaim mglru", 30 }, { "--kernel 6.10 --reclaim mglru", 31 },
		{ "--kernel 6.18 --reclaim mglru,batch=1", 40 }, { "--kernel 6.1 --reclaim mglru,batch=7", 35 },
	};

	rule_of_batches(rows, G_N_ELEMENTS(rows));
}
END_TEST

Suite *suite_mglru_rules(void)
{
	Suite *s = suite_create("mglru_rules");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t, by_release, 0, G_N_ELEMENTS(rules));
	tcase_add_test(t, batch);
	suite_add_tcase(s, t);
	return s;
}
