/* SPDX-License-Identifier: MIT
 * refault trace validate: does a trace make sense?
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "sim/cmd/trace.h"
#include "traces/state.h"

struct options {
	struct rf_trace_in in;
	char *max;
};

static const struct rf_arg args[] = { { "max", 0, RF_ARG_STRING, offsetof(struct options, max), "N",
	                                "print at most N findings (default 20)" },
	                              RF_TRACE_IN_ARGS,
	                              RF_ARG_END };

struct check {
	const char *path, *format;
	struct rf_state *state;
	unsigned shift;
	uint64_t findings, max;
	/* per page: what was found at which epoch, so that an access costs a comparison */
	uint32_t *epoch, cap;
	uint8_t *allowed; /* 1 << type; nothing: no mapping */
	GString *out;
};

static void finding(struct check *c, uint64_t record, const char *message)
{
	if (c->findings++ < c->max)
		g_string_append_printf(c->out, "%s: record %" G_GUINT64_FORMAT ": %s\n", c->path,
		                       record, message);
}

#define MAPPED 8
#define BEYOND 16 /* the page is behind the end of its file */

static uint8_t allowed(const struct check *c, uint32_t page)
{
	const struct rf_vma *v = rf_state_vma(c->state, page);
	uint64_t size, addr;

	if (!v)
		return 0;
	size = v->mkind == RF_MAP_FILE ? rf_state_file_size(c->state, v->id) : 0;
	addr = rf_state_page(c->state, page)->vpn << c->shift;
	if (size && v->off + (addr - v->start) >= size)
		return MAPPED | BEYOND;
	return MAPPED | (v->prot & RF_PROT_R ? 1 << RF_READ : 0) |
	       (v->prot & RF_PROT_W ? 1 << RF_WRITE : 0) | (v->prot & RF_PROT_X ? 1 << RF_EXEC : 0);
}

/* What the page may be used for; 0: it is in no mapping. */
static inline uint8_t allowed_now(struct check *c, uint32_t page)
{
	uint32_t epoch = rf_state_epoch(c->state);

	if (page >= c->cap) {
		uint32_t cap = MAX(rf_state_pages(c->state), c->cap + c->cap / 4);

		c->epoch = g_renew(uint32_t, c->epoch, cap);
		c->allowed = g_renew(uint8_t, c->allowed, cap);
		memset(c->epoch + c->cap, 0, (cap - c->cap) * sizeof(*c->epoch));
		c->cap = cap;
	}
	if (c->epoch[page] != epoch) {
		c->epoch[page] = epoch;
		c->allowed[page] = allowed(c, page);
	}
	return c->allowed[page];
}

/* Why an access is impossible.  Caller frees. */
static char *why(struct check *c, uint32_t page)
{
	uint8_t now = allowed_now(c, page);
	const struct rf_vma *v = rf_state_vma(c->state, page);

	if (now & BEYOND)
		return g_strdup_printf("beyond the end of file %u of %" G_GUINT64_FORMAT " bytes",
		                       v->id, rf_state_file_size(c->state, v->id));
	if (now)
		return g_strdup_printf("which the protection of its mapping, %c%c%c, forbids",
		                       v->prot & RF_PROT_R ? 'r' : '-',
		                       v->prot & RF_PROT_W ? 'w' : '-',
		                       v->prot & RF_PROT_X ? 'x' : '-');
	return g_strdup(rf_state_ever_mapped(c->state, page) ? "where nothing is mapped any more"
	                                                     : "where nothing is mapped");
}

static void bad_run(struct check *c, const struct rf_item *item, uint32_t i)
{
	static const char letter[] = "RWX";
	uint32_t page = item->runs.page[i];
	unsigned type = item->runs.type[i] & RF_TYPE_MASK;
	const struct rf_page_name *name = rf_state_page(c->state, page);
	g_autofree char *text = NULL, *reason = NULL;
	uint32_t space;

	if (!name) {
		text = g_strdup_printf("page %u has no name", page);
	} else if (rf_state_space(c->state, item->runs.tid, &space) && space != name->space) {
		text = g_strdup_printf("task %u accesses page %u of another address space",
		                       item->runs.tid, page);
	} else {
		reason = why(c, page);
		text = g_strdup_printf("%c of task %u to 0x%" G_GINT64_MODIFIER "x, %s",
		                       letter[type], item->runs.tid, name->vpn << c->shift, reason);
	}
	finding(c, item->record + i, text);
}

