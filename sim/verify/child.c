/* SPDX-License-Identifier: MIT
 * The child that does what the trace says.  All of its own memory is touched before it enters the
 * cgroup and stays charged elsewhere; from then on it uses only that, the ring, and the trace's own
 * mappings.  So nothing here may allocate, open, print or grow the stack once it has entered.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sim/verify/verify.h"

#define STACK_BYTES ((size_t)256 << 10)
#define PRIVATE_MAX ((uint64_t)8 << 20) /* larger mappings of ours are data of the parent */
#define TABLE_BYTES ((size_t)2 << 20)   /* what a page table covers */
#define VECTORS 64
#define READ_MAX ((uint64_t)0x7ffff000) /* what one call moves */

/* No sanitizer may look at these accesses: they are to whole pages, whatever lies in them, and what
 * it keeps about them would be charged to the cgroup. */
#define UNWATCHED __attribute__((no_sanitize("address")))

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* ORDER enum rf_advice. */
static const int advices[RF_NADVICE] = {
	MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED,
	MADV_FREE,   MADV_COLD,   MADV_PAGEOUT,    MADV_HUGEPAGE, MADV_NOHUGEPAGE,
};

static struct rf_vshared *shared; /* for the signal handler */

static void set_phase(uint32_t phase)
{
	__atomic_store_n(&shared->phase, phase, __ATOMIC_RELEASE);
	rf_vwake(&shared->phase);
}

static void wait_for_go(uint32_t phase)
{
	uint32_t go;

	set_phase(phase);
	while ((go = __atomic_load_n(&shared->go, __ATOMIC_ACQUIRE)) < phase)
		rf_vwait(&shared->go, go, 1000);
}

/* The parent kills us when it has read what it wants. */
static void stay(uint32_t phase) G_GNUC_NORETURN;
static void stay(uint32_t phase)
{
	set_phase(phase);
	for (;;)
		pause();
}

static void fail(const struct rf_vop *op, int error) G_GNUC_NORETURN;
static void fail(const struct rf_vop *op, int error)
{
	shared->error = error;
	shared->failed_kind = op->kind;
	shared->failed_addr = op->addr;
	shared->failed_len = op->len;
	shared->failed_record = op->record;
	stay(RF_VPHASE_FAILED);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const struct rf_vop op = { .kind = RF_VOP_READ,
		                   .addr = (uint64_t)(uintptr_t)info->si_addr };

	(void)context;
	fail(&op, -signal);
}

/* ---- before the cgroup ---- */

static void touch_stack(void)
{
	volatile char room[STACK_BYTES];

	for (size_t i = 0; i < sizeof(room); i += RF_VERIFY_PAGE)
		room[i] = 1;
	(void)room[0];
}

/* Copies of what is written to, mappings of what is read: no fault of our own is left for later. */
UNWATCHED static void touch_own(const struct rf_vlayout *l)
{
	for (guint i = 0; i < l->writable->len; i++) {
		const struct rf_vrange *r = &g_array_index(l->writable, struct rf_vrange, i);

		if (r->end - r->start > PRIVATE_MAX)
			continue;
		for (uint64_t at = r->start; at < r->end; at += RF_VERIFY_PAGE) {
			volatile char *p = (volatile char *)(uintptr_t)at;

			*p = *p;
		}
	}
	for (guint i = 0; i < l->files->len; i++) {
		const struct rf_vrange *r = &g_array_index(l->files, struct rf_vrange, i);

		madvise((void *)(uintptr_t)r->start, r->end - r->start, MADV_POPULATE_READ);
	}
}

static void touch_shared(void)
{
	volatile char *p = (volatile char *)shared;

	for (size_t i = 0; i < sizeof(*shared); i += RF_VERIFY_PAGE)
		p[i] = p[i];
}

