/* SPDX-License-Identifier: MIT
 * What must be undone.  Every change of the machine is noted in a journal before it is made; the
 * journal is undone from its end when the run is over, or by the next run when this one was killed.
 * A lock tells the two apart: it goes with the process.
 *
 * A line an entry, fields separated by tabs.  The first line names the boot: after another boot
 * only files can be left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "sim/verify/verify.h"

#define DEFAULT_DIR "/run/refault-verify"

struct entry {
	char **field; /* the first says what it is */
	off_t at;     /* in the journal */
};

struct rf_vundo {
	char *dir, *journal_path, *lock_path;
	int lock_fd, journal_fd;
	off_t end;
	GArray *entries;
};

/* ---- small files ---- */

char *rf_vread(const char *dir, const char *file, GError **error)
{
	g_autofree char *path = g_build_filename(dir, file, NULL);
	g_autoptr(GError) local = NULL;
	char *text;

	if (!g_file_get_contents(path, &text, NULL, &local)) {
		rf_set_env(error, "%s", local->message);
		return NULL;
	}
	return g_strstrip(text);
}

gboolean rf_vwrite(const char *dir, const char *file, const char *value, GError **error)
{
	g_autofree char *path = g_build_filename(dir, file, NULL);
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), saved;
	size_t n = strlen(value);

	if (fd >= 0 && write(fd, value, n) == (ssize_t)n) {
		close(fd);
		return TRUE;
	}
	saved = errno;
	if (fd >= 0)
		close(fd);
	rf_set_env(error, "cannot write \"%s\" to %s: %s", value, path, g_strerror(saved));
	return FALSE;
}

/* ---- undoing one entry ---- */

static gboolean has_prefix(const char *path)
{
	g_autofree char *base = g_path_get_basename(path);

	return g_str_has_prefix(base, RF_VERIFY_PREFIX);
}

static gboolean undo_cgroup(const char *path, GError **error)
{
	for (int tries = 0; tries < 300; tries++) {
		g_autofree char *procs = NULL;

		if (rmdir(path) == 0 || errno == ENOENT)
			return TRUE;
		if (errno != EBUSY)
			break;
		/* Whoever is in a cgroup of ours is a child of ours. */
		procs = rf_vread(path, "cgroup.procs", NULL);
		if (procs) {
			g_auto(GStrv) pids = g_strsplit(procs, "\n", -1);

			for (char **p = pids; *p; p++) {
				uint64_t pid;

				if (rf_parse_u64(*p, &pid, NULL) && pid > 1 && pid <= INT32_MAX &&
				    pid != (uint64_t)getpid())
					kill((pid_t)pid, SIGKILL);
			}
		}
		g_usleep(10000);
	}
	rf_set_env(error, "cannot remove the cgroup %s: %s", path, g_strerror(errno));
	return FALSE;
}

static gboolean undo_dir(const char *path, GError **error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (fd < 0 && errno == ENOENT)
		return TRUE;
	/* Others may write to the directory above: only one that we made is emptied. */
	if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid() || !(d = fdopendir(fd))) {
		if (fd >= 0)
			close(fd);
		return TRUE;
	}
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(fd, e->d_name, 0);
	}
	closedir(d);
	if (rmdir(path) == 0)
		return TRUE;
	rf_set_env(error, "cannot remove the directory %s: %s", path, g_strerror(errno));
	return FALSE;
}

static gboolean undo_setting(const char *path, const char *old, const char *value, GError **error)
{
	g_autofree char *now = rf_vread("/", path, error);

	if (!now)
		return FALSE;
	if (strcmp(now, value) != 0)
		return TRUE; /* somebody else's by now, or never set */
	return rf_vwrite("/", path, old, error);
}

static gboolean undo_swap(const char *device, const char *uuid, GError **error)
{
	if (!rf_vswap_is(device, uuid) || swapoff(device) == 0 || errno == EINVAL)
		return TRUE; /* not ours, or not active */
	rf_set_env(error, "cannot stop swapping to %s: %s", device, g_strerror(errno));
	return FALSE;
}

static gboolean undo_zram(const char *name, const char *disksize, const char *remove,
                          GError **error)
{
	g_autofree char *dir = g_build_filename("/sys/block", name, NULL), *size = NULL;

	if (!g_file_test(dir, G_FILE_TEST_IS_DIR))
		return TRUE;
	size = rf_vread(dir, "disksize", error);
	if (!size)
		return FALSE;
	/* Another size: never set up, or somebody else's by now. */
	if (strcmp(size, disksize) != 0 && strcmp(size, "0") != 0)
		return TRUE;
	for (int tries = 0; strcmp(size, "0") != 0; tries++) {
		/* Busy while something looks at the device that was swap until now. */
		if (rf_vwrite(dir, "reset", "1", tries < 100 ? NULL : error))
			break;
		if (tries == 100)
			return FALSE;
		g_usleep(10000);
	}
	if (strcmp(remove, "1") == 0)
		return rf_vwrite("/sys/class/zram-control", "hot_remove", name + strlen("zram"),
		                 error);
	return TRUE;
}

