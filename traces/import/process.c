/* SPDX-License-Identifier: MIT
 * Mappings of a recorded process, and the table of system calls that matter to memory.
 */
#include "traces/import/process.h"

#include <stdlib.h>
#include <string.h>

#include "traces/import/openfiles.h"
#include "traces/vma.h"

#define GRANULE ((uint64_t)1 << RF_GRANULE_SHIFT)
/* read(2) and write(2) move at most this much at once. */
#define MAX_RW 0x7ffff000u

/* ABI numbers of mmap(2), the same on x86, arm and riscv. */
enum {
	ABI_SHARED = 0x01,
	ABI_ANONYMOUS = 0x20,
	ABI_LOCKED = 0x2000,
	ABI_POPULATE = 0x8000,
};

struct rf_process {
	struct rf_builder *b;
	gboolean kernel_accesses, lock_future;
	gboolean kernel_told; /* buffers of system calls come by themselves */
	uint64_t page;        /* size of the recorded machine's */
	struct rf_openfiles *files;
	struct rf_vmas *vmas;
	GHashTable *tasks; /* set of tid */
	gboolean ended;    /* exit_group: whoever still speaks is dying */
	uint64_t brk_end;  /* 0: not known */
	GError **error;    /* during a call */
	gboolean bad;      /* the builder refused an event of this call */
};

struct rf_process *rf_process_new(struct rf_builder *b, gboolean kernel_accesses)
{
	struct rf_process *p = g_new0(struct rf_process, 1);

	p->b = b;
	p->kernel_accesses = kernel_accesses;
	p->page = GRANULE;
	p->files = rf_openfiles_new();
	p->vmas = rf_vmas_new(RF_GRANULE_SHIFT);
	p->tasks = g_hash_table_new(NULL, NULL);
	return p;
}

/* What processes of one recording have in common. */
static struct rf_process *sibling(const struct rf_process *p, struct rf_openfiles *files,
                                  struct rf_vmas *vmas)
{
	struct rf_process *q = g_new0(struct rf_process, 1);

	q->b = p->b;
	q->kernel_accesses = p->kernel_accesses;
	q->kernel_told = p->kernel_told;
	q->page = p->page;
	q->files = files;
	q->vmas = vmas;
	q->tasks = g_hash_table_new(NULL, NULL);
	return q;
}

struct rf_process *rf_process_beside(const struct rf_process *p)
{
	return sibling(p, rf_openfiles_beside(p->files), rf_vmas_new(RF_GRANULE_SHIFT));
}

void rf_process_free(struct rf_process *p)
{
	if (!p)
		return;
	rf_openfiles_free(p->files);
	rf_vmas_free(p->vmas);
	g_hash_table_destroy(p->tasks);
	g_free(p);
}

void rf_process_set_cwd(struct rf_process *p, const char *path)
{
	rf_openfiles_chdir(p->files, path);
}

void rf_process_file_size(struct rf_process *p, const char *path, uint64_t size)
{
	struct rf_inode *ino = rf_openfiles_inode(p->files, path);

	ino->size = MAX(ino->size, size);
}

void rf_process_open_size(struct rf_process *p, int32_t fd, uint64_t size)
{
	struct rf_ofile *of = rf_openfiles_get(p->files, fd);

	if (of && !of->inode->id)
		of->inode->size = MAX(of->inode->size, size);
}

static void emit(struct rf_process *p, const struct rf_event *ev)
{
	if (!p->bad && !rf_builder_event(p->b, ev, p->error))
		p->bad = TRUE;
}

/* The living task with the lowest number: whoever it is shares the address space. */
static gboolean somebody(const struct rf_process *p, uint32_t *tid)
{
	GHashTableIter it;
	gpointer key;

	*tid = UINT32_MAX;
	g_hash_table_iter_init(&it, p->tasks);
	while (g_hash_table_iter_next(&it, &key, NULL))
		*tid = MIN(*tid, GPOINTER_TO_UINT(key));
	return g_hash_table_size(p->tasks) > 0;
}

