/* SPDX-License-Identifier: MIT */
#include "sim/reproduce/formula.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define NESTING 64

struct parser {
	const char *p;
	const char *until; /* characters that may follow, outside parentheses */
	rf_formula_name name;
	void *data;
	unsigned nesting;
	GError **error;
};

static gboolean level(struct parser *ps, unsigned prec, double *v);

static void skip(struct parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t')
		ps->p++;
}

static gboolean expected(struct parser *ps, const char *what)
{
	if (*ps->p)
		rf_set_usage(ps->error, "'%s'; expected %s", ps->p, what);
	else
		rf_set_usage(ps->error, "the formula ends early; expected %s", what);
	return FALSE;
}

static gboolean number(struct parser *ps, double *v)
{
	static const struct {
		const char *text;
		double factor;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		{ "K", 1024 }, { "M", 1048576 }, { "G", 1073741824 }, { "T", 1099511627776 },
	};
	char *end;

	*v = g_ascii_strtod(ps->p, &end);
	if (end == ps->p || !isfinite(*v))
		return expected(ps, "a number");
	ps->p = end;
	for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
		size_t n = strlen(units[i].text);

		if (strncmp(ps->p, units[i].text, n) == 0 && !g_ascii_isalnum(ps->p[n])) {
			*v *= units[i].factor;
			ps->p += n;
			return TRUE;
		}
	}
	return TRUE;
}

static gboolean call(struct parser *ps, const char *name, double *v)
{
	static const struct {
		const char *name;
		unsigned args;
	} functions[] = { { "min", 2 }, { "max", 2 }, { "abs", 1 }, { "round", 1 }, { "floor", 1 },
		          { "pow", 2 }, { "if", 3 } };
	double a[3] = { 0, 0, 0 };
	unsigned f = 0;

	while (f < G_N_ELEMENTS(functions) && strcmp(functions[f].name, name) != 0)
		f++;
	if (f == G_N_ELEMENTS(functions)) {
		rf_set_usage(ps->error, "no function '%s'; expected min, max, abs, round, floor, pow or if",
		             name);
		return FALSE;
	}
	for (unsigned i = 0; i < functions[f].args; i++) {
		if (i > 0) {
			skip(ps);
			if (*ps->p != ',')
				return expected(ps, "',' and another value");
			ps->p++;
		}
		if (!level(ps, 1, &a[i]))
			return FALSE;
	}
	skip(ps);
	if (*ps->p != ')')
		return expected(ps, "')'");
	ps->p++;
	*v = f == 0 ? fmin(a[0], a[1]) : f == 1 ? fmax(a[0], a[1]) : f == 2 ? fabs(a[0])
	   : f == 3 ? round(a[0]) : f == 4 ? floor(a[0]) : f == 5 ? pow(a[0], a[1])
	   : a[0] != 0 ? a[1] : a[2];
	return TRUE;
}

static gboolean name(struct parser *ps, double *v)
{
	const char *start = ps->p;
	g_autofree char *word = NULL;

	while (g_ascii_isalnum(*ps->p) || (*ps->p && strchr("_.@", *ps->p)))
		ps->p++;
	word = g_strndup(start, (gsize)(ps->p - start));
	if (*ps->p == '(') {
		ps->p++;
		return call(ps, word, v);
	}
	return ps->name(ps->data, word, v, ps->error);
}

static gboolean unary_inside(struct parser *ps, double *v)
{
	char sign;

	skip(ps);
	sign = *ps->p;
	if (sign == '-' || (sign == '!' && ps->p[1] != '=')) {
		ps->p++;
		if (!level(ps, 7, v))
			return FALSE;
		*v = sign == '-' ? -*v : *v == 0;
		return TRUE;
	}
	if (sign == '(') {
		ps->p++;
		if (!level(ps, 1, v))
			return FALSE;
		skip(ps);
		if (*ps->p != ')')
			return expected(ps, "')'");
		ps->p++;
		return TRUE;
	}
	if (g_ascii_isdigit(sign) || sign == '.')
		return number(ps, v);
	if (g_ascii_isalpha(sign) || sign == '_')
		return name(ps, v);
	return expected(ps, "a number, a name or '('");
}

static gboolean unary(struct parser *ps, double *v)
{
	gboolean ok;

	if (++ps->nesting > NESTING) {
		rf_set_usage(ps->error, "the formula nests too deep; expected at most %d levels", NESTING);
		return FALSE;
	}
	ok = unary_inside(ps, v);
	ps->nesting--;
	return ok;
}

static double apply(unsigned op, double a, double b)
{
	switch (op) {
	case 0: return a != 0 || b != 0;
	case 1: return a != 0 && b != 0;
	case 2: return a == b;
	case 3: return a != b;
	case 4: return a <= b;
	case 5: return a >= b;
	case 6: return a < b;
	case 7: return a > b;
	case 8: return a + b;
	case 9: return a - b;
	case 10: return a * b;
	default: return a / b;
	}
}

static gboolean level(struct parser *ps, unsigned prec, double *v)
{
	/* Longer ones before their beginnings; apply() goes by the place here. */
	static const struct {
		const char *text;
		unsigned prec;
	} ops[] = { { "||", 1 }, { "&&", 2 }, { "==", 3 }, { "!=", 3 }, { "<=", 4 }, { ">=", 4 },
		    { "<", 4 }, { ">", 4 }, { "+", 5 }, { "-", 5 }, { "*", 6 }, { "/", 6 } };

	if (!unary(ps, v))
		return FALSE;
	for (;;) {
		unsigned i = 0;
		double right;

		skip(ps);
		while (i < G_N_ELEMENTS(ops) && !g_str_has_prefix(ps->p, ops[i].text))
			i++;
		if (i == G_N_ELEMENTS(ops) || ops[i].prec < prec)
			return TRUE;
		ps->p += strlen(ops[i].text);
		if (!level(ps, ops[i].prec + 1, &right))
			return FALSE;
		*v = apply(i, *v, right);
	}
}

gboolean rf_formula_value(const char *text, rf_formula_name fn, void *data, double *value,
                          GError **error)
{
	struct parser ps = { .p = text, .name = fn, .data = data, .error = error };

	if (!level(&ps, 1, value))
		return FALSE;
	skip(&ps);
	return *ps.p == '\0' || expected(&ps, "an operator or the end of the formula");
}

char *rf_formula_number(double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (value == floor(value) && fabs(value) < 1e18)
		return g_strdup_printf("%.0f", value);
	return g_strdup(g_ascii_formatd(text, sizeof(text), "%.12g", value));
}

char *rf_formula_expand(const char *text, rf_formula_name fn, void *data, GError **error)
{
	GString *out = g_string_new(NULL);
	struct parser ps = { .p = text, .name = fn, .data = data, .error = error };

	while (*ps.p) {
		g_autofree char *digits = NULL;
		double v;
		gboolean ok;

		if (*ps.p != '$' || ps.p[1] == '$') {
			ps.p += *ps.p == '$';
			g_string_append_c(out, *ps.p++);
			continue;
		}
		ps.p++;
		if (*ps.p == '(')
			ok = unary(&ps, &v);
		else if (g_ascii_isalpha(*ps.p) || *ps.p == '_')
			ok = name(&ps, &v);
		else
			ok = expected(&ps, "a name or '(' after '$'");
		if (!ok) {
			g_string_free(out, TRUE);
			return NULL;
		}
		digits = rf_formula_number(v);
		g_string_append(out, digits);
	}
	return g_string_free(out, FALSE);
}
