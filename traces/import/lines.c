/* SPDX-License-Identifier: MIT */
#include "traces/import/lines.h"

#include <string.h>

#include "base/error.h"

#define SHOWN 40 /* characters of a line that a message repeats */

static gboolean is_empty(const char *s)
{
	return s[strspn(s, " \t")] == 0;
}

/* ---- finding the format ---- */

int rf_lines_probe(const struct rf_line_format *f, const uint8_t *head, size_t n)
{
	unsigned lines = 0, records = 0;
	char *text, *s, *end;

	if (f->like == NULL || f->sure == 0 || memchr(head, 0, n) != NULL)
		return 0;
	text = g_strndup((const char *)head, n);
	s = text;
	if (g_str_has_prefix(s, "\xef\xbb\xbf"))
		s += 3;
	for (; *s != 0; s = end) {
		gboolean whole;

		end = s + strcspn(s, "\n");
		whole = *end != 0;
		if (whole)
			*end++ = 0;
		g_strchomp(s);
		if (is_empty(s) || *s == '#')
			continue;
		if (!whole && lines > 0 && n >= 4096)
			break; /* the head ends inside a line */
		lines++;
		records += f->like(f, s);
	}
	g_free(text);
	return records * 2 > lines ? f->sure : 0;
}

/* ---- the importer ---- */

void *rf_lines_open(const struct rf_line_format *f, struct rf_input *in, struct rf_builder *b,
                    const struct rf_source_options *opt, GError **error)
{
	struct rf_lines *l = g_malloc0(f->size);

	l->format = f;
	l->in = in;
	l->b = b;
	l->strict = opt != NULL && opt->strict;
	if (f->begin == NULL || f->begin(l, opt, error))
		return l;
	rf_lines_close(l);
	return NULL;
}

void rf_lines_close(void *self)
{
	struct rf_lines *l = self;

	if (l->format->clear != NULL)
		l->format->clear(l);
	g_free(l);
}

static char *shown(const char *s)
{
	const char *end;

	if (strlen(s) <= SHOWN || !g_utf8_validate(s, -1, NULL))
		return g_strndup(s, SHOWN);
	end = g_utf8_find_prev_char(s, s + SHOWN + 1);
	return g_strdup_printf("%.*s...", (int)(end - s), s);
}

enum rf_line rf_lines_expected(const struct rf_lines *l, const char *at, const char *what,
                               GError **error)
{
	g_autofree char *text = shown(at);

	if (*text != 0)
		rf_set_data(error, "column %td: '%s'; expected %s", at - l->line + 1, text, what);
	else
		rf_set_data(error, "column %td: the line ends; expected %s", at - l->line + 1, what);
	return RF_LINE_BAD;
}

/* Noise, the end of a file that was cut short, or an error where one asked for it. */
static enum rf_line other_line(struct rf_lines *l, const char *text, GError **error)
{
	g_autofree char *copy = shown(text);

	if (rf_input_cut(l->in))
		rf_set_data(error, "the input ends inside a record, after '%s'; expected a line such as '%s'",
		            copy, l->format->example);
	else if (l->strict)
		rf_set_data(error, "'%s' is no record; expected a line such as '%s'", copy,
		            l->format->example);
	else
		rf_builder_skipped(l->b, "line of other text");
	return rf_input_cut(l->in) || l->strict ? RF_LINE_BAD : RF_LINE_TAKEN;
}

static enum rf_step no_more(struct rf_lines *l, GError **error)
{
	l->ended = TRUE;
	if (l->records == 0) {
		rf_set_data(error, "%s: no record in %" G_GUINT64_FORMAT " lines; expected lines such as '%s'",
		            rf_input_name(l->in), rf_input_line_number(l->in), l->format->example);
		return RF_STEP_ERROR;
	}
	return l->format->end != NULL ? l->format->end(l, error) : RF_STEP_END;
}

enum rf_step rf_lines_step(void *self, GError **error)
{
	struct rf_lines *l = self;

	if (l->ended)
		return l->format->end(l, error);
	do {
		char *s;
		size_t n;
		enum rf_line took;
		int got = rf_input_line(l->in, &s, &n, error);

		if (got < 0)
			return RF_STEP_ERROR;
		if (got == 0)
			return no_more(l, error);
		if (is_empty(s) && !l->format->blank_lines)
			continue;
		l->line = s;
		took = l->format->line(l, s, error);
		if (took == RF_LINE_TAKEN)
			l->records++;
		else if (took == RF_LINE_OTHER && *s != '#' && !is_empty(s))
			took = other_line(l, s, error);
		if (took == RF_LINE_BAD) {
			g_prefix_error(error, "%s:%" G_GUINT64_FORMAT ": ", rf_input_name(l->in),
			               rf_input_line_number(l->in));
			return RF_STEP_ERROR;
		}
	} while (!rf_builder_full(l->b));
	return RF_STEP_MORE;
}

/* ---- time ---- */

static gboolean time_goes_back(struct rf_lines *l)
{
	rf_builder_skipped(l->b, "time that goes back");
	return TRUE;
}

gboolean rf_lines_time_from_0(struct rf_lines *l, uint64_t ns, GError **error)
{
	struct rf_event at = { .kind = RF_EV_AT, .len = ns };

	if (ns < l->at)
		return time_goes_back(l);
	if (ns == l->at)
		return TRUE;
	l->at = ns;
	return rf_builder_event(l->b, &at, error);
}

gboolean rf_lines_time(struct rf_lines *l, uint64_t ns, GError **error)
{
	if (!l->timed) {
		l->timed = TRUE;
		l->start = ns;
	}
	return ns < l->start ? time_goes_back(l) : rf_lines_time_from_0(l, ns - l->start, error);
}
