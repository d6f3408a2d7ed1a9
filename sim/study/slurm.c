/* SPDX-License-Identifier: MIT */
#include "sim/study/slurm.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"

/* Between two looks at the queue: short ones at first, for small sweeps. */
#define FIRST_WAIT (G_USEC_PER_SEC / 2)
#define LONGEST_WAIT (10 * G_USEC_PER_SEC)
/* Looks that may fail one after the other: a controller may be restarted. */
#define MOST_FAILURES 10

static char *script_text(const struct rf_slurm_options *o)
{
	GString *s = g_string_new("#!/bin/sh\n");
	g_autofree char *dir = g_shell_quote(o->dir);

	g_string_append_printf(s, "# Written by refault sweep --submit slurm: one part of the plan a task.\n"
	                          "#SBATCH --job-name=refault-sweep\n"
	                          "#SBATCH --array=1-%u\n"
	                          "#SBATCH --cpus-per-task=%u\n", o->tasks, o->threads);
	if (o->memory)
		g_string_append_printf(s, "#SBATCH --mem=%" G_GUINT64_FORMAT "K\n", (o->memory >> 10) + 1);
	g_string_append_printf(s, "exec %s sweep -o %s --part \"$SLURM_ARRAY_TASK_ID/%u\" --jobs %u",
	                       o->program, dir, o->tasks, o->threads);
	/* Batches and what else is no machine take some. */
	if (o->memory)
		g_string_append_printf(s, " --memory %" G_GUINT64_FORMAT, o->memory / 4 * 3);
	g_string_append(s, " --quiet\n");
	return g_string_free(s, FALSE);
}

static gboolean write_script(const struct rf_slurm_options *o, const char *path, GError **error)
{
	g_autofree char *text = script_text(o);
	struct rf_outfile out;

	if (!rf_outfile_open(&out, path, error))
		return FALSE;
	rf_outfile_write(&out, text, strlen(text));
	return rf_outfile_commit(&out, error);
}

/* Run a command of Slurm's; its output, stripped, or NULL: what it printed on standard error is in
 * the message. */
static char *ask(const GPtrArray *argv, GError **error)
{
	char *out = NULL;
	g_autofree char *err = NULL;
	GError *e = NULL;
	int status;

	if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
	                  &status, &e)) {
		rf_set_env(error, "%s: %s", (char *)argv->pdata[0], e->message);
		g_error_free(e);
		return NULL;
	}
	if (status != 0) {
		rf_set_env(error, "%s failed: %s", (char *)argv->pdata[0],
		           *err ? g_strstrip(err) : "it gave no reason");
		g_free(out);
		return NULL;
	}
	return g_strstrip(out);
}

static char *submit(const struct rf_slurm_options *o, const char *script, GError **error)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autofree char *log = g_strdup_printf("--output=%s/slurm-%%A_%%a.log", o->dir);
	char *id;

	g_ptr_array_add(argv, (char *)"sbatch");
	g_ptr_array_add(argv, (char *)"--parsable");
	g_ptr_array_add(argv, log);
	for (guint i = 0; o->sbatch && i < o->sbatch->len; i++)
		g_ptr_array_add(argv, o->sbatch->pdata[i]);
	g_ptr_array_add(argv, (char *)script);
	g_ptr_array_add(argv, NULL);
	id = ask(argv, error);
	/* "17", or "17;cluster" */
	if (id && strspn(id, "0123456789") == strcspn(id, ";") && g_ascii_isdigit(*id)) {
		id[strcspn(id, ";")] = '\0';
		return id;
	}
	if (id)
		rf_set_env(error, "sbatch: expected the number of a job, got \"%s\"", id);
	g_free(id);
	return NULL;
}

/* Tasks that have not ended; FALSE when the queue can't be asked. */
static gboolean queue(const char *id, guint *left, guint *running, GError **error)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autofree char *job = g_strdup_printf("--jobs=%s", id), *out = NULL;
	g_auto(GStrv) lines = NULL;
	GError *e = NULL;

	g_ptr_array_add(argv, (char *)"squeue");
	g_ptr_array_add(argv, (char *)"--noheader");
	g_ptr_array_add(argv, (char *)"--array");
	g_ptr_array_add(argv, (char *)"--format=%T");
	g_ptr_array_add(argv, job);
	g_ptr_array_add(argv, NULL);
	*left = *running = 0;
	out = ask(argv, &e);
	if (!out) {
		/* A job that ended a while ago is forgotten. */
		gboolean gone = strstr(e->message, "Invalid job id") != NULL;

		if (gone)
			g_error_free(e);
		else
			g_propagate_error(error, e);
		return gone;
	}
	lines = g_strsplit(out, "\n", -1);
	for (char **l = lines; *l; l++) {
		*left += **l != '\0';
		*running += strcmp(*l, "RUNNING") == 0;
	}
	return TRUE;
}

static gboolean follow(const struct rf_slurm_options *o, const char *id, GError **error)
{
	gulong wait = FIRST_WAIT;
	guint failures = 0, left, running;
	gint64 next = 0;

	for (;;) {
		GError *e = NULL;

		if (rf_interrupted()) {
			rf_set_env(error, "interrupted; job %s goes on, `scancel %s' ends it, and with "
			                  "--merge its results are put together", id, id);
			return FALSE;
		}
		if (g_get_monotonic_time() < next) {
			g_usleep(G_USEC_PER_SEC / 10);
			continue;
		}
		if (queue(id, &left, &running, &e)) {
			failures = 0;
			if (!left)
				return TRUE;
			if (!o->quiet && wait > 2 * FIRST_WAIT) {
				printf("job %s: %u of %u tasks left, %u running\n", id, left, o->tasks, running);
				fflush(stdout);
			}
		} else if (++failures > MOST_FAILURES) {
			g_propagate_prefixed_error(error, e, "job %s goes on: ", id);
			return FALSE;
		} else {
			g_error_free(e);
		}
		next = g_get_monotonic_time() + (gint64)wait;
		wait = MIN(wait * 5 / 4, LONGEST_WAIT);
	}
}

gboolean rf_slurm_run(const struct rf_slurm_options *o, const GPtrArray *points, GError **error)
{
	g_autofree char *script = g_build_filename(o->dir, "slurm.sh", NULL), *id = NULL;

	if (!write_script(o, script, error))
		return FALSE;
	id = submit(o, script, error);
	if (!id)
		return FALSE;
	if (!o->quiet) {
		printf("job %s: %u points in %u tasks of %u thread%s\n", id, points->len, o->tasks,
		       o->threads, o->threads == 1 ? "" : "s");
		fflush(stdout);
	}
	return follow(o, id, error);
}
