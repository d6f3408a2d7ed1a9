/* SPDX-License-Identifier: MIT
 * Which machine a configuration asks for: the ideal one of --frames, or the model.
 */
#include "sim/machine.h"
#include "sim/frames.h"
#include "sim/model/model.h"

struct rf_machine {
	struct rf_frames *ideal; /* or NULL */
	struct rf_model *model;  /* or NULL */
	unsigned page_shift;
	gboolean closed;
};

struct rf_machine *rf_machine_new(const struct rf_config *cfg, const struct rf_totals *totals, GError **error)
{
	struct rf_machine *m = g_new0(struct rf_machine, 1);

	m->page_shift = cfg->page_shift;
	m->closed = cfg->replay == RF_REPLAY_CLOSED;
	if (cfg->frames_n)
		m->ideal = rf_frames_new(cfg, totals, error);
	else
		m->model = rf_model_new(cfg, totals, error);
	if (m->ideal || m->model)
		return m;
	g_free(m);
	return NULL;
}

void rf_machine_free(struct rf_machine *m)
{
	if (!m)
		return;
	if (m->ideal)
		rf_frames_free(m->ideal);
	if (m->model)
		rf_model_free(m->model);
	g_free(m);
}

gboolean rf_machine_needs_future(const struct rf_machine *m)
{
	return m->ideal && rf_frames_needs_future(m->ideal);
}

void rf_machine_set_future(struct rf_machine *m, struct rf_future *future)
{
	if (m->ideal)
		rf_frames_set_future(m->ideal, future);
}

unsigned rf_machine_page_shift(const struct rf_machine *m)
{
	return m->page_shift;
}

gboolean rf_machine_item(struct rf_machine *m, const struct rf_item *item, GError **error)
{
	return m->ideal ? rf_frames_item(m->ideal, item, error) : rf_model_item(m->model, item, error);
}

gboolean rf_machine_skim(struct rf_machine *m, const struct rf_item *item,
                         const struct rf_skim *skim)
{
	return m->ideal ? rf_frames_skim(m->ideal, item, skim) : rf_model_skim(m->model, item, skim);
}

gboolean rf_machine_is_closed(const struct rf_machine *m)
{
	return m->closed;
}

gboolean rf_machine_replay_closed(struct rf_machine *m, struct rf_source *source,
                                  struct rf_progress *progress, GError **error)
{
	return rf_model_closed(m->model, source, progress, error);
}

gboolean rf_machine_finish(struct rf_machine *m, struct rf_result *out, GError **error)
{
	return m->ideal ? rf_frames_finish(m->ideal, out, error) : rf_model_finish(m->model, out, error);
}

void rf_machine_sample(struct rf_machine *m, struct rf_sample *out)
{
	if (m->ideal)
		rf_frames_sample(m->ideal, out);
	else
		rf_model_sample(m->model, out);
}
