/* SPDX-License-Identifier: MIT
 * What the kernel counted and what the model says, side by side.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/wrap.h"
#include "sim/verify/verify.h"

#define U64 G_GUINT64_FORMAT

enum from { FROM_STAT, FROM_VMSTAT, FROM_KMEM, FROM_SWAP, FROM_MAX, FROM_OOM };

/* ORDER enum from. */
static const char *const from_names[][2] = {
	{ "memory.stat", "memory.stat" }, { "vmstat (*)", "vmstat (*)" },
	{ "kmem.usage", "memory.stat" },  { "memory.stat", "swap.current" },
	{ "max_usage", "memory.peak" },   { "oom_control", "events" },
};

/* Where /proc/vmstat does not stand in for memory.stat: reclaim at a cgroup's limit is not counted
 * there, or the same name means something else. */
#define NO_VMSTAT 1

static const struct {
	const char *name;
	enum rf_counter counter;
	unsigned flags;
} counters[] = {
	{ "pgfault", RF_C_pgfault, 0 },
	{ "pgmajfault", RF_C_pgmajfault, 0 },
	{ "pgscan_anon", RF_C_pgscan_anon, 0 },
	{ "pgscan_file", RF_C_pgscan_file, 0 },
	{ "pgscan_direct", RF_C_pgscan_direct, NO_VMSTAT },
	{ "pgsteal_anon", RF_C_pgsteal_anon, 0 },
	{ "pgsteal_file", RF_C_pgsteal_file, 0 },
	{ "pgsteal_direct", RF_C_pgsteal_direct, NO_VMSTAT },
	{ "pgrefill", RF_C_pgrefill, NO_VMSTAT },
	{ "pgactivate", RF_C_pgactivate, 0 },
	{ "pgdeactivate", RF_C_pgdeactivate, 0 },
	{ "pgrotated", RF_C_pgrotated, 0 },
	{ "pglazyfree", RF_C_pglazyfree, 0 },
	{ "pglazyfreed", RF_C_pglazyfreed, 0 },
	{ "workingset_refault_anon", RF_C_workingset_refault_anon, 0 },
	{ "workingset_refault_file", RF_C_workingset_refault_file, 0 },
	{ "workingset_activate_anon", RF_C_workingset_activate_anon, 0 },
	{ "workingset_activate_file", RF_C_workingset_activate_file, 0 },
	{ "workingset_restore_anon", RF_C_workingset_restore_anon, 0 },
	{ "workingset_restore_file", RF_C_workingset_restore_file, 0 },
	{ "workingset_nodereclaim", RF_C_workingset_nodereclaim, 0 },
	{ "pswpin", RF_C_pswpin, 0 },
	{ "pswpout", RF_C_pswpout, 0 },
	{ "swap_ra", RF_C_swap_ra, 0 },
	{ "swap_ra_hit", RF_C_swap_ra_hit, 0 },
	{ "pgpgin", RF_C_rf_charge_pages, NO_VMSTAT },    /* v1: pages charged */
	{ "pgpgout", RF_C_rf_uncharge_pages, NO_VMSTAT }, /* v1: pages uncharged */
};

#define SIZE_OF(member) offsetof(struct rf_cgroup_result, member)

static const struct {
	const char *name, *v1, *v2;
	enum from from;
	size_t offset;
} sizes[] = {
	{ "anon", "rss", "anon", FROM_STAT, SIZE_OF(anon) },
	{ "file", "cache", "file", FROM_STAT, SIZE_OF(file) },
	{ "file_mapped", "mapped_file", "file_mapped", FROM_STAT, SIZE_OF(file_mapped) },
	{ "swap", "swap", NULL, FROM_SWAP, SIZE_OF(swap) },
	{ "inactive_anon", "inactive_anon", "inactive_anon", FROM_STAT, SIZE_OF(lru[0]) },
	{ "active_anon", "active_anon", "active_anon", FROM_STAT, SIZE_OF(lru[1]) },
	{ "inactive_file", "inactive_file", "inactive_file", FROM_STAT, SIZE_OF(lru[2]) },
	{ "active_file", "active_file", "active_file", FROM_STAT, SIZE_OF(lru[3]) },
	{ "kernel", NULL, "kernel", FROM_KMEM, SIZE_OF(kernel) },
	{ "usage_max", NULL, NULL, FROM_MAX, SIZE_OF(usage_max) },
};

/* One line: the kernel's value in every run, and the model's. */
struct line {
	const char *name;
	enum from from;
	gboolean size;
	double mean;
	uint64_t min, max, model;
};

/* ---- values ---- */

/* An increase between two texts; both must have the name. */
static gboolean increase(const char *before, const char *after, const char *name, uint64_t *n)
{
	uint64_t a, b;

	if (!rf_vstat_get(before, name, &a) || !rf_vstat_get(after, name, &b))
		return FALSE;
	*n = b > a ? b - a : 0;
	return TRUE;
}

