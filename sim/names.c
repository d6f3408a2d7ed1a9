/* SPDX-License-Identifier: MIT */
#include "sim/names.h"

#include <string.h>

#include "base/error.h"

#define FIRST_SLOTS 1024

static void clear_space(void *p)
{
	rf_vmas_free(((struct rf_name_space *)p)->vmas);
}

void rf_names_init(struct rf_names *n, unsigned page_shift)
{
	memset(n, 0, sizeof(*n));
	n->page_shift = page_shift;
	n->spaces = g_array_new(FALSE, TRUE, sizeof(struct rf_name_space));
	g_array_set_clear_func(n->spaces, clear_space);
	n->files = g_array_new(FALSE, TRUE, sizeof(struct rf_name_space));
	n->file_by_id = g_hash_table_new(NULL, NULL);
	n->task_by_tid = g_hash_table_new(NULL, NULL);
	n->tasks = g_ptr_array_new_with_free_func(g_free);
	n->mask = FIRST_SLOTS - 1;
	n->slot = g_new(uint32_t, FIRST_SLOTS);
	memset(n->slot, 0xff, FIRST_SLOTS * sizeof(*n->slot));
}

void rf_names_clear(struct rf_names *n)
{
	g_free(n->page);
	g_free(n->slot);
	g_free(n->map);
	g_array_free(n->spaces, TRUE);
	g_array_free(n->files, TRUE);
	g_hash_table_destroy(n->file_by_id);
	g_hash_table_destroy(n->task_by_tid);
	g_ptr_array_free(n->tasks, TRUE);
	memset(n, 0, sizeof(*n));
}

/* ---- pages ---- */

static struct rf_name_space *space_of(struct rf_names *n, uint32_t space)
{
	if (space & RF_NAME_FILE)
		return &g_array_index(n->files, struct rf_name_space, space & ~RF_NAME_FILE);
	return &g_array_index(n->spaces, struct rf_name_space, space);
}

struct rf_name_space *rf_names_space(struct rf_names *n, uint32_t page)
{
	return space_of(n, n->page[page].space);
}

const struct rf_vma *rf_names_vma(struct rf_names *n, uint32_t page)
{
	struct rf_vmas *vmas = rf_names_space(n, page)->vmas;
	uint64_t start = n->page[page].vpn << n->page_shift;
	const struct rf_vma *v;

	if (!vmas)
		return NULL;
	v = rf_vmas_find(vmas, start);
	if (!v)
		v = rf_vmas_next(vmas, start);
	return v && v->start < start + (UINT64_C(1) << n->page_shift) ? v : NULL;
}

