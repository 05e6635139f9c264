// SPDX-License-Identifier: BSD-3-Clause
// Calls with large blocks, or with a size for each block: each rank first posts a
// BufferDescription. If all needed buffers can be used in place, the members read and write each
// other's buffers, and synchronise before any member reuses its own. Otherwise the call continues
// with the slots. The descriptions also contain sizes that only one side knows.
//
// Work that one member could do alone is divided if peers may write into the destinations. Members
// copy blocks between the root and themselves, and the root copies a part of each block if it need
// not copy its own. A reduced vector is cut into one part per member.
#include <algorithm>
#include <cstring>

#include "base/copy.hpp"
#include "base/fail.hpp"
#include "coll/buffers.hpp"
#include "coll/state.hpp"
#include "memory/segments.hpp"
#include "op/engine.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {
namespace {

// Checks that `member` and this rank have the same size for the block from `member`.
sennit_status check_size(TeamState &state, const OpenCall &operation, std::uint32_t member,
                         const BufferDescription &description) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    if (!has_sizes(call.kind) || !reads(call, own, member)) return SENNIT_OK;
    std::uint64_t sent = description.most_bytes;
    if (has_own_blocks(call.kind)) {
        if (state.team->size > kMostBufferExtents) return SENNIT_OK;
        BufferExtent extent{};
        const sennit_status status =
            fetch(state, operation, member,
                  {sizeof(BufferDescription) + own * sizeof extent, sizeof extent}, &extent);
        if (status != SENNIT_OK) return status;
        sent = extent.bytes;
    }
    const std::size_t wanted = block_from(call, *state.team, member).bytes;
    if (sent == wanted || (call.in_place && member == own)) return SENNIT_OK;
    const int peer = state.team->world_ranks[member];
    return fail_peer(SENNIT_ERR_ARG, peer, "",
                     "rank %d sends a block of %llu byte%s, this rank expects %zu byte%s", peer,
                     static_cast<unsigned long long>(sent), plural(sent), wanted, plural(wanted));
}

using op::Direction;

// ---- Blocks that their receivers copy.

// The most blocks that are fetched by messages at a time.
constexpr std::size_t kMostGets = 16;

// Copies the member's block at once if load and store or the kernel reach it. Otherwise starts a
// get.
sennit_status start_copy_from(TeamState &state, OpenCall &operation, std::uint32_t member,
                              sennit_request *request) {
    const Block to = block_from(operation.call, *state.team, member);
    Buffers buffers{};
    std::uint64_t offset = 0;
    sennit_status status = buffers_of(state, operation, member, &buffers);
    if (status == SENNIT_OK) status = source_offset(state, operation, member, &offset);
    if (status != SENNIT_OK) return status;
    return start_get(*state.rank, buffers.source, offset, to, request);
}

sennit_status end_get(Rank &rank, sennit_request *request) {
    if (request::is_null(*request)) return SENNIT_OK;
    const sennit_status status = request::wait(rank, request, default_deadline());
    // After a timeout the get may still write into the buffer. sennit_flush waits for its end.
    if (!request::is_null(*request)) op::engine_abandon(rank, *request);
    *request = SENNIT_REQUEST_NULL;
    return status;
}

// Starts with the blocks of other nodes: they arrive while this rank copies its own block and those
// of its node.
void copy_from_all(TeamState &state, OpenCall &operation) {
    const std::uint32_t own = state.team->rank;
    Rank &rank = *state.rank;
    sennit_request gets[kMostGets] = {};
    std::size_t count = 0;
    for (const bool same_node : {false, true}) {
        if (same_node) note(operation, copy_own_block(state, operation.call));
        for (std::uint32_t place = 1; place < state.size; ++place) {
            const std::uint32_t member = (own + place) % state.size;
            const bool is_near = rank.peers[state.team->world_ranks[member]].same_node;
            if (is_near != same_node || !reads(operation.call, own, member)) continue;
            if (operation.status != SENNIT_OK) break;
            sennit_request *const get = &gets[count++ % kMostGets];
            note(operation, end_get(rank, get));
            note(operation, start_copy_from(state, operation, member, get));
        }
    }
    for (sennit_request &get : gets)
        note(operation, end_get(rank, &get));
}

// ---- Blocks between the root and the others; both ends copy.

// The number of bytes of each block that the root copies. It is 0 if the root must copy its own
// block, which is as much work as each member has. Otherwise it is about 1/size of the block, so
// that all members copy equally much; in whole pages, which the kernel copies best.
std::size_t part_of_root(const OpenCall &operation, const team::Team &team) {
    constexpr std::size_t kPage = 4096;
    const bool has_own = operation.call.kind != Kind::broadcast && !operation.own_stays;
    return has_own ? 0 : operation.call.bytes / team.size / kPage * kPage;
}

// The root copies the last bytes of a block, the member the others.
sennit_status copy_as_root(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    const team::Team &team = *state.team;
    const std::size_t part = part_of_root(operation, team);
    if (part == 0) return SENNIT_OK;
    const std::size_t first = call.bytes - part;
    const bool gives = from_root(call.kind);
    for (std::uint32_t place = 1; place < team.size; ++place) {
        const std::uint32_t member = (team.rank + place) % team.size;
        Buffers buffers{};
        const sennit_status status = buffers_of(state, operation, member, &buffers);
        if (status != SENNIT_OK) return status;
        const Block block = gives ? block_for(call, team, member) : block_from(call, team, member);
        // After an error with one member, continue with the others.
        note(operation,
             copy(*state.rank, gives ? Direction::put : Direction::get,
                  gives ? buffers.destination : buffers.source, first, block.memory + first, part));
    }
    return SENNIT_OK;
}

