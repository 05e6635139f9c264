// SPDX-License-Identifier: BSD-3-Clause
// The process object: what belongs to the address space and not to a rank. One per process, made at
// load time, never freed. Its fields are documented in process.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "rank/rank.hpp"

namespace sennit {

inline constexpr int kRanksPerProcess = 64;

// Hidden where they are declared, too: otherwise the compiler looks for their addresses in a table.
#pragma GCC visibility push(hidden)

// Stands for `no rank`: it remembers no entry, its size is 0 and its hot tables are empty for ever,
// so whoever finds it fails the check of the peer's number or of the handle, and finding a rank
// needs no check of its own.
extern constinit Rank nobody;

// The rank the calling thread was attached to, or nobody. Initial-exec: one load relative to the
// thread pointer; constinit: no check whether it was initialised. The cost of the alternatives is
// measured in docs/design/decisions/0001-ranks-as-threads.md.
extern constinit thread_local Rank *thread_rank [[gnu::tls_model("initial-exec")]];

// The rank of all threads while the process has exactly one rank, else null.
extern constinit std::atomic<Rank *> only_rank;

// Its hot tables, or those of nobody: never null.
extern constinit std::atomic<HotTables *> only_tables;

#pragma GCC visibility pop

// Never null.
inline Rank *current_rank() {
    // SYNC only-rank: pairs with the release in publish_only_rank(); the rank's set-up is complete.
    Rank *rank = only_rank.load(std::memory_order_acquire);
    if (rank == nullptr) [[unlikely]] {
        rank = thread_rank;
        if (rank == nullptr) __builtin_unreachable();
    }
    return rank;
}

// The first chunk of one of the hot tables of the calling thread's rank, or null. One test finds
// both that the process has not exactly one rank and that this has no such table.
template <HotTable HotTables::*kTable>
inline void *current_table() {
    // SYNC only-rank: pairs with the release in publish_only_rank(); the rank's set-up is complete.
    void *chunk = (only_tables.load(std::memory_order_acquire)->*kTable).first();
    if (chunk == nullptr) [[unlikely]]
        chunk = (thread_rank->*kTable).first();
    return chunk;
}

// True in a process that was forked while Sennit was in use: every call answers STATE there.
bool process_is_forked_child();

// What memory/ does around a fork of the process: `prepare` before it, then one of the others, all
// three in the thread that forks. `prepare` lets one thread at a time through. Constants of the
// program.
struct ForkHooks {
    void (*prepare)();
    void (*parent)();
    void (*child)();
};
void process_watch_forks(const ForkHooks *hooks);

// A free rank object, reset, not yet found by other threads. The first rank of the process reads
// the knobs. Errors: NOMEM when kRanksPerProcess are in use, and what a knob is refused with.
sennit_status process_claim_rank(Rank **rank);
// From here on threads find it; the calling thread is attached to it.
void process_publish_rank(Rank *rank);
// The rank is no longer found; its object may be claimed again. The calling thread is detached.
void process_release_rank(Rank *rank);

// The rank object of this process with that world rank, or null.
Rank *process_find_rank(int world_rank);
int process_rank_count();

// The control blocks that ranks of this process have mapped for themselves. A peer takes the
// address of one, or of something that is unmapped after it, from a message that may be older than
// the rank: `use` is called, and true returned, only while the rank has not begun to unmap it.
void process_show_control(const Rank &rank);
void process_hide_control(const Rank &rank);
bool process_use_control(ControlBlock *control, void (*use)(void *object), void *object);

// Random, chosen once per process: equal on two ranks only if they share an address space.
std::uint64_t process_cookie();

}  // namespace sennit
