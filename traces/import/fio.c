/* SPDX-License-Identifier: MIT
 * Logs of fio's --write_iolog, versions 2 and 3.  Version 2 says how long to wait, version 3 when.
 */
#include <string.h>

#include "traces/import/devices.h"
#include "traces/import/formats.h"
#include "traces/import/lines.h"

#define PATH_MAX_BYTES 4096

struct fio {
	struct rf_lines lines;
	struct rf_devices *devices;
	unsigned version;
	uint64_t waited; /* us */
};

/* Its first line says what it is. */
static int probe(const uint8_t *head, size_t n)
{
	static const char magic[] = "fio version ";

	if (n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0)
		head += 3, n -= 3;
	return n >= sizeof(magic) - 1 && memcmp(head, magic, sizeof(magic) - 1) == 0 ? 95 : 0;
}

static gboolean begin(void *self, const struct rf_source_options *opt, GError **error)
{
	struct fio *f = self;

	(void)opt;
	(void)error;
	f->devices = rf_devices_new(f->lines.b);
	return TRUE;
}

static void clear(void *self)
{
	rf_devices_free(((struct fio *)self)->devices);
}

static gboolean at_us(struct fio *f, uint64_t us, GError **error)
{
	return us <= UINT64_MAX / 1000 ? rf_lines_time_from_0(&f->lines, us * 1000, error)
	                               : rf_lines_time_from_0(&f->lines, UINT64_MAX, error);
}

static enum rf_line sync_file(struct fio *f, const char *path, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_FSYNC, .tid = 1 };

	return rf_line_of(rf_devices_number(f->devices, path, &ev.id, error) &&
	                  rf_builder_event(f->lines.b, &ev, error));
}

/* What stands behind a path. */
static enum rf_line action(struct fio *f, const char *path, char *s, GError **error)
{
	char word[16];
	uint64_t off, len;

	if (!rf_take_word(&s, " \t", word, sizeof(word)))
		return RF_LINE_OTHER;
	rf_take_blanks(&s);
	if (strcmp(word, "add") == 0 || strcmp(word, "open") == 0 || strcmp(word, "close") == 0)
		return RF_LINE_TAKEN;
	if (strcmp(word, "wait") == 0) {
		if (!rf_take_digits(&s, 10, &off) || __builtin_add_overflow(f->waited, off, &f->waited))
			return rf_lines_expected(&f->lines, s, "a number of us", error);
		return rf_line_of(at_us(f, f->waited, error));
	}
	if (strcmp(word, "read") != 0 && strcmp(word, "write") != 0 && strcmp(word, "trim") != 0 &&
	    strcmp(word, "sync") != 0 && strcmp(word, "datasync") != 0)
		return RF_LINE_OTHER;
	if (strstr(word, "sync") != NULL)
		return sync_file(f, path, error);
	if (!rf_take_digits(&s, 10, &off) || !rf_take_literal(&s, " "))
		return rf_lines_expected(&f->lines, s, "an offset in bytes", error);
	if (!rf_take_digits(&s, 10, &len) || *s != 0)
		return rf_lines_expected(&f->lines, s, "a number of bytes", error);
	if (word[0] == 't') {
		rf_builder_skipped(f->lines.b, "trim");
		return RF_LINE_TAKEN;
	}
	return rf_line_of(rf_devices_io(f->devices, 1, path, word[0] == 'w', off, len, error));
}

static enum rf_line line(void *self, char *s, GError **error)
{
	struct fio *f = self;
	char path[PATH_MAX_BYTES], *at = s;
	uint64_t us;

	if (rf_take_literal(&s, "fio version ")) {
		uint64_t version;

		at = s;
		if (!rf_take_digits(&s, 10, &version) || version < 2 || version > 3 ||
		    strcmp(s, " iolog") != 0)
			return rf_lines_expected(&f->lines, at, "'2 iolog' or '3 iolog'", error);
		f->version = (unsigned)version;
		return RF_LINE_TAKEN;
	}
	if (f->version == 0)
		return RF_LINE_OTHER;
	if (f->version == 3) {
		if (!rf_take_digits(&s, 10, &us) || !rf_take_literal(&s, " "))
			return RF_LINE_OTHER;
		if (!at_us(f, us, error))
			return RF_LINE_BAD;
	}
	if (*s != '/' && f->version == 2 && strchr(s, ' ') == NULL)
		return RF_LINE_OTHER;
	if (!rf_take_word(&s, " \t", path, sizeof(path)))
		return RF_LINE_OTHER;
	rf_take_blanks(&s);
	return action(f, path, s, error);
}

static const struct rf_line_format format = {
	.size = sizeof(struct fio),
	.example = "/demo/a.dat read 81920 4096",
	.begin = begin,
	.line = line,
	.clear = clear,
};

const struct rf_importer rf_fio_importer = {
	.name = "fio",
	.summary = "fio's I/O logs (--write_iolog), versions 2 and 3",
	.cannot = "hits of the page cache; who asked; sizes of files",
	.probe = probe,
	.lines = &format,
};
