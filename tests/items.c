/* SPDX-License-Identifier: MIT */
#include "tests/items.h"

#include <string.h>

#include "traces/import-source.h"

static void put_runs(GString *s, const struct rf_runs *r, const struct rf_page_name *name)
{
	for (uint32_t i = 0; i < r->n; i++) {
		g_string_append_printf(
			s, "%s%c %u %" G_GINT64_MODIFIER "x", r->type[i] & RF_RUN_CONT ? "+" : "",
			"RWX"[r->type[i] & RF_TYPE_MASK], r -> tid, name[r->page[i]].vpn);
		if (r->count[i] != 1)
			g_string_append_printf(s, " x%u", r->count[i]);
		g_string_append_c(s, '\n');
	}
}

static const char *prot(uint8_t p)
{
	static char s[4];

	g_snprintf(s, sizeof(s), "%c%c%c", p & RF_PROT_R ? 'r' : '-', p & RF_PROT_W ? 'w' : '-',
	           p & RF_PROT_X ? 'x' : '-');
	return s;
}

static void put_event(GString *s, const struct rf_event *e)
{
	static const char *const kinds[] = { "anon", "file", "shmem", "refpage" };

	g_string_append(s, rf_event_kind_name(e->kind));
	switch (e->kind) {
	case RF_EV_FILE:
		g_string_append_printf(s, " %u %s %" G_GUINT64_FORMAT, e->id, e->name, e->len);
		break;
	case RF_EV_TASK:
		g_string_append_printf(s, " %u", e->tid);
		if (e->has_parent)
			g_string_append_printf(s, " parent=%u%s", e->parent,
			                       e->thread ? " thread" : "");
		break;
	case RF_EV_EXEC:
	case RF_EV_EXIT:
		g_string_append_printf(s, " %u", e->tid);
		break;
	case RF_EV_MMAP:
		g_string_append_printf(s, " %u %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT " %s %s",
		                       e->tid, e->addr, e->len, prot(e->prot), kinds[e->mkind]);
		if (e->mkind != RF_MAP_ANON)
			g_string_append_printf(s, ":%u off=%" G_GUINT64_FORMAT, e->id, e->off);
		if (e->shared)
			g_string_append(s, " shared");
		if (e->locked)
			g_string_append(s, " locked");
		if (e->name)
			g_string_append_printf(s, " %s", e->name);
		break;
	case RF_EV_MREMAP:
		g_string_append_printf(s,
		                       " %u %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT
		                       " %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT,
		                       e->tid, e->addr, e->len, e->addr2, e->len2);
		break;
	case RF_EV_READ:
	case RF_EV_WRITE:
		g_string_append_printf(s, " %u file:%u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
		                       e->tid, e->id, e->off, e->len);
		break;
	case RF_EV_FSYNC:
		g_string_append_printf(s, " %u file:%u", e->tid, e->id);
		break;
	case RF_EV_AT:
		g_string_append_printf(s, " %" G_GUINT64_FORMAT, e->len);
		break;
	case RF_EV_MARK:
		g_string_append_printf(s, " %s", e->name);
		break;
	default: /* munmap mprotect madvise mlock munlock */
		g_string_append_printf(s, " %u %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT, e->tid,
		                       e->addr, e->len);
		if (e->kind == RF_EV_MPROTECT)
			g_string_append_printf(s, " %s", prot(e->prot));
		if (e->kind == RF_EV_MADVISE)
			g_string_append_printf(s, " %s", rf_advice_name(e->advice));
	}
	g_string_append_c(s, '\n');
}

void items_read(struct items *it, const void *data, size_t len, const struct rf_source_options *opt)
{
	GArray *names = g_array_new(FALSE, FALSE, sizeof(struct rf_page_name));
	struct rf_source *s;
	struct rf_item item;
	const char *reason;
	uint64_t n;

	memset(it, 0, sizeof(*it));
	it->text = g_string_new(NULL);
	it->events = g_string_new(NULL);
	it->skipped = g_string_new(NULL);
	s = rf_source_import(rf_input_from_memory("mem", data, len), opt, &it->error);
	while (s && rf_source_next(s, &item, &it->error) && item.kind != RF_ITEM_END) {
		if (item.kind == RF_ITEM_PAGES) {
			g_array_append_vals(names, item.pages.name, item.pages.n);
		} else if (item.kind == RF_ITEM_RUNS) {
			put_runs(it->text, &item.runs, (const struct rf_page_name *)names->data);
		} else {
			put_event(it->text, &item.event);
			put_event(it->events, &item.event);
		}
	}
	for (guint i = 0; s && rf_source_skipped(s, i, &reason, &n); i++)
		g_string_append_printf(it->skipped, "%" G_GUINT64_FORMAT " %s; ", n, reason);
	if (s) {
		it->totals = *rf_source_totals(s);
		rf_header_copy(&it->header, rf_source_header(s));
	}
	rf_source_close(s);
	g_array_unref(names);
}

void items_clear(struct items *it)
{
	g_string_free(it->text, TRUE);
	g_string_free(it->events, TRUE);
	g_string_free(it->skipped, TRUE);
	rf_header_clear(&it->header);
	g_clear_error(&it->error);
}
