/* SPDX-License-Identifier: MIT
 * Synthetic workloads: what is common to all kinds.  Page numbers of a kind become mappings, reads,
 * writes and read(2) of one task.
 */
#include "traces/synth.h"

#include <string.h>

#include "base/error.h"
#include "traces/import-source.h"

#define ANON_BASE ((uint64_t)0x10000000000)
#define FILE_BASE ((uint64_t)0x20000000000)
#define BATCH 4096
#define SPEC_MAX 4096
#define FILE_ID 1

struct run {
	struct rf_synth s;
	uint32_t *id; /* of pages touched so far; UINT32_MAX: not yet */
	struct rf_rng writes;
	uint64_t write_below; /* 2^32 times the share of writes */
	gboolean by_read;     /* the file is read by read(2) */
	uint32_t page[BATCH], next, have;
};

/* ---- specifications ---- */

static const struct rf_synth_kind *find_kind(const char *name, GError **error)
{
	GPtrArray *names = g_ptr_array_new();
	const struct rf_synth_kind *found = NULL;
	const char *near;

	for (unsigned i = 0; rf_synth_kinds[i] && !found; i++) {
		if (!strcmp(rf_synth_kinds[i]->name, name))
			found = rf_synth_kinds[i];
		g_ptr_array_add(names, (gpointer)rf_synth_kinds[i]->name);
	}
	g_ptr_array_add(names, NULL);
	if (!found) {
		near = rf_nearest(name, (const char *const *)names->pdata);
		if (near) {
			rf_set_usage(error, "unknown synthetic workload '%s'; did you mean %s?",
			             name, near);
		} else {
			char *all = g_strjoinv(", ", (char **)names->pdata);

			rf_set_usage(error, "unknown synthetic workload '%s'; expected one of %s",
			             name, all);
			g_free(all);
		}
	}
	g_ptr_array_free(names, TRUE);
	return found;
}

static void synth_close(void *self)
{
	struct run *r = self;
	struct rf_synth *s = &r->s;

	if (s->kind && s->priv && s->kind->clear)
		s->kind->clear(s);
	if (s->opt)
		rf_options_clear(s->kind->options, s->opt);
	g_free(s->opt);
	g_free(s->priv);
	g_free(r->id);
	g_free(r);
}

static struct run *run_new(const char *spec, GError **error)
{
	struct run *r = g_new0(struct run, 1);
	struct rf_synth *s = &r->s;
	const char *comma = strchr(spec, ',');
	char *name = comma ? g_strndup(spec, (size_t)(comma - spec)) : g_strdup(spec);
	struct rf_synth_common *c;
	gboolean good = FALSE;

	s->kind = find_kind(name, error);
	if (!s->kind)
		goto out;
	s->opt = g_malloc0(s->kind->options_size);
	rf_options_init(s->kind->options, s->opt);
	if (comma && !rf_options_parse(s->kind->options, s->opt, name, comma + 1, error))
		goto out;
	c = s->opt;
	s->rng.s = (uint64_t)c->seed;
	s->accesses = (uint64_t)c->accesses;
	s->pages = (uint32_t)c->pages;
	s->backed = c->backing == RF_SYNTH_ANON ? UINT32_MAX : 0;
	s->priv = g_malloc0(s->kind->priv_size + 1);
	good = s->kind->init(s, error);
	if (!good)
		g_prefix_error(error, "%s: ", name);
	s->backed = MIN(s->backed, s->pages);
	r->by_read = c->backing == RF_SYNTH_READ;
	r->writes.s = ~(uint64_t)c->seed;
	r->write_below = ((uint64_t)c->write << 32) / 100;
out:
	g_free(name);
	if (good)
		return r;
	synth_close(r);
	return NULL;
}

static gboolean run_start(struct run *r, GError **error)
{
	r->id = g_try_new(uint32_t, r->s.pages);
	if (!r->id) {
		rf_set_env(error, "%s: no memory for %u pages", r->s.kind->name, r->s.pages);
		return FALSE;
	}
	memset(r->id, 0xff, (size_t)r->s.pages * sizeof(*r->id));
	return !r->s.kind->start || r->s.kind->start(&r->s, error);
}

/* ---- the importer ---- */

static int synth_probe(const uint8_t *head, size_t n)
{
	size_t len = strlen(RF_SYNTH_MAGIC);

	return n >= len && !memcmp(head, RF_SYNTH_MAGIC, len) ? 100 : 0;
}

/* The whole specification, with defaults filled in. */
static char *canonical(const struct rf_synth *s)
{
	GString *text = g_string_new(s->kind->name);

	for (const struct rf_option *o = s->kind->options; o->name; o++) {
		char *value = rf_options_value(o, s->opt);

		g_string_append_printf(text, ",%s=%s", o->name, value);
		g_free(value);
	}
	return g_string_free(text, FALSE);
}

