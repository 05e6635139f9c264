// SPDX-License-Identifier: BSD-3-Clause
// The rank object: all run-time state of one rank. It has a pointer to the part of each folder, so
// no state of a rank is process-wide. The process object (process.hpp) has the table of ranks and
// the rule by which a thread finds its rank.
//
// Life: process_claim_rank() -> filled by rank/life/startup.cpp -> process_publish_rank() -> in use
// -> process_release_rank(). The memory of a rank object is never unmapped, and atomic stores reset
// it before the next rank uses it. So a thread that still has a pointer to a former rank finds no
// cached entry, no hot table and size 0, which every call checks.
#pragma once

#include <pthread.h>
#include <sennit/rma.h>
#include <sennit/runtime.h>

#include <atomic>
#include <cstdint>

#include "base/handle_table.hpp"
#include "base/mutex.hpp"
#include "rank/control_block.hpp"
#include "rank/part.hpp"
#include "rank/peers.hpp"

namespace sennit {

struct Rank;
class Deadline;

struct ProgressHook {
    void (*poll)(void *context);
    void *context;
};

// Shows a progress thread whether other threads make progress: runtime/wait.hpp.
struct ProgressBell {
    std::atomic<std::uint64_t> waits{0};   // polling waits: number begun << 32 | number in progress
    std::atomic<bool> is_wanted{false};    // the end of a wait must signal `descriptor`
    std::atomic<bool> is_starting{false};  // a call is starting an operation by messages
    int descriptor = -1;                   // an eventfd

    static constexpr std::uint64_t kBegun = (std::uint64_t{1} << 32) + 1;
    static constexpr bool is_any_on(std::uint64_t waits) {
        return static_cast<std::uint32_t>(waits) != 0;
    }
};

// Callbacks for the rank's segments. `appears` is called before any peer can know of the segment;
// `live` is the future value of the record's `live`. `goes` is called when no rank may use the
// segment any more.
struct SegmentWatch {
    sennit_status (*appears)(void *context, const SegmentRecord &record,
                             std::uint32_t live) = nullptr;
    void (*goes)(void *context, const SegmentRecord &record) = nullptr;
    void *context = nullptr;
};

inline constexpr std::size_t kProgressHooks = 4;

// The functions for requests of one kind, from the folder that makes these requests.
// request/request.hpp has the kinds.
struct RequestCalls {
    // Tests the request. If it is complete, sets *done to 1, frees it and returns its status;
    // otherwise sets *done to 0 and returns OK. ARG if the handle is invalid for this rank.
    // `makes_progress`: makes progress first.
    sennit_status (*test)(Rank &rank, sennit_request request, bool makes_progress, int *done);
    // Completes operations without a handle, to one peer or kAnyPeer; null if there are none.
    sennit_status (*flush)(Rank &rank, int peer, const Deadline &deadline);
    // Waits until the caller may reuse the private buffers of these operations.
    sennit_status (*flush_local)(Rank &rank, int peer, const Deadline &deadline);
    // Logs that a wait for the open request has lasted `seconds`, and which ranks are late.
    void (*warn)(Rank &rank, sennit_request request, int seconds);
};
inline constexpr std::size_t kRequestKinds = 2;

inline constexpr std::size_t kNearEntries = 128;

// Everything that calls on a hot path look up before they move data. It is at the start of a Rank,
// so a pointer to a rank is also a pointer to its hot tables (process.hpp).
struct HotTables {
    // Recently found entries, by their names: memory::near_place().
    AtomicPartPointer<Part::entry> near[kNearEntries];
    // `size` is 0 unless the rank is in use.
    std::atomic<std::uint32_t> size{0};
    std::int32_t world_rank = -1;
    // An observer must see every call. With an observer, signal_table stays empty; channels and
    // blocks close their fast paths in each object.
    HotTable channel_table;
    HotTable signal_table;
    HotTable block_table;
    // The table of entries of each team slot: [segment index][world rank]. SYNC entry-table.
    AtomicPartPointer<Part::entry> tables[kTeamSlots];
    std::uint16_t table_rows[kTeamSlots] = {};  // rows of each table up to the last one ever used
};

// Fields that are constant while the rank is in use, and fields that only start-up, teardown and
// holders of `cold` use. No other thread reads them while `size` is 0.
struct RankSetup {
    PeerTable peers;
    int *mates = nullptr;  // [mate_count], the other ranks of its node
    int mate_count = 0;
    ControlBlock *control = nullptr;
    sennit_bootstrap bootstrap{};
    int launcher_fd = -1;  // hangs up when the launcher ends, and with it the job; -1: none
    sennit_thread_level thread_level = SENNIT_THREAD_SINGLE;
    std::uint64_t job_cookie = 0;
    int memory_file = -1;
    PartPointer<Part::observer> observer;  // null unless SENNIT_TRACE or SENNIT_STATS asks for one
    bool shares_processors = false;        // more ranks than processors where this rank may run
    unsigned spins = 0;                    // polls at the start of a wait, before it makes progress
    bool shares_process = false;           // other ranks of its world are threads of this process
    // SENNIT_RAIL_SHARE as agreed by all ranks, and the size from which it applies; SIZE_MAX:
    // never.
    unsigned rail_share = 0;
    std::size_t split_from_bytes = SIZE_MAX;
    ProgressHook hooks[kProgressHooks] = {};
    SegmentWatch segment_watch;
    // Called in a forked child to close the ports of this process. May be null.
    void (*close_in_child)(Rank &rank) = nullptr;
    bool progress_yields = false;                    // the hooks yield the processor to other ranks
    RequestCalls request_kinds[kRequestKinds] = {};  // by request::register_kind()
    void (*poll_requests)(Rank &rank) = nullptr;     // used if Rank::polled_requests is not 0

