// The short way of a blocking call of one small round, the same posts without an operation: it is
// there for the time that the general way takes to keep its books, which is most of the time of
// such a call. It does what it can without waiting long; whenever something is not as in nearly
// all calls (no room, a peer that is late, another call at a peer) it leaves the call to the
// general way, before the post or after it. Peers can not tell which way a rank went.
#include <cstring>

#include "coll/state.hpp"

namespace sennit::coll {
namespace {

bool is_for_short_way(const State &state, const Call &call) {
    switch (call.kind) {
        case Kind::broadcast:
        case Kind::allgather:
        case Kind::allreduce:
        case Kind::alltoall:
            break;
        default:
            return false;
    }
    return state.first == nullptr && state.reaches_control && state.size > 1 &&
           call.bytes <= kSmallPayloadBytes && !wants_letters(state, call);
}

// Where the piece for `destination` lies in the slot of `source`.
std::size_t offset_in_slot(const State &state, const Call &call, std::size_t piece_bytes,
                           std::uint32_t source, std::uint32_t destination) {
    if (call.kind != Kind::alltoall) return 0;
    return place_of_piece(call, *state.team, source, destination) * piece_bytes;
}

void fill_slot(const State &state, const Call &call, std::size_t piece_bytes, std::byte *payload) {
    const team::Team &team = *state.team;
    if (call.kind != Kind::alltoall) {
        const Block block = block_for(call, team, team.rank);
        std::memcpy(payload, block.memory, block.bytes);
        return;
    }
    for (std::uint32_t member = 0; member < state.size; ++member) {
        if (member == team.rank) continue;
        const Block block = block_for(call, team, member);
        std::memcpy(payload + offset_in_slot(state, call, piece_bytes, team.rank, member),
                    block.memory, block.bytes);
    }
}

// What a post of this call looks like.
struct Wanted {
    Place place;
    std::uint64_t signature;
    std::uint64_t bytes;  // not of a tiny slot: its signature says the size, too
};

bool is_of(const SlotHeader &header, const Wanted &wanted) {
    return header.call == wanted.signature &&
           (wanted.place.size == SlotSize::tiny || header.bytes == wanted.bytes);
}

// The posts that this rank reads, from member *next on, are there and belong to this call.
bool has_all_posts(State &state, const Call &call, const Wanted &wanted, std::uint32_t *next) {
    const std::uint32_t own = state.team->rank;
    const bool from_one = from_root(call.kind);
    for (; *next < state.size; ++*next) {
        if (*next == own || (from_one && *next != call.root)) continue;
        const SlotHeader &header = header_at(*state.areas[*next], wanted.place);
        // SYNC coll-post: pairs with the release in post(); the payload comes before.
        if (header.number.load(std::memory_order_acquire) != wanted.place.number) return false;
        if (!is_of(header, wanted)) return false;
        state.seen[*next] = wanted.place.number;
    }
    return true;
}

// A root that runs ahead has written the next posts already: their lines come while this one is
// waited for, instead of one after the other.
void fetch_ahead(const State &state, const Call &call, const Place &present) {
    constexpr std::uint64_t kAhead = 3;
    const std::uint64_t step = present.size == SlotSize::tiny ? 2 : 1;
    for (std::uint64_t i = 1; i <= kAhead; ++i) {
        const Place place{present.number + i * step, present.size};
        __builtin_prefetch(&header_at(*state.areas[call.root], place));
        const std::byte *end = payload_at(*state.areas[call.root], place) + call.bytes;
        if (call.bytes > 32) __builtin_prefetch(end - 1);
    }
}

void take_all(const State &state, const Call &call, std::size_t piece_bytes, const Place &place) {
    const team::Team &team = *state.team;
    if (folds(call.kind)) {
        const std::byte *left = nullptr;
        for (std::uint32_t member = 0; member < state.size; ++member) {
            const bool from_slot = member != team.rank || call.in_place;
            const std::byte *right = from_slot ? payload_at(*state.areas[member], place)
                                               : block_for(call, team, member).memory;
            if (left != nullptr) fold(call, left, right, call.destination.memory, call.bytes);
            left = left == nullptr ? right : call.destination.memory;
        }
        return;
    }
    for (std::uint32_t member = 0; member < state.size; ++member) {
        if (member == team.rank || !reads(call, team.rank, member)) continue;
        const Block to = block_from(call, team, member);
        const std::byte *payload = payload_at(*state.areas[member], place);
        std::memcpy(to.memory,
                    payload + offset_in_slot(state, call, piece_bytes, member, team.rank),
                    to.bytes);
    }
}

}  // namespace

ShortWay take_short_way(State &state, const Call &call) {
    if (!is_for_short_way(state, call)) return ShortWay::not_taken;
    // Of an alltoall as cut_of() has it for pieces that all fit into a small slot.
    std::size_t piece_bytes = call.bytes;
    if (call.kind == Kind::alltoall) {
        piece_bytes = (call.bytes + kSmallAlignment - 1) / kSmallAlignment * kSmallAlignment;
        if (call.bytes == 0 || piece_bytes * state.size > kSmallPayloadBytes)
            return ShortWay::not_taken;
    }
    const Place place{state.number + 1, slot_size_for(call.kind, call.bytes)};
    if (!has_room(state, place)) return ShortWay::not_taken;
    const bool is_read_by_others = is_read(call, *state.team, state.team->rank);
    if (call.bytes != 0) {
        if (is_read_by_others) fill_slot(state, call, piece_bytes, payload_at(*state.own, place));
        if (copy_own_block(state, call) != SENNIT_OK) return ShortWay::not_taken;
    }
    post(state, call, {place, 1, is_read_by_others});

    const bool is_tiny = place.size == SlotSize::tiny;
    const Wanted wanted{place, is_tiny ? tiny_signature_of(call) : signature_of(call), call.bytes};
    if (from_root(call.kind) && !is_read_by_others) fetch_ahead(state, call, place);
    std::uint32_t next = 0;
    bool is_there = has_all_posts(state, call, wanted, &next);
    // A part of the polls of a wait, which begins anew afterwards.
    for (unsigned i = 0; !is_there && i < state.rank->spins / 8; ++i) {
        cpu_pause();
        is_there = has_all_posts(state, call, wanted, &next);
    }
    if (!is_there) return ShortWay::posted;
    if (call.bytes != 0) take_all(state, call, piece_bytes, place);
    return ShortWay::done;
}

}  // namespace sennit::coll