static gboolean counter_value(const struct rf_vrun *r, guint i, enum from *from, uint64_t *n)
{
	uint64_t zero;

	if (increase(r->stat0, r->stat, counters[i].name, n))
		*from = FROM_STAT;
	else if (!(counters[i].flags & NO_VMSTAT) &&
	         increase(r->vmstat0, r->vmstat, counters[i].name, n))
		*from = FROM_VMSTAT;
	else
		return FALSE;
	/* Pages of zeros are swapped without I/O and counted apart; the model does not know
	 * contents. */
	if (counters[i].counter == RF_C_pswpin || counters[i].counter == RF_C_pswpout) {
		gboolean in = counters[i].counter == RF_C_pswpin;

		if (increase(*from == FROM_STAT ? r->stat0 : r->vmstat0,
		             *from == FROM_STAT ? r->stat : r->vmstat,
		             in ? "swpin_zero" : "swpout_zero", &zero))
			*n += zero;
	}
	if (counters[i].counter == RF_C_pgfault)
		*n -= MIN(*n, r->nudges);
	return TRUE;
}

static gboolean size_value(const struct rf_vreport *rep, const struct rf_vrun *r, guint i,
                           uint64_t *n)
{
	const char *name = rep->where->version == RF_CGROUP_V1 ? sizes[i].v1 : sizes[i].v2;

	if (name)
		return rf_vstat_get(r->stat, name, n);
	*n = sizes[i].from == FROM_MAX    ? r->usage_max
	     : sizes[i].from == FROM_SWAP ? r->swap
	                                  : r->kernel;
	return *n != UINT64_MAX;
}

static void add(struct line *l, uint64_t n, guint run, guint nruns)
{
	l->mean += (double)n / nruns;
	l->min = run ? MIN(l->min, n) : n;
	l->max = run ? MAX(l->max, n) : n;
}

static gboolean counter_line(const struct rf_vreport *rep, guint i, struct line *l)
{
	*l = (struct line){ .name = counters[i].name };
	for (guint k = 0; k < rep->runs->len; k++) {
		uint64_t n;

		if (!counter_value(&g_array_index(rep->runs, struct rf_vrun, k), i, &l->from, &n))
			return FALSE;
		add(l, n, k, rep->runs->len);
	}
	l->model = rep->model->counter[counters[i].counter];
	if (l->from == FROM_STAT)
		l->model = g_array_index(rep->model->cgroups, struct rf_cgroup_result, 0)
		                   .counter[counters[i].counter];
	return TRUE;
}

static gboolean size_line(const struct rf_vreport *rep, guint i, struct line *l)
{
	const struct rf_cgroup_result *cg =
		&g_array_index(rep->model->cgroups, struct rf_cgroup_result, 0);

	*l = (struct line){ .name = sizes[i].name, .from = sizes[i].from, .size = TRUE };
	for (guint k = 0; k < rep->runs->len; k++) {
		uint64_t n;

		if (!size_value(rep, &g_array_index(rep->runs, struct rf_vrun, k), i, &n))
			return FALSE;
		add(l, n, k, rep->runs->len);
	}
	l->model = *(const uint64_t *)(const void *)((const char *)cg + sizes[i].offset);
	return TRUE;
}

static void oom_line(const struct rf_vreport *rep, struct line *l)
{
	*l = (struct line){ .name = "oom_kill", .from = FROM_OOM };
	for (guint k = 0; k < rep->runs->len; k++)
		add(l, g_array_index(rep->runs, struct rf_vrun, k).oom_kills, k, rep->runs->len);
	l->model = g_array_index(rep->model->cgroups, struct rf_cgroup_result, 0)
	                   .counter[RF_C_oom_kill];
}

static gboolean error_of(const struct line *l, double *error)
{
	if (l->mean == 0)
		return FALSE;
	*error = ((double)l->model - l->mean) / l->mean;
	return TRUE;
}

gboolean rf_vreport_error(const struct rf_vreport *r, const char *counter, double *error)
{
	struct line l;

	for (guint i = 0; i < G_N_ELEMENTS(counters); i++) {
		if (strcmp(counters[i].name, counter) != 0 || !counter_line(r, i, &l))
			continue;
		*error = 0;
		return error_of(&l, error) || l.model == 0;
	}
	return FALSE;
}

/* ---- for people ---- */

static gboolean nothing(const struct line *l)
{
	return l->max == 0 && l->model == 0;
}

