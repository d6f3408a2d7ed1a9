/* SPDX-License-Identifier: MIT
 * memset: an allocator that initialises its memory does it in user space, over the whole of a new
 * mapping: every page is faulted in, zeroed by the kernel and written by the program.
 */
#include "policies/fill/fill.h"

struct options { gboolean anon; };

static const struct rf_option options[] = {
	{ .name = "anon", .type = RF_OPT_BOOL, .offset = offsetof(struct options, anon), .def = "no",
	  .help = "all anonymous mappings that can be written are allocator memory, not only those of a "
	          "reference page" },
	RF_OPTION_END
};

static enum rf_first_load load(const void *opt, gboolean pattern)
{
	(void)opt, (void)pattern;
	return RF_LOAD_ZERO_PAGE;
}

static gboolean program_writes(const void *opt, gboolean pattern)
{
	return pattern || ((const struct options *)opt)->anon;
}

const struct rf_fill_ops rf_fill_memset = {
	.name = "memset", .summary = "the program writes a pattern over the whole of new allocator memory",
	.options = options,
	.options_size = sizeof(struct options),
	.load = load,
	.init = rf_fill_zeroed,
	.program_writes = program_writes,
};
