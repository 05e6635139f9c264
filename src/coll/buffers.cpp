// SPDX-License-Identifier: BSD-3-Clause
#include "coll/buffers.hpp"

#include <cstring>

#include "base/copy.hpp"
#include "base/fail.hpp"
#include "memory/registration.hpp"
#include "op/resolve.hpp"
#include "op/rma.hpp"

namespace sennit::coll {
namespace {

// False for calls with a single buffer where results would overwrite data that peers still read.
bool can_be_in_place(const Call &call) {
    if (!call.in_place) return true;
    return call.kind != Kind::alltoall && call.kind != Kind::alltoallv &&
           call.kind != Kind::reduce_scatter && call.kind != Kind::scan &&
           call.kind != Kind::scan_exclusive;
}

bool all_of_one_process(const TeamState &state) {
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        const int peer = state.team->world_ranks[member];
        if (peer != state.rank->world_rank && state.rank->peers[peer].path != SENNIT_PATH_INPROC)
            return false;
    }
    return true;
}

// Whether the members can attach a segment with this id.
bool is_known_to_members(const TeamState &state, std::uint32_t id) {
    const std::uint32_t slot = memory::team_slot_of(id);
    return slot == memory::kLocalSlot || slot == memory::kWorldSlot || slot == state.team->slot;
}

// Finds the global pointer to `bytes` bytes of this rank's memory. False: no segment that all
// members can attach contains them.
bool find_segment(TeamState &state, const std::byte *memory, std::size_t bytes, sennit_gptr *gptr) {
    const ColdLock lock(*state.rank);
    return memory::segment_at(*state.rank, memory, bytes, gptr) == memory::Overlap::whole &&
           is_known_to_members(state, gptr->segment);
}

// The memory from the first to the last byte that this rank sends.
Block sent_range(const Call &call, const team::Team &team) {
    if (!has_own_blocks(call.kind)) return block_for(call, team, team.rank);
    std::byte *begin = nullptr;
    std::byte *end = nullptr;
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const Block block = block_for(call, team, member);
        if (block.bytes == 0) continue;
        if (begin == nullptr || block.memory < begin) begin = block.memory;
        if (end == nullptr || block.memory + block.bytes > end) end = block.memory + block.bytes;
    }
    return {begin, static_cast<std::size_t>(end - begin)};
}

// A loan is private memory that is registered for the duration of the call. Between nodes it pays
// off if the longest block fills a slot: the request for the memory's key costs less than a further
// round. Every 255 loans of a rank fill a row of 64 bytes per rank of the job in the table of
// segments, so large jobs make no loans.
constexpr std::size_t kLentToNodesFrom = kPayloadBytes;
constexpr int kMostRanksLentTo = 128;

bool may_lend_to_nodes(const TeamState &state, const OpenCall &operation) {
    return state.messages_copy && operation.most_bytes >= kLentToNodesFrom &&
           world_size(*state.rank) <= kMostRanksLentTo;
}

// Whether members can read the operands of a reduction where they are.
bool can_fold_in_place(const TeamState &state, const OpenCall &operation) {
    return state.size <= kMostFolded &&
           (state.reaches_data || state.kernel_copies || may_lend_to_nodes(state, operation));
}

// False for reductions of two members that only messages connect. With divided work each member
// would fetch half of the elements and send half of the result; without, it fetches all elements,
// which are as many bytes. But an allreduce with a single buffer must be divided, because otherwise
// each member would overwrite elements that the other still reads.
bool is_worth_dividing(const TeamState &state, const Call &call) {
    return !folds(call.kind) || state.reaches_data || state.kernel_copies || state.size > 2 ||
           (call.kind == Kind::allreduce && call.in_place);
}

// The size from which a registration pays off for the kernel's copies.
std::size_t lent_from(const TeamState &state, const Call &call) {
    const Choices &choices = state.rank->collectives->choices;
    if (call.kind == Kind::broadcast)
        return state.rank->shares_processors ? choices.broadcast_by_kernel_shared_from
                                             : choices.broadcast_by_kernel_from;
    return folds(call.kind) ? choices.fold_by_kernel_from : choices.copy_by_kernel_from;
}

