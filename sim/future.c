/* SPDX-License-Identifier: MIT */
#include "sim/future.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "sim/names.h"

/* Numbers of one file, written from its end to its beginning. */
struct back {
	int fd;
	uint64_t left;    /* numbers still to come, those in the buffer included */
	uint32_t n, size; /* in the buffer, filled from its end */
	uint64_t *buffer;
};

/* What happens to pages apart from runs: a log, written forward, read backward. */
struct effect {
	uint64_t runs_before;
	uint32_t page;
	uint32_t use; /* or else: freed */
};

enum { BLOCK = 2048 };

struct rf_future {
	unsigned page_shift;
	int run_fd, use_fd;        /* next uses: of each run; of each page of read and write events */
	uint64_t run_at, use_at;   /* next to read */
	uint64_t runs, uses;
	uint64_t *next;            /* of the current item */
	uint32_t next_size;
	gboolean view;             /* next belongs to somebody else */
};

struct forward {
	struct rf_names names;
	int fd; /* the log */
	struct effect *block;
	uint32_t n;
	uint64_t runs, uses, effects;
	GError *error;
};

/* ---- files ---- */

static int open_temporary(GError **error)
{
	char *path = NULL;
	int fd = g_file_open_tmp("refault-XXXXXX", &path, error);

	if (fd < 0) {
		g_prefix_error(error, "temporary file: ");
		return -1;
	}
	unlink(path);
	g_free(path);
	return fd;
}

static gboolean write_at(int fd, const void *data, size_t size, uint64_t offset, GError **error)
{
	const char *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rf_set_env(error, "temporary file in %s: cannot write: %s", g_get_tmp_dir(),
			           g_strerror(n ? errno : ENOSPC));
			return FALSE;
		}
		p += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return TRUE;
}

