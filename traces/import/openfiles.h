/* SPDX-License-Identifier: MIT
 * The open files of a recorded process: descriptors, offsets, and which name is which file.
 *
 * A file is what a path names until it is unlinked, replaced by rename(2) or truncated by open(2);
 * then the path names a new file, as its cached pages are gone.
 */
#ifndef RF_OPENFILES_H
#define RF_OPENFILES_H

#include <glib.h>
#include <stdint.h>

enum rf_object {
	RF_OBJECT_FILE,  /* lives in the page cache */
	RF_OBJECT_SHMEM, /* tmpfs, memfd: backed by swap */
	RF_OBJECT_ZERO,  /* /dev/zero */
	RF_OBJECT_OTHER, /* a device, /proc: no pages */
};

struct rf_inode {
	unsigned refs;
	enum rf_object kind;
	uint32_t id;   /* in the trace, 0 while it was not declared */
	uint64_t size; /* at least: as far as it was seen used */
	char *path;
	gboolean named; /* its path still leads to it */
};

/* An open file description: shared by duplicates of a descriptor. */
struct rf_ofile {
	unsigned refs;
	struct rf_inode *inode;
	uint64_t pos;
	gboolean append;
};

struct rf_openfiles;

struct rf_openfiles *rf_openfiles_new(void);
/* Those of another process of the same recording: none yet, but names lead to the same inodes. */
struct rf_openfiles *rf_openfiles_beside(struct rf_openfiles *f);
void rf_openfiles_free(struct rf_openfiles *f);
/* fork(2): descriptors of the copy lead to the same open files, and names to the same inodes. */
struct rf_openfiles *rf_openfiles_copy(struct rf_openfiles *f);

/* chdir(2); the first one may come from the recorder.  Copied. */
void rf_openfiles_chdir(struct rf_openfiles *f, const char *path);

/* Bits of open(2)'s flags that matter here; the same numbers on all architectures of interest. */
#define RF_O_TRUNC 01000u
#define RF_O_APPEND 02000u
/* dirfd counts for relative paths. */
void rf_openfiles_open(struct rf_openfiles *f, int32_t fd, int32_t dirfd, const char *path,
                       unsigned flags);
/* A descriptor whose file has no path that could be opened again. */
struct rf_ofile *rf_openfiles_open_unnamed(struct rf_openfiles *f, int32_t fd, enum rf_object kind,
                                           const char *name);
void rf_openfiles_close(struct rf_openfiles *f, int32_t fd);
void rf_openfiles_close_range(struct rf_openfiles *f, uint32_t first, uint32_t last);
void rf_openfiles_dup(struct rf_openfiles *f, int32_t fd, int32_t newfd);
void rf_openfiles_unlink(struct rf_openfiles *f, int32_t dirfd, const char *path);
void rf_openfiles_rename(struct rf_openfiles *f, int32_t dirfd, const char *path, int32_t newdirfd,
                         const char *newpath);

/* The file behind a descriptor, or NULL when its opening was not seen. */
struct rf_ofile *rf_openfiles_get(const struct rf_openfiles *f, int32_t fd);
/* The file that an absolute path names; new when it was not known. */
struct rf_inode *rf_openfiles_inode(struct rf_openfiles *f, const char *path);
/* Give it a number (from 1) unless it has one; it is then kept by its path for good. */
uint32_t rf_openfiles_number(struct rf_openfiles *f, struct rf_inode *inode);
/* A number for an object that is no file (anonymous shared memory). */
uint32_t rf_openfiles_new_number(struct rf_openfiles *f);

#endif
