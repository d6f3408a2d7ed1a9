/* SPDX-License-Identifier: MIT
 * refault report: results as one HTML file.
 */
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/file.h"
#include "sim/cmd/command.h"
#include "sim/plot/html.h"

#define NAME "report"

struct options {
	GPtrArray *where;
	char *output, *title, *metric, *by, *gnuplot;
	gboolean no_plots;
};

#define OFF(member) offsetof(struct options, member)

static const struct rf_arg args[] = {
	{ "output", 'o', RF_ARG_STRING, OFF(output), "FILE",
	  "write the document there (default -, standard output)" },
	{ "metric", 'm', RF_ARG_STRING, OFF(metric), "NAME[+NAME...],...",
	  "what is plotted for each trace: metrics or sums of some (default: those that judge "
	  "reclaim)" },
	{ "by", 'b', RF_ARG_STRING, OFF(by), "COLUMN,...",
	  "a line or bar for each value of these columns (default: the options that differ)" },
	{ "where", 'w', RF_ARG_LIST, OFF(where), "COLUMN=VALUE",
	  "only rows with that value; again for more conditions" },
	{ "title", 't', RF_ARG_STRING, OFF(title), "TEXT",
	  "title, instead of what the results are of" },
	{ "no-plots", 0, RF_ARG_FLAG, OFF(no_plots), NULL, "tables alone; gnuplot is not needed" },
	{ "gnuplot", 0, RF_ARG_STRING, OFF(gnuplot), "PROGRAM",
	  "the gnuplot to run (default gnuplot)" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(
		out,
		"Usage: refault report FILE... [OPTION]...\n"
		"Make one HTML file of results: plots, tables that sort, configuration.  It\n"
	                "fetches nothing.  FILE is JSON or CSV of `refault run' or a sweep; - is\n"
	                "standard input.\n\n");
	rf_args_help(args, out);
}

static void man(GString *out)
{
	rf_args_man(args, out);
}

static GString *report(const GPtrArray *inputs, const struct options *o, GError **error)
{
	const struct rf_html_options html = {
		.title = o->title,
		.metrics = o->metric,
		.by = o->by,
		.gnuplot = o->no_plots  ? NULL
		           : o->gnuplot ? o->gnuplot
		                        : "gnuplot",
	};
	g_autoptr(rf_table) t = rf_table_new();

	for (guint i = 0; i < inputs->len; i++) {
		if (!rf_table_read(t, inputs->pdata[i], RF_ROWS_RUNS, error))
			return NULL;
	}
	for (guint i = 0; o->where && i < o->where->len; i++) {
		if (!rf_table_where(t, o->where->pdata[i], error))
			return NULL;
	}
	return rf_html_report(t, &html, error);
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	struct options *o = call->block;
	g_autoptr(GString) document = NULL;
	struct rf_outfile out;

	(void)code;
	if (call->operands->len == 0) {
		rf_set_usage(error, "expected a FILE of results; see `refault help report'");
		return FALSE;
	}
	document = report(call->operands, o, error);
	if (!document || !rf_outfile_open(&out, o->output, error))
		return FALSE;
	rf_outfile_write(&out, document->str, document->len);
	return rf_outfile_commit(&out, error);
}

const struct rf_command rf_command_report = {
	.name = NAME,
	.summary = "make one HTML file of results: plots, tables, configuration",
	.size = sizeof(struct options),
	.args = args,
	.run = run,
	.help = help,
	.man = man,
};
