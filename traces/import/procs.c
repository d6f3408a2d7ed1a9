/* SPDX-License-Identifier: MIT */
#include "traces/import/procs.h"

#include "traces/import/maps.h"

struct rf_procs {
	struct rf_builder *b;
	char *maps;         /* a companion file that was not read yet, or NULL */
	GHashTable *tasks;  /* tid → struct rf_process */
	GHashTable *groups; /* pid → the same */
	GPtrArray *all;     /* of them */
	gboolean kernel_accesses;
	uint32_t last_tid;  /* and its process, if there is one */
	struct rf_process *last;
};

struct rf_procs *rf_procs_new(struct rf_builder *b, const struct rf_source_options *opt,
                              gboolean kernel_accesses)
{
	struct rf_procs *p = g_new0(struct rf_procs, 1);

	p->b = b;
	p->maps = g_strdup(opt != NULL ? opt->maps : NULL);
	p->tasks = g_hash_table_new(NULL, NULL);
	p->groups = g_hash_table_new(NULL, NULL);
	p->all = g_ptr_array_new_with_free_func((GDestroyNotify)rf_process_free);
	p->kernel_accesses = kernel_accesses;
	return p;
}

void rf_procs_free(struct rf_procs *p)
{
	if (p == NULL)
		return;
	g_hash_table_destroy(p->tasks);
	g_hash_table_destroy(p->groups);
	g_ptr_array_unref(p->all);
	g_free(p->maps);
	g_free(p);
}

gboolean rf_procs_known(const struct rf_procs *p, uint32_t tid)
{
	return g_hash_table_contains(p->tasks, GUINT_TO_POINTER(tid));
}

/* pid and tid now lead to a process. */
static void adopt(struct rf_procs *p, uint32_t pid, uint32_t tid, struct rf_process *q)
{
	g_hash_table_insert(p->tasks, GUINT_TO_POINTER(tid), q);
	g_hash_table_insert(p->groups, GUINT_TO_POINTER(pid), q);
}

/* A process that nobody was seen to fork. */
static struct rf_process *new_root(struct rf_procs *p, uint32_t tid, GError **error)
{
	struct rf_process *q = p->all->len == 0 ? rf_process_new(p->b, p->kernel_accesses)
	                                        : rf_process_beside(p->all->pdata[0]);

	g_ptr_array_add(p->all, q);
	if (!rf_process_task(q, tid, error))
		return NULL;
	if (p->maps != NULL) {
		g_autofree char *maps = g_steal_pointer(&p->maps);

		if (!rf_maps_read(maps, q, tid, error))
			return NULL;
	}
	return q;
}

struct rf_process *rf_procs_get(struct rf_procs *p, uint32_t pid, uint32_t tid, GError **error)
{
	struct rf_process *q;

	if (p->last != NULL && tid == p->last_tid)
		return p->last;
	q = g_hash_table_lookup(p->tasks, GUINT_TO_POINTER(tid));
	if (q == NULL) {
		q = g_hash_table_lookup(p->groups, GUINT_TO_POINTER(pid));
		if (q == NULL)
			q = new_root(p, tid, error);
		else if (!rf_process_task(q, tid, error))
			q = NULL;
		if (q == NULL)
			return NULL;
		adopt(p, pid, tid, q);
	}
	p->last_tid = tid;
	p->last = q;
	return q;
}

gboolean rf_procs_fork(struct rf_procs *p, uint32_t parent, uint32_t child, gboolean thread,
                       GError **error)
{
	struct rf_process *from, *q;

	if (rf_procs_known(p, child))
		return TRUE;
	from = rf_procs_get(p, parent, parent, error);
	if (from == NULL)
		return FALSE;
	if (thread) {
		if (!rf_process_task(from, child, error))
			return FALSE;
		g_hash_table_insert(p->tasks, GUINT_TO_POINTER(child), from);
		return TRUE;
	}
	q = rf_process_fork(from, parent, child, error);
	if (q == NULL)
		return FALSE;
	g_ptr_array_add(p->all, q);
	adopt(p, child, child, q);
	return TRUE;
}

gboolean rf_procs_exit(struct rf_procs *p, uint32_t tid, GError **error)
{
	struct rf_process *q = g_hash_table_lookup(p->tasks, GUINT_TO_POINTER(tid));

	if (q == NULL)
		return TRUE;
	p->last = NULL;
	g_hash_table_remove(p->tasks, GUINT_TO_POINTER(tid));
	g_hash_table_remove(p->groups, GUINT_TO_POINTER(tid));
	return rf_process_end(q, tid, error);
}

gboolean rf_procs_access(struct rf_procs *p, uint32_t pid, uint32_t tid, enum rf_access type,
                         uint64_t addr, uint64_t len, GError **error)
{
	if (rf_procs_get(p, pid, tid, error) == NULL)
		return FALSE;
	rf_builder_access(p->b, tid, type, addr, len, 1);
	return TRUE;
}

gboolean rf_procs_touch(struct rf_procs *p, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len,
                        GError **error)
{
	struct rf_process *q = rf_procs_get(p, pid, tid, error);

	if (q == NULL)
		return FALSE;
	rf_builder_access(p->b, tid, rf_process_kind(q, addr) == RF_MAP_FILE ? RF_READ : RF_WRITE, addr,
	                  len, 1);
	return TRUE;
}