static uint32_t hash(uint32_t space, uint64_t vpn)
{
	uint64_t h = (vpn + ((uint64_t)space << 40)) * 0x9E3779B97F4A7C15u;

	return (uint32_t)(h >> 32);
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *find_slot(const struct rf_names *n, uint32_t space, uint64_t vpn)
{
	uint32_t i = hash(space, vpn) & n->mask;

	while (n->slot[i] != RF_NO_NAME &&
	       (n->page[n->slot[i]].vpn != vpn || n->page[n->slot[i]].space != space))
		i = (i + 1) & n->mask;
	return &n->slot[i];
}

static void resize_slots(struct rf_names *n, uint64_t slots)
{
	g_free(n->slot);
	n->slot = g_new(uint32_t, slots);
	memset(n->slot, 0xff, slots * sizeof(*n->slot));
	n->mask = (uint32_t)(slots - 1);
	n->hashed = 0;
}

/* Most traces of one granule are never asked for a page by its name: so names are hashed when
 * somebody asks, those that came since the last time. */
static void hash_names(struct rf_names *n)
{
	uint64_t slots = (uint64_t)n->mask + 1;

	if (n->hashed == n->npages)
		return;
	/* At most three slots of four are taken. */
	while (n->npages > slots - slots / 4)
		slots *= 2;
	if (slots > (uint64_t)n->mask + 1)
		resize_slots(n, slots);
	for (; n->hashed < n->npages; n->hashed++) {
		uint32_t *slot = find_slot(n, n->page[n->hashed].space, n->page[n->hashed].vpn);

		if (*slot == RF_NO_NAME)
			*slot = n->hashed;
	}
}

static uint32_t find_page(struct rf_names *n, uint32_t space, uint64_t vpn)
{
	hash_names(n);
	return *find_slot(n, space, vpn);
}

/* A page of a name that nobody has yet; RF_NO_NAME when there are too many. */
static uint32_t new_page(struct rf_names *n, uint32_t space, uint64_t vpn)
{
	struct rf_name_space *s = space_of(n, space);

	if (n->npages == RF_NO_NAME)
		return RF_NO_NAME;
	if (n->npages == n->size) {
		n->size = (uint32_t)MIN(MAX(1024, (uint64_t)n->size + n->size / 2), RF_NO_NAME);
		n->page = g_renew(struct rf_name, n->page, n->size);
	}
	n->page[n->npages] = (struct rf_name){ vpn, space, s->pages };
	s->npages++;
	return s->pages = n->npages++;
}

static uint32_t need_page(struct rf_names *n, uint32_t space, uint64_t vpn)
{
	uint32_t page = find_page(n, space, vpn);

	return page != RF_NO_NAME ? page : new_page(n, space, vpn);
}

static gboolean too_many(GError **error)
{
	rf_set_data(error, "more than %u pages", RF_NO_NAME);
	return FALSE;
}

static void map_id(struct rf_names *n, uint32_t id, uint32_t page)
{
	if (id == n->map_size) {
		n->map_size = (uint32_t)MIN(MAX(1024, (uint64_t)id + id / 2), UINT32_MAX);
		n->map = g_renew(uint32_t, n->map, n->map_size);
	}
	n->map[id] = page;
}

/* From now on ids and pages part. */
static void need_map(struct rf_names *n)
{
	if (n->map)
		return;
	n->map_size = MAX(n->nids, 1024);
	n->map = g_new(uint32_t, n->map_size);
	for (uint32_t i = 0; i < n->nids; i++)
		n->map[i] = i;
}

static gboolean name_pages(struct rf_names *n, const struct rf_item *item, GError **error)
{
	unsigned shift = n->page_shift - RF_GRANULE_SHIFT;

	if (item->pages.first != n->nids) {
		rf_set_data(error, "names of pages from %u on where those from %u on were expected",
		            item->pages.first, n->nids);
		return FALSE;
	}
	for (uint32_t i = 0; i < item->pages.n; i++, n->nids++) {
		const struct rf_page_name *name = &item->pages.name[i];
		uint32_t page;

		if (name->space >= n->spaces->len) {
			rf_set_data(error, "page %u belongs to address space %u; there are %u so far", n->nids,
			            name->space, n->spaces->len);
			return FALSE;
		}
		/* No two ids have the same name; larger pages share one. */
		page = shift ? need_page(n, name->space, name->vpn >> shift) :
		               new_page(n, name->space, name->vpn);
		if (page == RF_NO_NAME)
			return too_many(error);
		if (page != n->nids)
			need_map(n);
		if (n->map)
			map_id(n, n->nids, page);
	}
	return TRUE;
}

/* ---- what frees pages ---- */

static void free_space(struct rf_names *n, struct rf_name_space *s, const struct rf_names_user *u)
{
	for (uint32_t page = s->pages; page != RF_NO_NAME; page = n->page[page].chain)
		u->freed(u->self, page);
}

/* Free pages [first, end) of a space. */
static void free_pages(struct rf_names *n, uint32_t space, uint64_t first, uint64_t end,
                       const struct rf_names_user *u)
{
	struct rf_name_space *s = space_of(n, space);

	if (first >= end)
		return;
	if (end - first > s->npages) {
		for (uint32_t page = s->pages; page != RF_NO_NAME; page = n->page[page].chain)
			if (n->page[page].vpn >= first && n->page[page].vpn < end)
				u->freed(u->self, page);
		return;
	}
	for (uint64_t vpn = first; vpn < end; vpn++) {
		uint32_t page = find_page(n, space, vpn);

		if (page != RF_NO_NAME)
			u->freed(u->self, page);
	}
}

/* A large page at the edge of what was unmapped stays while anything of it is mapped. */
static gboolean edge_mapped(struct rf_vmas *vmas, uint64_t start, uint64_t end)
{
	const struct rf_vma *v = rf_vmas_find(vmas, start);

	if (!v)
		v = rf_vmas_next(vmas, start);
	return v && v->start < end;
}

static uint64_t granule_end(uint64_t addr)
{
	uint64_t granule = UINT64_C(1) << RF_GRANULE_SHIFT;

	return (addr + granule - 1) & -granule;
}

/* The mappings are gone already. */
static void unmapped(struct rf_names *n, uint32_t space, uint64_t addr, uint64_t len,
                     const struct rf_names_user *u)
{
	struct rf_vmas *vmas = space_of(n, space)->vmas;
	uint64_t size = UINT64_C(1) << n->page_shift;
	uint64_t start = addr & -(UINT64_C(1) << RF_GRANULE_SHIFT), end = granule_end(addr + len);
	uint64_t first = start >> n->page_shift, last = (end - 1) >> n->page_shift;

	if ((start & (size - 1)) && edge_mapped(vmas, first * size, (first + 1) * size))
		first++;
	if (first <= last && (end & (size - 1)) && edge_mapped(vmas, last * size, (last + 1) * size))
		last--;
	free_pages(n, space, first, last + 1, u);
}

static void truncate_file(struct rf_names *n, const struct rf_event *ev,
                          const struct rf_names_user *u)
{
	gpointer at;
	uint64_t size = UINT64_C(1) << n->page_shift;

	if (g_hash_table_lookup_extended(n->file_by_id, GUINT_TO_POINTER(ev->id), NULL, &at))
		free_pages(n, RF_NAME_FILE | GPOINTER_TO_UINT(at),
		           (ev->len >> n->page_shift) + ((ev->len & (size - 1)) != 0), UINT64_MAX, u);
}

/* ---- what touches pages ---- */

static uint32_t file_space(struct rf_names *n, uint32_t id)
{
	struct rf_name_space none = { .pages = RF_NO_NAME };
	gpointer at;

	if (g_hash_table_lookup_extended(n->file_by_id, GUINT_TO_POINTER(id), NULL, &at))
		return RF_NAME_FILE | GPOINTER_TO_UINT(at);
	g_hash_table_insert(n->file_by_id, GUINT_TO_POINTER(id), GUINT_TO_POINTER(n->files->len));
	g_array_append_val(n->files, none);
	return RF_NAME_FILE | (n->files->len - 1);
}

static gboolean use_file(struct rf_names *n, const struct rf_event *ev,
                         const struct rf_names_user *u, GError **error)
{
	uint32_t space = file_space(n, ev->id);
	uint64_t last = (ev->off + ev->len - 1) >> n->page_shift;

	need_map(n);
	for (uint64_t vpn = ev->off >> n->page_shift; vpn <= last; vpn++) {
		uint32_t page = need_page(n, space, vpn);

		if (page == RF_NO_NAME)
			return too_many(error);
		u->used(u->self, page, ev);
	}
	return TRUE;
}

/* ---- tasks and address spaces ---- */

struct rf_name_task *rf_names_task(struct rf_names *n, uint32_t tid)
{
	return g_hash_table_lookup(n->task_by_tid, GUINT_TO_POINTER(tid));
}

/* number is the space's, which must be the next one, or one that lives when it is shared. */
static gboolean open_space(struct rf_names *n, uint32_t number, const struct rf_name_task *parent,
                           gboolean share, GError **error)
{
	struct rf_name_space s = { .pages = RF_NO_NAME };

	if (share) {
		space_of(n, number)->users++;
		return TRUE;
	}
	if (number != n->spaces->len || number >= RF_NAME_FILE) {
		rf_set_data(error, "address space %u where %u was expected", number, n->spaces->len);
		return FALSE;
	}
	s.vmas = parent ? rf_vmas_copy(space_of(n, parent->space)->vmas) : rf_vmas_new(RF_GRANULE_SHIFT);
	s.users = 1;
	g_array_append_val(n->spaces, s);
	return TRUE;
}

static void leave_space(struct rf_names *n, uint32_t space, const struct rf_names_user *u)
{
	struct rf_name_space *s = space_of(n, space);

	if (--s->users)
		return;
	free_space(n, s, u);
	rf_vmas_unmap(s->vmas, 0, UINT64_MAX & -(UINT64_C(1) << RF_GRANULE_SHIFT));
}

static gboolean start_task(struct rf_names *n, const struct rf_event *ev, GError **error)
{
	const struct rf_name_task *parent = ev->has_parent ? rf_names_task(n, ev->parent) : NULL;
	struct rf_name_task *old = rf_names_task(n, ev->tid), *t;

	if (ev->has_parent && !parent) {
		rf_set_data(error, "parent %u of task %u does not exist", ev->parent, ev->tid);
		return FALSE;
	}
	if (old && !old->exited) {
		rf_set_data(error, "task %u exists already", ev->tid);
		return FALSE;
	}
	if (ev->thread && (!parent || parent->space != ev->space)) {
		rf_set_data(error, "thread %u is not in its parent's address space", ev->tid);
		return FALSE;
	}
	if (!open_space(n, ev->space, parent, ev->thread, error))
		return FALSE;
	t = g_new0(struct rf_name_task, 1);
	t->tid = ev->tid;
	t->space = ev->space;
	g_ptr_array_add(n->tasks, t);
	g_hash_table_insert(n->task_by_tid, GUINT_TO_POINTER(ev->tid), t);
	return TRUE;
}

static void map_range(struct rf_names *n, uint32_t space, const struct rf_event *ev,
                      const struct rf_names_user *u)
{
	struct rf_vmas *vmas = space_of(n, space)->vmas;
	struct rf_vma v = {
		.start = ev->addr, .end = ev->addr + ev->len, .off = ev->off, .id = ev->id,
		.prot = ev->prot, .mkind = ev->mkind,
		.flags = (ev->shared ? RF_VMA_SHARED : 0) | (ev->locked ? RF_VMA_LOCKED : 0),
	};

	rf_vmas_unmap(vmas, v.start, v.end);
	unmapped(n, space, ev->addr, ev->len, u);
	rf_vmas_map(vmas, &v);
}

static void remap(struct rf_names *n, uint32_t space, const struct rf_event *ev,
                  const struct rf_names_user *u)
{
	struct rf_vmas *vmas = space_of(n, space)->vmas;

	if (ev->addr == ev->addr2) {
		rf_vmas_move(vmas, ev->addr, ev->len, ev->addr2, ev->len2);
		if (ev->len2 < ev->len)
			unmapped(n, space, ev->addr + ev->len2, ev->len - ev->len2, u);
		return;
	}
	/* What is in the way goes; what moves has other names afterwards. */
	rf_vmas_unmap(vmas, ev->addr2, ev->addr2 + ev->len2);
	unmapped(n, space, ev->addr2, ev->len2, u);
	rf_vmas_move(vmas, ev->addr, ev->len, ev->addr2, ev->len2);
	unmapped(n, space, ev->addr, ev->len, u);
}

static gboolean task_event(struct rf_names *n, const struct rf_event *ev,
                           const struct rf_names_user *u, GError **error)
{
	struct rf_name_task *t = rf_names_task(n, ev->tid);
	uint64_t size = UINT64_C(1) << n->page_shift;
	struct rf_vmas *vmas;

	if (!t || t->exited) {
		rf_set_data(error, "%s of task %u, which does not exist", rf_event_kind_name(ev->kind),
		            ev->tid);
		return FALSE;
	}
	vmas = space_of(n, t->space)->vmas;
	switch (ev->kind) {
	case RF_EV_EXEC:
		leave_space(n, t->space, u);
		t->space = ev->space;
		return open_space(n, ev->space, NULL, FALSE, error);
	case RF_EV_EXIT:
		leave_space(n, t->space, u);
		t->exited = TRUE;
		break;
	case RF_EV_MMAP:
		map_range(n, t->space, ev, u);
		break;
	case RF_EV_MUNMAP:
		rf_vmas_unmap(vmas, ev->addr, ev->addr + ev->len);
		unmapped(n, t->space, ev->addr, ev->len, u);
		break;
	case RF_EV_MREMAP:
		remap(n, t->space, ev, u);
		break;
	case RF_EV_MPROTECT:
		rf_vmas_change(vmas, ev->addr, ev->addr + ev->len, TRUE, ev->prot, 0, 0);
		break;
	case RF_EV_MADVISE:
		/* Whole pages only: what a program that knows its page size would have said. */
		if (ev->advice == RF_ADV_DONTNEED)
			free_pages(n, t->space, (ev->addr + size - 1) >> n->page_shift,
			           granule_end(ev->addr + ev->len) >> n->page_shift, u);
		break;
	case RF_EV_READ:
	case RF_EV_WRITE:
		return use_file(n, ev, u, error);
	default:
		break;
	}
	return TRUE;
}

gboolean rf_names_item(struct rf_names *n, const struct rf_item *item,
                       const struct rf_names_user *user, GError **error)
{
	if (item->kind == RF_ITEM_PAGES)
		return name_pages(n, item, error);
	if (item->kind != RF_ITEM_EVENT)
		return TRUE;
	switch (item->event.kind) {
	case RF_EV_FILE:
		truncate_file(n, &item->event, user);
		return TRUE;
	case RF_EV_TASK:
		return start_task(n, &item->event, error);
	case RF_EV_EXEC: case RF_EV_EXIT: case RF_EV_MMAP: case RF_EV_MUNMAP: case RF_EV_MREMAP:
	case RF_EV_MPROTECT: case RF_EV_MADVISE: case RF_EV_READ: case RF_EV_WRITE:
		return task_event(n, &item->event, user, error);
	default:
		return TRUE;
	}
}