sennit_status copy_as_member(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    const team::Team &team = *state.team;
    const std::size_t bytes = call.bytes - part_of_root(operation, team);
    Buffers buffers{};
    std::uint64_t offset = 0;
    sennit_status status = buffers_of(state, operation, call.root, &buffers);
    if (from_root(call.kind)) {
        if (status == SENNIT_OK) status = source_offset(state, operation, call.root, &offset);
        if (status != SENNIT_OK) return status;
        return copy(*state.rank, Direction::get, buffers.source, offset,
                    block_from(call, team, call.root).memory, bytes);
    }
    if (status != SENNIT_OK) return status;
    return copy(*state.rank, Direction::put, buffers.destination,
                static_cast<std::uint64_t>(call.bytes) * team.rank,
                block_for(call, team, call.root).memory, bytes);
}

// ---- Wide slots.

// Makes this rank's wide slots at their first use. Without memory for them the call uses the slots
// of full size.
bool has_wide_slots(TeamState &state) {
    if (!state.reaches_data) return false;
    if (state.wide_segment != 0) return true;
    const ColdLock lock(*state.rank);
    SegmentRecord *record = nullptr;
    const memory::SegmentArgs args{SegmentKind::slots, 0, kWideSlots * kWideBytes, 4096, 0};
    const sennit_error error = *thread_error();
    if (memory::segment_create(*state.rank, args, &record) != SENNIT_OK) {
        *thread_error() = error;
        return false;
    }
    // relaxed: the rank's own record, under its cold mutex.
    state.wide_segment = record->id.load(std::memory_order_relaxed);
    state.wide[state.team->rank] = reinterpret_cast<std::byte *>(record->owner_address);
    return true;
}

}  // namespace

sennit_status find_wide_slots(TeamState &state, OpenCall &operation) {
    if (!operation.can_be_wide) return SENNIT_OK;
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        if (state.wide[member] != nullptr) continue;
        BufferDescription description;
        sennit_status status =
            fetch(state, operation, member, {0, sizeof description}, &description);
        if (status != SENNIT_OK) return status;
        Where slots{nullptr, {state.team->world_ranks[member], description.wide_segment, 0}};
        status = find_address(*state.rank, &slots);
        if (status != SENNIT_OK) return status;
        state.wide[member] = slots.address;
    }
    operation.wide = true;
    return SENNIT_OK;
}

void drop_wide_slots(TeamState &state) {
    if (state.wide_segment == 0) return;
    const std::uint32_t slot = memory::index_of(state.wide_segment);
    const ColdLock lock(*state.rank);
    memory::segment_destroy(*state.rank, &state.rank->control->records[slot]);
    state.wide_segment = 0;
}

bool describes_first(const TeamState &state, const Call &call) {
    if (state.team->size == 1) return false;
    return has_sizes(call.kind) || call.bytes >= in_place_from(state, call);
}

void end_loan(TeamState &state, OpenCall &operation) {
    for (SegmentRecord *&record : operation.lent) {
        if (record == nullptr) continue;
        const ColdLock lock(*state.rank);
        memory::segment_destroy(*state.rank, record);
        record = nullptr;
    }
}

void write_description(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    std::byte *payload = payload_at(*state.own, {state.number + 1, SlotSize::full});
    BufferDescription description{};
    description.most_bytes = most_bytes(call, *state.team);
    if (describe_buffers(state, operation, &description)) description.flags |= kDescriptionInPlace;
    if (state.rank->shares_processors) description.flags |= kDescriptionSharesProcessor;
    if (call.in_place) description.flags |= kDescriptionOwnStays;
    if (has_wide_slots(state) && (!can_be_relayed(state, call) || stages_of(state) != nullptr)) {
        description.flags |= kDescriptionHasWide;
        description.wide_segment = state.wide_segment;
    }
    if (has_extents(call) && is_read(call, *state.team, state.team->rank) &&
        state.team->size <= kMostBufferExtents)
        write_extents(state, call, payload);
    std::memcpy(payload, &description, sizeof description);
}

sennit_status read_description(TeamState &state, OpenCall &operation, std::uint32_t member) {
    BufferDescription description;
    const sennit_status status =
        fetch(state, operation, member, {0, sizeof description}, &description);
    if (status != SENNIT_OK) return status;
    operation.most_bytes = std::max(operation.most_bytes, description.most_bytes);
    if ((description.flags & kDescriptionInPlace) == 0) operation.in_place = false;
    if ((description.flags & kDescriptionTakesPuts) == 0 && gets_result(operation.call, member))
        operation.divided = false;
    if ((description.flags & kDescriptionSharesProcessor) != 0) operation.shares_processors = true;
    if ((description.flags & kDescriptionHasWide) == 0) operation.can_be_wide = false;
    if (member == operation.call.root && (description.flags & kDescriptionOwnStays) != 0)
        operation.own_stays = true;
    // The others do not know of the error and continue. So this rank takes part to the end, and
    // then reports the error.
    note(operation, check_size(state, operation, member, description));
    return SENNIT_OK;
}

sennit_status work_in_place(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    // The call has failed, for example because two sizes differ: this rank copies nothing.
    if (operation.status != SENNIT_OK) return SENNIT_OK;
    if (!folds(call.kind) && !operation.divided) {
        copy_from_all(state, operation);
        return SENNIT_OK;
    }
    note(operation, copy_own_block(state, call));
    if (operation.status != SENNIT_OK) return SENNIT_OK;
    if (folds(call.kind)) {
        bool has_part = call.kind == Kind::scan_exclusive ? own > 0 : reads(call, own, own);
        if (operation.divided) has_part = true;
        return has_part ? fold_in_place(state, operation) : SENNIT_OK;
    }
    return own == call.root ? copy_as_root(state, operation) : copy_as_member(state, operation);
}

}  // namespace sennit::coll
