/* SPDX-License-Identifier: MIT
 * What perf trace -F all prints: page faults, with the object and the offset in it where perf knows
 * them, and system calls with names of arguments.
 *     ms ( duration): comm/tid minfault [where] => target (kind)
 *
 * Each object is mapped at a place of its own, whole, so that a page of a file is known by file and
 * offset; other addresses are as they were.
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

#define OBJECTS_START ((uint64_t)1 << 56) /* beyond what a user has */
#define OBJECT_SHIFT 36
#define OBJECTS_MAX 65536
#define PATH_MAX_BYTES 4096

struct perf_trace {
	struct rf_lines lines;
	struct rf_procs *procs;
	GHashTable *objects; /* path → 1 + number */
};

struct record {
	uint64_t ns;
	uint32_t tid;
	char *what; /* "minfault …" or "call(…" */
};

/* "    12.408 (         ): pgtoy/4243 majfault …"; a ? may stand for the time. */
static gboolean parse(char *s, struct record *r)
{
	char *end, *slash = NULL;

	rf_take_blanks(&s);
	r->ns = 0;
	if (!rf_take_literal(&s, "?") && !rf_take_fraction(&s, 6, &r->ns))
		return FALSE;
	rf_take_blanks(&s);
	end = strstr(s, "): ");
	if (*s != '(' || end == NULL)
		return FALSE;
	s = end + 3;
	/* a comm may hold blanks and slashes: the task's number ends with a blank */
	for (char *p = s; (p = strchr(p, '/')) != NULL; p++) {
		slash = p + 1;
		if (rf_take_tid(&slash, &r->tid) && *slash == ' ')
			break;
		slash = NULL;
	}
	if (slash == NULL)
		return FALSE;
	r->what = slash + 1;
	return TRUE;
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct perf_trace *p = self;

	(void)error;
	p->procs = rf_procs_new(p->lines.b, opt, FALSE);
	p->objects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return TRUE;
}

static void clear(void *self)
{
	struct perf_trace *p = self;

	rf_procs_free(p->procs);
	g_hash_table_destroy(p->objects);
}

/* An offset in an object, which is mapped when it is first met. */
static enum rf_line in_object(struct perf_trace *p, uint32_t tid, const char *path, uint64_t off,
                              GError **error)
{
	struct rf_process *q = rf_procs_get(p->procs, tid, tid, error);
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(p->objects, path));
	uint64_t base;

	if (q == NULL)
		return RF_LINE_BAD;
	if (n == 0) {
		n = g_hash_table_size(p->objects) + 1;
		g_hash_table_insert(p->objects, g_strdup(path), GUINT_TO_POINTER(n));
	}
	if (n > OBJECTS_MAX || off >> OBJECT_SHIFT != 0) {
		rf_builder_skipped(p->lines.b, "fault far inside an object, or in one of too many");
		return RF_LINE_TAKEN;
	}
	base = OBJECTS_START + ((uint64_t)n << OBJECT_SHIFT);
	if (rf_process_kind(q, base) < 0 &&
	    !rf_process_map(q, tid, base, (uint64_t)1 << OBJECT_SHIFT, RF_PROT_R | RF_PROT_X, path, 0,
	                    NULL, error))
		return RF_LINE_BAD;
	return rf_line_of(rf_procs_touch(p->procs, tid, tid, base + off, 1, error));
}

/* "[_dl_start+0x3d] => /usr/lib/ld.so@0x33e06 (d.)", or an address instead of the object */
static enum rf_line fault(struct perf_trace *p, uint32_t tid, char *s, GError **error)
{
	char *target = strstr(s, "] => "), *at, path[PATH_MAX_BYTES];
	uint64_t addr;

	if (*s != '[' || target == NULL)
		return rf_lines_expected(&p->lines, s, "[WHERE] => TARGET", error);
	target += strlen("] => ");
	at = strrchr(target, '@');
	if (at != NULL) {
		*at++ = 0;
		g_strlcpy(path, target, sizeof(path));
	}
	s = at != NULL ? at : target;
	if (!rf_take_literal(&s, "0x") || !rf_take_digits(&s, 16, &addr) || strchr(s, ')') == NULL)
		return rf_lines_expected(&p->lines, s, "0xADDRESS (KIND)", error);
	if (at != NULL && path[0] == '/' && path[1] != '/')
		return in_object(p, tid, path, addr, error);
	if (addr >= OBJECTS_START) {
		rf_builder_skipped(p->lines.b, "fault at an address of the kernel's");
		return RF_LINE_TAKEN;
	}
	return rf_line_of(rf_procs_touch(p->procs, tid, tid, addr, 1, error));
}

