/* SPDX-License-Identifier: MIT
 * Reads the text form of a trace, version 1 (refault-trace(5)).
 */
#include <string.h>

#include "base/error.h"
#include "traces/escape.h"
#include "traces/event.h"
#include "traces/text.h"

#define U64 G_GUINT64_FORMAT

struct rf_text {
	struct rf_input *in; /* NULL for lines by themselves */
	const char *name;    /* of the file, for messages, with the line's number */
	uint64_t number;
	char *line;    /* start of the present one, for columns */
	char *p;       /* where parsing stands */
	char *tok;     /* the latest word, NUL-terminated in place */
	GError **error;
	GString *settings; /* of a cgroup */
};

/* ---- words and numbers ---- */

/* Put "file:line:column: " before a message about the byte at `at`. */
G_GNUC_PRINTF(3, 4)
static gboolean fail(struct rf_text *t, const char *at, const char *format, ...)
{
	va_list ap;
	char *msg;

	va_start(ap, format);
	msg = g_strdup_vprintf(format, ap);
	va_end(ap);
	rf_set_data(t->error, "%s:%" U64 ":%td: %s", t->name, t->number, at - t->line + 1, msg);
	g_free(msg);
	return FALSE;
}

static inline gboolean is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* At the end of a word. */
static inline gboolean is_end(char c)
{
	return c == 0 || is_blank(c) || c == '#';
}

static inline void skip_blanks(struct rf_text *t)
{
	while (is_blank(*t->p))
		t->p++;
}

static gboolean more(struct rf_text *t)
{
	skip_blanks(t);
	return *t->p != 0 && *t->p != '#';
}

static gboolean word(struct rf_text *t, const char *what)
{
	char *end;

	if (!more(t))
		return fail(t, t->p, "the line ends early; expected %s", what);
	for (end = t->p; !is_end(*end);)
		end++;
	t->tok = t->p;
	t->p = end;
	if (*end == '#') {
		/* The rest is a comment: forget it, so that the word can be terminated. */
		*end = 0;
	} else if (*end != 0) {
		*end = 0;
		t->p = end + 1;
	}
	return TRUE;
}

static gboolean line_end(struct rf_text *t)
{
	if (!more(t))
		return TRUE;
	word(t, "");
	return fail(t, t->tok, "'%s' follows; expected the end of the line", t->tok);
}

static gboolean to_u64(struct rf_text *t, const char *s, const char *what, uint64_t *v)
{
	const char *p = s;
	uint64_t x = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, *p - '0', &x))
			return fail(t, s, "'%s' does not fit into 64 bits; expected %s", s, what);
	if (p == s || *p != 0)
		return fail(t, s, "'%s' is no decimal number; expected %s", s, what);
	*v = x;
	return TRUE;
}

static gboolean to_size(struct rf_text *t, char *s, const char *what, uint64_t *v)
{
	size_t n = strlen(s);
	unsigned shift = 0;
	char unit = n > 0 ? s[n - 1] : 0;

	if (unit == 'K')
		shift = 10;
	else if (unit == 'M')
		shift = 20;
	else if (unit == 'G')
		shift = 30;
	if (shift > 0) {
		gboolean ok;

		s[n - 1] = 0;
		ok = to_u64(t, s, what, v);
		s[n - 1] = unit;
		if (!ok)
			return FALSE;
	} else if (!to_u64(t, s, what, v)) {
		return FALSE;
	}
	if (*v > UINT64_MAX >> shift)
		return fail(t, s, "'%s' does not fit into 64 bits; expected %s", s, what);
	*v <<= shift;
	return TRUE;
}

static gboolean to_hex(struct rf_text *t, const char *s, const char *what, uint64_t *v)
{
	const char *p = s;
	uint64_t x = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	if (*p == 0)
		return fail(t, s, "'%s' is no hexadecimal number; expected %s", s, what);
	for (; *p != 0; p++) {
		int digit = g_ascii_xdigit_value(*p);

		if (digit < 0)
			return fail(t, s, "'%s' is no hexadecimal number; expected %s", s, what);
		if (x >> 60 != 0)
			return fail(t, s, "'%s' does not fit into 64 bits; expected %s", s, what);
		x = x << 4 | (unsigned)digit;
	}
	*v = x;
	return TRUE;
}

