/* SPDX-License-Identifier: MIT
 * refault trace cut: a part of a trace, with what it needs from before.
 */
#include <string.h>

#include "base/units.h"
#include "sim/cmd/trace.h"
#include "traces/builder.h"

struct options {
	struct rf_trace_in in;
	char *output, *to, *level;
	char *from, *until, *from_time, *until_time, *from_mark, *until_mark, *task, *accesses;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE", "write there; - is standard output" },
	{ "from", 0, RF_ARG_STRING, OFF(from), "N",
	  "begin with record N (they count from 0: runs and events)" },
	{ "until", 0, RF_ARG_STRING, OFF(until), "N", "end before record N" },
	{ "from-time", 0, RF_ARG_STRING, OFF(from_time), "TIME",
	  "begin at TIME: a number of instructions or accesses, where that is the clock of the trace, "
	  "else a time like 5ms, as events `at' tell it" },
	{ "until-time", 0, RF_ARG_STRING, OFF(until_time), "TIME", "end before TIME" },
	{ "from-mark", 0, RF_ARG_STRING, OFF(from_mark), "NAME", "begin with the mark NAME" },
	{ "until-mark", 0, RF_ARG_STRING, OFF(until_mark), "NAME", "end before the mark NAME" },
	{ "accesses", 0, RF_ARG_STRING, OFF(accesses), "N", "end after N accesses" },
	{ "task", 0, RF_ARG_STRING, OFF(task), "TID",
	  "only what task TID accesses, reads and writes" },
	{ "to", 0, RF_ARG_STRING, OFF(to), "FORM",
	  "rft or text, where the name of the output does not end in .rft or .txt" },
	{ "level", 0, RF_ARG_STRING, OFF(level), "N", "of compression, 1 to 22" },
	RF_TRACE_IN_ARGS,
	RF_ARG_END
};

struct cut {
	struct rf_builder *b; /* numbers the pages that are left */
	struct rf_sink *sink;
	const char *from_mark, *until_mark;
	uint64_t from, until, from_time, until_time, accesses;
	enum { NS, INSTRUCTIONS, ACCESSES } clock;
	uint64_t now; /* by the clock of the trace */
	uint32_t tid;
	gboolean one_task, inside, found;

	GArray *names; /* of the pages of the whole trace */
	uint32_t *id;  /* page → id in the part; UINT32_MAX: not there yet */
	uint32_t ids;
	gboolean whole; /* the access that a continuing run belongs to was taken */
};

/* What an event leaves behind is needed later; what it does at its time is not. */
static gboolean makes_state(enum rf_event_kind kind)
{
	switch (kind) {
	case RF_EV_READ:
	case RF_EV_WRITE:
	case RF_EV_FSYNC:
	case RF_EV_THINK:
	case RF_EV_AT:
	case RF_EV_MARK:
	case RF_EV_LOST:
		return FALSE;
	default:
		return TRUE;
	}
}

static gboolean acts(enum rf_event_kind kind)
{
	return kind == RF_EV_READ || kind == RF_EV_WRITE || kind == RF_EV_FSYNC ||
	       kind == RF_EV_THINK;
}

/* From the builder into the sink. */
static gboolean drain(struct cut *c, gboolean last, GError **error)
{
	struct rf_item item;

	while (rf_builder_take(c->b, last, &item))
		if (!rf_sink_put(c->sink, &item, error))
			return FALSE;
	if (!rf_builder_error(c->b))
		return TRUE;
	g_propagate_error(error, g_error_copy(rf_builder_error(c->b)));
	return FALSE;
}

static void take_names(struct cut *c, const struct rf_item *item)
{
	uint32_t n;

	g_array_append_vals(c->names, item->pages.name, item->pages.n);
	n = c->names->len;
	if (n > c->ids) {
		n = MAX(n, c->ids + c->ids / 4);
		c->id = g_renew(uint32_t, c->id, n);
		memset(c->id + c->ids, 0xff, (n - c->ids) * sizeof(*c->id));
		c->ids = n;
	}
}

