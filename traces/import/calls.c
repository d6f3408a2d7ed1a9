/* SPDX-License-Identifier: MIT */
#include "traces/import/calls.h"

#include <string.h>

#include "traces/import/fields.h"

#define UNFINISHED "<unfinished ...>"
#define RESUMED " resumed>"

struct rf_calls {
	GHashTable *unfinished; /* pid → the beginning of its call, as text */
	GString *joined;        /* a call in two lines, as one */
	GPtrArray *strings;     /* of the line in hand */
	uint64_t relative;      /* sum of times since the line before */
	gboolean differences;   /* times are such (strace -r) */
	gboolean timed;
};

struct rf_calls *rf_calls_new(void)
{
	struct rf_calls *c = g_new0(struct rf_calls, 1);

	c->unfinished = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	c->joined = g_string_new(NULL);
	c->strings = g_ptr_array_new_with_free_func(g_free);
	return c;
}

void rf_calls_free(struct rf_calls *c)
{
	if (!c)
		return;
	g_hash_table_destroy(c->unfinished);
	g_string_free(c->joined, TRUE);
	g_ptr_array_unref(c->strings);
	g_free(c);
}

/* ---- arguments ---- */

/* Names that stand for numbers that matter; the same numbers on x86, arm64 and riscv. */
static const struct { const char *name; uint64_t value; } constants[] = {
	{ "AT_FDCWD", (uint64_t)-100 },
	{ "F_DUPFD", 0 }, { "F_DUPFD_CLOEXEC", 1030 },
	{ "MADV_COLD", 20 }, { "MADV_DONTNEED", 4 }, { "MADV_FREE", 8 }, { "MADV_HUGEPAGE", 14 },
	{ "MADV_NOHUGEPAGE", 15 }, { "MADV_NORMAL", 0 }, { "MADV_PAGEOUT", 21 },
	{ "MADV_POPULATE_READ", 22 }, { "MADV_POPULATE_WRITE", 23 }, { "MADV_RANDOM", 1 },
	{ "MADV_SEQUENTIAL", 2 }, { "MADV_WILLNEED", 3 },
	{ "MAP_ANON", 0x20 }, { "MAP_ANONYMOUS", 0x20 }, { "MAP_LOCKED", 0x2000 },
	{ "MAP_POPULATE", 0x8000 }, { "MAP_SHARED", 1 }, { "MAP_SHARED_VALIDATE", 3 },
	{ "MAP_PRIVATE", 2 },
	{ "MCL_CURRENT", 1 }, { "MCL_FUTURE", 2 },
	{ "O_APPEND", 02000 }, { "O_TRUNC", 01000 },
	{ "PROT_EXEC", 4 }, { "PROT_READ", 1 }, { "PROT_WRITE", 2 },
};