gboolean rf_process_task(struct rf_process *p, uint32_t tid, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_TASK, .tid = tid };

	if (p->ended || g_hash_table_contains(p->tasks, GUINT_TO_POINTER(tid)))
		return TRUE;
	ev.has_parent = ev.thread = somebody(p, &ev.parent);
	if (!ev.has_parent)
		ev.parent = 0;
	g_hash_table_add(p->tasks, GUINT_TO_POINTER(tid));
	return rf_builder_event(p->b, &ev, error);
}

struct rf_process *rf_process_fork(struct rf_process *p, uint32_t tid, uint32_t child,
                                   GError **error)
{
	struct rf_event ev = {
		.kind = RF_EV_TASK, .tid = child, .parent = tid, .has_parent = TRUE
	};
	struct rf_process *copy;

	if (!rf_builder_event(p->b, &ev, error))
		return NULL;
	copy = sibling(p, rf_openfiles_copy(p->files), rf_vmas_copy(p->vmas));
	g_hash_table_add(copy->tasks, GUINT_TO_POINTER(child));
	copy->brk_end = p->brk_end;
	return copy;
}

void rf_process_kernel_told(struct rf_process *p)
{
	p->kernel_told = TRUE;
}

void rf_process_set_page(struct rf_process *p, uint64_t size)
{
	p->page = size;
}

static int by_number(const void *a, const void *b)
{
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;

	return m < n ? 1 : m > n ? -1 : 0;
}

/* All threads end but one, or (NULL) all: the last first, the one that began last. */
static gboolean end_threads(struct rf_process *p, const uint32_t *but, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_EXIT };
	GHashTableIter it;
	gpointer key;
	guint n = g_hash_table_size(p->tasks), i = 0;
	g_autofree uint32_t *tid = g_new(uint32_t, n + 1);

	g_hash_table_iter_init(&it, p->tasks);
	while (g_hash_table_iter_next(&it, &key, NULL))
		tid[i++] = GPOINTER_TO_UINT(key);
	qsort(tid, n, sizeof(*tid), by_number);
	for (i = 0; i < n; i++) {
		if (but && tid[i] == *but)
			continue;
		ev.tid = tid[i];
		g_hash_table_remove(p->tasks, GUINT_TO_POINTER(tid[i]));
		if (!rf_builder_event(p->b, &ev, error))
			return FALSE;
	}
	return TRUE;
}

gboolean rf_process_end(struct rf_process *p, uint32_t tid, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_EXIT, .tid = tid };

	return !g_hash_table_remove(p->tasks, GUINT_TO_POINTER(tid)) ||
	       rf_builder_event(p->b, &ev, error);
}

int rf_process_kind(struct rf_process *p, uint64_t addr)
{
	const struct rf_vma *v = rf_vmas_find(p->vmas, addr);

	return v ? v->mkind : -1;
}

void rf_process_descriptor(struct rf_process *p, int32_t fd, const char *path)
{
	if (!rf_openfiles_get(p->files, fd))
		rf_openfiles_open(p->files, fd, -100, path, 0);
}

gboolean rf_process_exec(struct rf_process *p, uint32_t tid, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_EXEC, .tid = tid };

	if (!end_threads(p, &tid, error))
		return FALSE;
	rf_vmas_free(p->vmas);
	p->vmas = rf_vmas_new(RF_GRANULE_SHIFT);
	p->brk_end = 0;
	p->lock_future = FALSE;
	return rf_builder_event(p->b, &ev, error);
}

/* ---- ranges ---- */

/* Whole pages around [addr, addr + len); FALSE where that makes no sense. */
static gboolean whole(const struct rf_process *p, uint64_t *addr, uint64_t *len)
{
	uint64_t end;

	if (*len == 0 || __builtin_add_overflow(*addr, *len, &end) ||
	    __builtin_add_overflow(end, p->page - 1, &end))
		return FALSE;
	end &= ~(p->page - 1);
	*addr &= ~(p->page - 1);
	*len = end - *addr;
	return TRUE;
}

