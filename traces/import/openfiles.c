/* SPDX-License-Identifier: MIT */
#include "traces/import/openfiles.h"

#include <string.h>

#define AT_CWD (-100)

/* What the processes of a recording share. */
struct names {
	unsigned refs;
	GHashTable *paths; /* path → struct rf_inode, one reference each */
	uint32_t numbers;
};

struct rf_openfiles {
	GHashTable *fds; /* fd → struct rf_ofile, one reference each */
	struct names *names;
	char *cwd; /* NULL: not known */
};

static void inode_unref(struct rf_inode *ino)
{
	if (--ino->refs)
		return;
	g_free(ino->path);
	g_free(ino);
}

static struct rf_inode *inode_new(enum rf_object kind, const char *path)
{
	struct rf_inode *ino = g_new0(struct rf_inode, 1);

	ino->refs = 1;
	ino->kind = kind;
	ino->path = g_strdup(path);
	return ino;
}

/* A file that was only opened leaves no trace: programs try many names. */
static void forget_unused(struct rf_openfiles *f, struct rf_inode *ino)
{
	if (ino->named && !ino->id && ino->refs == 2) {
		ino->named = FALSE;
		g_hash_table_remove(f->names->paths, ino->path);
	}
}

static void ofile_unref(struct rf_openfiles *f, struct rf_ofile *of)
{
	if (--of->refs)
		return;
	forget_unused(f, of->inode);
	inode_unref(of->inode);
	g_free(of);
}

static enum rf_object kind_of(const char *path)
{
	if (!strcmp(path, "/dev/zero"))
		return RF_OBJECT_ZERO;
	if (g_str_has_prefix(path, "/dev/shm/") || g_str_has_prefix(path, "/memfd:") ||
	    g_str_has_prefix(path, "/SYSV"))
		return RF_OBJECT_SHMEM;
	if (g_str_has_prefix(path, "/dev/") || g_str_has_prefix(path, "/proc/") ||
	    g_str_has_prefix(path, "/sys/"))
		return RF_OBJECT_OTHER;
	return RF_OBJECT_FILE;
}

struct rf_openfiles *rf_openfiles_new(void)
{
	struct rf_openfiles *f = g_new0(struct rf_openfiles, 1);

	f->fds = g_hash_table_new(NULL, NULL);
	f->names = g_new0(struct names, 1);
	f->names->refs = 1;
	f->names->paths =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)inode_unref);
	return f;
}

struct rf_openfiles *rf_openfiles_beside(struct rf_openfiles *f)
{
	struct rf_openfiles *beside = g_new0(struct rf_openfiles, 1);

	beside->fds = g_hash_table_new(NULL, NULL);
	beside->names = f->names;
	beside->names->refs++;
	beside->cwd = g_strdup(f->cwd);
	return beside;
}

void rf_openfiles_free(struct rf_openfiles *f)
{
	GHashTableIter it;
	gpointer of;

	if (!f)
		return;
	g_hash_table_iter_init(&it, f->fds);
	while (g_hash_table_iter_next(&it, NULL, &of))
		ofile_unref(f, of);
	g_hash_table_destroy(f->fds);
	if (--f->names->refs == 0) {
		g_hash_table_destroy(f->names->paths);
		g_free(f->names);
	}
	g_free(f->cwd);
	g_free(f);
}

struct rf_openfiles *rf_openfiles_copy(struct rf_openfiles *f)
{
	struct rf_openfiles *copy = rf_openfiles_beside(f);
	GHashTableIter it;
	gpointer fd, of;

	g_hash_table_iter_init(&it, f->fds);
	while (g_hash_table_iter_next(&it, &fd, &of)) {
		((struct rf_ofile *)of)->refs++;
		g_hash_table_insert(copy->fds, fd, of);
	}
	return copy;
}

/* The name under which a path is kept.  Caller frees. */
static char *resolve(const struct rf_openfiles *f, int32_t dirfd, const char *path)
{
	const char *base = f->cwd;

	if (dirfd != AT_CWD) {
		const struct rf_ofile *of = rf_openfiles_get(f, dirfd);

		base = of ? of->inode->path : NULL;
	}
	while (g_str_has_prefix(path, "./"))
		path += 2;
	if (path[0] == '/' || !base)
		return g_strdup(path);
	return g_strconcat(base, g_str_has_suffix(base, "/") ? "" : "/", path, NULL);
}

void rf_openfiles_chdir(struct rf_openfiles *f, const char *path)
{
	char *cwd = resolve(f, AT_CWD, path);

	g_free(f->cwd);
	f->cwd = cwd;
}

