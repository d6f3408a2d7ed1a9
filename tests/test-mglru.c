/* SPDX-License-Identifier: MIT
 * The multi-gen LRU on the modelled machine: what must hold of its lists whatever happens, walks and
 * generations worked out by hand, and relations between its rules.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "policies/reclaim/mglru.h"
#include "sim/model/model.h"

Suite *suite_mglru(void);

#define ANON 0x10000000u
#define DATA 0x20000000u
#define TEXT 0x30000000u
#define PAGE 4096u

static void ck_ok(gboolean ok, GError *error)
{
	if (!ok)
		ck_abort_msg("%s", error ? error->message : "failed without a message");
}

/* A machine with options given as name and value, in turn, up to NULL. */
struct setup {
	struct rf_config cfg;
	struct rf_model *m;
	struct rf_source *source;
};

static void setup_init(struct setup *s, const char *const *option, const char *text)
{
	GError *error = NULL;

	rf_config_init(&s->cfg);
	for (; *option; option += 2)
		ck_ok(rf_config_set(&s->cfg, option[0], option[1], &error), error);
	ck_ok(rf_config_resolve(&s->cfg, NULL, &error), error);
	s->m = rf_model_new(&s->cfg, NULL, &error);
	ck_ok(s->m != NULL, error);
	s->source = rf_source_from_text("test", text, -1);
}

static void setup_clear(struct setup *s)
{
	rf_source_close(s->source);
	rf_model_free(s->m);
	rf_config_clear(&s->cfg);
}

typedef void (*check_fn)(struct rf_model *m, uint64_t seed);

/* Go on to the next mark, or the end. */
static void go_on(struct setup *s, check_fn check, uint64_t seed)
{
	GError *error = NULL;
	struct rf_item item;

	do {
		ck_ok(rf_source_next(s->source, &item, &error), error);
		if (item.kind == RF_ITEM_END)
			break;
		ck_ok(rf_model_item(s->m, &item, &error), error);
		if (check)
			check(s->m, seed);
	} while (item.kind != RF_ITEM_EVENT || item.event.kind != RF_EV_MARK);
}

/* A whole trace on a machine of its own: the counters at its end, and the reason of the first OOM
 * kill (or NULL), which is the caller's. */
static char *replay(const char *text, const char *const *option, uint64_t counter[RF_NCOUNTERS])
{
	struct rf_result result;
	struct setup s;
	GError *error = NULL;
	char *reason = NULL;
	unsigned i;

	setup_init(&s, option, text);
	go_on(&s, NULL, 0);
	rf_result_init(&result);
	ck_ok(rf_model_finish(s.m, &result, &error), error);
	memcpy(counter, result.counter, sizeof(result.counter));
	for (i = 0; i < result.oom->len && !reason; i++)
		reason = g_strdup(g_array_index(result.oom, struct rf_oom, i).reason);
	rf_result_clear(&result);
	setup_clear(&s);
	return reason;
}

/* ---- invariants ---- */

/* Every resident page is in one place: a list, the batch of pages to be added, or unevictable. */
static void check_places(struct rf_model *m, uint64_t seed)
{
	uint64_t resident = 0, listed = 0, in = 0, out = 0, charged = 0;
	guint i;
	rf_page p;

	for (i = 0; i < m->cgroups->len; i++) {
		struct cgroup *cg = cgroup_nth(m, i);
		const struct mg_lruvec *v = mg_lruvec(cg->lv);
		uint64_t size[4];
		unsigned gen, type;

		m->pol->ops->check(m->pol, cg->lv); /* links, generations, counts: aborts */
		m->pol->ops->sizes(m->pol, cg->lv, size);
		for (type = 0; type < MG_TYPES; type++) {
			uint64_t n = 0;

			for (gen = 0; gen < MG_GENS; gen++)
				n += v->list[gen][type].n;
			ck_assert_uint_eq(n, size[type * 2] + size[type * 2 + 1]);
			listed += n;
		}
		in += cg->counter[RF_C_rf_pages_in];
		out += cg->counter[RF_C_rf_pages_out];
		charged += cg->anon + cg->file;
	}
	for (p = 0; p < m->npages; p++) {
		const uint16_t f = *mg_page(m->pol, p);
		const unsigned places = ((f & MG_LRU) != 0) + ((f & MG_ADDED) != 0) +
		                        ((m->fact[p] & F_UNEV) != 0);
		const unsigned want = (m->fact[p] & RF_PAGE_RESIDENT) != 0;

		if (places != want || (f & MG_ISOLATED))
			ck_abort_msg("seed %" G_GUINT64_FORMAT ": page %u, flags 0x%x, facts 0x%x is in %u "
			             "places", seed, p, f, m->fact[p], places);
		resident += want;
		listed += (f & MG_ADDED) || (m->fact[p] & F_UNEV);
	}
	ck_assert_uint_eq(listed, resident);
	ck_assert_uint_eq(in - out, resident);
	ck_assert_uint_eq(charged, resident);
}

