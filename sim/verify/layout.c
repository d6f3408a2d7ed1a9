/* SPDX-License-Identifier: MIT
 * Where the trace's addresses go in the child.  The traced program had addresses that the child
 * uses itself, or that the kernel gives to nobody; all of them are then moved by one distance.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "sim/verify/verify.h"

#define HEX "0x%" G_GINT64_MODIFIER "x"

/* Sizes that an entry of each level of page tables covers with 4 KiB pages.  A distance that is a
 * multiple of the largest leaves the tables as they were, one for one. */
static const unsigned levels[] = { 39, 30, 21 };

#define TRIES 65536 /* distances tried at each level */

void rf_vlayout_clear(struct rf_vlayout *l)
{
	g_clear_pointer(&l->taken, g_array_unref);
	g_clear_pointer(&l->files, g_array_unref);
	g_clear_pointer(&l->writable, g_array_unref);
}

gboolean rf_vlayout_parse(struct rf_vlayout *l, const char *maps, uint64_t min, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(maps, "\n", -1);

	memset(l, 0, sizeof(*l));
	l->taken = g_array_new(FALSE, FALSE, sizeof(struct rf_vrange));
	l->files = g_array_new(FALSE, FALSE, sizeof(struct rf_vrange));
	l->writable = g_array_new(FALSE, FALSE, sizeof(struct rf_vrange));
	l->min = MAX(min, RF_VERIFY_PAGE);
	for (char **line = lines; *line; line++) {
		unsigned long long start, end, inode;
		char prot[5];
		struct rf_vrange r;

		if (!**line)
			continue;
		if (sscanf(*line, "%llx-%llx %4s %*x %*s %llu", &start, &end, prot, &inode) != 4 ||
		    end <= start) {
			rf_set_env(error, "/proc/self/maps: cannot read the line \"%s\"", *line);
			rf_vlayout_clear(l);
			return FALSE;
		}
		if (start >= UINT64_C(1) << 63)
			continue; /* the kernel's half: vsyscall */
		r = (struct rf_vrange){ start, end };
		g_array_append_val(l->taken, r);
		if (inode && prot[0] == 'r' && prot[3] == 'p')
			g_array_append_val(l->files, r);
		if (prot[0] == 'r' && prot[1] == 'w' && prot[3] == 'p')
			g_array_append_val(l->writable, r);
		l->max = MAX(l->max, r.end);
	}
	if (!l->max) {
		rf_set_env(error, "/proc/self/maps: expected mappings, found none");
		rf_vlayout_clear(l);
		return FALSE;
	}
	/* The stack is at the end of user addresses. */
	l->max = UINT64_C(1) << (64 - __builtin_clzll(l->max - 1));
	return TRUE;
}

static gboolean overlaps(const GArray *ranges, uint64_t start, uint64_t end, unsigned shift)
{
	const uint64_t mask = ~((UINT64_C(1) << shift) - 1);

	for (guint i = 0; i < ranges->len; i++) {
		const struct rf_vrange *r = &g_array_index(ranges, struct rf_vrange, i);

		if ((r->start & mask) < end &&
		    start < ((r->end - 1) & mask) + (UINT64_C(1) << shift))
			return TRUE;
	}
	return FALSE;
}

/* May the trace be moved by offset, keeping clear of tables of size shift that are in use here? */
static gboolean fits(const struct rf_vlayout *l, const struct rf_vplan *plan, int64_t offset,
                     unsigned shift)
{
	for (uint32_t i = 0; i < rf_vmas_count(plan->used); i++) {
		const struct rf_vma *v = rf_vmas_nth(plan->used, i);
		uint64_t start = v->start + (uint64_t)offset, end = v->end + (uint64_t)offset;

		if (offset < 0 ? start > v->start : end < v->end)
			return FALSE;
		if (start < l->min || end > l->max || end < start ||
		    overlaps(l->taken, start, end, shift))
			return FALSE;
	}
	return TRUE;
}

uint64_t rf_vplan_own_address(const struct rf_vplan *plan)
{
	const uint64_t step = UINT64_C(1) << levels[0];
	g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(struct rf_vrange));
	uint64_t at = UINT64_C(0x7e) << 40;

	for (uint32_t i = 0; i < rf_vmas_count(plan->used); i++) {
		const struct rf_vma *v = rf_vmas_nth(plan->used, i);
		struct rf_vrange r = { v->start, v->end };

		g_array_append_val(used, r);
	}
	while (at > step && overlaps(used, at, at + RF_VERIFY_OWN_ROOM, levels[0]))
		at -= step;
	return at;
}

/* Room of our own, in tables of nobody else. */
static gboolean place_own(struct rf_vlayout *l, const struct rf_vplan *plan)
{
	g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(struct rf_vrange));

	for (uint32_t i = 0; i < rf_vmas_count(plan->used); i++) {
		const struct rf_vma *v = rf_vmas_nth(plan->used, i);
		struct rf_vrange r = { v->start + (uint64_t)plan->offset,
			               v->end + (uint64_t)plan->offset };

		g_array_append_val(used, r);
	}
	for (size_t k = 0; k < G_N_ELEMENTS(levels); k++) {
		uint64_t step = UINT64_C(1) << levels[k], at;
		unsigned n = 0;

		for (at = (l->max - 1) & ~(step - 1); at >= MAX(l->min, step) && n < TRIES;
		     at -= step, n++) {
			if (overlaps(l->taken, at, at + RF_VERIFY_OWN_ROOM, levels[k]) ||
			    overlaps(used, at, at + RF_VERIFY_OWN_ROOM, levels[k]))
				continue;
			l->own = at;
			return TRUE;
		}
	}
	return FALSE;
}

gboolean rf_vlayout_place(struct rf_vlayout *l, struct rf_vplan *plan, GError **error)
{
	uint32_t n = rf_vmas_count(plan->used);

	plan->offset = 0;
	if (fits(l, plan, 0, RF_GRANULE_SHIFT))
		return place_own(l, plan) ||
		       (rf_set_env(error, "no room left in the address space"), FALSE);
	for (size_t k = 0; k < G_N_ELEMENTS(levels); k++) {
		/* Upwards first: programs are at low addresses more often than not. */
		for (int64_t i = 1; i <= TRIES / 2; i++) {
			const int64_t step = (int64_t)1 << levels[k];

			if (i > (int64_t)(l->max >> levels[k]))
				break;
			if (fits(l, plan, i * step, levels[k]))
				plan->offset = i * step;
			else if (fits(l, plan, -i * step, levels[k]))
				plan->offset = -i * step;
			else
				continue;
			return place_own(l, plan) ||
			       (rf_set_env(error, "no room left in the address space"), FALSE);
		}
	}
	rf_set_usage(error,
	             "the trace's addresses, from " HEX " to " HEX
	             ", fit nowhere between the mappings of "
	             "a process here, moved by whatever distance; expected fewer or nearer ones",
	             rf_vmas_nth(plan->used, 0)->start, rf_vmas_nth(plan->used, n - 1)->end);
	return FALSE;
}
