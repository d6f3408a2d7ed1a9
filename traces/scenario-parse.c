/* SPDX-License-Identifier: MIT
 * Parser of scenarios: one statement a line, blocks between braces.
 */
#include <string.h>

#include "base/error.h"
#include "traces/input.h"
#include "traces/scenario-program.h"
#include "traces/scenario.h"
#include "traces/text.h"

#define NESTING 32
#define SIZE_MAX_BYTES (1u << 20)
#define VARS_MAX 1024

struct proc {
	char *name;
	GArray *arg_var;
	struct rf_scn_stmt *body;
};

struct parser {
	struct rf_scn_names names; /* first: find and list get it */
	struct rf_input *in;
	struct rf_header *header;
	struct rf_scn_program *prog;
	GPtrArray *name;      /* of variables, by number */
	struct proc *inside;  /* the definition under way, or NULL */
	const char *const *params;
	gboolean *used;       /* by params */
	unsigned depth;
	char *line;           /* without blanks around it and comment */
	uint64_t bytes;
	GError **error;
};

static const char *const statements[] = { "param", "let", "repeat", "for", "if", "choose", "parallel",
	                                  "define", "call", NULL };

/* ---- messages and names ---- */

G_GNUC_PRINTF(2, 3)
static gboolean fail(struct parser *ps, const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list ap;

	va_start(ap, format);
	message = g_strdup_vprintf(format, ap);
	va_end(ap);
	rf_set_data(ps->error, "%s:%" G_GUINT64_FORMAT ": %s", rf_input_name(ps->in),
	            rf_input_line_number(ps->in), message);
	return FALSE;
}

/* The error of something that knows no place. */
static gboolean placed(struct parser *ps, gboolean ok)
{
	if (!ok)
		g_prefix_error(ps->error, "%s:%" G_GUINT64_FORMAT ": ", rf_input_name(ps->in),
		               rf_input_line_number(ps->in));
	return ok;
}

static char *argument_name(const struct proc *proc, const char *name)
{
	return g_strconcat(proc->name, ".", name, NULL);
}

static int find_exactly(const struct parser *ps, const char *name)
{
	for (guint i = 0; i < ps->name->len; i++)
		if (strcmp(ps->name->pdata[i], name) == 0)
			return (int)i;
	return -1;
}

static int find_name(const struct rf_scn_names *names, const char *name)
{
	const struct parser *ps = (const struct parser *)names;
	int var = -1;

	if (ps->inside) {
		g_autofree char *full = argument_name(ps->inside, name);

		var = find_exactly(ps, full);
	}
	return var >= 0 ? var : find_exactly(ps, name);
}

static const char **list_names(const struct rf_scn_names *names)
{
	const struct parser *ps = (const struct parser *)names;
	const char **list = g_new0(const char *, ps->name->len + 1);

	for (guint i = 0; i < ps->name->len; i++)
		list[i] = ps->name->pdata[i];
	return list;
}

/* The variable of this name, made if need be; -1 and an error when there are too many. */
static int variable(struct parser *ps, const char *name)
{
	int var = find_name(&ps->names, name);

	if (var >= 0)
		return var;
	if (ps->name->len == VARS_MAX) {
		fail(ps, "'%s' is one name too many; expected at most %d", name, VARS_MAX);
		return -1;
	}
	g_ptr_array_add(ps->name, g_strdup(name));
	return (int)ps->name->len - 1;
}

/* ---- words of a statement ---- */

static void skip(const char **p)
{
	while (**p == ' ' || **p == '\t')
		(*p)++;
}

/* An identifier, or an error. */
static char *identifier(struct parser *ps, const char **p, const char *what)
{
	const char *start;

	skip(p);
	start = *p;
	while (g_ascii_isalnum(**p) || **p == '_')
		(*p)++;
	if (*p > start && !g_ascii_isdigit(*start))
		return g_strndup(start, (gsize)(*p - start));
	fail(ps, "'%s'; expected %s", start, what);
	return NULL;
}

