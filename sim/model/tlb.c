/* SPDX-License-Identifier: MIT
 * A translation cache that keeps accessed bits stale (kernel-reclaim 2.5): an access through an entry
 * that is cached sets no bit, except that the first store through it sets both.  Least recently
 * used of N entries goes.  x86-64 clears accessed bits without a flush; arm64 flushes the page.
 */
#include "sim/model/model.h"
#include <string.h>

enum { TLB_IN = 1, TLB_DIRTY = 2 };

void tlb_grow(struct rf_model *m, uint32_t from, uint32_t to)
{
	if (!m->cfg.tlb_entries)
		return;
	m->tlb_link = g_renew(struct rf_link, m->tlb_link, to);
	m->tlb_state = g_renew(uint8_t, m->tlb_state, to);
	memset(m->tlb_state + from, 0, to - from);
}

void tlb_drop(struct rf_model *m, uint32_t v)
{
	if (!m->cfg.tlb_entries || !m->tlb_state[v])
		return;
	rf_list_remove(m->tlb_link, &m->tlb, v);
	m->tlb_state[v] = 0;
}

void tlb_flush(struct rf_model *m)
{
	while (m->tlb.n)
		tlb_drop(m, m->tlb.tail);
}

uint8_t tlb_access(struct rf_model *m, uint32_t v, unsigned type)
{
	struct rf_list *l = &m->tlb;
	gboolean was_in = m->tlb_state[v] & TLB_IN;

	if (was_in) {
		if (l->head != v) {
			rf_list_remove(m->tlb_link, l, v);
			rf_list_push_head(m->tlb_link, l, v);
		}
		if (type != RF_WRITE || (m->tlb_state[v] & TLB_DIRTY))
			return 0;
	} else {
		if (l->n >= m->cfg.tlb_entries)
			tlb_drop(m, l->tail);
		rf_list_push_head(m->tlb_link, l, v);
		m->tlb_state[v] = TLB_IN;
	}
	if (type == RF_WRITE)
		m->tlb_state[v] |= TLB_DIRTY;
	return PTE_ACC | (type == RF_WRITE ? PTE_DIRTY : 0);
}
