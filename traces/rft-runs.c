/* SPDX-License-Identifier: MIT
 * The columns of runs of a .rft frame, both ways; rft.h describes the encodings.
 */
#include <string.h>

#include "traces/rft.h"

#define MORE 3       /* RFT_PACKED: see the count column */
#define MORE_CONT 4
#define MORE_COUNT 3 /* shift */

/* ---- encoding ---- */

void rft_encoder_init(struct rft_encoder *e, uint32_t runs_max)
{
	memset(e, 0, sizeof(*e));
	e->code = g_malloc(runs_max);
	e->id = g_new(uint32_t, runs_max);
	e->count = g_byte_array_new();
	rft_encoder_reset(e);
}

void rft_encoder_clear(struct rft_encoder *e)
{
	g_free(e->code);
	g_free(e->id);
	g_byte_array_unref(e->count);
}

void rft_encoder_reset(struct rft_encoder *e)
{
	e->n = e->nid = e->max = 0;
	g_byte_array_set_size(e->count, 0);
	memset(e->last, 0xff, sizeof(e->last));
}

void rft_encode(struct rft_encoder *e, uint32_t n, const uint32_t *page, const uint8_t *type,
                const uint32_t *count)
{
	uint8_t *code = e->code + e->n;
	uint32_t last[4], nid = e->nid, max = e->max;

	memcpy(last, e->last, sizeof(last));
	for (uint32_t i = 0; i < n; i++) {
		unsigned t = type[i] & RF_TYPE_MASK;
		gboolean same = last[t] == page[i];

		/* Whether a page repeats can't be predicted: no branch. */
		e->id[nid] = page[i];
		nid += !same;
		last[t] = page[i];
		max = MAX(max, page[i]);
		code[i] = (uint8_t)(t | (type[i] & RF_RUN_CONT ? RFT_CODE_CONT : 0) |
		                    (same ? RFT_CODE_SAME : 0));
		if (count[i] < 16)
			code[i] |= count[i] << RFT_CODE_COUNT;
		else
			rft_put_varint(e->count, count[i]);
	}
	memcpy(e->last, last, sizeof(last));
	e->n += n;
	e->nid = nid;
	e->max = max;
}

static unsigned bits_of(uint32_t max)
{
	return max == 0 ? 1 : 32 - (unsigned)__builtin_clz(max);
}

static void coded_columns(const struct rft_encoder *e, uint32_t n, unsigned width, gboolean delta,
                          GByteArray *col[RFT_RUN_COLS])
{
	uint32_t last[4] = { 0 }, nid = 0;
	uint8_t *p;

	g_byte_array_append(col[RFT_COL_CODE], e->code, n);
	g_byte_array_append(col[RFT_COL_COUNT], e->count->data, e->count->len);
	/* Room for a whole number behind the last one. */
	g_byte_array_set_size(col[RFT_COL_ID], e->nid * width + 4);
	p = col[RFT_COL_ID]->data;
	for (uint32_t i = 0; i < n; i++) {
		unsigned t = e->code[i] & RF_TYPE_MASK;

		if (e->code[i] & RFT_CODE_SAME)
			continue;
		rft_put32(p, e->id[nid] - (delta ? last[t] : 0));
		last[t] = e->id[nid++];
		p += width;
	}
	g_byte_array_set_size(col[RFT_COL_ID], nid * width);
}

/* A run that its two bits can't describe. */
static void put_more(GByteArray *column, uint8_t code, uint64_t n)
{
	uint8_t more = (code & RF_TYPE_MASK) | (code & RFT_CODE_CONT ? MORE_CONT : 0);

	if (n < 32)
		more |= n << MORE_COUNT;
	g_byte_array_append(column, &more, 1);
	if (n >= 32)
		rft_put_varint(column, n);
}