/* The word, if it stands here as a whole. */
static gboolean keyword(const char **p, const char *word)
{
	size_t n = strlen(word);

	skip(p);
	if (strncmp(*p, word, n) != 0 || g_ascii_isalnum((*p)[n]) || (*p)[n] == '_')
		return FALSE;
	*p += n;
	return TRUE;
}

static gboolean punctuation(struct parser *ps, const char **p, const char *text)
{
	skip(p);
	if (!g_str_has_prefix(*p, text))
		return fail(ps, "'%s'; expected '%s'", *p, text);
	*p += strlen(text);
	return TRUE;
}

static gboolean line_end(struct parser *ps, const char *p)
{
	skip(&p);
	return *p == 0 || fail(ps, "'%s' follows; expected the end of the line", p);
}

/* An expression up to one of the characters in until, or the end of the line. */
static struct rf_scn_expr *expression(struct parser *ps, const char **p, const char *until)
{
	struct rf_scn_expr *x = rf_scn_expr_parse(*p, until, p, &ps->names, ps->error);

	placed(ps, x != NULL);
	return x;
}

/* "{" at the end of the line. */
static gboolean open_brace(struct parser *ps, const char *p)
{
	return punctuation(ps, &p, "{") && line_end(ps, p);
}

/* ---- the tree ---- */

static void stmt_free(struct rf_scn_stmt *s);

static void piece_clear(void *data)
{
	struct rf_scn_piece *piece = data;

	g_free(piece->text);
	rf_scn_expr_free(piece->x);
}

static void arm_clear(void *data)
{
	struct rf_scn_arm *arm = data;

	rf_scn_expr_free(arm->x);
	rf_scn_expr_free(arm->x2);
	stmt_free(arm->body);
}

static void stmt_free(struct rf_scn_stmt *s)
{
	while (s) {
		struct rf_scn_stmt *next = s->next;

		for (unsigned i = 0; i < G_N_ELEMENTS(s->x); i++)
			rf_scn_expr_free(s->x[i]);
		if (s->pieces)
			g_array_unref(s->pieces);
		if (s->kind == RF_SCN_CALL && s->arms) /* a body that is only borrowed */
			g_array_index(s->arms, struct rf_scn_arm, 0).body = NULL;
		if (s->arms)
			g_array_unref(s->arms);
		if (s->arg_var)
			g_array_unref(s->arg_var);
		if (s->arg)
			g_ptr_array_unref(s->arg);
		g_free(s);
		s = next;
	}
}

static void proc_free(void *data)
{
	struct proc *proc = data;

	g_free(proc->name);
	g_array_unref(proc->arg_var);
	stmt_free(proc->body);
	g_free(proc);
}

static struct rf_scn_stmt *stmt_new(struct parser *ps, enum rf_scn_kind kind)
{
	struct rf_scn_stmt *s = g_new0(struct rf_scn_stmt, 1);

	s->kind = kind;
	s->line = (uint32_t)rf_input_line_number(ps->in);
	s->var = -1;
	return s;
}

/* A new arm, the last one. */
static struct rf_scn_arm *arm_new(struct rf_scn_stmt *s)
{
	struct rf_scn_arm arm = { .var = -1 };

	if (!s->arms) {
		s->arms = g_array_new(FALSE, FALSE, sizeof(arm));
		g_array_set_clear_func(s->arms, arm_clear);
	}
	g_array_append_val(s->arms, arm);
	return &g_array_index(s->arms, struct rf_scn_arm, s->arms->len - 1);
}

/* ---- lines ---- */

/* 1 a line that is not empty, 0 the end, -1 error. */
static int next_line(struct parser *ps)
{
	for (;;) {
		size_t len;
		int got = rf_input_line(ps->in, &ps->line, &len, ps->error);
		char *comment;

		if (got <= 0)
			return got;
		ps->bytes += len + 1;
		if (ps->bytes > SIZE_MAX_BYTES) {
			fail(ps, "the scenario is over 1 MiB; expected a compact one");
			return -1;
		}
		comment = strchr(ps->line, '#');
		if (comment)
			*comment = 0;
		g_strstrip(ps->line);
		if (*ps->line)
			return 1;
	}
}