static gboolean undo(char **f, gboolean same_boot, GError **error)
{
	guint n = g_strv_length(f);

	if (n == 2 && strcmp(f[0], "dir") == 0)
		return !has_prefix(f[1]) || undo_dir(f[1], error);
	if (!same_boot)
		return TRUE;
	if (n == 2 && strcmp(f[0], "cgroup") == 0)
		return !has_prefix(f[1]) || undo_cgroup(f[1], error);
	if (n == 4 && strcmp(f[0], "set") == 0)
		return undo_setting(f[1], f[2], f[3], error);
	if (n == 3 && strcmp(f[0], "swap") == 0)
		return undo_swap(f[1], f[2], error);
	if (n == 4 && strcmp(f[0], "zram") == 0 && g_str_has_prefix(f[1], "zram") &&
	    !strchr(f[1], '/'))
		return undo_zram(f[1], f[2], f[3], error);
	return TRUE; /* half a line: the change was not made yet */
}

/* ---- the journal ---- */

static gboolean put_line(struct rf_vundo *u, const char *line, GError **error)
{
	size_t n = strlen(line);

	if (pwrite(u->journal_fd, line, n, u->end) == (ssize_t)n) {
		u->end += n;
		return TRUE;
	}
	rf_set_env(error, "cannot write %s: %s", u->journal_path, g_strerror(errno));
	return FALSE;
}

static gboolean note(struct rf_vundo *u, const char *const *fields, GError **error)
{
	g_autoptr(GString) line = g_string_new(NULL);
	struct entry e = { .field = g_strdupv((char **)fields), .at = u->end };

	for (guint i = 0; fields[i]; i++) {
		g_autofree char *escaped = g_strescape(fields[i], NULL);

		g_string_append_printf(line, "%s%s", i ? "\t" : "", escaped);
	}
	g_string_append_c(line, '\n');
	g_array_append_val(u->entries, e);
	return put_line(u, line->str, error);
}

guint rf_vundo_depth(const struct rf_vundo *u)
{
	return u->entries->len;
}

gboolean rf_vundo_pop(struct rf_vundo *u, GError **error)
{
	struct entry *e = &g_array_index(u->entries, struct entry, u->entries->len - 1);

	if (!undo(e->field, TRUE, error))
		return FALSE;
	u->end = e->at;
	if (ftruncate(u->journal_fd, u->end)) {
		rf_set_env(error, "cannot write %s: %s", u->journal_path, g_strerror(errno));
		return FALSE;
	}
	g_strfreev(e->field);
	g_array_set_size(u->entries, u->entries->len - 1);
	return TRUE;
}

gboolean rf_vundo_note_dir(struct rf_vundo *u, const char *path, GError **error)
{
	return note(u, (const char *const[]){ "dir", path, NULL }, error);
}

gboolean rf_vundo_note_cgroup(struct rf_vundo *u, const char *path, GError **error)
{
	return note(u, (const char *const[]){ "cgroup", path, NULL }, error);
}

gboolean rf_vundo_note_swap(struct rf_vundo *u, const char *device, const char *uuid,
                            GError **error)
{
	return note(u, (const char *const[]){ "swap", device, uuid, NULL }, error);
}

gboolean rf_vundo_note_zram(struct rf_vundo *u, const char *name, uint64_t disksize,
                            gboolean remove, GError **error)
{
	g_autofree char *size = g_strdup_printf("%" G_GUINT64_FORMAT, disksize);

	return note(u, (const char *const[]){ "zram", name, size, remove ? "1" : "0", NULL },
	            error);
}

gboolean rf_vundo_setting(struct rf_vundo *u, const char *path, const char *value, GError **error)
{
	g_autofree char *old = rf_vread("/", path, error);

	if (!old || !note(u, (const char *const[]){ "set", path, old, value, NULL }, error))
		return FALSE;
	return strcmp(old, value) == 0 || rf_vwrite("/", path, value, error);
}

/* ---- lock and recovery ---- */

static char *boot_id(void)
{
	char *id = rf_vread("/proc/sys/kernel/random", "boot_id", NULL);

	return id ? id : g_strdup("unknown");
}