static void check_runs(struct check *c, const struct rf_item *item)
{
	const struct rf_runs *r = &item->runs;
	uint32_t pages = rf_state_pages(c->state), space = UINT32_MAX;

	rf_state_space(c->state, r->tid, &space);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t page = r->page[i];

		if (page >= pages || rf_state_page(c->state, page)->space != space ||
		    !(allowed_now(c, page) & 1 << (r->type[i] & RF_TYPE_MASK)))
			bad_run(c, item, i);
	}
}

/* Formats other than the text form have no way of declaring tasks. */
static void undeclared(struct check *c, const struct rf_item *item)
{
	g_autofree char *text = NULL;

	if (strcmp(c->format, "text"))
		return;
	text = g_strdup_printf("task %u was not declared, or has ended; expected an event 'task %u' "
	                       "before", item->event.tid, item->event.tid);
	finding(c, item->record, text);
}

static gboolean check_item(void *data, const struct rf_item *item, gboolean *stop, GError **error)
{
	struct check *c = data;
	GError *e = NULL;

	(void)stop;
	(void)error;
	if (item->kind == RF_ITEM_EVENT && item->event.implied)
		undeclared(c, item);
	if (!rf_state_item(c->state, item, &e)) {
		finding(c, item->record, e->message);
		g_error_free(e);
		if (item->kind == RF_ITEM_RUNS)
			return TRUE;
	}
	if (item->kind == RF_ITEM_RUNS)
		check_runs(c, item);
	return TRUE;
}

static void conclude(struct check *c, const struct rf_source *s)
{
	const struct rf_totals *t = rf_source_totals(s);
	g_autofree char *n = rf_format_count(c->findings);
	g_autofree char *more = rf_format_count(c->findings - MIN(c->findings, c->max));
	g_autofree char *events = rf_format_count(t->events);
	g_autofree char *runs = rf_format_count(t->runs);

	if (c->findings > c->max)
		g_string_append_printf(c->out, "%s: and %s more\n", c->path, more);
	g_string_append_printf(c->out, "%s: %s finding%s in %s event%s and %s run%s of accesses\n",
	                       c->path, n, c->findings == 1 ? "" : "s", events,
	                       t->events == 1 ? "" : "s", runs, t->runs == 1 ? "" : "s");
}

static gboolean validate_one(const char *path, const struct options *o, uint64_t max, int *code,
                             GError **error)
{
	struct rf_source *s = rf_trace_open(path, &o->in, error);
	struct check c = { .path = path, .max = max };
	gboolean good;

	if (!s)
		return FALSE;
	rf_source_verify(s);
	c.shift = rf_source_header(s)->granule_shift;
	c.state = rf_state_new(rf_source_header(s));
	c.format = rf_source_format(s);
	c.out = g_string_new(NULL);
	good = rf_trace_each(s, &o->in, check_item, &c, error);
	if (good)
		conclude(&c, s);
	if (c.findings)
		*code = RF_EXIT_NEGATIVE;
	fputs(c.out->str, stdout);
	g_string_free(c.out, TRUE);
	rf_state_free(c.state);
	rf_source_close(s);
	g_free(c.epoch);
	g_free(c.allowed);
	return good;
}

static gboolean validate(const GPtrArray *operands, void *block, int *code, GError **error)
{
	const struct options *o = block;
	uint64_t max = 20;
	int end;

	if (o->max && !rf_parse_u64(o->max, &max, NULL)) {
		rf_set_usage(error, "--max %s; expected a number", o->max);
		return FALSE;
	}
	if (operands->len == 0) {
		rf_set_usage(error,
		             "trace validate: expected TRACE; see `refault trace validate --help'");
		return FALSE;
	}
	for (guint i = 0; i < operands->len; i++)
		if (!validate_one(operands->pdata[i], o, max, code, error))
			return FALSE;
	end = rf_print("");
	if (end != RF_EXIT_OK)
		*code = end;
	return TRUE;
}

const struct rf_trace_verb rf_trace_validate = {
	.name = "validate",
	.operands = "TRACE... [OPTION]...",
	.summary = "look for what makes no sense; exit 1 if there is any",
	.text = "Check that tasks exist before they act, mappings are possible and do not\n"
		"overlap, files are declared and not read beyond their end, time goes forward,\n"
		"and that every access falls into a mapping that allows it.  In a trace that was\n"
		"recorded, files may have grown unseen: their sizes are not relied on.  Exit\n"
		"code 1 when something was found, 3 when the file is damaged.\n",
	.args = args,
	.run = validate,
	.block_size = sizeof(struct options),
};
