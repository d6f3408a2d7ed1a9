/* SPDX-License-Identifier: MIT
 * Synthetic workloads: the law that each follows, and that the numbers are the same everywhere.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/items.h"
#include "traces/synth.h"
#include "traces/zipf.h"

/* Every access in order: page number from the base of its mapping, or of the file; and its type. */
struct sequence {
	GArray *page, *write; /* uint32_t, gboolean */
	GArray *mark;         /* number of accesses before each mark */
	struct rf_totals totals;
};

static struct sequence sequence(const char *spec)
{
	struct sequence q = {
		.page = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.write = g_array_new(FALSE, FALSE, sizeof(gboolean)),
		.mark = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};
	GArray *names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	GError *error = NULL;
	struct rf_source *s = rf_synth_open(spec, &error);
	struct rf_item item;

	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	for (;;) {
		ck_assert(rf_source_next(s, &item, &error));
		if (item.kind == RF_ITEM_END)
			break;
		if (item.kind == RF_ITEM_PAGES) {
			g_array_append_vals(names, item.pages.name, item.pages.n);
		} else if (item.kind == RF_ITEM_EVENT && item.event.kind == RF_EV_MARK) {
			g_array_append_val(q.mark, q.page->len);
		} else if (item.kind == RF_ITEM_EVENT &&
		           (item.event.kind == RF_EV_READ || item.event.kind == RF_EV_WRITE)) {
			uint32_t page = (uint32_t)(item.event.off >> 12);
			gboolean write = item.event.kind == RF_EV_WRITE;

			g_array_append_val(q.page, page);
			g_array_append_val(q.write, write);
		} else if (item.kind == RF_ITEM_RUNS) {
			for (uint32_t i = 0; i < item.runs.n; i++)
				for (uint32_t j = 0; j < item.runs.count[i]; j++) {
					uint64_t vpn = g_array_index(names, struct rf_page_name,
					                             item.runs.page[i])
					                       .vpn;
					uint32_t page = (uint32_t)vpn & 0xfffffff;
					gboolean write = item.runs.type[i] == RF_WRITE;

					g_array_append_val(q.page, page);
					g_array_append_val(q.write, write);
				}
		}
	}
	q.totals = *rf_source_totals(s);
	rf_source_close(s);
	g_array_unref(names);
	return q;
}

static void sequence_clear(struct sequence *q)
{
	g_array_unref(q->page);
	g_array_unref(q->write);
	g_array_unref(q->mark);
}

#define PAGE(q, i) g_array_index((q).page, uint32_t, i)
#define WRITES(q, i) g_array_index((q).write, gboolean, i)

START_TEST(weights)
{
	static const uint32_t alphas[] = {
		0, 1, 333333, 800000, 1000000, 1200000, 2000000, 3141592
	};
	static const uint64_t ranks[] = { 1, 2, 3, 7, 10, 1000, 65535, 65536, 1000003, 268435456 };

	for (unsigned a = 0; a < G_N_ELEMENTS(alphas); a++)
		for (unsigned r = 0; r < G_N_ELEMENTS(ranks); r++) {
			double want = ldexp(pow((double)ranks[r], -(alphas[a] / 1e6)), 56);
			double is = (double)rf_zipf_weight(ranks[r], alphas[a]);

			/* half a unit from rounding down, beside the relative error */
			ck_assert_msg(fabs(is - want) <= want * 1e-8 + 1,
			              "rank %" PRIu64 " alpha %u: %.17g, not %.17g", ranks[r],
			              alphas[a], is, want);
		}
	ck_assert_uint_eq(rf_zipf_weight(1, 1000000), RF_ZIPF_ONE);
	ck_assert_uint_eq(rf_zipf_weight(1024, 1000000), RF_ZIPF_ONE >> 10);
	ck_assert_uint_eq(rf_zipf_weight(1 << 20, RF_ALPHA_MAX), 0);
}
END_TEST

