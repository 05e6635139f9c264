// SPDX-License-Identifier: BSD-3-Clause
// The memory of the halves of channels. A rank's own halves are in chunks of its memory file and
// are reused. Peers' halves are reached through views of their chunks. A view is a mapping of the
// peer's memory file, whichever path the peer's data has. If both ranks are in one process and have
// no descriptors of each other, the view is the peer's address. The pool owns chunks and views,
// which exist until the rank ends.
//
// After this rank has closed a channel, the peer may still write to this rank's half. The half is
// resting: it is not reused until the peer has closed too or is gone.
#pragma once

#include "channel/words.hpp"
#include "rank/rank.hpp"

namespace sennit::channel {

// A chunk of this rank, and a view of a peer's chunk: pool.cpp.
struct OwnChunk;
struct PeerChunk;

struct Pool {
    OwnChunk *chunks = nullptr;
    std::uint32_t chunk_count = 0;
    PeerChunk *views = nullptr;
    std::uint32_t view_count = 0;
};

// Called after memory::segments_close(), which ensures that no peer reaches a chunk by its address.
void pool_close(Pool &pool);

// The following need the rank's cold mutex.

// A half for a channel with `peer`, zeroed. Errors: NOMEM, OS.
sennit_status half_take(Rank &rank, Pool &pool, int peer, std::uint32_t *half);
Half *half_at(Pool &pool, std::uint32_t half);
// For a half to which the peer does not write, since the channel was never open.
void half_give_back(Pool &pool, std::uint32_t half);
// For a half to which the peer may still write.
void half_retire(Pool &pool, std::uint32_t half);

// Writes the place of the half into the offer to its peer.
void half_describe(const Pool &pool, std::uint32_t half, ChannelOffer *offer);
// Finds the half that the peer's offer describes. Errors: NOMEM, OS, UNSUPPORTED.
sennit_status half_of_peer(Rank &rank, Pool &pool, int peer, const ChannelOffer &offer,
                           Half **half);

}  // namespace sennit::channel
