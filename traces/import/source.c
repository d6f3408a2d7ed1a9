/* SPDX-License-Identifier: MIT
 * A source made of an input, an importer and a builder.
 */
#include "traces/import-source.h"

#include <string.h>

#include "base/error.h"
#include "traces/builder.h"
#include "traces/import/lines.h"
#include "traces/totals.h"

struct import_source {
	struct rf_source s;
	struct rf_input *in;
	const struct rf_importer *imp;
	void *self; /* the importer's */
	struct rf_builder *b;
	struct rf_tally tally;
	GError *late; /* opening failed; told at the first call for an item */
	gboolean ended;
};

/* Bring a builder's error, which knows no place, to the caller. */
static gboolean refuse(struct import_source *is, GError **error)
{
	const GError *e = rf_builder_error(is->b);
	uint64_t line = rf_input_line_number(is->in);

	g_propagate_error(error, g_error_copy(e));
	if (line > 0)
		g_prefix_error(error, "%s:%" G_GUINT64_FORMAT ": ", is->s.path, line);
	else
		g_prefix_error(error, "%s: offset %" G_GUINT64_FORMAT ": ", is->s.path,
		               rf_input_offset(is->in));
	return FALSE;
}

static gboolean import_next(struct rf_source *s, struct rf_item *item, GError **error)
{
	struct import_source *is = (struct import_source *)s;

	if (is->late != NULL) {
		g_propagate_error(error, g_error_copy(is->late));
		return FALSE;
	}
	while (!rf_builder_take(is->b, is->ended, item)) {
		enum rf_step step;

		if (rf_builder_error(is->b) != NULL)
			return refuse(is, error);
		if (is->ended && rf_builder_records(is->b) == 0) {
			rf_set_data(error, "%s: no access and no event was found; expected at least one",
			            s->path);
			return FALSE;
		}
		if (is->ended) {
			item->kind = RF_ITEM_END;
			item->record = rf_builder_records(is->b);
			return TRUE;
		}
		step = is->imp->lines != NULL ? rf_lines_step(is->self, error)
		                              : is->imp->step(is->self, is->b, error);
		if (step == RF_STEP_ERROR)
			return FALSE;
		if (step == RF_STEP_END)
			is->ended = TRUE;
	}
	rf_tally_add(&is->tally, item);
	return TRUE;
}

static void import_close(struct rf_source *s)
{
	struct import_source *is = (struct import_source *)s;

	if (is->self != NULL && is->imp->lines != NULL)
		rf_lines_close(is->self);
	else if (is->self != NULL)
		is->imp->close(is->self);
	rf_input_close(is->in);
	rf_builder_free(is->b);
	rf_tally_clear(&is->tally);
	g_clear_error(&is->late);
}

static const struct rf_totals *import_totals(const struct rf_source *s)
{
	return &((const struct import_source *)s)->tally.totals;
}

static double import_progress(const struct rf_source *s)
{
	const struct import_source *is = (const struct import_source *)s;

	return is->imp->progress != NULL ? is->imp->progress(is->self) : rf_input_progress(is->in);
}

static gboolean import_skipped(const struct rf_source *s, guint i, const char **reason, uint64_t *n)
{
	return rf_builder_skipped_nth(((const struct import_source *)s)->b, i, reason, n);
}

static const struct rf_source_ops import_ops = {
	.next = import_next,
	.close = import_close,
	.totals = import_totals,
	.progress = import_progress,
	.skipped = import_skipped,
};

/* ---- finding the format ---- */

#define HEAD (64u << 10)

static const struct rf_importer *by_name(const char *name, GError **error)
{
	GPtrArray *names = g_ptr_array_new();
	const char *near;

	for (unsigned i = 0; rf_importers[i] != NULL; i++) {
		if (g_strcmp0(rf_importers[i]->name, name) == 0) {
			g_ptr_array_free(names, TRUE);
			return rf_importers[i];
		}
		g_ptr_array_add(names, (gpointer)rf_importers[i]->name);
	}
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near != NULL) {
		rf_set_usage(error, "unknown format '%s'; did you mean %s?", name, near);
	} else {
		char *all = g_strjoinv(", ", (char **)names->pdata);

		rf_set_usage(error, "unknown format '%s'; expected %s", name, all);
		g_free(all);
	}
	g_ptr_array_free(names, TRUE);
	return NULL;
}

static const struct rf_importer *sniff(struct rf_input *in, GError **error)
{
	const struct rf_importer *best = NULL;
	int sure = 0;
	size_t n;
	const uint8_t *head = rf_input_peek(in, HEAD, &n, error);

	if (head == NULL)
		return NULL;
	if (n == 0) {
		rf_set_data(error, "%s: is empty; expected a trace", rf_input_name(in));
		return NULL;
	}
	for (unsigned i = 0; rf_importers[i] != NULL; i++) {
		const struct rf_importer *imp = rf_importers[i];
		int p = imp->probe != NULL ? imp->probe(head, n) : rf_lines_probe(imp->lines, head, n);

		if (p > sure) {
			sure = p;
			best = imp;
		}
	}
	if (best == NULL) {
		GString *all = g_string_new("rft");

		for (unsigned i = 0; rf_importers[i] != NULL; i++)
			g_string_append_printf(all, ", %s", rf_importers[i]->name);
		rf_set_data(error, "%s: offset 0: no known format; expected one of %s", rf_input_name(in),
		            all->str);
		g_string_free(all, TRUE);
	}
	return best;
}

static struct import_source *source_new(struct rf_input *in, const struct rf_source_options *opt,
                                        GError **error)
{
	static const struct rf_source_options none;
	struct import_source *is = g_new0(struct import_source, 1);
	struct rf_header *header;

	if (opt == NULL)
		opt = &none;
	is->s.ops = &import_ops;
	is->s.path = g_strdup(rf_input_name(in));
	is->in = in;
	is->b = rf_builder_new(opt->strict);
	header = rf_builder_header(is->b);
	is->s.header = header;
	is->imp = opt->format != NULL ? by_name(opt->format, error) : sniff(in, error);
	if (is->imp == NULL)
		return is;
	is->s.format = is->imp->name;
	if (opt->params != NULL && opt->params[0] != NULL && !is->imp->takes_params) {
		rf_source_no_params(is->s.path, is->s.format, opt->params[0], error);
		return is;
	}
	is->self = is->imp->lines != NULL ? rf_lines_open(is->imp->lines, in, is->b, opt, error)
	                                  : is->imp->open(in, is->b, opt, error);
	if (is->imp->cannot != NULL && rf_header_get(header, "cannot-know") == NULL)
		rf_header_set(header, "cannot-know", is->imp->cannot);
	rf_tally_init(&is->tally, header->granule_shift);
	return is;
}

struct rf_source *rf_source_import(struct rf_input *in, const struct rf_source_options *options,
                                   GError **error)
{
	struct import_source *is = source_new(in, options, error);

	if (is->self != NULL)
		return &is->s;
	rf_source_close(&is->s);
	return NULL;
}

struct rf_source *rf_source_from_text(const char *name, const char *text, gssize len)
{
	const struct rf_source_options options = { .format = "text" };
	struct rf_input *in;
	struct import_source *is;
	GError *error = NULL;

	in = rf_input_from_memory(name, text, len < 0 ? strlen(text) : (size_t)len);
	is = source_new(in, &options, &error);
	is->late = error;
	return &is->s;
}
