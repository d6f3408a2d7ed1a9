/* SPDX-License-Identifier: MIT
 * The oracleGeneral importer, on records made here.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "tests/items.h"

static const struct rf_source_options explicitly = { .format = "oracle" };
static const struct rf_source_options sniff;

static void record(GByteArray *a, uint32_t time, uint64_t id, uint32_t size, int64_t next)
{
	uint8_t r[24];

	for (int i = 0; i < 4; i++) {
		r[i] = (uint8_t)(time >> 8 * i);
		r[12 + i] = (uint8_t)(size >> 8 * i);
	}
	for (int i = 0; i < 8; i++) {
		r[4 + i] = (uint8_t)(id >> 8 * i);
		r[16 + i] = (uint8_t)((uint64_t)next >> 8 * i);
	}
	g_byte_array_append(a, r, sizeof(r));
}

#define BEGIN "task 1\nmmap 1 100000000000 17592186040320 rw- anon objects\n"

static void expect_error(const GByteArray *a, const struct rf_source_options *opt, const char *part)
{
	struct items it;

	items_read(&it, a->data, a->len, opt);
	ck_assert(it.error != NULL);
	ck_assert_msg(it.error->domain == RF_DATA_ERROR && strstr(it.error->message, part),
	              "%s\nis without: %s", it.error->message, part);
	items_clear(&it);
}

START_TEST(records)
{
	GByteArray *a = g_byte_array_new();
	struct items it;

	record(a, 100, 7, 4096, 3);
	record(a, 100, UINT64_MAX, 1, -1);
	record(a, 102, 0, 0, INT64_MAX); /* also written for never */
	record(a, 102, 7, 4096, -1);
	record(a, 101, (uint64_t)1 << 63, 4096, -1); /* time goes back: no event */
	items_read(&it, a->data, a->len, &explicitly);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(
		it.text->str,
		BEGIN "W 1 100000000\nW 1 100000001\nat 2000000000\nW 1 100000002\nW 1 100000000\n"
		      "W 1 100000003\n");
	ck_assert_str_eq(it.skipped->str, "1 time that goes back; ");
	ck_assert_uint_eq(it.totals.pages, 4);
	items_clear(&it);
	g_byte_array_unref(a);
}
END_TEST

START_TEST(truncation)
{
	GByteArray *a = g_byte_array_new();
	struct items it;

	for (unsigned i = 0; i < 10; i++)
		record(a, i, i, 1, -1);
	for (unsigned cut = 1; cut < 24; cut++) {
		a->len -= cut;
		expect_error(a, &explicitly, "record 9, offset 216: the file ends inside it");
		expect_error(a, &sniff, "record 9, offset 216: the file ends inside it");
		a->len += cut;
	}
	a->len = 0;
	expect_error(a, &explicitly, "record 0, offset 0: no record");
	expect_error(a, &sniff, "is empty");
	a->len = 23;
	expect_error(a, &explicitly,
	             "record 0, offset 0: the file ends inside it, after 23 of 24 bytes");
	a->len = 9 * 24;
	items_read(&it, a->data, a->len, &sniff);
	ck_assert(it.error == NULL);
	ck_assert_uint_eq(it.totals.accesses[RF_WRITE], 9);
	items_clear(&it);
	g_byte_array_unref(a);
}
END_TEST

START_TEST(backwards)
{
	static const int64_t bad[] = { 0, 1, 5, 20, -2, INT64_MIN };

	for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
		GByteArray *a = g_byte_array_new();

		for (unsigned j = 0; j < 20; j++)
			record(a, 1, j, 1, 1000);
		record(a, 1, 99, 1, bad[i]); /* record 20 */
		expect_error(a, &explicitly, "record 20, offset 480: next request at");
		expect_error(a, &sniff, "no known format");
		g_byte_array_unref(a);
	}
}
END_TEST

