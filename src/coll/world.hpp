// Barrier, exchange and collective allocation over the world. Owns the barrier's epoch and the
// table of the world's segment indices, which every rank keeps alike because all change it in the
// same order.
//
// Two barriers. Where load and store reach every peer, flat: each rank stores its epoch in a line
// of its own and reads all the others'; nobody does an atomic read-modify-write and nobody's turn
// depends on another's, which suits cores that are shared. Otherwise dissemination (Hensgen,
// Finkel, Manber 1988): in round k a rank stores its epoch at rank + 2^k and waits for the word
// from rank - 2^k.
#pragma once

#include "base/clock.hpp"
#include "memory/entry.hpp"
#include "runtime/rank.hpp"

namespace sennit::coll {

// Made zeroed, without a constructor: see world_open().
struct World {
    std::uint64_t epoch = 0;      // barriers completed
    sennit_error flush_error{};   // of an implicit operation, until the barrier has been met
    bool read_failed = false;     // the last exchange met, but a letter could not be read
    bool published = false;       // this rank's arrival in epoch + 1 is stored
    std::uint32_t next_peer = 0;  // flat: how many peers were seen already
    std::uint32_t round = 0;      // dissemination: rounds done
    bool round_sent = false;
    std::atomic<bool> busy{false};  // a thread of this rank is in a collective call
    const std::atomic<std::uint64_t> **arrivals =
        nullptr;  // flat: [size], starting after this rank
    std::uint64_t used[kSegmentsPerTeam / 64] = {};
    std::uint8_t generations[kSegmentsPerTeam] = {};
    SegmentRecord *own_records[kSegmentsPerTeam] = {};
};

// Errors: NOMEM.
sennit_status world_open(Rank &rank);
void world_close(Rank &rank);

// One thread of the rank at a time. Errors: STATE.
class CollectiveCall {
  public:
    explicit CollectiveCall(Rank &rank);
    ~CollectiveCall();
    CollectiveCall(const CollectiveCall &) = delete;
    CollectiveCall &operator=(const CollectiveCall &) = delete;
    sennit_status status() const { return status_; }

  private:
    Rank &rank_;
    sennit_status status_;
};

// The following need a CollectiveCall.

// Completes implicit operations first; one that failed is reported after the ranks have met.
// Errors: TIMEOUT, PEER_LOST, and what an operation failed with.
sennit_status barrier(Rank &rank, const Deadline &deadline);

// Every rank gives `bytes` (at most kExchangeBytes) and gets all ranks', by rank. Errors: as
// barrier, and ARG when a rank is in another collective call than this one.
inline constexpr std::size_t kExchangeBytes = kMailboxBytes - 16;
struct Exchange {
    std::uint32_t purpose = 0;  // the same number on every rank, or the calls do not match
    const void *mine = nullptr;
    std::size_t bytes = 0;
    void *all = nullptr;
};
sennit_status exchange(Rank &rank, const Exchange &what, const Deadline &deadline);

// Collective allocation and free, see memory.h.
struct AllocationWish {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
    std::uint32_t flags = 0;
    sennit_status refused = SENNIT_OK;  // what this rank found wrong with its arguments
};
sennit_status allocate(Rank &rank, const AllocationWish &wish, sennit_gptr *gptr);
sennit_status free_segment(Rank &rank, std::uint32_t id);
bool is_live(Rank &rank, std::uint32_t id);

}  // namespace sennit::coll
