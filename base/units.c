/* SPDX-License-Identifier: MIT
 * Numbers with units, in and out, in integers throughout.
 */
#include "base/units.h"

#include <string.h>

#include "base/error.h"

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit size_units[] = {
	{ "T", UINT64_C(1) << 40 },
	{ "G", UINT64_C(1) << 30 },
	{ "M", UINT64_C(1) << 20 },
	{ "K", UINT64_C(1) << 10 },
};

static const struct unit time_units[] = {
	{ "s", 1000000000 },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};

/* Digits at *p, moved past; FALSE when the number does not fit. */
static gboolean take_decimal(const char **p, uint64_t *value)
{
	uint64_t v = 0;

	for (; g_ascii_isdigit(**p); (*p)++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, **p - '0', &v))
			return FALSE;
	*value = v;
	return TRUE;
}

static gboolean too_big(const char *text, GError **error)
{
	rf_set_usage(error, "\"%s\" is beyond 64 bits", text);
	return FALSE;
}

gboolean rf_parse_u64(const char *text, uint64_t *value, GError **error)
{
	const char *p = text;
	uint64_t v = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && p[2]) {
		for (p += 2; g_ascii_isxdigit(*p); p++) {
			if (v >> 60)
				return too_big(text, error);
			v = v << 4 | g_ascii_xdigit_value(*p);
		}
	} else if (g_ascii_isdigit(*p)) {
		if (!take_decimal(&p, &v))
			return too_big(text, error);
	} else {
		p = NULL;
	}
	if (!p || *p) {
		rf_set_usage(error, "\"%s\": expected a number", text);
		return FALSE;
	}
	*value = v;
	return TRUE;
}

/* The scale of a unit's name, 0 when there is none of that name. */
typedef uint64_t unit_scale(const char *name);

static uint64_t size_scale(const char *name)
{
	if (!strcmp(name, "B"))
		return 1;
	for (unsigned i = 0; i < G_N_ELEMENTS(size_units); i++)
		if (g_ascii_toupper(*name) == *size_units[i].name &&
		    (!name[1] || !strcmp(name + 1, "B") || !strcmp(name + 1, "iB")))
			return size_units[i].scale;
	return 0;
}

static uint64_t time_scale(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(time_units); i++)
		if (!strcmp(name, time_units[i].name))
			return time_units[i].scale;
	return 0;
}

/* Digits, a fraction where there is a unit, a unit.  What is left of a fraction below one is cut.
 */
static gboolean parse_scaled(const char *text, unit_scale *scale_of, const char *expected,
                             uint64_t *value, GError **error)
{
	const char *p = text;
	uint64_t whole, frac = 0, frac_scale = 1, scale = 1;
	gboolean ok = g_ascii_isdigit(*p), fraction = FALSE;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		if (rf_parse_u64(text, value, NULL))
			return TRUE;
		ok = FALSE;
	}
	if (ok && !take_decimal(&p, &whole))
		return too_big(text, error);
	if (ok && *p == '.') {
		fraction = TRUE;
		ok = g_ascii_isdigit(*++p);
		for (; g_ascii_isdigit(*p); p++) {
			/* Digits past the 15th are below any unit. */
			if (frac_scale < UINT64_C(1000000000000000)) {
				frac = frac * 10 + (*p - '0');
				frac_scale *= 10;
			}
		}
	}
	if (ok && (*p || fraction)) {
		scale = scale_of(p);
		ok = scale && (!fraction || scale > 1);
	}
	if (!ok) {
		rf_set_usage(error, "\"%s\": expected %s", text, expected);
		return FALSE;
	}
	frac = (uint64_t)((unsigned __int128)frac * scale / frac_scale);
	if (__builtin_mul_overflow(whole, scale, &whole) ||
	    __builtin_add_overflow(whole, frac, &whole))
		return too_big(text, error);
	*value = whole;
	return TRUE;
}

gboolean rf_parse_size(const char *text, uint64_t *bytes, GError **error)
{
	return parse_scaled(text, size_scale, "a size such as 64M", bytes, error);
}

gboolean rf_parse_time(const char *text, uint64_t *ns, GError **error)
{
	return parse_scaled(text, time_scale, "a time such as 10ms", ns, error);
}

/* ---- out ---- */

/* value/scale with four significant digits, rounded half up, without trailing zeros.  *carry: it
 * came out as top or more. */
static char *four_digits(uint64_t value, uint64_t scale, unsigned top, gboolean *carry)
{
	static const unsigned pow10[] = { 1, 10, 100, 1000 };
	uint64_t whole = value / scale;
	unsigned decimals = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
	unsigned __int128 scaled = (unsigned __int128)value * pow10[decimals];
	uint64_t n = (uint64_t)((scaled + scale / 2) / scale), frac;

	whole = n / pow10[decimals];
	frac = n % pow10[decimals];
	*carry = whole >= top;
	while (decimals && frac % 10 == 0) {
		frac /= 10;
		decimals--;
	}
	if (!decimals)
		return g_strdup_printf("%" G_GUINT64_FORMAT, whole);
	return g_strdup_printf("%" G_GUINT64_FORMAT ".%0*" G_GUINT64_FORMAT, whole, (int)decimals,
	                       frac);
}

struct step {
	const char *name;
	uint64_t scale;
	unsigned top; /* from this many on the next unit is the better one; 0: never */
};

static char *format_steps(uint64_t value, const struct step *s)
{
	for (;; s++) {
		gboolean carry;
		char *digits, *text;

		if (s->top && value / s->scale >= s->top)
			continue;
		digits = four_digits(value, s->scale, s->top, &carry);
		if (s->top && carry) {
			g_free(digits);
			continue;
		}
		text = g_strdup_printf("%s %s", digits, s->name);
		g_free(digits);
		return text;
	}
}

char *rf_format_size(uint64_t bytes)
{
	static const struct step steps[] = {
		{ "B", 1, 1024 },
		{ "KiB", UINT64_C(1) << 10, 1024 },
		{ "MiB", UINT64_C(1) << 20, 1024 },
		{ "GiB", UINT64_C(1) << 30, 1024 },
		{ "TiB", UINT64_C(1) << 40, 1024 },
		{ "PiB", UINT64_C(1) << 50, 1024 },
		{ "EiB", UINT64_C(1) << 60, 0 },
	};
	return format_steps(bytes, steps);
}

char *rf_format_time(uint64_t ns)
{
	static const struct step steps[] = {
		{ "ns", 1, 1000 },
		{ "us", 1000, 1000 },
		{ "ms", 1000000, 1000 },
		{ "s", 1000000000, 10000 },
		{ "h", UINT64_C(3600000000000), 0 },
	};
	return format_steps(ns, steps);
}

char *rf_format_count(uint64_t n)
{
	char digits[32], out[48];
	int len = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, n);
	int o = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[o++] = ',';
		out[o++] = digits[i];
	}
	out[o] = '\0';
	return g_strdup(out);
}

char *rf_exact_size(uint64_t bytes)
{
	for (unsigned i = 0; bytes && i < G_N_ELEMENTS(size_units); i++)
		if (bytes % size_units[i].scale == 0)
			return g_strdup_printf("%" G_GUINT64_FORMAT "%s",
			                       bytes / size_units[i].scale, size_units[i].name);
	return g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
}

char *rf_exact_time(uint64_t ns)
{
	for (unsigned i = 0; ns && i < G_N_ELEMENTS(time_units); i++)
		if (ns % time_units[i].scale == 0)
			return g_strdup_printf("%" G_GUINT64_FORMAT "%s", ns / time_units[i].scale,
			                       time_units[i].name);
	return g_strdup("0");
}
