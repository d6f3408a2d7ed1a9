/* SPDX-License-Identifier: MIT
 * Expressions of scenarios: a precedence climber that writes reverse Polish, and its evaluation.
 */
#include <string.h>

#include "base/error.h"
#include "traces/scenario-program.h"

#define U64 G_GUINT64_FORMAT
#define NESTING 64

enum code {
	NUMBER, VARIABLE,
	OR, AND, EQ, NE, LT, LE, GT, GE, ADD, SUB, MUL, DIV, MOD,
	NOT, MIN2, MAX2, RAND, HASH,
};

struct op {
	uint8_t code;
	uint64_t v; /* a number, or a variable's */
};

struct rf_scn_expr {
	GArray *ops;
};

struct parser {
	const char *p, *until;
	const struct rf_scn_names *names;
	GArray *ops;
	unsigned depth, nesting; /* of the stack at evaluation; of the grammar */
	GError **error;
};

/* Binary operators; longer ones before their beginnings. */
static const struct {
	const char *text;
	uint8_t prec, code;
} binary[] = {
	{ "||", 1, OR }, { "&&", 2, AND }, { "==", 3, EQ }, { "!=", 3, NE }, { "<=", 4, LE },
	{ ">=", 4, GE }, { "<", 4, LT }, { ">", 4, GT }, { "+", 5, ADD }, { "-", 5, SUB },
	{ "*", 6, MUL }, { "/", 6, DIV }, { "%", 6, MOD },
};

static const struct {
	const char *name;
	uint8_t args, code;
} functions[] = {
	{ "min", 2, MIN2 }, { "max", 2, MAX2 }, { "rand", 1, RAND }, { "hash", 2, HASH },
};

static gboolean parse_level(struct parser *ps, unsigned prec);

static void skip(struct parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t')
		ps->p++;
}

static gboolean emit(struct parser *ps, uint8_t code, uint64_t v, int change)
{
	struct op op = { code, v };

	ps->depth += change;
	if (ps->depth > RF_EXPR_STACK) {
		rf_set_data(ps->error, "the expression nests too deep; expected at most %d values at once",
		            RF_EXPR_STACK);
		return FALSE;
	}
	g_array_append_val(ps->ops, op);
	return TRUE;
}

/* What stands at p, for messages. */
static char *found(const char *p)
{
	size_t n = strcspn(p, " \t");

	return n == 0 ? g_strdup("the end") : g_strdup_printf("'%.*s'", (int)MIN(n, 40), p);
}

static gboolean expected(struct parser *ps, const char *what)
{
	g_autofree char *at = found(ps->p);

	rf_set_data(ps->error, "%s; expected %s", at, what);
	return FALSE;
}

static gboolean number(struct parser *ps)
{
	const char *start = ps->p;
	unsigned base = 10, shift = 0;
	uint64_t v = 0;

	if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X')) {
		base = 16;
		ps->p += 2;
		if (!g_ascii_isxdigit(*ps->p))
			return expected(ps, "a hexadecimal digit");
	}
	for (; base == 16 ? g_ascii_isxdigit(*ps->p) : g_ascii_isdigit(*ps->p); ps->p++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)g_ascii_xdigit_value(*ps->p), &v))
			goto large;
	if (*ps->p == 'K')
		shift = 10;
	else if (*ps->p == 'M')
		shift = 20;
	else if (*ps->p == 'G')
		shift = 30;
	if (shift)
		ps->p++;
	if (v > UINT64_MAX >> shift)
		goto large;
	if (g_ascii_isalnum(*ps->p) || *ps->p == '_' || *ps->p == '.') {
		ps->p = start;
		return expected(ps, "a number such as 12, 64K or 0x1f00");
	}
	return emit(ps, NUMBER, v << shift, 1);
large:
	ps->p = start;
	return expected(ps, "a number of at most 64 bits");
}

static gboolean call(struct parser *ps, unsigned fn)
{
	for (unsigned i = 0; i < functions[fn].args; i++) {
		if (i > 0) {
			skip(ps);
			if (*ps->p != ',')
				return expected(ps, "',' and another value");
			ps->p++;
		}
		if (!parse_level(ps, 1))
			return FALSE;
	}
	skip(ps);
	if (*ps->p != ')')
		return expected(ps, "')'");
	ps->p++;
	return emit(ps, functions[fn].code, 0, 1 - (int)functions[fn].args);
}

static gboolean name(struct parser *ps)
{
	const char *start = ps->p;
	g_autofree char *word = NULL;
	g_autofree const char **all = NULL;
	const char *near;
	int var;

	while (g_ascii_isalnum(*ps->p) || *ps->p == '_')
		ps->p++;
	word = g_strndup(start, (gsize)(ps->p - start));
	if (*ps->p == '(') {
		for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++)
			if (strcmp(functions[i].name, word) == 0) {
				ps->p++;
				return call(ps, i);
			}
		rf_set_data(ps->error, "no function '%s'; expected min, max, rand or hash", word);
		return FALSE;
	}
	var = ps->names ? ps->names->find(ps->names, word) : -1;
	if (var >= 0)
		return emit(ps, VARIABLE, (uint64_t)var, 1);
	all = ps->names ? ps->names->list(ps->names) : NULL;
	near = all ? rf_nearest(word, all) : NULL;
	if (near)
		rf_set_data(ps->error, "no parameter or variable '%s'; did you mean %s?", word, near);
	else
		rf_set_data(ps->error, "no parameter or variable '%s'; expected one set before", word);
	return FALSE;
}

