/* SPDX-License-Identifier: MIT
 * Read-ahead of files, for read(2) and for mappings, in single pages and in large folios
 * (kernel-reclaim 9.2 and 9.4).
 */
#include "sim/model/model.h"

#define MMAP_LOTSAMISS 100
#define MAX_FOLIO_ORDER 9u /* 2 MiB of 4 KiB pages */

/* Reads of a whole window end at once; pages nobody waits for stay marked until then. */
static void read_done(void *machine, uint64_t arg)
{
	struct rf_model *m = machine;

	if (arg < m->npages)
		m->fact[arg] &= ~F_READING;
}

void wait_for_read(struct rf_model *m, rf_page p)
{
	if (!(m->fact[p] & F_READING))
		return;
	stall_begin(m);
	while ((m->fact[p] & F_READING) && rf_clock_next(m->clock) != UINT64_MAX)
		wait_until(m, rf_clock_next(m->clock), &m->time_io);
}

unsigned ra_pages(const struct rf_model *m)
{
	return (unsigned)((m->cfg.read_ahead_kb << 10) >> m->cfg.page_shift);
}

/* The largest folio of at most order that is aligned at index, ends before end, and has nothing cached. */
static unsigned folio_order_at(const struct rf_model *m, const struct file *f, uint64_t index, uint64_t end,
                               unsigned order)
{
	uint64_t i;

	for (; order; order--) {
		uint64_t n = UINT64_C(1) << order;

		if ((index & (n - 1)) || index + n > end)
			continue;
		for (i = index; i < index + n && !page_resident(m, file_page(m, f, i)); i++)
			;
		if (i == index + n)
			break;
	}
	return order;
}

/* Read the missing pages of [start, start+size) in folios of up to order, with the marker async pages
 * before the end (page_cache_ra_order).  The target's caller waits until *done; others find F_READING.
 * FALSE: not all of it could be charged. */
static gboolean read_window(struct rf_model *m, struct file *f, uint64_t start, uint64_t size, uint64_t async,
                            unsigned order, uint64_t target, struct cgroup *cg, unsigned how, uint64_t *done)
{
	uint64_t i, j, n = 0, mark = async ? start + size - async : UINT64_MAX, pages;
	g_autofree rf_page *added = NULL;

	*done = m->host.now;
	if (start >= f->npages)
		return TRUE;
	size = MIN(size, f->npages - start);
	added = g_new(rf_page, size);
	for (i = start; i < start + size; i += pages) {
		unsigned o = m->order && order ? folio_order_at(m, f, i, start + size, order) : 0;

		pages = UINT64_C(1) << o;
		if (page_resident(m, file_page(m, f, i)))
			continue;
		if (o) {
			if (!file_add_folio(m, f, i, o, cg, how | RF_HOW_READAHEAD, added + n))
				break;
		} else {
			added[n] = file_add(m, f, i, cg, i == target ? how : how | RF_HOW_READAHEAD, TRUE);
			if (added[n] == RF_NO_PAGE)
				break; /* a failed charge ends the window quietly */
		}
		if (i <= mark && mark < i + pages)
			m->fact[added[n]] |= F_RA;
		for (j = n; j < n + pages; j++) /* locked: the charges for the others leave it alone */
			m->fact[added[j]] |= F_READING;
		n += pages;
	}
	if (n)
		*done = rf_device_submit(&m->disk, m->host.now, n << m->cfg.page_shift, FALSE);
	for (j = 0; j < n; j++)
		rf_clock_at(m->clock, *done, read_done, m, added[j]);
	return i >= start + size;
}

static uint64_t round_up_pow2(uint64_t n)
{
	uint64_t r = 1;

	while (r < n)
		r *= 2;
	return r;
}

static uint64_t ra_init(uint64_t req, uint64_t max)
{
	uint64_t r = round_up_pow2(req);

	return r <= max / 32 ? r * 4 : r <= max / 4 ? r * 2 : max;
}

static uint64_t ra_next(uint64_t cur, uint64_t max)
{
	return cur < max / 16 ? 4 * cur : cur <= max / 2 ? 2 * cur : max;
}

