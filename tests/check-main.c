/* SPDX-License-Identifier: MIT
 * Runs every unit test.  CK_RUN_SUITE=name runs one suite, CK_FORK=no keeps it in a debugger's reach.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* One line a suite, sorted: X(name) stands for Suite *suite_name(void). */
#define SUITES(X) \
	X(base) \
	X(compare) \
	X(closed) \
	X(closed_spin) \
	X(config) \
	X(curve) \
	X(import) \
	X(lackey) \
	X(mglru) \
	X(mglru_rules) \
	X(model_files) \
	X(model_machine) \
	X(model_memcg) \
	X(model_memory) \
	X(model_random) \
	X(model_tasks) \
	X(oracle) \
	X(plot) \
	X(recording) \
	X(policies) \
	X(policies_frames) \
	X(policies_host) \
	X(policies_plugin) \
	X(policies_samples) \
	X(rebase) \
	X(reduce) \
	X(relations) \
	X(relations_balance) \
	X(reproduce) \
	X(saved) \
	X(scenario) \
	X(study_job) \
	X(study_sweep) \
	X(seam_account) \
	X(seam_fill) \
	X(seam_protect) \
	X(seam_volatile) \
	X(streams) \
	X(synth) \
	X(trace_input) \
	X(trace_rft) \
	X(trace_text) \
	X(twolist_rules) \
	X(verify) \
	X(vma) \

#define DECLARE(name) Suite *suite_##name(void);
SUITES(DECLARE)
#undef DECLARE

static Suite *(*const suites[])(void) = {
#define ENTRY(name) suite_##name,
	SUITES(ENTRY)
#undef ENTRY
	NULL,
};

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int run, failed;

	/* Check's own four seconds are too few under sanitizers on a busy machine. */
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	for (unsigned i = 0; suites[i]; i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run_all(runner, CK_ENV);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	if (!run) {
		fputs("no test was run\n", stderr);
		return EXIT_FAILURE;
	}
	printf("%d passed, %d failed\n", run - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