struct rf_inode *rf_openfiles_inode(struct rf_openfiles *f, const char *path)
{
	struct rf_inode *ino = g_hash_table_lookup(f->names->paths, path);

	if (!ino) {
		ino = inode_new(kind_of(path), path);
		ino->named = TRUE;
		g_hash_table_insert(f->names->paths, g_strdup(path), ino);
	}
	return ino;
}

static void drop_name(struct rf_openfiles *f, const char *path)
{
	struct rf_inode *ino = g_hash_table_lookup(f->names->paths, path);

	if (ino) {
		ino->named = FALSE;
		g_hash_table_remove(f->names->paths, path);
	}
}

static struct rf_ofile *install(struct rf_openfiles *f, int32_t fd, struct rf_inode *ino)
{
	struct rf_ofile *of = g_new0(struct rf_ofile, 1);

	of->refs = 1;
	of->inode = ino;
	ino->refs++;
	rf_openfiles_close(f, fd); /* a close that was not seen */
	g_hash_table_insert(f->fds, GINT_TO_POINTER(fd), of);
	return of;
}

void rf_openfiles_open(struct rf_openfiles *f, int32_t fd, int32_t dirfd, const char *path,
                       unsigned flags)
{
	char *name = resolve(f, dirfd, path);
	struct rf_inode *ino;
	struct rf_ofile *of;

	if (flags & RF_O_TRUNC) {
		ino = g_hash_table_lookup(f->names->paths, name);
		if (ino && ino->id && ino->kind == RF_OBJECT_FILE)
			drop_name(f, name);
	}
	ino = rf_openfiles_inode(f, name);
	of = install(f, fd, ino);
	of->append = !!(flags & RF_O_APPEND);
	g_free(name);
}

struct rf_ofile *rf_openfiles_open_unnamed(struct rf_openfiles *f, int32_t fd, enum rf_object kind,
                                           const char *name)
{
	struct rf_inode *ino = inode_new(kind, name);
	struct rf_ofile *of = install(f, fd, ino);

	inode_unref(ino);
	return of;
}

void rf_openfiles_close(struct rf_openfiles *f, int32_t fd)
{
	struct rf_ofile *of = rf_openfiles_get(f, fd);

	if (of) {
		g_hash_table_remove(f->fds, GINT_TO_POINTER(fd));
		ofile_unref(f, of);
	}
}

void rf_openfiles_close_range(struct rf_openfiles *f, uint32_t first, uint32_t last)
{
	GHashTableIter it;
	gpointer fd, of;

	g_hash_table_iter_init(&it, f->fds);
	while (g_hash_table_iter_next(&it, &fd, &of)) {
		uint32_t n = (uint32_t)GPOINTER_TO_INT(fd);

		if (n >= first && n <= last) {
			g_hash_table_iter_remove(&it);
			ofile_unref(f, of);
		}
	}
}

void rf_openfiles_dup(struct rf_openfiles *f, int32_t fd, int32_t newfd)
{
	struct rf_ofile *of = rf_openfiles_get(f, fd);

	if (fd == newfd)
		return;
	rf_openfiles_close(f, newfd);
	if (of) {
		of->refs++;
		g_hash_table_insert(f->fds, GINT_TO_POINTER(newfd), of);
	}
}

void rf_openfiles_unlink(struct rf_openfiles *f, int32_t dirfd, const char *path)
{
	char *name = resolve(f, dirfd, path);

	drop_name(f, name);
	g_free(name);
}

void rf_openfiles_rename(struct rf_openfiles *f, int32_t dirfd, const char *path, int32_t newdirfd,
                         const char *newpath)
{
	char *from = resolve(f, dirfd, path), *to = resolve(f, newdirfd, newpath);
	struct rf_inode *ino = g_hash_table_lookup(f->names->paths, from);

	if (strcmp(from, to)) {
		drop_name(f, to);
		if (ino) {
			ino->refs++;
			g_hash_table_remove(f->names->paths, from);
			g_free(ino->path);
			ino->path = g_strdup(to);
			g_hash_table_insert(f->names->paths, g_strdup(to), ino);
		}
	}
	g_free(from);
	g_free(to);
}

struct rf_ofile *rf_openfiles_get(const struct rf_openfiles *f, int32_t fd)
{
	return fd < 0 ? NULL : g_hash_table_lookup(f->fds, GINT_TO_POINTER(fd));
}

uint32_t rf_openfiles_number(struct rf_openfiles *f, struct rf_inode *inode)
{
	if (!inode->id)
		inode->id = rf_openfiles_new_number(f);
	return inode->id;
}

uint32_t rf_openfiles_new_number(struct rf_openfiles *f)
{
	return ++f->names->numbers;
}
