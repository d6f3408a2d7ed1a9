/* SPDX-License-Identifier: GPL-2.0-or-later
 * A plug-in for QEMU's user mode (interface version 1, QEMU 6.0 and later) that records which pages a
 * program of another architecture accesses; wire.h has the form.  It runs inside QEMU, which is under
 * the GNU General Public License, version 2; so this file can be used under that version.
 *
 * QEMU tells of instructions, accesses and system calls.  It does not tell what the kernel touches for
 * a call: the reader concludes that from the call.  Guest addresses are taken for host addresses, as
 * they are when QEMU has not moved the guest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/record/calls.h"
#include "traces/record/writer.h"

/* ---- of the interface, what is used here: no Debian package has QEMU's header ---- */

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	int smp_vcpus, max_vcpus;
} qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { CB_NO_REGS = 0, MEM_RW = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            void (*cb)(unsigned, void *), int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                      void (*cb)(unsigned, qemu_plugin_meminfo_t, uint64_t, void *),
                                      int flags, int rw, void *data);
void qemu_plugin_register_vcpu_syscall_cb(
	qemu_plugin_id_t id,
	void (*cb)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                   uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                              void (*cb)(qemu_plugin_id_t, unsigned, int64_t,
                                                         int64_t));
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, unsigned));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
                                    void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* ---- state ---- */

#define PAGE ((uint64_t)1 << RF_WIRE_PAGE_SHIFT)
#define NOWHERE (~(uint64_t)0)
#define GUEST_END ((uint64_t)1 << 40) /* QEMU itself is above, its guests' images are below */
#define MAIN_STACK ((uint64_t)8 << 20)
#define THREADS 1024
#define MAPS 256

#include "traces/record/qemu-exec.h"

static int fd = -1;
static struct rf_writer w;
static struct rf_window window;
static unsigned arch, page_shift = RF_WIRE_PAGE_SHIFT;
static uint64_t base[3];
static uint64_t pending[3];   /* window: accesses that were not told; exact: fetches ([2]) */
static uint64_t instructions; /* accounted for */
static unsigned current;      /* who runs */
static unsigned forks;
static bool mapped;

/* A load that may be half of a load and store of one instruction. */
static struct {
	uint64_t addr;
	unsigned size; /* 0: none */
} half;

/* System calls that threads are in. */
static struct {
	int64_t nr;
	uint64_t arg[RF_WIRE_ARGS];
} call[THREADS];

/* What was mapped before the first instruction. */
static struct {
	uint64_t start, end;
	bool code; /* known to be executed */
} map[MAPS];
static unsigned maps;

/* Threads of the guest are threads here. */
static volatile int busy;

static void lock(void)
{
	while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static int rf_writer_output(const void *data, rf_u32 n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		p += r;
		n -= (rf_u32)r;
	}
	if (n)
		base[0] = base[1] = base[2] = NOWHERE;
	return n == 0;
}

/* ---- accesses ---- */

static uint64_t now(void)
{
	return instructions + pending[RF_WIRE_FETCH];
}

static void forget_pages(void)
{
	base[0] = base[1] = base[2] = NOWHERE;
	rf_window_drop(&window, now());
}

static void account(unsigned type)
{
	if (type == RF_WIRE_FETCH)
		instructions += pending[type];
	pending[type] = 0;
}

static void told(unsigned type, uint64_t addr, unsigned size)
{
	uint64_t page = addr >> RF_WIRE_PAGE_SHIFT, last = (addr + size - 1) >> RF_WIRE_PAGE_SHIFT;
	bool same = base[type] == page << RF_WIRE_PAGE_SHIFT && page == last;

	base[type] = page << RF_WIRE_PAGE_SHIFT;
	if (window.pages) {
		if (!same && rf_window_tell(&window, type, page)) {
			rf_writer_page(&w, type, page, pending[type]);
			account(type);
			instructions += type == RF_WIRE_FETCH;
		} else {
			pending[type]++;
		}
		if (last != page && rf_window_tell(&window, type, last))
			rf_writer_page(&w, type, last, 0);
		if (now() - window.dropped >= window.instructions)
			forget_pages();
		return;
	}
	if (page != last) {
		if (pending[RF_WIRE_FETCH])
			rf_writer_same(&w, RF_WIRE_FETCH, pending[RF_WIRE_FETCH]);
		account(RF_WIRE_FETCH);
		rf_writer_range(&w, type, addr, size);
		base[type] = NOWHERE;
		return;
	}
	if (type == RF_WIRE_FETCH && same) {
		pending[RF_WIRE_FETCH]++;
		return;
	}
	if (same)
		rf_writer_same(&w, type, pending[RF_WIRE_FETCH]);
	else
		rf_writer_page(&w, type, page, pending[RF_WIRE_FETCH]);
	account(RF_WIRE_FETCH);
	if (type == RF_WIRE_FETCH)
		pending[RF_WIRE_FETCH] = 1;
}

