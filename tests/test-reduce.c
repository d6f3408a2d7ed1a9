/* SPDX-License-Identifier: MIT
 * Trace reduction against naive LRU and OPT: as many faults as before, in every memory from the
 * stated size on.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/rng.h"
#include "traces/reduce.h"

#define LENGTH 600
#define PAGES 24

struct sequence {
	uint32_t page[LENGTH], n;
	gboolean write[LENGTH];
};

static void put(void *data, uint32_t tid, enum rf_access type, uint32_t page)
{
	struct sequence *s = data;

	(void)tid;
	ck_assert_uint_lt(s->n, LENGTH);
	s->write[s->n] = type == RF_WRITE;
	s->page[s->n++] = page;
}

/* When the page at i is used next; s->n: never. */
static uint32_t next_use(const struct sequence *s, uint32_t i)
{
	for (uint32_t j = i + 1; j < s->n; j++)
		if (s->page[j] == s->page[i])
			return j;
	return s->n;
}

/* Faults of a memory that throws out the page with the least rank; writebacks of dirty pages. */
static unsigned faults(const struct sequence *s, unsigned frames, gboolean opt, unsigned *writebacks)
{
	uint32_t page[PAGES], rank[PAGES];
	gboolean dirty[PAGES];
	unsigned n = 0, count = 0;

	*writebacks = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		unsigned at = 0, least = 0;

		while (at < n && page[at] != s->page[i])
			at++;
		if (at == n) {
			count++;
			if (n == frames) {
				for (unsigned j = 1; j < n; j++)
					if (rank[j] < rank[least])
						least = j;
				*writebacks += dirty[least];
				at = least;
			} else {
				n++;
			}
			page[at] = s->page[i];
			dirty[at] = FALSE;
		}
		dirty[at] |= s->write[i];
		rank[at] = opt ? UINT32_MAX - next_use(s, i) : i;
	}
	return count;
}

START_TEST(same_faults)
{
	uint64_t seed = 19990501;
	struct rf_rng rng = { seed };
	unsigned saved = 0;

	for (unsigned round = 0; round < 60; round++) {
		static struct sequence whole, part;
		unsigned least = 1 + rf_rng_below(&rng, 10), local = 1 + rf_rng_below(&rng, PAGES);
		gboolean barriers = rf_rng_below(&rng, 3) == 0;
		uint32_t id[PAGES], ids = 0;
		struct rf_reducer *r = rf_reducer_new(least, put, &part);

		for (unsigned i = 0; i < PAGES; i++)
			id[i] = UINT32_MAX;
		whole.n = part.n = 0;
		for (unsigned i = 0; i < LENGTH; i++) {
			/* a drifting set, and anything now and then */
			uint32_t p = rf_rng_below(&rng, 8) ? (i / 50 + rf_rng_below(&rng, local)) % PAGES
			                                   : rf_rng_below(&rng, PAGES);

			if (id[p] == UINT32_MAX)
				id[p] = ids++;
			put(&whole, 1, rf_rng_below(&rng, 4) ? RF_READ : RF_WRITE, id[p]);
			rf_reducer_access(r, 1, whole.write[i] ? RF_WRITE : RF_READ, id[p]);
			if (barriers && rf_rng_below(&rng, 40) == 0)
				rf_reducer_barrier(r);
		}
		rf_reducer_barrier(r);
		rf_reducer_free(r);
		for (unsigned frames = least; frames <= PAGES; frames++)
			for (int opt = 0; opt < 2; opt++) {
				unsigned w1, w2, f1 = faults(&whole, frames, opt, &w1),
						 f2 = faults(&part, frames, opt, &w2);

				ck_assert_msg(f1 == f2, "seed %" PRIu64 ", round %u, %s of %u frames, "
				              "reduced for %u: %u faults became %u", seed, round,
				              opt ? "OPT" : "LRU", frames, least, f1, f2);
				if (!opt)
					ck_assert_msg(w1 == w2, "seed %" PRIu64 ", round %u: %u writebacks "
					              "became %u", seed, round, w1, w2);
			}
		saved += whole.n - part.n;
	}
	ck_assert_uint_gt(saved, 60 * LENGTH / 8);
}
END_TEST

/* Worked out by hand, for two frames. */
START_TEST(by_hand)
{
	/* a b a a b b c a: of three a with b alone between, the middle one goes */
	static const uint32_t pages[] = { 0, 1, 0, 0, 1, 1, 2, 0 }, want[] = { 0, 1, 0, 1, 2, 0 };
	struct sequence s = { .n = 0 };
	struct rf_reducer *r = rf_reducer_new(2, put, &s);

	for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++)
		rf_reducer_access(r, 1, i == 2 ? RF_WRITE : RF_READ, pages[i]);
	rf_reducer_barrier(r);
	rf_reducer_free(r);
	ck_assert_uint_eq(s.n, G_N_ELEMENTS(want));
	for (unsigned i = 0; i < s.n; i++)
		ck_assert_uint_eq(s.page[i], want[i]);
	ck_assert(s.write[2] && !s.write[0]); /* the store that went made its successor one */
}
END_TEST

/* What happened between may have taken the page away: the first access after it stays, and so does the
 * last one before it. */
START_TEST(barrier)
{
	struct sequence s = { .n = 0 };
	struct rf_reducer *r = rf_reducer_new(2, put, &s);

	for (unsigned i = 0; i < 8; i++) {
		rf_reducer_access(r, 1, i == 3 || i == 4 ? RF_WRITE : RF_READ, 0);
		if (i == 3) {
			rf_reducer_barrier(r);
			ck_assert_uint_eq(s.n, 2); /* the first and the last of four */
			ck_assert(!s.write[0] && s.write[1]);
		}
	}
	rf_reducer_barrier(r);
	rf_reducer_free(r);
	ck_assert_uint_eq(s.n, 4);
	ck_assert(s.write[2] && !s.write[3]);
}
END_TEST

Suite *suite_reduce(void);
Suite *suite_reduce(void)
{
	Suite *s = suite_create("reduce");
	TCase *c = tcase_create("reduce");

	tcase_add_test(c, same_faults);
	tcase_add_test(c, by_hand);
	tcase_add_test(c, barrier);
	suite_add_tcase(s, c);
	return s;
}
