/* SPDX-License-Identifier: MIT
 * The .rft container, format versions 1 and 2: layout shared by its reader and its writer.  The format is
 * described in refault-trace(5).
 *
 *	file   = head frame... index foot
 *	frame  = frame-head, then one zstd frame a column
 *
 * head, frame-head, index and foot are chunks: skippable zstd frames, whose payload is a tag, members
 * and a hash of all before it.  All numbers are little-endian.
 */
#ifndef RF_RFT_H
#define RF_RFT_H

#include "traces/trace.h"

/* Version 2 only has longer frames, up to a fifth smaller, since programs repeat themselves over some
 * millions of runs; a writer uses it for what `refault record --exact` keeps, and otherwise version 1, whose
 * frames stay in a cache: a sampled curve takes half the time from it. */
#define RFT_VERSION 1
#define RFT_VERSION_LONG 2
#define RFT_BYTE_ORDER 0x0201

#define RFT_SKIPPABLE 0x184D2A5Au
#define RFT_CHUNK_HEAD 8 /* the skippable magic and the payload's size */
#define RFT_HASH 8

#define RFT_TAG_HEAD "RFTH"
#define RFT_TAG_FRAME "RFTD"
#define RFT_TAG_INDEX "RFTI"
#define RFT_TAG_FOOT "RFTF"

/* Bounds, so that a reader knows its memory: a writer closes a frame before it exceeds them.  By
 * version; RFT_RUNS_MAX is of both. */
#define rft_runs_max(version) ((version) == RFT_VERSION ? 1u << 20 : RFT_RUNS_MAX)
#define RFT_RUNS_MAX (4u << 20)
/* All columns of a frame, decompressed, and where a writer closes it. */
#define rft_raw_max(version) ((version) == RFT_VERSION ? 4u << 20 : 16u << 20)
#define rft_raw_close(version) (rft_raw_max(version) / 2)
#define RFT_HEADER_MAX (1u << 20) /* the head's payload */
#define RFT_STRING_MAX 65535u

/* ORDER columns: as they stand in the file. */
enum rft_column {
	RFT_COL_CODE,  /* what kind of run */
	RFT_COL_ID,    /* pages, or their high bits */
	RFT_COL_LOW,   /* their low bytes, RFT_PACKED only */
	RFT_COL_COUNT, /* counts that found no room in the code */
	RFT_COL_NAME,  /* names of new pages */
	RFT_COL_EVENT, /* events and task switches */
	RFT_NCOLS
};
#define RFT_RUN_COLS RFT_COL_NAME /* the columns before it hold the runs */

/* How a frame's runs are written.
 * RFT_CODED: a byte a run, bits 0..1 type, 2 the page is the last one of this type, 3 CONT, 4..7
 * count, 0: in the count column; the other pages as numbers of `width` bytes.  Programs repeat
 * themselves, which zstd finds.
 * RFT_DELTA: the same, but the numbers are differences to the last page of this type, modulo
 * 256^width, from 0.  For scans.
 * RFT_PACKED: two bits a run: its type, one access, or 3: a byte in the count column says more (bits
 * 0..1 type, 2 CONT, 3..7 count, 0: follows as a varint).  All pages: `width` low bytes a page in the
 * column of low bits, the bits above them in that of pages, 1, 2, 4 or 8 to a page (rft_high_bits).
 * For random accesses, where only the high bits can be compressed: fewer of them are faster to
 * decompress, the others are only copied.
 */
enum rft_encoding { RFT_CODED, RFT_DELTA, RFT_PACKED, RFT_NENCODINGS };

/* RFT_PACKED: bits a page in the column of high bits, from `width`'s upper half; the lower half is the
 * number of low bytes, at most 3. */
#define RFT_PACKED_WIDTH(low_bytes, high_bits) ((uint8_t)((low_bytes) | (high_bits) << 4))
#define rft_low_bytes(width) ((width) & 15)
#define rft_high_bits(width) ((width) >> 4)

/* Parts of a code of RFT_CODED and RFT_DELTA; the lowest two bits are the type. */
#define RFT_CODE_SAME 4
#define RFT_CODE_CONT 8
#define RFT_CODE_COUNT 4 /* shift */
#define RFT_EACH_BYTE UINT64_C(0x0101010101010101) /* for eight codes at once */

/* The numbers of a frame-head. */
struct rft_frame {
	uint32_t seq;
	uint64_t first_record;
	uint32_t first_page, runs, events, pages;
	uint32_t tid; /* at the first run */
	uint8_t encoding, width;
	uint64_t accesses[RF_NACCESS], lost;
	uint32_t raw[RFT_NCOLS], packed[RFT_NCOLS]; /* sizes of the columns */
	uint64_t data_hash;                         /* of the packed columns */
};
#define RFT_FRAME_SIZE (4 + 4 + 8 + 5 * 4 + 4 + 4 * 8 + RFT_NCOLS * 8 + 8 + RFT_HASH)

struct rft_foot {
	uint32_t frames;
	uint64_t index_offset;
	struct rf_totals totals;
	uint64_t chain; /* of the hashes of head, frame-heads and index */
};
#define RFT_FOOT_SIZE (4 + 4 + 8 + 11 * 8 + 8 + RFT_HASH)

/* An entry of the index. */
struct rft_index {
	uint64_t offset; /* of the frame-head */
	uint32_t runs, events;
};
#define RFT_INDEX_ENTRY 16

/* ---- numbers (rft.c) ---- */

