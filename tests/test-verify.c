/* SPDX-License-Identifier: MIT
 * refault verify, what of it needs no root: the plan of a trace, where its addresses go, the ring,
 * the journal of what must be undone, and the texts that kernels give.
 */
#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/rng.h"
#include "sim/verify/verify.h"

#define HEAD "!refault-trace 1\n"

/* ---- plans and commands ---- */

static const char *const kinds[] = {
	"R",       "W",    "mmap",  "munmap", "mremap", "mprotect", "madvise", "mlock",
	"munlock", "read", "write", "fsync",  "sleep",  "until",    "next",    "end",
};

static gboolean collect(void *data, const struct rf_vop *op, GError **error)
{
	GString *out = data;

	(void)error;
	g_string_append_printf(out, "%s %" PRIx64, kinds[op->kind], op->addr);
	if (rf_vop_is_touch(op->kind))
		g_string_append_printf(out, " x%u", op->count);
	else
		g_string_append_printf(out, "+%" PRIx64, op->len);
	if (op->kind == RF_VOP_MREMAP)
		g_string_append_printf(out, " to %" PRIx64 "+%" PRIx64, op->addr2, op->len2);
	if (op->kind == RF_VOP_MMAP || op->kind == RF_VOP_MPROTECT)
		g_string_append_printf(out, " prot %u", op->prot);
	if (op->kind == RF_VOP_MMAP)
		g_string_append_printf(out, " object %d off %" PRIx64 "%s", (int)op->object,
		                       op->off, op->shared ? " shared" : "");
	if (op->kind == RF_VOP_FREAD || op->kind == RF_VOP_FWRITE)
		g_string_append_printf(out, " object %u off %" PRIx64, op->object, op->off);
	g_string_append(out, "; ");
	return TRUE;
}

/* The plan of a text, and, the trace read again, what the process is told. */
static gboolean plan_text(const char *text, struct rf_vplan *plan, GString *ops, GError **error)
{
	struct rf_source *s = rf_source_from_text("test", text, -1);
	struct rf_vtrace *t;
	struct rf_item item;
	gboolean ok;

	rf_vplan_init(plan);
	ok = rf_vplan_make(plan, s, error);
	rf_source_close(s);
	if (!ok || !ops)
		return ok;
	s = rf_source_from_text("test", text, -1);
	t = rf_vtrace_new(plan, FALSE, collect, ops);
	do {
		ok = rf_source_next(s, &item, error) && rf_vtrace_item(t, &item, error);
	} while (ok && item.kind != RF_ITEM_END);
	rf_vtrace_free(t);
	rf_source_close(s);
	return ok;
}

START_TEST(plan_counts)
{
	struct rf_vplan p;
	GError *error = NULL;
	const struct rf_vobject *o;

	ck_assert(plan_text(
		HEAD
		"file 7 data 8192\n"
		"task 3\n"
		"mmap 3 10000 16K rw- anon\n"
		"mmap 3 40000 64K r-- file:7\n"
		"mmap 3 80000 64K rw- file:7\n"
		"W 3 10000\nW 3 10008\nR 3 11000\nW 3 12ffc 8\n" /* 4 accesses, 3 pages written */
		"R 3 41000\n"                                    /* within the file */
		"R 3 45000\n"  /* beyond: the file must have 6 pages */
		"W 3 80000\n"  /* a private copy */
		"R 3 f0000\n"  /* nothing there */
		"W 3 40000\n", /* not allowed */
		&p, NULL, &error));
	ck_assert_uint_eq(p.tid, 3);
	ck_assert_uint_eq(p.accesses, 9);
	ck_assert_uint_eq(p.anon_pages, 5); /* 10 12 13 80 40 */
	ck_assert_uint_eq(p.implicit, 1);
	ck_assert_uint_eq(p.widened, 1);
	ck_assert_uint_eq(p.objects->len, 1);
	o = &g_array_index(p.objects, struct rf_vobject, 0);
	ck_assert_uint_eq(o->id, 7);
	ck_assert_uint_eq(o->size, 6 * 4096);
	ck_assert(o->grown);
	ck_assert_uint_eq(rf_vplan_object(&p, 7, FALSE), 0);
	ck_assert_uint_eq(rf_vplan_object(&p, 7, TRUE), RF_VOP_NO_OBJECT);
	rf_vplan_clear(&p);
}
END_TEST

