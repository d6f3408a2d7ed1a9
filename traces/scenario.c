/* SPDX-License-Identifier: MIT
 * Runs a scenario: strands, each with its place in the program and variables of its own, take turns
 * line by line.
 */
#include "traces/scenario.h"

#include <string.h>

#include "base/error.h"
#include "traces/builder.h"
#include "traces/event.h"
#include "traces/scenario-program.h"
#include "traces/text.h"

#define U64 G_GUINT64_FORMAT
#define STRANDS_MAX 65536
#define IDLE_MAX 10000000 /* statements in a row that write nothing */

/* A body under way, in a loop or once. */
struct frame {
	const struct rf_scn_stmt *next;
	const struct rf_scn_stmt *body;
	int var;
	uint64_t i, end, step;
};

struct strand {
	struct strand *next; /* of the ring of those that run */
	struct strand *parent;
	unsigned children;   /* it waits for so many */
	GArray *frames;      /* struct frame */
	uint64_t *var;
	struct rf_rng rng;
};

struct scenario {
	struct rf_scn_program *prog;
	struct rf_text *text;
	GString *line;
	struct strand *last; /* of the ring: its next one has the turn; NULL: all ended */
	unsigned nstrands;
	uint64_t started, idle;
};

/* ---- strands ---- */

static void push(struct strand *st, const struct rf_scn_stmt *body, int var, uint64_t from, uint64_t end,
                 uint64_t step)
{
	struct frame f = { body, body, var, from, end, step };

	if (from >= end || !body)
		return;
	if (var >= 0)
		st->var[var] = from;
	g_array_append_val(st->frames, f);
}

/* Strands have numbers of their own, which seed what is random in them. */
static struct strand *strand_new(struct scenario *sc, struct strand *parent, const uint64_t *var)
{
	struct strand *st = g_new0(struct strand, 1);
	unsigned n = sc->prog->nvars;

	st->frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
	st->var = g_new(uint64_t, n + 1);
	if (n)
		memcpy(st->var, var, n * sizeof(*var));
	st->rng.s = sc->prog->seed + sc->started++ * UINT64_C(0xD1B54A32D192ED03);
	st->parent = parent;
	if (sc->last) { /* at the end of the round */
		st->next = sc->last->next;
		sc->last->next = st;
	} else {
		st->next = st;
	}
	sc->last = st;
	sc->nstrands++;
	return st;
}

static void strand_free(struct strand *st)
{
	g_array_unref(st->frames);
	g_free(st->var);
	g_free(st);
}

/* Take the strand that has the turn out of the ring. */
static struct strand *unlink_first(struct scenario *sc)
{
	struct strand *st = sc->last->next;

	if (st == sc->last)
		sc->last = NULL;
	else
		sc->last->next = st->next;
	return st;
}

static void strand_end(struct scenario *sc)
{
	struct strand *st = unlink_first(sc), *parent = st->parent;

	if (parent && --parent->children == 0) {
		parent->next = sc->last ? sc->last->next : parent;
		if (sc->last)
			sc->last->next = parent;
		sc->last = parent;
	}
	sc->nstrands--;
	strand_free(st);
}

/* ---- statements ---- */

static gboolean placed(const struct scenario *sc, const struct rf_scn_stmt *s, gboolean ok, GError **error)
{
	if (!ok)
		g_prefix_error(error, "%s:%u: ", sc->prog->name, s->line);
	return ok;
}

static gboolean value(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                      const struct rf_scn_expr *x, uint64_t *v, GError **error)
{
	return placed(sc, s, rf_scn_expr_value(x, st->var, &st->rng, v, error), error);
}

static gboolean do_access(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                          struct rf_builder *b, GError **error)
{
	uint64_t tid, addr, len = 1;

	if (!value(sc, s, st, s->x[0], &tid, error) || !value(sc, s, st, s->x[1], &addr, error) ||
	    (s->x[2] && !value(sc, s, st, s->x[2], &len, error)))
		return FALSE;
	if (tid > UINT32_MAX) {
		rf_set_data(error, "%s:%u: task %" U64 "; expected a number of 32 bits", sc->prog->name,
		            s->line, tid);
		return FALSE;
	}
	if (!placed(sc, s, rf_range_check(addr, len, "the access", error), error))
		return FALSE;
	rf_builder_access(b, (uint32_t)tid, s->type, addr, len, 1);
	if (rf_builder_error(b))
		return placed(sc, s, (g_propagate_error(error, g_error_copy(rf_builder_error(b))), FALSE), error);
	return TRUE;
}

