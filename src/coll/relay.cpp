// SPDX-License-Identifier: BSD-3-Clause
// Long reductions of private vectors among three or more members, through wide slots. If every
// member combined every piece, each of n members would read all elements of n vectors. Instead each
// member combines only its share of a piece, and passes the result on in its next post, beside its
// own elements of the next piece:
//
//   post of round r:  this rank's elements of piece r | result of its share of piece r - 1
//
// So there is one more round than pieces, and the number of bytes that a member reads and writes
// does not grow with the number of members. Every share is combined in the order of the members.
#include <algorithm>

#include "base/copy.hpp"
#include "coll/state.hpp"

namespace sennit::coll {
namespace {

struct ByteRange {
    std::size_t begin;
    std::size_t bytes;
};

// The piece of a round, in bytes of the vector; empty in the round after the last piece.
ByteRange piece_of_round(const OpenCall &operation, std::uint64_t round) {
    const std::size_t begin = round * operation.cut.piece_bytes;
    if (begin >= operation.call.bytes) return {begin, 0};
    return {begin, std::min(operation.cut.piece_bytes, operation.call.bytes - begin)};
}

// The member's share of the piece. Its offset counts from the start of the piece. Shares are
// rounded up to about a cache line, so that few lines have parts of two shares.
ByteRange share_of(const OpenCall &operation, const team::Team &team, const ByteRange &piece,
                   std::uint32_t member) {
    const std::size_t unit = operation.call.element_bytes;
    const std::size_t elements = piece.bytes / unit;
    const std::size_t line = std::max<std::size_t>(64 / unit, 1);
    const std::size_t each = (elements / team.size / line + 1) * line;
    const std::size_t begin = std::min(elements, each * member);
    const std::size_t end =
        member + 1 == team.size ? elements : std::min(elements, each * (member + 1));
    return {begin * unit, (end - begin) * unit};
}

// The place for the result of this rank's share: in the destination if this rank has one, otherwise
// in the stages.
std::byte *result_of(TeamState &state, const OpenCall &operation, const ByteRange &piece) {
    const Call &call = operation.call;
    if (call.kind == Kind::reduce && state.team->rank != call.root) return state.stages;
    return call.destination.memory + piece.begin +
           share_of(operation, *state.team, piece, state.team->rank).begin;
}

}  // namespace

bool can_be_relayed(const TeamState &state, const Call &call) {
    return (call.kind == Kind::allreduce || call.kind == Kind::reduce) && state.size >= 3 &&
           call.bytes >= state.rank->collectives->choices.relay_from;
}

Cut relay_cut(const TeamState &state, const Call &call) {
    // A share may be longer than 1/size of its piece, but only by less than this.
    const std::size_t slack = std::max<std::size_t>(64, call.element_bytes) * 2;
    const std::size_t room = (kWideBytes - 2 * slack) / (state.size + 1) * state.size;
    Cut cut;
    cut.piece_bytes = room / call.element_bytes * call.element_bytes;
    cut.piece_rounds = (call.bytes + cut.piece_bytes - 1) / cut.piece_bytes + 1;
    return cut;
}

void relay_fill(TeamState &state, OpenCall &operation) {
    const team::Team &team = *state.team;
    std::byte *payload = payload_of(state, operation, team.rank);
    const ByteRange piece = piece_of_round(operation, operation.round);
    if (piece.bytes != 0)
        copy_bytes(payload, block_for(operation.call, team, team.rank).memory + piece.begin,
                   piece.bytes);
    if (operation.round == 0) return;
    const ByteRange last = piece_of_round(operation, operation.round - 1);
    const ByteRange share = share_of(operation, team, last, team.rank);
    copy_bytes(payload + operation.cut.piece_bytes, result_of(state, operation, last), share.bytes);
}

sennit_status relay_take(TeamState &state, OpenCall &operation, std::uint32_t member) {
    const Call &call = operation.call;
    const team::Team &team = *state.team;
    const std::byte *payload = payload_of(state, operation, member);
    const bool has_destination = call.kind == Kind::allreduce || team.rank == call.root;
    if (operation.round != 0 && has_destination && member != team.rank) {
        const ByteRange last = piece_of_round(operation, operation.round - 1);
        const ByteRange share = share_of(operation, team, last, member);
        copy_bytes(call.destination.memory + last.begin + share.begin,
                   payload + operation.cut.piece_bytes, share.bytes);
    }
    const ByteRange piece = piece_of_round(operation, operation.round);
    const ByteRange share = share_of(operation, team, piece, team.rank);
    if (share.bytes == 0) return SENNIT_OK;
    const std::byte *operand = payload + share.begin;
    if (operation.first_operand == nullptr) {
        operation.first_operand = operand;
        return SENNIT_OK;
    }
    std::byte *result = result_of(state, operation, piece);
    const void *left = operation.first_operand;
    operation.first_operand = result;
    return fold(call, left, operand, result, share.bytes);
}

}  // namespace sennit::coll
