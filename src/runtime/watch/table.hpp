// SPDX-License-Identifier: BSD-3-Clause
// The state of other nodes, shared by the ranks of this node: words in the memory of its lowest
// rank, after the offer table (rank/control_block.hpp). All times are CLOCK_BOOTTIME, which counts
// while the host is suspended. docs/design/layouts.md lists every byte.
#pragma once

#include "base/clock.hpp"
#include "rank/control_block.hpp"

namespace sennit::watch {

// A value for a time: the two nodes will never communicate again.
inline constexpr std::int64_t kEnded = -1;

// Whether a lease's end is a pause: the lease ended while this whole node was stopped. The value is
// minus the time when that was detected, so less than kEnded. Such a lease may start again.
inline constexpr bool is_pause(std::int64_t end) {
    return end < kEnded;
}

struct alignas(kLineBytes) TableHead {
    std::atomic<std::uint32_t> watcher;      // world rank + 1, 0: none; writers: ranks of the node
    std::atomic<std::uint32_t> changes;      // deaths of ranks, and ends and restarts of leases
    std::atomic<std::int64_t> watched_ns;    // last time that the watcher was awake
    std::atomic<std::int64_t> first_end_ns;  // no lease ends before this; 0: there is none
    // The tables that all ranks of the node share (transport/fabric/): their place in the memory
    // file of the lowest rank, which writes both words; 0: none. SYNC node-tables.
    std::atomic<std::uint64_t> tables_offset;
    std::atomic<std::uint64_t> tables_bytes;
    std::atomic<std::uint32_t> ended;  // at least the number of ranks that have died or left
    std::uint8_t unused[84];
};
static_assert(sizeof(TableHead) == kWatchHeadBytes && offsetof(TableHead, ended) == 40 &&
              offsetof(TableHead, tables_offset) == 24 && offsetof(TableHead, unused) == 44);

// The state of a rank on another node. The words from question_ns to watched_since_ns are about the
// whole node, and used only in the place of its lowest rank. Writers: ranks of this node.
struct TablePlace {
    std::atomic<std::uint32_t> gone;     // Gone
    std::atomic<std::uint32_t> leaving;  // it has announced its end
    // The latest question of the other node that this node answered: its time by the other node's
    // clock, the time of the answer by this node's, and how long the other node accepts data from
    // this one after a question.
    std::atomic<std::int64_t> question_ns;
    std::atomic<std::int64_t> answered_ns;  // 0: no question yet; kEnded: its ranks are lost
    std::atomic<std::int64_t> their_lease_ns;
    // Until this time, this node accepts data of that node. 0: there is no end; kEnded or a pause:
    // no data is accepted.
    std::atomic<std::int64_t> lease_end_ns;
    std::atomic<std::int64_t> watched_since_ns;  // 0: it is not watched
    // The last known time that the rank polled its network; also for ranks of this node.
    std::atomic<std::int64_t> looked_ns;
    // 0: messages of the rank arrive. t > 0: at time t a message was missing. t < 0: at time -t
    // messages were missing for too long, so this node does not answer that node while the rank
    // polls its network.
    std::atomic<std::int64_t> unheard_ns;
};
static_assert(sizeof(TablePlace) == kWatchPlaceBytes && offsetof(TablePlace, answered_ns) == 16 &&
              offsetof(TablePlace, lease_end_ns) == 32 && offsetof(TablePlace, unheard_ns) == 56);

// Whether the rank is alive and staying, as far as is known.
inline bool is_present(const TablePlace &place) {
    // relaxed twice: each word stands alone.
    return place.gone.load(std::memory_order_relaxed) == 0 &&
           place.leaving.load(std::memory_order_relaxed) == 0;
}

struct WatchTable {
    TableHead *head = nullptr;
    TablePlace *places = nullptr;  // [size], by world rank
};

inline WatchTable table_in(ControlBlock &control, int size) {
    std::byte *const begin = watch_table(control, size);
    return {reinterpret_cast<TableHead *>(begin),
            reinterpret_cast<TablePlace *>(begin + kWatchHeadBytes)};
}

}  // namespace sennit::watch
