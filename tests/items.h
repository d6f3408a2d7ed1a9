/* SPDX-License-Identifier: MIT
 * For tests of importers: what comes out of some bytes, as text.
 */
#ifndef TESTS_ITEMS_H
#define TESTS_ITEMS_H

#include "traces/trace.h"

struct items {
	GString *text;   /* a line an event or run, as put_items describes */
	GString *events; /* the lines of events alone */
	struct rf_totals totals;
	GString *skipped; /* "N reason; …" */
	struct rf_header header;
	GError *error; /* or NULL; then all the rest is what came before it */
};

/* Import bytes from memory and write down what comes:
 *   TYPE TID VPN [xCOUNT]     VPN hexadecimal; TYPE R W X, "+" before it: the access goes on
 *   an event's name, then the members that it uses */
void items_read(struct items *it, const void *data, size_t len,
                const struct rf_source_options *opt);
void items_clear(struct items *it);

#endif