/* The alias table holds exactly the probabilities that it was made for. */
START_TEST(alias)
{
	enum { N = 1000 };
	uint32_t value[N];
	double share[N] = { 0 }, sum = 0;
	struct rf_alias a;

	for (uint32_t i = 0; i < N; i++) {
		value[i] = N - 1 - i;
		sum += pow(i + 1, -0.9);
	}
	ck_assert(rf_alias_zipf(&a, N, 900000, value));
	for (uint32_t i = 0; i < N; i++) {
		share[a.cell[i].value] += a.cell[i].below / 4294967296.0 / N;
		share[a.cell[i].other] += (4294967296.0 - a.cell[i].below) / 4294967296.0 / N;
	}
	for (uint32_t i = 0; i < N; i++)
		ck_assert_double_eq_tol(share[N - 1 - i], pow(i + 1, -0.9) / sum, 1e-6 / N);
	rf_alias_clear(&a);
}
END_TEST

START_TEST(zipf)
{
	enum { N = 200000, PAGES = 100 };
	struct sequence q =
		sequence("zipf,accesses=200000,pages=100,alpha=1.0,scatter=no,write=0,seed=3");
	unsigned n[PAGES] = { 0 };
	double sum = 0, chi = 0;

	ck_assert_uint_eq(q.page->len, N);
	for (unsigned i = 0; i < N; i++) {
		ck_assert_uint_lt(PAGE(q, i), PAGES);
		n[PAGE(q, i)]++;
	}
	for (unsigned i = 0; i < PAGES; i++)
		sum += 1.0 / (i + 1);
	for (unsigned i = 0; i < PAGES; i++) {
		double want = N / sum / (i + 1);

		chi += (n[i] - want) * (n[i] - want) / want;
	}
	/* 99 degrees of freedom: mean 99, deviation 14 */
	ck_assert_double_lt(chi, 99 + 5 * 14.1);
	ck_assert_double_gt(chi, 99 - 5 * 14.1);
	sequence_clear(&q);
}
END_TEST

/* scatter permutes pages, and changes nothing else. */
START_TEST(scatter)
{
	struct sequence q = sequence("zipf,accesses=50000,pages=50,alpha=2,scatter=yes");
	unsigned n[50] = { 0 }, best = 0;

	for (unsigned i = 0; i < q.page->len; i++)
		n[PAGE(q, i)]++;
	for (unsigned i = 0; i < 50; i++)
		best = MAX(best, n[i]);
	/* 1 / (sum of 1/i^2) is 0.615 */
	ck_assert_uint_gt(best, 30000);
	ck_assert_uint_lt(best, 31600);
	ck_assert_uint_ne(best, n[0]);
	sequence_clear(&q);
}
END_TEST

START_TEST(uniform)
{
	struct sequence q = sequence("uniform,accesses=100000,pages=64,write=25,seed=9");
	unsigned n[64] = { 0 }, writes = 0;
	double chi = 0;

	for (unsigned i = 0; i < q.page->len; i++) {
		if (!n[PAGE(q, i)]++)
			ck_assert_msg(WRITES(q, i), "a page's first access is no write");
		writes += WRITES(q, i) != 0;
	}
	for (unsigned i = 0; i < 64; i++)
		chi += (n[i] - 1562.5) * (n[i] - 1562.5) / 1562.5;
	ck_assert_double_lt(chi, 63 + 5 * 11.3);
	/* 25000 with a deviation of 137, and up to 64 first ones */
	ck_assert_uint_gt(writes, 24300);
	ck_assert_uint_lt(writes, 25800);
	sequence_clear(&q);
}
END_TEST