/* ---- system calls ---- */

/* "key: 0x1000" or "key: 4096"; a missing one is 0. */
static uint64_t argument(char *s, const char *key)
{
	char *p = strstr(s, key);
	uint64_t value;

	if (p == NULL)
		return 0;
	p += strlen(key);
	return rf_take_number(&p, &value) ? value : 0;
}

static uint64_t protection(const char *s)
{
	g_autofree char *prot = NULL;

	s = strstr(s, "prot: ");
	if (s == NULL)
		return 0;
	prot = g_strndup(s, strcspn(s, ",)"));
	return (strstr(prot, "READ") != NULL ? RF_PROT_R : 0) |
	       (strstr(prot, "WRITE") != NULL ? RF_PROT_W : 0) |
	       (strstr(prot, "EXEC") != NULL ? RF_PROT_X : 0);
}

/* Anonymous memory only: objects have their places. */
static enum rf_line system_call(struct perf_trace *p, uint32_t tid, char *s, GError **error)
{
	char *result = strstr(s, ") "), name[32];
	struct rf_call c = { .name = name };
	struct rf_process *q;

	if (result == NULL || !rf_take_word(&s, "(", name, sizeof(name)) || *s != '(')
		return RF_LINE_OTHER;
	for (char *p2 = result; (p2 = strstr(p2, " = ")) != NULL; p2 += 3)
		result = p2 + 3;
	c.failed = !rf_take_number(&result, &c.result) || c.result > INT64_MAX;
	if (strcmp(name, "brk") == 0) {
		c.nargs = 1;
	} else if (strcmp(name, "munmap") == 0) {
		c.nargs = 2;
		c.arg[0] = argument(s, "addr: ");
		c.arg[1] = argument(s, "len: ");
	} else if (strcmp(name, "mmap") == 0 && strstr(s, "ANON") != NULL) {
		c.nargs = 6;
		c.arg[1] = argument(s, "len: ");
		c.arg[2] = protection(s);
		c.arg[3] = 0x20 | (strstr(s, "SHARED") != NULL ? 1 : 2); /* MAP_ANONYMOUS */
	} else {
		rf_builder_skipped(p->lines.b, "other system call");
		return RF_LINE_TAKEN;
	}
	q = rf_procs_get(p->procs, tid, tid, error);
	return rf_line_of(q != NULL && rf_process_call(q, tid, &c, error));
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct perf_trace *p = self;
	struct rf_event lost = { .kind = RF_EV_LOST };
	struct record r;

	if (rf_take_literal(&s, "LOST ") && rf_take_digits(&s, 10, &lost.len) && lost.len > 0 &&
	    g_str_has_prefix(s, " events"))
		return rf_line_of(rf_builder_event(p->lines.b, &lost, error));
	if (!parse(s, &r))
		return RF_LINE_OTHER;
	if (r.ns > 0 && !rf_lines_time_from_0(&p->lines, r.ns, error))
		return RF_LINE_BAD;
	if (rf_take_literal(&r.what, "minfault ") || rf_take_literal(&r.what, "majfault "))
		return fault(p, r.tid, r.what, error);
	return system_call(p, r.tid, r.what, error);
}

static const struct rf_line_format format = {
	.size = sizeof(struct perf_trace),
	.example = "12.408 ( ): demo/4243 majfault [work_loop+0x31] => libm-demo.so@0x4f000 (x.)",
	.sure = 85,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_perf_trace_importer = {
	.name = "perf-trace",
	.summary = "perf trace -F all: page faults by object and offset, with system calls or without",
	.cannot = "hits: this is what the recording machine missed; loads from stores and fetches (a load "
	          "in an object, else a store); protections of objects; which tasks are threads",
	.lines = &format,
};
