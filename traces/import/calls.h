/* SPDX-License-Identifier: MIT
 * System calls as strace (and qemu -strace) prints them, a line or two each.
 */
#ifndef RF_CALLS_H
#define RF_CALLS_H

#include "traces/import/process.h"

enum rf_call_kind {
	RF_CALL_NONE,    /* no line of strace's */
	RF_CALL_OTHER,   /* one of no consequence: a signal, a call whose end follows */
	RF_CALL_DONE,    /* a call with its result */
	RF_CALL_NEWTASK, /* fork, clone and their kin, which made a task */
	RF_CALL_EXITED,  /* "+++ exited with 0 +++" */
};

struct rf_call_line {
	struct rf_call call; /* strings live until the next line */
	char name[32];
	uint32_t pid;        /* 1 where the line tells none */
	gboolean thread;     /* of a new task: it shares memory for good */
	gboolean timed;
	uint64_t ns;         /* by the clock that the line shows */
	int32_t fd;          /* of the first argument with a path behind it (-y), or -1 */
	const char *fd_path;
};

struct rf_calls;

struct rf_calls *rf_calls_new(void);
void rf_calls_free(struct rf_calls *c);
/* Take a line apart; s is written to. */
enum rf_call_kind rf_calls_line(struct rf_calls *c, char *s, struct rf_call_line *line);
/* A task whose call that makes one (fork) has begun and not ended: the likely parent of a task that
 * appears.  FALSE: there is none. */
gboolean rf_calls_parent(const struct rf_calls *c, uint32_t *pid, gboolean *thread);
/* Tell a process of the path behind a descriptor. */
void rf_calls_descriptor(const struct rf_call_line *line, struct rf_process *process);

#endif
