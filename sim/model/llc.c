/* SPDX-License-Identifier: MIT
 * The last-level cache, as far as it makes filling a fresh page faster: it holds the frames that were
 * filled last.  A frame that a task gives back is the next to be handed out (the per-CPU lists of free
 * pages are last in, first out), so that a program that maps, fills and unmaps a few megabytes again
 * and again gets frames that are still cached, up to the cache's size.
 */
#include "sim/model/model.h"

void llc_init(struct rf_model *m)
{
	rf_list_init(&m->llc.list);
	m->llc.capacity = (uint32_t)MIN(m->profile.llc >> m->cfg.page_shift, UINT32_MAX / 2);
}

void llc_free(struct rf_model *m)
{
	g_free(m->llc.link);
	g_free(m->llc.free);
	g_free(m->llc.of);
	g_free(m->llc.cached);
}

void llc_grow(struct rf_model *m)
{
	if (m->llc.capacity)
		m->llc.of = g_renew(uint32_t, m->llc.of, m->pages_size);
}

static uint32_t frame_get(struct rf_model *m)
{
	if (m->llc.nfree)
		return m->llc.free[--m->llc.nfree];
	if (m->llc.nframes == m->llc.size) {
		m->llc.size = MAX(1024, m->llc.size * 2);
		m->llc.link = g_renew(struct rf_link, m->llc.link, m->llc.size);
		m->llc.free = g_renew(uint32_t, m->llc.free, m->llc.size);
		m->llc.cached = g_renew(uint8_t, m->llc.cached, m->llc.size);
	}
	m->llc.cached[m->llc.nframes] = 0;
	return m->llc.nframes++;
}

uint64_t llc_fill(struct rf_model *m, rf_page p)
{
	uint32_t frame;
	gboolean warm;

	if (!m->llc.capacity)
		return 0;
	frame = frame_get(m);
	m->llc.of[p] = frame;
	warm = m->llc.cached[frame];
	if (warm) {
		rf_list_remove(m->llc.link, &m->llc.list, frame);
	} else {
		if (m->llc.list.n == m->llc.capacity)
			m->llc.cached[rf_list_pop_tail(m->llc.link, &m->llc.list)] = 0;
		m->llc.cached[frame] = 1;
	}
	rf_list_push_head(m->llc.link, &m->llc.list, frame);
	return warm ? 0 : m->profile.llc_miss << (m->cfg.page_shift - RF_GRANULE_SHIFT);
}

void llc_leave(struct rf_model *m, rf_page p)
{
	if (!m->llc.capacity || m->llc.of[p] == RF_NO_PAGE)
		return;
	m->llc.free[m->llc.nfree++] = m->llc.of[p];
	m->llc.of[p] = RF_NO_PAGE;
}