/* The statements up to a line that begins with "}", which *rest then shows from there on. */
static gboolean block(struct parser *ps, struct rf_scn_stmt **list, const char **rest);
static gboolean statement(struct parser *ps, struct rf_scn_stmt **out);

/* A block whose last line has nothing but its brace. */
static gboolean whole_block(struct parser *ps, struct rf_scn_stmt **list)
{
	const char *rest;

	return block(ps, list, &rest) && line_end(ps, rest);
}

static gboolean block(struct parser *ps, struct rf_scn_stmt **list, const char **rest)
{
	uint64_t began = rf_input_line_number(ps->in);

	if (++ps->depth > NESTING)
		return fail(ps, "blocks nest too deep; expected at most %d levels", NESTING);
	for (;;) {
		int got = next_line(ps);

		if (got == 0)
			return fail(ps, "the block of line %" G_GUINT64_FORMAT " has no end; expected '}'",
			            began);
		if (got < 0)
			return FALSE;
		if (*ps->line == '}') {
			*rest = ps->line + 1;
			ps->depth--;
			return TRUE;
		}
		if (!statement(ps, list))
			return FALSE;
		while (*list)
			list = &(*list)->next;
	}
}

/* ---- events: lines of the text form ---- */

/* Which words are addresses: bit n for the nth after the event's name. */
static unsigned address_words(const char *event)
{
	static const char *const one[] = { "mmap", "munmap", "mprotect", "madvise", "mlock", "munlock",
		                           "vrange", "R", "W", "X", NULL };

	if (strcmp(event, "mremap") == 0)
		return 1u << 2 | 1u << 4;
	return g_strv_contains(one, event) ? 1u << 2 : 0;
}

/* What follows a "$": a name, or an expression in parentheses. */
static struct rf_scn_expr *substitution(struct parser *ps, const char **p)
{
	g_autofree char *name = NULL;
	struct rf_scn_expr *x;
	const char *end;

	if (**p != '(') {
		end = name = identifier(ps, p, "a name or '(' after '$'");
		return name ? expression(ps, &end, "") : NULL;
	}
	(*p)++;
	x = rf_scn_expr_parse(*p, ")", &end, &ps->names, ps->error);
	if (!placed(ps, x != NULL))
		return NULL;
	if (*end != ')') {
		fail(ps, "'$(%s' has no end; expected ')'", *p);
		rf_scn_expr_free(x);
		return NULL;
	}
	*p = end + 1;
	return x;
}

static gboolean is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static gboolean event_pieces(struct parser *ps, GArray *pieces, unsigned addresses)
{
	const char *p = ps->line, *start = p;
	unsigned word = 0;

	for (;;) {
		struct rf_scn_piece piece = { 0 };
		gboolean begins;

		for (; *p && *p != '$'; p++)
			if (is_blank(*p) && !is_blank(p[1]))
				word++;
		piece.text = g_strndup(start, (gsize)(p - start));
		if (*p == 0) {
			g_array_append_val(pieces, piece);
			return TRUE;
		}
		begins = p > ps->line && is_blank(p[-1]);
		p++;
		piece.x = substitution(ps, &p);
		piece.hex = word < 32 && (addresses >> word & 1);
		g_array_append_val(pieces, piece);
		if (!piece.x)
			return FALSE;
		if (piece.hex && (!begins || (*p && !is_blank(*p))))
			return fail(ps, "an address of several parts; expected one number, $NAME or $(EXPRESSION)");
		start = p;
	}
}

/* A field of an access: a plain number, or a substitution. */
static struct rf_scn_expr *field(struct parser *ps, const char **p, gboolean address, const char *what)
{
	g_autofree char *plain = NULL;
	struct rf_scn_expr *x;
	const char *start, *none;