/* A name, or 0 for one that does not matter here. */
static gboolean take_constant(char **s, uint64_t *value)
{
	size_t n = strspn(*s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	if (n == 0 || g_ascii_isdigit(**s))
		return FALSE;
	*value = strncmp(*s, "MADV_", 5) ? 0 : UINT32_MAX; /* other advice is of no consequence */
	for (unsigned i = 0; i < G_N_ELEMENTS(constants); i++)
		if (strlen(constants[i].name) == n && !strncmp(*s, constants[i].name, n))
			*value = constants[i].value;
	*s += n;
	return TRUE;
}

/* "PROT_READ|PROT_WRITE", 12, 0x1000, NULL. */
static gboolean take_value(char **s, uint64_t *value)
{
	uint64_t part;

	*value = 0;
	do {
		if (!rf_take_number(s, &part) && !take_constant(s, &part))
			return FALSE;
		*value |= part;
	} while (rf_take_literal(s, "|"));
	return TRUE;
}

/* A string in C's notation, perhaps cut short with "...".  NULL: no string. */
static char *take_string(char **s)
{
	char *p = *s, *end, *text;

	if (*p != '"')
		return NULL;
	for (end = p + 1; *end && *end != '"'; end++)
		if (*end == '\\' && end[1])
			end++;
	if (!*end)
		return NULL;
	*end = 0;
	text = g_strcompress(p + 1);
	*end = '"';
	*s = end + 1;
	rf_take_literal(s, "...");
	return text;
}

/* Beyond whatever an argument is made of: up to its comma or the bracket that ends them all. */
static gboolean skip_argument(char **s)
{
	unsigned depth = 0;
	char *p;

	for (p = *s; *p; p++) {
		if (*p == '"') {
			char *text = take_string(&p);

			if (!text)
				return FALSE;
			g_free(text);
			p--;
		} else if (*p == '(' || *p == '[' || *p == '{') {
			depth++;
		} else if (depth == 0 && (*p == ')' || *p == ',')) {
			*s = p;
			return TRUE;
		} else if (*p == ')' || *p == ']' || *p == '}') {
			depth--;
		}
	}
	return FALSE;
}

/* "3</lib/libc.so.6>": the path, which may hold anything but '>'. */
static void take_fd_path(struct rf_calls *c, char **s, uint64_t fd, struct rf_call_line *line)
{
	char *end;

	if (**s != '<' || !(end = strchr(*s, '>')))
		return;
	if (line->fd < 0 && fd <= INT32_MAX && (*s)[1] == '/') {
		char *path = g_strndup(*s + 1, (gsize)(end - *s - 1));

		g_ptr_array_add(c->strings, path);
		line->fd = (int32_t)fd;
		line->fd_path = path;
	}
	*s = end + 1;
}

/* "name=" of an argument that is printed with its name. */
static void skip_name(char **s)
{
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz_");

	if (n > 0 && (*s)[n] == '=')
		*s += n + 1;
}

/* What stands in the brackets, up to the last one. */
static gboolean take_arguments(struct rf_calls *c, char **s, struct rf_call_line *line)
{
	struct rf_call *call = &line->call;
	unsigned paths = 0;

	rf_take_blanks(s);
	while (!rf_take_literal(s, ")")) {
		uint64_t value = 0;
		char *text;

		skip_name(s);
		text = take_string(s);
		if (text) {
			g_ptr_array_add(c->strings, text);
			if (paths < RF_CALL_PATHS)
				call->path[paths++] = text;
		} else if (take_value(s, &value)) {
			take_fd_path(c, s, value, line);
		}
		if (call->nargs < RF_CALL_ARGS)
			call->arg[call->nargs++] = value;
		if (!skip_argument(s))
			return FALSE;
		if (rf_take_literal(s, ","))
			rf_take_blanks(s);
	}
	return TRUE;
}

/* " = 0x7f10a2c3e000", " = -1 ENOENT (…)", " = 3</etc/passwd>", " = ?". */
static gboolean take_result(char **s, struct rf_call *call)
{
	rf_take_blanks(s);
	if (!rf_take_literal(s, "= "))
		return FALSE;
	call->failed = **s == '-' || **s == '?';
	return **s == '?' || rf_take_number(s, &call->result);
}

/* ---- lines ---- */

static gboolean makes_task(const char *call)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork", NULL };

	return g_strv_contains(names, call);
}

static gboolean makes_thread(const char *text)
{
	return strstr(text, "CLONE_THREAD") ||
	       (strstr(text, "CLONE_VM") && !strstr(text, "CLONE_VFORK"));
}

gboolean rf_calls_parent(const struct rf_calls *c, uint32_t *pid, gboolean *thread)
{
	GHashTableIter it;
	gpointer key, value;

	*pid = UINT32_MAX;
	g_hash_table_iter_init(&it, c->unfinished);
	while (g_hash_table_iter_next(&it, &key, &value)) {
		g_autofree char *name = g_strndup(value, strcspn(value, "("));

		if (makes_task(name) && GPOINTER_TO_UINT(key) < *pid) {
			*pid = GPOINTER_TO_UINT(key);
			*thread = makes_thread(value);
		}
	}
	return *pid != UINT32_MAX;
}

/* "[pid  4243] " or "4243  ". */
static void take_pid(char **s, uint32_t *pid)
{
	char *p = *s;

	if (rf_take_literal(&p, "[pid ")) {
		rf_take_blanks(&p);
		if (rf_take_tid(&p, pid) && rf_take_literal(&p, "] "))
			*s = p;
	} else if (rf_take_tid(&p, pid) && (*p == ' ' || *p == '\t')) {
		*s = p;
	} else {
		*pid = 1;
	}
	rf_take_blanks(s);
}

