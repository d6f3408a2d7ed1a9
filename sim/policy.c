/* SPDX-License-Identifier: MIT */
#include "sim/policy.h"

#include <string.h>

#include "base/error.h"
#include "policies/registry.h"

/* What the sim keeps beside the policy's own view of an instance. */
struct instance {
	struct rf_policy pol; /* first: one pointer serves both */
	uint32_t npages, capacity;
	rf_miss_hook *miss;
};

static GPtrArray *loaded; /* const struct rf_reclaim_ops *, for the life of the process */

void rf_spec_split(const char *spec, char **name, char **options)
{
	const char *comma = strchr(spec, ',');

	*name = comma ? g_strndup(spec, comma - spec) : g_strdup(spec);
	*options = g_strdup(comma ? comma + 1 : "");
}

const struct rf_reclaim_ops *rf_reclaim_nth(unsigned i)
{
	unsigned n = 0;

	while (rf_reclaim_builtins[n].ops) {
		if (n == i)
			return rf_reclaim_builtins[n].ops;
		n++;
	}
	return loaded && i - n < loaded->len ? g_ptr_array_index(loaded, i - n) : NULL;
}

static const struct rf_reclaim_ops *lookup(const char *name)
{
	const struct rf_reclaim_ops *ops;

	for (unsigned i = 0; (ops = rf_reclaim_nth(i)); i++)
		if (!strcmp(ops->name, name))
			return ops;
	return NULL;
}

const struct rf_reclaim_ops *rf_reclaim_find(const char *name, GError **error)
{
	const struct rf_reclaim_ops *ops = lookup(name);
	GPtrArray *names;
	const char *near;

	if (ops)
		return ops;
	names = g_ptr_array_new();
	for (unsigned i = 0; (ops = rf_reclaim_nth(i)); i++)
		g_ptr_array_add(names, (gpointer)ops->name);
	g_ptr_array_add(names, NULL);
	near = rf_nearest(name, (const char *const *)names->pdata);
	if (near)
		rf_set_usage(error, "unknown reclaim policy '%s'; did you mean '%s'?", name, near);
	else
		rf_set_usage(error, "unknown reclaim policy '%s'; 'refault policies' lists them", name);
	g_ptr_array_free(names, TRUE);
	return NULL;
}

/* The name of a hook that a policy must have and this one has not, or NULL. */
static const char *missing_hook(const struct rf_reclaim_ops *ops)
{
	if (!ops->add)
		return "add";
	if (!ops->remove)
		return "remove";
	if (!ops->propose && !ops->shrink)
		return "propose or shrink";
	if ((ops->flags & RF_POLICY_ACCESS) && !ops->access)
		return "access";
	return NULL;
}

gboolean rf_reclaim_register(const struct rf_reclaim_ops *ops, const char *who, GError **error)
{
	const char *hook;

	if (ops->abi != RF_POLICY_ABI) {
		rf_set_env(error, "%s: made for policy interface version %u, this program has version %u",
		           who, ops->abi, RF_POLICY_ABI);
		return FALSE;
	}
	if (ops->size != sizeof(*ops)) {
		rf_set_env(error, "%s: its struct rf_reclaim_ops has %u bytes, this program's has %zu", who,
		           ops->size, sizeof(*ops));
		return FALSE;
	}
	if (!ops->name || !*ops->name || strchr(ops->name, ',')) {
		rf_set_env(error, "%s: a policy needs a name without a comma", who);
		return FALSE;
	}
	hook = missing_hook(ops);
	if (hook) {
		rf_set_env(error, "%s: policy '%s' has no %s hook, which is mandatory", who, ops->name, hook);
		return FALSE;
	}
	if (lookup(ops->name) == ops)
		return TRUE; /* the same plug-in once more */
	if (lookup(ops->name)) {
		rf_set_env(error, "%s: there is a policy '%s' already", who, ops->name);
		return FALSE;
	}
	if (!loaded)
		loaded = g_ptr_array_new();
	g_ptr_array_add(loaded, (gpointer)ops);
	return TRUE;
}

static rf_miss_hook *miss_hook(const struct rf_reclaim_ops *ops)
{
	for (unsigned i = 0; rf_reclaim_builtins[i].ops; i++)
		if (rf_reclaim_builtins[i].ops == ops)
			return rf_reclaim_builtins[i].miss;
	return NULL;
}

