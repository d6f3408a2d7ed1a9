/* SPDX-License-Identifier: MIT
 * A trace as what one process does.  Planning and feeding run the same code, so that the plan is
 * what happens: mappings are followed, an access to nothing is given its page, and one that its
 * mapping would not allow gets the mapping widened, as the model does.
 */
#include <string.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "sim/verify/verify.h"

#define HEX "0x%" G_GINT64_MODIFIER "x"
#define U64 G_GUINT64_FORMAT

struct rf_vtrace {
	struct rf_vplan *plan;
	gboolean planning, exited;
	rf_vop_fn emit;
	void *data;
	struct rf_vmas *vmas;
	GHashTable *objects; /* shmem << 32 | id to index + 1 */
	uint64_t *vpn;       /* by dense id */
	uint8_t *written;    /* by dense id: counted as private memory */
	uint32_t n, cap;
};

void rf_vplan_init(struct rf_vplan *p)
{
	memset(p, 0, sizeof(*p));
	p->objects = g_array_new(FALSE, TRUE, sizeof(struct rf_vobject));
	p->used = rf_vmas_new(RF_GRANULE_SHIFT);
}

void rf_vplan_clear(struct rf_vplan *p)
{
	g_clear_pointer(&p->objects, g_array_unref);
	g_clear_pointer(&p->used, rf_vmas_free);
}

uint32_t rf_vplan_object(const struct rf_vplan *p, uint32_t id, gboolean shmem)
{
	for (guint i = 0; i < p->objects->len; i++) {
		const struct rf_vobject *o = &g_array_index(p->objects, struct rf_vobject, i);

		if (o->id == id && o->shmem == shmem)
			return i;
	}
	return RF_VOP_NO_OBJECT;
}

static gint64 *object_key(uint32_t id, gboolean shmem)
{
	gint64 *key = g_new(gint64, 1);

	*key = (gint64)id | (gint64)shmem << 32;
	return key;
}

struct rf_vtrace *rf_vtrace_new(struct rf_vplan *plan, gboolean planning, rf_vop_fn emit,
                                void *data)
{
	struct rf_vtrace *t = g_new0(struct rf_vtrace, 1);

	t->plan = plan;
	t->planning = planning;
	t->emit = emit;
	t->data = data;
	t->vmas = rf_vmas_new(RF_GRANULE_SHIFT);
	t->objects = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < plan->objects->len; i++) {
		const struct rf_vobject *o = &g_array_index(plan->objects, struct rf_vobject, i);

		g_hash_table_insert(t->objects, object_key(o->id, o->shmem),
		                    GUINT_TO_POINTER(i + 1));
	}
	return t;
}

void rf_vtrace_free(struct rf_vtrace *t)
{
	if (!t)
		return;
	rf_vmas_free(t->vmas);
	g_hash_table_unref(t->objects);
	g_free(t->vpn);
	g_free(t->written);
	g_free(t);
}

static uint32_t object_get(struct rf_vtrace *t, uint32_t id, gboolean shmem)
{
	gint64 key = (gint64)id | (gint64)shmem << 32;
	gpointer found = g_hash_table_lookup(t->objects, &key);
	struct rf_vobject o = { .id = id, .shmem = shmem };

	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	g_array_append_val(t->plan->objects, o);
	g_hash_table_insert(t->objects, object_key(id, shmem),
	                    GUINT_TO_POINTER(t->plan->objects->len));
	return t->plan->objects->len - 1;
}

static void object_needs(struct rf_vtrace *t, uint32_t object, uint64_t size)
{
	struct rf_vobject *o = &g_array_index(t->plan->objects, struct rf_vobject, object);

	if (t->planning && size > o->size) {
		o->size = size;
		o->grown = TRUE;
	}
}

static gboolean out(struct rf_vtrace *t, const struct rf_vop *op, GError **error)
{
	return !t->emit || t->emit(t->data, op, error);
}

static gboolean refuse(uint64_t record, GError **error, const char *what, const char *expected)
{
	rf_set_usage(error, "record %" U64 ": %s can't be reproduced by verify; expected %s",
	             record, what, expected);
	return FALSE;
}

