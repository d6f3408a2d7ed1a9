/* SPDX-License-Identifier: MIT */
#include "sim/seams.h"

#include <string.h>

#include "base/error.h"
#include "sim/policy.h"

/* ORDER enum rf_seam. */
static const char *const flags[] = { "--protect", "--account", "--volatile", "--fill" };

static const void *const *const builtin[] = {
	(const void *const *)rf_protects, (const void *const *)rf_accounts,
	(const void *const *)rf_volatiles, (const void *const *)rf_fills,
};

static GPtrArray *loaded[RF_NSEAMS]; /* for the life of the process */

const struct rf_member *rf_seam_nth(enum rf_seam seam, unsigned i)
{
	unsigned n = 0;

	for (; builtin[seam][n]; n++)
		if (n == i)
			return builtin[seam][n];
	return loaded[seam] && i - n < loaded[seam]->len ? g_ptr_array_index(loaded[seam], i - n) : NULL;
}

static const struct rf_member *lookup(enum rf_seam seam, const char *name)
{
	const struct rf_member *m;

	for (unsigned i = 0; (m = rf_seam_nth(seam, i)); i++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

/* ---- loaded members ---- */

/* The name of a hook that a member must have and this one has not, or NULL. */
static const char *missing_hook(enum rf_seam seam, const void *ops)
{
	const struct rf_protect_ops *protect = ops;
	const struct rf_account_ops *account = ops;
	const struct rf_volatile_ops *vol = ops;
	const struct rf_fill_ops *fill = ops;

	switch (seam) {
	case RF_SEAM_PROTECT:
		return !protect->activate ? "activate" : !protect->rotate ? "rotate" : NULL;
	case RF_SEAM_ACCOUNT:
		return !account->layout ? "layout" : NULL;
	case RF_SEAM_VOLATILE:
		if (!vol->locks || !vol->mark)
			return !vol->locks ? "locks" : "mark";
		if (!vol->unmark && !vol->covers && !vol->ranges && !vol->bytes && !vol->reclaim_discards)
			return NULL; /* it keeps nothing */
		return !vol->covers ? "covers" : !vol->met ? "met" : !vol->touch ? "touch" :
		       !vol->ranges ? "ranges" : !vol->purged ? "purged" : NULL;
	case RF_SEAM_FILL:
		return !fill->load ? "load" : !fill->init ? "init" : NULL;
	case RF_NSEAMS:
		break;
	}
	return NULL;
}

gboolean rf_seam_register(enum rf_seam seam, const void *ops, const char *who, GError **error)
{
	const struct rf_member *m = ops;
	const char *hook;

	if (!m->name || !*m->name || strchr(m->name, ',') || !m->summary) {
		rf_set_env(error, "%s: a member of %s needs a name without a comma, and a summary", who, flags[seam]);
		return FALSE;
	}
	hook = missing_hook(seam, ops);
	if (hook) {
		rf_set_env(error, "%s: '%s' of %s has no %s hook, which is mandatory", who, m->name, flags[seam], hook);
		return FALSE;
	}
	if (lookup(seam, m->name) == m)
		return TRUE; /* the same plug-in once more */
	if (lookup(seam, m->name)) {
		rf_set_env(error, "%s: there is a '%s' of %s already", who, m->name, flags[seam]);
		return FALSE;
	}
	if (!loaded[seam])
		loaded[seam] = g_ptr_array_new();
	g_ptr_array_add(loaded[seam], (gpointer)m);
	return TRUE;
}

/* ---- the members of a run ---- */

static const void *choose(enum rf_seam seam, const char *spec, void **opt, GError **error)
{
	g_autofree char *name = NULL, *list = NULL, *where = NULL;
	const struct rf_member *found;

	rf_spec_split(spec ? spec : "", &name, &list);
	found = *name ? lookup(seam, name) : rf_seam_nth(seam, 0);
	if (!found) {
		g_autoptr(GPtrArray) names = g_ptr_array_new();
		const struct rf_member *m;
		const char *near;

		for (unsigned i = 0; (m = rf_seam_nth(seam, i)); i++)
			g_ptr_array_add(names, (char *)m->name);
		g_ptr_array_add(names, NULL);
		near = rf_nearest(name, (const char *const *)names->pdata);
		rf_set_usage(error, "%s: unknown name '%s'%s%s%s (see 'refault policies')", flags[seam], name,
		             near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
		return NULL;
	}
	where = g_strdup_printf("%s %s", flags[seam], found->name);
	if (found->options) {
		*opt = g_malloc0(found->options_size);
		rf_options_init(found->options, *opt);
		if (!rf_options_parse(found->options, *opt, where, list, error))
			return NULL;
	} else if (*list) {
		rf_set_usage(error, "%s takes no options, got '%s'", where, list);
		return NULL;
	}
	return found;
}

gboolean rf_seams_init(struct rf_seams *s, const struct rf_config *cfg, GError **error)
{
	memset(s, 0, sizeof *s);
	s->protect = choose(RF_SEAM_PROTECT, cfg->protect, &s->protect_opt, error);
	if (s->protect)
		s->account = choose(RF_SEAM_ACCOUNT, cfg->account, &s->account_opt, error);
	if (s->account)
		s->volatile_ = choose(RF_SEAM_VOLATILE, cfg->volatile_, &s->volatile_opt, error);
	if (s->volatile_)
		s->fill = choose(RF_SEAM_FILL, cfg->fill, &s->fill_opt, error);
	return s->fill != NULL;
}

static void clear(const struct rf_option *table, void *opt)
{
	if (!opt)
		return;
	rf_options_clear(table, opt);
	g_free(opt);
}

void rf_seams_clear(struct rf_seams *s)
{
	clear(s->protect ? s->protect->options : NULL, s->protect_opt);
	clear(s->account ? s->account->options : NULL, s->account_opt);
	clear(s->volatile_ ? s->volatile_->options : NULL, s->volatile_opt);
	clear(s->fill ? s->fill->options : NULL, s->fill_opt);
	memset(s, 0, sizeof *s);
}
