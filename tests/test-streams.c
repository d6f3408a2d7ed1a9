/* SPDX-License-Identifier: MIT
 * The tasks of a trace as streams: what each gets is what the trace says of it, in order, whoever asks
 * first and however little memory there is.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "traces/streams.h"

Suite *suite_streams(void);

#define TASKS 5

static gboolean ahead(void *arg, const struct rf_item *item, GError **error)
{
	(void)error;
	*(unsigned *)arg += item->kind == RF_ITEM_PAGES ? item->pages.n : 1;
	return TRUE;
}

/* A text of rounds in which each task touches a page and thinks; want[i]: what task i should give. */
static char *make_trace(unsigned rounds, GString *want[TASKS])
{
	GString *t = g_string_new("!refault-trace 1\nfile 1 f 4096\n");

	for (unsigned i = 0; i < TASKS; i++) {
		want[i] = g_string_new(NULL);
		g_string_append_printf(t, "task %u%s\n", i + 1, i ? " parent=1" : "");
	}
	for (unsigned i = 1; i < TASKS; i++)
		g_string_append(want[0], "e2 ");
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 0; i < TASKS; i++) {
			g_string_append_printf(t, "think %u %u\n", i + 1, r + 1);
			g_string_append_printf(want[i], "t%u ", r + 1);
			g_string_append_printf(t, "W %u %x\n", i + 1, 0x1000 * (r % 7 + 1));
			g_string_append(want[i], "r1 ");
			if (r == rounds / 2 && !i)
				g_string_append(t, "at 77\n");
		}
	return g_string_free(t, FALSE);
}

static void note(GString *got, const struct rf_stream_item *it)
{
	if (it->item.kind == RF_ITEM_RUNS)
		for (uint32_t i = 0; i < it->item.runs.n; i++)
			g_string_append_printf(got, "r%u ", it->item.runs.count[i]);
	else if (it->item.event.kind == RF_EV_THINK)
		g_string_append_printf(got, "t%u ", (unsigned)it->item.event.len);
	else
		g_string_append_printf(got, "e%u ", (unsigned)it->item.event.kind);
}

START_TEST(each_gets_its_own)
{
	enum { ROUNDS = 1500 };
	const uint64_t memory[] = { RF_STREAMS_MEMORY, 4096 };
	GString *want[TASKS], *got[TASKS];
	g_autofree char *text = make_trace(ROUNDS, want);
	struct rf_source *source = rf_source_from_text("test", text, -1);
	struct rf_rng rng = { 42 };
	struct rf_stream_item it;
	unsigned early = 0, open = TASKS;
	gboolean ended[TASKS] = { FALSE };
	struct rf_streams *s = rf_streams_new(source, memory[_i], ahead, &early);

	ck_assert(rf_streams_next(s, 0, &it, NULL)); /* the start of the first */
	ck_assert_uint_eq(it.child, 1);
	ck_assert(rf_streams_next(s, 0, &it, NULL) && it.item.kind == RF_ITEM_END);
	for (unsigned i = 0; i < TASKS; i++)
		got[i] = g_string_new(NULL);
	/* The first starts the others, who would not be known before. */
	for (unsigned i = 1; i < TASKS; i++) {
		ck_assert(rf_streams_next(s, 1, &it, NULL));
		ck_assert_uint_eq(it.child, i + 1);
		note(got[0], &it);
	}
	while (open) {
		uint32_t k = rf_rng_below(&rng, 2) ? 0 : rf_rng_below(&rng, TASKS); /* the first is ahead */

		ck_assert(rf_streams_next(s, k + 1, &it, NULL));
		if (it.item.kind != RF_ITEM_END) {
			note(got[k], &it);
		} else if (!ended[k]) {
			ended[k] = TRUE;
			open--;
			ck_assert_uint_eq(it.not_before, 77);
		}
	}
	for (unsigned i = 0; i < TASKS; i++) {
		ck_assert_str_eq(got[i]->str, want[i]->str);
		g_string_free(got[i], TRUE);
		g_string_free(want[i], TRUE);
	}
	ck_assert_uint_eq(early, 1 + 7 * TASKS); /* the file, and the pages' names */
	ck_assert((rf_streams_spilled(s) > 0) == (_i > 0));
	rf_streams_free(s);
	rf_source_close(source);
}
END_TEST

Suite *suite_streams(void)
{
	Suite *s = suite_create("streams");
	TCase *t = tcase_create("each task");

	tcase_add_loop_test(t, each_gets_its_own, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