static gboolean to_u32(struct rf_text *t, const char *s, const char *what, uint32_t *v)
{
	uint64_t x;

	if (!to_u64(t, s, what, &x))
		return FALSE;
	if (x > UINT32_MAX)
		return fail(t, s, "'%s' does not fit into 32 bits; expected %s", s, what);
	*v = (uint32_t)x;
	return TRUE;
}

static gboolean unescape(struct rf_text *t, char *s)
{
	const char *bad = rf_unescape(s);

	if (bad == NULL)
		return TRUE;
	return fail(t, bad, "'\\' in a name; expected \\ and three octal digits, \\001 to \\377");
}

static gboolean word_name(struct rf_text *t, const char *what, const char **name)
{
	if (!word(t, what) || !unescape(t, t->tok))
		return FALSE;
	*name = t->tok;
	return TRUE;
}

static gboolean word_u64(struct rf_text *t, const char *what, uint64_t *v)
{
	return word(t, what) && to_u64(t, t->tok, what, v);
}

static gboolean word_size(struct rf_text *t, const char *what, uint64_t *v)
{
	return word(t, what) && to_size(t, t->tok, what, v);
}

static gboolean word_addr(struct rf_text *t, const char *what, uint64_t *v)
{
	return word(t, what) && to_hex(t, t->tok, what, v);
}

static gboolean word_tid(struct rf_text *t, uint32_t *tid)
{
	return word(t, "a task's number") && to_u32(t, t->tok, "a task's number", tid);
}

static gboolean word_id(struct rf_text *t, const char *what, uint32_t *id)
{
	return word(t, what) && to_u32(t, t->tok, what, id);
}

/* file:ID */
static gboolean word_file(struct rf_text *t, uint32_t *id)
{
	if (!word(t, "file:ID"))
		return FALSE;
	if (strncmp(t->tok, "file:", 5) != 0)
		return fail(t, t->tok, "'%s'; expected file:ID", t->tok);
	return to_u32(t, t->tok + 5, "a file's number", id);
}

static gboolean word_range(struct rf_text *t, struct rf_event *e)
{
	return word_addr(t, "an address", &e->addr) && word_size(t, "a length", &e->len);
}

static gboolean word_prot(struct rf_text *t, uint8_t *prot)
{
	static const char letters[] = "rwx";

	if (!word(t, "a protection such as r-x"))
		return FALSE;
	*prot = 0;
	for (unsigned i = 0; i < 3; i++) {
		if (t->tok[i] == letters[i])
			*prot |= 1u << i;
		else if (t->tok[i] != '-')
			break;
		if (i == 2 && t->tok[3] == 0)
			return TRUE;
	}
	return fail(t, t->tok, "'%s' is no protection; expected three of r w x or - such as r-x", t->tok);
}

/* One of two words. */
static gboolean word_either(struct rf_text *t, const char *yes, const char *no, uint8_t *flag)
{
	if (!word(t, yes))
		return FALSE;
	*flag = strcmp(t->tok, yes) == 0;
	if (*flag || strcmp(t->tok, no) == 0)
		return TRUE;
	return fail(t, t->tok, "'%s'; expected %s or %s", t->tok, yes, no);
}

/* If the latest word is key=…, its value. */
static char *value_of(struct rf_text *t, const char *key)
{
	size_t n = strlen(key);

	return strncmp(t->tok, key, n) == 0 && t->tok[n] == '=' ? t->tok + n + 1 : NULL;
}

/* ---- one function an event, in the order of trace.h ---- */

static gboolean get_file(struct rf_text *t, struct rf_event *e)
{
	return word_id(t, "a file's number", &e->id) && word_name(t, "a file's name", &e->name) &&
	       word_size(t, "a file's size", &e->len);
}