/* Eight runs a turn; those behind the last one are dropped in the end. */
static void packed_columns(const struct rft_encoder *e, uint32_t nruns, unsigned low_bytes,
                           unsigned high_bits, GByteArray *col[RFT_RUN_COLS])
{
	const uint8_t *count = e->count->data;
	const uint8_t *const count_end = e->count->len ? count + e->count->len : count;
	const unsigned shift = 8 * low_bytes;
	uint32_t last[4] = { 0 }, id = 0;
	uint8_t *code, *high, *low;

	g_byte_array_set_size(col[RFT_COL_CODE], nruns / 4 + 8);
	g_byte_array_set_size(col[RFT_COL_ID], nruns / 8 * high_bits + 16);
	g_byte_array_set_size(col[RFT_COL_LOW], nruns * low_bytes + 4);
	code = col[RFT_COL_CODE]->data;
	high = col[RFT_COL_ID]->data;
	low = col[RFT_COL_LOW]->data;
	for (uint32_t i = 0; i < nruns; i += 8) {
		uint64_t bits = 0, codes = 0;
		unsigned here = MIN(8u, nruns - i);

		for (unsigned j = 0; j < here; j++) {
			uint8_t c = e->code[i + j], t = c & RF_TYPE_MASK, out = t;
			uint32_t page = c & RFT_CODE_SAME ? last[t] : e->id[id];

			id += !(c & RFT_CODE_SAME);
			last[t] = page;
			if (G_UNLIKELY((c & ~(RF_TYPE_MASK | RFT_CODE_SAME)) != 1 << RFT_CODE_COUNT)) {
				uint64_t n = c >> RFT_CODE_COUNT;

				if (n == 0)
					rft_get_varint(&count, count_end, &n);
				if (n != 1 || (c & RFT_CODE_CONT)) {
					out = MORE;
					put_more(col[RFT_COL_COUNT], c, n);
				}
			}
			codes |= (uint64_t)out << 2 * j;
			bits |= (uint64_t)(page >> shift) << j * high_bits;
			rft_put32(low, page);
			low += low_bytes;
		}
		rft_put16(code + i / 4, (uint16_t)codes);
		rft_put64(high + i / 8 * high_bits, bits);
	}
	g_byte_array_set_size(col[RFT_COL_CODE], (nruns + 3) / 4);
	g_byte_array_set_size(col[RFT_COL_ID], (nruns * high_bits + 7) / 8);
	g_byte_array_set_size(col[RFT_COL_LOW], nruns * low_bytes);
}

uint8_t rft_encoder_columns(const struct rft_encoder *e, enum rft_encoding enc, uint32_t n,
                            GByteArray *col[RFT_RUN_COLS])
{
	unsigned bits = bits_of(e->max), low, high;

	for (unsigned i = 0; i < RFT_RUN_COLS; i++)
		g_byte_array_set_size(col[i], 0);
	if (enc != RFT_PACKED) {
		coded_columns(e, n, (bits + 7) / 8, enc == RFT_DELTA, col);
		return (uint8_t)((bits + 7) / 8);
	}
	low = (bits - 1) / 8;
	for (high = 1; high < bits - 8 * low;)
		high *= 2;
	packed_columns(e, n, low, high, col);
	return RFT_PACKED_WIDTH(low, high);
}

/* ---- checking ---- */

/* Sixteen codes at once; what holds for one is 0xff in its place, else 0. */
typedef uint8_t codes __attribute__((vector_size(16)));

struct look {
	codes bad, no_count;
	codes same; /* their number */
};

/* There is no type 3, and only a single access goes on over pages. */
static inline void look_at_codes(struct look *l, const uint8_t *code)
{
	codes c, count;

	memcpy(&c, code, sizeof(c));
	count = c & 0xf << RFT_CODE_COUNT;
	l->bad |= (codes)((c & RF_TYPE_MASK) == RF_TYPE_MASK);
	l->bad |= (codes)((c & RFT_CODE_CONT) != 0) & (codes)(count != 1 << RFT_CODE_COUNT);
	l->no_count |= (codes)(count == 0);
	l->same -= (codes)((c & RFT_CODE_SAME) != 0);
}

