/* SPDX-License-Identifier: MIT
 * What strace (or qemu -strace) prints, of one process or many: mappings, files, reads and writes.
 */
#include "traces/import/calls.h"
#include "traces/import/formats.h"
#include "traces/import/lines.h"
#include "traces/import/procs.h"

struct strace {
	struct rf_lines lines;
	struct rf_calls *calls;
	struct rf_procs *procs;
};

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct rf_calls *c = rf_calls_new();
	struct rf_call_line line;
	gboolean good = rf_calls_line(c, s, &line) != RF_CALL_NONE;

	(void)f;
	rf_calls_free(c);
	return good;
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct strace *t = self;

	(void)error;
	t->calls = rf_calls_new();
	/* strace prints what a buffer holds instead of where it is */
	t->procs = rf_procs_new(t->lines.b, opt, FALSE);
	return TRUE;
}

static void clear(void *self)
{
	struct strace *t = self;

	rf_calls_free(t->calls);
	rf_procs_free(t->procs);
}

/* A task may speak before the call that made it returns to its parent. */
static struct rf_process *process_of(struct strace *t, uint32_t pid, GError **error)
{
	gboolean thread;
	uint32_t parent;

	if (!rf_procs_known(t->procs, pid) && rf_calls_parent(t->calls, &parent, &thread) &&
	    !rf_procs_fork(t->procs, parent, pid, thread, error))
		return NULL;
	return rf_procs_get(t->procs, pid, pid, error);
}

static gboolean take(struct strace *t, const struct rf_call_line *l, enum rf_call_kind kind,
                     GError **error)
{
	struct rf_process *p;

	if (l->timed && !rf_lines_time(&t->lines, l->ns, error))
		return FALSE;
	if (kind == RF_CALL_EXITED)
		return rf_procs_exit(t->procs, l->pid, error);
	p = process_of(t, l->pid, error);
	if (p == NULL)
		return FALSE;
	if (kind == RF_CALL_NEWTASK)
		return l->call.result >= UINT32_MAX ||
		       rf_procs_fork(t->procs, l->pid, (uint32_t)l->call.result, l->thread, error);
	if (g_str_has_prefix(l->call.name, "execve"))
		return l->call.failed || rf_process_exec(p, l->pid, error);
	rf_calls_descriptor(l, p);
	return rf_process_call(p, l->pid, &l->call, error);
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct strace *t = self;
	struct rf_call_line l;
	enum rf_call_kind kind = rf_calls_line(t->calls, s, &l);

	if (kind == RF_CALL_NONE)
		return RF_LINE_OTHER;
	if (kind == RF_CALL_OTHER)
		return RF_LINE_TAKEN;
	return rf_line_of(take(t, &l, kind, error));
}

static const struct rf_line_format format = {
	.size = sizeof(struct strace),
	.example = "4243 1722340010.118204 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f10a2c3e000",
	.sure = 75,
	.like = like,
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_strace_importer = {
	.name = "strace",
	.summary = "strace and qemu -strace, with -f or without, any of the ways to print times",
	.cannot = "accesses to memory; mappings that execve made; sizes of files",
	.lines = &format,
};