// Registers private memory for the duration of the call, if the kernel or messages copy from it for
// peers.
bool lend(TeamState &state, OpenCall &operation, const Block &block, BufferPlace *place) {
    const bool is_worth = state.kernel_copies ? block.bytes >= lent_from(state, operation.call)
                                              : may_lend_to_nodes(state, operation);
    if (!is_worth) return false;
    // Where load and store reach all members, reductions through the slots are faster: the elements
    // stay in the caches.
    if (folds(operation.call.kind) && state.reaches_data) return false;
    SegmentRecord *&record = operation.lent[operation.lent[0] == nullptr ? 0 : 1];
    const ColdLock lock(*state.rank);
    const sennit_error error = *thread_error();
    if (memory::segment_lend(*state.rank, block.memory, block.bytes, &record) != SENNIT_OK) {
        // Not an error: the call uses the slots.
        *thread_error() = error;
        return false;
    }
    // relaxed twice: the rank's own record, under its cold mutex.
    *place = {record->id.load(std::memory_order_relaxed),
              record->live.load(std::memory_order_relaxed), 0, record->bytes};
    return true;
}

// Finds how peers can reach the block. False: they cannot.
bool name_place(TeamState &state, OpenCall &operation, const Block &block, std::uint32_t flags,
                BufferPlace *place) {
    *place = {0, 0, 0, reinterpret_cast<std::uintptr_t>(block.memory)};
    if ((flags & kDescriptionByAddress) != 0 || block.bytes == 0) return true;
    sennit_gptr gptr;
    if (!find_segment(state, block.memory, block.bytes, &gptr))
        return lend(state, operation, block, place);
    place->segment = gptr.segment;
    place->offset = gptr.offset;
    return true;
}

// The memory into which peers may write, in a call that the members divide among them.
Block written_range(const Call &call, const team::Team &team) {
    if (!can_be_divided(call.kind) || !gets_result(call, team.rank)) return {nullptr, 0};
    if (from_root(call.kind)) return block_from(call, team, call.root);
    const std::size_t blocks = call.kind == Kind::gather ? team.size : 1;
    return {call.destination.memory, call.bytes * blocks};
}

bool describe_source(TeamState &state, OpenCall &operation, BufferDescription *description) {
    const Call &call = operation.call;
    const bool is_read_by_others = is_read(call, *state.team, state.team->rank) ||
                                   (call.kind == Kind::reduce && is_worth_dividing(state, call));
    if (!is_read_by_others) return true;
    if (has_extents(call) && state.team->size > kMostBufferExtents) return false;
    const Block sent = sent_range(call, *state.team);
    return name_place(state, operation, sent, description->flags, &description->source);
}

bool describe_destination(TeamState &state, OpenCall &operation, BufferDescription *description) {
    const Block written = written_range(operation.call, *state.team);
    return written.memory != nullptr &&
           name_place(state, operation, written, description->flags, &description->destination);
}

// Attaches a loan of a rank on another node. The record is made from the description, not fetched.
// Each loan is attached anew, since an earlier one may have had the same id.
sennit_status attach_loan(Rank &rank, const sennit_gptr &gptr, const BufferPlace &place) {
    SegmentRecord record{};
    // relaxed twice: a private record.
    record.id.store(place.segment, std::memory_order_relaxed);
    record.live.store(place.live, std::memory_order_relaxed);
    record.bytes = place.extent;
    record.owner_slot = memory::index_of(place.segment);
    record.memory = MemoryKind::host;
    record.mechanism = Mechanism::copied;
    return op::attach_known(rank, gptr, record);
}

// Finds where this rank can reach a place in the member's description. Attaches a loan of another
// node.
sennit_status find_place(TeamState &state, std::uint32_t member,
                         const BufferDescription &description, const BufferPlace &place,
                         Where *out) {
    const int peer = state.team->world_ranks[member];
    const bool by_address = (description.flags & kDescriptionByAddress) != 0;
    *out = {by_address ? reinterpret_cast<std::byte *>(place.extent) : nullptr,
            {peer, place.segment, place.offset}};
    const bool is_far = member != state.team->rank && !state.rank->peers[peer].same_node;
    return place.live != 0 && is_far ? attach_loan(*state.rank, out->place, place) : SENNIT_OK;
}

}  // namespace