/* A file too short to look plausible by itself must link up. */
START_TEST(short_files)
{
	for (int base = 0; base < 2; base++)
		for (int wrong = 0; wrong < 2; wrong++) {
			GByteArray *a = g_byte_array_new();
			struct items it;

			record(a, 0, 5, 1, wrong ? 4 : 2 + base);
			record(a, 0, 6, 1, -1);
			record(a, 0, 5, 1, -1);
			items_read(&it, a->data, a->len, &sniff);
			ck_assert((it.error != NULL) == wrong);
			items_clear(&it);
			items_read(&it, a->data, a->len, &explicitly);
			ck_assert(it.error == NULL);
			items_clear(&it);
			g_byte_array_unref(a);
		}
}
END_TEST

/* Other files must not be taken for it. */
START_TEST(careful)
{
	static const char *const text[] = {
		"0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0\1\0\0\0",
	};
	uint64_t seed = 4711;
	struct rf_rng rng = { seed };
	uint8_t noise[4800];
	struct items it;

	for (unsigned i = 0; i < G_N_ELEMENTS(text); i++) {
		items_read(&it, text[i], i == 2 ? 24 : strlen(text[i]), &sniff);
		ck_assert_msg(it.error && strstr(it.error->message, "no known format"), "%u", i);
		items_clear(&it);
	}
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)rf_rng_next(&rng);
		items_read(&it, noise, sizeof(noise), &sniff);
		ck_assert_msg(it.error && strstr(it.error->message, "no known format"),
		              "seed %" PRIu64, seed);
		items_clear(&it);
	}
}
END_TEST

/* Many objects with ids from everywhere, through several windows and growths of the table, the last of
 * which gives the old one back in pieces. */
START_TEST(dense)
{
	uint64_t seed = 99;
	struct rf_rng rng = { seed };
	GByteArray *a = g_byte_array_new();
	GHashTable *page = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	GString *want = g_string_new(BEGIN);
	uint32_t n = 230000, objects = 200000, last = 0, count = 0;
	uint64_t *id = g_new(uint64_t, objects);
	struct items it;

	for (uint32_t i = 0; i < objects; i++)
		id[i] = rf_rng_next(&rng) >> rf_rng_below(&rng, 64) << rf_rng_below(&rng, 8);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t key = id[i < objects ? i : rf_rng_below(&rng, objects)];
		gpointer found;
		uint32_t number;

		record(a, 0, key, 4096, -1);
		if (!g_hash_table_lookup_extended(page, &key, NULL, &found)) {
			gint64 *copy = g_new(gint64, 1);

			*copy = (gint64)key;
			found = GUINT_TO_POINTER(g_hash_table_size(page));
			g_hash_table_insert(page, copy, found);
		}
		number = GPOINTER_TO_UINT(found);
		if (count && number == last) {
			g_string_truncate(want, want->len - 1);
			if (count > 1)
				g_string_truncate(want,
				                  (gsize)(strrchr(want->str, ' ') - want->str));
			g_string_append_printf(want, " x%u\n", ++count);
		} else {
			g_string_append_printf(want, "W 1 %" PRIx64 "\n",
			                       (uint64_t)0x100000000 + number);
			count = 1;
		}
		last = number;
	}
	items_read(&it, a->data, a->len, &explicitly);
	ck_assert(it.error == NULL);
	ck_assert_msg(it.totals.pages == g_hash_table_size(page), "seed %" PRIu64, seed);
	ck_assert_msg(!strcmp(it.text->str, want->str), "seed %" PRIu64, seed);
	items_clear(&it);
	g_string_free(want, TRUE);
	g_hash_table_destroy(page);
	g_byte_array_unref(a);
	g_free(id);
}
END_TEST

Suite *suite_oracle(void);
Suite *suite_oracle(void)
{
	Suite *s = suite_create("oracle");
	TCase *c = tcase_create("oracle");

	tcase_add_test(c, records);
	tcase_add_test(c, truncation);
	tcase_add_test(c, backwards);
	tcase_add_test(c, short_files);
	tcase_add_test(c, careful);
	tcase_add_test(c, dense);
	suite_add_tcase(s, c);
	return s;
}