/* Each trace of one task, and by hand what a process must do for it. */
static const struct {
	const char *trace, *ops;
} commands[] = {
	{ "mmap 1 10000 8K rw- anon\nW 1 10000\nW 1 10000\nR 1 10000\n",
	  "mmap 10000+2000 prot 3 object -1 off 0; W 10000 x2; R 10000 x1; " },
	/* an access over an edge is one access and two pages */
	{ "mmap 1 10000 8K rw- anon\nW 1 10ffc 8\n",
	  "mmap 10000+2000 prot 3 object -1 off 0; W 10000 x1; W 11000 x0; " },
	/* an instruction fetch is a load; where nothing is mapped a page is */
	{ "X 1 10010\n", "mmap 10000+1000 prot 3 object -1 off 0; R 10000 x1; " },
	/* after munmap there is nothing again */
	{ "mmap 1 10000 4K rw- anon\nR 1 10000\nmunmap 1 10000 4K\nR 1 10000\n",
	  "mmap 10000+1000 prot 3 object -1 off 0; R 10000 x1; munmap 10000+1000; "
	  "mmap 10000+1000 prot 3 object -1 off 0; R 10000 x1; " },
	/* ranges are widened to pages; DONTNEED and FREE take only whole ones */
	{ "mmap 1 10000 16K rw- anon\nmadvise 1 10800 4K cold\nmadvise 1 10800 8K dontneed\n"
	  "madvise 1 10800 4K free\nmadvise 1 10000 4K hugepage\n",
	  "mmap 10000+4000 prot 3 object -1 off 0; madvise 10000+2000; madvise 11000+1000; " },
	/* growth in place over an implicit page */
	{ "mmap 1 10000 4K rw- anon\nR 1 12000\nmremap 1 10000 4K 10000 12K\n",
	  "mmap 10000+1000 prot 3 object -1 off 0; mmap 12000+1000 prot 3 object -1 off 0; R 12000 "
	  "x1; "
	  "munmap 11000+2000; mremap 10000+1000 to 10000+3000; " },
	/* what moved is where it went, and nowhere else */
	{ "mmap 1 10000 4K rw- anon\nmremap 1 10000 4K 50000 8K\nW 1 51000\nW 1 10000\n",
	  "mmap 10000+1000 prot 3 object -1 off 0; mremap 10000+1000 to 50000+2000; W 51000 x1; "
	  "mmap 10000+1000 prot 3 object -1 off 0; W 10000 x1; " },
	/* a store to a read-only mapping widens all of it, once */
	{ "mmap 1 10000 8K r-- anon\nW 1 10000\nW 1 11000\nmprotect 1 10000 4K ---\nR 1 10000\n",
	  "mmap 10000+2000 prot 1 object -1 off 0; mprotect 10000+2000 prot 3; W 10000 x1; W 11000 "
	  "x1; "
	  "mprotect 10000+1000 prot 0; mprotect 10000+1000 prot 1; R 10000 x1; " },
	{ "file 4 a 64K\nmmap 1 10000 8K r-x file:4 off=4096\nmmap 1 20000 4K rw- shmem:4\n"
	  "read 1 file:4 100 5000\nwrite 1 file:9 0 10\n",
	  "mmap 10000+2000 prot 5 object 0 off 1000; mmap 20000+1000 prot 3 object 1 off 0 shared; "
	  "read 0+1388 object 0 off 64; write 0+a object 2 off 0; " },
	/* exec and exit drop the mappings; after exit nothing happens */
	{ "mmap 1 10000 4K rw- anon\nmmap 1 20000 4K r-- anon\nexec 1\nmmap 1 10000 4K rw- "
	  "anon\nexit 1\n",
	  "mmap 10000+1000 prot 3 object -1 off 0; mmap 20000+1000 prot 1 object -1 off 0; "
	  "munmap 10000+1000; munmap 20000+1000; mmap 10000+1000 prot 3 object -1 off 0; munmap "
	  "10000+1000; " },
	{ "think 1 500\nat 900\nmark here\nmlock 1 10000 4K\n",
	  "sleep 0+1f4; until 0+384; mlock 10000+1000; " },
};

