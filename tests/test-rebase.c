/* SPDX-License-Identifier: MIT
 * Canonical addresses: a random program is laid out in several ways, and must be one trace after it,
 * whose accesses fall into what they fell into before.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "traces/rebase.h"
#include "traces/state.h"

#define OBJECTS 400
#define PAGES 64
#define STEPS 600

/* What is mapped together; where it is, is the layout's affair. */
struct object {
	uint64_t base; /* of page 0, in this layout */
	int first, n;  /* pages: the stack grows down from PAGES */
	gboolean file, heap, stack;
	gboolean mapped[PAGES];
};

enum layout { DENSE, ROOMY, SCATTERED, NLAYOUTS };

struct program {
	struct rf_rng rng, where; /* what happens, and where */
	enum layout layout;
	uint64_t next; /* DENSE, ROOMY: downwards */
	struct object o[OBJECTS];
	int n, tid;
	GString *text;
};

static void line(struct program *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void line(struct program *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_string_append_vprintf(p->text, format, ap);
	g_string_append_c(p->text, '\n');
	va_end(ap);
}

#define A "%" G_GINT64_MODIFIER "x"

static unsigned long long at(const struct object *o, int page)
{
	return o->base + (uint64_t)page * 4096;
}

static void map(struct program *p, struct object *o, int page, int n, const char *what)
{
	line(p, "mmap %d %llx %d %s", p->tid, at(o, page), n * 4096, what);
	for (int i = page; i < page + n; i++)
		o->mapped[i] = TRUE;
}

static void unmap(struct program *p, struct object *o, int page, int n)
{
	line(p, "munmap %d %llx %d", p->tid, at(o, page), n * 4096);
	for (int i = page; i < page + n; i++)
		o->mapped[i] = FALSE;
}

static struct object *new_object(struct program *p, int n)
{
	struct object *o = &p->o[p->n++];

	ck_assert_int_lt(p->n, OBJECTS);
	*o = (struct object){ .n = n };
	/* nothing may reach into the next: objects grow to PAGES at most, but in DENSE to n */
	p->next -= (uint64_t)(p->layout == DENSE ? n : PAGES + 1) * 4096;
	o->base = p->next;
	if (p->layout == SCATTERED)
		o->base = (UINT64_C(1) << 32) * (uint64_t)(rf_rng_below(&p->where, 64) * OBJECTS + p->n) +
		          UINT64_C(4096) * rf_rng_below(&p->where, 1000);
	return o;
}

/* A library: mapped whole, then its parts over it. */
static void library(struct program *p)
{
	int n = 8 + (int)rf_rng_below(&p->rng, 40), text = 1 + (int)rf_rng_below(&p->rng, 3), id;
	struct object *o = new_object(p, n);
	char what[64];

	id = 10 + (int)rf_rng_below(&p->rng, 5);
	o->file = TRUE;
	g_snprintf(what, sizeof(what), "r-- file:%d", id);
	map(p, o, 0, n, what);
	unmap(p, o, text, 3);
	g_snprintf(what, sizeof(what), "r-x file:%d off=%d", id, text * 4096);
	map(p, o, text, 3, what);
	unmap(p, o, n - 2, 2);
	map(p, o, n - 2, 2, "rw- anon");
}

static struct object *pick(struct program *p)
{
	return &p->o[rf_rng_below(&p->rng, (uint32_t)p->n)];
}

static void touch(struct program *p)
{
	for (int tries = 0; tries < 20; tries++) {
		struct object *o = pick(p);
		int page = o->first + (int)rf_rng_below(&p->rng, (uint32_t)(o->n - o->first));

		if (!o->mapped[page])
			continue;
		line(p, "R %d %llx", p->tid, at(o, page));
		return;
	}
}

static void part(struct program *p, const char *what, const char *rest)
{
	struct object *o = pick(p);
	int page = o->first + (int)rf_rng_below(&p->rng, (uint32_t)(o->n - o->first));

	if (o->mapped[page])
		line(p, "%s %d %llx 4096 %s", what, p->tid, at(o, page), rest);
}

static void remap(struct program *p)
{
	struct object *o = pick(p), *to;
	int n = 1 + (int)rf_rng_below(&p->rng, PAGES);

	if (o->file || o->heap || o->stack)
		return;
	for (int i = 0; i < o->n; i++)
		if (!o->mapped[i])
			return;
	to = new_object(p, n);
	line(p, "mremap %d %llx %d %llx %d", p->tid, at(o, 0), o->n * 4096, at(to, 0), n * 4096);
	memset(o->mapped, 0, sizeof(o->mapped));
	for (int i = 0; i < n; i++)
		to->mapped[i] = TRUE;
}

static void grow(struct program *p, struct object *o)
{
	if (o->heap && o->n < PAGES) {
		map(p, o, o->n, 1, "rw- anon name=[heap]");
		o->n++;
	} else if (o->stack && o->first > 0) {
		o->first--;
		map(p, o, o->first, 1, "rw- anon name=[stack]");
	}
}

static void drop(struct program *p)
{
	struct object *o = pick(p);
	int page, n;

	if (o->heap || o->stack)
		return;
	if (rf_rng_below(&p->rng, 3) == 0) {
		unmap(p, o, 0, o->n);
		return;
	}
	page = (int)rf_rng_below(&p->rng, (uint32_t)o->n);
	n = 1 + (int)rf_rng_below(&p->rng, (uint32_t)(o->n - page));
	unmap(p, o, page, n);
	/* over the hole again, if something is left around it */
	for (int i = 0; i < o->n; i++)
		if (o->mapped[i] && rf_rng_below(&p->rng, 2)) {
			map(p, o, page, n, "rw- anon");
			return;
		}
}

static void fork_off(struct program *p)
{
	if (p->tid > 3)
		return;
	line(p, "task %d parent=%d", p->tid + 100, p->tid);
	line(p, "R %d %llx", p->tid + 100, at(&p->o[1], p->o[1].first));
	p->tid += 100;
}

static void step(struct program *p)
{
	switch (rf_rng_below(&p->rng, 16)) {
	case 0: {
		int n = 1 + (int)rf_rng_below(&p->rng, PAGES);

		map(p, new_object(p, n), 0, n, "rw- anon");
		break;
	}
	case 1:
		library(p);
		break;
	case 2:
		part(p, "mprotect", "r--");
		break;
	case 3:
		part(p, "madvise", "dontneed");
		break;
	case 4:
		remap(p);
		break;
	case 5:
		grow(p, &p->o[0]);
		break;
	case 6:
		grow(p, &p->o[1]);
		break;
	case 7:
	case 8:
		drop(p);
		break;
	case 9:
		if (rf_rng_below(&p->rng, 40) == 0)
			fork_off(p);
		break;
	default:
		touch(p);
	}
}

/* The text of the program of a seed, in a layout.  Caller frees. */
static char *lay_out(uint64_t seed, enum layout layout)
{
	struct program *p = g_new0(struct program, 1);
	char *text;

	p->rng.s = seed;
	p->where.s = seed * 31 + layout;
	p->layout = layout;
	p->text = g_string_new("!refault-trace 1\n");
	p->tid = 1 + (int)rf_rng_below(&p->where, 3); /* so is the number of a process */
	p->next = (UINT64_C(0x7e0000000) + rf_rng_below(&p->where, 1000)) << 12;
	for (int i = 10; i < 15; i++)
		line(p, "file %d f%d 10M", i, i);
	line(p, "task %d", p->tid);
	new_object(p, PAGES)->heap = TRUE;
	p->o[0].n = 0;
	new_object(p, PAGES)->stack = TRUE;
	p->o[1].first = PAGES;
	grow(p, &p->o[0]);
	grow(p, &p->o[1]);
	for (int i = 0; i < STEPS && p->n < OBJECTS - 2; i++)
		step(p);
	text = g_string_free(p->text, FALSE);
	g_free(p);
	return text;
}

/* What each access falls into, and its type; or, with names, where. */
static GString *walk(struct rf_source *s, struct rf_totals *totals)
{
	struct rf_state *st = rf_state_new(rf_source_header(s));
	GString *out = g_string_new(NULL);
	GError *error = NULL;
	struct rf_item item;

	do {
		ck_assert_msg(rf_source_next(s, &item, &error), "%s", error ? error->message : "");
		ck_assert_msg(rf_state_item(st, &item, &error), "record %d: %s", (int)item.record,
		              error ? error->message : "");
		for (uint32_t i = 0; item.kind == RF_ITEM_RUNS && i < item.runs.n; i++) {
			const struct rf_vma *v = rf_state_vma(st, item.runs.page[i]);
			uint64_t vpn = rf_state_page(st, item.runs.page[i])->vpn;

			g_string_append_printf(out, "%d %u %d %u %d " A "\n", item.runs.type[i],
			                       item.runs.count[i], v ? v->mkind : -1, v ? v->id : 0,
			                       v ? v->prot : 0,
			                       v && v->mkind == RF_MAP_FILE ?
			                               v->off + ((vpn << 12) - v->start) : 0);
		}
	} while (item.kind != RF_ITEM_END);
	*totals = *rf_source_totals(s);
	rf_state_free(st);
	rf_source_close(s);
	return out;
}

START_TEST(layouts)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t digest = 0;

		for (enum layout l = 0; l < NLAYOUTS; l++) {
			g_autofree char *text = lay_out(seed, l);
			struct rf_totals before, after;
			GString *was = walk(rf_source_from_text("t", text, -1), &before), *is;

			is = walk(rf_source_rebase(rf_source_from_text("t", text, -1)), &after);
			ck_assert_msg(g_string_equal(was, is), "seed %d, layout %d", (int)seed, l);
			ck_assert_uint_eq(before.accesses[RF_READ], after.accesses[RF_READ]);
			ck_assert_msg(l == 0 || digest == after.digest, "seed %d: layouts 0 and %d",
			              (int)seed, l);
			digest = after.digest;
			g_string_free(was, TRUE);
			g_string_free(is, TRUE);
		}
	}
}
END_TEST

