/* SPDX-License-Identifier: MIT
 * The laws of the ideal machine on traces of real programs, those that are shipped: belady has the
 * fewest faults, memory for everything leaves the cold ones, more memory never hurts lru; at every
 * page size.  RF_TEST_ALL=1 takes all of the samples, and minutes.
 */
#include <check.h>
#include <string.h>

#include "policies/policy.h"
#include "sim/frames.h"
#include "traces/trace.h"

Suite *suite_policies_samples(void);

static const char *const samples[] = {
	"zipf.rft", "cc1-10m.rft", "bzip2-10m.rft", "mutool-20m.rft", "perl.rft", "qsim.rft", "sqlite3.rft",
};
static const char *const policies[] = {
	"belady", "fifo", "lru", "clock", "random", "2q", "arc", "lirs", "s3fifo", "sieve", "twolist",
};
enum { NPOLICIES = G_N_ELEMENTS(policies) };

static const unsigned percents[] = { 25, 50, 75, 100 };
enum { NPERCENTS = G_N_ELEMENTS(percents) };

static struct rf_source *open_sample(const char *name)
{
	char *path = g_build_filename(RF_SRCDIR, "traces", "samples", name, NULL);
	GError *error = NULL;
	struct rf_source *s = rf_source_open(path, NULL, &error);

	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	ck_assert_msg(rf_source_totals_ahead(s) != NULL, "%s is not seekable", path);
	g_free(path);
	return s;
}

/* Every policy at every size from one reading, and one more for the future. */
static void replay(struct rf_source *s, unsigned page_shift, uint64_t footprint,
                   struct rf_sample out[NPOLICIES][NPERCENTS])
{
	struct rf_frames *m[NPOLICIES][NPERCENTS];
	GError *error = NULL;
	struct rf_future *future = rf_future_new(s, page_shift, &error);
	struct rf_item item;

	ck_assert_msg(future != NULL, "%s", error ? error->message : "");
	for (unsigned p = 0; p < NPOLICIES; p++) {
		for (unsigned i = 0; i < NPERCENTS; i++) {
			struct rf_config cfg = {
				.reclaim = (char *)policies[p], .page_shift = page_shift, .seed = 1,
				.frames_n = MAX(1, footprint * percents[i] / 100), .swappiness = 60,
				.kernel_release = RF_KERNEL(6, 18, 0),
			};

			m[p][i] = rf_frames_new(&cfg, NULL, &error);
			ck_assert_msg(m[p][i] != NULL, "%s", error ? error->message : "");
			rf_frames_set_future(m[p][i], future);
		}
	}
	for (;;) {
		if (!rf_source_next(s, &item, &error))
			ck_abort_msg("%s", error->message);
		if (item.kind == RF_ITEM_END)
			break;
		if (!rf_future_item(future, &item, &error))
			ck_abort_msg("%s", error->message);
		for (unsigned p = 0; p < NPOLICIES; p++)
			for (unsigned i = 0; i < NPERCENTS; i++)
				if (!rf_frames_item(m[p][i], &item, &error))
					ck_abort_msg("%s: %s", policies[p], error->message);
	}
	for (unsigned p = 0; p < NPOLICIES; p++) {
		for (unsigned i = 0; i < NPERCENTS; i++) {
			rf_frames_check(m[p][i]);
			rf_frames_sample(m[p][i], &out[p][i]);
			rf_frames_free(m[p][i]);
		}
	}
	rf_future_free(future);
}

static void laws(const char *name, struct rf_source *s, unsigned size_index)
{
	static struct rf_sample r[NPOLICIES][NPERCENTS];
	const struct rf_totals *t = rf_source_totals_ahead(s);
	uint64_t accesses = t->accesses[RF_READ] + t->accesses[RF_WRITE] + t->accesses[RF_EXEC];
	unsigned shift = 12 + 2 * size_index;

	replay(s, shift, t->footprint[size_index], r);
	for (unsigned p = 0; p < NPOLICIES; p++) {
		for (unsigned i = 0; i < NPERCENTS; i++) {
			uint64_t n = r[p][i].counter[RF_C_pgfault];

			ck_assert_msg(n >= r[0][i].counter[RF_C_pgfault],
			              "%s, %u%% at %u KiB: %s has %" G_GUINT64_FORMAT " faults, belady %"
			              G_GUINT64_FORMAT, name, percents[i], 1u << (shift - 10), policies[p], n,
			              r[0][i].counter[RF_C_pgfault]);
			ck_assert_uint_eq(r[p][i].gauge[RF_G_rf_accesses], accesses);
			ck_assert_uint_eq(r[p][i].gauge[RF_G_rf_footprint], t->footprint[size_index] << shift);
			ck_assert_uint_eq(r[p][i].counter[RF_C_rf_policy_refused], 0);
		}
		/* What is touched first does not depend on what was thrown out; with memory for all of
		 * it, nothing else faults. */
		for (unsigned i = 0; i < NPERCENTS; i++)
			ck_assert_uint_eq(r[p][i].counter[RF_C_rf_first_touch],
			                  r[0][0].counter[RF_C_rf_first_touch]);
		ck_assert_uint_eq(r[p][NPERCENTS - 1].counter[RF_C_pgfault],
		                  r[0][0].counter[RF_C_rf_first_touch]);
		if (strcmp(policies[p], "lru") && strcmp(policies[p], "belady"))
			continue;
		for (unsigned i = 1; i < NPERCENTS; i++)
			ck_assert_uint_le(r[p][i].counter[RF_C_pgfault], r[p][i - 1].counter[RF_C_pgfault]);
	}
}

START_TEST(small_pages)
{
	struct rf_source *s = open_sample(samples[_i]);

	laws(samples[_i], s, 0);
	rf_source_close(s);
}
END_TEST

START_TEST(large_pages)
{
	struct rf_source *s = open_sample(samples[_i]);

	laws(samples[_i], s, 1);
	if (!rf_source_rewind(s, NULL))
		ck_abort_msg("cannot rewind");
	laws(samples[_i], s, 2);
	rf_source_close(s);
}
END_TEST

Suite *suite_policies_samples(void)
{
	Suite *s = suite_create("policies_samples");
	TCase *t = tcase_create("laws");
	gboolean all = g_getenv("RF_TEST_ALL") != NULL;

	tcase_add_loop_test(t, small_pages, 0, all ? G_N_ELEMENTS(samples) : 2);
	tcase_add_loop_test(t, large_pages, 0, all ? G_N_ELEMENTS(samples) : 1);
	if (all)
		tcase_set_timeout(t, 3600);
	suite_add_tcase(s, t);
	return s;
}
