// SPDX-License-Identifier: BSD-3-Clause
// Where the halves of channels lie. A rank's own halves are in chunks of its memory file, handed
// out and used again; those of its peers are reached by a view of their chunks: the file mapped
// here, whatever the path to the peer's data is, or the address where both ranks are of one process
// and have no descriptors of each other. Owns chunks and views; all of them live until the rank
// ends.
//
// A half that was in use may still be written to by its peer, who need not have closed yet. It
// rests until the peer's mark says that its last write is done, or the peer is gone.
#pragma once

#include "channel/words.hpp"
#include "rank/rank.hpp"

namespace sennit::channel {

// A chunk of the rank's own, and one of a peer's as it is reached from here: pool.cpp.
struct OwnChunk;
struct PeerChunk;

struct Pool {
    OwnChunk *chunks = nullptr;
    std::uint32_t chunk_count = 0;
    PeerChunk *views = nullptr;
    std::uint32_t view_count = 0;
};

// After memory::segments_close(), which sees to it that no peer comes to a chunk by its address.
void pool_close(Pool &pool);

// The following need the rank's cold mutex.

// A half for a channel with `peer`, zeroed. Errors: NOMEM, OS.
sennit_status half_take(Rank &rank, Pool &pool, int peer, std::uint32_t *half);
Half *half_at(Pool &pool, std::uint32_t half);
// The peer never knew of it.
void half_give_back(Pool &pool, std::uint32_t half);
// The peer may still write to it.
void half_retire(Pool &pool, std::uint32_t half);

// Where the half is, for its peer.
void half_describe(const Pool &pool, std::uint32_t half, ChannelOffer *offer);
// The half of `peer` that its offer describes. Errors: NOMEM, OS, UNSUPPORTED.
sennit_status half_of_peer(Rank &rank, Pool &pool, int peer, const ChannelOffer &offer,
                           Half **half);

}  // namespace sennit::channel
