/* SPDX-License-Identifier: MIT */
#include "traces/import/fields.h"

#include <string.h>

gboolean rf_take_literal(char **s, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*s, text, n))
		return FALSE;
	*s += n;
	return TRUE;
}

void rf_take_blanks(char **s)
{
	*s += strspn(*s, " \t");
}

gboolean rf_take_digits(char **s, unsigned base, uint64_t *value)
{
	char *p = *s;
	uint64_t v = 0;

	for (;; p++) {
		int d = g_ascii_xdigit_value(*p);

		if (d < 0 || (unsigned)d >= base)
			break;
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return FALSE;
	}
	if (p == *s)
		return FALSE;
	*s = p;
	*value = v;
	return TRUE;
}

gboolean rf_take_number(char **s, uint64_t *value)
{
	char *p = *s;
	gboolean minus = FALSE;

	if (rf_take_literal(&p, "0x")) {
		if (!rf_take_digits(&p, 16, value))
			return FALSE;
	} else {
		minus = rf_take_literal(&p, "-");
		if (!rf_take_digits(&p, 10, value))
			return FALSE;
		if (minus)
			*value = 0 - *value;
	}
	*s = p;
	return TRUE;
}

gboolean rf_take_hex(char **s, uint64_t *value)
{
	char *p = *s;

	if (!rf_take_literal(&p, "0x"))
		rf_take_literal(&p, "0X");
	if (!rf_take_digits(&p, 16, value))
		return FALSE;
	*s = p;
	return TRUE;
}

gboolean rf_take_fraction(char **s, unsigned digits, uint64_t *value)
{
	char *p = *s;
	uint64_t v;
	gboolean point;

	if (!rf_take_digits(&p, 10, &v))
		return FALSE;
	point = *p == '.' && g_ascii_isdigit(p[1]);
	p += point;
	for (; digits > 0; digits--) {
		unsigned d = point && g_ascii_isdigit(*p) ? (unsigned)(*p++ - '0') : 0;

		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return FALSE;
	}
	while (point && g_ascii_isdigit(*p))
		p++;
	*s = p;
	*value = v;
	return TRUE;
}

gboolean rf_take_tid(char **s, uint32_t *tid)
{
	char *p = *s;
	uint64_t v;

	if (!rf_take_digits(&p, 10, &v) || v >= UINT32_MAX)
		return FALSE;
	*s = p;
	*tid = (uint32_t)v;
	return TRUE;
}

gboolean rf_take_word(char **s, const char *stop, char *buf, size_t size)
{
	size_t n = strcspn(*s, stop);

	if (n == 0 || n >= size)
		return FALSE;
	memcpy(buf, *s, n);
	buf[n] = 0;
	*s += n;
	return TRUE;
}