/* "14:00:19.736806", "1722340010.118204", or since the line before "0.000232". */
static void take_time(struct rf_calls *c, char **s, struct rf_call_line *line)
{
	uint64_t h, m, ns;
	char *p = *s;

	if (rf_take_digits(&p, 10, &h) && rf_take_literal(&p, ":") && rf_take_digits(&p, 10, &m) &&
	    rf_take_literal(&p, ":") && rf_take_fraction(&p, 9, &ns) && h < 24 && m < 60 &&
	    ns < 61 * G_GUINT64_CONSTANT(1000000000)) {
		line->ns = (h * 60 + m) * 60 * 1000000000 + ns;
	} else {
		p = *s;
		if (!g_ascii_isdigit(*p) || !rf_take_fraction(&p, 9, &ns) || *p != ' ')
			return;
		if (!c->timed)
			c->differences = ns < G_GUINT64_CONSTANT(100000000) * 1000000000;
		c->relative = c->differences && ns <= UINT64_MAX - c->relative ? c->relative + ns : ns;
		line->ns = c->relative;
	}
	c->timed = line->timed = TRUE;
	*s = p;
	rf_take_blanks(s);
}

/* A call that begins at s, perhaps without its end. */
static enum rf_call_kind take_call(struct rf_calls *c, char *s, struct rf_call_line *line)
{
	struct rf_call *call = &line->call;
	char *begin = s, *cut;

	if (!rf_take_word(&s, "(", line->name, sizeof(line->name)) ||
	    strspn(line->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(line->name) ||
	    !rf_take_literal(&s, "("))
		return RF_CALL_NONE;
	call->name = line->name;
	cut = strstr(s, UNFINISHED);
	if (cut && cut[strlen(UNFINISHED)] == 0) {
		*cut = 0;
		g_hash_table_insert(c->unfinished, GUINT_TO_POINTER(line->pid),
		                    g_strchomp(g_strdup(begin)));
		return RF_CALL_OTHER;
	}
	line->thread = makes_thread(s);
	if (!take_arguments(c, &s, line))
		return RF_CALL_NONE;
	if (!take_result(&s, call)) {
		if (*s || (strcmp(line->name, "exit_group") && strcmp(line->name, "exit")))
			return RF_CALL_NONE;
	} else if (call->failed && (!strcmp(line->name, "exit_group") || !strcmp(line->name, "exit"))) {
		call->failed = FALSE; /* "= ?": it never returns */
	}
	if (makes_task(line->name))
		return call->failed || call->result == 0 ? RF_CALL_OTHER : RF_CALL_NEWTASK;
	return RF_CALL_DONE;
}

/* "<... mmap resumed>) = 0x7f10a2c3e000": with the beginning it is a line. */
static enum rf_call_kind resume(struct rf_calls *c, char *s, struct rf_call_line *line)
{
	const char *begin = g_hash_table_lookup(c->unfinished, GUINT_TO_POINTER(line->pid));
	char *rest = strstr(s, RESUMED);

	if (!rest)
		return RF_CALL_NONE;
	if (!begin)
		return RF_CALL_OTHER;
	g_string_assign(c->joined, begin);
	g_string_append(c->joined, rest + strlen(RESUMED));
	g_hash_table_remove(c->unfinished, GUINT_TO_POINTER(line->pid));
	return take_call(c, c->joined->str, line);
}

enum rf_call_kind rf_calls_line(struct rf_calls *c, char *s, struct rf_call_line *line)
{
	memset(line, 0, sizeof(*line));
	line->fd = -1;
	g_ptr_array_set_size(c->strings, 0);
	rf_take_blanks(&s);
	take_pid(&s, &line->pid);
	take_time(c, &s, line);
	if (g_str_has_prefix(s, "+++ ") && g_str_has_suffix(s, " +++"))
		return RF_CALL_EXITED;
	if (g_str_has_prefix(s, "--- ") && g_str_has_suffix(s, " ---"))
		return RF_CALL_OTHER;
	if (rf_take_literal(&s, "<... "))
		return resume(c, s, line);
	return take_call(c, s, line);
}

void rf_calls_descriptor(const struct rf_call_line *line, struct rf_process *process)
{
	if (line->fd >= 0)
		rf_process_descriptor(process, line->fd, line->fd_path);
}