START_TEST(plan_commands)
{
	GString *ops = g_string_new(NULL);
	g_autofree char *text = g_strconcat(HEAD "task 1\n", commands[_i].trace, NULL);
	struct rf_vplan p;
	GError *error = NULL;

	ck_assert_msg(plan_text(text, &p, ops, &error), "%s", error ? error->message : "");
	ck_assert_str_eq(ops->str, commands[_i].ops);
	rf_vplan_clear(&p);
	g_string_free(ops, TRUE);
}
END_TEST

static const struct {
	const char *trace, *says;
} refusals[] = {
	{ "task 1\ntask 2\n", "a second task" },
	{ "task 1\ntask 2 parent=1\n", "a fork" },
	{ "task 1\ntask 2 parent=1 thread\n", "a thread" },
	{ "cgroup /a\ntask 1 cgroup=/a\n", "cgroup" },
	{ "task 1\ncgroup /a memory.max=1M\n", "cgroup" },
	{ "task 1\nmmap 1 10000 8K rw- anon\nvrange 1 10000 4K volatile\n", "vrange" },
	{ "task 1\nrefpage 1 64\n", "refpage" },
	{ "task 1\nhugetlb 2M\n", "hugetlb" },
	{ "task 1\nmemory offline 128M\n", "hotplug" },
	{ "R 1 10000\nR 2 10000\n", "a second task" },
	{ "mark x\n", "no task" },
};

START_TEST(plan_refusals)
{
	g_autofree char *text = g_strconcat(HEAD, refusals[_i].trace, NULL);
	struct rf_vplan p;
	GError *error = NULL;

	ck_assert(!plan_text(text, &p, NULL, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_USAGE);
	ck_assert_msg(strstr(error->message, refusals[_i].says), "%s", error->message);
	ck_assert_msg(strstr(error->message, "expected"), "%s", error->message);
	g_error_free(error);
	rf_vplan_clear(&p);
}
END_TEST

/* ---- layout ---- */

static const char maps[] = "55d000000000-55d000020000 r--p 00000000 fe:00 10 /usr/bin/refault\n"
			   "55d000020000-55d000040000 r-xp 00020000 fe:00 10 /usr/bin/refault\n"
			   "55d000040000-55d000041000 rw-p 00040000 fe:00 10 /usr/bin/refault\n"
			   "55d001000000-55d001100000 rw-p 00000000 00:00 0 [heap]\n"
			   "7f0000000000-7f0000021000 rw-p 00000000 00:00 0\n"
			   "7f0000021000-7f0000030000 ---p 00000000 00:00 0\n"
			   "7f0010000000-7f0010001000 rw-s 00000000 00:01 77 /dev/zero (deleted)\n"
			   "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n"
			   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

static void use(struct rf_vplan *p, uint64_t start, uint64_t len)
{
	const struct rf_vma v = { .start = start, .end = start + len, .mkind = RF_MAP_ANON };

	rf_vmas_map(p->used, &v);
}

START_TEST(layout_parse)
{
	struct rf_vlayout l;
	GError *error = NULL;

	ck_assert(rf_vlayout_parse(&l, maps, 65536, &error));
	ck_assert_uint_eq(l.taken->len, 8); /* not the kernel's */
	ck_assert_uint_eq(l.files->len, 3); /* shared memory is no file of ours */
	ck_assert_uint_eq(l.writable->len, 4);
	ck_assert_uint_eq(l.min, 65536);
	ck_assert_uint_eq(l.max, UINT64_C(1) << 47);
	rf_vlayout_clear(&l);
	ck_assert(!rf_vlayout_parse(&l, "no such line\n", 0, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_ENVIRONMENT);
	g_clear_error(&error);
	ck_assert(!rf_vlayout_parse(&l, "", 0, &error));
	g_clear_error(&error);
}
END_TEST

START_TEST(layout_place)
{
	static const struct {
		uint64_t start, len;
		gboolean moved, fits;
	} cases[] = {
		{ UINT64_C(0x100000000000), 65536, FALSE, TRUE },
		{ 0x10000, 4096, FALSE, TRUE },                 /* just allowed */
		{ 0xf000, 4096, TRUE, TRUE },                   /* too low */
		{ UINT64_C(0x55d000010000), 4096, TRUE, TRUE }, /* in the way of the program */
		{ UINT64_C(0x7ffffffff000), 4096, FALSE, TRUE },
		{ UINT64_C(0xffff800000000000), 4096, TRUE, TRUE }, /* the kernel's half */
		{ 0, UINT64_C(1) << 46, TRUE, TRUE },               /* below the program, just */
		{ 0, UINT64_C(3) << 45, TRUE, FALSE }, /* has to lie over something of ours */
	};
	struct rf_vlayout l;
	GError *error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct rf_vplan p;

		rf_vplan_init(&p);
		use(&p, cases[i].start, cases[i].len);
		ck_assert(rf_vlayout_parse(&l, maps, 65536, &error));
		/* Beyond the distances that are tried from the kernel's half: also an answer. */
		if (!rf_vlayout_place(&l, &p, &error)) {
			ck_assert_msg(!cases[i].fits || cases[i].start >> 63, "case %zu: %s", i,
			              error->message);
			ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_USAGE);
			g_clear_error(&error);
		} else {
			ck_assert(cases[i].fits);
			ck_assert_int_eq(p.offset != 0, cases[i].moved);
			/* page tables as before */
			ck_assert_int_eq(p.offset % ((int64_t)1 << 39), 0);
		}
		rf_vlayout_clear(&l);
		rf_vplan_clear(&p);
	}
}
END_TEST

