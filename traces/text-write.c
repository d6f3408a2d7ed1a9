/* SPDX-License-Identifier: MIT
 * Writes the text form of a trace, version 1, in its canonical way: addresses without 0x, sizes in
 * bytes, what has its default value left out.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "traces/escape.h"
#include "traces/sink.h"
#include "traces/text.h"

#define LINE_ROOM 64 /* no access line is longer */

struct text_sink {
	struct rf_sink s;
	unsigned shift;
	uint64_t *vpn; /* by id */
	uint32_t cap;
	/* The latest access: it may go on over more pages.  npages 0: none. */
	struct { uint32_t tid; uint8_t type; uint64_t vpn, npages; } last;
	char buf[1 << 16];
	size_t len;
};

static gboolean flush(struct text_sink *t, GError **error)
{
	size_t n = t->len;

	t->len = 0;
	return rf_sink_write(&t->s, t->buf, n, error);
}

static char *put_dec(char *p, uint64_t v)
{
	char digits[20];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	while (n > 0)
		*p++ = digits[--n];
	return p;
}

static char *put_hex(char *p, uint64_t v)
{
	int shift = v == 0 ? 0 : (63 - __builtin_clzll(v)) & ~3;

	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

static gboolean put_access(struct text_sink *t, uint32_t times, GError **error)
{
	char line[LINE_ROOM], *p = line;
	size_t n;

	*p++ = "RWX"[t->last.type];
	*p++ = ' ';
	p = put_dec(p, t->last.tid);
	*p++ = ' ';
	p = put_hex(p, t->last.vpn << t->shift);
	if (t->last.npages > 1) {
		*p++ = ' ';
		p = put_dec(p, t->last.npages << t->shift);
	}
	*p++ = '\n';
	for (n = (size_t)(p - line); times > 0; times--) {
		if (sizeof(t->buf) - t->len < n && !flush(t, error))
			return FALSE;
		memcpy(t->buf + t->len, line, n);
		t->len += n;
	}
	return TRUE;
}

static gboolean put_last(struct text_sink *t, GError **error)
{
	gboolean ok = t->last.npages == 0 || put_access(t, 1, error);

	t->last.npages = 0;
	return ok;
}

static gboolean put_runs(struct text_sink *t, const struct rf_item *item, GError **error)
{
	const struct rf_runs *r = &item->runs;

	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t vpn = t->vpn[r->page[i]];
		uint8_t type = r->type[i] & RF_TYPE_MASK;

		if (r->type[i] & RF_RUN_CONT) {
			if (t->last.npages == 0 || r->tid != t->last.tid || type != t->last.type ||
			    vpn != t->last.vpn + t->last.npages || r->count[i] != 1) {
				rf_set_data(error, "record %" PRIu64 ": goes on with an access that does not "
				            "end on the page before", item->record + i);
				return FALSE;
			}
			t->last.npages++;
			continue;
		}
		if (!put_last(t, error))
			return FALSE;
		t->last.tid = r->tid;
		t->last.type = type;
		t->last.vpn = vpn;
		t->last.npages = 1;
		if (r->count[i] > 1 && !put_access(t, r->count[i] - 1, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean put_pages(struct text_sink *t, const struct rf_item *item, GError **error)
{
	uint32_t n = item->pages.first + item->pages.n;

	if (n > t->cap) {
		uint64_t cap = MAX(n, (uint64_t)t->cap + t->cap / 4);
		uint64_t *vpn = g_try_realloc_n(t->vpn, cap, sizeof(*vpn));

		if (vpn == NULL) {
			rf_set_env(error, "no memory for the names of %u pages", n);
			return FALSE;
		}
		t->vpn = vpn;
		t->cap = (uint32_t)MIN(cap, UINT32_MAX);
	}
	for (uint32_t i = 0; i < item->pages.n; i++)
		t->vpn[item->pages.first + i] = item->pages.name[i].vpn;
	return TRUE;
}

/* ---- events ---- */

static void put_prot(GString *line, uint8_t prot)
{
	g_string_append_printf(line, " %c%c%c", prot & RF_PROT_R ? 'r' : '-',
	                       prot & RF_PROT_W ? 'w' : '-', prot & RF_PROT_X ? 'x' : '-');
}

static void put_range(GString *line, const struct rf_event *e)
{
	g_string_append_printf(line, " %" PRIx64 " %" PRIu64, e->addr, e->len);
}

static void put_mmap(GString *line, const struct rf_event *e)
{
	static const char *const kinds[] = { "anon", "file:", "shmem:", "refpage:" };

	put_range(line, e);
	put_prot(line, e->prot);
	g_string_append_printf(line, " %s", kinds[e->mkind]);
	if (e->mkind != RF_MAP_ANON)
		g_string_append_printf(line, "%u", e->id);
	if (e->off != 0)
		g_string_append_printf(line, " off=%" PRIu64, e->off);
	if (e->shared)
		g_string_append(line, " shared");
	if (e->locked)
		g_string_append(line, " locked");
	if (e->name != NULL) {
		g_string_append(line, " name=");
		rf_escape(line, e->name);
	}
}

static void event_line(GString *line, const struct rf_event *e)
{
	g_string_append(line, rf_event_kind_name(e->kind));
	switch (e->kind) {
	case RF_EV_FILE:
		g_string_append_printf(line, " %u ", e->id);
		rf_escape(line, e->name);
		g_string_append_printf(line, " %" PRIu64, e->len);
		return;
	case RF_EV_CGROUP:
		g_string_append_c(line, ' ');
		rf_escape(line, e->name);
		if (e->text != NULL && e->text[0] != 0)
			g_string_append_printf(line, " %s", e->text);
		return;
	case RF_EV_MARK:
		g_string_append_c(line, ' ');
		rf_escape(line, e->name);
		return;
	case RF_EV_REFPAGE:
		g_string_append_printf(line, " %u %" PRIu64, e->id, e->len);
		return;
	case RF_EV_MEMORY:
		g_string_append_printf(line, " %s %" PRIu64, e->flag ? "online" : "offline", e->len);
		return;
	case RF_EV_HUGETLB:
	case RF_EV_AT:
	case RF_EV_LOST:
		g_string_append_printf(line, " %" PRIu64, e->len);
		return;
	default:
		g_string_append_printf(line, " %u", e->tid);
	}
	switch (e->kind) {
	case RF_EV_TASK:
		if (e->has_parent)
			g_string_append_printf(line, " parent=%u", e->parent);
		if (e->name != NULL) {
			g_string_append(line, " cgroup=");
			rf_escape(line, e->name);
		}
		if (e->thread)
			g_string_append(line, " thread");
		break;
	case RF_EV_MMAP:
		put_mmap(line, e);
		break;
	case RF_EV_MUNMAP:
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
		put_range(line, e);
		break;
	case RF_EV_MREMAP:
		put_range(line, e);
		g_string_append_printf(line, " %" PRIx64 " %" PRIu64, e->addr2, e->len2);
		break;
	case RF_EV_MPROTECT:
		put_range(line, e);
		put_prot(line, e->prot);
		break;
	case RF_EV_MADVISE:
		put_range(line, e);
		g_string_append_printf(line, " %s", rf_advice_name(e->advice));
		break;
	case RF_EV_VRANGE:
		put_range(line, e);
		g_string_append(line, e->flag ? " volatile" : " nonvolatile");
		break;
	case RF_EV_READ:
	case RF_EV_WRITE:
		g_string_append_printf(line, " file:%u %" PRIu64 " %" PRIu64, e->id, e->off, e->len);
		break;
	case RF_EV_FSYNC:
		g_string_append_printf(line, " file:%u", e->id);
		break;
	case RF_EV_THINK:
		g_string_append_printf(line, " %" PRIu64, e->len);
		break;
	default: /* exec, exit */
		break;
	}
}

static gboolean put_line(struct text_sink *t, GString *line, GError **error)
{
	gboolean ok;

	g_string_append_c(line, '\n');
	ok = flush(t, error) && rf_sink_write(&t->s, line->str, line->len, error);
	g_string_free(line, TRUE);
	return ok;
}

static gboolean put_event(struct text_sink *t, const struct rf_event *e, GError **error)
{
	GString *line = g_string_new(NULL);

	event_line(line, e);
	return put_line(t, line, error);
}

/* ---- the sink ---- */

static gboolean text_put(struct rf_sink *s, const struct rf_item *item, GError **error)
{
	struct text_sink *t = (struct text_sink *)s;

	switch (item->kind) {
	case RF_ITEM_RUNS:
		return put_runs(t, item, error);
	case RF_ITEM_EVENT:
		return put_last(t, error) && put_event(t, &item->event, error);
	case RF_ITEM_PAGES:
		return put_pages(t, item, error);
	case RF_ITEM_END:
		break;
	}
	return TRUE;
}

static gboolean text_finish(struct rf_sink *s, GError **error)
{
	struct text_sink *t = (struct text_sink *)s;

	return put_last(t, error) && flush(t, error);
}

static void text_close(struct rf_sink *s)
{
	g_free(((struct text_sink *)s)->vpn);
}

static const struct rf_sink_ops text_ops = {
	.put = text_put,
	.finish = text_finish,
	.close = text_close,
};

struct rf_sink *rf_sink_text(const char *path, const struct rf_header *h, GError **error)
{
	struct text_sink *t = g_new0(struct text_sink, 1);
	GString *line = g_string_new(NULL);

	t->s.ops = &text_ops;
	t->shift = h->granule_shift;
	g_string_append_printf(line, RF_TEXT_MAGIC " %d", RF_TEXT_VERSION);
	for (guint i = 0; h->keys != NULL && i < h->keys->len; i++) {
		g_string_append_printf(line, " %s=", (const char *)h->keys->pdata[i]);
		rf_escape(line, h->values->pdata[i]);
	}
	if (h->granule_shift != RF_GRANULE_SHIFT && rf_header_get(h, "page-size") == NULL)
		g_string_append_printf(line, " page-size=%u", 1u << h->granule_shift);
	if (!rf_outfile_open(&t->s.out, path, error)) {
		g_string_free(line, TRUE);
		g_free(t);
		return NULL;
	}
	t->s.f = t->s.out.f;
	if (!put_line(t, line, error)) {
		rf_sink_abort(&t->s);
		return NULL;
	}
	return &t->s;
}
