/* SPDX-License-Identifier: MIT
 * Bytes of a file, a pipe or memory, with a look ahead.
 */
#include "traces/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define CHUNK (256u << 10)
#define DIRECT (64u << 10) /* a read of more goes to where it is wanted */

struct rf_raw {
	char *name;
	int fd; /* -1: memory */
	gboolean eof, seekable;
	uint64_t size, offset; /* offset: of buf[pos] */
	uint8_t *buf;
	size_t pos, len, cap;
};

struct rf_raw *rf_raw_from_fd(const char *name, int fd)
{
	struct rf_raw *r = g_new0(struct rf_raw, 1);
	struct stat st;
	off_t at;

	r->name = g_strdup(name);
	r->fd = fd;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (at = lseek(fd, 0, SEEK_CUR)) >= 0) {
		r->seekable = TRUE;
		r->size = (uint64_t)st.st_size;
		r->offset = (uint64_t)at;
	}
	r->cap = CHUNK;
	r->buf = g_malloc(r->cap);
	return r;
}

struct rf_raw *rf_raw_open(const char *path, GError **error)
{
	gboolean standard = strcmp(path, "-") == 0;
	int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0) {
		rf_set_env(error, "%s: cannot open: %s", path, g_strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		rf_set_env(error, "%s: is a directory; expected a trace file", path);
		return NULL;
	}
	return rf_raw_from_fd(standard ? "<stdin>" : path, fd);
}

struct rf_raw *rf_raw_from_memory(const char *name, const void *data, size_t len)
{
	struct rf_raw *r = g_new0(struct rf_raw, 1);

	r->name = g_strdup(name);
	r->fd = -1;
	r->eof = r->seekable = TRUE;
	r->size = r->len = r->cap = len;
	r->buf = g_malloc(MAX(len, 1));
	if (len > 0)
		memcpy(r->buf, data, len);
	return r;
}

void rf_raw_close(struct rf_raw *r)
{
	if (r == NULL)
		return;
	if (r->fd >= 0)
		close(r->fd);
	g_free(r->buf);
	g_free(r->name);
	g_free(r);
}

static gboolean cannot_read(const struct rf_raw *r, GError **error)
{
	rf_set_env(error, "%s: offset %" G_GUINT64_FORMAT ": cannot read: %s", r->name,
	           r->offset + (r->len - r->pos), g_strerror(errno));
	return FALSE;
}

/* Have at least n bytes buffered, unless the end comes first. */
static gboolean fill(struct rf_raw *r, size_t n, GError **error)
{
	if (r->len - r->pos >= n || r->eof)
		return TRUE;
	if (r->pos > 0) {
		memmove(r->buf, r->buf + r->pos, r->len - r->pos);
		r->len -= r->pos;
		r->pos = 0;
	}
	if (r->cap < n) {
		uint8_t *buf = g_try_realloc(r->buf, n);

		if (buf == NULL) {
			rf_set_env(error, "%s: not enough memory for a buffer of %zu bytes", r->name, n);
			return FALSE;
		}
		r->buf = buf;
		r->cap = n;
	}
	while (r->len < n) {
		ssize_t got = read(r->fd, r->buf + r->len, r->cap - r->len);

		/* EINTR too: the only signals that are caught ask the program to stop, and a pipe may
		 * never bring another byte. */
		if (got < 0)
			return cannot_read(r, error);
		if (got == 0) {
			r->eof = TRUE;
			break;
		}
		r->len += (size_t)got;
	}
	return TRUE;
}

const uint8_t *rf_raw_peek(struct rf_raw *r, size_t n, size_t *have, GError **error)
{
	if (!fill(r, n, error))
		return NULL;
	*have = MIN(n, r->len - r->pos);
	return r->buf + r->pos;
}

const uint8_t *rf_raw_some(struct rf_raw *r, size_t *have, GError **error)
{
	if (!fill(r, 1, error))
		return NULL;
	*have = r->len - r->pos;
	return r->buf + r->pos;
}

gboolean rf_raw_read(struct rf_raw *r, void *to, size_t n, size_t *got, GError **error)
{
	if (r->pos == r->len && n >= DIRECT && !r->eof) {
		ssize_t came = read(r->fd, to, n);

		if (came < 0)
			return cannot_read(r, error);
		r->eof = came == 0;
		*got = (size_t)came;
		r->offset += *got;
		return TRUE;
	}
	if (!fill(r, 1, error))
		return FALSE;
	*got = MIN(n, r->len - r->pos);
	memcpy(to, r->buf + r->pos, *got);
	rf_raw_consume(r, *got);
	return TRUE;
}

void rf_raw_consume(struct rf_raw *r, size_t n)
{
	g_assert(n <= r->len - r->pos);
	r->pos += n;
	r->offset += n;
}

gboolean rf_raw_seek(struct rf_raw *r, uint64_t offset, GError **error)
{
	g_assert(r->seekable);
	if (r->fd < 0) {
		r->pos = MIN(offset, r->len);
		r->offset = r->pos;
		return TRUE;
	}
	if (offset > G_MAXINT64 || lseek(r->fd, (off_t)offset, SEEK_SET) < 0) {
		rf_set_env(error, "%s: cannot seek to offset %" G_GUINT64_FORMAT ": %s", r->name, offset,
		           g_strerror(errno));
		return FALSE;
	}
	r->pos = r->len = 0;
	r->offset = offset;
	r->eof = FALSE;
	return TRUE;
}

gboolean rf_raw_seekable(const struct rf_raw *r)
{
	return r->seekable;
}

uint64_t rf_raw_size(const struct rf_raw *r)
{
	return r->size;
}

uint64_t rf_raw_offset(const struct rf_raw *r)
{
	return r->offset;
}

const char *rf_raw_name(const struct rf_raw *r)
{
	return r->name;
}
