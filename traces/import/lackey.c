/* SPDX-License-Identifier: MIT
 * Streams of valgrind's tool lackey (--trace-mem=yes), alone or with --trace-syscalls=yes and the
 * address-space dump of -d in the same stream.
 *
 * Nearly every line is an access.  Those are parsed here, straight from the input's buffer; any
 * other line goes to lackey-note.c.
 */
#include "traces/import/lackey.h"

#include <string.h>

#include "base/error.h"
#include "traces/event.h"
#include "traces/import/maps.h"

#define WINDOW (128u << 10)
#define SLACK 64 /* an access line is shorter than this */
#define LINE_MAX_BYTES (64u << 10)
#define SIZE_MAX_BYTES 4096 /* of one access; vector and state-saving instructions stay below */

#define CANNOT                                                                                     \
	"time between accesses; which thread ran, without --trace-sched=yes; sizes of files; "     \
	"what the kernel touched other than the buffers of read(2), write(2) and their kin"

/* ---- access lines ---- */

/* Eight hexadecimal digits at once.  FALSE when one of them is none. */
static inline gboolean hex8(const uint8_t *s, uint64_t *value)
{
	const uint64_t top = 0x8080808080808080u, one = 0x0101010101010101u;
	uint64_t v, low, digit, alpha;

	memcpy(&v, s, 8);
	v = GUINT64_FROM_LE(v);
	if (v & top)
		return FALSE;
	low = v | one * 0x20;
	digit = (v + one * (0x80 - '0')) & ~(v + one * (0x80 - '9' - 1)) & top;
	alpha = (low + one * (0x80 - 'a')) & ~(low + one * (0x80 - 'f' - 1)) & top;
	if ((digit | alpha) != top)
		return FALSE;
	v = (v & one * 0x0f) + (alpha >> 7) * 9;
	v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffu;
	v = (v << 8 | v >> 16) & 0x0000ffff0000ffffu;
	*value = (v << 16 | v >> 32) & 0xffffffffu;
	return TRUE;
}

