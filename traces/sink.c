/* SPDX-License-Identifier: MIT
 * Sinks of whatever kind.
 */
#include "traces/sink.h"

#include <errno.h>

#include "base/error.h"

static gboolean cannot_write(const struct rf_sink *s, GError **error)
{
	const char *name = s->out.path;

	if (name == NULL)
		name = s->f == stdout ? "standard output" : "a temporary file";
	rf_set_env(error, "cannot write %s: %s", name, g_strerror(errno));
	return FALSE;
}

gboolean rf_sink_write(struct rf_sink *s, const void *data, size_t n, GError **error)
{
	if (n == 0 || fwrite(data, 1, n, s->f) == n)
		return TRUE;
	return cannot_write(s, error);
}

gboolean rf_sink_put(struct rf_sink *s, const struct rf_item *item, GError **error)
{
	if (item->kind == RF_ITEM_PAGES) {
		if (item->pages.first != s->named) {
			rf_set_data(error, "record %" G_GUINT64_FORMAT ": names of pages from %u; expected %u",
			            item->record, item->pages.first, s->named);
			return FALSE;
		}
		s->named += item->pages.n;
	} else if (item->kind == RF_ITEM_RUNS) {
		for (uint32_t i = 0; i < item->runs.n; i++)
			if (item->runs.page[i] >= s->named || item->runs.count[i] == 0) {
				rf_set_data(error, "record %" G_GUINT64_FORMAT ": %u accesses to page %u; "
				            "expected at least 1 to one of %u named pages", item->record + i,
				            item->runs.count[i], item->runs.page[i], s->named);
				return FALSE;
			}
	}
	return s->ops->put(s, item, error);
}

void rf_sink_copies(struct rf_sink *sink, const struct rf_source *s)
{
	sink->copied = s;
}

static gboolean is_spool(const struct rf_sink *s)
{
	return s->f != s->out.f;
}

static void sink_free(struct rf_sink *s, gboolean spool, gboolean good)
{
	s->ops->close(s); /* first: a thread may still be writing */
	if (!good)
		rf_outfile_abort(&s->out);
	if (spool)
		fclose(s->f);
	g_free(s);
}

gboolean rf_sink_commit(struct rf_sink *s, GError **error)
{
	gboolean spool = is_spool(s), ok = s->ops->finish(s, error);

	if (ok && spool)
		ok = fflush(s->f) == 0 || cannot_write(s, error);
	else if (ok)
		ok = rf_outfile_commit(&s->out, error);
	sink_free(s, spool, ok);
	return ok;
}

void rf_sink_abort(struct rf_sink *s)
{
	if (s != NULL)
		sink_free(s, is_spool(s), FALSE);
}
