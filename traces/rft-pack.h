/* SPDX-License-Identifier: MIT
 * Frames of a .rft on their way into the file: encoded, compressed and written by a thread of their
 * own while the next one is gathered.
 */
#ifndef RF_RFT_PACK_H
#define RF_RFT_PACK_H

#include "traces/rft.h"
#include "traces/sink.h"

/* A frame that is gathered; of head, all that its runs and events say. */
struct rft_gathered {
	struct rft_frame head;
	struct rft_encoder runs;
	GByteArray *names, *events;
};

/* Writes chunks and frames in the order given, and keeps count of where they are. */
struct rft_packer;
/* sparse: bytes count, not speed; runs_max: in a frame. */
struct rft_packer *rft_packer_new(struct rf_sink *s, int level, gboolean sparse, uint32_t runs_max);
void rft_packer_free(struct rft_packer *p);

/* The empty frame that comes first. */
struct rft_gathered *rft_packer_first(struct rft_packer *p);
/* Take a frame with at least a run or an event, and give an empty one.  NULL: that frame, or one
 * before it, can't be written. */
struct rft_gathered *rft_packer_frame(struct rft_packer *p, struct rft_gathered *g, GError **error);
/* Take the last frame, which may be empty, and wait until all is written. */
gboolean rft_packer_last(struct rft_packer *p, struct rft_gathered *g, GError **error);

/* The rest is for before the first frame and after the last one. */
/* Ends the chunk and writes it. */
gboolean rft_packer_chunk(struct rft_packer *p, GByteArray *a, GError **error);
uint64_t rft_packer_offset(const struct rft_packer *p);
uint64_t rft_packer_chain(const struct rft_packer *p);
const GByteArray *rft_packer_index(const struct rft_packer *p);

#endif
