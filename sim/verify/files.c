/* SPDX-License-Identifier: MIT
 * The files of a trace: data of the right size in a directory of our own on a real file system,
 * none of it in the page cache when the run begins.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/rng.h"
#include "base/units.h"
#include "sim/verify/verify.h"

#define CHUNK ((size_t)1 << 20)

/* File systems whose files are memory. */
static const unsigned long memory_fs[] = {
	0x01021994, /* tmpfs */
	0x858458f6, /* ramfs */
	0x958458f6, /* hugetlbfs */
};

static char *object_path(const struct rf_vfiles *f, guint i)
{
	g_autofree char *name = g_strdup_printf("%u", i);

	return g_build_filename(f->dir, name, NULL);
}

static const struct rf_vobject *object(const struct rf_vplan *plan, guint i)
{
	return &g_array_index(plan->objects, struct rf_vobject, i);
}

static gboolean check_base(const char *base, uint64_t bytes, GError **error)
{
	struct statfs fs;
	struct statvfs vfs;

	if (statfs(base, &fs) || statvfs(base, &vfs)) {
		rf_set_env(error, "--directory %s: %s", base, g_strerror(errno));
		return FALSE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(memory_fs); i++) {
		if ((unsigned long)fs.f_type == memory_fs[i]) {
			rf_set_env(error,
			           "--directory %s: its files are in memory (tmpfs), not in the "
			           "page cache of a "
			           "device; expected a directory on a disk",
			           base);
			return FALSE;
		}
	}
	if (bytes / MAX(vfs.f_frsize, 1) >= vfs.f_bavail) {
		g_autofree char *need = rf_format_size(bytes);

		rf_set_env(error,
		           "--directory %s: the trace's files need %s, which is more than is free",
		           base, need);
		return FALSE;
	}
	return TRUE;
}