	skip(p);
	if (**p == 0) {
		fail(ps, "the line ends early; expected %s", what);
		return NULL;
	}
	if (**p == '$') {
		(*p)++;
		x = substitution(ps, p);
		if (x && **p && !is_blank(**p)) {
			fail(ps, "'%s' behind a number; expected a blank", *p);
			rf_scn_expr_free(x);
			x = NULL;
		}
		return x;
	}
	start = *p;
	while (**p && !is_blank(**p))
		(*p)++;
	plain = g_strndup(start, (gsize)(*p - start));
	if (address && !g_str_has_prefix(plain, "0x") && !g_str_has_prefix(plain, "0X")) {
		char *hex = g_strconcat("0x", plain, NULL);

		g_free(plain);
		plain = hex;
	}
	if (!g_ascii_isdigit(*plain)) {
		fail(ps, "'%s'; expected %s", plain, what);
		return NULL;
	}
	none = plain;
	return expression(ps, &none, "");
}

static gboolean access_statement(struct parser *ps, struct rf_scn_stmt *s)
{
	static const char letters[] = "RWX";
	const char *p = ps->line + 1;

	s->type = (enum rf_access)(strchr(letters, ps->line[0]) - letters);
	s->x[0] = field(ps, &p, FALSE, "a task's number");
	s->x[1] = s->x[0] ? field(ps, &p, TRUE, "an address") : NULL;
	if (!s->x[1])
		return FALSE;
	skip(&p);
	if (*p == 0)
		return TRUE;
	s->x[2] = field(ps, &p, FALSE, "a length");
	return s->x[2] && line_end(ps, p);
}

static gboolean event_statement(struct parser *ps, struct rf_scn_stmt *s)
{
	const char *names[RF_NEVENTS + RF_NACCESS + G_N_ELEMENTS(statements)] = { "R", "W", "X" };
	g_autofree char *event = g_strndup(ps->line, strcspn(ps->line, " \t"));
	unsigned n = RF_NACCESS;
	const char *near;

	for (unsigned k = 0; k < RF_NEVENTS; k++)
		names[n++] = rf_event_kind_name(k);
	if (!g_strv_contains(names, event)) {
		for (unsigned i = 0; statements[i]; i++)
			names[n++] = statements[i];
		near = rf_nearest(event, names);
		if (near)
			return fail(ps, "unknown event or statement '%s'; did you mean %s?", event, near);
		return fail(ps, "unknown event or statement '%s'; expected an event of the text form, or "
		            "repeat, for, if, choose, parallel, call, let", event);
	}
	s->pieces = g_array_new(FALSE, FALSE, sizeof(struct rf_scn_piece));
	g_array_set_clear_func(s->pieces, piece_clear);
	return event_pieces(ps, s->pieces, address_words(event));
}

/* ---- statements, each from behind its keyword ---- */

static const char *override(struct parser *ps, const char *name)
{
	size_t n = strlen(name);
	const char *value = NULL;

	for (unsigned i = 0; ps->params && ps->params[i]; i++)
		if (strncmp(ps->params[i], name, n) == 0 && ps->params[i][n] == '=') {
			ps->used[i] = TRUE;
			value = ps->params[i] + n + 1; /* the last one counts */
		}
	return value;
}

/* Grow the table of values to all names so far. */
static void grow_values(struct parser *ps)
{
	struct rf_scn_program *prog = ps->prog;

	prog->var = g_renew(uint64_t, prog->var, ps->name->len);
	for (; prog->nvars < ps->name->len; prog->nvars++)
		prog->var[prog->nvars] = 0;
}