/* ---- mappings ---- */

static void map(struct rf_vtrace *t, const struct rf_vma *vma)
{
	rf_vmas_map(t->vmas, vma);
	if (t->planning) {
		const struct rf_vma used = { .start = vma->start,
			                     .end = vma->end,
			                     .mkind = RF_MAP_ANON };

		rf_vmas_map(t->plan->used, &used);
	}
}

static gboolean mmap_event(struct rf_vtrace *t, const struct rf_event *ev, struct rf_vop *op,
                           GError **error)
{
	struct rf_vma vma = {
		.start = op->addr,
		.end = op->addr + op->len,
		.off = ev->off & ~(RF_VERIFY_PAGE - 1),
		.id = ev->id,
		.prot = ev->prot,
		.mkind = ev->mkind,
		.flags = (ev->shared ? RF_VMA_SHARED : 0) | (ev->locked ? RF_VMA_LOCKED : 0),
	};

	if (ev->mkind == RF_MAP_REFPAGE)
		return refuse(op->record, error, "a reference page, which is not in the kernel,",
		              "other mappings");
	map(t, &vma);
	op->kind = RF_VOP_MMAP;
	op->prot = ev->prot;
	op->shared = ev->shared || ev->mkind == RF_MAP_SHMEM;
	op->locked = ev->locked;
	op->off = vma.off;
	if (ev->mkind == RF_MAP_FILE || ev->mkind == RF_MAP_SHMEM)
		op->object = object_get(t, ev->id, ev->mkind == RF_MAP_SHMEM);
	if (ev->locked && op->object != RF_VOP_NO_OBJECT)
		object_needs(t, op->object, op->off + op->len);
	return out(t, op, error);
}

static gboolean mremap_event(struct rf_vtrace *t, const struct rf_event *ev, struct rf_vop *op,
                             GError **error)
{
	uint64_t end = op->addr + op->len;

	op->addr2 = ev->addr2 & ~(RF_VERIFY_PAGE - 1);
	op->len2 =
		((ev->addr2 + ev->len2 + RF_VERIFY_PAGE - 1) & ~(RF_VERIFY_PAGE - 1)) - op->addr2;
	/* Growth in place is refused by the kernel where something is in the way; the trace says
	 * that nothing was. */
	if (op->addr2 == op->addr && op->len2 > op->len && rf_vmas_next(t->vmas, end) &&
	    rf_vmas_next(t->vmas, end)->start < op->addr2 + op->len2) {
		const struct rf_vop clear = { .kind = RF_VOP_MUNMAP,
			                      .addr = end,
			                      .len = op->len2 - op->len,
			                      .object = RF_VOP_NO_OBJECT,
			                      .record = op->record };

		if (!out(t, &clear, error))
			return FALSE;
	}
	if (!rf_vmas_move(t->vmas, op->addr, op->len, op->addr2, op->len2))
		return TRUE; /* of nothing: the model has nothing to move either */
	if (t->planning) {
		const struct rf_vma used = { .start = op->addr2,
			                     .end = op->addr2 + op->len2,
			                     .mkind = RF_MAP_ANON };

		rf_vmas_map(t->plan->used, &used);
	}
	op->kind = RF_VOP_MREMAP;
	return out(t, op, error);
}

static gboolean madvise_event(struct rf_vtrace *t, const struct rf_event *ev, struct rf_vop *op,
                              GError **error)
{
	op->kind = RF_VOP_MADVISE;
	op->advice = ev->advice;
	switch (ev->advice) {
	case RF_ADV_HUGEPAGE:
		t->plan->left_out += t->planning;
		return TRUE;
	case RF_ADV_NOHUGEPAGE: /* everything is already */
		return TRUE;
	case RF_ADV_DONTNEED:
	case RF_ADV_FREE: {
		uint64_t start = (ev->addr + RF_VERIFY_PAGE - 1) & ~(RF_VERIFY_PAGE - 1);
		uint64_t end = (ev->addr + ev->len) & ~(RF_VERIFY_PAGE - 1);

		if (end <= start)
			return TRUE;
		op->addr = start;
		op->len = end - start;
		break;
	}
	default:
		break;
	}
	return out(t, op, error);
}

