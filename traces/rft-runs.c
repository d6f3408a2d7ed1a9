/* SPDX-License-Identifier: MIT
 * The columns of runs of a .rft frame, both ways; rft.h describes the two encodings.
 */
#include <string.h>

#include "traces/rft.h"

#define CODE_SAME 4
#define CODE_CONT 8
#define CODE_COUNT 4 /* shift */
#define MORE 3       /* RFT_PACKED: see the count column */
#define MORE_CONT 4
#define MORE_COUNT 3 /* shift */

/* ---- encoding ---- */

void rft_encoder_init(struct rft_encoder *e)
{
	memset(e, 0, sizeof(*e));
	e->code = g_malloc(RFT_RUNS_MAX);
	e->id = g_new(uint32_t, RFT_RUNS_MAX);
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

void rft_encode(struct rft_encoder *e, uint32_t page, uint8_t type, uint32_t count)
{
	unsigned t = type & RF_TYPE_MASK;
	uint8_t code = t | (type & RF_RUN_CONT ? CODE_CONT : 0);

	if (e->last[t] == page) {
		code |= CODE_SAME;
	} else {
		e->id[e->nid++] = page;
		e->last[t] = page;
		e->max = MAX(e->max, page);
	}
	if (count < 16)
		code |= count << CODE_COUNT;
	else
		rft_put_varint(e->count, count);
	e->code[e->n++] = code;
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

		if (e->code[i] & CODE_SAME)
			continue;
		rft_put32(p, e->id[nid] - (delta ? last[t] : 0));
		last[t] = e->id[nid++];
		p += width;
	}
	g_byte_array_set_size(col[RFT_COL_ID], nid * width);
}

static void packed_columns(const struct rft_encoder *e, uint32_t nruns, unsigned width,
                           GByteArray *col[RFT_RUN_COLS])
{
	const uint8_t *count = e->count->data, *count_end = count + e->count->len;
	uint32_t last[4] = { 0 }, id = 0, mask = (uint32_t)(((uint64_t)1 << width) - 1);
	uint8_t *code, *hi, *low;
	uint64_t bits = 0;
	unsigned nbits = 0;

	g_byte_array_set_size(col[RFT_COL_CODE], (nruns + 3) / 4);
	g_byte_array_set_size(col[RFT_COL_ID], nruns);
	g_byte_array_set_size(col[RFT_COL_LOW], (guint)(((uint64_t)nruns * width + 7) / 8));
	code = col[RFT_COL_CODE]->data;
	memset(code, 0, col[RFT_COL_CODE]->len);
	hi = col[RFT_COL_ID]->data;
	low = col[RFT_COL_LOW]->data;
	for (uint32_t i = 0; i < nruns; i++) {
		uint8_t c = e->code[i], t = c & RF_TYPE_MASK, out = t;
		uint64_t n = c >> CODE_COUNT;

		if (!(c & CODE_SAME))
			last[t] = e->id[id++];
		if (n == 0)
			rft_get_varint(&count, count_end, &n);
		if (n != 1 || (c & CODE_CONT)) {
			uint8_t more = t | (c & CODE_CONT ? MORE_CONT : 0);

			out = MORE;
			if (n < 32)
				more |= n << MORE_COUNT;
			g_byte_array_append(col[RFT_COL_COUNT], &more, 1);
			if (n >= 32)
				rft_put_varint(col[RFT_COL_COUNT], n);
		}
		code[i / 4] |= out << (i % 4 * 2);
		hi[i] = (uint8_t)(last[t] >> width);
		bits |= (uint64_t)(last[t] & mask) << nbits;
		for (nbits += width; nbits >= 8; nbits -= 8, bits >>= 8)
			*low++ = (uint8_t)bits;
	}
	if (nbits > 0)
		*low = (uint8_t)bits;
}

uint8_t rft_encoder_columns(const struct rft_encoder *e, enum rft_encoding enc, uint32_t n,
                            GByteArray *col[RFT_RUN_COLS])
{
	unsigned bits = bits_of(e->max), width;

	for (unsigned i = 0; i < RFT_RUN_COLS; i++)
		g_byte_array_set_size(col[i], 0);
	if (enc == RFT_PACKED) {
		width = bits > 8 ? bits - 8 : 0;
		packed_columns(e, n, width, col);
	} else {
		width = (bits + 7) / 8;
		coded_columns(e, n, width, enc == RFT_DELTA, col);
	}
	return (uint8_t)width;
}