static gboolean take_event(struct cut *c, const struct rf_item *item, gboolean *stop,
                           GError **error)
{
	const struct rf_event *ev = &item->event;

	if (ev->kind == RF_EV_MARK) {
		if (c->from_mark && !c->inside && !strcmp(ev->name, c->from_mark))
			c->inside = c->found = TRUE;
		else if (c->until_mark && c->inside && !strcmp(ev->name, c->until_mark))
			*stop = TRUE;
	}
	if (*stop || (!c->inside && !makes_state(ev->kind)) ||
	    (c->one_task && acts(ev->kind) && ev->tid != c->tid))
		return TRUE;
	if (rf_builder_event(c->b, ev, error))
		return TRUE;
	g_prefix_error(error, "record %" G_GUINT64_FORMAT ": ", item->record);
	return FALSE;
}

/* One run; FALSE when no more may follow. */
static gboolean take_run(struct cut *c, const struct rf_runs *r, uint32_t i)
{
	uint8_t type = r->type[i];
	uint32_t page = r->page[i], count = r->count[i];

	if (!(type & RF_RUN_CONT)) {
		if (!c->accesses)
			return FALSE;
		/* what goes on is the last access of a run */
		c->whole = count <= c->accesses;
		count = (uint32_t)MIN(count, c->accesses);
		c->accesses -= count;
	} else if (!c->whole) {
		return TRUE; /* its access is not in the part */
	}
	if (c->id[page] == UINT32_MAX)
		c->id[page] = rf_builder_new_page(
			c->b, r->tid, g_array_index(c->names, struct rf_page_name, page).vpn);
	if (c->id[page] != UINT32_MAX)
		rf_builder_run(c->b, r->tid, type, c->id[page], count);
	return TRUE;
}

/* Is a record in the part?  FALSE with *stop behind it.  A part that begins with a mark is begun by
 * the mark's event. */
static void place(struct cut *c, uint64_t record, gboolean *stop)
{
	if (!c->from_mark)
		c->inside = record >= c->from && c->now >= c->from_time;
	if (record >= c->until || c->now >= c->until_time)
		*stop = TRUE;
}

static void pass_time(struct cut *c, const struct rf_runs *r, uint32_t i)
{
	unsigned type = r->type[i] & RF_TYPE_MASK;

	if (c->clock != NS && !(r->type[i] & RF_RUN_CONT) &&
	    (c->clock == ACCESSES || type == RF_EXEC))
		c->now += r->count[i];
}

static gboolean take_item(void *data, const struct rf_item *item, gboolean *stop, GError **error)
{
	struct cut *c = data;

	if (item->kind == RF_ITEM_PAGES) {
		take_names(c, item);
		return TRUE;
	}
	if (item->kind == RF_ITEM_EVENT) {
		if (c->clock == NS && item->event.kind == RF_EV_AT)
			c->now = item->event.len;
		place(c, item->record, stop);
		if (*stop)
			return TRUE;
		return take_event(c, item, stop, error) && drain(c, FALSE, error);
	}
	for (uint32_t i = 0; i < item->runs.n && !*stop; i++) {
		place(c, item->record + i, stop);
		if (!*stop && c->inside && (!c->one_task || item->runs.tid == c->tid))
			*stop = !take_run(c, &item->runs, i);
		pass_time(c, &item->runs, i);
		if (rf_builder_full(c->b) && !drain(c, FALSE, error))
			return FALSE;
	}
	return drain(c, FALSE, error);
}

static gboolean number(const char *option, const char *text, uint64_t *value, GError **error)
{
	if (!text || rf_parse_u64(text, value, NULL))
		return TRUE;
	rf_set_usage(error, "--%s %s; expected a number", option, text);
	return FALSE;
}

static gboolean time_option(const struct cut *c, const char *option, const char *text,
                            uint64_t *value, GError **error)
{
	if (!text || (c->clock == NS ? rf_parse_time : rf_parse_u64)(text, value, NULL))
		return TRUE;
	rf_set_usage(error, "--%s %s; expected %s", option, text,
	             c->clock == NS             ? "a time like 5ms"
	             : c->clock == INSTRUCTIONS ? "a number of instructions"
	                                        : "a number of accesses");
	return FALSE;
}