static void finish_half(void)
{
	unsigned size = half.size;

	half.size = 0;
	if (size)
		told(RF_WIRE_LOAD, half.addr, size);
}

/* Tell of all accesses so far. */
static void settle(void)
{
	finish_half();
	for (unsigned type = 0; type < 3; type++) {
		if (pending[type])
			rf_writer_same(&w, type, pending[type]);
		account(type);
	}
}

static void be(unsigned vcpu)
{
	if (vcpu == current)
		return;
	settle();
	rf_writer_control(&w, RF_WIRE_SWITCH, 16);
	rf_writer_varint(&w, vcpu + 1);
	current = vcpu;
}

#define SIZE_SHIFT 56 /* in the data of an instruction: its size, above its address */

static void on_fetch(unsigned vcpu, void *data)
{
	uint64_t v = (uint64_t)(uintptr_t)data;

	lock();
	be(vcpu);
	finish_half();
	told(RF_WIRE_FETCH, v & (((uint64_t)1 << SIZE_SHIFT) - 1), (unsigned)(v >> SIZE_SHIFT));
	unlock();
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *data)
{
	unsigned size = 1u << qemu_plugin_mem_size_shift(info);

	(void)data;
	if (arch == RF_WIRE_ARM64 && !(addr & (uint64_t)1 << 55))
		addr &= ((uint64_t)1 << 56) - 1; /* the top byte is a tag */
	lock();
	be(vcpu);
	if (qemu_plugin_mem_is_store(info)) {
		if (half.size == size && half.addr == addr)
			half.size = 0;
		finish_half();
		told(RF_WIRE_STORE, addr, size);
	} else {
		finish_half();
		half.addr = addr;
		half.size = size;
	}
	unlock();
}

/* ---- mappings ---- */

static void write_map(uint64_t addr, uint64_t len, unsigned prot, uint64_t off, const char *path,
                      const char *name)
{
	struct stat st = { .st_size = 0 };

	if (path[0] && stat(path, &st))
		st.st_size = 0;
	rf_writer_control(&w, RF_WIRE_MAP, 6 * 10 + RF_WIRE_STRING + 64);
	rf_writer_varint(&w, addr);
	rf_writer_varint(&w, len);
	rf_writer_varint(&w, prot);
	rf_writer_varint(&w, off);
	rf_writer_varint(&w, (rf_u64)st.st_size);
	rf_writer_string(&w, path);
	rf_writer_string(&w, name);
}

/* The guest's part of our own mappings. */
static void write_maps(void)
{
	char line[PATH_MAX + 200], prot[8], path[PATH_MAX];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		uint64_t start, end, off;
		unsigned bits;

		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &start, &end, prot, &off, path) <
		            4 || end > GUEST_END)
			continue;
		bits = (prot[0] == 'r') | (prot[1] == 'w') << 1 | (prot[2] == 'x') << 2;
		if (!bits)
			continue; /* a guard */
		if (maps < MAPS && path[0] == '/') {
			map[maps].start = start;
			map[maps].end = end;
			map[maps++].code = bits & 4;
		}
		write_map(start, end - start, bits, path[0] == '/' ? off : 0,
		          path[0] == '/' ? path : "",
		          !path[0] && end - start == MAIN_STACK ? "[stack]" : "");
	}
	if (f)
		fclose(f);
	mapped = true;
}

