/* SPDX-License-Identifier: MIT
 * Sources of whatever kind.
 */
#include "traces/source.h"

#include <string.h>

#include "base/error.h"
#include "traces/import-source.h"
#include "traces/totals.h"

void rf_source_no_params(const char *path, const char *format, const char *param, GError **error)
{
	rf_set_usage(error, "%s: parameter %s: a trace of format %s has none; expected a scenario", path,
	             param, format);
}

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
	                              strcmp(options->format, "rft") == 0)) {
		if (options == NULL || options->params == NULL || options->params[0] == NULL)
			return rf_source_rft(raw, error);
		rf_source_no_params(rf_raw_name(raw), "rft", options->params[0], error);
		rf_raw_close(raw);
		return NULL;
	}
	in = rf_input_new(raw, error);
	return in == NULL ? NULL : rf_source_import(in, options, error);
}

void rf_source_close(struct rf_source *s)
{
	if (s == NULL)
		return;
	s->ops->close(s);
	if (s->tally != NULL)
		rf_tally_clear(s->tally);
	g_free(s->tally);
	g_free(s->path);
	g_free(s);
}

static gboolean verify(struct rf_source *s, const struct rf_item *item, GError **error)
{
	const struct rf_totals *want = rf_source_totals(s), *have = &s->tally->totals;

	rf_tally_add(s->tally, item);
	if (item->kind != RF_ITEM_END || memcmp(have, want, sizeof(*have)) == 0)
		return TRUE;
	if (have->digest != want->digest)
		rf_set_data(error, "%s: the digest of its content is %016" G_GINT64_MODIFIER
		            "x; its footer says %016" G_GINT64_MODIFIER "x", s->path, have->digest,
		            want->digest);
	else
		rf_set_data(error, "%s: its footer has other totals than its content", s->path);
	return FALSE;
}

gboolean rf_source_next(struct rf_source *s, struct rf_item *item, GError **error)
{
	if (!s->ops->next(s, item, error))
		return FALSE;
	return s->tally == NULL || verify(s, item, error);
}

void rf_source_verify(struct rf_source *s)
{
	if (s->tally != NULL)
		return;
	s->tally = g_new(struct rf_tally, 1);
	rf_tally_init(s->tally, s->header->granule_shift);
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
	if (s->tally != NULL) {
		rf_tally_clear(s->tally);
		rf_tally_init(s->tally, s->header->granule_shift);
	}
	return s->ops->rewind(s, error);
}

void rf_source_select(struct rf_source *s, rf_wants_page wants, void *user)
{
	g_return_if_fail(s->tally == NULL);
	if (s->ops->select != NULL)
		s->ops->select(s, wants, user);
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
