// SPDX-License-Identifier: BSD-3-Clause
// Lockstep of the path sim: only one of the joined rank threads runs at a time. A rank joins with
// its first submit or progress call and waits until all ranks of the job have joined (or left), so
// that the first choice does not depend on how fast threads start. The generator draws for how many
// progress calls the rank has the turn (about half of the turns last one), and then the next rank,
// perhaps the same. A rank leaves with close().
//
// If the rank with the turn blocks outside progress, no rank runs. When a rank has waited for its
// turn for `patience`, lockstep ends permanently with a message, and the threads run freely.
#include "base/log.hpp"
#include "transport/sim/world.hpp"

namespace sennit::transport::sim {

// A change of turns switches threads, which costs a thousand times as much as a step.
constexpr std::uint64_t kLongestTurn = 24;

int World::next_in_turn() {
    std::uint64_t candidates = 0;
    for (int rank = 0; rank < size_; ++rank)
        if (members_[rank].has_turns) ++candidates;
    if (candidates == 0) return -1;
    std::uint64_t left = draw(candidates);
    for (int rank = 0; rank < size_; ++rank) {
        if (!members_[rank].has_turns) continue;
        if (left-- == 0) return rank;
    }
    return -1;
}

void World::pass_to(int rank) {
    if (rank == holder_) return;
    holder_ = rank;
    ++counters_.turns;
    if (rank >= 0) members_[rank].turn.wake_one();
}

void World::wait_for_turn(int rank) {
    const auto patience_ms = static_cast<std::int64_t>(settings_.patience);
    const Deadline deadline = Deadline::after(patience_ms * 1'000'000);
    while (holder_ != rank && !counters_.lockstep_broken) {
        if (members_[rank].turn.wait(lock_, deadline)) continue;
        if (holder_ == rank || counters_.lockstep_broken) return;
        counters_.lockstep_broken = true;
        log(SENNIT_LOG_ERROR,
            "path sim: rank %d has waited %lld ms for its turn, which rank %d has (-1: none); "
            "lockstep has ended",
            rank, static_cast<long long>(patience_ms), holder_);
        for (int other = 0; other < size_; ++other)
            members_[other].turn.wake_one();
    }
}

void World::open_gate() {
    if (gate_open_ || gate_ < size_) return;
    gate_open_ = true;
    pass_to(next_in_turn());
}

// True if the rank has joined in this call; then it has the turn.
bool World::join_turns(int rank) {
    if (members_[rank].has_turns || counters_.lockstep_broken) return false;
    members_[rank].has_turns = true;
    ++gate_;
    open_gate();
    wait_for_turn(rank);
    return true;
}

void World::take_turn(int rank) {
    if (counters_.lockstep_broken || join_turns(rank)) return;
    if (steps_left_ > 0 && holder_ == rank) {
        --steps_left_;
        return;
    }
    steps_left_ = draw(2) == 0 ? 0 : draw(kLongestTurn);
    pass_to(next_in_turn());
    wait_for_turn(rank);
}

void World::leave_turns(int rank) {
    Member &member = members_[rank];
    if (member.has_turns) {
        member.has_turns = false;
        if (holder_ == rank) pass_to(next_in_turn());
        return;
    }
    ++gate_;
    open_gate();
}

}  // namespace sennit::transport::sim
