/* SPDX-License-Identifier: MIT */
#include "sim/plot/gnuplot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"

/* Everything that a child says, on two pipes at once.  FALSE: interrupted. */
static gboolean drain(int out, int err, GString *said, GString *complained)
{
	struct pollfd fd[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
	GString *const to[2] = { said, complained };

	while (fd[0].fd >= 0 || fd[1].fd >= 0) {
		char bytes[1 << 16];

		if (rf_interrupted())
			return FALSE;
		if (poll(fd, 2, -1) < 0)
			continue; /* a signal */
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (fd[i].fd < 0 || fd[i].revents == 0)
				continue;
			n = read(fd[i].fd, bytes, sizeof(bytes));
			if (n > 0)
				g_string_append_len(to[i], bytes, n);
			else if (n == 0 || errno != EINTR)
				fd[i].fd = -1;
		}
	}
	return TRUE;
}

/* What gnuplot complains of in one line: it repeats the line, points below it, and then says
 * `"file", line 3: what'. */
static char *complaint(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	const char *first = NULL, *said = NULL;

	for (char **l = lines; *l; l++) {
		g_strstrip(*l);
		if (**l && !first)
			first = *l;
		if (**l && strstr(*l, "line ") && strchr(*l, ':') && !said)
			said = *l;
	}
	if (!said)
		said = first ? first : "it said nothing";
	return g_utf8_make_valid(said, -1);
}

static gboolean ends_with(const GString *s, const char *end)
{
	gsize len = s->len, n = strlen(end);

	while (len > 0 && g_ascii_isspace(s->str[len - 1]))
		len--;
	return len >= n && memcmp(s->str + len - n, end, n) == 0;
}

/* gnuplot does not look whether what it writes arrives; each format says where it ends. */
static gboolean is_whole(const GString *picture, enum rf_picture kind)
{
	static const char png_end[] = "IEND\256B`\202";

	switch (kind) {
	case RF_PICTURE_TEXT:
		return picture->len > 0;
	case RF_PICTURE_PNG:
		return picture->len >= 8 &&
		       memcmp(picture->str + picture->len - 8, png_end, 8) == 0;
	case RF_PICTURE_SVG:
		return ends_with(picture, "</svg>");
	case RF_PICTURE_PDF:
		return ends_with(picture, "%%EOF");
	}
	return FALSE;
}

/* No form feed, no empty lines around it, no blanks at line ends: fit for a mail. */
static void tidy_text(GString *picture)
{
	g_auto(GStrv) lines = g_strsplit(picture->str, "\n", -1);
	guint empty = 0;

	g_string_truncate(picture, 0);
	for (char **l = lines; *l; l++) {
		g_strdelimit(*l, "\f", ' ');
		g_strchomp(*l);
		if (**l == '\0') {
			empty++;
			continue;
		}
		for (; picture->len > 0 && empty > 0; empty--)
			g_string_append_c(picture, '\n');
		empty = 0;
		g_string_append_printf(picture, "%s\n", *l);
	}
}

/* When it was made, and nothing else, differs between two PDFs of the same: midnight of 1970 then.
 */
static void tidy_pdf(GString *picture)
{
	static const char key[] = "/CreationDate (D:", never[] = "19700101000000";
	char *date = memmem(picture->str, picture->len, key, strlen(key));

	if (date && date + strlen(key) + strlen(never) < picture->str + picture->len)
		memcpy(date + strlen(key), never, strlen(never));
}

static gboolean start(const char *program, const char *directory, const char *script, GPid *pid,
                      int *out, int *err, GError **error)
{
	/* Standard output, whatever file the script names; no settings of the user's. */
	char *argv[] = { (char *)program, "-d", "-e", "output = ''", (char *)script, NULL };
	g_auto(GStrv) env = g_get_environ();
	g_autoptr(GError) cause = NULL;
	int in = -1;

	env = g_environ_setenv(env, "LC_ALL", "C.UTF-8", TRUE);
	env = g_environ_unsetenv(env, "GNUTERM");
	if (g_spawn_async_with_pipes(directory, argv, env,
	                             G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
	                             pid, &in, out, err, &cause)) {
		close(in);
		return TRUE;
	}
	if (g_error_matches(cause, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
		rf_set_env(error,
		           "no program %s: install gnuplot (Debian: gnuplot-nox), or name it with "
		           "--gnuplot",
		           program);
	else
		rf_set_env(error, "cannot run %s: %s", program, cause->message);
	return FALSE;
}

static int reap(GPid pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 0;
	}
	return status;
}

GString *rf_gnuplot_run(const char *program, const char *directory, const char *script,
                        enum rf_picture picture, GError **error)
{
	g_autoptr(GString) said = g_string_new(NULL), complained = g_string_new(NULL);
	int out, err, status;
	gboolean whole;
	GPid pid;

	if (!start(program, directory, script, &pid, &out, &err, error))
		return NULL;
	whole = drain(out, err, said, complained);
	if (!whole)
		kill(pid, SIGTERM);
	close(out);
	close(err);
	status = reap(pid);
	if (!whole) {
		rf_set_interrupted(error);
	} else if (WIFSIGNALED(status)) {
		rf_set_env(error, "%s was killed by signal %d (%s)", program, WTERMSIG(status),
		           g_strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status) != 0) {
		g_autofree char *what = complaint(complained->str);

		rf_set_env(error, "%s failed: %s", program, what);
	} else {
		if (picture == RF_PICTURE_TEXT)
			tidy_text(said);
		if (picture == RF_PICTURE_PDF)
			tidy_pdf(said);
		if (is_whole(said, picture))
			return g_steal_pointer(&said);
		rf_set_env(error, "%s drew no whole picture", program);
	}
	return NULL;
}