/* The host does not execute the guest's code, so its mappings do not say what is code. */
static void note_code(uint64_t addr)
{
	for (unsigned i = 0; i < maps; i++) {
		if (map[i].code || addr < map[i].start || addr >= map[i].end)
			continue;
		map[i].code = true;
		rf_writer_control(&w, RF_WIRE_PROTECT, 32);
		rf_writer_varint(&w, map[i].start);
		rf_writer_varint(&w, map[i].end - map[i].start);
		rf_writer_varint(&w, 5);
	}
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	lock();
	if (!mapped)
		write_maps();
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		uint64_t v = addr | (uint64_t)qemu_plugin_insn_size(insn) << SIZE_SHIFT;

		if (i == 0 || (addr & (PAGE - 1)) < 16)
			note_code(addr);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, CB_NO_REGS,
		                                       (void *)(uintptr_t)v);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, NULL);
	}
	unlock();
}

/* ---- system calls ---- */

static void on_call(qemu_plugin_id_t id, unsigned vcpu, int64_t nr, uint64_t a1, uint64_t a2,
                    uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arg[RF_WIRE_ARGS] = { a1, a2, a3, a4, a5, a6 };
	static const int64_t execve_nr[] = { [RF_WIRE_X86_64] = 59, [RF_WIRE_ARM64] = 221 };
	char path[PATH_MAX];

	(void)id, (void)a7, (void)a8;
	lock();
	be(vcpu);
	settle();
	call[vcpu % THREADS].nr = nr;
	memcpy(call[vcpu % THREADS].arg, arg, sizeof(arg));
	/* who waits for another process has told everything before */
	if (forks || nr == execve_nr[arch])
		rf_writer_flush(&w);
	if (nr == execve_nr[arch] &&
	    follow_exec(arg, arch == RF_WIRE_ARM64 ? EM_AARCH64 : EM_X86_64, path)) {
		rf_writer_control(&w, RF_WIRE_NOT_FOLLOWED, RF_WIRE_STRING + 16);
		rf_writer_string(&w, path);
		rf_writer_flush(&w);
	}
	unlock();
}

static void on_result(qemu_plugin_id_t id, unsigned vcpu, int64_t nr, int64_t result)
{
	const struct rf_wire_call *c = rf_wire_call(arch, (unsigned long)nr);
	const uint64_t *arg = call[vcpu % THREADS].arg;
	char path[RF_WIRE_PATHS][RF_WIRE_STRING];
	struct stat st = { .st_size = 0 };
	unsigned paths = 0;

	(void)id;
	if (!c || call[vcpu % THREADS].nr != nr || (result < 0 && result >= -4095))
		return;
	for (unsigned i = 0; i < c->nargs && paths < RF_WIRE_PATHS; i++)
		if (c->paths & 1u << i)
			read_string(arg[i], path[paths++], RF_WIRE_STRING);
	if (c->opens && fstat((int)result, &st))
		st.st_size = 0;
	lock();
	be(vcpu);
	settle();
	rf_writer_control(&w, RF_WIRE_CALL, (5 + RF_WIRE_ARGS) * 10 + paths * (RF_WIRE_STRING + 2));
	rf_writer_varint(&w, (rf_u64)nr);
	rf_writer_varint(&w, (rf_u64)result);
	rf_writer_varint(&w, c->nargs);
	for (unsigned i = 0; i < c->nargs; i++)
		rf_writer_varint(&w, arg[i]);
	rf_writer_varint(&w, (rf_u64)st.st_size);
	rf_writer_varint(&w, paths);
	for (unsigned i = 0; i < paths; i++)
		rf_writer_string(&w, path[i]);
	if (c->remaps && window.pages)
		forget_pages();
	unlock();
}

/* ---- threads and processes ---- */

static void on_thread_exit(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	lock();
	be(vcpu);
	settle();
	rf_writer_control(&w, RF_WIRE_THREAD_EXIT, 16);
	rf_writer_varint(&w, vcpu + 1);
	unlock();
}

static void before_fork(void)
{
	lock();
	settle();
	forks++;
	rf_writer_control(&w, RF_WIRE_FORK, 16);
	rf_writer_varint(&w, forks);
	rf_writer_flush(&w);
	forget_pages();
}

