/* SPDX-License-Identifier: MIT */
#include "traces/state.h"

#include "base/error.h"
#include "traces/event.h"

struct space {
	struct rf_vmas *vmas;
	struct rf_vmas *ever; /* all that was mapped at some time */
	unsigned tasks;
};

struct rf_state {
	unsigned shift;
	uint32_t epoch;
	GHashTable *tasks;                      /* tid → 1 + space */
	GArray *spaces;                         /* struct space by number */
	GHashTable *files;                      /* id → uint64_t, bytes; 0: not known */
	gboolean unsure;                        /* so are all sizes */
	GHashTable *refpages, *cgroups;         /* sets: id, path */
	uint64_t at;
	struct rf_page_name *name;
	uint32_t pages, cap;
};

static void space_clear(gpointer data)
{
	rf_vmas_free(((struct space *)data)->vmas);
	rf_vmas_free(((struct space *)data)->ever);
}

struct rf_state *rf_state_new(const struct rf_header *h)
{
	struct rf_state *st = g_new0(struct rf_state, 1);

	st->shift = h->granule_shift;
	st->unsure = rf_header_get(h, "cannot-know") != NULL;
	st->epoch = 1;
	st->tasks = g_hash_table_new(NULL, NULL);
	st->spaces = g_array_new(FALSE, TRUE, sizeof(struct space));
	g_array_set_clear_func(st->spaces, space_clear);
	st->files = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	st->refpages = g_hash_table_new(NULL, NULL);
	st->cgroups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return st;
}

void rf_state_free(struct rf_state *st)
{
	if (!st)
		return;
	g_hash_table_destroy(st->tasks);
	g_array_unref(st->spaces);
	g_hash_table_destroy(st->files);
	g_hash_table_destroy(st->refpages);
	g_hash_table_destroy(st->cgroups);
	g_free(st->name);
	g_free(st);
}

uint32_t rf_state_epoch(const struct rf_state *st)
{
	return st->epoch;
}

uint32_t rf_state_pages(const struct rf_state *st)
{
	return st->pages;
}

const struct rf_page_name *rf_state_page(const struct rf_state *st, uint32_t page)
{
	return page < st->pages ? &st->name[page] : NULL;
}

static struct space *space_at(const struct rf_state *st, uint32_t n)
{
	struct space *s = n < st->spaces->len ? &g_array_index(st->spaces, struct space, n) : NULL;

	return s && s->vmas ? s : NULL;
}

const struct rf_vma *rf_state_vma(const struct rf_state *st, uint32_t page)
{
	const struct rf_page_name *name = rf_state_page(st, page);
	struct space *s = name ? space_at(st, name->space) : NULL;

	return s ? rf_vmas_find(s->vmas, name->vpn << st->shift) : NULL;
}

gboolean rf_state_space(const struct rf_state *st, uint32_t tid, uint32_t *space)
{
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(st->tasks, GUINT_TO_POINTER(tid)));

	if (!found)
		return FALSE;
	*space = found - 1;
	return TRUE;
}

/* ---- tasks ---- */

static gboolean no_task(uint32_t tid, GError **error)
{
	rf_set_data(error, "there is no task %u", tid);
	return FALSE;
}

static void enter(struct rf_state *st, uint32_t tid, uint32_t n, const struct rf_vmas *copy)
{
	struct space *s;

	if (n >= st->spaces->len)
		g_array_set_size(st->spaces, n + 1);
	s = &g_array_index(st->spaces, struct space, n);
	if (!s->vmas) {
		s->vmas = copy ? rf_vmas_copy(copy) : rf_vmas_new(st->shift);
		s->ever = rf_vmas_copy(s->vmas);
	}
	s->tasks++;
	g_hash_table_insert(st->tasks, GUINT_TO_POINTER(tid), GUINT_TO_POINTER(n + 1));
}

static void leave(struct rf_state *st, uint32_t tid)
{
	struct space *s;
	uint32_t n;

	if (!rf_state_space(st, tid, &n))
		return;
	g_hash_table_remove(st->tasks, GUINT_TO_POINTER(tid));
	s = space_at(st, n);
	if (s && !--s->tasks) {
		g_clear_pointer(&s->vmas, rf_vmas_free);
		g_clear_pointer(&s->ever, rf_vmas_free);
	}
}

