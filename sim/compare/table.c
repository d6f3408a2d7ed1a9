/* SPDX-License-Identifier: MIT
 * The table for people and for mails: a metric a block, a row a trace, the baseline's column and the
 * other side's; then the block that reviewers know from mmtests.
 */
#include <math.h>
#include <string.h>

#include "base/version.h"
#include "sim/compare/compare.h"
#include "sim/report/command.h"

#define COLUMNS 72 /* of a mail, and of everybody */

static const struct rf_side *side_of(const struct rf_compare *c, guint nth)
{
	return c->sides->pdata[nth];
}

/* ---- cells ---- */

/* A label of any length: one that is too long has lines of its own, and is not cut. */
static void label(GString *out, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	const char *p = g_strdelimit(valid, "\n\r\t\033\b", '?');
	glong len = g_utf8_strlen(p, -1);

	while (len > COLUMNS) {
		const char *end = g_utf8_offset_to_pointer(p, COLUMNS);

		g_string_append_len(out, p, end - p);
		g_string_append_c(out, '\n');
		p = end;
		len -= COLUMNS;
	}
	g_string_append(out, p);
	if (len >= RF_COMPARE_LABEL) {
		g_string_append_c(out, '\n');
		len = 0;
	}
	g_string_append_printf(out, "%*s", (int)(RF_COMPARE_LABEL - len), "");
}

/* Of at most 8 columns. */
static char *percent(double n, gboolean sign)
{
	if (fabs(n) >= 100000)
		return g_strdup(n < 0 ? "<-99999%" : ">99999%");
	if (fabs(n) >= 1000)
		return g_strdup_printf(sign ? "%+.0f%%" : "%.0f%%", n);
	/* No minus before what rounds to nothing. */
	return g_strdup_printf(sign ? "%+.2f%%" : "%.2f%%", fabs(n) < 0.005 ? 0.0 : n);
}

void rf_compare_cells(GString *out, const char *value, const struct rf_change *change, char better)
{
	g_autofree char *text = NULL;
	char left = '(', right = ')';

	switch (change->kind) {
	case RF_CHANGE_NONE:
		text = g_strdup("=");
		break;
	case RF_CHANGE_NEW:
		text = g_strdup("new");
		break;
	case RF_CHANGE_PERCENT:
		/* What is neither good nor bad has a sign of its own. */
		text = percent(better == '0' ? change->percent : change->gain, better == '0');
		break;
	}
	if (better == '0')
		left = '[', right = ']';
	if (change->sure)
		left = right = '*';
	g_string_append_printf(out, "%12s %c%8s%c ", value, left, text, right);
}

static void end_line(GString *out)
{
	while (out->len && out->str[out->len - 1] == ' ')
		g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
}

/* In the unit of the heading: KiB for bytes, us for ns. */
static char *value_text(const struct rf_figure *f, const struct rf_metric *m)
{
	double by = strcmp(m->unit, "B") == 0 ? 1024 : strcmp(m->unit, "ns") == 0 ? 1000 : 1;
	double v = f->mean / by;

	if (v >= 1e12)
		return g_strdup_printf("%.5g", v);
	return g_strdup_printf(f->n > 1 || by > 1 ? "%.1f" : "%.0f", v);
}

static const char *unit_of(const struct rf_metric *m)
{
	return strcmp(m->unit, "B") == 0 ? " KiB" : strcmp(m->unit, "ns") == 0 ? " us" : "";
}

/* ---- a metric ---- */

static void heading(GString *out, const char *name, const struct rf_compare *c, guint side)
{
	label(out, name);
	g_string_append_printf(out, "%12s%12s%12s", side_of(c, 0)->label, "", side_of(c, side)->label);
	end_line(out);
}

static void row_line(GString *out, const struct rf_row *row, guint side, const struct rf_metric *m)
{
	struct rf_figure a = rf_compare_figure(row, 0, m), b = rf_compare_figure(row, side, m);
	struct rf_change base = { .kind = a.sum ? RF_CHANGE_PERCENT : RF_CHANGE_NONE };
	struct rf_change change = rf_compare_change(&a, &b, m);
	g_autofree char *va = value_text(&a, m), *vb = value_text(&b, m);
	g_autofree char *name = g_strdup_printf("  %s", row->label);

	label(out, name);
	rf_compare_cells(out, va, &base, m->better);
	rf_compare_cells(out, vb, &change, m->better);
	end_line(out);
}

