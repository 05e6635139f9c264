// SPDX-License-Identifier: BSD-3-Clause
#include "lock/view.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "runtime/wait.hpp"

namespace sennit::lock {
namespace {

constexpr std::uint32_t kAtATime = 16;  // number of queue lines that are read together

using Word = std::atomic<std::uint64_t>;

Word &word_at(std::byte *base, std::uint64_t offset) {
    return *reinterpret_cast<Word *>(base + offset);
}

}  // namespace

sennit_status LockView::open(Rank &rank, sennit_lock lock) {
    rank_ = &rank;
    const sennit_gptr mine{rank.world_rank, lock.segment, 0};
    piece_ = reinterpret_cast<LockPiece *>(op::reached(rank, mine, sizeof(LockPiece)));
    if (piece_ == nullptr || piece_->own.magic != kLockMagic ||
        team::slot_of(lock.team) != memory::team_slot_of(lock.segment)) [[unlikely]]
        return fail(SENNIT_ERR_ARG, "handle {%#x, %u} is no lock of this rank", lock.segment,
                    lock.team);
    home_ = sennit_gptr{piece_->own.home, lock.segment, 0};
    base_ = op::reached(rank, home_, sizeof(std::uint64_t));
    return SENNIT_OK;
}

int LockView::world_rank(std::uint32_t member) const {
    const auto *bytes = reinterpret_cast<const std::byte *>(piece_) + waiting_offset(size());
    return reinterpret_cast<const std::int32_t *>(bytes)[member];
}

sennit_status LockView::lost_if_left(sennit_status status) const {
    // The home's memory was freed when the home left.
    if (status == SENNIT_ERR_NOT_REGISTERED && peer_gone(*rank_, home_.rank) != Gone::no)
        return fail_lost(*rank_, home_.rank);
    return status;
}

sennit_status LockView::by_message(std::uint8_t operation, std::uint64_t offset,
                                   const void *operands, std::uint64_t *result) const {
    op::AtomicArgs args{operation, SENNIT_UINT64, home_, operands, result, 1};
    args.target.offset = offset;
    return lost_if_left(op::atomic(*rank_, args, op::kBuffered));
}

sennit_status LockView::load(std::uint64_t offset, std::uint64_t *value) const {
    if (base_ != nullptr) [[likely]] {
        // SYNC lock-word: pairs with the releases below in other ranks; everything that a rank did
        // before it changed the word comes before.
        *value = word_at(base_, offset).load(std::memory_order_acquire);
        return SENNIT_OK;
    }
    return by_message(SENNIT_NO_OP, offset, nullptr, value);
}

sennit_status LockView::store(std::uint64_t offset, std::uint64_t value) const {
    if (base_ != nullptr) [[likely]] {
        // SYNC lock-word: pairs with the acquire in load(); the place in the queue comes before the
        // change of the word that announces it.
        word_at(base_, offset).store(value, std::memory_order_release);
        return SENNIT_OK;
    }
    return by_message(SENNIT_REPLACE, offset, &value, nullptr);
}

sennit_status LockView::add_one(std::uint64_t offset, std::uint64_t *old) const {
    if (base_ != nullptr) [[likely]] {
        // relaxed: tickets only have to differ and grow.
        *old = word_at(base_, offset).fetch_add(1, std::memory_order_relaxed);
        return SENNIT_OK;
    }
    const std::uint64_t one = 1;
    return by_message(SENNIT_SUM, offset, &one, old);
}

sennit_status LockView::compare_swap(std::uint64_t *word, std::uint64_t desired) const {
    constexpr std::uint64_t kOffset = offsetof(LockPiece, word);
    if (base_ != nullptr) [[likely]] {
        // SYNC lock-word: release and acquire, pairs with itself and with load() in other ranks;
        // all that the last holder did comes before all that the next one does.
        (void)word_at(base_, kOffset)
            .compare_exchange_strong(*word, desired, std::memory_order_acq_rel,
                                     std::memory_order_acquire);
        return SENNIT_OK;
    }
    const std::uint64_t operands[2] = {*word, desired};
    return by_message(op::kCompareSwap, kOffset, operands, word);
}

sennit_status LockView::read_queue(std::uint32_t first, std::uint32_t count,
                                   std::uint64_t *tickets) const {
    if (base_ != nullptr) {
        for (std::uint32_t i = 0; i < count; ++i)
            (void)load(waiting_offset(first + i), &tickets[i]);
        return SENNIT_OK;
    }
    LockLine lines[kAtATime];
    sennit_gptr there = home_;
    there.offset = waiting_offset(first);
    const sennit_status status = lost_if_left(op::transfer(
        *rank_, op::Direction::get, there, lines, sizeof(LockLine) * count, op::kBuffered));
    for (std::uint32_t i = 0; status == SENNIT_OK && i < count; ++i)
        tickets[i] = lines[i].word.load(std::memory_order_relaxed);  // relaxed: a private copy
    return status;
}

sennit_status LockView::find_first(std::uint32_t *mark, std::uint64_t *ticket) const {
    // Each iteration finds the lowest ticket above those of dead ranks.
    for (std::uint64_t above = 0;;) {
        *mark = 0;
        *ticket = UINT64_MAX;
        for (std::uint32_t first = 0; first < size(); first += kAtATime) {
            std::uint64_t tickets[kAtATime];
            const std::uint32_t count = std::min(kAtATime, size() - first);
            const sennit_status status = read_queue(first, count, tickets);
            if (status != SENNIT_OK) return status;
            for (std::uint32_t i = 0; i < count; ++i) {
                if (tickets[i] <= above || tickets[i] >= *ticket) continue;
                *mark = first + i + 1;
                *ticket = tickets[i];
            }
        }
        if (*mark == 0 || !is_gone(*mark - 1)) return SENNIT_OK;
        above = *ticket;
    }
}

void LockView::grant_to(std::uint32_t mark, std::uint64_t ticket) const {
    const int peer = world_rank(mark - 1);
    const sennit_gptr there{peer, home_.segment, offsetof(LockPiece, grant)};
    if (auto *word = op::reached(*rank_, there, sizeof(std::uint64_t))) {
        // The grant may only grow: a slow rank must not overwrite a later grant.
        Word &grant = *reinterpret_cast<Word *>(word);
        // relaxed: the exchange decides.
        std::uint64_t old = grant.load(std::memory_order_relaxed);
        // SYNC lock-grant: pairs with the acquire in has_grant(); the change of the word that gives
        // the rank the lock comes before. relaxed on failure: it only checks again.
        while (old < ticket && !grant.compare_exchange_weak(old, ticket, std::memory_order_release,
                                                            std::memory_order_relaxed)) {
        }
        if (ControlBlock *control = control_of(*rank_, peer)) ring_doorbell(*control);
        return;
    }
    const ErrorGuard unrelated;
    (void)op::atomic(*rank_, {SENNIT_MAX, SENNIT_UINT64, there, &ticket, nullptr, 1},
                     op::kBuffered);
}

}  // namespace sennit::lock