static gboolean param_statement(struct parser *ps, const char *p)
{
	g_autofree char *name = identifier(ps, &p, "the parameter's name");
	struct rf_rng rng = { ps->prog->seed };
	struct rf_scn_expr *x;
	const char *given;
	gboolean ok;
	int var;

	if (!name || !punctuation(ps, &p, "="))
		return FALSE;
	/* Later ones could see what does not have its value yet. */
	if (ps->depth > 0 || ps->prog->body || ps->prog->procs->len)
		return fail(ps, "param %s after a statement; expected parameters before the first one", name);
	if (find_exactly(ps, name) >= 0 || strcmp(name, "seed") == 0)
		return fail(ps, "param %s: the name is taken; expected a new one", name);
	x = expression(ps, &p, "");
	if (!x)
		return FALSE;
	given = override(ps, name);
	if (given) {
		rf_scn_expr_free(x);
		x = rf_scn_expr_parse(given, "", &p, &ps->names, ps->error);
		if (!x) {
			g_prefix_error(ps->error, "parameter %s=%s: ", name, given);
			return FALSE;
		}
	}
	grow_values(ps);
	var = variable(ps, name);
	if (var >= 0)
		grow_values(ps);
	ok = var >= 0 && placed(ps, rf_scn_expr_value(x, ps->prog->var, &rng, &ps->prog->var[var], ps->error));
	rf_scn_expr_free(x);
	if (ok) { /* so that the trace says what it was made with */
		g_autofree char *key = g_strconcat("param.", name, NULL);
		g_autofree char *value = g_strdup_printf("%" G_GUINT64_FORMAT, ps->prog->var[var]);

		rf_header_set(ps->header, key, value);
	}
	return ok;
}

static gboolean let_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	g_autofree char *name = identifier(ps, &p, "a variable's name");

	if (!name || !punctuation(ps, &p, "="))
		return FALSE;
	s->x[0] = expression(ps, &p, "");
	if (!s->x[0])
		return FALSE;
	s->var = variable(ps, name);
	return s->var >= 0;
}

/* "NAME in A .. B" of a loop or of strands; the name is known only from then on. */
static gboolean range(struct parser *ps, const char **p, int *var, struct rf_scn_expr **from,
                      struct rf_scn_expr **to)
{
	g_autofree char *name = identifier(ps, p, "a variable's name");
	g_autofree char *before = NULL;
	const char *dots, *none;

	if (!name)
		return FALSE;
	if (!keyword(p, "in"))
		return fail(ps, "'%s'; expected 'in' and a range such as 0 .. 10", *p);
	skip(p);
	dots = strstr(*p, "..");
	if (!dots)
		return fail(ps, "'%s'; expected a range such as 0 .. 10", *p);
	none = before = g_strndup(*p, (gsize)(dots - *p));
	*from = expression(ps, &none, "");
	*p = dots + 2;
	if (*from)
		*to = expression(ps, p, "{s"); /* s: of step */
	if (!*from || !*to)
		return FALSE;
	*var = variable(ps, name);
	return *var >= 0;
}

static gboolean repeat_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	s->x[1] = expression(ps, &p, "{");
	return s->x[1] && open_brace(ps, p) && whole_block(ps, &arm_new(s)->body);
}

static gboolean for_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	if (!range(ps, &p, &s->var, &s->x[0], &s->x[1]))
		return FALSE;
	if (keyword(&p, "step")) {
		s->x[2] = expression(ps, &p, "{");
		if (!s->x[2])
			return FALSE;
	}
	return open_brace(ps, p) && whole_block(ps, &arm_new(s)->body);
}

/* if X { … } else if X { … } else { … } */
static gboolean if_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	for (;;) {
		struct rf_scn_arm *arm = arm_new(s);

		arm->x = expression(ps, &p, "{");
		if (!arm->x || !open_brace(ps, p) || !block(ps, &arm->body, &p))
			return FALSE;
		if (!keyword(&p, "else"))
			return line_end(ps, p);
		if (!keyword(&p, "if"))
			return open_brace(ps, p) && whole_block(ps, &arm_new(s)->body);
	}
}

/* choose WEIGHT { … } or WEIGHT { … } */
static gboolean choose_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	do {
		struct rf_scn_arm *arm = arm_new(s);

		arm->x = expression(ps, &p, "{");
		if (!arm->x || !open_brace(ps, p) || !block(ps, &arm->body, &p))
			return FALSE;
	} while (keyword(&p, "or"));
	return line_end(ps, p);
}

