/* SPDX-License-Identifier: MIT
 * Sources of whatever kind.
 */
#include "traces/source.h"

#include <string.h>

#include "base/error.h"
#include "traces/import-source.h"

struct rf_source *rf_source_open(const char *path, const struct rf_source_options *options,
                                 GError **error)
{
	struct rf_raw *raw = rf_raw_open(path, error);
	const uint8_t *head;
	struct rf_input *in;
	size_t n;

	if (raw == NULL)
		return NULL;
	head = rf_raw_peek(raw, 16, &n, error);
	if (head == NULL) {
		rf_raw_close(raw);
		return NULL;
	}
	if (options != NULL && g_strcmp0(options->format, "rft") == 0 && !rf_rft_probe(head, n)) {
		rf_set_data(error, "%s: offset 0: no .rft begins here", rf_raw_name(raw));
		rf_raw_close(raw);
		return NULL;
	}
	if (rf_rft_probe(head, n) && (options == NULL || options->format == NULL ||
	                              strcmp(options->format, "rft") == 0))
		return rf_source_rft(raw, error);
	in = rf_input_new(raw, error);
	return in == NULL ? NULL : rf_source_import(in, options, error);
}

void rf_source_close(struct rf_source *s)
{
	if (s == NULL)
		return;
	s->ops->close(s);
	g_free(s->path);
	g_free(s);
}

gboolean rf_source_next(struct rf_source *s, struct rf_item *item, GError **error)
{
	return s->ops->next(s, item, error);
}

const char *rf_source_path(const struct rf_source *s)
{
	return s->path;
}

const char *rf_source_format(const struct rf_source *s)
{
	return s->format;
}

const struct rf_header *rf_source_header(const struct rf_source *s)
{
	return s->header;
}

const struct rf_totals *rf_source_totals_ahead(const struct rf_source *s)
{
	return s->ops->totals_ahead != NULL ? s->ops->totals_ahead(s) : NULL;
}

const struct rf_totals *rf_source_totals(const struct rf_source *s)
{
	return s->ops->totals(s);
}

double rf_source_progress(const struct rf_source *s)
{
	return s->ops->progress(s);
}

gboolean rf_source_skipped(const struct rf_source *s, guint i, const char **reason, uint64_t *n)
{
	return s->ops->skipped != NULL && s->ops->skipped(s, i, reason, n);
}

gboolean rf_source_rewind(struct rf_source *s, GError **error)
{
	g_return_val_if_fail(s->ops->rewind != NULL, FALSE);
	return s->ops->rewind(s, error);
}

uint32_t rf_source_frames(const struct rf_source *s)
{
	return s->ops->frames != NULL ? s->ops->frames(s) : 0;
}

gboolean rf_source_frame_runs(struct rf_source *s, uint32_t frame, struct rf_runs *runs,
                              GError **error)
{
	g_return_val_if_fail(s->ops->frame_runs != NULL, FALSE);
	return s->ops->frame_runs(s, frame, runs, error);
}
