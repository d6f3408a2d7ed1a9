/* SPDX-License-Identifier: MIT
 * What members of the fill seam share.
 */
#ifndef RF_FILL_H
#define RF_FILL_H

#include "policies/seams.h"

/* How the kernel puts a pattern onto a fresh page.  ORDER choices of RF_FILL_OPTIONS. */
enum rf_fill_how { RF_FILL_AUTO, RF_FILL_COPY, RF_FILL_BYTE, RF_FILL_TAG };

struct rf_fill_options {
	int how;
	gboolean double_init;
};

#define RF_FILL_OPTIONS \
	{ .name = "how", .type = RF_OPT_ENUM, .offset = offsetof(struct rf_fill_options, how), .def = "auto", \
	  .choices = "auto,copy,byte,tag", \
	  .help = "how a pattern gets onto a page: copied, a byte stored all over, or zeroed with tags; " \
	          "auto: byte for patterns of one byte, else copy" }, \
	{ .name = "double_init", .type = RF_OPT_BOOL, .offset = offsetof(struct rf_fill_options, double_init), \
	  .def = "no", .help = "the page is zeroed before the pattern is written, as every other page" }

static inline uint64_t rf_fill_zeroed(const void *opt, struct rf_fresh *fresh)
{
	(void)opt;
	return fresh->zero;
}

/* Memory with a pattern is filled once (or twice); the rest is zeroed. */
static inline uint64_t rf_fill_patterned(const void *opt, struct rf_fresh *fresh)
{
	const struct rf_fill_options *o = opt;
	int how = o->how ? o->how : fresh->period == 1 ? RF_FILL_BYTE : RF_FILL_COPY;

	if (!fresh->pattern)
		return fresh->zero;
	fresh->filled = TRUE;
	return (how == RF_FILL_COPY ? fresh->copy : how == RF_FILL_BYTE ? fresh->fill : fresh->zero) +
	       (o->double_init ? fresh->zero : 0);
}

#endif
