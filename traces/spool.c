/* SPDX-License-Identifier: MIT
 * A temporary .rft of a source that can be read only once.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "traces/sink.h"
#include "traces/source.h"

#define LEVEL 3 /* it is read soon and thrown away */

/* A file without a name. */
static int temporary(GError **error)
{
	char *name = g_build_filename(g_get_tmp_dir(), "refault-XXXXXX", NULL);
	int fd = g_mkstemp(name);

	if (fd < 0)
		rf_set_env(error, "cannot make a temporary file in %s: %s", g_get_tmp_dir(),
		           g_strerror(errno));
	else
		unlink(name);
	g_free(name);
	return fd;
}

static gboolean copy(struct rf_source *s, FILE *f, GError **error)
{
	struct rf_sink *sink = rf_sink_rft_spool(f, rf_source_header(s), LEVEL, error);
	struct rf_item item;

	if (sink == NULL)
		return FALSE;
	rf_sink_copies(sink, s);
	do {
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			rf_sink_abort(sink);
			return FALSE;
		}
		if (!rf_source_next(s, &item, error) || !rf_sink_put(sink, &item, error)) {
			rf_sink_abort(sink);
			return FALSE;
		}
	} while (item.kind != RF_ITEM_END);
	return rf_sink_commit(sink, error);
}

struct rf_source *rf_source_spool(struct rf_source *s, GError **error)
{
	struct rf_source *spooled = NULL;
	int fd, back;

	if (rf_source_totals_ahead(s) != NULL)
		return s;
	fd = temporary(error);
	back = fd < 0 ? -1 : dup(fd);
	if (fd >= 0 && back < 0) {
		rf_set_env(error, "cannot open a temporary file twice: %s", g_strerror(errno));
		close(fd);
	} else if (fd >= 0) {
		if (copy(s, fdopen(fd, "w"), error) && lseek(back, 0, SEEK_SET) == 0)
			spooled = rf_source_rft(rf_raw_from_fd(rf_source_path(s), back), error);
		else
			close(back);
	}
	if (spooled != NULL)
		spooled->format = rf_source_format(s); /* what the user gave */
	rf_source_close(s);
	return spooled;
}
