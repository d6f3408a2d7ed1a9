/* SPDX-License-Identifier: MIT
 * Decompressed input.  The compression is seen from the first bytes: zstd (any number of frames,
 * skippable ones among them), gzip (any number of members), or none.
 */
#include "traces/input.h"

#include <gio/gio.h>
#include <string.h>
#include <zstd.h>

#include "base/error.h"

#define CHUNK (128u << 10)      /* least room for one step of decompression */
#define PEEK_MAX (1u << 20)
#define LINE_MAX_BYTES (64u << 10)

enum packing { PLAIN, ZSTD, GZIP };

struct rf_input {
	struct rf_raw *raw;
	enum packing packing;
	ZSTD_DStream *zstd;
	GConverter *gzip;
	gboolean between; /* at the edge of two zstd frames or gzip members */
	gboolean eof;
	char *buf; /* one byte more than cap: for a NUL after the last line */
	size_t pos, len, cap;
	size_t clean; /* no NUL byte in buf[pos..clean) */
	uint64_t offset, line;
	gboolean cut; /* the last line had no end */
};

static const struct { const char *name; size_t n; uint8_t magic[6]; } refused[] = {
	{ "xz", 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
	{ "bzip2", 3, { 'B', 'Z', 'h' } },
	{ "lz4", 4, { 0x04, 0x22, 0x4d, 0x18 } },
	{ "zip", 4, { 'P', 'K', 3, 4 } },
};

static gboolean is_zstd(const uint8_t *p, size_t n)
{
	static const uint8_t frame[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const uint8_t skippable[3] = { 0x2a, 0x4d, 0x18 };

	return n >= 4 && (memcmp(p, frame, 4) == 0 ||
	                  ((p[0] & 0xf0) == 0x50 && memcmp(p + 1, skippable, 3) == 0));
}

struct rf_input *rf_input_new(struct rf_raw *raw, GError **error)
{
	struct rf_input *in = g_new0(struct rf_input, 1);
	const uint8_t *head;
	size_t n;

	in->raw = raw;
	in->between = TRUE;
	in->cap = 2 * CHUNK;
	in->buf = g_malloc(in->cap + 1);
	head = rf_raw_peek(raw, 6, &n, error);
	if (head == NULL) {
		rf_input_close(in);
		return NULL;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++)
		if (n >= refused[i].n && memcmp(head, refused[i].magic, refused[i].n) == 0) {
			rf_set_data(error, "%s: is compressed with %s; expected zstd, gzip or none",
			            rf_raw_name(raw), refused[i].name);
			rf_input_close(in);
			return NULL;
		}
	if (is_zstd(head, n)) {
		in->packing = ZSTD;
		in->zstd = ZSTD_createDStream();
	} else if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b) {
		in->packing = GZIP;
		in->gzip = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
	}
	return in;
}

struct rf_input *rf_input_open(const char *path, GError **error)
{
	struct rf_raw *raw = rf_raw_open(path, error);

	return raw == NULL ? NULL : rf_input_new(raw, error);
}

struct rf_input *rf_input_from_memory(const char *name, const void *data, size_t len)
{
	struct rf_input *in = g_new0(struct rf_input, 1);

	in->raw = rf_raw_from_memory(name, data, len);
	in->cap = 2 * CHUNK;
	in->buf = g_malloc(in->cap + 1);
	return in;
}

void rf_input_close(struct rf_input *in)
{
	if (in == NULL)
		return;
	ZSTD_freeDStream(in->zstd);
	g_clear_object(&in->gzip);
	rf_raw_close(in->raw);
	g_free(in->buf);
	g_free(in);
}

static gboolean broken(struct rf_input *in, const char *what, const char *why, GError **error)
{
	rf_set_data(error, "%s: offset %" G_GUINT64_FORMAT ": broken %s data: %s", rf_raw_name(in->raw),
	            rf_raw_offset(in->raw), what, why);
	return FALSE;
}

static gboolean unzstd(struct rf_input *in, const uint8_t *from, size_t n, GError **error)
{
	ZSTD_inBuffer ib = { from, n, 0 };
	ZSTD_outBuffer ob = { in->buf, in->cap, in->len };
	size_t left = ZSTD_decompressStream(in->zstd, &ob, &ib);

	if (ZSTD_isError(left))
		return broken(in, "zstd", ZSTD_getErrorName(left), error);
	/* With no input left it may still have output that found no room: not an edge then. */
	in->between = left == 0;
	in->len = ob.pos;
	rf_raw_consume(in->raw, ib.pos);
	return TRUE;
}

static gboolean gunzip(struct rf_input *in, const uint8_t *from, size_t n, GError **error)
{
	gsize took = 0, gave = 0;
	GError *e = NULL;
	GConverterResult r;

	if (in->between)
		g_converter_reset(in->gzip);
	r = g_converter_convert(in->gzip, from, n, in->buf + in->len, in->cap - in->len,
	                        G_CONVERTER_NO_FLAGS, &took, &gave, &e);
	if (r == G_CONVERTER_ERROR && g_error_matches(e, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT)) {
		/* Wants more than the buffer holds: give it more. */
		size_t have;

		g_clear_error(&e);
		if (rf_raw_peek(in->raw, n + 1, &have, error) == NULL)
			return FALSE;
		return have > n ? TRUE : broken(in, "gzip", "the file ends inside it", error);
	}
	if (r == G_CONVERTER_ERROR) {
		broken(in, "gzip", e->message, error);
		g_error_free(e);
		return FALSE;
	}
	in->between = r == G_CONVERTER_FINISHED;
	in->len += gave;
	rf_raw_consume(in->raw, took);
	return TRUE;
}

static gboolean fill_plain(struct rf_input *in, GError **error)
{
	size_t got;

	if (!rf_raw_read(in->raw, in->buf + in->len, in->cap - in->len, &got, error))
		return FALSE;
	in->len += got;
	in->eof = got == 0;
	return TRUE;
}

/* Decompress a step further: more bytes in buf, or eof. */
static gboolean fill(struct rf_input *in, size_t want, GError **error)
{
	size_t before;

	if (in->pos > 0 && in->cap - in->len < CHUNK) {
		memmove(in->buf, in->buf + in->pos, in->len - in->pos);
		in->clean -= MIN(in->clean, in->pos);
		in->len -= in->pos;
		in->pos = 0;
	}
	if (in->cap < want + CHUNK) {
		in->cap = want + CHUNK;
		in->buf = g_realloc(in->buf, in->cap + 1);
	}
	if (in->packing == PLAIN)
		return fill_plain(in, error);
	for (before = in->len; in->len == before && !in->eof;) {
		size_t n;
		const uint8_t *from = rf_raw_some(in->raw, &n, error);

		if (from == NULL)
			return FALSE;
		if (n == 0 && !in->between && in->packing == GZIP)
			return broken(in, "gzip", "the file ends inside it", error);
		if (n == 0 && !in->between && in->packing == ZSTD) {
			/* The decoder may hold back output that had no room before. */
			if (!unzstd(in, from, 0, error))
				return FALSE;
			if (in->len == before && !in->between)
				return broken(in, "zstd", "the file ends inside a frame", error);
			continue;
		}
		if (n == 0) {
			in->eof = TRUE;
			break;
		}
		if (!(in->packing == ZSTD ? unzstd : gunzip)(in, from, n, error))
			return FALSE;
	}
	return TRUE;
}

const uint8_t *rf_input_peek(struct rf_input *in, size_t n, size_t *have, GError **error)
{
	g_assert(n <= PEEK_MAX);
	while (in->len - in->pos < n && !in->eof)
		if (!fill(in, n, error))
			return NULL;
	*have = MIN(n, in->len - in->pos);
	return (const uint8_t *)in->buf + in->pos;
}

void rf_input_consume(struct rf_input *in, size_t n)
{
	g_assert(n <= in->len - in->pos);
	in->pos += n;
	in->offset += n;
}

int rf_input_line(struct rf_input *in, char **line, size_t *len, GError **error)
{
	char *start, *end, *nul;
	size_t seen = 0, took;

	for (;;) {
		start = in->buf + in->pos;
		end = memchr(start + seen, '\n', in->len - in->pos - seen);
		if (end != NULL || in->eof)
			break;
		seen = in->len - in->pos;
		if (seen > LINE_MAX_BYTES)
			break;
		if (!fill(in, 0, error))
			return -1;
	}
	if (end == NULL && in->len == in->pos)
		return 0;
	in->line++;
	in->cut = end == NULL;
	took = end == NULL ? in->len - in->pos : (size_t)(end - start) + 1;
	if (end == NULL)
		end = start + took;
	if (end - start > (ptrdiff_t)LINE_MAX_BYTES) {
		rf_set_data(error, "%s:%" G_GUINT64_FORMAT ": the line is longer than %u bytes",
		            rf_input_name(in), in->line, LINE_MAX_BYTES);
		return -1;
	}
	/* Look for NUL bytes once a buffer, not once a line. */
	if ((size_t)(end - in->buf) > in->clean) {
		size_t from = MAX(in->clean, in->pos);

		nul = memchr(in->buf + from, 0, in->len - from);
		in->clean = nul == NULL ? in->len : (size_t)(nul - in->buf);
		if (nul != NULL && nul < end) {
			rf_set_data(error, "%s:%" G_GUINT64_FORMAT ":%td: a NUL byte; expected text",
			            rf_input_name(in), in->line, nul - start + 1);
			return -1;
		}
	}
	in->pos += took;
	in->offset += took;
	if (in->line == 1 && end - start >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0)
		start += 3; /* a byte order mark */
	if (end > start && end[-1] == '\r')
		end--;
	*end = 0;
	*line = start;
	*len = (size_t)(end - start);
	return 1;
}

void rf_input_begin_at(struct rf_input *in, uint64_t lines)
{
	in->line = lines;
}

uint64_t rf_input_line_number(const struct rf_input *in)
{
	return in->line;
}

uint64_t rf_input_offset(const struct rf_input *in)
{
	return in->offset;
}

gboolean rf_input_cut(const struct rf_input *in)
{
	return in->cut;
}

double rf_input_progress(const struct rf_input *in)
{
	if (!rf_raw_seekable(in->raw) || rf_raw_size(in->raw) == 0)
		return -1;
	return MIN(1.0, (double)rf_raw_offset(in->raw) / (double)rf_raw_size(in->raw));
}

const char *rf_input_name(const struct rf_input *in)
{
	return rf_raw_name(in->raw);
}
