/* SPDX-License-Identifier: MIT
 * Runs of some pages of a .rft frame.
 *
 * RFT_CODED has a page number only where a run's page is not the last one of its type, and nothing else
 * needs to be known of runs that nobody wants: numbers are looked through by themselves, and codes
 * between two wanted ones only counted.  So it is with RFT_DELTA, where stretches that were seen before
 * need not be added up again.  RFT_PACKED is decoded, and sifted.
 */
#include <string.h>

#include "traces/rft.h"

void rft_selection_clear(struct rft_selection *s)
{
	g_free(s->skip);
	g_free(s->at);
	g_free(s->page);
	memset(s, 0, sizeof(*s));
}

void rft_selection_reset(struct rft_selection *s)
{
	s->npages = 0;
}

void rft_selection_add(struct rft_selection *s, gboolean wanted)
{
	if (s->npages == s->size) {
		s->size = (uint32_t)MIN(MAX(4096, (uint64_t)s->size + s->size / 2), UINT32_MAX);
		s->skip = g_renew(uint8_t, s->skip, s->size);
	}
	s->skip[s->npages++] = !wanted;
}

/* A page that has no name is wanted, too: an error waits there. */
static inline gboolean wanted(const struct rft_selection *s, uint32_t page)
{
	return page >= s->npages || !s->skip[page];
}

/* ---- page numbers ---- */

static inline void keep(struct rft_selection *s, uint32_t at, uint32_t page)
{
	s->at[s->n] = at;
	s->page[s->n++] = page;
}

static inline __attribute__((always_inline)) void
look_through(struct rft_selection *s, const uint8_t *id, uint32_t ids, unsigned width)
{
	const uint32_t mask = UINT32_MAX >> (32 - 8 * width);

	for (uint32_t i = 0; i < ids; i++, id += width) {
		uint32_t page = rft_get32(id) & mask;

		if (G_UNLIKELY(wanted(s, page)))
			keep(s, i, page);
	}
}

/* The last pages of all types, in one register: to wait for the one that was just stored takes
 * longer than all the rest. */
typedef uint32_t by_type __attribute__((vector_size(16)));

/* So many codes.  Programs repeat themselves: what begins with the same pages leads to the same. */
enum { STRETCH = 64, STRETCHES = 128 };

/* One with no wanted page in it. */
struct stretch {
	const uint8_t *code, *id;
	by_type begin, end;
	uint32_t ids;
};

static struct stretch *stretch_of(struct stretch *known, const uint8_t *code)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < STRETCH; i += 8)
		hash = (hash ^ rft_get64(code + i)) * UINT64_C(0x9E3779B97F4A7C15);
	return &known[hash >> 32 & (STRETCHES - 1)];
}

static gboolean is_known(const struct stretch *k, const uint8_t *code, const uint8_t *id, by_type last,
                         unsigned width)
{
	return k->code && memcmp(k->code, code, STRETCH) == 0 && memcmp(&k->begin, &last, sizeof(last)) == 0 &&
	       memcmp(k->id, id, k->ids * width) == 0;
}

/* Differences are added up. */
static void look_through_differences(struct rft_selection *s, const struct rft_decoder *d,
                                     const struct rft_frame *f)
{
	static const by_type only[4] = { { -1, 0, 0, 0 }, { 0, -1, 0, 0 }, { 0, 0, -1, 0 }, { 0, 0, 0, -1 } };
	const uint32_t mask = UINT32_MAX >> (32 - 8 * d->width);
	struct stretch known[STRETCHES] = { { 0 } };
	const uint8_t *id = d->id;
	by_type last = { 0 };
	uint32_t i = 0;

	s->by_code = f->raw[RFT_COL_COUNT] == 0;
	for (uint32_t begin = 0; begin < d->n; begin += STRETCH) {
		const uint8_t *code = d->code + begin;
		const uint32_t n = MIN(d->n - begin, STRETCH), before = s->n;
		struct stretch *k = n == STRETCH ? stretch_of(known, code) : NULL, now = { code, id, last, last, i };

		if (k && is_known(k, code, id, last, d->width)) {
			last = k->end;
			i += k->ids;
			id += k->ids * d->width;
			continue;
		}
		for (uint32_t j = 0; j < n; j += 8) {
			uint64_t c = rft_get64(code + j), own = ~c >> 2 & RFT_EACH_BYTE;

			if (n - j < 8)
				own &= ((uint64_t)1 << 8 * (n - j)) - 1;
			for (; own != 0; own &= own - 1, id += d->width) {
				const unsigned bit = (unsigned)__builtin_ctzll(own);
				const unsigned type = c >> bit & RF_TYPE_MASK;
				by_type stored;
				uint32_t page;

				last += only[type] & rft_get32(id);
				stored = last;
				page = stored[type] & mask;
				if (G_UNLIKELY(wanted(s, page)))
					keep(s, s->by_code ? begin + j + bit / 8 : i, page);
				i++;
			}
		}
		last &= mask;
		now.end = last;
		now.ids = i - now.ids;
		if (k && s->n == before)
			*k = now;
	}
}

void rft_select_begin(struct rft_selection *s, const struct rft_decoder *d, const struct rft_frame *f)
{
	uint32_t ids;

	s->n = s->next = s->id = 0;
	s->live = 0;
	s->by_code = FALSE;
	if (d->encoding == RFT_PACKED)
		return;
	ids = f->raw[RFT_COL_ID] / d->width;
	if (ids >= s->at_size) {
		s->at_size = MAX(ids, RFT_RUNS_MAX) + 1;
		s->at = g_renew(uint32_t, s->at, s->at_size);
		s->page = g_renew(uint32_t, s->page, s->at_size);
	}
	switch (d->encoding * 8 + d->width) {
	case RFT_CODED * 8 + 1:
		look_through(s, d->id, ids, 1);
		break;
	case RFT_CODED * 8 + 2:
		look_through(s, d->id, ids, 2);
		break;
	case RFT_CODED * 8 + 3:
		look_through(s, d->id, ids, 3);
		break;
	case RFT_CODED * 8 + 4:
		look_through(s, d->id, ids, 4);
		break;
	default:
		look_through_differences(s, d, f);
	}
	s->at[s->n] = UINT32_MAX;
}

