/* SPDX-License-Identifier: MIT
 * One run of a trace on the kernel: the parent's side.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "sim/progress.h"
#include "sim/verify/verify.h"

#define U64 G_GUINT64_FORMAT
#define HEX "0x%" G_GINT64_MODIFIER "x"

struct child {
	struct rf_vsetup *setup;
	struct rf_vring *ring;
	char *cgroup;
	pid_t pid; /* 0: none, or waited for */
	int status;
};

/* ORDER enum rf_vop_kind. */
static const char *const op_names[] = {
	"load",    "store", "mmap",  "munmap", "mremap", "mprotect", "madvise", "mlock",
	"munlock", "read",  "write", "fsync",  "think",  "at",       "",        "",
};

static void failed(const struct child *c, GError **error)
{
	const struct rf_vshared *s = c->ring->shared;
	uint64_t addr = s->failed_addr - (uint64_t)c->setup->plan->offset;
	const char *name = s->failed_kind < G_N_ELEMENTS(op_names) ? op_names[s->failed_kind] : "?";

	if (s->error < 0)
		rf_set_env(error,
		           "the replaying process got signal %d (%s) at address " HEX
		           " of the trace, after %" U64 " accesses",
		           -s->error, strsignal(-s->error), addr, s->accesses);
	else if (s->failed_kind >= RF_VOP_FREAD)
		rf_set_env(error, "record %" U64 ": %s of %" U64 " bytes: the kernel says: %s",
		           s->failed_record, name, s->failed_len, g_strerror(s->error));
	else
		rf_set_env(error,
		           "record %" U64 ": %s of %" U64 " bytes at " HEX ": the kernel says: %s",
		           s->failed_record, name, s->failed_len, addr, g_strerror(s->error));
}