static gboolean task_event(struct rf_state *st, const struct rf_event *ev, GError **error)
{
	uint32_t n, parent = 0;
	struct space *from = NULL;
	gboolean good = TRUE;

	if (ev->space > st->spaces->len) {
		rf_set_data(error, "address space %u; expected at most %u", ev->space,
		            st->spaces->len);
		return FALSE;
	}
	if (rf_state_space(st, ev->tid, &n)) {
		rf_set_data(error, "task %u exists already", ev->tid);
		return FALSE;
	}
	if (ev->has_parent) {
		if (rf_state_space(st, ev->parent, &parent)) {
			from = space_at(st, parent);
		} else {
			rf_set_data(error, "parent %u of task %u does not exist", ev->parent,
			            ev->tid);
			good = FALSE;
		}
	}
	if (ev->name && !g_hash_table_contains(st->cgroups, ev->name)) {
		if (good)
			rf_set_data(error, "cgroup %s of task %u was not declared", ev->name,
			            ev->tid);
		good = FALSE;
	}
	enter(st, ev->tid, ev->space, from ? from->vmas : NULL);
	return good;
}

/* ---- mappings ---- */

static gboolean declared(GHashTable *set, const char *what, uint32_t id, GError **error)
{
	if (g_hash_table_contains(set, GUINT_TO_POINTER(id)))
		return TRUE;
	rf_set_data(error, "%s %u was not declared", what, id);
	return FALSE;
}

static gboolean declare(GHashTable *set, const char *what, uint32_t id, GError **error)
{
	if (g_hash_table_add(set, GUINT_TO_POINTER(id)))
		return TRUE;
	rf_set_data(error, "%s %u was declared before", what, id);
	return FALSE;
}

#define HEX "0x%" G_GINT64_MODIFIER "x"
#define DEC "%" G_GUINT64_FORMAT
#define PAGE UINT64_C(4096) /* the smallest there is, whatever the granule */

static gboolean declare_file(struct rf_state *st, const struct rf_event *ev, GError **error)
{
	uint64_t *size = g_hash_table_lookup(st->files, GUINT_TO_POINTER(ev->id));

	if (size) {
		rf_set_data(error, "file %u was declared before", ev->id);
		return FALSE;
	}
	size = g_new(uint64_t, 1);
	*size = st->unsure ? 0 : ev->len;
	g_hash_table_insert(st->files, GUINT_TO_POINTER(ev->id), size);
	return TRUE;
}

/* read, write, fsync */
static gboolean file_event(struct rf_state *st, const struct rf_event *ev, GError **error)
{
	uint64_t *size = g_hash_table_lookup(st->files, GUINT_TO_POINTER(ev->id));

	if (!size)
		return declared(st->files, "file", ev->id, error);
	if (ev->kind == RF_EV_WRITE && *size && ev->off + ev->len > *size) {
		*size = ev->off + ev->len;
		st->epoch++;
	}
	if (ev->kind != RF_EV_READ || !*size || ev->off < *size)
		return TRUE;
	rf_set_data(error, "read of file %u at offset " DEC "; it has " DEC " bytes", ev->id, ev->off,
	            *size);
	return FALSE;
}

static gboolean aligned(const char *what, const char *member, uint64_t value, GError **error)
{
	if (value % PAGE == 0)
		return TRUE;
	rf_set_data(error, "%s with %s " HEX "; expected a multiple of " HEX, what, member, value,
	            PAGE);
	return FALSE;
}