/* Put the line together, then read it as one of a text trace. */
static gboolean do_event(struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                         struct rf_builder *b, GError **error)
{
	g_autofree char *shown = NULL;

	g_string_truncate(sc->line, 0);
	for (guint i = 0; i < s->pieces->len; i++) {
		const struct rf_scn_piece *piece = &g_array_index(s->pieces, struct rf_scn_piece, i);
		char number[24];
		uint64_t v;

		g_string_append(sc->line, piece->text);
		if (!piece->x)
			continue;
		if (!value(sc, s, st, piece->x, &v, error))
			return FALSE;
		g_snprintf(number, sizeof(number), piece->hex ? "0x%" G_GINT64_MODIFIER "x" : "%" U64, v);
		g_string_append(sc->line, number);
	}
	/* Reading cuts the line up; the message is for somebody who sees what was computed. */
	if (s->pieces->len > 1)
		shown = g_strdup(sc->line->str);
	if (rf_text_line(sc->text, b, sc->line->str, s->line, error))
		return TRUE;
	if (shown && error && *error) {
		char *message = g_strdup_printf("%s (in '%s')", (*error)->message, shown);

		g_free((*error)->message);
		(*error)->message = message;
	}
	return FALSE;
}

static gboolean do_loop(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                        GError **error)
{
	const struct rf_scn_arm *arm = &g_array_index(s->arms, struct rf_scn_arm, 0);
	uint64_t from = 0, to, step = 1;

	if ((s->x[0] && !value(sc, s, st, s->x[0], &from, error)) ||
	    !value(sc, s, st, s->x[1], &to, error) ||
	    (s->x[2] && !value(sc, s, st, s->x[2], &step, error)))
		return FALSE;
	if (step == 0) {
		rf_set_data(error, "%s:%u: step 0; expected at least 1", sc->prog->name, s->line);
		return FALSE;
	}
	push(st, arm->body, s->var, from, to, step);
	return TRUE;
}

static gboolean do_branch(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                          GError **error)
{
	for (guint i = 0; i < s->arms->len; i++) {
		const struct rf_scn_arm *arm = &g_array_index(s->arms, struct rf_scn_arm, i);
		uint64_t yes = 1;

		if (arm->x && !value(sc, s, st, arm->x, &yes, error))
			return FALSE;
		if (yes) {
			push(st, arm->body, -1, 0, 1, 1);
			return TRUE;
		}
	}
	return TRUE;
}

static gboolean do_choice(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                          GError **error)
{
	uint64_t weight, sum = 0, pick;

	for (guint i = 0; i < s->arms->len; i++) {
		if (!value(sc, s, st, g_array_index(s->arms, struct rf_scn_arm, i).x, &weight, error))
			return FALSE;
		if (__builtin_add_overflow(sum, weight, &sum) || sum > UINT32_MAX) {
			rf_set_data(error, "%s:%u: the weights are too large; expected a sum of 32 bits",
			            sc->prog->name, s->line);
			return FALSE;
		}
	}
	if (sum == 0) {
		rf_set_data(error, "%s:%u: all weights are 0; expected a choice", sc->prog->name, s->line);
		return FALSE;
	}
	pick = rf_rng_below(&st->rng, (uint32_t)sum);
	for (guint i = 0; i < s->arms->len; i++) {
		const struct rf_scn_arm *arm = &g_array_index(s->arms, struct rf_scn_arm, i);

		/* A weight with rand() in it may differ from its first value: the last arm takes the rest. */
		if (!value(sc, s, st, arm->x, &weight, error))
			return FALSE;
		if (pick < weight || i + 1 == s->arms->len) {
			push(st, arm->body, -1, 0, 1, 1);
			break;
		}
		pick -= weight;
	}
	return TRUE;
}

/* How many strands each arm starts, and the first value of its variable. */
static gboolean count_strands(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                              uint64_t *from, uint64_t *to, uint64_t *n, GError **error)
{
	*n = 0;
	for (guint i = 0; i < s->arms->len; i++) {
		const struct rf_scn_arm *arm = &g_array_index(s->arms, struct rf_scn_arm, i);

		from[i] = 0;
		to[i] = 1;
		if (arm->x && (!value(sc, s, st, arm->x, &from[i], error) ||
		               !value(sc, s, st, arm->x2, &to[i], error)))
			return FALSE;
		if (!arm->body || to[i] < from[i])
			to[i] = from[i];
		if (to[i] - from[i] > STRANDS_MAX - sc->nstrands - *n) {
			rf_set_data(error, "%s:%u: %" U64 " more strands; expected at most %d at once",
			            sc->prog->name, s->line, to[i] - from[i], STRANDS_MAX);
			return FALSE;
		}
		*n += to[i] - from[i];
	}
	return TRUE;
}

/* The strand that has the turn starts others, and waits for them outside the ring. */
static gboolean do_parallel(struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                            GError **error)
{
	g_autofree uint64_t *from = g_new(uint64_t, s->arms->len), *to = g_new(uint64_t, s->arms->len);
	uint64_t n;

	if (!count_strands(sc, s, st, from, to, &n, error))
		return FALSE;
	if (n == 0)
		return TRUE;
	unlink_first(sc);
	st->children = (unsigned)n;
	for (guint i = 0; i < s->arms->len; i++) {
		const struct rf_scn_arm *arm = &g_array_index(s->arms, struct rf_scn_arm, i);

		for (; from[i] < to[i]; from[i]++)
			push(strand_new(sc, st, st->var), arm->body, arm->var, from[i], from[i] + 1, 1);
	}
	return TRUE;
}

