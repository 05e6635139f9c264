// SPDX-License-Identifier: BSD-3-Clause
// Rounds through the slots: cuts blocks into pieces, fills this rank's slot, reads the
// other members' slots.
//
// If each receiver gets its own block, the receivers form groups, and a round has a piece for each
// member of one group, in the order of place_of_piece(). Round i carries piece i / groups of the
// blocks for group i mod groups. In other calls a round has one piece for all members.
//
// A rank writes all its pieces of a round before it reads anything of that round, and a result only
// overwrites elements that this rank has already sent (copy_elements() is for the exception). So
// every call may use a single buffer.
#include <algorithm>
#include <cstdlib>

#include "base/copy.hpp"
#include "base/fail.hpp"
#include "coll/state.hpp"
#include "memory/file.hpp"

namespace sennit::coll {
namespace {

std::uint32_t group_of(const OpenCall &operation) {
    return static_cast<std::uint32_t>(operation.round % operation.cut.groups);
}

std::size_t piece_offset(const OpenCall &operation) {
    return operation.round / operation.cut.groups * operation.cut.piece_bytes;
}

// The part of the block that this round carries.
Block piece_of(const OpenCall &operation, const Block &block) {
    const std::size_t offset = piece_offset(operation);
    if (offset >= block.bytes) return {nullptr, 0};
    return {block.memory + offset, std::min(operation.cut.piece_bytes, block.bytes - offset)};
}

// The offset of the piece from `source` for `destination` in the slot of this round. False: the
// piece belongs to a round of another group.
bool find_piece(const TeamState &state, const OpenCall &operation, std::uint32_t source,
                std::uint32_t destination, std::size_t *offset) {
    *offset = 0;
    if (!has_own_blocks(operation.call.kind)) return true;
    const std::uint32_t place = place_of_piece(operation.call, *state.team, source, destination);
    *offset = place % operation.cut.group * operation.cut.piece_bytes;
    return place / operation.cut.group == group_of(operation);
}

// Whether this rank reads its own elements from its slot, because the result overwrites the buffer.
bool needs_own_slot(const TeamState &state, const Call &call) {
    return folds(call.kind) && call.in_place && reads(call, state.team->rank, state.team->rank);
}

sennit_status fold_piece(TeamState &state, OpenCall &operation, const std::byte *operand,
                         std::uint32_t member) {
    const Call &call = operation.call;
    const Block to = piece_of(operation, block_from(call, *state.team, member));
    if (to.bytes == 0) return SENNIT_OK;
    if (operation.first_operand == nullptr) {
        operation.first_operand = operand;
        return SENNIT_OK;
    }
    const bool is_second = operation.first_operand != to.memory;
    // An error makes only this rank's result wrong. So this rank takes part to the end, and then
    // reports the error.
    note(operation, fold(call, operation.first_operand, operand, to.memory, to.bytes));
    if (is_second) operation.first_operand = to.memory;
    return SENNIT_OK;
}

// Finds the member's elements of this round; fetches elements out of reach into the scratch.
sennit_status find_operand(TeamState &state, OpenCall &operation, std::uint32_t member,
                           std::size_t offset, const std::byte **operand) {
    const Call &call = operation.call;
    if (member == state.team->rank) {
        const Block own = piece_of(operation, block_for(call, *state.team, member));
        *operand = call.in_place ? payload_of(state, operation, member) + offset : own.memory;
        return SENNIT_OK;
    }
    *operand = payload_of(state, operation, member);
    if (*operand != nullptr) {
        *operand += offset;
        return SENNIT_OK;
    }
    std::byte *scratch = scratch_of(state);
    if (scratch == nullptr) return SENNIT_ERR_NOMEM;
    if (operation.first_operand == scratch) scratch += kScratchBytes;
    const Block to = piece_of(operation, block_from(call, *state.team, member));
    *operand = scratch;
    return fetch(state, operation, member, {offset, to.bytes}, scratch);
}

}  // namespace

Cut cut_of(const Call &call, const team::Team &team, std::size_t most, std::size_t payload) {
    Cut cut;
    const std::size_t unit = std::max(call.element_bytes, kPieceAlignment);
    std::size_t room = payload;
    if (has_own_blocks(call.kind)) {
        cut.group = std::min<std::uint32_t>(team.size, static_cast<std::uint32_t>(payload / unit));
        cut.groups = (team.size + cut.group - 1) / cut.group;
        room = payload / cut.group;
        const std::size_t whole_lines = room / kPieceAlignment * kPieceAlignment;
        if (whole_lines >= call.element_bytes) room = whole_lines;
    }
    cut.piece_bytes = room / call.element_bytes * call.element_bytes;
    // Small blocks are packed into few lines.
    const std::size_t small =
        memory::round_up(most, std::max(call.element_bytes, kSmallAlignment)) / call.element_bytes *
        call.element_bytes;
    if (small >= most && small < cut.piece_bytes && small != 0) cut.piece_bytes = small;
    cut.piece_rounds = most == 0 ? 1 : (most + cut.piece_bytes - 1) / cut.piece_bytes;
    return cut;
}

sennit_status copy_elements(TeamState &state, OpenCall &operation) {
    Call &call = operation.call;
    if (call.kind != Kind::reduce_scatter || !call.in_place || operation.cut.groups == 1)
        return SENNIT_OK;
    const Block last = block_for(call, *state.team, state.team->size - 1);
    const auto bytes = static_cast<std::size_t>(last.memory + last.bytes - call.destination.memory);
    operation.copy = static_cast<std::byte *>(std::malloc(bytes));
    if (operation.copy == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for a copy of %zu bytes of elements", bytes);
    copy_bytes(operation.copy, call.destination.memory, bytes);
    call.source.memory = operation.copy;
    call.in_place = false;
    return SENNIT_OK;
}

sennit_status copy_own_block(const TeamState &state, const Call &call) {
    const std::uint32_t own = state.team->rank;
    if (call.in_place || call.kind == Kind::broadcast || folds(call.kind) || !reads(call, own, own))
        return SENNIT_OK;
    const Block from = block_for(call, *state.team, own);
    const Block to = block_from(call, *state.team, own);
    if (from.bytes != to.bytes)
        return fail(SENNIT_ERR_ARG,
                    "this rank's own block has %zu byte%s in the source and %zu in "
                    "the destination",
                    from.bytes, plural(from.bytes), to.bytes);
    if (to.bytes != 0 && from.memory != to.memory) copy_bytes(to.memory, from.memory, to.bytes);
    return SENNIT_OK;
}

void fill(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    if (!is_read(call, *state.team, own) && !needs_own_slot(state, call)) return;
    std::byte *payload = payload_of(state, operation, own);
    if (!has_own_blocks(call.kind)) {
        const Block piece = piece_of(operation, block_for(call, *state.team, own));
        if (piece.bytes != 0) copy_bytes(payload, piece.memory, piece.bytes);
        return;
    }
    for (std::uint32_t member = 0; member < state.team->size; ++member) {
        std::size_t offset = 0;
        if (!find_piece(state, operation, own, member, &offset)) continue;
        if (member == own && !needs_own_slot(state, call)) continue;
        const Block piece = piece_of(operation, block_for(call, *state.team, member));
        if (piece.bytes != 0) copy_bytes(payload + offset, piece.memory, piece.bytes);
    }
}

sennit_status take(TeamState &state, OpenCall &operation, std::uint32_t member) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    std::size_t offset = 0;
    if (!find_piece(state, operation, member, own, &offset)) return SENNIT_OK;
    if (folds(call.kind)) {
        const std::byte *operand = nullptr;
        const sennit_status status = find_operand(state, operation, member, offset, &operand);
        return status == SENNIT_OK ? fold_piece(state, operation, operand, member) : status;
    }
    if (member == own) return SENNIT_OK;
    const Block to = piece_of(operation, block_from(call, *state.team, member));
    return fetch(state, operation, member, {offset, to.bytes}, to.memory);
}

void end_round(TeamState &state, OpenCall &operation) {
    if (operation.first_operand == nullptr) return;
    // A fold of one operand is a copy.
    const Block to = piece_of(operation, block_from(operation.call, *state.team, state.team->rank));
    if (to.bytes != 0 && operation.first_operand != to.memory)
        copy_bytes(to.memory, operation.first_operand, to.bytes);
    operation.first_operand = nullptr;
}

}  // namespace sennit::coll
