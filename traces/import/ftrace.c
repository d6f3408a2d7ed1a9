/* SPDX-License-Identifier: MIT
 * ftrace's text: the files trace and trace_pipe, and trace-cmd report.
 *     comm-pid [(tgid)] [cpu] [flags] time: event: fields
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/tracepoints.h"

struct ftrace {
	struct rf_lines lines;
	struct rf_procs *procs;
	struct rf_tracepoints *events;
};

struct record {
	uint32_t pid, tid;
	uint64_t ns;
	char *name, *fields;
};

/* From the right: a comm may hold anything. */
static gboolean parse_head(char *head, struct record *r)
{
	char *word = rf_last_word(head), *dash;

	if (*word != '[')
		word = rf_last_word(head); /* that was the flags */
	if (*word != '[')
		return FALSE;
	g_strchomp(head);
	r->pid = UINT32_MAX;
	if (g_str_has_suffix(head, ")")) {
		dash = strrchr(head, '(');
		if (dash == NULL)
			return FALSE;
		*dash++ = 0;
		rf_take_blanks(&dash);
		if (*dash != '-' && !rf_take_tid(&dash, &r->pid))
			return FALSE;
		g_strchomp(head);
	}
	dash = strrchr(head, '-');
	if (dash == NULL || !g_ascii_isdigit(dash[1]))
		return FALSE;
	dash++;
	if (!rf_take_tid(&dash, &r->tid) || *dash != 0)
		return FALSE;
	if (r->pid == UINT32_MAX)
		r->pid = r->tid;
	return TRUE;
}

static gboolean parse(char *s, struct record *r)
{
	char *head, *colon;

	r->name = rf_tracepoint_head(s, &head, &r->ns);
	if (r->name == NULL || !parse_head(head, r))
		return FALSE;
	colon = strchr(r->name, ':');
	if (colon == NULL || colon[1] != ' ' || strcspn(r->name, " ") < (size_t)(colon - r->name))
		return FALSE;
	*colon = 0;
	r->fields = colon + 2;
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
	struct ftrace *t = self;
	gboolean kernel = opt == NULL || !opt->no_kernel_accesses;

	(void)error;
	t->procs = rf_procs_new(t->lines.b, opt, kernel);
	t->events = rf_tracepoints_new(&t->lines, t->procs, kernel);
	return TRUE;
}

static void clear(void *self)
{
	struct ftrace *t = self;

	rf_tracepoints_free(t->events);
	rf_procs_free(t->procs);
}

/* "CPU:1 [LOST 17 EVENTS]" */
static gboolean lost(char *s, uint64_t *n)
{
	s = strstr(s, "[LOST ");
	return s != NULL && rf_take_literal(&s, "[LOST ") && rf_take_digits(&s, 10, n) &&
	       rf_take_literal(&s, " EVENTS]") && *n > 0;
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct ftrace *t = self;
	struct rf_event ev = { .kind = RF_EV_LOST };
	struct record r;

	if (g_str_has_prefix(s, "CPU:") && lost(s, &ev.len))
		return rf_line_of(rf_builder_event(t->lines.b, &ev, error));
	if (!parse(s, &r))
		return RF_LINE_OTHER;
	if (!rf_lines_time(&t->lines, r.ns, error))
		return RF_LINE_BAD;
	return rf_tracepoint(t->events, r.pid, r.tid, r.name, r.fields, error);
}

static enum rf_step end(void *self, GError **error)
{
	return rf_tracepoints_end(((struct ftrace *)self)->events, error) == RF_LINE_BAD ? RF_STEP_ERROR
	                                                                                 : RF_STEP_END;
}

static const struct rf_line_format format = {
	.size = sizeof(struct ftrace),
	.example = "demo-4242 [003] ..... 7310.220117: mm_filemap_add_to_page_cache: dev 259:2 ino 9c41 "
	           "pfn=0x11f2c0 ofs=81920 order=0",
	.sure = 80,
	.like = like,
	.begin = begin,
	.line = line,
	.end = end,
	.clear = clear,
};

const struct rf_importer rf_ftrace_importer = {
	.name = "ftrace",
	.summary = "ftrace's text (trace, trace_pipe, trace-cmd report): page faults, filemap, vmscan",
	.cannot = "hits: this is what the recording machine missed; writes of files; mappings, without "
	          "--maps; which tasks are threads, without tgid; order among processors",
	.lines = &format,
};
