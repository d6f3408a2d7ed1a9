/* SPDX-License-Identifier: MIT
 * For tests of traces.
 */
#include "tests/traces.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "traces/raw.h"
#include "traces/source.h"

char *trace_data(const char *name)
{
	return g_build_filename(RF_SRCDIR, "tests/data", name, NULL);
}

static char *folder;
static GSList *made;
static pid_t maker;

static void remove_folder(void)
{
	/* A test that Check forked leaves what it did not make. */
	if (getpid() != maker)
		return;
	for (GSList *l = made; l != NULL; l = l->next)
		g_unlink(l->data);
	g_rmdir(folder);
	g_slist_free_full(made, g_free);
	g_free(folder);
}

char *trace_temp(const char *name)
{
	char *path;

	if (folder == NULL || getpid() != maker) {
		made = NULL;
		maker = getpid();
		folder = g_dir_make_tmp("refault-test-XXXXXX", NULL);
		ck_assert_ptr_nonnull(folder);
		atexit(remove_folder);
	}
	path = g_build_filename(folder, name, NULL);
	g_unlink(path);
	made = g_slist_prepend(made, g_strdup(path));
	return path;
}

char *trace_slurp(const char *path, gsize *len)
{
	GError *error = NULL;
	char *data;

	ck_assert_msg(g_file_get_contents(path, &data, len, &error), "%s", error ? error->message : "");
	return data;
}

void trace_spit(const char *path, const void *data, gsize len)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

gboolean trace_copy(struct rf_source *s, const char *path, gboolean rft, struct rf_totals *totals,
                    GError **error)
{
	const struct rf_header *h = rf_source_header(s);
	struct rf_sink *k = rft ? rf_sink_rft(path, h, 1, error) : rf_sink_text(path, h, error);
	struct rf_item item;
	gboolean ok = k != NULL;

	do
		ok = ok && rf_source_next(s, &item, error) && rf_sink_put(k, &item, error);
	while (ok && item.kind != RF_ITEM_END);
	if (ok && totals != NULL)
		*totals = *rf_source_totals(s);
	if (ok)
		ok = rf_sink_commit(k, error);
	else
		rf_sink_abort(k);
	rf_source_close(s);
	return ok;
}

void trace_must_copy(struct rf_source *s, const char *path, gboolean rft, struct rf_totals *totals)
{
	GError *error = NULL;

	ck_assert_msg(trace_copy(s, path, rft, totals, &error), "%s", error ? error->message : "");
}

gboolean trace_drain(struct rf_source *s, struct rf_totals *totals, GError **error)
{
	struct rf_item item = { .kind = RF_ITEM_RUNS };
	gboolean ok = s != NULL;

	while (ok && item.kind != RF_ITEM_END)
		ok = rf_source_next(s, &item, error);
	if (ok && totals != NULL)
		*totals = *rf_source_totals(s);
	rf_source_close(s);
	return ok;
}

struct rf_source *trace_must_open(const char *path)
{
	GError *error = NULL;
	struct rf_source *s = rf_source_open(path, NULL, &error);

	ck_assert_msg(s != NULL, "%s", error ? error->message : "");
	return s;
}

struct rf_source *trace_rft(const void *data, gsize len, gboolean through_pipe, GError **error)
{
	int fd[2];

	if (!through_pipe)
		return rf_source_rft(rf_raw_from_memory("x.rft", data, len), error);
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(write(fd[1], data, len), (ssize_t)len);
	close(fd[1]);
	return rf_source_rft(rf_raw_from_fd("x.rft", fd[0]), error);
}

uint8_t *trace_rft_of(const char *text, gsize *len)
{
	char *path = trace_temp("of.rft");
	char *data;

	trace_must_copy(rf_source_from_text("of.txt", text, -1), path, TRUE, NULL);
	data = trace_slurp(path, len);
	g_free(path);
	return (uint8_t *)data;
}