/* What the kernel refuses whatever is mapped. */
static gboolean possible(struct rf_state *st, const struct rf_event *ev, GError **error)
{
	const char *what = rf_event_kind_name(ev->kind);
	const uint64_t *size = NULL;

	if (ev->kind == RF_EV_MLOCK || ev->kind == RF_EV_MUNLOCK || ev->kind == RF_EV_VRANGE)
		return TRUE; /* widened to whole pages */
	if (!aligned(what, "address", ev->addr, error))
		return FALSE;
	if (ev->kind == RF_EV_MREMAP) {
		if (!aligned(what, "new address", ev->addr2, error))
			return FALSE;
		if (ev->addr2 != ev->addr && ev->addr2 < ev->addr + ev->len &&
		    ev->addr < ev->addr2 + ev->len2) {
			rf_set_data(error, "mremap of " HEX " to " HEX ", which overlap", ev->addr,
			            ev->addr2);
			return FALSE;
		}
	}
	if (ev->kind != RF_EV_MMAP || ev->mkind == RF_MAP_ANON)
		return TRUE;
	if (ev->mkind == RF_MAP_FILE)
		size = g_hash_table_lookup(st->files, GUINT_TO_POINTER(ev->id));
	if (size && *size && ev->off >= (*size + PAGE - 1) / PAGE * PAGE) {
		rf_set_data(error, "mmap of file %u from offset " DEC " on; it has " DEC " bytes", ev->id,
		            ev->off, *size);
		return FALSE;
	}
	return aligned(what, "offset", ev->off, error);
}

static gboolean mmap_event(struct rf_state *st, struct rf_vmas *m, const struct rf_event *ev,
                           GError **error)
{
	struct rf_vma v = {
		.start = ev->addr,
		.end = ev->addr + ev->len,
		.off = ev->off,
		.id = ev->id,
		.prot = ev->prot,
		.mkind = ev->mkind,
		.flags = (ev->shared ? RF_VMA_SHARED : 0) | (ev->locked ? RF_VMA_LOCKED : 0),
	};
	gboolean good = TRUE;

	if (ev->mkind == RF_MAP_FILE)
		good = declared(st->files, "file", ev->id, error);
	else if (ev->mkind == RF_MAP_REFPAGE)
		good = declared(st->refpages, "refpage", ev->id, error);
	if (good && rf_vmas_overlaps(m, v.start, v.end)) {
		const struct rf_vma *in = rf_vmas_next(m, v.start);

		rf_set_data(error, "mmap of " HEX " to " HEX " over the mapping of " HEX " to " HEX,
		            v.start, v.end, in->start, in->end);
		good = FALSE;
	}
	rf_vmas_map(m, &v);
	return good;
}

/* Add to what was ever mapped; protections and files don't matter there. */
static void ever_mapped(struct space *s, uint64_t addr, uint64_t len)
{
	const struct rf_vma v = { .start = addr, .end = addr + len };

	rf_vmas_map(s->ever, &v);
}

static gboolean mremap_event(struct rf_vmas *m, const struct rf_event *ev, GError **error)
{
	uint64_t fresh = ev->addr2 == ev->addr ? ev->addr + MIN(ev->len, ev->len2) : ev->addr2;
	uint64_t end = ev->addr2 + ev->len2;

	if (fresh < end && rf_vmas_overlaps(m, fresh, end)) {
		rf_set_data(error, "mremap to " HEX " over another mapping", ev->addr2);
		return FALSE;
	}
	if (rf_vmas_move(m, ev->addr, ev->len, ev->addr2, ev->len2))
		return TRUE;
	rf_set_data(error, "mremap of " HEX ", where nothing is mapped", ev->addr);
	return FALSE;
}

/* mprotect, madvise, mlock, munlock, vrange */
static gboolean change_event(struct rf_vmas *m, const struct rf_event *ev, GError **error)
{
	uint16_t set = 0, clear = 0;
	gboolean prot = ev->kind == RF_EV_MPROTECT;

	if (ev->kind == RF_EV_MLOCK)
		set = RF_VMA_LOCKED;
	else if (ev->kind == RF_EV_MUNLOCK)
		clear = RF_VMA_LOCKED;
	if (rf_vmas_change(m, ev->addr, ev->addr + ev->len, prot, ev->prot, set, clear))
		return TRUE;
	rf_set_data(error, "%s of " HEX " to " HEX ", of which a part is not mapped",
	            rf_event_kind_name(ev->kind), ev->addr, ev->addr + ev->len);
	return FALSE;
}

