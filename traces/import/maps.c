/* SPDX-License-Identifier: MIT */
#include "traces/import/maps.h"

#include <string.h>

#include "base/error.h"
#include "traces/import/calls.h"
#include "traces/import/fields.h"

#define NAMES_MAX 65536
#define ROWS_MAX 1000000
#define SHUTDOWN "<<< SHOW_SEGMENTS: Memory layout at client shutdown"

/* A mapping in the address-space dump. */
struct row {
	gboolean anon;
	uint64_t start, end, off; /* end: inclusive */
	uint8_t prot;
	char *path;
	const char *name;
};

struct rf_maps {
	GPtrArray *names;
	GArray *rows; /* all are needed for the sizes of files */
	uint64_t upper_end; /* where a reservation for a stack ended, or 0 */
	uint64_t found;
};

static void row_clear(gpointer data)
{
	g_free(((struct row *)data)->path);
}

struct rf_maps *rf_maps_new(void)
{
	struct rf_maps *m = g_new0(struct rf_maps, 1);

	m->names = g_ptr_array_new_with_free_func(g_free);
	m->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	g_array_set_clear_func(m->rows, row_clear);
	return m;
}

void rf_maps_free(struct rf_maps *m)
{
	if (!m)
		return;
	g_ptr_array_unref(m->names);
	g_array_unref(m->rows);
	g_free(m);
}

/* ---- valgrind's dump ---- */

/* "  3: file 000010a000-000010afff    4096 r---- d=0xfe00 i=10952839 o=8192    (1,49)".  Rows of
 * the tool's own have their kind in capitals. */
static gboolean dump_row(struct rf_maps *n, char *s)
{
	struct row row = { 0 }, *last = NULL;
	uint64_t index;
	char kind[5], *p, *key;

	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &index) || !rf_take_literal(&s, ": ") || strlen(s) < 5)
		return FALSE;
	memcpy(kind, s, 4);
	kind[4] = 0;
	s += 4;
	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 16, &row.start) || !rf_take_literal(&s, "-") || !rf_take_digits(&s, 16, &row.end) ||
	    row.end < row.start)
		return FALSE;

	/* the heap lies below a reservation, the stack above one */
	if (n->rows->len)
		last = &g_array_index(n->rows, struct row, n->rows->len - 1);
	if (!strcmp(kind, "RSVN")) {
		n->upper_end = strstr(s, "SmUpper") ? row.end + 1 : 0;
		if (strstr(s, "SmLower") && last && last->anon && last->end + 1 == row.start) {
			last->name = "[heap]";
			last->prot &= ~RF_PROT_X;
		}
	}
	if ((strcmp(kind, "file") && strcmp(kind, "anon") && strcmp(kind, "shm ")) ||
	    n->rows->len == ROWS_MAX)
		return FALSE;

	row.anon = kind[0] != 'f';
	if (row.anon && n->upper_end == row.start && row.start)
		row.name = "[stack]";
	rf_take_blanks(&s);
	s += strcspn(s, " "); /* the size */
	rf_take_blanks(&s);
	for (p = s; *p && *p != ' '; p++)
		row.prot |= *p == 'r'   ? RF_PROT_R
		            : *p == 'w' ? RF_PROT_W
		            : *p == 'x' ? RF_PROT_X
		                        : 0;
	key = strstr(p, " o=");
	if (key) {
		key += 3;
		rf_take_digits(&key, 10, &row.off);
	}
	key = strrchr(p, '(');
	if (key) {
		key++;
		if (rf_take_digits(&key, 10, &index) && index < n->names->len)
			row.path = g_strdup(g_ptr_array_index(n->names, index));
	}
	g_array_append_val(n->rows, row);
	return TRUE;
}

void rf_maps_dump_line(struct rf_maps *m, char *s)
{
	uint64_t index, ignored;
	char *p = s;

	if (rf_take_literal(&p, "(") && rf_take_digits(&p, 10, &index) && rf_take_literal(&p, ",") &&
	    rf_take_digits(&p, 10, &ignored) && rf_take_literal(&p, ",") &&
	    rf_take_digits(&p, 10, &ignored) && rf_take_literal(&p, ") ")) {
		if (index < NAMES_MAX) {
			if (m->names->len <= index)
				g_ptr_array_set_size(m->names, (gint)index + 1);
			g_free(g_ptr_array_index(m->names, index));
			g_ptr_array_index(m->names, index) = g_strdup(p);
		}
		return;
	}
	m->found += dump_row(m, s);
}

