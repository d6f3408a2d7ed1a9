/* SPDX-License-Identifier: MIT
 * refault verify: a trace on the kernel that we stand on, and on the model.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/args.h"
#include "base/file.h"
#include "base/units.h"
#include "base/wrap.h"
#include "sim/cmd/command.h"
#include "sim/config.h"
#include "sim/policy.h"
#include "sim/verify/verify.h"

#define NAME "verify"
#define DEFAULT_POLL 32
#define OWN_MAX 8192 /* pages: what has room */

struct options {
	char *limit, *reclaim, *swappiness, *read_ahead_kb, *swap, *poll, *own_pages, *runs,
		*directory, *max_error;
	char *output_format, *output, *format, *maps;
	GPtrArray *set;
	gboolean quiet;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "limit", 0, RF_ARG_STRING, OFF(limit), "SIZE|Npages|N%",
	  "the cgroup's limit; N% is of the trace's footprint" },
	{ "reclaim", 0, RF_ARG_STRING, OFF(reclaim), "NAME[,OPTION=VALUE...]",
	  "twolist or mglru (default: which of the two the kernel uses now)" },
	{ "swappiness", 0, RF_ARG_STRING, OFF(swappiness), "N",
	  "of the cgroup (v1), of the system while it runs (v2; default 60)" },
	{ "read_ahead_kb", 0, RF_ARG_STRING, OFF(read_ahead_kb), "KiB",
	  "read-ahead of the files (default 128); 0 reads page by page" },
	{ "swap", 0, RF_ARG_STRING, OFF(swap), "auto|none|zram[:SIZE]",
	  "auto (the default) uses the swap that is active, or else sets up zram for the run" },
	{ "stats-poll", 0, RF_ARG_STRING, OFF(poll), "N",
	  "read memory.stat every N accesses (default 32), so that reclaim decides on fresh "
	  "statistics; 0: never, and it decides on what may be 2 s old" },
	{ "own-pages", 0, RF_ARG_STRING, OFF(own_pages), "N",
	  "anonymous pages of the replaying process inside the cgroup (default 0), idle as a "
	  "program's stack and data are; the model gets as many as are found there" },
	{ "runs", 0, RF_ARG_STRING, OFF(runs), "N",
	  "run on the kernel N times and show the spread (default 1)" },
	{ "max-error", 0, RF_ARG_STRING, OFF(max_error), "PERCENT",
	  "exit with 1 when pgmajfault is off by more" },
	{ "directory", 0, RF_ARG_STRING, OFF(directory), "DIR",
	  "where the trace's files are made, on a disk (default /var/tmp)" },
	{ "set", 0, RF_ARG_LIST, OFF(set), "KEY=VALUE", "set an option of the model, as in run" },
	{ "output-format", 0, RF_ARG_STRING, OFF(output_format), "normal|csv",
	  "form of the table (default normal)" },
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE",
	  "write the table there (default -, standard output)" },
	{ "format", 0, RF_ARG_STRING, OFF(format), "NAME",
	  "format of the trace, instead of finding out from its content" },
	{ "maps", 0, RF_ARG_STRING, OFF(maps), "FILE",
	  "mappings of a trace that has none of its own" },
	{ "quiet", 'q', RF_ARG_FLAG, OFF(quiet), NULL, "no progress bar" },
	RF_ARG_END
};

static const char *const text[] = {
	"Run a trace of one task on this kernel, in a memory cgroup of its own, and on the model, "
	"and show what both counted.",
	"Needs root, a memory cgroup (v1 or v2), 4 KiB pages, and for traces with anonymous memory "
	"swap: active, or a zram device that is free.",
	"Whatever is set up (cgroup, files, swap, settings) is noted in /run/refault-verify first "
	"and undone at the end, also after an interrupt; what a killed run left behind is undone "
	"by the next.",
	"Counters that the cgroup does not have come from /proc/vmstat, which counts the whole "
	"system: keep it idle.",
	NULL
};

static void help(GString *out)
{
	g_string_append(out, "Usage: refault verify TRACE --limit SIZE [OPTION]...\n");
	for (guint i = 0; text[i]; i++)
		rf_wrap(out, text[i], 0, 0);
	g_string_append_c(out, '\n');
	rf_args_help(args, out);
}