static void put_mapping(GString *out, const struct rf_event *ev)
{
	g_string_append_printf(out, "%s %u " A " " A, rf_event_kind_name(ev->kind), ev->tid, ev->addr,
	                       ev->len);
	if (ev->off)
		g_string_append_printf(out, " from " A, ev->off);
	g_string_append(out, "; ");
}

static char *rebased(const char *text)
{
	struct rf_source *s = rf_source_rebase(rf_source_from_text("t", text, -1));
	GString *out = g_string_new(NULL);
	GError *error = NULL;
	struct rf_item item;

	while (rf_source_next(s, &item, &error) && item.kind != RF_ITEM_END)
		if (item.kind == RF_ITEM_EVENT && item.event.addr)
			put_mapping(out, &item.event);
		else if (item.kind == RF_ITEM_PAGES)
			for (uint32_t i = 0; i < item.pages.n; i++)
				g_string_append_printf(out, "page " A "; ", item.pages.name[i].vpn);
		else if (item.kind == RF_ITEM_RUNS)
			for (uint32_t i = 0; i < item.runs.n; i++)
				if (item.runs.type[i] & RF_RUN_CONT)
					g_string_append(out, "goes on; ");
	if (error)
		g_string_append(out, error->message);
	g_clear_error(&error);
	rf_source_close(s);
	return g_string_free(out, FALSE);
}

