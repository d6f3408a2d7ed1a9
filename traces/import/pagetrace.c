/* SPDX-License-Identifier: MIT
 * What tools print that tell of pages, a record a line, with the count of instructions in front:
 *     41894 L 4a3d                            I L S: fetch, load, store of a page; r w: the kernel's
 *     131671 # sys read 3 31000000 40000 = 262144
 *     135905 # map 4838000 4839000 r-x file 1000 /usr/lib/x.so      (or anon, or start for map)
 *     0 # map 5500000000-5500007000 r--p 00000000 fe:00 111   /bin/p      (as in /proc/PID/maps)
 * and unmap, prot, brk+, brk-, thread.  All numbers but times, threads and, without a line `target',
 * results are hexadecimal.
 *
 * A tool that tells of each mapping as it changes (the third form) has its calls that map ignored; for
 * one that told only those it began with (the last form), the calls are all there is.
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/process.h"

#define NAME_MAX_BYTES 32
#define PAGE_SHIFT 12

struct pagetrace {
	struct rf_lines lines;
	struct rf_process *process;
	uint32_t tid;
	gboolean kernel_accesses;
	gboolean told; /* mappings are told as they change */
	gboolean hex;  /* so are results of calls: the tool for QEMU */
};

static gboolean blank(char **s)
{
	char *before = *s;

	rf_take_blanks(s);
	return *s > before;
}

static gboolean take_time(char **s)
{
	uint64_t n;

	return rf_take_digits(s, 10, &n) && blank(s);
}

static gboolean take_page(char **s, uint64_t *addr)
{
	if (!rf_take_digits(s, 16, addr) || **s || *addr >> (64 - PAGE_SHIFT))
		return FALSE;
	*addr <<= PAGE_SHIFT;
	return TRUE;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	uint64_t addr;

	(void)f;
	if (!take_time(&s))
		return FALSE;
	if (*s == '#')
		return s[1] == ' ';
	return *s && strchr("ILSrw", *s) && *++s == ' ' && *++s && take_page(&s, &addr);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct pagetrace *t = self;

	t->kernel_accesses = !(opt && opt->no_kernel_accesses);
	t->process = rf_process_new(t->lines.b, t->kernel_accesses);
	t->tid = 1;
	return rf_process_task(t->process, 1, error);
}

static void clear(void *self)
{
	rf_process_free(((struct pagetrace *)self)->process);
}

static enum rf_line access_line(struct pagetrace *t, char *s, GError **error)
{
	static const char letters[] = "LSIrw";
	static const enum rf_access types[] = { RF_READ, RF_WRITE, RF_EXEC, RF_READ, RF_WRITE };
	const char *at = strchr(letters, *s);
	uint64_t addr;

	if (!*s || !at)
		return RF_LINE_OTHER;
	s++;
	if (!blank(&s) || !take_page(&s, &addr))
		return rf_lines_expected(&t->lines, s, "the number of a page, hexadecimal", error);
	if (at >= letters + 3)
		rf_process_kernel_told(t->process);
	if (at < letters + 3 || t->kernel_accesses)
		rf_builder_access(t->lines.b, t->tid, types[at - letters], addr, 1, 1);
	return RF_LINE_TAKEN;
}

/* ---- what happened ---- */

static gboolean take_range(char **s, char between, uint64_t *addr, uint64_t *len)
{
	uint64_t end;

	if (!rf_take_digits(s, 16, addr) || **s != between)
		return FALSE;
	(*s)++;
	if (!rf_take_digits(s, 16, &end) || end <= *addr)
		return FALSE;
	*len = end - *addr;
	return TRUE;
}

static gboolean take_prot(char **s, uint8_t *prot)
{
	char *p = *s;

	*prot = 0;
	for (unsigned i = 0; i < 3; i++)
		if (p[i] == "rwx"[i])
			*prot |= 1 << i;
		else if (p[i] != '-')
			return FALSE;
	*s += 3;
	return TRUE;
}

static gboolean map(struct pagetrace *t, uint64_t addr, uint64_t len, uint8_t prot, const char *path,
                    uint64_t off, GError **error)
{
	const struct rf_call unmap = { .name = "munmap", .nargs = 2, .arg = { addr, len } };

	if (rf_process_mapped(t->process, addr) &&
	    !rf_process_call(t->process, t->tid, &unmap, error))
		return FALSE;
	if (path[0] == '/')
		return rf_process_map(t->process, t->tid, addr, len, prot, path, off, NULL, error);
	return rf_process_map(t->process, t->tid, addr, len, prot, NULL, 0,
	                      path[0] == '[' ? path : NULL, error);
}

/* "START END rwx KIND OFFSET PATH", or a line of /proc/PID/maps */
static enum rf_line map_line(struct pagetrace *t, char *s, GError **error)
{
	uint64_t addr, len, off = 0, inode;
	char *start = s, word[NAME_MAX_BYTES];
	uint8_t prot;
	gboolean good;