/* parallel [NAME in A .. B] { … } with [NAME in A .. B] { … } */
static gboolean parallel_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	do {
		struct rf_scn_arm *arm = arm_new(s);

		skip(&p);
		if (*p != '{' && !range(ps, &p, &arm->var, &arm->x, &arm->x2))
			return FALSE;
		if (!open_brace(ps, p) || !block(ps, &arm->body, &p))
			return FALSE;
	} while (keyword(&p, "with"));
	return line_end(ps, p);
}

static struct proc *find_proc(struct parser *ps, const char *name)
{
	for (guint i = 0; i < ps->prog->procs->len; i++) {
		struct proc *proc = ps->prog->procs->pdata[i];

		if (strcmp(proc->name, name) == 0)
			return proc;
	}
	return NULL;
}

/* define NAME [ARGUMENT]... { … } */
static gboolean define_statement(struct parser *ps, const char *p)
{
	g_autofree char *name = identifier(ps, &p, "a name for the statements");
	struct proc *proc;
	gboolean ok = TRUE;

	if (!name)
		return FALSE;
	if (ps->depth > 0)
		return fail(ps, "define %s inside a block; expected it outside", name);
	if (find_proc(ps, name))
		return fail(ps, "%s is defined twice", name);
	proc = g_new0(struct proc, 1);
	proc->name = g_steal_pointer(&name);
	proc->arg_var = g_array_new(FALSE, FALSE, sizeof(int));
	while (ok && (skip(&p), *p && *p != '{')) {
		g_autofree char *arg = identifier(ps, &p, "the name of an argument, or '{'");
		g_autofree char *full = arg ? argument_name(proc, arg) : NULL;
		int var = full && find_exactly(ps, full) < 0 ? variable(ps, full) : -1;

		if (full && var < 0 && !*ps->error)
			fail(ps, "define %s: argument %s twice", proc->name, arg);
		ok = var >= 0;
		g_array_append_val(proc->arg_var, var);
	}
	ps->inside = proc;
	ok = ok && open_brace(ps, p) && whole_block(ps, &proc->body);
	ps->inside = NULL;
	/* Only from here on: it can't call itself. */
	g_ptr_array_add(ps->prog->procs, proc);
	return ok;
}

/* call NAME [VALUE[, VALUE]...] */
static gboolean call_statement(struct parser *ps, struct rf_scn_stmt *s, const char *p)
{
	g_autofree char *name = identifier(ps, &p, "what to call");
	struct proc *proc = name ? find_proc(ps, name) : NULL;

	if (!name)
		return FALSE;
	if (!proc)
		return fail(ps, "call %s: no such definition; expected one that ends before", name);
	s->arg_var = g_array_ref(proc->arg_var);
	s->arg = g_ptr_array_new_with_free_func((GDestroyNotify)rf_scn_expr_free);
	arm_new(s)->body = proc->body;
	for (guint i = 0; i < proc->arg_var->len; i++) {
		struct rf_scn_expr *x;

		if (i > 0 && !punctuation(ps, &p, ","))
			return FALSE;
		x = expression(ps, &p, ",");
		if (!x)
			return FALSE;
		g_ptr_array_add(s->arg, x);
	}
	return line_end(ps, p);
}