static gboolean begin(struct run *r, struct rf_builder *b, GError **error)
{
	struct rf_event task = { .kind = RF_EV_TASK, .tid = 1 };
	struct rf_event map = { .kind = RF_EV_MMAP, .tid = 1, .prot = RF_PROT_R | RF_PROT_W };
	uint64_t anon = r->s.backed, file = r->s.pages - r->s.backed;
	char *spec = canonical(&r->s);

	rf_header_set(rf_builder_header(b), "clock", "accesses");
	rf_header_set(rf_builder_header(b), "recorder", "refault-synth");
	rf_header_set(rf_builder_header(b), "command", spec);
	g_free(spec);
	if (!rf_builder_event(b, &task, error))
		return FALSE;
	if (anon) {
		map.addr = ANON_BASE;
		map.len = anon << RF_GRANULE_SHIFT;
		if (!rf_builder_event(b, &map, error))
			return FALSE;
	}
	if (file) {
		struct rf_event decl = {
			.kind = RF_EV_FILE,
			.id = FILE_ID,
			.name = "data",
			.len = file << RF_GRANULE_SHIFT,
		};

		if (!rf_builder_event(b, &decl, error))
			return FALSE;
		map.addr = FILE_BASE;
		map.len = decl.len;
		map.mkind = RF_MAP_FILE;
		map.id = FILE_ID;
		map.shared = 1;
		if (!r->by_read && !rf_builder_event(b, &map, error))
			return FALSE;
	}
	return TRUE;
}

static void *synth_open(struct rf_input *in, struct rf_builder *b,
                        const struct rf_source_options *opt, GError **error)
{
	struct run *r;
	char *line, *spec;
	size_t len;
	int got = rf_input_line(in, &line, &len, error);
	GError *e = NULL;

	(void)opt;
	if (got < 0)
		return NULL;
	spec = got ? line : NULL;
	if (!spec || len > SPEC_MAX || !g_str_has_prefix(spec, RF_SYNTH_MAGIC " 1 ")) {
		rf_set_data(error, "%s:1: expected '" RF_SYNTH_MAGIC " 1 KIND,option=value,...'",
		            rf_input_name(in));
		return NULL;
	}
	r = run_new(g_strstrip(spec + strlen(RF_SYNTH_MAGIC " 1 ")), &e);
	if (!r) {
		rf_set_data(error, "%s:1: %s", rf_input_name(in), e->message);
		g_error_free(e);
		return NULL;
	}
	got = rf_input_line(in, &line, &len, error);
	if (got) {
		if (got > 0)
			rf_set_data(error, "%s:2: text after the specification; expected the end",
			            rf_input_name(in));
		synth_close(r);
		return NULL;
	}
	if (!run_start(r, error) || !begin(r, b, error)) {
		synth_close(r);
		return NULL;
	}
	return r;
}

/* One access to a page.  Memory that nobody wrote has no frame of its own, so the first access to
 * an anonymous page is a write. */
static gboolean access_page(struct run *r, struct rf_builder *b, uint32_t page, gboolean write,
                            GError **error)
{
	gboolean anon = page < r->s.backed;
	uint32_t id = r->id[page];

	if (!anon && r->by_read) {
		struct rf_event read = {
			.kind = RF_EV_READ,
			.tid = 1,
			.id = FILE_ID,
			.len = 1u << RF_GRANULE_SHIFT,
			.off = (uint64_t)(page - r->s.backed) << RF_GRANULE_SHIFT,
		};

		if (write)
			read.kind = RF_EV_WRITE;
		return rf_builder_event(b, &read, error);
	}
	if (id == UINT32_MAX) {
		uint64_t vpn = anon ? (ANON_BASE >> RF_GRANULE_SHIFT) + page
		                    : (FILE_BASE >> RF_GRANULE_SHIFT) + (page - r->s.backed);

		id = r->id[page] = rf_builder_new_page(b, 1, vpn);
		if (id == UINT32_MAX) {
			rf_set_env(error, "no memory for the names of pages");
			return FALSE;
		}
		write |= anon;
	}
	rf_builder_run(b, 1, write ? RF_WRITE : RF_READ, id, 1);
	return TRUE;
}

static enum rf_step synth_step(void *self, struct rf_builder *b, GError **error)
{
	struct run *r = self;
	struct rf_synth *s = &r->s;

	do {
		if (r->next == r->have) {
			uint64_t left = s->accesses - s->done;

			if (!left)
				return RF_STEP_END;
			r->next = 0;
			s->mark = NULL;
			r->have = s->kind->fill(s, r->page, (uint32_t)MIN(left, BATCH));
			s->done += r->have;
			if (s->mark) {
				struct rf_event mark = { .kind = RF_EV_MARK, .name = s->mark };

				if (!rf_builder_event(b, &mark, error))
					return RF_STEP_ERROR;
			}
		}
		for (uint32_t end = MIN(r->have, r->next + 512); r->next < end; r->next++) {
			gboolean write = r->write_below > (uint32_t)(rf_rng_next(&r->writes) >> 32);

			if (!access_page(r, b, r->page[r->next], write, error))
				return RF_STEP_ERROR;
		}
	} while (!rf_builder_full(b));
	return RF_STEP_MORE;
}

static double synth_progress(void *self)
{
	struct run *r = self;

	return (double)r->s.done / (double)r->s.accesses;
}

const struct rf_importer rf_synth_importer = {
	.name = "synth",
	.summary = "a synthetic workload: a line '" RF_SYNTH_MAGIC " 1 KIND,option=value,...'",
	.probe = synth_probe,
	.open = synth_open,
	.step = synth_step,
	.close = synth_close,
	.progress = synth_progress,
};

struct rf_source *rf_synth_open(const char *spec, GError **error)
{
	static const struct rf_source_options options = { .format = "synth" };
	struct run *r = run_new(spec, error); /* usage errors first, without a place */
	struct rf_source *s;
	char *text;

	if (!r)
		return NULL;
	synth_close(r);
	text = g_strconcat(RF_SYNTH_MAGIC " 1 ", spec, NULL);
	s = rf_source_import(rf_input_from_memory("synth", text, strlen(text)), &options, error);
	g_free(text);
	return s;
}