static gboolean read_at(int fd, void *data, size_t size, uint64_t offset, GError **error)
{
	char *p = data;

	while (size) {
		ssize_t n = pread(fd, p, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rf_set_env(error, "temporary file in %s: cannot read: %s", g_get_tmp_dir(),
			           n ? g_strerror(errno) : "it is shorter than it was");
			return FALSE;
		}
		p += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return TRUE;
}

static void back_open(struct back *b, int fd, uint64_t count)
{
	*b = (struct back){ .fd = fd, .left = count, .size = BLOCK };
	b->buffer = g_new(uint64_t, BLOCK);
}

static gboolean back_flush(struct back *b, GError **error)
{
	b->left -= b->n;
	if (!write_at(b->fd, b->buffer + b->size - b->n, b->n * sizeof(*b->buffer),
	              b->left * sizeof(*b->buffer), error))
		return FALSE;
	b->n = 0;
	return TRUE;
}

static gboolean back_put(struct back *b, uint64_t number, GError **error)
{
	if (b->n == b->size && !back_flush(b, error))
		return FALSE;
	b->buffer[b->size - ++b->n] = number;
	return TRUE;
}

/* ---- forward: names, and a log of what events do to pages ---- */

static void log_effect(struct forward *w, uint32_t page, uint32_t use)
{
	if (w->error)
		return;
	w->block[w->n++] = (struct effect){ w->runs, page, use };
	w->effects++;
	w->uses += use;
	if (w->n < BLOCK)
		return;
	write_at(w->fd, w->block, sizeof(*w->block) * w->n, (w->effects - w->n) * sizeof(*w->block),
	         &w->error);
	w->n = 0;
}

static void log_freed(void *self, uint32_t page)
{
	log_effect(self, page, 0);
}

static void log_used(void *self, uint32_t page, const struct rf_event *ev)
{
	(void)ev;
	log_effect(self, page, 1);
}

static gboolean go_forward(struct forward *w, struct rf_source *source, GError **error)
{
	struct rf_names_user user = { log_freed, log_used, w };
	struct rf_item item;

	if (!rf_source_rewind(source, error))
		return FALSE;
	for (;;) {
		if (rf_interrupted()) {
			rf_set_interrupted(error);
			return FALSE;
		}
		if (!rf_source_next(source, &item, error))
			return FALSE;
		if (item.kind == RF_ITEM_END)
			break;
		if (item.kind == RF_ITEM_RUNS)
			w->runs += item.runs.n;
		if (!rf_names_item(&w->names, &item, &user, error)) {
			g_prefix_error(error, "%s: record %" G_GUINT64_FORMAT ": ", rf_source_path(source),
			               item.record);
			return FALSE;
		}
		if (w->error)
			break;
	}
	if (!w->error && w->n)
		write_at(w->fd, w->block, sizeof(*w->block) * w->n,
		         (w->effects - w->n) * sizeof(*w->block), &w->error);
	if (w->error) {
		g_propagate_error(error, w->error);
		w->error = NULL;
		return FALSE;
	}
	return TRUE;
}

/* ---- backward: the next use of everything ---- */

struct backward {
	const struct forward *w;
	struct back runs, uses;
	uint64_t *last;     /* by page: the use met last, which is the next one in time */
	uint64_t position;  /* of the use met last */
	struct effect *block;
	uint32_t n;         /* of the block, still to come */
	uint64_t effects;   /* still in the log */
};

static gboolean fill_block(struct backward *b, GError **error)
{
	b->n = (uint32_t)MIN(b->effects, BLOCK);
	b->effects -= b->n;
	return read_at(b->w->fd, b->block, b->n * sizeof(*b->block), b->effects * sizeof(*b->block), error);
}

/* Undo the effects that came after run number runs - 1. */
static gboolean undo_effects(struct backward *b, uint64_t runs, GError **error)
{
	for (;;) {
		const struct effect *e;

		if (!b->n) {
			if (!b->effects)
				return TRUE;
			if (!fill_block(b, error))
				return FALSE;
		}
		e = &b->block[b->n - 1];
		if (e->runs_before < runs)
			return TRUE;
		b->n--;
		if (!e->use) {
			b->last[e->page] = RF_NEVER;
			continue;
		}
		if (!back_put(&b->uses, b->last[e->page], error))
			return FALSE;
		b->last[e->page] = --b->position;
	}
}

static gboolean undo_frame(struct backward *b, const struct rf_runs *r, uint64_t *runs_left,
                           GError **error)
{
	const struct rf_names *names = &b->w->names;
	uint64_t next_effect = b->n ? b->block[b->n - 1].runs_before : 0;

	for (uint32_t i = r->n; i; i--) {
		uint32_t id = r->page[i - 1], page;

		if (b->n && *runs_left <= next_effect) {
			if (!undo_effects(b, *runs_left, error))
				return FALSE;
			next_effect = b->n ? b->block[b->n - 1].runs_before : 0;
		}
		if (id >= names->nids) {
			rf_set_data(error, "page %u has no name", id);
			return FALSE;
		}
		page = names->map ? names->map[id] : id;
		if (!back_put(&b->runs, b->last[page], error))
			return FALSE;
		b->last[page] = --b->position;
		--*runs_left;
	}
	return TRUE;
}

static gboolean go_backward(struct backward *b, struct rf_source *source, GError **error)
{
	uint64_t runs_left = b->w->runs;

	if (!undo_effects(b, runs_left, error))
		return FALSE;
	for (uint32_t frame = rf_source_frames(source); frame; frame--) {
		struct rf_runs runs;

		if (rf_interrupted()) {
			rf_set_interrupted(error);
			return FALSE;
		}
		if (!rf_source_frame_runs(source, frame - 1, &runs, error))
			return FALSE;
		if (runs.n > runs_left) {
			rf_set_data(error, "%s: frame %u: more runs than the first reading gave",
			            rf_source_path(source), frame - 1);
			return FALSE;
		}
		if (!undo_frame(b, &runs, &runs_left, error))
			return FALSE;
	}
	if (runs_left) {
		rf_set_data(error, "%s: fewer runs than the first reading gave", rf_source_path(source));
		return FALSE;
	}
	return undo_effects(b, 0, error) && back_flush(&b->runs, error) && back_flush(&b->uses, error);
}

static gboolean look_back(struct rf_future *f, const struct forward *w, struct rf_source *source,
                          GError **error)
{
	struct backward b = { .w = w, .position = w->runs + w->uses, .effects = w->effects };
	gboolean ok;

	back_open(&b.runs, f->run_fd, w->runs);
	back_open(&b.uses, f->use_fd, w->uses);
	b.last = g_new(uint64_t, MAX(w->names.npages, 1));
	memset(b.last, 0xff, w->names.npages * sizeof(*b.last)); /* RF_NEVER */
	b.block = g_new(struct effect, BLOCK);
	ok = go_backward(&b, source, error);
	g_free(b.block);
	g_free(b.last);
	g_free(b.runs.buffer);
	g_free(b.uses.buffer);
	return ok;
}

struct rf_future *rf_future_new(struct rf_source *source, unsigned page_shift, GError **error)
{
	struct rf_future *f = g_new0(struct rf_future, 1);
	struct forward w = { .fd = -1 };
	gboolean ok = FALSE;

	f->page_shift = page_shift;
	f->use_fd = -1;
	rf_names_init(&w.names, page_shift);
	w.block = g_new(struct effect, BLOCK);
	f->run_fd = open_temporary(error);
	if (f->run_fd < 0)
		goto out;
	f->use_fd = open_temporary(error);
	if (f->use_fd < 0)
		goto out;
	w.fd = open_temporary(error);
	if (w.fd < 0 || !go_forward(&w, source, error))
		goto out;
	f->runs = w.runs;
	f->uses = w.uses;
	ok = look_back(f, &w, source, error) && rf_source_rewind(source, error);
out:
	if (w.fd >= 0)
		close(w.fd);
	g_free(w.block);
	rf_names_clear(&w.names);
	if (ok)
		return f;
	rf_future_free(f);
	return NULL;
}

void rf_future_free(struct rf_future *f)
{
	if (!f)
		return;
	if (f->run_fd >= 0)
		close(f->run_fd);
	if (f->use_fd >= 0)
		close(f->use_fd);
	if (!f->view)
		g_free(f->next);
	g_free(f);
}

/* ---- along with the replay ---- */

static gboolean read_next(struct rf_future *f, int fd, uint64_t *at, uint64_t end, uint64_t n,
                          GError **error)
{
	if (n > end - *at) {
		rf_set_data(error, "the trace is longer than it was when the future was looked up");
		return FALSE;
	}
	if (n > f->next_size) {
		f->next_size = (uint32_t)n;
		f->next = g_renew(uint64_t, f->next, n);
	}
	if (!read_at(fd, f->next, n * sizeof(*f->next), *at * sizeof(*f->next), error))
		return FALSE;
	*at += n;
	return TRUE;
}

uint64_t rf_future_count(const struct rf_future *f, const struct rf_item *item)
{
	const struct rf_event *ev = &item->event;

	if (item->kind == RF_ITEM_RUNS)
		return item->runs.n;
	if (item->kind == RF_ITEM_EVENT && (ev->kind == RF_EV_READ || ev->kind == RF_EV_WRITE) && ev->len)
		return ((ev->off + ev->len - 1) >> f->page_shift) - (ev->off >> f->page_shift) + 1;
	return 0;
}

gboolean rf_future_item(struct rf_future *f, const struct rf_item *item, GError **error)
{
	uint64_t n = rf_future_count(f, item);

	if (!n)
		return TRUE;
	if (item->kind == RF_ITEM_RUNS)
		return read_next(f, f->run_fd, &f->run_at, f->runs, n, error);
	return read_next(f, f->use_fd, &f->use_at, f->uses, n, error);
}

const uint64_t *rf_future_next(const struct rf_future *f)
{
	return f->next;
}

/* ---- views, and one future a page size ---- */

struct rf_future *rf_future_view(void)
{
	struct rf_future *f = g_new0(struct rf_future, 1);

	f->run_fd = f->use_fd = -1;
	f->view = TRUE;
	return f;
}

void rf_future_show(struct rf_future *view, const uint64_t *next)
{
	g_assert(view->view);
	view->next = (uint64_t *)next;
}

gboolean rf_futures_add(struct rf_futures *f, struct rf_source *source, unsigned page_shift,
                        GError **error)
{
	unsigned i = rf_futures_index(page_shift);

	g_assert(i < RF_FUTURES);
	if (!f->by_size[i])
		f->by_size[i] = rf_future_new(source, page_shift, error);
	return f->by_size[i] != NULL;
}

gboolean rf_futures_item(struct rf_futures *f, const struct rf_item *item, GError **error)
{
	for (unsigned i = 0; i < RF_FUTURES; i++) {
		if (f->by_size[i] && !rf_future_item(f->by_size[i], item, error))
			return FALSE;
	}
	return TRUE;
}

void rf_futures_clear(struct rf_futures *f)
{
	for (unsigned i = 0; i < RF_FUTURES; i++)
		g_clear_pointer(&f->by_size[i], rf_future_free);
}
