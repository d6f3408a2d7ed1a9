/* SPDX-License-Identifier: MIT
 * The mappings of one address space: a sorted array.  Programs have tens to some thousands of
 * mappings and change them seldom, so that binary search and memmove beat a tree.
 */
#include "traces/vma.h"

#include <string.h>

struct rf_vmas {
	unsigned shift;
	uint32_t n, cap, last; /* last: where the latest find ended */
	uint32_t serial;       /* the next one */
	struct rf_vma *v;
};

struct rf_vmas *rf_vmas_new(unsigned unit_shift)
{
	struct rf_vmas *m = g_new0(struct rf_vmas, 1);

	m->shift = unit_shift;
	return m;
}

struct rf_vmas *rf_vmas_copy(const struct rf_vmas *m)
{
	struct rf_vmas *c = g_new(struct rf_vmas, 1);

	*c = *m;
	c->cap = m->n;
	c->v = g_new(struct rf_vma, m->n);
	if (m->n > 0)
		memcpy(c->v, m->v, m->n * sizeof(*m->v));
	return c;
}

void rf_vmas_free(struct rf_vmas *m)
{
	if (m == NULL)
		return;
	g_free(m->v);
	g_free(m);
}

uint32_t rf_vmas_count(const struct rf_vmas *m)
{
	return m->n;
}

const struct rf_vma *rf_vmas_nth(const struct rf_vmas *m, uint32_t i)
{
	return i < m->n ? &m->v[i] : NULL;
}