/* ---- checking ---- */

static const char *check_coded(const struct rft_frame *f, const uint8_t *code)
{
	uint32_t same = 0, bad = 0;

	if (f->raw[RFT_COL_CODE] != f->runs)
		return "the code column has another length than the runs";
	for (uint32_t i = 0; i < f->runs; i++) {
		uint8_t c = code[i];

		same += c >> 2 & 1;
		bad |= (c & RF_TYPE_MASK) == 3;
		bad |= (c & CODE_CONT) && c >> CODE_COUNT != 1;
	}
	if (bad)
		return "a code that does not exist";
	if (f->width < 1 || f->width > 4)
		return "page numbers of an impossible width";
	if (f->raw[RFT_COL_ID] != (f->runs - same) * f->width || f->raw[RFT_COL_LOW] != 0)
		return "the page column has another length than its runs";
	return NULL;
}

static const char *check_packed(const struct rft_frame *f, const uint8_t *code)
{
	if (f->width > 24)
		return "page numbers of an impossible width";
	if (f->raw[RFT_COL_CODE] != (f->runs + 3) / 4)
		return "the code column has another length than the runs";
	if (f->raw[RFT_COL_ID] != f->runs ||
	    f->raw[RFT_COL_LOW] != ((uint64_t)f->runs * f->width + 7) / 8)
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

static gboolean long_count(struct rft_decoder *d, uint32_t *count)
{
	uint64_t v;

	if (!rft_get_varint(&d->count, d->count_end, &v) || v == 0 || v > UINT32_MAX)
		return FALSE;
	*count = (uint32_t)v;
	return TRUE;
}

/* Inlined once a width. */
static inline __attribute__((always_inline)) gboolean
decode_coded(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type, uint32_t *count,
             unsigned width, gboolean delta)
{
	const uint8_t *code = d->code, *id = d->id;
	const uint32_t mask = width == 4 ? UINT32_MAX : (1u << (8 * width % 32)) - 1;
	uint32_t last[4];

	memcpy(last, d->last, sizeof(last));
	for (uint32_t i = 0; i < n; i++) {
		unsigned c = code[i], t = c & RF_TYPE_MASK, same = c >> 2 & 1;
		uint32_t p = (rft_get32(id) + (delta ? last[t] : 0)) & mask;

		p = same ? last[t] : p;
		id += same ? 0 : width;
		last[t] = p;
		page[i] = p;
		type[i] = (uint8_t)(t | (c & CODE_CONT) >> 1);
		count[i] = c >> CODE_COUNT;
		if (G_UNLIKELY(count[i] == 0) && !long_count(d, &count[i]))
			return FALSE;
	}
	memcpy(d->last, last, sizeof(last));
	d->code = code + n;
	d->id = id;
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
	return *count != 0 || long_count(d, count);
}

static gboolean decode_packed(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type,
                              uint32_t *count)
{
	const unsigned width = d->width;
	const uint32_t mask = (1u << width) - 1;
	const uint8_t *hi = d->id + d->pos, *low = d->low;
	uint64_t bit = (uint64_t)d->pos * width;

	for (uint32_t i = 0; i < n; i++, bit += width)
		page[i] = (uint32_t)hi[i] << width | (rft_get32(low + (bit >> 3)) >> (bit & 7) & mask);
	for (uint32_t i = 0; i < n; i++)
		count[i] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = d->pos + i;

		type[i] = d->code[at >> 2] >> ((at & 3) * 2) & 3;
		if (G_UNLIKELY(type[i] == MORE) && !decode_more(d, &type[i], &count[i]))
			return FALSE;
	}
	return TRUE;
}

const char *rft_decode(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type,
                       uint32_t *count, uint32_t *max)
{
	uint32_t m = 0;
	gboolean ok;

	switch (d->encoding * 8 + d->width) {
#define CASE(enc, width) \
	case RFT_##enc * 8 + width: \
		ok = decode_coded(d, n, page, type, count, width, RFT_##enc == RFT_DELTA); \
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
		ok = decode_packed(d, n, page, type, count);
		break;
	}
	if (!ok)
		return "the count column is malformed";
	d->pos += n;
	if (d->pos == d->n && d->count != d->count_end)
		return "the count column goes on behind the last run";
	for (uint32_t i = 0; i < n; i++)
		m = MAX(m, page[i]);
	*max = m;
	return NULL;
}
