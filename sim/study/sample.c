/* SPDX-License-Identifier: MIT */
#include "sim/study/sample.h"

#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "sim/machine.h"
#include "sim/preflight.h"
#include "sim/study/estimate.h"
#include "sim/study/store.h"
#include "sim/study/sweep.h"

/* Enough to be past the first touches of most programs, little enough to wait for. */
#define MOST_ACCESSES 2000000
#define MOST_MACHINES 4

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t accesses(const struct rf_totals *t)
{
	return t->accesses[RF_READ] + t->accesses[RF_WRITE] + t->accesses[RF_EXEC];
}

/* Seconds that the whole trace would take on this machine. */
static gboolean time_machine(struct rf_source *source, struct rf_machine *m, double *seconds,
                             GError **error)
{
	uint64_t all = MAX(accesses(rf_source_totals_ahead(source)), 1), done;
	double began = cpu_seconds();
	struct rf_item item;

	if (!rf_source_rewind(source, error))
		return FALSE;
	do {
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			return FALSE;
		}
		if (!rf_source_next(source, &item, error) || !rf_machine_item(m, &item, error))
			return FALSE;
		done = accesses(rf_source_totals(source));
	} while (item.kind != RF_ITEM_END && done < MOST_ACCESSES);
	*seconds = (cpu_seconds() - began) * (double)all / (double)MAX(done, 1);
	return TRUE;
}

/* A configuration for the trace; FALSE when there can be none: the sweep will say so. */
static gboolean fitted(const struct rf_point *p, const struct rf_totals *totals,
                       struct rf_config *cfg)
{
	if (!rf_point_config(p, cfg, NULL))
		return FALSE;
	if (rf_config_resolve(cfg, totals, NULL))
		return TRUE;
	rf_config_clear(cfg);
	return FALSE;
}

/* Can a machine be fed with the beginning alone?  Who knows the future needs the whole, and closed
 * replay chooses the order by itself. */
static gboolean can_be_timed(const struct rf_config *cfg)
{
	return !rf_config_knows_future(cfg) && cfg->replay == RF_REPLAY_ORDERED;
}

/* Some of the points, evenly spread. */
static gboolean time_some(struct rf_source *source, const GPtrArray *todo, double *mean,
                          GError **error)
{
	const struct rf_totals *totals = rf_source_totals_ahead(source);
	guint step = MAX(todo->len / MOST_MACHINES, 1), n = 0;
	double sum = 0;

	for (guint i = step / 2; i < todo->len; i += step) {
		struct rf_config cfg;
		struct rf_machine *m = NULL;
		double seconds;
		gboolean ok = TRUE;

		if (!fitted(todo->pdata[i], totals, &cfg))
			continue;
		if (can_be_timed(&cfg))
			m = rf_machine_new(&cfg, totals, NULL);
		if (m && time_machine(source, m, &seconds, error)) {
			sum += seconds;
			n++;
		} else {
			ok = !m;
		}
		rf_machine_free(m);
		rf_config_clear(&cfg);
		if (!ok)
			return FALSE;
	}
	*mean = n ? sum / n : -1;
	return TRUE;
}

static void add_memory(const struct rf_source *source, const GPtrArray *todo, uint64_t memory,
                       struct rf_sample_estimate *out)
{
	const struct rf_totals *totals = rf_source_totals_ahead(source);
	uint64_t sum = 0;

	for (guint i = 0; i < todo->len; i++) {
		struct rf_config cfg;
		uint64_t bytes;

		if (!fitted(todo->pdata[i], totals, &cfg))
			continue;
		bytes = rf_estimate_bytes(&cfg, totals);
		rf_config_clear(&cfg);
		out->largest = MAX(out->largest, bytes);
		/* As the sweep forms its groups. */
		sum = sum + bytes > memory ? bytes : sum + bytes;
		out->at_once = MAX(out->at_once, sum);
	}
}

gboolean rf_sample_trace(const char *dir, const GPtrArray *points, uint64_t memory,
                         struct rf_sample_estimate *out, GError **error)
{
	struct rf_source *source = rf_sweep_open(points->pdata[0], error);
	g_autoptr(GPtrArray) todo = g_ptr_array_new();
	double mean = 0;
	gboolean ok = TRUE;

	memset(out, 0, sizeof(*out));
	if (!source)
		return FALSE;
	for (guint i = 0; i < points->len; i++) {
		struct rf_saved *s = NULL;

		if (dir)
			s = rf_store_read(dir, points->pdata[i],
			                  &rf_source_totals_ahead(source)->digest, NULL);
		if (!s)
			g_ptr_array_add(todo, points->pdata[i]);
		rf_saved_free(s);
	}
	out->todo = todo->len;
	add_memory(source, todo, memory, out);
	if (todo->len)
		ok = time_some(source, todo, &mean, error);
	out->seconds = mean < 0 ? -1 : mean * todo->len;
	if (!ok)
		rf_sweep_prefix(points->pdata[0], error);
	rf_source_close(source);
	return ok;
}
