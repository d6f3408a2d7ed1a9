/* SPDX-License-Identifier: MIT */
#include "tests/model-run.h"

#include <check.h>
#include <string.h>

#include "base/args.h"
#include "sim/model/model.h"
#include "traces/trace.h"
#include "traces/zipf.h"

struct own { GPtrArray *set; };

static const struct rf_arg own_args[] = {
	{ "set", 0, RF_ARG_LIST, offsetof(struct own, set), "KEY=VALUE", "an option, or a figure of the profile" },
	RF_ARG_END
};

static void configure(struct rf_config *cfg, const char *options)
{
	struct own own = { NULL };
	const struct rf_args args = { own_args, &own, rf_config_options, cfg, FALSE };
	g_autoptr(GPtrArray) rest = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *line = g_strconcat("test --ram 1G ", options, NULL);
	g_auto(GStrv) argv = NULL;
	gboolean help = FALSE;
	GError *error = NULL;
	int argc;

	rf_config_init(cfg);
	ck_assert(g_shell_parse_argv(line, &argc, &argv, NULL));
	if (!rf_args_parse(&args, argc, argv, rest, &help, &error) || rest->len)
		ck_abort_msg("%s: %s", options, error ? error->message : "operands");
	for (guint i = 0; own.set && i < own.set->len; i++)
		if (!rf_config_set_any(cfg, own.set->pdata[i], &error))
			ck_abort_msg("%s: %s", options, error->message);
	rf_args_clear(own_args, &own);
	if (!rf_config_resolve(cfg, NULL, &error))
		ck_abort_msg("%s: %s", options, error->message);
}

/* Items of many runs are fed run by run, so that the machine can be looked at in between. */
static gboolean feed(struct rf_model *m, const struct rf_item *item, gboolean checked, GError **error)
{
	if (item->kind != RF_ITEM_RUNS || !checked) {
		if (!rf_model_item(m, item, error))
			return FALSE;
		if (checked)
			rf_model_check(m);
		return TRUE;
	}
	for (uint32_t i = 0; i < item->runs.n; i++) {
		struct rf_item one = *item;

		one.record += i;
		one.runs.n = 1;
		one.runs.page += i;
		one.runs.type += i;
		one.runs.count += i;
		if (!rf_model_item(m, &one, error))
			return FALSE;
		rf_model_check(m);
	}
	return TRUE;
}

static gboolean replay(struct model_run *run, struct rf_source *source, unsigned flags)
{
	struct rf_model *m = rf_model_new(&run->cfg, NULL, &run->error);
	struct rf_item item;
	gboolean ok = m != NULL;

	if (ok && run->cfg.replay == RF_REPLAY_CLOSED)
		ok = rf_model_closed(m, source, NULL, &run->error);
	else while (ok && (ok = rf_source_next(source, &item, &run->error)) && item.kind != RF_ITEM_END)
		ok = feed(m, &item, !(flags & MODEL_RUN_UNCHECKED), &run->error);
	if (ok) {
		rf_model_check(m);
		ok = rf_model_finish(m, &run->result, &run->error);
		run->result.totals = *rf_source_totals(source);
	}
	rf_model_free(m);
	return ok;
}

void model_run(struct model_run *run, const char *options, const char *trace, unsigned flags)
{
	g_autofree char *text = g_strconcat("!refault-trace 1\n", trace, NULL);
	struct rf_source *source = rf_source_from_text("test", text, -1);
	gboolean ok;

	memset(run, 0, sizeof *run);
	rf_result_init(&run->result);
	configure(&run->cfg, options);
	ok = replay(run, source, flags);
	rf_source_close(source);
	ck_assert(ok == !run->error);
	if (!ok && !(flags & MODEL_RUN_MAY_FAIL))
		ck_abort_msg("%s", run->error->message);
}

void model_run_clear(struct model_run *run)
{
	rf_config_clear(&run->cfg);
	rf_result_clear(&run->result);
	g_clear_error(&run->error);
}

void line(GString *trace, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_string_append_vprintf(trace, format, ap);
	va_end(ap);
	g_string_append_c(trace, '\n');
}

void touch_each(GString *trace, char type, unsigned tid, uint64_t addr, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		line(trace, "%c %u %" G_GINT64_MODIFIER "x", type, tid, addr + (uint64_t)i * PAGE);
}

void touch_zipf(GString *trace, char type, unsigned tid, uint64_t addr, unsigned n, unsigned count, uint32_t alpha,
                unsigned write_percent, uint64_t seed)
{
	struct rf_rng rng = { seed };
	g_autofree uint32_t *page = g_new(uint32_t, n);
	struct rf_alias alias;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = rf_rng_below(&rng, i + 1);

		page[i] = page[other];
		page[other] = i;
	}
	ck_assert(rf_alias_zipf(&alias, n, alpha, page));
	while (count--) {
		char letter = rf_rng_below(&rng, 100) < write_percent ? 'W' : type;

		line(trace, "%c %u %" G_GINT64_MODIFIER "x", letter, tid, addr + (uint64_t)rf_alias_draw(&alias, &rng) * PAGE);
	}
	rf_alias_clear(&alias);
}

const struct rf_cgroup_result *cgroup_of(const struct model_run *run, const char *path)
{
	for (guint i = 0; i < run->result.cgroups->len; i++) {
		const struct rf_cgroup_result *r = &g_array_index(run->result.cgroups, struct rf_cgroup_result, i);

		if (!strcmp(r->path, path))
			return r;
	}
	ck_abort_msg("there is no cgroup %s", path);
}

const struct rf_task_result *task_of(const struct model_run *run, uint32_t tid)
{
	for (guint i = 0; i < run->result.tasks->len; i++) {
		const struct rf_task_result *r = &g_array_index(run->result.tasks, struct rf_task_result, i);

		if (r->tid == tid)
			return r;
	}
	ck_abort_msg("there is no task %u", tid);
}

const struct rf_lock_result *lock_of(const struct model_run *run, const char *name)
{
	for (guint i = 0; i < run->result.locks->len; i++) {
		const struct rf_lock_result *l = &g_array_index(run->result.locks, struct rf_lock_result, i);

		if (!strcmp(l->name, name))
			return l;
	}
	ck_abort_msg("no lock %s was taken", name);
}

const struct rf_sample *mark_of(const struct model_run *run, const char *name)
{
	for (guint i = 0; i < run->result.marks->len; i++) {
		const struct rf_sample *s = &g_array_index(run->result.marks, struct rf_sample, i);

		if (!strcmp(s->mark, name))
			return s;
	}
	ck_abort_msg("there is no mark %s", name);
}

const struct rf_oom *oom_nth(const struct model_run *run, guint i)
{
	if (i >= run->result.oom->len)
		ck_abort_msg("%u OOM kills, no number %u", run->result.oom->len, i);
	return &g_array_index(run->result.oom, struct rf_oom, i);
}

uint64_t model_run_seed(void)
{
	const char *s = g_getenv("RF_TEST_SEED");

	return s ? g_ascii_strtoull(s, NULL, 0) : 20260611;
}