/* One event for each part of a range that is mapped. */
static void emit_mapped(struct rf_process *p, const struct rf_event *model, const char *what)
{
	uint64_t at = model->addr, end = model->addr + model->len;
	struct rf_event ev = *model;
	gboolean any = FALSE;

	while (at < end) {
		const struct rf_vma *v = rf_vmas_next(p->vmas, at);

		if (!v || v->start >= end)
			break;
		ev.addr = MAX(at, v->start);
		/* neighbours at once */
		for (at = v->end; at < end; at = v->end) {
			v = rf_vmas_find(p->vmas, at);
			if (!v)
				break;
		}
		ev.len = MIN(at, end) - ev.addr;
		emit(p, &ev);
		any = TRUE;
	}
	if (!any)
		rf_builder_skipped(p->b, what);
}

static void unmap(struct rf_process *p, uint32_t tid, uint64_t addr, uint64_t len)
{
	struct rf_event ev = { .kind = RF_EV_MUNMAP, .tid = tid, .addr = addr, .len = len };

	rf_vmas_unmap(p->vmas, addr, addr + len);
	emit(p, &ev);
}

/* addr and len are whole pages. */
static void map(struct rf_process *p, uint32_t tid, struct rf_event *ev)
{
	struct rf_vma v = {
		.start = ev->addr,
		.end = ev->addr + ev->len,
		.off = ev->off,
		.id = ev->id,
		.prot = ev->prot,
		.mkind = ev->mkind,
		.flags = (ev->shared ? RF_VMA_SHARED : 0) | (ev->locked ? RF_VMA_LOCKED : 0),
	};

	ev->kind = RF_EV_MMAP;
	ev->tid = tid;
	/* MAP_FIXED replaces; so does a mapping whose munmap was lost */
	if (rf_vmas_overlaps(p->vmas, v.start, v.end))
		unmap(p, tid, ev->addr, ev->len);
	rf_vmas_map(p->vmas, &v);
	emit(p, ev);
}

/* The number of a file in the trace; declares it when it is new.  extent: it reaches so far. */
static uint32_t declare(struct rf_process *p, struct rf_inode *ino, uint64_t extent)
{
	if (extent > ino->size)
		ino->size = extent;
	if (!ino->id) {
		struct rf_event ev = { .kind = RF_EV_FILE, .len = ino->size, .name = ino->path };

		ev.id = rf_openfiles_number(p->files, ino);
		emit(p, &ev);
	}
	return ino->id;
}

gboolean rf_process_map(struct rf_process *p, uint32_t tid, uint64_t addr, uint64_t len,
                        uint8_t prot, const char *path, uint64_t off, const char *name,
                        GError **error)
{
	struct rf_event ev = { .addr = addr, .len = len, .prot = prot, .off = off, .name = name };
	uint64_t extent;

	if (!whole(p, &ev.addr, &ev.len) || __builtin_add_overflow(off, ev.len, &extent)) {
		rf_builder_skipped(p->b, "impossible mapping");
		return TRUE;
	}
	p->error = error;
	p->bad = FALSE;
	if (path) {
		struct rf_inode *ino = rf_openfiles_inode(p->files, path);

		ev.mkind = ino->kind == RF_OBJECT_SHMEM ? RF_MAP_SHMEM : RF_MAP_FILE;
		ev.id = ev.mkind == RF_MAP_FILE ? declare(p, ino, extent)
		                                : rf_openfiles_number(p->files, ino);
	}
	map(p, tid, &ev);
	return !p->bad;
}

gboolean rf_process_protect(struct rf_process *p, uint32_t tid, uint64_t addr, uint64_t len,
                            uint8_t prot, GError **error)
{
	struct rf_event ev = {
		.kind = RF_EV_MPROTECT, .tid = tid, .addr = addr, .len = len, .prot = prot
	};

	if (!whole(p, &ev.addr, &ev.len)) {
		rf_builder_skipped(p->b, "impossible mprotect");
		return TRUE;
	}
	p->error = error;
	p->bad = FALSE;
	emit_mapped(p, &ev, "mprotect of an unknown mapping");
	rf_vmas_change(p->vmas, ev.addr, ev.addr + ev.len, TRUE, prot, 0, 0);
	return !p->bad;
}