/* Index of the first mapping with end > addr; n when there is none. */
static uint32_t lower(const struct rf_vmas *m, uint64_t addr)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->v[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct rf_vma *rf_vmas_find(struct rf_vmas *m, uint64_t addr)
{
	uint32_t i;

	if (m->last < m->n && m->v[m->last].start <= addr && addr < m->v[m->last].end)
		return &m->v[m->last];
	i = lower(m, addr);
	if (i == m->n || m->v[i].start > addr)
		return NULL;
	m->last = i;
	return &m->v[i];
}

const struct rf_vma *rf_vmas_next(const struct rf_vmas *m, uint64_t addr)
{
	return rf_vmas_nth(m, lower(m, addr));
}

gboolean rf_vmas_overlaps(const struct rf_vmas *m, uint64_t start, uint64_t end)
{
	for (uint32_t i = lower(m, start); i < m->n && m->v[i].start < end; i++)
		if (!(m->v[i].flags & RF_VMA_IMPLICIT))
			return TRUE;
	return FALSE;
}

/* Widen to whole units.  The last unit of the address space can't be an end: it stays out. */
static void widen(const struct rf_vmas *m, uint64_t *start, uint64_t *end)
{
	uint64_t mask = ((uint64_t)1 << m->shift) - 1;

	*start &= ~mask;
	*end = *end > ~mask ? ~mask : (*end + mask) & ~mask;
}

static gboolean has_offset(const struct rf_vma *v)
{
	return v->mkind != RF_MAP_ANON;
}

static void insert(struct rf_vmas *m, uint32_t at, const struct rf_vma *v)
{
	if (m->n == m->cap) {
		m->cap = MAX(16, m->cap * 2);
		m->v = g_renew(struct rf_vma, m->v, m->cap);
	}
	memmove(&m->v[at + 1], &m->v[at], (m->n - at) * sizeof(*v));
	m->v[at] = *v;
	m->n++;
}

static void delete(struct rf_vmas *m, uint32_t at, uint32_t n)
{
	if (n == 0)
		return;
	memmove(&m->v[at], &m->v[at + n], (m->n - at - n) * sizeof(*m->v));
	m->n -= n;
}

/* Make addr an edge if it is inside mapping i; the larger part keeps the serial. */
static gboolean split(struct rf_vmas *m, uint32_t i, uint64_t addr)
{
	struct rf_vma hi;

	if (i >= m->n || m->v[i].start >= addr || addr >= m->v[i].end)
		return FALSE;
	hi = m->v[i];
	hi.start = addr;
	if (has_offset(&hi))
		hi.off += addr - m->v[i].start;
	m->v[i].end = addr;
	if (addr - m->v[i].start >= hi.end - addr)
		hi.serial = m->serial++;
	else
		m->v[i].serial = m->serial++;
	insert(m, i + 1, &hi);
	return TRUE;
}

/* Edges at start and end; the mappings between are [*from, *to). */
static void isolate(struct rf_vmas *m, uint64_t start, uint64_t end, uint32_t *from, uint32_t *to)
{
	uint32_t i = lower(m, start);

	if (split(m, i, start))
		i++;
	*from = i;
	while (i < m->n && m->v[i].start < end) {
		split(m, i, end);
		i++;
	}
	*to = i;
}

static gboolean mergeable(const struct rf_vma *a, const struct rf_vma *b)
{
	return a->end == b->start && a->mkind == b->mkind && a->id == b->id && a->prot == b->prot &&
	       a->flags == b->flags && (!has_offset(a) || a->off + (a->end - a->start) == b->off);
}

/* Merge neighbours among mappings from-1 … to (both ends looked at); the larger keeps its serial. */
static void merge(struct rf_vmas *m, uint32_t from, uint32_t to)
{
	uint32_t i = from > 0 ? from - 1 : 0;

	while (i < to && i + 1 < m->n) {
		struct rf_vma *a = &m->v[i], *b = a + 1;

		if (!mergeable(a, b)) {
			i++;
			continue;
		}
		if (a->end - a->start < b->end - b->start)
			a->serial = b->serial;
		a->end = b->end;
		delete(m, i + 1, 1);
		to--;
	}
}

void rf_vmas_unmap(struct rf_vmas *m, uint64_t start, uint64_t end)
{
	uint32_t from, to;

	widen(m, &start, &end);
	if (start >= end)
		return;
	isolate(m, start, end, &from, &to);
	delete(m, from, to - from);
}

void rf_vmas_map(struct rf_vmas *m, const struct rf_vma *v)
{
	struct rf_vma w = *v;
	uint32_t at;

	widen(m, &w.start, &w.end);
	if (w.start >= w.end)
		return;
	/* The widened start is the same distance earlier in the file. */
	w.off = has_offset(&w) ? w.off - MIN(w.off, v->start - w.start) : 0;
	rf_vmas_unmap(m, w.start, w.end);
	at = lower(m, w.start);
	w.serial = m->serial++;
	insert(m, at, &w);
	merge(m, at, at + 1);
}

gboolean rf_vmas_change(struct rf_vmas *m, uint64_t start, uint64_t end, gboolean set_prot,
                        uint8_t prot, uint16_t set_flags, uint16_t clear_flags)
{
	uint32_t from, to;
	uint64_t covered;

	widen(m, &start, &end);
	if (start >= end)
		return TRUE;
	isolate(m, start, end, &from, &to);
	covered = start;
	for (uint32_t i = from; i < to; i++) {
		struct rf_vma *v = &m->v[i];

		if (v->start == covered)
			covered = v->end;
		if (set_prot)
			v->prot = prot;
		v->flags = (v->flags & ~clear_flags) | set_flags;
	}
	merge(m, from, to);
	return covered == end;
}

gboolean rf_vmas_move(struct rf_vmas *m, uint64_t start, uint64_t len, uint64_t new_start,
                      uint64_t new_len)
{
	uint64_t end = start + len, new_end = new_start + new_len;
	struct rf_vma *part;
	uint32_t from, to, n;

	if (end < start || new_end < new_start)
		return FALSE;
	widen(m, &start, &end);
	widen(m, &new_start, &new_end);
	if (start >= end || rf_vmas_find(m, start) == NULL)
		return FALSE;
	isolate(m, start, end, &from, &to);
	n = to - from;
	part = g_new(struct rf_vma, n);
	memcpy(part, &m->v[from], n * sizeof(*part));
	delete(m, from, n);
	rf_vmas_unmap(m, new_start, new_end);
	for (uint32_t i = 0; i < n; i++) {
		struct rf_vma *p = &part[i];
		uint64_t lo = p->start - start, hi = p->end - start, size = new_end - new_start;
		uint32_t at;

		if (lo >= size)
			break;
		if (hi > size || p->end == end)
			hi = size;
		p->start = new_start + lo;
		p->end = new_start + hi;
		at = lower(m, p->start);
		insert(m, at, p);
		merge(m, at, at + 1);
	}
	g_free(part);
	return TRUE;
}
