/* SPDX-License-Identifier: MIT
 * Shared by the two files of the lackey importer.
 */
#ifndef RF_LACKEY_H
#define RF_LACKEY_H

#include "traces/import/import.h"
#include "traces/import/process.h"

#define RF_LACKEY_DUMP "<<< SHOW_SEGMENTS: Memory layout at client startup"

struct rf_lackey_notes;

struct rf_lackey {
	struct rf_input *in;
	struct rf_builder *b;
	struct rf_process *process;
	struct rf_lackey_notes *notes;
	uint32_t tid; /* who runs: valgrind's numbers of threads, from 1 */
	uint64_t line, accepted;
	gboolean kernel_accesses, maps, strict;
	gboolean tagged; /* the top byte of addresses is a tag (arm64) */
	char *scratch;   /* a line, NUL-terminated */
};

/* A line that is no access: system calls, dumps, stack growth, chatter.  s is NUL-terminated and
 * may be written to.  The message of an error has no position. */
gboolean rf_lackey_note(struct rf_lackey *l, char *s, GError **error);
void rf_lackey_note_init(struct rf_lackey *l);
void rf_lackey_note_clear(struct rf_lackey *l);

/* An access record that ends text; takes it. */
gboolean rf_lackey_trailing_access(struct rf_lackey *l, const char *text, size_t n);

extern const struct rf_importer rf_lackey_importer;

#endif