static void overall_lines(GString *out, const struct rf_compare *c, guint side, const struct rf_metric *m)
{
	struct rf_overall o = rf_compare_overall(c, side, m);
	struct rf_change change = { RF_CHANGE_PERCENT, o.percent, o.gain, FALSE };
	struct rf_change base = { .kind = RF_CHANGE_PERCENT };
	g_autofree char *name = o.n < c->rows->len ? g_strdup_printf("  geomean of %u", o.n)
	                                          : g_strdup("  geomean");

	if (c->rows->len < 2 || o.n + o.left_out == 0)
		return;
	label(out, name);
	if (o.n) {
		rf_compare_cells(out, "", &base, m->better);
		rf_compare_cells(out, "", &change, m->better);
	}
	end_line(out);
	/* Of two rows it can say nothing. */
	if (c->rows->len < 3)
		return;
	label(out, "  signed-rank p");
	g_string_append_printf(out, "%36.4f\n", o.p);
}

/* Does any side have anything to say of it? */
static gboolean has(const struct rf_compare *c, const struct rf_metric *m)
{
	for (guint i = 0; i < c->rows->len; i++) {
		for (guint k = 0; k < c->sides->len; k++) {
			if (rf_compare_figure(c->rows->pdata[i], k, m).sum)
				return TRUE;
		}
	}
	return FALSE;
}

/* ---- the whole ---- */

static void describe_side(GString *out, const struct rf_compare *c, guint nth)
{
	const struct rf_side *s = side_of(c, nth);
	const struct rf_saved *first = s->results->pdata[0];
	g_autoptr(GString) line = g_string_new(NULL);

	g_string_append_printf(line, "%s: %s", s->label, s->what);
	/* Option sets say it themselves. */
	for (guint i = 0; i < c->differ->len && !strstr(s->what, "--"); i++) {
		const char *value = rf_saved_config(first, c->differ->pdata[i]);

		g_string_append_printf(line, ", %s %s", (const char *)c->differ->pdata[i], value ? value : "none");
	}
	if (strcmp(first->version, rf_version) != 0)
		g_string_append_printf(line, ", by refault %s", first->version);
	g_string_append(out, "# ");
	g_strdelimit(line->str, "\n\r\t\033\b", '?');
	g_string_append(out, line->str);
	g_string_append_c(out, '\n');
}

/* The value of an option that all results share, or NULL. */
static const char *shared(const struct rf_compare *c, const char *name)
{
	const char *value = NULL;

	for (guint k = 0; k < c->sides->len; k++) {
		const struct rf_side *s = side_of(c, k);

		for (guint i = 0; i < s->results->len; i++) {
			const char *its = rf_saved_config(s->results->pdata[i], name);

			if (!its || !*its || (value && strcmp(value, its) != 0))
				return NULL;
			value = its;
		}
	}
	return value;
}

/* What a reader asks first: on which machine, with how much memory. */
static void describe_all(GString *out, const struct rf_compare *c)
{
	static const struct {
		const char *name, *before, *behind;
	} parts[] = {
		{ "machine", "", "" },      { "kernel", "kernel ", "" }, { "page-size", "", " pages" },
		{ "reclaim", "", "" },      { "ram", "RAM ", "" },       { "limit", "limit ", "" },
		{ "frames", "", " frames" }, { "swap", "swap ", "" },
	};
	g_autoptr(GString) line = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		const char *value = shared(c, parts[i].name);

		if (value)
			g_string_append_printf(line, "%s%s%s%s", line->len ? ", " : "", parts[i].before, value,
			                       parts[i].behind);
	}
	if (!line->len)
		return;
	g_strdelimit(line->str, "\n\r\t\033\b", '?');
	g_string_append_printf(out, "# %s\n", line->str);
}