gboolean rf_process_mapped(struct rf_process *p, uint64_t addr)
{
	return rf_vmas_find(p->vmas, addr) != NULL;
}

/* ---- what the kernel touches ---- */

static void kernel_access(struct rf_process *p, uint32_t tid, enum rf_access type, uint64_t addr,
                          uint64_t len)
{
	if (!p->kernel_accesses || !len)
		return;
	if (len > MAX_RW || addr + len < addr) {
		rf_builder_skipped(p->b, "impossible length of a kernel access");
		return;
	}
	rf_builder_access(p->b, tid, type, addr, len, 1);
}

/* ---- system calls ---- */

struct context {
	struct rf_process *p;
	uint32_t tid;
	const struct rf_call *c;
	unsigned variant; /* of the table's line */
};

#define ARG(i) (x->c->arg[i])
#define FD(i) ((int32_t)(uint32_t)x->c->arg[i])

static void skip(const struct context *x, const char *reason)
{
	rf_builder_skipped(x->p->b, reason);
}

/* The buffer of a call. */
static void buffer(const struct context *x, enum rf_access type, uint64_t addr, uint64_t len)
{
	if (!x->p->kernel_told)
		kernel_access(x->p, x->tid, type, addr, len);
}

static void populate(const struct context *x, uint64_t addr, uint64_t len, gboolean write)
{
	if (len <= MAX_RW)
		kernel_access(x->p, x->tid, write ? RF_WRITE : RF_READ, addr, len);
}

/* mmap(addr, len, prot, flags, fd, off); variant: mmap2, whose offset is in pages of 4 KiB */
static void call_mmap(const struct context *x)
{
	struct rf_event ev = { .addr = x->c->result, .len = ARG(1), .prot = ARG(2) & 7 };
	uint64_t flags = ARG(3), off = x->variant ? ARG(5) << 12 : ARG(5), extent;
	gboolean shared = flags & ABI_SHARED;

	if ((x->variant && ARG(5) >> 52) || (ev.addr & (GRANULE - 1)) || !whole(x->p, &ev.addr, &ev.len) ||
	    __builtin_add_overflow(off, ev.len, &extent)) {
		skip(x, "impossible mmap");
		return;
	}
	ev.locked = (flags & ABI_LOCKED) || x->p->lock_future;
	ev.shared = shared;
	if (flags & ABI_ANONYMOUS) {
		if (shared) {
			ev.mkind = RF_MAP_SHMEM;
			ev.id = rf_openfiles_new_number(x->p->files);
		}
	} else {
		struct rf_ofile *of = rf_openfiles_get(x->p->files, FD(4));

		if (!of) {
			char name[32];

			g_snprintf(name, sizeof(name), "[fd %d]", FD(4));
			of = rf_openfiles_open_unnamed(x->p->files, FD(4), RF_OBJECT_FILE, name);
		}
		switch (of->inode->kind) {
		case RF_OBJECT_ZERO:
			if (shared) {
				ev.mkind = RF_MAP_SHMEM;
				ev.id = rf_openfiles_new_number(x->p->files);
			}
			break;
		case RF_OBJECT_SHMEM:
			ev.mkind = RF_MAP_SHMEM;
			ev.id = rf_openfiles_number(x->p->files, of->inode);
			ev.off = off;
			break;
		case RF_OBJECT_FILE:
		case RF_OBJECT_OTHER:
			ev.mkind = RF_MAP_FILE;
			ev.id = declare(x->p, of->inode, extent);
			ev.off = off;
			break;
		}
	}
	map(x->p, x->tid, &ev);
	if (flags & ABI_POPULATE)
		populate(x, ev.addr, ev.len, !shared && (ev.prot & RF_PROT_W));
}

