/* SPDX-License-Identifier: MIT
 * refault trace reduce: a shorter trace, as good for LRU and OPT.
 */
#include "base/units.h"
#include "sim/cmd/trace.h"
#include "traces/builder.h"
#include "traces/reduce.h"

struct options {
	struct rf_trace_in in;
	char *output, *to, *level, *memory;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE", "write there; - is standard output" },
	{ "memory", 0, RF_ARG_STRING, OFF(memory), "SIZE",
	  "the least memory that the result is right for" },
	{ "to", 0, RF_ARG_STRING, OFF(to), "FORM",
	  "rft or text, where the name of the output does not end in .rft or .txt" },
	{ "level", 0, RF_ARG_STRING, OFF(level), "N", "of compression, 1 to 22" },
	RF_TRACE_IN_ARGS,
	RF_ARG_END
};

struct reduce {
	struct rf_reducer *reducer;
	struct rf_builder *b;
	struct rf_sink *sink;
	GArray *names; /* struct rf_page_name */
	uint32_t named; /* of them, those that the builder knows */
	uint64_t before, after;
};

static void keep(void *data, uint32_t tid, enum rf_access type, uint32_t page)
{
	struct reduce *r = data;

	/* the first access to a page is always kept, so ids come in order */
	if (page == r->named) {
		uint64_t vpn = g_array_index(r->names, struct rf_page_name, page).vpn;

		if (rf_builder_new_page(r->b, tid, vpn) == UINT32_MAX)
			return;
		r->named++;
	}
	rf_builder_run(r->b, tid, type, page, 1);
	r->after++;
}

static gboolean drain(struct reduce *r, gboolean last, GError **error)
{
	struct rf_item item;

	while (rf_builder_take(r->b, last, &item))
		if (!rf_sink_put(r->sink, &item, error))
			return FALSE;
	if (!rf_builder_error(r->b))
		return TRUE;
	g_propagate_error(error, g_error_copy(rf_builder_error(r->b)));
	return FALSE;
}

static gboolean take_item(void *data, const struct rf_item *item, gboolean *stop, GError **error)
{
	struct reduce *r = data;

	(void)stop;
	switch (item->kind) {
	case RF_ITEM_PAGES:
		g_array_append_vals(r->names, item->pages.name, item->pages.n);
		return TRUE;
	case RF_ITEM_EVENT:
		rf_reducer_barrier(r->reducer);
		return rf_builder_event(r->b, &item->event, error) && drain(r, FALSE, error);
	default:
		break;
	}
	for (uint32_t i = 0; i < item->runs.n; i++) {
		rf_reducer_access(r->reducer, item->runs.tid, item->runs.type[i] & RF_TYPE_MASK,
		                  item->runs.page[i]);
		r->before++;
		if (rf_builder_full(r->b) && !drain(r, FALSE, error))
			return FALSE;
	}
	return drain(r, FALSE, error);
}

static gboolean reduce_source(struct rf_source *s, struct reduce *r, const struct options *o,
                              uint64_t memory, GError **error)
{
	struct rf_header *header = rf_builder_header(r->b);
	g_autofree char *least = rf_exact_size(memory);
	gboolean good;

	if (rf_header_get(rf_source_header(s), "reduced-memory")) {
		rf_set_data(error, "%s: is reduced already; expected the whole trace", rf_source_path(s));
		return FALSE;
	}
	rf_header_copy(header, rf_source_header(s));
	rf_header_set(header, "reduced-memory", least);
	r->sink = rf_trace_sink(o->output, o->to, o->level, header, error);
	if (!r->sink)
		return FALSE;
	good = rf_trace_each(s, &o->in, take_item, r, error);
	if (good)
		rf_reducer_barrier(r->reducer);
	if (good && drain(r, TRUE, error)) {
		g_autofree char *before = rf_format_count(r->before), *after = rf_format_count(r->after);

		if (!rf_sink_commit(r->sink, error))
			return FALSE;
		if (!o->in.quiet)
			fprintf(stderr, "refault: %s: %s runs of accesses became %s\n", rf_source_path(s),
			        before, after);
		return TRUE;
	}
	rf_sink_abort(r->sink);
	return FALSE;
}

static gboolean reduce(const GPtrArray *operands, void *block, int *code, GError **error)
{
	const struct options *o = block;
	const char *path = rf_trace_operand(operands, "reduce", "TRACE", error);
	struct reduce r = { 0 };
	struct rf_source *s;
	uint64_t memory, pages = 0;
	gboolean good;

	(void)code;
	if (!path)
		return FALSE;
	if (!o->output || !o->memory || !rf_parse_size(o->memory, &memory, NULL)) {
		rf_set_usage(error, "trace reduce: expected -o FILE and --memory SIZE");
		return FALSE;
	}
	s = rf_trace_open(path, &o->in, error);
	if (!s)
		return FALSE;
	pages = memory >> rf_source_header(s)->granule_shift;
	good = pages >= 1 && pages < UINT32_MAX - 1;
	if (good) {
		r.reducer = rf_reducer_new((uint32_t)pages, keep, &r);
		r.b = rf_builder_new(FALSE);
		r.names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
		good = reduce_source(s, &r, o, memory, error);
		rf_reducer_free(r.reducer);
		rf_builder_free(r.b);
		g_array_unref(r.names);
	} else {
		rf_set_usage(error, "--memory %s; expected at least a page, and less than 2^32", o->memory);
	}
	rf_source_close(s);
	return good;
}

const struct rf_trace_verb rf_trace_reduce = {
	.name = "reduce",
	.operands = "TRACE --memory SIZE -o FILE [OPTION]...",
	.summary = "drop what can't matter to LRU and OPT above a memory size",
	.text = "Write a shorter trace with which lru and belady fault as often as with the whole\n"
		"one, in each memory of SIZE or more (run --frames).  For other policies, and for\n"
		"the modelled machine, that is not so: run refuses them.  Numbers of accesses are\n"
		"not kept.\n",
	.args = args,
	.run = reduce,
	.block_size = sizeof(struct options),
};
