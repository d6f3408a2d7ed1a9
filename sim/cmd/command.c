/* SPDX-License-Identifier: MIT
 * The table of commands, and what all of them share.
 */
#include "sim/cmd/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/version.h"

const struct rf_command rf_commands[] = {
	{ "run", "replay traces and report faults, refaults, memory and time", rf_cmd_run,
	  rf_cmd_run_help, rf_cmd_run_man },
	{ "compare", "compare results, option sets over traces, golden files", rf_cmd_compare,
	  rf_cmd_compare_help, rf_cmd_compare_man },
	{ "curve", "faults for every size of memory, in one pass", rf_cmd_curve, rf_cmd_curve_help,
	  rf_cmd_curve_man },
	{ "sweep", "replay traces through many configurations at once", rf_cmd_sweep,
	  rf_cmd_sweep_help, rf_cmd_sweep_man },
	{ "plot", "draw results with gnuplot, as text or as a picture", rf_cmd_plot, rf_cmd_plot_help,
	  rf_cmd_plot_man },
	{ "report", "make one HTML file of results: plots, tables, configuration", rf_cmd_report,
	  rf_cmd_report_help, rf_cmd_report_man },
	{ "policies", "list what can be plugged into the five seams, and its options",
	  rf_cmd_policies, rf_cmd_policies_help, rf_cmd_policies_man },
	{ "trace", "look at traces, convert, check, cut and make them", rf_cmd_trace,
	  rf_cmd_trace_help, rf_cmd_trace_man },
	{ "reproduce", "tables that were posted on kernel lists, beside the model's", rf_cmd_reproduce,
	  rf_cmd_reproduce_help, rf_cmd_reproduce_man },
	{ "record", "run a program and write a trace of it", rf_cmd_record, rf_cmd_record_help,
	  rf_cmd_record_man },
	{ "verify", "compare the model with the kernel that runs here (root)", rf_cmd_verify,
	  rf_cmd_verify_help, rf_cmd_verify_man },
	{ "help", "explain a command", rf_cmd_help, rf_cmd_help_help, rf_cmd_help_man },
	{ .name = NULL }
};

const struct rf_command *rf_command_find(const char *name)
{
	for (const struct rf_command *c = rf_commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
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
	fputs(text, out.f);
	if (!rf_outfile_commit(&out, &error))
		return rf_fail(error);
	return RF_EXIT_OK;
}

int rf_print_help(const char *command)
{
	g_autoptr(GString) text = g_string_new(NULL);

	rf_command_find(command)->help(text);
	return rf_print(text->str);
}

/* ---- dispatch ---- */

static int unknown_command(const char *name)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;
	GError *error = NULL;

	for (const struct rf_command *c = rf_commands; c->name; c++)
		g_ptr_array_add(names, (char *)c->name);
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
		return rf_cmd_help(1, argv + 1);
	if (argv[1][0] == '-') {
		rf_set_usage(&error, "unknown option %s; expected a command, see `refault help'",
		             argv[1]);
		return rf_fail(error);
	}
	command = rf_command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	rf_interrupt_catch();
	return command->run(argc - 1, argv + 1);
}