static void notes(GString *out, const struct rf_compare *c)
{
	g_string_append(out, "\n# positive = better, [] = neither better nor worse, = both 0, new: was 0\n");
	if (c->seeds > 1)
		g_string_append_printf(out, "# means of %u seeds; * = gap exceeds the sum of both 95%% intervals\n"
		                            "# (Student's t over seeds)\n", c->seeds);
	if (c->rows->len > 2)
		g_string_append(out, "# p: exact Wilcoxon signed-rank test over the rows, two-sided\n");
}

/* Every line fits, in ASCII, and ends in no blank.  Only a comment can be too long, or a row's name. */
static void for_mail(GString *text)
{
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);

	g_string_truncate(text, 0);
	for (char **l = lines; *l; l++) {
		const char *p = *l, *start = *p == '#' ? "#   " : "";

		for (char *q = *l; *q; q++) {
			if ((unsigned char)*q >= 0x80)
				*q = '?';
		}
		g_strchomp(*l);
		for (size_t room = COLUMNS; strlen(p) > room; room = COLUMNS - strlen(start)) {
			g_string_append_len(text, p, (gssize)room);
			g_string_append_printf(text, "\n%s", start);
			p += room;
		}
		g_string_append(text, p);
		if (l[1])
			g_string_append_c(text, '\n');
	}
}

/* A word that is longer than a line goes on at the next one's first column, as a shell reads it. */
static void append_command(GString *out, const GPtrArray *command)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	size_t most = COLUMNS - 8;

	for (guint i = 0; i < command->len; i++) {
		const char *w = command->pdata[i];
		g_autofree char *quoted = rf_shell_word(w);
		GString *parts;

		if (strlen(quoted) <= most) {
			g_ptr_array_add(words, g_steal_pointer(&quoted));
			continue;
		}
		parts = g_string_new(NULL);
		for (size_t at = 0, len = strlen(w); at < len; at += most / 2) {
			g_autofree char *piece = g_strndup(w + at, most / 2);
			g_autofree char *safe = rf_shell_word(piece);

			g_string_append_printf(parts, "%s%s", at ? "\\\n" : "", safe);
		}
		g_ptr_array_add(words, g_string_free(parts, FALSE));
	}
	/* An option and its value stand in one line. */
	for (guint i = 0; i + 1 < words->len; i++) {
		const char *option = words->pdata[i], *value = words->pdata[i + 1];
		g_autofree char *both = g_strdup_printf("%s %s", option, value);

		if (!g_str_has_prefix(option, "--") || strchr(option, '=') || *value == '-' || strlen(both) > most)
			continue;
		g_free(words->pdata[i]);
		words->pdata[i] = g_steal_pointer(&both);
		g_ptr_array_remove_index(words, i + 1);
	}
	rf_command_lines(out, "", 0, COLUMNS, words);
}

void rf_compare_text(GString *out, const struct rf_compare *c, const GPtrArray *metrics,
                     const GPtrArray *command, gboolean mail)
{
	g_autoptr(GString) text = g_string_new(NULL);

	g_string_append_printf(text, "# refault %s  %u row%s", rf_version, c->rows->len,
	                       c->rows->len == 1 ? "" : "s");
	if (c->seeds > 1)
		g_string_append_printf(text, "  %u seeds", c->seeds);
	g_string_append_c(text, '\n');
	describe_all(text, c);
	for (guint k = 0; k < c->sides->len; k++)
		describe_side(text, c, k);
	for (guint k = 1; k < c->sides->len; k++) {
		for (guint i = 0; i < metrics->len; i++) {
			const struct rf_metric *m = metrics->pdata[i];
			g_autofree char *name = g_strconcat(m->name, unit_of(m), NULL);

			if (!has(c, m))
				continue;
			g_string_append_c(text, '\n');
			heading(text, name, c, k);
			for (guint r = 0; r < c->rows->len; r++)
				row_line(text, c->rows->pdata[r], k, m);
			overall_lines(text, c, k, m);
		}
		g_string_append_c(text, '\n');
		heading(text, "all rows together", c, k);
		rf_compare_kswapd(text, c, k);
	}
	notes(text, c);
	g_string_append(text, "# reproduce:\n");
	if (mail)
		for_mail(text);
	append_command(text, command);
	g_string_append_len(out, text->str, (gssize)text->len);
}