static gboolean apart(uint64_t a, uint64_t alen, uint64_t b, uint64_t blen)
{
	return a + alen <= b || b + blen <= a;
}

/* Whatever the trace and whatever is taken: nothing overlaps, and nothing lies outside. */
START_TEST(layout_random)
{
	const char *given = g_getenv("RF_TEST_SEED");
	uint64_t seed = given ? g_ascii_strtoull(given, NULL, 0) : (uint64_t)g_get_real_time();
	struct rf_rng rng = { seed };
	unsigned placed = 0;

	for (unsigned round = 0; round < 300; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		struct rf_vlayout l;
		struct rf_vplan p;
		GError *error = NULL;
		uint64_t at = 0x10000;

		for (unsigned i = 0; i < 6; i++) {
			at += (rf_rng_next(&rng) >> (18 + rf_rng_below(&rng, 10))) &
			      ~(uint64_t)4095;
			g_string_append_printf(text, "%" PRIx64 "-%" PRIx64 " rw-p 0 00:00 0\n", at,
			                       at + 0x100000);
			at += 0x100000;
		}
		rf_vplan_init(&p);
		for (unsigned i = 0; i < 1 + rf_rng_below(&rng, 5); i++)
			use(&p,
			    (rf_rng_next(&rng) >> (17 + rf_rng_below(&rng, 12))) & ~(uint64_t)4095,
			    (uint64_t)(1 + rf_rng_below(&rng, 100000)) << 12);
		ck_assert(rf_vlayout_parse(&l, text->str, 65536, &error));
		if (rf_vlayout_place(&l, &p, &error)) {
			placed++;
			for (uint32_t i = 0; i < rf_vmas_count(p.used); i++) {
				const struct rf_vma *v = rf_vmas_nth(p.used, i);
				uint64_t start = v->start + (uint64_t)p.offset,
					 len = v->end - v->start;
				gboolean ok = start >= 65536 && start + len <= l.max &&
				              apart(start, len, l.own, RF_VERIFY_OWN_ROOM);

				for (guint k = 0; k < l.taken->len; k++) {
					const struct rf_vrange *r =
						&g_array_index(l.taken, struct rf_vrange, k);

					ok = ok && apart(start, len, r->start, r->end - r->start) &&
					     apart(l.own, RF_VERIFY_OWN_ROOM, r->start,
					           r->end - r->start);
				}
				ck_assert_msg(ok, "RF_TEST_SEED=%" PRIu64 " round %u", seed, round);
				ck_assert(apart(rf_vplan_own_address(&p), RF_VERIFY_OWN_ROOM,
				                v->start, len));
			}
		}
		g_clear_error(&error);
		rf_vlayout_clear(&l);
		rf_vplan_clear(&p);
	}
	ck_assert_msg(placed > 200, "RF_TEST_SEED=%" PRIu64 ": only %u placed", seed, placed);
}
END_TEST

/* ---- the ring ---- */

#define RING_OPS 200000