static void man(GString *out)
{
	for (guint i = 0; text[i]; i++) {
		g_string_append(out, ".PP\n");
		rf_man_escape(out, text[i]);
		g_string_append_c(out, '\n');
	}
	rf_args_man(args, out);
}

/* ---- options ---- */

struct numbers {
	uint64_t poll, own_pages, runs;
	double max_error;
	gboolean csv;
};

static gboolean number(const char *option, const char *value, uint64_t def, uint64_t min,
                       uint64_t max, uint64_t *n, GError **error)
{
	*n = def;
	if (!value || (rf_parse_u64(value, n, NULL) && *n >= min && *n <= max))
		return TRUE;
	rf_set_usage(error,
	             "--%s %s: expected a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
	             option, value, min, max);
	return FALSE;
}

static gboolean parse_numbers(const struct options *o, struct numbers *n, GError **error)
{
	char *end;

	if (!number("stats-poll", o->poll, DEFAULT_POLL, 0, UINT32_MAX, &n->poll, error) ||
	    !number("own-pages", o->own_pages, 0, 0, OWN_MAX, &n->own_pages, error) ||
	    !number("runs", o->runs, 1, 1, 1000, &n->runs, error))
		return FALSE;
	if (o->output_format && strcmp(o->output_format, "normal") != 0 &&
	    strcmp(o->output_format, "csv") != 0) {
		rf_set_usage(error, "--output-format %s: expected normal or csv", o->output_format);
		return FALSE;
	}
	n->csv = o->output_format && strcmp(o->output_format, "csv") == 0;
	n->max_error = -1;
	if (!o->max_error)
		return TRUE;
	n->max_error = g_ascii_strtod(o->max_error, &end);
	if (end > o->max_error && !*end && isfinite(n->max_error) && n->max_error >= 0)
		return TRUE;
	rf_set_usage(error, "--max-error %s: expected a percentage such as 2", o->max_error);
	return FALSE;
}

/* Which of the two policies the kernel runs now. */
static gboolean choose_reclaim(const struct options *o, struct rf_config *cfg, GError **error)
{
	g_autofree char *state = rf_vread("/sys/kernel/mm/lru_gen", "enabled", NULL), *name = NULL,
			*list = NULL;
	gboolean mglru = state && g_ascii_strtoull(state, NULL, 0) & 1;
	const char *now = mglru ? "mglru" : "twolist";

	if (!o->reclaim)
		return rf_config_set(cfg, "reclaim", now, error);
	rf_spec_split(o->reclaim, &name, &list);
	if (strcmp(name, "twolist") != 0 && strcmp(name, "mglru") != 0) {
		rf_set_usage(error, "--reclaim %s: no kernel has it; expected twolist or mglru",
		             name);
		return FALSE;
	}
	if (strcmp(name, now) == 0)
		return rf_config_set(cfg, "reclaim", o->reclaim, error);
	if (!state)
		rf_set_env(error,
		           "--reclaim %s: this kernel has no multi-generational LRU (no "
		           "/sys/kernel/mm/lru_gen); expected twolist",
		           name);
	else
		rf_set_env(error,
		           "--reclaim %s: /sys/kernel/mm/lru_gen/enabled is %s; expected %s, or "
		           "another value there",
		           name, state, now);
	return FALSE;
}

static gboolean choose_kernel(struct rf_config *cfg, const struct utsname *uts, GPtrArray *notes,
                              GError **error)
{
	unsigned major = 0, minor = 0;
	g_autofree char *release = NULL;

	if (strcmp(uts->machine, "x86_64") == 0) {
		cfg->arch = RF_ARCH_X86_64;
	} else if (strcmp(uts->machine, "aarch64") == 0) {
		cfg->arch = RF_ARCH_ARM64;
	} else {
		rf_set_env(
			error,
			"this machine is a %s; expected x86_64 or aarch64, which the model knows",
			uts->machine);
		return FALSE;
	}
	if (sysconf(_SC_PAGESIZE) != (long)RF_VERIFY_PAGE) {
		rf_set_env(error, "pages of this kernel have %ld bytes; expected 4096",
		           sysconf(_SC_PAGESIZE));
		return FALSE;
	}
	if (sscanf(uts->release, "%u.%u", &major, &minor) != 2) {
		rf_set_env(
			error,
			"cannot make sense of the kernel's release %s; expected one such as 6.18",
			uts->release);
		return FALSE;
	}
	release = g_strdup_printf("%u.%u", major, minor);
	if (!rf_config_set(cfg, "kernel", release, error))
		return FALSE;
	if (rf_config_resolve(cfg, NULL, NULL))
		return TRUE;
	g_ptr_array_add(
		notes,
		g_strdup_printf("The model has no rules of %s: it uses those of 6.18.", release));
	return rf_config_set(cfg, "kernel", "6.18", error);
}

