/* SPDX-License-Identifier: MIT
 * System calls that a recording has: name, numbers on x86-64 and arm64 (-1: there is none), and which
 * arguments are paths.  Included by recorders and importer.
 */
#ifndef RF_CALLS_H
#define RF_CALLS_H

struct rf_wire_call {
	const char *name;
	short nr[2]; /* by enum rf_wire_arch */
	unsigned char nargs, paths; /* bit i: argument i is a path */
	unsigned char remaps;       /* pages may be mapped in another way afterwards */
	unsigned char opens;        /* the result is a descriptor of the file that the path names */
};

static const struct rf_wire_call rf_wire_calls[] = {
	{ "brk", { 12, 214 }, 1, 0, 1, 0 },
	{ "chdir", { 80, 49 }, 1, 1, 0, 0 },
	{ "close", { 3, 57 }, 1, 0, 0, 0 },
	{ "close_range", { 436, 436 }, 3, 0, 0, 0 },
	{ "copy_file_range", { 326, 285 }, 6, 0, 0, 0 },
	{ "creat", { 85, -1 }, 2, 1, 0, 1 },
	{ "dup", { 32, 23 }, 1, 0, 0, 0 },
	{ "dup2", { 33, -1 }, 2, 0, 0, 0 },
	{ "dup3", { 292, 24 }, 3, 0, 0, 0 },
	{ "fchdir", { 81, 50 }, 1, 0, 0, 0 },
	{ "fcntl", { 72, 25 }, 3, 0, 0, 0 },
	{ "fdatasync", { 75, 83 }, 1, 0, 0, 0 },
	{ "fsync", { 74, 82 }, 1, 0, 0, 0 },
	{ "getrandom", { 318, 278 }, 3, 0, 0, 0 },
	{ "lseek", { 8, 62 }, 3, 0, 0, 0 },
	{ "madvise", { 28, 233 }, 3, 0, 1, 0 },
	{ "memfd_create", { 319, 279 }, 2, 1, 0, 0 },
	{ "mlock", { 149, 228 }, 2, 0, 1, 0 },
	{ "mlock2", { 325, 284 }, 3, 0, 1, 0 },
	{ "mlockall", { 151, 230 }, 1, 0, 1, 0 },
	{ "mmap", { 9, 222 }, 6, 0, 1, 0 },
	{ "mprotect", { 10, 226 }, 3, 0, 1, 0 },
	{ "mremap", { 25, 216 }, 5, 0, 1, 0 },
	{ "munlock", { 150, 229 }, 2, 0, 1, 0 },
	{ "munlockall", { 152, 231 }, 0, 0, 1, 0 },
	{ "munmap", { 11, 215 }, 2, 0, 1, 0 },
	{ "open", { 2, -1 }, 3, 1, 0, 1 },
	{ "openat", { 257, 56 }, 4, 2, 0, 1 },
	{ "pread64", { 17, 67 }, 4, 0, 0, 0 },
	{ "preadv", { 295, 69 }, 4, 0, 0, 0 },
	{ "pwrite64", { 18, 68 }, 4, 0, 0, 0 },
	{ "pwritev", { 296, 70 }, 4, 0, 0, 0 },
	{ "read", { 0, 63 }, 3, 0, 0, 0 },
	{ "readv", { 19, 65 }, 3, 0, 0, 0 },
	{ "recvfrom", { 45, 207 }, 6, 0, 0, 0 },
	{ "rename", { 82, -1 }, 2, 3, 0, 0 },
	{ "renameat", { 264, 38 }, 4, 10, 0, 0 },
	{ "renameat2", { 316, 276 }, 5, 10, 0, 0 },
	{ "sendfile", { 40, 71 }, 4, 0, 0, 0 },
	{ "sendto", { 44, 206 }, 6, 0, 0, 0 },
	{ "splice", { 275, 76 }, 6, 0, 0, 0 },
	{ "unlink", { 87, -1 }, 1, 1, 0, 0 },
	{ "unlinkat", { 263, 35 }, 3, 2, 0, 0 },
	{ "write", { 1, 64 }, 3, 0, 0, 0 },
	{ "writev", { 20, 66 }, 3, 0, 0, 0 },
};
#define RF_WIRE_NCALLS (sizeof(rf_wire_calls) / sizeof(rf_wire_calls[0]))

static inline const struct rf_wire_call *rf_wire_call(unsigned arch, unsigned long nr)
{
	for (unsigned i = 0; i < RF_WIRE_NCALLS; i++)
		if (rf_wire_calls[i].nr[arch] >= 0 && (unsigned long)rf_wire_calls[i].nr[arch] == nr)
			return &rf_wire_calls[i];
	return 0;
}

#endif