static uint32_t sum_of(codes c)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < sizeof(c); i++)
		n += c[i];
	return n;
}

enum { BLOCK = 1024 }; /* codes; the number of each sixteenth fits into a byte */

static const char *check_coded(const struct rft_frame *f, const uint8_t *code)
{
	const uint32_t whole = f->runs & ~15u;
	uint8_t rest[sizeof(codes)];
	struct look l = { 0 };
	uint32_t same = 0;

	if (f->raw[RFT_COL_CODE] != f->runs)
		return "the code column has another length than the runs";
	for (uint32_t i = 0; i < whole; i += BLOCK) {
		l.same = (codes){ 0 };
		for (uint32_t j = i; j < MIN(i + BLOCK, whole); j += sizeof(codes))
			look_at_codes(&l, code + j);
		same += sum_of(l.same);
	}
	/* Behind the last code stand reads of one access. */
	memset(rest, 1 << RFT_CODE_COUNT, sizeof(rest));
	memcpy(rest, code + whole, f->runs - whole);
	l.same = (codes){ 0 };
	look_at_codes(&l, rest);
	same += sum_of(l.same);
	if (sum_of(l.bad) != 0)
		return "a code that does not exist";
	if (sum_of(l.no_count) != 0 && f->raw[RFT_COL_COUNT] == 0)
		return "the count column is malformed";
	if (f->width < 1 || f->width > 4)
		return "page numbers of an impossible width";
	if (f->raw[RFT_COL_ID] != (f->runs - same) * f->width || f->raw[RFT_COL_LOW] != 0)
		return "the page column has another length than its runs";
	return NULL;
}

static const char *check_packed(const struct rft_frame *f, const uint8_t *code)
{
	unsigned low = rft_low_bytes(f->width), high = rft_high_bits(f->width);

	if (low > 3 || (high != 1 && high != 2 && high != 4 && high != 8))
		return "page numbers of an impossible width";
	if (f->raw[RFT_COL_CODE] != (f->runs + 3) / 4)
		return "the code column has another length than the runs";
	if (f->raw[RFT_COL_ID] != ((uint64_t)f->runs * high + 7) / 8 ||
	    f->raw[RFT_COL_LOW] != f->runs * low)
		return "the page column has another length than the runs";
	if (f->runs % 4 != 0 && code[f->runs / 4] >> (f->runs % 4 * 2) != 0)
		return "codes behind the last run";
	return NULL;
}

const char *rft_decoder_init(struct rft_decoder *d, const struct rft_frame *f,
                             const uint8_t *const col[RFT_RUN_COLS])
{
	memset(d, 0, sizeof(*d));
	d->encoding = f->encoding;
	d->width = f->width;
	d->n = f->runs;
	d->code = col[RFT_COL_CODE];
	d->id = col[RFT_COL_ID];
	d->low = col[RFT_COL_LOW];
	d->count = col[RFT_COL_COUNT];
	d->count_end = d->count + f->raw[RFT_COL_COUNT];
	memset(d->last, f->encoding == RFT_DELTA ? 0 : 0xff, sizeof(d->last));
	switch (f->encoding) {
	case RFT_CODED:
	case RFT_DELTA:
		return check_coded(f, d->code);
	case RFT_PACKED:
		return check_packed(f, d->code);
	}
	return "an unknown encoding of runs";
}

/* ---- decoding ---- */

gboolean rft_long_count(struct rft_decoder *d, uint32_t *count)
{
	uint64_t v;

	if (!rft_get_varint(&d->count, d->count_end, &v) || v == 0 || v > UINT32_MAX)
		return FALSE;
	*count = (uint32_t)v;
	return TRUE;
}

/* The page of one code.  Without branches: whether a page repeats can't be predicted. */
static inline __attribute__((always_inline)) uint32_t
coded_page(unsigned code, const uint8_t **id, uint32_t last[4], unsigned width, gboolean delta)
{
	const uint32_t mask = width == 4 ? UINT32_MAX : (1u << (8 * width % 32)) - 1;
	unsigned t = code & RF_TYPE_MASK;
	uint32_t p = (rft_get32(*id) + (delta ? last[t] : 0)) & mask;

	p = code & RFT_CODE_SAME ? last[t] : p;
	*id += code & RFT_CODE_SAME ? 0 : width;
	return last[t] = p;
}

