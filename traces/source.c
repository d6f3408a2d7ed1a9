/* SPDX-License-Identifier: MIT
 * Sources of whatever kind.
 */
#include "traces/source.h"

#include "traces/import-source.h"

struct rf_source *rf_source_open(const char *path, const struct rf_source_options *options,
                                 GError **error)
{
	struct rf_raw *raw = rf_raw_open(path, error);
	struct rf_input *in;

	if (raw == NULL)
		return NULL;
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