static void call_munmap(const struct context *x)
{
	uint64_t addr = ARG(0), len = ARG(1);

	if (!whole(x->p, &addr, &len))
		skip(x, "impossible munmap");
	else
		unmap(x->p, x->tid, addr, len);
}

/* mremap(old, oldlen, newlen, flags, newaddr) */
static void call_mremap(const struct context *x)
{
	uint64_t addr = ARG(0), len = ARG(1), to = x->c->result, newlen = ARG(2), end;
	struct rf_event ev = { .kind = RF_EV_MREMAP, .tid = x->tid };
	uint64_t fresh;

	if (!whole(x->p, &addr, &len) || !whole(x->p, &to, &newlen)) {
		skip(x, "impossible mremap");
		return;
	}
	ev.addr = addr, ev.len = len, ev.addr2 = to, ev.len2 = newlen;
	/* what the new place covers beyond the old one goes away */
	fresh = to == addr ? addr + MIN(len, newlen) : to;
	end = to + newlen;
	if (fresh < end && rf_vmas_overlaps(x->p->vmas, fresh, end))
		unmap(x->p, x->tid, fresh, end - fresh);
	if (!rf_vmas_move(x->p->vmas, addr, len, to, newlen)) {
		struct rf_event anon = { .addr = to, .len = newlen, .prot = RF_PROT_R | RF_PROT_W };

		skip(x, "mremap of an unknown mapping");
		map(x->p, x->tid, &anon);
		return;
	}
	emit(x->p, &ev);
}

static void call_brk(const struct context *x)
{
	struct rf_process *p = x->p;
	uint64_t now = x->c->result, start, end;

	if (!now || now > UINT64_MAX - p->page)
		return;
	if (p->brk_end && now > p->brk_end) {
		start = (p->brk_end + p->page - 1) & ~(p->page - 1);
		end = (now + p->page - 1) & ~(p->page - 1);
		/* a recorder may have mapped the first page of the heap ahead */
		for (const struct rf_vma *v; start < end; start = v->end) {
			v = rf_vmas_find(p->vmas, start);
			if (!v)
				break;
		}
		if (start < end) {
			struct rf_event ev = {
				.addr = start,
				.len = end - start,
				.prot = RF_PROT_R | RF_PROT_W,
				.locked = p->lock_future,
				.name = "[heap]",
			};

			map(p, x->tid, &ev);
		}
	} else if (p->brk_end && now < p->brk_end) {
		start = (now + p->page - 1) & ~(p->page - 1);
		end = (p->brk_end + p->page - 1) & ~(p->page - 1);
		if (start < end)
			unmap(p, x->tid, start, end - start);
	}
	p->brk_end = now;
}

static void call_mprotect(const struct context *x)
{
	struct rf_event ev = {
		.kind = RF_EV_MPROTECT,
		.tid = x->tid,
		.addr = ARG(0),
		.len = ARG(1),
		.prot = ARG(2) & 7,
	};

	if (!whole(x->p, &ev.addr, &ev.len)) {
		skip(x, "impossible mprotect");
		return;
	}
	emit_mapped(x->p, &ev, "mprotect of an unknown mapping");
	rf_vmas_change(x->p->vmas, ev.addr, ev.addr + ev.len, TRUE, ev.prot, 0, 0);
}