/* Eight codes a turn.  Inlined once a width. */
static inline __attribute__((always_inline)) gboolean
decode_coded(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type, uint32_t *count,
             uint32_t *max, unsigned width, gboolean delta)
{
	const uint8_t *code = d->code, *id = d->id;
	uint32_t last[4], m = 0, i = 0;

	memcpy(last, d->last, sizeof(last));
	for (; i + 8 <= n; i += 8) {
		uint64_t c = rft_get64(code + i), counts = c & (RFT_EACH_BYTE * 0xf << RFT_CODE_COUNT);
		gboolean has_long = ((counts - RFT_EACH_BYTE) & ~counts & RFT_EACH_BYTE << 7) != 0;

		rft_put64(type + i, (c & RFT_EACH_BYTE * RF_TYPE_MASK) |
		                    (c >> 1 & RFT_EACH_BYTE * RF_RUN_CONT));
#pragma GCC unroll 8
		for (unsigned j = 0; j < 8; j++, c >>= 8) {
			uint32_t p = coded_page((unsigned)c, &id, last, width, delta);

			page[i + j] = p;
			m = MAX(m, p);
			count[i + j] = (c & 0xff) >> RFT_CODE_COUNT;
		}
		for (unsigned j = 0; G_UNLIKELY(has_long) && j < 8; j++)
			if (count[i + j] == 0 && !rft_long_count(d, &count[i + j]))
				return FALSE;
	}
	for (; i < n; i++) {
		unsigned c = code[i];

		page[i] = coded_page(c, &id, last, width, delta);
		m = MAX(m, page[i]);
		type[i] = (c & RF_TYPE_MASK) | (c >> 1 & RF_RUN_CONT);
		count[i] = c >> RFT_CODE_COUNT;
		if (count[i] == 0 && !rft_long_count(d, &count[i]))
			return FALSE;
	}
	memcpy(d->last, last, sizeof(last));
	d->code = code + n;
	d->id = id;
	d->pos += n;
	*max = m;
	return TRUE;
}

static gboolean decode_more(struct rft_decoder *d, uint8_t *type, uint32_t *count)
{
	uint8_t c;

	if (d->count >= d->count_end)
		return FALSE;
	c = *d->count++;
	*type = c & (RF_TYPE_MASK | RF_RUN_CONT);
	*count = c >> MORE_COUNT;
	if ((c & RF_TYPE_MASK) == 3 || ((c & MORE_CONT) && *count != 1))
		return FALSE;
	return *count != 0 || rft_long_count(d, count);
}

/* The n runs from d->pos on, one by one. */
static gboolean packed_one_by_one(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type,
                                  uint32_t *count, uint32_t *max)
{
	const unsigned low_bytes = rft_low_bytes(d->width), high_bits = rft_high_bits(d->width);
	const uint32_t low_mask = (1u << 8 * low_bytes) - 1, high_mask = (1u << high_bits) - 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = d->pos + i, bit = at * high_bits;

		page[i] = (d->id[bit / 8] >> bit % 8 & high_mask) << 8 * low_bytes |
		          (rft_get32(d->low + (size_t)at * low_bytes) & low_mask);
		*max = MAX(*max, page[i]);
		type[i] = d->code[at / 4] >> (at % 4 * 2) & 3;
		count[i] = 1;
		if (type[i] == MORE && !decode_more(d, &type[i], &count[i]))
			return FALSE;
	}
	d->pos += n;
	return TRUE;
}

/* The same from a multiple of 4 on, four runs a turn: they share a byte of codes, and their low bytes
 * and high bits are two loads.  Inlined once a width. */