static gboolean do_call(const struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                        GError **error)
{
	for (guint i = 0; i < s->arg->len; i++) {
		uint64_t v;

		if (!value(sc, s, st, s->arg->pdata[i], &v, error))
			return FALSE;
		st->var[g_array_index(s->arg_var, int, i)] = v;
	}
	push(st, g_array_index(s->arms, struct rf_scn_arm, 0).body, -1, 0, 1, 1);
	return TRUE;
}

static gboolean execute(struct scenario *sc, const struct rf_scn_stmt *s, struct strand *st,
                        struct rf_builder *b, GError **error)
{
	switch (s->kind) {
	case RF_SCN_ACCESS:
		return do_access(sc, s, st, b, error);
	case RF_SCN_EVENT:
		return do_event(sc, s, st, b, error);
	case RF_SCN_LET:
		return value(sc, s, st, s->x[0], &st->var[s->var], error);
	case RF_SCN_LOOP:
		return do_loop(sc, s, st, error);
	case RF_SCN_BRANCH:
		return do_branch(sc, s, st, error);
	case RF_SCN_CHOICE:
		return do_choice(sc, s, st, error);
	case RF_SCN_PARALLEL:
		return do_parallel(sc, s, st, error);
	case RF_SCN_CALL:
		return do_call(sc, s, st, error);
	}
	g_assert_not_reached();
}

/* The next statement of a strand, or NULL at its end. */
static const struct rf_scn_stmt *next_statement(struct strand *st)
{
	while (st->frames->len) {
		struct frame *f = &g_array_index(st->frames, struct frame, st->frames->len - 1);
		const struct rf_scn_stmt *s = f->next;

		if (s) {
			f->next = s->next;
			return s;
		}
		if (f->end - f->i > f->step) {
			f->i += f->step;
			f->next = f->body;
			if (f->var >= 0)
				st->var[f->var] = f->i;
		} else {
			g_array_set_size(st->frames, st->frames->len - 1);
		}
	}
	return NULL;
}

/* The strand that has the turn goes on to its next line; then it is another's turn. */
static gboolean turn(struct scenario *sc, struct rf_builder *b, GError **error)
{
	struct strand *st = sc->last->next;
	const struct rf_scn_stmt *s;

	while ((s = next_statement(st))) {
		if (!execute(sc, s, st, b, error))
			return FALSE;
		if (s->kind == RF_SCN_ACCESS || s->kind == RF_SCN_EVENT) {
			sc->idle = 0;
			sc->last = st;
			return TRUE;
		}
		if (++sc->idle > IDLE_MAX) {
			rf_set_data(error, "%s:%u: %d statements without an event; expected one in a while",
			            sc->prog->name, s->line, IDLE_MAX);
			return FALSE;
		}
		if (st->children)
			return TRUE;
	}
	strand_end(sc);
	return TRUE;
}

/* ---- the importer ---- */

static int scenario_probe(const uint8_t *head, size_t n)
{
	size_t len = strlen(RF_SCENARIO_MAGIC);

	return n >= len && !memcmp(head, RF_SCENARIO_MAGIC, len) ? 100 : 0;
}

static void scenario_close(void *self)
{
	struct scenario *sc = self;

	while (sc->last) {
		struct strand *st = unlink_first(sc), *parent = st->parent;

		/* Those that wait stand in no ring. */
		while (parent && --parent->children == 0) {
			struct strand *above = parent->parent;

			strand_free(parent);
			parent = above;
		}
		strand_free(st);
	}
	g_string_free(sc->line, TRUE);
	rf_text_free(sc->text);
	rf_scn_program_free(sc->prog);
	g_free(sc);
}

static void *scenario_open(struct rf_input *in, struct rf_builder *b,
                           const struct rf_source_options *opt, GError **error)
{
	struct rf_scn_program *prog = rf_scn_parse(in, rf_builder_header(b), opt->params, error);
	struct scenario *sc;

	if (!prog)
		return NULL;
	sc = g_new0(struct scenario, 1);
	sc->prog = prog;
	sc->text = rf_text_new(prog->name);
	sc->line = g_string_new(NULL);
	push(strand_new(sc, NULL, prog->var), prog->body, -1, 0, 1, 1);
	return sc;
}

static enum rf_step scenario_step(void *self, struct rf_builder *b, GError **error)
{
	struct scenario *sc = self;

	while (!rf_builder_full(b)) {
		if (!sc->last)
			return RF_STEP_END;
		if (!turn(sc, b, error))
			return RF_STEP_ERROR;
	}
	return RF_STEP_MORE;
}

/* How long a program runs is not known. */
static double scenario_progress(void *self)
{
	(void)self;
	return -1;
}

const struct rf_importer rf_scenario_importer = {
	.name = "scenario",
	.takes_params = TRUE,
	.summary = "a program that writes a trace: loops, parameters, tasks in parallel",
	.probe = scenario_probe,
	.open = scenario_open,
	.step = scenario_step,
	.close = scenario_close,
	.progress = scenario_progress,
};
