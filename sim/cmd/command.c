/* SPDX-License-Identifier: MIT
 * The table of commands, and what all of them share.
 */
#include "sim/cmd/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/version.h"

extern const struct rf_command rf_command_run, rf_command_compare, rf_command_curve, rf_command_sweep,
	rf_command_plot, rf_command_report, rf_command_policies, rf_command_trace, rf_command_reproduce,
	rf_command_record, rf_command_verify, rf_command_help;

const struct rf_command *const rf_commands[] = {
	&rf_command_run,
	&rf_command_compare,
	&rf_command_curve,
	&rf_command_sweep,
	&rf_command_plot,
	&rf_command_report,
	&rf_command_policies,
	&rf_command_trace,
	&rf_command_reproduce,
	&rf_command_record,
	&rf_command_verify,
	&rf_command_help,
	NULL,
};

const struct rf_command *rf_command_find(const char *name)
{
	for (const struct rf_command *const *c = rf_commands; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

int rf_fail(GError *error)
{
	int code = rf_interrupted() ? RF_EXIT_INTERRUPTED : (int)rf_error_exit_code(error);

	/* What is on standard output stands before what is wrong with it. */
	fflush(stdout);
	fprintf(stderr, "refault: %s\n", error->message);
	g_error_free(error);
	return code;
}

int rf_print(const char *text)
{
	struct rf_outfile out;
	GError *error = NULL;

	if (!rf_outfile_open(&out, NULL, &error))
		return rf_fail(error);
	rf_outfile_write(&out, text, strlen(text));
	if (!rf_outfile_commit(&out, &error))
		return rf_fail(error);
	return RF_EXIT_OK;
}

int rf_print_help(const struct rf_command *command)
{
	g_autoptr(GString) text = g_string_new(NULL);

	command->help(text);
	return rf_print(text->str);
}

/* ---- dispatch ---- */

static int run_parsed(const struct rf_command *c, struct rf_call *call)
{
	const struct rf_args a = { c->args, call->block, c->table,
		                   (char *)call->block + c->table_offset, c->runs_command };
	gboolean help = FALSE;
	GError *error = NULL;
	int code = RF_EXIT_OK;

	if (!rf_args_parse_lists(&a, call->argc, call->argv, c->take, call->operands, &help, &error))
		return rf_fail(error);
	if (help)
		return rf_print_help(c);
	if (!c->run(call, &code, &error)) {
		int failed = rf_fail(error);

		return code == RF_EXIT_INTERRUPTED ? code : failed;
	}
	return code;
}

static int run_command(const struct rf_command *c, int argc, char **argv)
{
	struct rf_call call = { g_malloc0(c->size), g_ptr_array_new_with_free_func(g_free), argc, argv };
	int code;

	if (c->init)
		c->init(call.block);
	code = run_parsed(c, &call);
	if (c->clear)
		c->clear(call.block);
	rf_args_clear(c->args, call.block);
	g_free(call.block);
	g_ptr_array_unref(call.operands);
	return code;
}

static int unknown_command(const char *name)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;
	GError *error = NULL;

	for (const struct rf_command *const *c = rf_commands; *c; c++)
		g_ptr_array_add(names, (char *)(*c)->name);
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(&error, "no command \"%s\"; did you mean \"%s\"?", name, near);
	else
		rf_set_usage(&error, "no command \"%s\"; see `refault help'", name);
	return rf_fail(error);
}

int rf_main(int argc, char **argv)
{
	const struct rf_command *command;
	GError *error = NULL;

	/* A reader that goes away is an error of writing, not a death without a word. */
	signal(SIGPIPE, SIG_IGN);
	/* So is a file that would be larger than the shell allows. */
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		rf_set_usage(&error, "expected a command; see `refault help'");
		return rf_fail(error);
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		g_autofree char *text = g_strdup_printf("refault %s\n", rf_version);

		return rf_print(text);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return run_command(&rf_command_help, 1, argv + 1);
	if (argv[1][0] == '-') {
		rf_set_usage(&error, "unknown option %s; expected a command, see `refault help'",
		             argv[1]);
		return rf_fail(error);
	}
	command = rf_command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	rf_interrupt_catch();
	if (command->main)
		return command->main(argc - 1, argv + 1);
	return run_command(command, argc - 1, argv + 1);
}