static gboolean set_optional(struct rf_config *cfg, const char *name, const char *value,
                             GError **error)
{
	return !value || rf_config_set(cfg, name, value, error);
}

/* What does not need the trace. */
static gboolean configure(const struct options *o, const struct numbers *n, struct rf_config *cfg,
                          const struct utsname *uts, GPtrArray *notes, GError **error)
{
	g_autofree char *ram = g_strdup_printf("%" G_GUINT64_FORMAT,
	                                       (uint64_t)sysconf(_SC_PHYS_PAGES) * RF_VERIFY_PAGE);

	g_autofree char *poll = g_strdup_printf("%" G_GUINT64_FORMAT, n->poll);
	g_autofree char *cpus = g_strdup_printf("%ld", MAX(sysconf(_SC_NPROCESSORS_ONLN), 1));

	if (!o->limit) {
		rf_set_usage(
			error,
			"expected --limit SIZE: the cgroup's limit is what reclaim comes from");
		return FALSE;
	}
	if (!choose_kernel(cfg, uts, notes, error) || !choose_reclaim(o, cfg, error))
		return FALSE;
	if (!set_optional(cfg, "swappiness", o->swappiness, error) ||
	    !set_optional(cfg, "read_ahead_kb", o->read_ahead_kb, error) ||
	    !rf_config_set(cfg, "machine", "x86-64-zram", error) ||
	    !rf_config_set(cfg, "ram", ram, error) ||
	    !rf_config_set(cfg, "stats-poll", poll, error) ||
	    !rf_config_set(cfg, "cpus", cpus, error))
		return FALSE;
	if (geteuid() == 0 && !rf_vkernel_has_zero_page()) {
		g_ptr_array_add(notes,
		                g_strdup("This kernel maps no zero page: a load from fresh memory "
		                         "gets a page of its "
		                         "own. So it does in the model (--fill zero-always)."));
		if (!rf_config_set(cfg, "fill", "zero-always", error))
			return FALSE;
	}
	for (guint i = 0; o->set && i < o->set->len; i++) {
		if (!rf_config_set_any(cfg, o->set->pdata[i], error))
			return FALSE;
	}
	/* Last, so that --set can't leave the two sides with different ones. */
	return rf_config_set(cfg, "limit", o->limit, error);
}

static gboolean check_root(GError **error)
{
	if (geteuid() == 0)
		return TRUE;
	rf_set_env(error, "verify needs root: it makes a memory cgroup, sets limits and swap, and "
	                  "drops files from "
	                  "the page cache");
	return FALSE;
}

/* ---- the runs ---- */

static gboolean mount_has_memory(const char *mount)
{
	g_autofree char *list = rf_vread(mount, "cgroup.controllers", NULL);
	g_auto(GStrv) words = list ? g_strsplit(list, " ", -1) : NULL;

	return words && g_strv_contains((const char *const *)words, "memory");
}

static void clear_run(void *run)
{
	rf_vrun_clear(run);
}

static gboolean kernel_runs(struct rf_vsetup *s, uint64_t n, struct rf_source *source, GArray *runs,
                            GError **error)
{
	for (s->nth = 0; s->nth < n; s->nth++) {
		struct rf_vrun run = { 0 };
		gboolean ok = rf_vrun_kernel(s, source, &run, error);

		g_array_append_val(runs, run);
		if (!ok)
			return FALSE;
	}
	return TRUE;
}

