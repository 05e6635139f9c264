// Large blocks: the ranks first tell each other, in a letter, where their buffers lie. If all that
// are needed can be used by load and store (or, for copies, by get), every rank reads them where
// they are, and all meet once more before anybody's buffer is its own again. If not, the same call
// goes through the slots. The letters also carry the sizes that only one side knows.
#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "coll/state.hpp"
#include "memory/segments.hpp"
#include "op/resolve.hpp"
#include "op/rma.hpp"

namespace sennit::coll {
namespace {

constexpr std::size_t kMostFolded = kScratchBytes / (2 * sizeof(std::byte *));
constexpr std::size_t kFoldBytes =
    kScratchBytes;  // of each operand at a time: all stay in the first cache

std::size_t in_place_from(const State &state, const Call &call) {
    // relaxed: not shared while the rank is in use.
    const Choices &choices = state.rank->collectives->choices;
    if (call.kind == Kind::broadcast) return choices.broadcast_in_place_from;
    return folds(call.kind) ? choices.fold_in_place_from : choices.copy_in_place_from;
}

// Calls that overwrite what peers still read, or that peers would overwrite.
bool can_be_in_place(const Call &call) {
    if (!call.in_place) return true;
    return call.kind != Kind::alltoall && call.kind != Kind::alltoallv &&
           call.kind != Kind::reduce_scatter && call.kind != Kind::scan &&
           call.kind != Kind::scan_exclusive;
}

bool all_of_one_process(const State &state) {
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        const int peer = state.team->world_ranks[member];
        if (peer != state.rank->world_rank && state.rank->peers[peer].path != SENNIT_PATH_INPROC)
            return false;
    }
    return true;
}

// Can the members attach a segment with this id?
bool is_known_to_members(const State &state, std::uint32_t id) {
    const std::uint32_t slot = memory::team_slot_of(id);
    return slot == memory::kLocalSlot || slot == memory::kWorldSlot || slot == state.team->slot;
}

// The global pointer to `bytes` of this rank's memory, if they lie in one of its segments.
bool find_segment(State &state, const std::byte *memory, std::size_t bytes, sennit_gptr *gptr) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    Rank &rank = *state.rank;
    const ColdLock lock(rank);
    for (std::uint32_t word = 0; word < kSegmentsPerTeam / 64; ++word) {
        std::uint64_t used = rank.segments->used_slots[word];
        for (; used != 0; used &= used - 1) {
            const auto slot = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(used));
            const SegmentRecord &record = rank.control->records[slot];
            if (record.mechanism != Mechanism::file || address < record.owner_address ||
                address - record.owner_address > record.bytes ||
                bytes > record.bytes - (address - record.owner_address))
                continue;
            // relaxed: the rank's own record, under its cold mutex.
            const std::uint32_t id = record.id.load(std::memory_order_relaxed);
            *gptr = sennit_gptr{rank.world_rank, id, address - record.owner_address};
            return is_known_to_members(state, id);
        }
    }
    return false;
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

// Does somebody read this rank's source, or write its destination, in place?
bool gives_source(const Call &call, const team::Team &team) {
    return is_read(call, team, team.rank);
}

bool has_extents(const Call &call) {
    return has_sizes(call.kind) && has_own_blocks(call.kind);
}

void write_extents(const State &state, const Call &call, std::byte *payload) {
    const std::byte *base = sent_range(call, *state.team).memory;
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        const Block block = block_for(call, *state.team, member);
        const Extent extent{block.bytes == 0 ? 0 : static_cast<std::uint64_t>(block.memory - base),
                            block.bytes};
        std::memcpy(payload + sizeof(CollLetter) + member * sizeof extent, &extent, sizeof extent);
    }
}

// Registers private memory for the time of the call, where the kernel may copy from it for peers.
bool lend(State &state, Operation &operation, const Block &block, sennit_gptr *gptr) {
    const Choices &choices = state.rank->collectives->choices;
    const std::size_t from = operation.call.kind == Kind::broadcast
                                 ? choices.broadcast_by_kernel_from
                                 : choices.copy_by_kernel_from;
    if (folds(operation.call.kind) || !state.kernel_copies || block.bytes < from) return false;
    const ColdLock lock(*state.rank);
    if (memory::segment_register(*state.rank, block.memory, block.bytes, &operation.lent) !=
        SENNIT_OK)
        return false;
    // relaxed: the rank's own record, under its cold mutex.
    const std::uint32_t id = operation.lent->id.load(std::memory_order_relaxed);
    *gptr = sennit_gptr{state.rank->world_rank, id, 0};
    return true;
}