static inline __attribute__((always_inline)) gboolean
packed_fours(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type, uint32_t *count,
             uint32_t *max, unsigned low_bytes, unsigned high_bits)
{
	const unsigned shift = 8 * low_bytes;
	const uint32_t low_mask = (1u << shift) - 1, high_mask = (1u << high_bits) - 1;
	const uint8_t *code = d->code + d->pos / 4;
	const uint8_t *low = d->low + (size_t)d->pos * low_bytes;
	const uint32_t one[4] = { 1, 1, 1, 1 };
	uint32_t m = *max;

	for (uint32_t i = 0; i < n; i += 4, low += 4 * low_bytes) {
		uint64_t l = rft_get64(low);
		size_t bit = (size_t)(d->pos + i) * high_bits;
		uint32_t h = rft_get32(d->id + bit / 8), c = code[i / 4], p0, p1, p2, p3;

		if (high_bits == 1) /* four runs are half a byte */
			h >>= bit % 8;
		p0 = (h & high_mask) << shift | ((uint32_t)l & low_mask);
		p1 = (h >> high_bits & high_mask) << shift | ((uint32_t)(l >> shift) & low_mask);
		p2 = (h >> 2 * high_bits & high_mask) << shift | ((uint32_t)(l >> 2 * shift) & low_mask);
		p3 = (h >> 3 * high_bits & high_mask) << shift | ((uint32_t)(l >> 3 * shift) & low_mask);
		page[i] = p0;
		page[i + 1] = p1;
		page[i + 2] = p2;
		page[i + 3] = p3;
		p0 = MAX(p0, p1);
		p2 = MAX(p2, p3);
		p0 = MAX(p0, p2);
		m = MAX(m, p0);
		memcpy(count + i, one, sizeof(one));
		rft_put32(type + i, (c | c << 6 | c << 12 | c << 18) & 0x03030303);
		if (G_LIKELY((c & c >> 1 & 0x55) == 0))
			continue;
		for (unsigned j = 0; j < 4; j++)
			if (type[i + j] == MORE && !decode_more(d, &type[i + j], &count[i + j]))
				return FALSE;
	}
	d->pos += n;
	*max = m;
	return TRUE;
}

static gboolean decode_packed(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type,
                              uint32_t *count, uint32_t *max)
{
	uint32_t first = MIN(n, -d->pos & 3), fours;
	gboolean ok = TRUE;

	if (!packed_one_by_one(d, first, page, type, count, max))
		return FALSE;
	page += first;
	type += first;
	count += first;
	n -= first;
	fours = n & ~3u;
	switch (d->width) {
#define CASE(low, high) \
	case RFT_PACKED_WIDTH(low, high): \
		ok = packed_fours(d, fours, page, type, count, max, low, high); \
		break
	CASE(1, 1);
	CASE(1, 2);
	CASE(1, 4);
	CASE(1, 8);
	CASE(2, 1);
	CASE(2, 2);
	CASE(2, 4);
	CASE(2, 8);
#undef CASE
	default:
		fours = 0;
		break;
	}
	return ok && packed_one_by_one(d, n - fours, page + fours, type + fours, count + fours, max);
}

const char *rft_decode(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type,
                       uint32_t *count, uint32_t *max)
{
	gboolean ok;

	*max = 0;
	switch (d->encoding * 8 + d->width) {
#define CASE(enc, width) \
	case RFT_##enc * 8 + width: \
		ok = decode_coded(d, n, page, type, count, max, width, \
		                  RFT_##enc == RFT_DELTA); \
		break
	CASE(CODED, 1);
	CASE(CODED, 2);
	CASE(CODED, 3);
	CASE(CODED, 4);
	CASE(DELTA, 1);
	CASE(DELTA, 2);
	CASE(DELTA, 3);
	CASE(DELTA, 4);
#undef CASE
	default:
		ok = decode_packed(d, n, page, type, count, max);
		break;
	}
	if (!ok)
		return "the count column is malformed";
	if (d->pos == d->n && d->count != d->count_end)
		return "the count column goes on behind the last run";
	return NULL;
}