    // Parts that belong to other folders.
    PartPointer<Part::segments> segments;
    PartPointer<Part::router> router;
    PartPointer<Part::engine> engine;
    PartPointer<Part::domains> domains;  // null until first used
    PartPointer<Part::team_registry> team_registry;
    PartPointer<Part::groups> groups;  // null until the first one; under `cold`
    PartPointer<Part::collectives> collectives;
    PartPointer<Part::watch> watch;        // null without a network
    PartPointer<Part::channels> channels;  // null until the first is opened; under `cold`

    int process_slot = -1;
    int init_count = 0;
};

struct Rank : HotTables, RankSetup {
    // Peers may wake this rank's sleeping threads without a fence (runtime/wait.hpp). Never cleared
    // while the rank is in use.
    std::atomic<bool> sleeps_with_barrier{false};
    std::atomic<std::uint32_t> short_waits{
        0};  // waits that timed out before they checked for dead peers
    // For runtime/detector.cpp.
    std::atomic<std::uint32_t> ended{0};            // peers whose end (PeerTable::end()) is known
    std::atomic<std::uint32_t> first_dead{0};       // one of the dead peers + 1; 0: none
    std::atomic<std::uint32_t> ended_elsewhere{0};  // noted ends from the watch and the launcher
    std::atomic<std::uint32_t> fruitless_polls{0};  // runtime/wait.hpp: note_fruitless_poll()
    std::atomic<unsigned> hook_count{0};
    ProgressBell progress_bell;
    std::atomic<unsigned> polled_requests{0};  // number of requests that progress only if polled
    // A wait that lasts longer logs a warning: LostSearch::warn in runtime/wait.hpp.
    std::atomic<std::int64_t> warns_after_ns{10'000'000'000};

    // Parts that belong to other folders.
    AtomicPartPointer<Part::signals> signals;         // null until the first is used
    AtomicPartPointer<Part::plans> plans;             // null until the first is created
    AtomicPartPointer<Part::queues> queues;           // null until the first is used
    AtomicPartPointer<Part::team> teams[kTeamSlots];  // objects stay until the rank ends

    pthread_mutex_t cold = PTHREAD_MUTEX_INITIALIZER;  // attach, allocate, free
};

// The number of ranks of its world; 0 unless the rank is in use.
inline std::uint32_t size_of(const Rank &rank) {
    // relaxed: constant while the rank is in use.
    return rank.size.load(std::memory_order_relaxed);
}
// The same, signed, for comparisons with rank numbers.
inline int world_size(const Rank &rank) {
    return static_cast<int>(size_of(rank));
}

// Progress of the paths; never calls the program's functions.
inline void poll_hooks(Rank &rank) {
    // relaxed: hooks are added during start-up, before the rank is in use.
    const unsigned count = rank.hook_count.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < count; ++i)
        rank.hooks[i].poll(rank.hooks[i].context);
}

// Progress of the requests that progress only if polled.
inline void poll_requests(Rank &rank) {
    // relaxed: a request of another thread that is missed here is progressed by that thread.
    if (rank.polled_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
        rank.poll_requests(rank);
}

// Progress of paths and requests.
inline void poll_progress(Rank &rank) {
    poll_hooks(rank);
    poll_requests(rank);
}

// The same for a rank with an observer, which records calls that move something.
[[gnu::cold, gnu::noinline]] void make_progress_observed(Rank &rank);

inline void make_progress(Rank &rank) {
    if (rank.observer != nullptr) [[unlikely]]
        return make_progress_observed(rank);
    poll_progress(rank);
}

// Holds a rank's cold mutex, for example while a segment is attached, allocated or freed.
class ColdLock : private MutexLock {
  public:
    explicit ColdLock(Rank &rank) : MutexLock(rank.cold) {}
};

// How the peer has ended, as far as this rank knows: runtime/detector.hpp.
inline Gone known_gone(const Rank &rank, int peer) {
    // relaxed: only the value matters, no earlier data.
    return rank.peers.end(peer).load(std::memory_order_relaxed);
}

// The peer's control block. Null: load and store do not reach it.
inline ControlBlock *control_of(const Rank &rank, int peer) {
    return peer == rank.world_rank ? rank.control : rank.peers[peer].control;
}

}  // namespace sennit