bool has_extents(const Call &call) {
    return has_sizes(call.kind) && has_own_blocks(call.kind);
}

void write_extents(const TeamState &state, const Call &call, std::byte *payload) {
    const std::byte *base = sent_range(call, *state.team).memory;
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        const Block block = block_for(call, *state.team, member);
        const BufferExtent extent{
            block.bytes == 0 ? 0 : static_cast<std::uint64_t>(block.memory - base), block.bytes};
        std::memcpy(payload + sizeof(BufferDescription) + member * sizeof extent, &extent,
                    sizeof extent);
    }
}

bool describe_buffers(TeamState &state, OpenCall &operation, BufferDescription *description) {
    const Call &call = operation.call;
    if (!can_be_in_place(call)) return false;
    if (folds(call.kind) && !can_fold_in_place(state, operation)) return false;
    if (all_of_one_process(state)) description->flags |= kDescriptionByAddress;
    const bool has_source = describe_source(state, operation, description);
    if (!has_source && is_read(call, *state.team, state.team->rank)) return false;
    if (!is_worth_dividing(state, call)) return true;
    // Other members read the source of a reduction's root only if they divide the work.
    if (has_source && describe_destination(state, operation, description))
        description->flags |= kDescriptionTakesPuts;
    return call.kind != Kind::allreduce || (description->flags & kDescriptionTakesPuts) != 0;
}

sennit_status buffers_of(TeamState &state, const OpenCall &operation, std::uint32_t member,
                         Buffers *out) {
    BufferDescription description;
    sennit_status status = fetch(state, operation, member, {0, sizeof description}, &description);
    if (status == SENNIT_OK)
        status = find_place(state, member, description, description.source, &out->source);
    if (status == SENNIT_OK)
        status = find_place(state, member, description, description.destination, &out->destination);
    return status;
}

sennit_status source_offset(TeamState &state, const OpenCall &operation, std::uint32_t member,
                            std::uint64_t *offset) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    *offset = 0;
    if (!has_own_blocks(call.kind)) return SENNIT_OK;
    if (has_sizes(call.kind)) {
        BufferExtent extent{};
        const sennit_status status =
            fetch(state, operation, member,
                  {sizeof(BufferDescription) + own * sizeof extent, sizeof extent}, &extent);
        *offset = extent.offset;
        return status;
    }
    // All members know the sizes of all blocks.
    *offset = static_cast<std::uint64_t>(call.bytes) * own;
    if (call.counts != nullptr) *offset = first_of(call, own) * call.element_bytes;
    return SENNIT_OK;
}

sennit_status find_address(Rank &rank, Where *where) {
    if (where->address != nullptr || where->place.segment == 0) return SENNIT_OK;
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status = op::resolve(rank, where->place, &entry);
    if (status == SENNIT_OK && entry->base != nullptr)
        where->address = entry->base + where->place.offset;
    return status;
}

sennit_status copy(Rank &rank, op::Direction direction, const Where &where, std::uint64_t offset,
                   void *local, std::size_t bytes) {
    if (bytes == 0) return SENNIT_OK;
    if (where.address == nullptr)
        return op::transfer(rank, direction,
                            sennit_gptr_add(where.place, static_cast<std::int64_t>(offset)), local,
                            bytes, {});
    if (direction == op::Direction::get) {
        copy_bytes(local, where.address + offset, bytes);
    } else {
        copy_bytes(where.address + offset, local, bytes);
    }
    return SENNIT_OK;
}

sennit_status start_get(Rank &rank, const Where &where, std::uint64_t offset, const Block &to,
                        sennit_request *request) {
    *request = SENNIT_REQUEST_NULL;
    if (to.bytes == 0 || where.address != nullptr)
        return copy(rank, op::Direction::get, where, offset, to.memory, to.bytes);
    return op::transfer(rank, op::Direction::get,
                        sennit_gptr_add(where.place, static_cast<std::int64_t>(offset)), to.memory,
                        to.bytes, {op::Completion::Mode::request, request});
}

}  // namespace sennit::coll