static void random_event(GString *t, struct rf_rng *r, gboolean *child)
{
	const unsigned page = rf_rng_below(r, 560), n = 1 + rf_rng_below(r, 40);
	const unsigned tid = *child && rf_rng_below(r, 3) == 0 ? 2 : 1;
	static const char *const advice[] = { "free", "cold", "pageout", "dontneed", "random", "normal" };

	switch (rf_rng_below(r, 12)) {
	case 0:
		g_string_append_printf(t, "madvise %u %x %u %s\n", tid, ANON + page * PAGE, n * PAGE,
		                       advice[rf_rng_below(r, 6)]);
		break;
	case 1:
		g_string_append_printf(t, "%s 1 file:1 %u %u\n", rf_rng_below(r, 4) ? "read" : "write",
		                       page % 500 * PAGE, n * PAGE);
		break;
	case 2:
		g_string_append_printf(t, "%s 1 %x %u\n", rf_rng_below(r, 2) ? "mlock" : "munlock",
		                       ANON + page * PAGE, (1 + n % 8) * PAGE);
		break;
	case 3:
		if (rf_rng_below(r, 8))
			break;
		g_string_append(t, *child ? "exit 2\n" : "task 2 parent=1\n");
		*child = !*child;
		break;
	case 4:
	case 5:
		g_string_append_printf(t, "X %u %x %u\n", tid, TEXT + page % 250 * PAGE, n * PAGE / 4);
		break;
	case 6:
	case 7:
		g_string_append_printf(t, "R %u %x %u\n", tid, DATA + page % 400 * PAGE, n * PAGE);
		break;
	default:
		g_string_append_printf(t, "%c %u %x %u\n", "RWW"[rf_rng_below(r, 3)], tid, ANON + page * PAGE,
		                       n * PAGE);
		break;
	}
	g_string_append(t, "at 0\n"); /* so that the next one is an item of its own */
}

START_TEST(places)
{
	static const char *const kernels[] = { "6.1", "6.6", "6.12", "6.13", "6.18" };
	static const char *const memory[][2] = { { "limit", "1200K" }, { "ram", "4M" } };
	const char *env = g_getenv("RF_TEST_SEED");
	const uint64_t seed = (env ? g_ascii_strtoull(env, NULL, 0) : 20221211) + (uint64_t)_i;
	struct rf_rng r = { seed };
	gboolean child = FALSE;
	GString *t = g_string_new("!refault-trace 1\nfile 1 data 4M\nfile 2 text 1M\ntask 1\n");
	const char *option[] = {
		"reclaim", "mglru", "swap", "zram:64M", "ram", "1G", "cgroup", "v2", "read_ahead_kb", "16",
		"kernel", kernels[_i % 5], memory[_i / 5][0], memory[_i / 5][1], NULL,
	};
	struct setup s;
	unsigned i;

	g_string_append_printf(t, "mmap 1 %x 2400K rw- anon\nmmap 1 %x 2M r-- file:1 shared\n"
	                       "mmap 1 %x 1200K r-x file:2\n", ANON, DATA, TEXT);
	for (i = 0; i < 1500; i++)
		random_event(t, &r, &child);
	setup_init(&s, option, t->str);
	go_on(&s, check_places, seed);
	ck_assert_uint_gt(s.m->counter[RF_C_rf_pages_out], 500); /* there was reclaim to be tested */
	ck_assert_uint_eq(s.m->counter[RF_C_rf_policy_refused], 0);
	setup_clear(&s);
	g_string_free(t, TRUE);
}
END_TEST

