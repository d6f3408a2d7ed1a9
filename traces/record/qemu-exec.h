/* SPDX-License-Identifier: MIT
 * The guest's execve, of the plug-in for QEMU.  QEMU hands it to the host, where the program would run
 * without QEMU, or not at all; so a QEMU with the same options is started for it.
 */
#ifndef RF_QEMU_EXEC_H
#define RF_QEMU_EXEC_H

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXEC_ARGS 8192 /* one that has more is not followed */

/* QEMU's command line: the strings of own.text up to own.program, where the guest's command begins. */
static struct {
	char text[1 << 16];
	size_t size, program;
} own;

/* The plug-in's argument is the last of QEMU's. */
static void read_own_command(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, own.text, sizeof(own.text) - 1);

	if (fd >= 0)
		close(fd);
	own.size = n > 0 ? (size_t)n : 0;
	while (own.program < own.size && strncmp(own.text + own.program, "file=", 5))
		own.program += strlen(own.text + own.program) + 1;
	if (own.program < own.size)
		own.program += strlen(own.text + own.program) + 1;
}

/* Guest addresses are taken for host addresses; they may be wrong.  Cut to fit. */
static void read_string(uint64_t addr, char *to, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		size_t part = PAGE - ((addr + n) & (PAGE - 1));
		struct iovec local = { to + n, part < size - 1 - n ? part : size - 1 - n };
		struct iovec remote = { (void *)(uintptr_t)(addr + n), local.iov_len };
		ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

		if (got <= 0)
			break;
		if (memchr(to + n, 0, (size_t)got))
			return;
		n += (size_t)got;
	}
	to[n] = 0;
}

/* Where QEMU's -L has an absolute path, if it is there. */
static const char *below_sysroot(const char *path, char to[PATH_MAX])
{
	for (const char *p = own.text; p < own.text + own.program; p += strlen(p) + 1) {
		if (strcmp(p, "-L") || path[0] != '/')
			continue;
		if (snprintf(to, PATH_MAX, "%s%s", p + 3, path) < PATH_MAX && !access(to, X_OK))
			return to;
	}
	return path;
}

/* The first bytes of a file that can be executed; FALSE: there is none. */
static bool image(const char *file, unsigned char head[256])
{
	int fd = access(file, X_OK) ? -1 : open(file, O_RDONLY | O_CLOEXEC);

	memset(head, 0, 256);
	if (fd < 0)
		return false;
	if (read(fd, head, 255) < 0)
		head[0] = 0;
	close(fd);
	return true;
}

static bool is_elf(const unsigned char *head)
{
	return !memcmp(head, ELFMAG, SELFMAG);
}

static bool is_of(const unsigned char *head, unsigned machine)
{
	return is_elf(head) && head[EI_CLASS] == ELFCLASS64 && head[18] + 256u * head[19] == machine;
}

/* Become a QEMU that runs what the guest's execve is of.  Returns when that can't be; TRUE: QEMU will
 * start something that is not recorded; path is what. */
static bool follow_exec(const uint64_t arg[3], unsigned machine, char path[PATH_MAX])
{
	static const char *argv[EXEC_ARGS];
	static char argv0[RF_WIRE_STRING], script[PATH_MAX], file[2][PATH_MAX];
	unsigned char head[256], of_script[256];
	const char *program, *extra = NULL;
	unsigned n = 0;
	uint64_t at = 0;

	read_string(arg[0], path, PATH_MAX);
	program = below_sysroot(path, file[0]);
	if (!image(program, head))
		return false; /* it fails */
	if (head[0] == '#' && head[1] == '!') {
		char *save, *interpreter;

		memcpy(of_script, head, sizeof(head));
		of_script[strcspn((char *)of_script, "\n")] = 0;
		interpreter = strtok_r((char *)of_script + 2, " \t", &save);
		extra = interpreter ? strtok_r(NULL, "", &save) : NULL;
		snprintf(script, sizeof(script), "%s", program);
		snprintf(argv0, sizeof(argv0), "%s", interpreter ? interpreter : "");
		program = below_sysroot(argv0, file[1]);
		if (!image(program, head))
			return false;
	} else if (!is_elf(head)) {
		return false; /* a shell tries again, as a script */
	} else {
		script[0] = 0;
	}
	if (!is_of(head, machine))
		return true;
	for (char *p = own.text; p < own.text + own.program && n < 64; p += strlen(p) + 1) {
		if (!strcmp(p, "-0"))
			p += 3; /* and what follows */
		else if (!strcmp(p, "-plugin"))
			argv[n++] = "-0", argv[n++] = argv0, argv[n++] = p;
		else
			argv[n++] = p;
	}
	argv[n++] = program;
	if (extra)
		argv[n++] = extra;
	if (script[0])
		argv[n++] = script;
	for (unsigned i = 0; arg[1]; i++, at = 0) {
		struct iovec local = { &at, sizeof(at) };
		struct iovec remote = { (void *)(uintptr_t)(arg[1] + 8 * i), sizeof(at) };

		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof(at) || !at)
			break;
		if (n == EXEC_ARGS - 1)
			return true;
		if (i > 0)
			argv[n++] = (const char *)(uintptr_t)at;
		else if (!script[0])
			read_string(at, argv0, sizeof(argv0));
	}
	argv[n] = NULL;
	execve("/proc/self/exe", (char **)argv, (char **)(uintptr_t)arg[2]);
	return true;
}

#endif
