// SPDX-License-Identifier: BSD-3-Clause
// Makes posts. Inline, since most of a short collective call is one post.
#pragma once

#include "coll/state.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {

// The number that all members must reach before the slot is written again.
inline std::uint64_t &needed_for(TeamState &state, Place place) {
    return state.needed[shape_of(place.size).book + slot_of(place)];
}

// has_room() without a load of the peers' numbers. False means unknown.
inline bool room_is_known(TeamState &state, Place place) {
    const std::uint64_t needed = needed_for(state, place);
    const std::uint32_t own = state.team->rank;
    for (std::uint32_t member = 0; member < state.size; ++member)
        if (state.seen[member] < needed && member != own) return false;
    state.room_member = 0;
    return true;
}

inline void ring(const TeamState &state) {
    // SYNC doorbell: pairs with the fence in announce_sleep(); the numbers come before the loads of
    // `sleepers`.
    store_load_fence();
    const auto ring_one = [&](std::uint32_t member) {
        Doorbell *bell = state.bells[member];
        // relaxed: the fence above orders it, for all peers.
        if (bell != nullptr && bell->sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
            ring_sleepers(*bell);
    };
    // Each rank starts with a different member.
    const std::uint32_t own = state.team->rank;
    for (std::uint32_t member = own + 1; member < state.size; ++member)
        ring_one(member);
    for (std::uint32_t member = 0; member < own; ++member)
        ring_one(member);
}

struct Post {
    Place place;
    std::uint32_t rounds;
    bool is_read;                      // by others, so the slot must stay valid
    sennit_status status = SENNIT_OK;  // of this rank's part of the call so far
};

// Posts. The payload is already in the slot, and has_room() was true.
[[gnu::always_inline]] inline void post(TeamState &state, const Call &call, const Post &what) {
    const std::uint64_t number = what.place.number;
    if (what.is_read) {
        SlotHeader &header = header_at(*state.own, what.place);
        if (what.place.size == SlotSize::tiny) {
            header.call = tiny_signature_of(call);
        } else {
            header.call = signature_of(call);
            header.bytes = common_bytes(call);
            header.rounds = what.rounds;
            header.status = static_cast<std::uint32_t>(what.status);
        }
        needed_for(state, what.place) = number + 1;
        // SYNC coll-post: pairs with the acquire in has_posted(); the payload comes before.
        header.number.store(number, std::memory_order_release);
    }
    state.number = number;
    // relaxed: find_lost_member() may find nothing with an old number, but it is called again.
    state.awaited.store(number, std::memory_order_relaxed);
    // SYNC coll-post: pairs with the acquires in has_reached(), fetch_number() and
    // find_lost_member(); the payload, and this rank's reads of earlier posts, come before.
    state.own->latest.number.store(number, std::memory_order_release);
    ring(state);
}

}  // namespace sennit::coll