static inline int hex1(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1 + enum rf_access of "I  ", " L ", " S ", " M "; 0 for other text. */
static inline unsigned access_type(const uint8_t *s)
{
	if (s[2] != ' ')
		return 0;
	if (s[0] == ' ') {
		if (s[1] == 'L')
			return 1 + RF_READ;
		return s[1] == 'S' || s[1] == 'M' ? 1 + RF_WRITE : 0;
	}
	return s[0] == 'I' && s[1] == ' ' ? 1 + RF_EXEC : 0;
}

/* "ADDR,SIZE" up to the character that can't belong to it, or NULL. */
static inline const uint8_t *address_size(const uint8_t *s, uint64_t *addr, uint32_t *size)
{
	const uint8_t *first = s;
	uint64_t a = 0;
	uint32_t n;
	int d;

	if (hex8(s, &a))
		s += 8;
	for (; s < first + 16 && (d = hex1(*s)) >= 0; s++)
		a = a << 4 | (unsigned)d;
	if (*s != ',' || s == first)
		return NULL;
	s++;
	n = *s - (unsigned)'0';
	if (n - 1 > 8) /* 1 to 9 */
		return NULL;
	for (s++; (unsigned)(*s - '0') <= 9; s++) {
		n = n * 10 + (*s - (unsigned)'0');
		if (n > SIZE_MAX_BYTES)
			return NULL;
	}
	if (a > RF_ADDR_END - n)
		return NULL;
	*addr = a;
	*size = n;
	return s;
}

static inline void put(struct rf_lackey *l, unsigned type, uint64_t addr, uint32_t size)
{
	if (l->tagged && !(addr & (uint64_t)1 << 55))
		addr &= ((uint64_t)1 << 56) - 1;
	rf_builder_access(l->b, l->tid, type - 1, addr, size, 1);
	l->accepted++;
}

gboolean rf_lackey_trailing_access(struct rf_lackey *l, const char *text, size_t n)
{
	uint64_t addr;
	uint32_t size;

	/* Somebody's text without a line end stands before the record. */
	for (size_t i = n > SLACK ? n - SLACK : 1; i + 5 <= n; i++) {
		const uint8_t *s = (const uint8_t *)text + i, *e;
		unsigned type = access_type(s);

		if (!type)
			continue;
		e = address_size(s + 3, &addr, &size);
		if (e && *e == 0) {
			put(l, type, addr, size);
			return TRUE;
		}
	}
	return FALSE;
}

/* ---- lines ---- */

static gboolean here(struct rf_lackey *l, GError **error)
{
	g_prefix_error(error, "%s:%" G_GUINT64_FORMAT ": ", rf_input_name(l->in), l->line);
	return FALSE;
}

/* What an access line can begin with; complete ones were taken before. */
static gboolean begins_like_access(const char *s, size_t n)
{
	static const char *const head[] = { "I  ", " L ", " S ", " M " };

	for (unsigned i = 0; i < G_N_ELEMENTS(head); i++)
		if (!strncmp(s, head[i], MIN(n, 3))) {
			size_t digits = n > 3 ? strspn(s + 3, "0123456789abcdefABCDEF") : 0;

			return n <= 3 ||
			       (digits > 0 && (s[3 + digits] == 0 || s[3 + digits] == ','));
		}
	return FALSE;
}

/* Any line; n bytes without its end.  last: the input ends with it, before a line end. */
static gboolean other_line(struct rf_lackey *l, const uint8_t *text, size_t n, gboolean last,
                           GError **error)
{
	const uint8_t *e, *nul = memchr(text, 0, n);
	char *s = l->scratch;
	uint64_t addr;
	uint32_t size;
	unsigned type;

	l->line++;
	if (nul) {
		rf_set_data(error, "column %zu: a NUL byte; expected text",
		            (size_t)(nul - text) + 1);
		return here(l, error);
	}
	if (l->line == 1 && n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		n -= 3;
	}
	if (n && text[n - 1] == '\r')
		n--;
	memcpy(s, text, n);
	memset(s + n, 0, SLACK);
	type = access_type((const uint8_t *)s);
	if (type) {
		e = address_size((const uint8_t *)s + 3, &addr, &size);
		if (e && *e == 0) {
			put(l, type, addr, size);
			return TRUE;
		}
		addr = strspn(s + 3, "0123456789abcdefABCDEF");
		if (addr > 16 && s[3 + addr] == ',') {
			rf_set_data(error, "column 4: an address of more than 64 bits");
			return here(l, error);
		}
	}
	if (n && begins_like_access(s, n)) {
		if (last) {
			rf_set_data(
				error,
				"the input ends inside an access, after '%s'; expected ADDR,SIZE",
				s);
			return here(l, error);
		}
		if (n > 3 && l->strict) {
			rf_set_data(error,
			            "'%s' is no access; expected ADDR,SIZE after three characters",
			            s);
			return here(l, error);
		}
		if (n > 3) {
			rf_builder_skipped(l->b, "malformed access line");
			return TRUE;
		}
	}
	return rf_lackey_note(l, s, error) || here(l, error);
}

/* Take the lines of [p, end); how many bytes were taken, or -1. */
static ptrdiff_t take(struct rf_lackey *l, const uint8_t *p, const uint8_t *end, gboolean eof,
                      GError **error)
{
	const uint8_t *start = p;

	while (p < end) {
		const uint8_t *nl;

		while (end - p >= SLACK) {
			unsigned type = access_type(p);
			const uint8_t *e;
			uint64_t addr;
			uint32_t size;

			if (!type)
				break;
			e = address_size(p + 3, &addr, &size);
			if (!e)
				break;
			if (*e == '\r')
				e++;
			if (*e != '\n')
				break;
			l->line++;
			put(l, type, addr, size);
			p = e + 1;
		}
		nl = memchr(p, '\n', (size_t)(end - p));
		if ((nl ? nl : end) - p > LINE_MAX_BYTES) {
			l->line++;
			rf_set_data(error, "the line is longer than %u bytes", LINE_MAX_BYTES);
			here(l, error);
			return -1;
		}
		if (!nl && (!eof || p == end))
			break;
		if (!other_line(l, p, (size_t)((nl ? nl : end) - p), !nl, error))
			return -1;
		p = nl ? nl + 1 : end;
	}
	return p - start;
}

/* ---- the importer ---- */

static int probe(const uint8_t *head, size_t n)
{
	const uint8_t *p = head, *end = head + n;
	unsigned lines = 0, accesses = 0;
	int sure = 0;

	if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end) {
		const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));
		char line[SLACK * 2] = "";
		size_t len = (size_t)((nl ? nl : end) - p);
		const uint8_t *e;
		uint64_t addr;
		uint32_t size;

		memcpy(line, p, MIN(len, SLACK));
		lines++;
		if (strstr(line, "Lackey, an example Valgrind tool") ||
		    strstr(line, "tool 'lackey'"))
			return 95;
		e = access_type((uint8_t *)line) ? address_size((uint8_t *)line + 3, &addr, &size)
		                                 : NULL;
		if (e && (*e == 0 || *e == '\r'))
			accesses++;
		else if (nl && (g_str_has_prefix(line, "SYSCALL[") || strstr(line, ":1: aspacem ")))
			sure = 80;
		p += len + 1;
	}
	if (accesses >= 8 || (lines && accesses * 2 > lines))
		sure = 90;
	return sure;
}

