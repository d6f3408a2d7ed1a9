/* SPDX-License-Identifier: MIT
 * Job files: an INI file of sections, each a set of runs.  [global] gives keys to the sections that
 * follow it, a later [global] only to those that follow that one.  A reader of our own rather than
 * GKeyFile, which merges duplicates silently and keeps no line numbers.
 *
 * A key is an option of the configuration, a figure of the machine profile, or one of the study's
 * own: trace, format, maps, param, combine.
 */
#ifndef RF_JOB_H
#define RF_JOB_H

#include <glib.h>

#include "base/option.h"

struct rf_setting {
	const char *key; /* the table's own name, not owned */
	char *value;     /* as it was written: a list, a range */
	char *where;     /* "sweep.job:7", "--limit": for messages */
};

struct rf_section {
	char *name, *where;
	GArray *settings; /* struct rf_setting, the inherited ones first; no key twice */
};

/* Keys of the study itself. */
extern const struct rf_option rf_study_keys[];

/* The table's name for a key ("-" and "_" are the same), or NULL with an error that suggests the
 * nearest. */
const char *rf_study_key(const char *where, const char *name, GError **error);

GArray *rf_settings_new(void); /* of struct rf_setting, which it owns */
/* The setting of a key, or NULL. */
struct rf_setting *rf_settings_find(const GArray *settings, const char *key);
/* Set a key, in the place of its older value if it has one. */
void rf_settings_put(GArray *settings, const char *key, const char *value, const char *where);
/* The same of words (char *), quoted for a shell, unless there are none (or words is NULL). */
void rf_settings_put_words(GArray *settings, const char *key, const GPtrArray *words, const char *where);

/* An array of struct rf_section, in order, without the global ones; never empty.  The array owns
 * them.  NULL on error: RF_USAGE_ERROR with file and line, RF_ENV_ERROR when it can't be read. */
GPtrArray *rf_job_load(const char *path, GError **error);
/* The same from memory; name stands for the file. */
GPtrArray *rf_job_parse(const char *name, const char *text, gsize len, GError **error);
/* Keep the sections of these names (char *), each of which must be there. */
gboolean rf_job_choose(GPtrArray *sections, const GPtrArray *names, GError **error);
struct rf_section *rf_section_new(const char *name, const char *where, const GArray *settings);
void rf_section_free(struct rf_section *s);

#endif