static void call_madvise(const struct context *x)
{
	static const struct {
		uint8_t abi, advice;
	} table[] = {
		{ 0, RF_ADV_NORMAL },    { 1, RF_ADV_RANDOM },      { 2, RF_ADV_SEQUENTIAL },
		{ 3, RF_ADV_WILLNEED },  { 4, RF_ADV_DONTNEED },    { 8, RF_ADV_FREE },
		{ 14, RF_ADV_HUGEPAGE }, { 15, RF_ADV_NOHUGEPAGE }, { 20, RF_ADV_COLD },
		{ 21, RF_ADV_PAGEOUT },
	};
	struct rf_event ev = {
		.kind = RF_EV_MADVISE, .tid = x->tid, .addr = ARG(0), .len = ARG(1)
	};
	unsigned i;

	if (!whole(x->p, &ev.addr, &ev.len)) {
		skip(x, "impossible madvise");
		return;
	}
	if (ARG(2) == 22 || ARG(2) == 23) { /* MADV_POPULATE_READ, _WRITE */
		populate(x, ev.addr, ev.len, ARG(2) == 23);
		return;
	}
	for (i = 0; i < G_N_ELEMENTS(table); i++)
		if (table[i].abi == ARG(2))
			break;
	if (i == G_N_ELEMENTS(table)) {
		skip(x, "madvise of no consequence");
		return;
	}
	ev.advice = table[i].advice;
	emit_mapped(x->p, &ev, "madvise of an unknown mapping");
}

/* mlock(addr, len), mlock2; variant: munlock */
static void call_mlock(const struct context *x)
{
	struct rf_event ev = {
		.kind = x->variant ? RF_EV_MUNLOCK : RF_EV_MLOCK,
		.tid = x->tid,
		.addr = ARG(0),
		.len = ARG(1),
	};

	if (!whole(x->p, &ev.addr, &ev.len)) {
		skip(x, "impossible mlock");
		return;
	}
	emit_mapped(x->p, &ev, "mlock of an unknown mapping");
	rf_vmas_change(x->p->vmas, ev.addr, ev.addr + ev.len, FALSE, 0,
	               x->variant ? 0 : RF_VMA_LOCKED, x->variant ? RF_VMA_LOCKED : 0);
}

/* mlockall(flags); variant: munlockall() */
static void call_mlockall(const struct context *x)
{
	struct rf_process *p = x->p;
	struct rf_event ev = { .kind = x->variant ? RF_EV_MUNLOCK : RF_EV_MLOCK, .tid = x->tid };
	uint64_t flags = x->variant ? 1 : ARG(0);
	uint32_t n = rf_vmas_count(p->vmas);

	p->lock_future = !x->variant && (flags & 2);
	if (!n || !(flags & 1))
		return;
	ev.addr = rf_vmas_nth(p->vmas, 0)->start;
	ev.len = rf_vmas_nth(p->vmas, n - 1)->end - ev.addr;
	emit_mapped(p, &ev, "");
	rf_vmas_change(p->vmas, ev.addr, ev.addr + ev.len, FALSE, 0, x->variant ? 0 : RF_VMA_LOCKED,
	               x->variant ? RF_VMA_LOCKED : 0);
}

/* ---- files ---- */

/* open(path, flags), openat(dirfd, path, flags), creat(path); variant counts to the path. */
static void call_open(const struct context *x)
{
	int32_t dirfd = x->variant == 1 ? FD(0) : -100;

	if (!x->c->path[0] || x->c->result > INT32_MAX) {
		skip(x, "open without a path");
		return;
	}
	rf_openfiles_open(x->p->files, (int32_t)x->c->result, dirfd, x->c->path[0],
	                  x->variant == 2 ? RF_O_TRUNC : (unsigned)ARG(x->variant + 1));
}

static void call_memfd(const struct context *x)
{
	if (x->c->result <= INT32_MAX)
		rf_openfiles_open_unnamed(x->p->files, (int32_t)x->c->result, RF_OBJECT_SHMEM,
		                          x->c->path[0] ? x->c->path[0] : "memfd");
}

static void call_close(const struct context *x)
{
	rf_openfiles_close(x->p->files, FD(0));
}

static void call_close_range(const struct context *x)
{
	rf_openfiles_close_range(x->p->files, (uint32_t)ARG(0), (uint32_t)ARG(1));
}

static void call_dup(const struct context *x)
{
	if (x->c->result <= INT32_MAX)
		rf_openfiles_dup(x->p->files, FD(0), (int32_t)x->c->result);
}

