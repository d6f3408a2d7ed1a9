/* SPDX-License-Identifier: MIT
 * Numbers, hashes and chunks of the .rft container.
 */
#include "traces/rft.h"

#include <string.h>

#define H1 0x9FB21C651E98DF25u
#define H2 0xD6E8FEB86659FD93u

static inline uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline uint64_t step(uint64_t lane, const uint8_t *p)
{
	return rotl((lane ^ rft_get64(p)) * H1, 29);
}

static inline uint64_t fold(uint64_t h, uint64_t lane)
{
	h = (h ^ lane ^ lane >> 32) * H2;
	return h ^ h >> 31;
}

/* Every step is a bijection of the lane for a given word, so that a change of one word always changes
 * its lane; six lanes keep the multiplier busy. */
uint64_t rft_hash(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t l0 = H1, l1 = H2, l2 = ~H1, l3 = ~H2, l4 = H1 ^ H2, l5 = ~(H1 ^ H2), h = n * H1;
	uint8_t tail[48] = { 0 };

	for (; n >= sizeof(tail); n -= sizeof(tail), p += sizeof(tail)) {
		l0 = step(l0, p);
		l1 = step(l1, p + 8);
		l2 = step(l2, p + 16);
		l3 = step(l3, p + 24);
		l4 = step(l4, p + 32);
		l5 = step(l5, p + 40);
	}
	if (n > 0)
		memcpy(tail, p, n);
	h = fold(h, step(l0, tail));
	h = fold(h, step(l1, tail + 8));
	h = fold(h, step(l2, tail + 16));
	h = fold(h, step(l3, tail + 24));
	h = fold(h, step(l4, tail + 32));
	h = fold(h, step(l5, tail + 40));
	return h ^ h >> 29;
}

uint64_t rft_chain(uint64_t chain, uint64_t hash)
{
	return rotl((chain ^ hash) * H2, 27) + H1;
}

void rft_put_varint(GByteArray *a, uint64_t v)
{
	uint8_t b[10];
	unsigned n = 0;

	while (v >= 0x80) {
		b[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	b[n++] = (uint8_t)v;
	g_byte_array_append(a, b, n);
}

gboolean rft_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	uint64_t x = 0;

	for (unsigned shift = 0; *p < end; shift += 7) {
		uint8_t b = *(*p)++;

		if (shift == 63 && b > 1)
			return FALSE;
		x |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80) {
			*v = x;
			return TRUE;
		}
	}
	return FALSE;
}

/* ---- chunks ---- */

void rft_chunk_begin(GByteArray *a, const char *tag)
{
	uint8_t head[RFT_CHUNK_HEAD] = { 0 };

	rft_put32(head, RFT_SKIPPABLE);
	g_byte_array_append(a, head, sizeof(head));
	g_byte_array_append(a, (const uint8_t *)tag, 4);
}

uint64_t rft_chunk_end(GByteArray *a)
{
	uint8_t hash[RFT_HASH];
	uint64_t h;

	rft_put32(a->data + 4, a->len - RFT_CHUNK_HEAD + RFT_HASH);
	h = rft_hash(a->data, a->len);
	rft_put64(hash, h);
	g_byte_array_append(a, hash, sizeof(hash));
	return h;
}

/* One list of members for both directions: put or get, at a moving place. */
struct cursor {
	uint8_t *p;
	gboolean put;
};

static void io8(struct cursor *c, uint8_t *v)
{
	if (c->put)
		*c->p = *v;
	else
		*v = *c->p;
	c->p++;
}

static void io32(struct cursor *c, uint32_t *v)
{
	if (c->put)
		rft_put32(c->p, *v);
	else
		*v = rft_get32(c->p);
	c->p += 4;
}

static void io64(struct cursor *c, uint64_t *v)
{
	if (c->put)
		rft_put64(c->p, *v);
	else
		*v = rft_get64(c->p);
	c->p += 8;
}

static void frame_members(struct cursor *c, struct rft_frame *f)
{
	uint8_t spare = 0;

	io32(c, &f->seq);
	io64(c, &f->first_record);
	io32(c, &f->first_page);
	io32(c, &f->runs);
	io32(c, &f->events);
	io32(c, &f->pages);
	io32(c, &f->tid);
	io8(c, &f->encoding);
	io8(c, &f->width);
	io8(c, &spare);
	io8(c, &spare);
	for (unsigned i = 0; i < RF_NACCESS; i++)
		io64(c, &f->accesses[i]);
	io64(c, &f->lost);
	for (unsigned i = 0; i < RFT_NCOLS; i++) {
		io32(c, &f->raw[i]);
		io32(c, &f->packed[i]);
	}
	io64(c, &f->data_hash);
}

static void foot_members(struct cursor *c, struct rft_foot *f)
{
	struct rf_totals *t = &f->totals;

	io32(c, &f->frames);
	io64(c, &f->index_offset);
	for (unsigned i = 0; i < RF_NACCESS; i++)
		io64(c, &t->accesses[i]);
	io64(c, &t->runs);
	io64(c, &t->events);
	io64(c, &t->lost);
	io64(c, &t->pages);
	for (unsigned i = 0; i < 3; i++)
		io64(c, &t->footprint[i]);
	io64(c, &t->digest);
	io64(c, &f->chain);
}

void rft_frame_write(GByteArray *a, const struct rft_frame *f)
{
	uint8_t b[RFT_FRAME_SIZE - 4 - RFT_HASH];
	struct rft_frame copy = *f;

	frame_members(&(struct cursor){ b, TRUE }, &copy);
	g_byte_array_append(a, b, sizeof(b));
}

void rft_frame_parse(struct rft_frame *f, const uint8_t *payload)
{
	frame_members(&(struct cursor){ (uint8_t *)payload + 4, FALSE }, f);
}

void rft_foot_write(GByteArray *a, const struct rft_foot *f)
{
	uint8_t b[RFT_FOOT_SIZE - 4 - RFT_HASH];
	struct rft_foot copy = *f;

	foot_members(&(struct cursor){ b, TRUE }, &copy);
	g_byte_array_append(a, b, sizeof(b));
}

void rft_foot_parse(struct rft_foot *f, const uint8_t *payload)
{
	foot_members(&(struct cursor){ (uint8_t *)payload + 4, FALSE }, f);
}