/* Where the read-ahead of a file system's device is set, or NULL. */
static char *find_read_ahead(const char *dir)
{
	struct stat st;
	g_autofree char *block = NULL;
	char *path[3], *found = NULL;

	if (stat(dir, &st))
		return NULL;
	block = g_strdup_printf("/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	path[0] = g_build_filename(block, "queue/read_ahead_kb", NULL);    /* a disk */
	path[1] = g_build_filename(block, "../queue/read_ahead_kb", NULL); /* a partition */
	path[2] = g_strdup_printf(
		"/sys/class/bdi/%u:%u/read_ahead_kb", /* a file system of many devices */
		major(st.st_dev), minor(st.st_dev));
	for (size_t i = 0; i < G_N_ELEMENTS(path); i++) {
		if (!found && g_file_test(path[i], G_FILE_TEST_EXISTS))
			found = path[i];
		else
			g_free(path[i]);
	}
	return found;
}

static gboolean fill(const char *path, uint64_t size, GError **error)
{
	g_autofree char *data = g_malloc(CHUNK);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	gboolean ok = fd >= 0;

	memset(data, 'x', CHUNK);
	for (uint64_t at = 0; ok && at < size;) {
		ssize_t n = pwrite(fd, data, MIN(size - at, CHUNK), (off_t)at);

		if (n <= 0 && errno == EINTR)
			continue;
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			close(fd);
			return FALSE;
		}
		ok = n > 0;
		at += ok ? (uint64_t)n : 0;
	}
	ok = ok && fsync(fd) == 0;
	if (!ok)
		rf_set_env(error, "cannot write %s: %s", path, g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static char *fresh_name(const char *base)
{
	struct rf_rng rng = { (uint64_t)g_get_real_time() ^ (uint64_t)getpid() << 40 };
	g_autofree char *name =
		g_strdup_printf("%s%016" PRIx64, RF_VERIFY_PREFIX, rf_rng_next(&rng));
	g_autofree char *path = g_build_filename(base, name, NULL);

	return g_canonicalize_filename(path, NULL);
}

gboolean rf_vfiles_make(struct rf_vfiles *f, const char *base, const struct rf_vplan *plan,
                        struct rf_vundo *u, GError **error)
{
	uint64_t bytes = 0;
	guint files = 0;

	memset(f, 0, sizeof(*f));
	f->n = plan->objects->len;
	f->fd = g_new(int, f->n + 1);
	for (guint i = 0; i < f->n; i++) {
		f->fd[i] = -1;
		if (object(plan, i)->shmem)
			continue;
		files++;
		bytes += MIN(object(plan, i)->size, UINT64_MAX - bytes);
	}
	if (!files)
		return TRUE;
	if (!check_base(base, bytes, error))
		return FALSE;
	/* The name is chosen before the directory is made, so that it can be noted first; nobody
	 * guesses it. */
	f->dir = fresh_name(base);
	if (!rf_vundo_note_dir(u, f->dir, error))
		return FALSE;
	if (mkdir(f->dir, 0700)) {
		rf_set_env(error, "cannot make the directory %s: %s", f->dir, g_strerror(errno));
		return FALSE;
	}
	f->ra_path = find_read_ahead(f->dir);
	for (guint i = 0; i < f->n; i++) {
		g_autofree char *path = object_path(f, i);

		if (!object(plan, i)->shmem && !fill(path, object(plan, i)->size, error))
			return FALSE;
	}
	return TRUE;
}

/* How many pages of a file are cached. */
static uint64_t cached(int fd, uint64_t size)
{
	uint64_t pages = (size + RF_VERIFY_PAGE - 1) / RF_VERIFY_PAGE, n = 0;
	g_autofree unsigned char *in = NULL;
	void *map;

	if (!pages)
		return 0;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 0;
	in = g_malloc(pages);
	if (mincore(map, size, in) == 0) {
		for (uint64_t i = 0; i < pages; i++)
			n += in[i] & 1;
	}
	munmap(map, size);
	return n;
}

/* Clean pages go, and with them what the cache remembers of evicted ones. */
static gboolean drop(const char *path, uint64_t size, GError **error)
{
	uint64_t left = 0;

	for (int tries = 0; tries < 50; tries++) {
		int fd = open(path, O_RDWR | O_CLOEXEC);

		if (fd < 0 || ftruncate(fd, (off_t)size) || fsync(fd) ||
		    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) {
			rf_set_env(error, "cannot drop %s from the page cache: %s", path,
			           g_strerror(errno));
			if (fd >= 0)
				close(fd);
			return FALSE;
		}
		left = cached(fd, size);
		close(fd);
		if (!left)
			return TRUE;
		g_usleep(20000); /* still in somebody's batch, or under writeback */
	}
	rf_set_env(error, "%s: %" G_GUINT64_FORMAT " pages can't be dropped from the page cache",
	           path, left);
	return FALSE;
}

gboolean rf_vfiles_open(struct rf_vfiles *f, const struct rf_vplan *plan, struct rf_vundo *u,
                        int64_t read_ahead_kb, GError **error)
{
	g_autofree char *kb = g_strdup_printf("%" PRId64, read_ahead_kb);
	guint depth = rf_vundo_depth(u);
	gboolean ok = TRUE;

	rf_vfiles_close(f);
	for (guint i = 0; i < f->n && ok; i++) {
		g_autofree char *path = object_path(f, i);

		if (!object(plan, i)->shmem)
			ok = drop(path, object(plan, i)->size, error);
	}
	if (!ok)
		return FALSE;
	if (f->dir && !f->ra_path) {
		rf_set_env(error,
		           "%s: the device below it has no read_ahead_kb in /sys; expected "
		           "--directory on another "
		           "file system",
		           f->dir);
		return FALSE;
	}
	/* A file takes its device's read-ahead when it is opened: the setting stands for no longer.
	 */
	if (f->dir && !rf_vundo_setting(u, f->ra_path, kb, error))
		return FALSE;
	for (guint i = 0; i < f->n && ok; i++) {
		g_autofree char *path = object_path(f, i);

		if (object(plan, i)->shmem) {
			f->fd[i] = memfd_create(RF_VERIFY_PREFIX "shmem", MFD_CLOEXEC);
			ok = f->fd[i] >= 0 &&
			     ftruncate(f->fd[i], (off_t)object(plan, i)->size) == 0;
		} else {
			f->fd[i] = open(path, O_RDWR | O_CLOEXEC);
			ok = f->fd[i] >= 0;
		}
		if (!ok)
			rf_set_env(error, "cannot open %s: %s", path, g_strerror(errno));
	}
	while (rf_vundo_depth(u) > depth) {
		if (!rf_vundo_pop(u, ok ? error : NULL))
			return FALSE;
	}
	return ok;
}

void rf_vfiles_close(struct rf_vfiles *f)
{
	for (guint i = 0; f->fd && i < f->n; i++) {
		if (f->fd[i] >= 0)
			close(f->fd[i]);
		f->fd[i] = -1;
	}
}

void rf_vfiles_clear(struct rf_vfiles *f)
{
	rf_vfiles_close(f);
	g_clear_pointer(&f->fd, g_free);
	g_clear_pointer(&f->dir, g_free);
	g_clear_pointer(&f->ra_path, g_free);
}
