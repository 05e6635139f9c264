// SPDX-License-Identifier: BSD-3-Clause
// A rank's data on the ranks of its job. Each rank of its own node has a Peer. The ranks of another
// node share one Peer if they are reached in the same way; data that differs between them, such as
// ports, is in transport/fabric/cards.hpp. part() gives another Peer to a rank that is reached in
// another way, for example because it has no network. Only used Peers take memory; in addition each
// rank takes 5 bytes.
#pragma once

#include <sennit/info.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "base/reason.hpp"
#include "base/zero_pages.hpp"
#include "rank/part.hpp"

namespace sennit {

struct ControlBlock;

// How a peer ended, as far as this rank knows. The value never decreases.
enum class Gone : std::uint8_t { no = 0, left = 1, died = 2 };

// How a peer is reached.
struct PeerPath {
    sennit_path path = SENNIT_PATH_NONE;
    PartPointer<Part::transport> transport;  // of that path
    // Copies from and to the peer's private memory within a call; null: no transport can.
    PartPointer<Part::transport> copier;
    Reason reasons[SENNIT_PATH_END];

    bool is_like(const PeerPath &other) const {
        return path == other.path && transport == other.transport && copier == other.copier &&
               std::memcmp(reasons, other.reasons, sizeof reasons) == 0;
    }
};

struct Peer : PeerPath {
    int first_of_node = -1;            // the lowest rank of its node
    int node = -1;                     // the number of that node
    std::uint64_t control_handle = 0;  // its control block, if only the transport reaches it
    bool same_node = false;

    // The following are known only for ranks of this node.
    bool same_process = false;
    std::uint8_t rail_path =
        SENNIT_PATH_NONE;  // path that carries parts of large copies beside `path`
    int memory_file = -1;  // the peer's memory file, -1 if not received
    int numa = -1;
    int process_id = -1;  // in the peer's own pid namespace
    int pid_fd = -1;      // readable once the process has ended; -1 if not known
    // If there is no pidfd: the start time of the process, which is compared with /proc to find
    // out whether the process lives; 0 if /proc does not have it.
    std::uint32_t start_ticks = 0;
    std::atomic<std::int64_t> proc_read_ns{0};  // last read of /proc
    ControlBlock *control = nullptr;            // if load and store reach it
    std::uint64_t team_chunks = 0;              // mapped chunks of `control`; under `cold`
};
static_assert(sizeof(Peer) <= 104,
              "a rank has one for each rank of its node; raise it if a path is "
              "added");

// Peers by world rank. The table's owner calls close().
class PeerTable {
  public:
    // Makes room for `size` ranks, which have no Peers yet. False: no memory.
    bool open(std::size_t size) {
        *this = PeerTable{};
        bytes_ = size * (sizeof(Peer) + sizeof *places_ + sizeof *ends_);
        all_ = static_cast<Peer *>(zero_pages(bytes_));
        places_ = reinterpret_cast<std::atomic<std::uint32_t> *>(all_ + size);
        ends_ = reinterpret_cast<std::atomic<Gone> *>(places_ + size);
        return all_ != nullptr;
    }
    void close() {
        free_zero_pages(all_, bytes_);
        *this = PeerTable{};
    }
    // Whether the ranks have Peers.
    bool exists() const { return count_ != 0; }

    // Makes a Peer for that rank. Other ranks may share it.
    Peer &make(int rank) {
        Peer &made = *new (all_ + count_) Peer;
        place(rank, count_++);
        return made;
    }
    // The rank shares the Peer of `other`.
    void share(int rank, int other) {
        // relaxed: one thread sets the table up.
        place(rank, places_[other].load(std::memory_order_relaxed));
    }

    // Called for a rank of another node that is reached in another way than its Peer says. The rank
    // shares the newest Peer if that is of the same node and fits; otherwise it gets a new Peer.
    void part(int rank, const PeerPath &found) {
        const Peer &shared = (*this)[rank];
        const Peer &last = all_[count_ - 1];
        if (last.first_of_node == shared.first_of_node && last.is_like(found))
            return place(rank, count_ - 1);
        Peer &made = *new (all_ + count_) Peer;
        static_cast<PeerPath &>(made) = found;
        made.first_of_node = shared.first_of_node;
        made.node = shared.node;
        made.control_handle = shared.control_handle;
        place(rank, count_++);
    }

    template <class Number>
    Peer &operator[](Number rank) const {
        static_assert(std::is_integral_v<Number>);
        return all_[place_of(static_cast<std::size_t>(rank))];
    }

    std::atomic<Gone> &end(int rank) const { return ends_[rank]; }

  private:
    void place(int rank, std::uint32_t place) {
        // SYNC peer-place: pairs with the acquire in place_of(), which a path's thread may call.
        places_[rank].store(place, std::memory_order_release);
    }
    std::uint32_t place_of(std::size_t rank) const {
        // SYNC peer-place: pairs with the release in place(); the fields of the Peer come before.
        return places_[rank].load(std::memory_order_acquire);
    }

    Peer *all_ = nullptr;                           // [size], the first `count_` are used
    std::atomic<std::uint32_t> *places_ = nullptr;  // [size], index of each rank in `all_`
    std::atomic<Gone> *ends_ = nullptr;             // [size]
    std::uint32_t count_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace sennit