#define CHECK_REBASED(text, want)                                                                  \
	do {                                                                                       \
		g_autofree char *got = rebased("!refault-trace 1\n" text);                         \
		ck_assert_str_eq(got, want);                                                       \
	} while (0)

START_TEST(pieces)
{
	/* two neighbours, one mprotect: they are apart now */
	CHECK_REBASED("task 7\nmmap 7 10000 8192 rw- anon\nmmap 7 12000 4096 rw- anon\n"
	              "mprotect 7 11000 8192 r--\nR 7 11fff 2\n",
	              "mmap 1 400000000000 2000; mmap 1 400000020000 1000; "
	              "mprotect 1 400000001000 1000; mprotect 1 400000020000 1000; "
	              "page 400000001; page 400000020; ");
	/* an access goes on where the pages are still neighbours: above it did not */
	CHECK_REBASED("task 1\nmmap 1 10000 8192 rw- anon\nR 1 10fff 2\n",
	              "mmap 1 400000000000 2000; page 400000000; page 400000001; goes on; ");
	/* a file's pages over two mappings: each piece has its own offset */
	CHECK_REBASED("file 1 a 1M\ntask 1\nmmap 1 10000 8192 rw- anon\nmmap 1 12000 8192 rw- anon\n"
	              "R 1 10000\nmmap 1 11000 8192 r-- file:1 off=64K\n",
	              "mmap 1 400000000000 2000; mmap 1 400000020000 2000; page 400000000; "
	              "mmap 1 400000001000 1000 from 10000; mmap 1 400000020000 1000 from 11000; ");
	/* aligned by hand: one mapping of what is left; but a hole is a hole */
	CHECK_REBASED("task 1\nmmap 1 10000 128K rw- anon\nmunmap 1 10000 16K\nmunmap 1 24000 48K\n"
	              "R 1 14000\n",
	              "mmap 1 400000000000 10000; page 400000000; ");
	CHECK_REBASED("task 1\nmmap 1 10000 64K rw- anon\nmunmap 1 11000 4096\n",
	              "mmap 1 400000000000 10000; munmap 1 400000001000 1000; ");
	/* only who made a mapping trims it */
	CHECK_REBASED("task 1\ntask 2\nmmap 2 10000 64K rw- anon\nR 2 10000\n"
	              "mmap 1 10000 64K rw- anon\nmunmap 2 10000 4096\nR 1 1f000\n",
	              "mmap 2 400000000000 10000; page 400000000; mmap 1 400000000000 10000; "
	              "munmap 2 400000000000 1000; page 40000000f; ");
	/* growing in place, where another is next */
	CHECK_REBASED("task 1\nmmap 1 10000 64K rw- anon\nR 1 10000\nmmap 1 90000 4096 rw- anon\n"
	              "mremap 1 10000 64K 10000 256K\nR 1 10000\n",
	              "mmap 1 400000000000 10000; page 400000000; mmap 1 400000020000 1000; "
	              "mremap 1 400000000000 10000; page 400000040; ");
	/* shrinking over two */
	CHECK_REBASED("task 1\nmmap 1 10000 8192 rw- anon\nmmap 1 12000 8192 rw- anon\n"
	              "mremap 1 10000 16384 10000 4096\n",
	              "mmap 1 400000000000 2000; mmap 1 400000020000 2000; "
	              "mremap 1 400000000000 2000; munmap 1 400000020000 2000; ");
	/* nothing is mapped: distances stay; and at the ends of the address space */
	CHECK_REBASED("task 1\nR 1 0\nR 1 5000\nR 1 fffffffffffe0000\nR 1 ffffffffff600000 \n",
	              "page 400040000; page 400040005; page 4000c0010; page 4000bf630; ");
	/* nothing is unmapped, by a task that is none */
	CHECK_REBASED("task 1\nexit 1\nmunmap 1 1000 4096\nR 1 1000\n", "page 400040000; ");
}
END_TEST

Suite *suite_rebase(void)
{
	Suite *s = suite_create("rebase");
	TCase *tc = tcase_create("rebase");

	tcase_add_test(tc, layouts);
	tcase_add_test(tc, pieces);
	suite_add_tcase(s, tc);
	return s;
}
