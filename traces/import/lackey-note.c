/* SPDX-License-Identifier: MIT
 * Lackey streams: everything that is no access line.
 *
 * Messages come in pieces and from several writers.  A system call is printed in two steps, so that
 * its result may follow on a later line, with other messages between; a message may follow another
 * without a line end.  Records are therefore looked for inside lines.
 */
#include "traces/import/lackey.h"

#include <string.h>

#include "base/error.h"
#include "traces/import/fields.h"
#include "traces/import/maps.h"

#define THREADS_MAX 65536

/* A system call whose result was not seen yet. */
struct pending {
	char name[32];
	char *path[RF_CALL_PATHS];
	struct rf_call call;
};

struct rf_lackey_notes {
	uint64_t pid;
	gboolean have_pid, sched;
	GHashTable *pending; /* tid → struct pending */
	uint32_t last;       /* the thread whose call was printed last */
	gboolean in_dump, have_image;
	struct rf_maps *maps; /* of the dump */
};

static void pending_free(gpointer data)
{
	struct pending *p = data;

	for (unsigned i = 0; i < RF_CALL_PATHS; i++)
		g_free(p->path[i]);
	g_free(p);
}

void rf_lackey_note_init(struct rf_lackey *l)
{
	l->notes = g_new0(struct rf_lackey_notes, 1);
	l->notes->pending = g_hash_table_new_full(NULL, NULL, NULL, pending_free);
	l->notes->maps = rf_maps_new();
}

void rf_lackey_note_clear(struct rf_lackey *l)
{
	if (!l->notes)
		return;
	g_hash_table_destroy(l->notes->pending);
	rf_maps_free(l->notes->maps);
	g_free(l->notes);
	l->notes = NULL;
}

/* ---- the address-space dump ---- */

static gboolean dump_ends(struct rf_lackey *l, GError **error)
{
	l->notes->in_dump = FALSE;
	return rf_maps_end(l->notes->maps, l->process, l->tid, error);
}

/* What follows "aspacem ". */
static gboolean dump(struct rf_lackey *l, char *s, GError **error)
{
	struct rf_lackey_notes *n = l->notes;

	if (g_str_has_prefix(s, RF_LACKEY_DUMP)) {
		if (l->maps) {
			l->maps = FALSE; /* the companion file said it all; a second dump is an
			                    execve */
			n->have_image = TRUE;
			return TRUE;
		}
		if (n->have_image && !rf_process_exec(l->process, l->tid, error))
			return FALSE;
		n->in_dump = n->have_image = TRUE;
		return TRUE;
	}
	if (!n->in_dump)
		return TRUE;
	if (!strncmp(s, ">>>", 3))
		return dump_ends(l, error);
	rf_maps_dump_line(n->maps, s);
	return TRUE;
}

/* ---- system calls ---- */

/* "(PATH)" of an argument: the bracket that ends it stands before another argument or the last
 * bracket. */
static gboolean bracketed(char **s, char **path)
{
	char *p = *s + 1, *e = p;

	while ((e = strchr(e, ')'))) {
		char *next = e + 1;
		uint64_t argument;

		rf_take_blanks(&next);
		if (*next == ',') {
			next++;
			rf_take_blanks(&next);
			if (!rf_take_number(&next, &argument))
				next = NULL;
		} else if (*next != ')') {
			next = NULL;
		}
		if (next) {
			*path = g_strndup(p, (size_t)(e - p));
			*s = e + 1;
			return TRUE;
		}
		e++;
	}
	return FALSE;
}

