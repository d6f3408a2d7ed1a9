/* SPDX-License-Identifier: MIT
 * Command lines in reports: what gives the report again.
 */
#ifndef RF_REPORT_COMMAND_H
#define RF_REPORT_COMMAND_H

#include <glib.h>
#include "base/option.h"

/* Quoted where a shell needs it.  Caller frees. */
char *rf_shell_word(const char *text);
/* Append "--name value" of every option that is not at its default, one element an option. */
void rf_command_options(GPtrArray *list, const struct rf_option *table, const void *block,
                        const void *defaults);
/* The elements after a label of so many columns ("" for none), wrapped at `columns' with what a shell
 * takes as a continued line. */
void rf_command_lines(GString *out, const char *label, unsigned indent, unsigned columns,
                      const GPtrArray *list);

#endif
