/* SPDX-License-Identifier: MIT
 * Output files that are whole or absent; small text files.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define TMP_TRIES 100

static void clear(struct rf_outfile *o)
{
	g_free(o->path);
	g_free(o->tmp);
	memset(o, 0, sizeof *o);
}

/* A new file beside path.  Not mkstemp: its mode ignores the umask. */
static int create_beside(const char *path, mode_t mode, char **tmp)
{
	for (unsigned i = 0; i < TMP_TRIES; i++) {
		char *name = g_strdup_printf("%s.tmp-%ld-%u", path, (long)getpid(), i);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

		if (fd >= 0) {
			*tmp = name;
			return fd;
		}
		g_free(name);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

gboolean rf_outfile_open(struct rf_outfile *o, const char *path, GError **error)
{
	struct stat st;
	gboolean exists;
	int fd;

	memset(o, 0, sizeof *o);
	if (!path || !strcmp(path, "-")) {
		o->f = stdout;
		return TRUE;
	}
	exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode)) {
		rf_set_env(error, "cannot write %s: it is a directory", path);
		return FALSE;
	}
	if (exists && !S_ISREG(st.st_mode)) {
		/* A pipe or device: a rename would replace it. */
		fd = open(path, O_WRONLY | O_CLOEXEC);
	} else if (exists) {
		/* The file behind a symbolic link is the one to replace, and its mode the one to
		 * keep. */
		char *real = realpath(path, NULL);

		fd = real ? create_beside(real, st.st_mode & 0777, &o->tmp) : -1;
		o->path = g_strdup(real);
		free(real);
	} else {
		fd = create_beside(path, 0666, &o->tmp);
	}
	if (fd >= 0)
		o->f = fdopen(fd, "w");
	if (!o->f) {
		rf_set_env(error, "cannot write %s: %s", path, g_strerror(errno));
		if (fd >= 0)
			close(fd);
		rf_outfile_abort(o);
		return FALSE;
	}
	if (!o->path)
		o->path = g_strdup(path);
	return TRUE;
}

void rf_outfile_write(struct rf_outfile *o, const char *text, size_t len)
{
	errno = 0;
	if (fwrite(text, 1, len, o->f) != len && !o->error)
		o->error = errno;
}

gboolean rf_outfile_commit(struct rf_outfile *o, GError **error)
{
	const char *name = o->path ? o->path : "standard output";
	int err = 0;

	g_return_val_if_fail(o->f, FALSE);
	errno = 0;
	if (fflush(o->f) || ferror(o->f))
		err = o->error ? o->error : errno ? errno : EIO;
	if (o->path) {
		if (fclose(o->f) && !err)
			err = errno;
		if (!err && o->tmp && rename(o->tmp, o->path))
			err = errno;
	}
	o->f = NULL;
	if (err) {
		rf_set_env(error, "cannot write %s: %s", name, g_strerror(err));
		rf_outfile_abort(o);
		return FALSE;
	}
	clear(o);
	return TRUE;
}

void rf_outfile_abort(struct rf_outfile *o)
{
	if (o->f && o->f != stdout)
		fclose(o->f);
	if (o->tmp)
		unlink(o->tmp);
	clear(o);
}

/* ---- reading ---- */

char *rf_load_text(const char *what, const char *path, unsigned mib, gsize *len, GError **error)
{
	struct stat st;
	GError *e = NULL;
	char *text;

	/* A device or a huge file would be read to its end. */
	if (stat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > (off_t)mib << 20)) {
		rf_set_usage(error, "%s %s: expected a text file of at most %u MiB", what, path, mib);
		return NULL;
	}
	if (g_file_get_contents(path, &text, len, &e))
		return text;
	rf_set_env(error, "%s: %s", what, e->message);
	g_error_free(e);
	return NULL;
}