/* page_cache_sync_ra(): a read() miss, 9.4. */
void sync_readahead(struct rf_model *m, struct file *f, uint64_t index, uint64_t req, struct cgroup *cg,
                           unsigned how, uint64_t *done)
{
	uint64_t max = ra_pages(m), c;

	if (!max) {
		read_window(m, f, index, 1, 0, 0, index, cg, how, done);
		return;
	}
	if (!index || req > max || (f->read_before && index - f->prev_page <= 1)) {
		f->ra_start = index;
		f->ra_size = ra_init(req, max);
		f->ra_async = f->ra_size > req ? f->ra_size - req : f->ra_size / 2;
	} else {
		for (c = 0; c < max && c < index; c++)
			if (!page_resident(m, file_page(m, f, index - 1 - c)))
				break;
		if (c <= req) {
			read_window(m, f, index, req, 0, 0, index, cg, how, done);
			return;
		}
		if (c >= index)
			c *= 2;
		f->ra_start = index;
		f->ra_size = MIN(c + req, max);
		f->ra_async = 1;
	}
	f->ra_order = 0;
	read_window(m, f, f->ra_start, f->ra_size, f->ra_async, 0, index, cg, how, done);
}

/* page_cache_async_ra(): the marker was met, 9.4. */
void async_readahead(struct rf_model *m, struct file *f, uint64_t index, uint64_t req, struct cgroup *cg,
                            unsigned how)
{
	uint64_t max = ra_pages(m), s, done;

	if (!max)
		return;
	if (index == f->ra_start + f->ra_size - f->ra_async) {
		f->ra_start += f->ra_size;
		f->ra_size = ra_next(f->ra_size, max);
	} else {
		for (s = index + 1; s < index + 1 + max && page_resident(m, file_page(m, f, s)); s++)
			;
		if (s >= index + 1 + max)
			return;
		f->ra_start = s;
		f->ra_size = ra_next(s - index + req, max);
	}
	/* Each step that was in time makes the folios larger by two orders; the window ends with one. */
	f->ra_order = MIN(f->ra_order + 2, MAX_FOLIO_ORDER);
	while (f->ra_order && UINT64_C(1) << f->ra_order > f->ra_size)
		f->ra_order--;
	if (m->order && f->ra_order) {
		uint64_t end = (f->ra_start + f->ra_size) & ~((UINT64_C(1) << f->ra_order) - 1);

		if (end > f->ra_start)
			f->ra_size = end - f->ra_start;
	}
	f->ra_async = f->ra_size;
	read_window(m, f, f->ra_start, f->ra_size, f->ra_async, f->ra_order, UINT64_MAX, cg, how, &done);
}

void file_willneed(struct rf_model *m, struct file *f, uint64_t from, uint64_t to)
{
	struct cgroup *cg = m->workload;
	uint64_t done, step = (2 << 20) >> m->cfg.page_shift;

	if (m->current)
		cg = cgroup_nth(m, ((struct space *)m->spaces->pdata[m->current->space])->cgroup);
	to = MIN(MIN(to, f->npages), FILE_PAGES_MAX);
	for (; from < to; from += MIN(step, to - from))
		if (!read_window(m, f, from, MIN(step, to - from), 0, 0, UINT64_MAX, cg, 0, &done))
			break;
}

/* do_sync_mmap_readahead(): 9.2. */
void sync_mmap_readahead(struct rf_model *m, struct file *f, const struct rf_vma *vma, uint64_t pgoff,
                                struct cgroup *cg, unsigned how, uint64_t *done)
{
	uint64_t max = ra_pages(m), start, first, last;
	gboolean exec = (vma->prot & RF_PROT_X) && m->cfg.kernel_release >= RF_KERNEL(6, 16, 0);

	if ((vma->flags & RF_VMA_RAND) && !exec)
		return;
	if (!max)
		return;
	if (vma->flags & RF_VMA_SEQ) {
		sync_readahead(m, f, pgoff, max, cg, how, done);
		return;
	}
	if (f->mmap_miss < MMAP_LOTSAMISS * 10)
		f->mmap_miss++;
	if (f->mmap_miss > MMAP_LOTSAMISS)
		return;
	if (exec) {
		unsigned order = m->cfg.arch == RF_ARCH_ARM64 && m->cfg.page_shift < 16 ? 16 - m->cfg.page_shift : 0;

		first = vma_pgoff(m, vma, vma_first(m, vma));
		last = first + vma_last(m, vma) - vma_first(m, vma);
		start = MAX(pgoff & ~((UINT64_C(1) << order) - 1), first);
		f->ra_start = start;
		f->ra_size = MIN(max, last - start);
		f->ra_async = 0;
	} else {
		f->ra_start = pgoff > max / 2 ? pgoff - max / 2 : 0;
		f->ra_size = max;
		f->ra_async = max / 4;
	}
	f->ra_order = 0;
	read_window(m, f, f->ra_start, f->ra_size, f->ra_async, 0, pgoff, cg, how, done);
}