/* "( ARG, ARG, … )".  FALSE when it is cut short or of another shape. */
static gboolean arguments(char **s, struct pending *p)
{
	unsigned paths = 0;

	if (!rf_take_literal(s, "("))
		return FALSE;
	rf_take_blanks(s);
	if (rf_take_literal(s, ")"))
		return TRUE;
	for (;;) {
		uint64_t value;

		rf_take_blanks(s);
		if (!rf_take_number(s, &value))
			return FALSE;
		if (p->call.nargs < RF_CALL_ARGS)
			p->call.arg[p->call.nargs++] = value;
		if (**s == '(') {
			char *path;

			if (!bracketed(s, &path))
				return FALSE;
			if (paths < RF_CALL_PATHS) {
				p->path[paths] = path;
				p->call.path[paths++] = path;
			} else {
				g_free(path);
			}
		}
		rf_take_blanks(s);
		if (rf_take_literal(s, ")"))
			return TRUE;
		if (!rf_take_literal(s, ",")) {
			if (p->call.nargs)
				p->call.nargs--; /* perhaps half of a number */
			return FALSE;
		}
	}
}

/* " --> [how] Success(0xR)", and so on.  Leaves *s where other text begins. */
static gboolean result(struct rf_lackey *l, uint32_t tid, char **s, GError **error)
{
	GHashTable *all = l->notes->pending;
	struct pending *p = g_hash_table_lookup(all, GUINT_TO_POINTER(tid));
	char *q = *s;
	gboolean done = FALSE, failed = FALSE, good = TRUE;
	uint64_t value = 0;

	rf_take_blanks(&q);
	if (!rf_take_literal(&q, "-->"))
		return TRUE;
	rf_take_blanks(&q);
	if (*q == '[') {
		q += strcspn(q, "]");
		if (*q)
			q++;
		rf_take_blanks(&q);
	}
	if (rf_take_literal(&q, "...")) {
		*s = q;
		return TRUE;
	}
	failed = rf_take_literal(&q, "Failure(0x");
	if (failed || rf_take_literal(&q, "Success(0x"))
		done = rf_take_digits(&q, 16, &value) && rf_take_literal(&q, ")");
	if (!p || !done) {
		rf_builder_skipped(l->b, "system call cut short");
	} else {
		p->call.failed = failed;
		p->call.result = value;
		good = rf_process_call(l->process, tid, &p->call, error);
	}
	g_hash_table_remove(all, GUINT_TO_POINTER(tid));
	*s = q;
	return good;
}

/* "SYSCALL[PID,TID](NR) NAME ( ARGS )[sync] --> RESULT", or its beginning, or its end. */
static gboolean record(struct rf_lackey *l, char **s, GError **error)
{
	struct rf_lackey_notes *n = l->notes;
	uint64_t pid, tid, nr;
	struct pending *p;
	char *q = *s;
	size_t len;

	if (!rf_take_literal(&q, "SYSCALL[") || !rf_take_digits(&q, 10, &pid) || !rf_take_literal(&q, ",") ||
	    !rf_take_digits(&q, 10, &tid) || !rf_take_literal(&q, "](") || !rf_take_digits(&q, 10, &nr) ||
	    !rf_take_literal(&q, ")") || tid == 0 || tid > THREADS_MAX) {
		rf_builder_skipped(l->b, "system call cut short");
		*s += strlen("SYSCALL[");
		return TRUE;
	}
	*s = q;
	if (n->in_dump && !dump_ends(l, error)) /* its end was lost */
		return FALSE;
	if (n->have_pid && pid != n->pid) {
		rf_set_data(
			error,
			"system calls of two processes, %" G_GUINT64_FORMAT
			" and %" G_GUINT64_FORMAT
			", whose accesses can't be told apart; record with "
			"--child-silent-after-fork=yes, or a file a process (--log-file=NAME.%%p)",
			n->pid, pid);
		return FALSE;
	}
	n->pid = pid;
	n->have_pid = TRUE;
	n->last = (uint32_t)tid;
	if (!n->sched && l->tid != tid) {
		l->tid = (uint32_t)tid;
		if (!rf_process_task(l->process, l->tid, error))
			return FALSE;
	}
	rf_take_blanks(s);
	if (rf_take_literal(s, "... [async]"))
		return result(l, (uint32_t)tid, s, error);

	if (g_hash_table_contains(n->pending, GUINT_TO_POINTER((guint)tid)))
		rf_builder_skipped(l->b, "system call without a result");
	p = g_new0(struct pending, 1);
	g_hash_table_replace(n->pending, GUINT_TO_POINTER((guint)tid), p);
	if (!rf_take_literal(s, "sys_"))
		rf_take_literal(s, "old_");
	len = strspn(*s, "abcdefghijklmnopqrstuvwxyz0123456789_");
	if (len >= sizeof(p->name))
		return TRUE;
	memcpy(p->name, *s, len);
	p->call.name = p->name;
	*s += len;
	if (**s == '[') /* "fcntl[ARG3=='lock']" */
		*s += strcspn(*s, "]") + (strchr(*s, ']') != NULL);
	rf_take_blanks(s);
	if (arguments(s, p)) {
		rf_take_literal(s, "[sync]");
		q = *s;
		rf_take_blanks(&q);
	} else {
		/* a call printed in a way of its own: only its end matters */
		char *next = strstr(*s, "SYSCALL[");

		q = strstr(*s, "-->");
		if (next && next < q)
			q = NULL;
	}
	if (!q || strncmp(q, "-->", 3))
		return TRUE;
	*s = q;
	return result(l, (uint32_t)tid, s, error);
}

