// Rank objects for tests of the op engine and of transports, without sennit_init, which these tests
// do not cover. Each has a control block and segments in plain memory of this process.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "op/engine.hpp"
#include "rank/process.hpp"
#include "transport/sim/sim.hpp"
#include "transport/transport.hpp"

namespace sennit::test {

class Ranks {
  public:
    explicit Ranks(int size) {
        for (int world_rank = 0; world_rank < size; ++world_rank) {
            Rank *rank = nullptr;
            if (process_claim_rank(&rank) != SENNIT_OK)
                throw std::runtime_error(thread_error()->text);
            ranks_.push_back(rank);
            rank->world_rank = world_rank;
            rank->bootstrap.rank = world_rank;
            rank->bootstrap.size = size;
            rank->size.store(static_cast<std::uint32_t>(size));
            if (!rank->peers.open(static_cast<std::size_t>(size)))
                throw std::runtime_error("no memory for the peers");
            for (int peer = 0; peer < size; ++peer)
                (void)rank->peers.make(peer);
            // Anonymous pages: most of the large table of records is never touched.
            void *memory = mmap(nullptr, sizeof(ControlBlock), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory == MAP_FAILED) throw std::runtime_error("no memory for a control block");
            rank->control = static_cast<ControlBlock *>(memory);
            rank->control->header.magic = kControlMagic;
            rank->control->header.rank = world_rank;
        }
    }

    ~Ranks() {
        for (Rank *rank : ranks_) {
            munmap(rank->control, sizeof(ControlBlock));
            rank->peers.close();
            rank->size.store(0);
            process_release_rank(rank);
        }
    }
    Ranks(const Ranks &) = delete;
    Ranks &operator=(const Ranks &) = delete;

    int size() const { return static_cast<int>(ranks_.size()); }
    Rank &operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

    // Publishes a segment of `bytes` bytes at `memory` like its owner.
    SegmentRecord &publish(int owner, std::uint32_t slot, std::uint32_t id, void *memory,
                           std::size_t bytes) {
        SegmentRecord &record = (*this)[owner].control->records[slot];
        record.bytes = bytes;
        record.owner_address = reinterpret_cast<std::uintptr_t>(memory);
        record.owner_slot = slot;
        record.epoch = id;
        record.live.store(id);
        record.id.store(id);
        return record;
    }

  private:
    std::vector<Rank *> ranks_;
};

// The events that a rank's transport delivered.
struct EventLog {
    struct SegmentEntry {
        std::uint64_t event;
        std::uint64_t high;
    };
    std::vector<SegmentEntry> entries;

    static void arrived(void *context, const transport::EventData &event) {
        static_cast<EventLog *>(context)->entries.push_back({event.low, event.high});
    }
};

// Ranks connected by the path sim, each with one segment of `bytes` bytes that all others have
// attached.
class SimWorld {
  public:
    static constexpr std::uint32_t kSlot = 5;
    static constexpr std::uint32_t kSegment = 0x101;

    SimWorld(int size, const std::string &settings, std::size_t bytes)
        : ranks(size), logs(static_cast<std::size_t>(size)) {
        std::vector<transport::Address> addresses(static_cast<std::size_t>(size));
        for (int rank = 0; rank < size; ++rank) {
            transports.emplace_back(transport::make_sim());
            check(transports.back()->open(ranks[rank], settings.c_str(),
                                          {EventLog::arrived, &logs[at(rank)]}));
            transports.back()->address(&addresses[at(rank)]);
            memory.emplace_back(bytes);
            ranks.publish(rank, kSlot, kSegment, memory.back().data(), bytes);
        }
        addresses_ = addresses;
        for (int rank = 0; rank < size; ++rank)
            check(transports[at(rank)]->connect(addresses_.data(), Deadline::never()));
        remotes.resize(at(size), std::vector<transport::RemoteMemory>(at(size)));
        for (int rank = 0; rank < size; ++rank)
            for (int peer = 0; peer < size; ++peer)
                if (peer != rank) join(rank, peer);
        world = transport::sim::hold_world(ranks[0]);
    }

    ~SimWorld() {
        for (int rank = 0; rank < ranks.size(); ++rank)
            close(rank);
        transport::sim::release_world(world);
    }

    // Only for tests that need engines.
    void make_engines() {
        for (int rank = 0; rank < ranks.size(); ++rank)
            check(op::engine_create(ranks[rank]));
    }

    void close(int rank) {
        if (transports[at(rank)] == nullptr) return;
        op::engine_destroy(ranks[rank], Deadline::after(2'000'000'000));
        transports[at(rank)]->close(Deadline::never());
        transports[at(rank)].reset();
    }

    transport::sim::Counters counters() const { return transport::sim::counters(*world); }

    op::Target target(int from, int to, std::uint64_t offset) const {
        return {to, remotes[at(from)][at(to)], offset};
    }

    static void check(sennit_status status) {
        if (status != SENNIT_OK) throw std::runtime_error(thread_error()->text);
    }
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

    Ranks ranks;
    std::vector<EventLog> logs;
    std::vector<std::unique_ptr<transport::Transport>> transports;
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::vector<transport::RemoteMemory>> remotes;  // [from][to]
    transport::sim::World *world = nullptr;

  private:
    void join(int rank, int peer) {
        if (transports[at(rank)]->reach(peer).code != Reason::Code::taken)
            throw std::runtime_error("a rank of the world is not reached");
        ranks[rank].peers[peer].transport = transports[at(rank)].get();
        ranks[rank].peers[peer].path = SENNIT_PATH_SIM;
        check(transports[at(rank)]->attach(peer, ranks[peer].control->records[kSlot],
                                           &remotes[at(rank)][at(peer)]));
    }

    std::vector<transport::Address> addresses_;
};

}  // namespace sennit::test