static void put_line(GString *out, const struct rf_vreport *rep, const struct line *l)
{
	unsigned shift = l->size ? 10 : 0;
	g_autofree char *kernel = rf_format_count(((uint64_t)(l->mean + 0.5)) >> shift);
	g_autofree char *model = rf_format_count(l->model >> shift),
			*spread = rf_format_count((l->max - l->min) >> shift);
	char percent[32] = "";
	double error;

	if (nothing(l))
		return;
	if (error_of(l, &error))
		g_snprintf(percent, sizeof(percent), "%+.2f%%", 100 * error);
	else if (l->model)
		g_strlcpy(percent, "new", sizeof(percent));
	g_string_append_printf(out, "%-25s%11s", l->name, kernel);
	if (rep->runs->len > 1)
		g_string_append_printf(out, "%8s", spread);
	g_string_append_printf(out, "%11s%10s  %s\n", model, percent,
	                       from_names[l->from][rep->where->version]);
}

static void heading(GString *out, const struct rf_vreport *rep, const char *what)
{
	g_string_append_printf(out, "\n%-25s%11s", what,
	                       rep->runs->len > 1 ? "kernel mean" : "kernel");
	if (rep->runs->len > 1)
		g_string_append_printf(out, "%8s", "spread");
	g_string_append_printf(out, "%11s%10s  %s\n", "model", "error", "from");
}

static void preamble(GString *out, const struct rf_vreport *rep)
{
	const struct rf_config *c = rep->cfg;
	g_autofree char *limit = rf_format_size(c->limit_bytes),
			*accesses = rf_format_count(rep->plan->accesses);

	g_string_append_printf(out, "trace       %s, %s accesses\n", rep->path, accesses);
	g_string_append_printf(out, "kernel      %s, cgroup %s\n", rep->release,
	                       rep->where->version == RF_CGROUP_V1 ? "v1" : "v2");
	g_string_append_printf(out, "model       %s, rules of %s\n", c->reclaim, c->kernel);
	g_string_append_printf(out,
	                       "limit       %s (%" U64 " pages), swappiness %" PRId64
	                       ", read_ahead_kb %" PRId64 "\n",
	                       limit, c->limit_bytes >> RF_GRANULE_SHIFT, c->swappiness,
	                       c->read_ahead_kb);
	if (rep->swap->name) {
		g_autofree char *size = rf_format_size(rep->swap->size);

		g_string_append_printf(out, "swap        %s, %s%s\n", rep->swap->name, size,
		                       rep->swap->made ? ", set up for this run"
		                                       : ", which was active");
	} else {
		g_string_append(out, "swap        none\n");
	}
	if (rep->poll)
		g_string_append_printf(out,
		                       "statistics  memory.stat read every %" PRId64 " accesses\n",
		                       rep->poll);
	else
		g_string_append(out, "statistics  as fresh as the kernel keeps them\n");
}

void rf_vreport_normal(GString *out, const struct rf_vreport *rep)
{
	gboolean vmstat = FALSE, killed;
	struct line l;

	preamble(out, rep);
	oom_line(rep, &l);
	killed = !nothing(&l);
	heading(out, rep, "counter");
	put_line(out, rep, &l);
	for (guint i = 0; i < G_N_ELEMENTS(counters); i++) {
		if (!counter_line(rep, i, &l))
			continue;
		vmstat |= l.from == FROM_VMSTAT && !nothing(&l);
		put_line(out, rep, &l);
	}
	/* After a kill there is nothing left to measure. */
	if (!killed) {
		heading(out, rep, "size at the end, KiB");
		for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
			if (size_line(rep, i, &l))
				put_line(out, rep, &l);
		}
	}
	g_string_append(out, "\nWhat is 0 on both sides is left out.\n");
	if (vmstat)
		g_string_append(
			out,
			"(*) /proc/vmstat counts the whole system: other activity adds to it.\n");
	for (guint i = 0; i < rep->notes->len; i++)
		rf_wrap(out, rep->notes->pdata[i], 0, 2);
}

/* ---- for programs ---- */

static void csv_line(GString *out, const struct rf_vreport *rep, const struct line *l)
{
	char error[G_ASCII_DTOSTR_BUF_SIZE] = "", mean[G_ASCII_DTOSTR_BUF_SIZE];
	double e;

	g_ascii_formatd(mean, sizeof(mean), "%.1f", l->mean);
	if (error_of(l, &e))
		g_ascii_formatd(error, sizeof(error), "%.6f", e);
	g_string_append_printf(
		out, "%s,%s,%s,%s,%" U64 ",%" U64 ",%" U64 ",%s\n", l->name, l->size ? "B" : "",
		l->from == FROM_VMSTAT ? "vmstat" : from_names[l->from][rep->where->version], mean,
		l->min, l->max, l->model, error);
}

void rf_vreport_csv(GString *out, const struct rf_vreport *rep)
{
	struct line l;

	g_string_append(out, "name,unit,from,kernel_mean,kernel_min,kernel_max,model,error\n");
	oom_line(rep, &l);
	csv_line(out, rep, &l);
	for (guint i = 0; i < G_N_ELEMENTS(counters); i++) {
		if (counter_line(rep, i, &l))
			csv_line(out, rep, &l);
	}
	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		if (size_line(rep, i, &l))
			csv_line(out, rep, &l);
	}
}
