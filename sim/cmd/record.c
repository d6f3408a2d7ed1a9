/* SPDX-License-Identifier: MIT
 * refault record: run a program, write what it does to its memory.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/args.h"
#include "base/units.h"
#include "base/wrap.h"
#include "sim/cmd/command.h"
#include "sim/cmd/trace.h"
#include "traces/record/launch.h"

#define NAME "record"

struct options {
	char *output, *recorder, *level, *sysroot;
	gboolean exact, check, quiet;
	int64_t window_pages, window_instructions;
	int page_size; /* index of its choices */
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE", "write the trace there" },
	{ "exact", 0, RF_ARG_FLAG, OFF(exact), NULL,
	  "keep every access, as policies like lru and belady need them" },
	{ "recorder", 0, RF_ARG_STRING, OFF(recorder), "NAME",
	  "use this one, instead of the first that there is for the program" },
	{ "sysroot", 'L', RF_ARG_STRING, OFF(sysroot), "DIR",
	  "where a program of another architecture finds its libraries (qemu)" },
	{ "check", 0, RF_ARG_FLAG, OFF(check), NULL,
	  "say which recorders there are, and how to get those that are missing" },
	{ "level", 0, RF_ARG_STRING, OFF(level), "N", "of compression, 1 to 22" },
	{ "quiet", 'q', RF_ARG_FLAG, OFF(quiet), NULL, "no summary at the end" },
	RF_ARG_END
};

static const struct rf_option table[] = {
	{ "window-pages", RF_OPT_INT, OFF(window_pages), "pages", "48", 1, 1024, NULL,
	  "leave out accesses to that many latest pages of the type", NULL },
	{ "window-instructions", RF_OPT_INT, OFF(window_instructions), "instructions", "100000", 1,
	  500000, NULL, "but for no longer than that", NULL },
	{ "page-size", RF_OPT_ENUM, OFF(page_size), NULL, "auto", 0, 0, "auto,4K,16K,64K",
	  "pages of the machine that is recorded (qemu)", NULL },
	RF_OPTION_END
};

static const char *const text[] = {
	"Run COMMAND and write what it and its children do to their memory: accesses, mappings, "
	"what the kernel touches for system calls, reads and writes of files, threads and forks, "
	"with the count of instructions as the clock.",
	"Programs do most of their accesses to a few pages.  By default an access is left out "
	"while its page is among the latest ones of its type, and counted with the next one that "
	"is kept: that is more than what the accessed bit of a page could show, for which it is "
	"enough to know that there was an access.  The trace says so, and `refault run' refuses "
	"it for policies that must be told of every access, unless it is given --force.",
	"An interrupt stops the command; the trace of what it did until then is valid.",
	NULL
};