static gboolean cgroup_setting(struct rf_text *t)
{
	static const char *const keys[] = {
		"memory.max", "memory.high", "memory.low", "memory.min", "swappiness", NULL
	};
	char *eq = strchr(t->tok, '=');
	uint64_t v;

	if (eq == NULL)
		return fail(t, t->tok, "'%s'; expected KEY=VALUE", t->tok);
	*eq = 0;
	if (!g_strv_contains(keys, t->tok)) {
		const char *near = rf_nearest(t->tok, keys);

		return fail(t, t->tok, "unknown setting '%s' of a cgroup; expected %s", t->tok,
		            near != NULL ? near : "memory.max, .high, .low, .min or swappiness");
	}
	if (t->settings->len > 0)
		g_string_append_c(t->settings, ' ');
	if (strcmp(t->tok, "swappiness") != 0 && strcmp(eq + 1, "max") == 0) {
		g_string_append_printf(t->settings, "%s=max", t->tok);
		return TRUE;
	}
	if (!to_size(t, eq + 1, "a number", &v))
		return FALSE;
	if (strcmp(t->tok, "swappiness") == 0 && v > 200)
		return fail(t, eq + 1, "swappiness %" U64 "; expected 0 to 200", v);
	g_string_append_printf(t->settings, "%s=%" U64, t->tok, v);
	return TRUE;
}

static gboolean get_cgroup(struct rf_text *t, struct rf_event *e)
{
	if (!word_name(t, "a cgroup's path", &e->name))
		return FALSE;
	g_string_truncate(t->settings, 0);
	while (more(t))
		if (!word(t, "") || !cgroup_setting(t))
			return FALSE;
	e->text = t->settings->str;
	return TRUE;
}

static gboolean get_task(struct rf_text *t, struct rf_event *e)
{
	if (!word_tid(t, &e->tid))
		return FALSE;
	while (more(t)) {
		char *v;

		word(t, "");
		if (strcmp(t->tok, "thread") == 0) {
			e->thread = 1;
		} else if ((v = value_of(t, "parent")) != NULL) {
			if (!to_u32(t, v, "a task's number", &e->parent))
				return FALSE;
			e->has_parent = 1;
		} else if ((v = value_of(t, "cgroup")) != NULL) {
			if (!unescape(t, v))
				return FALSE;
			e->name = v;
		} else {
			return fail(t, t->tok, "'%s'; expected parent=TID, cgroup=PATH or thread", t->tok);
		}
	}
	return TRUE;
}

static gboolean get_tid(struct rf_text *t, struct rf_event *e)
{
	return word_tid(t, &e->tid);
}

static gboolean mapping_kind(struct rf_text *t, struct rf_event *e)
{
	static const struct { const char *prefix; uint8_t kind; } kinds[] = {
		{ "file:", RF_MAP_FILE }, { "shmem:", RF_MAP_SHMEM }, { "refpage:", RF_MAP_REFPAGE },
	};

	if (!word(t, "anon, file:ID, shmem:ID or refpage:ID"))
		return FALSE;
	if (strcmp(t->tok, "anon") == 0) {
		e->mkind = RF_MAP_ANON;
		return TRUE;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_str_has_prefix(t->tok, kinds[i].prefix)) {
			e->mkind = kinds[i].kind;
			return to_u32(t, t->tok + strlen(kinds[i].prefix), "a number", &e->id);
		}
	return fail(t, t->tok, "'%s'; expected anon, file:ID, shmem:ID or refpage:ID", t->tok);
}

static gboolean get_mmap(struct rf_text *t, struct rf_event *e)
{
	if (!word_tid(t, &e->tid) || !word_range(t, e) || !word_prot(t, &e->prot) || !mapping_kind(t, e))
		return FALSE;
	while (more(t)) {
		char *v;

		word(t, "");
		if (strcmp(t->tok, "shared") == 0) {
			e->shared = 1;
		} else if (strcmp(t->tok, "locked") == 0) {
			e->locked = 1;
		} else if ((v = value_of(t, "off")) != NULL) {
			if (!to_size(t, v, "a file offset", &e->off))
				return FALSE;
		} else if ((v = value_of(t, "name")) != NULL) {
			if (!unescape(t, v))
				return FALSE;
			e->name = v;
		} else {
			return fail(t, t->tok, "'%s'; expected off=N, shared, locked or name=S", t->tok);
		}
	}
	return TRUE;
}