static void random_op(struct rf_rng *rng, struct rf_vop *op)
{
	memset(op, 0, sizeof(*op));
	op->object = RF_VOP_NO_OBJECT;
	op->kind = rf_rng_below(rng, 4) ? rf_rng_below(rng, 2) : rf_rng_below(rng, RF_VOP_NEXT);
	op->addr = rf_rng_next(rng);
	op->count = (uint32_t)rf_rng_next(rng);
	op->prot = rf_rng_below(rng, 8);
	op->advice = rf_rng_below(rng, RF_NADVICE);
	op->shared = rf_rng_below(rng, 2);
	op->locked = rf_rng_below(rng, 2);
	if (rf_vop_is_touch(op->kind))
		return;
	op->len = rf_rng_next(rng);
	op->addr2 = rf_rng_next(rng);
	op->len2 = rf_rng_next(rng);
	op->off = rf_rng_next(rng);
	op->record = rf_rng_next(rng);
	op->object = (uint32_t)rf_rng_next(rng);
}

/* The other process: everything must arrive as it was sent.  Exit status 0: it did. */
static int take_all(struct rf_vshared *s, uint64_t seed)
{
	struct rf_rng rng = { seed };
	uint32_t n = 0;

	for (;;) {
		const struct rf_vunit *u = rf_vring_slot(s);

		for (; u->kind != RF_VOP_NEXT; u += rf_vop_units(u->kind)) {
			struct rf_vop want, got;

			if (u->kind == RF_VOP_END)
				return n == RING_OPS ? 0 : 2;
			random_op(&rng, &want);
			rf_vring_op(u, &got);
			if (want.kind != got.kind || want.addr != got.addr ||
			    want.count != got.count || want.prot != got.prot ||
			    want.advice != got.advice || want.shared != got.shared ||
			    want.locked != got.locked || want.len != got.len ||
			    want.addr2 != got.addr2 || want.len2 != got.len2 ||
			    want.off != got.off || want.record != got.record ||
			    want.object != got.object)
				return 1;
			n++;
		}
		rf_vring_took(s);
	}
}

static gboolean always(void *data, GError **error)
{
	(void)data, (void)error;
	return TRUE;
}

static gboolean never(void *data, GError **error)
{
	(void)data;
	rf_set_env(error, "gone");
	return FALSE;
}

START_TEST(ring_carries)
{
	uint64_t seed = (uint64_t)g_get_real_time();
	struct rf_rng rng = { seed };
	struct rf_vring *r = rf_vring_new(2, NULL);
	const struct rf_vop end = { .kind = RF_VOP_END };
	struct rf_vop op;
	int status;
	pid_t pid;

	ck_assert(r != NULL);
	pid = fork();
	if (pid == 0)
		_exit(take_all(r->shared, seed));
	for (unsigned i = 0; i < RING_OPS; i++) {
		random_op(&rng, &op);
		ck_assert(rf_vring_put(r, &op, always, NULL, NULL));
	}
	ck_assert(rf_vring_put(r, &end, always, NULL, NULL));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "seed %" PRIu64 ": status %d",
	              seed, status);
	rf_vring_free(r);
}
END_TEST

/* Nobody takes anything: the ring holds what fits, and the wait ends with the error. */
START_TEST(ring_full)
{
	struct rf_vring *r = rf_vring_new(2, NULL);
	const struct rf_vop op = { .kind = RF_VOP_READ, .count = 1 };
	GError *error = NULL;
	unsigned n = 0;

	while (rf_vring_put(r, &op, never, NULL, &error))
		n++;
	ck_assert_str_eq(error->message, "gone");
	ck_assert_uint_ge(n, (RF_VRING_SLOTS - 1) * (RF_VRING_UNITS - 1));
	ck_assert_uint_le(n, RF_VRING_SLOTS * RF_VRING_UNITS);
	g_error_free(error);
	rf_vring_free(r);
}
END_TEST

/* ---- undoing ---- */

struct place {
	char *top, *state;
};

static void place_make(struct place *p)
{
	GError *error = NULL;

	p->top = g_dir_make_tmp("refault-test-XXXXXX", &error);
	ck_assert_ptr_nonnull(p->top);
	p->state = g_build_filename(p->top, "state", NULL);
}

static char *place_file(const struct place *p, const char *name, const char *text)
{
	char *path = g_build_filename(p->top, name, NULL);

	if (text)
		ck_assert(g_file_set_contents(path, text, -1, NULL));
	return path;
}

