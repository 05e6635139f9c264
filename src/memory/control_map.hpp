// SPDX-License-Identifier: BSD-3-Clause
// The control block in its file and in the address space. Every view has the layout of ControlBlock
// with the desk behind it, whatever of it the file has: a file of 4 MB serves ranks with few teams,
// where one with room for all teams would have 115 MB and not fit under many limits (ulimit -f).
//
//     file    | up to more_teams | desk | segments | chunk | segments | chunk ...
//     view    | up to more_teams | chunks of more_teams, reserved until they are mapped | desk |
#pragma once

#include "memory/file.hpp"
#include "rank/rank.hpp"

namespace sennit::memory {

// Of the address space, and of the file before any segment, in a world of `size` ranks.
std::uint64_t control_view_bytes(std::uint64_t size);
std::uint64_t control_file_bytes(std::uint64_t size);

// A view, of the owner or of a peer, without chunks. Errors: NOMEM, OS.
sennit_status control_map(int file, std::uint64_t size, ControlBlock **control);
void control_unmap(ControlBlock *control, std::uint64_t size);

// How many chunks the owner has made, and the slots below which it can have teams.
std::uint32_t control_chunks(const ControlBlock &control);
constexpr std::uint32_t control_slots(std::uint32_t chunks) {
    return static_cast<std::uint32_t>(1 + kFirstTeams + kTeamsPerChunk * chunks);
}

// The owner makes chunks until it has that many. With the cold mutex held. Errors: NOMEM, OS.
sennit_status control_grow(Rank &rank, std::uint32_t chunks);

// Maps the chunk with the words of a team slot, of a peer that has made it, if load and store reach
// the peer's block. With the cold mutex held. Errors: NOMEM, OS.
sennit_status control_reach(Rank &rank, int peer, std::uint32_t team_slot);

}  // namespace sennit::memory
