/* SPDX-License-Identifier: MIT */
#include "sim/seams.h"
#include <string.h>
#include "base/error.h"
#include "sim/policy.h"

/* What the four ops structs begin with. */
struct member {
	const char *name, *summary;
	const struct rf_option *options;
	size_t options_size;
};

static const void *choose(const char *flag, const char *spec, const void *const *members, void **opt,
                          GError **error)
{
	g_autofree char *name = NULL, *list = NULL, *where = NULL;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const struct member *found = NULL;
	unsigned i;

	rf_spec_split(spec ? spec : "", &name, &list);
	for (i = 0; members[i]; i++) {
		const struct member *m = members[i];

		g_ptr_array_add(names, (char *)m->name);
		if (!strcmp(m->name, name) || (!i && !*name))
			found = m;
	}
	g_ptr_array_add(names, NULL);
	if (!found) {
		const char *near = rf_nearest(name, (const char *const *)names->pdata);

		rf_set_usage(error, "%s: unknown name '%s'%s%s%s (see 'refault policies')", flag, name,
		             near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
		return NULL;
	}
	where = g_strdup_printf("%s %s", flag, found->name);
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
	s->protect = choose("--protect", cfg->protect, (const void *const *)rf_protects, &s->protect_opt, error);
	if (s->protect)
		s->account = choose("--account", cfg->account, (const void *const *)rf_accounts, &s->account_opt, error);
	if (s->account)
		s->volatile_ = choose("--volatile", cfg->volatile_, (const void *const *)rf_volatiles,
		                      &s->volatile_opt, error);
	if (s->volatile_)
		s->fill = choose("--fill", cfg->fill, (const void *const *)rf_fills, &s->fill_opt, error);
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