static void place_clear(struct place *p)
{
	g_autofree char *rm = g_strdup_printf("rm -rf '%s'", p->top);

	ck_assert_int_eq(system(rm), 0);
	g_free(p->top);
	g_free(p->state);
}

static void has_text(const char *path, const char *text)
{
	g_autofree char *is = rf_vread("/", path, NULL);

	ck_assert_str_eq(is ? is : "(none)", text);
}

static void make_dir(const char *path)
{
	g_autofree char *file = g_build_filename(path, "0", NULL);

	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert(g_file_set_contents(file, "data", -1, NULL));
}

START_TEST(undo_in_order)
{
	struct place p;
	g_autofree char *setting = NULL, *other = NULL, *dir = NULL, *foreign = NULL,
			*recovered = NULL;
	struct rf_vundo *u;

	place_make(&p);
	setting = place_file(&p, "setting", "60\n");
	other = place_file(&p, "other", "1");
	dir = place_file(&p, RF_VERIFY_PREFIX "files", NULL);
	foreign = place_file(&p, "not-ours", NULL);
	u = rf_vundo_new(p.state, &recovered, NULL);
	ck_assert_ptr_nonnull(u);
	ck_assert_ptr_null(recovered);
	ck_assert(rf_vundo_note_dir(u, dir, NULL));
	make_dir(dir);
	make_dir(foreign);
	ck_assert(rf_vundo_note_dir(u, foreign, NULL));
	ck_assert(rf_vundo_setting(u, setting, "100", NULL));
	ck_assert(rf_vundo_setting(u, setting, "0", NULL)); /* twice: back through both */
	ck_assert(rf_vundo_setting(u, other, "2", NULL));
	has_text(setting, "0");
	ck_assert_uint_eq(rf_vundo_depth(u), 5);
	ck_assert(g_file_set_contents(other, "3", -1, NULL)); /* somebody else's now */
	ck_assert(rf_vundo_pop(u, NULL));
	has_text(other, "3");
	ck_assert(rf_vundo_pop(u, NULL));
	has_text(setting, "100");
	ck_assert(rf_vundo_free(u, NULL));
	has_text(setting, "60");
	ck_assert(!g_file_test(dir, G_FILE_TEST_EXISTS));
	ck_assert_msg(g_file_test(foreign, G_FILE_TEST_EXISTS),
	              "a directory without our prefix was removed");
	ck_assert_msg(!g_file_test(p.state, G_FILE_TEST_EXISTS), "the journal was left");
	place_clear(&p);
}
END_TEST

/* A run that is killed; the next one finds what it left. */
START_TEST(undo_after_kill)
{
	struct place p;
	g_autofree char *setting = NULL, *dir = NULL, *recovered = NULL;
	struct rf_vundo *u;
	int status;
	pid_t pid;

	place_make(&p);
	setting = place_file(&p, "set\tting", "60");
	dir = place_file(&p, RF_VERIFY_PREFIX "files", NULL);
	pid = fork();
	if (pid == 0) {
		u = rf_vundo_new(p.state, NULL, NULL);
		if (!u || !rf_vundo_note_dir(u, dir, NULL))
			_exit(1);
		make_dir(dir);
		if (!rf_vundo_setting(u, setting, "0", NULL))
			_exit(1);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	has_text(setting, "0");
	u = rf_vundo_new(p.state, &recovered, NULL);
	ck_assert_ptr_nonnull(u);
	ck_assert_ptr_nonnull(recovered);
	ck_assert_msg(strstr(recovered, "set") && strstr(recovered, dir), "%s", recovered);
	has_text(setting, "60");
	ck_assert(!g_file_test(dir, G_FILE_TEST_EXISTS));
	ck_assert(rf_vundo_free(u, NULL));
	place_clear(&p);
}
END_TEST

/* Settings of another boot are nobody's; a line cut short was not acted on. */
START_TEST(undo_other_journals)
{
	struct place p;
	g_autofree char *setting = NULL, *dir = NULL, *boot = NULL, *journal = NULL,
			*recovered = NULL;
	g_autofree char *text = NULL;
	struct rf_vundo *u;

	place_make(&p);
	setting = place_file(&p, "setting", "0");
	dir = place_file(&p, RF_VERIFY_PREFIX "files", NULL);
	make_dir(dir);
	ck_assert_int_eq(mkdir(p.state, 0700), 0);
	journal = g_build_filename(p.state, "journal", NULL);
	text = g_strdup_printf("another-boot\ndir\t%s\nset\t%s\t60\t0\n", dir, setting);
	ck_assert(g_file_set_contents(journal, text, -1, NULL));
	u = rf_vundo_new(p.state, &recovered, NULL);
	ck_assert_ptr_nonnull(u);
	has_text(setting, "0");
	ck_assert(!g_file_test(dir, G_FILE_TEST_EXISTS));
	ck_assert(rf_vundo_free(u, NULL));

	boot = rf_vread("/proc/sys/kernel/random", "boot_id", NULL);
	g_free(text);
	text = g_strdup_printf("%s\nset\t%s\t60\t0", boot ? boot : "unknown", setting);
	ck_assert_int_eq(mkdir(p.state, 0700), 0);
	ck_assert(g_file_set_contents(journal, text, -1, NULL));
	u = rf_vundo_new(p.state, NULL, NULL);
	ck_assert_ptr_nonnull(u);
	has_text(setting, "0");
	ck_assert(rf_vundo_free(u, NULL));
	place_clear(&p);
}
END_TEST

START_TEST(undo_locks)
{
	struct place p;
	struct rf_vundo *u;
	GError *error = NULL;

	place_make(&p);
	u = rf_vundo_new(p.state, NULL, NULL);
	ck_assert_ptr_nonnull(u);
	ck_assert_ptr_null(rf_vundo_new(p.state, NULL, &error));
	ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_ENVIRONMENT);
	ck_assert(strstr(error->message, "another refault verify"));
	g_clear_error(&error);
	ck_assert(rf_vundo_free(u, NULL));
	u = rf_vundo_new(p.state, NULL, &error);
	ck_assert_ptr_nonnull(u);
	ck_assert(rf_vundo_free(u, NULL));
	place_clear(&p);
}
END_TEST