static gboolean space_event(struct rf_state *st, const struct rf_event *ev, GError **error)
{
	struct space *s;
	gboolean good;
	uint32_t n;

	if (!rf_state_space(st, ev->tid, &n))
		return no_task(ev->tid, error);
	s = space_at(st, n);
	st->epoch++;
	good = possible(st, ev, error);
	if (!good)
		error = NULL; /* told; its effect is of use nevertheless */
	switch (ev->kind) {
	case RF_EV_MMAP:
		ever_mapped(s, ev->addr, ev->len);
		return mmap_event(st, s->vmas, ev, error) && good;
	case RF_EV_MUNMAP:
		rf_vmas_unmap(s->vmas, ev->addr, ev->addr + ev->len);
		return good;
	case RF_EV_MREMAP:
		ever_mapped(s, ev->addr2, ev->len2);
		return mremap_event(s->vmas, ev, error) && good;
	default:
		return change_event(s->vmas, ev, error) && good;
	}
}

static gboolean event(struct rf_state *st, const struct rf_event *ev, GError **error)
{
	uint32_t n;

	if (!rf_event_check(ev, error))
		return FALSE;
	switch (ev->kind) {
	case RF_EV_FILE:
		return declare_file(st, ev, error);
	case RF_EV_REFPAGE:
		return declare(st->refpages, "refpage", ev->id, error);
	case RF_EV_CGROUP:
		g_hash_table_add(st->cgroups, g_strdup(ev->name));
		return TRUE;
	case RF_EV_TASK:
		st->epoch++;
		return task_event(st, ev, error);
	case RF_EV_EXEC:
		if (!rf_state_space(st, ev->tid, &n) || ev->space > st->spaces->len)
			return no_task(ev->tid, error);
		st->epoch++;
		leave(st, ev->tid);
		enter(st, ev->tid, ev->space, NULL);
		return TRUE;
	case RF_EV_EXIT:
		if (!rf_state_space(st, ev->tid, &n))
			return no_task(ev->tid, error);
		st->epoch++;
		leave(st, ev->tid);
		return TRUE;
	case RF_EV_MMAP:
	case RF_EV_MUNMAP:
	case RF_EV_MREMAP:
	case RF_EV_MPROTECT:
	case RF_EV_MADVISE:
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
	case RF_EV_VRANGE:
		return space_event(st, ev, error);
	case RF_EV_READ:
	case RF_EV_WRITE:
	case RF_EV_FSYNC:
		return (rf_state_space(st, ev->tid, &n) || no_task(ev->tid, error)) &&
		       file_event(st, ev, error);
	case RF_EV_THINK:
		return rf_state_space(st, ev->tid, &n) || no_task(ev->tid, error);
	case RF_EV_AT:
		if (ev->len < st->at) {
			rf_set_data(error,
			            "time %" G_GUINT64_FORMAT " ns after %" G_GUINT64_FORMAT
			            " ns; expected time to go forward",
			            ev->len, st->at);
			return FALSE;
		}
		st->at = ev->len;
		return TRUE;
	default:
		return TRUE;
	}
}

gboolean rf_state_ever_mapped(const struct rf_state *st, uint32_t page)
{
	const struct rf_page_name *name = rf_state_page(st, page);
	struct space *s = name ? space_at(st, name->space) : NULL;

	return s && s->ever && rf_vmas_find(s->ever, name->vpn << st->shift);
}

uint64_t rf_state_file_size(const struct rf_state *st, uint32_t id)
{
	const uint64_t *size = g_hash_table_lookup(st->files, GUINT_TO_POINTER(id));

	return size ? *size : 0;
}

static void add_pages(struct rf_state *st, uint32_t n, const struct rf_page_name *name)
{
	if (n > st->cap - st->pages) {
		st->cap = MAX(st->pages + n, st->cap + st->cap / 4);
		st->name = g_renew(struct rf_page_name, st->name, st->cap);
	}
	for (uint32_t i = 0; i < n; i++)
		st->name[st->pages++] = name[i];
}

gboolean rf_state_item(struct rf_state *st, const struct rf_item *item, GError **error)
{
	uint32_t n;

	switch (item->kind) {
	case RF_ITEM_PAGES:
		add_pages(st, item->pages.n, item->pages.name);
		return TRUE;
	case RF_ITEM_EVENT:
		return event(st, &item->event, error);
	case RF_ITEM_RUNS:
		return rf_state_space(st, item->runs.tid, &n) || no_task(item->runs.tid, error);
	default:
		return TRUE;
	}
}
