/* SPDX-License-Identifier: MIT
 * What members of the account seam share: sizes by word size and by the release whose layout it is.
 */
#ifndef RF_ACCOUNT_LAYOUT_H
#define RF_ACCOUNT_LAYOUT_H

#include "policies/seams.h"

struct rf_account_options {
	int bits; /* index: 0 is 64 */
	int64_t bytes;
	uint64_t holes;
	gboolean disabled;
};

#define RF_ACCOUNT_OFF(member) offsetof(struct rf_account_options, member)
#define RF_ACCOUNT_BITS \
	{ .name = "bits", .type = RF_OPT_ENUM, .offset = RF_ACCOUNT_OFF(bits), .def = "64", .choices = "64,32", \
	  .help = "word size of the machine" }
#define RF_ACCOUNT_BYTES(otherwise) \
	{ .name = "bytes", .type = RF_OPT_INT, .offset = RF_ACCOUNT_OFF(bytes), .unit = "bytes", .def = otherwise, \
	  .max = 4096, .help = "of the description of a page on 64 bits, half of it on 32; 40 in 2.6.28, 32 in " \
	                       "2.6.39, 16 in 3.3" }
#define RF_ACCOUNT_DISABLED \
	{ .name = "disabled", .type = RF_OPT_BOOL, .offset = RF_ACCOUNT_OFF(disabled), .def = "no", \
	  .help = "the controller was built in and disabled at boot" }

/* Bytes of what takes so many on 64 bits. */
static inline uint32_t rf_account_words(const struct rf_account_options *o, uint64_t bytes)
{
	return (uint32_t)(o->bits ? bytes / 2 : bytes);
}

/* The page descriptor without a pointer in it. */
static inline uint32_t rf_account_bare(const struct rf_account_options *o)
{
	return o->bits ? 32 : 56;
}

#endif