/* ---- what kernels say ---- */

static gboolean memory_there(const char *mount)
{
	return strcmp(mount, "/sys/fs/cgroup") == 0;
}

START_TEST(cgroup_mounts)
{
	static const struct {
		const char *mounts, *mount;
		int version;
	} cases[] = {
		{ "proc /proc proc rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
		  "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n",
		  "/sys/fs/cgroup/memory", RF_CGROUP_V1 },
		{ "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
		  "cgroup /a\\040b cgroup rw,memory 0 0\n",
		  "/a b", RF_CGROUP_V1 },
		{ "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n", "/sys/fs/cgroup",
		  RF_CGROUP_V2 },
		{ "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n", NULL, 0 },
		{ "cgroup /sys/fs/cgroup/x cgroup rw,memory_something 0 0\ngarbage\n\n", NULL, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct rf_vcgroup_where w = { 0 };
		GError *error = NULL;
		gboolean found = rf_vcgroup_find(cases[i].mounts, memory_there, &w, &error);

		ck_assert_int_eq(found, cases[i].mount != NULL);
		if (found) {
			ck_assert_str_eq(w.mount, cases[i].mount);
			ck_assert_int_eq((int)w.version, cases[i].version);
		} else {
			ck_assert_int_eq(rf_error_exit_code(error), RF_EXIT_ENVIRONMENT);
			ck_assert_ptr_null(w.mount);
			g_error_free(error);
		}
		g_free(w.mount);
	}
}
END_TEST

START_TEST(stat_lines)
{
	static const char text[] =
		"pgscan_anon 12\npgscan 5\nrss -1\nempty \nbig 18446744073709551615\n"
		"bigger 18446744073709551616\nword x\ntrail 7 8\nlast 9";
	static const struct {
		const char *name;
		gboolean found;
		uint64_t value;
	} cases[] = {
		{ "pgscan", TRUE, 5 }, { "pgscan_anon", TRUE, 12 }, { "scan", FALSE, 0 },
		{ "empty", FALSE, 0 }, { "big", TRUE, UINT64_MAX }, { "bigger", FALSE, 0 },
		{ "word", FALSE, 0 },  { "trail", FALSE, 0 },       { "last", TRUE, 9 },
		{ "none", FALSE, 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t v = 0;

		ck_assert_msg(rf_vstat_get(text, cases[i].name, &v) == cases[i].found, "%s",
		              cases[i].name);
		if (cases[i].found)
			ck_assert_uint_eq(v, cases[i].value);
	}
}
END_TEST

START_TEST(swap_lines)
{
	static const char head[] = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
	g_autofree char *two = g_strconcat(
		head,
		"/dev/zram0                              partition\t8388604\t\t0\t\t100\n"
		"/swap\\040file file 1024 0 -2\n",
		NULL);
	g_autofree char *device = NULL;
	uint64_t bytes;

	ck_assert_uint_eq(rf_vswap_active(head, &device, &bytes), 0);
	ck_assert_ptr_null(device);
	ck_assert_uint_eq(rf_vswap_active(two, &device, &bytes), 2);
	ck_assert_str_eq(device, "/dev/zram0");
	ck_assert_uint_eq(bytes, UINT64_C(8388604) * 1024);
}
END_TEST

/* ---- own pages on the model ---- */

static struct rf_source *spooled(const char *text)
{
	GError *error = NULL;
	struct rf_source *s = rf_source_spool(rf_source_from_text("test", text, -1), &error);

	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	return s;
}

/* Own pages are faults and charges more, and nothing else without a shortage. */
START_TEST(model_own_pages)
{
	const char *trace = HEAD
		"file 1 f 4096\ntask 1\nmmap 1 10000 64K rw- anon\nmmap 1 40000 64K r-- file:1\n"
		"W 1 10000 64K\nR 1 42000\n";
	struct rf_source *s = spooled(trace);
	struct rf_config cfg;
	struct rf_vplan p;
	GError *error = NULL;
	struct rf_result r[2];

	rf_config_init(&cfg);
	ck_assert(rf_config_set(&cfg, "limit", "16M", &error) &&
	          rf_config_resolve(&cfg, NULL, &error));
	rf_vplan_init(&p);
	ck_assert(rf_vplan_make(&p, s, &error));
	for (unsigned i = 0; i < 2; i++) {
		rf_result_init(&r[i]);
		ck_assert_msg(rf_vrun_model(&cfg, &p, i * 5, s, TRUE, &r[i], &error), "%s",
		              error ? error->message : "");
	}
	ck_assert_uint_eq(r[0].counter[RF_C_pgfault], 17);
	ck_assert_uint_eq(r[0].counter[RF_C_pgmajfault], 1);
	ck_assert_uint_eq(r[0].gauge[RF_G_rf_rss_anon], 16 * 4096);
	ck_assert_uint_eq(r[1].counter[RF_C_pgfault], 22);
	ck_assert_uint_eq(r[1].counter[RF_C_pgmajfault], 1);
	ck_assert_uint_eq(r[1].gauge[RF_G_rf_rss_anon], 21 * 4096);
	ck_assert_uint_eq(r[1].gauge[RF_G_rf_rss_file], r[0].gauge[RF_G_rf_rss_file]);
	for (unsigned i = 0; i < 2; i++)
		rf_result_clear(&r[i]);
	rf_vplan_clear(&p);
	rf_config_clear(&cfg);
	rf_source_close(s);
}
END_TEST

Suite *suite_verify(void);

Suite *suite_verify(void)
{
	Suite *s = suite_create("verify");
	TCase *c = tcase_create("plan");

	tcase_add_test(c, plan_counts);
	tcase_add_loop_test(c, plan_commands, 0, G_N_ELEMENTS(commands));
	tcase_add_loop_test(c, plan_refusals, 0, G_N_ELEMENTS(refusals));
	suite_add_tcase(s, c);
	c = tcase_create("layout");
	tcase_add_test(c, layout_parse);
	tcase_add_test(c, layout_place);
	tcase_add_test(c, layout_random);
	suite_add_tcase(s, c);
	c = tcase_create("ring");
	tcase_add_test(c, ring_carries);
	tcase_add_test(c, ring_full);
	suite_add_tcase(s, c);
	c = tcase_create("undo");
	tcase_add_test(c, undo_in_order);
	tcase_add_test(c, undo_after_kill);
	tcase_add_test(c, undo_other_journals);
	tcase_add_test(c, undo_locks);
	suite_add_tcase(s, c);
	c = tcase_create("kernel");
	tcase_add_test(c, cgroup_mounts);
	tcase_add_test(c, stat_lines);
	tcase_add_test(c, swap_lines);
	suite_add_tcase(s, c);
	c = tcase_create("model");
	tcase_add_test(c, model_own_pages);
	suite_add_tcase(s, c);
	return s;
}