/* Undo what the journal of a killed run says. */
static gboolean recover(struct rf_vundo *u, char **recovered, GError **error)
{
	g_autofree char *text = NULL, *boot = boot_id();
	g_auto(GStrv) lines = NULL;
	g_autoptr(GString) what = g_string_new(NULL);
	gboolean same_boot, ok = TRUE;
	guint n;

	if (!g_file_get_contents(u->journal_path, &text, NULL, NULL))
		return TRUE;
	lines = g_strsplit(text, "\n", -1);
	n = g_strv_length(lines);
	same_boot = n && strcmp(lines[0], boot) == 0;
	for (guint i = n; i-- > 1 && ok;) {
		g_auto(GStrv) fields = g_strsplit(lines[i], "\t", -1);

		/* A line without its end is not whole: the last piece of the split is what follows
		 * the end. */
		if (i + 1 == n || !fields[0] || !*fields[0])
			continue;
		for (char **f = fields; *f; f++) {
			char *plain = g_strcompress(*f);

			g_free(*f);
			*f = plain;
		}
		ok = undo(fields, same_boot, error);
		g_string_append_printf(what, "%s%s %s", what->len ? ", " : "", fields[0],
		                       fields[1] ? fields[1] : "");
	}
	if (!ok) {
		g_prefix_error(error, "a run that was killed left something behind, see %s: ",
		               u->journal_path);
		return FALSE;
	}
	if (what->len && recovered)
		*recovered = g_strdup(what->str);
	return TRUE;
}

/* Another process may have removed the file that we locked. */
static gboolean take_lock(struct rf_vundo *u, GError **error)
{
	for (int tries = 0; tries < 100; tries++) {
		struct stat mine, named;

		if (g_mkdir_with_parents(u->dir, 0700) != 0) {
			rf_set_env(error,
			           "cannot make the directory %s, where running verifications are "
			           "noted: %s",
			           u->dir, g_strerror(errno));
			return FALSE;
		}
		u->lock_fd = open(u->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (u->lock_fd < 0 && errno == ENOENT)
			continue;
		if (u->lock_fd < 0) {
			rf_set_env(error, "cannot open %s: %s", u->lock_path, g_strerror(errno));
			return FALSE;
		}
		if (flock(u->lock_fd, LOCK_EX | LOCK_NB) == 0 && fstat(u->lock_fd, &mine) == 0 &&
		    stat(u->lock_path, &named) == 0 && mine.st_ino == named.st_ino)
			return TRUE;
		close(u->lock_fd);
		u->lock_fd = -1;
		g_usleep(10000);
	}
	rf_set_env(error,
	           "another refault verify is running (%s is locked): their counts would mix",
	           u->lock_path);
	return FALSE;
}

static void undo_clear(struct rf_vundo *u)
{
	for (guint i = 0; i < u->entries->len; i++)
		g_strfreev(g_array_index(u->entries, struct entry, i).field);
	g_array_unref(u->entries);
	if (u->journal_fd >= 0)
		close(u->journal_fd);
	if (u->lock_fd >= 0)
		close(u->lock_fd);
	g_free(u->dir);
	g_free(u->journal_path);
	g_free(u->lock_path);
	g_free(u);
}

struct rf_vundo *rf_vundo_new(const char *dir, char **recovered, GError **error)
{
	struct rf_vundo *u = g_new0(struct rf_vundo, 1);
	g_autofree char *boot = boot_id(), *first = g_strconcat(boot, "\n", NULL);

	if (recovered)
		*recovered = NULL;
	u->dir = g_strdup(dir ? dir : DEFAULT_DIR);
	u->journal_path = g_build_filename(u->dir, "journal", NULL);
	u->lock_path = g_build_filename(u->dir, "lock", NULL);
	u->lock_fd = u->journal_fd = -1;
	u->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	if (!take_lock(u, error) || !recover(u, recovered, error))
		goto fail;
	u->journal_fd =
		open(u->journal_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (u->journal_fd < 0) {
		rf_set_env(error, "cannot write %s: %s", u->journal_path, g_strerror(errno));
		goto fail;
	}
	if (put_line(u, first, error))
		return u;
fail:
	undo_clear(u);
	return NULL;
}

int rf_vundo_lock_fd(const struct rf_vundo *u)
{
	return u->lock_fd;
}

gboolean rf_vundo_free(struct rf_vundo *u, GError **error)
{
	gboolean ok = TRUE;

	if (!u)
		return TRUE;
	while (u->entries->len && ok)
		ok = rf_vundo_pop(u, error);
	if (ok) {
		unlink(u->journal_path);
		unlink(u->lock_path);
		rmdir(u->dir);
	} else {
		g_prefix_error(
			error,
			"something is left behind, and the next refault verify will try again: ");
	}
	undo_clear(u);
	return ok;
}
