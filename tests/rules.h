/* SPDX-License-Identifier: MIT
 * For tests of rules that changed between releases, each a switch of its policy.
 */
#ifndef TESTS_RULES_H
#define TESTS_RULES_H

#include "tests/model-run.h"

/* On the earlier of two releases that follow one another auto is value `off', on the later `on'. */
struct rule {
	const char *policy, *name; /* other options of the policy may stand before the name */
	const char *off, *on;
	const char *before, *since;
	const char *options, *trace; /* of model_run() */
};

/* Each value, and auto, on either release: both values differ, and auto is what it should be.  Leaves the
 * runs with the values on the later release. */
void rule_by_release(const struct rule *rule, struct model_run *off, struct model_run *on);

/* Of 40 anonymous pages just touched, how many are on a list: those whose batch was full. */
struct batch_rule {
	const char *options;
	unsigned listed;
};

void rule_of_batches(const struct batch_rule *rows, size_t n);

#endif
