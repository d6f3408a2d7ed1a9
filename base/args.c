/* SPDX-License-Identifier: MIT
 * Command lines.  Not GOption: an unknown option must be answered with the nearest one, and the
 * option tables must be long options without being written twice.
 */
#include "base/args.h"

#include <string.h>

#include "base/error.h"
#include "base/wrap.h"

#define INDENT 8

static gboolean same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
			return FALSE;
	}
	return *a == *b;
}

const struct rf_option *rf_args_option(const struct rf_option *table, const char *name)
{
	for (const struct rf_option *o = table; o && o->name; o++) {
		if (same_name(o->name, name))
			return o;
	}
	return NULL;
}

static const struct rf_arg *find_arg(const struct rf_arg *arg, const char *name)
{
	for (; arg->name; arg++) {
		if (same_name(arg->name, name))
			return arg;
	}
	return NULL;
}

static const struct rf_arg *find_letter(const struct rf_arg *arg, char letter)
{
	for (; arg->name; arg++) {
		if (arg->letter == letter)
			return arg;
	}
	return NULL;
}

static void store(const struct rf_arg *arg, void *block, const char *value)
{
	void *slot = (char *)block + arg->offset;
	char **string = slot;
	GPtrArray **list = slot;

	switch (arg->kind) {
	case RF_ARG_FLAG:
		*(gboolean *)slot = TRUE;
		break;
	case RF_ARG_STRING:
		g_free(*string);
		*string = g_strdup(value);
		break;
	case RF_ARG_LIST:
		if (!*list)
			*list = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(*list, g_strdup(value));
		break;
	}
}

const char *const *rf_args_strv(GPtrArray *list)
{
	if (!list)
		return NULL;
	g_ptr_array_add(list, NULL);
	g_ptr_array_set_size(list, (int)list->len - 1);
	return (const char *const *)list->pdata;
}

void rf_args_clear(const struct rf_arg *arg, void *block)
{
	for (; arg->name; arg++) {
		void *slot = (char *)block + arg->offset;

		if (arg->kind == RF_ARG_STRING)
			g_clear_pointer((char **)slot, g_free);
		else if (arg->kind == RF_ARG_LIST)
			g_clear_pointer((GPtrArray **)slot, g_ptr_array_unref);
	}
}

static void unknown(const struct rf_args *a, const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *near;

	for (const struct rf_arg *g = a->arg; g->name; g++)
		g_ptr_array_add(names, (char *)g->name);
	for (const struct rf_option *o = a->table; o && o->name; o++)
		g_ptr_array_add(names, (char *)o->name);
	g_ptr_array_add(names, "help");
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(error, "unknown option --%s; did you mean --%s?", name, near);
	else
		rf_set_usage(error, "unknown option --%s", name);
}

/* The value of an option that needs one: after "=", or the next word. */
static const char *value_of(const char *shown, const char *attached, int argc, char **argv, int *i,
                            const char *metavar, GError **error)
{
	if (attached)
		return attached;
	if (*i + 1 < argc)
		return argv[++*i];
	rf_set_usage(error, "%s needs a value: expected %s %s", shown, shown, metavar);
	return NULL;
}

/* rf_options_set says "WHERE: NAME=…"; of a long option the name is enough. */
static gboolean set_long(const struct rf_args *a, const struct rf_option *opt, const char *value,
                         GError **error)
{
	GError *e = NULL;
	const char *message;

	if (rf_options_set(a->table, a->table_block, "-", opt->name, value, &e))
		return TRUE;
	message = g_str_has_prefix(e->message, "-: ") ? e->message + 3 : e->message;
	g_set_error(error, e->domain, e->code, "--%s", message);
	g_error_free(e);
	return FALSE;
}

