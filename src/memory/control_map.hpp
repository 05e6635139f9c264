// SPDX-License-Identifier: BSD-3-Clause
// The control block in its file and in the address space. Every view has the layout of ControlBlock
// followed by the offer table, whatever part the file has. A file of 4 MB is enough for ranks with
// few teams; one with room for all teams would have 115 MB and exceed many limits (ulimit -f).
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

// The number of the owner's chunks, and the limit of its team slots.
std::uint32_t control_chunks(const ControlBlock &control);
constexpr std::uint32_t control_slots(std::uint32_t chunks) {
    return static_cast<std::uint32_t>(1 + kFirstTeams + kTeamsPerChunk * chunks);
}

// Called by the owner: makes chunks up to that number. With the cold mutex held. Errors: NOMEM, OS.
sennit_status control_grow(Rank &rank, std::uint32_t chunks);

// Maps the chunk of a team slot of a peer that has made it, if load and store reach the peer's
// block. With the cold mutex held. Errors: NOMEM, OS.
sennit_status control_reach(Rank &rank, int peer, std::uint32_t team_slot);

}  // namespace sennit::memory