struct rf_policy *rf_policy_new(const char *spec, const struct rf_host *host, void *machine,
                                GError **error)
{
	const struct rf_reclaim_ops *ops;
	struct instance *in;
	char *name, *options;
	gboolean ok = FALSE;

	rf_spec_split(spec, &name, &options);
	ops = rf_reclaim_find(name, error);
	if (!ops) {
		g_free(name);
		g_free(options);
		return NULL;
	}
	in = g_new0(struct instance, 1);
	in->pol.ops = ops;
	in->pol.host = host;
	in->pol.machine = machine;
	in->pol.priv = g_malloc0(MAX(ops->policy_size, 1));
	in->miss = miss_hook(ops);
	if (ops->options) {
		char *where = g_strdup_printf("--reclaim %s", name);

		in->pol.opt = g_malloc0(ops->options_size);
		rf_options_init(ops->options, in->pol.opt);
		ok = rf_options_parse(ops->options, in->pol.opt, where, options, error);
		g_free(where);
	} else if (*options) {
		rf_set_usage(error, "--reclaim %s takes no options, but got '%s'", name, options);
	} else {
		ok = TRUE;
	}
	g_free(name);
	g_free(options);
	if (ok && ops->init)
		ok = ops->init(&in->pol, error);
	if (!ok) {
		if (in->pol.opt)
			rf_options_clear(ops->options, in->pol.opt);
		g_free(in->pol.opt);
		g_free(in->pol.priv);
		g_free(in);
		return NULL;
	}
	rf_policy_grow(&in->pol, host->npages);
	return &in->pol;
}

void rf_policy_free(struct rf_policy *pol)
{
	if (!pol)
		return;
	if (pol->ops->exit)
		pol->ops->exit(pol);
	if (pol->opt)
		rf_options_clear(pol->ops->options, pol->opt);
	g_free(pol->opt);
	g_free(pol->priv);
	g_free(pol->link);
	g_free(pol->page_priv);
	g_free(pol);
}

void rf_policy_grow(struct rf_policy *pol, uint32_t npages)
{
	struct instance *in = (struct instance *)pol;
	size_t size = pol->ops->page_size;

	if (npages <= in->npages)
		return;
	if (npages > in->capacity) {
		uint64_t want = MAX((uint64_t)in->capacity + in->capacity / 2, (uint64_t)npages);

		/* Memory that is only reserved costs nothing: growing by half keeps moves rare. */
		in->capacity = MIN(want, UINT32_MAX);
		pol->link = g_realloc_n(pol->link, in->capacity, sizeof(*pol->link));
		if (size)
			pol->page_priv = g_realloc_n(pol->page_priv, in->capacity, size);
	}
	memset(pol->link + in->npages, 0xff, (npages - in->npages) * sizeof(*pol->link));
	if (size)
		memset(pol->page_priv + in->npages * size, 0, (npages - in->npages) * size);
	in->npages = npages;
}

void rf_policy_miss(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct instance *in = (struct instance *)pol;

	if (in->miss)
		in->miss(pol, lv, page);
}

gboolean rf_policy_wants_miss(const struct rf_policy *pol)
{
	return ((const struct instance *)pol)->miss != NULL;
}

struct rf_lruvec *rf_lruvec_new(struct rf_policy *pol, uint32_t id, struct rf_lruvec *parent)
{
	struct rf_lruvec *lv = g_new0(struct rf_lruvec, 1), **end;

	lv->id = id;
	lv->parent = parent;
	if (parent) {
		/* Last among its siblings: walks go in order of creation. */
		for (end = &parent->child; *end; end = &(*end)->sibling)
			;
		*end = lv;
	}
	lv->priv = g_malloc0(MAX(pol->ops->lruvec_size, 1));
	if (pol->ops->lruvec_init)
		pol->ops->lruvec_init(pol, lv);
	return lv;
}

void rf_lruvec_free(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct rf_lruvec **at;

	if (!lv)
		return;
	g_assert(!lv->child);
	if (pol->ops->lruvec_exit)
		pol->ops->lruvec_exit(pol, lv);
	if (lv->parent) {
		for (at = &lv->parent->child; *at != lv; at = &(*at)->sibling)
			;
		*at = lv->sibling;
	}
	g_free(lv->priv);
	g_free(lv);
}

struct rf_lruvec *rf_lruvec_next(const struct rf_lruvec *root, struct rf_lruvec *lv)
{
	if (lv->child)
		return lv->child;
	while (lv != root && !lv->sibling)
		lv = lv->parent;
	return lv == root ? NULL : lv->sibling;
}