static gboolean parse_long(const struct rf_args *a, int argc, char **argv, int *i,
                           rf_args_take *take, gboolean *help, GError **error)
{
	const char *text = argv[*i] + 2, *eq = strchr(text, '=');
	g_autofree char *name = eq ? g_strndup(text, eq - text) : g_strdup(text);
	g_autofree char *shown = g_strconcat("--", name, NULL);
	const struct rf_arg *arg = find_arg(a->arg, name);
	const struct rf_option *opt = arg ? NULL : rf_args_option(a->table, name);
	const char *value = eq ? eq + 1 : NULL;

	if (!arg && !opt) {
		if (!eq && strcmp(name, "help") == 0) {
			*help = TRUE;
			return TRUE;
		}
		unknown(a, name, error);
		return FALSE;
	}
	if (arg && arg->kind == RF_ARG_FLAG && eq) {
		rf_set_usage(error, "%s takes no value", shown);
		return FALSE;
	}
	if (opt && opt->type == RF_OPT_BOOL && !value)
		value = "yes";
	else if (!arg || arg->kind != RF_ARG_FLAG)
		value = value_of(shown, value, argc, argv, i, arg ? arg->metavar : "VALUE", error);
	else
		value = "";
	if (!value)
		return FALSE;
	if (opt && take)
		return take(a->block, opt, value, error);
	if (opt)
		return set_long(a, opt, value, error);
	store(arg, a->block, value);
	return TRUE;
}

/* "-q", "-o FILE", "-oFILE", "-qo FILE". */
static gboolean parse_short(const struct rf_args *a, int argc, char **argv, int *i, gboolean *help,
                            GError **error)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct rf_arg *arg = find_letter(a->arg, *p);
		char shown[3] = { '-', *p, '\0' };
		const char *value;

		if (!arg) {
			if (*p == 'h') {
				*help = TRUE;
				return TRUE;
			}
			/* The whole word: the letter may be a part of a longer character. */
			rf_set_usage(error, "unknown option %s", argv[*i]);
			return FALSE;
		}
		if (arg->kind == RF_ARG_FLAG) {
			store(arg, a->block, NULL);
			continue;
		}
		value = value_of(shown, p[1] ? p + 1 : NULL, argc, argv, i, arg->metavar, error);
		if (!value)
			return FALSE;
		store(arg, a->block, value);
		return TRUE;
	}
	return TRUE;
}

gboolean rf_args_parse(const struct rf_args *a, int argc, char **argv, GPtrArray *operands,
                       gboolean *help, GError **error)
{
	return rf_args_parse_lists(a, argc, argv, NULL, operands, help, error);
}

gboolean rf_args_parse_lists(const struct rf_args *a, int argc, char **argv, rf_args_take *take,
                             GPtrArray *operands, gboolean *help, GError **error)
{
	*help = FALSE;
	for (int i = 1; i < argc && !*help; i++) {
		const char *word = argv[i];

		if (a->command && word[0] != '-') {
			for (; i < argc; i++)
				g_ptr_array_add(operands, g_strdup(argv[i]));
		} else if (word[0] != '-' || word[1] == '\0') {
			g_ptr_array_add(operands, g_strdup(word));
		} else if (strcmp(word, "--") == 0) {
			while (++i < argc)
				g_ptr_array_add(operands, g_strdup(argv[i]));
		} else if (word[1] == '-') {
			if (!parse_long(a, argc, argv, &i, take, help, error))
				return FALSE;
		} else if (!parse_short(a, argc, argv, &i, help, error)) {
			return FALSE;
		}
	}
	return TRUE;
}

/* ---- help ---- */

static void append_indented(GString *out, const char *text)
{
	g_string_append_printf(out, "%*s", INDENT, "");
	rf_wrap(out, text, INDENT, INDENT);
}

void rf_args_help(const struct rf_arg *arg, GString *out)
{
	for (; arg->name; arg++) {
		g_string_append(out, "  ");
		if (arg->letter)
			g_string_append_printf(out, "-%c, ", arg->letter);
		g_string_append_printf(out, "--%s", arg->name);
		if (arg->kind != RF_ARG_FLAG)
			g_string_append_printf(out, " %s", arg->metavar);
		g_string_append_c(out, '\n');
		append_indented(out, arg->help);
	}
}

/* What may stand for the value. */
static char *value_text(const struct rf_option *o, gboolean dashes)
{
	switch (o->type) {
	case RF_OPT_BOOL:
		return g_strdup(dashes ? "[=yes|no]" : " yes|no");
	case RF_OPT_INT:
		return g_strdup(" N");
	case RF_OPT_SIZE:
		return g_strdup(" SIZE");
	case RF_OPT_TIME:
		return g_strdup(" TIME");
	case RF_OPT_ENUM: {
		g_autofree char *choices = g_strconcat(" ", o->choices, NULL);

		return g_strdelimit(g_steal_pointer(&choices), ",", '|');
	}
	case RF_OPT_STRING:
		return g_strconcat(" ", o->choices ? o->choices : "TEXT", NULL);
	}
	g_assert_not_reached();
}

