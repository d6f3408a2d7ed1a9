/* SPDX-License-Identifier: MIT
 * Error domains, the exit codes they lead to, and "did you mean".
 */
#include "base/error.h"

#include <gio/gio.h>
#include <string.h>

/* clang-format off */
G_DEFINE_QUARK(rf-usage-error-quark, rf_usage_error)
G_DEFINE_QUARK(rf-data-error-quark, rf_data_error)
G_DEFINE_QUARK(rf-env-error-quark, rf_env_error)
G_DEFINE_QUARK(rf-negative-error-quark, rf_negative_error)
/* clang-format on */

enum rf_exit rf_error_exit_code(const GError *error)
{
	if (!error)
		return RF_EXIT_OK;
	if (error->domain == RF_DATA_ERROR)
		return RF_EXIT_DATA;
	if (error->domain == RF_NEGATIVE_ERROR)
		return RF_EXIT_NEGATIVE;
	if (error->domain == RF_USAGE_ERROR || error->domain == G_OPTION_ERROR ||
	    error->domain == G_KEY_FILE_ERROR)
		return RF_EXIT_USAGE;
	return RF_EXIT_ENVIRONMENT;
}

/* Names out of a trace end up in messages: a message stays one line of valid text whatever they
 * hold. */
static char *one_line(char *text)
{
	GString *out;
	char *valid;

	if (g_utf8_validate(text, -1, NULL) && !strpbrk(text, "\n\r\t\033\a\b\f\v\177"))
		return text;
	valid = g_utf8_make_valid(text, -1);
	out = g_string_new(NULL);
	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (g_unichar_iscntrl(c))
			g_string_append_printf(out, "\\x%02x", c);
		else
			g_string_append_unichar(out, c);
	}
	g_free(valid);
	g_free(text);
	return g_string_free(out, FALSE);
}

static void set_error(GError **error, GQuark domain, const char *format, va_list ap)
	G_GNUC_PRINTF(3, 0);

static void set_error(GError **error, GQuark domain, const char *format, va_list ap)
{
	char *text;

	if (!error)
		return;
	text = one_line(g_strdup_vprintf(format, ap));
	g_set_error_literal(error, domain, 0, text);
	g_free(text);
}

void rf_set_usage(GError **error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_error(error, RF_USAGE_ERROR, format, ap);
	va_end(ap);
}

void rf_set_data(GError **error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_error(error, RF_DATA_ERROR, format, ap);
	va_end(ap);
}

void rf_set_env(GError **error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_error(error, RF_ENV_ERROR, format, ap);
	va_end(ap);
}

/* ---- nearest name ---- */

#define LONGEST_WORD 63

static char fold(char c)
{
	return c == '_' ? '-' : g_ascii_tolower(c);
}

/* Optimal string alignment: insert, delete, replace, swap neighbours, one each.  Both words are at
 * most LONGEST_WORD long. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][LONGEST_WORD + 1];
	unsigned *before = row[0], *prev = row[1], *cur = row[2];

	for (size_t j = 0; j <= nb; j++)
		before[j] = prev[j] = j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *spare;

		cur[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			gboolean same = fold(a[i - 1]) == fold(b[j - 1]);
			unsigned d = prev[j - 1] + !same;

			d = MIN(d, prev[j] + 1);
			d = MIN(d, cur[j - 1] + 1);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				d = MIN(d, before[j - 2] + 1);
			cur[j] = d;
		}
		spare = before;
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[nb];
}

const char *rf_nearest(const char *word, const char *const *candidates)
{
	size_t len = strlen(word);
	const char *best = NULL;
	unsigned best_d = len <= 4 ? 1 : len / 3; /* farther than this is a guess, not a hint */

	if (!len || len > LONGEST_WORD)
		return NULL;
	for (; *candidates; candidates++) {
		size_t clen = strlen(*candidates);
		unsigned d;

		if (clen > LONGEST_WORD)
			continue;
		d = distance(word, len, *candidates, clen);
		/* An abbreviation is one mistake. */
		if (d > 1 && len >= 3 && clen > len && !g_ascii_strncasecmp(word, *candidates, len))
			d = 1;
		/* Of equals the first. */
		if (d < best_d || (d == best_d && !best)) {
			best = *candidates;
			best_d = d;
		}
	}
	return best;
}
