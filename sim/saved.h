/* SPDX-License-Identifier: MIT
 * Results that were saved: what `refault run --output-format=json' wrote, read back.
 */
#ifndef RF_SAVED_H
#define RF_SAVED_H

#include <glib.h>
#include "sim/result.h"

/* A name and a value as a user would write it; NULL: the option was not set. */
struct rf_saved_pair {
	char *name, *value;
};

/* One run.  Strings are owned.  Metrics, tasks, cgroups, OOM kills, marks and timeline stand in
 * result, shaped as the run itself had them.  What a document of an older version lacks is zero
 * there, and has no flag. */
struct rf_saved {
	char *file;    /* where it was read, as the user gave it */
	guint nth;     /* among the document's runs, from 1; 0 when it is the only one */
	char *version; /* of the refault that ran it */
	uint64_t schema;
	char *trace, *format, *maps; /* of the trace; maps may be NULL */
	char *digest;                /* 16 hexadecimal digits */
	GArray *header;              /* struct rf_saved_pair: the trace's header, in order */
	uint64_t seed;
	GArray *config;              /* struct rf_saved_pair: every option, in the table's order */
	GArray *profile;             /* the machine's figures; empty with --frames */
	uint64_t page_bytes, limit_bytes, ram_bytes, swap_bytes, frames_n; /* resolved; 0: none */
	struct rf_result result;
	gboolean present[RF_NCOUNTERS + RF_NGAUGES]; /* by index in rf_metrics */
};

/* Read a document of one run or an array of them; "-" is standard input.  An array of struct
 * rf_saved *, never empty, which owns them; NULL on error: the file, the run, the member, and what
 * was expected.  Members that this version does not know are passed over. */
GPtrArray *rf_saved_load(const char *path, GError **error);
/* The same from memory; name stands for the file.  text need not end in a NUL. */
GPtrArray *rf_saved_parse(const char *name, const char *text, gsize len, GError **error);
void rf_saved_free(struct rf_saved *s);

/* A metric's value; FALSE when the run did not report it. */
gboolean rf_saved_value(const struct rf_saved *s, const struct rf_metric *m, uint64_t *value);
/* An option's value ("limit", "swappiness"); NULL when it is not set, or not known. */
const char *rf_saved_config(const struct rf_saved *s, const char *name);
/* "FILE", or "FILE: result 2": for messages.  Caller frees. */
char *rf_saved_where(const struct rf_saved *s);

#endif
