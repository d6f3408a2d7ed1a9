/* SPDX-License-Identifier: MIT
 * Lines and tables of a report for people: a label, then cells ranged right.
 */
#ifndef RF_CELLS_H
#define RF_CELLS_H

#include <glib.h>
#include <stdint.h>

#define RF_COLUMNS 79
#define RF_LABEL 14 /* width of the first column */
#define RF_CELL 13  /* of the others: a label and five of them fill the line */

void rf_label(GString *out, const char *text);
/* A label that a trace gave: control characters go, a long one has a line of its own. */
void rf_foreign_label(GString *out, const char *text);
/* An empty line, then the name of a table and of its columns (NULL-terminated). */
void rf_table_head(GString *out, const char *name, const char *const *columns);

void rf_cell(GString *out, const char *text);
void rf_count_cell(GString *out, uint64_t n);
void rf_size_cell(GString *out, uint64_t n);
/* part of whole in percent; "-" of nothing.  Rounded, but only all of it is 100. */
void rf_share_cell(GString *out, uint64_t part, uint64_t whole, unsigned decimals);
char *rf_share_text(uint64_t part, uint64_t whole, unsigned decimals); /* caller frees */

/* "label   a 1, b 2" of the facts that are not zero, wrapped; nothing when all are. */
struct rf_fact {
	const char *name;
	uint64_t n;
};
void rf_facts_line(GString *out, const char *name, const struct rf_fact *f, size_t n);

#endif