/* Everything goes: exec, exit. */
static gboolean unmap_all(struct rf_vtrace *t, uint64_t record, GError **error)
{
	for (uint32_t i = 0; i < rf_vmas_count(t->vmas); i++) {
		const struct rf_vma *v = rf_vmas_nth(t->vmas, i);
		const struct rf_vop op = { .kind = RF_VOP_MUNMAP,
			                   .addr = v->start,
			                   .len = v->end - v->start,
			                   .object = RF_VOP_NO_OBJECT,
			                   .record = record };

		if (!out(t, &op, error))
			return FALSE;
	}
	rf_vmas_unmap(t->vmas, 0, RF_VERIFY_END);
	return TRUE;
}

/* ---- accesses ---- */

static const struct rf_vma *implicit(struct rf_vtrace *t, uint64_t addr, uint64_t record,
                                     GError **error)
{
	const struct rf_vma vma = { .start = addr,
		                    .end = addr + RF_VERIFY_PAGE,
		                    .mkind = RF_MAP_ANON,
		                    .prot = RF_PROT_R | RF_PROT_W | RF_PROT_X,
		                    .flags = RF_VMA_IMPLICIT };
	const struct rf_vop op = { .kind = RF_VOP_MMAP,
		                   .prot = RF_PROT_R | RF_PROT_W,
		                   .addr = addr,
		                   .len = RF_VERIFY_PAGE,
		                   .object = RF_VOP_NO_OBJECT,
		                   .record = record };

	map(t, &vma);
	t->plan->implicit += t->planning;
	return out(t, &op, error) ? rf_vmas_find(t->vmas, addr) : NULL;
}

static const struct rf_vma *widen(struct rf_vtrace *t, const struct rf_vma *vma, uint64_t addr,
                                  uint8_t need, uint64_t record, GError **error)
{
	const struct rf_vop op = { .kind = RF_VOP_MPROTECT,
		                   .prot = vma->prot | need,
		                   .addr = vma->start,
		                   .len = vma->end - vma->start,
		                   .object = RF_VOP_NO_OBJECT,
		                   .record = record };

	rf_vmas_change(t->vmas, op.addr, op.addr + op.len, TRUE, op.prot, 0, 0);
	t->plan->widened += t->planning;
	return out(t, &op, error) ? rf_vmas_find(t->vmas, addr) : NULL;
}

static void plan_access(struct rf_vtrace *t, const struct rf_vma *vma, uint32_t id, uint64_t addr,
                        gboolean write)
{
	gboolean file = vma->mkind == RF_MAP_FILE || vma->mkind == RF_MAP_SHMEM;

	if (file)
		object_needs(t, object_get(t, vma->id, vma->mkind == RF_MAP_SHMEM),
		             vma->off + (addr - vma->start) + RF_VERIFY_PAGE);
	if (t->written[id])
		return;
	/* Whatever can only leave to swap. */
	if (vma->mkind == RF_MAP_SHMEM || (write && !(file && vma->flags & RF_VMA_SHARED))) {
		t->written[id] = 1;
		t->plan->anon_pages++;
	}
}