static void help(GString *out)
{
	g_string_append(out, "Usage: refault record -o FILE [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	                     "       refault record --check\n");
	for (guint i = 0; text[i]; i++)
		rf_wrap(out, text[i], 0, 0);
	g_string_append_c(out, '\n');
	rf_args_help(args, out);
	rf_args_table_help(table, out);
}

static void man(GString *out)
{
	for (guint i = 0; text[i]; i++) {
		g_string_append(out, ".PP\n");
		rf_man_escape(out, text[i]);
		g_string_append_c(out, '\n');
	}
	rf_args_man(args, out);
	rf_args_table_man(table, "--", out);
}

/* ---- what is there ---- */

static int check(void)
{
	g_autoptr(GString) out = g_string_new(NULL);
	int code = RF_EXIT_NEGATIVE;

	for (const struct rf_recorder *r = rf_recorders; r->name; r++) {
		g_autofree char *missing = r->missing();

		g_string_append_printf(out, "%-10s %-8s %s\n", r->name,
		                       missing ? "missing" : "ready", r->programs);
		if (missing) {
			g_string_append_printf(out, "%-19s ", "");
			rf_wrap(out, missing, 20, 20);
		} else {
			code = RF_EXIT_OK;
		}
	}
	return rf_print(out->str) == RF_EXIT_OK ? code : RF_EXIT_ENVIRONMENT;
}

/* ---- recording ---- */

static gboolean copy(struct rf_source *s, const struct options *o, GError **error)
{
	struct rf_sink *sink =
		rf_trace_sink(o->output, NULL, o->level, rf_source_header(s), error);
	struct rf_item item;
	gboolean good;

	if (!sink)
		return FALSE;
	do {
		good = rf_source_next(s, &item, error);
		if (good && item.kind == RF_ITEM_END)
			return rf_sink_commit(sink, error);
		good = good && rf_sink_put(sink, &item, error);
	} while (good);
	rf_sink_abort(sink);
	return FALSE;
}

static void tell(struct rf_source *s, const struct options *o, int status)
{
	const struct rf_totals *t = rf_source_totals(s);
	g_autofree char *n = rf_format_count(t->accesses[RF_READ] + t->accesses[RF_WRITE] +
	                                     t->accesses[RF_EXEC]);
	g_autofree char *runs = rf_format_count(t->runs), *pages = rf_format_count(t->footprint[0]);
	const struct rf_trace_in in = { .quiet = o->quiet };

	if (o->quiet)
		return;
	rf_trace_tell_skipped(s, &in);
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fprintf(stderr, "refault: the command exited with status %d\n",
		        WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		fprintf(stderr, "refault: the command was killed by signal %d\n", WTERMSIG(status));
	fprintf(stderr, "refault: %s: %s accesses in %s runs, %s pages\n", o->output, n, runs,
	        pages);
}

static gboolean record(const struct options *o, const struct rf_recorder *r, char **command,
                       int *code, GError **error)
{
	const struct rf_launch_options launch = {
		.command = command,
		.window_pages = o->exact ? 0 : (guint64)o->window_pages,
		.window_instructions = (guint64)o->window_instructions,
		.page_size = o->page_size ? 1024u << 2 * o->page_size : 0,
		.sysroot = o->sysroot,
	};
	const struct rf_source_options options = { .format = r->format };
	struct rf_launch *l = rf_launch_start(r, &launch, error);
	struct rf_source *s;
	gboolean good;
	int status;

	if (!l)
		return FALSE;
	s = rf_source_open(rf_launch_path(l), &options, error);
	good = s && copy(s, o, error);
	if (!good)
		rf_launch_stop(l);
	if (rf_launch_stopped(l))
		*code = RF_EXIT_INTERRUPTED;
	status = rf_launch_end(l);
	if (good)
		tell(s, o, status);
	else if (!s && status == -1)
		g_prefix_error(error, "the recorder could not be started: ");
	rf_source_close(s);
	return good;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	const struct options *o = call->block;
	GPtrArray *operands = call->operands;
	const struct rf_recorder *r;
	g_autofree char *program = NULL;

	if (o->check) {
		*code = check();
		return TRUE;
	}
	if (!o->output || !strcmp(o->output, "-")) {
		rf_set_usage(error, "record: expected -o FILE; see `refault help record'");
		return FALSE;
	}
	if (operands->len == 0) {
		rf_set_usage(error, "record: expected a command; see `refault help record'");
		return FALSE;
	}
	program = g_find_program_in_path(operands->pdata[0]);
	if (!program) {
		rf_set_env(error, "%s: no such program", (char *)operands->pdata[0]);
		return FALSE;
	}
	r = rf_recorder_find(o->recorder, program, error);
	if (!r)
		return FALSE;
	if (strcmp(r->name, "qemu") && (o->page_size || o->sysroot)) {
		rf_set_usage(error, "--%s is of the recorder qemu, not of %s; see --recorder",
		             o->sysroot ? "sysroot" : "page-size", r->name);
		return FALSE;
	}
	g_ptr_array_add(operands, NULL);
	return record(o, r, (char **)operands->pdata, code, error);
}

static void init(void *block)
{
	rf_options_init(table, block);
}

static void clear(void *block)
{
	rf_options_clear(table, block);
}

const struct rf_command rf_command_record = {
	.name = NAME,
	.summary = "run a program and write a trace of it",
	.size = sizeof(struct options),
	.args = args,
	.table = table,
	.runs_command = TRUE,
	.init = init,
	.clear = clear,
	.run = run,
	.help = help,
	.man = man,
};
