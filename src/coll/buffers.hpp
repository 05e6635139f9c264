// SPDX-License-Identifier: BSD-3-Clause
// The places of the members' buffers: a rank posts a BufferDescription, and the others access its
// buffers. Used by in_place.cpp, fold_in_place.cpp and nodes.cpp.
#pragma once

#include "coll/state.hpp"
#include "op/engine.hpp"

namespace sennit::coll {

// Memory of a member: at an address for load and store, or at a global pointer.
struct Where {
    std::byte *address;  // null: use the global pointer
    sennit_gptr place;
};

struct Buffers {
    Where source;
    Where destination;
};

// The Buffers of all members of a reduction must fit into half of the scratch.
inline constexpr std::size_t kMostFolded = kScratchBytes / sizeof(Buffers);

// Describes this rank's buffers, and registers private ones for the duration of the call if the
// kernel or messages may copy from them for peers. True if peers may use them in place.
bool describe_buffers(TeamState &state, OpenCall &operation, BufferDescription *description);

// Whether the sender describes the place of each block, because the receivers do not know it.
bool has_extents(const Call &call);
// Writes the place of each member's block after the description in `payload`.
void write_extents(const TeamState &state, const Call &call, std::byte *payload);

// Finds the buffers that the member has described.
sennit_status buffers_of(TeamState &state, const OpenCall &operation, std::uint32_t member,
                         Buffers *out);
// The offset of this rank's block in the member's source.
sennit_status source_offset(TeamState &state, const OpenCall &operation, std::uint32_t member,
                            std::uint64_t *offset);

// Finds the address if load and store reach it.
sennit_status find_address(Rank &rank, Where *where);

// Copies between local memory and the place `offset` bytes after `where`.
sennit_status copy(Rank &rank, op::Direction direction, const Where &where, std::uint64_t offset,
                   void *local, std::size_t bytes);
// Copies to `to` at once if load and store or the kernel reach the place: then *request is {0}.
// Otherwise starts a get, and `to` is in use until the request is complete.
sennit_status start_get(Rank &rank, const Where &where, std::uint64_t offset, const Block &to,
                        sennit_request *request);

}  // namespace sennit::coll
