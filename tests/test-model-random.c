/* SPDX-License-Identifier: MIT
 * The modelled machine under random traces of every kind of event, short of memory, with every
 * policy: all that it counts as it goes is counted anew after every item.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "sim/policy.h"
#include "tests/model-run.h"

Suite *suite_model_random(void);

#define TASKS 6 /* ids 1 to 5; some are born and die */
#define BASE 0x10000000u
#define SLOTS 12 /* places for mappings, apart from each other */
#define SLOT_PAGES 48
#define SLOT_BYTES 0x100000u
#define FILES 3
#define FILE_PAGES 90

struct gen {
	struct rf_rng rng;
	GString *text;
	gboolean alive[TASKS], mapped[TASKS][SLOTS];
	unsigned thread_of[TASKS]; /* 0: has a space of its own */
};

static unsigned below(struct gen *g, unsigned n)
{
	return rf_rng_below(&g->rng, n);
}

static gboolean one_in(struct gen *g, unsigned n)
{
	return !below(g, n);
}

static unsigned owner(const struct gen *g, unsigned tid)
{
	return g->thread_of[tid] ? g->thread_of[tid] : tid;
}

static uint64_t place(unsigned slot)
{
	return BASE + (uint64_t)slot * SLOT_BYTES;
}

static void map(struct gen *g, unsigned tid, unsigned slot)
{
	static const char *const kinds[] = { "rw- anon",
		                             "rw- anon",
		                             "rwx anon",
		                             "r-x file:%u",
		                             "rw- file:%u",
		                             "rw- file:%u shared",
		                             "rw- shmem:%u shared",
		                             "rw- refpage:%u" };
	unsigned kind = below(g, G_N_ELEMENTS(kinds)), pages = 1 + below(g, SLOT_PAGES);
	g_autofree char *what = g_strdup_printf("%s", kinds[kind]);
	char *hole = strstr(what, "%u");

	if (hole) { /* one digit for two characters */
		hole[0] = '1' + below(g, FILES);
		memmove(hole + 1, hole + 2, strlen(hole + 2) + 1);
	}
	g_string_append_printf(g->text, "mmap %u %" G_GINT64_MODIFIER "x %u %s", tid, place(slot),
	                       pages * PAGE, what);
	if (hole && !strstr(what, "refpage") && one_in(g, 3))
		g_string_append_printf(g->text, " off=%u", below(g, 20) * PAGE);
	if (one_in(g, 40))
		g_string_append(g->text, " locked");
	g_string_append_c(g->text, '\n');
	g->mapped[owner(g, tid)][slot] = TRUE;
}

static unsigned some_task(struct gen *g)
{
	unsigned tid = below(g, TASKS);

	while (!tid || !g->alive[tid])
		tid = (tid + 1) % TASKS;
	return tid;
}

static int some_slot(struct gen *g, unsigned tid)
{
	unsigned slot = below(g, SLOTS), i;

	for (i = 0; i < SLOTS; i++, slot = (slot + 1) % SLOTS)
		if (g->mapped[owner(g, tid)][slot])
			return (int)slot;
	return -1;
}

static void access_some(struct gen *g, unsigned tid, unsigned slot)
{
	unsigned n = 1 + below(g, 6), page = below(g, SLOT_PAGES);

	while (n--) {
		line(g->text, "%c %u %" G_GINT64_MODIFIER "x %u", "RRWWX"[below(g, 5)], tid,
		     place(slot) + page * PAGE, 1 + below(g, 2 * PAGE));
		page = one_in(g, 3) ? below(g, SLOT_PAGES) : (page + 1) % (SLOT_PAGES - 2);
	}
}

static void advise(struct gen *g, unsigned tid, unsigned slot)
{
	static const char *const advice[] = { "normal",   "random",    "sequential", "willneed",
		                              "dontneed", "free",      "cold",       "pageout",
		                              "hugepage", "nohugepage" };
	unsigned page = below(g, SLOT_PAGES);

	line(g->text, "madvise %u %" G_GINT64_MODIFIER "x %u %s", tid, place(slot) + page * PAGE,
	     (1 + below(g, SLOT_PAGES - page)) * PAGE, advice[below(g, G_N_ELEMENTS(advice))]);
}