static gboolean runs_item(struct rf_vtrace *t, const struct rf_item *item, GError **error)
{
	const struct rf_runs *r = &item->runs;

	if (!t->plan->task || r->tid != t->plan->tid)
		return refuse(item->record, error, "another task", "one task");
	if (t->exited)
		return TRUE;
	for (uint32_t i = 0; i < r->n; i++) {
		gboolean write = (r->type[i] & RF_TYPE_MASK) == RF_WRITE;
		struct rf_vop op = { .kind = write ? RF_VOP_WRITE : RF_VOP_READ,
			             .object = RF_VOP_NO_OBJECT,
			             .record = item->record + i };
		const struct rf_vma *vma;

		if (r->page[i] >= t->n) {
			rf_set_data(error, "record %" U64 ": a page that was not named", op.record);
			return FALSE;
		}
		op.addr = t->vpn[r->page[i]] << RF_GRANULE_SHIFT;
		op.count = r->type[i] & RF_RUN_CONT ? 0 : r->count[i];
		vma = rf_vmas_find(t->vmas, op.addr);
		if (!vma)
			vma = implicit(t, op.addr, op.record, error);
		if (vma && !(vma->prot & (write ? RF_PROT_W : RF_PROT_R | RF_PROT_W | RF_PROT_X)))
			vma = widen(t, vma, op.addr, write ? RF_PROT_W | RF_PROT_R : RF_PROT_R,
			            op.record, error);
		if (!vma)
			return FALSE;
		if (t->planning) {
			plan_access(t, vma, r->page[i], op.addr, write);
			t->plan->accesses += op.count;
		}
		if (!out(t, &op, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean pages_item(struct rf_vtrace *t, const struct rf_item *item, GError **error)
{
	uint32_t n = item->pages.first + item->pages.n;

	if (n > t->cap) {
		uint32_t cap = MAX(n, t->cap + t->cap / 2);

		t->vpn = g_renew(uint64_t, t->vpn, cap);
		t->written = g_renew(uint8_t, t->written, cap);
		memset(t->written + t->cap, 0, cap - t->cap);
		t->cap = cap;
	}
	for (uint32_t i = 0; i < item->pages.n; i++) {
		uint64_t vpn = item->pages.name[i].vpn;

		if (vpn >= RF_VERIFY_END >> RF_GRANULE_SHIFT) {
			rf_set_data(error, "record %" U64 ": page " HEX " is beyond any address",
			            item->record, vpn);
			return FALSE;
		}
		t->vpn[item->pages.first + i] = vpn;
	}
	t->n = n;
	return TRUE;
}

/* ---- the other events ---- */

static gboolean task_event(struct rf_vtrace *t, const struct rf_event *ev, uint64_t record,
                           GError **error)
{
	struct rf_vplan *p = t->plan;

	if (ev->name)
		return refuse(record, error, "a task in a cgroup of its own",
		              "no cgroups: --limit makes the only one");
	if (!t->planning)
		return TRUE;
	if (p->task)
		return refuse(record, error,
		              ev->has_parent ? ev->thread ? "a thread" : "a fork" : "a second task",
		              "one task (`refault trace cut' takes one out of a trace)");
	p->task = TRUE;
	p->tid = ev->tid;
	p->space = ev->space;
	return TRUE;
}

static gboolean rw_event(struct rf_vtrace *t, const struct rf_event *ev, struct rf_vop *op,
                         GError **error)
{
	op->kind = ev->kind == RF_EV_READ    ? RF_VOP_FREAD
	           : ev->kind == RF_EV_WRITE ? RF_VOP_FWRITE
	                                     : RF_VOP_FSYNC;
	op->addr = 0;
	op->len = ev->len;
	op->off = ev->off;
	op->object = object_get(t, ev->id, FALSE);
	return out(t, op, error);
}

static gboolean event_item(struct rf_vtrace *t, const struct rf_event *ev, uint64_t record,
                           GError **error)
{
	const uint64_t mask = RF_VERIFY_PAGE - 1;
	struct rf_vop op = {
		.count = 1, .object = RF_VOP_NO_OBJECT, .record = record, .addr = ev->addr & ~mask
	};

	op.len = ((ev->addr + ev->len + mask) & ~mask) - op.addr;
	if (t->exited && ev->kind != RF_EV_TASK)
		return TRUE;
	switch (ev->kind) {
	case RF_EV_FILE: {
		uint32_t object = object_get(t, ev->id, FALSE); /* may move the array */
		struct rf_vobject *o = &g_array_index(t->plan->objects, struct rf_vobject, object);

		if (t->planning && ev->len >= o->size) {
			o->size = ev->len;
			o->grown = FALSE;
		}
		return TRUE;
	}
	case RF_EV_TASK:
		return task_event(t, ev, record, error);
	case RF_EV_EXEC:
		return unmap_all(t, record, error);
	case RF_EV_EXIT:
		t->exited = TRUE;
		return unmap_all(t, record, error);
	case RF_EV_MMAP:
		return mmap_event(t, ev, &op, error);
	case RF_EV_MUNMAP:
		rf_vmas_unmap(t->vmas, op.addr, op.addr + op.len);
		op.kind = RF_VOP_MUNMAP;
		return out(t, &op, error);
	case RF_EV_MREMAP:
		return mremap_event(t, ev, &op, error);
	case RF_EV_MPROTECT:
		rf_vmas_change(t->vmas, op.addr, op.addr + op.len, TRUE, ev->prot, 0, 0);
		op.kind = RF_VOP_MPROTECT;
		op.prot = ev->prot;
		return out(t, &op, error);
	case RF_EV_MADVISE:
		return madvise_event(t, ev, &op, error);
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
		op.kind = ev->kind == RF_EV_MLOCK ? RF_VOP_MLOCK : RF_VOP_MUNLOCK;
		return out(t, &op, error);
	case RF_EV_READ:
	case RF_EV_WRITE:
	case RF_EV_FSYNC:
		return rw_event(t, ev, &op, error);
	case RF_EV_THINK:
	case RF_EV_AT:
		op.kind = ev->kind == RF_EV_THINK ? RF_VOP_SLEEP : RF_VOP_UNTIL;
		op.addr = 0;
		op.len = ev->len;
		if (t->planning && ev->kind == RF_EV_THINK)
			t->plan->sleep += MIN(ev->len, UINT64_MAX - t->plan->sleep);
		else if (t->planning)
			t->plan->sleep = MAX(t->plan->sleep, ev->len);
		return out(t, &op, error);
	case RF_EV_CGROUP:
		return refuse(record, error, "an event cgroup",
		              "no cgroups: --limit makes the only one");
	case RF_EV_VRANGE:
		return refuse(record, error, "an event vrange, a call that kernels do not have,",
		              "madvise");
	case RF_EV_REFPAGE:
		return refuse(record, error, "an event refpage, a call that kernels do not have,",
		              "anonymous memory");
	case RF_EV_HUGETLB:
		return refuse(record, error,
		              "an event hugetlb, which takes memory from the machine,",
		              "one task's events");
	case RF_EV_MEMORY:
		return refuse(record, error, "memory hotplug", "one task's events");
	case RF_EV_MARK:
	case RF_EV_LOST:
	case RF_NEVENTS:
		return TRUE;
	}
	return TRUE;
}

gboolean rf_vtrace_item(struct rf_vtrace *t, const struct rf_item *item, GError **error)
{
	switch (item->kind) {
	case RF_ITEM_RUNS:
		return runs_item(t, item, error);
	case RF_ITEM_PAGES:
		return pages_item(t, item, error);
	case RF_ITEM_EVENT:
		return event_item(t, &item->event, item->record, error);
	case RF_ITEM_END:
		return TRUE;
	}
	return TRUE;
}

gboolean rf_vplan_make(struct rf_vplan *p, struct rf_source *source, GError **error)
{
	struct rf_vtrace *t = rf_vtrace_new(p, TRUE, NULL, NULL);
	struct rf_item item;
	gboolean ok;

	do {
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			ok = FALSE;
			break;
		}
		ok = rf_source_next(source, &item, error) && rf_vtrace_item(t, &item, error);
	} while (ok && item.kind != RF_ITEM_END);
	rf_vtrace_free(t);
	if (ok && rf_source_header(source)->granule_shift != RF_GRANULE_SHIFT) {
		rf_set_usage(error,
		             "the trace names pages of %u bytes; expected 4096: accesses within "
		             "larger ones "
		             "are not known",
		             1u << rf_source_header(source)->granule_shift);
		return FALSE;
	}
	if (ok && !p->task) {
		rf_set_usage(error, "the trace has no task; expected one, with accesses");
		return FALSE;
	}
	return ok;
}
