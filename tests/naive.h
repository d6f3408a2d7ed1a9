/* SPDX-License-Identifier: MIT
 * Replacement algorithms once more, as plainly as they can be written: queues are arrays that are
 * searched from one end to the other.  Written from the papers, without a look at policies/; the tests
 * compare the two fault by fault.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include <glib.h>

/* What happens to a page. */
struct step {
	enum { STEP_USE, STEP_DROP } what;
	guint page;
};

struct naive;

struct naive_ops {
	const char *name;
	/* Use of a page, step number at: was it a miss? */
	gboolean (*use)(struct naive *n, guint page, guint at);
	/* The page is freed, and nothing remembers it. */
	void (*drop)(struct naive *n, guint page);
};

struct naive {
	const struct naive_ops *ops;
	guint frames;
	const struct step *steps; /* the whole trace: for whoever knows the future */
	guint nsteps;
	GArray *queue[4];         /* guint pages, the oldest first */
	GHashTable *count;        /* page to a small number, 0 if absent */
	guint hand, p;
};

struct naive *naive_new(const char *name, guint frames, const struct step *steps, guint nsteps);
void naive_free(struct naive *n);

extern const struct naive_ops naive_fifo, naive_lru, naive_clock, naive_sieve, naive_2q,
	naive_s3fifo, naive_arc, naive_lirs, naive_belady;

/* ---- queues ---- */

static inline guint q_at(GArray *q, guint i)
{
	return g_array_index(q, guint, i);
}

/* Where page is, or -1. */
static inline int q_find(GArray *q, guint page)
{
	for (guint i = 0; i < q->len; i++)
		if (q_at(q, i) == page)
			return (int)i;
	return -1;
}

static inline gboolean q_remove(GArray *q, guint page)
{
	int i = q_find(q, page);

	if (i < 0)
		return FALSE;
	g_array_remove_index(q, (guint)i);
	return TRUE;
}

static inline void q_push(GArray *q, guint page)
{
	g_array_append_val(q, page);
}

/* Take the oldest. */
static inline guint q_pop(GArray *q)
{
	guint page = q_at(q, 0);

	g_array_remove_index(q, 0);
	return page;
}

static inline guint count_of(struct naive *n, guint page)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(n->count, GUINT_TO_POINTER(page)));
}

static inline void set_count(struct naive *n, guint page, guint count)
{
	g_hash_table_insert(n->count, GUINT_TO_POINTER(page), GUINT_TO_POINTER(count));
}

/* percent of the frames, at least one. */
static inline guint share(struct naive *n, guint percent)
{
	return MAX(1, n->frames * percent / 100);
}

#endif
