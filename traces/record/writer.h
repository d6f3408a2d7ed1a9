/* SPDX-License-Identifier: MIT
 * The writing side of wire.h, for recorders: no library is needed.  One writer a process.
 *
 * The includer gives rf_writer_output(), which writes all of a block or says that it could not.
 */
#ifndef RF_WRITER_H
#define RF_WRITER_H

#include "traces/record/wire.h"

typedef unsigned char rf_u8;
typedef unsigned int rf_u32;
typedef unsigned long long rf_u64;

#define RF_WRITER_SPARE 512 /* bytes that inlined code may write without asking */
#define RF_WRITER_ROOM 32   /* of an access; a control record asks for itself */

struct rf_writer {
	rf_u8 *at; /* where the next record goes */
	rf_u8 block[RF_WIRE_BLOCK];
	rf_u32 pid, seq;
	rf_u64 records, lost; /* records: of this block but for those that inlined code wrote */
	rf_u64 page[3];       /* the last one of each type */
};

/* 0 when the n bytes were not written. */
static int rf_writer_output(const void *data, rf_u32 n);

static inline void rf_writer_start(struct rf_writer *w, rf_u32 pid)
{
	w->at = w->block + RF_WIRE_HEAD;
	w->pid = pid;
	w->seq = 0;
	w->records = w->lost = 0;
	w->page[0] = w->page[1] = w->page[2] = 0;
}

static inline void rf_writer_varint(struct rf_writer *w, rf_u64 v)
{
	for (; v >= 128; v >>= 7)
		*w->at++ = (rf_u8)(v | 128);
	*w->at++ = (rf_u8)v;
}

static inline void rf_writer_le(rf_u8 *p, rf_u32 v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (rf_u8)(v >> 8 * i);
}

static inline void rf_writer_flush(struct rf_writer *w)
{
	rf_u32 n = (rf_u32)(w->at - w->block);

	if (n == RF_WIRE_HEAD)
		return;
	for (unsigned i = 0; i < 4; i++)
		w->block[i] = (rf_u8)RF_WIRE_MAGIC[i];
	rf_writer_le(w->block + 4, n - RF_WIRE_HEAD, 2);
	rf_writer_le(w->block + 6, 0, 2);
	rf_writer_le(w->block + 8, w->pid, 4);
	rf_writer_le(w->block + 12, w->seq, 4);
	w->at = w->block + RF_WIRE_HEAD;
	if (rf_writer_output(w->block, n)) {
		w->seq++;
		w->records = w->lost = 0;
		return;
	}
	/* What follows must be understood without this block. */
	w->lost += w->records + 1;
	w->records = 0;
	w->page[0] = w->page[1] = w->page[2] = 0;
	*w->at++ = RF_WIRE_CONTROL | RF_WIRE_LOST << 2;
	rf_writer_varint(w, w->lost);
}

static inline void rf_writer_room(struct rf_writer *w, rf_u32 n)
{
	if ((rf_u32)(w->block + RF_WIRE_BLOCK - w->at) < n + RF_WRITER_SPARE)
		rf_writer_flush(w);
	w->records++;
}

/* An access record, whose page is another one than the last of the type. */
static inline void rf_writer_page(struct rf_writer *w, unsigned type, rf_u64 page, rf_u64 n)
{
	long long d;

	rf_writer_room(w, RF_WRITER_ROOM);
	d = (long long)(page - w->page[type]);
	w->page[type] = page;
	*w->at++ = (rf_u8)(type | RF_WIRE_NEW |
	                   (n < RF_WIRE_N_MORE ? n : RF_WIRE_N_MORE) << RF_WIRE_N_SHIFT);
	if (n >= RF_WIRE_N_MORE)
		rf_writer_varint(w, n);
	rf_writer_varint(w, (rf_u64)d << 1 ^ (rf_u64)(d >> 63));
}

static inline void rf_writer_same(struct rf_writer *w, unsigned type, rf_u64 n)
{
	rf_writer_room(w, RF_WRITER_ROOM);
	*w->at++ = (rf_u8)(type | (n < RF_WIRE_N_MORE ? n : RF_WIRE_N_MORE) << RF_WIRE_N_SHIFT);
	if (n >= RF_WIRE_N_MORE)
		rf_writer_varint(w, n);
}

/* Begin a control record; n bounds its size. */
static inline void rf_writer_control(struct rf_writer *w, enum rf_wire_kind kind, rf_u32 n)
{
	rf_writer_room(w, n);
	*w->at++ = (rf_u8)(RF_WIRE_CONTROL | kind << 2);
}

static inline void rf_writer_string(struct rf_writer *w, const char *s)
{
	rf_u32 n = 0;

	while (n < RF_WIRE_STRING && s[n])
		n++;
	rf_writer_varint(w, n);
	for (rf_u32 i = 0; i < n; i++)
		*w->at++ = (rf_u8)s[i];
}

static inline void rf_writer_range(struct rf_writer *w, unsigned type, rf_u64 addr, rf_u64 len)
{
	rf_writer_control(w, RF_WIRE_RANGE, 24);
	*w->at++ = (rf_u8)type;
	rf_writer_varint(w, addr);
	rf_writer_varint(w, len);
}

/* ---- the window ---- */

#define RF_WINDOW_SLOTS 1024

struct rf_window {
	rf_u64 pages, instructions; /* as asked for; pages 0: all accesses are told */
	rf_u64 dropped;             /* at this instruction */
	rf_u32 epoch;               /* from 1: of the slots that count */
	rf_u32 told[3];             /* pages told of, by type */
	struct {
		rf_u64 page;
		rf_u32 epoch, told;
	} slot[3][RF_WINDOW_SLOTS];
};

static inline void rf_window_drop(struct rf_window *w, rf_u64 now)
{
	w->epoch++;
	w->dropped = now;
}

/* Is a page to be told?  It is, unless it is among the `pages` ones of its type told of last, since
 * the last drop.  Two pages that want one slot tell more than is needed. */
static inline int rf_window_tell(struct rf_window *w, unsigned type, rf_u64 page)
{
	rf_u32 i = (rf_u32)(page ^ page >> 10) % RF_WINDOW_SLOTS;

	if (w->slot[type][i].page == page && w->slot[type][i].epoch == w->epoch &&
	    w->told[type] - w->slot[type][i].told < w->pages)
		return 0;
	w->slot[type][i].page = page;
	w->slot[type][i].epoch = w->epoch;
	w->slot[type][i].told = ++w->told[type];
	return 1;
}

#endif
