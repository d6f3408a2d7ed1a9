/* SPDX-License-Identifier: MIT
 * For tests of the modelled machine: a text trace in memory, a machine by options as on the command
 * line, and what came out.  The machine is checked (rf_model_check) after every run and event.
 */
#ifndef TESTS_MODEL_RUN_H
#define TESTS_MODEL_RUN_H

#include "sim/config.h"
#include "sim/result.h"

struct model_run {
	struct rf_config cfg;
	struct rf_result result;
	GError *error; /* or NULL; the result is empty then */
};

enum model_run_flag {
	MODEL_RUN_UNCHECKED = 1 << 0, /* check at the end only: for long traces */
	MODEL_RUN_MAY_FAIL = 1 << 1,  /* an error is left for the test to look at, not a failure */
};

/* Replay trace (without its header line) on the machine of options, e.g. "--limit 1M --swap zram".
 * "--set" takes KEY=VALUE.  The machine has 1 GiB when options do not say. */
void model_run(struct model_run *run, const char *options, const char *trace, unsigned flags);
void model_run_clear(struct model_run *run);

/* Append a line; its newline is added. */
void line(GString *trace, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A load (R), store (W) or fetch (X) of each of n pages of 4 KiB, one access a page. */
void touch_each(GString *trace, char type, unsigned tid, uint64_t addr, unsigned n);
/* count loads, write_percent of them stores, of n pages, as Zipf has it; type: the letter of a load. */
void touch_zipf(GString *trace, char type, unsigned tid, uint64_t addr, unsigned n, unsigned count, uint32_t alpha,
                unsigned write_percent, uint64_t seed);

#define PAGE 4096u

#define COUNTER(run, name) ((run)->result.counter[RF_C_##name])
#define GAUGE(run, name) ((run)->result.gauge[RF_G_##name])
/* A gauge in bytes, as pages of the run. */
#define PAGES(run, name) (GAUGE(run, name) >> (run)->cfg.page_shift)
/* Fail the test when there is none. */
const struct rf_cgroup_result *cgroup_of(const struct model_run *run, const char *path);
const struct rf_task_result *task_of(const struct model_run *run, uint32_t tid);
const struct rf_lock_result *lock_of(const struct model_run *run, const char *name);
const struct rf_sample *mark_of(const struct model_run *run, const char *name);
const struct rf_oom *oom_nth(const struct model_run *run, guint i);
#define CG_COUNTER(run, path, name) (cgroup_of(run, path)->counter[RF_C_##name])
#define MARK_COUNTER(run, mark, name) (mark_of(run, mark)->counter[RF_C_##name])
#define MARK_PAGES(run, mark, name) (mark_of(run, mark)->gauge[RF_G_##name] >> (run)->cfg.page_shift)

#define eq(a, b) ck_assert_uint_eq(a, b)

/* The seed of randomised tests: RF_TEST_SEED, or a fixed one. */
uint64_t model_run_seed(void);

#endif