static void catch_faults(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = on_fault;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	/* Signals to the terminal's group are the parent's business. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
}

/* ---- statistics ---- */

/* A read of memory.stat folds what the CPUs have counted, once enough is pending. */
static void poll_stat(const struct rf_vchild *c)
{
	if (pread(c->stat_fd, shared->stat, sizeof(shared->stat), 0) < 0)
		shared->refused++;
}

/* pgfault in what was polled last. */
static uint64_t polled_faults(void)
{
	static const char name[] = "\npgfault ";
	const char *p = shared->stat;
	uint64_t n = 0;

	shared->stat[sizeof(shared->stat) - 1] = 0;
	p = strstr(p, name);
	if (!p)
		return 0;
	for (p += sizeof(name) - 1; *p >= '0' && *p <= '9'; p++)
		n = 10 * n + (uint64_t)(*p - '0');
	return n;
}

/* Make enough pending: store faults, one a page, on memory that is there but that we have not
 * mapped yet.  Nothing else changes: it is charged to the parent, and a fault that finds its page
 * drains no batch.  (Letting go of one page again and again would; and fresh memory is charged, as
 * not every kernel maps a zero page for a load.)  The kernel's own fold, every 2 s, may come
 * between and leave too little for ours: done when the last round is seen in full. */
static void nudge(const struct rf_vchild *c, unsigned half)
{
	const size_t round = c->nudge_bytes / 2 / RF_VRING_ROUNDS;
	volatile char *p = c->nudge + half * (c->nudge_bytes / 2);
	uint64_t seen = UINT64_MAX;

	shared->nudged = 0;
	for (unsigned i = 0; i < RF_VRING_ROUNDS; i++, p += round) {
		struct rusage before, after;
		uint64_t faults, now;

		getrusage(RUSAGE_SELF, &before);
		for (size_t at = 0; at < round; at += RF_VERIFY_PAGE)
			p[at] = 2;
		getrusage(RUSAGE_SELF, &after);
		faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
		shared->nudged += faults;
		poll_stat(c);
		now = polled_faults();
		if (now - seen == faults)
			return;
		seen = now;
	}
	shared->stale = TRUE;
}

/* Its page tables are not to be charged to the cgroup either. */
static void prepare_nudge(const struct rf_vchild *c)
{
	volatile char *p = c->nudge;

	for (size_t i = 0; i < c->nudge_bytes; i += TABLE_BYTES)
		p[i] = 2;
	p[c->nudge_bytes - 1] = 2;
}

UNWATCHED static void own_pages(const struct rf_vchild *c)
{
	uint64_t bytes = shared->own_pages * RF_VERIFY_PAGE;
	const struct rf_vop op = { .kind = RF_VOP_MMAP, .addr = c->layout->own, .len = bytes };
	volatile char *p;

	if (!bytes)
		return;
	p = mmap((void *)(uintptr_t)c->layout->own, bytes, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		fail(&op, errno);
	for (uint64_t i = 0; i < bytes; i += RF_VERIFY_PAGE)
		p[i] = 1;
}

/* ---- the trace ---- */

struct replay {
	const struct rf_vchild *child;
	uint32_t poll_left, serial;
	uint64_t start;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

UNWATCHED static inline void access_page(struct replay *r, const struct rf_vunit *u)
{
	if (u->kind == RF_VOP_WRITE)
		*(volatile uint32_t *)(uintptr_t)u->addr =
			++r->serial | 1; /* never a page of zeros */
	else
		(void)*(volatile const uint8_t *)(uintptr_t)u->addr;
}

/* The statistics are read before the first of every so many records: accesses and calls. */
static inline uint32_t count_records(struct replay *r, uint32_t n)
{
	if (!r->poll_left) {
		poll_stat(r->child);
		r->poll_left = r->child->poll;
	}
	n = MIN(n, r->poll_left);
	r->poll_left -= n;
	return n;
}

/* A run is one access for each read of the statistics that falls into it: between those, nothing
 * happens that a second access to the same page could show. */
static void touch(struct replay *r, const struct rf_vunit *u)
{
	uint32_t left = u->count;

	shared->accesses += left;
	if (!r->child->poll || !left) {
		access_page(r, u);
		return;
	}
	while (left) {
		left -= count_records(r, left);
		access_page(r, u);
	}
}

/* All in one call, into the same buffer again and again. */
static void rw(const struct replay *r, const struct rf_vop *op)
{
	struct iovec v[VECTORS];
	const uint64_t most = VECTORS * sizeof(shared->buffer);
	int fd = r->child->files->fd[op->object];
	uint64_t done = 0, len = MIN(op->len, READ_MAX);

	while (done < len) {
		uint64_t n = MIN(len - done, most), left = n;
		ssize_t got;
		int i = 0;

		for (; left; i++) {
			v[i].iov_base = shared->buffer;
			v[i].iov_len = MIN(left, sizeof(shared->buffer));
			left -= v[i].iov_len;
		}
		got = op->kind == RF_VOP_FREAD ? preadv(fd, v, i, (off_t)(op->off + done))
		                               : pwritev(fd, v, i, (off_t)(op->off + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			fail(op, errno);
		if (got == 0)
			return; /* the end of the file */
		done += (uint64_t)got;
	}
}

static int prot_of(const struct rf_vop *op)
{
	/* What may be executed is fetched with loads here; x86 lets what is written be read. */
	return (op->prot ? PROT_READ : PROT_NONE) | (op->prot & RF_PROT_W ? PROT_WRITE : 0) |
	       (op->prot & RF_PROT_X ? PROT_EXEC : 0);
}

static void map(const struct replay *r, const struct rf_vop *op)
{
	void *at = (void *)(uintptr_t)op->addr;
	int fd = op->object == RF_VOP_NO_OBJECT ? -1 : r->child->files->fd[op->object];
	int flags = MAP_FIXED | MAP_NORESERVE | (op->shared ? MAP_SHARED : MAP_PRIVATE) |
	            (op->locked ? MAP_LOCKED : 0) | (fd < 0 ? MAP_ANONYMOUS : 0);

	if (mmap(at, op->len, prot_of(op), flags, fd, (off_t)op->off) != at)
		fail(op, errno);
}

static void remap(const struct rf_vop *op)
{
	void *at = (void *)(uintptr_t)op->addr, *to = (void *)(uintptr_t)op->addr2;

	if (at == to ? mremap(at, op->len, op->len2, 0) != at
	             : mremap(at, op->len, op->len2, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		fail(op, errno);
}

static void pause_until(uint64_t when)
{
	const struct timespec t = { .tv_sec = (time_t)(when / 1000000000),
		                    .tv_nsec = (long)(when % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Calls that the traced program may have got an error from as well. */
static void may_fail(int result)
{
	if (result)
		shared->refused++;
}

static void event(struct replay *r, const struct rf_vunit *u)
{
	struct rf_vop op;
	void *at;

	rf_vring_op(u, &op);
	if (r->child->poll && op.count)
		count_records(r, op.count);
	at = (void *)(uintptr_t)op.addr;
	switch (op.kind) {
	case RF_VOP_MMAP:
		map(r, &op);
		break;
	case RF_VOP_MUNMAP:
		if (munmap(at, op.len))
			fail(&op, errno);
		break;
	case RF_VOP_MREMAP:
		remap(&op);
		break;
	case RF_VOP_MPROTECT:
		may_fail(mprotect(at, op.len, prot_of(&op)));
		break;
	case RF_VOP_MADVISE:
		may_fail(madvise(at, op.len, advices[op.advice]));
		break;
	case RF_VOP_MLOCK:
		may_fail(mlock(at, op.len));
		break;
	case RF_VOP_MUNLOCK:
		may_fail(munlock(at, op.len));
		break;
	case RF_VOP_FREAD:
	case RF_VOP_FWRITE:
		rw(r, &op);
		break;
	case RF_VOP_FSYNC:
		may_fail(fsync(r->child->files->fd[op.object]));
		break;
	case RF_VOP_SLEEP:
		pause_until(now() + op.len);
		break;
	case RF_VOP_UNTIL:
		pause_until(r->start + op.len);
		break;
	}
}

static void replay(const struct rf_vchild *c)
{
	struct replay r = { .child = c, .start = now() };
	struct rusage before, after;
	gboolean end = FALSE;

	getrusage(RUSAGE_SELF, &before);
	while (!end) {
		const struct rf_vunit *u = rf_vring_slot(shared);

		for (; u->kind != RF_VOP_NEXT && !end; u += rf_vop_units(u->kind)) {
			if (rf_vop_is_touch(u->kind))
				touch(&r, u);
			else if (u->kind == RF_VOP_END)
				end = TRUE;
			else
				event(&r, u);
		}
		rf_vring_took(shared);
	}
	shared->ns = now() - r.start;
	getrusage(RUSAGE_SELF, &after);
	shared->minflt = (uint64_t)(after.ru_minflt - before.ru_minflt);
	shared->majflt = (uint64_t)(after.ru_majflt - before.ru_majflt);
}

void rf_vchild_main(const struct rf_vchild *c)
{
	shared = c->shared;
	close(c->lock_fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != c->parent)
		_exit(1);
	if (c->cpu >= 0) {
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		CPU_SET(c->cpu, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
	}
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	catch_faults();
	touch_own(c->layout);
	touch_stack();
	touch_shared();
	prepare_nudge(c);
	poll_stat(c);
	now();
	wait_for_go(RF_VPHASE_PREPARED);
	nudge(c, 0);
	wait_for_go(RF_VPHASE_ENTERED);
	own_pages(c);
	wait_for_go(RF_VPHASE_OWN);
	replay(c);
	nudge(c, 1);
	stay(RF_VPHASE_DONE);
}
