/* SPDX-License-Identifier: MIT
 * What refault sweep does with its points, and what it says of them.
 */
#include "sim/cmd/sweep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "sim/cells.h"
#include "sim/cmd/command.h"
#include "sim/report/command.h"
#include "sim/study/collate.h"
#include "sim/study/sample.h"
#include "sim/study/slurm.h"
#include "sim/study/store.h"

/* Failures that are named one by one. */
#define MOST_NAMED 20

char *rf_sweep_program(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *found = g_find_program_in_path("refault");
	g_autofree char *real = found ? g_canonicalize_filename(found, NULL) : NULL;

	if (!self || (real && strcmp(self, real) == 0))
		return g_strdup("refault");
	return rf_shell_word(self);
}

/* ---- --showcmd, --list ---- */

static void show_params(const char *list)
{
	g_auto(GStrv) words = NULL;

	/* Whoever runs it is told what is wrong. */
	if (!g_shell_parse_argv(list, NULL, &words, NULL))
		printf(" --param %s", list);
	for (char **w = words; w && *w; w++) {
		g_autofree char *quoted = rf_shell_word(*w);

		printf(" --param %s", quoted);
	}
}

void rf_sweep_show(const GPtrArray *sections)
{
	for (guint i = 0; i < sections->len; i++) {
		const struct rf_section *s = sections->pdata[i];
		const struct rf_setting *trace = rf_settings_find(s->settings, "trace");

		/* Blanks and patterns in it are for the shell. */
		printf("refault sweep%s%s", trace ? " " : "", trace ? trace->value : "");
		for (guint k = 0; k < s->settings->len; k++) {
			const struct rf_setting *x =
				&g_array_index(s->settings, struct rf_setting, k);
			g_autofree char *value = rf_shell_word(x->value);

			if (strcmp(x->key, "trace") == 0)
				continue;
			if (strcmp(x->key, "param") == 0) {
				show_params(x->value);
				continue;
			}
			if (rf_options_find(rf_config_options, x->key) ||
			    rf_options_find(rf_study_keys, x->key))
				printf(" --%s %s", x->key, value);
			else
				printf(" --set %s=%s", x->key, value);
		}
		g_autofree char *name = rf_shell_word(s->name);

		printf(" -o %s\n", name);
	}
}

gboolean rf_sweep_list(const struct rf_sweep_args *a, const GPtrArray *points, GError **error)
{
	g_autofree char *program = rf_sweep_program(), *dir = rf_shell_word(a->output);

	for (guint i = 0; i < points->len; i++) {
		g_autofree char *title = rf_point_title(points->pdata[i]);

		printf("%s sweep -o %s --point %u # %s\n", program, dir, i + 1, title);
	}
	if (fflush(stdout) == 0 && !ferror(stdout))
		return TRUE;
	rf_set_env(error, "cannot write the list");
	return FALSE;
}

/* ---- --dry-run ---- */

static void time_cell(GString *out, double seconds)
{
	g_autofree char *text = seconds < 0 ? g_strdup("?") : rf_format_time((uint64_t)(seconds * 1e9));

	rf_cell(out, text);
}

gboolean rf_sweep_dry_run(const struct rf_sweep_args *a, const GPtrArray *points, GError **error)
{
	g_autoptr(GPtrArray) distinct = rf_sweep_distinct(points);
	g_autoptr(GPtrArray) traces = rf_sweep_traces(distinct);
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *memory = rf_format_size(a->bytes);
	double whole = 0;
	guint todo = 0;

	rf_table_head(out, "Trace", (const char *const[]){ "points", "to do", "one machine", "at once",
	                                                   "time", NULL });
	for (guint i = 0; i < traces->len; i++) {
		const GPtrArray *t = traces->pdata[i];
		g_autofree char *name = g_path_get_basename(((struct rf_point *)t->pdata[0])->trace);
		struct rf_sample_estimate e;

		if (!rf_sample_trace(a->output, t, a->bytes, &e, error))
			return FALSE;
		rf_foreign_label(out, name);
		rf_count_cell(out, t->len);
		rf_count_cell(out, e.todo);
		rf_size_cell(out, e.largest);
		rf_size_cell(out, e.at_once);
		time_cell(out, e.seconds);
		g_string_append_c(out, '\n');
		todo += e.todo;
		whole = e.seconds < 0 || whole < 0 ? -1 : whole + e.seconds;
	}
	rf_label(out, "all");
	rf_count_cell(out, distinct->len);
	rf_count_cell(out, todo);
	rf_cell(out, "");
	rf_cell(out, "");
	time_cell(out, whole);
	g_string_append_printf(out, "\n\nTimes are of one thread, from the beginning of each trace.  "
	                            "There are %u threads\nand %s for machines.\n", a->threads, memory);
	/* The table's head begins with an empty line. */
	fputs(out->str + 1, stdout);
	return TRUE;
}

/* ---- the summary ---- */

static void print_failures(const GPtrArray *points, const struct rf_collation *c)
{
	guint named = 0;

	for (guint i = 0; i < points->len; i++) {
		g_autofree char *title = NULL;

		if (g_array_index(c->state, enum rf_point_state, i) != RF_POINT_FAILED)
			continue;
		if (++named > MOST_NAMED)
			continue;
		title = rf_point_title(points->pdata[i]);
		printf("  %u %s:\n    %s\n", i + 1, title,
		       c->message->pdata[i] ? (char *)c->message->pdata[i] : "no reason was noted");
	}
	if (named > MOST_NAMED)
		printf("  and %u more, see status.csv\n", named - MOST_NAMED);
}