/* ---- runs ---- */

/* The bytes, added up; no more than 255. */
static inline unsigned sum_of(uint64_t bytes)
{
	return (unsigned)(bytes * RFT_EACH_BYTE >> 56);
}

enum { BLOCK = 64 }; /* codes at once */

/* Pass over n codes at most, none of which is wanted, up to one whose page number is.  Returns how
 * many; *longs: of them with a long count. */
static uint32_t pass_over(struct rft_selection *s, const uint8_t *code, uint32_t n, uint32_t *longs)
{
	const uint32_t stop = s->at[s->next];
	uint32_t i = 0, id = s->id, shorts = 0;

	for (; i + BLOCK <= n; i += BLOCK) {
		uint64_t same = 0, some = 0;

		for (unsigned j = 0; j < BLOCK; j += 8) {
			uint64_t c = rft_get64(code + i + j);

			same += c >> 2 & RFT_EACH_BYTE;
			some += (c >> 4 | c >> 5 | c >> 6 | c >> 7) & RFT_EACH_BYTE;
		}
		if (id + BLOCK - sum_of(same) > stop)
			break;
		id += BLOCK - sum_of(same);
		shorts += sum_of(some);
	}
	for (; i < n; i++) {
		if (!(code[i] & RFT_CODE_SAME)) {
			if (id == stop)
				break;
			id++;
		}
		shorts += code[i] >> RFT_CODE_COUNT != 0;
	}
	s->id = id;
	*longs = i - shorts;
	return i;
}

static gboolean pass_over_longs(struct rft_decoder *d, uint32_t longs)
{
	uint32_t count;

	while (longs--)
		if (!rft_long_count(d, &count))
			return FALSE;
	return TRUE;
}

static inline uint32_t place_of(const struct rft_decoder *d, const uint8_t *code)
{
	return d->pos + (uint32_t)(code - d->code);
}

static gboolean select_runs(struct rft_decoder *d, struct rft_selection *s, uint32_t until,
                            uint32_t *page, uint8_t *type, uint32_t *count, uint32_t *n, uint32_t *max)
{
	const uint8_t *code = d->code, *const end = code + (until - d->pos);
	uint32_t out = 0, longs;

	while (code < end && out < RFT_SELECT_MOST) {
		unsigned c, t;

		if (!s->live) {
			uint32_t left = (uint32_t)(end - code);

			if (s->by_code) {
				code += MIN(left, s->at[s->next] - place_of(d, code));
			} else {
				code += pass_over(s, code, left, &longs);
				if (!pass_over_longs(d, longs))
					return FALSE;
			}
			if (code == end)
				break;
		}
		if (s->by_code)
			s->id = place_of(d, code);
		c = *code++;
		t = c & RF_TYPE_MASK;
		if (!(c & RFT_CODE_SAME)) {
			s->live &= ~(1u << t);
			if (s->id == s->at[s->next]) {
				s->live |= 1u << t;
				d->last[t] = s->page[s->next++];
				*max = MAX(*max, d->last[t]);
			}
			s->id++;
		}
		page[out] = d->last[t];
		type[out] = t | (c >> 1 & RF_RUN_CONT);
		count[out] = c >> RFT_CODE_COUNT;
		if (count[out] == 0 && !rft_long_count(d, &count[out]))
			return FALSE;
		out += s->live >> t & 1;
	}
	d->pos = place_of(d, code);
	d->code = code;
	*n = out;
	return TRUE;
}

/* ---- packed ---- */

/* Keep the wanted ones of n runs, whose highest page is *max; returns how many. */
static uint32_t sift(const struct rft_selection *s, uint32_t n, uint32_t *page, uint8_t *type,
                     uint32_t *count, uint32_t *max)
{
	const uint8_t *const skip = s->skip;
	const gboolean named = *max < s->npages;
	uint32_t out = 0, i = 0;

	*max = 0;
	while (i < n) {
		/* Four by four past those that nobody wants. */
		if (named && i + 4 <= n &&
		    (skip[page[i]] & skip[page[i + 1]] & skip[page[i + 2]] & skip[page[i + 3]])) {
			i += 4;
			continue;
		}
		for (uint32_t end = MIN(i + 4, n); i < end; i++) {
			if (!wanted(s, page[i]))
				continue;
			page[out] = page[i];
			type[out] = type[i];
			count[out++] = count[i];
			*max = MAX(*max, page[i]);
		}
	}
	return out;
}

const char *rft_select(struct rft_decoder *d, struct rft_selection *s, uint32_t until, uint32_t *page,
                       uint8_t *type, uint32_t *count, uint32_t *n, uint32_t *max)
{
	const char *problem;

	*max = 0;
	if (d->encoding == RFT_PACKED) {
		*n = MIN(until - d->pos, RFT_SELECT_MOST);
		problem = rft_decode(d, *n, page, type, count, max);
		if (problem == NULL)
			*n = sift(s, *n, page, type, count, max);
		return problem;
	}
	if (!select_runs(d, s, until, page, type, count, n, max))
		return "the count column is malformed";
	if (d->pos == d->n && d->count != d->count_end)
		return "the count column goes on behind the last run";
	return NULL;
}
