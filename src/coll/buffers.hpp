// SPDX-License-Identifier: BSD-3-Clause
// Where members' buffers lie: what a rank says of its own in its letter, and how another one gets
// at them. Used by in_place.cpp.
#pragma once

#include "coll/state.hpp"
#include "op/engine.hpp"

namespace sennit::coll {

// Memory of a member: at an address where this rank can load and store, or at a global pointer.
struct Where {
    std::byte *address;  // null: by global pointer
    sennit_gptr place;
};

struct Buffers {
    Where source;
    Where destination;
};

// Those of all members of a reduction have to fit into half of the scratch.
inline constexpr std::size_t kMostFolded = kScratchBytes / sizeof(Buffers);

// Fills in where this rank's buffers lie, and registers private ones for the time of the call if
// the kernel, or messages, may copy from them for peers. True if peers may use them there.
bool describe_buffers(TeamState &state, OpenCall &operation, CollLetter *letter);

// Is each block's place told by the sender, because the receivers do not know it?
bool has_extents(const Call &call);
// Behind the letter in `payload`: where the block of each member lies.
void write_extents(const TeamState &state, const Call &call, std::byte *payload);

// From the member's letter.
sennit_status buffers_of(TeamState &state, const OpenCall &operation, std::uint32_t member,
                         Buffers *out);
// Where the block for this rank begins in the source that the letter names.
sennit_status source_offset(TeamState &state, const OpenCall &operation, std::uint32_t member,
                            std::uint64_t *offset);

// Finds the address if load and store lead there.
sennit_status find_address(Rank &rank, Where *where);

// Copies between local memory and what lies `offset` behind `where`.
sennit_status copy(Rank &rank, op::Direction direction, const Where &where, std::uint64_t offset,
                   void *local, std::size_t bytes);

}  // namespace sennit::coll