static void make_notes(const struct rf_vsetup *s, const GArray *runs, GPtrArray *notes)
{
	const struct rf_vrun *last = &g_array_index(runs, struct rf_vrun, runs->len - 1);
	const struct rf_vplan *p = s->plan;
	guint grown = 0;

#define NOTE(...) g_ptr_array_add(notes, g_strdup_printf(__VA_ARGS__))
	NOTE("Pages of the replaying process in the cgroup: %" G_GUINT64_FORMAT
	     "%s; the model has them too.",
	     last->own_pages, last->own_known ? "" : " (as asked for: no /proc/kpagecgroup)");
	if (last->stray_pages)
		NOTE("At the end there were %" G_GUINT64_FORMAT " more, which the model has not.",
		     last->stray_pages);
	if (p->offset)
		NOTE("Addresses of the trace were moved by %s0x%" G_GINT64_MODIFIER "x.",
		     p->offset < 0 ? "-" : "", (uint64_t)ABS(p->offset));
	if (p->implicit)
		NOTE("%" G_GUINT64_FORMAT " accesses to nothing got an anonymous page.",
		     p->implicit);
	if (p->widened)
		NOTE("%" G_GUINT64_FORMAT
		     " accesses that their mapping does not allow changed its protection.",
		     p->widened);
	if (p->left_out)
		NOTE("%" G_GUINT64_FORMAT " times advice to use huge pages was left out.",
		     p->left_out);
	if (p->sleep) {
		g_autofree char *time = rf_format_time(p->sleep);

		NOTE("The trace sleeps for %s; so did the run.", time);
	}
	if (last->refused)
		NOTE("The kernel refused %" G_GUINT64_FORMAT " calls (advice, protection, locks).",
		     last->refused);
	for (guint i = 0; i < p->objects->len; i++)
		grown += g_array_index(p->objects, struct rf_vobject, i).grown;
	if (grown)
		NOTE("%u files were made larger than declared, as their accesses need.", grown);
	for (guint i = 0; i < runs->len; i++) {
		const struct rf_vrun *r = &g_array_index(runs, struct rf_vrun, i);

		if (r->stale)
			NOTE("memory.stat may be some counts behind.");
		if (r->oom_kills)
			NOTE("Killed for want of memory after %" G_GUINT64_FORMAT " accesses.",
			     r->accesses);
	}
#undef NOTE
}

struct job {
	struct options o;
	const char *path;
	struct numbers n;
	struct rf_config cfg;
	struct utsname uts;
	GPtrArray *notes;
};

static gboolean write_report(const struct job *j, const struct rf_vreport *r, GError **error)
{
	g_autoptr(GString) table = g_string_new(NULL);
	struct rf_outfile out = { 0 };

	if (j->n.csv)
		rf_vreport_csv(table, r);
	else
		rf_vreport_normal(table, r);
	if (!rf_outfile_open(&out, j->o.output, error))
		return FALSE;
	rf_outfile_write(&out, table->str, table->len);
	if (rf_outfile_commit(&out, error))
		return TRUE;
	rf_outfile_abort(&out);
	return FALSE;
}

static gboolean judge(const struct job *j, const struct rf_vreport *r, GError **error)
{
	double e;

	if (j->n.max_error < 0)
		return TRUE;
	if (rf_vreport_error(r, "pgmajfault", &e) && fabs(e) * 100 <= j->n.max_error)
		return TRUE;
	g_set_error(error, RF_NEGATIVE_ERROR, 0, "%s: pgmajfault is off by more than %s %%",
	            j->path, j->o.max_error);
	return FALSE;
}

/* On the kernel: everything that is set up is in undo, which the caller ends. */
static gboolean on_kernel(struct job *j, struct rf_vsetup *s, struct rf_vswap *swap,
                          struct rf_source *source, GArray *runs, GError **error)
{
	g_autofree char *mounts = rf_vread("/proc/self", "mounts", error);
	const char *want = j->o.swap ? j->o.swap : "auto";

	return mounts && rf_vcgroup_find(mounts, mount_has_memory, &s->where, error) &&
	       rf_vfiles_make(&s->files, j->o.directory ? j->o.directory : "/var/tmp", s->plan,
	                      s->undo, error) &&
	       rf_vswap_set_up(swap, want, s->plan, s->undo, error) &&
	       kernel_runs(s, j->n.runs, source, runs, error);
}

/* The model's side of what was found or set up. */
static gboolean adapt(struct rf_config *cfg, const struct rf_vsetup *s, const struct rf_vswap *swap,
                      const struct rf_totals *totals, GError **error)
{
	g_autofree char *text = swap->size
	                                ? g_strdup_printf("%s:%" G_GUINT64_FORMAT,
	                                                  rf_device_names[swap->device], swap->size)
	                                : g_strdup("none");

	return rf_config_set(cfg, "cgroup", s->where.version == RF_CGROUP_V1 ? "v1" : "v2",
	                     error) &&
	       rf_config_set(cfg, "swap", text, error) && rf_config_resolve(cfg, totals, error);
}