static gboolean unary_inside(struct parser *ps)
{
	skip(ps);
	if (*ps->p == '!' && ps->p[1] != '=') {
		ps->p++;
		return parse_level(ps, 7) && emit(ps, NOT, 0, 0);
	}
	if (*ps->p == '(') {
		ps->p++;
		if (!parse_level(ps, 1))
			return FALSE;
		skip(ps);
		if (*ps->p != ')')
			return expected(ps, "')'");
		ps->p++;
		return TRUE;
	}
	if (*ps->p == '$')
		ps->p++;
	if (g_ascii_isdigit(*ps->p))
		return number(ps);
	if (g_ascii_isalpha(*ps->p) || *ps->p == '_')
		return name(ps);
	return expected(ps, "a number, a name, '(' or '!'");
}

static gboolean unary(struct parser *ps)
{
	gboolean ok;

	if (++ps->nesting > NESTING) {
		rf_set_data(ps->error, "the expression nests too deep; expected at most %d levels", NESTING);
		return FALSE;
	}
	ok = unary_inside(ps);
	ps->nesting--;
	return ok;
}

/* Which binary operator of at least this precedence stands here, or -1. */
static int operator_at(const struct parser *ps, unsigned prec)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(binary); i++)
		if (g_str_has_prefix(ps->p, binary[i].text))
			return binary[i].prec >= prec ? (int)i : -1;
	return -1;
}

static gboolean parse_level(struct parser *ps, unsigned prec)
{
	if (!unary(ps))
		return FALSE;
	for (;;) {
		int i;

		skip(ps);
		i = operator_at(ps, prec);
		if (i < 0)
			return TRUE;
		ps->p += strlen(binary[i].text);
		if (!parse_level(ps, binary[i].prec + 1) || !emit(ps, binary[i].code, 0, -1))
			return FALSE;
	}
}

struct rf_scn_expr *rf_scn_expr_parse(const char *text, const char *until, const char **end,
                                      const struct rf_scn_names *names, GError **error)
{
	struct parser ps = { .p = text, .until = until, .names = names, .error = error };
	struct rf_scn_expr *x;
	gboolean ok;

	ps.ops = g_array_new(FALSE, FALSE, sizeof(struct op));
	ok = parse_level(&ps, 1);
	skip(&ps);
	if (ok && *ps.p && !strchr(until, *ps.p))
		ok = expected(&ps, "an operator or the end of the expression");
	if (!ok) {
		g_array_unref(ps.ops);
		return NULL;
	}
	*end = ps.p;
	x = g_new(struct rf_scn_expr, 1);
	x->ops = ps.ops;
	return x;
}

void rf_scn_expr_free(struct rf_scn_expr *x)
{
	if (!x)
		return;
	g_array_unref(x->ops);
	g_free(x);
}

/* A number below n that depends on key and nothing else. */
static uint64_t hash_below(uint64_t key, uint64_t n)
{
	struct rf_rng rng = { key };

	return (uint64_t)((unsigned __int128)rf_rng_next(&rng) * n >> 64);
}

static gboolean apply(uint8_t code, uint64_t a, uint64_t b, uint64_t *v, GError **error)
{
	switch (code) {
	case OR: *v = a || b; return TRUE;
	case AND: *v = a && b; return TRUE;
	case EQ: *v = a == b; return TRUE;
	case NE: *v = a != b; return TRUE;
	case LT: *v = a < b; return TRUE;
	case LE: *v = a <= b; return TRUE;
	case GT: *v = a > b; return TRUE;
	case GE: *v = a >= b; return TRUE;
	case MIN2: *v = MIN(a, b); return TRUE;
	case MAX2: *v = MAX(a, b); return TRUE;
	case ADD:
		if (!__builtin_add_overflow(a, b, v))
			return TRUE;
		rf_set_data(error, "%" U64 " + %" U64 " does not fit into 64 bits", a, b);
		return FALSE;
	case SUB:
		*v = a - b;
		if (a >= b)
			return TRUE;
		rf_set_data(error, "%" U64 " - %" U64 " is negative; expected a number from 0 on", a, b);
		return FALSE;
	case MUL:
		if (!__builtin_mul_overflow(a, b, v))
			return TRUE;
		rf_set_data(error, "%" U64 " * %" U64 " does not fit into 64 bits", a, b);
		return FALSE;
	default: /* DIV, MOD */
		if (b == 0) {
			rf_set_data(error, "%" U64 " is divided by 0", a);
			return FALSE;
		}
		*v = code == DIV ? a / b : a % b;
		return TRUE;
	}
}

gboolean rf_scn_expr_value(const struct rf_scn_expr *x, const uint64_t *var, struct rf_rng *rng,
                           uint64_t *value, GError **error)
{
	const struct op *op = (const struct op *)x->ops->data, *end = op + x->ops->len;
	uint64_t stack[RF_EXPR_STACK];
	unsigned n = 0;

	for (; op < end; op++) {
		switch (op->code) {
		case NUMBER:
			stack[n++] = op->v;
			break;
		case VARIABLE:
			stack[n++] = var[op->v];
			break;
		case NOT:
			stack[n - 1] = !stack[n - 1];
			break;
		case RAND:
		case HASH:
			if (stack[n - 1] == 0) {
				rf_set_data(error, "a number below 0; expected at least 1 as the bound");
				return FALSE;
			}
			if (op->code == HASH) {
				n--;
				stack[n - 1] = hash_below(stack[n - 1], stack[n]);
			} else {
				stack[n - 1] = (uint64_t)((unsigned __int128)rf_rng_next(rng) * stack[n - 1] >> 64);
			}
			break;
		default:
			n--;
			if (!apply(op->code, stack[n - 1], stack[n], &stack[n - 1], error))
				return FALSE;
		}
	}
	*value = stack[0];
	return TRUE;
}
