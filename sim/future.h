/* SPDX-License-Identifier: MIT
 * When pages are used next, for policies that know the future (RF_POLICY_FUTURE): a backward pass
 * over the trace writes positions to a temporary file, the replay reads them along.  Memory goes
 * with the number of pages, not with the length of the trace.  Positions count uses: a run of
 * accesses is one use of its page, read(2) and write(2) are one use of each page that they touch.
 * Only their order means anything.  A page that is freed (munmap, exec, exit, MADV_DONTNEED,
 * truncation) before it is used again has no next use.
 */
#ifndef RF_FUTURE_H
#define RF_FUTURE_H

#include "traces/trace.h"

#define RF_NEVER UINT64_MAX

struct rf_future;

/* Read the source, which is spooled or seekable, forward once and backward once; it is rewound
 * afterwards.  page_shift: of the run's pages, at least that of the trace's granule. */
struct rf_future *rf_future_new(struct rf_source *source, unsigned page_shift, GError **error);
void rf_future_free(struct rf_future *f);

/* The replay comes to the source's next item; machines that are given the same item may then
 * ask: */
gboolean rf_future_item(struct rf_future *f, const struct rf_item *item, GError **error);
/* Next uses after that item's: of a runs item one a run; of a read or write event one a page,
 * in the order of the file.  Valid until the next item. */
const uint64_t *rf_future_next(const struct rf_future *f);
/* How many they are. */
uint64_t rf_future_count(const struct rf_future *f, const struct rf_item *item);

/* A view answers rf_future_next with what it was given last, for a machine that is fed with copies
 * of the items at a time of its own. */
struct rf_future *rf_future_view(void);
void rf_future_show(struct rf_future *view, const uint64_t *next);

/* Page sizes that a run can have: 4, 16 and 64 KiB.  Machines of one size share a future. */
#define RF_FUTURES 3
struct rf_futures {
	struct rf_future *by_size[RF_FUTURES];
};
static inline unsigned rf_futures_index(unsigned page_shift)
{
	return (page_shift - 12) / 2;
}
/* Make the one of a page size if there is none yet; the source is rewound afterwards. */
gboolean rf_futures_add(struct rf_futures *f, struct rf_source *source, unsigned page_shift,
                        GError **error);
/* rf_future_item of all. */
gboolean rf_futures_item(struct rf_futures *f, const struct rf_item *item, GError **error);
void rf_futures_clear(struct rf_futures *f);

#endif
