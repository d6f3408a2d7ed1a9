/* SPDX-License-Identifier: MIT
 * What members of the account seam share: sizes by word size and by the release whose layout it is.
 */
#ifndef RF_ACCOUNT_LAYOUT_H
#define RF_ACCOUNT_LAYOUT_H

#include "policies/seams.h"

struct rf_account_options {
	int bits; /* index: 0 is 64 */
	int lock; /* index: auto, no, yes */
	int64_t bytes;
	uint64_t holes;
	gboolean disabled, padded;
};

#define RF_ACCOUNT_OFF(member) offsetof(struct rf_account_options, member)
#define RF_ACCOUNT_BITS \
	{ .name = "bits", .type = RF_OPT_ENUM, .offset = RF_ACCOUNT_OFF(bits), .def = "64", .choices = "64,32", \
	  .help = "word size of the machine" }
#define RF_ACCOUNT_BYTES(otherwise) \
	{ .name = "bytes", .type = RF_OPT_INT, .offset = RF_ACCOUNT_OFF(bytes), .unit = "bytes", .def = otherwise, \
	  .max = 4096, .help = "of the description of a page on 64 bits, half of it on 32; 0: as in --kernel: 40, " \
	                       "since 2.6.39 32, since 3.3 16" }
#define RF_ACCOUNT_DISABLED \
	{ .name = "disabled", .type = RF_OPT_BOOL, .offset = RF_ACCOUNT_OFF(disabled), .def = "no", \
	  .help = "the controller was built in and disabled at boot" }
#define RF_ACCOUNT_PADDED \
	{ .name = "padded", .type = RF_OPT_BOOL, .offset = RF_ACCOUNT_OFF(padded), .def = "no", \
	  .help = "page descriptors are padded to a cache line of 64 bytes" }
#define RF_ACCOUNT_LOCK \
	{ .name = "lock", .type = RF_OPT_ENUM, .offset = RF_ACCOUNT_OFF(lock), .def = "auto", .choices = "auto,no,yes", \
	  .help = "a bit of the description is a lock, taken whenever it is used; auto: before 3.17" }
/* Of the members that have a description for each page. */
#define RF_ACCOUNT_COMMON(bytes) RF_ACCOUNT_BITS, RF_ACCOUNT_BYTES(bytes), RF_ACCOUNT_DISABLED, RF_ACCOUNT_LOCK

/* Bytes of what takes so many on 64 bits. */
static inline uint32_t rf_account_words(const struct rf_account_options *o, uint64_t bytes)
{
	return (uint32_t)(o->bits ? bytes / 2 : bytes);
}

/* Of the description of a page. */
static inline uint32_t rf_account_bytes(const struct rf_account_options *o, const struct rf_host *host)
{
	uint64_t bytes = (uint64_t)o->bytes;

	if (!bytes)
		bytes = host->kernel >= RF_KERNEL(3, 3, 0) ? 16 : host->kernel >= RF_KERNEL(2, 6, 39) ? 32 : 40;
	return rf_account_words(o, bytes);
}

/* The page descriptor without a pointer in it, and how to get at the description from there; disabled,
 * nobody does. */
static inline void rf_account_begin(const struct rf_account_options *o, const struct rf_host *host,
                                    struct rf_account_layout *l)
{
	l->struct_page = o->padded ? RF_CACHE_LINE : o->bits ? 32 : 56;
	l->stride = l->struct_page;
	l->none = o->disabled;
	if (o->disabled)
		return;
	l->lines_64 = rf_lines_64(rf_account_bytes(o, host));
	l->atomics = o->lock ? o->lock - 1u : host->kernel < RF_KERNEL(3, 17, 0);
}

#endif
