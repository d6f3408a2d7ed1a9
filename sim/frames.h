/* SPDX-License-Identifier: MIT
 * The ideal machine of --frames N: exactly N page frames, nothing else charged, a fault is a miss.
 * For comparison with cache simulators: each page of each address space is a page of its own (no
 * zero page, no copy-on-write, no files shared between mappings, no readahead), and so is each
 * page of a file that read(2) or write(2) touches.  What is evicted can always be had back.
 * munmap, exec, exit, MADV_DONTNEED and truncation free pages.  There is no time: an access takes
 * a nanosecond by definition, for timelines.  The accessed bit that reclaim sees is clear after a
 * miss and set by a hit, as cache algorithms have it; for policies that imitate the kernel
 * (RF_POLICY_KERNEL) the missing access sets it as well, as hardware does when it restarts the
 * instruction.
 */
#ifndef RF_FRAMES_H
#define RF_FRAMES_H

#include "sim/config.h"
#include "sim/future.h"
#include "sim/result.h"
#include "sim/skim.h"
#include "traces/trace.h"

struct rf_frames;

/* As in sim/machine.h. */
struct rf_frames *rf_frames_new(const struct rf_config *cfg, const struct rf_totals *totals,
                                GError **error);
void rf_frames_free(struct rf_frames *m);
gboolean rf_frames_item(struct rf_frames *m, const struct rf_item *item, GError **error);
gboolean rf_frames_skim(struct rf_frames *m, const struct rf_item *item,
                        const struct rf_skim *skim);
gboolean rf_frames_finish(struct rf_frames *m, struct rf_result *out, GError **error);
void rf_frames_sample(struct rf_frames *m, struct rf_sample *out);

/* Does the policy want to know the future?  Then set it before the first item, and let it
 * follow the items (rf_future_item) before the machine does. */
gboolean rf_frames_needs_future(const struct rf_frames *m);
void rf_frames_set_future(struct rf_frames *m, const struct rf_future *future);

/* What the policy makes of each refault (host->estimated); sizes: of its lists then, as sizes() gives
 * them.  NULL turns it off. */
typedef void (*rf_frames_estimated)(void *self, uint32_t page, gboolean file, uint64_t distance,
                                    uint64_t limit, const uint64_t sizes[4]);
void rf_frames_observe(struct rf_frames *m, rf_frames_estimated estimated, void *self);

/* Verify every invariant; aborts with a message.  Programs built with RF_CHECKED do it after
 * each item; tests may do it when they like. */
void rf_frames_check(struct rf_frames *m);

#endif
