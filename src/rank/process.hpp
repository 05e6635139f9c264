// SPDX-License-Identifier: BSD-3-Clause
// The process object: state of the address space that belongs to no rank. One per process, made at
// load time, never freed. process.cpp documents its fields.
#pragma once

#include <atomic>
#include <cstdint>

#include "rank/rank.hpp"

namespace sennit {

inline constexpr int kRanksPerProcess = 64;

// The declarations have hidden visibility too: without it the compiler loads the addresses from a
// table.
#pragma GCC visibility push(hidden)

// The rank object of threads without a rank: it has no cached entry, size 0 and empty hot tables. A
// call that finds it fails in its usual check of the peer's number or of the handle, so no extra
// check is needed.
extern constinit Rank nobody;

// The rank to which the calling thread is attached, or `nobody`. `initial-exec` makes an access one
// load relative to the thread pointer; `constinit` saves the check whether it is initialised.
// docs/design/decisions/0001-ranks-as-threads.md has the measured costs of the alternatives.
extern constinit thread_local Rank *thread_rank [[gnu::tls_model("initial-exec")]];

// The rank of all threads. Null: the process has no rank, or may have several
// (publish_only_rank()).
extern constinit std::atomic<Rank *> only_rank;

// The hot tables of only_rank, or of `nobody` if that is null; never null.
extern constinit std::atomic<HotTables *> only_tables;

#pragma GCC visibility pop

// Never null.
inline Rank *current_rank() {
    // SYNC only-rank: pairs with the release in publish_only_rank(); the rank's start-up comes
    // before.
    Rank *rank = only_rank.load(std::memory_order_acquire);
    if (rank == nullptr) [[unlikely]] {
        rank = thread_rank;
        if (rank == nullptr) __builtin_unreachable();
    }
    return rank;
}

// The first chunk of a hot table of the calling thread's rank, or null. A null chunk in only_tables
// means that only_rank is null or its rank has no such table. So one test covers both cases.
template <HotTable HotTables::*kTable>
inline void *current_table() {
    // SYNC only-rank: pairs with the release in publish_only_rank(); the rank's start-up comes
    // before.
    void *chunk = (only_tables.load(std::memory_order_acquire)->*kTable).first();
    if (chunk == nullptr) [[unlikely]]
        chunk = (thread_rank->*kTable).first();
    return chunk;
}

// Whether this process was forked while Sennit was in use. Then calls return STATE.
bool process_is_forked_child();

// The hooks of memory/ around a fork: `prepare` is called before it, then `parent` or `child`, all
// by the thread that forks. `prepare` admits one thread at a time. The hooks never change.
struct ForkHooks {
    void (*prepare)();
    void (*parent)();
    void (*child)();
};
void process_watch_forks(const ForkHooks *hooks);

// Claims and resets a free rank object; other threads do not find it yet. The first rank of the
// process reads the knobs. Errors: NOMEM (for example: kRanksPerProcess are in use), and the error
// of an invalid knob.
sennit_status process_claim_rank(Rank **rank);
// Sets the number of the claimed rank. If the process has no other rank, log lines of threads
// without a rank have this number.
void process_number_rank(int world_rank);
// From now on threads find the rank; the calling thread is attached to it.
void process_publish_rank(Rank *rank);
// Threads no longer find the rank; its object may be claimed again. The calling thread is detached.
void process_release_rank(Rank *rank);

// The rank object in this process with that world rank, or null.
Rank *process_find_rank(int world_rank);
int process_rank_count();

// The list of the control blocks of this process's ranks. One rank of the process uses the block of
// another by its address, which it gets in a message; the owner may have ended since. So
// process_use_control() looks for the block in the list. If it finds the block, it calls
// `use(object)` under a lock, during which the owner cannot unmap the block, and returns true.
// `object` is the block, or memory that the owner frees later than the block.
void process_show_control(const Rank &rank);
void process_hide_control(const Rank &rank);
bool process_use_control(ControlBlock *control, void (*use)(void *object), void *object);

// A random number, chosen once per process: equal on two ranks only if they share an address space.
std::uint64_t process_cookie();

}  // namespace sennit
