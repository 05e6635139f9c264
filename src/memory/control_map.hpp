// SPDX-License-Identifier: BSD-3-Clause
// Maps control blocks. In the address space, a view has the layout of ControlBlock and then the
// offer table. In the file, chunks of `more_teams` are appended when they are needed: 4 MB are
// enough for ranks with few teams, while room for all teams would be 115 MB and exceed many limits
// (ulimit -f).
//
//     file    | up to more_teams | offers | segments | chunk | segments | chunk ...
//     view    | up to more_teams | chunks of more_teams, reserved until they are mapped | offers |
#pragma once

#include "memory/file.hpp"
#include "rank/rank.hpp"

namespace sennit::memory {

// The sizes of a view, and of the file before any segment, in a world of `size` ranks.
std::uint64_t control_view_bytes(std::uint64_t size);
std::uint64_t control_file_bytes(std::uint64_t size);

// Maps a view without chunks, of the owner or a peer. Errors: NOMEM, OS.
sennit_status control_map(int file, std::uint64_t size, ControlBlock **control);
void control_unmap(ControlBlock *control, std::uint64_t size);

// The number of chunks that the owner has made.
std::uint32_t control_chunks(const ControlBlock &control);
// The first team slot that a block with so many chunks lacks.
constexpr std::uint32_t control_slots(std::uint32_t chunks) {
    return static_cast<std::uint32_t>(1 + kFirstTeams + kTeamsPerChunk * chunks);
}

// Makes chunks of this rank's own block until it has `chunks` of them. Called with the cold mutex
// held. Errors: NOMEM, OS.
sennit_status control_grow(Rank &rank, std::uint32_t chunks);

// Maps the peer's chunk that has the team slot, if load and store reach the peer's block. The peer
// has made the chunk. Called with the cold mutex held. Errors: NOMEM, OS.
sennit_status control_reach(Rank &rank, int peer, std::uint32_t team_slot);

}  // namespace sennit::memory