/* "default 60; 0 to 200", or NULL. */
static char *facts_text(const struct rf_option *o)
{
	GString *s = g_string_new(NULL);

	if (o->def && *o->def)
		g_string_append_printf(s, "default %s", o->def);
	if (o->unit && o->type == RF_OPT_INT)
		g_string_append_printf(s, "%sunit %s", s->len ? "; " : "", o->unit);
	if (o->type == RF_OPT_INT && (o->min || o->max)) {
		g_string_append_printf(s, "%s%" G_GINT64_FORMAT, s->len ? "; " : "", o->min);
		if (o->max >= INT32_MAX)
			g_string_append(s, " or more");
		else
			g_string_append_printf(s, " to %" G_GINT64_FORMAT, o->max);
	}
	if (o->since)
		g_string_append_printf(s, "%sin the kernel since %s", s->len ? "; " : "", o->since);
	return g_string_free(s, s->len == 0);
}

void rf_args_table_help(const struct rf_option *table, GString *out)
{
	for (const struct rf_option *o = table; o->name; o++) {
		g_autofree char *value = value_text(o, TRUE), *facts = facts_text(o);

		size_t start = out->len;

		g_string_append_printf(out, "  --%s%s  ", o->name, value);
		if (facts) {
			g_autofree char *text = g_strdup_printf("(%s)", facts);

			rf_wrap(out, text, out->len - start, INDENT);
		} else {
			g_string_truncate(out, out->len - 2);
			g_string_append_c(out, '\n');
		}
		append_indented(out, o->help);
	}
}

/* ---- manual page ---- */

void rf_man_escape(GString *out, const char *text)
{
	gboolean line_start = out->len == 0 || out->str[out->len - 1] == '\n';

	for (; *text; text = g_utf8_next_char(text)) {
		gunichar c = g_utf8_get_char(text);

		if (line_start && (c == '.' || c == '\''))
			g_string_append(out, "\\&");
		line_start = c == '\n';
		switch (c) {
		case '\\':
			g_string_append(out, "\\e");
			break;
		case '-':
			g_string_append(out, "\\-");
			break;
		case '`':
			g_string_append(out, "\\(ga");
			break;
		case '\'':
			g_string_append(out, "\\(aq");
			break;
		default:
			if (c < 128)
				g_string_append_c(out, (char)c);
			else
				g_string_append_printf(out, "\\[u%04X]", c);
		}
	}
}

void rf_args_man(const struct rf_arg *arg, GString *out)
{
	for (; arg->name; arg++) {
		g_string_append(out, ".TP\n");
		if (arg->letter)
			g_string_append_printf(out, "\\fB\\-%c\\fR, ", arg->letter);
		g_string_append(out, "\\fB\\-\\-");
		rf_man_escape(out, arg->name);
		g_string_append(out, "\\fR");
		if (arg->kind != RF_ARG_FLAG) {
			g_string_append(out, " \\fI");
			rf_man_escape(out, arg->metavar);
			g_string_append(out, "\\fR");
		}
		g_string_append_c(out, '\n');
		rf_man_escape(out, arg->help);
		g_string_append(out, ".\n");
	}
}

void rf_args_table_man(const struct rf_option *table, const char *prefix, GString *out)
{
	for (const struct rf_option *o = table; o->name; o++) {
		g_autofree char *value = value_text(o, *prefix != '\0'), *facts = facts_text(o);

		g_string_append(out, ".TP\n\\fB");
		rf_man_escape(out, prefix);
		rf_man_escape(out, o->name);
		g_string_append(out, "\\fR");
		if (!*prefix)
			g_string_append_c(out, '=');
		g_string_append(out, "\\fI");
		rf_man_escape(out, *prefix ? value : value + 1);
		g_string_append(out, "\\fR\n");
		rf_man_escape(out, o->help);
		g_string_append(out, ".\n");
		if (facts) {
			g_string_append_c(out, '(');
			rf_man_escape(out, facts);
			g_string_append(out, ".)\n");
		}
	}
}