// Fills in where the buffers lie. True if peers may use them there.
bool describe_buffers(State &state, Operation &operation, CollLetter *letter) {
    const Call &call = operation.call;
    if (!can_be_in_place(call)) return false;
    // The pointers to all members' buffers have to fit into the scratch.
    if (folds(call.kind) && (!state.reaches_data || state.team->size > kMostFolded)) return false;
    if (!gives_source(call, *state.team)) return true;
    const Block sent = sent_range(call, *state.team);
    const bool is_written = call.kind == Kind::allreduce;
    letter->source_address = reinterpret_cast<std::uintptr_t>(sent.memory);
    letter->destination_address = reinterpret_cast<std::uintptr_t>(call.destination.memory);
    if (has_extents(call) && state.team->size > kMostExtents) return false;
    if (all_of_one_process(state)) {
        letter->flags |= kLetterAddresses;
        return true;
    }
    sennit_gptr place = SENNIT_GPTR_NULL;
    if (sent.bytes != 0 && !find_segment(state, sent.memory, sent.bytes, &place) &&
        !lend(state, operation, sent, &place))
        return false;
    letter->source_rank = place.rank;
    letter->source_segment = place.segment;
    letter->source_offset = place.offset;
    if (!is_written) return true;
    if (!find_segment(state, call.destination.memory, call.bytes, &place)) return false;
    letter->destination_rank = place.rank;
    letter->destination_segment = place.segment;
    letter->destination_offset = place.offset;
    return true;
}

struct Buffers {
    sennit_gptr source;
    sennit_gptr destination;
    std::byte *source_address;  // null: by global pointer
    std::byte *destination_address;
};

sennit_status buffers_of(State &state, const Operation &operation, std::uint32_t member,
                         Buffers *out) {
    CollLetter letter;
    const sennit_status status = fetch(state, operation, member, {0, sizeof letter}, &letter);
    if (status != SENNIT_OK) return status;
    const bool by_address = (letter.flags & kLetterAddresses) != 0;
    out->source = {letter.source_rank, letter.source_segment, letter.source_offset};
    out->destination = {letter.destination_rank, letter.destination_segment,
                        letter.destination_offset};
    out->source_address =
        by_address ? reinterpret_cast<std::byte *>(letter.source_address) : nullptr;
    out->destination_address =
        by_address ? reinterpret_cast<std::byte *>(letter.destination_address) : nullptr;
    return SENNIT_OK;
}

// Where this rank can load and store at the place.
sennit_status find_pointer(Rank &rank, sennit_gptr place, std::byte *known, std::byte **out) {
    *out = known;
    if (known != nullptr) return SENNIT_OK;
    memory::Entry *entry = nullptr;
    const sennit_status status = op::resolve(rank, place, &entry);
    if (status != SENNIT_OK) return status;
    if (entry->base == nullptr)
        return fail_peer(SENNIT_ERR_INTERNAL, place.rank, "",
                         "no load and store to a segment of a team that has them");
    *out = entry->base + place.offset;
    return SENNIT_OK;
}

// Where the block for this rank begins in the source that the letter names.
sennit_status source_offset(State &state, const Operation &operation, std::uint32_t member,
                            std::uint64_t *offset) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    *offset = 0;
    if (!has_own_blocks(call.kind)) return SENNIT_OK;
    if (has_sizes(call.kind)) {
        Extent extent{};
        const sennit_status status =
            fetch(state, operation, member,
                  {sizeof(CollLetter) + own * sizeof extent, sizeof extent}, &extent);
        *offset = extent.offset;
        return status;
    }
    // All know the sizes of all blocks.
    *offset = static_cast<std::uint64_t>(call.bytes) * own;
    if (call.counts == nullptr) return SENNIT_OK;
    *offset = 0;
    for (std::uint32_t i = 0; i < own; ++i)
        *offset += call.counts[i] * call.element_bytes;
    return SENNIT_OK;
}

// Do sender and receiver name the same size for the block that comes from `member`?
sennit_status check_size(State &state, const Operation &operation, std::uint32_t member,
                         const CollLetter &letter) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    if (!has_sizes(call.kind) || !reads(call, own, member)) return SENNIT_OK;
    std::uint64_t sent = letter.most_bytes;
    if (has_own_blocks(call.kind)) {
        if (state.team->size > kMostExtents) return SENNIT_OK;
        Extent extent{};
        const sennit_status status =
            fetch(state, operation, member,
                  {sizeof(CollLetter) + own * sizeof extent, sizeof extent}, &extent);
        if (status != SENNIT_OK) return status;
        sent = extent.bytes;
    }
    const std::size_t wanted = block_from(call, *state.team, member).bytes;
    if (sent == wanted || (call.in_place && member == own)) return SENNIT_OK;
    const int peer = state.team->world_ranks[member];
    return fail_peer(SENNIT_ERR_ARG, peer, "",
                     "rank %d sends a block of %llu bytes, this rank expects %zu", peer,
                     static_cast<unsigned long long>(sent), wanted);
}