static gboolean get_range(struct rf_text *t, struct rf_event *e)
{
	return word_tid(t, &e->tid) && word_range(t, e);
}

static gboolean get_mremap(struct rf_text *t, struct rf_event *e)
{
	return get_range(t, e) && word_addr(t, "the new address", &e->addr2) &&
	       word_size(t, "the new length", &e->len2);
}

static gboolean get_mprotect(struct rf_text *t, struct rf_event *e)
{
	return get_range(t, e) && word_prot(t, &e->prot);
}

static gboolean get_madvise(struct rf_text *t, struct rf_event *e)
{
	if (!get_range(t, e) || !word(t, "an advice"))
		return FALSE;
	for (e->advice = 0; e->advice < RF_NADVICE; e->advice++)
		if (strcmp(t->tok, rf_advice_name(e->advice)) == 0)
			return TRUE;
	return fail(t, t->tok, "unknown advice '%s'; expected normal, random, sequential, willneed, "
	            "dontneed, free, cold, pageout, hugepage or nohugepage", t->tok);
}

static gboolean get_vrange(struct rf_text *t, struct rf_event *e)
{
	return get_range(t, e) && word_either(t, "volatile", "nonvolatile", &e->flag);
}

static gboolean get_refpage(struct rf_text *t, struct rf_event *e)
{
	return word_id(t, "a reference page's number", &e->id) &&
	       word_size(t, "a reference page's size", &e->len);
}

static gboolean get_rw(struct rf_text *t, struct rf_event *e)
{
	return word_tid(t, &e->tid) && word_file(t, &e->id) && word_size(t, "an offset", &e->off) &&
	       word_size(t, "a length", &e->len);
}

static gboolean get_fsync(struct rf_text *t, struct rf_event *e)
{
	return word_tid(t, &e->tid) && word_file(t, &e->id);
}

static gboolean get_hugetlb(struct rf_text *t, struct rf_event *e)
{
	return word_size(t, "a size", &e->len);
}

static gboolean get_memory(struct rf_text *t, struct rf_event *e)
{
	return word_either(t, "online", "offline", &e->flag) && word_size(t, "a size", &e->len);
}

static gboolean get_think(struct rf_text *t, struct rf_event *e)
{
	return word_tid(t, &e->tid) && word_u64(t, "nanoseconds", &e->len);
}

static gboolean get_at(struct rf_text *t, struct rf_event *e)
{
	return word_u64(t, "nanoseconds", &e->len);
}

static gboolean get_mark(struct rf_text *t, struct rf_event *e)
{
	return word_name(t, "the mark's name", &e->name);
}

static gboolean get_lost(struct rf_text *t, struct rf_event *e)
{
	return word_u64(t, "the number of lost events", &e->len);
}

static gboolean (*const getters[RF_NEVENTS])(struct rf_text *t, struct rf_event *e) = {
	[RF_EV_FILE] = get_file, [RF_EV_CGROUP] = get_cgroup, [RF_EV_TASK] = get_task,
	[RF_EV_EXEC] = get_tid, [RF_EV_EXIT] = get_tid, [RF_EV_MMAP] = get_mmap,
	[RF_EV_MUNMAP] = get_range, [RF_EV_MREMAP] = get_mremap, [RF_EV_MPROTECT] = get_mprotect,
	[RF_EV_MADVISE] = get_madvise, [RF_EV_MLOCK] = get_range, [RF_EV_MUNLOCK] = get_range,
	[RF_EV_VRANGE] = get_vrange, [RF_EV_REFPAGE] = get_refpage, [RF_EV_READ] = get_rw,
	[RF_EV_WRITE] = get_rw, [RF_EV_FSYNC] = get_fsync, [RF_EV_HUGETLB] = get_hugetlb,
	[RF_EV_MEMORY] = get_memory, [RF_EV_THINK] = get_think, [RF_EV_AT] = get_at,
	[RF_EV_MARK] = get_mark, [RF_EV_LOST] = get_lost,
};