/* ---- walks, by hand ---- */

struct seen {
	struct rf_walk w; /* first */
	unsigned spaces, fresh, leaves, total, young;
	gboolean take; /* clear what is offered */
};

static void seen_space(struct rf_policy *pol, struct rf_walk *w, gboolean fresh)
{
	struct seen *s = (struct seen *)w;

	(void)pol;
	s->spaces++;
	s->fresh += fresh != FALSE;
}

static gboolean seen_enter(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf)
{
	(void)pol, (void)leaf;
	((struct seen *)w)->leaves++;
	return TRUE;
}

static gboolean seen_young(struct rf_policy *pol, struct rf_walk *w, rf_page page)
{
	(void)pol, (void)page;
	((struct seen *)w)->young++;
	return ((struct seen *)w)->take;
}

static void seen_left(struct rf_policy *pol, struct rf_walk *w, uint64_t leaf, unsigned total, unsigned young)
{
	(void)pol, (void)leaf;
	((struct seen *)w)->total += total;
	if (((struct seen *)w)->take)
		ck_assert_uint_le(young, total);
	else
		ck_assert_uint_eq(young, 0);
}

static struct seen see(struct rf_model *m, gboolean anon, gboolean file, gboolean upper, gboolean take)
{
	struct seen s = {
		.w = { .lv = m->workload->lv, .anon = anon, .file = file, .upper = upper, .space = seen_space,
		       .enter = seen_enter, .young = seen_young, .left = seen_left },
		.take = take,
	};

	host_walk(m->pol, &s.w);
	return s;
}

static const char *const roomy[] = {
	"reclaim", "mglru", "kernel", "6.12", "limit", "16M", "ram", "1G", "swap", "zram:64M", "cgroup", "v2",
	"read_ahead_kb", "0", "fault_around_bytes", "4K", NULL,
};

#define HEAD "!refault-trace 1\nfile 1 data 4M\n"

START_TEST(walk)
{
	/* 300 pages across two leaves; mappings that walks leave out; a file. */
	static const char begin[] = HEAD "task 1\n"
		"mmap 1 0x10100000 1200K rw- anon\nmmap 1 0x40000000 64K rw- anon\nmmap 1 0x50000000 64K rw- anon\n"
		"mmap 1 0x20000000 64K r-- file:1\n"
		"madvise 1 0x40000000 64K random\nmlock 1 0x50000000 64K\n"
		"W 1 0x10100000 12K\nW 1 0x10200000 20K\nW 1 0x40000000 64K\nR 1 0x20000000 8K\nmark a\n"
		"R 1 0x10200000\nmark b\nR 1 0x10201000\nmark c\nR 1 0x10201000\nmark d\n";
	struct setup s;
	struct seen w;

	setup_init(&s, roomy, begin);
	go_on(&s, NULL, 0);

	w = see(s.m, TRUE, TRUE, TRUE, FALSE);
	ck_assert_uint_eq(w.spaces, 1);
	ck_assert_uint_eq(w.fresh, 1);
	ck_assert_uint_eq(w.leaves, 3);
	ck_assert_uint_eq(w.total, 300 + 16);
	ck_assert_uint_eq(w.young, 3 + 5 + 2);

	/* Nobody ran since: the address space is passed over. */
	w = see(s.m, TRUE, TRUE, FALSE, TRUE);
	ck_assert_uint_eq(w.spaces, 0);

	/* One access to the second leaf: the others were not used since; bits that were left are found. */
	go_on(&s, NULL, 0);
	w = see(s.m, TRUE, TRUE, TRUE, TRUE);
	ck_assert_uint_eq(w.spaces, 1);
	ck_assert_uint_eq(w.fresh, 0);
	ck_assert_uint_eq(w.leaves, 1);
	ck_assert_uint_eq(w.young, 5);

	go_on(&s, NULL, 0);
	w = see(s.m, TRUE, FALSE, FALSE, TRUE);
	ck_assert_uint_eq(w.leaves, 2);
	ck_assert_uint_eq(w.young, 3 + 1);

	go_on(&s, NULL, 0);
	w = see(s.m, FALSE, TRUE, FALSE, TRUE);
	ck_assert_uint_eq(w.leaves, 1);
	ck_assert_uint_eq(w.total, 16);
	ck_assert_uint_eq(w.young, 2);
	setup_clear(&s);
}
END_TEST