sennit_status copy_from(State &state, Operation &operation, std::uint32_t member) {
    const Block to = block_from(operation.call, *state.team, member);
    Buffers buffers{};
    std::uint64_t offset = 0;
    sennit_status status = buffers_of(state, operation, member, &buffers);
    if (status == SENNIT_OK) status = source_offset(state, operation, member, &offset);
    if (status != SENNIT_OK || to.bytes == 0) return status;
    if (buffers.source_address != nullptr) {
        std::memcpy(to.memory, buffers.source_address + offset, to.bytes);
        return SENNIT_OK;
    }
    return op::transfer(*state.rank, op::Direction::get,
                        sennit_gptr_add(buffers.source, static_cast<std::int64_t>(offset)),
                        to.memory, to.bytes, {op::Completion::Mode::blocking, nullptr});
}

// Pointers to what this rank folds and to where allreduce puts it, by member; in the scratch.
struct Operands {
    std::byte **sources;
    std::byte **destinations;
};

sennit_status find_operands(State &state, Operation &operation, Operands *out) {
    const Call &call = operation.call;
    const team::Team &team = *state.team;
    std::byte *scratch = scratch_of(state);
    if (scratch == nullptr) return SENNIT_ERR_NOMEM;
    out->sources = reinterpret_cast<std::byte **>(scratch + kScratchBytes);
    out->destinations = out->sources + team.size;
    for (std::uint32_t member = 0; member < team.size; ++member) {
        if (member == team.rank) {
            out->sources[member] = block_for(call, team, member).memory;
            out->destinations[member] = call.destination.memory;
            continue;
        }
        if (!is_read(call, team, member)) continue;
        Buffers buffers{};
        std::uint64_t offset = 0;
        sennit_status status = buffers_of(state, operation, member, &buffers);
        if (status == SENNIT_OK) status = source_offset(state, operation, member, &offset);
        if (status == SENNIT_OK)
            status = find_pointer(*state.rank, buffers.source, buffers.source_address,
                                  &out->sources[member]);
        if (status == SENNIT_OK && call.kind == Kind::allreduce)
            status = find_pointer(*state.rank, buffers.destination, buffers.destination_address,
                                  &out->destinations[member]);
        if (status != SENNIT_OK) return status;
        out->sources[member] += offset;
    }
    return SENNIT_OK;
}

// Folds bytes begin to end of all sources that this rank reads into `into`, in the members' order.
void fold_range(State &state, const Call &call, const Operands &operands, std::size_t begin,
                std::size_t end, std::byte *into) {
    const std::byte *left = nullptr;
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        if (!reads(call, state.team->rank, member)) continue;
        const std::byte *right = operands.sources[member] + begin;
        if (left == nullptr) {
            left = right;
        } else {
            fold(call, left, right, into, end - begin);
            left = into;
        }
    }
    if (left != nullptr && left != into) std::memcpy(into, left, end - begin);
}

sennit_status fold_in_place(State &state, Operation &operation) {
    const Call &call = operation.call;
    const team::Team &team = *state.team;
    Operands operands{};
    const sennit_status status = find_operands(state, operation, &operands);
    if (status != SENNIT_OK) return status;
    const std::size_t unit = call.element_bytes;
    const std::size_t bytes = block_from(call, team, team.rank).bytes;
    std::size_t first = 0;
    std::size_t end = bytes;
    if (call.kind == Kind::allreduce) {
        // Whole blocks of elements, so that the ranks write on different lines.
        const std::size_t share = (bytes / unit / team.size / 64 + 1) * 64 * unit;
        first = std::min(bytes, share * team.rank);
        end = team.rank + 1 == team.size ? bytes : std::min(bytes, first + share);
    }
    const std::size_t step = std::max(kFoldBytes / unit, std::size_t{1}) * unit;
    // The own elements may lie where the result goes, and not be the first two of the fold.
    const bool aside = call.in_place && team.rank > 1;
    for (std::size_t begin = first; begin < end; begin += step) {
        const std::size_t stop = std::min(end, begin + step);
        std::byte *into = aside ? state.scratch : call.destination.memory + begin;
        fold_range(state, call, operands, begin, stop, into);
        if (aside) std::memcpy(call.destination.memory + begin, into, stop - begin);
        for (std::uint32_t member = 0; call.kind == Kind::allreduce && member < team.size; ++member)
            if (member != team.rank)
                std::memcpy(operands.destinations[member] + begin, into, stop - begin);
    }
    return SENNIT_OK;
}

