// SPDX-License-Identifier: BSD-3-Clause
// Submits pieces to transports: chooses a rail for each, and counts the rails' load.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "base/fail.hpp"
#include "base/invariant.hpp"
#include "observe/observer.hpp"
#include "op/engine_state.hpp"

namespace sennit::op {

using transport::Submit;

namespace {

constexpr std::uint64_t bit(unsigned rail) {
    return std::uint64_t{1} << rail;
}

std::uint64_t moved_bytes(const OperationPiece &piece) {
    return is_packed(piece) ? piece.operation.task.payload_bytes : piece.operation.bytes;
}

// The approximate bytes of all pieces of the record.
std::uint64_t whole_bytes(const OperationPiece &piece) {
    const OperationRecord &record = *piece.record;
    return is_packed(piece) ? record.packed.count * moved_bytes(piece) : record.bytes;
}

// The load that a piece adds to its rail; small pieces cost something too.
std::uint64_t cost(const OperationPiece &piece) {
    return moved_bytes(piece) + 64;
}

// Whether the piece measures its rail's speed; only such pieces read the clock.
bool is_large(const MessagePath &path, const OperationPiece &piece) {
    return path.rails > 1 && moved_bytes(piece) >= kLargePiece;
}

std::uint64_t usable_rails(const MessagePath &path, int peer) {
    return path.transport->rails_to(peer) & (~std::uint64_t{0} >> (kRails - path.rails));
}

// For a large operation, the usable rail that will finish the piece first. From kSpreadFromBytes
// on, emptiest_rail() and not the fastest: the speed of an unused rail would not be measured again.
// For a smaller operation, the home rail, unless it is in `avoided`. -1: none.
int pick_rail(const MessagePath &path, const OperationPiece &piece, std::uint64_t avoided) {
    const int rank = piece.engine->rank->world_rank;
    const int peer = piece.operation.peer;
    const std::uint64_t usable = usable_rails(path, peer);
    std::uint64_t left = usable & ~avoided;
    if (left == 0) return -1;
    auto best = static_cast<unsigned>(std::countr_zero(left));
    if (path.rails == 1) return static_cast<int>(best);
    const unsigned home = home_rail(usable, rank, peer);
    const std::uint64_t bytes = whole_bytes(piece);
    if (bytes < kSpreadFromBytes && (left & bit(home)) != 0) return static_cast<int>(home);
    if (bytes < kSharedFromBytes)
        return static_cast<int>(emptiest_rail(path.loads, path.last_rail, left));
    for (left &= left - 1; left != 0; left &= left - 1) {
        const auto rail = static_cast<unsigned>(std::countr_zero(left));
        if (is_sooner(path.loads[rail], path.loads[best], cost(piece))) best = rail;
    }
    return static_cast<int>(best);
}

}  // namespace

// Called by the transport, in submit, progress, finish_postponed or close.
void piece_completed(transport::Operation *operation, sennit_status status) {
    auto *piece = reinterpret_cast<OperationPiece *>(operation);
    Engine &engine = *piece->engine;
    SENNIT_INVARIANT(engine.with_transports > 0);
    piece->status = status;
    engine.done.push(piece);
    --engine.with_transports;
    if (!engine.outlived)
        runtime::note_piece(*engine.rank, operation->rail,
                            status == SENNIT_OK ? moved_bytes(*piece) : 0);
    if (engine.outlived && engine.with_transports == 0) engine_free(&engine);
}

bool has_rail_left(const MessagePath &path, const OperationPiece &piece) {
    return pick_rail(path, piece, piece.tried_rails) >= 0;
}

void note_returned(MessagePath &path, const OperationPiece &piece) {
    RailLoad &load = path.loads[piece.operation.rail];
    SENNIT_INVARIANT(load.out_bytes >= cost(piece));
    load.out_bytes -= cost(piece);
    if (is_large(path, piece))
        note_done(load, moved_bytes(piece), piece.status == SENNIT_OK, now_ns());
}

Submit submit_piece(Engine &engine, MessagePath &path, OperationPiece *piece) {
    std::uint64_t full_rails = 0;
    for (;;) {
        const int rail = pick_rail(path, *piece, piece->tried_rails | full_rails);
        if (rail < 0) break;
        piece->operation.rail = static_cast<std::uint8_t>(rail);
        // Count first: the transport may complete the piece before submit() returns.
        RailLoad &load = path.loads[rail];
        load.out_bytes += cost(*piece);
        if (is_large(path, *piece)) note_submitted(load, moved_bytes(*piece), now_ns());
        ++engine.with_transports;
        const Submit answer = path.transport->submit(&piece->operation);
        if (answer == Submit::accepted) {
            if (path.rails > 1 && whole_bytes(*piece) >= kSpreadFromBytes)
                path.last_rail = static_cast<unsigned>(rail);
            return answer;
        }
        load.out_bytes -= cost(*piece);
        if (is_large(path, *piece)) undo_submitted(load, moved_bytes(*piece));
        --engine.with_transports;
        if (answer == Submit::again) {
            full_rails |= bit(static_cast<unsigned>(rail));
            continue;
        }
        const sennit_status why = thread_error()->status;
        piece->status = why == SENNIT_OK ? SENNIT_ERR_INTERNAL : why;
        if (piece->status != SENNIT_ERR_FABRIC) return Submit::failed;
        piece->avoid_rail();
    }
    if (full_rails != 0) return Submit::again;
    char trouble[128] = "";
    path.transport->describe_trouble(piece->operation.peer, trouble, sizeof trouble);
    piece->status =
        fail_peer(SENNIT_ERR_FABRIC, piece->operation.peer, path.transport->traits().name,
                  "no rail is left%s%s", trouble[0] != '\0' ? ": " : "", trouble);
    return Submit::failed;
}

std::uint64_t piece_bytes_of(MessagePath &path, int peer, std::uint64_t bytes,
                             Direction direction) {
    std::uint64_t most = path.max_piece_bytes;
    // Two pieces of a bulk put are open, so that the rail is busy until an answer comes.
    if (direction == Direction::put && bytes > path.bulk_bytes)
        most = std::min(most, path.bulk_bytes / 2);
    if (bytes < kSharedFromBytes || path.rails == 1) return most;
    return share_of(path.loads, usable_rails(path, peer), bytes, most);
}

}  // namespace sennit::op
