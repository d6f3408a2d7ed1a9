/* SPDX-License-Identifier: MIT
 * What perf script prints: the tracepoints of page faults, of the page cache and of reclaim, the
 * software events page-faults, minor-faults and major-faults with addresses (perf record -d), and
 * records of mappings and tasks (--show-mmap-events --show-task-events).
 *     comm pid[/tid] [[cpu]] time: [period] event: fields
 */
#include <string.h>

#include "traces/import/formats.h"
#include "traces/import/tracepoints.h"

#define USER_END ((uint64_t)1 << 56)

struct perf {
	struct rf_lines lines;
	struct rf_procs *procs;
	struct rf_tracepoints *events;
	gboolean kernel_accesses, all_faults;
};

struct record {
	uint32_t pid, tid;
	uint64_t ns;
	char *event; /* "sys:name" or "PERF_RECORD_…" with all that follows */
	char *fields;
};

static gboolean parse(char *s, struct record *r)
{
	uint64_t period;
	char *head, *word, *end;

	r->event = rf_tracepoint_head(s, &head, &r->ns);
	if (r->event == NULL)
		return FALSE;
	word = rf_last_word(head);
	if (*word == '[')
		word = rf_last_word(head);
	if (!rf_take_tid(&word, &r->tid))
		return FALSE;
	r->pid = r->tid;
	if ((rf_take_literal(&word, "/") && !rf_take_tid(&word, &r->tid)) || *word != 0)
		return FALSE;
	r->fields = NULL;
	if (g_str_has_prefix(r->event, "PERF_RECORD_"))
		return TRUE;
	if (rf_take_digits(&r->event, 10, &period))
		rf_take_blanks(&r->event);
	end = strstr(r->event, ": ");
	if (end == NULL || strcspn(r->event, " ") < (size_t)(end - r->event))
		return FALSE;
	*end = 0;
	r->fields = end + 2;
	rf_take_blanks(&r->fields);
	return TRUE;
}

/* "page-faults", perhaps with modifiers behind a colon. */
static gboolean is_fault(const char *event)
{
	static const char *const names[] = { "page-faults", "faults", "minor-faults", "major-faults", NULL };
	g_autofree char *name = g_strndup(event, strcspn(event, ":"));

	return g_strv_contains(names, name);
}

static gboolean like(const struct rf_line_format *f, char *s)
{
	struct record r;

	(void)f;
	return parse(s, &r) && (r.fields == NULL || is_fault(r.event) || strchr(r.event, ':') != NULL);
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct perf *p = self;

	(void)error;
	p->kernel_accesses = opt == NULL || !opt->no_kernel_accesses;
	p->procs = rf_procs_new(p->lines.b, opt, p->kernel_accesses);
	p->events = rf_tracepoints_new(&p->lines, p->procs, p->kernel_accesses);
	return TRUE;
}

static void clear(void *self)
{
	struct perf *p = self;

	rf_tracepoints_free(p->events);
	rf_procs_free(p->procs);
}

static enum rf_line skipped(struct perf *p, const char *reason)
{
	rf_builder_skipped(p->lines.b, reason);
	return RF_LINE_TAKEN;
}

/* "7f167a9eb110 [symbol (object)] ffffffff8175336a [symbol (object)]" */
static enum rf_line fault(struct perf *p, const struct record *r, GError **error)
{
	char *s = r->fields, *behind;
	uint64_t addr, ip;

	if (!rf_take_hex(&s, &addr) || *s != ' ')
		return rf_lines_expected(&p->lines, s, "an address and one of an instruction", error);
	if (addr == 0)
		return rf_lines_expected(&p->lines, r->fields, "an address; perf record -d records it",
		                         error);
	behind = strstr(s, ") ");
	if (behind != NULL)
		s = behind + 2;
	rf_take_blanks(&s);
	if (!rf_take_hex(&s, &ip) || (*s != 0 && *s != ' '))
		return rf_lines_expected(&p->lines, s, "the address of an instruction", error);
	if (strncmp(r->event, "m", 1) != 0)
		p->all_faults = TRUE;
	else if (p->all_faults)
		return skipped(p, "fault that page-faults counts too");
	if (addr >= USER_END)
		return skipped(p, "fault at an address of the kernel's");
	if (ip >= USER_END && !p->kernel_accesses)
		return skipped(p, "fault of the kernel's");
	if (addr == ip)
		return rf_line_of(rf_procs_access(p->procs, r->pid, r->tid, RF_EXEC, addr, 1, error));
	return rf_line_of(rf_procs_touch(p->procs, r->pid, r->tid, addr, 1, error));
}

/* ---- records ---- */

/* " 1796/1796: [0x7f7a03dd4000(0x26000) @ 0x1000 fe:00 332383 0]: r-xp /usr/lib/ld.so"; MMAP without
 * 2 has no device, and "x" alone. */
static enum rf_line mapping(struct perf *p, char *s, GError **error)
{
	uint32_t pid, tid;
	uint64_t addr, len, off;
	struct rf_process *q;
	uint8_t prot = 0;
	char *end;

