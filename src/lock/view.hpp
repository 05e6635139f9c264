// SPDX-License-Identifier: BSD-3-Clause
// One call's access to a lock: to the rank's own piece, and to the words of the home by any path.
// Used only by lock.cpp.
#pragma once

#include "lock/lock.hpp"
#include "op/atomic.hpp"
#include "runtime/detector.hpp"

namespace sennit::lock {

constexpr std::uint32_t holder_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word & kHolderMask);
}
// The next word: one more change than in `word`, and the given holder (rank + 1) and flags.
constexpr std::uint64_t next_word(std::uint64_t word, std::uint64_t holder_and_flags) {
    return (word & ~(kLockChange - 1)) + kLockChange + holder_and_flags;
}
constexpr std::uint64_t waiting_offset(std::uint32_t member) {
    return sizeof(LockPiece) + sizeof(LockLine) * std::uint64_t{member};
}

class LockView {
  public:
    // Errors: ARG (no lock of this rank).
    sennit_status open(Rank &rank, sennit_lock lock);

    Rank &rank() const { return *rank_; }
    LockOwn &own() const { return piece_->own; }
    std::uint32_t size() const { return piece_->own.size; }
    std::uint32_t self() const { return piece_->own.rank; }
    std::uint32_t self_mark() const { return piece_->own.rank + 1; }
    const std::atomic<std::uint64_t> &grant() const { return piece_->grant.word; }
    // World rank of a rank of the team.
    int world_rank(std::uint32_t member) const;
    bool is_gone(std::uint32_t member) const {
        return peer_gone(*rank_, world_rank(member)) != Gone::no;
    }

    // PEER_LOST if the home has left.
    sennit_status check_home() const {
        return peer_gone(*rank_, home_.rank) == Gone::left ? fail_lost(*rank_, home_.rank)
                                                           : SENNIT_OK;
    }

    // Access to words of the home. If only messages reach the home, the operations of op/atomic.hpp
    // do the release or acquire.
    sennit_status load(std::uint64_t offset, std::uint64_t *value) const;
    sennit_status store(std::uint64_t offset, std::uint64_t value) const;
    sennit_status add_one(std::uint64_t offset, std::uint64_t *old) const;
    // Expects *word, and loads the old value into it. The swap succeeded if *word is unchanged.
    sennit_status compare_swap(std::uint64_t *word, std::uint64_t desired) const;

    sennit_status load_word(std::uint64_t *word) const {
        return load(offsetof(LockPiece, word), word);
    }
    // Publishes the ticket with which this rank waits; 0: it does not wait.
    sennit_status set_waiting(std::uint64_t ticket) const {
        return store(waiting_offset(self()), ticket);
    }
    // Finds the first living rank that waits, this one included. *mark becomes its number in the
    // team + 1, or 0 if there is none.
    sennit_status find_first(std::uint32_t *mark, std::uint64_t *ticket) const;
    // Notifies a rank that it has the lock. Errors do not matter: the rank also checks the word.
    void grant_to(std::uint32_t mark, std::uint64_t ticket) const;

  private:
    // Returns PEER_LOST instead of NOT_REGISTERED if the home has left.
    sennit_status lost_if_left(sennit_status status) const;
    sennit_status by_message(std::uint8_t operation, std::uint64_t offset, const void *operands,
                             std::uint64_t *result) const;
    sennit_status read_queue(std::uint32_t first, std::uint32_t count,
                             std::uint64_t *tickets) const;

    Rank *rank_ = nullptr;
    LockPiece *piece_ = nullptr;
    sennit_gptr home_ = SENNIT_GPTR_NULL;
    std::byte *base_ = nullptr;  // of the home's piece; null if only messages reach it
};

}  // namespace sennit::lock