static void in_child(void)
{
	rf_u32 parent = w.pid;

	rf_writer_start(&w, (rf_u32)getpid());
	forget_pages();
	rf_writer_control(&w, RF_WIRE_FORKED, 32);
	rf_writer_varint(&w, parent);
	rf_writer_varint(&w, forks);
	rf_writer_control(&w, RF_WIRE_SWITCH, 16);
	rf_writer_varint(&w, current + 1);
	unlock();
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id, (void)data;
	lock();
	settle();
	rf_writer_control(&w, RF_WIRE_END, 1);
	rf_writer_flush(&w);
	/* locked for good: threads that are still there have nothing to tell */
}

/* ---- the beginning ---- */

static void append(char *to, size_t size, const char *s)
{
	size_t n = strlen(to);

	if (n && n + 1 < size)
		to[n++] = ' ';
	for (; *s && n + 1 < size; s++)
		to[n++] = *s;
	to[n] = 0;
}

static void hello(void)
{
	static char command[RF_WIRE_STRING], cwd[PATH_MAX];
	const char *program = own.text + own.program;

	program = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	for (const char *p = own.text + own.program; p < own.text + own.size; p += strlen(p) + 1)
		append(command, sizeof(command), p);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	rf_writer_control(&w, RF_WIRE_HELLO, 8 * 10 + 3 * RF_WIRE_STRING + 256);
	rf_writer_varint(&w, window.pages ? RF_WIRE_WINDOW : RF_WIRE_EXACT);
	rf_writer_varint(&w, window.pages);
	rf_writer_varint(&w, window.instructions);
	rf_writer_varint(&w, arch);
	rf_writer_varint(&w, page_shift);
	rf_writer_varint(&w, 0);
	rf_writer_string(&w, "qemu");
	rf_writer_string(&w, program);
	rf_writer_string(&w, command);
	rf_writer_string(&w, cwd);
}

static bool option(const char *arg)
{
	const char *value = strchr(arg, '=');

	if (!value++)
		return false;
	if (!strncmp(arg, "out=", 4))
		fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	else if (!strncmp(arg, "window-pages=", 13))
		window.pages = strtoull(value, NULL, 10);
	else if (!strncmp(arg, "window-instructions=", 20))
		window.instructions = strtoull(value, NULL, 10);
	else if (!strncmp(arg, "page-shift=", 11))
		page_shift = (unsigned)strtoul(value, NULL, 10);
	else
		return false;
	return true;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t *info, int argc,
                                                               char **argv)
{
	cpu_set_t one;
	int high;

	window.instructions = 100000;
	for (int i = 0; i < argc; i++) {
		if (!option(argv[i])) {
			fprintf(stderr, "refault: unknown option %s of the plug-in\n", argv[i]);
			return 1;
		}
	}
	if (!strcmp(info->target_name, "aarch64")) {
		arch = RF_WIRE_ARM64;
	} else if (!strcmp(info->target_name, "x86_64")) {
		arch = RF_WIRE_X86_64;
	} else {
		fprintf(stderr, "refault: programs for %s can't be recorded\n", info->target_name);
		return 1;
	}
	if (fd < 0) {
		fprintf(stderr, "refault: expected out=FILE; `refault record' runs this plug-in\n");
		return 1;
	}
	/* out of the guest's way */
	high = fcntl(fd, F_DUPFD_CLOEXEC, 900);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	/* one processor: else the threads of the guest would take turns at every access */
	if (!sched_getaffinity(0, sizeof(one), &one)) {
		for (int cpu = 0, first = 1; cpu < CPU_SETSIZE; cpu++) {
			if (!first)
				CPU_CLR(cpu, &one);
			else if (CPU_ISSET(cpu, &one))
				first = 0;
		}
		sched_setaffinity(0, sizeof(one), &one);
	}
	window.epoch = 1;
	base[0] = base[1] = base[2] = NOWHERE;
	rf_writer_start(&w, (rf_u32)getpid());
	read_own_command();
	hello();
	pthread_atfork(before_fork, unlock, in_child);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_result);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_exit);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
