// SPDX-License-Identifier: BSD-3-Clause
// The short way of a blocking call of one round. It makes the same posts as the general way, but no
// operation (OpenCall), whose bookkeeping takes most of the time of a short call. It polls only for
// a short time. In any unusual case (no free slot, a late peer, another call at a peer) the general
// way continues the call, before or after the post. Peers cannot detect which way a rank used. In a
// team of one rank it posts nothing.
//
// Kind and slot size are template parameters, so that few branches remain.
#include <cstring>

#include "base/copy.hpp"
#include "coll/post.hpp"

namespace sennit::coll {
namespace {

template <SlotSize kSize>
void copy(void *to, const void *from, std::size_t bytes) {
    if (kSize == SlotSize::tiny || bytes <= kShortBytes) {
        copy_short(to, from, bytes);
    } else if (kSize == SlotSize::small) {
        std::memcpy(to, from, bytes);
    } else {
        copy_bytes(to, from, bytes);
    }
}

template <Kind kKind>
bool posts_payload(const TeamState &state, const Call &call) {
    return !from_root(kKind) || state.team->rank == call.root;
}

// The distance between pieces in a slot. For an alltoall it is the piece size that cut_of() chooses
// if all pieces fit into a slot, because peers may use the general way.
template <Kind kKind>
std::size_t piece_bytes_of(const Call &call) {
    if (kKind != Kind::alltoall) return call.bytes;
    return (call.bytes + kSmallAlignment - 1) / kSmallAlignment * kSmallAlignment;
}

// The offset of the piece for `destination` in the slot of `source`.
template <Kind kKind>
std::size_t offset_in_slot(const TeamState &state, const Call &call, std::uint32_t source,
                           std::uint32_t destination) {
    if (kKind != Kind::alltoall) return 0;
    return place_of_piece(call, *state.team, source, destination) * piece_bytes_of<kKind>(call);
}

template <Kind kKind, SlotSize kSize>
void fill_slot(const TeamState &state, const Call &call, std::byte *payload) {
    const team::Team &team = *state.team;
    if constexpr (kKind == Kind::broadcast) {
        copy<kSize>(payload, call.destination.memory, call.bytes);
    } else if constexpr (kKind != Kind::alltoall) {
        copy<kSize>(payload, block_for(call, team, team.rank).memory, call.bytes);
    } else {
        for (std::uint32_t member = 0; member < state.size; ++member) {
            if (member == team.rank) continue;
            copy<kSize>(payload + offset_in_slot<kKind>(state, call, team.rank, member),
                        block_for(call, team, member).memory, call.bytes);
        }
    }
}

// Whether the member's post has arrived and belongs to this call.
template <SlotSize kSize>
bool has_post_of(TeamState &state, const Call &call, std::uint64_t number, std::uint32_t member) {
    constexpr bool kIsTiny = kSize == SlotSize::tiny;
    const Place place{number, kSize};
    const SlotHeader &header = header_at(*state.areas[member], place);
    // SYNC coll-post: pairs with the release in post(); the payload comes before.
    if (header.number.load(std::memory_order_acquire) != number) return false;
    if (header.call != (kIsTiny ? tiny_signature_of(call) : signature_of(call))) return false;
    if (!kIsTiny && header.bytes != common_bytes(call)) return false;
    state.seen[member] = number;
    return true;
}

// Whether the posts that this rank reads, from member *next on, have arrived and belong to this
// call.
template <Kind kKind, SlotSize kSize>
bool has_all_posts(TeamState &state, const Call &call, std::uint64_t number, std::uint32_t *next) {
    const std::uint32_t own = state.team->rank;
    if (from_root(kKind))
        return own == call.root || has_post_of<kSize>(state, call, number, call.root);
    for (; *next < state.size; ++*next)
        if (*next != own && !has_post_of<kSize>(state, call, number, *next)) return false;
    return true;
}

// Prefetches the lines of the next posts during the wait for this post. A root that runs ahead has
// already written them.
template <SlotSize kSize>
void fetch_ahead(const TeamState &state, const Call &call, std::uint64_t number) {
    constexpr std::uint64_t kAhead = 3;
    constexpr std::uint64_t kPostsOnALine = kSize == SlotSize::tiny ? 2 : 1;
    for (std::uint64_t i = 1; i <= kAhead; ++i) {
        const Place place{number + i * kPostsOnALine, kSize};
        __builtin_prefetch(&header_at(*state.areas[call.root], place));
        if (kSize == SlotSize::tiny) continue;
        const std::byte *end = payload_at(*state.areas[call.root], place) + call.bytes;
        if (call.bytes > 32) __builtin_prefetch(end - 1);
    }
}

// `payload` is the offset of the payload in each member's Area.
sennit_status fold_all(const TeamState &state, const Call &call, std::size_t payload) {
    const team::Team &team = *state.team;
    const std::byte *left = nullptr;
    for (std::uint32_t member = 0; member < state.size; ++member) {
        const bool from_slot = member != team.rank || call.in_place;
        const auto *area = reinterpret_cast<const std::byte *>(state.areas[member]);
        const std::byte *right = from_slot ? area + payload : block_for(call, team, member).memory;
        if (left != nullptr) {
            const sennit_status status =
                fold(call, left, right, call.destination.memory, call.bytes);
            if (status != SENNIT_OK) return status;
        }
        left = left == nullptr ? right : call.destination.memory;
    }
    return SENNIT_OK;
}

template <Kind kKind, SlotSize kSize>
sennit_status take_all(const TeamState &state, const Call &call, std::uint64_t number) {
    const team::Team &team = *state.team;
    const Place place{number, kSize};
    if constexpr (folds(kKind)) {
        return fold_all(state, call, payload_offset(place));
    } else if constexpr (kKind == Kind::broadcast) {
        if (team.rank != call.root)
            copy<kSize>(call.destination.memory, payload_at(*state.areas[call.root], place),
                        call.bytes);
    } else {
        for (std::uint32_t member = 0; member < state.size; ++member) {
            if (member == team.rank) continue;
            const std::byte *payload = payload_at(*state.areas[member], place);
            copy<kSize>(block_from(call, team, member).memory,
                        payload + offset_in_slot<kKind>(state, call, member, team.rank),
                        call.bytes);
        }
    }
    return SENNIT_OK;
}

template <Kind kKind, SlotSize kSize>
[[gnu::always_inline]] inline ShortWay take(TeamState &state, const Call &call) {
    const Place place{state.number + 1, kSize};
    // Only an eighth of the polls of a wait, because the general way polls again.
    unsigned polls = state.rank->spins / 8;
    while (!room_is_known(state, place) && !has_room(state, place)) {
        if (polls-- == 0) return ShortWay::not_taken;
        cpu_pause();
    }
    const bool posts_something = posts_payload<kKind>(state, call);
    if (call.bytes != 0) {
        if (posts_something) fill_slot<kKind, kSize>(state, call, payload_at(*state.own, place));
        constexpr bool kHasOwnBlock = kKind == Kind::allgather || kKind == Kind::alltoall;
        if (kHasOwnBlock && copy_own_block(state, call) != SENNIT_OK) return ShortWay::not_taken;
    }
    post(state, call, {place, 1, posts_something});

    constexpr bool kIsShort = kSize == SlotSize::tiny || kSize == SlotSize::small;
    if (kIsShort && from_root(kKind) && !posts_something)
        fetch_ahead<kSize>(state, call, place.number);
    std::uint32_t next = 0;
    bool is_there = has_all_posts<kKind, kSize>(state, call, place.number, &next);
    for (; !is_there && polls != 0; --polls) {
        cpu_pause();
        is_there = has_all_posts<kKind, kSize>(state, call, place.number, &next);
    }
    if (!is_there) return ShortWay::posted;
    if (call.bytes != 0 && take_all<kKind, kSize>(state, call, place.number) != SENNIT_OK)
        return ShortWay::failed;
    return ShortWay::done;
}

// Uses the slot that begin() would choose. A function of its own, so that take_short_way() saves no
// registers for calls without a short way.
template <Kind kKind>
[[gnu::noinline]] ShortWay take_in_slot(TeamState &state, const Call &call) {
    std::size_t bytes = call.bytes;
    if (kKind == Kind::alltoall) {
        const std::size_t longest = kPayloadBytes / state.size / kPieceAlignment * kPieceAlignment;
        if (call.bytes == 0 || call.bytes > longest) return ShortWay::not_taken;
        bytes = piece_bytes_of<kKind>(call) * state.size;
    }
    switch (slot_size_for(kKind, bytes)) {
        case SlotSize::tiny:
            if constexpr (kKind == Kind::broadcast) return take<kKind, SlotSize::tiny>(state, call);
            break;
        case SlotSize::small:
            return take<kKind, SlotSize::small>(state, call);
        case SlotSize::middle:
            return take<kKind, SlotSize::middle>(state, call);
        case SlotSize::full:
            break;
    }
    return take<kKind, SlotSize::full>(state, call);
}

// For a team of one rank: no post, since nobody reads it.
ShortWay take_alone(const TeamState &state, const Call &call) {
    if (folds(call.kind)) return ShortWay::not_taken;
    return copy_own_block(state, call) == SENNIT_OK ? ShortWay::done : ShortWay::failed;
}

}  // namespace

ShortWay take_short_way(TeamState &state, const Call &call) {
    // relaxed: requests that were started before this call are counted, and only the owner of the
    // turn, which is this thread, ends them.
    if (state.open_requests.load(std::memory_order_relaxed) != 0 || !state.reaches_control)
        return ShortWay::not_taken;
    if (state.size == 1) return take_alone(state, call);
    if (call.bytes > kPayloadBytes || call.bytes >= in_place_from(state, call))
        return ShortWay::not_taken;
    switch (call.kind) {
        case Kind::broadcast:
            return take_in_slot<Kind::broadcast>(state, call);
        case Kind::allgather:
            return take_in_slot<Kind::allgather>(state, call);
        case Kind::allreduce:
            return take_in_slot<Kind::allreduce>(state, call);
        case Kind::alltoall:
            return take_in_slot<Kind::alltoall>(state, call);
        default:
            return ShortWay::not_taken;
    }
}

}  // namespace sennit::coll