/* ---- lines ---- */

/* The common line, "W 1 7e0000000000": FALSE leaves anything else to the general way. */
static gboolean quick_access(struct rf_text *t, uint32_t *tid, uint64_t *addr, const char **where)
{
	const char *p = t->p;
	uint64_t a = 0;
	uint32_t n = 0;
	int digits;

	for (digits = 0; *p >= '0' && *p <= '9' && digits < 9; p++, digits++)
		n = n * 10 + (uint32_t)(*p - '0');
	if (digits == 0 || *p != ' ')
		return FALSE;
	*where = ++p;
	for (digits = 0; digits < 16; p++, digits++) {
		unsigned c = (unsigned char)*p, d = c - '0';

		if (d > 9) {
			d = (c | 0x20) - 'a';
			if (d > 5)
				break;
			d += 10;
		}
		a = a << 4 | d;
	}
	if (digits == 0 || *p != 0)
		return FALSE;
	*tid = n;
	*addr = a;
	return TRUE;
}

static gboolean access_line(struct rf_text *t, struct rf_builder *b, enum rf_access type)
{
	uint64_t addr, len = 1;
	uint32_t tid;
	const char *where;

	if (!quick_access(t, &tid, &addr, &where)) {
		if (!word_tid(t, &tid) || !word_addr(t, "an address", &addr))
			return FALSE;
		where = t->tok;
		if (more(t) && !word_size(t, "a length", &len))
			return FALSE;
		if (!line_end(t))
			return FALSE;
	}
	if (!rf_range_check(addr, len, "the access", t->error)) {
		g_prefix_error(t->error, "%s:%" U64 ":%td: ", t->name, t->number, where - t->line + 1);
		return FALSE;
	}
	rf_builder_access(b, tid, type, addr, len, 1);
	return TRUE;
}

static gboolean event_line(struct rf_text *t, struct rf_builder *b)
{
	static const char *names[RF_NEVENTS + RF_NACCESS + 1] = { "R", "W", "X" };
	struct rf_event e = { 0 };
	const char *start, *near;

	word(t, "");
	start = t->tok;
	for (unsigned k = 0; k < RF_NEVENTS; k++)
		if (strcmp(t->tok, rf_event_kind_name(k)) == 0) {
			e.kind = k;
			if (!getters[k](t, &e) || !line_end(t))
				return FALSE;
			if (!rf_builder_event(b, &e, t->error)) {
				g_prefix_error(t->error, "%s:%" U64 ":%td: ", t->name, t->number,
				               start - t->line + 1);
				return FALSE;
			}
			return TRUE;
		}
	for (unsigned k = 0; k < RF_NEVENTS; k++)
		names[RF_NACCESS + k] = rf_event_kind_name(k);
	near = rf_nearest(t->tok, names);
	return fail(t, start, "unknown event '%s'; expected %s", t->tok,
	            near != NULL ? near : "R, W, X, task, mmap or another event of version 1");
}

static gboolean one_line(struct rf_text *t, struct rf_builder *b)
{
	static const char letters[RF_NACCESS] = "RWX";

	if (!more(t))
		return TRUE;
	for (unsigned type = 0; type < RF_NACCESS; type++)
		if (t->p[0] == letters[type] && is_end(t->p[1])) {
			t->p += is_blank(t->p[1]) ? 2 : 1;
			return access_line(t, b, type);
		}
	return event_line(t, b);
}

static gboolean header_value(struct rf_text *t, struct rf_header *h)
{
	/* What the recorder counted; at and think are in ns whatever it was. */
	static const char *const clocks[] = { "ns", "instructions", "accesses", NULL };
	char *eq = strchr(t->tok, '=');
	uint64_t size;

	if (eq == NULL || eq == t->tok)
		return fail(t, t->tok, "'%s'; expected KEY=VALUE", t->tok);
	*eq = 0;
	if (rf_header_get(h, t->tok) != NULL)
		return fail(t, t->tok, "%s= is given twice", t->tok);
	if (strcmp(t->tok, "page-size") == 0) {
		if (!to_size(t, eq + 1, "a page size", &size))
			return FALSE;
		if (size < 4096 || size > 65536 || (size & (size - 1)) != 0)
			return fail(t, eq + 1, "page-size=%s; expected 4K, 8K, 16K, 32K or 64K", eq + 1);
		h->granule_shift = (unsigned)__builtin_ctzll(size);
	} else if (strcmp(t->tok, "clock") == 0 && !g_strv_contains(clocks, eq + 1)) {
		return fail(t, eq + 1, "clock=%s; expected ns, instructions or accesses", eq + 1);
	}
	if (!unescape(t, eq + 1))
		return FALSE;
	rf_header_set(h, t->tok, eq + 1);
	return TRUE;
}