/* Can the child still do what it is told? */
static gboolean alive(void *data, GError **error)
{
	struct child *c = data;

	if (rf_interrupted()) {
		rf_set_interrupted(error);
		return FALSE;
	}
	if (__atomic_load_n(&c->ring->shared->phase, __ATOMIC_ACQUIRE) == RF_VPHASE_FAILED) {
		failed(c, error);
		return FALSE;
	}
	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->pid = 0;
	if (c->pid)
		return TRUE;
	if (WIFSIGNALED(c->status))
		rf_set_env(error, "the replaying process was killed by signal %d (%s)",
		           WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
	else
		rf_set_env(error, "the replaying process ended early, with status %d",
		           WEXITSTATUS(c->status));
	return FALSE;
}

static gboolean wait_phase(struct child *c, uint32_t phase, GError **error)
{
	uint32_t is;

	while ((is = __atomic_load_n(&c->ring->shared->phase, __ATOMIC_ACQUIRE)) != phase) {
		if (!alive(c, error))
			return FALSE;
		rf_vwait(&c->ring->shared->phase, is, 20);
	}
	return TRUE;
}

static void go(struct child *c, uint32_t phase)
{
	__atomic_store_n(&c->ring->shared->go, phase, __ATOMIC_RELEASE);
	rf_vwake(&c->ring->shared->go);
}

static void end_child(struct child *c)
{
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

/* ---- the start ---- */

static int choose_cpu(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -1;
	for (int i = CPU_SETSIZE - 1; i >= 0; i--) {
		if (CPU_ISSET(i, &cpus))
			return i;
	}
	return -1;
}

static gboolean make_layout(struct rf_vlayout *layout, struct rf_vplan *plan, GError **error)
{
	g_autofree char *min = rf_vread("/proc/sys/vm", "mmap_min_addr", NULL),
			*maps = rf_vread("/proc/self", "maps", error);
	uint64_t least = 0;

	if (min)
		rf_parse_u64(min, &least, NULL);
	if (!maps || !rf_vlayout_parse(layout, maps, least, error))
		return FALSE;
	if (rf_vlayout_place(layout, plan, error))
		return TRUE;
	rf_vlayout_clear(layout);
	return FALSE;
}

static gboolean start_child(struct child *c, const struct rf_vlayout *layout, GError **error)
{
	struct rf_vsetup *s = c->setup;
	g_autofree char *path = g_build_filename(c->cgroup, "memory.stat", NULL);
	struct rf_vchild child = {
		.shared = c->ring->shared,
		.layout = layout,
		.files = &s->files,
		.lock_fd = rf_vundo_lock_fd(s->undo),
		.stat_fd = open(path, O_RDONLY | O_CLOEXEC),
		.poll = (uint32_t)s->poll,
		.parent = getpid(),
		.cpu = choose_cpu(),
		.nudge = c->ring->nudge,
		.nudge_bytes = c->ring->nudge_bytes,
	};

	if (child.stat_fd < 0) {
		rf_set_env(error, "cannot read %s: %s", path, g_strerror(errno));
		return FALSE;
	}
	c->ring->shared->own_pages = s->own_pages;
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0)
		rf_vchild_main(&child);
	close(child.stat_fd);
	if (c->pid > 0)
		return TRUE;
	c->pid = 0;
	rf_set_env(error, "cannot start a process: %s", g_strerror(errno));
	return FALSE;
}

static gboolean enter(struct child *c, GError **error)
{
	g_autofree char *pid = g_strdup_printf("%d", (int)c->pid);

	return wait_phase(c, RF_VPHASE_PREPARED, error) &&
	       rf_vwrite(c->cgroup, "cgroup.procs", pid, error);
}

/* ---- statistics ---- */

static gboolean read_stats(const struct child *c, char **stat, char **vmstat, GError **error)
{
	/* Fold what each CPU has counted; a kernel that can't is slightly behind. */
	rf_vwrite("/proc/sys/vm", "stat_refresh", "1", NULL);
	*vmstat = rf_vread("/proc", "vmstat", error);
	if (*vmstat)
		*stat = rf_vread(c->cgroup, "memory.stat", error);
	return *vmstat && *stat;
}

static uint64_t read_size(const char *cgroup, const char *file)
{
	g_autofree char *text = rf_vread(cgroup, file, NULL);
	uint64_t v;

	return text && rf_parse_u64(text, &v, NULL) ? v : UINT64_MAX;
}

static void read_sizes(const struct child *c, struct rf_vrun *out)
{
	gboolean v1 = c->setup->where.version == RF_CGROUP_V1;

	/* v1 tells swap in memory.stat, v2 kernel memory. */
	out->swap = v1 ? UINT64_MAX : read_size(c->cgroup, "memory.swap.current");
	out->kernel = v1 ? read_size(c->cgroup, "memory.kmem.usage_in_bytes") : UINT64_MAX;
	out->usage_max = read_size(c->cgroup, v1 ? "memory.max_usage_in_bytes" : "memory.peak");
}

/* Pages of the child that are charged to the cgroup and are not the trace's. */
static gboolean count_own(const struct child *c, const struct rf_vlayout *layout,
                          gboolean without_room, uint64_t *pages)
{
	const struct rf_vplan *plan = c->setup->plan;
	g_autoptr(GArray) except = g_array_new(FALSE, FALSE, sizeof(struct rf_vrange));
	struct rf_vrange r = { layout->own, layout->own + RF_VERIFY_OWN_ROOM };

	if (without_room)
		g_array_append_val(except, r);
	for (uint32_t i = 0; i < rf_vmas_count(plan->used); i++) {
		const struct rf_vma *v = rf_vmas_nth(plan->used, i);

		r = (struct rf_vrange){ v->start + (uint64_t)plan->offset,
			                v->end + (uint64_t)plan->offset };
		g_array_append_val(except, r);
	}
	return rf_vcgroup_own_pages(c->cgroup, c->pid,
	                            (const struct rf_vrange *)(void *)except->data, except->len,
	                            pages);
}

/* ---- feeding ---- */

static gboolean put(void *data, const struct rf_vop *op, GError **error)
{
	struct child *c = data;
	struct rf_vop moved = *op;

	moved.addr += (uint64_t)c->setup->plan->offset;
	moved.addr2 += (uint64_t)c->setup->plan->offset;
	return rf_vring_put(c->ring, &moved, alive, c, error);
}

static gboolean feed(struct child *c, struct rf_source *source, GError **error)
{
	struct rf_vtrace *t = rf_vtrace_new(c->setup->plan, FALSE, put, c);
	struct rf_progress *progress = c->setup->quiet ? NULL : rf_progress_new("kernel");
	const struct rf_vop end = { .kind = RF_VOP_END };
	struct rf_item item;
	gboolean ok;

	do {
		ok = alive(c, error) && rf_source_next(source, &item, error) &&
		     rf_vtrace_item(t, &item, error);
		if (ok && progress)
			rf_progress_update(progress, rf_source_progress(source),
			                   c->ring->shared->accesses);
	} while (ok && item.kind != RF_ITEM_END);
	rf_vtrace_free(t);
	ok = ok && rf_vring_put(c->ring, &end, alive, c, error) &&
	     wait_phase(c, RF_VPHASE_DONE, error);
	rf_progress_end(progress);
	return ok;
}

/* Is what ended the child the kernel's want of memory?  Then it is a result. */
static gboolean was_oom(struct child *c, struct rf_vrun *out)
{
	if (c->pid || !WIFSIGNALED(c->status) || WTERMSIG(c->status) != SIGKILL)
		return FALSE;
	out->oom_kills = rf_vcgroup_oom_kills(&c->setup->where, c->cgroup);
	return out->oom_kills > 0;
}

static gboolean run_child(struct child *c, const struct rf_vlayout *layout,
                          struct rf_source *source, struct rf_vrun *out, GError **error)
{
	const struct rf_vshared *s = c->ring->shared;
	GError *why = NULL;

	if (!start_child(c, layout, error) || !enter(c, error))
		return FALSE;
	go(c, RF_VPHASE_PREPARED);
	if (!wait_phase(c, RF_VPHASE_ENTERED, error) ||
	    !read_stats(c, &out->stat0, &out->vmstat0, error))
		return FALSE;
	go(c, RF_VPHASE_ENTERED);
	if (!wait_phase(c, RF_VPHASE_OWN, error))
		return FALSE;
	out->own_known = count_own(c, layout, FALSE, &out->own_pages);
	if (!out->own_known)
		out->own_pages = c->setup->own_pages;
	go(c, RF_VPHASE_OWN);
	if (feed(c, source, &why)) {
		out->nudges = s->nudged;
		if (out->own_known)
			count_own(c, layout, TRUE, &out->stray_pages);
	} else if (was_oom(c, out)) {
		g_clear_error(&why);
	} else {
		g_propagate_error(error, why);
		return FALSE;
	}
	read_sizes(c, out);
	out->accesses = s->accesses;
	out->ns = s->ns;
	out->refused = s->refused;
	out->stale = s->stale;
	return read_stats(c, &out->stat, &out->vmstat, error);
}

gboolean rf_vrun_kernel(struct rf_vsetup *s, struct rf_source *source, struct rf_vrun *out,
                        GError **error)
{
	struct child c = { .setup = s };
	struct rf_vlayout layout = { 0 };
	guint depth = rf_vundo_depth(s->undo);
	gboolean ok;

	ok = rf_source_rewind(source, error) &&
	     (c.cgroup = rf_vcgroup_make(&s->where, s->undo, s->cfg, s->nth, error)) &&
	     rf_vfiles_open(&s->files, s->plan, s->undo, s->cfg->read_ahead_kb, error) &&
	     (c.ring = rf_vring_new((guint)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1), error)) &&
	     make_layout(&layout, s->plan, error) && run_child(&c, &layout, source, out, error);
	end_child(&c);
	rf_vring_free(c.ring);
	rf_vlayout_clear(&layout);
	rf_vfiles_close(&s->files);
	g_free(c.cgroup);
	while (rf_vundo_depth(s->undo) > depth) {
		if (!rf_vundo_pop(s->undo, ok ? error : NULL))
			return FALSE;
	}
	return ok;
}

void rf_vrun_clear(struct rf_vrun *r)
{
	g_free(r->stat);
	g_free(r->stat0);
	g_free(r->vmstat);
	g_free(r->vmstat0);
	memset(r, 0, sizeof(*r));
}