static void change_mapping(struct gen *g, unsigned tid, unsigned slot)
{
	static const char *const prots[] = { "r--", "rw-", "r-x", "rwx", "---" };
	unsigned page = below(g, SLOT_PAGES), pages = 1 + below(g, SLOT_PAGES - page),
		 to = below(g, SLOTS);
	uint64_t at = place(slot) + page * PAGE;

	switch (below(g, 12)) {
	case 0:
		line(g->text, "munmap %u %" G_GINT64_MODIFIER "x %u", tid, at, pages * PAGE);
		break;
	case 1:
		line(g->text, "munmap %u %" G_GINT64_MODIFIER "x %u", tid, place(slot), SLOT_BYTES);
		g->mapped[owner(g, tid)][slot] = FALSE;
		break;
	case 2:
		line(g->text, "mprotect %u %" G_GINT64_MODIFIER "x %u %s", tid, at, pages * PAGE,
		     prots[below(g, G_N_ELEMENTS(prots))]);
		break;
	case 3:
		if (to != slot) {
			line(g->text,
			     "mremap %u %" G_GINT64_MODIFIER "x %u %" G_GINT64_MODIFIER "x %u", tid,
			     place(slot), (1 + below(g, SLOT_PAGES)) * PAGE, place(to),
			     (1 + below(g, SLOT_PAGES)) * PAGE);
			g->mapped[owner(g, tid)][to] = TRUE;
		}
		break;
	case 4:
		line(g->text, "mremap %u %" G_GINT64_MODIFIER "x %u %" G_GINT64_MODIFIER "x %u",
		     tid, place(slot), (1 + below(g, SLOT_PAGES)) * PAGE, place(slot),
		     (1 + below(g, SLOT_PAGES)) * PAGE);
		break;
	case 5:
		line(g->text, "mlock %u %" G_GINT64_MODIFIER "x %u", tid, at, MIN(pages, 6) * PAGE);
		break;
	case 6:
		line(g->text, "munlock %u %" G_GINT64_MODIFIER "x %u", tid, place(slot),
		     SLOT_BYTES);
		break;
	default:
		line(g->text, "vrange %u %" G_GINT64_MODIFIER "x %u %s", tid, at, pages * PAGE,
		     one_in(g, 2) ? "volatile" : "nonvolatile");
		break;
	}
}

static void use_file(struct gen *g, unsigned tid)
{
	static const char *const calls[] = { "read", "read", "write" };

	if (one_in(g, 8))
		line(g->text, "fsync %u file:%u", tid, 1 + below(g, FILES));
	else
		line(g->text, "%s %u file:%u %u %u", calls[below(g, 3)], tid, 1 + below(g, FILES),
		     below(g, FILE_PAGES * PAGE), 1 + below(g, 10 * PAGE));
}

static void end_of_life(struct gen *g, unsigned tid)
{
	for (unsigned i = 1; i < TASKS;
	     i++) /* whoever shares the space keeps it; the model counts them */
		if (i != tid && g->alive[i] && owner(g, i) == owner(g, tid))
			return;
	memset(g->mapped[owner(g, tid)], 0, sizeof g->mapped[0]);
}

static void task_life(struct gen *g)
{
	unsigned tid = 1 + below(g, TASKS - 1), parent = some_task(g), i, n = 0;
	gboolean leads = FALSE;

	for (i = 1; i < TASKS; i++) {
		n += g->alive[i];
		leads |= i != tid && g->alive[i] && g->thread_of[i] == tid;
	}
	if (!g->alive[tid] && !leads) {
		gboolean thread = one_in(g, 3);

		line(g->text, "task %u parent=%u%s%s", tid, parent, thread ? " thread" : "",
		     !thread && one_in(g, 4) ? " cgroup=/b" : "");
		g->alive[tid] = TRUE;
		g->thread_of[tid] = thread ? owner(g, parent) : 0;
		if (!thread)
			memcpy(g->mapped[tid], g->mapped[owner(g, parent)], sizeof g->mapped[tid]);
		return;
	}
	if (n < 2 || leads || !g->alive[tid])
		return;
	end_of_life(g, tid);
	if (one_in(g, 3)) {
		line(g->text, "exec %u", tid);
		g->thread_of[tid] = 0;
		memset(g->mapped[tid], 0, sizeof g->mapped[tid]);
	} else {
		line(g->text, "exit %u", tid);
		g->alive[tid] = FALSE;
		g->thread_of[tid] = 0;
	}
}