static void call_fcntl(const struct context *x)
{
	if (x->c->nargs >= 2 && (ARG(1) == 0 || ARG(1) == 1030)) /* F_DUPFD, F_DUPFD_CLOEXEC */
		call_dup(x);
}

static void call_lseek(const struct context *x)
{
	struct rf_ofile *of = rf_openfiles_get(x->p->files, FD(0));

	if (of)
		of->pos = x->c->result;
}

static void call_unlink(const struct context *x)
{
	if (x->c->path[0])
		rf_openfiles_unlink(x->p->files, x->variant ? FD(0) : -100, x->c->path[0]);
}

/* rename(old, new); variant: renameat(olddir, old, newdir, new) */
static void call_rename(const struct context *x)
{
	if (x->c->path[0] && x->c->path[1])
		rf_openfiles_rename(x->p->files, x->variant ? FD(0) : -100, x->c->path[0],
		                    x->variant ? FD(2) : -100, x->c->path[1]);
}

static void call_chdir(const struct context *x)
{
	if (x->c->path[0])
		rf_openfiles_chdir(x->p->files, x->c->path[0]);
}

static void call_fchdir(const struct context *x)
{
	struct rf_ofile *of = rf_openfiles_get(x->p->files, FD(0));

	if (of)
		rf_openfiles_chdir(x->p->files, of->inode->path);
}

static void call_fsync(const struct context *x)
{
	struct rf_ofile *of = rf_openfiles_get(x->p->files, FD(0));
	struct rf_event ev = { .kind = RF_EV_FSYNC, .tid = x->tid };

	if (!of || !of->inode->id || of->inode->kind != RF_OBJECT_FILE)
		return;
	ev.id = of->inode->id;
	emit(x->p, &ev);
}

enum { IO_WRITE = 1, IO_AT = 2, IO_VECTOR = 4, IO_SOCKET = 8 };

/* read(fd, buf, len), pread64(fd, buf, len, off) and their kin.  What a call with a vector touches
 * in user memory is not known: the addresses stand in memory. */
static void call_io(const struct context *x)
{
	uint64_t n = x->c->result, end = 0;
	gboolean write = x->variant & IO_WRITE, vector = x->variant & IO_VECTOR;
	struct rf_ofile *of = x->variant & IO_SOCKET ? NULL : rf_openfiles_get(x->p->files, FD(0));
	struct rf_event ev = { .kind = write ? RF_EV_WRITE : RF_EV_READ, .tid = x->tid, .len = n };
	gboolean file;

	if (n > MAX_RW || (!vector && n > ARG(2))) {
		skip(x, "more bytes moved than asked for");
		return;
	}
	file = n && of && of->inode->kind == RF_OBJECT_FILE;
	if (write && !vector)
		buffer(x, RF_READ, ARG(1), n);
	if (of) {
		if (x->variant & IO_AT)
			ev.off = ARG(3);
		else if (write && of->append)
			ev.off = of->inode->size;
		else
			ev.off = of->pos;
		if (__builtin_add_overflow(ev.off, n, &end)) {
			skip(x, "impossible file offset");
			return;
		}
		if (!(x->variant & IO_AT))
			of->pos = end;
	}
	if (file) {
		ev.id = declare(x->p, of->inode, end);
		emit(x->p, &ev);
	}
	if (!write && !vector)
		buffer(x, RF_WRITE, ARG(1), n);
}

/* getrandom(buf, len) */
static void call_fill(const struct context *x)
{
	if (x->c->result <= ARG(1))
		buffer(x, RF_WRITE, ARG(0), x->c->result);
}

static void call_exit(const struct context *x)
{
	struct rf_event ev = { .kind = RF_EV_EXIT, .tid = x->tid };

	if (g_hash_table_remove(x->p->tasks, GUINT_TO_POINTER(x->tid)))
		emit(x->p, &ev);
}

static void call_exit_group(const struct context *x)
{
	struct rf_process *p = x->p;

	if (!p->bad && !end_threads(p, NULL, p->error))
		p->bad = TRUE;
	p->ended = TRUE;
}