static gboolean statement_of(struct parser *ps, struct rf_scn_stmt *s)
{
	static const struct {
		const char *word;
		enum rf_scn_kind kind;
		gboolean (*parse)(struct parser *ps, struct rf_scn_stmt *s, const char *p);
	} table[] = {
		{ "let", RF_SCN_LET, let_statement },
		{ "repeat", RF_SCN_LOOP, repeat_statement },
		{ "for", RF_SCN_LOOP, for_statement },
		{ "if", RF_SCN_BRANCH, if_statement },
		{ "choose", RF_SCN_CHOICE, choose_statement },
		{ "parallel", RF_SCN_PARALLEL, parallel_statement },
		{ "call", RF_SCN_CALL, call_statement },
	};
	const char *p = ps->line;

	if (strchr("RWX", *p) && (p[1] == 0 || is_blank(p[1]))) {
		s->kind = RF_SCN_ACCESS;
		return access_statement(ps, s);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
		if (keyword(&p, table[i].word)) {
			s->kind = table[i].kind;
			return table[i].parse(ps, s, p);
		}
	s->kind = RF_SCN_EVENT;
	return event_statement(ps, s);
}

/* *out stays NULL for what is done at once. */
static gboolean statement(struct parser *ps, struct rf_scn_stmt **out)
{
	const char *p = ps->line;

	if (keyword(&p, "param"))
		return param_statement(ps, p);
	if (keyword(&p, "define"))
		return define_statement(ps, p);
	if (*p == '{' || *p == '}')
		return fail(ps, "'%s'; expected a statement", p);
	*out = stmt_new(ps, RF_SCN_EVENT);
	return statement_of(ps, *out);
}

/* ---- the whole ---- */

static gboolean header(struct parser *ps)
{
	const char *seed, *given = override(ps, "seed");
	size_t len;
	char *line;
	int got = rf_input_line(ps->in, &line, &len, ps->error);

	if (got < 0)
		return FALSE;
	if (got == 0 || !g_str_has_prefix(line, RF_SCENARIO_MAGIC))
		return fail(ps, "no header; expected '" RF_SCENARIO_MAGIC " 1'");
	if (!rf_text_header_line(rf_input_name(ps->in), RF_SCENARIO_MAGIC, line, rf_input_line_number(ps->in),
	                         ps->header, ps->error))
		return FALSE;
	if (given)
		rf_header_set(ps->header, "seed", given);
	seed = rf_header_get(ps->header, "seed");
	ps->prog->seed = 1;
	if (seed && !g_ascii_string_to_unsigned(seed, 10, 0, UINT64_MAX, &ps->prog->seed, NULL))
		return fail(ps, "seed=%s; expected a decimal number", seed);
	return TRUE;
}

static gboolean all_used(struct parser *ps)
{
	g_autofree const char **all = list_names(&ps->names);

	for (unsigned i = 0; ps->params && ps->params[i]; i++) {
		g_autofree char *name = NULL;
		const char *near;

		if (ps->used[i])
			continue;
		name = g_strndup(ps->params[i], strcspn(ps->params[i], "="));
		near = rf_nearest(name, all);
		rf_set_usage(ps->error, "%s: has no parameter %s%s%s%s", rf_input_name(ps->in), name,
		             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		return FALSE;
	}
	return TRUE;
}

static gboolean parse(struct parser *ps)
{
	struct rf_scn_stmt **list = &ps->prog->body;
	int got;

	if (!header(ps))
		return FALSE;
	while ((got = next_line(ps)) > 0) {
		if (!statement(ps, list))
			return FALSE;
		while (*list)
			list = &(*list)->next;
	}
	grow_values(ps);
	return got == 0 && all_used(ps);
}

struct rf_scn_program *rf_scn_parse(struct rf_input *in, struct rf_header *h,
                                    const char *const *params, GError **error)
{
	GError *e = NULL;
	struct parser ps = {
		.names = { find_name, list_names }, .in = in, .header = h, .params = params, .error = &e,
	};
	struct rf_scn_program *prog = g_new0(struct rf_scn_program, 1);
	gboolean ok;

	prog->name = g_strdup(rf_input_name(in));
	prog->procs = g_ptr_array_new_with_free_func(proc_free);
	ps.prog = prog;
	ps.name = g_ptr_array_new_with_free_func(g_free);
	ps.used = g_new0(gboolean, params ? g_strv_length((char **)params) + 1 : 1);
	ok = parse(&ps);
	g_ptr_array_unref(ps.name);
	g_free(ps.used);
	if (ok)
		return prog;
	g_propagate_error(error, e);
	rf_scn_program_free(prog);
	return NULL;
}

void rf_scn_program_free(struct rf_scn_program *p)
{
	stmt_free(p->body); /* before what its calls borrow */
	g_ptr_array_unref(p->procs);
	g_free(p->var);
	g_free(p->name);
	g_free(p);
}