	if (rf_take_literal(&s, " -1/"))
		return skipped(p, "mapping of the kernel's");
	if (!rf_take_literal(&s, " ") || !rf_take_tid(&s, &pid) || !rf_take_literal(&s, "/") ||
	    !rf_take_tid(&s, &tid) || !rf_take_literal(&s, ": [") || !rf_take_hex(&s, &addr) ||
	    !rf_take_literal(&s, "(") || !rf_take_hex(&s, &len) || !rf_take_literal(&s, ") @ ") ||
	    !rf_take_hex(&s, &off))
		return rf_lines_expected(&p->lines, s, "PID/TID: [0xADDR(0xLEN) @ OFFSET ...]", error);
	end = strstr(s, "]: ");
	if (end == NULL)
		return rf_lines_expected(&p->lines, s, "']: ' and a protection", error);
	s = end + 3;
	for (; *s != 0 && *s != ' '; s++)
		prot |= *s == 'r' ? RF_PROT_R : *s == 'w' ? RF_PROT_W : *s == 'x' ? RF_PROT_X : 0;
	if (!rf_take_literal(&s, " ") || *s == 0)
		return rf_lines_expected(&p->lines, s, "a file's name", error);
	q = rf_procs_get(p->procs, pid, tid, error);
	if (q == NULL)
		return RF_LINE_BAD;
	if (*s == '/' && !g_str_has_prefix(s, "//"))
		return rf_line_of(rf_process_map(q, tid, addr, len, prot, s, off, NULL, error));
	return rf_line_of(rf_process_map(q, tid, addr, len, prot, NULL, 0, *s == '[' ? s : NULL, error));
}

/* "(1797:1797):(1796:1796)": who, and its parent. */
static gboolean four(char *s, uint32_t n[4])
{
	return rf_take_literal(&s, "(") && rf_take_tid(&s, &n[0]) && rf_take_literal(&s, ":") &&
	       rf_take_tid(&s, &n[1]) && rf_take_literal(&s, "):(") && rf_take_tid(&s, &n[2]) &&
	       rf_take_literal(&s, ":") && rf_take_tid(&s, &n[3]) && rf_take_literal(&s, ")");
}

static enum rf_line record(struct perf *p, const struct record *r, char *s, GError **error)
{
	struct rf_event lost = { .kind = RF_EV_LOST };
	struct rf_process *q;
	uint32_t n[4];

	if (rf_take_literal(&s, "MMAP2") || rf_take_literal(&s, "MMAP"))
		return mapping(p, s, error);
	if (rf_take_literal(&s, "COMM exec: ")) {
		if (!rf_procs_known(p->procs, r->tid))
			return RF_LINE_TAKEN;
		q = rf_procs_get(p->procs, r->pid, r->tid, error);
		return rf_line_of(q != NULL && rf_process_exec(q, r->tid, error));
	}
	if (rf_take_literal(&s, "FORK")) {
		if (!four(s, n))
			return rf_lines_expected(&p->lines, s, "(PID:TID):(PID:TID)", error);
		return rf_line_of(!rf_procs_known(p->procs, n[3]) ||
		                  rf_procs_fork(p->procs, n[3], n[1], n[0] == n[2], error));
	}
	if (rf_take_literal(&s, "EXIT")) {
		if (!four(s, n))
			return rf_lines_expected(&p->lines, s, "(PID:TID):(PID:TID)", error);
		return rf_line_of(rf_procs_exit(p->procs, n[1], error));
	}
	if (rf_take_literal(&s, "LOST lost ") && rf_take_digits(&s, 10, &lost.len) && lost.len > 0)
		return rf_line_of(rf_builder_event(p->lines.b, &lost, error));
	/* half of a name is no other one */
	return rf_input_cut(p->lines.in) ? RF_LINE_OTHER : skipped(p, "other event");
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct perf *p = self;
	struct record r;
	char *name;

	if (!parse(s, &r))
		return RF_LINE_OTHER;
	if (r.fields == NULL) {
		if (r.ns > 0 && !rf_lines_time(&p->lines, r.ns, error)) /* those at 0 were made up */
			return RF_LINE_BAD;
		return record(p, &r, r.event + strlen("PERF_RECORD_"), error);
	}
	if (!rf_lines_time(&p->lines, r.ns, error))
		return RF_LINE_BAD;
	if (is_fault(r.event))
		return fault(p, &r, error);
	name = strchr(r.event, ':');
	return rf_tracepoint(p->events, r.pid, r.tid, name != NULL ? name + 1 : r.event, r.fields, error);
}

static enum rf_step end(void *self, GError **error)
{
	return rf_tracepoints_end(((struct perf *)self)->events, error) == RF_LINE_BAD ? RF_STEP_ERROR
	                                                                               : RF_STEP_END;
}

static const struct rf_line_format format = {
	.size = sizeof(struct perf),
	.example = "demo 4242 [003] 7310.114250: exceptions:page_fault_user: address=0x7f10a2c4e018 "
	           "ip=0x5594c01f31 error_code=0x6",
	.sure = 85,
	.like = like,
	.begin = begin,
	.line = line,
	.end = end,
	.clear = clear,
};

const struct rf_importer rf_perf_importer = {
	.name = "perf",
	.summary = "perf script: page faults (tracepoints, or page-faults with perf record -d), filemap, "
	           "vmscan, mmap and task records",
	.cannot = "hits: this is what the recording machine missed; loads from stores, for page-faults (a "
	          "store, but in a file's mapping); munmap; mappings, without --show-mmap-events or "
	          "--maps; order among processors",
	.lines = &format,
};