START_TEST(loop_and_scan)
{
	struct sequence q = sequence("loop,accesses=25,pages=10,write=100");

	ck_assert_uint_eq(q.page->len, 25);
	for (unsigned i = 0; i < 25; i++) {
		ck_assert_uint_eq(PAGE(q, i), i % 10);
		ck_assert(WRITES(q, i));
	}
	sequence_clear(&q);
	q = sequence("loop,accesses=25,pages=3,touches=4");
	for (unsigned i = 0; i < 25; i++)
		ck_assert_uint_eq(PAGE(q, i), i / 4 % 3);
	sequence_clear(&q);
	q = sequence("scan,pages=9000,touches=2");
	ck_assert_uint_eq(q.page->len, 18000);
	for (unsigned i = 0; i < 18000; i++) {
		ck_assert_uint_eq(PAGE(q, i), i / 2);
		ck_assert(WRITES(q, i) == (i % 2 == 0)); /* anonymous memory is written first */
	}
	sequence_clear(&q);
	q = sequence("scan,pages=9000,backing=file");
	ck_assert_uint_eq(q.totals.accesses[RF_READ], 9000);
	sequence_clear(&q);
	q = sequence("scan,pages=9000,backing=read");
	ck_assert_uint_eq(q.page->len, 9000);
	ck_assert_uint_eq(q.totals.runs, 0);
	for (unsigned i = 0; i < 9000; i++)
		ck_assert_uint_eq(PAGE(q, i), i);
	sequence_clear(&q);
}
END_TEST

START_TEST(phases)
{
	struct sequence q = sequence("phases,accesses=10007,pages=100,phases=5,overlap=30,write=0");

	ck_assert_uint_eq(q.page->len, 10007);
	ck_assert_uint_eq(q.mark->len, 5);
	ck_assert_uint_eq(q.totals.pages, 100 + 4 * 70);
	for (unsigned p = 0; p < 5; p++) {
		unsigned end = p == 4 ? 10007 : (p + 1) * 2001;

		ck_assert_uint_eq(g_array_index(q.mark, uint32_t, p), p * 2001);
		for (unsigned i = p * 2001; i < end; i++) {
			ck_assert_uint_ge(PAGE(q, i), p * 70);
			ck_assert_uint_lt(PAGE(q, i), p * 70 + 100);
		}
	}
	sequence_clear(&q);
}
END_TEST

START_TEST(hotscan)
{
	struct sequence q =
		sequence("hotscan,accesses=50000,pages=20,scan=300,hot-share=80,write=0");
	unsigned next = 20, hot = 0;

	for (unsigned i = 0; i < q.page->len; i++) {
		if (PAGE(q, i) < 20) {
			hot++;
			continue;
		}
		ck_assert_uint_eq(PAGE(q, i), next);
		next = next == 319 ? 20 : next + 1;
	}
	ck_assert_uint_gt(hot, 40000 - 450);
	ck_assert_uint_lt(hot, 40000 + 450);
	sequence_clear(&q);
	q = sequence("hotscan,accesses=50000,pages=20,scan=300,backing=file");
	ck_assert_uint_eq(q.totals.pages, 320);
	sequence_clear(&q);
}
END_TEST

/* The writes do not change the pages; another seed does. */
START_TEST(independent)
{
	static const char *const kinds[] = { "zipf", "uniform", "phases", "hotscan" };

	for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
		char *a = g_strdup_printf("%s,accesses=5000,write=0", kinds[k]);
		char *b = g_strdup_printf("%s,accesses=5000,write=77", kinds[k]);
		char *c = g_strdup_printf("%s,accesses=5000,seed=2", kinds[k]);
		struct sequence qa = sequence(a), qb = sequence(b), qc = sequence(c);

		ck_assert_mem_eq(qa.page->data, qb.page->data, 5000 * sizeof(uint32_t));
		ck_assert(memcmp(qa.page->data, qc.page->data, 5000 * sizeof(uint32_t)) != 0);
		sequence_clear(&qa);
		sequence_clear(&qb);
		sequence_clear(&qc);
		g_free(a);
		g_free(b);
		g_free(c);
	}
}
END_TEST

/* The first pages of zipf, worked out with Python's integers from the description in zipf.h: any
 * host and compiler must give them. */
START_TEST(reproducible)
{
	static const uint32_t want[] = {
		341, 779, 455, 183, 422, 81,  94,  779, 229, 445, 977, 899,
		809, 957, 383, 493, 234, 138, 348, 632, 688, 509, 589, 253,
	};
	struct sequence q = sequence("zipf,accesses=1000,pages=1000,alpha=0.85,seed=42");

	for (unsigned i = 0; i < G_N_ELEMENTS(want); i++)
		ck_assert_uint_eq(PAGE(q, i), want[i]);
	sequence_clear(&q);
}
END_TEST