static rf_page page_at(struct rf_model *m, uint64_t addr)
{
	uint32_t v = entry_find(m, space_nth(m, 0), addr / PAGE);

	ck_assert_uint_ne(v, UINT32_MAX);
	ck_assert(m->pte[v] & PTE_PRESENT);
	return m->pte_page[v];
}

static gboolean accessed(struct rf_model *m, uint64_t addr)
{
	return (m->pte[entry_find(m, space_nth(m, 0), addr / PAGE)] & PTE_ACC) != 0;
}

START_TEST(look_around)
{
	static const char begin[] = HEAD "task 1\nmmap 1 0x10000000 400K rw- anon\nW 1 0x10000000 400K\n";
	static const struct { unsigned at, from, to; } cases[] = {
		{ 50, 18, 82 }, { 10, 0, 64 }, { 95, 36, 100 }, { 31, 0, 64 }, { 32, 0, 64 }, { 68, 36, 100 },
	};
	unsigned i, p;

	for (i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct seen w = { .w = { .young = seen_young, .left = seen_left }, .take = TRUE };
		struct setup s;
		unsigned vm;

		setup_init(&s, roomy, begin);
		go_on(&s, NULL, 0);
		w.w.lv = s.m->workload->lv;
		ck_assert_uint_eq(host_look_around(s.m->pol, page_at(s.m, 0x10000000 + cases[i].at * PAGE), w.w.lv,
		                                   &vm, &w.w, 64), 1);
		ck_assert_uint_eq(vm, 0);
		ck_assert_uint_eq(w.total, 64);
		ck_assert_uint_eq(w.young, 64);
		for (p = 0; p < 100; p++)
			ck_assert_int_eq(accessed(s.m, 0x10000000 + p * PAGE), p < cases[i].from || p >= cases[i].to);
		/* Looked at again it is old, and there is no look around. */
		w.total = 0;
		ck_assert_uint_eq(host_look_around(s.m->pol, page_at(s.m, 0x10000000 + cases[i].at * PAGE), w.w.lv,
		                                   &vm, &w.w, 64), 0);
		ck_assert_uint_eq(w.total, 0);
		setup_clear(&s);
	}
}
END_TEST

/* ---- generations, by hand ---- */

static unsigned gen_at(struct rf_model *m, uint64_t addr)
{
	const uint16_t f = *mg_page(m->pol, page_at(m, addr));

	ck_assert(f & MG_LRU);
	return mg_gen(f);
}

