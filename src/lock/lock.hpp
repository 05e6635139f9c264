// SPDX-License-Identifier: BSD-3-Clause
// Locks of a team. A lock has a word and a queue in the memory of the team's first rank, the
// *home*. Each rank has a line in its own memory, which it polls while it waits. Every step on
// shared words is one atomic operation, so the same code works on every path. Called by
// api/lock.cpp. docs/design/locks.md has states, invariants and failures; tests/models/lock.pml
// checks all interleavings.
//
// A lock is in one segment of the team, and its handle names this segment. So the rank object
// stores nothing for the lock, and a stale handle is refused like a stale pointer.
#pragma once

#include <sennit/lock.h>

#include "base/clock.hpp"
#include "team/team.hpp"

namespace sennit::lock {

inline constexpr std::uint64_t kLockMagic = 0x31304B434F4C4E53;  // "SNLOCK01", little endian

// A word that many ranks change, on its own line.
struct alignas(kLineBytes) LockLine {
    std::atomic<std::uint64_t> word;
    std::uint8_t unused[120];
};
static_assert(sizeof(LockLine) == 128);

// Used only by threads of the rank that owns the piece.
struct alignas(kLineBytes) LockOwn {
    std::uint64_t magic;
    std::uint32_t size;               // of the team
    std::uint32_t rank;               // in the team
    std::int32_t home;                // world rank of the team's first rank
    std::atomic<std::uint32_t> busy;  // a thread of this rank is in a call of the lock
    std::uint64_t last_word;  // the lock's word after this rank last acquired or released it
    std::uint8_t unused[96];
};
static_assert(sizeof(LockOwn) == 128 && offsetof(LockOwn, busy) == 20 &&
              offsetof(LockOwn, unused) == 32);

// The head of each rank's piece. `size` LockLines follow, then `size` world ranks. Rank i of the
// team writes its ticket into line i of the home's piece while it waits, else 0.
struct LockPiece {
    LockLine word;     // used at the home: holder, flags, count of changes
    LockLine tickets;  // used at the home: number of tickets given out
    LockLine grant;    // used at each rank: the ticket that got the lock
    LockOwn own;
};
static_assert(sizeof(LockPiece) == 512 && offsetof(LockPiece, grant) == 256);

// Bits of the word: 0..23 the holder's rank in the team + 1 (0: free); 24 a rank may wait; 25 the
// previous holder died; 26..63 number of changes of the word. A rank that joins or leaves the queue
// changes the word afterwards. So if a rank reads the word, then the queue, its compare_swap from
// that word fails if another rank has joined or left the queue meanwhile.
inline constexpr std::uint64_t kHolderMask = (std::uint64_t{1} << 24) - 1;
inline constexpr std::uint64_t kLockWaiters = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kLockDied = std::uint64_t{1} << 25;
inline constexpr std::uint64_t kLockChange = std::uint64_t{1} << 26;

// Collective, needs a CollectiveCall. Errors: as allocate().
sennit_status lock_create(Rank &rank, team::Team &team, sennit_status refused, sennit_lock *lock);

// Errors of all: ARG if the handle is invalid for this rank.
sennit_status lock_acquire(Rank &rank, sennit_lock lock, const Deadline &deadline);
sennit_status lock_try(Rank &rank, sennit_lock lock, int *acquired);
sennit_status lock_release(Rank &rank, sennit_lock lock);
// Called before the segment is freed. Errors: ARG (no lock), STATE (this rank holds it).
sennit_status lock_check_idle(Rank &rank, sennit_lock lock);

}  // namespace sennit::lock