START_TEST(bad_specifications)
{
	static const struct {
		const char *spec, *part;
	} bad[] = {
		{ "zapf", "unknown synthetic workload 'zapf'; did you mean zipf?" },
		{ "frobnicate", "expected one of zipf, uniform, loop, scan, phases, hotscan" },
		{ "", "unknown synthetic workload" },
		{ "zipf,alhpa=1", "alpha" },
		{ "zipf,alpha=x", "alpha=x; expected a number from 0 to 10" },
		{ "zipf,alpha=10.000001", "alpha=10.000001; expected" },
		{ "zipf,alpha=0.1234567", "alpha=0.1234567; expected" },
		{ "zipf,alpha=99999999999999999999", "expected a number from 0 to 10" },
		{ "zipf,alpha=1.", "expected a number" },
		{ "zipf,alpha=-1", "expected a number" },
		{ "zipf,pages=0", "pages" },
		{ "zipf,pages=9223372036854775808", "pages" },
		{ "zipf,accesses=0", "accesses=0; expected at least 1" },
		{ "uniform,write=101", "write" },
		{ "scan,pages=10,accesses=11",
		  "accesses=11; expected at most pages times touches, 10" },
		{ "phases,phases=10,accesses=9", "expected at least one a phase" },
		{ "phases,pages=268435456,phases=1000000,accesses=1000000",
		  "pages in all; expected at most" },
		{ "hotscan,pages=268435456,scan=268435456", "pages in all; expected at most" },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
		GError *error = NULL;

		ck_assert_msg(rf_synth_open(bad[i].spec, &error) == NULL, "%s", bad[i].spec);
		ck_assert_msg(error->domain == RF_USAGE_ERROR &&
		                      strstr(error->message, bad[i].part),
		              "%s: %s\nis without: %s", bad[i].spec, error->message, bad[i].part);
		g_error_free(error);
	}
}
END_TEST

START_TEST(as_a_file)
{
	static const struct rf_source_options sniff;
	struct items it;

	items_read(&it, "!refault-synth 1 loop,accesses=3,pages=2\r\n", 42, &sniff);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(it.text->str,
	                 "task 1\nmmap 1 10000000000 8192 rw- anon\nW 1 10000000\nW 1 10000001\n"
	                 "R 1 10000000\n");
	ck_assert_str_eq(rf_header_get(&it.header, "command"),
	                 "loop,accesses=3,pages=2,write=30,seed=1,backing=anon,touches=1");
	items_clear(&it);
	items_read(&it, "!refault-synth 1 lop\n", 21, &sniff);
	ck_assert(it.error && it.error->domain == RF_DATA_ERROR);
	ck_assert(strstr(it.error->message,
	                 "mem:1: unknown synthetic workload 'lop'; did you mean loop?"));
	items_clear(&it);
	items_read(&it, "!refault-synth 2 loop\n", 22, &sniff);
	ck_assert(it.error && strstr(it.error->message, "mem:1: expected '!refault-synth 1 "));
	items_clear(&it);
	items_read(&it, "!refault-synth 1 loop\nx\n", 24, &sniff);
	ck_assert(it.error && strstr(it.error->message, "mem:2: text after the specification"));
	items_clear(&it);
}
END_TEST

Suite *suite_synth(void);
Suite *suite_synth(void)
{
	Suite *s = suite_create("synth");
	TCase *c = tcase_create("synth");

	tcase_add_test(c, weights);
	tcase_add_test(c, alias);
	tcase_add_test(c, zipf);
	tcase_add_test(c, scatter);
	tcase_add_test(c, uniform);
	tcase_add_test(c, loop_and_scan);
	tcase_add_test(c, phases);
	tcase_add_test(c, hotscan);
	tcase_add_test(c, independent);
	tcase_add_test(c, reproducible);
	tcase_add_test(c, bad_specifications);
	tcase_add_test(c, as_a_file);
	suite_add_tcase(s, c);
	return s;
}
