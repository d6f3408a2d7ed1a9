/* SPDX-License-Identifier: MIT
 * Page faults become accesses, pages that come into the page cache become reads of files.  What
 * reclaim did is no input: once a second a mark tells what the kernel had counted until then.
 */
#include "traces/import/tracepoints.h"

#include <string.h>

#include "traces/import/devices.h"

#define PAGE ((uint64_t)1 << RF_GRANULE_SHIFT)
#define USER_END ((uint64_t)1 << 56) /* user addresses are below it, with five levels too */
#define SECOND G_GUINT64_CONSTANT(1000000000)

enum { SCANNED, STOLEN, DEACTIVATED, ACTIVATED, NCOUNTS };

struct rf_tracepoints {
	struct rf_lines *lines;
	struct rf_procs *procs;
	struct rf_devices *files;
	gboolean kernel_accesses;
	gboolean reads; /* get_pages events are there: they tell of hits too */
	uint64_t count[NCOUNTS];
	uint64_t told; /* s */
	gboolean untold;
};

struct rf_tracepoints *rf_tracepoints_new(struct rf_lines *l, struct rf_procs *procs,
                                          gboolean kernel_accesses)
{
	struct rf_tracepoints *t = g_new0(struct rf_tracepoints, 1);

	t->lines = l;
	t->procs = procs;
	t->files = rf_devices_new(l->b);
	t->kernel_accesses = kernel_accesses;
	return t;
}

void rf_tracepoints_free(struct rf_tracepoints *t)
{
	if (t == NULL)
		return;
	rf_devices_free(t->files);
	g_free(t);
}

/* ---- heads ---- */

char *rf_tracepoint_head(char *s, char **before, uint64_t *ns)
{
	for (char *p = s; (p = strstr(p, ": ")) != NULL; p++) {
		char *start = p, *end;

		while (start > s && (g_ascii_isdigit(start[-1]) || start[-1] == '.'))
			start--;
		end = start;
		if (start > s && start[-1] == ' ' && start < p && rf_take_fraction(&end, 9, ns) &&
		    end == p && memchr(start, '.', (size_t)(p - start)) != NULL) {
			start[-1] = 0;
			*before = s;
			p += 2;
			rf_take_blanks(&p);
			return p;
		}
	}
	return NULL;
}

char *rf_last_word(char *text)
{
	char *blank;

	g_strchomp(text);
	blank = strrchr(text, ' ');
	if (blank == NULL)
		return text + strlen(text);
	*blank = 0;
	return blank + 1;
}

/* ---- fields ---- */

/* The value of " key=" or "key " among fields, NULL without it. */
static char *field(char *fields, const char *key)
{
	size_t n = strlen(key);

	for (char *p = fields; (p = strstr(p, key)) != NULL; p += n)
		if ((p == fields || p[-1] == ' ') && (p[n] == '=' || p[n] == ' '))
			return p + n + 1;
	return NULL;
}

static gboolean hex_field(char *fields, const char *key, uint64_t *value)
{
	char *p = field(fields, key);

	return p != NULL && rf_take_hex(&p, value);
}

static gboolean number_field(char *fields, const char *key, uint64_t *value)
{
	char *p = field(fields, key);

	return p != NULL && rf_take_digits(&p, 10, value);
}

/* "254:0 5125f": which file. */
static gboolean file_name(char *fields, char *name, size_t size)
{
	char *dev = field(fields, "dev"), *ino = field(fields, "ino"), device[32], inode[32];

	if (dev == NULL || ino == NULL || !rf_take_word(&dev, " ", device, sizeof(device)) ||
	    !rf_take_word(&ino, " ", inode, sizeof(inode)))
		return FALSE;
	g_snprintf(name, size, "%s %s", device, inode);
	return TRUE;
}

/* ---- events ---- */

static enum rf_line skipped(struct rf_tracepoints *t, const char *reason)
{
	rf_builder_skipped(t->lines->b, reason);
	return RF_LINE_TAKEN;
}

static enum rf_line page_fault(struct rf_tracepoints *t, uint32_t pid, uint32_t tid, char *fields,
                               gboolean kernel, GError **error)
{
	uint64_t addr, code;
	enum rf_access type;

	if (!hex_field(fields, "address", &addr) || !hex_field(fields, "error_code", &code))
		return rf_lines_expected(t->lines, fields, "address=0x... and error_code=0x...", error);
	if (addr >= USER_END)
		return skipped(t, "fault at an address of the kernel's");
	if (kernel && !t->kernel_accesses)
		return skipped(t, "fault of the kernel's");
	type = code & 2 ? RF_WRITE : code & 16 ? RF_EXEC : RF_READ; /* x86 */
	return rf_line_of(rf_procs_access(t->procs, pid, tid, type, addr, 1, error));
}