/* What depends on the clock of the trace. */
static gboolean read_times(struct cut *c, const struct options *o, const struct rf_header *h,
                           GError **error)
{
	const char *clock = rf_header_get(h, "clock");

	if (!g_strcmp0(clock, "instructions"))
		c->clock = INSTRUCTIONS;
	else if (!g_strcmp0(clock, "accesses"))
		c->clock = ACCESSES;
	if (!time_option(c, "from-time", o->from_time, &c->from_time, error) ||
	    !time_option(c, "until-time", o->until_time, &c->until_time, error))
		return FALSE;
	if (c->from_time < c->until_time)
		return TRUE;
	rf_set_usage(error, "--from-time %s --until-time %s: nothing is between them",
	             o->from_time ? o->from_time : "0", o->until_time);
	return FALSE;
}

static gboolean read_options(struct cut *c, const struct options *o, GError **error)
{
	uint64_t tid = 0;

	c->until = c->until_time = c->accesses = UINT64_MAX;
	if (!number("from", o->from, &c->from, error) ||
	    !number("until", o->until, &c->until, error) ||
	    !number("accesses", o->accesses, &c->accesses, error) ||
	    !number("task", o->task, &tid, error))
		return FALSE;
	if (o->from_mark && (o->from || o->from_time)) {
		rf_set_usage(error, "--%s and --from-mark: expected one of them",
		             o->from ? "from" : "from-time");
		return FALSE;
	}
	if (c->from >= c->until) {
		rf_set_usage(error, "--from %s --until %s: nothing is between them",
		             o->from ? o->from : "0", o->until);
		return FALSE;
	}
	if (!c->accesses) {
		rf_set_usage(error, "--accesses 0; expected at least 1");
		return FALSE;
	}
	if (tid > UINT32_MAX) {
		rf_set_usage(error, "--task %s; expected a task's number", o->task);
		return FALSE;
	}
	c->tid = (uint32_t)tid;
	c->one_task = o->task != NULL;
	c->from_mark = o->from_mark;
	c->until_mark = o->until_mark;
	return TRUE;
}

static gboolean cut_source(struct rf_source *s, struct cut *c, const struct options *o,
                           GError **error)
{
	struct rf_header *header;
	gboolean good;

	if (!read_times(c, o, rf_source_header(s), error))
		return FALSE;
	c->b = rf_builder_new(FALSE);
	header = rf_builder_header(c->b);
	rf_header_copy(header, rf_source_header(s));
	c->sink = rf_trace_sink(o->output, o->to, o->level, header, error);
	if (!c->sink)
		return FALSE;
	c->names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	good = rf_trace_each(s, &o->in, take_item, c, error) && drain(c, TRUE, error);
	if (good && c->from_mark && !c->found) {
		rf_set_data(error, "%s: no mark %s", rf_source_path(s), c->from_mark);
		good = FALSE;
	}
	if (good && !rf_builder_records(c->b)) {
		rf_set_data(error, "%s: nothing is left", rf_source_path(s));
		good = FALSE;
	}
	if (good)
		return rf_sink_commit(c->sink, error);
	rf_sink_abort(c->sink);
	return FALSE;
}

static gboolean cut(const GPtrArray *operands, void *block, int *code, GError **error)
{
	const struct options *o = block;
	const char *path = rf_trace_operand(operands, "cut", "TRACE", error);
	struct rf_source *s;
	struct cut c = { 0 };
	gboolean good;

	(void)code;
	if (!path)
		return FALSE;
	if (!o->output) {
		rf_set_usage(error, "trace cut: expected -o FILE");
		return FALSE;
	}
	if (!read_options(&c, o, error))
		return FALSE;
	s = rf_trace_open(path, &o->in, error);
	good = s && cut_source(s, &c, o, error);
	if (c.b)
		rf_builder_free(c.b);
	if (c.names)
		g_array_unref(c.names);
	g_free(c.id);
	rf_source_close(s);
	return good;
}

const struct rf_trace_verb rf_trace_cut = {
	.name = "cut",
	.operands = "TRACE -o FILE [OPTION]...",
	.summary = "a part of a trace, with what it needs from before",
	.text = "Write a part of a trace.  Events from before it that declare files, start\n"
		"tasks, make mappings and the like are kept; accesses, reads, writes and marks\n"
		"are not.\n",
	.args = args,
	.run = cut,
	.block_size = sizeof(struct options),
};
