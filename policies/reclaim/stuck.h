/* SPDX-License-Identifier: MIT
 * For algorithms that choose a queue by its size: the host may turn down every page of a queue, being
 * written, without room in swap, and a choice that does not change then has tasks killed for it.
 */
#ifndef RF_STUCK_H
#define RF_STUCK_H

#include "policies/policy.h"

/* failed: proposals in a row that were turned down; cleared when a page comes or goes. */

/* All of the queue that is next was asked, and there are others to ask. */
static inline gboolean rf_stuck(uint32_t failed, uint32_t next, uint32_t others)
{
	return failed >= next && others;
}

/* Another was turned down.  When all were asked it begins again. */
static inline void rf_stuck_kept(uint32_t *failed, uint32_t resident)
{
	if (++*failed >= resident)
		*failed = 0;
}

#endif
