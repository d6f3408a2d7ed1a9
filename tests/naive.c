/* SPDX-License-Identifier: MIT */
#include "tests/naive.h"

#include <string.h>

static const struct naive_ops *const all[] = {
	&naive_fifo, &naive_lru, &naive_clock, &naive_sieve, &naive_2q,
	&naive_s3fifo, &naive_arc, &naive_lirs, &naive_belady,
};

struct naive *naive_new(const char *name, guint frames, const struct step *steps, guint nsteps)
{
	struct naive *n = g_new0(struct naive, 1);

	for (guint i = 0; i < G_N_ELEMENTS(all); i++)
		if (!strcmp(all[i]->name, name))
			n->ops = all[i];
	g_assert(n->ops);
	n->frames = frames;
	n->steps = steps;
	n->nsteps = nsteps;
	for (guint i = 0; i < G_N_ELEMENTS(n->queue); i++)
		n->queue[i] = g_array_new(FALSE, FALSE, sizeof(guint));
	n->count = g_hash_table_new(NULL, NULL);
	return n;
}

void naive_free(struct naive *n)
{
	for (guint i = 0; i < G_N_ELEMENTS(n->queue); i++)
		g_array_free(n->queue[i], TRUE);
	g_hash_table_destroy(n->count);
	g_free(n);
}