// Makes this rank's wide slots when they are first wanted. Without memory for them the call goes
// through the slots there are.
bool has_wide_slots(State &state) {
    if (!state.reaches_data) return false;
    if (state.wide_segment != 0) return true;
    const ColdLock lock(*state.rank);
    SegmentRecord *record = nullptr;
    const memory::SegmentWish wish{SegmentKind::local, 0, kSlots * kWideBytes, 4096, 0};
    if (memory::segment_create(*state.rank, wish, &record) != SENNIT_OK) return false;
    // relaxed: the rank's own record, under its cold mutex.
    state.wide_segment = record->id.load(std::memory_order_relaxed);
    state.wide[state.team->rank] = reinterpret_cast<std::byte *>(record->owner_address);
    return true;
}

}  // namespace

sennit_status find_wide_slots(State &state, Operation &operation) {
    if (!operation.can_be_wide) return SENNIT_OK;
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        if (state.wide[member] != nullptr) continue;
        CollLetter letter;
        sennit_status status = fetch(state, operation, member, {0, sizeof letter}, &letter);
        if (status != SENNIT_OK) return status;
        const sennit_gptr place{state.team->world_ranks[member], letter.wide_segment, 0};
        status = find_pointer(*state.rank, place, nullptr, &state.wide[member]);
        if (status != SENNIT_OK) return status;
    }
    operation.wide = true;
    return SENNIT_OK;
}

void drop_wide_slots(State &state) {
    if (state.wide_segment == 0) return;
    const std::uint32_t slot = memory::index_of(state.wide_segment);
    const ColdLock lock(*state.rank);
    memory::segment_destroy(*state.rank, &state.rank->control->records[slot]);
    state.wide_segment = 0;
}

bool wants_letters(const State &state, const Call &call) {
    if (state.team->size == 1) return false;
    return has_sizes(call.kind) || call.bytes >= in_place_from(state, call);
}

void end_loan(State &state, Operation &operation) {
    if (operation.lent == nullptr) return;
    const ColdLock lock(*state.rank);
    memory::segment_destroy(*state.rank, operation.lent);
    operation.lent = nullptr;
}

void write_letter(State &state, Operation &operation) {
    const Call &call = operation.call;
    std::byte *payload = payload_at(*state.own, {state.number + 1, false});
    CollLetter letter{};
    letter.most_bytes = most_bytes(call, *state.team);
    if (describe_buffers(state, operation, &letter)) letter.flags |= kLetterInPlaceOk;
    if (state.rank->spins == 0) letter.flags |= kLetterShares;
    if (has_wide_slots(state)) {
        letter.flags |= kLetterWide;
        letter.wide_segment = state.wide_segment;
    }
    if (has_extents(call) && is_read(call, *state.team, state.team->rank) &&
        state.team->size <= kMostExtents)
        write_extents(state, call, payload);
    std::memcpy(payload, &letter, sizeof letter);
}

sennit_status read_letter(State &state, Operation &operation, std::uint32_t member) {
    CollLetter letter;
    const sennit_status status = fetch(state, operation, member, {0, sizeof letter}, &letter);
    if (status != SENNIT_OK) return status;
    operation.most_bytes = std::max(operation.most_bytes, letter.most_bytes);
    if ((letter.flags & kLetterInPlaceOk) == 0) operation.in_place = false;
    if ((letter.flags & kLetterShares) != 0) operation.shares_processors = true;
    if ((letter.flags & kLetterWide) == 0) operation.can_be_wide = false;
    // The others go on without knowing, so this rank takes its part and reports at the end.
    note(operation, check_size(state, operation, member, letter));
    return SENNIT_OK;
}

sennit_status work_in_place(State &state, Operation &operation) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    // A size that differs: nothing can be copied rightly.
    if (operation.status != SENNIT_OK) return SENNIT_OK;
    if (folds(call.kind)) {
        const bool has_part = call.kind == Kind::scan_exclusive ? own > 0 : reads(call, own, own);
        return has_part ? fold_in_place(state, operation) : SENNIT_OK;
    }
    for (std::uint32_t place = 1; place < state.team->size; ++place) {
        const std::uint32_t member = (own + place) % state.team->size;
        if (!reads(call, own, member)) continue;
        const sennit_status status = copy_from(state, operation, member);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

}  // namespace sennit::coll