static gboolean header_line(struct rf_text *t, const char *magic, struct rf_header *h)
{
	uint64_t version;

	if (!more(t) || !word(t, "") || strcmp(t->tok, magic) != 0)
		return fail(t, t->line, "no header; expected '%s %d'", magic, RF_TEXT_VERSION);
	if (!word_u64(t, "the version", &version))
		return FALSE;
	if (version != RF_TEXT_VERSION)
		return fail(t, t->tok, "version %" U64 "; expected %d", version, RF_TEXT_VERSION);
	while (more(t))
		if (!word(t, "") || !header_value(t, h))
			return FALSE;
	return TRUE;
}

/* ---- lines by themselves ---- */

struct rf_text *rf_text_new(const char *name)
{
	struct rf_text *t = g_new0(struct rf_text, 1);

	t->name = name;
	t->settings = g_string_new(NULL);
	return t;
}

void rf_text_free(struct rf_text *t)
{
	g_string_free(t->settings, TRUE);
	g_free(t);
}

gboolean rf_text_line(struct rf_text *t, struct rf_builder *b, char *line, uint64_t number,
                      GError **error)
{
	t->line = t->p = line;
	t->number = number;
	t->error = error;
	return one_line(t, b);
}

gboolean rf_text_header_line(const char *name, const char *magic, char *line, uint64_t number,
                             struct rf_header *h, GError **error)
{
	struct rf_text t = { .name = name, .number = number, .line = line, .p = line, .error = error };

	return header_line(&t, magic, h);
}

/* ---- the importer ---- */

static int text_probe(const uint8_t *head, size_t n)
{
	size_t len = strlen(RF_TEXT_MAGIC);

	if (n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
		head += 3;
		n -= 3;
	}
	return n >= len && memcmp(head, RF_TEXT_MAGIC, len) == 0 ? 100 : 0;
}

static int next_line(struct rf_text *t, GError **error)
{
	size_t len;
	int got = rf_input_line(t->in, &t->line, &len, error);

	t->number = rf_input_line_number(t->in);
	t->p = t->line;
	t->error = error;
	return got;
}

static void text_close(void *self)
{
	rf_text_free(self);
}

static void *text_open(struct rf_input *in, struct rf_builder *b,
                       const struct rf_source_options *opt, GError **error)
{
	struct rf_text *t = rf_text_new(rf_input_name(in));
	int got;

	(void)opt;
	t->in = in;
	got = next_line(t, error);
	if (got == 0)
		rf_set_data(error, "%s: is empty; expected '" RF_TEXT_MAGIC " %d'", rf_input_name(in),
		            RF_TEXT_VERSION);
	if (got <= 0 || !header_line(t, RF_TEXT_MAGIC, rf_builder_header(b))) {
		text_close(t);
		return NULL;
	}
	return t;
}

static enum rf_step text_step(void *self, struct rf_builder *b, GError **error)
{
	struct rf_text *t = self;

	while (!rf_builder_full(b)) {
		int got = next_line(t, error);

		if (got <= 0)
			return got == 0 ? RF_STEP_END : RF_STEP_ERROR;
		if (!one_line(t, b))
			return RF_STEP_ERROR;
	}
	return RF_STEP_MORE;
}

const struct rf_importer rf_text_importer = {
	.name = "text",
	.summary = "refault's own text form, version 1",
	.probe = text_probe,
	.open = text_open,
	.step = text_step,
	.close = text_close,
};