static gboolean verify_planned(struct job *j, struct rf_vplan *plan, struct rf_source *source,
                               GError **error)
{
	struct rf_vsetup s = { .cfg = &j->cfg,
		               .plan = plan,
		               .own_pages = j->n.own_pages,
		               .poll = (int64_t)j->n.poll,
		               .quiet = j->o.quiet };
	struct rf_vswap swap = { 0 };
	g_autoptr(GArray) runs = g_array_new(FALSE, TRUE, sizeof(struct rf_vrun));
	g_autofree char *recovered = NULL;
	struct rf_result result;
	GError *undo_error = NULL;
	sigset_t signals, before;
	gboolean ok;

	g_array_set_clear_func(runs, clear_run);
	s.undo = rf_vundo_new(NULL, &recovered, error);
	if (!s.undo)
		return FALSE;
	if (recovered)
		fprintf(stderr, "refault: undone after a run that was killed: %s\n", recovered);
	ok = on_kernel(j, &s, &swap, source, runs, error);
	/* A second signal would leave things behind. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	rf_vfiles_clear(&s.files);
	if (!rf_vundo_free(s.undo, &undo_error)) {
		if (ok)
			g_propagate_error(error, undo_error);
		else
			g_error_free(undo_error);
		ok = FALSE;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	rf_result_init(&result);
	ok = ok && adapt(&j->cfg, &s, &swap, rf_source_totals_ahead(source), error) &&
	     rf_vrun_model(&j->cfg, plan, g_array_index(runs, struct rf_vrun, 0).own_pages, source,
	                   j->o.quiet, &result, error);
	if (ok) {
		const struct rf_vreport r = {
			.path = j->path,
			.cfg = &j->cfg,
			.plan = plan,
			.swap = &swap,
			.where = &s.where,
			.release = j->uts.release,
			.notes = j->notes,
			.runs = runs,
			.model = &result,
			.poll = (int64_t)j->n.poll,
		};

		make_notes(&s, runs, j->notes);
		ok = write_report(j, &r, error) && judge(j, &r, error);
	}
	rf_result_clear(&result);
	rf_vswap_clear(&swap);
	g_free(s.where.mount);
	return ok;
}

static gboolean verify(struct job *j, GError **error)
{
	const struct rf_source_options options = { .format = j->o.format, .maps = j->o.maps };
	struct rf_source *source = rf_source_open(j->path, &options, error);
	struct rf_vplan plan;
	gboolean ok;

	if (source)
		source = rf_source_spool(source, error);
	if (!source)
		return FALSE;
	rf_vplan_init(&plan);
	ok = rf_config_resolve(&j->cfg, rf_source_totals_ahead(source), error) &&
	     rf_vplan_make(&plan, source, error);
	if (!ok && !g_str_has_prefix((*error)->message, j->path))
		g_prefix_error(error, "%s: ", j->path);
	ok = ok && check_root(error) && verify_planned(j, &plan, source, error);
	rf_vplan_clear(&plan);
	rf_source_close(source);
	return ok;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	struct job *j = call->block;

	(void)code;
	if (uname(&j->uts)) {
		rf_set_env(error, "uname: %s", g_strerror(errno));
		return FALSE;
	}
	if (!parse_numbers(&j->o, &j->n, error) ||
	    !configure(&j->o, &j->n, &j->cfg, &j->uts, j->notes, error))
		return FALSE;
	if (call->operands->len != 1) {
		rf_set_usage(error, "expected one trace; see `refault help verify'");
		return FALSE;
	}
	j->path = call->operands->pdata[0];
	return verify(j, error);
}

static void init(void *block)
{
	struct job *j = block;

	rf_config_init(&j->cfg);
	j->notes = g_ptr_array_new_with_free_func(g_free);
}

static void clear(void *block)
{
	struct job *j = block;

	rf_config_clear(&j->cfg);
	g_ptr_array_unref(j->notes);
}

const struct rf_command rf_command_verify = {
	.name = NAME,
	.summary = "compare the model with the kernel that runs here (root)",
	.size = sizeof(struct job),
	.args = args,
	.init = init,
	.clear = clear,
	.run = run,
	.help = help,
	.man = man,
};