static inline void rft_put16(uint8_t *p, uint16_t v)
{
	v = GUINT16_TO_LE(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline void rft_put32(uint8_t *p, uint32_t v)
{
	v = GUINT32_TO_LE(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline void rft_put64(uint8_t *p, uint64_t v)
{
	v = GUINT64_TO_LE(v);
	__builtin_memcpy(p, &v, sizeof(v));
}

static inline uint16_t rft_get16(const uint8_t *p)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return GUINT16_FROM_LE(v);
}

static inline uint32_t rft_get32(const uint8_t *p)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return GUINT32_FROM_LE(v);
}

static inline uint64_t rft_get64(const uint8_t *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return GUINT64_FROM_LE(v);
}

uint64_t rft_hash(const void *data, size_t n);
uint64_t rft_chain(uint64_t chain, uint64_t hash);

/* LEB128.  get: FALSE when it does not end before end, or does not fit into 64 bits. */
void rft_put_varint(GByteArray *a, uint64_t v);
gboolean rft_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v);

/* ---- chunks (rft.c) ---- */

/* Append a chunk's head and tag; members are then appended, and rft_chunk_end fills in size and
 * hash, which it returns. */
void rft_chunk_begin(GByteArray *a, const char *tag);
uint64_t rft_chunk_end(GByteArray *a);

void rft_frame_write(GByteArray *a, const struct rft_frame *f);
void rft_foot_write(GByteArray *a, const struct rft_foot *f);
/* From a payload of the right size whose hash was checked. */
void rft_frame_parse(struct rft_frame *f, const uint8_t *payload);
void rft_foot_parse(struct rft_foot *f, const uint8_t *payload);

/* The head's text: sections of key=value lines (rft-header.c). */
void rft_header_write(GString *text, const struct rf_header *h);
/* FALSE: *problem says what. */
gboolean rft_header_parse(struct rf_header *h, const char *text, size_t n, const char **problem);

/* ---- events (rft-event.c) ---- */

#define RFT_SWITCH 255 /* in the place of an event's kind: another task runs; tid follows */

void rft_event_write(GByteArray *a, const struct rf_event *ev);
/* Kind was read already; strings go to the chunk.  FALSE: malformed. */
gboolean rft_event_read(const uint8_t **p, const uint8_t *end, struct rf_event *ev,
                        GStringChunk *strings);

/* ---- runs (rft-runs.c) ---- */

/* A frame's runs while it is written. */
struct rft_encoder {
	uint8_t *code;  /* as RFT_CODED */
	uint32_t *id;   /* those that are not "the last one of this type" */
	GByteArray *count;
	uint32_t n, nid, max;
	uint32_t last[4];
};

/* For at most so many runs. */
void rft_encoder_init(struct rft_encoder *e, uint32_t runs_max);
void rft_encoder_clear(struct rft_encoder *e);
void rft_encoder_reset(struct rft_encoder *e);
static inline size_t rft_encoder_raw(const struct rft_encoder *e)
{
	return e->n + 3 * (size_t)e->nid + e->count->len;
}
#define RFT_RUN_RAW_MAX 9 /* what a run may add to that */
void rft_encode(struct rft_encoder *e, uint32_t n, const uint32_t *page, const uint8_t *type,
                const uint32_t *count);
/* The columns of the first n runs in one encoding; returns the width. */
uint8_t rft_encoder_columns(const struct rft_encoder *e, enum rft_encoding enc, uint32_t n,
                            GByteArray *col[RFT_RUN_COLS]);

/* The runs of a frame while it is read. */
struct rft_decoder {
	uint8_t encoding, width;
	uint32_t n, pos; /* runs in all, and handed out */
	const uint8_t *code, *id, *low, *count, *count_end;
	uint32_t last[4];
};

/* Check the columns and start.  There must be 8 bytes that may be read behind each.  NULL, or what is
 * wrong. */
const char *rft_decoder_init(struct rft_decoder *d, const struct rft_frame *f,
                             const uint8_t *const col[RFT_RUN_COLS]);
/* The next n runs, which must be there; room for n rounded up to 4 in each.  *max: the highest page.
 * NULL, or what is wrong. */
const char *rft_decode(struct rft_decoder *d, uint32_t n, uint32_t *page, uint8_t *type,
                       uint32_t *count, uint32_t *max);

/* A count that found no room in its code.  FALSE: malformed. */
gboolean rft_long_count(struct rft_decoder *d, uint32_t *count);

/* ---- some runs (rft-select.c) ---- */

/* Who wants only the runs of some pages does not need to have all decoded. */
struct rft_selection {
	uint8_t *skip; /* by page: nobody wants it */
	uint32_t npages, size;
	/* But for RFT_PACKED: where among the frame's page numbers, or by_code among its codes, the
	 * wanted ones are, and where the decoder is. */
	uint32_t *at, *page, n, next, at_size;
	uint32_t id;
	gboolean by_code;
	uint8_t live; /* a bit a type: its last page is wanted */
};

void rft_selection_clear(struct rft_selection *s);
/* Before the frames: of no page anything is known. */
void rft_selection_reset(struct rft_selection *s);
/* The next page by number. */
void rft_selection_add(struct rft_selection *s, gboolean wanted);
/* A frame begins; d was initialized with it, and its pages are added. */
void rft_select_begin(struct rft_selection *s, const struct rft_decoder *d, const struct rft_frame *f);
/* Go on to run `until', or less far, at most RFT_SELECT_MOST wanted runs and as many others; *n: the
 * wanted ones.  Else as rft_decode. */
#define RFT_SELECT_MOST 8192
const char *rft_select(struct rft_decoder *d, struct rft_selection *s, uint32_t until, uint32_t *page,
                       uint8_t *type, uint32_t *count, uint32_t *n, uint32_t *max);

#endif
