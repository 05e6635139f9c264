// SPDX-License-Identifier: BSD-3-Clause
// Maps control blocks (rank/control_block.hpp). A view is the mapping of one block in the address
// space: the whole ControlBlock, then the offer table and the watch table (`tables`). The file has
// the same parts in another order: chunks of `more_teams` are appended when teams need them. So the
// block takes about 4 MB of the file of a rank with few teams. Room for all teams would be 115 MB,
// which can exceed the limit of file sizes (ulimit -f).
//
//     file    | up to more_teams | tables | segments | chunk | segments | chunk ...
//     view    | up to more_teams | chunks of more_teams, reserved until they are mapped | tables |
#pragma once

#include "memory/file.hpp"
#include "rank/rank.hpp"

namespace sennit::memory {

// The sizes of a view, and of the file before any segment, in a world of `size` ranks.
std::uint64_t control_view_bytes(std::uint64_t size);
std::uint64_t control_file_bytes(std::uint64_t size);

// Maps a view of the block in `file`, of this rank or of a peer, without chunks. Errors: NOMEM.
sennit_status control_map(int file, std::uint64_t size, ControlBlock **control);
void control_unmap(ControlBlock *control, std::uint64_t size);

// The number of chunks that the owner has made.
std::uint32_t control_chunks(const ControlBlock &control);
// The number of team slots, slot 0 included, in a block with so many chunks.
constexpr std::uint32_t control_slots(std::uint32_t chunks) {
    return static_cast<std::uint32_t>(1 + kFirstTeams + kTeamsPerChunk * chunks);
}

// Makes chunks of this rank's own block until it has `chunks` of them. Called with the rank's cold
// mutex (Rank::cold) held. Errors: NOMEM, OS.
sennit_status control_grow(Rank &rank, std::uint32_t chunks);

// Maps the chunk with the team slot into the view of the peer's block, if this rank has a view. The
// peer has made the chunk. Called with the rank's cold mutex held. Errors: NOMEM.
sennit_status control_reach(Rank &rank, int peer, std::uint32_t team_slot);

}  // namespace sennit::memory
