/* SPDX-License-Identifier: MIT
 * The recorders there are: where their parts are, and how they are started.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "traces/record/launch.h"

#define VALGRIND_TOOL "refault-amd64-linux"
#define QEMU_PLUGIN "refault-qemu.so"
#define BUILD "configure --with-recorders && make, or make recorders"

/* The directory that has one of our own parts: where it was built, or is installed.  Caller frees. */
static char *own_part(const char *name)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *bin = self ? g_path_get_dirname(self) : NULL;
	g_autofree char *beside = bin ? g_build_filename(bin, "recorders", NULL) : NULL;
	const char *const places[] = { g_getenv("REFAULT_RECORDERS"), beside, RF_RECORDERSDIR };

	for (unsigned i = 0; i < G_N_ELEMENTS(places); i++) {
		g_autofree char *path = places[i] ? g_build_filename(places[i], name, NULL) : NULL;

		if (path && !access(path, R_OK))
			return g_strdup(places[i]);
	}
	return NULL;
}

static void add(GPtrArray *argv, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add(GPtrArray *argv, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_ptr_array_add(argv, g_strdup_vprintf(format, ap));
	va_end(ap);
}

static void add_command(GPtrArray *argv, const struct rf_launch_options *o)
{
	for (unsigned i = 0; o->command[i]; i++)
		add(argv, "%s", o->command[i]);
}

static char *no_program(const char *program, const char *package)
{
	g_autofree char *path = g_find_program_in_path(program);

	return path ? NULL : g_strdup_printf("no %s: apt-get install %s", program, package);
}

static void add_program(GPtrArray *argv, const char *program)
{
	char *path = g_find_program_in_path(program);

	g_ptr_array_add(argv, path ? path : g_strdup(program));
}

/* ---- valgrind ---- */

static char *valgrind_missing(void)
{
	char *text = no_program("valgrind", "valgrind");
	g_autofree char *dir = NULL;

	if (text)
		return text;
	dir = own_part(VALGRIND_TOOL);
	return dir ? NULL
	           : g_strdup("its tool was not built: apt-get install valgrind; " BUILD);
}

static void valgrind_command(const struct rf_launch_options *o, const char *path, GPtrArray *argv)
{
	g_autofree char *dir = own_part(VALGRIND_TOOL);

	add(argv, "/usr/bin/env");
	add(argv, "VALGRIND_LIB=%s", dir);
	add_program(argv, "valgrind");
	add(argv, "-q");
	add(argv, "--vgdb=no");
	add(argv, "--tool=refault");
	add(argv, "--trace-children=yes");
	add(argv, "--out=%s", path);
	add(argv, "--window-pages=%" G_GUINT64_FORMAT, o->window_pages);
	if (o->window_pages)
		add(argv, "--window-instructions=%" G_GUINT64_FORMAT, o->window_instructions);
	add(argv, "--");
	add_command(argv, o);
}

/* ---- qemu ---- */

/* e_machine of a program, 0: it is no ELF file. */
static unsigned machine_of(const char *program)
{
	Elf64_Ehdr head;
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return n == sizeof(head) && !memcmp(head.e_ident, ELFMAG, SELFMAG) ? head.e_machine : 0;
}

static char *qemu_missing(void)
{
	char *text = no_program("qemu-aarch64", "qemu-user");
	g_autofree char *dir = NULL;

	if (text)
		return text;
	dir = own_part(QEMU_PLUGIN);
	return dir ? NULL : g_strdup("its plug-in was not built: " BUILD);
}

static void qemu_command(const struct rf_launch_options *o, const char *path, GPtrArray *argv)
{
	g_autofree char *dir = own_part(QEMU_PLUGIN);
	g_autofree char *program = g_find_program_in_path(o->command[0]);
	unsigned shift = 12;

	while (o->page_size >> shift > 1)
		shift++;
	add_program(argv, machine_of(program) == EM_AARCH64 ? "qemu-aarch64" : "qemu-x86_64");
	if (o->sysroot) {
		add(argv, "-L");
		add(argv, "%s", o->sysroot);
	}
	if (o->page_size) {
		add(argv, "-p");
		add(argv, "%" G_GUINT64_FORMAT, o->page_size);
	}
	add(argv, "-plugin");
	/* the plug-in looks for "file=" to find where the command begins */
	add(argv,
	    "file=%s/" QEMU_PLUGIN ",out=%s,page-shift=%u,window-pages=%" G_GUINT64_FORMAT
	    ",window-instructions=%" G_GUINT64_FORMAT,
	    dir, path, shift, o->window_pages, MAX(o->window_instructions, 1));
	add(argv, "%s", program);
	for (unsigned i = 1; o->command[i]; i++)
		add(argv, "%s", o->command[i]);
}

/* ---- lackey ---- */

static char *lackey_missing(void)
{
	return no_program("valgrind", "valgrind");
}

static void lackey_command(const struct rf_launch_options *o, const char *path, GPtrArray *argv)
{
	(void)path; /* descriptor 9 */
	add_program(argv, "valgrind");
	add(argv, "-d");
	add(argv, "--vgdb=no");
	add(argv, "--tool=lackey");
	add(argv, "--basic-counts=no");
	add(argv, "--trace-mem=yes");
	add(argv, "--trace-syscalls=yes");
	add(argv, "--trace-sched=yes");
	add(argv, "--child-silent-after-fork=yes");
	add(argv, "--log-fd=9");
	add(argv, "--");
	add_command(argv, o);
}

/* ---- the table ---- */

const struct rf_recorder rf_recorders[] = {
	{ "valgrind", "x86-64 programs", "recording", valgrind_missing, valgrind_command, FALSE },
	{ "qemu", "arm64 and x86-64 programs, with pages of 4, 16 or 64 KiB", "recording",
	  qemu_missing, qemu_command, FALSE },
	{ "lackey", "x86-64 programs, slower; of one process, all accesses", "lackey",
	  lackey_missing, lackey_command, TRUE },
	{ .name = NULL }
};

const struct rf_recorder *rf_recorder_find(const char *name, const char *program, GError **error)
{
	g_autoptr(GString) why = g_string_new(NULL);
	const char *names[G_N_ELEMENTS(rf_recorders)] = { NULL };
	const char *near;

	/* only one can do that */
	if (!name && machine_of(program) == EM_AARCH64)
		name = "qemu";
	for (unsigned i = 0; rf_recorders[i].name; i++) {
		g_autofree char *missing = NULL;

		names[i] = rf_recorders[i].name;
		if (name && strcmp(name, rf_recorders[i].name))
			continue;
		missing = rf_recorders[i].missing();
		if (!missing)
			return &rf_recorders[i];
		g_string_append_printf(why, "%s%s: %s", why->len ? "; " : "", names[i], missing);
	}
	if (why->len) {
		rf_set_env(error, "no recorder: %s", why->str);
		return NULL;
	}
	near = rf_nearest(name, names);
	rf_set_usage(error, "--recorder %s: expected one of those that `refault record --check' "
	                    "lists%s%s", name, near ? "; did you mean " : "", near ? near : "");
	return NULL;
}