gboolean rf_maps_end(struct rf_maps *m, struct rf_process *process, uint32_t tid, GError **error)
{
	GArray *rows = m->rows;
	gboolean good = TRUE;

	for (guint i = 0; i < rows->len; i++) {
		struct row *r = &g_array_index(rows, struct row, i);
		uint64_t end;

		if (!r->anon && !r->path)
			r->path = g_strdup("[unknown file]");
		if (!r->anon && !__builtin_add_overflow(r->off, r->end - r->start + 1, &end))
			rf_process_file_size(process, r->path, end);
	}
	for (guint i = 0; i < rows->len && good; i++) {
		struct row *r = &g_array_index(rows, struct row, i);

		good = rf_process_map(process, tid, r->start, r->end - r->start + 1, r->prot,
		                      r->anon ? NULL : r->path, r->off, r->name, error);
	}
	g_array_set_size(rows, 0);
	g_ptr_array_set_size(m->names, 0);
	m->upper_end = 0;
	return good;
}

/* ---- a companion file ---- */

/* "55d0c8a1b000-55d0c8a1c000 r-xp 00001000 fe:00 332383 /usr/bin/x" */
static gboolean proc_row(struct rf_maps *m, struct rf_process *process, uint32_t tid, char *s,
                         GError **error)
{
	uint64_t start, end, off, ignored;
	uint8_t prot;
	char *path;

	if (!rf_take_digits(&s, 16, &start) || !rf_take_literal(&s, "-") || !rf_take_digits(&s, 16, &end) || end <= start ||
	    !rf_take_literal(&s, " ") || strlen(s) < 5 || s[4] != ' ')
		return TRUE;
	prot = (s[0] == 'r' ? RF_PROT_R : 0) | (s[1] == 'w' ? RF_PROT_W : 0) |
	       (s[2] == 'x' ? RF_PROT_X : 0);
	s += 5;
	if (!rf_take_digits(&s, 16, &off) || !rf_take_literal(&s, " "))
		return TRUE;
	s += strcspn(s, " ");
	rf_take_blanks(&s);
	if (!rf_take_digits(&s, 10, &ignored))
		return TRUE;
	rf_take_blanks(&s);
	path = *s == '/' ? s : NULL;
	m->found++;
	return rf_process_map(process, tid, start, end - start, prot, path, path ? off : 0,
	                      *s == '[' ? s : NULL, error);
}

/* What a system call leaves behind for good.  Unmapping is left out: when, in the other file, that
 * was is not known, and accesses from before it need the mapping. */
static gboolean lasts(const char *call)
{
	static const char *const names[] = {
		"brk", "close", "creat", "dup", "dup2", "dup3", "memfd_create",
		"mmap", "mmap2", "mprotect", "mremap", "open", "openat", NULL,
	};

	return g_strv_contains(names, call);
}

static gboolean call_row(struct rf_maps *m, struct rf_calls *calls, struct rf_process *process,
                         uint32_t tid, char *s, GError **error)
{
	struct rf_call_line line;

	if (rf_calls_line(calls, s, &line) != RF_CALL_DONE || !lasts(line.call.name))
		return TRUE;
	m->found += !strcmp(line.call.name, "mmap") || !strcmp(line.call.name, "brk");
	rf_calls_descriptor(&line, process);
	return rf_process_call(process, tid, &line.call, error);
}

static gboolean companion_line(struct rf_maps *m, struct rf_calls *calls, struct rf_process *process,
                               uint32_t tid, char *s, GError **error)
{
	char *dump = strstr(s, " aspacem "), *p = s;
	uint64_t ignored;

	if (dump) {
		rf_maps_dump_line(m, dump + strlen(" aspacem "));
		return TRUE;
	}
	if (rf_take_digits(&p, 16, &ignored) && *p == '-')
		return proc_row(m, process, tid, s, error);
	return call_row(m, calls, process, tid, s, error);
}

gboolean rf_maps_read(const char *path, struct rf_process *process, uint32_t tid, GError **error)
{
	struct rf_input *in = rf_input_open(path, error);
	struct rf_maps *m = rf_maps_new();
	struct rf_calls *calls = rf_calls_new();
	gboolean good = in != NULL;
	char *line;
	size_t len;
	int r = 0;

	while (good && (r = rf_input_line(in, &line, &len, error)) > 0) {
		if (strstr(line, SHUTDOWN))
			break;
		good = companion_line(m, calls, process, tid, line, error);
		if (!good)
			g_prefix_error(error, "%s:%" G_GUINT64_FORMAT ": ", rf_input_name(in),
			               rf_input_line_number(in));
	}
	good = good && r >= 0 && rf_maps_end(m, process, tid, error);
	if (good && m->found == 0) {
		rf_set_data(error,
		            "%s: no mapping in it; expected an address-space dump of valgrind, "
		            "lines of /proc/PID/maps, or what strace prints",
		            rf_input_name(in));
		good = FALSE;
	}
	rf_calls_free(calls);
	rf_maps_free(m);
	rf_input_close(in);
	return good;
}