/* A leaf that is dense is walked again, one that is not is passed over until it is. */
START_TEST(filter)
{
	static const char begin[] = HEAD "task 1\nmmap 1 0x10000000 4M rw- anon\n"
		"W 1 0x10000000 2M\nW 1 0x10200000 40K\nmark a\n"
		"W 1 0x10000000 400K\nW 1 0x10200000 400K\nmark b\nR 1 0x10200000\n";
	struct setup s;
	struct rf_lruvec *lv;
	struct mg_lruvec *v;
	uint64_t sparse;

	setup_init(&s, roomy, begin);
	lv = s.m->workload->lv;
	v = mg_lruvec(lv);
	go_on(&s, NULL, 0);
	mg_drain(s.m->pol);
	ck_assert_uint_eq(v->max_seq, 3);
	mg_inc_max_seq(s.m->pol, lv, 60); /* the first walk is forced: 512 of 512 young, and 10 of 512 */
	ck_assert_uint_eq(v->max_seq, 4);
	ck_assert(!accessed(s.m, 0x10000000) && !accessed(s.m, 0x10200000));

	go_on(&s, NULL, 0);
	mg_drain(s.m->pol);
	mg_inc_max_seq(s.m->pol, lv, 60); /* 100 of 512 in the first; the second is not in the filter */
	ck_assert(!accessed(s.m, 0x10000000));
	ck_assert(accessed(s.m, 0x10200000));
	ck_assert_uint_eq(gen_at(s.m, 0x10000000), 4 % MG_GENS);
	ck_assert_uint_eq(gen_at(s.m, 0x10000000 + 200 * PAGE), 3 % MG_GENS);
	ck_assert_uint_eq(gen_at(s.m, 0x10200000), 3 % MG_GENS);

	/* A look around that finds it dense puts it there. */
	go_on(&s, NULL, 0);
	sparse = entry_find(s.m, space_nth(s.m, 0), 0x10200) >> s.m->leaf_shift;
	ck_assert(mg_filter_test(v, 5, entry_find(s.m, space_nth(s.m, 0), 0x10000) >> s.m->leaf_shift));
	ck_assert(!mg_filter_test(v, 5, sparse));
	mg_filter_update(v, 5, sparse);
	ck_assert(mg_filter_test(v, 5, sparse));
	mg_inc_max_seq(s.m->pol, lv, 60);
	ck_assert(!accessed(s.m, 0x10200000));
	ck_assert_uint_eq(gen_at(s.m, 0x10200000), 5 % MG_GENS);
	setup_clear(&s);
}
END_TEST

/* Since 6.14 a page enters the second youngest generation, and its second young entry promotes it. */
START_TEST(one_touch_and_two)
{
	static const char begin[] = HEAD "task 1\nmmap 1 0x10000000 2M rw- anon\nW 1 0x10000000 2M\n"
		"mark a\nW 1 0x10000000 1M\n";
	gboolean two;

	for (two = FALSE; two <= TRUE; two++) {
		const char *option[G_N_ELEMENTS(roomy)];
		struct rf_lruvec *lv;
		struct setup s;

		memcpy(option, roomy, sizeof(roomy));
		option[3] = two ? "6.18" : "6.12";
		setup_init(&s, option, begin);
		lv = s.m->workload->lv;
		go_on(&s, NULL, 0);
		mg_drain(s.m->pol);
		ck_assert_uint_eq(gen_at(s.m, 0x10000000), two ? 2 : 3);
		mg_inc_max_seq(s.m->pol, lv, 60);
		ck_assert_uint_eq(gen_at(s.m, 0x10000000), two ? 2 : 3);
		go_on(&s, NULL, 0);
		mg_inc_max_seq(s.m->pol, lv, 60);
		ck_assert_uint_eq(gen_at(s.m, 0x10000000), 4 % MG_GENS);
		ck_assert_int_eq((*mg_page(s.m->pol, page_at(s.m, 0x10000000)) & MG_WS) != 0, two);
		ck_assert_uint_eq(gen_at(s.m, 0x10100000), two ? 2 : 3);
		/* The window is of four generations: now the oldest must join the next. */
		ck_assert_uint_eq(mg_lruvec(lv)->max_seq, 5);
		ck_assert_uint_eq(mg_lruvec(lv)->min_seq[MG_ANON], 2);
		mg_inc_max_seq(s.m->pol, lv, 60);
		ck_assert_uint_eq(mg_lruvec(lv)->min_seq[MG_ANON], 3);
		ck_assert_uint_eq(gen_at(s.m, 0x10100000), 3);
		check_places(s.m, 0);
		setup_clear(&s);
	}
}
END_TEST

