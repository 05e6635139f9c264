// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node know together of the other nodes: words in the memory of the node's
// lowest rank, behind its desk (rank/control_block.hpp). All times are CLOCK_BOOTTIME, which counts
// while the host is suspended. Byte by byte in docs/design/layouts.md.
#pragma once

#include "base/clock.hpp"
#include "rank/control_block.hpp"

namespace sennit::watch {

// In place of a time: the pair of nodes has no further business with each other, for ever.
inline constexpr std::int64_t kEnded = -1;

// The end of a lease that ended while this node was stopped as a whole: less than kEnded, minus the
// time when that was found. It may begin again.
inline constexpr bool is_pause(std::int64_t end) {
    return end < kEnded;
}

struct alignas(kLineBytes) TableHead {
    std::atomic<std::uint32_t> watcher;      // world rank + 1, 0: none; writers: ranks of the node
    std::atomic<std::uint32_t> changes;      // ranks that have died, and leases that have ended
    std::atomic<std::int64_t> watched_ns;    // when the watcher was last awake
    std::atomic<std::int64_t> first_end_ns;  // no lease ends before; 0: there is none
    // Where the tables lie that all ranks of the node have in common (transport/fabric/), in the
    // memory file of the lowest one, which writes it; 0: nowhere. SYNC node-tables.
    std::atomic<std::uint64_t> tables_offset;
    std::atomic<std::uint64_t> tables_bytes;
    std::atomic<std::uint32_t> ended;  // ranks that have died or left, at least
    std::uint8_t unused[84];
};
static_assert(sizeof(TableHead) == kWatchHeadBytes && offsetof(TableHead, ended) == 40 &&
              offsetof(TableHead, tables_offset) == 24 && offsetof(TableHead, unused) == 44);

// Of a rank on another node; those of a lease are used for a node, in the place of its lowest rank.
// Writers: ranks of this node.
struct TablePlace {
    std::atomic<std::uint32_t> gone;     // Gone
    std::atomic<std::uint32_t> leaving;  // it has said that it ends
    // The other node's question, by its clock, that was answered last; when that was; and how long
    // it accepts from this node after it has asked. answered_ns 0: none yet.
    std::atomic<std::int64_t> question_ns;
    std::atomic<std::int64_t> answered_ns;  // or kEnded: its ranks count as lost
    std::atomic<std::int64_t> their_lease_ns;
    // This node accepts until then; 0: without end. kEnded, or a pause: nothing.
    std::atomic<std::int64_t> lease_end_ns;
    std::atomic<std::int64_t> watched_since_ns;  // 0: it is not watched
    // When the rank last looked at its network, as far as is known here; also of this node's ranks.
    std::atomic<std::int64_t> looked_ns;
    // When a rank of this node last waited for a message of it in vain; 0: it is heard. Negative:
    // and has done so for so long that this node withholds its answers.
    std::atomic<std::int64_t> unheard_ns;
};
static_assert(sizeof(TablePlace) == kWatchPlaceBytes && offsetof(TablePlace, answered_ns) == 16 &&
              offsetof(TablePlace, lease_end_ns) == 32 && offsetof(TablePlace, unheard_ns) == 56);

// Is the rank there, as far as is known, and does it stay?
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