/* How many points' results were come by so. */
static guint count(const GPtrArray *points, const GPtrArray *distinct, const struct rf_outcome *outcome,
                   enum rf_outcome_state state)
{
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	guint n = 0;

	for (guint i = 0; outcome && i < distinct->len; i++) {
		if (outcome[i].state == state)
			g_hash_table_add(ids, ((struct rf_point *)distinct->pdata[i])->id);
	}
	for (guint i = 0; i < points->len; i++)
		n += g_hash_table_contains(ids, ((struct rf_point *)points->pdata[i])->id);
	return n;
}

static void summary(const struct rf_sweep_args *a, const GPtrArray *points, guint before, guint now,
                    const struct rf_collation *c)
{
	guint failed = c->count[RF_POINT_FAILED];
	guint open = c->count[RF_POINT_MISSING] + c->count[RF_POINT_STALE] + c->count[RF_POINT_DAMAGED];

	if (!a->quiet || failed || open) {
		printf("%u of %u points have results", c->count[RF_POINT_DONE], points->len);
		if (before)
			printf(", %u of them from before", before);
		if (now)
			printf(before ? ", %u new" : ", %u of them new", now);
		if (failed)
			printf("; %u failed", failed);
		if (open)
			printf("; %u not computed", open);
		printf(": %s/results.csv\n", a->output);
	}
	print_failures(points, c);
	fflush(stdout);
}

gboolean rf_sweep_merge(const struct rf_sweep_args *a, const GPtrArray *points,
                        const GPtrArray *distinct, const struct rf_outcome *outcome, int *code,
                        GError **error)
{
	struct rf_collation c;
	gboolean ok = rf_collate(a->output, points, distinct, outcome, &c, error);

	summary(a, points, count(points, distinct, outcome, RF_OUTCOME_BEFORE),
	        count(points, distinct, outcome, RF_OUTCOME_NOW), &c);
	*code = c.code;
	rf_collation_clear(&c);
	return ok;
}

/* ---- computing ---- */

/* A part of a sweep leaves the merge to whoever has all parts. */
static void summary_of_part(const struct rf_sweep_args *a, const GPtrArray *distinct,
                            const struct rf_outcome *outcome, int *code)
{
	for (guint i = 0; i < distinct->len; i++) {
		const struct rf_point *p = distinct->pdata[i];
		g_autofree char *title = rf_point_title(p);

		if (outcome[i].state == RF_OUTCOME_FAILED) {
			fprintf(stderr, "refault: %s: %s\n", title, outcome[i].message);
			*code = MAX(*code, outcome[i].code);
		} else if (!a->quiet) {
			printf("%s/points/%s.json  %s\n", a->output, p->id, title);
		}
	}
	fflush(stdout);
}

static gboolean compute(const struct rf_sweep_args *a, const GPtrArray *points,
                        const GPtrArray *distinct, struct rf_outcome *outcome, int *code,
                        GError **error)
{
	const struct rf_sweep_options o = {
		.dir = a->output,
		.threads = a->threads,
		.memory = a->bytes,
		.quiet = a->quiet || a->point,
	};
	GError *e = NULL;

	if (!a->quiet && !a->point && !a->part) {
		g_autofree char *memory = rf_format_size(a->bytes);

		printf("%u points, %u thread%s, at most %s of memory for machines\n", distinct->len,
		       a->threads, a->threads == 1 ? "" : "s", memory);
		fflush(stdout);
	}
	if (rf_sweep_run(&o, distinct, outcome, error)) {
		if (!a->point && !a->part)
			return rf_sweep_merge(a, points, distinct, outcome, code, error);
		summary_of_part(a, distinct, outcome, code);
		return TRUE;
	}
	/* What there is by now can be looked at. */
	if (!a->point && !a->part && !rf_sweep_merge(a, points, distinct, outcome, code, &e))
		g_clear_error(&e);
	return FALSE;
}

gboolean rf_sweep_do(const struct rf_sweep_args *a, const GPtrArray *points,
                     const GPtrArray *chosen, int *code, GError **error)
{
	g_autoptr(GPtrArray) distinct = rf_sweep_distinct(chosen);
	struct rf_outcome *outcome = g_new0(struct rf_outcome, MAX(distinct->len, 1));
	gboolean ok = compute(a, points, distinct, outcome, code, error);

	for (guint i = 0; i < distinct->len; i++)
		g_free(outcome[i].message);
	g_free(outcome);
	return ok;
}

gboolean rf_sweep_submit(const struct rf_sweep_args *a, const GPtrArray *points, int *code,
                         GError **error)
{
	g_autofree char *program = rf_sweep_program();
	g_autoptr(GPtrArray) distinct = rf_sweep_distinct(points);
	g_autoptr(GPtrArray) traces = rf_sweep_traces(distinct);
	const struct rf_slurm_options o = {
		.dir = a->output,
		.program = program,
		.threads = a->threads,
		.memory = a->memory ? a->bytes : 0,
		.tasks = a->ntasks ? a->ntasks : MIN(MAX(traces->len, 16), points->len),
		.sbatch = a->sbatch,
		.quiet = a->quiet,
	};

	return rf_slurm_run(&o, points, error) && rf_sweep_merge(a, points, NULL, NULL, code, error);
}