static enum rf_line insertion(struct rf_tracepoints *t, uint32_t pid, uint32_t tid, char *fields,
                              GError **error)
{
	uint64_t off, order = 0;
	char name[80];

	if (!file_name(fields, name, sizeof(name)) || !number_field(fields, "ofs", &off))
		return rf_lines_expected(t->lines, fields, "dev, ino and ofs", error);
	number_field(fields, "order", &order); /* older kernels have none */
	if (order > 20)
		return rf_lines_expected(t->lines, fields, "an order below 21", error);
	if (t->reads)
		return skipped(t, "insertion into the page cache that a read explains");
	return rf_line_of(rf_procs_get(t->procs, pid, tid, error) != NULL &&
	                  rf_devices_io(t->files, tid, name, FALSE, off, PAGE << order, error));
}

static enum rf_line get_pages(struct rf_tracepoints *t, uint32_t pid, uint32_t tid, char *fields,
                              GError **error)
{
	uint64_t off, last;
	char name[80], *p = field(fields, "ofs");

	if (p == NULL || !rf_take_digits(&p, 10, &off) || !rf_take_literal(&p, "-") ||
	    !rf_take_digits(&p, 10, &last) || last < off || !file_name(fields, name, sizeof(name)))
		return rf_lines_expected(t->lines, fields, "dev, ino and ofs=N-N", error);
	t->reads = TRUE;
	return rf_line_of(rf_procs_get(t->procs, pid, tid, error) != NULL &&
	                  rf_devices_io(t->files, tid, name, FALSE, off, last - off + 1, error));
}

static enum rf_line tell_counts(struct rf_tracepoints *t, GError **error)
{
	struct rf_event mark = { .kind = RF_EV_MARK };
	g_autofree char *text = g_strdup_printf(
		"kernel: pgscan %" G_GUINT64_FORMAT ", pgsteal %" G_GUINT64_FORMAT
		", pgdeactivate %" G_GUINT64_FORMAT ", pgactivate %" G_GUINT64_FORMAT,
		t->count[SCANNED], t->count[STOLEN], t->count[DEACTIVATED], t->count[ACTIVATED]);

	mark.name = text;
	t->untold = FALSE;
	t->told = t->lines->at / SECOND;
	return rf_line_of(rf_builder_event(t->lines->b, &mark, error));
}

static enum rf_line reclaim(struct rf_tracepoints *t, const char *name, char *fields, GError **error)
{
	static const struct { const char *event, *field; unsigned count; } what[] = {
		{ "mm_vmscan_lru_shrink_inactive", "nr_scanned", SCANNED },
		{ "mm_vmscan_lru_shrink_inactive", "nr_reclaimed", STOLEN },
		{ "mm_vmscan_lru_shrink_inactive", "nr_activate_anon", ACTIVATED },
		{ "mm_vmscan_lru_shrink_inactive", "nr_activate_file", ACTIVATED },
		{ "mm_vmscan_lru_shrink_active", "nr_deactivated", DEACTIVATED },
		{ "mm_vmscan_reclaim_pages", "nr_scanned", SCANNED },
		{ "mm_vmscan_reclaim_pages", "nr_reclaimed", STOLEN },
	};
	gboolean known = FALSE;

	if (t->untold && t->lines->at / SECOND > t->told && tell_counts(t, error) == RF_LINE_BAD)
		return RF_LINE_BAD;
	for (unsigned i = 0; i < G_N_ELEMENTS(what); i++) {
		uint64_t n;

		if (strcmp(what[i].event, name) != 0)
			continue;
		known = TRUE;
		if (!number_field(fields, what[i].field, &n))
			return rf_lines_expected(t->lines, fields, what[i].field, error);
		t->count[what[i].count] += n;
	}
	t->untold |= known;
	return known ? RF_LINE_TAKEN : skipped(t, "other event");
}

enum rf_line rf_tracepoints_end(struct rf_tracepoints *t, GError **error)
{
	return t->untold ? tell_counts(t, error) : RF_LINE_TAKEN;
}

enum rf_line rf_tracepoint(struct rf_tracepoints *t, uint32_t pid, uint32_t tid, const char *name,
                           char *fields, GError **error)
{
	if (strcmp(name, "page_fault_user") == 0)
		return page_fault(t, pid, tid, fields, FALSE, error);
	if (strcmp(name, "page_fault_kernel") == 0)
		return page_fault(t, pid, tid, fields, TRUE, error);
	if (strcmp(name, "mm_filemap_add_to_page_cache") == 0)
		return insertion(t, pid, tid, fields, error);
	if (strcmp(name, "mm_filemap_get_pages") == 0)
		return get_pages(t, pid, tid, fields, error);
	if (g_str_has_prefix(name, "mm_vmscan_"))
		return reclaim(t, name, fields, error);
	if (g_str_has_prefix(name, "mm_filemap_"))
		return skipped(t, "mapping or removal of pages of the page cache");
	if (g_str_has_prefix(name, "mm_lru_"))
		return skipped(t, "movement on the kernel's LRU lists");
	return skipped(t, "other event");
}
