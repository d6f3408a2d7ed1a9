/* SPDX-License-Identifier: MIT */
#include "tests/rules.h"

#include <check.h>
#include <string.h>

/* Statistics are never late: what a rule sees is what there is. */
#define COMMON "--stats-flush-period 0 --read_ahead_kb 0 --protect none "

/* Every counter, and the time. */
static gboolean alike(const struct model_run *a, const struct model_run *b)
{
	return !memcmp(a->result.counter, b->result.counter, sizeof a->result.counter) &&
	       GAUGE(a, rf_time) == GAUGE(b, rf_time);
}

void rule_by_release(const struct rule *rule, struct model_run *off, struct model_run *on)
{
	const char *const kernels[] = { rule->before, rule->since }, *const values[] = { "auto", rule->off, rule->on };

	for (unsigned i = 0; i < 2; i++) {
		struct model_run runs[3];

		for (unsigned k = 0; k < 3; k++) {
			g_autofree char *options = g_strdup_printf(COMMON "%s --kernel %s --reclaim %s,%s=%s", rule->options,
			                                           kernels[i], rule->policy, rule->name, values[k]);

			model_run(&runs[k], options, rule->trace, MODEL_RUN_UNCHECKED);
		}
		ck_assert_msg(!alike(&runs[1], &runs[2]), "%s=%s and %s do the same on %s", rule->name, rule->off, rule->on,
		              kernels[i]);
		ck_assert_msg(alike(&runs[0], &runs[1 + i]), "%s of %s is not %s", rule->name, kernels[i], values[1 + i]);
		model_run_clear(&runs[0]);
		if (i) {
			*off = runs[1];
			*on = runs[2];
		} else {
			model_run_clear(&runs[1]);
			model_run_clear(&runs[2]);
		}
	}
}

void rule_of_batches(const struct batch_rule *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct model_run r;

		model_run(&r, rows[i].options, "task 1\nmmap 1 10000000 160K rw- anon\nW 1 10000000 160K\n", 0);
		eq(PAGES(&r, rf_inactive_anon) + PAGES(&r, rf_active_anon), rows[i].listed);
		model_run_clear(&r);
	}
}
