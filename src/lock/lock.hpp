// SPDX-License-Identifier: BSD-3-Clause
// Locks of a team: a word and a queue in the memory of its first rank, a line of its own for each
// rank to wait at. Every step on shared words is one atomic operation, so the same code serves
// every path. Called by api/lock.cpp. docs/design/locks.md has states, invariants and failures;
// tests/models/lock.pml searches all their runs.
//
// All of a lock lies in one segment of the team, its handle is that segment's id: nothing is kept
// in the rank object, and a stale handle is refused like a stale pointer.
#pragma once

#include <sennit/lock.h>

#include "base/clock.hpp"
#include "team/team.hpp"

namespace sennit::lock {

inline constexpr std::uint64_t kLockMagic = 0x31304B434F4C4E53;  // "SNLOCK01", little endian

// A word that many ranks change, on a line of its own.
struct alignas(kLineBytes) LockLine {
    std::atomic<std::uint64_t> word;
    std::uint8_t unused[120];
};
static_assert(sizeof(LockLine) == 128);

// What only the threads of the rank that owns the piece use.
struct alignas(kLineBytes) LockOwn {
    std::uint64_t magic;
    std::uint32_t size;               // of the team
    std::uint32_t rank;               // in the team
    std::int32_t home;                // world rank of the team's first rank
    std::atomic<std::uint32_t> busy;  // a thread of this rank is in a call of the lock
    std::uint64_t last_word;          // of the lock's word, as this rank has left or taken it
    std::uint8_t unused[96];
};
static_assert(sizeof(LockOwn) == 128 && offsetof(LockOwn, busy) == 20 &&
              offsetof(LockOwn, unused) == 32);

// Head of each rank's piece. Behind it: `size` LockLines, where rank i of the team says in line i
// of the home's piece that it waits (its ticket, 0: it does not), then `size` world ranks.
struct LockPiece {
    LockLine word;     // of the home: who holds, see below
    LockLine tickets;  // of the home: tickets given out
    LockLine grant;    // of each rank: the ticket by which it was given the lock
    LockOwn own;
};
static_assert(sizeof(LockPiece) == 512 && offsetof(LockPiece, grant) == 256);

// The word: 0..23 the holder's rank in the team + 1 (0: free), 24 somebody may wait, 25 the holder
// before it died, 26..63 changes. Every change of the word, and every change of the queue, adds one
// change; so a compare_swap from a word that was read before a look at the queue succeeds only if
// the queue is still the same.
inline constexpr std::uint64_t kHolderMask = (std::uint64_t{1} << 24) - 1;
inline constexpr std::uint64_t kLockWaiters = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kLockDied = std::uint64_t{1} << 25;
inline constexpr std::uint64_t kLockChange = std::uint64_t{1} << 26;

// Collective, needs a CollectiveCall. Errors: as allocate().
sennit_status lock_create(Rank &rank, team::Team &team, sennit_status refused, sennit_lock *lock);

// The others find the rank's own view of the lock; ARG if the handle is none.
sennit_status lock_acquire(Rank &rank, sennit_lock lock, const Deadline &deadline);
sennit_status lock_try(Rank &rank, sennit_lock lock, int *acquired);
sennit_status lock_release(Rank &rank, sennit_lock lock);
// Before its segment is freed: ARG if it is none, STATE if this rank holds it.
sennit_status lock_check_idle(Rank &rank, sennit_lock lock);

}  // namespace sennit::lock