static void machine_event(struct gen *g)
{
	switch (below(g, 7)) {
	case 0:
		line(g->text, "think %u %u", some_task(g), below(g, 300000000));
		break;
	case 1:
		line(g->text, "cgroup /b memory.max=%uK", 300 + below(g, 500));
		break;
	case 2:
		line(g->text, "cgroup /b memory.high=%uK memory.low=%uK", 200 + below(g, 500),
		     below(g, 300));
		break;
	case 3:
		line(g->text, "cgroup /b memory.min=%uK swappiness=%u", below(g, 200),
		     below(g, 201));
		break;
	case 4:
		line(g->text, "mark m");
		break;
	case 5:
		line(g->text, "hugetlb %u", (1 + below(g, 3)) * PAGE);
		break;
	case 6:
		line(g->text, "memory %s %u", one_in(g, 2) ? "offline" : "online",
		     (1 + below(g, 8)) * PAGE);
		break;
	}
}

static char *generate(uint64_t seed, unsigned steps)
{
	struct gen g = { .rng = { seed }, .text = g_string_new(NULL) };
	unsigned i;

	for (i = 1; i <= FILES; i++)
		line(g.text, "file %u f%u %u", i, i, (FILE_PAGES - 10 * i) * PAGE);
	line(g.text, "refpage 1 16\nrefpage 2 4096\nrefpage 3 8");
	line(g.text, "cgroup /b memory.max=600K\ntask 1");
	g.alive[1] = TRUE;
	for (i = 0; i < 4; i++)
		map(&g, 1, i);
	for (i = 0; i < steps; i++) {
		unsigned tid = some_task(&g), what = below(&g, 100);
		int slot = some_slot(&g, tid);

		if (what < 60 && slot >= 0)
			access_some(&g, tid, (unsigned)slot);
		else if (what < 68)
			map(&g, tid, below(&g, SLOTS));
		else if (what < 76 && slot >= 0)
			advise(&g, tid, (unsigned)slot);
		else if (what < 86 && slot >= 0)
			change_mapping(&g, tid, (unsigned)slot);
		else if (what < 93)
			use_file(&g, tid);
		else if (what < 97)
			task_life(&g);
		else
			machine_event(&g);
	}
	return g_string_free(g.text, FALSE);
}

/* ---- machines ---- */

static const char *const machines[] = {
	"--limit 700K --swap zram:1M",
	"--limit 700K --swap zram:1M --cgroup v1 --kernel 4.19 --fill refpage",
	"--limit 700K --swap nvme:700K --volatile mm-tree",
	"--limit 700K --swap hdd:900K --machine x86-64-hdd --volatile vma",
	"--limit 700K --swap none --fill memset,anon --set llc=256K",
	"--limit 900K --swap ssd:4M --page-size 16K --arch arm64 --fill fill-on-fault,double_init",
	"--limit 2M --swap zram:4M --page-size 64K --arch arm64 --volatile madv-free",
	"--ram 2M --swap zram:2M --min_free_kbytes 128 --volatile ashmem",
	"--ram 2M --swap nvme:2M --min_free_kbytes 128 --cgroup v1 --volatile mm-tree,purge=partial,on_purged_touch=zero",
	"--ram 2M --swap hdd:2M --min_free_kbytes 128 --machine x86-64-hdd",
	"--limit 700K --swap nvme:1M --tlb 16 --stats-flush-period 2s --read_ahead_kb 0",
	"--limit 700K --memory.high 600K --swap zram:1M --swappiness 150 --volatile vma,purge=partial,on_purged_touch=kill",
	"--ram 3M --limit 1M --swap ssd:1M --min_free_kbytes 256 --dirty_ratio 5 "
	"--dirty_background_ratio 2",
	"--limit 700K --cgroup v1 --swap nvme:1M --machine x86-64-hdd --read_ahead_kb 32 "
	"--fault_around_bytes 4K",
};

