/* SPDX-License-Identifier: MIT
 * refault policies: the five seams and what can be plugged into them.
 */
#include <string.h>

#include "base/args.h"
#include "base/wrap.h"
#include "sim/cmd/command.h"
#include "sim/config.h"
#include "sim/policy.h"
#include "sim/seams.h"

#define NAME "policies"

struct options {
	char *plugin;
};

static const struct rf_arg args[] = {
	{ "plugin", 0, RF_ARG_STRING, offsetof(struct options, plugin), "FILE",
	  "list the policies of this shared object as well" },
	RF_ARG_END,
};

static void help(GString *out)
{
	g_string_append(out, "Usage: refault policies [NAME] [OPTION]...\n"
	                     "List the members of each seam, or explain one and its options.\n\n");
	rf_args_help(args, out);
}

/* One member of any seam. */
struct member {
	const char *name, *summary;
	const struct rf_option *options;
	unsigned flags; /* of a reclaim policy */
};

struct seam {
	const char *name, *question, *option;
	gboolean (*nth)(unsigned i, struct member *m);
};

static gboolean nth_reclaim(unsigned i, struct member *m)
{
	const struct rf_reclaim_ops *o = rf_reclaim_nth(i);

	if (o)
		*m = (struct member){ o->name, o->summary, o->options, o->flags };
	return o != NULL;
}

static gboolean nth_member(enum rf_seam seam, unsigned i, struct member *m)
{
	const struct rf_member *o = rf_seam_nth(seam, i);

	if (o)
		*m = (struct member){ o->name, o->summary, o->options, 0 };
	return o != NULL;
}

static gboolean nth_protect(unsigned i, struct member *m) { return nth_member(RF_SEAM_PROTECT, i, m); }
static gboolean nth_account(unsigned i, struct member *m) { return nth_member(RF_SEAM_ACCOUNT, i, m); }
static gboolean nth_volatile(unsigned i, struct member *m) { return nth_member(RF_SEAM_VOLATILE, i, m); }
static gboolean nth_fill(unsigned i, struct member *m) { return nth_member(RF_SEAM_FILL, i, m); }

static const struct seam seams[] = {
	{ "reclaim", "which page leaves", "reclaim", nth_reclaim },
	{ "protect", "what reclaim must spare", "protect", nth_protect },
	{ "account", "how a page finds its cgroup, and what that costs", "account", nth_account },
	{ "volatile", "how purgeable ranges are tracked and purged", "volatile", nth_volatile },
	{ "fill", "what first touch of allocator memory costs and maps", "fill", nth_fill },
};

/* The default's name: the option's default up to its own options. */
static gboolean is_default(const struct seam *s, const char *name)
{
	const struct rf_option *o = rf_options_find(rf_config_options, s->option);
	size_t len = strcspn(o->def, ",");

	return strlen(name) == len && strncmp(o->def, name, len) == 0;
}

static void list_all(GString *out)
{
	struct member m;

	for (size_t s = 0; s < G_N_ELEMENTS(seams); s++) {
		g_string_append_printf(out, "%s--%s: %s\n", s ? "\n" : "", seams[s].name,
		                       seams[s].question);
		for (unsigned i = 0; seams[s].nth(i, &m); i++) {
			size_t start = out->len;

			g_string_append_printf(out, "  %c %-10s ",
			                       is_default(&seams[s], m.name) ? '*' : ' ', m.name);
			rf_wrap(out, m.summary, out->len - start, 15);
		}
	}
	g_string_append(out, "\n* is the default.  `refault policies NAME' explains one.\n");
}

static void explain(const struct seam *s, const struct member *m, GString *out)
{
	static const struct {
		unsigned flag;
		const char *text;
	} flags[] = {
		{ RF_POLICY_KERNEL, "counts as the kernel does" },
		{ RF_POLICY_ACCESS, "is told of every access" },
		{ RF_POLICY_FUTURE, "knows the future: a bound, not a policy that could be built" },
		{ RF_POLICY_STACK, "a stack algorithm: more memory never costs a fault" },
	};

	g_string_append_printf(out, "--%s %s%s\n  ", s->name, m->name,
	                       is_default(s, m->name) ? " (the default)" : "");
	rf_wrap(out, m->summary, 2, 2);
	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
		if (m->flags & flags[i].flag)
			g_string_append_printf(out, "  %s\n", flags[i].text);
	}
	if (m->options && m->options->name) {
		g_string_append_printf(out, "\nOptions, as --%s %s,OPTION=VALUE,...\n", s->name,
		                       m->name);
		rf_options_help(m->options, out);
	}
}

/* The built-in ones: a page is written before anything can be loaded. */
static void man(GString *out)
{
	struct member m;

	rf_args_man(args, out);
	for (size_t s = 0; s < G_N_ELEMENTS(seams); s++) {
		g_string_append(out, ".PP\n.B \\-\\-");
		rf_man_escape(out, seams[s].name);
		g_string_append(out, "\nsays ");
		rf_man_escape(out, seams[s].question);
		g_string_append(out, ":\n");
		for (unsigned i = 0; seams[s].nth(i, &m); i++) {
			g_string_append(out, ".TP\n.B ");
			rf_man_escape(out, m.name);
			g_string_append_c(out, '\n');
			rf_man_escape(out, m.summary);
			g_string_append(out, is_default(&seams[s], m.name) ? " (the default).\n"
			                                                   : ".\n");
			if (!m.options || !m.options->name)
				continue;
			g_string_append(out, ".RS\n");
			rf_args_table_man(m.options, "", out);
			g_string_append(out, ".RE\n");
		}
	}
}

static gboolean explain_all(const char *name, GString *out, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;
	struct member m;

	/* "none" may be a member of several seams. */
	for (size_t s = 0; s < G_N_ELEMENTS(seams); s++) {
		for (unsigned i = 0; seams[s].nth(i, &m); i++) {
			g_ptr_array_add(names, (char *)m.name);
			if (strcmp(m.name, name) != 0)
				continue;
			if (out->len)
				g_string_append_c(out, '\n');
			explain(&seams[s], &m, out);
		}
	}
	if (out->len)
		return TRUE;
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(error, "no policy \"%s\"; did you mean \"%s\"?", name, near);
	else
		rf_set_usage(error, "no policy \"%s\"; `refault policies' lists them", name);
	return FALSE;
}

static gboolean run(const struct rf_call *call, int *code, GError **error)
{
	const struct options *o = call->block;
	const GPtrArray *names = call->operands;
	g_autoptr(GString) out = g_string_new(NULL);

	if (names->len > 1) {
		rf_set_usage(error, "refault policies: expected at most one NAME, got \"%s\" too",
		             (char *)names->pdata[1]);
		return FALSE;
	}
	if (o->plugin && !rf_plugin_load(o->plugin, error))
		return FALSE;
	if (!names->len)
		list_all(out);
	else if (!explain_all(names->pdata[0], out, error))
		return FALSE;
	*code = rf_print(out->str);
	return TRUE;
}

const struct rf_command rf_command_policies = {
	.name = NAME,
	.summary = "list what can be plugged into the five seams, and its options",
	.size = sizeof(struct options),
	.args = args,
	.run = run,
	.help = help,
	.man = man,
};