static void call_unmodelled(const struct context *x)
{
	skip(x, "system call that moves file data in a way not followed");
}

/* Sorted by name. */
static const struct entry {
	const char *name;
	unsigned nargs; /* at least so many must be known */
	void (*run)(const struct context *x);
	unsigned variant;
} table[] = {
	{ "brk", 0, call_brk, 0 },
	{ "chdir", 1, call_chdir, 0 },
	{ "close", 1, call_close, 0 },
	{ "close_range", 2, call_close_range, 0 },
	{ "copy_file_range", 0, call_unmodelled, 0 },
	{ "creat", 1, call_open, 2 },
	{ "dup", 1, call_dup, 0 },
	{ "dup2", 2, call_dup, 0 },
	{ "dup3", 2, call_dup, 0 },
	{ "exit", 0, call_exit, 0 },
	{ "exit_group", 0, call_exit_group, 0 },
	{ "fchdir", 1, call_fchdir, 0 },
	{ "fcntl", 1, call_fcntl, 0 },
	{ "fdatasync", 1, call_fsync, 0 },
	{ "fsync", 1, call_fsync, 0 },
	{ "getrandom", 2, call_fill, 0 },
	{ "lseek", 1, call_lseek, 0 },
	{ "madvise", 3, call_madvise, 0 },
	{ "memfd_create", 0, call_memfd, 0 },
	{ "mlock", 2, call_mlock, 0 },
	{ "mlock2", 2, call_mlock, 0 },
	{ "mlockall", 1, call_mlockall, 0 },
	{ "mmap", 6, call_mmap, 0 },
	{ "mmap2", 6, call_mmap, 1 },
	{ "mprotect", 3, call_mprotect, 0 },
	{ "mremap", 3, call_mremap, 0 },
	{ "munlock", 2, call_mlock, 1 },
	{ "munlockall", 0, call_mlockall, 1 },
	{ "munmap", 2, call_munmap, 0 },
	{ "open", 2, call_open, 0 },
	{ "openat", 3, call_open, 1 },
	{ "pread64", 4, call_io, IO_AT },
	{ "preadv", 4, call_io, IO_AT | IO_VECTOR },
	{ "pwrite64", 4, call_io, IO_AT | IO_WRITE },
	{ "pwritev", 4, call_io, IO_AT | IO_WRITE | IO_VECTOR },
	{ "read", 3, call_io, 0 },
	{ "readv", 3, call_io, IO_VECTOR },
	{ "recvfrom", 3, call_io, IO_SOCKET },
	{ "rename", 2, call_rename, 0 },
	{ "renameat", 4, call_rename, 1 },
	{ "renameat2", 4, call_rename, 1 },
	{ "sendfile", 0, call_unmodelled, 0 },
	{ "sendfile64", 0, call_unmodelled, 0 },
	{ "sendto", 3, call_io, IO_SOCKET | IO_WRITE },
	{ "splice", 0, call_unmodelled, 0 },
	{ "unlink", 1, call_unlink, 0 },
	{ "unlinkat", 2, call_unlink, 1 },
	{ "write", 3, call_io, IO_WRITE },
	{ "writev", 3, call_io, IO_WRITE | IO_VECTOR },
};

static int compare(const void *name, const void *entry)
{
	return strcmp(name, ((const struct entry *)entry)->name);
}

gboolean rf_process_call(struct rf_process *p, uint32_t tid, const struct rf_call *c,
                         GError **error)
{
	const struct entry *e =
		bsearch(c->name, table, G_N_ELEMENTS(table), sizeof(*table), compare);
	struct context x = { .p = p, .tid = tid, .c = c };

	if (!e || c->failed || p->ended)
		return TRUE;
	if (c->nargs < e->nargs) {
		rf_builder_skipped(p->b, "system call cut short");
		return TRUE;
	}
	if (!rf_process_task(p, tid, error))
		return FALSE;
	p->error = error;
	p->bad = FALSE;
	x.variant = e->variant;
	e->run(&x);
	return !p->bad;
}