/* Uses through file descriptors: 6.12 counts REF, workingset, then the counter; 6.18 the flag last. */
START_TEST(tiers)
{
	static const unsigned tier[] = { 0, 0, 1, 2, 2, 3, 3 };
	gboolean reworked;

	for (reworked = FALSE; reworked <= TRUE; reworked++) {
		const char *option[G_N_ELEMENTS(roomy)];
		GString *t = g_string_new(HEAD "task 1\n");
		struct setup s;
		unsigned uses;

		/* Another page between: the same page twice in a row is one use. */
		for (uses = 1; uses < G_N_ELEMENTS(tier); uses++)
			g_string_append(t, "read 1 file:1 0 4K\nmark a\nread 1 file:1 40K 4K\n");
		memcpy(option, roomy, sizeof(roomy));
		option[3] = reworked ? "6.18" : "6.12";
		setup_init(&s, option, t->str);
		for (uses = 1; uses < G_N_ELEMENTS(tier); uses++) {
			uint16_t f;

			go_on(&s, NULL, 0);
			f = *mg_page(s.m->pol, file_page(s.m, file_get(s.m, 1), 0));
			ck_assert_uint_eq(mg_tier(s.m->pol, f), tier[uses]);
			ck_assert_int_eq((f & MG_WS) != 0, uses >= (reworked ? 5 : 2));
		}
		setup_clear(&s);
		g_string_free(t, TRUE);
	}
}
END_TEST

/* ---- relations ---- */

static void append_hot_and_stream(GString *t, unsigned rounds)
{
	struct rf_rng r = { 7 };
	unsigned round, i, at = 0;

	for (round = 0; round < rounds; round++) {
		for (i = 0; i < 120; i++)
			g_string_append_printf(t, "R 1 %x\n", TEXT + (unsigned)rf_rng_below(&r, 150) * PAGE);
		for (i = 0; i < 120; i++, at++)
			g_string_append_printf(t, "R 1 %x\n", DATA + at % 1000 * PAGE);
	}
}

/* K08: the classic lists spare executable mappings; the multi-gen LRU has no rule for them. */
START_TEST(executable_mappings)
{
	static const char *const policies[] = { "twolist", "mglru" };
	uint64_t majors[2][2];
	unsigned policy, exec;

	for (policy = 0; policy < 2; policy++) {
		for (exec = 0; exec < 2; exec++) {
			const char *option[] = {
				"reclaim", policies[policy], "kernel", "6.12", "limit", "1M", "ram", "1G",
				"swap", "zram:64M", "cgroup", "v2", "read_ahead_kb", "0", "stats-flush-period", "0", NULL,
			};
			GString *t = g_string_new("!refault-trace 1\nfile 1 data 4M\nfile 2 text 1M\ntask 1\n");
			uint64_t counter[RF_NCOUNTERS];

			g_string_append_printf(t, "mmap 1 %x 4M r-- file:1 shared\nmmap 1 %x 1M r-%c file:2\n", DATA,
			                       TEXT, exec ? 'x' : '-');
			append_hot_and_stream(t, 60);
			ck_assert_ptr_null(replay(t->str, option, counter));
			majors[policy][exec] = counter[RF_C_pgmajfault];
			g_string_free(t, TRUE);
		}
	}
	ck_assert_uint_lt(majors[0][TRUE], majors[0][FALSE]);
	ck_assert_uint_eq(majors[1][TRUE], majors[1][FALSE]);
}
END_TEST

/* K14: pages with all uses counted are spared; until 6.7 the control loop alone decided. */
START_TEST(hot_reads)
{
	uint64_t refaults[2];
	gboolean spare;

	for (spare = FALSE; spare <= TRUE; spare++) {
		const char *option[] = {
			"reclaim", spare ? "mglru,protect_full=yes" : "mglru,protect_full=no", "kernel", "6.12",
			"limit", "1M", "ram", "1G", "swap", "zram:64M", "cgroup", "v2", "read_ahead_kb", "0", NULL,
		};
		GString *t = g_string_new(HEAD "file 3 more 64M\ntask 1\n");
		uint64_t counter[RF_NCOUNTERS];
		unsigned round, use, at = 0;

		for (round = 0; round < 40; round++) {
			for (use = 0; use < 6; use++) {
				g_string_append(t, "read 1 file:1 0 320K\n");
				g_string_append_printf(t, "read 1 file:3 %u 160K\n", at);
				at += 160 * 1024;
			}
		}
		ck_assert_ptr_null(replay(t->str, option, counter));
		refaults[spare] = counter[RF_C_workingset_refault_file];
		g_string_free(t, TRUE);
	}
	ck_assert_uint_lt(refaults[TRUE], refaults[FALSE]);
}
END_TEST

