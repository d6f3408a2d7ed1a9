/* SPDX-License-Identifier: MIT */
#include "base/interrupt.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

void rf_interrupt_catch(void)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	/* Not SA_RESTART: a read that waits for a pipe ends with the signal. */
	sa.sa_flags = SA_RESETHAND;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

gboolean rf_interrupted(void)
{
	return interrupted != 0;
}

void rf_set_interrupted(GError **error)
{
	rf_set_env(error, "interrupted");
}
