/* SPDX-License-Identifier: MIT
 * Mappings against a model that knows every page by itself.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "traces/vma.h"

#define PAGE 4096u
#define PAGES 64 /* of the model's address space, which begins at BASE */
#define BASE 0xffff800000000000u

/* What the model knows of a page; kind -1: not mapped. */
struct cell {
	int kind;
	uint32_t id;
	uint8_t prot;
	uint16_t flags;
	uint64_t off;
};

struct model {
	struct cell c[PAGES];
	char log[8192]; /* of the operations so far, for a failure's message */
	size_t len;
};

static void note(struct model *m, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void note(struct model *m, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	m->len += (size_t)g_vsnprintf(m->log + m->len, sizeof(m->log) - m->len, format, ap);
	m->len = MIN(m->len, sizeof(m->log) - 1);
	va_end(ap);
}

static uint64_t at(unsigned page)
{
	return BASE + (uint64_t)page * PAGE;
}

static gboolean same(const struct cell *a, const struct cell *b)
{
	return a->kind == b->kind && (a->kind < 0 || (a->id == b->id && a->prot == b->prot &&
	                                              a->flags == b->flags && a->off == b->off));
}

/* Could pages p-1 and p be in one mapping? */
static gboolean joined(const struct model *m, unsigned p)
{
	struct cell next = m->c[p - 1];

	if (next.kind < 0)
		return FALSE;
	if (next.kind != RF_MAP_ANON)
		next.off += PAGE;
	return same(&next, &m->c[p]);
}

static void compare(struct rf_vmas *v, const struct model *m)
{
	uint32_t n = rf_vmas_count(v), want = 0;
	uint64_t end = 0;
	GHashTable *serials = g_hash_table_new(NULL, NULL);

	for (unsigned p = 0; p < PAGES; p++) {
		const struct rf_vma *f = rf_vmas_find(v, at(p) + p * 61 % PAGE);
		struct cell c = { .kind = -1 };

		if (f != NULL) {
			c = (struct cell){ f->mkind, f->id, f->prot, f->flags,
				           f->mkind == RF_MAP_ANON ? 0 : f->off + (at(p) - f->start) };
		}
		/* Millions of these: an assertion is noted in a file also when it holds. */
		if (!same(&c, &m->c[p]))
			ck_abort_msg("page %u: kind %d id %u prot %u flags %u off %llx; "
			             "want %d %u %u %u %llx\n%s", p, c.kind, c.id, c.prot, c.flags,
			             (unsigned long long)c.off, m->c[p].kind, m->c[p].id, m->c[p].prot,
			             m->c[p].flags, (unsigned long long)m->c[p].off, m->log);
		if (m->c[p].kind >= 0 && (p == 0 || !joined(m, p)))
			want++;
	}
	/* Sorted, disjoint, merged where they can be, with serials of their own. */
	ck_assert_msg(n == want, "%u mappings, want %u\n%s", n, want, m->log);
	for (uint32_t i = 0; i < n; i++) {
		const struct rf_vma *f = rf_vmas_nth(v, i);

		if (f->start < end || f->end <= f->start || f->start % PAGE || f->end % PAGE)
			ck_abort_msg("mapping %u\n%s", i, m->log);
		if (!g_hash_table_add(serials, GUINT_TO_POINTER(f->serial)))
			ck_abort_msg("serial %u twice\n%s", f->serial, m->log);
		end = f->end;
	}
	ck_assert_ptr_null(rf_vmas_nth(v, n));
	g_hash_table_unref(serials);
}

static void op_map(struct rf_vmas *v, struct model *m, struct rf_rng *r, unsigned from, unsigned n)
{
	struct rf_vma w = {
		.start = at(from), .end = at(from + n),
		.mkind = (uint8_t)rf_rng_below(r, 3),
		.prot = rf_rng_below(r, 2) ? RF_PROT_R : RF_PROT_R | RF_PROT_W,
		.flags = rf_rng_below(r, 2) ? RF_VMA_SHARED : 0,
		.serial = 12345,
	};
	unsigned inside = rf_rng_below(r, 100);

	if (w.mkind != RF_MAP_ANON) {
		w.id = rf_rng_below(r, 2);
		/* Often in line with what a neighbour maps. */
		w.off = (uint64_t)(rf_rng_below(r, 2) ? from : rf_rng_below(r, 8)) * PAGE;
	}
	note(m, "map %u+%u kind %u id %u prot %u flags %u off %llx\n", from, n, w.mkind, w.id, w.prot,
	     w.flags, (unsigned long long)w.off);
	for (unsigned p = from; p < from + n; p++)
		m->c[p] = (struct cell){ w.mkind, w.id, w.prot, w.flags,
			                 w.mkind == RF_MAP_ANON ? 0 : w.off + (uint64_t)(p - from) * PAGE };
	/* An edge inside a page is widened to it. */
	w.start += inside;
	w.off += w.mkind == RF_MAP_ANON ? 0 : inside;
	w.end -= rf_rng_below(r, 100);
	rf_vmas_map(v, &w);
}

static void op_unmap(struct rf_vmas *v, struct model *m, unsigned from, unsigned n)
{
	note(m, "unmap %u+%u\n", from, n);
	for (unsigned p = from; p < from + n; p++)
		m->c[p].kind = -1;
	rf_vmas_unmap(v, at(from) + 1, at(from + n) - 1);
}

static void op_change(struct rf_vmas *v, struct model *m, struct rf_rng *r, unsigned from, unsigned n)
{
	gboolean set = rf_rng_below(r, 2), all = TRUE;
	uint8_t prot = rf_rng_below(r, 2) ? RF_PROT_R : RF_PROT_R | RF_PROT_X;
	uint16_t on = rf_rng_below(r, 2) ? RF_VMA_RAND : 0, off = on ? 0 : RF_VMA_RAND;

	note(m, "change %u+%u prot %d:%u +%u -%u\n", from, n, set, prot, on, off);
	for (unsigned p = from; p < from + n; p++) {
		struct cell *c = &m->c[p];

		all = all && c->kind >= 0;
		if (c->kind < 0)
			continue;
		c->prot = set ? prot : c->prot;
		c->flags = (c->flags & ~off) | on;
	}
	ck_assert_msg(rf_vmas_change(v, at(from), at(from + n), set, prot, on, off) == all,
	              "%s", m->log);
}

/* What mremap does: the old range goes, the new range is replaced, growth continues the last page. */
static void op_move(struct rf_vmas *v, struct model *m, struct rf_rng *r, unsigned from, unsigned n)
{
	unsigned to = rf_rng_below(r, PAGES - 1), len = 1 + rf_rng_below(r, PAGES - to - 1);
	gboolean ok = m->c[from].kind >= 0;
	struct cell old[PAGES];

	note(m, "move %u+%u to %u+%u\n", from, n, to, len);
	memcpy(old, m->c, sizeof(old));
	for (unsigned p = 0; ok && p < n; p++)
		m->c[from + p].kind = -1;
	for (unsigned p = 0; ok && p < len; p++) {
		struct cell *c = &m->c[to + p];

		if (p < n) {
			*c = old[from + p];
		} else {
			*c = m->c[to + p - 1];
			if (c->kind > RF_MAP_ANON)
				c->off += PAGE;
		}
	}
	ck_assert_msg(rf_vmas_move(v, at(from), (uint64_t)n * PAGE, at(to), (uint64_t)len * PAGE) == ok,
	              "%s", m->log);
}

static void random_operations(uint64_t seed)
{
	struct rf_rng r = { .s = seed };
	struct rf_vmas *v = rf_vmas_new(12), *copy;
	struct model m = { .len = 0 }, before;

	note(&m, "seed %llu\n", (unsigned long long)r.s);
	for (unsigned p = 0; p < PAGES; p++)
		m.c[p].kind = -1;
	for (unsigned step = 0; step < 100; step++) {
		unsigned from = rf_rng_below(&r, PAGES - 1), n = 1 + rf_rng_below(&r, MIN(12, PAGES - from - 1));
		unsigned what = rf_rng_below(&r, 10);

		copy = rf_vmas_copy(v);
		before = m;
		if (what < 4)
			op_map(v, &m, &r, from, n);
		else if (what < 6)
			op_unmap(v, &m, from, n);
		else if (what < 8)
			op_change(v, &m, &r, from, n);
		else
			op_move(v, &m, &r, from, n);
		compare(v, &m);
		compare(copy, &before); /* the copy is one of its own */
		rf_vmas_free(copy);
	}
	rf_vmas_free(v);
}

START_TEST(random_sequences)
{
	for (unsigned n = 0; n < 30; n++)
		random_operations(((uint64_t)_i * 30 + n) * 7919 + 1);
}
END_TEST

START_TEST(serial_stays_with_the_larger_part)
{
	struct rf_vmas *v = rf_vmas_new(12);
	struct rf_vma w = { .start = at(0), .end = at(10), .mkind = RF_MAP_ANON };
	uint32_t serial;

	rf_vmas_map(v, &w);
	serial = rf_vmas_nth(v, 0)->serial;
	rf_vmas_unmap(v, at(7), at(8)); /* 7 pages and 2 are left */
	ck_assert_uint_eq(rf_vmas_count(v), 2);
	ck_assert_uint_eq(rf_vmas_nth(v, 0)->serial, serial);
	ck_assert_uint_ne(rf_vmas_nth(v, 1)->serial, serial);
	rf_vmas_unmap(v, at(1), at(2)); /* 1 and 5 of the 7 */
	ck_assert_uint_eq(rf_vmas_nth(v, 1)->serial, serial);
	rf_vmas_unmap(v, at(0), at(1));
	w.start = at(0);
	w.end = at(2);
	rf_vmas_map(v, &w); /* joins the 5 */
	ck_assert_uint_eq(rf_vmas_nth(v, 0)->start, at(0));
	ck_assert_uint_eq(rf_vmas_nth(v, 0)->serial, serial);
	rf_vmas_free(v);
}
END_TEST

START_TEST(overlaps_and_next)
{
	struct rf_vmas *v = rf_vmas_new(12);
	struct rf_vma w = { .start = at(2), .end = at(4), .mkind = RF_MAP_ANON,
		            .flags = RF_VMA_IMPLICIT };

	ck_assert_ptr_null(rf_vmas_next(v, 0));
	rf_vmas_map(v, &w);
	ck_assert(!rf_vmas_overlaps(v, at(0), at(10))); /* implicit ones don't count */
	w = (struct rf_vma){ .start = at(6), .end = at(8), .mkind = RF_MAP_ANON };
	rf_vmas_map(v, &w);
	ck_assert(!rf_vmas_overlaps(v, at(0), at(6)));
	ck_assert(rf_vmas_overlaps(v, at(0), at(6) + 1));
	ck_assert(rf_vmas_overlaps(v, at(8) - 1, at(9)));
	ck_assert(!rf_vmas_overlaps(v, at(8), at(9)));
	ck_assert_uint_eq(rf_vmas_next(v, at(3))->start, at(2));
	ck_assert_uint_eq(rf_vmas_next(v, at(4))->start, at(6));
	ck_assert_ptr_null(rf_vmas_next(v, at(8)));
	rf_vmas_free(v);
}
END_TEST

/* Nothing overflows at the top of the address space; empty ranges do nothing. */
START_TEST(edges)
{
	struct rf_vmas *v = rf_vmas_new(12);
	const uint64_t top = UINT64_MAX;
	struct rf_vma w = { .start = top - 3 * PAGE, .end = top, .mkind = RF_MAP_ANON };

	rf_vmas_map(v, &w);
	ck_assert_uint_eq(rf_vmas_count(v), 1);
	ck_assert_uint_eq(rf_vmas_nth(v, 0)->end, top - PAGE + 1);
	ck_assert_ptr_null(rf_vmas_find(v, top));
	ck_assert_ptr_nonnull(rf_vmas_find(v, top - PAGE));
	ck_assert(!rf_vmas_move(v, top - 3 * PAGE, PAGE, top - PAGE, 2 * PAGE));
	ck_assert(!rf_vmas_move(v, top - 3 * PAGE, top, 0, PAGE));
	ck_assert(!rf_vmas_move(v, 0, PAGE, PAGE, PAGE)); /* nothing is there */
	rf_vmas_unmap(v, top - 3 * PAGE, top - 3 * PAGE);
	ck_assert_uint_eq(rf_vmas_count(v), 1);
	rf_vmas_unmap(v, 0, top);
	ck_assert_uint_eq(rf_vmas_count(v), 0);
	ck_assert(!rf_vmas_change(v, 0, PAGE, TRUE, RF_PROT_R, 0, 0));
	rf_vmas_free(v);
	rf_vmas_free(NULL);
}
END_TEST

Suite *suite_vma(void);
Suite *suite_vma(void)
{
	Suite *s = suite_create("vma");
	TCase *c = tcase_create("vma");

	tcase_add_loop_test(c, random_sequences, 0, 10);
	tcase_add_test(c, serial_stays_with_the_larger_part);
	tcase_add_test(c, overlaps_and_next);
	tcase_add_test(c, edges);
	suite_add_tcase(s, c);
	return s;
}