/* K16: with min_ttl_ms set and nothing that old, there is a kill, and its reason says so. */
START_TEST(min_ttl)
{
	GString *t = g_string_new("!refault-trace 1\ntask 1\n");
	uint64_t counter[RF_NCOUNTERS], quiet[RF_NCOUNTERS];
	const char *option[] = {
		"reclaim", "mglru,min_ttl_ms=60000", "kernel", "6.12", "ram", "12M", "swap", "zram:64M", NULL,
	};
	char *reason;
	unsigned round;

	g_string_append_printf(t, "mmap 1 %x 24M rw- anon\n", ANON);
	for (round = 0; round < 6; round++)
		g_string_append_printf(t, "W 1 %x 24M\nthink 1 1000000\n", ANON);
	reason = replay(t->str, option, counter);
	ck_assert_ptr_nonnull(reason);
	ck_assert_ptr_nonnull(strstr(reason, "min_ttl_ms"));
	ck_assert_uint_eq(counter[RF_C_oom_kill], 1);
	g_free(reason);

	option[1] = "mglru";
	ck_assert_ptr_null(replay(t->str, option, quiet));
	ck_assert_uint_eq(quiet[RF_C_oom_kill], 0);
	ck_assert_uint_gt(quiet[RF_C_pswpout], counter[RF_C_pswpout]);
	g_string_free(t, TRUE);
}
END_TEST

/* Without walks every page that is in use is found young at the tail, and kept there once more. */
START_TEST(walks_spare_scans)
{
	GString *t = g_string_new("!refault-trace 1\ntask 1\n");
	struct rf_rng r = { 3 };
	uint64_t counter[2][RF_NCOUNTERS];
	gboolean walks;
	unsigned i;

	g_string_append_printf(t, "mmap 1 %x 8M rw- anon\nW 1 %x 8M\n", ANON, ANON);
	for (i = 0; i < 60000; i++) {
		unsigned a = rf_rng_below(&r, 2048), b = rf_rng_below(&r, 2048), c = rf_rng_below(&r, 2048);

		g_string_append_printf(t, "R 1 %x\n", ANON + MIN(a, MIN(b, c)) * PAGE);
	}
	for (walks = FALSE; walks <= TRUE; walks++) {
		const char *option[] = {
			"reclaim", walks ? "mglru,enabled=7" : "mglru,enabled=1", "kernel", "6.12", "limit",
			"4M", "ram", "1G", "swap", "zram:64M", "cgroup", "v2", NULL,
		};

		ck_assert_ptr_null(replay(t->str, option, counter[walks]));
	}
	ck_assert_uint_gt(counter[FALSE][RF_C_pgscan_anon] - counter[FALSE][RF_C_pgsteal_anon],
	                  counter[TRUE][RF_C_pgscan_anon] - counter[TRUE][RF_C_pgsteal_anon]);
	g_string_free(t, TRUE);
}
END_TEST

Suite *suite_mglru(void)
{
	Suite *s = suite_create("mglru");
	TCase *tc = tcase_create("mglru");

	tcase_add_loop_test(tc, places, 0, 10);
	tcase_add_test(tc, walk);
	tcase_add_test(tc, look_around);
	tcase_add_test(tc, filter);
	tcase_add_test(tc, one_touch_and_two);
	tcase_add_test(tc, tiers);
	tcase_add_test(tc, executable_mappings);
	tcase_add_test(tc, hot_reads);
	tcase_add_test(tc, min_ttl);
	tcase_add_test(tc, walks_spare_scans);
	suite_add_tcase(s, tc);
	return s;
}