static const char *const policies[] = {
	"twolist", "fifo", "lru", "clock", "random", "2q", "arc", "lirs", "s3fifo", "sieve",
};

#define SEEDS 3
#define STEPS 260

/* The options of machine and policy, on the trace of the seed that first_seed leads to. */
static void random_trace(uint64_t first_seed, unsigned machine, unsigned policy, unsigned nth)
{
	g_autofree char *options =
		g_strdup_printf("%s --reclaim %s", machines[machine], policies[policy]);
	g_autofree char *trace =
		generate(first_seed + nth * 1000 + machine * 100 + policy, STEPS);
	struct model_run run;

	/* Only shown when the machine's check aborts, or the test fails. */
	printf("RF_TEST_SEED=%" G_GUINT64_FORMAT " %s\n", first_seed, options);
	fflush(stdout);
	if (g_getenv("RF_TEST_SAVE"))
		g_file_set_contents(g_getenv("RF_TEST_SAVE"), trace, -1, NULL);
	model_run(&run, options, trace, 0);
	ck_assert_uint_gt(COUNTER(&run, pgfault), 0);
	model_run_clear(&run);
}

START_TEST(random_traces)
{
	for (unsigned s = 0; s < SEEDS; s++)
		for (unsigned p = 0; p < G_N_ELEMENTS(policies); p++)
			random_trace(model_run_seed(), (unsigned)_i, p, s);
}
END_TEST

/* Tasks on one and on four processors, who wait for locks, devices and each other: it ends, every check
 * holds, and a second replay gives the same. */
START_TEST(closed_replay)
{
	for (unsigned cpus = 1; cpus <= 4; cpus *= 4) {
		unsigned policy = ((unsigned)_i + cpus) % G_N_ELEMENTS(policies);
		g_autofree char *options = g_strdup_printf(
			"%s --reclaim %s --replay closed --cpus %u --set mmap_lock_hold=2us "
			"--set mmap_lock_sleep_handoff=20us --set mem_mbps=2000",
			machines[_i], policies[policy], cpus);
		uint64_t seed = model_run_seed() + 7000 + (uint64_t)_i * 10 + cpus;
		g_autofree char *trace = generate(seed, STEPS);
		struct model_run run, again;

		printf("seed %" G_GUINT64_FORMAT " %s\n", seed, options);
		fflush(stdout);
		model_run(&run, options, trace, 0);
		model_run(&again, options, trace, MODEL_RUN_UNCHECKED);
		ck_assert_uint_gt(COUNTER(&run, pgfault), 0);
		for (unsigned i = 0; i < rf_nmetrics; i++)
			ck_assert_msg(rf_result_value(&run.result, &rf_metrics[i]) ==
			                      rf_result_value(&again.result, &rf_metrics[i]),
			              "%s", rf_metrics[i].name);
		model_run_clear(&again);
		model_run_clear(&run);
	}
}
END_TEST

/* What a killed task had begun to read from swap stayed locked; who wanted it next waited for ever. */
START_TEST(a_killed_reader_leaves_nothing_locked)
{
	for (unsigned s = 0; s < SEEDS; s++)
		random_trace(3, 6, 0, s);
}
END_TEST

Suite *suite_model_random(void)
{
	Suite *s = suite_create("model-random");
	TCase *t = tcase_create("random");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, random_traces, 0, G_N_ELEMENTS(machines));
	tcase_add_loop_test(t, closed_replay, 0, G_N_ELEMENTS(machines));
	tcase_add_test(t, a_killed_reader_leaves_nothing_locked);
	suite_add_tcase(s, t);
	return s;
}