	if (take_range(&s, ' ', &addr, &len)) {
		t->told = TRUE;
		good = blank(&s) && take_prot(&s, &prot) && blank(&s) &&
		       rf_take_word(&s, " ", word, sizeof(word)) && blank(&s) &&
		       rf_take_digits(&s, 16, &off);
	} else {
		s = start;
		good = take_range(&s, '-', &addr, &len) && blank(&s) && take_prot(&s, &prot) && *s &&
		       *++s == ' ' && blank(&s) && rf_take_digits(&s, 16, &off) && blank(&s) &&
		       rf_take_word(&s, " ", word, sizeof(word)) && blank(&s) &&
		       rf_take_digits(&s, 10, &inode);
	}
	if (!good)
		return rf_lines_expected(&t->lines, s, "a mapping", error);
	rf_take_blanks(&s);
	if (addr & ((1 << PAGE_SHIFT) - 1)) {
		rf_builder_skipped(t->lines.b, "mapping that does not begin with a page: the recorder's own");
		return RF_LINE_TAKEN;
	}
	return rf_line_of(map(t, addr, len, prot, s, off, error));
}

/* "NAME ARGUMENT… = RESULT [PATH]" */
static enum rf_line call_line(struct pagetrace *t, char *s, GError **error)
{
	static const char *const mapping[] = { "mmap", "munmap", "mremap", "mprotect", "brk", NULL };
	char name[NAME_MAX_BYTES];
	struct rf_call c = { .name = name };

	if (!rf_take_word(&s, " ", name, sizeof(name)))
		return rf_lines_expected(&t->lines, s, "the name of a system call", error);
	while (blank(&s) && *s != '=' && c.nargs < RF_CALL_ARGS)
		if (!rf_take_digits(&s, 16, &c.arg[c.nargs++]))
			return rf_lines_expected(&t->lines, s, "an argument, hexadecimal", error);
	if (!rf_take_literal(&s, "= "))
		return rf_lines_expected(&t->lines, s, "= and a result", error);
	if (!(t->hex ? rf_take_digits(&s, 16, &c.result) : rf_take_number(&s, &c.result)))
		return rf_lines_expected(&t->lines, s, "a result", error);
	c.failed = c.result >= (uint64_t)-4095;
	rf_take_blanks(&s);
	c.path[0] = *s ? s : NULL;
	if (t->told && g_strv_contains(mapping, name))
		return RF_LINE_TAKEN;
	return rf_line_of(rf_process_call(t->process, t->tid, &c, error));
}

static enum rf_line range_line(struct pagetrace *t, const char *what, char *s, GError **error)
{
	uint64_t addr, len;
	uint8_t prot;

	if (!take_range(&s, ' ', &addr, &len))
		return rf_lines_expected(&t->lines, s, "a range of addresses", error);
	if (!strcmp(what, "prot")) {
		if (!blank(&s) || !take_prot(&s, &prot))
			return rf_lines_expected(&t->lines, s, "a protection", error);
		return rf_line_of(rf_process_protect(t->process, t->tid, addr, len, prot, error));
	}
	if (!strcmp(what, "brk+"))
		return rf_line_of(map(t, addr, len, RF_PROT_R | RF_PROT_W, "[heap]", 0, error));
	if (rf_process_mapped(t->process, addr)) {
		const struct rf_call unmap = { .name = "munmap", .nargs = 2, .arg = { addr, len } };

		return rf_line_of(rf_process_call(t->process, t->tid, &unmap, error));
	}
	return RF_LINE_TAKEN;
}

static enum rf_line event_line(struct pagetrace *t, char *s, GError **error)
{
	char what[NAME_MAX_BYTES];

	if (!rf_take_word(&s, " ", what, sizeof(what)))
		return RF_LINE_OTHER;
	rf_take_blanks(&s);
	if (!strcmp(what, "start") || !strcmp(what, "map"))
		return map_line(t, s, error);
	if (!strcmp(what, "sys"))
		return call_line(t, s, error);
	if (!strcmp(what, "unmap") || !strcmp(what, "prot") || g_str_has_prefix(what, "brk"))
		return range_line(t, what, s, error);
	if (!strcmp(what, "thread")) {
		if (!rf_take_tid(&s, &t->tid))
			return rf_lines_expected(&t->lines, s, "the number of a thread", error);
		return rf_line_of(rf_process_task(t->process, t->tid, error));
	}
	if (!strcmp(what, "target"))
		t->hex = TRUE;
	return RF_LINE_TAKEN; /* exit, map-exit */
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct pagetrace *t = self;

	if (!take_time(&s))
		return RF_LINE_OTHER;
	if (*s != '#')
		return access_line(t, s, error);
	s++;
	return blank(&s) ? event_line(t, s, error) : RF_LINE_OTHER;
}

static const struct rf_line_format format = {
	.size = sizeof(struct pagetrace),
	.example = "41894 L 4a3d",
	.sure = 80,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_pagetrace_importer = {
	.name = "pagetrace",
	.summary = "pages that a tool for valgrind or QEMU prints: 'instructions I|L|S|r|w page'",
	.cannot = "accesses while a page is among the latest of its type; time; sizes of files; with QEMU, "
	          "what may be executed, and what the kernel touched other than the buffers of read(2), "
	          "write(2) and their kin",
	.lines = &format,
};
