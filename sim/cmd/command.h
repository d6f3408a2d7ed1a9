/* SPDX-License-Identifier: MIT
 * Commands: one table (command.c), one file each (cmd-NAME.c).
 */
#ifndef RF_COMMAND_H
#define RF_COMMAND_H

#include "base/error.h"
#include "base/interrupt.h"
#include <glib.h>

struct rf_command {
	const char *name;
	const char *summary; /* one line, no full stop */
	/* argv[0] is the command's name.  Returns an exit code (enum rf_exit). */
	int (*run)(int argc, char **argv);
	/* Append what `refault NAME --help` and `refault help NAME` print. */
	void (*help)(GString *out);
	/* Append the command's part of the manual page, roff (args.h helps). */
	void (*man)(GString *out);
};

extern const struct rf_command rf_commands[]; /* name NULL ends it */
const struct rf_command *rf_command_find(const char *name);

/* The whole program. */
int rf_main(int argc, char **argv);

/* Print "refault: MESSAGE" on standard error, free the error, give its exit code.  After a signal
 * the code is RF_EXIT_INTERRUPTED whatever the error. */
int rf_fail(GError *error);

/* Write text to standard output and make sure that it arrives; an exit code. */
int rf_print(const char *text);
/* Print a command's help. */
int rf_print_help(const char *command);

int rf_cmd_run(int argc, char **argv);
void rf_cmd_run_help(GString *out);
void rf_cmd_run_man(GString *out);
int rf_cmd_compare(int argc, char **argv);
void rf_cmd_compare_help(GString *out);
void rf_cmd_compare_man(GString *out);
int rf_cmd_curve(int argc, char **argv);
void rf_cmd_curve_help(GString *out);
void rf_cmd_curve_man(GString *out);
int rf_cmd_sweep(int argc, char **argv);
void rf_cmd_sweep_help(GString *out);
void rf_cmd_sweep_man(GString *out);
int rf_cmd_report(int argc, char **argv);
void rf_cmd_report_help(GString *out);
void rf_cmd_report_man(GString *out);
int rf_cmd_plot(int argc, char **argv);
void rf_cmd_plot_help(GString *out);
void rf_cmd_plot_man(GString *out);
int rf_cmd_policies(int argc, char **argv);
void rf_cmd_policies_help(GString *out);
void rf_cmd_policies_man(GString *out);
int rf_cmd_trace(int argc, char **argv);
void rf_cmd_trace_help(GString *out);
void rf_cmd_trace_man(GString *out);
int rf_cmd_reproduce(int argc, char **argv);
void rf_cmd_reproduce_help(GString *out);
void rf_cmd_reproduce_man(GString *out);
int rf_cmd_record(int argc, char **argv);
void rf_cmd_record_help(GString *out);
void rf_cmd_record_man(GString *out);
int rf_cmd_verify(int argc, char **argv);
void rf_cmd_verify_help(GString *out);
void rf_cmd_verify_man(GString *out);
int rf_cmd_help(int argc, char **argv);
void rf_cmd_help_help(GString *out);
void rf_cmd_help_man(GString *out);

#endif