/* ---- the rest ---- */

/* "extending a stack base 0xA down by N new base 0xB" */
static gboolean stack_growth(struct rf_lackey *l, char *s, GError **error)
{
	uint64_t old, by, base;

	if (!rf_take_number(&s, &old) || !rf_take_literal(&s, " down by ") || !rf_take_number(&s, &by) ||
	    !rf_take_literal(&s, " new base ") || !rf_take_number(&s, &base) || base >= old) {
		rf_builder_skipped(l->b, "stack growth cut short");
		return TRUE;
	}
	return rf_process_map(l->process, l->tid, base, old - base, RF_PROT_R | RF_PROT_W, NULL, 0,
	                      "[stack]", error);
}

/* "SCHED[2]:  acquired lock (…)" */
static gboolean schedule(struct rf_lackey *l, char *s, GError **error)
{
	uint64_t tid;

	if (!rf_take_digits(&s, 10, &tid) || !rf_take_literal(&s, "]:") || tid == 0 || tid > THREADS_MAX)
		return TRUE;
	rf_take_blanks(&s);
	if (!rf_take_literal(&s, "acquired lock"))
		return TRUE;
	l->notes->sched = TRUE;
	l->tid = (uint32_t)tid;
	return rf_process_task(l->process, l->tid, error);
}

/* Text without the beginning of a system call in it. */
static gboolean chatter(struct rf_lackey *l, char *s, GError **error)
{
	static const char growth[] = "extending a stack base ";
	char *p = s;

	rf_take_blanks(&p);
	if (!strncmp(p, "--> ", 4)) {
		/* the result of the call printed last; other messages came between */
		if (!result(l, l->notes->last, &p, error))
			return FALSE;
		s = p;
		rf_take_blanks(&p);
	}
	if (!*p)
		return TRUE;
	if ((p = strstr(s, " aspacem ")))
		return dump(l, p + strlen(" aspacem "), error);
	if ((p = strstr(s, growth)))
		return stack_growth(l, p + strlen(growth), error);
	if ((p = strstr(s, "SCHED[")))
		return schedule(l, p + strlen("SCHED["), error);
	if (!rf_lackey_trailing_access(l, s, strlen(s)))
		rf_builder_skipped(l->b, "line of other text");
	return TRUE;
}

gboolean rf_lackey_note(struct rf_lackey *l, char *s, GError **error)
{
	for (;;) {
		char *call = strstr(s, "SYSCALL[");

		if (!call)
			return chatter(l, s, error);
		if (call > s) {
			*call = 0;
			if (!chatter(l, s, error))
				return FALSE;
			*call = 'S';
		}
		s = call;
		if (!record(l, &s, error))
			return FALSE;
	}
}
