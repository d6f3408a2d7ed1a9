/* SPDX-License-Identifier: MIT
 * The ring between the parent, which decodes, and the child, which does.  It is the parent that
 * touches its pages first, so that none of them is charged to the child's cgroup; the child has
 * only their page-table entries, made before it enters.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sim/verify/verify.h"

G_STATIC_ASSERT(sizeof(struct rf_vunit) == 16);
G_STATIC_ASSERT(sizeof(struct rf_vmore) % sizeof(struct rf_vunit) == 0);

/* flags of a unit */
#define SHARED 1
#define LOCKED 2

/* Updates that a CPU keeps to itself, and that for each CPU must be pending before a read of
 * memory.stat folds them (MEMCG_CHARGE_BATCH). */
#define STAT_BATCH 64

static void *shared_memory(size_t bytes, int fill)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memset(p, fill, bytes);
	return p;
}

struct rf_vring *rf_vring_new(guint ncpus, GError **error)
{
	struct rf_vring *r = g_new0(struct rf_vring, 1);

	r->nudge_bytes = 2 * RF_VRING_ROUNDS * (size_t)STAT_BATCH * (ncpus + 3) * RF_VERIFY_PAGE;
	r->shared = shared_memory(sizeof(*r->shared), 0);
	r->nudge = shared_memory(r->nudge_bytes, 1);
	if (!r->shared || !r->nudge) {
		rf_set_env(error, "no memory for %zu bytes: %s",
		           sizeof(*r->shared) + r->nudge_bytes, g_strerror(errno));
		rf_vring_free(r);
		return NULL;
	}
	/* What write(2) writes is not zeros. */
	memset(r->shared->buffer, 'w', sizeof(r->shared->buffer));
	return r;
}

void rf_vring_free(struct rf_vring *r)
{
	if (!r)
		return;
	if (r->shared)
		munmap(r->shared, sizeof(*r->shared));
	if (r->nudge)
		munmap(r->nudge, r->nudge_bytes);
	g_free(r);
}

void rf_vwait(uint32_t *word, uint32_t value, unsigned ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void rf_vwake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Room for n units; one more is always left for the command that ends a slot. */
static gboolean room(struct rf_vring *r, uint32_t n, rf_valive_fn alive, void *data, GError **error)
{
	struct rf_vshared *s = r->shared;
	uint32_t filled = __atomic_load_n(&s->filled, __ATOMIC_RELAXED), taken;

	if (r->at + n < RF_VRING_UNITS)
		goto wait;
	s->slot[filled % RF_VRING_SLOTS][r->at] = (struct rf_vunit){ .kind = RF_VOP_NEXT };
	r->at = 0;
	filled++;
	__atomic_store_n(&s->filled, filled, __ATOMIC_RELEASE);
	rf_vwake(&s->filled);
wait:
	while (filled - (taken = __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE)) >= RF_VRING_SLOTS) {
		if (!alive(data, error))
			return FALSE;
		rf_vwait(&s->taken, taken, 20);
	}
	return TRUE;
}

gboolean rf_vring_put(struct rf_vring *r, const struct rf_vop *op, rf_valive_fn alive, void *data,
                      GError **error)
{
	struct rf_vshared *s = r->shared;
	uint32_t n = rf_vop_units(op->kind);
	struct rf_vunit *u;

	if (!room(r, n, alive, data, error))
		return FALSE;
	u = &s->slot[s->filled % RF_VRING_SLOTS][r->at];
	*u = (struct rf_vunit){
		.addr = op->addr,
		.count = op->count,
		.kind = op->kind,
		.prot = op->prot,
		.advice = op->advice,
		.flags = (op->shared ? SHARED : 0) | (op->locked ? LOCKED : 0),
	};
	if (n > 1) {
		const struct rf_vmore more = {
			.len = op->len,
			.addr2 = op->addr2,
			.len2 = op->len2,
			.off = op->off,
			.record = op->record,
			.object = op->object,
		};

		memcpy(u + 1, &more, sizeof(more));
	}
	r->at += n;
	if (op->kind == RF_VOP_END) {
		__atomic_store_n(&s->filled, s->filled + 1, __ATOMIC_RELEASE);
		r->at = 0;
		rf_vwake(&s->filled);
	}
	return TRUE;
}

const struct rf_vunit *rf_vring_slot(struct rf_vshared *s)
{
	uint32_t taken = s->taken;

	while (__atomic_load_n(&s->filled, __ATOMIC_ACQUIRE) == taken)
		rf_vwait(&s->filled, taken, 1000);
	return s->slot[taken % RF_VRING_SLOTS];
}

void rf_vring_took(struct rf_vshared *s)
{
	__atomic_store_n(&s->taken, s->taken + 1, __ATOMIC_RELEASE);
	rf_vwake(&s->taken);
}

void rf_vring_op(const struct rf_vunit *u, struct rf_vop *op)
{
	struct rf_vmore more = { .object = RF_VOP_NO_OBJECT };

	if (rf_vop_units(u->kind) > 1)
		memcpy(&more, u + 1, sizeof(more));
	*op = (struct rf_vop){
		.kind = u->kind,
		.prot = u->prot,
		.advice = u->advice,
		.count = u->count,
		.addr = u->addr,
		.shared = (u->flags & SHARED) != 0,
		.locked = (u->flags & LOCKED) != 0,
		.len = more.len,
		.addr2 = more.addr2,
		.len2 = more.len2,
		.off = more.off,
		.object = more.object,
		.record = more.record,
	};
}
