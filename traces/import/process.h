/* SPDX-License-Identifier: MIT
 * A recorded process: what its system calls mean for memory and the page cache.  Importers whose
 * recorder writes system calls down (lackey, strace) hand them over one by one; out come events.
 *
 * Kept here: open files with their offsets, the names of files, the mappings, the program break.
 */
#ifndef RF_PROCESS_H
#define RF_PROCESS_H

#include "traces/import/import.h"

#define RF_CALL_ARGS 8
#define RF_CALL_PATHS 2

/* A finished system call.  Negative arguments are in two's complement; a 32-bit int may come as
 * unsigned. */
struct rf_call {
	const char *name; /* the kernel's, "mmap" */
	unsigned nargs;
	uint64_t arg[RF_CALL_ARGS];
	const char *path[RF_CALL_PATHS]; /* path arguments in order, or NULL */
	gboolean failed;
	uint64_t result;
};

struct rf_process;

/* kernel_accesses: also what the kernel itself touches in user memory, as accesses. */
struct rf_process *rf_process_new(struct rf_builder *b, gboolean kernel_accesses);
/* Another process of the same recording: files are the same, mappings are its own. */
struct rf_process *rf_process_beside(const struct rf_process *p);
void rf_process_free(struct rf_process *p);

/* Declare a task where that was not done yet.  All but the first are threads. */
gboolean rf_process_task(struct rf_process *p, uint32_t tid, GError **error);
/* fork(2) by tid: a process whose only task is child, with the same mappings and open files. */
struct rf_process *rf_process_fork(struct rf_process *p, uint32_t tid, uint32_t child,
                                   GError **error);
/* The recorder itself tells what the kernel touches: nothing is to be concluded from calls. */
void rf_process_kernel_told(struct rf_process *p);
/* What the machine that was recorded maps at once: at least 4 KiB, a power of two. */
void rf_process_set_page(struct rf_process *p, uint64_t size);
/* It ends, if it was declared. */
gboolean rf_process_end(struct rf_process *p, uint32_t tid, GError **error);
/* What is mapped at an address: enum rf_mkind, or -1. */
int rf_process_kind(struct rf_process *p, uint64_t addr);
/* A descriptor whose opening was not seen leads to this path. */
void rf_process_descriptor(struct rf_process *p, int32_t fd, const char *path);
/* For paths that are not absolute; copied. */
void rf_process_set_cwd(struct rf_process *p, const char *path);

/* A mapping that stood before recording began, or that grew by itself.  path NULL: anonymous.
 * name: "[heap]", "[stack]", … or NULL.  Lengths are rounded up to whole pages of 4 KiB. */
gboolean rf_process_map(struct rf_process *p, uint32_t tid, uint64_t addr, uint64_t len,
                        uint8_t prot, const char *path, uint64_t off, const char *name,
                        GError **error);
/* A file is known to reach at least so far; said before its first use, its size is right. */
void rf_process_file_size(struct rf_process *p, const char *path, uint64_t size);
/* The same of an open file. */
void rf_process_open_size(struct rf_process *p, int32_t fd, uint64_t size);

/* The effect of a system call.  FALSE only for errors of the builder; calls that make no sense are
 * counted as skipped. */
gboolean rf_process_call(struct rf_process *p, uint32_t tid, const struct rf_call *c,
                         GError **error);
/* A mapping changed its protection without a system call. */
gboolean rf_process_protect(struct rf_process *p, uint32_t tid, uint64_t addr, uint64_t len,
                            uint8_t prot, GError **error);
/* Is there a mapping at addr? */
gboolean rf_process_mapped(struct rf_process *p, uint64_t addr);
/* execve without its system call: the other threads have ended, a new image follows. */
gboolean rf_process_exec(struct rf_process *p, uint32_t tid, GError **error);

#endif
