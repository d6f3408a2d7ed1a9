/* SPDX-License-Identifier: MIT
 * refault help: commands, metrics, machines; and the manual page, from the same tables.
 */
#include <gio/gio.h>
#include <string.h>

#include "base/args.h"
#include "base/units.h"
#include "base/wrap.h"
#include "sim/cmd/command.h"
#include "sim/config.h"
#include "sim/resources.h"
#include "sim/result.h"

#define NAME "help"

struct options {
	gboolean man;
};

/* --man is for the build: it is not in the help. */
static const struct rf_arg args[] = {
	{ "man", 0, RF_ARG_FLAG, offsetof(struct options, man), NULL, "print the manual page" },
	RF_ARG_END,
};

static void overview(GString *out)
{
	g_string_append(
		out,
		"refault replays a page-access trace against a modelled machine, and says what\n"
		"Linux page reclaim would have done.\n\n"
		"Usage: refault COMMAND [ARGUMENT]...\n\n");
	for (const struct rf_command *const *at = rf_commands, *c; (c = *at); at++)
		g_string_append_printf(out, "  %-10s %s\n", c->name, c->summary);
	g_string_append(
		out,
		"\n`refault help COMMAND' explains one.  `refault help metrics' lists what is\n"
		"measured, `refault help machines' the machines that a run can be modelled on.\n"
		"refault --version prints the version.  The manual page is refault(1).\n");
}

static void help(GString *out)
{
	g_string_append(
		out, "Usage: refault help [COMMAND | metrics | machines]\n"
		     "Explain a command, list the metrics of a report, or the machine profiles.\n");
}

static void man(GString *out)
{
	g_string_append(
		out,
		"Without an argument, the commands are listed.  Topics beside the commands are\n"
		".B metrics\nand\n.BR machines .\n");
}

static const char *unit_of(const struct rf_metric *m)
{
	return strcmp(m->unit, "B") == 0 ? "bytes" : m->unit;
}

static void metrics(GString *out)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		const struct rf_metric *m = &rf_metrics[i];
		const char *better = m->better == '-'   ? "less is better"
		                     : m->better == '+' ? "more is better"
		                                        : "";

		g_string_append_printf(out, "%s", m->name);
		if (*m->unit || *better)
			g_string_append_printf(out, " (%s%s%s)", unit_of(m),
			                       *m->unit && *better ? "; " : "", better);
		g_string_append(out, "\n        ");
		rf_wrap(out, m->help, 8, 8);
	}
}

static void machines(GString *out)
{
	for (const char *const *name = rf_profile_names(); *name; name++) {
		struct rf_profile p;
		GError *error = NULL;

		if (!rf_profile_load(&p, *name, &error))
			g_error("%s", error->message); /* a shipped one: a bug */
		g_string_append_printf(out, "  %-16s %s\n", *name,
		                       p.description ? p.description : "");
		rf_profile_clear(&p);
	}
	g_string_append(
		out,
		"\nA machine can also be an INI file with a group [machine], a key `inherit' that\n"
		"names another profile, and these keys, which --set reaches as well.  Defaults\n"
		"are those of x86-64-nvme.\n");
	rf_options_help(rf_profile_options, out);
}

/* ---- the manual page: prose from the resource, the rest from the tables ---- */

static void man_commands(GString *out)
{
	for (const struct rf_command *const *at = rf_commands, *c; (c = *at); at++) {
		g_autoptr(GString) help = g_string_new(NULL);
		const char *end;

		c->help(help);
		end = strchr(help->str, '\n');
		g_string_truncate(help, end - help->str);
		g_string_append_printf(out, ".SS refault %s\n", c->name);
		/* "Usage: …" of the help, without that word. */
		g_string_append(out, ".B ");
		rf_man_escape(out, help->str + strlen("Usage: "));
		g_string_append(out, "\n.PP\n");
		g_string_append_c(out, g_ascii_toupper(*c->summary));
		rf_man_escape(out, c->summary + 1);
		g_string_append(out, ".\n");
		if (c->man)
			c->man(out);
	}
}

static void man_metrics(GString *out)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		const struct rf_metric *m = &rf_metrics[i];

		g_string_append(out, ".TP\n.B ");
		rf_man_escape(out, m->name);
		g_string_append_c(out, '\n');
		rf_man_escape(out, m->help);
		if (*m->unit)
			g_string_append_printf(out, " (%s)", unit_of(m));
		g_string_append(out, ".\n");
	}
}

static void man_machines(GString *out)
{
	for (const char *const *name = rf_profile_names(); *name; name++) {
		struct rf_profile p;

		if (!rf_profile_load(&p, *name, NULL))
			continue;
		g_string_append(out, ".TP\n.B ");
		rf_man_escape(out, *name);
		g_string_append_c(out, '\n');
		rf_man_escape(out, p.description ? p.description : "");
		g_string_append(out, ".\n");
		rf_profile_clear(&p);
	}
}

static void man_profile(GString *out)
{
	rf_args_table_man(rf_profile_options, "", out);
}

static const struct {
	const char *mark;
	void (*append)(GString *out);
} parts[] = {
	{ "@COMMANDS@", man_commands },
	{ "@METRICS@", man_metrics },
	{ "@MACHINES@", man_machines },
	{ "@PROFILE@", man_profile },
};

static void man_page(GString *out)
{
	g_autoptr(GBytes) bytes = g_resource_lookup_data(rf_get_resource(), "/refault/refault.1.in",
	                                                 G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
	gsize len;
	const char *data = g_bytes_get_data(bytes, &len);
	g_autofree char *text = g_strndup(data, len);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **l = lines; *l; l++) {
		size_t i = 0;

		while (i < G_N_ELEMENTS(parts) && strcmp(*l, parts[i].mark) != 0)
			i++;
		if (i < G_N_ELEMENTS(parts))
			parts[i].append(out);
		else if (**l || l[1])
			g_string_append_printf(out, "%s\n", *l);
	}
}

static gboolean topic(const char *name, GString *out, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const struct rf_command *command = rf_command_find(name);
	const char *near;

	if (command) {
		command->help(out);
		return TRUE;
	}
	if (strcmp(name, "metrics") == 0) {
		metrics(out);
		return TRUE;
	}
	if (strcmp(name, "machines") == 0) {
		machines(out);
		return TRUE;
	}
	for (const struct rf_command *const *at = rf_commands, *c; (c = *at); at++)
		g_ptr_array_add(names, (char *)c->name);
	g_ptr_array_add(names, "metrics");
	g_ptr_array_add(names, "machines");
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(error, "no help on \"%s\"; did you mean \"%s\"?", name, near);
	else
		rf_set_usage(error, "no help on \"%s\"; see `refault help'", name);
	return FALSE;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	const struct options *o = call->block;
	const GPtrArray *names = call->operands;
	g_autoptr(GString) out = g_string_new(NULL);

	if (names->len > 1) {
		rf_set_usage(error, "refault help: expected one COMMAND, got \"%s\" too",
		             (char *)names->pdata[1]);
		return FALSE;
	}
	if (o->man)
		man_page(out);
	else if (!names->len)
		overview(out);
	else if (!topic(names->pdata[0], out, error))
		return FALSE;
	*code = rf_print(out->str);
	return TRUE;
}

const struct rf_command rf_command_help = {
	.name = NAME,
	.summary = "explain a command",
	.size = sizeof(struct options),
	.args = args,
	.run = run,
	.help = help,
	.man = man,
};
