/* SPDX-License-Identifier: MIT
 * A recorded program runs below a keeper, a process that holds the stream open until the program has
 * ended, as the stream has no writer for a moment when the program execs.
 */
#include "traces/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define NOT_STARTED 127

struct rf_launch {
	char *directory, *path; /* of the stream, a named pipe */
	pid_t keeper;
};

static volatile sig_atomic_t stopped;
static volatile pid_t signalled; /* whom to tell of a signal */

/* ---- the keeper ---- */

static volatile pid_t program;
static volatile sig_atomic_t told;

/* The first time it is asked, the second time it is made to. */
static void pass_on(int signal)
{
	(void)signal;
	if (program > 0)
		kill(program, told ? SIGKILL : SIGTERM);
	told = 1;
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = flags;
	sigaction(signal, &sa, NULL);
}

/* In the program's process; does not return. */
static void become(char *const *argv, int stream)
{
	handle(SIGINT, SIG_DFL, 0);
	handle(SIGTERM, SIG_DFL, 0);
	handle(SIGPIPE, SIG_DFL, 0);
	if (stream >= 0) {
		/* the recorder's messages go to 9, what stands on standard error among them */
		dup2(stream, 2);
		dup2(stream, 9);
	}
	execv(argv[0], argv);
	_exit(NOT_STARTED);
}

static void keep(char *const *argv, const char *path, gboolean errors)
{
	int status = 0, stream;

	handle(SIGINT, SIG_IGN, 0); /* of a terminal: the program has it too */
	handle(SIGTERM, pass_on, 0);
	stream = open(path, O_WRONLY | O_CLOEXEC);
	if (stream < 0 || told)
		_exit(NOT_STARTED);
	program = fork();
	if (program == 0)
		become(argv, errors ? stream : -1);
	if (program < 0)
		_exit(NOT_STARTED);
	if (told)
		kill(program, SIGTERM);
	while (waitpid(program, &status, 0) < 0 && errno == EINTR)
		;
	/* the same end as the program's */
	if (WIFSIGNALED(status)) {
		handle(WTERMSIG(status), SIG_DFL, 0);
		close(stream);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* ---- this side ---- */

static void stop(int signal, siginfo_t *info, void *context)
{
	(void)context;
	stopped = 1;
	/* what a terminal sends is sent to the program as well */
	if (signal == SIGTERM || info->si_code <= 0)
		kill(signalled, SIGTERM);
}

static void catch_stops(struct rf_launch *l)
{
	struct sigaction sa;

	signalled = l->keeper;
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = stop;
	sa.sa_flags = SA_SIGINFO | SA_RESTART; /* reading goes on: the stream will end */
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static void launch_free(struct rf_launch *l)
{
	if (l->path)
		unlink(l->path);
	if (l->directory)
		rmdir(l->directory);
	g_free(l->path);
	g_free(l->directory);
	g_free(l);
}

struct rf_launch *rf_launch_start(const struct rf_recorder *r, const struct rf_launch_options *o,
                                  GError **error)
{
	struct rf_launch *l = g_new0(struct rf_launch, 1);
	g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);

	l->directory = g_dir_make_tmp("refault-XXXXXX", error);
	if (l->directory) {
		l->path = g_build_filename(l->directory, "stream", NULL);
		if (mkfifo(l->path, 0600))
			rf_set_env(error, "%s: %s", l->path, g_strerror(errno));
	}
	if (!l->directory || (error && *error)) {
		launch_free(l);
		return NULL;
	}
	r->command(o, l->path, argv);
	g_ptr_array_add(argv, NULL);
	l->keeper = fork();
	if (l->keeper == 0)
		keep((char *const *)argv->pdata, l->path, r->errors);
	if (l->keeper < 0) {
		rf_set_env(error, "fork: %s", g_strerror(errno));
		launch_free(l);
		return NULL;
	}
	catch_stops(l);
	return l;
}

const char *rf_launch_path(const struct rf_launch *l)
{
	return l->path;
}

gboolean rf_launch_stopped(const struct rf_launch *l)
{
	(void)l;
	return stopped != 0;
}

void rf_launch_stop(struct rf_launch *l)
{
	kill(l->keeper, SIGTERM);
}

int rf_launch_end(struct rf_launch *l)
{
	int status = 0;

	while (waitpid(l->keeper, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	launch_free(l);
	return WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED ? -1 : status;
}