/* The value after key in a piece of text, up to the line's end; NULL without it.  Caller frees. */
static char *text_after(const char *head, const char *key)
{
	const char *s = strstr(head, key), *e;

	if (!s)
		return NULL;
	s += strlen(key);
	e = s + strcspn(s, "\r\n");
	return e == s ? NULL : g_strndup(s, (size_t)(e - s));
}

/* What the head of the stream tells about the recording. */
static gboolean read_head(struct rf_lackey *l, GError **error)
{
	struct rf_header *h = rf_builder_header(l->b);
	size_t have;
	const uint8_t *p = rf_input_peek(l->in, 1u << 20, &have, error);
	char *head, *value;
	gboolean fetches, dump, calls;

	if (!p)
		return FALSE;
	head = g_strndup((const char *)p, have);
	value = text_after(head, "== Using Valgrind-");
	if (value) {
		char *recorder;

		value[strcspn(value, " ")] = 0;
		recorder = g_strconcat("valgrind-", value, NULL);
		rf_header_set(h, "recorder", recorder);
		g_free(recorder);
		g_free(value);
	}
	value = text_after(head, "== Command: ");
	if (value) {
		char *program;

		rf_header_set(h, "command", value);
		value[strcspn(value, " ")] = 0;
		program = g_path_get_basename(value);
		rf_header_set(h, "program", program);
		g_free(program);
		g_free(value);
	}
	value = strstr(head, "Getting the working directory at startup");
	value = value ? text_after(value, ":    main ... ") : NULL;
	if (value && value[0] == '/')
		rf_process_set_cwd(l->process, value);
	g_free(value);
	fetches = g_str_has_prefix(head, "I  ") || strstr(head, "\nI  ");
	dump = strstr(head, RF_LACKEY_DUMP) != NULL || l->maps;
	calls = strstr(head, "SYSCALL[") != NULL;
	l->tagged = strstr(head, "selected platform 'arm64-linux'") != NULL;
	/* each fetch is one instruction */
	rf_header_set(h, "clock", fetches ? "instructions" : "accesses");
	if (calls)
		rf_header_set(h, "kernel-accesses", l->kernel_accesses ? "yes" : "no");
	if (!dump || !calls) {
		value = g_strconcat(calls  ? "mappings that stood at the start"
		                    : dump ? "system calls"
		                           : "mappings; system calls",
		                    "; ", CANNOT, NULL);
		rf_header_set(h, "cannot-know", value);
		g_free(value);
	}
	g_free(head);
	return TRUE;
}

static void lackey_close(void *self)
{
	struct rf_lackey *l = self;

	rf_lackey_note_clear(l);
	rf_process_free(l->process);
	g_free(l->scratch);
	g_free(l);
}

static void *lackey_open(struct rf_input *in, struct rf_builder *b,
                         const struct rf_source_options *opt, GError **error)
{
	struct rf_lackey *l = g_new0(struct rf_lackey, 1);

	l->in = in;
	l->b = b;
	l->tid = 1;
	l->kernel_accesses = !(opt && opt->no_kernel_accesses);
	l->maps = opt && opt->maps;
	l->strict = opt && opt->strict;
	l->scratch = g_malloc(LINE_MAX_BYTES + SLACK + 1);
	l->process = rf_process_new(b, l->kernel_accesses);
	rf_lackey_note_init(l);
	if (!read_head(l, error) || !rf_process_task(l->process, l->tid, error) ||
	    (l->maps && !rf_maps_read(opt->maps, l->process, l->tid, error))) {
		lackey_close(l);
		return NULL;
	}
	return l;
}

static enum rf_step lackey_step(void *self, struct rf_builder *b, GError **error)
{
	struct rf_lackey *l = self;

	do {
		size_t have;
		const uint8_t *p = rf_input_peek(l->in, WINDOW, &have, error);
		ptrdiff_t took;

		if (!p)
			return RF_STEP_ERROR;
		if (!have) {
			if (!l->accepted) {
				rf_set_data(error,
				            "%s: no access in %" G_GUINT64_FORMAT
				            " lines; expected lines "
				            "such as ' L 1fff000550,8' (lackey --trace-mem=yes)",
				            rf_input_name(l->in), l->line);
				return RF_STEP_ERROR;
			}
			return RF_STEP_END;
		}
		took = take(l, p, p + have, have < WINDOW, error);
		if (took < 0)
			return RF_STEP_ERROR;
		rf_input_consume(l->in, (size_t)took);
	} while (!rf_builder_full(b));
	return RF_STEP_MORE;
}

const struct rf_importer rf_lackey_importer = {
	.name = "lackey",
	.summary = "valgrind --tool=lackey --trace-mem=yes, with --trace-syscalls=yes and -d in it "
	           "or without",
	.cannot = CANNOT,
	.probe = probe,
	.open = lackey_open,
	.step = lackey_step,
	.close = lackey_close,
};
