/* SPDX-License-Identifier: MIT
 * Names in text.
 */
#include "traces/escape.h"

void rf_escape(GString *to, const char *s)
{
	for (; *s != 0; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c == 0x7f || c == '#' || c == '\\')
			g_string_append_printf(to, "\\%03o", c);
		else
			g_string_append_c(to, (char)c);
	}
}

static int octal(char c, char most)
{
	return c >= '0' && c <= most ? c - '0' : -1;
}

const char *rf_unescape(char *s)
{
	char *to = s;

	for (char *p = s; *p != 0; p++) {
		int a, b, c;

		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		a = octal(p[1], '3');
		b = a < 0 ? -1 : octal(p[2], '7');
		c = b < 0 ? -1 : octal(p[3], '7');
		if (c < 0 || (a | b | c) == 0)
			return p;
		*to++ = (char)(a << 6 | b << 3 | c);
		p += 3;
	}
	*to = 0;
	return NULL;
}
